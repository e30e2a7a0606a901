# test.sh -- what tests in the shell have in common.  They begin with
#     . "$(dirname "$0")/../support/test.sh"
# and are then in an empty folder of their own, $dir, which goes with them; $here is the folder of the script.
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

# fail WORDS: says what is wrong, and goes on
fail() {
    echo "FAILED: $*"
    failed=1
}

# expect CODE|CODE COMMAND...: its exit code, one of several; what it prints is kept in `out` and `err`
expect() {
    code=$1
    shift
    got=0
    "$@" >out 2>err </dev/null || got=$?
    case "|$code|" in
    *"|$got|"*) ;;
    *)
        fail "exit code $got, not $code: $*"
        tail -n 20 err
        ;;
    esac
}

# has FILE TEXT, hasnot FILE TEXT; says TEXT: of what was last printed as an error
has() {
    grep -qF -- "$2" "$1" || {
        fail "$1 does not say: $2"
        head -n 20 "$1"
    }
}

hasnot() {
    ! grep -qF -- "$2" "$1" || fail "$1 says: $2"
}

says() {
    has err "$1"
}

# answers CODE TEXT COMMAND..: the exit code of `homodyne COMMAND..` of $bin, and words that it prints
answers() {
    code=$1 text=$2
    shift 2
    got=0
    "$bin/homodyne" "$@" >out 2>err </dev/null || got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit code $got, not $code: $(tail -n 20 out err)"
    [ -z "$text" ] || grep -qF -e "$text" out err || fail "$*: does not say '$text' but: $(tail -n 20 out err)"
}

# value FOLDER NAME [KEY]: a number of a parameter, from fit.json
value() {
    awk -v name="\"$2\": {" -v key="\"${3:-value}\":" 'index($0, name) { on = 1 }
        on && index($0, key) { sub(/.*: /, ""); sub(/,$/, ""); print; exit }' "$1/fit.json"
}

# near A B PART [WHAT]: of the size of B
near() {
    awk -v a="$1" -v b="$2" -v r="$3" \
        'BEGIN { d = a - b; s = b < 0 ? -b : b; exit !(a != "" && d <= r * s && -d <= r * s) }' ||
        fail "${4:-}: $1 and $2 differ by more than $3 of their size"
}

# no_pieces FOLDER: nothing has a temporary name; fit.json, when it is there, is complete
no_pieces() {
    [ -z "$(find "$1" -name '*.part' 2>/dev/null)" ] || fail "$1 holds a temporary file"
    [ ! -f "$1/fit.json" ] || [ "$(tail -c 2 "$1/fit.json")" = "}" ] || fail "$1/fit.json is cut"
}

# finish: the last line of a test
finish() {
    [ $failed -eq 0 ] && echo "all is well"
    exit $failed
}
