/* emit.h -- from a plan to the text of a kernel.
 *
 * The tile functions are written first; each table or scalar they mention is registered as a field of the
 * workspace.  Then `prepare` is written to fill the fields.  These trees are rolled; the workspace is declared as they
 * read it.  emit.c puts the pieces into the template.
 */
#pragma once

#include <stdio.h>

#include "emit/code.h"
#include "emit/roll.h"
#include "base/names.h"
#include "judge/analysis.h"
#include "structure/factor.h"
#include "structure/form.h"

enum hg_field_kind {
    HG_FIELD_SCALAR,  /* one number, or one for each turn of a sum              w.x[0] */
    HG_FIELD_GROUP,   /* [group][turn]                                          w.x[g] */
    HG_FIELD_GRID,    /* [time], padded: tables on the time grid                w.x[k] */
    HG_FIELD_GRID_G,  /* [group][time]                                          w.x[g*nt + k] */
    HG_FIELD_FRAME,   /* [frame], padded: a table at the used frames            w.x[f] */
    HG_FIELD_FRAME_G, /* the same per group, w.x_i[f*ng + g] and w.x_j[(b*ng + g)*8] */
    HG_FIELD_EXP,     /* exp tables of a frame array u: w.x_i[f], w.x_j[f] */
    HG_FIELD_EXP_G,   /* per group: w.x_i[f*ng + g], w.x_j[(b*ng + g)*8] */
    HG_FIELD_ROT,     /* w.sin_x[f], w.cos_x[f] */
    HG_FIELD_ROT_G,   /* w.sin_x_i[f*ng + g], ..., w.cos_x_j[(b*ng + g)*8] */
    HG_FIELD_ROW      /* [row], padded: values that are carried from row to row   w.x[row] */
};

struct hg_field {
    enum hg_field_kind kind;
    hg_id id;         /* what is tabulated (EXP, ROT: u) */
    const char *name;
    int derivative;   /* needed only for: 0 values, 1 first, 2 second derivatives, 3 those along a direction */
};

struct hg_table { /* an array of the workspace */
    const char *name, *size, *comment;
};

/* What stands in the places of the template. */
struct hg_pieces {
    struct hg_tree *tables, *carve, *prepare, *sums, *points, *combinations;
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
    struct hg_table *table;      /* the arrays of all fields, when all of these are known */
    uint32_t ntable;
    size_t table_room;
    struct hg_rolls rolls;
    struct hg_density_form *density; /* of a noise distribution, once its functions are written; else NULL */
    struct hg_form *form;        /* roots of the tile functions, separated and factored */
    int hessian;                 /* second derivatives are wanted */

    struct fit_cost cost;
    uint32_t table_doubles;
    uint32_t moment_sums; /* vectors per group that moments() keeps */

    struct hg_input_slot *slot;  /* what INPUT nodes stand for, see emit_second.c */
    uint32_t nslot, slot_base;   /* ref of an INPUT node - slot_base: its slot */
    size_t slot_room;
    unsigned calls;      /* of vector functions, about (hg_count_calls) */
    const char *inlined; /* how functions of blocks are declared: FIT_CALLED when there are many calls */
    struct hg_pieces text;
    const struct hg_analysis *found; /* when the file is written */
    const char *equations;           /* of the model in MathML, one a line; NULL: none */
};

/* Kernels with more calls are compiled lightly (emit.c). */
enum { HG_MOST_INLINED = 400 };

/* Registers (or finds) a field; `derivative` sinks to the lowest that is asked for. */
const struct hg_field *hg_emit_field(struct hg_emit *em, enum hg_field_kind kind, hg_id id, int derivative);

/* The same for a CARRIED leaf: the name of its table. */
const char *hg_emit_row_field(struct hg_emit *em, hg_id carried);

/* 1 for a table that is kept with what its rounding left (arrays x and x_low): integrals that values need. */
int hg_emit_has_low(const struct hg_emit *em, hg_id id);

