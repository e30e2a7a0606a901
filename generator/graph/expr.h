/* expr.h -- the expression graph: hash-consed, immutable, simplified as it is built.
 *
 * Invariants: ids a != b denote different expressions; a node never changes; operands have smaller ids than the node.
 * So equality is a comparison of ids, every pass is a loop over ids without recursion or visited flags, and the result
 * of a pass is an array indexed by id.
 *
 * There are two ways to make a node. hg_raw() takes it as it is. The named constructors simplify first: constants are
 * folded, sums and products flattened, sorted and collected, functions of one frame pulled inside at_i / at_j. The
 * rewrites are listed at the top of simplify.c; they hold for reals wherever both sides are finite.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct hg_diag;
struct hg_march;

typedef uint32_t hg_id; /* 0 means: none */

enum hg_op {
#define OP(name, nargs, text, flags) HG_##name,
#include "graph/ops.def"
    HG_NOP
};

enum { HG_F_POINTWISE = 1, HG_F_BOOL = 2 };

/* What an expression varies with: a set of indices. */
enum {
    HG_T = 1,  /* frame of the time grid */
    HG_I = 2,  /* first frame of the pair */
    HG_J = 4,  /* second frame */
    HG_G = 8,  /* group (angle) */
    HG_R = 16, /* row of a table */
    HG_K1 = 32, /* turn of a sum */
    HG_K2 = 64, /* turn of a sum inside of another one */
    HG_K = HG_K1 | HG_K2
};
enum { HG_LEVELS = 2 }; /* sums one inside of the other */

/* Further lines of the model file in which a node was requested. */
struct hg_line {
    uint32_t line;
    const struct hg_line *next;
};

struct hg_node {
    enum hg_op op;
    unsigned vary;       /* set of HG_T .. HG_K2 */
    uint32_t loop[HG_LEVELS]; /* the loop of each level with which it varies (loop.h), 0: none */
    uint32_t nargs;
    uint32_t depth;      /* operations on the longest path down to a leaf, including its own */
    const hg_id *arg;
    double value;        /* CONST */
    uint32_t ref;        /* PARAM, LINEAR, SETTING, COORD, COLUMN; INDEX: a loop; NODE: its column */
    const char *name;    /* name in the model, or NULL; first wins */
    uint32_t line;       /* line of the model file, 0: none; first wins */
    const struct hg_line *also; /* the other lines that made it, of nodes with operands */
};

struct hg_expr {
    struct hg_arena *arena;
    struct hg_node *node; /* [1 .. n-1]; node[0] is unused */
    uint32_t n;
    uint32_t line;        /* given to nodes made from now on (0: none) */
    struct hg_diag *diag; /* where too_large tells */
    void (*too_large)(const struct hg_expr *e); /* called when the work exceeds the limit; NULL: never */
    struct hg_loops *loops;
    struct hg_march *march; /* states (march.h); NULL: none */
    struct hg_expr_private *private_;
};

struct hg_expr *hg_expr_new(struct hg_arena *a);

/* Work on a graph is counted, not timed, so that a model is refused everywhere or nowhere. An evaluation counts one
 * step for every node and operand; building or looking up a node counts several. A model of 1000 nodes takes about
 * 10 million steps. */
enum { HG_STEPS_TO_BUILD = 4, HG_MOST_STEPS_OF_SCRIPT = 125000000 };
#define HG_MOST_STEPS UINT64_C(8000000000) /* 200 parameters of 40 peaks, 63000 nodes, take more than 1e9 */
void hg_steps(const struct hg_expr *e, uint64_t n);
uint64_t hg_steps_done(const struct hg_expr *e);

/* Sum of the depths of all nodes. The cost of derivatives, degeneracies and rounding errors grows with it: each
 * node's share runs through all nodes below it. It is known while the model runs, long before that work begins. */
uint64_t hg_depths(const struct hg_expr *e);

static inline const struct hg_node *hg_at(const struct hg_expr *e, hg_id id)
{
    return &e->node[id];
}

extern const char *const hg_op_text[HG_NOP];
extern const unsigned char hg_op_flags[HG_NOP];

/* The node op(arg...) as it stands. */
hg_id hg_raw(struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg);
hg_id hg_const(struct hg_expr *e, double value);
hg_id hg_symbol(struct hg_expr *e, enum hg_op op, uint32_t ref); /* PARAM LINEAR SETTING COORD COLUMN TIME STEP */

/* An opaque scalar, LOCAL ref, that varies as `def` does: with groups and turns of sums. */
hg_id hg_local(struct hg_expr *e, uint32_t ref, hg_id def);

