/* test_scores.c -- scores and tests of residuals of pairs against plain sums over the values, one by one: frames left
 * out, values that do not count, weights, tiles cut by the diagonal and by the edge, several groups, losses; and the
 * same bits for any number of threads. */
#include "errors/scores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "mock_kernels.h"

enum { NTIME = 230, GROUPS = 3, P = 4, MOST = NTIME * (NTIME - 1) / 2 * GROUPS };

static const double theta[] = {0.7, 1.9};

/* A value that counts. */
struct value {
    size_t i, j, g;
    double r, v, w, jac[P];
};

struct made {
    struct fit_dataset *ds;
    struct fit_objective *o;
    double *matrix[GROUPS], *sigma;
    struct value *value;
    size_t n;
    struct value **at; /* GROUPS x nframe x nframe, NULL: does not count */
};

/* Data with gaps between frames and holes; step 2 between some frames. */
static void make_data(struct made *m, int weights)
{
    double time[NTIME], coord[GROUPS];
    const double *coords[] = {coord};
    uint32_t frame[NTIME], nframe = 0;
    uint64_t state = 11;
    struct fit_error err = {0};
    for (uint32_t t = 0; t < NTIME; t++) {
        time[t] = 0.05 * t;
        if (t != 7 && t != 100 && t != 101 && t != 102 && !(t > 150 && t < 190 && t % 2))
            frame[nframe++] = t;
    }
    for (size_t g = 0; g < GROUPS; g++)
        coord[g] = 1 + 0.5 * (double)g;
    struct fit_dataset_pairs spec = {.ntime = NTIME, .time = time, .step = 0.05, .nframe = nframe, .frame = frame,
                                     .ngroup = GROUPS, .naxis = 1, .coord = coords, .table_doubles = 2};
    assert_int_equal(fit_dataset_new_pairs(&spec, &m->ds, &err), FIT_OK);
    m->sigma = malloc(NTIME * NTIME * sizeof *m->sigma);
    for (size_t g = 0; g < GROUPS; g++) {
        m->matrix[g] = malloc(NTIME * NTIME * sizeof **m->matrix);
        for (size_t i = 0; i < NTIME; i++)
            for (size_t j = 0; j < NTIME; j++) {
                const double s = time[j] - time[i];
                double *y = &m->matrix[g][i * NTIME + j];
                m->sigma[i * NTIME + j] = 0.01 * (1 + 0.3 * (double)((i * 7 + j * 3) % 5));
                *y = 1 + 0.02 * (double)g + 0.3 * exp(-0.72 * s) * cos(1.88 * coord[g] * s) + 0.01 * mock_noise(&state);
                *y += mock_noise(&state) > 2.5 ? 0.08 : 0;
                if ((i * 31 + j * 17 + g * 5) % 23 == 0 || (i > 60 && i < 64 && j < 120))
                    *y = NAN;
            }
        assert_int_equal(fit_dataset_put(m->ds, g, m->matrix[g], weights ? m->sigma : NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(m->ds, &err), FIT_OK);
}

static double loss_weight(enum fit_loss loss, double f, double v, double r)
{
    return v * (loss == FIT_LOSS_LINEAR ? 1 : 1 / sqrt(1 + v * r * r / (f * f)));
}

/* Every value by the formula of the model. */
static void list_values(struct made *m, int weights, const struct fit_score_loss *loss)
{
    const struct fit_layout *l = &m->ds->layout;
    m->value = malloc(MOST * sizeof *m->value);
    m->at = calloc(GROUPS * l->nframe * l->nframe, sizeof *m->at);
    m->n = 0;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < l->nframe; i++)
            for (size_t j = i + 1; j < l->nframe; j++) {
                struct value *x = &m->value[m->n];
                const size_t at = l->frame[i] * (size_t)NTIME + l->frame[j];
                double b[2], rest, db[4], *lin = m->o->lin + 2 * g, y = m->matrix[g][at];
                if (isnan(y))
                    continue;
                fringe_eval(l, theta, i, j, g, b, &rest, db, NULL);
                *x = (struct value){.i = i, .j = j, .g = g, .r = y - lin[0] * b[0] - lin[1] * b[1]};
                x->v = (weights ? pow(m->sigma[at], -2) : 1) * fit_score_factor(m->o, g);
                x->w = loss_weight(loss->loss, loss->f_scale, x->v, x->r);
                x->jac[0] = lin[0] * db[0];
                x->jac[1] = lin[0] * db[1];
                x->jac[2] = b[0];
                x->jac[3] = b[1];
                m->at[(g * l->nframe + i) * l->nframe + j] = x;
                m->n++;
            }
}

static void made_free(struct made *m)
{
    fit_objective_free(m->o);
    fit_dataset_free(m->ds);
    for (size_t g = 0; g < GROUPS; g++)
        free(m->matrix[g]);
    free(m->sigma);
    free(m->value);
    free(m->at);
}

static const struct value *at(const struct made *m, size_t g, size_t i, size_t j)
{
    const size_t n = m->ds->layout.nframe;
    return i < j && j < n ? m->at[(g * n + i) * n + j] : NULL;
}

static double z_of(const struct value *x)
{
    return sqrt(x->v) * x->r;
}

static void close_to(double a, double b, double scale)
{
    if (!(fabs(a - b) <= 1e-11 * (fabs(b) + scale)))
        fail_msg("%.17g where plain sums give %.17g", a, b);
}

/* ---- sums over blocks and over the first frame ----------------------------------------------------------- */

static void check_blocks(const struct made *m, const struct fit_scores *s)
{
    const size_t blocks = s->nblock * (s->nblock + 1) / 2, first = fit_scores_first(s);
    double *sum = calloc(GROUPS * blocks * (2 * P + 1) + GROUPS * first, sizeof *sum);
    double *field = sum + GROUPS * blocks * P, *one = field + GROUPS * blocks * (P + 1), scale[2 * P + 1] = {0};
    assert_int_equal(s->length, 2);
    for (size_t k = 0; k < m->n; k++) {
        const struct value *x = &m->value[k];
        const size_t block = (size_t)(fit_scores_at(s, x->g, x->i / s->length, x->j / s->length) - s->sum) / P;
        for (size_t c = 0; c < P; c++) {
            sum[block * P + c] += x->w * x->r * x->jac[c];
            field[block * (P + 1) + c] += x->v * x->jac[c];
            scale[c] = fmax(scale[c], fabs(x->w * x->r * x->jac[c]));
            scale[P + c] = fmax(scale[P + c], fabs(x->v * x->jac[c]));
            if (x->i)
                continue;
            one[x->g * first + c] += x->w * x->r * x->jac[c];
            for (size_t d = 0; d < P; d++)
                one[x->g * first + P + c * P + d] += x->w * x->jac[c] * x->jac[d];
        }
        field[block * (P + 1) + P] += x->v * x->r;
        scale[2 * P] = fmax(scale[2 * P], fabs(x->v * x->r));
    }
    for (size_t k = 0; k < GROUPS * blocks * P; k++)
        close_to(s->sum[k], sum[k], scale[k % P]);
    for (size_t k = 0; k < GROUPS * blocks * (P + 1); k++)
        close_to(s->field[k], field[k], scale[P + k % (P + 1)]);
    for (size_t k = 0; k < GROUPS * first; k++)
        close_to(s->first[k], one[k], 1);
    free(sum);
}

/* ---- tests of the residuals ------------------------------------------------------------------------------ */

struct plain {
    double n, z2, z4, sum[3], number[3], decile[10], ndecile[10];
};

static void add_pair(struct plain *p, size_t k, const struct value *x, const struct value *other)
{
    p->sum[k] += other ? z_of(x) * z_of(other) : 0;
    p->number[k] += other != NULL;
}

static struct plain plain_sums(const struct made *m, size_t g)
{
    const size_t n = m->ds->layout.nframe;
    struct plain p = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const struct value *x = at(m, g, i, j);
            if (!x)
                continue;
            const double z = z_of(x);
            p.n += 1;
            p.z2 += z * z;
            p.z4 += z * z * z * z;
            p.decile[(j - i - 1) * 10 / n] += z * z;
            p.ndecile[(j - i - 1) * 10 / n] += 1;
            add_pair(&p, FIT_ALONG_LAG, x, at(m, g, i, j - 1));
            add_pair(&p, FIT_ALONG_AGE, x, i ? at(m, g, i - 1, j - 1) : NULL);
            for (size_t k = i + 1; k < n; k++)
                if (k != j)
                    add_pair(&p, FIT_SHARING, x, at(m, g, i, k));
        }
    return p;
}

