/* emit_gpu.h -- kernels for accelerators: one text for CUDA C, OpenCL C and plain C (fit/gpu.h).
 *
 * The expressions are those of the kernel for processors: the same plan, separated and factored; only the loops differ.
 * A thread keeps its sums in registers: at most HG_GPU_SUMS of them, together with its other values HG_GPU_KEPT;
 * further passes over the data compute the rest. That is the amount that ptxas fits into the 255 registers of a thread
 * (tests/e2e/ptxas.sh).
 */
#pragma once

#include "emit/emit.h"
#include "fit/gpu_program.h"

enum { HG_GPU_SUMS = 40, HG_GPU_KEPT = 56 };

struct hg_gpu {
    struct hg_emit *em;
    struct hg_tree *out;
    const char *name; /* before the names of kernels */
    struct fit_gpu_pass *pass;
    uint32_t npass;
    size_t pass_room;
    uint32_t part;
    const char *tables; /* names of the tables at this point */
};

/* The passes of a model over pairs, over rows. */
void hg_gpu_pairs(struct hg_gpu *x);
void hg_gpu_rows(struct hg_gpu *x);

/* Calls write for parts [from, to) of n numbers, as few and as large as registers allow. kept: number of values that
 * a thread keeps for a part, including sums (NULL: only the sums). */
typedef uint32_t hg_gpu_kept(struct hg_gpu *x, uint32_t from, uint32_t to);
void hg_gpu_parts(struct hg_gpu *x, uint32_t n, hg_gpu_kept *kept,
                  void (*write)(struct hg_gpu *x, uint32_t from, uint32_t to));

/* Begins and ends the function and the kernel of a pass. */
void hg_gpu_open(struct hg_gpu *x, enum fit_gpu_kind kind, uint32_t first, uint32_t count, int groups);
void hg_gpu_close(struct hg_gpu *x);

/* The meaning of number n of a kind, in names of parameters. */
const char *hg_gpu_number(const struct hg_gpu *x, enum fit_gpu_kind kind, uint32_t n);

/* Statements on fit_sum and its numbers. */
void hg_gpu_declare_sums(struct hg_gpu *x, const char *stem, uint32_t n);
void hg_gpu_store_sums(struct hg_gpu *x, uint32_t n);

/* The text of the mean of a pair or a row; some of its roots are linear parameters. */
const char *hg_gpu_mean(struct hg_gpu *x, struct hg_code *c);

/* Adds data y and basis functions to the numbers from .. to-1 of the moments. */
void hg_gpu_add_moments(struct hg_gpu *x, struct hg_code *c, uint32_t from, uint32_t to);

/* The file: after hg_emit_functions. */
void hg_emit_gpu(struct hg_emit *em, FILE *out);
