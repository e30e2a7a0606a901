#!/bin/sh
# A disk that fills up, and SIGKILL, while a posterior is sampled and written and while a batch is at work: at every
# STEP-th call that changes the disk.
#     disk.sh BINDIR TESTDIR fail_disk.so [STEP]
#
# Full: exit code 4, a message, the files of the run before stay what they were, and with room again the run goes on.
# Killed: what has the name of a result is whole, that of this run or of the one before, and the run goes on.
# Gone on with, the draws are those of a run to which nothing happened.
set -u
bin=$(cd "$1" && pwd) tool=$2/posterior_file library=$3 step=${4:-1}
. "$(dirname "$0")/../support/test.sh"

"$bin/homodyne-static_isotropic" simulate --frames 20 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 -o e.h5 \
    --config-out c.yaml >/dev/null || exit 1
sample="$bin/homodyne-static_isotropic fit c.yaml --quiet --threads 1 --method nuts --chains 2 --warmup 60 --draws 30
        --checkpoint-seconds 0.001 -o OUT"
names="fit.json fit.h5 posterior.nc summary.txt run.log config.effective.yaml"

# What a run of the posterior leaves; it may not converge with so few draws (2).
# shellcheck disable=SC2086  # lists of words
{
    $sample --seed 1 >/dev/null 2>&1
    mv OUT before
    DISK_COUNT=count LD_PRELOAD=$library $sample >/dev/null 2>err
    right=$?
    mv OUT right
}
calls=$(cat count)
[ $right -eq 2 ] || [ $right -eq 0 ] || fail "sampling: exit code $right: $(tail -n 1 err)"
[ "$calls" -gt 100 ] || fail "only $calls calls change the disk"

# whole_results: of the run before or of this one, and nothing in between
whole_results() {
    for name in $names; do
        [ -s "OUT/$name" ] || fail "$where: OUT/$name is gone"
        cmp -s "OUT/$name" "before/$name" && continue
        case $name in
        fit.json | summary.txt | run.log | *.yaml)
            [ "$(tail -c 1 "OUT/$name" | wc -l)" -eq 1 ] || fail "$where: OUT/$name is cut"
            [ "$(wc -l <"OUT/$name")" -eq "$(wc -l <"right/$name")" ] || [ $name = run.log ] ||
                fail "$where: OUT/$name is cut"
            ;;
        *) "$tool" read "OUT/$name" || fail "$where: OUT/$name cannot be read" ;;
        esac
    done
}

# told_apart: what a program that reads the folder says of it: files of two runs are no result
told_apart() {
    ids=$(for name in fit.json run.log config.effective.yaml summary.txt; do
        grep -aoE 'run(_id")?:? "?[0-9a-f]{16}' "OUT/$name" | grep -oE '[0-9a-f]{16}$' | head -n 1
    done | sort -u | wc -l)
    new=0 old=0
    for name in fit.json fit.h5 posterior.nc; do
        if cmp -s "OUT/$name" "before/$name"; then old=1; else new=1; fi
    done
    got=0
    "$bin/homodyne" compare OUT OUT >out 2>err || got=$?
    if [ "$ids" -gt 1 ] || [ $((old + new)) -eq 2 ]; then
        [ $got -eq 4 ] || fail "$where: files of two runs, and compare ends with $got"
        says "OUT: files of two runs are in this folder: fit.json is of run "
        mixed=$((mixed + 1))
    else
        [ $got -eq 0 ] || fail "$where: compare ends with $got: $(tail -n 1 err)"
    fi
}

# goes_on: the same command once more, with room
goes_on() {
    got=0
    # shellcheck disable=SC2086
    $sample >out 2>err || got=$?
    [ $got -eq $right ] || fail "$where, begun again: exit code $got: $(tail -n 1 err)"
    "$tool" same OUT/posterior.nc right/posterior.nc || fail "$where, begun again: other draws"
}

