#!/bin/sh
# Several commands share one list of fits: homodyne batch --part, arrays and copies of SLURM by their variables, a part
# that is killed, fits that fail, the script for sbatch: parts.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne n=9
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_PROCID SLURM_STEP_NUM_TASKS FIT_COPIES 2>/dev/null || true

"$h" simulate --model static_isotropic -o 1.h5 --frames 60 --dt 0.1 --q 0.0054 --phi 0 --contrast 0.3 --offset 1 \
    --noise 0.01 \
    --seed 1 --set D0=2000 --set alpha=-0.3 --set D_offset=100 --quiet --config-out my.yaml
for k in 2 3 4 5 6 7 8; do cp 1.h5 $k.h5; done
cp 1.h5 "nine o'clock.h5"

# rows of a table without what differs from run to run
rows() {
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "seconds") c = k } { $c = ""; print }' "$1"
}

here() { # fits that a command did itself, from its JSON
    sed -nE 's/.*"done_here": ([0-9]+).*/\1/p' "$1" | head -1
}

expect 0 "$h" batch my.yaml ./*.h5 -o whole --quiet
[ "$(wc -l <whole/series.csv)" -eq $((n + 1)) ] || fail "the whole: $(wc -l <whole/series.csv) lines"

# ---- shares: each fit in one of them
for parts in 1 2 4 9 13; do
    : >shares
    k=1
    while [ $k -le $parts ]; do
        "$h" batch my.yaml ./*.h5 --part $k/$parts --list >>shares
        k=$((k + 1))
    done
    [ "$(sort -u shares | wc -l)" -eq $n ] && [ "$(wc -l <shares)" -eq $n ] || fail "$parts shares: $(cat shares)"
done
for wrong in 0/2 3/2 1 1/ /2 a/b 1/2/3 -1/2 ""; do
    expect 3 "$h" batch my.yaml 1.h5 --part "$wrong"
    says "--part: '$wrong' is not a share K/N"
done

# ---- three at once: each fit is done once, the table is that of one command
for k in 1 2 3; do
    "$h" batch my.yaml ./*.h5 -o shared --part $k/3 --jobs 1 --json >part$k 2>part$k.err &
done
wait
[ $(($(here part1) + $(here part2) + $(here part3))) -eq $n ] ||
    fail "fits done: $(here part1) + $(here part2) + $(here part3), not $n"
expect 0 "$h" batch my.yaml ./*.h5 -o shared
has out "$n were done before"
rows whole/series.csv >one
rows shared/series.csv >many
cmp -s one many || fail "the table of three parts differs: $(diff one many | head -5)"
[ -z "$(find shared -name '.batch.claim')" ] || fail "claims are left"

# ---- one part alone does all, and one that is killed leaves nothing claimed
"$h" batch my.yaml ./*.h5 -o killed --part 1/2 --jobs 1 --quiet --method nuts --draws 300 --warmup 300 2>/dev/null &
part=$!
tries=0
while [ ! -f killed/1/batch.key ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -KILL $part
wait $part 2>/dev/null || true
expect 0 "$h" batch my.yaml ./*.h5 -o killed --part 2/2 --json --method nuts --draws 300 --warmup 300
[ "$(here out)" -lt $n ] || fail "the second part did the fits of the first again"
grep -q '"left": [01],' out || fail "more than the fit at hand is left: $(cat out)"
expect 0 "$h" batch my.yaml ./*.h5 -o killed --json --method nuts --draws 300 --warmup 300
has out '"left": 0'

# ---- one folder: not two lists of other settings at a time; afterwards what other settings or runs have done is done
# again, and this is told
"$h" batch my.yaml ./*.h5 -o folder --part 1/2 --jobs 1 --quiet --method nuts --draws 2000 --warmup 300 &
part=$!
tries=0
until [ -n "$(find folder -name '.batch.????????????????.*' 2>/dev/null)" ] || [ $tries -ge 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
expect 4 "$h" batch my.yaml ./*.h5 -o folder --part 2/2 --quiet
says "folder: another \`homodyne batch\` with other settings"
says "(process $part on host $(hostname | cut -c 1-63))"
kill -KILL $part
wait $part 2>/dev/null || true
expect 0 "$h" batch my.yaml ./*.h5 -o folder --json
has out '"left": 0'
[ -z "$(find folder -name '.batch.*')" ] || fail "the mark of a killed command is left"
"$bin/homodyne-static_isotropic" fit my.yaml --data 3.h5 -o folder/3 --fix alpha=-0.3 --quiet
expect 0 "$h" batch my.yaml ./*.h5 -o folder --quiet
says "note: folder: 1 of $n fits there have other settings, data or programs, or were replaced by another run"
rows whole/series.csv >one
rows folder/series.csv >many
cmp -s one many || fail "the table after other runs in its folder differs: $(diff one many | head -5)"
expect 0 "$h" batch my.yaml ./*.h5 -o folder --quiet
hasnot err "note"

# ---- what a host that is gone has left: files without locks, whatever they say and whatever its clock was
mkdir -p left/1
echo "homodyne batch, process 1 on host gone, since 2199-01-01 00:00:00 UTC" >left/1/.homodyne.lock
cp left/1/.homodyne.lock left/1/.batch.claim
cp left/1/.homodyne.lock left/.homodyne.table.lock
cp left/1/.homodyne.lock left/.batch.0123456789abcdef.0123456789abcdef
touch -d 2199-01-01 left/1/.??* left/.??*
expect 0 timeout 60 "$h" batch my.yaml ./*.h5 -o left --part 1/2 --quiet
expect 0 timeout 60 "$h" batch my.yaml ./*.h5 -o left --quiet
hasnot err "note"
[ -z "$(find left -name '.*')" ] || fail "of the host that is gone is left: $(find left -name '.*')"
rows left/series.csv >many
cmp -s one many || fail "the table beside what a host has left differs: $(diff one many | head -5)"

# ---- a fit of the folder itself does not hold up the table
"$bin/homodyne-static_isotropic" fit my.yaml -o folder --quiet --method nuts --draws 40000 --chains 2 &
fit=$!
tries=0
until [ -e folder/.homodyne.lock ] || [ $tries -ge 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
expect 0 timeout 30 "$h" batch my.yaml ./*.h5 -o folder --quiet --fix alpha=-0.3
kill -KILL $fit 2>/dev/null || true
wait $fit 2>/dev/null || true

# ---- what SLURM and the launchers tell
expect 0 env SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3 \
    "$h" batch my.yaml ./*.h5 --list
mv out told
expect 0 "$h" batch my.yaml ./*.h5 --list --part 3/3
cmp -s out told || fail "the third element of an array has another share than --part 3/3"
expect 0 env SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=0 "$h" batch my.yaml ./*.h5 --list
mv out told
expect 0 "$h" batch my.yaml ./*.h5 --list --part 1/3
cmp -s out told || fail "the first copy of srun has another share than --part 1/3"
expect 0 env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "$h" batch my.yaml 1.h5 2.h5 -o copies --json
has out '"done_here": 2' # the other copy never came
printf 'no data' >broken.h5 # launchers end all copies when one ends with an error
expect 0 env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "$h" batch my.yaml 1.h5 broken.h5 -o copies --json
has out '"failed": 1'

# ---- a fit that fails is tried by one part, and again by the command for all
expect 4 "$h" batch my.yaml broken.h5 2.h5 -o broken --part 1/2 --json
has out '"done_here": 2'
expect 4 "$h" batch my.yaml broken.h5 2.h5 -o broken --part 2/2 --json
has out '"done_here": 0'
expect 4 "$h" batch my.yaml broken.h5 2.h5 -o broken --json
has out '"done_here": 1'

# ---- the script for sbatch: the words arrive as they were given
mkdir path
cat >path/srun <<'END'
#!/bin/sh
exec "$@"
END
cat >path/scontrol <<'END'
#!/bin/sh
echo "$@" >>requeued
END
chmod +x path/*
expect 0 "$h" batch my.yaml 1.h5 "nine o'clock.h5" -o "by script" --slurm=2 --fix D_offset=100
mv out job.sh
has job.sh "#SBATCH --array=1-2"
[ ! -e "by script" ] || fail "--slurm has begun to work"
for k in 1 2; do
    expect 0 env PATH="$dir/path:$PATH" SLURM_ARRAY_TASK_ID=$k SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=2 bash \
        job.sh
done
expect 0 "$h" batch my.yaml 1.h5 "nine o'clock.h5" -o "by script" --fix D_offset=100
has out "2 were done before"
expect 3 "$h" batch my.yaml 1.h5 --slurm=2
says "the list has 1 fits"
expect 3 "$h" batch my.yaml 1.h5 --slurm --part 1/2
expect 3 "$h" batch my.yaml 1.h5 --slurm --again

finish
