/* speckle_equations.c -- the equations of speckle_kernel.h: sums with their weights, covariances and data, at a
 * reference.
 *
 * Each group is processed separately: sums over all pairs between blocks (scores.h); the parameters of its noise;
 * weights of the values in the sums of all parameters, by second moments, and in those of least squares; the covariance
 * of all of these, with every term; rows with independent unit errors.
 */
#include "errors/speckle_kernel_impl.h"
#include "errors/speckle_numbers.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "speckle/matrix.h"
#include "speckle/whiten.h"
#include "machine/team.h"
#include "math/linalg.h"

static const double LEAST_SHOT = 0.02; /* of the contrast: keeps the covariance regular */
static const double NULL_EIGENVALUE = 1e-10, LEAST_VARIANCE = 0.2;

void fit_speckle_kernel_free(struct fit_speckle_kernel *kernel)
{
    if (!kernel)
        return;
    fit_dataset_free(kernel->ds);
    struct fit_arena all = kernel->private_->storage; /* itself in it */
    fit_arena_free(&all);
}

/* All of it from one arena. */
static struct fit_speckle_kernel *kernel_new(const struct fit_speckle_reference *at)
{
    const struct fit_objective *o = at->obj;
    struct fit_arena a = {NULL, 0};
    struct fit_speckle_kernel *made = fit_take(&a, 1, sizeof *made);
    struct fit_speckle_private *k = fit_take(&a, 1, sizeof *k);
    const size_t n = at->scores->nblock, q = o->nlinear, P = at->scores->P, each = n * (n + 1) / 2, ng = o->ngroup;
    struct fit_speckle_kernel x = {.n = n, .frames = at->scores->length, .private_ = k};
    struct fit_speckle_private y = {.inner = o->kernel, .layout = &o->ds->layout, .ng = ng, .n = n, .frames = x.frames,
                                    .P = P, .each = each, .threads = at->threads > 1 ? at->threads : 1};
    y.term = fit_take(&a, q + 1, sizeof *y.term);
    y.first = fit_take(&a, ng, sizeof *y.first);
    y.linear = fit_take_copy(&a, o->kernel->linear, q, sizeof *y.linear);
    FIT_TAKE_DOUBLES(&a, ng * P * each, &y.weight);
    FIT_TAKE_DOUBLES(&a, ng * P, &y.constant, &y.value);
    FIT_TAKE_DOUBLES(&a, ng * P * P, &x.slope, &x.cross, &x.plain);
    if (a.failed) {
        fit_arena_free(&a);
        return NULL;
    }
    *k = y;
    k->storage = a;
    *made = x;
    return made;
}

/* Work space of one group; matrices n x n. */
struct group {
    double *cover, *mean, *C, *root, *X, *whiten, *covariance; /* part of the values that there are; mean residuals */
    double *numbers;         /* room for those of the noise */
    double *shot;            /* n */
    double *field;           /* 2 P matrices: weights of the values in the efficient sums, in those of least squares */
    double *S, *F, *T, *eigen, *vector; /* 2 P x 2 P, P x P, P x P, work, P */
    unsigned char *measured; /* n */
};

struct making {
    const struct fit_speckle_reference *at;
    struct fit_speckle_kernel *out;
    struct fit_speckle_private *k;
    struct fit_speckle_model model;
    struct fit_speckle_blocks blocks;
    struct group *room;      /* of each thread */
    double **tables;         /* the same: fit_speckle_room_size() */
    atomic_int bad;
};

/* The finest blocks that any group needs for the parameters of its noise. */
static size_t numbers_together(const struct making *m)
{
    size_t least = m->k->n;
    for (size_t g = 0; g < m->k->ng; g++) {
        const size_t together = fit_speckle_together(m->at->scores, &m->at->noise[g]);
        least = together < least ? together : least;
    }
    return least > 0 ? least : 1;
}

