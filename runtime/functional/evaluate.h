/* evaluate.h -- tools for running phases: parts for threads, sums over blocks. */
#pragma once

#include "functional/functional.h"

static inline size_t fit_blocks_of(size_t n)
{
    return (n + FIT_BLOCK - 1) / FIT_BLOCK;
}

/* All arguments of an evaluation, in the form of phases. */
struct fit_functional_call fit_call(const struct fit_bound *b);

/* Runs all units of a phase; call->nblock is set. */
void fit_phase_run(struct fit_bound *b, const struct fit_phase *p, struct fit_functional_call *call);

/* Adds pairs of neighbours, pairs of pairs, ...: a tree over the number of blocks; x is overwritten. */
double fit_sum_tree(double *x, size_t n);
