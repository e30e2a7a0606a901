#!/bin/sh
# The program from end to end, with kernels written by hand: program.sh STANDIN STANDINTABLE
# Simulates experiments, fits them, and looks at exit codes, files and numbers.
set -eu
pairs=$1 table=$2
. "$(dirname "$0")/../support/test.sh"

# number FILE.json NAME KEY: of parameter NAME
number() {
    awk -v name="\"$2\": {" -v key="\"$3\":" '
        index($0, name) { inside = 1 }
        inside && index($0, key) { v = $2; sub(/,$/, "", v); print v; exit }' "$1"
}

grid="--frames 120 --dt 0.1 --q 0.0054 --phi 0,45,90"
truth="--set D0=2000 --set alpha=-0.3 --set D_offset=100 --contrast 0.3,0.28,0.31"

# ---- usage
expect 3 "$pairs"
expect 0 "$pairs" --help
has out "Exit status"
expect 0 "$pairs" fit --help
has out "--bounds"
expect 0 "$pairs" --version
has out standin
expect 3 "$pairs" fit --outptu x
has err "--output"
expect 3 "$pairs" fit missing.yaml
expect 3 "$pairs" eval --frames 10
expect 3 "$pairs" eval -o x.h5 --frames 10 --dt 1 --phi 0
has err "--q"
expect 3 "$pairs" --isa v9 info
FIT_ISA=v9 expect 3 "$pairs" info
has err "there are:"

# ---- info, eval, bench
expect 0 "$pairs" info --json
has out '"angstrom^2/s"'
expect 0 "$pairs" eval -o eval.h5 $grid $truth --jacobian
[ -s eval.h5 ] || fail "eval.h5 is empty"
expect 0 "$pairs" bench --frames 50 --angles 2 --repeat 1 --json
has out '"pairs": 2450'

# ---- simulate and fit
# shellcheck disable=SC2086  # lists of words
expect 0 "$pairs" simulate -o exp.h5 $grid $truth --noise 0.01 --seed 3 --config-out exp.yaml
expect 0 "$pairs" check exp.yaml
has out "dt 0."
expect 4 "$pairs" check exp.yaml --data nothing.h5
expect 3 "$pairs" fit exp.h5
has err "this is data"
expect 0 "$pairs" exp.yaml -o fit1 --threads 1
has out CONVERGED
has err "memory:"
expect 0 "$pairs" fit exp.yaml -o fit2 --threads 2 --json
cmp -s out fit2/fit.json || fail "--json and fit.json differ"
for f in fit.json fit.h5 summary.txt config.effective.yaml run.log; do
    [ -s "fit1/$f" ] || fail "fit1/$f is missing"
done
[ "$(find . -name '.*.part' | wc -l)" -eq 0 ] || fail "temporary files are left"
[ "$(wc -l <fit1/summary.txt)" -le 25 ] || fail "the summary is longer than a screen"
for p in D0 alpha D_offset; do
    one=$(number fit1/fit.json $p value) two=$(number fit2/fit.json $p value)
    [ "$one" = "$two" ] || fail "$p depends on the number of threads: $one $two"
done
near() { # near NAME TRUTH: within 5 standard deviations
    awk -v v="$(number fit1/fit.json "$1" value)" -v s="$(number fit1/fit.json "$1" std)" -v t="$2" \
        'BEGIN { exit !(s > 0 && v - t < 5 * s && t - v < 5 * s) }' || fail "$1 is far from $2"
}
near D0 2000
near alpha -0.3
near D_offset 100

# the effective configuration gives the same fit
expect 0 "$pairs" fit fit1/config.effective.yaml -o fit3 --threads 1
[ "$(number fit1/fit.json D0 value)" = "$(number fit3/fit.json D0 value)" ] || fail "config.effective.yaml: another fit"

# ---- options
expect 0 "$pairs" fit exp.yaml -o fit4 --fix D_offset=100 --phi 0,90 --json
has out '"fixed": true'
[ "$(grep -c '"phi":' fit4/fit.json)" -eq 3 ] || fail "--phi 0,90 does not give two angles"
expect 0 "$pairs" fit exp.yaml -o fit1 --resume --quiet
[ ! -s out ] && [ ! -s err ] || fail "--quiet says something"
expect 0 "$pairs" fit exp.yaml -o dry --dry-run
[ ! -e dry ] || fail "--dry-run writes"
expect 2 "$pairs" fit exp.yaml -o fit5 --max-iterations 1
has out "NOT CONVERGED"
has fit5/fit.json '"converged": false'
expect 3 "$pairs" fit exp.yaml --set D00=1
has err "D0"
expect 3 "$pairs" fit exp.yaml --method nuts -o no
has err "has no gradient and cannot be sampled"
expect 4 "$pairs" fit exp.yaml --data nothing.h5 -o no
printf 'not hdf5' >bad.h5
expect 4 "$pairs" fit exp.yaml --data bad.h5 -o no
expect 4 "$pairs" fit exp.yaml --output-dir exp.h5/below
[ ! -e no ] || fail "a failed fit leaves a folder"

