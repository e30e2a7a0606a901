#!/bin/sh
# Sampling that is killed, interrupted or out of time, and goes on: the draws are those of an uninterrupted run.
#     resume.sh BINDIR TESTDIR
# FIT_SLOW: how much slower the programs run than they do by themselves (1): for so much longer they are left to run.
set -eu
bin=$1/homodyne-laminar tool=$2/posterior_file
. "$(dirname "$0")/../support/test.sh"

# after SECONDS: in this run
after() {
    awk -v s="$1" -v slow="${FIT_SLOW:-1}" 'BEGIN { print s * slow }'
}

# whole FOLDER: nothing in it is half written
whole() {
    [ "$(find "$1" -name '*.part' | wc -l)" -eq 0 ] || fail "$1 holds a temporary file"
    "$tool" check "$1/posterior.nc" || fail "$1/posterior.nc"
}

truth="--set D0=2000 --set alpha=-0.3 --set D_offset=100 --set gamma_dot_t0=0.004 --set beta=-0.4
       --set gamma_dot_t_offset=0.0003 --set phi0=-4 --contrast 0.3"
# shellcheck disable=SC2086  # lists of words
"$bin" simulate -o d.h5 --frames 40 --dt 0.1 --q 0.0054 --gap 2e6 --phi -5,5,50,90 $truth --noise 0.01 --seed 4 \
    --config-out d.yaml --quiet
settings="--method nuts --draws 1000 --warmup 200 --quiet --checkpoint-seconds 0.02"

# ---- the same bits for any number of threads
for n in 1 2 16; do
    # shellcheck disable=SC2086
    expect 0 "$bin" fit d.yaml -o t$n $settings --threads $n
done
whole t1
for n in 2 16; do
    "$tool" same t1/posterior.nc t$n/posterior.nc || fail "--threads $n gives other draws than --threads 1"
done

# ---- and whatever a numerical library thinks of the processor: none has a part in the numbers
small="--method nuts --chains 2 --draws 50 --warmup 100 --quiet --threads 2"
# shellcheck disable=SC2086
"$bin" fit d.yaml -o blas $small >/dev/null 2>&1 || true
for core in Haswell Nehalem Prescott; do
    # shellcheck disable=SC2086
    OPENBLAS_CORETYPE=$core "$bin" fit d.yaml -o blas$core $small >/dev/null 2>&1 || true
    "$tool" same blas/posterior.nc blas$core/posterior.nc ||
        fail "another library of linear algebra, other draws ($core)"
done

# ---- killed at ten moments
number=${SEED:-$(date +%s)}
echo "SEED=$number"
for n in 1 2 3 4 5 6 7 8 9 10; do
    number=$(((number * 1103515245 + 12345) % 2147483648))
    # shellcheck disable=SC2086
    "$bin" fit d.yaml -o k $settings --resume --threads $((n % 3 + 1)) >/dev/null 2>&1 &
    pid=$!
    sleep "$(after "0.$(printf %03d $((number / 65536 % 550 + 50)))")"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    [ ! -e k/posterior.nc ] || "$tool" check k/posterior.nc || fail "posterior.nc after kill $n"
done
[ -e k/posterior.checkpoint ] || echo "no checkpoint was reached before the kills"
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o k $settings --resume
"$tool" same t1/posterior.nc k/posterior.nc || fail "after ten kills the draws are others"
grep -h "went on from" k/run.log | sed "s,^ *[0-9.]* *,,"

