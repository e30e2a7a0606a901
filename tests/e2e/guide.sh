#!/bin/bash
# guide.sh BINDIR GUIDE GENERATOR_SOURCE -- runs what docs/models.md shows.
#
# Fenced blocks of the guide are marked after the name of their language:
#   lua file=NAME        a model: homodyne-gen --check accepts it
#   lua file=NAME error  a model with mistakes; the next block, text errors, is what the compiler says
#   lua in=table         statements: run inside a small model over columns x, y (in=pair: over pairs of times;
#   lua in=pair after    after: behind m.observe)
#   csv file=NAME        data
#   text                 lines that the commands before it print
#   sh                   commands, run in order in one folder; `make model=` must name a program that the build
#                        has made from the same text (tests/CMakeLists.txt)
# After a line <!-- examples in=table --> the last column of tables holds expressions, run in the same way.
# Every word of `homodyne-gen --words`, every option and every prior of the generator must be in the guide.
set -eu
bin=$1 guide=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/build" "$dir/parts"
ln -s "$bin" "$dir/build/bin"
gen=$bin/homodyne-gen
bad=0
fail() {
    echo "guide: $*"
    bad=1
}

# Blocks become files parts/NNN.MARK; examples of tables parts/NNN.lua in=table.
awk -v dir="$dir/parts" '
    function part(mark) { gsub(/ /, ",", mark); close(out); out = sprintf("%s/%03d.%s", dir, ++n, mark); printf "" > out }
    /^```/ && inside { inside = 0; next }
    /^```/ { inside = 1; part(substr($0, 4)); next }
    inside { print > out; next }
    /^<!-- examples/ { context = $3 }
    /^## / { context = "" }
    context != "" && /^\| `/ {
        rest = $0; code = ""
        if (match(rest, /\| `[^`]*` \|$/))
            code = substr(rest, RSTART + 3, RLENGTH - 6)
        if (code != "" && code != "word") { part("lua " context); print "local example = " code > out }
    }' "$guide"

context() { # context NAME before|after
    case $1-$2 in
    table-before) cat <<'LUA'
local m = model "example" { title = "example" }
local x, y = m.columns("x:s", "y")
local a = m.parameter("a", { start = 1.5, linear = false })
local b = m.parameter("b", { start = 0.5, linear = false })
local tau = m.parameter("tau", { unit = "s", start = 2, bounds = {0.1, 10} })
LUA
        ;;
    table-after) echo 'm.observe(y, { mean = a * exp(-x / tau) + b })' ;;
    pair-before) awk '/m.observe/ { exit } { print }' "$dir/aging.lua" ;;
    pair-after) awk '/m.curve/ { exit } seen || /m.observe/ { seen = 1; print }' "$dir/aging.lua" ;;
    esac
}

number() { ls "$dir/parts" | wc -l; }
[ "$(number)" -gt 40 ] || fail "only $(number) parts found"
cd "$dir"
models=0 examples=0 commands=0 messages=0
for part in parts/*; do
    mark=${part#*.}
    case $mark in
    lua,file=*,error)
        file=${mark#lua,file=} file=${file%,error}
        cp "$part" "$file"
        if "$gen" "$file" --check >said 2>&1; then
            fail "$file is accepted"
        fi
        expected=said
        ;;
    text,errors)
        messages=$((messages + 1))
        diff -u "$part" said || fail "the errors of $file are not those of the guide"
        ;;
    lua,file=*)
        file=${mark#lua,file=}
        cp "$part" "$file"
        models=$((models + 1))
        "$gen" "$file" --check >said 2>&1 || fail "$file: $(cat said)"
        grep -q warning said && fail "$file: $(cat said)"
        ;;
    lua,in=*)
        where=${mark#lua,in=}
        examples=$((examples + 1))
        {
            context "${where%,after}" before
            [ "$where" = "${where%,after}" ] && cat "$part"
            context "${where%,after}" after
            [ "$where" = "${where%,after}" ] || cat "$part"
        } >example.lua
        "$gen" example.lua --check >said 2>&1 || fail "$(cat "$part"): $(cat said)"
        ;;
    csv,file=*) cp "$part" "${mark#csv,file=}" ;;
    sh)
        : >printed
        while IFS= read -r line; do
            while [ "${line%\\}" != "$line" ] && IFS= read -r more; do line="${line%\\} $more"; done
            commands=$((commands + 1))
            case $line in
            "make model="*)
                file=${line#make model=}
                made=$(dirname "$bin")/tests/guide/$file
                cmp -s "$file" "$made" || fail "$line: the build has not made a program from this text"
                [ -x "$bin/homodyne-${file%.lua}" ] || fail "$line: no program"
                ;;
            *)
                bash -c "$line" >said 2>&1 || fail "$line: $(cat said)"
                cat said >>printed
                ;;
            esac
        done <"$part"
        ;;
    text)
        while IFS= read -r line; do
            grep -qxF -- "$line" printed || fail "the commands before do not print: $line"
        done <"$part"
        ;;
    *) fail "a block marked '$mark' is not run" ;;
    esac
done

# The results that the text speaks of.
grep -q '"status": "converged' decay_results/fit.json || fail "the fit of decay did not converge"
for parameter in "rate 0.6 0.8" "height 1.9 2.1" "baseline 0.45 0.55"; do
    # shellcheck disable=SC2086
    set -- $parameter
    awk -v name="$1" -v low="$2" -v high="$3" \
        '$1 == name { found = $2 > low && $2 < high } END { exit !found }' decay_results/summary.txt ||
        fail "decay: $1 is not between $2 and $3"
done
grep -q '"status": "converged' aging_results/fit.json || fail "the fit of aging did not converge"

# Every word.
word() { grep -qE "(^|[^a-zA-Z0-9_.])$(printf %s "$1" | sed 's/\./\\./')([^a-zA-Z0-9_]|\$)" "$guide"; }
words=0
for w in $("$gen" --words); do
    words=$((words + 1))
    word "$w" || fail "the guide lacks the word $w"
done
[ "$words" -gt 60 ] || fail "homodyne-gen --words prints only $words words"
options=$(sed -nE 's/.*(dsl_check_keys|unit_or_options)\([^"]*"[^"]*", "([a-z ]*)( \[1\])?".*/\2/p' "$source"/dsl_*.c)
[ "$(echo $options | wc -w)" -gt 15 ] || fail "the options of the language were not found"
priors=$(sed -nE 's/.*\{"([a-z_]+)", FIT_PRIOR_.*/\1/p' "$source"/dsl_model.c)
[ "$(echo $priors | wc -w)" -gt 6 ] || fail "the priors of the language were not found"
for w in $options $priors; do
    word "$w" || fail "the guide lacks the option $w"
done
echo "guide: $models models, $examples examples, $commands commands, $messages messages, $words words"
exit $bad
