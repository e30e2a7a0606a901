/* efficient.c -- see efficient.h. */
#include "fit/efficient.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "errors/profile.h"
#include "errors/speckle_kernel.h"
#include "fit/fit.h"
#include "machine/team.h"
#include "math/linalg.h"
#include "math/special.h"

static const double DIFFER = 0.01;    /* probability below which both estimates differ by more than chance */
static const double NO_DIFFERENCE = 0.01; /* part of the variance of least squares in which both are the same */

struct job {
    struct fit_ls *f;
    struct fit_result *res;      /* of least squares */
    size_t p, q, ng, n, P;       /* n: of the full vector; P: parameters of a group */
    double *theta, *lin;         /* reference */
    double *H;                   /* n x n: (J^T W J)^-1 of least squares */
    double *S[3], *V[3];         /* n x n: covariance of the sums of least squares, with the efficient ones, of these;
                                    of the estimates */
    double *F, *temporary;       /* n x n: that of the efficient ones */
    size_t *class;
    unsigned char *fixed;
    struct fit_speckle_noise *noise; /* ng */
    struct fit_objective *obj;
    struct fit_scores scores, first; /* at the reference; at least squares */
    struct fit_speckle_kernel *made;
    struct fit_result found;
    struct fit_arena storage;
};

/* ---- may it be? -------------------------------------------------------------------------------------------- */

/* Why there are no efficient estimates; NULL: there may be. */
static const char *unsuited(const struct fit_ls *f)
{
    const struct fit_result *r = f->res;
    if (f->kernel->space != FIT_PAIRS || f->kernel->density || !f->kernel->points || f->kernel->intercept < 0)
        return "they are for two-time models with a baseline";
    if (f->opt->loss != FIT_LOSS_LINEAR)
        return "they are for the linear loss";
    if (f->opt->scaling == FIT_SCALING_HIERARCHICAL)
        return "not with hierarchical scaling";
    if (f->ds->weighted || f->opt->sigma)
        return "the errors of the values are given, and are taken for independent";
    if (f->opt->cluster_joint)
        return "groups share their noise";
    if (!r->converged)
        return "least squares did not converge";
    if (r->robust.kind == FIT_ROBUST_WHITE)
        return "no noise that pairs of frames share is seen, and for independent noise least squares are efficient";
    if (!r->robust.closed)
        return "the noise is not known to be that of speckles of this model";
    if (r->nnull > 0 || r->ndegenerate > 0)
        return "the data do not determine all parameters";
    return NULL;
}

/* ---- the reference ------------------------------------------------------------------------------------------ */

static enum fit_status no_memory(struct job *j)
{
    return fit_no_memory(j->f->err, "efficient estimates");
}

static enum fit_status job_new(struct job *j)
{
    struct fit_arena *a = &j->storage;
    const size_t nn = j->n * j->n;
    FIT_TAKE_DOUBLES(a, j->n, &j->theta);
    j->lin = j->theta + j->p;
    FIT_TAKE_DOUBLES(a, nn, &j->H, &j->F, &j->temporary, &j->S[0], &j->S[1], &j->S[2], &j->V[0], &j->V[1], &j->V[2]);
    j->class = fit_take(a, j->ng * j->q, sizeof *j->class);
    j->fixed = fit_take(a, j->q, sizeof *j->fixed);
    j->noise = fit_take_copy(a, j->res->speckle, j->ng, sizeof *j->noise);
    if (a->failed)
        return no_memory(j);
    memcpy(j->theta, j->res->theta, j->p * sizeof *j->theta);
    memcpy(j->lin, j->res->lin, j->ng * j->q * sizeof *j->lin);
    for (size_t k = 0; k < nn; k++) /* what is held has no part in it */
        j->H[k] = isnan(j->res->paraboloid[k]) ? 0 : j->res->paraboloid[k] / j->res->variance;
    return FIT_OK;
}

