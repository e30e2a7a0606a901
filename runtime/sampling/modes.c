/* modes.c -- posteriors with several modes: their positions and masses.
 *
 * Modes are sought along every parameter that has a coordinate of its own, between its bounds or the quantiles of its
 * prior, with the others as at the mode (linear ones and noise are integrated out, so that they adapt); from the other
 * minima of least squares; and from other ends of the search for the mode. Newton's method starts from each; modes are
 * those more than five standard deviations apart that have a thousandth of the mass of the best by the normal
 * approximation. A flat prior of a linear parameter has no integral: where its term vanishes, a decay faster than the
 * first row, any value will do, and the volume outweighs every misfit. Such a maximum does not count as a mode unless
 * it fits as well.
 *
 * Masses: importance sampling from each mode, all draws weighted as those of the mixture of the proposals (Owen & Zhou,
 * JASA 95 (2000) 135; Veach's balance heuristic), smoothed (psis.h). A region is where the proposal of one mode, times
 * its mass, is largest; its mass is the sum of the weights there.
 *
 * Chains begin in all modes in turn. Where they stay there, the draws of each region are those of the posterior within
 * it, and are combined by the masses: each region contributes its share of the draws, evenly spaced. Convergence
 * diagnostics are then those of the draws as they were sampled, of their ranks within the region.
 */
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/special.h"
#include "posterior/mode.h"
#include "sampler/laplace.h"
#include "sampler/psis.h"

enum { GRID = 160, COARSE = 32, PEAKS = 16, MINIMA = 6, WEIGH_DRAWS = 1000 };
static const double LARGE = 2e5;  /* values of the data from which the grid is coarse */
static const double LEAST = 7;    /* log of the mass that a mode may have less than the best */
static const double WORTH = 40;   /* log density on a line, below that at the mode, that is worth a look */
static const double FAINT = 120;  /* the same on the grid, which peaks may fall between */
static const double AS_GOOD = 20; /* chi2 above the best minimum, or twice a log density above that of the mode */
static const double TAIL = 0.002; /* of a prior, left out of the grid on each side */
static const double APART = 0.5;  /* between chains, of their parts of a region: they do not travel */

/* ---- where they are -------------------------------------------------------------------------------------- */

struct finding {
    struct fit_sampling_run *m;
    const struct fit_result *fit;
    double mass[FIT_MODES];                         /* log_mass of the modes */
    double height;                                  /* fit_posterior_height() at the mode, or -INFINITY: not asked */
    double *q, *scale, *widest, *covariance, *work; /* of a candidate */
};

static enum fit_status room_for(struct finding *w, struct fit_arena *a, struct fit_error *err)
{
    struct fit_samples *s = w->m->s;
    size_t n = w->m->p->n;
    s->modes = fit_take(&s->storage_, FIT_MODES * n, sizeof *s->modes);
    s->mode_covariances = fit_take(&s->storage_, FIT_MODES * n * n, sizeof *s->mode_covariances);
    FIT_TAKE_DOUBLES(a, n, &w->q, &w->scale, &w->widest);
    FIT_TAKE_DOUBLES(a, n * n, &w->covariance);
    FIT_TAKE_DOUBLES(a, 2 * n * n + n, &w->work);
    if (s->storage_.failed || a->failed)
        return fit_no_memory(err, "posterior");
    memcpy(s->modes, s->mode, n * sizeof *s->modes);
    memcpy(s->mode_covariances, s->mode_covariance, n * n * sizeof *s->mode_covariances);
    s->nmode = 1;
    return FIT_OK;
}

/* Is a new mode distinct from the known ones, by their covariances and its own? */
static int is_new(const struct finding *w, const struct fit_mode *mode)
{
    const struct fit_samples *s = w->m->s;
    size_t n = w->m->p->n;
    for (size_t k = 0; k < s->nmode; k++) {
        struct fit_mode known = {.q = s->modes + k * n, .covariance = s->mode_covariances + k * n * n};
        if (fit_mode_far(&known, mode->q, n, w->work) != 1 || fit_mode_far(mode, known.q, n, w->work) != 1)
            return 0;
    }
    return 1;
}

