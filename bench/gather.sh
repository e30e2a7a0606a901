#!/bin/bash
# The cost of meeting, beside MPI_Allreduce, under each MPI that is here: gather.sh BUILD [RANKS [ROUNDS]]
set -u
build=$1 ranks=${2:-2} rounds=${3:-400}
export HWLOC_COMPONENTS=-gl,-opencl OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1
cmake --build "$build" --target bench-gather >/dev/null || exit 1
for mpi in openmpi mpich; do
    reduce="$build/bench/libbench-allreduce-$mpi.so"
    plugin="$build/lib/homodyne-gen/mpi/libhomodyne-mpi-$mpi.so"
    [ -e "$reduce" ] && [ -e "$plugin" ] || continue
    launcher=$(command -v "mpiexec.$mpi" || command -v mpiexec)
    HOMODYNE_MPI=$plugin "$launcher" -n "$ranks" "$build/bench/bench-gather" "$reduce" "$rounds"
done
