/* profile.c -- compares the errors of a fit with the cost itself; see profile.h. */
#include "errors/profile.h"
#include "errors/axis.h"
#include "errors/likelihood.h"
#include "errors/sandwich.h"
#include "errors/survey.h"
#include "leastsquares/crew.h"
#include "math/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 2, CLOSE = 0.2; /* standard errors */
static const double MUCH_ROWS = 4; /* of tables, for which reporting the curvature's error is customary */
static const double FLAT = 0.5; /* a standard error of this fraction of the box: effectively not determined */
static const double AS_EXPECTED[2] = {3.3, 4.9}; /* of 4: the paraboloid's interval holds */
static const double LINEAR_EXPECTED[2] = {2.8, 5.6}; /* the same for linear parameters, which are never too large */
static const double HOPELESS = 5; /* times as much as expected: the valley is to be followed step by step */
static const double NOT_FAR = 2, LOOK_GTOL = 0.1; /* factor of 4; standard errors */
static const double LINEAR_GTOL = 0.3; /* the same for linear parameters: of their rise is taken what may still fall */
static const double AGREES = 0.1; /* of a rise: so near must the sketch be to the data, not to ask them again */
/* For another minimum: chi2 above the least, in units of the noise, and distance in standard errors, within which
 * these do not represent the other possibility. (An error is trusted for some of its multiples.) */
static const double RIVAL = 9, APART = 3;
static const double VISIBLE = 1e-2; /* rounding of the cost, in units of the noise, beyond which it is uninformative */
/* A linear parameter less than this fraction of whose variance comes from the others: with these held the cost is
 * quadratic.
 */
static const double OWED = 0.3;
static const double NOTHING = 3; /* standard errors: a linear parameter that may be 0 */
enum { PASSES = 600 }; /* so many passes, then no more intervals of what has no error anyway */

/* A crew member's access to the cost. */
struct eye {
    struct fit_sketch *cheap, *data; /* what is asked first: the sketch, or the data; these */
    double *theta, *led, *lower, *upper, *matrix; /* work space of rise_along(); the bounds */
    struct fit_evidence evidence;    /* what is known, and what the member meets */
};

struct profile {
    struct fit_ls *f;
    double variance, cost, limit; /* limit: of the root of the rise at the ends of 95 % */
    unsigned char *looked, *want; /* nfull: 1: its interval was looked for; is to be */
    double *scale;            /* nfull: of the rise of the sketch; 0: it is of no use */
    double *worst;            /* nfull: the rise farthest from what is expected, but not far */
    struct fit_likelihood *l; /* nfull */
    struct fit_crew crew;
    struct eye *eye;          /* of each member */
    int ask_data;             /* 1: the sketch is not asked, it leads the way only */
    struct fit_arena storage;
};

static double value_of(const struct fit_result *r, size_t e)
{
    return e < r->nparam ? r->theta[e] : r->lin[e - r->nparam];
}

static int is_free(const struct fit_result *r, size_t e)
{
    return r->upper[e] > r->lower[e];
}

/* Effect of shared noise on the standard error of e. Rises of chi2 are divided by its square: profiles of a
 * composite likelihood (Rotnitzky & Jewell, Biometrika 77 (1990) 485; Varin, Reid & Firth, Stat. Sinica 21 (2011) 5,
 * section 2.4). */
static double wider(const struct profile *p, size_t e)
{
    return p->f->res->interval[e].wider;
}

/* Evaluates the data from where the sketch leads, unless that is worse than theta, at `cost`. */
static void lead(const struct eye *eye, size_t p, double cost, struct fit_sketch_spec *spec)
{
    struct fit_sketch_spec cheap = *spec;
    double least, gradient;
    cheap.gtol = LOOK_GTOL;
    cheap.high = INFINITY;
    cheap.matrix = eye->matrix;
    memcpy(eye->led, eye->theta, p * sizeof *eye->led);
    fit_sketch_minimise(eye->cheap, &cheap, eye->led, &least, &gradient);
    if (isnan(least) || !(fit_sketch_value(eye->data, eye->led, spec->u, spec->value) < cost))
        return;
    memcpy(eye->theta, eye->led, p * sizeof *eye->led);
    spec->near = eye->matrix;
}

