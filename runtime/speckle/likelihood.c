/* likelihood.c -- see likelihood.h. */
#include "speckle/likelihood.h"

#include <math.h>
#include <string.h>

#include "speckle/matrix.h"
#include "speckle/whiten.h"

enum { WIDER = 12, NARROWER = 14, NODES = 3, LOOKS = 2 };
static const double FIRST = 1.5;     /* ratio of shot noises of the first steps */
static const double LOWEST = 1e-4;   /* shot noise, of the contrast */
static const double MOST_SPREAD = 1; /* of the logarithm: invisible shot noise changes nothing by itself */
static const double CURVED = 0.1;    /* step of the logarithm for the curvature */
static const double APART = 1, BEYOND = 0.5; /* logarithms: nodes of the restriction, how far it is believed beyond */
static const double DEPENDENT = 1e-10;       /* pivot of a field that the others have, of its square */

/* The part absorbed by the fit, at three shot noises: log det of its derivatives, and its part of t. */
struct restriction {
    double middle, log_det[NODES], part[NODES];
};

struct search {
    const struct fit_speckle_residuals *r;
    double *room;
    double number;       /* N */
    double half;         /* t / 2 at the last shot noise */
    double count;        /* M where it is given; else 0 */
    struct restriction followed;
    int bad;
};

size_t fit_speckle_likelihood_room(size_t n, size_t nfield)
{
    return (1 + nfield) * n * n + fit_whitener_room(n) + (nfield + 1) * (nfield + 1);
}

/* The whitener at this shot noise; room: n x n.  0: there is none. */
static int whitener_at(const struct fit_speckle_residuals *r, double shot, double *room, struct fit_whitener *w)
{
    memcpy(room, r->C, r->n * r->n * sizeof *room);
    for (size_t k = 0; k < r->n; k++)
        room[k * (r->n + 1)] += shot * r->part[k];
    return fit_whitener_new(r->n, room, r->measured, w);
}

/* Products of the whitened fields and of the residuals, G, lower triangle of (nfield + 1) x the same. */
static void products(const struct fit_speckle_residuals *r, const struct fit_whitener *w, double *X, double *room,
                     double *G)
{
    const size_t nn = r->n * r->n, m = r->nfield + 1;
    for (size_t e = 0; e < m; e++) {
        fit_whiten(w, e < r->nfield ? r->field + e * nn : r->residual, room, X + e * nn);
        for (size_t f = 0; f <= e; f++)
            G[e * m + f] = fit_matrix_dot(nn, X + e * nn, X + f * nn);
    }
}

/* Its Cholesky factor, column by column: log det of the fields, and the part of the residuals' square in their span;
 * a field counts by its share. */
static void factor(const struct fit_speckle_residuals *r, double *G, double *log_det, double *part)
{
    const size_t m = r->nfield + 1;
    const double all = G[m * m - 1];
    *log_det = *part = 0;
    for (size_t e = 0; e < r->nfield; e++) {
        double pivot = G[e * m + e];
        for (size_t f = 0; f < e; f++)
            pivot -= G[e * m + f] * G[e * m + f];
        const double root = pivot > DEPENDENT * G[e * m + e] ? sqrt(pivot) : INFINITY;
        for (size_t i = e + 1; i < m; i++) {
            for (size_t f = 0; f < e; f++)
                G[i * m + e] -= G[i * m + f] * G[e * m + f];
            G[i * m + e] /= root;
        }
        *log_det += isfinite(root) ? r->share[e] * log(pivot) : 0;
        *part += r->share[e] * G[r->nfield * m + e] * G[r->nfield * m + e] / all;
    }
}

static void look_at_fields(struct search *s, double middle)
{
    const struct fit_speckle_residuals *r = s->r;
    const size_t nn = r->n * r->n;
    double *X = s->room, *room = X + (1 + r->nfield) * nn, *G = room + fit_whitener_room(r->n);
    s->followed.middle = middle;
    for (int k = 0; r->nfield && k < NODES && !s->bad; k++) {
        struct fit_whitener w;
        if (whitener_at(r, exp(middle + (k - 1) * APART), X, &w)) {
            products(r, &w, X, room, G);
            factor(r, G, &s->followed.log_det[k], &s->followed.part[k]);
        } else {
            s->bad = 1;
        }
        fit_whitener_free(&w);
    }
}

/* A parabola through three nodes, at x steps from the middle one. */
static double between(const double y[NODES], double x)
{
    return y[1] + x * (y[2] - y[0]) / 2 + x * x * (y[0] + y[2] - 2 * y[1]) / 2;
}

void fit_speckle_even_out(size_t n, const double *C, double *residual)
{
    for (size_t k = 0; k < n * n; k++)
        residual[k] /= sqrt(1 + C[k]);
}

