/* plan.h -- the structure of a model, from which every kernel function is written.
 *
 * The mean is split into its linear part and the rest, mean = sum_q lin_q b_q + rest. Then b_q and rest are cut where
 * the graph passes from small index sets (frames, groups) to big ones (pairs, rows). The nodes at the cut are the
 * inputs of a pair: differences of tables, table entries at the first or second frame, and scalars of the call or of
 * the group. They are few, however many parameters they depend on, and
 *
 *     d mean / d theta_k = sum over inputs a of  m_a * tangent_a,k        (chain rule at the cut)
 *
 * with m_a = d mean / d input_a a function of the pair and tangent_a,k a small table, both symbolic. A channel collects
 * the products that share m_a: d mean / d theta_k = sum over channels e of m_e U_e,k.
 */
#pragma once

#include "base/diag.h"
#include "graph/march.h"
#include "model/model.h"

/* A scalar of the call (vary 0) or of the group (HG_G), computed before the pairs; in sums a number for each turn. */
struct hg_local {
    hg_id symbol; /* LOCAL node */
    hg_id def;    /* what it stands for */
};

enum hg_input_kind { HG_INPUT_SCALAR, HG_INPUT_DELTA, HG_INPUT_AT_I, HG_INPUT_AT_J };

/* The kind of input that a node with this operation is for a mean; 0: none. */
int hg_input_kind_of(enum hg_op op, enum hg_input_kind *kind);

struct hg_input {
    enum hg_input_kind kind;
    hg_id leaf;     /* the node inside b_q and rest */
    hg_id def;      /* function of time, or scalar */
    hg_id *tangent; /* [nparam] d def / d theta_k; 0: none */
    hg_id *partial; /* [nlinear + 1] d b_q / d leaf; last: d rest / d leaf; 0: none */
};

/* How the small factor of a channel enters: U(j) - U(i), U(i), U(j), or 1. */
enum hg_channel_kind { HG_CHANNEL_DELTA, HG_CHANNEL_AT_I, HG_CHANNEL_AT_J, HG_CHANNEL_ONE };

struct hg_channel {
    enum hg_channel_kind kind;
    hg_id m;       /* function of the pair (or row), with LINEAR leaves */
    hg_id *table;  /* [nparam] U_k as a function of time; 0: none.  ONE: nonzero marks its parameter */
    uint32_t nuse; /* parameters it serves */
    const char *name; /* the quantity of the derivative: a rate, a factor, a parameter */
};

struct hg_plan {
    struct hg_model *model;
    struct hg_expr *e;
    hg_id mean; /* of the variant */
    uint32_t nparam, nlinear;
    hg_id *basis; /* nlinear */
    hg_id rest;   /* constant 0 when there is none */
    int intercept;
    struct hg_local *local;
    uint32_t nlocal;
    size_t local_room;
    struct hg_input *input; /* pairs */
    uint32_t ninput;
    struct hg_channel *channel;
    uint32_t nchannel;
    hg_id *param; /* PARAM nodes */
    hg_id *linear;
    unsigned char *with_linear; /* by node id: contains a linear parameter; the first nwith_linear nodes are known */
    uint32_t nwith_linear;
    size_t with_linear_room;

    /* For states (graph/march.h), with their scalars made LOCALs: their values before the first row, and their
     * steps; [state x (1 + nparam)]: the value, then derivatives; 0: none. */
    hg_id *before, *step, from;
    hg_id *jacobian; /* of rates: [state x state], 0: none */
    hg_id *event_at, *event_jump; /* [event x width], [event x state x width] */
};

/* The plan of one variant of the model; NULL when an error was reported (not linear in a parameter that was
 * declared so). */
struct hg_plan *hg_plan_new(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d);

/* The LOCAL that stands for def, made when new.  def does not vary with frames, pairs or rows. */
hg_id hg_plan_local(struct hg_plan *p, hg_id def);

/* Replaces scalars inside an expression over pairs or rows by LOCALs. */
hg_id hg_plan_bundle(struct hg_plan *p, hg_id root);