/* Is the likelihood there as high as at the mode? */
static int fits(const struct finding *w, const double *q)
{
    double lp;
    return fit_target_eval(&w->m->p->target, 0, q, &lp, NULL) == FIT_EVAL_OK &&
           !(fit_posterior_height(w->m->p) < w->height - 0.5 * AS_GOOD);
}

/* Newton's method from w->q; a new mode of some mass is kept. */
static enum fit_status follow(struct finding *w, struct fit_error *err)
{
    struct fit_samples *s = w->m->s;
    size_t n = w->m->p->n;
    struct fit_mode mode = {.q = w->q, .covariance = w->covariance};
    struct fit_error why;
    if (s->nmode == FIT_MODES)
        return FIT_OK;
    fit_mode_scales(w->m->p, w->fit, w->q, w->scale, w->widest);
    struct fit_mode_ask ask = {.scale = w->scale, .widest = w->widest, .seed = s->seed};
    enum fit_status st = fit_mode_find(&w->m->p->target, &ask, &mode, &why);
    if (st == FIT_ERR_NUMERIC)
        return FIT_OK;
    if (st != FIT_OK)
        return fit_fail(err, st, "%s", why.message);
    if (!mode.found || mode.weak || !(mode.log_mass > w->mass[0] - LEAST) || !fits(w, mode.q) || !is_new(w, &mode))
        return FIT_OK;
    memcpy(s->modes + s->nmode * n, mode.q, n * sizeof *mode.q);
    memcpy(s->mode_covariances + s->nmode * n * n, mode.covariance, n * n * sizeof *mode.covariance);
    w->mass[s->nmode++] = mode.log_mass;
    return FIT_OK;
}

/* Ends of the grid along coordinate i; 0: it has none. */
static int ends_of(const struct fit_posterior_coordinate *c, double *low, double *high)
{
    if (c->kind != FIT_POSTERIOR_PARAM || c->from[0] || c->from[1])
        return 0;
    *low = c->prior.proper ? fit_prior_quantile(&c->prior, TAIL) : c->prior.lower;
    *high = c->prior.proper ? fit_prior_quantile(&c->prior, 1 - TAIL) : c->prior.upper;
    return isfinite(*low) && isfinite(*high) && *high > *low;
}

/* Log density where coordinate i of w->q is x. */
static double line_density(struct finding *w, size_t i, double x)
{
    double lp;
    w->q[i] = x;
    return fit_target_eval(&w->m->p->target, 0, w->q, &lp, NULL) == FIT_EVAL_OK ? lp : -INFINITY;
}

/* The maximum between low and high, where it is above both: golden section (Kiefer, Proc. AMS 4 (1953) 502). */
static double climb_line(struct finding *w, size_t i, double low, double high)
{
    const double golden = 0.61803398874989484820;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double fa = line_density(w, i, a), fb = line_density(w, i, b);
    for (int k = 0; k < 24; k++)
        if (fa >= fb) {
            high = b, b = a, fb = fa;
            a = high - golden * (high - low);
            fa = line_density(w, i, a);
        } else {
            low = a, a = b, fa = fb;
            b = low + golden * (high - low);
            fb = line_density(w, i, b);
        }
    return 0.5 * (low + high);
}

/* The point of a grid at fraction `part`: half of the points are even in x, for a scale the other half in log x. */
static double grid_point(double low, double high, int scale, double part)
{
    double a = low, b = high;
    if (!scale)
        return low + part * (high - low);
    for (int k = 0; k < 50; k++) {
        double x = 0.5 * (a + b), below = 0.5 * (x - low) / (high - low) + 0.5 * log(x / low) / log(high / low);
        *(below < part ? &a : &b) = x;
    }
    return 0.5 * (a + b);
}