/* -2 log L at the best M, up to a constant. */
static double minus_two_log(struct search *s, double log_shot)
{
    const struct fit_speckle_residuals *r = s->r;
    const struct restriction *f = &s->followed;
    const size_t n = r->n, nn = n * n;
    const double at = fmin(fmax((log_shot - f->middle) / APART, -1 - BEYOND), 1 + BEYOND);
    struct fit_whitener w;
    double *X = s->room, value = INFINITY;
    if (whitener_at(r, exp(log_shot), X, &w)) {
        fit_whiten(&w, r->residual, X + nn, X);
        s->half = fit_matrix_dot(nn, X, X) / 2 * (1 - between(f->part, at));
        value = (s->count > 0 ? s->count * s->half : s->number * log(s->half)) + fit_whitener_log_determinant(&w) +
                between(f->log_det, at);
    } else {
        s->bad = 1;
    }
    fit_whitener_free(&w);
    return value;
}

/* Three shot noises, the middle one with the lowest value; 0: there is no minimum above `least`. */
static int enclose(struct search *s, double least, double x[3], double y[3])
{
    const double step = log(FIRST);
    x[0] = fmax(x[1] - step, least);
    x[2] = x[1] + step;
    for (int k = 0; k < 3; k++)
        y[k] = minus_two_log(s, x[k]);
    for (int turn = 0; turn < WIDER && !s->bad; turn++) {
        if (y[1] <= y[0] && y[1] <= y[2])
            return 1;
        const int up = y[2] < y[0];
        const double next = up ? x[2] + 2 * (x[2] - x[1]) : fmax(x[0] - 2 * (x[1] - x[0]), least);
        if (!up && x[0] <= least)
            return 0;
        memmove(up ? x : x + 1, up ? x + 1 : x, 2 * sizeof *x);
        memmove(up ? y : y + 1, up ? y + 1 : y, 2 * sizeof *y);
        x[up ? 2 : 0] = next;
        y[up ? 2 : 0] = minus_two_log(s, next);
    }
    return 0;
}

/* Minimum of the parabola through three points, kept away from the middle one. */
static double vertex(const double x[3], const double y[3])
{
    const double a = (x[1] - x[0]) * (y[1] - y[2]), b = (x[1] - x[2]) * (y[1] - y[0]);
    const double v = x[1] - 0.5 * ((x[1] - x[0]) * a - (x[1] - x[2]) * b) / (a - b), away = 0.05 * (x[2] - x[0]);
    const double mid = isfinite(v) ? v : x[1];
    return fabs(mid - x[1]) > away ? mid : x[2] - x[1] > x[1] - x[0] ? x[1] + away : x[1] - away;
}

static void narrow(struct search *s, double x[3], double y[3])
{
    for (int turn = 0; turn < NARROWER && x[2] - x[0] > CURVED && !s->bad; turn++) {
        const double at = vertex(x, y), value = minus_two_log(s, at);
        const int right = at > x[1], better = value < y[1];
        const int drop = better ? (right ? 0 : 2) : (right ? 2 : 0);
        x[drop] = better ? x[1] : at;
        y[drop] = better ? y[1] : value;
        x[1] = better ? at : x[1];
        y[1] = better ? value : y[1];
    }
}

/* Numbers and errors at the shot noise exp(best). */
static int take_best(struct search *s, double best, const struct fit_noise_model *given,
                     struct fit_speckle_noise *noise)
{
    const double step = CURVED, above = minus_two_log(s, best + step), more = s->half;
    const double below = minus_two_log(s, best - step), middle = minus_two_log(s, best), half = s->half;
    const double slope = log(more / half) / step, curvature = (above + below - 2 * middle) / (step * step);
    if (s->bad || !(half > 0) || !isfinite(half))
        return 0;
    const double spread = given->shot > 0 ? 0 : curvature > 0 ? sqrt(2 / curvature) : INFINITY;
    noise->shot = exp(best);
    noise->shot_std = noise->shot * spread;
    noise->shared_std = spread;
    noise->count = given->count > 0 ? given->count : s->number / half;
    noise->count_std =
        given->count > 0 ? 0 : noise->count * sqrt(2 / s->number + pow(slope * fmin(spread, MOST_SPREAD), 2));
    noise->noise = noise->shot / sqrt(noise->count);
    return 1;
}

int fit_speckle_likelihood(const struct fit_speckle_residuals *r, const struct fit_noise_model *given, double *room,
                           struct fit_speckle_noise *noise)
{
    struct search s = {.r = r, .room = room, .count = given->count};
    double x[3] = {0}, y[3], number = 0;
    const double least = log(LOWEST * noise->contrast);
    for (size_t a = 0; a < r->n; a++)
        number += (double)(r->n - 1) / 2 + r->measured[a];
    s.number = number - r->parameters;
    x[1] = given->shot > 0 ? log(given->shot) : fmax(log(noise->shot), least);
    if (!(s.number > 1) || !isfinite(x[1]))
        return 0;
    s.followed.middle = INFINITY;
    if (given->shot > 0) {
        look_at_fields(&s, x[1]);
        return take_best(&s, x[1], given, noise);
    }
    for (int look = 0; look < LOOKS && (look == 0 || r->nfield) && fabs(x[1] - s.followed.middle) > APART / 2; look++) {
        look_at_fields(&s, x[1]);
        if (enclose(&s, least, x, y))
            narrow(&s, x, y);
        else if (s.bad || x[0] > least)
            return 0;
    }
    return take_best(&s, x[1], given, noise);
}