# ---- SIGINT and SIGTERM, sent when every chain has ten draws: four are the fewest, for the predictive check five
for signal in INT TERM; do
    mkfifo pipe$signal
    # shellcheck disable=SC2086
    "$bin" fit d.yaml -o i$signal $settings --progress json --threads 2 >/dev/null 2>pipe$signal &
    pid=$! sent=
    while IFS= read -r text; do # to the end: who writes where nobody reads gets SIGPIPE
        case $text in
        *'"draws": '[0-9],*) ;; # a chain is in its warm-up, or just through
        *'"draws"'*) [ "$sent" ] || kill -$signal $pid 2>/dev/null || true; sent=yes ;;
        esac
    done <pipe$signal
    got=0
    wait $pid || got=$?
    case $got in
    130)
        has i$signal/fit.json '"status": "interrupted"'
        has i$signal/fit.json '"complete": false'
        has i$signal/summary.txt 'ended early'
        has i$signal/summary.txt "note: the draws are not complete: --resume goes on from i$signal/posterior.checkpoint"
        whole i$signal
        ;;
    0) echo "the chains ended before SIG$signal" ;;
    *) fail "exit code $got after SIG$signal" ;;
    esac
    # shellcheck disable=SC2086
    expect 0 "$bin" fit d.yaml -o i$signal $settings --resume
    "$tool" same t1/posterior.nc i$signal/posterior.nc || fail "after SIG$signal the draws are others"
    [ "$got" -eq 0 ] || has i$signal/run.log "went on from"
done

# an unfinished run of the same settings goes on without being asked, unless the configuration says no
# shellcheck disable=SC2086
"$bin" fit d.yaml -o u $settings --max-seconds "$(after 0.6)" >/dev/null 2>&1 || true
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o u $settings
"$tool" same t1/posterior.nc u/posterior.nc || fail "a run that went on by itself has other draws"
# shellcheck disable=SC2086
"$bin" fit d.yaml -o v $settings --max-seconds "$(after 0.6)" >/dev/null 2>&1 || true
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o v $settings --set optimization.cmc.backend_config.resume_from_checkpoint=false
grep -q "went on from" v/run.log && fail "resume_from_checkpoint: false is not honoured"

# ---- a limit of time: what there is, marked; too little time: least squares alone
long="--method nuts --draws 40000 --warmup 200 --quiet"
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o m $long --max-seconds "$(after 1.5)"
has m/fit.json '"complete": false'
# other settings begin anew, say so, and keep what was not finished
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o m $long --seed 7 --max-seconds "$(after 1.5)"
has m/summary.txt 'm/posterior.checkpoint is of another run: "seed: 42" there, "seed: 7" here; sampling began anew'
has m/summary.txt "posterior.checkpoint.before is what that run had done"
mv m/posterior.checkpoint.before m/posterior.checkpoint
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o m $long --resume --max-seconds "$(after 1.5)"
has m/run.log "went on from"
# the checkpoint holds the draws that were made, not room for those that were asked for
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o room --method nuts --draws 2000000 --warmup 200 --quiet --max-seconds "$(after 1)"
made=$(sed -n 's/.*"draws": \([0-9]*\),*/\1/p' room/fit.json | head -n 1) size=$(wc -c <room/posterior.checkpoint)
# of each of four chains, 7 coordinates and 9 statistics; states of chains, windows: less than 100 KB
[ "$size" -le $(((made + 1000) * 4 * 16 * 8 + 100000)) ] || fail "a checkpoint of $size bytes for $made draws"
[ "$size" -lt 100000000 ] || fail "a checkpoint of $size bytes after a second"
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o room --method nuts --draws 1000000 --warmup 200 --quiet --resume
has err 'draws: 2000000'
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o n --method nuts --draws 40000 --quiet --warmup 100000 --max-seconds 0.001
has n/fit.json '"status": "none"'
has n/summary.txt "no posterior"
[ ! -e n/posterior.nc ] || fail "posterior.nc without draws"

# ---- weighted draws: out of time, interrupted, killed; the same bytes in the end, for any number of threads
weighted="--method laplace --draws 100000 --quiet --checkpoint-seconds 0.2"
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o w1 $weighted --threads 1
whole w1
for limit in 0.1 0.2 0.4 0.8 1.6 3.2; do # until least squares are through, but not the draws
    # shellcheck disable=SC2086
    expect 2 "$bin" fit d.yaml -o w2 $weighted --threads 2 --max-seconds "$(after $limit)"
    ! grep -q "by the time limit after" w2/summary.txt || break
