#!/bin/bash
# The commands of docs/hpc.md that measure what ranks cost: ranks_bench.sh BINDIR SOURCE BUILD
# They are taken from the page, and run with few rounds: that they work is tested, not what they measure.
set -eu
bin=$1 source=$2 build=$3
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"

command_of() {
    line=$(grep "^$1 " "$source/docs/hpc.md") || fail "docs/hpc.md has no command $1"
    echo "$line"
}

# shellcheck disable=SC2046 # words of the page
set -- $(command_of bench/gather.sh)
[ "$2" = build ] || fail "gather.sh of what: $2"
ROUNDS=4
(cd "$source" && bash "$1" "$build" "$3" $ROUNDS) >gather || fail "bench/gather.sh: exit code $?"
for m in $mpis; do
    case $m in openmpi) name='Open MPI' ;; mpich) name=MPICH ;; esac
    grep -q "^$name.*, $3 ranks, " gather || fail "bench/gather.sh says nothing of $m: $(head -3 gather)"
done
[ "$(grep -c '^constants: [0-9.e+-]* ns an addition, [0-9.e+-]* us a message, [0-9.e+-]* GB/s$' gather)" -ge 1 ] ||
    fail "bench/gather.sh gives no constants: $(tail -3 gather)"
[ "$(grep -cE '^ +(1|23|100) +[0-9]+ ' gather)" -ge 3 ] || fail "bench/gather.sh measured too little"

cmake --build "$build" --target bench-ranks >out || fail "bench-ranks cannot be built"
# shellcheck disable=SC2046
set -- $(command_of build/bench/bench-ranks)
shift
"$build/bench/bench-ranks" "$@" >virtual || fail "bench-ranks $*: exit code $?"
! grep -q DIFFER virtual || fail "virtual ranks have other bits: $(grep DIFFER virtual | head -2)"
grep -qE '^ +4096 +[0-9]+ +same ' virtual || fail "there is nothing of 4096 ranks: $(head -12 virtual)"
for pair in '16 99' '64 99' '256 91'; do # as the page says
    share=$(awk -v r="${pair% *}" '$1 == r && $3 == "same" { printf "%.0f", $(NF - 1) }' virtual)
    [ "$share" -ge $((${pair#* } - 1)) ] || fail "efficiency of ${pair% *} ranks: $share %, the page says ${pair#* } %"
done
# shares of matrices as they are measured are even, too
"$build/bench/bench-ranks" 1000 23 >small || fail "bench-ranks 1000 23: exit code $?"
for r in 2 3 4; do
    awk -v r="$r" '$1 == r && $3 == "same" && $4 < 1.02 { ok = 1 } END { exit !ok }' small ||
        fail "shares of $r ranks are uneven: $(grep -E "^ +$r " small)"
done
finish
