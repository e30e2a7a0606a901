/* more_thuente.c -- the line search of More & Thuente, ACM Trans. Math. Software 20 (1994) 286; see line.h.
 *
 * Looks for t with phi(t) <= phi(0) + c1 t phi'(0) and |phi'(t)| <= c2 |phi'(0)|. One end, lo, of the current
 * interval is the best point so far; a trial is put at the minimum of cubics and parabolas through the ends (section
 * 4, four cases) and replaces one end (section 3). Until the interval is sure to contain an acceptable point, the
 * ends are compared by psi(t) = phi(t) - phi(0) - c1 t phi'(0) (section 2). */
#include "optimize/line.h"

#include <math.h>

static const double DECREASE = 1e-3, CURVATURE = 0.9;
static const double SHORTEST = 0.1;         /* relative width of the interval at which the search ends */
static const double FARTHER = 1.1, FAR = 4; /* limit of a trial beyond the best: so many times its distance from the
                                             * best */
static const double PART = 0.66;            /* required contraction of the interval in two trials */

struct search {
    struct fit_line_point lo, hi;
    int bracketed;
    double least, most; /* of the next trial */
    double width, width_before;
};

/* Minimum of the parabola with value and slope of a and the value of b. */
static double parabola(struct fit_line_point a, struct fit_line_point b)
{
    return a.t + a.slope / ((a.f - b.f) / (b.t - a.t) + a.slope) / 2 * (b.t - a.t);
}

/* Zero of the slope of the parabola with slopes of a and b. */
static double secant(struct fit_line_point a, struct fit_line_point b)
{
    return b.t + b.slope / (b.slope - a.slope) * (a.t - b.t);
}

/* Section 4: the next trial from the ends and the last trial p. */
static double next_trial(const struct search *s, struct fit_line_point p)
{
    const struct fit_line_point lo = s->lo;
    const int opposite = p.slope * copysign(1, lo.slope) < 0;
    double cubic = fit_line_cubic(lo, p), other, t;
    if (p.f > lo.f) { /* case 1: a higher value, so the minimum lies between */
        other = parabola(lo, p);
        if (!isfinite(cubic))
            return other;
        return fabs(cubic - lo.t) < fabs(other - lo.t) ? cubic : cubic + (other - cubic) / 2;
    }
    other = secant(lo, p);
    if (opposite) { /* case 2: a slope of the other sign */
        if (!isfinite(cubic))
            return other;
        return fabs(cubic - p.t) > fabs(other - p.t) ? cubic : other;
    }
    if (fabs(p.slope) < fabs(lo.slope)) { /* case 3: the slope is less steep */
        const int onward = isfinite(cubic) && (cubic - p.t) * (p.t - lo.t) > 0;
        if (!onward)
            cubic = p.t > lo.t ? s->most : s->least;
        if (!s->bracketed)
            return fmin(fmax(fabs(cubic - p.t) > fabs(other - p.t) ? cubic : other, s->least), s->most);
        t = fabs(cubic - p.t) < fabs(other - p.t) ? cubic : other;
        const double end = p.t + PART * (s->hi.t - p.t);
        return p.t > lo.t ? fmin(end, t) : fmax(end, t);
    }
    if (s->bracketed) /* case 4: the slope is as steep as before */
        return fit_line_cubic(p, s->hi);
    return p.t > lo.t ? s->most : s->least;
}

/* Section 3: the interval after the trial p. */
static void narrow(struct search *s, struct fit_line_point p)
{
    if (p.f > s->lo.f) {
        s->hi = p;
        s->bracketed = 1;
    } else {
        if (p.slope * copysign(1, s->lo.slope) < 0) {
            s->hi = s->lo;
            s->bracketed = 1;
        }
        s->lo = p;
    }
}

/* The point in terms of psi. */
static struct fit_line_point lowered(struct fit_line_point p, double slope)
{
    return (struct fit_line_point){p.t, p.f - p.t * slope, p.slope - slope};
}

/* One more trial; by_psi: ends are compared by psi, whose slope at 0 is that of phi minus `slope`. */
static double advance(struct search *s, struct fit_line_point p, int by_psi, double slope)
{
    struct search seen = *s;
    if (by_psi) {
        seen.lo = lowered(s->lo, slope);
        seen.hi = lowered(s->hi, slope);
        p = lowered(p, slope);
    }
    double t = next_trial(&seen, p);
    narrow(&seen, p);
    if (by_psi) {
        seen.lo = lowered(seen.lo, -slope);
        seen.hi = lowered(seen.hi, -slope);
    }
    *s = seen;
    if (!s->bracketed) {
        s->least = t + FARTHER * (t - s->lo.t);
        s->most = t + FAR * (t - s->lo.t);
        return t;
    }
    const double width = fabs(s->hi.t - s->lo.t);
    if (!isfinite(t) || width >= PART * s->width_before)
        t = s->lo.t + (s->hi.t - s->lo.t) / 2;
    s->width_before = s->width;
    s->width = width;
    s->least = fmin(s->lo.t, s->hi.t);
    s->most = fmax(s->lo.t, s->hi.t);
    return t;
}

/* End of a search that finds no point with both conditions: the best point if it is the last trial and has lowered
 * the value. */
static enum fit_optimize_step verdict(const struct fit_line *line, const struct fit_line_point *p)
{
    if (!isfinite(p->f))
        return FIT_STEP_NONFINITE;
    return p->f < line->start.f && p->f <= line->start.f + DECREASE * p->t * line->start.slope ? FIT_STEP_DONE
                                                                                               : FIT_STEP_NO_DECREASE;
}

enum fit_status fit_line_more_thuente(struct fit_line *line, double t, struct fit_line_point *p,
                                      enum fit_optimize_step *end, struct fit_error *err)
{
    const double slope = DECREASE * line->start.slope, most = line->most;
    double wall = INFINITY;
    struct search s = {.lo = line->start, .hi = line->start, .most = t + FAR * t};
    int first_stage = 1, last = 0;
    s.width = most;
    s.width_before = 2 * most;
    for (size_t k = 0; k < line->o->opt.maxls; k++) {
        const enum fit_status st = fit_line_evaluate(line, t, p, err);
        if (st != FIT_OK)
            return st;
        if (!isfinite(p->f)) { /* a wall: half way back, and no trial beyond it again */
            wall = t;
            t = s.lo.t + (t - s.lo.t) / 2;
            continue;
        }
        const double aim = line->start.f + t * slope;
        if (p->f <= aim && fabs(p->slope) <= CURVATURE * -line->start.slope) {
            *end = FIT_STEP_DONE;
            return FIT_OK;
        }
        if (last || (t >= most && p->f <= aim && p->slope <= slope))
            break;
        if (p->f <= aim && p->slope >= 0)
            first_stage = 0;
        t = fmin(fmax(advance(&s, *p, first_stage && p->f <= s.lo.f && p->f > aim, slope), 0), most);
        if (t >= wall)
            t = s.lo.t + (wall - s.lo.t) / 2;
        /* The interval is too short, or the trial is one of its ends: evaluate the best point once more. */
        last = s.bracketed && (t <= s.least || t >= s.most || s.most - s.least <= SHORTEST * s.most);
        if (last)
            t = s.lo.t;
        if (t <= 0)
            break;
    }
    *end = verdict(line, p);
    return FIT_OK;
}