static int rooms_new(struct making *m, struct fit_arena *a)
{
    const struct fit_speckle_private *k = m->k;
    const size_t n = k->n, nn = n * n, P = k->P, threads = (size_t)k->threads;
    m->room = fit_take(a, threads, sizeof *m->room);
    m->tables = fit_take(a, threads, sizeof *m->tables);
    for (size_t t = 0; m->room && m->tables && t < threads; t++) {
        struct group *x = &m->room[t];
        FIT_TAKE_DOUBLES(a, nn, &x->cover, &x->mean, &x->C, &x->root);
        FIT_TAKE_DOUBLES(a, P * nn, &x->X);
        FIT_TAKE_DOUBLES(a, 2 * P * nn, &x->field);
        FIT_TAKE_DOUBLES(a, fit_whitener_room(n), &x->whiten);
        FIT_TAKE_DOUBLES(a, fit_speckle_numbers_room(m->at->scores, numbers_together(m)), &x->numbers);
        FIT_TAKE_DOUBLES(a, fit_speckle_covariance_room(n, 2 * P), &x->covariance);
        FIT_TAKE_DOUBLES(a, n, &x->shot);
        FIT_TAKE_DOUBLES(a, 4 * P * P, &x->S);
        FIT_TAKE_DOUBLES(a, P * P, &x->F, &x->T);
        FIT_TAKE_DOUBLES(a, fit_eigen_work(P) + 2 * P * P + 2 * P, &x->eigen);
        FIT_TAKE_DOUBLES(a, P, &x->vector);
        FIT_TAKE_DOUBLES(a, fit_speckle_room_size(k), &m->tables[t]);
        x->measured = fit_take(a, n, sizeof *x->measured);
    }
    return !a->failed;
}

/* Fractions of existing values, mean residuals at the reference, mean derivatives times the fractions (X), and the
 * fields of least squares, sums of derivatives: half of them on either side of the diagonal. */
static void take_sums(const struct making *m, size_t g, struct group *x)
{
    const size_t p = m->k->inner->nparam, q = m->k->inner->nlinear, n = m->k->n, P = m->k->P;
    double *plain = x->field + P * n * n;
    for (size_t a = 0; a < n; a++)
        for (size_t c = a; c < n; c++) {
            const double *sum = fit_fields_at(m->at->scores, g, a, c);
            const double fa = (double)fit_speckle_block_frames(&m->blocks, a);
            const double most = a == c ? fa * (fa - 1) / 2 : fa * (double)fit_speckle_block_frames(&m->blocks, c);
            const double count = sum[p + (size_t)m->k->inner->intercept];
            double rest = sum[P];
            for (size_t e = 0; e < q; e++)
                rest -= (m->at->lin[g * q + e] - fit_objective_linear(m->at->obj, g, e)) * sum[p + e];
            x->cover[a * n + c] = x->cover[c * n + a] = most > 0 ? count / most : 0;
            x->mean[a * n + c] = x->mean[c * n + a] = count > 0 ? rest / count : 0;
            for (size_t e = 0; e < P; e++) {
                const size_t at = (e * n + a) * n + c, turned = (e * n + c) * n + a;
                x->X[at] = x->X[turned] = most > 0 ? sum[e] / most : 0;
                plain[at] = plain[turned] = (a == c ? 1 : 0.5) * sum[e];
            }
        }
    for (size_t a = 0; a < n; a++)
        x->measured[a] = x->cover[a * (n + 1)] > 0;
}

/* The most likely noise of group g given its residuals; it is unchanged where they do not determine it. */
static void find_noise(struct making *m, size_t g, const struct group *x)
{
    const struct fit_kernel *inner = m->k->inner;
    const struct fit_scores *scores = m->at->scores;
    const size_t together = fit_speckle_together(scores, &m->at->noise[g]);
    double shift[inner->nlinear + 1];
    for (size_t e = 0; e < inner->nlinear; e++)
        shift[e] = m->at->lin[g * inner->nlinear + e] - fit_objective_linear(m->at->obj, g, e);
    const struct fit_speckle_sums sums = {scores, inner->nparam, (size_t)inner->intercept, shift, m->at->share,
                                          together ? together : 1};
    fit_speckle_numbers(&m->model, g, &sums, &m->at->given, x->numbers, &m->at->noise[g]);
}

/* Fields of both kinds of sums, and F: derivatives of the efficient ones. 0: the covariance has no inverse. */
static int find_fields(struct making *m, size_t g, struct group *x, double *count)
{
    const struct fit_speckle_private *k = m->k;
    const struct fit_speckle_noise *noise = &m->at->noise[g];
    const size_t n = k->n, nn = n * n, P = k->P;
    double *Ct = x->field;
    struct fit_whitener w;
    *count = fit_speckle_between(&m->blocks, g, noise, x->C, x->root, x->shot);
    memcpy(Ct, x->C, nn * sizeof *Ct);
    for (size_t a = 0; a < n; a++) {
        const double part = (double)fit_speckle_block_frames(&m->blocks, a);
        Ct[a * (n + 1)] += fmax(x->shot[a], LEAST_SHOT * noise->contrast / part);
    }
    const int ok = fit_whitener_new(n, Ct, x->measured, &w);
    for (size_t e = 0; ok && e < P; e++) {
        double *X = x->X + e * nn, *field = x->field + e * nn;
        fit_whiten(&w, X, x->whiten, X);
        fit_whitened_weights(&w, X, x->whiten, field);
        for (size_t i = 0; i < nn; i++)
            field[i] *= *count / 2 * x->cover[i];
        for (size_t f = 0; f <= e; f++)
            x->F[e * P + f] = x->F[f * P + e] = *count / 2 * fit_matrix_dot(nn, X, x->X + f * nn);
    }
    fit_whitener_free(&w);
    return ok;
}