n=1 full=0 killed=0 mixed=0
while [ "$n" -le "$calls" ]; do
    where="disk full at call $n of $calls"
    rm -rf OUT
    cp -r before OUT
    rm OUT/posterior.checkpoint
    got=0
    # shellcheck disable=SC2086
    DISK_FULL=$n LD_PRELOAD=$library $sample >out 2>err || got=$?
    if [ $got -eq 4 ]; then
        grep -qE "No space left|disk full" err || fail "$where: the message is: $(tail -n 1 err)"
        [ -z "$(find OUT -name '*.part')" ] || fail "$where: a temporary file stays"
        for name in $names; do
            cmp -s "OUT/$name" "before/$name" || fail "$where: OUT/$name has changed"
        done
        full=$((full + 1))
    elif [ $got -ne $right ]; then
        fail "$where: exit code $got: $(tail -n 1 err)"
    else
        "$tool" same OUT/posterior.nc right/posterior.nc || fail "$where: other draws"
    fi
    goes_on

    where="killed at call $n of $calls"
    rm -rf OUT
    cp -r before OUT
    rm OUT/posterior.checkpoint
    got=0
    # shellcheck disable=SC2086
    { DISK_KILL=$n LD_PRELOAD=$library $sample >out 2>err || got=$?; } 2>/dev/null
    # between two windows it depends on the clock how often the chains are saved
    [ $got -eq 137 ] || { [ $got -eq $right ] && [ $((n + 20)) -gt "$calls" ]; } || fail "$where: exit code $got"
    whole_results
    told_apart
    killed=$((killed + 1))
    goes_on
    n=$((n + step))
done
echo "sampling: $calls calls, $full with a full disk, $killed killed, $mixed of them between two files"
[ $full -gt 0 ] || fail "the disk was never full"

# ---- a batch: the program in front (homodyne) and its fits (homodyne-static_isotropic)
for k in 1 2 3; do cp e.h5 s$k.h5; done
batch="$bin/homodyne batch c.yaml s1.h5 s2.h5 s3.h5 -o OUT --jobs 2 --quiet"
table() { # the columns that do not tell seconds
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) use[k] = $k ~ /^(name|status|D0|alpha|D_offset)/ }
        { line = $1; for (k = 2; k <= NF; k++) if (use[k]) line = line "," $k; print line }' "$1"
}

# each_call PROGRAM: of the batch
each_call() {
    rm -rf OUT
    # shellcheck disable=SC2086
    DISK_ONLY=$1 DISK_COUNT=count LD_PRELOAD=$library $batch >out 2>err || fail "batch: exit code $?: $(tail -n 1 err)"
    calls=$(cat count)
    table OUT/series.csv >right.csv
    n=1
    while [ "$n" -le "$calls" ]; do
        for how in FULL KILL; do
            where="batch, $1: $how at call $n of $calls"
            rm -rf OUT
            got=0
            # shellcheck disable=SC2086
            { env "DISK_$how=$n" DISK_ONLY=$1 LD_PRELOAD=$library $batch >out 2>err || got=$?; } 2>/dev/null
            case $1$how$got in
            *FULL0) ;; # what did not need room
            *FULL4) [ -s err ] || grep -rqE "No space left|disk full" OUT || fail "$where: no message" ;;
            homodyneKILL137 | homodyne-*KILL1) ;;
            *) fail "$where: exit code $got: $(tail -n 1 err)" ;;
            esac
            if [ -e OUT/series.csv ]; then # which is put in place first
                awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR != 4 }' OUT/series.csv ||
                    fail "$where: a broken series.csv: $(cat OUT/series.csv)"
                [ ! -e OUT/series.h5 ] || "$tool" read OUT/series.h5 || fail "$where: series.h5 cannot be read"
            fi
            [ $how = KILL ] || no_pieces OUT
            # shellcheck disable=SC2086
            expect 0 $batch
            table OUT/series.csv | cmp -s - right.csv || fail "$where, begun again: $(table OUT/series.csv)"
        done
        n=$((n + step))
    done
    echo "batch, $1: $calls calls"
}
each_call homodyne
each_call homodyne-static_isotropic

# ---- a real disk: as small as can be, where this user may mount one
if unshare -rm sh -c 'mount -t tmpfs -o size=64k none .' 2>/dev/null; then
    mkdir OUT.small
    for size in 8 32 64 128 256 512; do
        where="a disk of $size KB"
        # shellcheck disable=SC2016,SC2086
        unshare -rm sh -c 'size=$1 && shift && mount -t tmpfs -o size="$size"k none OUT.small && code=0 && {
            "$@" >out 2>err || code=$?
            cp -r OUT.small/. kept
            exit $code; }' sh $size $(echo $sample | sed 's#-o OUT#-o OUT.small/r#')
        got=$?
        if [ $got -eq 4 ]; then
            grep -qE "No space left|disk full" err || fail "$where: the message is: $(tail -n 1 err)"
            [ -z "$(find kept -name '*.part')" ] || fail "$where: a temporary file stays"
            [ ! -e kept/r/fit.json ] || fail "$where: an error and results"
        elif [ $got -eq $right ]; then
            "$tool" same kept/r/posterior.nc right/posterior.nc || fail "$where: other draws"
        else
            fail "$where: exit code $got: $(tail -n 1 err)"
        fi
        echo "$where: exit code $got"
        rm -rf kept
    done
else
    echo "no real disk was filled: this user may not mount one"
fi
finish
