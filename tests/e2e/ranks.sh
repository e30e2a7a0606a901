#!/bin/bash
# One fit over several ranks has every number of one process: ranks.sh BINDIR SAME_NUMBERS
# Under each MPI that is here, with several numbers of ranks and threads.
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"

physics=(--set D0=2000 --set alpha=-0.3 --set D_offset=100)
"$bin/homodyne-laminar" simulate -o flow.h5 --frames 150 --dt 0.1 --q 0.0054 --gap 2e6 \
    --phi=-5,5,50,90 "${physics[@]}" \
    --set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=0.0003 --set phi0=-4 \
    --contrast 0.3,0.28,0.31,0.27 --noise 0.01 --seed 4 --config-out flow.yaml --quiet
"$bin/homodyne-static_isotropic" simulate -o still.h5 --frames 220 --dt 0.1 --q 0.0054 --phi 0 "${physics[@]}" \
    --contrast 0.3 --noise 0.01 --seed 5 --config-out still.yaml --quiet

"$bin/homodyne-static_isotropic" simulate -o speckle.h5 --frames 220 --dt 0.1 --q 0.0054 --phi 0 "${physics[@]}" \
    --contrast 0.3 --noise speckle --pixels 1000 --seed 5 --config-out speckle.yaml --quiet

"$bin/homodyne-laminar" simulate -o wide.h5 --frames 1050 --dt 0.1 --q 0.0054 --gap 2e6 \
    --phi=-5,5,50,90 "${physics[@]}" \
    --set gamma_dot_t0=0.004 --set beta=-0.4 --set gamma_dot_t_offset=0.0003 --set phi0=-4 \
    --contrast 0.3 --noise 0.01 --seed 6 --config-out wide.yaml --quiet

# check WORDS "RANKS" "THREADS" PROGRAM fit ...: one process, then ranks
check() {
    words=$1 sizes=$2 threads=$3
    shift 3
    rm -rf alone
    "$@" -o alone --threads 2 --quiet || fail "$words: exit code $?"
    at_once check_under "$@"
    echo "$words: the same numbers under$mpis with $sizes ranks x $threads threads"
}

# check_under MPI PROGRAM fit ...
check_under() {
    m=$1
    shift
    for r in $sizes; do
        for t in $threads; do
            rm -rf "many$tag"
            ranks "$m" "$r" "$@" -o "many$tag" --threads "$t" --quiet >"out$tag" 2>"err$tag" ||
                fail "$words, $m, $r ranks: exit code $?: $(head -3 "err$tag")"
            if [ -e "many$tag/fit.json" ]; then
                same_as alone "many$tag" "$words, $m, $r ranks x $t threads"
            else
                fail "$words, $m, $r ranks x $t threads: there is no fit.json"
            fi
        done
    done
}

# All numbers of ranks and threads with FULL=1; else enough of them to see a difference.
full=${FULL:-}
flow=("$bin/homodyne-laminar" fit flow.yaml)
still=("$bin/homodyne-static_isotropic" fit still.yaml)
check "least squares" "${full:+1 2 }3${full:+ 4 7}" "1 2" "${flow[@]}"
check "seven ranks, homodyne" "7" "1" "$bin/homodyne" fit still.yaml
check "robust, many starts" "${full:+2 }3${full:+ 7}" "${full:+1 }2" "${flow[@]}" --loss soft_l1 --multistart-n 12
check "streamed" "2${full:+ 3}" "${full:+1 }2" "${flow[@]}" --stream on
check "hierarchical" "3" "2" "${flow[@]}" --scaling hierarchical
check "bootstrap and profile" "3" "${full:+1 }2" "${still[@]}" --bootstrap block:7 --profile D0
check "efficient" "2" "2" "$bin/homodyne-static_isotropic" fit speckle.yaml --estimator efficient
check "laplace" "3" "${full:+1 }2" "${still[@]}" --method laplace --draws 300
check "nuts" "3" "${full:+1 }2" "${still[@]}" --method nuts --chains 3 --draws 60 --warmup 60
check "consensus" "3" "${full:+1 }2" "${still[@]}" --method cmc --consensus --cmc-num-shards 5 --draws 200 \
    --warmup 150 --chains 2
