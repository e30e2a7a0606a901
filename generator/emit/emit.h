/* emit.h -- from a plan to the text of a kernel.
 *
 * The tile functions are written first; each table or scalar they mention is registered as a field of the
 * workspace.  Then `prepare` is written to fill the fields.  emit.c puts the pieces into the template.
 */
#ifndef HG_EMIT_H
#define HG_EMIT_H

#include <stdio.h>

#include "emit/code.h"
#include "judge/degenerate.h"
#include "base/names.h"
#include "structure/plan.h"
#include "structure/factor.h"
#include "structure/separate.h"

enum hg_field_kind {
    HG_FIELD_SCALAR,  /* one number                                             w.x[0] */
    HG_FIELD_GROUP,   /* [group]                                                w.x[g] */
    HG_FIELD_GRID,    /* [time], padded: tables on the time grid                w.x[k] */
    HG_FIELD_GRID_G,  /* [group][time]                                          w.x[g*nt + k] */
    HG_FIELD_FRAME,   /* [frame], padded: a table at the used frames            w.x[f] */
    HG_FIELD_FRAME_G, /* the same per group, w.x_i[f*ng + g] and w.x_j[(b*ng + g)*8] */
    HG_FIELD_EXP,     /* exp tables of a frame array u: w.x_i[f], w.x_j[f] */
    HG_FIELD_EXP_G,   /* per group: w.x_i[f*ng + g], w.x_j[(b*ng + g)*8] */
    HG_FIELD_ROT,     /* w.sin_x[f], w.cos_x[f] */
    HG_FIELD_ROT_G    /* w.sin_x_i[f*ng + g], ..., w.cos_x_j[(b*ng + g)*8] */
};

struct hg_field {
    enum hg_field_kind kind;
    hg_id id;         /* what is tabulated (EXP, ROT: u) */
    const char *name;
    int derivative;   /* needed only for: 0 values, 1 first, 2 second derivatives, 3 those along a direction */
};

struct hg_emit {
    struct hg_plan *p;
    struct hg_expr *e;
    const char *variant;
    struct hg_field *field;
    uint32_t nfield;
    size_t field_room;
    struct hg_names field_names;
    uint32_t *field_of;          /* by node id: 1 + the latest field of that node, 0: none */
    uint32_t *field_before;      /* by field: the one before it of the same node, as above */
    size_t field_of_room, field_before_room;
    struct hg_separation separation;

    /* roots of the tile functions, separated and factored */
    hg_id *basis, rest;
    hg_id *m;                    /* [nchannel] */
    struct hg_moment *moment;    /* cross moments of basis functions and channels */
    uint32_t nmoment;

    struct fit_cost cost;
    uint32_t table_doubles;
    uint32_t moment_sums; /* vectors per group that moments() keeps */

    struct hg_input_slot *slot;  /* what INPUT nodes stand for, see emit_second.c */
    uint32_t nslot, slot_base;   /* ref of an INPUT node - slot_base: its slot */
    size_t slot_room;
    const struct hg_degeneracies *degenerate; /* last of all, since it adds nodes */
};

/* sum over pairs of  core * U  for a basis function q and a channel c; coefficient * that is sum b_q m_k. */
struct hg_moment {
    uint32_t q, channel;
    hg_id coefficient; /* scalar with LINEAR leaves */
    hg_id core;        /* function of the pair */
    uint32_t slot;     /* equal cores of the same kind of channel share one */
};

/* Registers (or finds) a field; `derivative` sinks to the lowest that is asked for. */
const struct hg_field *hg_emit_field(struct hg_emit *em, enum hg_field_kind kind, hg_id id, int derivative);

/* 1 for a table that is kept with what its rounding left (arrays x and x_low): integrals that values need. */
int hg_emit_has_low(const struct hg_emit *em, hg_id id);

/* u = a P with an integral P over time alone and a scalar a that varies with `group` (0 or HG_G): P, else 0. */
hg_id hg_emit_scaled(const struct hg_emit *em, hg_id u, unsigned group, hg_id *a);

/* Separates and factors the plan's expressions: fills basis, rest, m, moment. */
void hg_emit_arrange(struct hg_emit *em);

/* Takes the scalars of the call and of groups out of a product: x = coefficient * core. */
void hg_emit_strip(struct hg_emit *em, hg_id x, hg_id *coefficient, hg_id *core);

/* Cross moments that share a core: their number, one of the moments, how its table enters, and whether the
 * table of (channel, parameter k) is wanted. */
uint32_t hg_emit_nslot(const struct hg_emit *em);
const struct hg_moment *hg_emit_slot(const struct hg_emit *em, uint32_t s);
enum hg_channel_kind hg_emit_slot_kind(const struct hg_emit *em, uint32_t s);
int hg_emit_slot_uses(const struct hg_emit *em, uint32_t s, uint32_t channel, uint32_t k);

/* The functions of a kernel, as C text to `out`. */
void hg_emit_moments(struct hg_emit *em, FILE *out); /* pairs */
void hg_emit_normal(struct hg_emit *em, FILE *out);  /* pairs */
void hg_emit_gradient(struct hg_emit *em, FILE *out); /* pairs; after normal */
void hg_emit_model(struct hg_emit *em, FILE *out);   /* pairs */
void hg_emit_points(struct hg_emit *em, FILE *out);  /* points, both spaces */
void hg_emit_second(struct hg_emit *em, FILE *out);  /* hessian and second, both spaces */
void hg_emit_rows(struct hg_emit *em, FILE *out);    /* moments, normal, model */
void hg_emit_density(struct hg_emit *em, FILE *out); /* the same for a law of the errors */
void hg_emit_curves(struct hg_emit *em, FILE *out);
void hg_emit_prepare(struct hg_emit *em, FILE *out); /* prepare; direction when second derivatives are asked for */
void hg_emit_combine(struct hg_emit *em, FILE *out); /* combinations that stay determined */
void hg_emit_tables(struct hg_emit *em, FILE *out);  /* struct tables, carve, workspace */

/* The adjoint of d mean/d input = m: sum_q v_q d m/d lin_q + v_rest m(lin = 0), with seeds v as leaves. */
hg_id hg_emit_adjoint(struct hg_emit *em, hg_id m);

/* Declares residual and seeds, from `seeds` (a group's part of adj) and `at_lin` (its linear parameters), the
 * text of the data y and the basis functions followed by the rest. */
void hg_emit_seeds(struct hg_emit *em, struct hg_code *c, const char *y, const hg_id *basis);

/* Text of the leaves that are the same everywhere: parameters, settings, coordinates, the step. 
 * Parameters and settings go by the names that c->reserve lists. */
const char *hg_emit_common_leaf(struct hg_code *c, hg_id id);

/* Parameters and settings under their own names at the start of a function; the names. */
void hg_emit_declare_names(struct hg_emit *em, FILE *out);
uint32_t hg_emit_names(struct hg_emit *em, const char *const **name);

/* Fills em->cost; prints what was found (explain.c). */
void hg_count_cost(struct hg_emit *em);
void hg_explain(struct hg_emit *em, FILE *out);

/* The whole kernel file. */
int hg_emit_kernel(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d, FILE *out, FILE *explain);

#endif
