/* fit/gpu.h -- one text, four readers: what kernels for accelerators (homodyne-gen --emit=gpu) are written in.
 *
 * The same file is CUDA C (nvcc, NVRTC), OpenCL C 1.2 with double precision (of a driver, or of clang, which makes PTX
 * of it by itself), and plain C, in which the threads of a block run one after the other.  A lane of fit/vmath.h is a
 * double here; products are fused with sums where fit_vfma says so and nowhere else; functions that fit/vmath.h takes
 * from the C library, for all arguments or for rare ones, are those of fit/gpu_libm.h.  So every reader gives the same
 * bits.
 *
 * A block is FIT_GPU_THREADS threads and works on one item: a part of a tile of the data (fit/kernel.h),
 *     pairs   rows r0 <= i < r1 by columns c0 <= j < c1 (at most FIT_GPU_COLUMNS) of the tile i0 .. i1-1 by j0 .. j1-1;
 *             thread k has column c0 + k % FIT_GPU_COLUMNS and every FIT_GPU_ROWS-th row
 *     rows    rows r0 .. r1-1 of the tile that begins with row i0; thread k every FIT_GPU_THREADS-th of them
 * in a grid of items x groups (or 1) x evaluations: sets of parameters that share the data, or data of the same shape.
 * Every thread adds up n numbers of its own; those of the block are added in a fixed tree.  There are no atomics: the
 * order of sums depends on the data's shape alone.
 *
 * Arguments of a kernel; lengths in `shape`:
 *     shape   FIT_SHAPE_... numbers          item   FIT_ITEM_... numbers for each item
 *     fixed   step; coordinates, ngroup for each axis; columns, nrow (padded) for each
 *     ws, lin, adj   workspace, linear parameters and adjoint numbers of fit/kernel.h, for each evaluation
 *     y, w    data in the order of tiles; weights, or anything where there are none
 *     out     [evaluation][group][item][n], behind those of earlier passes;  of values: in the order of the data
 */
#ifndef FIT_GPU_H
#define FIT_GPU_H
#define FIT_GPU 1

#include "fit/gpu_shape.h"

/* ---- the readers ------------------------------------------------------------------------------------ */

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define FIT_GPU_CUDA 1
/* FIT_ENTRY_LARGE: with as many registers as it wants, however few blocks then fit. */
typedef long long fit_long;
typedef unsigned long long fit_ulong;
#define FIT_INLINE static __device__ __forceinline__
#define FIT_HUGE static __device__ __noinline__
#define FIT_ENTRY extern "C" __global__ void __launch_bounds__(FIT_GPU_THREADS)
#define FIT_ENTRY_LARGE extern "C" __global__ void __launch_bounds__(FIT_GPU_THREADS, 1)
#define FIT_GLOBAL
#define FIT_SHARED __shared__
#define FIT_COEFFICIENT const double
#define FIT_COEFFICIENTS static __device__ FIT_COEFFICIENT
#define FIT_WORDS static __device__ const fit_ulong
#define FIT_RESTRICT __restrict__
#define FIT_UNROLL _Pragma("unroll")
#define FIT_OPAQUE(x) asm volatile("" : "+l"(x)) /* x is no longer known to the compiler */
#define FIT_SYNC __syncthreads()
#define FIT_THREAD ((int)threadIdx.x)
#define FIT_BLOCK_AT(d) ((size_t)(d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : blockIdx.z))
#define FIT_BLOCKS(d) ((size_t)(d == 0 ? gridDim.x : d == 1 ? gridDim.y : gridDim.z))
#define fit_bits(x) __double_as_longlong(x)
#define fit_of_bits(x) __longlong_as_double((fit_long)(x))
#ifndef INFINITY
#define INFINITY fit_of_bits(0x7ff0000000000000)
#endif
#ifndef NAN
#define NAN fit_of_bits(0x7ff8000000000000)
#endif