static void job_free(struct job *j)
{
    fit_speckle_kernel_free(j->made);
    fit_objective_free(j->obj);
    fit_scores_free(&j->scores);
    fit_scores_free(&j->first);
    fit_result_free(&j->found);
    fit_arena_free(&j->storage);
}

/* The model at the reference: its baseline is subtracted, so that lin may be in the units of the data. */
static struct fit_speckle_model model_at(const struct job *j)
{
    return (struct fit_speckle_model){j->f->kernel, &j->f->ds->layout, j->obj->ws, j->lin};
}

/* Groups that share a linear parameter, and which of them are held. */
static void find_classes(struct job *j)
{
    const struct fit_objective *o = j->obj;
    for (size_t e = 0; e < j->ng * j->q; e++) {
        j->class[e] = o->map[e] < 0 ? 0 : (size_t)o->map[e];
        j->fixed[e % j->q] |= o->map[e] < 0;
    }
}

/* Contrast and decay of the model at theta and lin; 0: it is not of the kind that speckles have. */
static int look_at_model(struct job *j)
{
    const struct fit_speckle_model m = model_at(j);
    for (size_t g = 0; g < j->ng; g++) {
        struct fit_speckle_noise x;
        const char *why;
        if (!fit_speckle_suits(&m, g, &x, &why) || !(x.contrast > 0))
            return 0;
        j->noise[g].contrast = x.contrast;
        j->noise[g].frames = x.frames;
    }
    return 1;
}

/* Objective, sums by blocks and kernel at theta and lin. */
static enum fit_status look(struct job *j)
{
    struct fit_ls *f = j->f;
    struct fit_objective_setup setup = f->setup;
    const struct fit_score_loss loss = {FIT_LOSS_LINEAR, 1, NULL};
    double *D = NULL, *B = NULL;
    enum fit_status st = FIT_OK;
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, j->n * j->n, &D);
    FIT_TAKE_DOUBLES(&a, j->p * (j->p + 1), &B);
    fit_speckle_kernel_free(j->made);
    fit_objective_free(j->obj);
    j->made = NULL;
    j->obj = NULL;
    setup.linear_start = j->lin;
    if (a.failed)
        st = no_memory(j);
    else if ((st = fit_objective_new(f->kernel, f->ds, &setup, &j->obj, f->err)) == FIT_OK) {
        enum fit_eval e = fit_objective_value(j->obj, j->theta);
        if (e == FIT_EVAL_OK)
            e = fit_objective_normal(j->obj, j->theta, B, B + j->p * j->p);
        if (e != FIT_EVAL_OK)
            st = fit_fail(f->err, e == FIT_EVAL_STOP ? FIT_ERR_INTERRUPTED : FIT_ERR_NUMERIC,
                          e == FIT_EVAL_STOP ? "fit: interrupted" : "fit: the model is not finite");
    }
    if (st == FIT_OK)
        st = fit_scores_new(j->obj, &loss, D, 1, &j->scores, f->err);
    if (st != FIT_OK)
        return st;
    if (!look_at_model(j))
        return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: the model's contrast is gone");
    find_classes(j);
    const struct fit_speckle_reference at = {j->obj, &j->scores, j->theta, j->lin, j->noise,
                                             fit_objective_threads(j->obj)};
    return fit_speckle_kernel_new(&at, &j->made, f->err);
}

/* ---- errors ------------------------------------------------------------------------------------------------- */

struct covariances {
    const struct job *j;
    const struct fit_objective *at; /* of the kernel, at the estimates */
    double *out;                    /* ng x 2 P x 2 P */
    double **room;                  /* of each thread */
};

static size_t room_for(const struct job *j)
{
    const size_t n = j->made->n, nn = n * n;
    return (2 * j->P + 2) * nn + n + fit_speckle_weights_room(j->made) + fit_speckle_covariance_room(n, 2 * j->P);
}