/* chi2 above the best, in units of the noise, `far` standard errors of e away along the axis of the quadratic
 * approximation, for `from`; where it exceeds `enough` the others are fitted. NaN: beyond a bound. */
static double rise_along(const struct profile *p, size_t m, struct fit_sketch *from, size_t e, double far,
                         double enough)
{
    struct fit_ls *f = &p->crew.member[m];
    const struct eye *eye = &p->eye[m];
    const struct fit_result *r = f->res;
    const double w = wider(p, e), variance = p->variance * w * w;
    double v = value_of(r, e) + far * w * r->std[e];
    if (v <= r->lower[e] || v >= r->upper[e])
        return NAN;
    long u = e < f->p ? -1 : f->obj->map[e - f->p];
    double held = u < 0 ? 0 : v - f->obj->origin[u];
    fit_axis_point(f, e, v, eye->theta);
    double cost = fit_sketch_value(from, eye->theta, u, held), gradient;
    double rise = 2 * (cost - p->cost) / variance;
    if (rise > enough && (u >= 0 || rise < HOPELESS * enough)) {
        double certain = u < 0 ? INFINITY : p->cost + 0.5 * LINEAR_EXPECTED[0] * variance;
        struct fit_sketch_spec spec = {eye->lower, eye->upper, u, held, u < 0 ? LOOK_GTOL : LINEAR_GTOL, certain,
                                       variance, 2, NULL, NULL};
        double low = u < 0 ? f->lower[e] : 0, high = u < 0 ? f->upper[e] : 0;
        if (u < 0)
            eye->lower[e] = eye->upper[e] = v;
        if (from != eye->cheap && fit_sketch_is_thin(eye->cheap))
            lead(eye, f->p, cost, &spec);
        fit_sketch_minimise(from, &spec, eye->theta, &cost, &gradient);
        if (u < 0)
            eye->lower[e] = low, eye->upper[e] = high;
        else if (gradient <= LINEAR_GTOL)
            cost -= gradient * gradient * variance; /* twice what it promises */
    }
    return 2 * (cost - p->cost) / variance;
}

/* Scale of a rise of the sketch along the axis of e: its curvature there, relative to that of the data. */
static double calibrate(const struct profile *p, size_t m, size_t e, struct fit_sketch *from)
{
    double sum = 0, n = 0;
    for (int side = -1; side <= 1 && fit_sketch_is_thin(from); side += 2) {
        double rise = rise_along(p, m, from, e, side * CLOSE, INFINITY) / (CLOSE * CLOSE);
        if (rise > 0 && isfinite(rise))
            sum += rise, n++;
    }
    return n > 0 ? n / sum : 1;
}

/* One value on each side where the quadratic rise is four: nothing more is done when it is confirmed. worst: the one
 * farthest from four, among those that are not far. */
static int looks_right(const struct profile *p, size_t m, size_t e)
{
    const double *expected = e < p->f->p ? AS_EXPECTED : LINEAR_EXPECTED;
    struct fit_sketch *from = e < p->f->p && !p->ask_data
                                  ? p->eye[m].cheap
                                  : p->eye[m].data; /* contrasts are of short lags, of which sketches know little */
    int right = 1, far = 0;
    p->scale[e] = e < p->f->p ? calibrate(p, m, e, from) : 0;
    for (int side = -1; side <= 1; side += 2) {
        double scale = p->scale[e] > 0 ? p->scale[e] : 1;
        double rise = scale * rise_along(p, m, from, e, side * NEAR, expected[1] / scale);
        right &= isnan(rise) || (rise > expected[0] && (e >= p->f->p || rise < expected[1]));
        far |= !isnan(rise) && !(fabs(log(rise / 4)) < log(NOT_FAR));
        if (e < p->f->p && fabs(log(rise / 4)) < log(NOT_FAR) && fabs(rise - 4) >= fabs(p->worst[e] - 4))
            p->worst[e] = rise;
    }
    if (far || !(fabs(log(p->scale[e])) < log(NOT_FAR)))
        p->scale[e] = 0;
    return right;
}