/* The field of a LOCAL, and its text as an operand: "w.x[0]", "w->x[g]", "w.x[g * 40 + node1]". */
const struct hg_field *hg_emit_local_field(struct hg_emit *em, hg_id local);
const char *hg_emit_local(struct hg_emit *em, const struct hg_code *c, hg_id local, const char *w);

/* u = a P with an integral P over time alone and a scalar a that varies with `group` (0 or HG_G): P, else 0. */
hg_id hg_emit_scaled(const struct hg_emit *em, hg_id u, unsigned group, hg_id *a);

/* The functions of a kernel, as C text to `out`. */
void hg_emit_moments(struct hg_emit *em, struct hg_tree *out); /* pairs */
void hg_emit_normal(struct hg_emit *em, struct hg_tree *out);  /* pairs */
void hg_emit_gradient(struct hg_emit *em, struct hg_tree *out); /* pairs; after normal */
void hg_emit_model(struct hg_emit *em, struct hg_tree *out);   /* pairs */
void hg_emit_points(struct hg_emit *em, struct hg_tree *out);  /* points, both spaces */
void hg_emit_second(struct hg_emit *em, struct hg_tree *out);  /* hessian and second, both spaces */
void hg_emit_rows(struct hg_emit *em, struct hg_tree *out);    /* moments, normal, model */
void hg_emit_density(struct hg_emit *em, struct hg_tree *out); /* the same for a noise distribution */
void hg_emit_curves(struct hg_emit *em, struct hg_tree *out);
void hg_emit_prepare(struct hg_emit *em, struct hg_tree *out); /* with em->hessian: direction as well */
void hg_emit_march(struct hg_emit *em, struct hg_tree *out); /* of states: march_values, march_slopes; before prepare */
/* Combinations that stay determined. */
void hg_emit_combine(struct hg_emit *em, const struct hg_degeneracies *d, struct hg_tree *out);
/* Derived quantities of the model. */
void hg_emit_derive(struct hg_emit *em, struct hg_tree *out);
void hg_emit_list_tables(struct hg_emit *em);                  /* em->table */
void hg_emit_carve(struct hg_emit *em, struct hg_tree *out);   /* carve, workspace */
void hg_emit_tables(struct hg_emit *em, struct hg_tree *out);  /* struct tables, when all else is rolled */
void hg_emit_gpu_tables(struct hg_emit *em, struct hg_tree *out); /* all for the readers of fit/gpu.h */

/* The adjoint of d mean/d input = m: sum_q v_q d m/d lin_q + v_rest m(lin = 0), with seeds v as leaves. */
hg_id hg_emit_adjoint(struct hg_emit *em, hg_id m);

/* Declares residual and seeds, from `seeds` (a group's part of adj) and `at_lin` (its linear parameters), the
 * text of the data y and the basis functions followed by the rest. */
void hg_emit_seeds(struct hg_emit *em, struct hg_code *c, const char *y, const hg_id *basis);

/* Sums over products of up to so many basis functions are written one by one, those of more in loops: their number
 * grows with the square. */
enum { HG_FEW_LINEAR = 16 };

/* Text of the leaves that are the same everywhere: parameters, settings, coordinates, the step. 
 * Parameters and settings go by the names that c->reserve lists. */
const char *hg_emit_common_leaf(struct hg_code *c, hg_id id);

/* Parameters and settings under their own names at the start of a function; the names. */
void hg_emit_declare_names(struct hg_emit *em, struct hg_tree *out);
uint32_t hg_emit_names(struct hg_emit *em, const char *const **name);

/* Fills em->cost; prints what was found (explain.c). */
void hg_count_cost(struct hg_emit *em);
unsigned hg_count_calls(const struct hg_emit *em);
void hg_explain(struct hg_emit *em, FILE *out);

/* From the form to a file.  First the functions of tiles and points, whose number of operations is then known: cost;
 * last the file, with the combinations of found->degenerate, since these add nodes to the graph. */
struct hg_emit *hg_emit_functions(struct hg_form *form, const struct hg_variant *v, int hessian);
void hg_emit_file(struct hg_emit *em, const struct hg_analysis *found, FILE *out);
