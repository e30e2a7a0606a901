/* written.h -- a model as its author wrote it, for the page that documents it.
 *
 * The expression graph (expr.h) simplifies as it is built: g1^2 is multiplied out, products are sorted. A reader wants
 * the author's formula. So the front end keeps, for each value of the model file, a tree of the formula as written,
 * with the names of the local variables that hold its parts: t / second stays a quotient, D stays D.
 *
 * Written nodes are small integers into hg_model.written; 0 is none. They are not shared: the same formula written
 * twice is two nodes. A node never changes, except that it may get a name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "graph/expr.h"
#include "graph/units.h"

struct hg_model;

typedef uint32_t hg_wid;

/* The walks below are recursive; a formula nested deeper than this is not shown. */
enum { HG_WRITTEN_DEEP = 200 };

enum hg_word {
    HG_W_NUMBER, /* value */
    HG_W_UNIT,   /* a unit as a factor: unit */
    HG_W_SYMBOL, /* node: parameter, setting, axis, column, time, step, t1, t2 */
    HG_W_ADD,    /* a + b */
    HG_W_SUB,
    HG_W_MUL,
    HG_W_DIV,
    HG_W_NEG, /* -a */
    HG_W_POW,
    HG_W_FUNCTION, /* op of a */
    HG_W_ATAN2,
    HG_W_LT,
    HG_W_LE,
    HG_W_WHERE,    /* condition, value if true, value if false */
    HG_W_INTEGRAL, /* f, t1, t2 */
    HG_W_AT,       /* f, t1 */
    HG_W_TOTAL,    /* f, k, first, last: the sum over k */
    HG_W_OVER,     /* f, x, a, b: the integral over x from a to b */
    HG_W_MEAN,     /* f, x, and two numbers of the distribution of x; value: its enum hg_distribution */
    HG_W_SAME,     /* a, in another unit; derivatives: value, the number of new units in the old one */
    HG_W_REF,      /* the named expression a, by its name (derivatives only) */
    HG_W_GT,       /* a > b (derivatives only) */
    HG_W_WHEN,     /* 1 where the condition a holds, else 0 (derivatives only) */
    HG_W_SLOPE     /* d a / d the parameter `node`, a named (derivatives only) */
};

enum hg_distribution { HG_NORMAL, HG_LOG_NORMAL, HG_SCHULZ, HG_UNIFORM, HG_NDISTRIBUTIONS };

/* Origin of the name of a node: a variable of a function of the file, or of the file itself. */
enum hg_name_rank { HG_UNNAMED, HG_NAMED_INSIDE, HG_NAMED };

struct hg_written {
    enum hg_word word;
    enum hg_op op; /* FUNCTION */
    uint32_t nargs, depth;
    hg_wid arg[4];
    double value;
    hg_unit unit; /* of the value */
    hg_id node;   /* in the expression graph; 0: none */
    const char *name;
    enum hg_name_rank rank;
    uint32_t primes; /* at the name: other nodes have it as well (hg_written_primes) */
    uint32_t number;    /* number instead of primes, from 1, when many nodes have the name; 0: none */
};

hg_wid hg_written_add(struct hg_model *m, const struct hg_written *w);
const struct hg_written *hg_written_at(const struct hg_model *m, hg_wid id);

/* Names a node that is not a leaf; a name of higher rank replaces one of lower rank, otherwise the first one stays. */
void hg_written_name(struct hg_model *m, hg_wid id, const char *name, enum hg_name_rank rank);

/* 1 when the node has a name under which formulas show it. */
int hg_written_is_named(const struct hg_model *m, hg_wid id);

/* 1 for the number `value`. */
int hg_written_is(const struct hg_model *m, hg_wid id, double value);

/* 1 when both are the same value as written: the same node, or equal numbers. */
int hg_written_same(const struct hg_model *m, hg_wid a, hg_wid b);

/* A choice that is a maximum or a minimum: +1 or -1 and its operands, the bounded one first; otherwise 0. */
int hg_written_extremum(const struct hg_model *m, hg_wid id, hg_wid *a, hg_wid *b);

/* 1 when the value changes with the symbol `node`: through named parts as well (direct = 0), or only outside them
 * (direct = 1). `root` itself is always searched. */
int hg_written_depends(const struct hg_model *m, hg_wid root, hg_id node, int direct);

/* The named parts of a formula, each before those it is made of, in the order in which a reader meets them. Returns
 * their number; the list lives in the arena. */
uint32_t hg_written_parts(const struct hg_model *m, hg_wid root, hg_wid **part);

/* 1 when the formula of root mentions the named part. */
int hg_written_mentions(const struct hg_model *m, hg_wid root, hg_wid part);

/* Adds primes to the names of parts of the model's formulas that are already in use, by a symbol or an earlier part. */
void hg_written_primes(struct hg_model *m);

/* The formula of a node of the graph in one line, as its author wrote it and with the names of its parts; a node
 * that the author did not write appears as it is. (written_text.c) */
const char *hg_written_text(const struct hg_model *m, hg_id node);
const char *hg_written_by_author(const struct hg_model *m, hg_id node); /* NULL: nobody wrote it */

/* d root / d the parameter `node`, to be read with the names of root's parts; a part that depends
 * on the parameter enters as a SLOPE.  part: root is one of the parts and may be mentioned by its
 * name.  0 when root does not depend on the parameter.  (written_diff.c) */
hg_wid hg_written_diff(struct hg_model *m, hg_wid root, int part, hg_id node);