#elif defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#define FIT_GPU_OPENCL 1
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef long fit_long;
typedef unsigned long fit_ulong;
#define FIT_INLINE static inline
#define FIT_HUGE static
#define FIT_ENTRY __kernel __attribute__((reqd_work_group_size(FIT_GPU_THREADS, 1, 1))) void
#define FIT_ENTRY_LARGE FIT_ENTRY
#define FIT_GLOBAL __global
#define FIT_SHARED __local
#define FIT_COEFFICIENT __constant const double
#define FIT_COEFFICIENTS FIT_COEFFICIENT
#define FIT_WORDS __constant const fit_ulong
#define FIT_RESTRICT restrict
#define FIT_UNROLL _Pragma("unroll")
#define half fit_half
#ifdef __NVPTX__ /* clang alone, without a library of OpenCL for the card */
#define FIT_OPAQUE(x) __asm__ volatile("" : "+l"(x))
#define FIT_SYNC __nvvm_bar_sync(0)
#define FIT_THREAD __nvvm_read_ptx_sreg_tid_x()
#define FIT_BLOCK_AT(d)                                                                                             \
    ((size_t)(d == 0 ? __nvvm_read_ptx_sreg_ctaid_x() : d == 1 ? __nvvm_read_ptx_sreg_ctaid_y()                     \
                                                               : __nvvm_read_ptx_sreg_ctaid_z()))
#define FIT_BLOCKS(d)                                                                                               \
    ((size_t)(d == 0 ? __nvvm_read_ptx_sreg_nctaid_x() : d == 1 ? __nvvm_read_ptx_sreg_nctaid_y()                   \
                                                                : __nvvm_read_ptx_sreg_nctaid_z()))
#define fit_bits(x) __builtin_astype((double)(x), fit_long)
#define fit_of_bits(x) __builtin_astype((fit_long)(x), double)
#define fma(a, b, c) __builtin_fma(a, b, c)
#define fabs(a) __builtin_fabs(a)
#define copysign(a, s) __builtin_copysign(a, s)
#define sqrt(a) __nvvm_sqrt_rn_d(a)
#define floor(a) __builtin_floor(a)
#define ceil(a) __builtin_ceil(a)
#define rint(a) __builtin_rint(a)
#undef INFINITY
#undef NAN
#define INFINITY fit_of_bits(0x7ff0000000000000)
#define NAN fit_of_bits(0x7ff8000000000000)
#else
#define FIT_OPAQUE(x)
#define FIT_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define FIT_THREAD ((int)get_local_id(0))
#define FIT_BLOCK_AT(d) get_group_id(d)
#define FIT_BLOCKS(d) get_num_groups(d)
#define fit_bits(x) as_long(x)
#define fit_of_bits(x) as_double((fit_long)(x))
#endif

#else
#define FIT_GPU_PLAIN 1
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
typedef int64_t fit_long;
typedef uint64_t fit_ulong;
#define FIT_INLINE static inline __attribute__((unused))
#define FIT_HUGE static __attribute__((unused))
#define FIT_GLOBAL
#define FIT_COEFFICIENT const double
#define FIT_COEFFICIENTS static FIT_COEFFICIENT
#define FIT_WORDS static const fit_ulong
#define FIT_RESTRICT restrict
#define FIT_UNROLL
#define FIT_OPAQUE(x)
FIT_INLINE fit_long fit_bits(double x)
{
    fit_long k;
    memcpy(&k, &x, sizeof k);
    return k;
}
FIT_INLINE double fit_of_bits_of(fit_ulong k)
{
    double x;
    memcpy(&x, &k, sizeof x);
    return x;
}
#define fit_of_bits(k) fit_of_bits_of((fit_ulong)(k))
#endif

/* ---- a lane of fit/vmath.h ---------------------------------------------------------------------------- */

