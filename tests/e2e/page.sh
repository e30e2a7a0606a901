#!/bin/bash
# page.sh BINDIR PAGE -- runs what a page of the documentation shows.
#
# Fenced blocks are marked after the name of their language:
#   sh                   commands, one script; it begins in the folder where the block before ended, at first in one
#                        that has build/bin, examples, tests ... as the root of the source has
#   sh exit=N            the same; ends with this exit status
#   sh needs=WORD        left out, with the text after it, where this command or Python module (py:h5py) is missing
#   sh syntax            is only parsed: what needs root or a network
#   LANGUAGE file=NAME   is written to this file; scripts are parsed, a lua file is compiled (homodyne-gen --check)
#   lua file=NAME error  a model with mistakes; the next block, text errors, is what the compiler says
#   lua in=table         statements: run inside a small model over columns x, y (in=pair: over pairs of times;
#   lua in=pair after    after: behind m.observe)
#   yaml with=FILE       keys that may be added to this configuration: `homodyne validate` accepts both together
#   python               a program, for each interpreter named in FIT_PYTHON (by colons; default: python3) with h5py
#   python arviz         the same, with ArviZ and h5netcdf
#   text                 lines that the block before it prints; ... stands for lines that are left out
#   text about           the same with numbers that are up to 30 % off; times may be any
# After a line <!-- examples in=table --> the last column of tables holds expressions, run in the same way.
# <!-- check COMMAND --> is run, too, and must succeed.
#
# Commands that cannot run in a test have stand-ins that do what can be done: page-stand-ins.sh.
set -eu
bin=$1 page=$2
tests=$(cd "$(dirname "$0")/.." && pwd)
source=$(cd "$tests/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
fail() {
    echo "page: $*"
    bad=1
}

mkdir -p "$dir/build" "$dir/parts"
ln -s "$bin" "$dir/build/bin"
for name in examples tests build-aux models docs python; do ln -s "$source/$name" "$dir/$name"; done
"$tests/e2e/page-stand-ins.sh" "$bin" "$source" "$dir/stand"
export PATH=$dir/stand:$bin:$PATH XDG_CACHE_HOME=$dir/.cache
export PAGE_SOURCE=$source PYTHONPATH=$source/python HOMODYNE_GEN_LIB=$bin/../lib
unset SLURM_JOB_ID SLURM_ARRAY_TASK_ID SLURM_CPUS_PER_TASK

# ---- the page in parts: files parts/NNN.MARK, with commas for the blanks of the mark
awk -v dir="$dir/parts" '
    function part(mark) { gsub(/ /, ",", mark); gsub(/\//, "%", mark); close(out)
                          out = sprintf("%s/%03d.%s", dir, ++n, mark); printf "" > out }
    /^```/ && inside { inside = 0; next }
    /^```/ { inside = 1; part(substr($0, 4)); next }
    inside { print > out; next }
    /^<!-- examples/ { context = $3 }
    /^<!-- check / { part("check"); sub(/^<!-- check /, ""); sub(/ -->$/, ""); print > out }
    /^## / { context = "" }
    context != "" && /^\| `/ {
        rest = $0; code = ""
        if (match(rest, /\| `[^`]*` \|$/))
            code = substr(rest, RSTART + 3, RLENGTH - 6)
        if (code != "" && code != "word") { part("lua " context); print "local example = " code > out }
    }' "$page"
cd "$dir"

has() { # has PYTHON MODULE...
    local python=$1
    shift
    "$python" -c "import sys, importlib.util as u; sys.exit(not all(u.find_spec(m) for m in sys.argv[1:]))" \
        "$@" 2>/dev/null
}

there() { # there WORD: a command, or py:MODULE
    case $1 in
    py:*) has python3 "${1#py:}" ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# Lines of $1 that are not in $2; about: numbers within 30 %, any times.