/* Rows k of `from` whose eigenvalue is above `least` times the largest, divided by its root (or that of `floor`);
 * returns how many. */
static size_t roots(size_t n, const double *from, const double *eigenvalue, double least, double floor, double *to)
{
    size_t rank = 0;
    for (size_t k = 0; k < n; k++) {
        if (!(eigenvalue[k] > least * eigenvalue[n - 1]))
            continue;
        for (size_t e = 0; e < n; e++)
            to[rank * n + e] = from[k * n + e] / sqrt(fmax(eigenvalue[k], floor));
        rank++;
    }
    return rank;
}

/* T <- rows of the P sums with independent unit errors: first scaled by F, in which S is well conditioned. Returns
 * how many; the others are not determined. */
static size_t find_rows(size_t P, const struct group *x)
{
    double *V = x->eigen, *first = V + P * P, *w = first + P * P, *d = w + P, *work = d + P;
    for (size_t a = 0; a < P; a++)
        d[a] = x->F[a * (P + 1)] > 0 ? 1 / sqrt(x->F[a * (P + 1)]) : 0;
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < P; b++)
            V[a * P + b] = x->F[a * P + b] * d[a] * d[b];
    if (fit_eigen(P, V, w, work) != 0)
        return 0;
    for (size_t k = 0; k < P * P; k++)
        V[k] *= d[k % P];
    const size_t rank = roots(P, V, w, NULL_EIGENVALUE, 0, first);
    double *St = V, *M = x->T; /* rank x P; rank x rank */
    fit_multiply(rank, P, P, first, x->S, 2 * P, St);
    for (size_t a = 0; a < rank; a++)
        for (size_t b = 0; b < rank; b++) {
            double sum = 0;
            for (size_t e = 0; e < P; e++)
                sum += St[a * P + e] * first[b * P + e];
            M[a * rank + b] = sum;
        }
    if (rank == 0 || fit_eigen(rank, M, w, work) != 0)
        return 0;
    roots(rank, M, w, 0, LEAST_VARIANCE, V);
    fit_multiply(rank, rank, P, V, first, P, x->T);
    return rank;
}

/* Rows of group g: weights of the means between blocks, data, constant. */
static void put_rows(struct making *m, size_t g, const struct group *x, size_t rank, const struct fit_speckle_room *r)
{
    struct fit_speckle_private *k = m->k;
    const size_t n = k->n, P = k->P;
    memcpy(r->lin, m->at->lin, k->ng * k->inner->nlinear * sizeof *r->lin);
    for (size_t row = 0; row < P; row++)
        k->value[g * P + row] = row < rank ? 0 : NAN;
    for (size_t a = 0; a < n; a++) {
        fit_speckle_model_row(k, m->at->obj->ws, r, g, a, 0);
        for (size_t row = 0; row < rank; row++) {
            double *to = k->weight + (g * P + row) * k->each + fit_speckle_row(n, a);
            for (size_t c = a; c < n; c++, to++) {
                for (size_t e = 0; e < P; e++)
                    *to += (a == c ? 1 : 2) * x->T[row * P + e] * x->field[(e * n + a) * n + c];
                k->value[g * P + row] += *to * (r->mean[c - a] + x->mean[a * n + c]);
                k->constant[g * P + row] += *to;
            }
        }
    }
}

