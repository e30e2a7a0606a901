/* fit/gpu_functional.h -- what phases of objectives (fit/functional.h) for accelerators are written in: the same text
 * as for processors, read by CUDA C, OpenCL C and plain C through fit/gpu.h; and the operators of fit/operators.h.
 *
 * Arguments of fit/gpu.h that are used:
 *     shape   FIT_OBJECTIVE_... numbers; sizes of axes; for each array where its values and its slopes are; lists of
 *             operators; at the end the place of each evaluation
 *     item    of the phase: FIT_PHASE_..., or the numbers of an operator, FIT_OPERATOR_NUMBERS for each part
 *     out     the store: numbers of operators, which all evaluations share; behind them the area of each place
 * in a grid of blocks x parts x evaluations.  A block of a formula has FIT_BLOCK elements of its axis, a thread each;
 * sums of the threads are added in a fixed tree, those of blocks by fit_gpu_number.  No atomics.
 */
#ifndef FIT_GPU_FUNCTIONAL_H
#define FIT_GPU_FUNCTIONAL_H

#define FIT_GPU_OF_ITEM 0
#include "fit/gpu.h"
#include "fit/gpu_objective.h"

struct fit_gpu_call {
    FIT_GLOBAL const fit_long *shape, *item;
    FIT_GLOBAL double *store, *area, *to; /* to: where the sums of the block go, number k at to[k * step] */
    size_t block, thread, step;
    double *own; /* sums of the thread */
};

#define FIT_GPU_CALL(c, part, e, k)                                                                                 \
    {                                                                                                               \
        (c).shape = shape;                                                                                          \
        (c).item = item + (part) * FIT_OPERATOR_NUMBERS;                                                            \
        (c).store = out;                                                                                            \
        (c).area = out + (size_t)shape[FIT_OBJECTIVE_SHARED] +                                                      \
                   (size_t)shape[FIT_OBJECTIVE_AREA] * (size_t)shape[shape[FIT_OBJECTIVE_PLACES] + (fit_long)(e)];  \
        (c).thread = (size_t)(k);                                                                                   \
        (c).to = out;                                                                                               \
        (c).step = 1;                                                                                               \
    }

/* ---- what a phase is written in -------------------------------------------------------------------------- */

#define FIT_BLOCK FIT_GPU_THREADS
#define AT_ROW(block) ((block) * FIT_BLOCK + c->thread)
#define AT_STEP FIT_BLOCK
#define AT_ZEROS {0}
#define AT_SIZE(k) ((size_t)c->shape[FIT_OBJECTIVE_NUMBERS + (k)])
#define AT_ARRAY(k) (c->area + c->shape[FIT_OBJECTIVE_NUMBERS + FIT_GPU_NAXIS + (k)])
#define AT_SLOPE(k) (c->area + c->shape[FIT_OBJECTIVE_NUMBERS + FIT_GPU_NAXIS + FIT_GPU_NARRAY + (k)])
#define AT_NUMBER(k) (c->area[c->shape[FIT_OBJECTIVE_NUMBER] + (k)])
#define AT_NUMBER_SLOPE(k) (c->area[c->shape[FIT_OBJECTIVE_NUMBER_SLOPE] + (k)])
#define AT_TERM(k) (c->area[c->shape[FIT_OBJECTIVE_TERM] + (k)])
#define AT_WEIGHT(k) (c->area[c->shape[FIT_OBJECTIVE_WEIGHT] + (k)])
#define AT_PARTIAL(k, block) (c->own[k])
#define AT_ON ((fit_ulong)c->shape[FIT_OBJECTIVE_ON])
#define LANES(row, n) 1
#ifndef UINT64_C
#define UINT64_C(x) ((fit_ulong)(x))
#endif
#define fit_vstore(p, x) (*(p) = (x))
#define fit_where_set(m, x) ((m) ? (x) : 0.0)
#define fit_vsum(x) (x)

FIT_INLINE void add(FIT_GLOBAL double *to, fit_vd x)
{
    *to += x;
}

/* ---- kernels ------------------------------------------------------------------------------------------------ */

#ifndef FIT_GPU_PLAIN
#define FIT_GPU_SINGLE(name)                                                                                        \
    FIT_ENTRY name(FIT_GPU_ARGUMENTS)                                                                               \
    {                                                                                                               \
        struct fit_gpu_call c;                                                                                      \
        FIT_GPU_CALL(c, FIT_BLOCK_AT(1), FIT_BLOCK_AT(2), FIT_THREAD)                                               \
        c.block = FIT_BLOCK_AT(0);                                                                                  \
        name##_of(&c);                                                                                              \
    }