/* Coordinates at[1 ... points] of the grid and the log density there. */
static enum fit_status look_along(struct finding *w, size_t i, size_t points, const double ends[2], double *at,
                                  double *lp, struct fit_error *err)
{
    const struct fit_sampling_run *m = w->m;
    const struct fit_coordinate *map = &m->p->coordinate[i].map;
    const int scale = map->kind == FIT_COORDINATE_LOG_INTERVAL && ends[0] > 0;
    lp[0] = lp[points + 1] = -INFINITY;
    for (size_t k = 1; k <= points; k++) {
        double part = ((double)k - 0.5) / (double)points;
        at[k] = fit_coordinate_of(map, grid_point(ends[0], ends[1], scale, part));
        lp[k] = line_density(w, i, at[k]);
        if (m->opt->interrupt && *m->opt->interrupt)
            return fit_fail(err, FIT_ERR_INTERRUPTED, "stopped while modes of the posterior were looked for");
    }
    return FIT_OK;
}

/* Follows the highest peaks of the density along coordinate i, except that of the mode. */
static enum fit_status along(struct finding *w, size_t i, size_t points, struct fit_error *err)
{
    const struct fit_samples *s = w->m->s;
    double ends[2], lp[GRID + 2], at[GRID + 2], here;
    if (!ends_of(&w->m->p->coordinate[i], &ends[0], &ends[1]))
        return FIT_OK;
    memcpy(w->q, s->mode, w->m->p->n * sizeof *w->q);
    here = line_density(w, i, s->mode[i]);
    enum fit_status st = look_along(w, i, points, ends, at, lp, err);
    for (int peak = 0; peak < PEAKS && st == FIT_OK; peak++) {
        size_t best = 0;
        for (size_t k = 2; k < points; k++) {
            int own = at[k - 1] <= s->mode[i] && s->mode[i] <= at[k + 1];
            if (!own && lp[k] >= lp[k - 1] && lp[k] >= lp[k + 1] && lp[k] > here - FAINT && (!best || lp[k] > lp[best]))
                best = k;
        }
        if (!best)
            break;
        memcpy(w->q, s->mode, w->m->p->n * sizeof *w->q);
        double top = climb_line(w, i, at[best - 1], at[best + 1]);
        lp[best] = -INFINITY;
        if (line_density(w, i, top) > here - WORTH)
            st = follow(w, err);
    }
    return st;
}

/* Sorts the modes, the best first, which is that of the samples. */
static void put_best_first(struct finding *w)
{
    struct fit_samples *s = w->m->s;
    size_t n = w->m->p->n, best = 0;
    for (size_t k = 1; k < s->nmode; k++)
        best = w->mass[k] > w->mass[best] ? k : best;
    if (best == 0 || w->m->resumed)
        return;
    double mass = w->mass[best];
    memcpy(s->mode, s->modes + best * n, n * sizeof *s->mode);
    memcpy(s->mode_covariance, s->mode_covariances + best * n * n, n * n * sizeof *s->mode_covariance);
    memcpy(s->modes + best * n, s->modes, n * sizeof *s->modes);
    memcpy(s->mode_covariances + best * n * n, s->mode_covariances, n * n * sizeof *s->mode_covariances);
    memcpy(s->modes, s->mode, n * sizeof *s->mode);
    memcpy(s->mode_covariances, s->mode_covariance, n * n * sizeof *s->mode_covariance);
    w->mass[best] = w->mass[0];
    w->mass[0] = mass;
}

enum fit_status fit_sampling_find_modes(struct fit_sampling_run *m, const struct fit_result *fit, struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct finding w = {.m = m, .fit = fit};
    size_t n = m->p->n, points = (double)m->p->setup.ds->npoint > LARGE ? COARSE : GRID;
    double lp;
    if (m->s->method == FIT_SAMPLING_CONSENSUS)
        return FIT_OK;
    enum fit_status st = room_for(&w, &a, err);
    if (st == FIT_OK && fit_target_eval(&m->p->target, 0, m->s->mode, &lp, NULL) == FIT_EVAL_OK) {
        struct fit_mode best = {.q = m->s->mode, .covariance = m->s->mode_covariance};
        w.height = fit_posterior_linear_proper(m->p) ? -INFINITY : fit_posterior_height(m->p);
        w.mass[0] = lp + fit_mode_log_root(&best, n, w.work);
        for (size_t k = 1; fit && k < fit->nminimum && k <= MINIMA && st == FIT_OK; k++)
            if (fit->minima[k].above < AS_GOOD && fit_posterior_coordinates(m->p, fit->minima[k].theta, w.q))
                st = follow(&w, err);
        if (st == FIT_OK && m->other && m->nother == n) {
            memcpy(w.q, m->other, n * sizeof *w.q);
            st = follow(&w, err);
        }
        for (size_t i = 0; i < n && st == FIT_OK; i++)
            st = along(&w, i, points, err);
        put_best_first(&w);
    }
    return st;
}