/* Weights of the values in the sums of least squares. */
static void plain_weights(const struct job *j, size_t g, double *field)
{
    const size_t n = j->made->n;
    const double factor = fit_score_factor(j->f->obj, g);
    for (size_t a = 0; a < n; a++)
        for (size_t c = a; c < n; c++) {
            const double *sum = fit_fields_at(&j->first, g, a, c);
            for (size_t e = 0; e < j->P; e++)
                field[(e * n + a) * n + c] = field[(e * n + c) * n + a] = (a == c ? factor : factor / 2) * sum[e];
        }
}

static void covariance_of(void *user, size_t g, size_t thread)
{
    const struct covariances *x = user;
    const struct job *j = x->j;
    const size_t n = j->made->n, nn = n * n, K = 2 * j->P;
    const struct fit_speckle_model model = model_at(j);
    const struct fit_speckle_blocks blocks = {&model, n, j->made->frames};
    const struct fit_speckle_noise *noise = &j->noise[g];
    double *field = x->room[thread], *C = field + K * nn, *root = C + nn, *shot = root + nn, *room = shot + n;
    const double count = fit_speckle_between(&blocks, g, noise, C, root, shot);
    plain_weights(j, g, field);
    fit_speckle_weights(j->made, x->at->ws, x->at->lin, g, room, field + j->P * nn);
    const struct fit_speckle_fields f = {.n = n, .nfield = K, .C = C, .g = root, .contrast = noise->contrast,
                                         .shot = shot, .field = field, .coarse = fit_speckle_coarse(&blocks, noise)};
    double *out = x->out + g * K * K;
    fit_speckle_covariance(&f, room, out);
    for (size_t k = 0; k < K * K; k++)
        out[k] /= count;
}

/* Place of element e of group g in the full vector. */
static size_t place(const struct job *j, size_t g, size_t e)
{
    return e < j->p ? e : j->p + g * j->q + e - j->p;
}

static void add_up(struct job *j, const double *of_groups)
{
    const size_t P = j->P, K = 2 * P;
    for (int k = 0; k < 3; k++)
        memset(j->S[k], 0, j->n * j->n * sizeof **j->S);
    for (size_t g = 0; g < j->ng; g++)
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b < P; b++) {
                const size_t at = place(j, g, a) * j->n + place(j, g, b);
                j->S[0][at] += of_groups[(g * K + a) * K + b];
                j->S[1][at] += of_groups[(g * K + a) * K + P + b];
                j->S[2][at] += of_groups[(g * K + P + a) * K + P + b];
            }
}

/* out <- A S B for symmetric A and B. */
static void product(size_t n, const double *A, const double *S, const double *B, double *temporary, double *out)
{
    for (int turn = 0; turn < 2; turn++) {
        const double *x = turn ? temporary : A, *y = turn ? B : S;
        double *to = turn ? out : temporary;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) {
                double sum = 0;
                for (size_t l = 0; l < n; l++)
                    sum += x[i * n + l] * y[l * n + k];
                to[i * n + k] = sum;
            }
    }
}

static int find_covariances(struct job *j, const struct fit_objective *at)
{
    const size_t nthread = (size_t)fit_objective_threads(j->obj);
    struct covariances x = {.j = j, .at = at};
    FIT_SCRATCH(a);
    x.room = fit_take(&a, nthread, sizeof *x.room);
    FIT_TAKE_DOUBLES(&a, j->ng * 4 * j->P * j->P, &x.out);
    for (size_t t = 0; x.room && t < nthread; t++)
        FIT_TAKE_DOUBLES(&a, room_for(j), &x.room[t]);
    if (a.failed)
        return 0;
    fit_team_run((struct fit_team){(int)nthread, FIT_TEAM_NEXT}, j->ng, covariance_of, &x);
    add_up(j, x.out);
    return 1;
}