#define FIT_GPU_SUMMED(name, nsum)                                                                                  \
    FIT_ENTRY name(FIT_GPU_ARGUMENTS)                                                                               \
    {                                                                                                               \
        FIT_SHARED double all[FIT_GPU_THREADS];                                                                     \
        struct fit_gpu_call c;                                                                                      \
        double own[(nsum) + 1];                                                                                     \
        const int thread = FIT_THREAD;                                                                              \
        FIT_GPU_CALL(c, FIT_BLOCK_AT(1), FIT_BLOCK_AT(2), thread)                                                   \
        c.block = FIT_BLOCK_AT(0);                                                                                  \
        c.own = own;                                                                                                \
        name##_of(&c);                                                                                              \
        for (int k = 0; k < (nsum); k++) {                                                                          \
            all[thread] = own[k];                                                                                   \
            FIT_SYNC;                                                                                               \
            for (int step = FIT_GPU_THREADS / 2; step > 0; step /= 2) {                                             \
                if (thread < step)                                                                                  \
                    all[thread] += all[thread + step];                                                              \
                FIT_SYNC;                                                                                           \
            }                                                                                                       \
            if (thread == 0)                                                                                        \
                c.to[(size_t)k * c.step] = all[0];                                                                  \
            FIT_SYNC;                                                                                               \
        }                                                                                                           \
    }
#else
#define FIT_GPU_SINGLE(name)                                                                                        \
    static void name(const struct fit_gpu_grid *grid, FIT_GPU_ARGUMENTS)                                            \
    {                                                                                                               \
        struct fit_gpu_call c;                                                                                      \
        for (size_t e = 0; e < grid->n[2]; e++)                                                                     \
            for (size_t part = 0; part < grid->n[1]; part++)                                                        \
                for (c.block = 0; c.block < grid->n[0]; c.block++)                                                  \
                    for (size_t k = 0; k < FIT_GPU_THREADS; k++) {                                                  \
                        FIT_GPU_CALL(c, part, e, k)                                                                 \
                        name##_of(&c);                                                                              \
                    }                                                                                               \
    }
#define FIT_GPU_SUMMED(name, nsum)                                                                                  \
    static void name(const struct fit_gpu_grid *grid, FIT_GPU_ARGUMENTS)                                            \
    {                                                                                                               \
        static _Thread_local double all[FIT_GPU_THREADS][(nsum) + 1];                                               \
        struct fit_gpu_call c;                                                                                      \
        for (size_t e = 0; e < grid->n[2]; e++)                                                                     \
            for (size_t part = 0; part < grid->n[1]; part++)                                                        \
                for (c.block = 0; c.block < grid->n[0]; c.block++) {                                                \
                    for (size_t k = 0; k < FIT_GPU_THREADS; k++) {                                                  \
                        FIT_GPU_CALL(c, part, e, k)                                                                 \
                        c.own = all[k];                                                                             \
                        name##_of(&c);                                                                              \
                    }                                                                                               \
                    for (size_t step = FIT_GPU_THREADS / 2; step > 0; step /= 2)                                    \
                        for (size_t k = 0; k < step; k++)                                                           \
                            for (int i = 0; i < (nsum); i++)                                                        \
                                all[k][i] += all[k + step][i];                                                      \
                    for (int i = 0; i < (nsum); i++)                                                                \
                        c.to[(size_t)i * c.step] = all[0][i];                                                       \
                }                                                                                                   \
    }
#endif

/* A phase of formulas: the function that was written for ranges of blocks, of one block here. */
#define FIT_GPU_PHASE(name, function, nsum)                                                                         \
    FIT_INLINE void name##_of(struct fit_gpu_call *c)                                                               \
    {                                                                                                               \
        c->to = c->area + c->shape[FIT_OBJECTIVE_PARTIAL] + c->block;                                               \
        c->step = (size_t)c->item[FIT_PHASE_BLOCKS];                                                                \
        function(c, c->block, c->block + 1);                                                                        \
    }                                                                                                               \
    FIT_GPU_SUMMED(name, nsum)

/* Statements on numbers: by one thread. */
#define FIT_GPU_SCALARS(name, function)                                                                             \
    FIT_INLINE void name##_of(struct fit_gpu_call *c)                                                               \
    {                                                                                                               \
        if (c->thread == 0)                                                                                         \
            function(c);                                                                                            \
    }                                                                                                               \
    FIT_GPU_SINGLE(name)

