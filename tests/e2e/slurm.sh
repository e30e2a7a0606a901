#!/bin/bash
# On a real SLURM: an array of `batch`, an element killed and put back into the queue, a posterior through two limits of
# time, copies that are refused: slurm.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/slurm.sh"
slurm_up 4
h=$bin/homodyne n=60

"$h" simulate --model static_isotropic -o 1.h5 --frames 120 --dt 0.1 --q 0.0054 --phi 0 --contrast 0.3 --offset 1 \
    --noise 0.01 \
    --seed 1 --set D0=2000 --set alpha=-0.3 --set D_offset=100 --quiet --config-out my.yaml
mkdir data
for k in $(seq 10 $((9 + n))); do ln 1.h5 data/$k.h5; done
method=(--method nuts --draws 200 --warmup 200 --chains 2)
"$h" batch my.yaml data/*.h5 -o whole --quiet "${method[@]}"

rows() { # a table without what differs from run to run
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "seconds") c = k } { $c = ""; print }' "$1"
}

# ---- an array of three elements; the first is put back into the queue while it works
"$h" batch my.yaml data/*.h5 -o shared --jobs 1 --slurm=3 "${method[@]}" >job.sh
sed -i 's/--mem=[0-9]*M/--mem=100M/' job.sh
job=$(sbatch --parsable job.sh)
for _ in $(seq 200); do
    [ -e shared/12/batch.key ] && break
    sleep 0.05
done
[ -e shared/12/batch.key ] || fail "the first element does not begin: $(cat slurm-*.out)"
scontrol requeue "${job}_1" || fail "the first element has ended before it was put back"
job_done "$job" 120
done_here=$(sed -nE 's/^part [0-9] of 3, ([0-9]+) fits done here.*/\1/p' slurm-"$job"_*.out |
    awk '{ n += $1 } END { print n + 0 }')
left=$(sed -nE 's/.*, ([0-9]+) left.*/\1/p' slurm-"$job"_*.out | tail -1)
echo "fits done by the elements that ended: $done_here of $n; ${left:-0} left at the end"
[ "$done_here" -le $n ] || fail "fits were done twice"
expect 0 "$h" batch my.yaml data/*.h5 -o shared "${method[@]}" --json
has out "\"done_before\": $n"
rows whole/series.csv >one
rows shared/series.csv >many
cmp -s one many || fail "the table of the array is not that of one machine: $(diff one many | head -4)"

# ---- a posterior through two limits of time, to the bit; SLURM's shortest limit is a minute
"$h" simulate --model static_isotropic -o 2.h5 --frames 500 --dt 0.1 --q 0.0054 --phi 0 --contrast 0.3 --offset 1 \
    --noise 0.01 \
    --seed 2 --set D0=2000 --set alpha=-0.3 --set D_offset=100 --quiet
posterior=(fit my.yaml --data 2.h5 --frames 1:500 --method nuts --draws 36000 --warmup 500 --chains 2 --threads 2 \
    --checkpoint-seconds 1000 --quiet)
cat >posterior.sh <<END
#!/bin/bash
#SBATCH --time=1 --signal=TERM@57 --requeue --open-mode=append --output=posterior.out --cpus-per-task=2
echo "begins, \${SLURM_RESTART_COUNT:-0}"
srun "$h" ${posterior[@]} -o limited
code=\$?
echo "ends with \$code"
if [ \$code = 130 ] && [ "\${SLURM_RESTART_COUNT:-0}" -lt 20 ]; then
    scontrol requeue "\$SLURM_JOB_ID"
    sleep 30
fi
exit \$code
END
job=$(sbatch --parsable posterior.sh)
"$h" "${posterior[@]}" -o at_once & # meanwhile
at_once=$!
job_done "$job" 150
wait $at_once || fail "the posterior in one piece: exit code $?"
times=$(grep -c 'ends with 130' posterior.out)
echo "the posterior met its limit of time $times times"
[ "$times" -ge 1 ] || fail "the limit was not met: $(cat posterior.out)"
grep -q "ends with 0" posterior.out || fail "the posterior has not ended: $(cat posterior.out)"
expect 0 "$h" compare at_once limited --sigma 1e-12
draws() { h5dump -d /posterior/D0 "$1/posterior.nc" 2>/dev/null | md5sum; }
command -v h5dump >/dev/null && [ "$(draws at_once)" != "$(draws limited)" ] &&
    fail "the draws are not those of one run"

# ---- copies
expect 3 srun -n 3 "$h" fit my.yaml --data 1.h5 -o copies
says "srun has started several copies"
[ "$(grep -c "has started several copies" err)" -eq 1 ] || fail "copies are refused more than once: $(cat err)"
[ ! -e copies/fit.json ] || fail "a copy has written"
srun -n 3 "$h" batch my.yaml data/1?.h5 -o together --jobs 1 --json >out 2>err || fail "copies of batch: $(cat err)"
[ "$(grep -o '"done_here": [0-9]*' out | awk '{ n += $2 } END { print n }')" -eq 10 ] ||
    fail "copies of batch: $(cat out)"

# ---- with a plugin, and a SLURM that speaks PMIx: one fit of three ranks
if [ -e "$bin/../lib/homodyne-gen/mpi/libhomodyne-mpi-openmpi.so" ] && srun --mpi=list 2>&1 | grep -q pmix; then
    export HWLOC_COMPONENTS=-gl,-opencl
    expect 0 "$h" fit my.yaml --data 2.h5 --frames 1:300 -o one_process --quiet
    expect 0 srun -n 3 --mpi=pmix "$h" fit my.yaml --data 2.h5 --frames 1:300 -o three_ranks --quiet
    expect 0 "$h" compare one_process three_ranks --sigma 1e-12
    # a task that fails before it has met the others, and ranks of other files
    printf '#!/bin/sh\n[ "$SLURM_PROCID" != 1 ] || %s\nexec "$@"\n' 'exit 3' >odd.sh
    chmod +x odd.sh
    expect 137 env HOMODYNE_MPI_SECONDS=3 srun -n 3 --mpi=pmix ./odd.sh "$h" fit my.yaml --data 1.h5 -o odd --quiet
    says "of 3 has waited 3 s for the others to begin"
    mkdir elsewhere
    cp my.yaml elsewhere
    printf '#!/bin/sh\n[ "$SLURM_PROCID" != 1 ] || %s\nexec "$@"\n' 'cd elsewhere' >odd.sh
    expect 4 srun -n 3 --mpi=pmix ./odd.sh "$h" fit my.yaml --data 1.h5 -o "$dir/odd" --quiet
    says "1.h5: rank 1 (" # of this host
    says "cannot read the data file, which rank 0 ("
    [ ! -e odd/fit.json ] || fail "ranks of other files have written"
else
    echo "no ranks by srun: no plugin for Open MPI, or a SLURM without PMIx"
fi

finish