/* ---- masses ------------------------------------------------------------------------------------------ */

struct weighing {
    size_t nmode, nq;        /* modes; points of the pool */
    struct fit_laplace *run; /* nmode */
    double *mass;            /* nmode: log_evidence of the run alone, of which regions are made */
    struct fit_arena storage;
};

static void end_weighing(struct weighing *w)
{
    for (size_t k = 0; w->run && k < w->nmode; k++)
        fit_laplace_free(&w->run[k]);
    fit_arena_free(&w->storage);
}

/* location, scale <- mean and covariance of the draws of the chains that began in mode k, a better proposal than
 * mode and curvature; 0: there are none. */
static int moments_of(const struct fit_samples *s, size_t k, double *location, double *scale)
{
    size_t n = s->ncoordinate;
    double count = 0;
    if (s->method != FIT_SAMPLING_NUTS || k >= s->chains)
        return 0;
    memset(location, 0, n * sizeof *location);
    memset(scale, 0, n * n * sizeof *scale);
    for (int pass = 0; pass < 2; pass++)
        for (size_t c = k; c < s->chains; c += s->nmode)
            for (size_t i = 0; i < s->draws; i++) {
                const double *q = s->q + (c * s->draws + i) * n;
                count += pass == 0;
                for (size_t a = 0; a < n; a++) {
                    location[a] += pass == 0 ? q[a] : 0;
                    for (size_t b = 0; b < n && pass; b++)
                        scale[a * n + b] += (q[a] - location[a] / count) * (q[b] - location[b] / count) / (count - 1);
                }
            }
    for (size_t a = 0; a < n; a++)
        location[a] /= count;
    return 1;
}

/* Importance sampling from mode k: with the moments of its draws if there are any, otherwise by its curvature. */
static enum fit_status run_one(struct fit_sampling_run *m, size_t k, const struct fit_laplace_options *o, double *room,
                               struct fit_laplace *run, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    size_t n = m->p->n;
    enum fit_status st = FIT_ERR_NUMERIC;
    if (moments_of(s, k, room, room + n))
        st = fit_laplace_run(&m->p->target, room, room + n, o, run, err);
    if (st == FIT_ERR_NUMERIC)
        st = fit_laplace_run(&m->p->target, s->modes + k * n, s->mode_covariances + k * n * n, o, run, err);
    return st;
}

/* Importance sampling from every mode. */
static enum fit_status run_all(struct fit_sampling_run *m, size_t draws, double deadline, struct weighing *w,
                               struct fit_error *err)
{
    struct fit_samples *s = m->s;
    size_t n = m->p->n;
    *w = (struct weighing){.nmode = s->nmode, .nq = s->nmode * draws};
    w->run = fit_take(&w->storage, s->nmode, sizeof *w->run);
    w->mass = fit_take(&w->storage, s->nmode, sizeof *w->mass);
    double *room = fit_take(&w->storage, n + n * n, sizeof *room);
    enum fit_status st = w->storage.failed ? fit_no_memory(err, "posterior") : FIT_OK;
    for (size_t k = 0; k < s->nmode && st == FIT_OK; k++) {
        struct fit_laplace_options o = {
            .seed = s->seed + k, .draws = draws, .threads = m->side_by_side ? s->threads : 1, .deadline = deadline};
        st = run_one(m, k, &o, room, &w->run[k], err);
        w->mass[k] = w->run[k].log_evidence;
        s->gradients += (double)w->run[k].evaluations;
    }
    return st;
}