/* ---- sums over blocks, slopes set to zero --------------------------------------------------------------------- */

FIT_INLINE void fit_gpu_number_of(struct fit_gpu_call *c)
{
    const size_t k = c->block, blocks = (size_t)c->item[FIT_PHASE_BLOCKS];
    FIT_GLOBAL const double *partial = c->area + c->shape[FIT_OBJECTIVE_PARTIAL] + k * blocks;
    const fit_long base = c->shape[c->item[FIT_PHASE_BACK] ? FIT_OBJECTIVE_NUMBER_SLOPE : FIT_OBJECTIVE_NUMBER];
    double sum = 0.0;
    for (size_t b = c->thread; b < blocks; b += FIT_GPU_THREADS)
        sum += partial[b];
    c->to = c->area + base + c->item[FIT_PHASE_WHICH + k];
    c->own[0] = c->thread == 0 && c->item[FIT_PHASE_BACK] ? *c->to + sum : sum;
}
FIT_GPU_SUMMED(fit_gpu_number, 1)

FIT_INLINE void fit_gpu_zero_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block);
    if (k < (size_t)c->shape[FIT_OBJECTIVE_SLOPES])
        c->area[c->shape[FIT_OBJECTIVE_SLOPE] + (fit_long)k] = 0.0;
}
FIT_GPU_SINGLE(fit_gpu_zero)

/* ---- operators (fit/operators.h has their formulas) ------------------------------------------------------------ */

#define OPERATOR(k) ((size_t)c->item[FIT_OPERATOR_##k])
#define FROM (c->area + c->item[FIT_OPERATOR_FROM])
#define TO (c->area + c->item[FIT_OPERATOR_TO])
#define LIST(k) (c->shape + c->item[FIT_OPERATOR_##k])

FIT_INLINE void fit_gpu_difference_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block), n = OPERATOR(N), nx = OPERATOR(NX), stride = OPERATOR(STRIDE);
    if (k < n)
        TO[k] = ((stride == 1 ? k % nx == nx - 1 : k + nx >= n) ? 0.0 : FROM[k + stride]) - FROM[k];
}
FIT_GPU_SINGLE(fit_gpu_difference)

FIT_INLINE void fit_gpu_difference_back_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block), nx = OPERATOR(NX), stride = OPERATOR(STRIDE);
    if (k < OPERATOR(N))
        TO[k] += ((stride == 1 ? k % nx == 0 : k < nx) ? 0.0 : FROM[k - stride]) - FROM[k];
}
FIT_GPU_SINGLE(fit_gpu_difference_back)

FIT_INLINE void fit_gpu_gather_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block);
    if (k >= OPERATOR(N))
        return;
    const fit_long place = LIST(PLACE)[k];
    TO[k] = place > 0 ? FROM[place - 1] : (double)c->item[FIT_OPERATOR_SIGN] * FROM[-place - 1];
}
FIT_GPU_SINGLE(fit_gpu_gather)

FIT_INLINE void fit_gpu_gather_back_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block);
    if (k >= OPERATOR(NFROM))
        return;
    const double sign = (double)c->item[FIT_OPERATOR_SIGN];
    double sum = 0.0;
    for (fit_long i = LIST(BEGIN)[k]; i < LIST(BEGIN)[k + 1]; i++) {
        const fit_long user = LIST(USER)[i];
        sum += LIST(PLACE)[user] > 0 ? FROM[user] : sign * FROM[user];
    }
    TO[k] += sum;
}
FIT_GPU_SINGLE(fit_gpu_gather_back)

/* A block of threads for each block of the operator. */
FIT_INLINE void fit_gpu_blocks_of(struct fit_gpu_call *c)
{
    const fit_long begin = LIST(BEGIN)[c->block], n = LIST(BEGIN)[c->block + 1] - begin;
    FIT_GLOBAL const double *m = c->store + c->item[FIT_OPERATOR_MATRIX] + LIST(PLACE)[c->block];
    for (fit_long i = (fit_long)c->thread; i < n; i += FIT_GPU_THREADS) {
        double sum = 0.0;
        for (fit_long j = 0; j < n; j++)
            sum += m[i * n + j] * FROM[begin + j];
        TO[begin + i] = sum;
    }
}
FIT_GPU_SINGLE(fit_gpu_blocks)

