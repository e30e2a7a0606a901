#!/bin/bash
# On a real SLURM with PMIx: a posterior of two ranks through --signal and --requeue, to the bit, and at last with
# another number of ranks: slurm_ranks.sh BINDIR SAME_NUMBERS
set -eu
bin=$1 same=$2
. "$(dirname "$0")/../support/test.sh"
. "$here/../support/slurm.sh"
[ -e "$bin/../lib/homodyne-gen/mpi/libhomodyne-mpi-openmpi.so" ] || skip "there is no plugin for Open MPI in the build"
slurm_up 4
srun --mpi=list 2>&1 | grep -q pmix || skip "this SLURM does not speak PMIx"
export HWLOC_COMPONENTS=-gl,-opencl
h=$bin/homodyne draws=${DRAWS:-36000} # some 30 s: SLURM's shortest limit is a minute

"$h" simulate --model static_isotropic -o 1.h5 --frames 500 --dt 0.1 --q 0.0054 --phi 0 --contrast 0.3 --offset 1 \
    --noise 0.01 \
    --seed 2 --set D0=2000 --set alpha=-0.3 --set D_offset=100 --quiet --config-out my.yaml
posterior=(fit my.yaml --method nuts --draws "$draws" --warmup 300 --chains 2 --threads 1 --checkpoint-seconds 1000 \
    --quiet)
cat >posterior.sh <<END
#!/bin/bash
#SBATCH --time=1 --signal=TERM@57 --requeue --open-mode=append --output=posterior.out --ntasks=3
again=\$(grep -c begins posterior.out)
ranks=\$((2 + again % 2)) # 2, 3, 2, ...
echo "begins with \$ranks ranks"
srun -n \$ranks --mpi=pmix "$h" ${posterior[@]} -o limited
code=\$?
echo "ends with \$code"
if [ \$code = 130 ] && [ \$again -lt 40 ]; then
    scontrol requeue "\$SLURM_JOB_ID"
    sleep 30
fi
exit \$code
END
{ "$h" "${posterior[@]}" -o at_once || true; } & # meanwhile
at_once=$!
for _ in $(seq 10); do # a machine that is too busy to save in time meets the limit itself
    job_done "$(sbatch --parsable posterior.sh)" 600
    ! grep -q "ends with 0" posterior.out || break
done
wait $at_once || true # bash may have forgotten it, when others have had its number since
[ -e at_once/posterior.nc ] || fail "the posterior in one piece was not written"
times=$(grep -c 'ends with 130' posterior.out || true)
echo "two and three ranks met their limit of time $times times"
[ "$times" -ge 1 ] || fail "the limit was not met: $(cat posterior.out)"
grep -q "ends with 0" posterior.out || fail "the posterior has not ended: $(cat posterior.out)"
no_pieces limited
"$same" at_once/posterior.nc limited/posterior.nc sampling_time >differences ||
    fail "other draws: $(head -4 differences)"
finish
