/* sbc_ranks.c -- ranks of true values among draws, and whether they are uniform; see sbc_ranks.h.
 *
 * chi2 of the counts in 20 bins has a probability above 1e-3 / (number of quantities), and the count up to each rank,
 * which is binomial, is nowhere less probable than in 999 of 1000 sets of uniform ranks (Saeilynoja, Buerkner &
 * Vehtari, Stat. Comput. 32 (2022) 32).
 */
#include "sbc_ranks.h"

#include "math/rng.h"
#include "math/special.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 20, SETS = 20000 };

void sbc_stop(const char *what, const struct fit_error *err)
{
    fprintf(stderr, "sbc: %s: %s\n", what, err->message);
    exit(1);
}

double sbc_true_density(const struct fit_posterior_setup *setup)
{
    struct fit_posterior *p;
    struct fit_error err = {0};
    double q[SBC_MOST], lp = NAN;
    if (fit_posterior_new(setup, &p, &err) != FIT_OK)
        sbc_stop("posterior", &err);
    fit_posterior_start(p, q);
    p->target.eval(p->target.user, 0, q, &lp, NULL);
    fit_posterior_free(p);
    return lp;
}

void sbc_rank(const struct fit_samples *s, const double *truth, size_t n, double lp, struct sbc_quantity *quantity)
{
    for (size_t c = 0; c <= n; c++) {
        size_t rank = 0;
        for (size_t k = 0; k < s->draws; k += SBC_THIN)
            rank += c < n ? s->x[k * s->ncolumn + c] < truth[c] : s->lp[k] < lp;
        quantity[c].count[rank]++;
    }
}

/* ---- uniformity ---------------------------------------------------------------------------------------- */

static size_t in_bin(const size_t *count, size_t bin)
{
    size_t sum = 0, width = SBC_RANKS / BINS;
    for (size_t k = bin * width; k < (bin + 1) * width; k++)
        sum += count[k];
    return sum;
}

static double chi2_of(const size_t *count, size_t total)
{
    double expected = (double)total / BINS, chi2 = 0;
    for (size_t b = 0; b < BINS; b++) {
        double off = (double)in_bin(count, b) - expected;
        chi2 += off * off / expected;
    }
    return chi2;
}

/* below[k (total + 1) + n]: probability that at most n of the ranks are k or less. */
static double *binomials(size_t total)
{
    double *below = malloc(SBC_RANKS * (total + 1) * sizeof *below);
    if (!below)
        sbc_stop("ranks", &(struct fit_error){.message = "out of memory"});
    for (size_t k = 0; k + 1 < SBC_RANKS; k++)
        for (size_t n = 0; n <= total; n++)
            below[k * (total + 1) + n] =
                n == total ? 1 : 1 - fit_beta_cdf((double)(k + 1) / SBC_RANKS, (double)(n + 1), (double)(total - n));
    return below;
}

/* The least probability, over all ranks, of a count as far out as the one there. */
static double least_probable(const double *below, const size_t *count, size_t total)
{
    double least = 1;
    size_t n = 0;
    for (size_t k = 0; k + 1 < SBC_RANKS; k++) {
        n += count[k];
        const double *row = below + k * (total + 1);
        least = fmin(least, 2 * fmin(row[n], n ? 1 - row[n - 1] : 1));
    }
    return least;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What least_probable() exceeds in 99.9 % of all sets of uniform ranks. */
static double band(const double *below, size_t total)
{
    static double least[SETS];
    struct fit_rng rng = {.seed = 1, .purpose = FIT_RNG_START};
    for (size_t s = 0; s < SETS; s++) {
        size_t count[SBC_RANKS] = {0};
        for (size_t e = 0; e < total; e++)
            count[(size_t)(SBC_RANKS * fit_rng_next_uniform(&rng))]++;
        least[s] = least_probable(below, count, total);
    }
    qsort(least, SETS, sizeof *least, ascending);
    return least[SETS / 1000];
}

size_t sbc_report(const struct sbc_quantity *quantity, size_t n, size_t experiments)
{
    double *below = binomials(experiments), least = band(below, experiments);
    size_t bad = 0;
    printf("  uniform: p above %.2g, farthest above %.2g\n", 1e-3 / (double)n, least);
    for (size_t c = 0; c < n; c++) {
        const size_t *count = quantity[c].count;
        if (!*quantity[c].name)
            continue;
        double chi2 = chi2_of(count, experiments), p = fit_chi2_tail(chi2, BINS - 1);
        double far = least_probable(below, count, experiments);
        int wrong = !(p > 1e-3 / (double)n) || far < least;
        bad += wrong ? 1 : 0;
        printf("  %-22s chi2 %5.1f  p %.4f  farthest %.4f %s  ", quantity[c].name, chi2, p, far,
               wrong ? "NOT UNIFORM" : "");
        for (size_t b = 0; b < BINS; b++)
            printf(" %zu", in_bin(count, b));
        printf("\n");
    }
    free(below);
    return bad;
}
