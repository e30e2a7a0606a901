#!/bin/sh
# Runs that cannot mix: pairs of processes with the same number in one folder, folders that are taken, files of two
# runs, what killed runs leave.
#     [PAIRS=6] runs.sh BINDIR fake_pid.so
# PAIRS: of each kind; PAIRS=50 takes some minutes.
set -u
bin=$1 library=$2
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne pairs=${PAIRS:-6}
export XDG_CACHE_HOME="$dir/cache"

for k in 1 2; do
    "$h" simulate --model static_isotropic -o run$k.h5 --frames 60 --dt 0.1 --q 0.005 --phi 0 --set D0=${k}0000 \
        --set alpha=0 \
        --set D_offset=0 --contrast 0.3 --noise 0.01 --seed $k --quiet || exit 1
done
"$h" config --mode static_isotropic --data run1.h5 -o my.yaml --quiet || exit 1

# A process of the same number as every other: in a name space of its own, or where that is not permitted by a preload.
cat >alone.sh <<'END'
code=$1
shift
"$@" >"$code.out" 2>"$code.err" </dev/null &
wait $! && echo 0 >"$code" || echo $? >"$code"
END
if unshare --pid --fork --mount-proc true 2>/dev/null; then
    alone() { unshare --pid --fork --mount-proc sh alone.sh "$@"; }
    echo "process numbers: name spaces"
else
    alone() { LD_PRELOAD=$library sh alone.sh "$@"; }
    echo "process numbers: a preload"
fi

# of FILE: the data file that it speaks of, once; HDF5 keeps short texts as they are
of() {
    grep -aoE 'run[12]\.h5' "$1" | sort -u | tr '\n' ' '
}

# ---- two runs into one folder: all files are of one of them, and the other says why it has done nothing
n=1 mixed=0 lost=0 refused=0
while [ "$n" -le "$pairs" ]; do
    for method in "" "--method nuts --draws 60 --warmup 60"; do
        rm -rf same
        # shellcheck disable=SC2086  # words
        {
            alone code1 "$h" fit my.yaml --data run1.h5 -o same --quiet --threads 1 $method &
            alone code2 "$h" fit my.yaml --data run2.h5 -o same --quiet --threads 1 $method
            wait
        }
        files="same/fit.json same/fit.h5 same/run.log same/config.effective.yaml"
        [ -z "$method" ] || files="$files same/posterior.nc"
        sources=$(for file in $files; do of "$file"; done | tr ' ' '\n' | grep . | sort -u | wc -l)
        [ "$sources" -eq 1 ] || mixed=$((mixed + 1))
        ended=0
        for k in 1 2; do
            case $(cat code$k) in
            0 | 2) ended=$((ended + 1)) ;;
            4)
                has code$k.err "another run is at work in this output folder (homodyne-static_isotropic, process "
                refused=$((refused + 1))
                ;;
            *) fail "pair $n: exit code $(cat code$k): $(cat code$k.err)" ;;
            esac
        done
        [ $ended -ge 1 ] || lost=$((lost + 1))
        expect 0 "$h" compare same same
        [ -z "$(find same -name '*.part' -o -name '.homodyne.lock')" ] || fail "pair $n: left: $(ls -A same)"
    done
    n=$((n + 1))
done
echo "$((2 * pairs)) pairs: $mixed mixed, $lost lost, $refused refused"
[ $mixed -eq 0 ] || fail "$mixed folders hold files of two runs"
[ $lost -eq 0 ] || fail "$lost pairs without a result"

# ---- two batches into one folder: of different files, and of the same
n=1
while [ "$n" -le "$pairs" ]; do
    rm -rf ser
    alone code1 "$h" batch my.yaml run1.h5 --jobs 1 -o ser --quiet &
    alone code2 "$h" batch my.yaml run2.h5 --jobs 1 -o ser --quiet
    wait
    [ "$(cat code1 code2 | tr -d '\n')" = 00 ] || fail "two batches, pair $n: $(cat code1 code2 code1.err code2.err)"
    [ "$(cut -d, -f1,2,6 ser/series.csv | sort | tr '\n' ' ')" = "name,file,exit run1,run1.h5,0 run2,run2.h5,0 " ] ||
        fail "two batches, pair $n: $(cat ser/series.csv)"
    n=$((n + 1))
done
rm -rf ser
alone code1 "$h" batch my.yaml run1.h5 run2.h5 --jobs 1 -o ser --quiet &
alone code2 "$h" batch my.yaml run2.h5 run1.h5 --jobs 1 -o ser --quiet
wait
[ "$(cat code1 code2 | tr -d '\n')" = 00 ] ||
    fail "two batches of the same files: $(cat code1 code2 code1.err code2.err)"
[ "$(wc -l <ser/series.csv)" -eq 3 ] || fail "two batches of the same files: $(cat ser/series.csv)"

# ---- two compilers, and what a killed one left
model=$here/../../models/kww.lua
n=1
while [ "$n" -le "$pairs" ] && [ "$n" -le 3 ]; do
    rm -rf cache
    mkdir -p cache/homodyne/.making.0123456789abcdef
    touch cache/homodyne/.making.0123456789abcdef/kww.c
    alone code1 "$h" compile "$model" &
    alone code2 "$h" compile "$model"
    wait
    [ "$(cat code1 code2 | tr -d '\n')" = 00 ] || fail "two compilers, pair $n: $(cat code1 code2 code1.err code2.err)"
    [ -z "$(find cache -name '.making*')" ] || fail "two compilers, pair $n: left: $(ls -A cache/homodyne)"
    n=$((n + 1))
