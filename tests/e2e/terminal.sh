#!/bin/sh
# What programs and people see: valid JSON from every command that has --json, nothing with --quiet, no escape codes
# in files, lines of 80 columns, help on one screen: terminal.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
examples=$here/../../examples
h=$bin/homodyne
export XDG_CACHE_HOME="$dir/cache"
echo 'leak:libfontconfig' >lsan
export LSAN_OPTIONS="suppressions=$dir/lsan:print_suppressions=0"

cp "$examples/laminar/experiment.h5" .
sed 's/start_frame.*/start_frame: 1/; s/end_frame.*/end_frame: 60/' "$examples/laminar/experiment.yaml" >my.yaml
printf 'analysis_mode: laminar_flow\nexperimental_data: {file_path: gone.h5}\nanalyzer_parameters: {dt: x}\n' \
    >wrong.yaml
"$h" fit my.yaml -o r1 --quiet --frames 1:60
"$h" fit my.yaml -o r2 --quiet --frames 1:80

# ---- JSON: one value on standard output, no NaN; `watch`: a line for each fit
python=$(command -v python3 || true)
json() { # json CODE COMMAND...
    code=$1
    shift
    got=0
    "$h" "$@" --json >out 2>err </dev/null || got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got, not $code: $* --json: $(cat err)"
    [ -n "$python" ] || return 0
    "$python" - <<'END' || fail "not JSON: $* --json: $(head -c 200 out)"
import json

def no(word):
    raise ValueError(word)

json.load(open("out"), parse_constant=no)
END
}
holds() { # holds KEY: the last answer has it
    [ -z "$python" ] ||
        "$python" -c "import json, sys; d = json.load(open('out')); sys.exit(sys.argv[1] not in d)" "$1" ||
        fail "no '$1' in $(head -c 200 out)"
}
[ -n "$python" ] || echo "no python3: not asked whether output is JSON"
json 0 fit my.yaml -o j1 --frames 1:60
holds parameters
json 0 fit my.yaml -o j2 --frames 1:60 --method laplace
holds posterior
json 0 validate my.yaml
holds no_effect
json 3 validate wrong.yaml
holds errors
[ -z "$python" ] || "$python" -c "
import json
d = json.load(open('out'))
assert not d['good'] and len(d['errors']) >= 2, d" || fail "validate --json"
json 3 validate my.yaml wrong.yaml my.yaml
json 0 inspect experiment.h5
holds matrices
json 0 plan my.yaml --frames 1:100 --phi 0,90 --sigma 0.01
json 0 estimate my.yaml
json 0 simulate my.yaml -o s.h5 --noise 0.01
holds parameters
json 0 simulate --model kww -o s.csv --x 0.001:1:50:log
json 0 eval --model kww -o e.h5 --x 0:1:10
json 0 extract my.yaml -o x.h5
holds noise
json 2 compare r1 r2 --sigma 1e-9
json 0 batch my.yaml experiment.h5 -o series
holds folder
json 0 watch my.yaml -o watched --once
holds parameters
json 0 plot r1
holds files
json 0 plot my.yaml -o p
json 0 report r1
holds figures
json 0 models
json 0 info --model kww
json 0 bench --model kww --frames 100
json 0 config --mode laminar_flow --data experiment.h5 -o c.yaml
holds complete
json 0 demo d
holds parameters
json 0 compile "$here/../../models/kww.lua"
holds kernel
# mistakes leave standard output empty
got=0
"$h" fit wrong.yaml --json >out 2>err || got=$?
[ $got -eq 3 ] && [ ! -s out ] && [ -s err ] || fail "a mistake with --json: $got, $(cat out)"

# ---- --quiet: nothing at all when all is well
quiet() {
    got=0
    "$h" "$@" --quiet >out 2>err </dev/null || got=$?
    [ $got -eq 0 ] || fail "exit code $got: $*: $(cat err)"
    [ ! -s out ] && [ ! -s err ] || fail "$* --quiet says $(cat out err)"
}
quiet fit my.yaml -o q1
quiet fit my.yaml -o q2 --method laplace
quiet validate my.yaml
quiet simulate my.yaml -o s2.h5
quiet eval --model kww -o e2.h5 --x 0:1:10
quiet extract my.yaml -o x2.h5
quiet compare r1 r1
quiet batch my.yaml experiment.h5 -o series2
quiet watch my.yaml -o watched2 --once
quiet plot r1
quiet report r1
quiet report my.yaml -o page.html
quiet config --mode laminar_flow -o c2.yaml
quiet demo d2
quiet inspect experiment.h5
quiet estimate my.yaml
quiet info --model kww

