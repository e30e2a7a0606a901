#!/bin/bash
# page.sh BINDIR PAGE -- runs what a page of docs/ shows (docs/posterior.md; docs/models.md has guide.sh).
#
# Fenced blocks are marked after the name of their language:
#   sh                   commands, run in order in one folder that has build/bin and examples
#   sh exit=N            the same; each ends with this exit status
#   sh h5py              for a python3 that has h5py
#   python               a program, for each interpreter named in FIT_PYTHON (by colons; default: python3) with h5py
#   python arviz         the same, with ArviZ and h5netcdf
#   text                 lines that the block before it prints
#   text about           the same with numbers that are up to 30 % off: seconds, kernels of another machine
# Every `group` or `--option` that a page names is not looked at here: only what runs.
set -eu
bin=$1 page=$2 source=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/build" "$dir/parts"
ln -s "$bin" "$dir/build/bin"
ln -s "$source/examples" "$dir/examples"
bad=0
fail() {
    echo "page: $*"
    bad=1
}

awk -v dir="$dir/parts" '
    function part(mark) { gsub(/ /, ",", mark); close(out); out = sprintf("%s/%03d.%s", dir, ++n, mark); printf "" > out }
    /^```/ && inside { inside = 0; next }
    /^```/ { inside = 1; part(substr($0, 4)); next }
    inside { print > out }' "$page"
cd "$dir"

has() { # has PYTHON MODULE...
    local python=$1
    shift
    "$python" -c "import sys, importlib.util as u; sys.exit(not all(u.find_spec(m) for m in sys.argv[1:]))" "$@" 2>/dev/null
}

# Lines of $1 that are not in $2; about: numbers within 30 %.
missing() {
    awk -v about="$3" '
        function same(a, b,    x, y, n, i) {
            if (a == b) return 1
            if (!about) return 0
            n = split(a, x, " ")
            if (n != split(b, y, " ")) return 0
            for (i = 1; i <= n; i++)
                if (x[i] != y[i] && !(number(x[i]) && number(y[i]) && near(x[i] + 0, y[i] + 0))) return 0
            return 1
        }
        function number(t) { sub(/,$/, "", t); return t ~ /^[-+]?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/ }
        function near(a, b) { return (a - b) ^ 2 <= (0.3 * a) ^ 2 }
        FNR == NR { said[++lines] = $0; next }
        { found = 0
          for (k = 1; k <= lines && !found; k++) found = same($0, said[k])
          if (!found) print }' "$2" "$1"
}

commands=0 programs=0 texts=0 ran=1
for part in parts/*; do
    mark=${part#*.}
    case $mark in
    sh | sh,exit=* | sh,h5py)
        : >printed
        ran=1 code=0
        [ "$mark" != sh,h5py ] || has python3 h5py || {
            ran=0
            continue
        }
        [ "${mark#sh,exit=}" = "$mark" ] || code=${mark#sh,exit=}
        while IFS= read -r line; do
            while [ "${line%\\}" != "$line" ] && IFS= read -r more; do line="${line%\\} $more"; done
            commands=$((commands + 1)) got=0
            bash -c "$line" >said 2>&1 || got=$?
            [ "$got" -eq "$code" ] || fail "exit status $got, not $code: $line: $(cat said)"
            cat said >>printed
        done <"$part"
        ;;
    python*)
        : >printed
        ran=0
        needs=h5py
        [ "$mark" = python ] || needs="h5py arviz h5netcdf"
        IFS=: read -ra pythons <<<"${FIT_PYTHON:-python3}"
        for python in "${pythons[@]}"; do
            # shellcheck disable=SC2086  # a list
            has "$python" $needs || continue
            ran=1 programs=$((programs + 1))
            "$python" -W ignore "$part" >printed 2>said || fail "$python: $(cat "$part" said)"
        done
        ;;
    text | text,about)
        [ "$ran" -eq 1 ] || continue
        texts=$((texts + 1))
        lost=$(missing "$part" printed "${mark#text}")
        [ -z "$lost" ] || fail "the commands before do not print: $lost"
        ;;
    *) fail "a block marked '$mark' is not run" ;;
    esac
done
[ "$commands" -gt 0 ] || fail "no commands found"
echo "page: $commands commands, $programs Python programs, $texts texts"
exit $bad
