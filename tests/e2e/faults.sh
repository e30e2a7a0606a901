#!/bin/sh
# Faults around a fit: no room, no permission, no output, two runs at once, signals.  The exit code is right,
# a message says what was wrong, and no file is half written.
#     faults.sh BINDIR
set -u
bin=$1/homodyne-static_isotropic
. "$(dirname "$0")/../support/test.sh"

expect 0 "$bin" simulate --frames 20 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 -o e.h5 --config-out c.yaml
fit() {
    "$bin" fit c.yaml --quiet --threads 1 "$@"
}

# No room: files of at most a few blocks, as on a full disk; the results in memory are told lost.
limited() (
    trap '' XFSZ
    ulimit -f "$1"
    fit -o "full$1"
)
for blocks in 1 4 16 40; do
    expect 4 limited $blocks
    says "full$blocks/"
    says "cannot be"
    no_pieces "full$blocks"
    [ ! -e "full$blocks/fit.json" ] || fail "fit.json of a fit that could not be written"
done
if [ -w /dev/full ]; then
    full() { "$bin" info --json >/dev/full; }
    got=0
    full 2>err || got=$?
    [ $got -eq 4 ] || fail "info to a full device ends with $got"
    says "standard output cannot be written"
fi

# No permission (root has them all).
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed && chmod 555 closed
    expect 4 fit -o closed
    says "closed/"
    cp e.h5 unread.h5 && chmod 000 unread.h5
    expect 4 fit --data unread.h5 -o unread
    says "unread.h5"
fi
: >file
expect 4 fit -o file
says "file"

# Data that are none.
: >empty.h5
expect 4 fit --data empty.h5 -o none
says "empty.h5"
head -c 3000 e.h5 >cut.h5
expect 4 fit --data cut.h5 -o none
says "cut.h5"
expect 4 fit --data . -o none
[ ! -e none/fit.json ] || fail "a result without data"

# Two runs into one folder: the second one stands back while the first is at work (runs.sh has more of it).
fit -o two >/dev/null 2>err1 &
first=$! got=0 got1=0
fit -o two >/dev/null 2>err || got=$?
wait $first || got1=$?
case $got1$got in
00 | 04) ;;
40) mv err1 err ;;
*) fail "two runs at once end with $got1 and $got: $(cat err1 err)" ;;
esac
[ $got1$got = 00 ] || says "two: another run is at work in this output folder (homodyne-static_isotropic, process "
no_pieces two
expect 0 fit -o alone
grep -v '"\(wall_seconds\|load\|fit\|covariance\|write\|peak_rss_mb\)"' two/fit.json | grep '"cost"' >a
grep '"cost"' alone/fit.json | cmp -s - a || fail "two runs at once changed the result"

# Signals while it samples: INT and TERM end it in good order, KILL leaves nothing that looks finished.
for signal in INT TERM KILL; do
    "$bin" fit c.yaml --quiet --threads 1 --method nuts --draws 1000000 -o "sig$signal" >out 2>err &
    run=$!
    sleep 1
    kill -s $signal $run 2>/dev/null || fail "it ended before SIG$signal"
    got=0
    wait $run || got=$?
    case $signal$got in
    INT130 | TERM130 | TERM143 | KILL137) ;;
    *) fail "SIG$signal: exit code $got" ;;
    esac
    [ $signal = KILL ] || no_pieces "sig$signal"
    [ ! -e "sig$signal/posterior.nc" ] || [ $signal != KILL ] || fail "posterior.nc after SIGKILL"
done

finish