/* fit_errors_fn */
static enum fit_status errors_of(void *user, struct fit_objective *at, struct fit_result *r, struct fit_error *err)
{
    struct job *j = user;
    const size_t n = j->n, nn = n * n;
    if (!find_covariances(j, at))
        return fit_no_memory(err, "efficient estimates");
    for (size_t k = 0; k < nn; k++)
        j->F[k] = isnan(r->covariance[k]) ? 0 : r->covariance[k];
    product(n, j->H, j->S[0], j->H, j->temporary, j->V[0]);
    product(n, j->H, j->S[1], j->F, j->temporary, j->V[1]);
    product(n, j->F, j->S[2], j->F, j->temporary, j->V[2]);
    double usual = 0, told = 0;
    for (size_t k = 0; k < n; k++) {
        const int none = isnan(r->std[k]) || r->std[k] == 0;
        r->std_robust[k] = none ? r->std[k] : sqrt(j->V[2][k * (n + 1)]);
        usual += none || k >= j->p ? 0 : 1;
        told += none || k >= j->p ? 0 : j->V[2][k * (n + 1)] / r->covariance[k * (n + 1)];
        for (size_t i = 0; i < n; i++)
            r->covariance_robust[k * n + i] = isnan(r->covariance[k * n + i]) ? NAN : j->V[2][k * n + i];
    }
    r->robust = (struct fit_robust){.kind = FIT_ROBUST_SPECKLE, .eta = told > 0 ? usual / told : NAN};
    return FIT_OK;
}

/* ---- the fit ------------------------------------------------------------------------------------------------ */

/* 1: all intervals of least squares are those of the paraboloid. */
static int straight(const struct fit_result *r)
{
    for (size_t k = 0; k < r->nfull; k++)
        if (r->interval[k].known)
            return 0;
    return 1;
}

/* The fit of the kernel from `start`; last: with errors. */
static enum fit_status solve(struct job *j, const double *start, int last, struct fit_result *out)
{
    struct fit_options inner = *j->f->opt;
    inner.estimator = FIT_ESTIMATOR_LEAST_SQUARES;
    inner.scaling = FIT_SCALING_INDIVIDUAL;
    inner.start = start;
    inner.linear_start = j->lin;
    inner.linear_fixed = j->fixed;
    inner.linear_class = j->class;
    inner.start_only = 1;
    inner.global = 0;
    inner.multi_start = 0;
    inner.nlikelihood = 0;
    inner.brief = !last || straight(j->res);
    inner.errors = last ? errors_of : NULL;
    inner.errors_user = j;
    inner.progress = NULL;
    return fit_run(&j->made->kernel, j->made->ds, &inner, out, j->f->err);
}

/* The same from all minima of the sum of squares that the data do not tell from the best: the lowest. */
static enum fit_status solve_from_all(struct job *j)
{
    const struct fit_result *r = j->res;
    enum fit_status st = solve(j, j->theta, 0, &j->found);
    for (size_t k = 1; st == FIT_OK && k < r->nminimum; k++) {
        struct fit_result other;
        if (!r->minima[k].inside)
            continue;
        if ((st = solve(j, r->minima[k].theta, 0, &other)) != FIT_OK)
            break;
        if (other.cost < j->found.cost) {
            const struct fit_result swap = j->found;
            j->found = other;
            other = swap;
        }
        fit_result_free(&other);
    }
    return st;
}

/* Sum of squares of all values at theta, for which the last value was asked for, and lin. */
static double square_at(const struct job *j, const double *lin)
{
    const struct fit_objective *o = j->obj;
    const size_t q = j->q, each = q * (q + 1) / 2 + q + 1;
    double all = 0;
    for (size_t g = 0; g < j->ng; g++) {
        const double *m = o->moment + g * each, *v = m + q * (q + 1) / 2;
        double l[16], sum = v[q];
        for (size_t a = 0; a < q && q <= 16; a++)
            l[a] = lin[g * q + a] - fit_objective_linear(o, g, a) + o->lin[g * q + a];
        for (size_t a = 0; a < q; a++) {
            sum -= 2 * v[a] * l[a];
            for (size_t b = a; b < q; b++)
                sum += (a == b ? 1 : 2) * l[a] * l[b] * *m++;
        }
        all += sum * fit_score_factor(j->f->obj, g);
    }
    return all;
}