FIT_INLINE void fit_gpu_blocks_back_of(struct fit_gpu_call *c)
{
    const fit_long begin = LIST(BEGIN)[c->block], n = LIST(BEGIN)[c->block + 1] - begin;
    FIT_GLOBAL const double *m = c->store + c->item[FIT_OPERATOR_MATRIX] + LIST(PLACE)[c->block];
    for (fit_long j = (fit_long)c->thread; j < n; j += FIT_GPU_THREADS) {
        double sum = 0.0;
        for (fit_long i = 0; i < n; i++)
            sum += m[i * n + j] * FROM[begin + i];
        TO[begin + j] += sum;
    }
}
FIT_GPU_SINGLE(fit_gpu_blocks_back)

/* A block of threads for each row. */
FIT_INLINE void fit_gpu_dense_of(struct fit_gpu_call *c)
{
    FIT_GLOBAL const double *m = c->store + c->item[FIT_OPERATOR_MATRIX] + c->block * OPERATOR(PITCH);
    double sum = 0.0;
    for (size_t j = c->thread; j < OPERATOR(NFROM); j += FIT_GPU_THREADS)
        sum += m[j] * FROM[j];
    c->own[0] = sum;
    c->to = TO + c->block;
}
FIT_GPU_SUMMED(fit_gpu_dense, 1)

FIT_INLINE void fit_gpu_dense_back_of(struct fit_gpu_call *c)
{
    const size_t j = AT_ROW(c->block);
    if (j >= OPERATOR(NFROM))
        return;
    FIT_GLOBAL const double *m = c->store + c->item[FIT_OPERATOR_MATRIX] + j;
    double sum = 0.0;
    for (size_t k = 0; k < OPERATOR(N); k++)
        sum += FROM[k] * m[k * OPERATOR(PITCH)];
    TO[j] += sum;
}
FIT_GPU_SINGLE(fit_gpu_dense_back)

/* Even and odd parts; block: 128 elements of the (folded) grid. */
FIT_INLINE void fit_gpu_fold_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block), nx = OPERATOR(NX), ny = OPERATOR(NY);
    if (k >= OPERATOR(NROW) * OPERATOR(NCOLUMN))
        return;
    const size_t r = k / OPERATOR(NCOLUMN), x = k % OPERATOR(NCOLUMN), d = nx - 1 - x, size = OPERATOR(PLANE_SIZE);
    FIT_GLOBAL const double *a = FROM + r * nx, *b = FROM + (ny - 1 - r) * nx;
    FIT_GLOBAL double *p = c->area + c->item[FIT_OPERATOR_PLANE] + r * OPERATOR(PITCH) + x;
    if (!c->item[FIT_OPERATOR_FOLDED]) {
        p[0] = a[x];
        return;
    }
    const double right = x == d ? 0.0 : 1.0, below = r == ny - 1 - r ? 0.0 : 1.0;
    const double even = a[x] + right * a[d], odd = right * (a[x] - a[d]);
    const double even_below = b[x] + right * b[d], odd_below = right * (b[x] - b[d]);
    p[0] = even + below * even_below;
    p[size] = below * (odd - odd_below);
    p[2 * size] = below * (even - even_below);
    p[3 * size] = odd + below * odd_below;
}
FIT_GPU_SINGLE(fit_gpu_fold)

/* A block of threads for each visibility; a thread has every 128th column. */
FIT_INLINE void fit_gpu_outer_of(struct fit_gpu_call *c)
{
    const size_t v = c->block, nrow = OPERATOR(NROW), pitch = OPERATOR(PITCH);
    const size_t size = c->item[FIT_OPERATOR_FOLDED] ? OPERATOR(PLANE_SIZE) : 0;
    FIT_GLOBAL const double *p = c->area + c->item[FIT_OPERATOR_PLANE];
    FIT_GLOBAL const double *yr = c->store + c->item[FIT_OPERATOR_ROW_RE] + v * nrow;
    FIT_GLOBAL const double *yi = c->store + c->item[FIT_OPERATOR_ROW_IM] + v * nrow;
    FIT_GLOBAL const double *xr = c->store + c->item[FIT_OPERATOR_COLUMN_RE] + v * pitch;
    FIT_GLOBAL const double *xi = c->store + c->item[FIT_OPERATOR_COLUMN_IM] + v * pitch;
    double re = 0.0, im = 0.0;
    for (size_t x = c->thread; x < OPERATOR(NCOLUMN); x += FIT_GPU_THREADS) {
        double a = 0.0, b = 0.0, d = 0.0, e = 0.0;
        for (size_t r = 0; r < nrow; r++) {
            FIT_GLOBAL const double *q = p + r * pitch + x;
            a += yr[r] * q[0];
            b += yi[r] * q[size];
            d += yi[r] * q[2 * size];
            e += yr[r] * q[3 * size];
        }
        re += xr[x] * a - xi[x] * b;
        im += xr[x] * d + xi[x] * e;
    }
    c->own[0] = re;
    c->own[1] = im;
    c->to = TO + v;
    c->step = OPERATOR(IM) - OPERATOR(TO);
}
FIT_GPU_SUMMED(fit_gpu_outer, 2)