static void check_residuals(const struct made *m, const struct fit_scores *s)
{
    for (size_t g = 0; g < GROUPS; g++) {
        const struct plain p = plain_sums(m, g);
        const struct fit_residual_test *t = &s->test[g];
        const double v = p.z2 / p.n, found[] = {t->along_lag, t->along_age, t->sharing};
        close_to(t->kurtosis, p.z4 / p.n / (v * v), 0);
        for (size_t k = 0; k < 3; k++)
            close_to(found[k], p.sum[k] / p.number[k] / v, 1);
        for (size_t k = 0; k < 10; k++)
            close_to(t->decile[k], p.decile[k] / p.ndecile[k] / v, 0);
    }
}

/* Differences of order p along the age inside of tiles, in reach + 1 successive rows of equal steps. */
static void differences(const struct made *m, size_t g, size_t reach, double n_out[1], double square[3])
{
    static const double c[3][5] = {{0, 1, -2, 1, 0}, {-1, 3, -3, 1, 0}, {1, -4, 6, -4, 1}}, norm[3] = {6, 20, 70};
    const struct fit_layout *l = &m->ds->layout;
    const double limit = 25 * m->o->ssr[g] / (double)m->ds->npoint_group[g];
    const size_t shift = reach == 2; /* the order 2 of three values begins with its first coefficient */
    for (size_t k = 0; k < m->ds->ntile; k++) {
        const struct fit_tile *t = &m->ds->tile[k];
        for (size_t i = t->i0; i + reach < t->i1; i++)
            for (size_t j = t->j0; j + reach < t->j1; j++) {
                const uint32_t step = l->frame[i + 1] - l->frame[i];
                double d[3] = {0};
                int there = j > i + reach;
                for (size_t e = 0; there && e <= reach; e++) {
                    const struct value *x = at(m, g, i + e, j + e);
                    there = x && (e == reach || (l->frame[i + e + 1] - l->frame[i + e] == step &&
                                                 l->frame[j + e + 1] - l->frame[j + e] == step));
                    for (size_t p = 0; x && p < 3; p++)
                        d[p] += e + shift < 5 ? c[p][e + shift] * z_of(x) : 0;
                }
                const size_t order = reach == 2 ? 0 : 2;
                if (!there || d[order] * d[order] / norm[order] > limit)
                    continue;
                *n_out += 1;
                for (size_t p = 0; p < 3; p++)
                    square[p] += d[p] * d[p] / norm[p];
            }
    }
}