/* ---- both of them ------------------------------------------------------------------------------------------- */

/* Parameters that both have estimated. */
static size_t compared(const struct job *j, size_t *which)
{
    size_t m = 0;
    for (size_t k = 0; k < j->p; k++)
        if (j->V[0][k * (j->n + 1)] > 0 && j->V[2][k * (j->n + 1)] > 0)
            which[m++] = k;
    return m;
}

/* Hausman's test of the nonlinear parameters. */
static enum fit_status compare(struct job *j)
{
    struct fit_estimates *e = &j->res->estimates;
    const size_t n = j->n;
    size_t *which;
    double *M = NULL;
    FIT_SCRATCH(scratch);
    which = fit_take(&scratch, j->p, sizeof *which);
    FIT_TAKE_DOUBLES(&scratch, j->p * j->p + 2 * j->p + fit_eigen_work(j->p), &M);
    if (scratch.failed)
        return no_memory(j);
    const size_t m = compared(j, which);
    double *w = M + m * m, *d = w + m;
    for (size_t a = 0; a < m; a++) {
        const size_t k = which[a];
        const double unit = sqrt(j->V[0][k * (n + 1)]);
        d[a] = (j->found.theta[k] - j->res->theta[k]) / unit;
        for (size_t b = 0; b < m; b++) {
            const size_t l = which[b], at = k * n + l;
            M[a * m + b] = (j->V[0][at] + j->V[2][at] - j->V[1][at] - j->V[1][l * n + k]) /
                           (unit * sqrt(j->V[0][l * (n + 1)]));
        }
    }
    if (m > 0 && fit_eigen(m, M, w, d + m) == 0) {
        e->chi2 = 0;
        for (size_t a = 0; a < m; a++) {
            double z = 0;
            for (size_t b = 0; b < m; b++)
                z += M[a * m + b] * d[b];
            e->chi2 += w[a] > NO_DIFFERENCE ? z * z / w[a] : 0;
            e->rank += w[a] > NO_DIFFERENCE;
        }
        e->p = e->rank > 0 ? fit_chi2_tail(e->chi2, (double)e->rank) : 1;
    }
    return FIT_OK;
}

/* What the result has not. */
static void keep_other(struct job *j, const double *theta, const double *lin, const double *std)
{
    struct fit_estimates *e = &j->res->estimates;
    e->compared = 1;
    memcpy(e->other, theta, j->p * sizeof *theta);
    memcpy(e->other + j->p, lin, j->ng * j->q * sizeof *lin);
    memcpy(e->other_std, std, j->n * sizeof *std);
}

static void take_errors(struct job *j)
{
    struct fit_result *r = j->res;
    const struct fit_result *x = &j->found;
    const size_t n = j->n;
    double *const to[] = {r->covariance, r->covariance_robust, r->paraboloid, r->paraboloid_robust};
    for (size_t k = 0; k < sizeof to / sizeof *to; k++)
        memcpy(to[k], k < 2 ? x->covariance_robust : x->paraboloid_robust, n * n * sizeof **to);
    memcpy(r->at_bound, x->at_bound, n);
    memcpy(r->interval, x->interval, n * sizeof *r->interval);
    for (size_t k = 0; k < n; k++) {
        r->std[k] = r->std_robust[k] = isnan(x->std[k]) ? NAN : x->std_robust[k];
        r->std_curvature[k] = x->std_curvature[k] * (x->interval[k].wider > 0 ? x->interval[k].wider : 1);
        r->interval[k].wider = 1;
    }
    r->robust.kind = FIT_ROBUST_SPECKLE;
    r->robust.eta = x->robust.eta;
    memcpy(r->profile, r->std, j->p * sizeof *r->profile);
    for (size_t k = 0; k < j->p; k++)
        if (x->interval[k].known && !isnan(x->profile[k]))
            r->profile[k] = x->profile[k] * x->interval[k].wider;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            r->correlation[a * n + b] = r->covariance[a * n + b] / (r->std[a] * r->std[b]);
}