check "small data" "3" "2" "${still[@]}" --frames 1:60
# more than 2e5 values: ranks have whole chains where each has as many, and share the sums of every chain otherwise
"$bin/homodyne-static_isotropic" simulate -o middle.h5 --frames 700 --dt 0.1 --q 0.0054 --phi 0 "${physics[@]}" \
    --contrast 0.3 --noise 0.01 --seed 5 --config-out middle.yaml --quiet
middle=("$bin/homodyne-static_isotropic" fit middle.yaml --method nuts)
check "nuts, a chain for each rank" "2" "${full:+1 }2" "${middle[@]}" --chains 2 --draws 25 --warmup 30
check "nuts, chains of all ranks" "3" "1" "${middle[@]}" --chains 2 --draws 25 --warmup 30
check "nuts, a chain for each of three groups of ranks" "6" "1" "${middle[@]}" --chains 3 --draws 12 --warmup 20
[ -z "$full" ] ||
    check "nuts, three chains for each of two groups" "4" "1 2" "${middle[@]}" --chains 6 --draws 25 --warmup 30
# sums by devices, of each rank its own: the numbers of one process with one device
small=("${still[@]}" --frames 1:40)
check "device" "2${full:+ 3 5}" "1" "${small[@]}" --device plain
check "device, pieces" "3" "1" env FIT_DEVICE_MB=0 "${small[@]}" --device plain
if POCL_DEVICES="pthread pthread" "$bin/homodyne" info --devices | grep -q '^  opencl:1 '; then
    export POCL_DEVICES="pthread pthread"
    check "two devices" "2" "1" "${small[@]}" --device opencl
    unset POCL_DEVICES
else
    echo "no two OpenCL devices: not tried"
fi
# more than two million pairs: each rank holds its own
wide=("$bin/homodyne-laminar" fit wide.yaml)
check "divided" "2${full:+ 3 7}" "${full:+1 }2" "${wide[@]}"
check "divided, robust" "3" "${full:+1 }2" "${wide[@]}" --loss soft_l1
check "large, whole: bootstrap" "2" "2" "${wide[@]}" --bootstrap block:2
check "large, streamed" "3" "2" "${wide[@]}" --stream on
"$bin/homodyne-static_isotropic" simulate -o long.h5 --frames 2100 --dt 0.1 --q 0.0054 --phi 0 "${physics[@]}" \
    --contrast 0.3 --noise 0.01 --seed 7 --config-out long.yaml --quiet
long=("$bin/homodyne-static_isotropic" fit long.yaml)
check "chunks of rows, streamed" "2${full:+ 3}" "2" "${long[@]}" --stream on
"${long[@]}" --stream off -o held --quiet || fail "chunks of rows, held: exit code $?"
"$same" alone/fit.h5 held/fit.h5 threads time >differences || fail "streamed and held: $(head -4 differences)"

# ---- only the first rank speaks, and once
speaks() {
    m=$1
    TERM=xterm ranks "$m" 3 "${still[@]}" -o "many$tag" >"out$tag" 2>"err$tag" || fail "$m: exit code $?"
    ! grep -q $'[\033\r]' "out$tag" "err$tag" ||
        fail "$m: a file has what is meant for a terminal: $(cat -v "out$tag" "err$tag" | tail -3)"
    [ "$(grep -c '^CONVERGED' "out$tag")" = 1 ] || fail "$m: $(grep -c '^CONVERGED' "out$tag") ranks have printed"
    got=0
    ranks "$m" 3 "${still[@]}" -o "many$tag" --data nowhere.h5 >"out$tag" 2>"err$tag" || got=$?
    [ "$got" -eq 3 ] || [ "$got" -eq 4 ] || fail "$m: a file that is not there: exit code $got"
    [ "$(grep -c 'nowhere.h5' "err$tag")" = 1 ] ||
        fail "$m: a file that is not there is told $(grep -c 'nowhere.h5' "err$tag") times"
    got=0
    HOMODYNE_MPI=nowhere ranks "$m" 2 "${still[@]}" -o "none$tag" >"out$tag" 2>"err$tag" || got=$?
    [ "$got" -ne 0 ] || fail "$m: a plugin that is not there is no error"
    has "err$tag" "there is no plugin of this name"
    [ ! -e "none$tag/fit.json" ] || fail "$m: copies have written"
}
at_once speaks
finish