static void check_differences(const struct made *m, const struct fit_scores *s)
{
    for (size_t g = 0; g < GROUPS; g++) {
        double n = 0, square[3] = {0}, nshort = 0, all[3] = {0};
        const struct fit_noise_sums *found = &s->test[g].neighbours;
        differences(m, g, 4, &n, square);
        differences(m, g, 2, &nshort, all);
        assert_true(n > 100 && nshort > n);
        close_to(found->n, n, 0);
        close_to(found->nshort, nshort, 0);
        close_to(found->short_square, all[0], 0);
        for (size_t p = 0; p < 3; p++)
            close_to(found->square[p], square[p], 0);
    }
}

/* The same test with bins that are filled one by one. */
static void check_misfit(const struct made *m, const struct fit_scores *s, const double *D)
{
    struct fit_misfit_bins b;
    struct fit_error err = {0};
    struct fit_misfit told;
    FIT_SCRATCH(a);
    assert_int_equal(fit_misfit_bins_new(&m->ds->layout, P, &b, &a, &err), FIT_OK);
    double *sum = calloc(fit_misfit_numbers(&b), sizeof *sum);
    for (size_t k = 0; k < m->n; k++) {
        const struct value *x = &m->value[k];
        double *bin = sum + fit_misfit_at(&b, m->ds->layout.frame, x->g, x->i, x->j);
        bin[0] += 1;
        bin[1] += z_of(x);
        bin[2] += z_of(x) * z_of(x);
        for (size_t c = 0; c < P; c++)
            bin[3 + c] += sqrt(x->v) * x->jac[c];
    }
    struct fit_misfit_spec spec = {.obj = m->o, .bins = &b, .sum = sum, .D = D};
    double of[3] = {0};
    for (size_t g = 0; g < GROUPS; g++) {
        const struct plain p = plain_sums(m, g);
        for (size_t k = 0; k < 3; k++) {
            of[k] += p.sum[k] / (p.z2 / p.n);
            spec.products[k] += p.number[k];
        }
    }
    for (size_t k = 0; k < 3; k++)
        spec.rho[k] = of[k] / spec.products[k];
    assert_int_equal(fit_misfit_find(&spec, &told, &err), FIT_OK);
    close_to(s->misfit.z, told.z, 0);
    close_to(s->misfit.mean, told.mean, 0);
    close_to(s->misfit.rho_z, told.rho_z, 1);
    assert_true(s->misfit.tests == told.tests && s->misfit.group == told.group && told.tests > 100);
    assert_true(fabs(s->misfit.p - told.p) <= 1e-8 * told.p);
    free(sum);
}

