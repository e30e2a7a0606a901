/* fit/ode_events.h -- states that jump at given times, between which they follow a differential equation (fit/ode.h).
 *
 * Integration stops at each event, the states jump, and it goes on from there.  With f the rates, S the derivatives of
 * the states by a parameter at a fixed time, tau the time of the event and j what is added to the states,
 *
 *     y  = S- + f(x-) tau'          S+ = y + dj/dtheta (along y and tau') - f(x+) tau'
 *
 * (Rozenvasser 1967).  Events before the beginning have no part; of several at one time the first in the list is first.
 * A state at the time of an event is that behind it.
 */
#ifndef FIT_ODE_EVENTS_H
#define FIT_ODE_EVENTS_H

#include "fit/ode.h"

/* change <- what event number `event` adds to the numbers x, whose derivatives are along its time; it comes as zeros */
typedef void fit_ode_jump(const void *context, size_t event, double time, const double *x, double *change);

struct fit_ode_events {
    size_t n;
    const double *at;    /* n: times */
    const double *moved; /* n x nslope: their derivatives by the parameters of fit_ode.slope */
    fit_ode_jump *jump;
    unsigned *order; /* n: numbers of events by time; fit_ode_events_sort */
    size_t next;     /* place in order: the first that has not happened */
};

/* Once times are known.  0: one is not a number. */
static inline int fit_ode_events_sort(struct fit_ode_events *v)
{
    for (size_t k = 0; k < v->n; k++) {
        size_t place = k;
        if (isnan(v->at[k]))
            return 0;
        for (; place > 0 && v->at[v->order[place - 1]] > v->at[k]; place--)
            v->order[place] = v->order[place - 1];
        v->order[place] = (unsigned)k;
    }
    return 1;
}

/* The solution begins at the time `from`. */
static inline void fit_ode_events_begin(struct fit_ode_events *v, double from)
{
    for (v->next = 0; v->next < v->n && v->at[v->order[v->next]] < from;)
        v->next++;
}

/* Derivatives at the fixed time to those along the moving one (sign 1), and back (-1). */
static inline void fit_ode_move(struct fit_ode *o, const double *moved, double time, double sign, double *x)
{
    int any = 0;
    for (size_t s = 0; s < o->nslope; s++)
        any |= moved[s] != 0.0;
    if (!any)
        return;
    o->values(o->context, time, x, o->inner);
    for (size_t s = 0; s < o->nslope; s++)
        for (size_t q = 0; q < o->nvalue && moved[s] != 0.0; q++) {
            const size_t i = o->slope[s * o->nvalue + q];
            if (i)
                x[i] += sign * o->inner[q] * moved[s];
        }
}

/* Event number `event` happens to x. */
static inline void fit_ode_happens(struct fit_ode *o, const struct fit_ode_events *v, size_t event, double *x)
{
    const double *moved = v->moved + event * o->nslope;
    double *change = o->inner + o->n;
    fit_ode_move(o, moved, v->at[event], 1.0, x);
    for (size_t i = 0; i < o->n; i++)
        change[i] = 0.0;
    v->jump(o->context, event, v->at[event], x, change);
    for (size_t i = 0; i < o->n; i++)
        x[i] += change[i];
    fit_ode_move(o, moved, v->at[event], -1.0, x);
    o->past = 0.0; /* points of steps before it tell nothing */
}

/* From time t to `end`, x in place, through all that happens until then.  0: as fit_ode_to. */
static inline int fit_ode_through(struct fit_ode *o, struct fit_ode_events *v, double t, double end, double *x)
{
    while (v->next < v->n && v->at[v->order[v->next]] <= end) {
        const size_t event = v->order[v->next++];
        if (!fit_ode_to(o, t, v->at[event], x))
            return 0;
        fit_ode_happens(o, v, event, x);
        t = v->at[event];
    }
    return fit_ode_to(o, t, end, x);
}

#endif
