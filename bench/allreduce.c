/* allreduce.c -- what bench-gather compares with: a sum over ranks by MPI alone.  A shared object for each MPI. */
#include <mpi.h>

void bench_allreduce(const double *mine, double *sum, int n)
{
    MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