static void make_group(void *user, size_t g, size_t thread)
{
    struct making *m = user;
    struct group *x = &m->room[thread];
    const size_t n = m->k->n, P = m->k->P, PP = P * P;
    const struct fit_speckle_room r = fit_speckle_room_of(m->k, m->tables[thread]);
    double count;
    take_sums(m, g, x);
    find_noise(m, g, x);
    if (!find_fields(m, g, x, &count)) {
        atomic_store(&m->bad, 1);
        return;
    }
    const struct fit_speckle_noise *noise = &m->at->noise[g];
    const struct fit_speckle_fields f = {.n = n, .nfield = 2 * P, .C = x->C, .g = x->root, .contrast = noise->contrast,
                                         .shot = x->shot, .field = x->field,
                                         .coarse = fit_speckle_coarse(&m->blocks, noise)};
    fit_speckle_covariance(&f, x->covariance, x->S);
    for (size_t i = 0; i < 4 * PP; i++)
        x->S[i] /= count;
    const size_t rank = find_rows(P, x);
    fit_multiply(rank, P, P, x->T, x->F, P, m->out->slope + g * PP);
    fit_multiply(rank, P, P, x->T, x->S + P, 2 * P, m->out->cross + g * PP);
    for (size_t a = 0; a < P; a++)
        memcpy(m->out->plain + g * PP + a * P, x->S + (P + a) * 2 * P + P, P * sizeof *x->S);
    put_rows(m, g, x, rank, &r);
}

/* Does the mean have terms without linear parameters? */
static int has_rest(struct making *m)
{
    const struct fit_speckle_private *k = m->k;
    const struct fit_speckle_room r = fit_speckle_room_of(k, m->tables[0]);
    memset(r.lin, 0, k->ng * k->inner->nlinear * sizeof *r.lin);
    for (size_t g = 0; g < k->ng; g++)
        for (size_t a = 0; a < k->n; a++)
            for (size_t c = fit_speckle_model_row(k, m->at->obj->ws, &r, g, a, 0); c-- > 0;)
                if (r.mean[c] != 0)
                    return 1;
    return 0;
}

static void find_terms(struct making *m)
{
    struct fit_speckle_private *k = m->k;
    for (size_t q = 0; q < k->inner->nlinear; q++)
        if ((int)q != k->inner->intercept)
            k->term[k->nterm++] = (long)q;
    if (has_rest(m))
        k->term[k->nterm++] = -1;
}

static enum fit_status make_dataset(struct making *m, struct fit_error *err)
{
    struct fit_speckle_private *k = m->k;
    const size_t nrow = k->ng * k->P;
    double *group = NULL, *one = NULL;
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, nrow, &group, &one);
    if (a.failed)
        return fit_no_memory(err, "efficient estimates");
    for (size_t i = 0; i < nrow; i++) {
        group[i] = (double)(i / k->P);
        one[i] = 1;
    }
    const struct fit_dataset_table t = {.nrow = nrow, .naxis = 1, .nsetting = k->inner->nsetting,
                                        .axis = (const double *const[]){group}, .value = k->value, .sigma = one,
                                        .setting = k->layout->setting};
    enum fit_status st = fit_dataset_new_table(&t, &m->out->ds, err);
    if (st == FIT_OK)
        st = fit_dataset_finish(m->out->ds, err);
    if (st != FIT_OK)
        return st;
    for (size_t place = 0; place < m->out->ds->layout.nrow; place++)
        if (m->out->ds->row[place] != FIT_NO_ROW && m->out->ds->row[place] % k->P == 0)
            k->first[m->out->ds->row[place] / k->P] = place;
    m->out->ds->layout.context = k;
    return FIT_OK;
}

static enum fit_status make(struct making *m, struct fit_error *err)
{
    struct fit_speckle_private *k = m->k;
    FIT_SCRATCH(a);
    if (!rooms_new(m, &a))
        return fit_no_memory(err, "efficient estimates");
    m->blocks = (struct fit_speckle_blocks){&m->model, k->n, k->frames};
    find_terms(m);
    fit_team_run((struct fit_team){k->threads, FIT_TEAM_NEXT}, k->ng, make_group, m);
    if (atomic_load(&m->bad))
        return fit_fail(err, FIT_ERR_NUMERIC, "fit: the covariance of the speckles' noise has no inverse");
    fit_speckle_descriptor(m->out);
    return make_dataset(m, err);
}

enum fit_status fit_speckle_kernel_new(const struct fit_speckle_reference *at, struct fit_speckle_kernel **out,
                                       struct fit_error *err)
{
    const struct fit_objective *o = at->obj;
    struct fit_speckle_kernel *made = kernel_new(at);
    *out = NULL;
    if (!made)
        return fit_no_memory(err, "efficient estimates");
    struct making m = {.at = at, .out = made, .k = made->private_,
                       .model = {o->kernel, &o->ds->layout, o->ws, at->lin}};
    enum fit_status st = make(&m, err);
    if (st != FIT_OK)
        fit_speckle_kernel_free(made);
    else
        *out = made;
    return st;
}