missing() {
    awk -v about="$3" '
        function same(a, b,    x, y, n, i) {
            if (a == b) return 1
            if (!about) return 0
            if (a ~ / s \(load / && b ~ / s \(load /) {
                gsub(/[0-9.]+/, "0", a)
                gsub(/[0-9.]+/, "0", b)
                return a == b
            }
            gsub(/\.\./, " ", a) # ends of an interval
            gsub(/\.\./, " ", b)
            n = split(a, x, " ")
            if (n != split(b, y, " ")) return 0
            for (i = 1; i <= n; i++)
                if (x[i] != y[i] && !(number(x[i]) && number(y[i]) && (any(x[i + 1]) || near(x[i] + 0, y[i] + 0))))
                    return 0
            return 1
        }
        function any(unit) { return unit ~ /^(s|ms|MB|GB|h|min)[,.;:)]?$/ }
        function number(t) { sub(/,$/, "", t); return t ~ /^[-+]?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/ }
        function near(a, b) { return (a - b) ^ 2 <= (0.3 * a) ^ 2 }
        { sub(/ +$/, "") }
        FNR == NR { said[++lines] = $0; next }
        $0 == "..." { next }
        { found = 0
          for (k = 1; k <= lines && !found; k++) found = same($0, said[k])
          if (!found) print }' "$2" "$1"
}

context() { # context NAME before|after: the model in which an example of statements stands
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

# ---- kinds of blocks
here=$dir # the folder where the next block begins
run_commands() { # run_commands PART EXIT_STATUS
    local got=0
    { cat "$1" && printf '\npwd >"%s/here"\n' "$dir"; } >"$dir/script"
    (cd "$here" && bash -e "$dir/script") >"$dir/printed" 2>&1 </dev/null || got=$?
    [ "$got" -eq "$2" ] || fail "exit status $got, not $2: $(cat "$1" "$dir/printed")"
    [ ! -s "$dir/here" ] || here=$(cat "$dir/here")
    commands=$((commands + $(grep -cvE '^( |#|$)' "$1" || true)))
}

write_file() { # write_file PART LANGUAGE NAME [error]
    local file=$here/${3//%//} # / in names
    mkdir -p "$(dirname "$file")"
    cp "$1" "$file"
    files=$((files + 1))
    case $2 in
    sh) bash -n "$file" 2>said || fail "$3: $(cat said)" ;;
    lua)
        if (cd "$(dirname "$file")" && "$bin/homodyne-gen" "$(basename "$file")" --check) >"$dir/said" 2>&1; then
            [ -z "${4-}" ] || fail "$3 is accepted"
            ! grep warning "$dir/said" || fail "$3"
        else
            [ -n "${4-}" ] || fail "$3: $(cat "$dir/said")"
        fi
        ;;
    esac
}

run_example() { # run_example PART NAME[,after]
    {
        context "${2%,after}" before
        [ "$2" = "${2%,after}" ] && cat "$1"
        context "${2%,after}" after
        [ "$2" = "${2%,after}" ] || cat "$1"
    } >example.lua
    "$bin/homodyne-gen" example.lua --check >said 2>&1 || fail "$(cat "$1"): $(cat said)"
    examples=$((examples + 1))
}

run_python() { # run_python PART MODULE...
    local part=$1 python
    shift
    ran=0
    : >printed
    IFS=: read -ra pythons <<<"${FIT_PYTHON:-python3}"
    for python in "${pythons[@]}"; do
        has "$python" "$@" || continue
        ran=1 programs=$((programs + 1))
        (cd "$here" && "$python" -W ignore "$part") >printed 2>said || fail "$python: $(cat "$part" said)"
    done
}

# Keys beside those of a configuration; its data file is looked for in its own folder.
add_keys() { # add_keys PART CONFIGURATION
    local folder
    folder=$(realpath "$(dirname "$here/$2")")
    { sed -E "s|file_path: *\"?([^/\" ][^\" ]*)\"?|file_path: \"$folder/\1\"|" "$here/$2" && cat "$1"; } >with.yaml
    "$bin/homodyne" validate with.yaml >said 2>&1 || fail "$(cat "$1" said)"
}

commands=0 files=0 examples=0 programs=0 texts=0 ran=1
for part in "$dir"/parts/*; do
    mark=${part##*/} mark=${mark#*.}
    case $mark in
    sh) ran=1 && run_commands "$part" 0 ;;
    sh,exit=*) ran=1 && run_commands "$part" "${mark#sh,exit=}" ;;
    sh,needs=*)
        ran=0
        ! there "${mark#sh,needs=}" || { ran=1 && run_commands "$part" 0; }
        ;;
    sh,syntax)
        bash -n "$part" 2>said || fail "$(cat "$part" said)"
        commands=$((commands + $(grep -cvE '^( |#|$)' "$part" || true)))
        ;;
    check) (cd "$here" && bash -e "$part") >said 2>&1 || fail "does not hold: $(cat "$part" said)" ;;
    lua,in=*) run_example "$part" "${mark#lua,in=}" ;;
    lua,file=*,error) file=${mark#lua,file=} && write_file "$part" lua "${file%,error}" error ;;
    *,file=*) write_file "$part" "${mark%%,*}" "${mark#*,file=}" ;;
    yaml,with=*) file=${mark#yaml,with=} && add_keys "$part" "${file//%//}" ;;
    python) run_python "$part" h5py ;;
    python,arviz) run_python "$part" h5py arviz h5netcdf ;;
    text,errors) diff -u "$part" said || fail "the compiler says something else" ;;
    text | text,about)
        [ "$ran" -eq 1 ] || continue
        texts=$((texts + 1))
        lost=$(missing "$part" printed "${mark#text}")
        [ -z "$lost" ] || fail "the block before does not print
$lost
but
$(cat printed)"
        ;;
    *) fail "a block marked '$mark' is not run" ;;
    esac
done
[ "$((commands + programs))" -gt 0 ] || fail "no commands found"
echo "page: $commands commands, $files files, $examples examples, $programs Python programs, $texts texts"
exit $bad
