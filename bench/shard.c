/* shard.c -- how long one shard of the consensus mode takes, from its values to the mean and precision of its draws:
 * the posterior, its mode, the chains, the linear parameters and noise of every draw.
 *
 * The shard is one of 23 angles x 1000 frames of laminar flow with 0.3 % noise, divided into shards of 5000 points, and
 * sampled as homodyne does it: 4 chains of 500 + 1500 iterations.  Diffusion and shear both decay within the
 * experiment, so that 5000 points determine all parameters, if only just; a shard that does not takes trees ten
 * times as large, on any program.
 *
 * Usage: bench-shard [ROUNDS [THREADS [POINTS]]]      least and median of ROUNDS (5) different shards; 2 threads
 */
#include "consensus/consensus_impl.h"
#include "math/rng.h"
#include "posterior/mode.h"
#include "sampling/sampling_impl.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { NT = 1000, NG = 23, MOST = 16 };

static const double THETA[] = {2000, -0.3, 100, 2e-4, -0.4, 2e-5, -4}, NOISE = 0.003;
/* Those of homodyne's template. */
static const double MEAN[] = {1000, 0.5, 10, 0.01, 0, 0, 0}, SD[] = {1000, 0.5, 200, 0.1, 0.5, 0.02, 5};

static void stop(const char *what, const struct fit_error *err)
{
    fprintf(stderr, "bench-shard: %s: %s\n", what, err->message);
    exit(1);
}

static struct fit_dataset *experiment(const struct fit_kernel *k)
{
    double phi[NG], *matrix = e2e_doubles(NT * NT), lin[2 * NG], z[2];
    struct fit_error err = {0};
    for (int g = 0; g < NG; g++) {
        phi[g] = 180.0 * g / NG - 90;
        lin[2 * g] = 0.3;
        lin[2 * g + 1] = 1;
    }
    struct e2e_grid grid = {.ntime = NT, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi};
    struct fit_dataset *ds = e2e_dataset(k, &grid);
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, THETA);
    uint32_t i[NT], j[NT], group[NT];
    for (uint32_t g = 0; g < NG; g++) {
        for (uint32_t row = 0; row + 1 < NT; row++) {
            size_t n = NT - 1 - row;
            for (size_t c = 0; c < n; c++) {
                i[c] = row;
                j[c] = row + 1 + (uint32_t)c;
                group[c] = g;
            }
            k->points(&ds->layout, p.ws, lin, &(struct fit_points){n, i, j, group}, &matrix[row * NT + row + 1], NULL);
            for (size_t c = 0; c < n; c++) {
                fit_rng_normal(g, row, c, z);
                matrix[row * NT + row + 1 + c] += NOISE * z[0];
            }
        }
        if (fit_dataset_put(ds, g, matrix, NULL, &err) != FIT_OK)
            stop("data", &err);
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        stop("data", &err);
    e2e_release(&p);
    free(matrix);
    return ds;
}

static double processor_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mode and covariance of the whole as far as starting points need them: truth, and that of a Hessian. */
static void whole(struct fit_consensus_run *c, struct fit_posterior *p, double *mode, double *covariance)
{
    double scale[MOST], widest[MOST];
    struct fit_error err;
    struct fit_mode_ask ask = {scale, widest, 0};
    struct fit_mode m = {.q = mode, .covariance = covariance};
    fit_posterior_start(p, mode);
    fit_mode_scales(p, NULL, mode, scale, widest);
    if (fit_mode_find(&p->target, &ask, &m, &err) != FIT_OK)
        stop("mode", &err);
    c->full = p;
    c->mode = mode;
    c->covariance = covariance;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? (size_t)atol(argv[1]) : 5, points = argc > 3 ? (size_t)atol(argv[3]) : 5000;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    double lin[2 * NG], sigma[NG], mode[MOST], covariance[MOST * MOST], *seconds = e2e_doubles(rounds);
    struct fit_posterior_param param[MOST];
    struct fit_error err = {0};
    struct fit_posterior *p;
    for (size_t g = 0; g < NG; g++) {
        lin[2 * g] = 0.3;
        lin[2 * g + 1] = 1;
        sigma[g] = NOISE;
    }
    for (size_t n = 0; n < k->nparam; n++)
        param[n] = (struct fit_posterior_param){k->param[n].lower, k->param[n].upper, FIT_PRIOR_TRUNCATED_NORMAL,
                                                MEAN[n], SD[n], 0, 0};
    param[k->nparam] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, 0.3, 0.25, 0, 0};
    param[k->nparam + 1] = (struct fit_posterior_param){NAN, NAN, FIT_PRIOR_NORMAL, 1, 0.25, 0, 0};
    struct fit_posterior_setup setup = {.kernel = k, .ds = experiment(k), .param = param, .theta = THETA, .lin = lin,
                                        .sigma = sigma, .a0 = 2, .count = 1, .chains = 1, .threads = 0,
                                        .variance = FIT_VARIANCE_UNIT};
    if (fit_posterior_new(&setup, &p, &err) != FIT_OK)
        stop("posterior", &err);
    struct fit_consensus_run c = {.setup = &setup,
                                  .opt = {.most_points = points, .chains = 4, .warmup = 500, .draws = 1500,
                                          .threads = argc > 2 ? atoi(argv[2]) : 2, .seed = 1}};
    whole(&c, p, mode, covariance);
    if (fit_consensus_open(&c, &err) != FIT_OK)
        stop("shards", &err);
    c.inner = c.opt.threads;
    double gradients = 0, work = processor_seconds();
    for (size_t n = 0; n < rounds; n++) {
        if (fit_consensus_shard(&c, n, &err) != FIT_OK)
            stop("sampling", &err);
        seconds[n] = c.out->shard[n].seconds;
        gradients += c.out->shard[n].gradients / (double)rounds;
    }
    qsort(seconds, rounds, sizeof *seconds, ascending);
    work = (processor_seconds() - work) / (double)rounds;
    printf("  shard of %zu points, %d angles       %7.2f s  (median of %zu, least %.2f s; %.2f s of processor time,"
           " %.0f gradients, %d threads)\n", c.out->shard[0].npoint, NG, seconds[rounds / 2], rounds, seconds[0], work,
           gradients, c.opt.threads);
    fit_consensus_close(&c);
    fit_posterior_free(p);
    fit_dataset_free((struct fit_dataset *)(uintptr_t)setup.ds);
    free(seconds);
    return 0;
}
