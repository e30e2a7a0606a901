#!/bin/sh
# Memory that runs out: every program is run again and again, and each time another allocation fails, or is the moment
# of a SIGTERM.
#     alloc.sh BINDIR fail_alloc.so STEP [FIRST [NAME...]]      every STEP-th allocation, from FIRST on; of these runs
#
# Right is: the results are those of a run with memory, to the last digit; or exit code 1, a message that
# names memory, and no result file, whole or in part.  Twice: one allocation fails, and all from one on.
# A checkpoint may be missing beside results that say so.
#
# Those of the program's own code are made to fail, not those inside libraries.  HDF5 1.10, which writes
# fit.h5, does not survive all of its own failures: of 99 that were tried in a fit (FAIL_WHOSE=hdf5) it
# ended the program itself in 10 (exit code 255 without a message, or a signal in the first one);
# in 30 it told, and the fit ended with exit code 4.  Reading does not need it.
set -u
# FIT_FEWER=N: only one in N of these.
bin=$(cd "$1" && pwd) library=$2 step=$(($3 * ${FIT_FEWER:-1})) first=${4:-1}
[ $# -lt 4 ] && shift 3 || shift 4
only=" $* "
. "$(dirname "$0")/../support/test.sh"
models=$here/../../models

# What the results say, without what differs from run to run.
essence() {
    [ ! -f "$1/fit.json" ] ||
        grep -E '"(status|cost|value|std|std_robust|chi2|contrast|offset|verdict)":' "$1/fit.json"
    (cd "$1" && ls -A | grep -vx posterior.checkpoint && wc -c *.h5 *.nc 2>/dev/null)
}

# try NAME ALLOCATION ON COMMAND...: the word OUT stands for the folder of the results
try() {
    name=$1 n=$2 on=$3
    shift 3
    rm -rf OUT
    mkdir OUT
    got=0
    FAIL_AT=$n FAIL_ON=$on FAIL_COUNT=count LD_PRELOAD=$library "$@" >out 2>err </dev/null || got=$?
    [ "$n" -ne 0 ] || return 0
    where="$name: allocation $n$([ "$on" = 0 ] || echo " and all later ones") fails: exit code $got"
    if [ $got -eq "$right" ]; then
        essence OUT | cmp -s - "$name.right" || fail "$where, but the results differ"
        [ -z "$saved" ] || [ -e OUT/posterior.checkpoint ] || grep -q "no checkpoint: .*memory" OUT/run.log ||
            fail "$where, and nobody says that there is no checkpoint"
    elif [ $got -ne 1 ]; then
        fail "$where: $(tail -n 1 err)"
    elif ! cat out err | grep -qi memory; then
        fail "$where, and the message does not name memory: $(tail -n 1 err)"
    elif [ -n "$(ls -A OUT | grep -vx posterior.checkpoint)" ]; then
        fail "$where, and it leaves $(ls -A OUT | tr '\n' ' ')"
    fi
}

# stop NAME ALLOCATION COMMAND...: SIGTERM comes while it allocates; before the program listens to it, 143 is right
stop() {
    name=$1 n=$2
    shift 2
    rm -rf OUT
    mkdir OUT
    got=0
    { FAIL_AT=$n FAIL_SIGNAL=15 LD_PRELOAD=$library "$@" >out 2>err </dev/null || got=$?; } 2>/dev/null
    where="$name: SIGTERM at allocation $n: exit code $got"
    case $got in
    130 | 143 | "$right") ;;
    *) fail "$where: $(tail -n 1 err)" ;;
    esac
    [ -z "$(find OUT -name '*.part')" ] || [ $got -eq 143 ] || fail "$where, and it leaves $(ls -A OUT | tr '\n' ' ')"
    [ ! -e OUT/fit.json ] || [ "$(tail -c 2 OUT/fit.json)" = "}" ] || fail "$where, and fit.json is cut"
    [ $got -ne 130 ] || [ ! -e OUT/fit.json ] || grep -qE '"status": "interrupted"|"complete": false' OUT/fit.json ||
        fail "$where, and fit.json does not say that the run was interrupted"
}

# all NAME COMMAND...
all() {
    name=$1
    shift
    case $only in "  " | *" $name "*) ;; *) return ;; esac
    try "$name" 0 0 "$@"
    right=$got
    essence OUT >"$name.right"
    saved=$(ls OUT/posterior.checkpoint 2>/dev/null)
    total=$(cat count) runs=0 n=$first
    while [ "$n" -le "$total" ]; do
        try "$name" "$n" 0 "$@"
        try "$name" "$n" 1 "$@"
        stop "$name" "$n" "$@"
        runs=$((runs + 3))
        n=$((n + step))
    done
    echo "$name: $total allocations, $runs runs"
}

"$bin/homodyne-static_isotropic" simulate --frames 20 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 \
    -o e.h5 --config-out c.yaml >/dev/null || exit 1
"$bin/homodyne-laminar" simulate --frames 12 --dt 0.1 --q 0.005 --gap 2e6 --phi 0,45,90 --noise 0.01 --seed 3 \
    -o l.h5 --config-out l.yaml >/dev/null || exit 1
"$bin/homodyne-static_isotropic" fit c.yaml --quiet -o r >/dev/null || exit 1

# A table of a decay, and its configuration.
awk 'BEGIN { print "delay,g2"; for (k = 1; k < 30; k++) print k / 10 "," 1 + 0.3 * exp(-k / 5) + 0.001 * sin(7 * k) }' \
    >t.csv

one="$bin/homodyne-static_isotropic fit c.yaml --quiet --threads 1 -o OUT"
# shellcheck disable=SC2086  # lists of words
{
    all fit $one
    all laminar "$bin/homodyne-laminar" fit l.yaml --quiet --threads 2 -o OUT
    all nuts $one --method nuts --chains 2 --warmup 60 --draws 30
    all laplace $one --method laplace --draws 50
    all consensus $one --method cmc --draws 50
    all stream $one --stream on
    all table "$bin/homodyne-kww" fit --data t.csv --quiet --threads 1 -o OUT
    all extract "$bin/homodyne-static_isotropic" extract c.yaml -o OUT/x.h5
    all simulate "$bin/homodyne-static_isotropic" simulate --frames 20 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 \
        -o OUT/e.h5
    all simulate_table "$bin/homodyne-kww" simulate --x 0.1:3:30 --noise 0.01 --seed 3 -o OUT/t.csv
}
all validate "$bin/homodyne" validate c.yaml
all inspect "$bin/homodyne" inspect e.h5
all config "$bin/homodyne" config --mode static_isotropic --data e.h5 -o OUT/c.yaml
all compare "$bin/homodyne" compare r r
all report "$bin/homodyne" report r -o OUT/report.html
step=$((step * 8)) # many, and all of the same kind
all compile "$bin/homodyne-gen" "$models/laminar.lua" -o OUT

finish
