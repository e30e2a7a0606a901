#!/bin/sh
# Signals, limits and things that are no files: no program waits without an end, and each says what is wrong.
#     signals.sh BINDIR
# FIT_SLOW: how much slower the programs run than they do by themselves (1).
set -u
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne one=$bin/homodyne-static_isotropic
patience=$(awk -v slow="${FIT_SLOW:-1}" 'BEGIN { print 30 * slow }')

"$h" simulate --model static_isotropic -o run.h5 --frames 40 --dt 0.1 --q 0.005 --phi 0 --set D0=10000 --set alpha=0 \
    --set D_offset=0 --contrast 0.3 --noise 0.01 --seed 1 --quiet --config-out my.yaml || exit 1

# started FOLDER: a long posterior into it, with its first checkpoint; its number is in $run
started() {
    "$@" >out 2>err &
    run=$!
    while [ ! -s "$folder/posterior.checkpoint" ] && kill -0 $run 2>/dev/null; do sleep 0.02; done
}
long="fit my.yaml --quiet --threads 1 --method nuts --draws 1000000 --checkpoint-seconds 0.01"

# ---- signals that ask for an end: what there is, is written and marked
for signal in INT TERM HUP XCPU USR1 USR2; do
    folder=sig$signal
    # shellcheck disable=SC2086  # words
    started "$one" $long -o $folder
    kill -s $signal $run || fail "it ended before SIG$signal"
    [ $signal != XCPU ] || kill -s $signal $run # it comes every second
    got=0
    wait $run || got=$?
    [ $got -eq 130 ] || fail "SIG$signal: exit code $got: $(cat err)"
    [ -s $folder/posterior.checkpoint ] || fail "SIG$signal: no checkpoint"
    [ -s $folder/fit.json ] || fail "SIG$signal: no result"
    no_pieces $folder
    [ ! -e $folder/.homodyne.lock ] || fail "SIG$signal: the lock stays"
done
folder=nohup
# shellcheck disable=SC2086
started sh -c 'trap "" HUP && exec "$@"' sh "$one" $long -o nohup
kill -s HUP $run
kill -s HUP $run
sleep 0.2
kill -0 $run 2>/dev/null || fail "a signal that is ignored has ended it"
kill -s TERM $run
wait $run

# ---- a limit of file sizes is like a full disk
for blocks in 1 8 40; do
    expect 4 sh -c 'ulimit -f "$1" && shift && exec "$@"' sh $blocks "$one" fit my.yaml -o full$blocks \
        --quiet --threads 1
    says "cannot be"
    no_pieces full$blocks
done

# ---- little address space: an end, and a result or a message
if (ulimit -v 300000) 2>/dev/null && [ "${FIT_SLOW:-1}" = 1 ]; then
    for kb in 40000 60000 100000 150000 200000 250000; do
        got=0
        (ulimit -v $kb && exec timeout -k 5 "$patience" "$h" --help) >out 2>err || got=$?
        case $got in
        0 | 127) ;; # 127: the loader
        *) fail "--help in $kb kB: exit code $got: $(tail -n 1 err)" ;;
        esac
        got=0
        (ulimit -v $kb && exec timeout -k 5 "$patience" "$one" fit my.yaml -o small$kb --quiet) >out 2>err || got=$?
        case $got in
        0) [ -s small$kb/fit.json ] || fail "a fit in $kb kB: no result" ;;
        127) ;;
        1 | 4) [ -s err ] || fail "a fit in $kb kB: exit code $got, and no message" ;;
        *) fail "a fit in $kb kB: exit code $got: $(tail -n 1 err)" ;;
        esac
    done
fi

# ---- a pipe in the place of a file
mkfifo pipe
cp my.yaml other.yaml
# refused COMMAND...: ends by itself with a message
refused() {
    got=0
    timeout -k 5 "$patience" "$@" >out 2>err </dev/null || got=$?
    case $got in
    3 | 4) [ -s err ] || fail "no message: $*" ;;
    *) fail "exit code $got: $*" ;;
    esac
}
refused "$h" fit pipe
says "pipe: is a pipe, not a file"
refused "$h" fit my.yaml --data pipe -o p
says "pipe: is a pipe, not a file"
refused "$h" fit my.yaml --sigma pipe -o p
refused "$h" fit my.yaml --model ./pipe
refused "$h" compile pipe
says "it is no file, but a pipe"
refused "$bin/homodyne-gen" pipe
says "it is no file, but a pipe"
[ ! -x "$bin/homodyne-kww" ] || refused "$bin/homodyne-kww" fit --data pipe -o p
refused "$bin/homodyne-any" pipe info
for command in validate inspect report plot estimate "batch my.yaml" batch watch "compare my.yaml" "simulate -o s.h5" \
    "config -o c.yaml --data"; do
    # shellcheck disable=SC2086
    refused "$h" $command pipe
done
mkdir taken && mkfifo taken/run.log taken/fit.json
expect 0 timeout -k 5 "$patience" "$one" fit my.yaml -o taken --quiet
refused "$h" report /dev/zero
[ ! -e p ] || fail "a folder for nothing"

# ---- the first SIGTERM ends what has nothing to write
"$one" simulate my.yaml -o large.h5 --frames 6000 --force --quiet >/dev/null 2>err &
run=$!
sleep 0.1
kill -s TERM $run 2>/dev/null
got=0
wait $run || got=$?
case $got in
130 | 143 | 0) ;;
*) fail "simulate after SIGTERM: exit code $got: $(cat err)" ;;
esac

finish