# ---- inspect and init
expect 0 "$pairs" inspect exp.h5
has out "phi 0, 45, 90"
expect 0 "$pairs" init exp.h5 -o init.yaml
expect 3 "$pairs" init exp.h5 -o init.yaml
has err "init.yaml exists"
expect 0 "$pairs" init exp.h5 -o init.yaml --force
expect 0 "$pairs" fit init.yaml -o fit6 --threads 1
[ "$(number fit3/fit.json D0 value)" = "$(number fit6/fit.json D0 value)" ] || fail "init: another fit"
expect 3 "$pairs" init exp.h5
expect 4 "$pairs" inspect bad.h5

# files that are there stay as they are
echo mine >mine.yaml
cp exp.h5 precious.h5
# shellcheck disable=SC2086
{
    expect 3 "$pairs" simulate -o precious.h5 $grid $truth
    has err "precious.h5 exists; --force writes over it, -o FILE elsewhere"
    expect 3 "$pairs" simulate -o other.h5 $grid $truth --config-out mine.yaml
    has err "mine.yaml exists; --force writes over it, --config-out FILE elsewhere"
    [ ! -e other.h5 ] && [ "$(cat mine.yaml)" = mine ] && cmp -s exp.h5 precious.h5 || fail "simulate wrote over a file"
    expect 0 "$pairs" simulate -o precious.h5 $grid $truth --config-out mine.yaml --force
}
has mine.yaml "precious.h5"
expect 3 "$pairs" fit exp.yaml --force
has err 'it belongs to `inspect`, `simulate`'
! grep -q init err || fail "a command that homodyne does not have"

# noise from counting statistics; a simulation does not depend on the number of threads
# shellcheck disable=SC2086
expect 0 "$pairs" simulate -o counts.h5 $grid $truth --noise from-counts --counts 0.3 --threads 1 \
    --config-out counts.yaml
expect 0 "$pairs" fit counts.yaml -o c1 --threads 1
# shellcheck disable=SC2086
expect 0 "$pairs" simulate -o counts.h5 $grid $truth --noise from-counts --counts 0.3 --threads 2 --force
expect 0 "$pairs" fit counts.yaml -o c2 --threads 1
[ "$(number c1/fit.json D0 value)" = "$(number c2/fit.json D0 value)" ] || fail "the noise depends on the threads"

# ---- interruption: the first progress line is answered with SIGINT
# shellcheck disable=SC2086
expect 0 "$pairs" simulate -o long.h5 $truth --frames 1000 --dt 0.1 --q 0.0054 --phi 0,45,90 --noise 0.01 \
    --config-out long.yaml
mkfifo pipe
"$pairs" fit long.yaml -o int --progress=json >/dev/null 2>pipe &
pid=$!
while IFS= read -r text; do
    case $text in '{'*) kill -INT $pid 2>/dev/null || true ;; esac
done <pipe
got=0
wait $pid || got=$?
case $got in
130) has int/fit.json '"status": "interrupted"' ;;
0) echo "the fit ended before the signal" ;;
*) fail "exit code $got after SIGINT" ;;
esac

# ---- tables
expect 0 "$table" simulate -o t.csv --x 0:10:200 --set tau=2.5 --set amplitude=3 --noise 0.05
expect 0 "$table" fit --data t.csv -o t1
awk -v v="$(number t1/fit.json tau value)" 'BEGIN { exit !(v > 2.3 && v < 2.7) }' || fail "tau of the table"
has t1/fit.json '"amplitude": {'
expect 0 "$table" fit --data t.csv -o t2 --fix tau=2.5 --start amplitude=2
expect 0 "$table" eval -o t.h5 --x 0:10:11 --jacobian
expect 0 "$table" bench --frames 5000 --repeat 1
sed '0,/^5\.[0-9]*,/s//-5e9,/' t.csv >far.csv
expect 4 "$table" fit --data far.csv -o far
has err 'no finite value at x = -5e+09'
has err 'leave the row out'
expect 3 "$table" eval -o t.h5
expect 3 "$table" eval -o wrong.csv --x 0:10:11
expect 3 "$table" simulate -o wrong.h5 --x 0:10:11
[ ! -e wrong.csv ] && [ ! -e wrong.h5 ] || fail "files of the wrong kind"
expect 3 "$table" simulate -o wrong.csv --x 0:10:11 --frames 20
expect 3 "$pairs" simulate -o wrong.h5 --x 0:10:11 $grid $truth

finish