/* A thread for each element of the (folded) grid: the adjoint of the planes there, then of folding. */
FIT_INLINE void fit_gpu_outer_back_of(struct fit_gpu_call *c)
{
    const size_t k = AT_ROW(c->block), nrow = OPERATOR(NROW), pitch = OPERATOR(PITCH), nx = OPERATOR(NX);
    if (k >= nrow * OPERATOR(NCOLUMN))
        return;
    const size_t r = k / OPERATOR(NCOLUMN), x = k % OPERATOR(NCOLUMN), d = nx - 1 - x, low = OPERATOR(NY) - 1 - r;
    FIT_GLOBAL const double *yr = c->store + c->item[FIT_OPERATOR_ROW_RE] + r;
    FIT_GLOBAL const double *yi = c->store + c->item[FIT_OPERATOR_ROW_IM] + r;
    FIT_GLOBAL const double *xr = c->store + c->item[FIT_OPERATOR_COLUMN_RE] + x;
    FIT_GLOBAL const double *xi = c->store + c->item[FIT_OPERATOR_COLUMN_IM] + x;
    FIT_GLOBAL const double *re = FROM, *im = c->area + c->item[FIT_OPERATOR_IM];
    FIT_GLOBAL double *to = TO;
    double ee = 0.0, oo = 0.0, oe = 0.0, eo = 0.0;
    for (size_t v = 0; v < OPERATOR(N); v++) {
        ee += re[v] * yr[v * nrow] * xr[v * pitch];
        oo -= re[v] * yi[v * nrow] * xi[v * pitch];
        oe += im[v] * yi[v * nrow] * xr[v * pitch];
        eo += im[v] * yr[v * nrow] * xi[v * pitch];
    }
    if (!c->item[FIT_OPERATOR_FOLDED]) {
        to[r * nx + x] += ((ee + oo) + oe) + eo;
        return;
    }
    const int column = x == d, row = r == low;
    to[r * nx + x] += ((ee + (column || row ? 0.0 : oo)) + (row ? 0.0 : oe)) + (column ? 0.0 : eo);
    if (!column)
        to[r * nx + d] += ((ee - (row ? 0.0 : oo)) + (row ? 0.0 : oe)) - eo;
    if (!row)
        to[low * nx + x] += ((ee - (column ? 0.0 : oo)) - oe) + (column ? 0.0 : eo);
    if (!row && !column)
        to[low * nx + d] += ((ee + oo) - oe) - eo;
}
FIT_GPU_SINGLE(fit_gpu_outer_back)

/* Behind the phases of an objective in its table of kernels, in the order of enum fit_objective_kernel. */
#define FIT_GPU_KERNEL(name) {#name, FIT_GPU_KINDS, 0, 0, 0, name}
#define FIT_GPU_FUNCTIONAL_PASSES                                                                                   \
    FIT_GPU_KERNEL(fit_gpu_number), FIT_GPU_KERNEL(fit_gpu_zero), FIT_GPU_KERNEL(fit_gpu_difference),               \
    FIT_GPU_KERNEL(fit_gpu_difference_back), FIT_GPU_KERNEL(fit_gpu_gather),                                        \
    FIT_GPU_KERNEL(fit_gpu_gather_back), FIT_GPU_KERNEL(fit_gpu_blocks), FIT_GPU_KERNEL(fit_gpu_blocks_back),       \
    FIT_GPU_KERNEL(fit_gpu_dense), FIT_GPU_KERNEL(fit_gpu_dense_back), FIT_GPU_KERNEL(fit_gpu_fold),                \
    FIT_GPU_KERNEL(fit_gpu_outer), FIT_GPU_KERNEL(fit_gpu_outer_back),

#endif