/* region[nq] <- the mode to whose proposal, times its mass, a point most probably belongs; log_mixture[nq] (may be
 * NULL)
 * <- log density of the mixture of the proposals. */
static enum fit_status regions_of(const struct weighing *w, size_t nq, const double *q, unsigned char *region,
                                  double *log_mixture, struct fit_error *err)
{
    FIT_OWNED double *density = malloc((nq * w->nmode + 1) * sizeof *density);
    enum fit_status st = density ? FIT_OK : fit_no_memory(err, "posterior");
    for (size_t k = 0; k < w->nmode && st == FIT_OK; k++)
        st = fit_laplace_density(&w->run[k], nq, q, density + k * nq, err);
    for (size_t i = 0; i < nq && st == FIT_OK; i++) {
        double top = -INFINITY, sum = 0, best = -INFINITY;
        for (size_t k = 0; k < w->nmode; k++)
            top = fmax(top, density[k * nq + i]);
        for (size_t k = 0; k < w->nmode; k++) {
            sum += exp(density[k * nq + i] - top) / (double)w->nmode;
            if (density[k * nq + i] + w->mass[k] > best) {
                best = density[k * nq + i] + w->mass[k];
                region[i] = (unsigned char)k;
            }
        }
        if (log_mixture)
            log_mixture[i] = top + log(sum);
    }
    return st;
}

/* Combines all draws of all runs: q, lp, log_weight of `all`, and its k, ess, log_evidence; s->mode_part. */
static enum fit_status pool(struct fit_samples *s, const struct weighing *w, struct fit_laplace *all,
                            struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = w->run[0].n, draws = w->run[0].draws;
    *all = (struct fit_laplace){.n = n, .draws = w->nq};
    FIT_TAKE_DOUBLES(&all->storage_, w->nq * n, &all->q);
    FIT_TAKE_DOUBLES(&all->storage_, w->nq, &all->lp, &all->log_weight);
    double *work = fit_take(&a, w->nq, sizeof *work);
    size_t *index = fit_take(&a, w->nq, sizeof *index);
    unsigned char *region = fit_take(&a, w->nq, 1);
    enum fit_status st = a.failed || all->storage_.failed ? fit_no_memory(err, "posterior") : FIT_OK;
    if (st == FIT_OK) {
        for (size_t k = 0; k < w->nmode; k++) {
            memcpy(all->q + k * draws * n, w->run[k].q, draws * n * sizeof *all->q);
            memcpy(all->lp + k * draws, w->run[k].lp, draws * sizeof *all->lp);
        }
        st = regions_of(w, w->nq, all->q, region, all->log_weight, err);
    }
    if (st == FIT_OK) {
        double top = -INFINITY, sum = 0;
        for (size_t i = 0; i < w->nq; i++) {
            all->log_weight[i] = all->lp[i] - all->log_weight[i];
            top = fmax(top, all->log_weight[i]);
        }
        for (size_t i = 0; i < w->nq; i++)
            sum += exp(all->log_weight[i] - top);
        all->log_evidence = top + log(sum / (double)w->nq);
        all->k = fit_psis_smooth(w->nq, all->log_weight, work, index);
        all->ess = fit_importance_ess(w->nq, all->log_weight);
        memset(s->mode_part, 0, sizeof s->mode_part);
        for (size_t i = 0; i < w->nq; i++)
            s->mode_part[region[i]] += exp(all->log_weight[i]);
    }
    return st;
}