#if defined(FIT_GPU_OPENCL)
#define FIT_UNUSED
#else
#define FIT_UNUSED __attribute__((unused))
#endif
typedef double fit_vd;
typedef fit_long fit_vm;
typedef fit_ulong fit_vu;
#define FIT_VL 1
#define FIT_FMA 1
#define FIT_LANES 8
#define FIT_LARGE FIT_INLINE
#define FIT_COLD FIT_INLINE
#define FIT_RARE(mask) (mask)
#define FIT_SIGN_BIT (-0x7fffffffffffffff - 1)
#define FIT_ZERO 0.0
#define FIT_ROUNDED(x) ((void)0)
#define fit_ubits(x) ((fit_ulong)fit_bits(x))
#define fit_vnot(m) (!(m))
#define fit_lane0(x) (x)
#define fit_vset1(a) ((double)(a))
#define fit_vload(p) (*(p))
#define fit_vselect(m, a, b) ((m) ? (a) : (b))
#define fit_vany(m) ((m) != 0)
#define fit_vfma(a, b, c) fma(a, b, c)
#define fit_vabs(a) fabs(a)
#define fit_vfabs(a) fabs(a)
#define fit_vcopysign(a, s) copysign(a, s)
#define fit_vsqrt(a) sqrt(a)
#define fit_vfloor(a) floor(a)
#define fit_vceil(a) ceil(a)
#define fit_vround(a) rint(a)
/* The C library's functions: those of fit/gpu_libm.h. */
#define fit_vpatch(f, m, x, r) ((m) ? fit_gpu_##f(x) : (r))
#define fit_vpatch2(f, m, x, y, r) ((m) ? fit_gpu_##f(x, y) : (r))
#define fit_vatan2(y, x) fit_gpu_atan2(y, x)
#define fit_gpu_fit_lgamma_edge(x) fit_lgamma_edge(x)
#define FIT_LOG(x) fit_vlog(x)
#define FIT_LANES_OF(name, call)                                                                                    \
    FIT_INLINE fit_vd name(fit_vd a) { return fit_gpu_##call(a); }
FIT_HUGE double fit_gpu_log(double x);
FIT_HUGE double fit_gpu_log1p(double x);
FIT_HUGE double fit_gpu_sinh(double x);
FIT_HUGE double fit_gpu_cosh(double x);
FIT_HUGE double fit_gpu_pow(double x, double y);
FIT_HUGE double fit_gpu_tan(double x);
FIT_HUGE double fit_gpu_asin(double x);
FIT_HUGE double fit_gpu_acos(double x);
FIT_HUGE double fit_gpu_atan2(double y, double x);
FIT_HUGE double fit_gpu_erf(double x);
FIT_HUGE double fit_gpu_erfc(double x);
FIT_HUGE double fit_gpu_cbrt(double x);
FIT_INLINE void fit_vsincos_patch(const fit_vm *m, const fit_vd *x, const fit_vd *lo, fit_vd *s, fit_vd *c);

FIT_INLINE fit_vd fit_vmin(fit_vd a, fit_vd b)
{
    return a < b ? a : b;
}

FIT_INLINE fit_vd fit_vmax(fit_vd a, fit_vd b)
{
    return a > b ? a : b;
}

FIT_INLINE fit_vd fit_vsign(fit_vd a)
{
    return a > 0 ? 1.0 : a < 0 ? -1.0 : a;
}

FIT_INLINE fit_vd fit_vtwo_sum(fit_vd a, fit_vd b, fit_vd *err)
{
    const fit_vd s = a + b, bb = s - a;
    *err = (a - (s - bb)) + (b - bb);
    return s;
}

FIT_INLINE fit_vd fit_vfast_two_sum(fit_vd a, fit_vd b, fit_vd *err)
{
    const fit_vd s = a + b;
    *err = (a - s) + b;
    return s;
}

FIT_INLINE fit_vd fit_vtwo_prod(fit_vd a, fit_vd b, fit_vd *err)
{
    const fit_vd p = a * b;
    *err = fma(a, b, -p);
    return p;
}

FIT_INLINE fit_vd fit_vdiv2(fit_vd nh, fit_vd nl, fit_vd dh, fit_vd dl, fit_vd *err)
{
    fit_vd inverse = 1.0 / dh, q = nh * inverse, e, p = fit_vtwo_prod(q, dh, &e);
    *err = (((nh - p) - e) + (nl - q * dl)) * inverse;
    return q;
}

#include "fit/vmath_exp.h"
#include "fit/vmath_trig.h"
#include "fit/gpu_libm.h"
#ifdef FIT_GPU_SPECIAL /* kernels say whether they want them */
#include "fit/vmath_gamma.h"
#include "fit/vmath_coefficients.h"
#include "fit/vmath_special.h"
#include "fit/vmath_bessel.h"
#include "fit/vmath_bessel_second.h"
#include "fit/vmath_faddeeva.h"
#include "fit/vmath_erf.h"
#endif

/* Functions of one number, as emitted code calls them; a reader may have macros of that name. */
#undef exp
#undef expm1
#undef log
#undef log1p
#undef pow
#undef sin
#undef cos
#undef tan
#undef asin
#undef acos
#undef atan
#undef atan2
#undef sinh
#undef cosh
#undef tanh
#undef asinh
#undef erf
#undef erfc
#undef cbrt
#define exp(x) fit_vexp(x)
#define expm1(x) fit_vexpm1(x)
#define log(x) fit_vlog(x)
#define log1p(x) fit_vlog1p(x)
#define pow(x, y) fit_vpow(x, y)
#define sin(x) fit_vsin(x)
#define cos(x) fit_vcos(x)
#define tan(x) fit_vtan(x)
#define asin(x) fit_vasin(x)
#define acos(x) fit_vacos(x)
#define atan(x) fit_vatan(x)
#define atan2(y, x) fit_vatan2(y, x)
#define sinh(x) fit_vsinh(x)
#define cosh(x) fit_vcosh(x)
#define tanh(x) fit_vtanh(x)
#define asinh(x) fit_vasinh(x)
#define erf(x) fit_verf(x)
#define erfc(x) fit_verfc(x)
#define cbrt(x) fit_vcbrt(x)
#define fit_sinc(x) fit_vsinc(x)
#define fit_dsinc(x) fit_vdsinc(x)
#define fit_d2sinc(x) fit_vd2sinc(x)
#define fit_softplus(x) fit_vsoftplus(x)
#define fit_logistic(x) fit_vlogistic(x)
#define fit_sign(x) fit_vsign(x)
#ifdef FIT_GPU_SPECIAL
#define fit_gamma(x) fit_vgamma(x)
#define fit_lgamma(x) fit_vlgamma(x)
#define fit_digamma(x) fit_vdigamma(x)
#define fit_trigamma(x) fit_vtrigamma(x)
#define fit_tetragamma(x) fit_vtetragamma(x)
#define fit_exprel(x) fit_vexprel(x)
#define fit_dexprel(x) fit_vdexprel(x)
#define fit_d2exprel(x) fit_vd2exprel(x)
#define fit_log1mexp(x) fit_vlog1mexp(x)
#define fit_erfcx(x) fit_verfcx(x)
#define fit_derfcx(x) fit_vderfcx(x)
#define fit_d2erfcx(x) fit_vd2erfcx(x)
#define fit_erfinv(x) fit_verfinv(x)
#define fit_erfi(x) fit_verfi(x)
#endif

/* ---- what a thread knows -------------------------------------------------------------------------------- */

#ifndef FIT_GPU_AXES
#define FIT_GPU_AXES 1
#endif
#ifndef FIT_GPU_TABLE_COLUMNS
#define FIT_GPU_TABLE_COLUMNS 1
#endif

struct fit_gpu_layout {
    size_t ngroup, ntime, nframe, nrow;
    double step;
    FIT_GLOBAL const double *coord[FIT_GPU_AXES], *column[FIT_GPU_TABLE_COLUMNS];
};

struct fit_gpu_task {
    struct fit_gpu_layout l;
    FIT_GLOBAL const double *ws, *lin, *adj, *y, *w;
    size_t i0, i1, j0, j1, r0, r1, c0, c1, at, group, thread;
    int weighted;
};

#define FIT_GPU_ARGUMENTS                                                                                           \
    FIT_GLOBAL const fit_long *FIT_RESTRICT shape, FIT_GLOBAL const fit_long *FIT_RESTRICT item,                    \
        FIT_GLOBAL const double *FIT_RESTRICT fixed, FIT_GLOBAL const double *FIT_RESTRICT ws,                      \
        FIT_GLOBAL const double *FIT_RESTRICT lin, FIT_GLOBAL const double *FIT_RESTRICT adj,                       \
        FIT_GLOBAL const double *FIT_RESTRICT y, FIT_GLOBAL const double *FIT_RESTRICT w,                           \
        FIT_GLOBAL double *FIT_RESTRICT out

#define fit_padded(n) (((n) + FIT_LANES - 1) / FIT_LANES * FIT_LANES)

/* P_j - P_i with what rounding left of P. */
#define fit_delta_low(P, P_low, j, i) (((P)[j] - (P)[i]) + ((P_low)[j] - (P_low)[i]))

#define FIT_GPU_ITEM(block) ((size_t)shape[FIT_SHAPE_FIRST] + (block))
#define FIT_GPU_PLACE(block, g, e, groups)                                                                          \
    (((e) * (groups) + (g)) * (size_t)shape[FIT_SHAPE_ITEMS] + FIT_GPU_ITEM(block))

/* The task of a thread: n, g, e the item, the group and the evaluation of its block. */
#define FIT_GPU_TASK(t, n, g, e, k)                                                                                 \
    {                                                                                                               \
        FIT_GLOBAL const fit_long *it = item + (n) * FIT_ITEM_NUMBERS;                                              \
        const size_t data = shape[FIT_SHAPE_DATA] ? (size_t)shape[FIT_SHAPE_NUMBERS + (e)] : 0;                     \
        FIT_GLOBAL const double *fx = fixed + data * (size_t)shape[FIT_SHAPE_FIXED];                                \
        (t).l.ngroup = (size_t)shape[FIT_SHAPE_GROUPS];                                                             \
        (t).l.ntime = (size_t)shape[FIT_SHAPE_TIMES];                                                               \
        (t).l.nframe = (size_t)shape[FIT_SHAPE_FRAMES];                                                             \
        (t).l.nrow = (size_t)shape[FIT_SHAPE_ROWS];                                                                 \
        (t).l.step = fx[0];                                                                                         \
        for (int a = 0; a < FIT_GPU_AXES; a++)                                                                      \
            (t).l.coord[a] = fx + 1 + (size_t)a * (t).l.ngroup;                                                     \
        for (int a = 0; a < FIT_GPU_TABLE_COLUMNS; a++)                                                             \
            (t).l.column[a] = fx + 1 + FIT_GPU_AXES * (t).l.ngroup + (size_t)a * fit_padded((t).l.nrow);            \
        (t).ws = ws + (e) * (size_t)shape[FIT_SHAPE_WS];                                                            \
        (t).lin = lin + (e) * (size_t)shape[FIT_SHAPE_LIN];                                                         \
        (t).adj = adj + (e) * (size_t)shape[FIT_SHAPE_ADJ];                                                         \
        (t).y = y + data * (size_t)shape[FIT_SHAPE_DATA];                                                           \
        (t).w = w + data * (size_t)shape[FIT_SHAPE_DATA];                                                           \
        (t).weighted = (int)shape[FIT_SHAPE_WEIGHTED];                                                              \
        (t).i0 = (size_t)it[FIT_ITEM_I0], (t).i1 = (size_t)it[FIT_ITEM_I1];                                         \
        (t).j0 = (size_t)it[FIT_ITEM_J0], (t).j1 = (size_t)it[FIT_ITEM_J1];                                         \
        (t).r0 = (size_t)it[FIT_ITEM_R0], (t).r1 = (size_t)it[FIT_ITEM_R1];                                         \
        (t).c0 = (size_t)it[FIT_ITEM_C0], (t).c1 = (size_t)it[FIT_ITEM_C1];                                         \
        (t).at = (size_t)(it[FIT_ITEM_AT] - shape[FIT_SHAPE_AT]);                                                   \
        (t).group = FIT_GPU_OF_ITEM ? (size_t)it[FIT_ITEM_GROUP] : (g);                                             \
        if (FIT_GPU_OF_ITEM) /* of rows y is that of the tile */                                                    \
            (t).y += (t).at, (t).w += (t).at;                                                                       \
        (t).thread = (size_t)(k);                                                                                   \
    }

/* Sum of floor(m / 8) over 0 <= m < n. */
FIT_INLINE size_t fit_gpu_eighths(size_t n)
{
    const size_t k = n / FIT_LANES;
    return FIT_LANES * k * (k - (k > 0)) / 2 + k * (n - FIT_LANES * k);
}

/* Place in y of pair (i, FIT_LANES b) of group 0. */
FIT_INLINE size_t fit_gpu_pair(const struct fit_gpu_task *t, size_t i, size_t b)
{
    const size_t start = t->j0 / FIT_LANES, end = (t->j1 + FIT_LANES - 1) / FIT_LANES;
    const size_t last = t->j0 + FIT_LANES - 1, low = last < t->i0 ? t->i0 : last < i ? last : i; /* of full width */
    const size_t first = (i + 1) / FIT_LANES > start ? (i + 1) / FIT_LANES : start;
    const size_t before = (low - t->i0) * (end - start) + (i - low) * end -
                          (fit_gpu_eighths(i + 1) - fit_gpu_eighths(low + 1));
    return t->at + (before + b - first) * t->l.ngroup * FIT_LANES;
}

/* ---- sums of a block ------------------------------------------------------------------------------------ *
 *
 * Number k of the block: partial sums p = 0 .. 7 of the threads p, p + 8, ..., added up in turn. */

#define FIT_GPU_CHUNK 16 /* numbers at a time */
#define FIT_GPU_WIDE (FIT_GPU_THREADS + 8)

#ifndef FIT_GPU_PLAIN
#define FIT_GPU_SUMS(name, count)                                                                                   \
    FIT_ENTRY_LARGE name(FIT_GPU_ARGUMENTS)                                                                         \
    {                                                                                                               \
        FIT_SHARED double all[FIT_GPU_CHUNK * FIT_GPU_WIDE];                                                        \
        FIT_SHARED double part[FIT_GPU_CHUNK * 8];                                                                  \
        double own[count];                                                                                          \
        struct fit_gpu_task task;                                                                                   \
        const int thread = FIT_THREAD;                                                                              \
        FIT_GPU_TASK(task, FIT_GPU_ITEM(FIT_BLOCK_AT(0)), FIT_BLOCK_AT(1), FIT_BLOCK_AT(2), thread)                 \
        name##_of(&task, own);                                                                                      \
        out += FIT_GPU_PLACE(FIT_BLOCK_AT(0), FIT_BLOCK_AT(1), FIT_BLOCK_AT(2), FIT_BLOCKS(1)) * (count) +          \
               (size_t)shape[FIT_SHAPE_OUT] * FIT_BLOCKS(2);                                                        \
        FIT_UNROLL                                                                                                  \
        for (int c = 0; c < (count); c += FIT_GPU_CHUNK) {                                                          \
            FIT_UNROLL                                                                                              \
            for (int k = 0; k < FIT_GPU_CHUNK; k++)                                                                 \
                if (c + k < (count))                                                                                \
                    all[k * FIT_GPU_WIDE + thread] = own[c + k < (count) ? c + k : 0];                              \
            FIT_SYNC;                                                                                               \
            double sum = 0.0;                                                                                       \
            if (c + thread / 8 < (count))                                                                           \
                for (int m = thread % 8; m < FIT_GPU_THREADS; m += 8)                                               \
                    sum += all[thread / 8 * FIT_GPU_WIDE + m];                                                      \
            part[thread] = sum;                                                                                     \
            FIT_SYNC;                                                                                               \
            if (thread < FIT_GPU_CHUNK && c + thread < (count)) {                                                   \
                double total = 0.0;                                                                                 \
                for (int p = 0; p < 8; p++)                                                                         \
                    total += part[thread * 8 + p];                                                                  \
                out[c + thread] = total;                                                                            \
            }                                                                                                       \
            FIT_SYNC;                                                                                               \
        }                                                                                                           \
    }

#define FIT_GPU_VALUES(name)                                                                                        \
    FIT_ENTRY name(FIT_GPU_ARGUMENTS)                                                                               \
    {                                                                                                               \
        struct fit_gpu_task task;                                                                                   \
        FIT_GPU_TASK(task, FIT_GPU_ITEM(FIT_BLOCK_AT(0)), FIT_BLOCK_AT(1), FIT_BLOCK_AT(2), FIT_THREAD)             \
        name##_of(&task, out + FIT_BLOCK_AT(2) * (size_t)shape[FIT_SHAPE_DATA]);                                    \
    }

/* Totals of parts [row][item][n] over the items first[2 r] .. first[2 r + 1]-1, or over all: block (k, r, e).  Thread t
 * adds up share t of FIT_GPU_THREADS of all items; a binary tree of neighbours adds up the threads. */
FIT_ENTRY fit_gpu_total(FIT_GLOBAL const fit_long *FIT_RESTRICT shape, FIT_GLOBAL const fit_long *FIT_RESTRICT first,
                        FIT_GLOBAL const double *FIT_RESTRICT part, FIT_GLOBAL double *FIT_RESTRICT out)
{
    FIT_SHARED double all[FIT_GPU_THREADS];
    const size_t n = FIT_BLOCKS(0), k = FIT_BLOCK_AT(0), r = FIT_BLOCK_AT(1), e = FIT_BLOCK_AT(2), rows = FIT_BLOCKS(1);
    const size_t items = (size_t)shape[FIT_TOTAL_ITEMS], own = (size_t)shape[FIT_TOTAL_OWN];
    const size_t begin = own ? (size_t)first[2 * r] : 0, end = own ? (size_t)first[2 * r + 1] : items;
    const size_t thread = (size_t)FIT_THREAD, to = items * (thread + 1) / FIT_GPU_THREADS;
    size_t m = items * thread / FIT_GPU_THREADS;
    double sum = 0.0;
    part += (own ? e : e * rows + r) * items * n + (size_t)shape[FIT_TOTAL_PART] * FIT_BLOCKS(2);
    for (m = m > begin ? m : begin; m < to && m < end; m++)
        sum += part[m * n + k];
    all[thread] = sum;
    FIT_SYNC;
    const size_t at = (size_t)shape[FIT_TOTAL_OUT] * FIT_BLOCKS(2) + (e * rows + r) * n + k;
    if (shape[FIT_TOTAL_LEAVES]) {
        out[at * FIT_GPU_THREADS + thread] = sum;
        return;
    }
    for (size_t step = 1; step < FIT_GPU_THREADS; step *= 2) {
        if (thread % (2 * step) == 0)
            all[thread] += all[thread + step];
        FIT_SYNC;
    }
    if (thread == 0)
        out[at] = all[0];
}

#else
struct fit_gpu_grid {
    size_t n[3];
};

#define FIT_GPU_SUMS(name, count)                                                                                   \
    static void name(const struct fit_gpu_grid *grid, FIT_GPU_ARGUMENTS)                                            \
    {                                                                                                               \
        static _Thread_local double all[FIT_GPU_THREADS][count];                                                    \
        for (size_t e = 0; e < grid->n[2]; e++)                                                                     \
            for (size_t g = 0; g < grid->n[1]; g++)                                                                 \
                for (size_t m = 0; m < grid->n[0]; m++) {                                                           \
                    for (int k = 0; k < FIT_GPU_THREADS; k++) {                                                     \
                        struct fit_gpu_task task;                                                                   \
                        FIT_GPU_TASK(task, FIT_GPU_ITEM(m), g, e, k)                                                \
                        name##_of(&task, all[k]);                                                                   \
                    }                                                                                               \
                    for (int c = 0; c < count; c++) {                                                               \
                        double total = 0.0;                                                                         \
                        for (int p = 0; p < 8; p++) {                                                               \
                            double sum = 0.0;                                                                       \
                            for (int k = p; k < FIT_GPU_THREADS; k += 8)                                            \
                                sum += all[k][c];                                                                   \
                            total += sum;                                                                           \
                        }                                                                                           \
                        out[(size_t)shape[FIT_SHAPE_OUT] * grid->n[2] +                                             \
                            FIT_GPU_PLACE(m, g, e, grid->n[1]) * (count) + (size_t)c] = total;                      \
                    }                                                                                               \
                }                                                                                                   \
    }

#define FIT_GPU_VALUES(name)                                                                                        \
    static void name(const struct fit_gpu_grid *grid, FIT_GPU_ARGUMENTS)                                            \
    {                                                                                                               \
        for (size_t e = 0; e < grid->n[2]; e++)                                                                     \
            for (size_t g = 0; g < grid->n[1]; g++)                                                                 \
                for (size_t m = 0; m < grid->n[0]; m++)                                                             \
                    for (int k = 0; k < FIT_GPU_THREADS; k++) {                                                     \
                        struct fit_gpu_task task;                                                                   \
                        FIT_GPU_TASK(task, FIT_GPU_ITEM(m), g, e, k)                                                \
                        name##_of(&task, out + e * (size_t)shape[FIT_SHAPE_DATA]);                                  \
                    }                                                                                               \
    }
#endif

#endif
