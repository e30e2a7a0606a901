/* code.h -- one function of the emitted C: statements made from expressions.
 *
 * An expression becomes text; nodes used more than once become named temporaries, declared where they are
 * first needed, in the scope that is open.  Above temporaries stands the line of the model that they come from.
 * Leaves (parameters, tables, columns) are written by the caller's function `leaf`, because what a leaf is
 * called depends on the loop it stands in.
 */
#pragma once

#include "emit/tree.h"

#include "model/model.h"

struct hg_code {
    const struct hg_expr *e;
    struct hg_tree *out;
    unsigned open;        /* levels of sums whose loops are open: HG_K1, HG_K2 */
    const unsigned char *together; /* by node: sums that are wanted; others wait for a loop of their own.  NULL: all */
    unsigned vector_if;   /* nodes that vary with one of these are vectors of 8 lanes, the others doubles */
    const char *source;   /* file named in comments, or NULL for no comments */
    const char *(*leaf)(struct hg_code *c, hg_id id); /* text of a leaf; may declare temporaries before */
    int (*is_leaf)(const struct hg_code *c, hg_id id);
    /* A test of numbers that fails only where a condition holds in no lane, NULL for none; may be NULL. */
    const char *(*near)(const struct hg_code *c, hg_id condition);
    int fused;            /* 1: a product in a sum is fused with it, fit_vfma(a, b, sum) */
    struct hg_model *units; /* tells the unit of a node and the text of a line for comments, or NULL */
    const char *const *reserve; /* names the caller uses in the function */
    uint32_t nreserve;
    uint32_t nparam;            /* of them the first are parameters, then settings */
    void *user;
    struct hg_code_private *private_;
};

/* is_leaf where symbols and constants are all that there is. */
int hg_code_is_symbol(const struct hg_code *c, hg_id id);

/* Starts a function: the roots tell how often each node is used. */
void hg_code_begin(struct hg_code *c, uint32_t nroot, const hg_id *root);
void hg_code_end(struct hg_code *c);

/* Opens and closes a scope: temporaries declared inside are forgotten at its end. */
void hg_code_push(struct hg_code *c);
void hg_code_pop(struct hg_code *c);

/* Declares whatever `id` needs, and `id` itself when it deserves a temporary. */
void hg_code_need(struct hg_code *c, hg_id id);

/* A loop over the turns of a sum, for the roots, which vary with it: what they need and does not vary is declared
 * before.  Between the two: a scope.  (code_loop.c) */
void hg_code_open_loop(struct hg_code *c, uint32_t loop, uint32_t nroot, const hg_id *root);
void hg_code_close_loop(struct hg_code *c, uint32_t loop);

/* Declares a sum, and in the same loop all other sums of its loop that the function needs and that can be had. */
void hg_code_reduce(struct hg_code *c, hg_id id);

/* The place of a turn in an array over the turns with which the node varies: "node1", "node1 * 20 + node2". */
const char *hg_code_turn(const struct hg_code *c, hg_id id);

/* A name for a temporary with the value of the node, not yet made unique. */
const char *hg_code_stem(const struct hg_code *c, hg_id id);

/* Text of the expression, after hg_code_need. */
const char *hg_code_text(struct hg_code *c, hg_id id);

/* The same, fit to stand as a factor (with parentheses when it is a sum) or as a vector (fit_vset1 around
 * a scalar). */
const char *hg_code_factor(struct hg_code *c, hg_id id);
const char *hg_code_vector(struct hg_code *c, hg_id id);

/* Declares a temporary with the node's value under its own or the given name, whatever the number of uses;
 * returns the name. */
const char *hg_code_declare(struct hg_code *c, hg_id id, const char *name);

/* Writes the line of the model from which the node comes, with its text, unless it was written last. */
void hg_code_source(struct hg_code *c, hg_id id);

/* Binds the node to a name that the caller has declared. */
void hg_code_bind(struct hg_code *c, hg_id id, const char *name);
/* Declares the array NAME of n vectors with the values id[0..n-1]. */
void hg_code_array(struct hg_code *c, const char *name, uint32_t n, const hg_id *id);
const char *hg_code_bound(const struct hg_code *c, hg_id id);

/* A name not yet used in this function, made from `stem`. */
const char *hg_code_unique(struct hg_code *c, const char *stem);

/* 1 when the name means something else in emitted code (C keywords, <math.h>, loop indices). */
int hg_code_reserved(const char *name);
int hg_code_macro(const char *name); /* may be that of a macro of a C library */

/* How often the node is used in the function. */
uint32_t hg_code_uses(const struct hg_code *c, hg_id id);

int hg_code_is_vector(const struct hg_code *c, hg_id id);

/* Names of the arrays that hold columns of loops, before the number of the loop. */
extern const char *const hg_loop_column_name[];

/* A number as C reads it back to the same bits, in the shortest form. */
const char *hg_number(struct hg_arena *a, double x);