static struct fit_scores scores_of(struct made *m, int threads, int fields, const struct fit_score_loss *loss,
                                   const double *D)
{
    struct fit_objective_setup setup = {.threads = threads};
    struct fit_scores s;
    struct fit_error err = {0};
    double B[4], g[2];
    fit_objective_free(m->o);
    assert_int_equal(fit_objective_new(&fringe, m->ds, &setup, &m->o, &err), FIT_OK);
    assert_int_equal(fit_objective_value(m->o, theta), FIT_EVAL_OK);
    assert_int_equal(fit_objective_normal(m->o, theta, B, g), FIT_EVAL_OK);
    assert_int_equal(fit_scores_new(m->o, loss, D, fields, &s, &err), FIT_OK);
    return s;
}

static void check(int weights, enum fit_loss loss)
{
    const struct fit_score_loss how = {.loss = loss, .f_scale = weights ? 1.5 : 0.02};
    struct made m = {0};
    double D[64] = {0};
    make_data(&m, weights);
    for (size_t k = 0; k < 8; k++)
        D[k * 9] = weights ? 1e-10 : 1e-6;
    struct fit_scores s = scores_of(&m, 1, 1, &how, D);
    assert_int_equal(m.o->nparam + m.o->nu, 8);
    list_values(&m, weights, &how);
    assert_int_equal(m.n, m.ds->npoint);
    assert_true(m.ds->ntile > 8 && m.ds->layout.nframe % 8 != 0);
    check_blocks(&m, &s);
    check_residuals(&m, &s);
    check_differences(&m, &s);
    check_misfit(&m, &s, D);
    struct fit_scores other = scores_of(&m, 3, 1, &how, D), less = scores_of(&m, 2, 0, &how, D);
    assert_memory_equal(s.sum, other.sum, GROUPS * s.nblock * (s.nblock + 1) / 2 * P * sizeof *s.sum);
    assert_memory_equal(s.field, other.field, GROUPS * s.nblock * (s.nblock + 1) / 2 * (P + 1) * sizeof *s.field);
    assert_memory_equal(s.moments, other.moments, GROUPS * sizeof *s.moments);
    assert_memory_equal(s.test, other.test, GROUPS * sizeof *s.test);
    assert_true(fabs(s.misfit.z - other.misfit.z) <= 0 && fabs(s.misfit.p - other.misfit.p) <= 0);
    assert_memory_equal(s.sum, less.sum, GROUPS * s.nblock * (s.nblock + 1) / 2 * P * sizeof *s.sum);
    assert_memory_equal(s.test, less.test, GROUPS * sizeof *s.test);
    assert_true(!less.field && !less.moments);
    fit_scores_free(&s);
    fit_scores_free(&less);
    fit_scores_free(&other);
    made_free(&m);
}

static void test_values_without_errors(void **state)
{
    (void)state;
    check(0, FIT_LOSS_LINEAR);
}

static void test_values_with_errors(void **state)
{
    (void)state;
    check(1, FIT_LOSS_LINEAR);
}

static void test_a_robust_loss(void **state)
{
    (void)state;
    check(0, FIT_LOSS_SOFT_L1);
    check(1, FIT_LOSS_SOFT_L1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_without_errors),
        cmocka_unit_test(test_values_with_errors),
        cmocka_unit_test(test_a_robust_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