/* The fraction of the variance of linear parameter e that comes from the nonlinear ones. */
static double owed(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const double *row = r->covariance + e * r->nfull;
    double sum = 0;
    for (size_t k = 0; k < r->nparam; k++)
        for (size_t l = 0; l < r->nparam; l++)
            if (isfinite(row[k]) && isfinite(row[l]))
                sum += row[k] * r->normal_matrix[k * r->nparam + l] * row[l];
    return sum / (p->variance * row[e]);
}

/* Is there a linear parameter on a bound? The errors of the others assume that it is held there. */
static int linear_on_bound(const struct fit_ls *f)
{
    int any = 0;
    for (size_t e = f->p; e < f->res->nfull; e++)
        any |= f->res->at_bound[e] != 0;
    return any;
}

/* Is the error of e, if there is one, to be compared with the cost away from the minimum? */
static int worth_a_look(const struct profile *p, size_t m, size_t e)
{
    const struct fit_result *r = p->f->res;
    if (!(r->std[e] > 0) || !isfinite(r->std[e]) || !is_free(r, e))
        return 0;
    if (e >= r->nparam && owed(p, e) < OWED && !linear_on_bound(p->f))
        return 0;
    return !looks_right(p, m, e) || (e < r->nparam && r->std[e] > FLAT * (r->upper[e] - r->lower[e]));
}

/* ---- intervals ------------------------------------------------------------------------------------------------- */

static void take_interval(struct profile *p, size_t e)
{
    const struct fit_likelihood *l = &p->l[e];
    struct fit_interval *x = &p->f->res->interval[e];
    if (l->part[1].n == 0 || l->lower_cost)
        return;
    x->known = 1;
    for (int i = 0; i < 2; i++) {
        x->part[i] = l->part[i];
        x->part[i].piece[0].open_lower |= l->one_sided < 0;
        x->part[i].piece[l->part[i].n - 1].open_upper |= l->one_sided > 0;
        x->lower[i] = l->lower[i];
        x->upper[i] = l->upper[i];
        x->open_lower[i] = x->part[i].piece[0].open_lower;
        x->open_upper[i] = x->part[i].piece[l->part[i].n - 1].open_upper;
    }
}

/* Is it a table of a user? */
static int is_table(const struct fit_ls *f)
{
    return f->kernel->space == FIT_ROWS && !f->opt->of_pairs;
}

static double much(const struct profile *p)
{
    return is_table(p->f) ? MUCH_ROWS : FIT_PROFILE_MUCH;
}

/* Reach of an interval, in units of the quadratic one. */
static double reach(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const struct fit_interval *x = &r->interval[e];
    const double best = value_of(r, e), unit = p->limit * wider(p, e) * r->std[e];
    if (x->open_lower[1] && best - r->lower[e] > much(p) * unit)
        return INFINITY;
    if (x->open_upper[1] && r->upper[e] - best > much(p) * unit)
        return INFINITY;
    return fmax(best - x->lower[1], x->upper[1] - best) / unit;
}

/* Reach of its shorter side, where it ends inside the bounds. Only for efficient estimates: an error far beyond the
 * interval on one side is invalid too, such as D0 +- 1.1 D0 for a positive rate. */
static double shorter_side(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const struct fit_interval *x = &r->interval[e];
    const double best = value_of(r, e), unit = p->limit * wider(p, e) * r->std[e];
    const double below = x->open_lower[1] ? INFINITY : best - x->lower[1];
    const double above = x->open_upper[1] ? INFINITY : x->upper[1] - best;
    return p->f->opt->of_pairs ? fmin(below, above) / unit : INFINITY;
}

/* Decides how the sketch is used where the profile of e is followed. */
static void take_sketch(const struct profile *p, struct fit_ls *own, size_t m, size_t e, int trusted)
{
    struct fit_sketch *sketch = p->eye[m].cheap;
    own->sketch = e < own->p && fit_sketch_is_thin(sketch) ? sketch : NULL;
    own->sketch_scale = p->scale[e];
    own->sketch_trusted = trusted && own->sketch && p->scale[e] > 0;
}