done

# ---- a cache in whose place others may put theirs
modes=777
[ "$(id -u)" -ne 0 ] || modes="777 775" # of another group: that of the user's own name is the user's
for mode in $modes; do
    mkdir -p open$mode && chmod $mode open$mode
    [ $mode = 777 ] || chgrp daemon open$mode
    expect 3 env XDG_CACHE_HOME="$dir/open$mode" "$h" compile "$model"
    says "open$mode: others may write to this folder"
done
mkdir -p wide/inner && chmod 777 wide
expect 3 env XDG_CACHE_HOME="$dir/wide/inner" "$h" compile "$model"
says "wide: others may write to this folder"
mkdir sticky && chmod 1777 sticky
expect 0 env XDG_CACHE_HOME="$dir/sticky" "$h" compile "$model"

# ---- a killed run does not block, and what it left goes
"$h" fit my.yaml --data run1.h5 --method nuts --draws 1000000 --checkpoint-seconds 0.001 -o killed \
    --quiet >/dev/null 2>&1 &
pid=$!
while [ ! -s killed/posterior.checkpoint ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
expect 4 "$h" fit my.yaml --data run2.h5 -o killed --quiet
says "killed: another run is at work in this output folder (homodyne-static_isotropic, process $pid on host "
expect 0 "$h" fit my.yaml --data run2.h5 -o killed --dry-run
kill -KILL $pid
wait $pid 2>/dev/null
touch killed/.fit.h5.0123456789abcdef.part killed/.mine.part
[ -e killed/.homodyne.lock ] || fail "no lock beside a killed run"
expect 0 "$h" fit my.yaml --data run2.h5 -o killed --quiet
[ -z "$(find killed -name '*.part' ! -name .mine.part -o -name '.homodyne.lock')" ] || fail "left: $(ls -A killed)"
[ -e killed/.mine.part ] || fail "a file that is none of ours went"
expect 4 "$h" fit my.yaml --data none.h5 -o a/b/c --quiet
[ ! -e a ] || fail "a folder for nothing"

# ---- files of two runs in one folder are told wherever results are read
for k in 1 2; do
    expect 0 "$h" fit my.yaml --data run$k.h5 -o r$k --method laplace --draws 50 --quiet
done
id() {
    sed -n 's/^  "run_id": "\([0-9a-f]*\)",$/\1/p' "$1/fit.json"
}
[ -n "$(id r1)" ] && [ "$(id r1)" != "$(id r2)" ] || fail "the runs have the names '$(id r1)' and '$(id r2)'"
for file in fit.h5 posterior.nc run.log summary.txt config.effective.yaml; do
    rm -rf mix
    cp -r r1 mix
    cp r2/$file mix/$file
    for command in "compare mix r1" "report mix -o mix.html" "fit my.yaml --data run1.h5 -o mix --resume --quiet"; do
        # shellcheck disable=SC2086
        expect 4 "$h" $command
        says "mix: files of two runs are in this folder: fit.json is of run $(id r1), $file of run $(id r2)"
    done
done
rm -rf moved && cp -r r1 moved && mkdir moved/figures
expect 0 "$h" compare moved r1 # a copy of a whole set is one

# ---- an earlier posterior that stays beside a run which was ended early is told from a mixture
"$h" fit my.yaml --data run1.h5 --method nuts --draws 20 --warmup 20 -o early --quiet >/dev/null 2>&1 # good or not
[ -s early/posterior.nc ] || fail "no posterior"
expect 2 "$h" fit my.yaml --data run1.h5 --method nuts --draws 20 --warmup 20 -o early --quiet --max-seconds 0.0001
has early/fit.json '"kept_files"'
expect 0 "$h" report early -o early.html

# ---- copies that a launcher has started are no division of work
copy() { # copy CODE VARIABLE=VALUE...
    code=$1
    shift
    expect "$code" env -u FIT_COPIES HOMODYNE_MPI=none "$@" "$h" fit my.yaml --data run1.h5 -o copies --quiet
}
for told in "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0" "SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_PROCID=0" \
    "SLURM_NTASKS=2 SLURM_PROCID=1" \
    "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0" "PMI_SIZE=8 PMI_RANK=3" "MV2_COMM_WORLD_SIZE=2" "PMIX_RANK=1"; do
    # shellcheck disable=SC2086
    copy 3 $told
    says "fit: "
    says "has started several copies of this program"
    [ ! -e copies ] || fail "$told: a folder"
    # shellcheck disable=SC2086
    expect 0 env $told "$h" batch my.yaml run1.h5 -o shared --list
    # shellcheck disable=SC2086
    expect 3 env $told "$h" simulate --model static_isotropic -o copies --frames 20 --dt 0.1 --q 0.005 --phi 0
    # shellcheck disable=SC2086
    expect 0 env $told "$h" fit --help
    # shellcheck disable=SC2086
    expect 0 env $told "$h" validate my.yaml
    # shellcheck disable=SC2086
    copy 0 $told FIT_COPIES=each
    rm -r copies
done
# a script of a job with several tasks, in which nothing was started by srun; one task; a step of one task
for told in "SLURM_NTASKS=8 SLURM_PROCID=0" \
    "SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=1 SLURM_PROCID=0 PMI_SIZE=1 PMIX_RANK=0" \
    "OMPI_COMM_WORLD_SIZE=1"; do
    # shellcheck disable=SC2086
    copy 0 $told
done

finish