# ---- no escape codes and no carriage returns in files; 80 columns; --log
for method in nlsq nuts laplace; do
    got=0
    FORCE_COLOR=1 "$h" fit my.yaml -o m --method $method --draws 100 --warmup 100 --log log.txt >out 2>err || got=$?
    [ $got -eq 0 ] || [ $got -eq 2 ] || fail "--method $method: $got"
    ! grep -q "$(printf '[\033\r]')" out err log.txt m/summary.txt m/run.log || fail "escape codes in a file"
    awk 'length > 80 { print; bad = 1 } END { exit bad }' out || fail "summary of $method wider than 80 columns"
    grep -q 'iteration 1' log.txt || fail "--log has no iterations"
done
for model in kww double_exponential cumulant dls_cumulant diffusion_q sphere; do
    "$h" fit --model $model --data "$examples/$model/data.csv" -o m_$model >out 2>/dev/null || [ $? -eq 2 ] ||
        fail "$model"
    awk 'length > 80 { print; bad = 1 } END { exit bad }' out || fail "summary of $model wider than 80 columns"
done
for model in ballistic_aging oscillatory_shear; do
    "$h" fit "$examples/$model/experiment.yaml" -o m_$model >out 2>/dev/null || [ $? -eq 2 ] || fail "$model"
    awk 'length > 80 { print; bad = 1 } END { exit bad }' out || fail "summary of $model wider than 80 columns"
done
for command in models estimate inspect plan; do
    case $command in
    models) "$h" models >out ;;
    estimate) "$h" estimate my.yaml >out ;;
    inspect) "$h" inspect experiment.h5 >out ;;
    plan) "$h" plan my.yaml --frames 1:100 --phi 0,90 --sigma 0.01 >out ;;
    esac
    awk 'length > 80 { print; bad = 1 } END { exit bad }' out || fail "$command is wider than 80 columns"
done

# notes of validate: on a terminal in lines of 80, elsewhere one line each
"$h" simulate --model static_isotropic -o low.h5 --frames 60 --dt 0.1 --q 0.0054 --phi 0,90 --contrast 0.05 \
    --offset 0.02 \
    --noise 0.01 --config-out low.yaml --quiet
"$h" validate low.yaml >out 2>err || fail "validate: $(cat err)"
grep -q '^note: matrix .*: this looks like c2 - 1; add 1$' out || fail "no long note in one line: $(cat out)"
if command -v script >/dev/null; then
    script -qec "'$h' validate low.yaml" /dev/null </dev/null 2>&1 | tr -d '\r' >out
    awk '/^note: / { n = 1 } n && (/^note: / || /^      /) { n++; if (length > 80) exit 1 } END { exit n < 3 }' out ||
        fail "notes on a terminal: $(cat out)"
    # the verdict has a colour there, which acts instead of being printed
    TERM=xterm script -qec "'$h' fit my.yaml -o coloured" /dev/null </dev/null 2>&1 | tr -d '\r' >out
    grep -q "^quality: $(printf '\033')\[1;3[123]m[a-z]*$(printf '\033')\[0m: " out ||
        fail "no colour: $(grep quality out)"
    ! grep -q 'x1b' out || fail "an escape code is printed: $(grep x1b out)"
fi

# ---- help: one screen of 24 x 80 for every command
for c in $("$h" --help-all | awk '/^  [a-z]/ { print $1 }'); do
    "$h" "$c" --help >out 2>err || fail "$c --help"
    [ "$(wc -l <out)" -le 24 ] || fail "$c --help: $(wc -l <out) lines"
    awk 'length > 80 { print; bad = 1 } END { exit bad }' out || fail "$c --help is wider than 80 columns"
    "$h" "$c" --help-all | awk 'length > 80 { print; bad = 1 } END { exit bad }' ||
        fail "$c --help-all is wider than 80 columns"
done
[ "$("$h" --help | wc -l)" -le 24 ] || fail "the help is longer than a screen"

# ---- without the report program: demo and fits as ever, report and plot say what is missing
mkdir less less/bin less/share
for f in homodyne homodyne-laminar; do cp "$bin/$f" less/bin; done
ln -s "$(cd "$bin/../share" && pwd)/homodyne-gen" less/share/homodyne-gen
less/bin/homodyne demo d3 >out 2>err || fail "demo without the report program: $(cat err)"
got=0
less/bin/homodyne report d3 >out 2>err || got=$?
[ $got -eq 3 ] && grep -q "no homodyne-report" err || fail "report without its program: $got, $(cat err)"

finish