done
has w2/summary.txt "by the time limit after"
has w2/summary.txt "--resume goes on from here"
[ ! -e w2/posterior.nc ] || fail "posterior.nc without all weighted draws"
for signal in INT TERM KILL; do
    # shellcheck disable=SC2086
    "$bin" fit d.yaml -o w2 $weighted --resume --threads 3 >/dev/null 2>&1 &
    pid=$!
    sleep "$(after 0.3)"
    kill -$signal $pid 2>/dev/null || true
    got=0
    wait $pid || got=$?
    case $got in
    0 | 130 | 137) ;;
    *) fail "laplace: exit code $got after SIG$signal" ;;
    esac
done
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o w2 $weighted --resume --threads 1
has w2/run.log "went on from"
has w2/run.log "weighted draws"
"$tool" same w1/posterior.nc w2/posterior.nc || fail "weighted draws that went on are others"
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o w2 $settings --resume
has err 'is of another run'

# ---- a checkpoint of another run
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o k $settings --resume --seed 7
has err 'seed: 42'
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o k $settings --resume --bounds phi0=-20:20
has err 'parameter phi0'
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o k $settings --resume --frames 1:30
has err 'frames: 40'
# shellcheck disable=SC2086
"$bin" simulate -o e.h5 --frames 40 --dt 0.1 --q 0.0054 --gap 2e6 --phi -5,5,50,90 $truth --noise 0.01 --seed 5 --quiet
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o k $settings --resume --data e.h5
has err 'data: '
# and a damaged one
cp k/posterior.checkpoint good
size=$(wc -c <good)
{
    head -c $((size / 2)) good
    printf 'damaged!'
    tail -c +$((size / 2 + 9)) good
} >k/posterior.checkpoint
# shellcheck disable=SC2086
expect 4 "$bin" fit d.yaml -o k $settings --resume
has err 'checksum'
head -c $((size / 2)) good >k/posterior.checkpoint
# shellcheck disable=SC2086
expect 4 "$bin" fit d.yaml -o k $settings --resume
head -c 100 /dev/zero >k/posterior.checkpoint # no checkpoint at all
# shellcheck disable=SC2086
expect 4 "$bin" fit d.yaml -o k $settings --resume
has err 'no checkpoint'
# one of another version of the program
sed '1s/checkpoint [0-9]*/checkpoint 3/' good >k/posterior.checkpoint
# shellcheck disable=SC2086
expect 4 "$bin" fit d.yaml -o k $settings --resume
has err 'a checkpoint of version 3 of its format'
# one that says to be longer than the memory; the file has no such blocks
cp good k/posterior.checkpoint
truncate -s 8T k/posterior.checkpoint
# shellcheck disable=SC2086
expect 1 "$bin" fit d.yaml -o k $settings --resume
has err 'more than the memory'
# a pipe nobody writes to
rm k/posterior.checkpoint
mkfifo k/posterior.checkpoint
# shellcheck disable=SC2086
expect 4 timeout 60 "$bin" fit d.yaml -o k $settings --resume
has err 'no regular file'
# without --resume it is written over
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o k $settings
"$tool" same t1/posterior.nc k/posterior.nc || fail "the second run in a folder has other draws"

# ---- a fit without a posterior into the same folder: that of the fit before goes, what others made stays
echo mine >k/sequence.csv # of no fit
touch k/report.html
expect 0 "$bin" fit d.yaml -o k --fix alpha=-0.3
has err "note: posterior.nc of the fit before is removed"
has err "note: posterior.checkpoint is of an earlier run, which --resume goes on with"
has err "note: report.html is from the previous fit; "
[ ! -e k/posterior.nc ] && [ "$(cat k/sequence.csv)" = mine ] && [ -e k/report.html ] || fail "left in k: $(ls k)"
! grep -q "the fit before" k/fit.json k/summary.txt || fail "the result tells of the fit before"
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o k $settings --resume
"$tool" same t1/posterior.nc k/posterior.nc || fail "--resume after a fit without a posterior: other draws"
expect 0 "$bin" fit d.yaml -o k --method laplace --draws 300 --sequence angle --quiet
head -n 1 k/sequence.csv | grep -q status || fail "no sequence.csv"
expect 0 "$bin" fit d.yaml -o k --method laplace --draws 300
has err "note: sequence.csv of the fit before is removed"
[ ! -e k/sequence.csv ] && [ -e k/posterior.nc ] || fail "left in k: $(ls k)"

finish