static enum fit_status take(struct job *j)
{
    struct fit_result *r = j->res;
    const double before = r->chi2;
    keep_other(j, r->theta, r->lin, r->std_robust);
    if (fit_objective_value(j->obj, j->found.theta) != FIT_EVAL_OK)
        return fit_fail(j->f->err, FIT_ERR_NUMERIC, "fit: the model is not finite at the efficient estimates");
    r->chi2 = square_at(j, j->found.lin);
    r->cost = r->chi2 / 2;
    r->residual_variance *= r->chi2 / before;
    r->reduced_chi2 *= r->chi2 / before;
    memcpy(r->theta, j->found.theta, j->p * sizeof *r->theta);
    memcpy(r->lin, j->found.lin, j->ng * j->q * sizeof *r->lin);
    memcpy(r->speckle, j->noise, j->ng * sizeof *r->speckle);
    take_errors(j);
    r->estimates.used = FIT_ESTIMATOR_EFFICIENT;
    return FIT_OK;
}

/* Why the efficient estimates are not taken; NULL: they are. */
static const char *refused(const struct job *j)
{
    const struct fit_result *x = &j->found;
    if (!x->converged || x->nnull > 0)
        return "the weighted equations do not determine all parameters";
    for (size_t k = 0; k < j->n; k++)
        if (j->res->std[k] > 0 && !(x->std_robust[k] > 0) && !x->interval[k].known)
            return "the weighted equations do not determine all parameters";
    if (j->f->opt->estimator == FIT_ESTIMATOR_AUTO && j->res->estimates.p < DIFFER)
        return "efficient estimates differ from those of least squares by more than chance allows";
    return NULL;
}

/* The reference moves to the estimates; the sums of least squares are kept. */
static void move_reference(struct job *j)
{
    j->first = j->scores;
    j->scores = (struct fit_scores){0};
    memcpy(j->theta, j->found.theta, j->p * sizeof *j->theta);
    memcpy(j->lin, j->found.lin, j->ng * j->q * sizeof *j->lin);
    fit_result_free(&j->found);
}

static enum fit_status run(struct job *j, const char **why)
{
    enum fit_status st = job_new(j);
    if (st == FIT_OK && (st = look(j)) == FIT_OK && (st = solve_from_all(j)) == FIT_OK) {
        move_reference(j);
        if ((st = look(j)) == FIT_OK)
            st = solve(j, j->theta, 1, &j->found);
    }
    if (st != FIT_OK || (st = compare(j)) != FIT_OK)
        return st;
    *why = refused(j);
    if (!*why)
        return take(j);
    keep_other(j, j->found.theta, j->found.lin, j->found.std_robust);
    return FIT_OK;
}

enum fit_status fit_efficient(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    if (f->opt->estimator == FIT_ESTIMATOR_LEAST_SQUARES || f->opt->brief)
        return FIT_OK;
    const char *why = unsuited(f);
    enum fit_status st = FIT_OK;
    if (!why) {
        struct job j = {.f = f, .res = r, .p = f->p, .q = f->q, .ng = f->ng, .n = r->nfull, .P = f->p + f->q};
        st = run(&j, &why);
        job_free(&j);
        if (st == FIT_ERR_NUMERIC) { /* least squares stay */
            why = "the weighted equations have no finite solution";
            st = FIT_OK;
        }
    }
    if (st != FIT_OK || !why)
        return st;
    if (f->opt->estimator == FIT_ESTIMATOR_EFFICIENT)
        return fit_fail(f->err, FIT_ERR_CONFIG, "estimator efficient: %s; take auto or least-squares", why);
    snprintf(r->estimates.reason, sizeof r->estimates.reason, "%s", why);
    return FIT_OK;
}