/* A number for each point and group, SEED ref, that the caller of the function determines (emit_gradient.c). */
hg_id hg_seed(struct hg_expr *e, uint32_t ref);
/* The same for DIRECTION and INPUT, with any `vary`. */
hg_id hg_opaque(struct hg_expr *e, enum hg_op op, uint32_t ref, unsigned vary);

/* Simplifying constructors (simplify.c). */
hg_id hg_sum(struct hg_expr *e, uint32_t n, const hg_id *arg);
hg_id hg_prod(struct hg_expr *e, uint32_t n, const hg_id *arg);
hg_id hg_add(struct hg_expr *e, hg_id a, hg_id b);
hg_id hg_sub(struct hg_expr *e, hg_id a, hg_id b);
hg_id hg_mul(struct hg_expr *e, hg_id a, hg_id b);
hg_id hg_div(struct hg_expr *e, hg_id a, hg_id b);
hg_id hg_neg(struct hg_expr *e, hg_id a);
hg_id hg_pow(struct hg_expr *e, hg_id a, hg_id b);
hg_id hg_call(struct hg_expr *e, enum hg_op f, hg_id a);              /* EXP .. SIGN */
hg_id hg_call2(struct hg_expr *e, enum hg_op f, hg_id a, hg_id b);    /* ATAN2, LT, LE */
hg_id hg_call_many(struct hg_expr *e, enum hg_op f, const hg_id *arg); /* functions of an order: functions.h */
hg_id hg_where(struct hg_expr *e, hg_id condition, hg_id yes, hg_id no);
hg_id hg_potential(struct hg_expr *e, hg_id f);                       /* f varies with HG_T (and HG_G) only */
hg_id hg_pair_at(struct hg_expr *e, hg_id f, int second);             /* f(t1) or f(t2) */
hg_id hg_delta(struct hg_expr *e, hg_id potential);

/* x as one unit: it is not multiplied out, and derivatives go through it first. */
hg_id hg_hold(struct hg_expr *e, hg_id x);

/* The sum of body over the turns of the loop of `index`; factors that do not vary with the loop are taken out. */
hg_id hg_reduce(struct hg_expr *e, hg_id index, hg_id body);

/* Any operation by its simplifying constructor (used by passes that rebuild expressions). */
hg_id hg_make(struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg);

/* Names a node for the emitted code, when it has no name yet. */
void hg_name(struct hg_expr *e, hg_id id, const char *name);

/* Was the node requested in this line, or by a derivative of something there? */
int hg_has_line(const struct hg_expr *e, hg_id id, uint32_t line);

/* 1 and its value when the node is a constant. */
int hg_is_const(const struct hg_expr *e, hg_id id, double *value);
int hg_is_value(const struct hg_expr *e, hg_id id, double value);

/* 1 when `id` contains `leaf` (a PARAM, a DELTA, any node). */
int hg_contains(const struct hg_expr *e, hg_id id, hg_id leaf);
/* below[id] = 1 for root and all nodes below it; root + 1 elements; the caller frees them. */
unsigned char *hg_below(const struct hg_expr *e, hg_id root);

/* Marks root and, up to root, everything below marked nodes. */
void hg_mark(const struct hg_expr *e, hg_id root, unsigned char *mark);

/* Replaces from[k] by to[k] everywhere in root, simplifying. */
hg_id hg_replace(struct hg_expr *e, hg_id root, uint32_t n, const hg_id *from, const hg_id *to);

/* d root / d leaf; leaf may be any node and is then treated as independent of its operands (diff.c). Returns the
 * constant 0 when root does not depend on leaf. */
hg_id hg_diff(struct hg_expr *e, hg_id root, hg_id leaf);

/* slope[k] <- d root / d leaf[k] for n leaves (nodes without operands), by one sweep from the root down: its cost is
 * a multiple of that of root, however many leaves there are. Where a choice (where) depends on a leaf, by n sweeps
 * up. root must be an expression of rows, without potential, delta or at. */
void hg_gradient(struct hg_expr *e, hg_id root, uint32_t n, const hg_id *leaf, hg_id *slope);

/* Directional derivative: the rate at which root changes when leaf[k] changes at the rate dir[k] and everything else
 * is held fixed. Leaves may be any nodes, as in hg_diff. */
hg_id hg_diff_along(struct hg_expr *e, hg_id root, uint32_t n, const hg_id *leaf, const hg_id *dir);

/* One line of text: "D0*pow(ts, alpha) + D_offset" (names where nodes have them, one level deep when
 * expand_root is set). */
char *hg_text(const struct hg_expr *e, hg_id id, int expand_root);
