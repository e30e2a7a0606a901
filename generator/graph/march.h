/* march.h -- states: quantities that are carried along the rows of a group, in their order.
 *
 * State q has the value s_n in row n. With the columns x_n of the row,
 *
 *     s_n = step(s_{n-1}, x_n, theta)      s_0 = before(x_1, theta), before the first row,
 *
 * and its derivatives are carried along (forward mode; Wengert 1964):
 *
 *     d s_n / d theta_k = sum over states  d step / d s_{n-1}  d s_{n-1} / d theta_k  +  d step / d theta_k.
 *
 * Inside steps the values are leaves, CARRIED; ref identifies them (hg_carried_ref). Everywhere else they are nodes
 *
 *     STATE(ref, x1, x2, ...)              a function of all symbols x1, x2, ... that steps contain,
 *
 * so that dependence on parameters is that of any other expression. STATE differentiated by parameter k is the STATE of
 * the derivative. Second derivatives of states are neglected, as in the Gauss-Newton method: the derivative of a
 * derivative is 0, for symbols and for dual numbers (eval.h).
 *
 * States of a differential equation x' = f(t, x, theta) may jump at given times: at tau(theta) state q becomes x_q +
 * j_q(tau, x, theta). With S = dx / d theta_k at a fixed time, just before the jump (-) and just after it (+),
 *
 *     y  = S- + f(x-) d tau / d theta_k                                      the derivative along the moving time
 *     S+ = y + dj/dx y + dj/dt d tau / d theta_k + dj / d theta_k - f(x+) d tau / d theta_k
 *
 * (Rozenvasser, General sensitivity equations of discontinuous systems, Automation and Remote Control 28 (1967) 400).
 *
 * Columns in rates are known at rows; between the previous row at t_0 and the next at t_1 they are
 *
 *     u(t) = u_0 + (u_1 - u_0) (t - t_0) / (t_1 - t_0),   or held, u_0;   before the first row, its own u.
 *
 * Derivatives by parameters are unaffected, for the solution stops at every row.
 */
#pragma once

#include "graph/expr.h"

enum { HG_MOST_STATES = 64, HG_MOST_STATE_PARAMETERS = 4000, HG_MOST_EVENTS = 256 };

struct hg_carried {
    const char *name;
    hg_id before, step;       /* step: 0 until it is given; with CARRIED leaves */
    hg_id *d_before, *d_step; /* by parameter; 0: none */
};

/* A jump of states at a time. CARRIED leaves in jumps are values just before it; those of derivatives are taken
 * along its moving time. */
struct hg_event {
    int each;             /* 1: at every row, at its time; columns in jumps are those of the row */
    hg_id at, *d_at;      /* by parameter; 0: none */
    hg_id *jump, *d_jump; /* by state, state x parameter: what is added; 0: nothing */
    hg_id written_at, *written_jump; /* for the page of a model */
};

struct hg_march {
    struct hg_carried state[HG_MOST_STATES];
    uint32_t n;
    uint32_t order[HG_MOST_STATES], nstep; /* order in which steps are taken: as they were given */
    uint32_t nparam; /* of the model, when closed */
    hg_id *arg;      /* CONST place-holder, then the symbols of all steps */
    uint32_t narg;   /* symbols */
    int closed;

    /* For a differential equation: the states follow it from row to row, and their steps are rates of change at the
     * time; CARRIED leaves in them are values at that time. */
    int flow;
    hg_id time, from; /* COLUMN; when the states are `before` */
    double tolerance; /* of a step of the solver */
    int stiff;        /* 1: by implicit steps from the beginning */
    int held;         /* columns in rates: 0 linear between rows, 1 those of the previous row */
    hg_id *jacobian;  /* [state x state], when closed: d rate of the first / d value of the second; 0: none */
    struct hg_event *event;
    uint32_t nevent;
};

/* Which value a CARRIED leaf or a STATE is. */
struct hg_carried_place {
    uint32_t state;
    int before; /* 1: that of the row before */
    uint32_t k; /* 0: the value; else its derivative by parameter k - 1 */
};
uint32_t hg_carried_ref(uint32_t state, int before, uint32_t k);
struct hg_carried_place hg_carried_at(uint32_t ref);
struct hg_carried_place hg_state_at(const struct hg_expr *e, hg_id state); /* of a STATE node */

/* A new state, without a step yet. */
uint32_t hg_march_add(struct hg_expr *e, const char *name, hg_id before);

/* Its step: a function of states of the previous row, and of those states of this row whose steps were given
 * earlier. */
void hg_march_step(struct hg_expr *e, uint32_t state, hg_id step);

/* All states follow a differential equation in `time`, a column, from the time `from` on.  Their steps are rates. */
void hg_march_flow(struct hg_expr *e, hg_id time, hg_id from, double tolerance, int stiff);

/* A new event at the time `at`, after hg_march_flow; it adds nothing yet. */
struct hg_event *hg_march_event(struct hg_expr *e, hg_id at);

/* 1: the rates contain columns other than the time, or an event occurs at every row. The solution then goes through
 * all rows of a group, which are in the order of time. */
int hg_march_by_rows(const struct hg_expr *e);

/* The leaf of a value. */
hg_id hg_carried(struct hg_expr *e, uint32_t state, int before, uint32_t k);

/* Call it when all steps are known: finds the symbols that they contain, and the derivatives by the model's
 * parameters. */
void hg_march_close(struct hg_expr *e, uint32_t nparam);

/* The STATE of a CARRIED leaf, after hg_march_close; and a root with all CARRIED leaves replaced by their STATEs. */
hg_id hg_state_of(struct hg_expr *e, hg_id carried);
hg_id hg_march_states(struct hg_expr *e, hg_id root);

/* 1: the value of the state in a row changes with the symbol, a column, in the same row. */
int hg_march_sees(const struct hg_expr *e, uint32_t state, hg_id symbol);
/* The same for an expression with CARRIED leaves that is not a step. */
int hg_march_root_sees(const struct hg_expr *e, hg_id root, hg_id symbol);

/* d STATE / d parameter k; 0: none. */
hg_id hg_state_slope(struct hg_expr *e, hg_id state, uint32_t k);
