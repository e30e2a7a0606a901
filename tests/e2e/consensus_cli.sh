#!/bin/sh
# The consensus mode from the command line: the same draws for any number of threads and after interruptions, what it
# tells, and what it does when shards do not converge or time is over.
#     consensus_cli.sh BINDIR TESTDIR
set -eu
bin=$1/homodyne-static_isotropic tool=$2/posterior_file
. "$(dirname "$0")/../support/test.sh"

"$bin" simulate -o d.h5 --frames 60 --dt 0.1 --q 0.0054 --phi 0 --set D0=20000 --set alpha=-0.3 --set D_offset=1000 \
    --contrast 0.3 --offset 1 --noise 0.005 --seed 4 --config-out d.yaml --quiet
chains="--set optimization.cmc.per_shard_mcmc.num_warmup=200 --set optimization.cmc.per_shard_mcmc.num_samples=400
        --set optimization.cmc.per_shard_mcmc.num_chains=2
        --set optimization.cmc.per_shard_mcmc.adaptive_sampling=false"
cmc="--method cmc --consensus --quiet $chains"
settings="$cmc --cmc-num-shards 5 --seed 3"

# ---- the same bits for any number of threads
for n in 1 2 6; do
    # shellcheck disable=SC2086  # lists of words
    expect 0 "$bin" fit d.yaml -o t$n $settings --threads $n
done
"$tool" check t1/posterior.nc || fail "t1/posterior.nc"
for n in 2 6; do
    "$tool" same t1/posterior.nc t$n/posterior.nc || fail "--threads $n gives other draws than --threads 1"
done
for n in 1 6; do
    sed -n '/"consensus": {/,$p' t$n/fit.json | grep -v '"seconds"' | head -n 70 >shards$n
done
cmp shards1 shards6 || fail "the numbers of the shards depend on threads"

# ---- and where the values stay in their file: shards of parts of rows, of single pairs, and with values that do not
# count
for part in "5" "40" "5 --mask 3:5,17:17"; do
    for stream in on off; do
        # shellcheck disable=SC2086
        expect 0 "$bin" fit d.yaml -o s$stream $cmc --seed 3 --cmc-num-shards $part --stream $stream --threads 3
    done
    has son/run.log "values stay in the file"
    "$tool" same son/posterior.nc soff/posterior.nc || fail "$part shards: streamed values give other draws"
done
has t1/summary.txt "consensus of 5 shards"
has t1/summary.txt "agreement of the shards: chi2"
has t1/summary.txt "corrected with all data: k of the combination"
has t1/summary.txt "before the correction:"
has t1/summary.txt "bias"
has t1/summary.txt "verdict: good"
has t1/fit.json '"heterogeneity_p"'
has t1/fit.json '"exact_mean"'
has t1/config.effective.yaml "consensus: true"
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o seed $cmc --cmc-num-shards 5 --seed 4
if "$tool" same t1/posterior.nc seed/posterior.nc >/dev/null 2>&1; then
    fail "another seed gives the same draws"
fi

# ---- ended by the time limit at several moments, and gone on with
for n in 0.05 0.1 0.15 0.2 0.3; do
    # shellcheck disable=SC2086
    "$bin" fit d.yaml -o k $settings --resume --max-seconds $n --threads 2 >/dev/null 2>&1 || code=$?
    [ "${code:-0}" -eq 2 ] || [ "${code:-0}" -eq 0 ] || fail "exit code $code with --max-seconds $n"
done
# shellcheck disable=SC2086
expect 0 "$bin" fit d.yaml -o k $settings --resume
"$tool" same t1/posterior.nc k/posterior.nc || fail "after interruptions the draws are others"

# ---- time is over before the shards are done, or before the importance draws of laplace
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o late $cmc --seed 3 --max-seconds 0.08 --cmc-num-shards 20
has late/fit.json '"verdict": "failed"'
[ ! -e late/posterior.nc ] || fail "a posterior of part of the shards"
grep -q "time limit" late/run.log || fail "run.log does not tell of the time limit"
has late/summary.txt "NO POSTERIOR: "
expect 2 "$bin" fit d.yaml -o laplace --method laplace --draws 3000000 --max-seconds 0.3 --quiet
has laplace/run.log "the time limit"
[ ! -e laplace/posterior.nc ] || fail "a posterior of part of the importance draws"

# ---- shards that cannot converge: no result, exit code 2, and it is said which
# shellcheck disable=SC2086
expect 2 "$bin" fit d.yaml -o bad $settings --set optimization.cmc.validation.min_ess=1000000
has bad/run.log " of 5: "
has bad/run.log "after 3 attempts"
has bad/fit.json '"verdict": "failed"'

# ---- what is refused, and what is told
expect 3 "$bin" fit d.yaml -o no --method nuts --consensus
has err "--method cmc"
# shellcheck disable=SC2086
expect 3 "$bin" fit d.yaml -o no $cmc --seed 3 --cmc-num-shards 100000
has err "num_shards"
expect 0 "$bin" fit d.yaml -o all --method cmc --quiet
has all/run.log "no sharding was needed"

[ "$failed" -eq 0 ] && echo "consensus: all as it should be"
exit "$failed"