/* "w 1.1 (31 %), 5.18 (25 %)": by the parameter in which the modes differ most, in units of their sizes. */
static void name_modes(struct fit_samples *s, const struct fit_posterior *p)
{
    const struct fit_kernel *k = p->setup.kernel;
    double *theta = malloc((s->nmode * k->nparam + 1) * sizeof *theta), most = -1;
    size_t by = 0, at = 0;
    for (size_t j = 0; theta && j < s->nmode; j++)
        if (!fit_posterior_theta(p, s->modes + j * s->ncoordinate, theta + j * k->nparam))
            memset(theta + j * k->nparam, 0, k->nparam * sizeof *theta);
    for (size_t i = 0; theta && i < k->nparam; i++) {
        double low = INFINITY, high = -INFINITY, size = 0;
        for (size_t j = 0; j < s->nmode; j++) {
            low = fmin(low, theta[j * k->nparam + i]);
            high = fmax(high, theta[j * k->nparam + i]);
            size += fabs(theta[j * k->nparam + i]);
        }
        if (size > 0 && (high - low) / size > most) {
            most = (high - low) / size;
            by = i;
        }
    }
    s->modes_text[0] = 0;
    for (size_t j = 0; theta && j < s->nmode && at < sizeof s->modes_text; j++)
        at += (size_t)snprintf(s->modes_text + at, sizeof s->modes_text - at, "%s%s%.4g (%.2g %%)",
                               j ? ", " : k->param[by].name, j ? "" : " ", theta[j * k->nparam + by],
                               100 * s->mode_part[j]);
    free(theta);
}

enum fit_status fit_sampling_laplace_modes(struct fit_sampling_run *m, struct fit_error *err)
{
    struct weighing w;
    struct fit_laplace all = {0};
    enum fit_status st = run_all(m, m->s->draws, fit_sampling_deadline(m), &w, err);
    if (st == FIT_OK)
        st = pool(m->s, &w, &all, err);
    if (st == FIT_OK)
        st = fit_samples_resample(m->s, &all, err);
    if (st == FIT_OK)
        name_modes(m->s, m->p);
    fit_laplace_free(&all);
    end_weighing(&w);
    return st;
}

/* ---- combination of the draws of chains -------------------------------------------------------------- */

/* 1: a chain has a far larger share of a region than another. */
static int are_apart(const struct fit_samples *s, const unsigned char *region)
{
    for (size_t k = 0; k < s->nmode; k++) {
        double least = 1, most = 0;
        for (size_t c = 0; c < s->chains; c++) {
            double n = 0;
            for (size_t i = 0; i < s->draws; i++)
                n += region[c * s->draws + i] == k;
            least = fmin(least, n / (double)s->draws);
            most = fmax(most, n / (double)s->draws);
        }
        if (most - least > APART)
            return 1;
    }
    return 0;
}

/* score[n] <- normal scores of the ranks that draws of a column have in their region. */
static void scores_of(const struct fit_samples *s, const unsigned char *region, size_t col, size_t *index,
                      double *score)
{
    size_t n = s->chains * s->draws;
    double count[FIT_MODES] = {0}, below[FIT_MODES] = {0};
    for (size_t i = 0; i < n; i++) {
        score[i] = s->x[i * s->ncolumn + col];
        count[region[i]]++;
    }
    fit_sort_index(n, score, index);
    for (size_t i = 0; i < n; i++) {
        size_t k = region[index[i]];
        score[index[i]] = fit_normal_quantile((below[k]++ + 0.5) / count[k]);
    }
}

/* s->within: convergence of the ranks of every column within the regions. */
static enum fit_status converge_within(struct fit_samples *s, const unsigned char *region, struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = s->chains * s->draws, *index = fit_take(&a, n, sizeof *index);
    double *score = fit_take(&a, n, sizeof *score);
    const double **chain = fit_take(&a, s->chains, sizeof *chain);
    s->within = fit_take(&s->storage_, s->ncolumn, sizeof *s->within);
    enum fit_status st = !a.failed && s->within ? FIT_OK : fit_no_memory(err, "posterior");
    for (size_t c = 0; c < s->chains && st == FIT_OK; c++)
        chain[c] = score + c * s->draws;
    for (size_t col = 0; col < s->ncolumn && st == FIT_OK; col++) {
        scores_of(s, region, col, index, score);
        st = fit_convergence(&(struct fit_draws){s->chains, s->draws, chain, 1}, &s->within[col], err);
    }
    return st;
}