static enum fit_status find_interval(struct profile *p, struct fit_ls *own, size_t m, size_t e)
{
    take_sketch(p, own, m, e, p->f->sketch_trusted);
    for (int turn = own->sketch_trusted ? 0 : 1; turn < 2; turn++) {
        enum fit_status st = fit_likelihood_ends(own, e, p->variance, &p->eye[m].evidence, &p->l[e]);
        if (st != FIT_OK)
            return st;
        take_interval(p, e);
        if (turn == 0 && reach(p, e) <= FIT_PROFILE_MUCH && p->f->res->interval[e].part[1].n == 1)
            break;
        own->sketch_trusted = 0; /* far away the data are asked */
    }
    return FIT_OK;
}

/* 1: another minimum is nearly as low, and far away, according to the first n points. */
static int has_rival(const struct profile *p, size_t e, size_t n)
{
    const struct fit_result *r = p->f->res;
    int rival = 0;
    for (size_t k = 0; k < n; k++)
        rival |= p->f->evidence.rise[k] >= pow(p->limit * wider(p, e), 2) && is_free(r, e) &&
                 fabs(fit_evidence_at(&p->f->evidence, k)[e] - value_of(r, e)) > APART * wider(p, e) * r->std[e];
    return rival;
}

/* 1: one of the first n points, inside the interval of another parameter or at another minimum, has a value farther
 * away than e should reach. */
static int met_far(const struct profile *p, size_t e, size_t n)
{
    const struct fit_result *r = p->f->res;
    double best = value_of(r, e), far = 0;
    if (p->looked[e] || !(r->std[e] > 0) || !isfinite(r->std[e]) || !is_free(r, e))
        return 0;
    for (size_t k = 0; k < n; k++)
        if (p->f->evidence.rise[k] < pow(p->limit * wider(p, e), 2))
            far = fmax(far, fabs(fit_evidence_at(&p->f->evidence, k)[e] - best));
    return has_rival(p, e, n) || far > 1.15 * p->limit * wider(p, e) * r->std[e];
}

/* 1: it has no standard error for another reason, and deserves an interval. */
static int lacks_error(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    if (!isnan(r->std[e]) || !is_free(r, e) || p->looked[e])
        return 0;
    if (r->reason[e] >= 0)
        return e < p->f->p &&
               p->f->kernel->degeneracy[r->degenerate[r->reason[e]].which].kind == FIT_DEGENERATE_AT_VALUE;
    return r->at_bound[e] != 0;
}

void fit_profile_withhold(struct fit_result *r, size_t e)
{
    double *const matrix[] = {r->covariance, r->correlation, r->covariance_robust};
    r->std[e] = r->std_robust[e] = NAN;
    for (size_t m = 0; m < sizeof matrix / sizeof *matrix; m++)
        for (size_t k = 0; k < r->nfull; k++)
            if (k != e || matrix[m] != r->correlation)
                matrix[m][e * r->nfull + k] = matrix[m][k * r->nfull + e] = NAN;
}

enum fit_interval_kind fit_profile_interval(const struct fit_result *r, size_t k, double lower[2], double upper[2])
{
    static const double tail[2] = {0.16, 0.025};
    const struct fit_interval *x = &r->interval[k];
    double dof = r->noise == FIT_NOISE_RESIDUALS ? fmax((double)r->npoint - (double)r->nfree, 1) : INFINITY;
    double value = value_of(r, k);
    if (r->robust.kind == FIT_ROBUST_WITHHELD) { /* nobody knows by how much they would be too narrow */
        lower[0] = lower[1] = upper[0] = upper[1] = NAN;
        return FIT_INTERVAL_NONE;
    }
    lower[0] = lower[1] = upper[0] = upper[1] = NAN;
    if (!is_free(r, k) || (isnan(r->std[k]) && !x->known))
        return FIT_INTERVAL_NONE;
    for (int i = 0; i < 2; i++) {
        double half = x->known ? NAN : x->wider * r->std[k] * fit_student_quantile(tail[i], dof);
        lower[i] = !x->known ? fmax(value - half, r->lower[k]) : x->open_lower[i] ? NAN : x->lower[i];
        upper[i] = !x->known ? fmin(value + half, r->upper[k]) : x->open_upper[i] ? NAN : x->upper[i];
    }
    return x->known ? FIT_INTERVAL_PROFILE : FIT_INTERVAL_CURVATURE;
}

