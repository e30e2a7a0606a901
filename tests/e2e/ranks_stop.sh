#!/bin/bash
# Ranks that are stopped or limited: ranks_stop.sh BINDIR SAME_NUMBERS
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"

"$bin/homodyne-static_isotropic" simulate -o still.h5 --frames 220 --dt 0.1 --q 0.0054 --phi 0 --set D0=2000 \
    --set alpha=-0.3 \
    --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 5 --config-out still.yaml --quiet
still=("$bin/homodyne-static_isotropic" fit still.yaml --quiet)
nuts=("${still[@]}" --method nuts --chains 3 --draws 1500 --warmup 100)
"${nuts[@]}" -o alone || fail "one process: exit code $?"

# work FOLDER: evaluations of the density, and passes over the data
work() {
    grep -E '^ *"(gradients|passes)":' "$1/fit.json" | tr -d ' \n'
}
[ "$(work alone | tr -cd : | wc -c)" = 2 ] || fail "fit.json does not tell the work: $(work alone)"

# wait_for FILE, half a minute at most
wait_for() {
    for _ in $(seq 3000); do
        [ -e "$1" ] && return
        sleep 0.01
    done
}

# ---- a signal to one rank of three, then two ranks go on, then one process
for m in $mpis; do
    rm -rf stopped
    ranks "$m" 3 "${nuts[@]}" -o stopped --checkpoint-seconds 0.2 >out 2>err &
    job=$!
    wait_for stopped/posterior.checkpoint
    last=$(programs stopped | tail -1)
    [ -n "$last" ] || fail "$m: no rank was found"
    kill -USR1 "$last"
    got=0
    wait $job || got=$?
    [ "$got" -eq 130 ] || fail "$m: a rank was told to stop: exit code $got, not 130: $(head -3 err)"
    [ -s stopped/posterior.checkpoint ] || fail "$m: nothing was saved"
    no_pieces stopped
    got=0
    ranks "$m" 2 "${nuts[@]}" -o stopped --resume --max-seconds 1 >out 2>err || got=$?
    [ "$got" -eq 2 ] || [ "$got" -eq 0 ] || fail "$m: limit of time: exit code $got: $(head -3 err)"
    "${nuts[@]}" -o stopped --resume --max-seconds 0.5 >out 2>err || true
    ranks "$m" 2 "${nuts[@]}" -o stopped --resume >out 2>err || fail "$m: resumed: exit code $?: $(head -3 err)"
    "$same" alone/posterior.nc stopped/posterior.nc sampling_time >differences ||
        fail "$m: resumed: $(head -4 differences)"
    [ "$(work stopped)" = "$(work alone)" ] || fail "$m: resumed: work of $(work stopped), not $(work alone)"
    echo "$m: stopped on 3 ranks, went on with 2, 1 and 2: the same draws"
done

# ---- chains of groups of ranks: a signal to one of six, a limit of time on four, then one process goes on
"$bin/homodyne-static_isotropic" simulate -o middle.h5 --frames 700 --dt 0.1 --q 0.0054 --phi 0 --set D0=2000 \
    --set alpha=-0.3 --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 5 --config-out middle.yaml --quiet
middle=("$bin/homodyne-static_isotropic" fit middle.yaml --quiet --method nuts --chains 2 --draws 60 --warmup 50 \
    --threads 1)
rm -rf alone
"${middle[@]}" -o alone || fail "one process: exit code $?"
for m in $mpis; do
    rm -rf stopped
    ranks "$m" 6 "${middle[@]}" -o stopped --checkpoint-seconds 0.1 >out 2>err &
    job=$!
    wait_for stopped/posterior.checkpoint
    last=$(programs stopped | tail -1)
    [ -z "$last" ] || kill -USR1 "$last"
    got=0
    wait $job || got=$?
    [ "$got" -eq 130 ] || fail "$m: a rank of a group was told to stop: exit code $got, not 130: $(head -3 err)"
    got=0
    ranks "$m" 4 "${middle[@]}" -o stopped --resume --max-seconds 0.3 >out 2>err || got=$?
    [ "$got" -eq 2 ] || [ "$got" -eq 0 ] || fail "$m: groups, limit of time: exit code $got: $(head -3 err)"
    "${middle[@]}" -o stopped --resume >out 2>err || fail "$m: resumed: exit code $?: $(head -3 err)"
    "$same" alone/posterior.nc stopped/posterior.nc sampling_time >differences ||
        fail "$m: groups: $(head -4 differences)"
    [ "$(work stopped)" = "$(work alone)" ] || fail "$m: groups: work of $(work stopped), not $(work alone)"
    echo "$m: chains of groups stopped on 6 ranks, went on with 4 and 1: the same draws"
done
finish
