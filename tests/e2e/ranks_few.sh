#!/bin/bash
# More ranks than there is work give the numbers of one process; an output folder that cannot be written ends all ranks
# with one message and without results: ranks_few.sh BINDIR SAME_NUMBERS
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/mpi.sh"

"$bin/homodyne-static_isotropic" simulate -o d.h5 --frames 30 --dt 0.1 --q 0.0054 --phi 0 --set D0=2000 \
    --set alpha=-0.3 --set D_offset=100 --contrast 0.3 --noise 0.01 --seed 5 --quiet --config-out d.yaml

# ---- the output folder: only the first rank writes, and all end
touch file
mkdir small
homes=file h=$(hostname | cut -c 1-63)
trap 'umount "$dir/small" 2>/dev/null || true; rm -rf "$dir"' EXIT
! mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || homes="file small/results"
for m in $mpis; do
    for home in $homes; do
        got=0
        timeout -k 5 60 "$(launcher "$m")" -n 3 "$bin/homodyne-static_isotropic" fit d.yaml --quiet -o "$home" \
            >out 2>err || got=$?
        [ "$got" -eq 4 ] || fail "$m: -o $home: exit code $got, not 4: $(head -5 err)"
        [ "$(grep -c "^homodyne.* rank 0 ($h): $home" err)" = 1 ] || fail "$m: -o $home: not told: $(head -5 err)"
        [ ! -e small/results ] || fail "$m: a full disk holds $(ls -a small/results)"
    done
done
umount small 2>/dev/null || true

# ---- one group of few frames on seven ranks: fewer groups, leaves, chains, shards and replicates than ranks
few=("$bin/homodyne-static_isotropic" fit d.yaml --frames 1:20 --threads 1 --quiet)
# words of each: the exit code, options
while read -r code words; do
    read -ra option <<<"$words"
    rm -rf alone
    got=0
    "${few[@]}" "${option[@]}" -o alone >out 2>err || got=$?
    [ "$got" -eq "$code" ] || fail "$words: exit code $got, not $code"
    for m in $mpis; do
        rm -rf many
        got=0
        timeout -k 5 60 "$(launcher "$m")" -n 7 "${few[@]}" "${option[@]}" -o many >out 2>err </dev/null || got=$?
        [ "$got" -eq "$code" ] || fail "$m, 7 ranks: $words: exit code $got, not $code: $(head -3 err)"
        same_as alone many "$m, 7 ranks: $words"
    done
done <<END_OF_LIST
0 --stream on
0 --bootstrap block:2
0 --method nuts --chains 1 --draws 20 --warmup 20
2 --method cmc --consensus --cmc-num-shards 2 --draws 100 --warmup 100 --chains 1
END_OF_LIST

finish