const char *fit_interval_word(enum fit_interval_kind kind)
{
    return kind == FIT_INTERVAL_NONE ? NULL : kind == FIT_INTERVAL_PROFILE ? "profile" : "curvature";
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

/* Evaluators of member m: those of the first are the sketches of the fit, of the others their twins. */
static enum fit_status open_eyes(struct profile *p, size_t m)
{
    struct fit_ls *f = p->f, *own = &p->crew.member[m];
    struct eye *eye = &p->eye[m];
    enum fit_status st = FIT_OK;
    FIT_TAKE_DOUBLES(&p->storage, f->p, &eye->theta, &eye->led, &eye->lower, &eye->upper);
    FIT_TAKE_DOUBLES(&p->storage, f->p * f->p, &eye->matrix);
    fit_evidence_new(&eye->evidence, f->p, f->res->nfull, &p->storage);
    if (p->storage.failed)
        return fit_no_memory(f->err, "fit");
    memcpy(eye->lower, f->lower, f->p * sizeof *eye->lower);
    memcpy(eye->upper, f->upper, f->p * sizeof *eye->upper);
    if (m == 0)
        eye->data = fit_sketch_of_data(f);
    else
        st = fit_sketch_twin(p->eye[0].data, own, &eye->data);
    if (st == FIT_OK && !eye->data)
        st = fit_no_memory(f->err, "fit");
    eye->cheap = m == 0 && f->sketch ? f->sketch : eye->data;
    if (st == FIT_OK && m > 0 && f->sketch && (st = fit_sketch_twin(f->sketch, own, &eye->cheap)) != FIT_OK)
        st = fit_fail(f->err, st, "%s", own->err->message);
    return st;
}

static enum fit_status ask(struct profile *p)
{
    struct fit_ls *f = p->f;
    enum fit_status st = fit_sketch_new(f, &f->sketch);
    if (st == FIT_OK)
        st = fit_crew_new(f, &p->crew);
    p->eye = fit_take(&p->storage, p->crew.n, sizeof *p->eye);
    if (st == FIT_OK && !p->eye)
        st = fit_no_memory(f->err, "fit");
    for (size_t m = 0; m < p->crew.n && st == FIT_OK; m++)
        st = open_eyes(p, m);
    return st;
}

static void close_eyes(struct profile *p)
{
    for (size_t m = 0; p->eye && m < p->crew.n; m++) {
        if (p->eye[m].cheap != p->eye[m].data && m > 0)
            fit_sketch_free(p->eye[m].cheap);
        fit_sketch_free(p->eye[m].data);
    }
    fit_sketch_free(p->f->sketch);
    p->f->sketch = NULL;
    p->f->sketch_trusted = 0;
}

static enum fit_status look_at_one(void *user, struct fit_ls *own, size_t m, size_t e)
{
    struct profile *p = user;
    (void)own;
    p->want[e] = worth_a_look(p, m, e) != 0;
    return FIT_OK;
}

/* Marks parameters whose interval is to be found. *which: the one whose rise is farthest from the expected one, but
 * not far. */
static enum fit_status look_at_all(struct profile *p, size_t *which)
{
    const struct fit_result *r = p->f->res;
    double worst = 4;
    for (size_t e = 0; e < r->nfull; e++)
        p->worst[e] = 4;
    enum fit_status st = fit_crew_run(&p->crew, r->nfull, look_at_one, p);
    *which = r->nparam;
    for (size_t e = 0; e < r->nfull; e++)
        if (p->worst[e] != 4 && fabs(p->worst[e] - 4) >= fabs(worst - 4)) {
            *which = p->worst[e] != worst ? e : *which;
            worst = p->worst[e];
        }
    return st;
}

/* 1: the sketch represents the data, along the axis of `which`. */
static int shows_the_data(struct profile *p, size_t which)
{
    const struct eye *eye = &p->eye[0];
    int agree = which < p->f->p;
    for (int side = -1; side <= 1 && agree; side += 2) {
        double a = p->scale[which] * rise_along(p, 0, eye->cheap, which, side * NEAR, INFINITY);
        double b = rise_along(p, 0, eye->data, which, side * NEAR, INFINITY);
        agree = isnan(a) || fabs(a - b) <= AGREES * fmax(4, b);
    }
    return agree;
}

static enum fit_status look(struct profile *p)
{
    size_t which;
    enum fit_status st = look_at_all(p, &which);
    if (st != FIT_OK || !fit_sketch_is_thin(p->eye[0].cheap))
        return st;
    p->f->sketch_trusted = shows_the_data(p, which);
    if (p->f->sketch_trusted)
        return st;
    p->ask_data = 1;
    return look_at_all(p, &which);
}

/* All parameters in turn: intervals of the marked ones, and of those that the growing evidence contradicts.
 * Neighbours in a model are related (amplitude, exponent and offset of a rate), and profit most from one another's
 * evidence: turns take every third, then those after them, so that neighbours are separated. */
struct round {
    struct profile *p;
    size_t *order; /* nfull */
    int extend; /* 1: those that are known, by what was met since */
    size_t n, normals; /* points known, and passes of all rounds so far, when it begins */
    struct found {
        struct fit_evidence met; /* of the member: what is new of it, copied */
        double *better;          /* a lower cost, or NULL */
        int asked, tired;        /* 1: the interval was looked for; it would take too long */
        size_t n, normals;       /* points known, and passes, after it */
        int lower;               /* 1: then a lower cost is known */
        struct fit_arena storage;
    } *found; /* nfull, in the order of the turns */
};

static void set_order(const struct fit_ls *f, size_t *order)
{
    enum { STRIDE = 3 };
    size_t n = 0;
    for (size_t first = 0; first < STRIDE; first++)
        for (size_t e = first; e < f->p; e += STRIDE)
            order[n++] = e;
    for (; n < f->res->nfull; n++)
        order[n] = n;
}

/* Copies the findings of the piece, because the member continues with others. */
static enum fit_status keep_found(struct found *found, const struct fit_evidence *e, size_t first, struct fit_ls *own)
{
    struct fit_arena *a = &found->storage;
    const size_t n = e->n - first;
    found->met = (struct fit_evidence){.n = n, .room = n, .nparam = e->nparam, .nfull = e->nfull};
    found->met.x = fit_take_copy(a, fit_evidence_at(e, first), n * e->nfull, sizeof *e->x);
    found->met.rise = fit_take_copy(a, e->rise + first, n, sizeof *e->rise);
    found->met.own = fit_take_copy(a, e->own + first, n, sizeof *e->own);
    found->better = own->found_lower ? fit_take_copy(a, own->better, own->p, sizeof *own->better) : NULL;
    if (!a->failed)
        return FIT_OK;
    found->met.n = 0; /* nothing was kept, and nothing is merged */
    found->better = NULL;
    return fit_no_memory(own->err, "fit");
}

/* Is the interval of e to be found, with the first n points known, after so many passes? */
static int is_asked(const struct round *w, struct found *found, size_t e, size_t n, size_t normals)
{
    const struct profile *p = w->p;
    if (w->extend)
        return p->looked[e] && p->f->res->interval[e].known;
    const int wrong = (p->want[e] && !p->looked[e]) || met_far(p, e, n), tired = normals > PASSES;
    found->tired = tired && wrong;
    return !tired && (wrong || lacks_error(p, e));
}

static enum fit_status find_one(void *user, struct fit_ls *own, size_t m, size_t k)
{
    const struct round *w = user;
    struct profile *p = w->p;
    struct found *found = &w->found[k];
    const struct found *before = k < FIT_CREW_LAG ? NULL : found - FIT_CREW_LAG;
    const size_t e = w->order[k], n = before ? before->n : w->n, normals = own->obj->nnormal;
    struct fit_evidence *known = &p->eye[m].evidence;
    enum fit_status st;
    if ((before && before->lower) || !is_asked(w, found, e, n, before ? before->normals : w->normals))
        return FIT_OK;
    found->asked = 1;
    known->n = 0;
    const struct fit_evidence visible = {.x = p->f->evidence.x, .rise = p->f->evidence.rise, .own = p->f->evidence.own,
                                         .n = n, .nfull = known->nfull};
    fit_evidence_append(known, &visible, 0);
    if (w->extend) {
        take_sketch(p, own, m, e, 0);
        st = fit_likelihood_extend(own, e, p->variance, known, &p->l[e]);
        take_interval(p, e);
    } else {
        st = find_interval(p, own, m, e);
    }
    found->normals = own->obj->nnormal - normals;
    return st == FIT_OK ? keep_found(found, known, n, own) : st;
}

/* Merges the findings of turn k. */
static void merge_one(void *user, size_t k)
{
    const struct round *w = user;
    struct fit_ls *f = w->p->f;
    struct found *found = &w->found[k];
    if (found->better && !f->found_lower) {
        f->found_lower = 1;
        memcpy(f->better, found->better, f->p * sizeof *f->better);
    }
    if (found->asked)
        fit_evidence_append(&f->evidence, &found->met, 0);
    fit_arena_free(&found->storage);
    w->p->looked[w->order[k]] |= (unsigned char)found->asked;
    found->n = f->evidence.n;
    found->normals += k > 0 ? found[-1].normals : w->normals;
    found->lower = f->found_lower;
}

/* *any: the interval of at least one parameter was computed. */
static enum fit_status find_round(struct round *w, size_t normals, int *any)
{
    struct fit_ls *f = w->p->f;
    const size_t n = f->res->nfull;
    FIT_SCRATCH(a);
    *w = (struct round){.p = w->p, .extend = w->extend, .n = f->evidence.n, .normals = normals};
    w->found = fit_take(&a, n, sizeof *w->found);
    w->order = fit_take(&a, n, sizeof *w->order);
    if (a.failed)
        return fit_no_memory(f->err, "fit");
    set_order(f, w->order);
    enum fit_status st = fit_crew_chain(&w->p->crew, n, find_one, merge_one, w);
    *any = 0;
    for (size_t k = 0; k < n; k++) {
        *any |= w->found[k].asked;
        if (w->found[k].tired)
            fit_profile_withhold(f->res, w->order[k]);
    }
    w->normals = w->found[n - 1].normals;
    w->found = NULL;
    w->order = NULL;
    return st;
}

/* Repeats rounds until nothing new is found. */
static enum fit_status find_intervals(struct profile *p)
{
    struct fit_ls *f = p->f;
    enum fit_status st = FIT_OK;
    struct round w = {.p = p};
    for (int again = 1; again && st == FIT_OK && !f->found_lower;)
        st = find_round(&w, w.normals, &again);
    w.extend = 1; /* what later ones have met */
    if (st == FIT_OK && !f->found_lower)
        st = find_round(&w, w.normals, &(int){0});
    return st;
}

/* Inside the interval of a parameter with more significant noise, a linear parameter was met far beyond its own
 * errors: that of an angle that decays within a frame, which a change of the rates multiplies. */
static int is_carried_off(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const struct fit_evidence *met = &p->f->evidence;
    double far = 0;
    for (size_t k = 0; k < met->n && e >= r->nparam; k++)
        if (met->own[k] < p->limit * p->limit && met->rise[k] > pow(p->limit * wider(p, e), 2))
            far = fmax(far, fabs(fit_evidence_at(met, k)[e] - value_of(r, e)));
    return far > much(p) * p->limit * wider(p, e) * r->std[e];
}

/* A linear parameter that may be 0, while some parameter is not determined: a signal that decayed before the first
 * value looks the same as none, and at 0 its derivatives do not reveal it. */
static int may_have_decayed(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    int open = 0;
    for (size_t k = 0; k < r->nparam; k++)
        open |= is_free(r, k) && isnan(r->std[k]);
    if (!open || e < r->nparam || (long)((e - r->nparam) % r->nlinear) == p->f->kernel->intercept)
        return 0;
    return fabs(value_of(r, e)) < NOTHING * wider(p, e) * r->std[e];
}

static enum fit_status examine(struct profile *p)
{
    struct fit_ls *f = p->f;
    struct fit_result *r = f->res;
    const double inflated = pow(fit_profile_widest(r), 2);
    struct fit_survey_spec survey = {p->variance * inflated, inflated, p->limit, RIVAL, &p->crew, NULL};
    enum fit_status st = ask(p);
    struct fit_sketch **cheap = fit_take(&p->storage, p->crew.n, sizeof *cheap);
    if (st == FIT_OK && !cheap)
        st = fit_no_memory(f->err, "fit");
    for (size_t m = 0; m < p->crew.n && st == FIT_OK; m++)
        cheap[m] = p->eye[m].cheap;
    survey.cheap = cheap;
    if (is_table(f)) /* as with MUCH_ROWS */
        survey.rival = p->limit * p->limit;
    if (st == FIT_OK && (st = look(p)) == FIT_OK)
        st = fit_survey(f, &survey);
    if (st == FIT_OK && !f->found_lower)
        st = find_intervals(p);
    if (st != FIT_OK || f->found_lower)
        return st;
    for (size_t e = 0; e < r->nfull; e++) {
        if (is_carried_off(p, e) || may_have_decayed(p, e)) {
            fit_profile_withhold(r, e);
            r->interval[e].known = 0;
        }
        if (!r->interval[e].known || isnan(r->std[e]))
            continue;
        double far = reach(p, e);
        r->interval[e].several = has_rival(p, e, f->evidence.n) || r->interval[e].part[1].n > 1;
        if (e < f->p)
            r->profile[e] = (far < 1 / much(p) ? far : fmax(far, 1)) * r->std[e];
        const int uneven = shorter_side(p, e) < 1 / much(p);
        if (far < 1 / much(p) || far > much(p) || uneven || r->interval[e].several)
            fit_profile_withhold(r, e);
    }
    return FIT_OK;
}

double fit_profile_widest(const struct fit_result *r)
{
    double most = 1;
    for (size_t e = 0; e < r->nfull; e++)
        most = fmax(most, r->interval[e].wider);
    return most;
}

void fit_profile_none(struct fit_result *r)
{
    const size_t square = r->nfull * r->nfull;
    memcpy(r->std_curvature, r->std, r->nfull * sizeof *r->std);
    memcpy(r->paraboloid, r->covariance, square * sizeof *r->covariance);
    memcpy(r->paraboloid_robust, r->covariance_robust, square * sizeof *r->covariance_robust);
    memcpy(r->profile, r->std, r->nparam * sizeof *r->profile);
    memset(r->interval, 0, r->nfull * sizeof *r->interval);
    const int shared = fit_sandwich_shared(&r->robust);
    const double all = shared && r->robust.eta > 0 ? 1 / sqrt(r->robust.eta) : 1;
    for (size_t e = 0; e < r->nfull; e++) {
        double ratio = r->std_robust[e] / r->std[e];
        r->interval[e].wider = !shared ? 1 : ratio > 0 && isfinite(ratio) ? ratio : all;
    }
}

enum fit_status fit_profile_errors(struct fit_ls *f, double variance)
{
    struct fit_result *r = f->res;
    double limit[2];
    struct profile p = {.f = f, .variance = variance, .cost = f->obj->cost};
    enum fit_status st = FIT_OK;
    fit_profile_none(r);
    fit_likelihood_limits(f, 0, limit);
    p.limit = limit[1];
    FIT_TAKE_DOUBLES(&p.storage, r->nfull, &p.scale, &p.worst);
    p.looked = fit_take(&p.storage, r->nfull, 1);
    p.want = fit_take(&p.storage, r->nfull, 1);
    p.l = fit_take(&p.storage, r->nfull, sizeof *p.l);
    if (p.storage.failed)
        st = fit_no_memory(f->err, "fit");
    else if (variance > 0 && 2 * f->obj->cost_error <= VISIBLE * variance)
        st = examine(&p);
    close_eyes(&p);
    fit_crew_free(&p.crew);
    fit_arena_free(&p.storage);
    return st;
}