/* from[n] <- the draw at each position: from every region its share, evenly spaced, in turn. sorted: n. */
static void choose(const struct fit_samples *s, const unsigned char *region, size_t n, size_t *from, size_t *sorted)
{
    double part[FIT_MODES], given[FIT_MODES] = {0}, total = 0;
    size_t first[FIT_MODES + 1] = {0}, at = 0;
    for (size_t k = 0; k < s->nmode; k++) {
        for (size_t i = 0; i < n; i++)
            if (region[i] == k)
                sorted[at++] = i;
        first[k + 1] = at;
        total += at > first[k] ? s->mode_part[k] : 0;
    }
    for (size_t k = 0; k < s->nmode; k++)
        part[k] = first[k + 1] > first[k] ? s->mode_part[k] / total : 0;
    for (size_t i = 0; i < n; i++) {
        size_t due = 0;
        for (size_t k = 1; k < s->nmode; k++) /* the one that is farthest behind */
            due = part[k] * (double)(i + 1) - given[k] > part[due] * (double)(i + 1) - given[due] ? k : due;
        double count = (double)(first[due + 1] - first[due]);
        double rank = (given[due] + 0.5) / fmax(part[due] * (double)n, 1) * count;
        given[due]++;
        from[i] = sorted[first[due] + (size_t)fmin(rank, count - 1)];
    }
}

/* Rows of `width` bytes into the order `from`. */
static int reorder(void *rows, size_t n, size_t width, const size_t *from)
{
    FIT_OWNED unsigned char *copy = malloc(n * width + 1);
    if (!copy)
        return 0;
    memcpy(copy, rows, n * width);
    for (size_t i = 0; i < n; i++)
        memcpy((unsigned char *)rows + i * width, copy + from[i] * width, width);
    return 1;
}

static enum fit_status put_together(struct fit_samples *s, const unsigned char *region, struct fit_error *err)
{
    size_t n = s->chains * s->draws, *from = malloc((2 * n + 1) * sizeof *from);
    int room = from != NULL;
    if (room)
        choose(s, region, n, from, from + n);
    room = room && reorder(s->x, n, s->ncolumn * sizeof *s->x, from);
    room = room && reorder(s->q, n, s->ncoordinate * sizeof *s->q, from);
    room = room && reorder(s->lp, n, sizeof *s->lp, from);
    room = room && reorder(s->stats, n, sizeof *s->stats, from);
    free(from);
    return room ? FIT_OK : fit_no_memory(err, "posterior");
}

/* Masses, regions of the draws, and draws in their proportion where chains stay apart. */
static enum fit_status weigh(struct fit_sampling_run *m, const struct weighing *w, unsigned char *region,
                             struct fit_error *err)
{
    struct fit_samples *s = m->s;
    struct fit_laplace all;
    size_t n = s->chains * s->draws;
    enum fit_status st = pool(s, w, &all, err);
    s->mode_k = st == FIT_OK ? all.k : NAN;
    fit_laplace_free(&all);
    if (st == FIT_OK)
        st = regions_of(w, n, s->q, region, NULL, err);
    if (st != FIT_OK)
        return st;
    s->mode_missed = 0;
    for (size_t k = 0; k < s->nmode; k++)
        s->mode_missed += memchr(region, (int)k, n) ? 0 : s->mode_part[k];
    name_modes(s, m->p);
    s->modes_apart = are_apart(s, region);
    if (!s->modes_apart)
        return FIT_OK;
    for (size_t k = 0; k < s->chains; k++)
        fit_chain_health(s->stats + k * s->draws, s->draws, s->max_depth, &s->health[k]);
    st = converge_within(s, region, err);
    return st == FIT_OK ? put_together(s, region, err) : st;
}

enum fit_status fit_samples_weigh(struct fit_sampling_run *m, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    struct weighing w = {0};
    if (s->method != FIT_SAMPLING_NUTS || s->nmode < 2)
        return FIT_OK;
    FIT_OWNED unsigned char *region = malloc(s->chains * s->draws + 1);
    enum fit_status st = region ? run_all(m, WEIGH_DRAWS, 0, &w, err) : fit_no_memory(err, "posterior");
    if (st == FIT_OK)
        st = weigh(m, &w, region, err);
    end_weighing(&w);
    return st;
}
