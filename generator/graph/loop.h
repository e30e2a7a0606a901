/* loop.h -- sums that stay loops: bound indices, and the numbers that vary with them.
 *
 * A sum is REDUCE(INDEX, body). Its loop has a level (1, or 2 inside another sum), a number of turns, and a rule that
 * gives up to two columns of numbers, NODE leaves: quadrature abscissae and weights. Loops are few and shared: equal
 * rules of one level are the same loop, so that sums over it are computed together, in one pass.
 *
 * While the body of a sum is being written, the sum has a loop of its own, made by hg_loop_open; hg_loop_close replaces
 * it by the shared one. The open loop reveals a variable that is used outside its sum.
 *
 * The variable of an integral is a HOLD node: a formula of the rule's numbers and of parameters. It is not multiplied
 * out in the body, and derivatives go through it (diff.c).
 *
 * Values of a node over the turns are an array of hg_extent() numbers: level 1 gives the rows, level 2 the columns. A
 * node that varies with frames is an array over these, and varies with no loop.
 */
#pragma once

#include "graph/expr.h"
#include "graph/quadrature.h"

enum { HG_ABSCISSA, HG_WEIGHT, HG_LOOP_COLUMNS };
enum { HG_MIXED = UINT32_MAX }; /* loop of a node that has two of one level: the node was taken out of its sum */

struct hg_loop {
    unsigned level; /* 1 .. HG_LEVELS */
    enum hg_rule_kind rule;
    uint32_t n;
    double first;   /* HG_COUNT: of the numbers first, first + 1, ... */
    uint32_t open;  /* a unique number while the body is written; 0: shared */
    double *column[HG_LOOP_COLUMNS];
    unsigned char used[HG_LOOP_COLUMNS]; /* emitted code reads it */
};

/* Loops are numbers from 1. */
const struct hg_loop *hg_loop_at(const struct hg_expr *e, uint32_t loop);
uint32_t hg_loop_count(const struct hg_expr *e);

uint32_t hg_loop_shared(struct hg_expr *e, unsigned level, enum hg_rule_kind rule, uint32_t n, double first);
uint32_t hg_loop_open(struct hg_expr *e, unsigned level, enum hg_rule_kind rule, uint32_t n, double first);

/* root with the shared loop in place of an open one. */
hg_id hg_loop_close(struct hg_expr *e, uint32_t loop, hg_id root);

/* root with another loop of the same level in place of `from`. */
hg_id hg_loop_replace(struct hg_expr *e, uint32_t from, uint32_t to, hg_id root);

/* root with rules of at most n nodes: coarser integrals of the same structure. */
hg_id hg_loop_thinned(struct hg_expr *e, uint32_t n, hg_id root);

/* root in the form in which rounding and domain are checked. Those of a term do not depend on how fine the rules
 * are, so nested rules of very many turns are thinned. */
hg_id hg_loop_judged(struct hg_expr *e, hg_id root);

hg_id hg_loop_index(struct hg_expr *e, uint32_t loop);
hg_id hg_loop_node(struct hg_expr *e, uint32_t loop, unsigned column);

/* Of a NODE leaf: its loop, its numbers. */
uint32_t hg_node_loop(const struct hg_node *n);
const double *hg_node_numbers(const struct hg_expr *e, const struct hg_node *n);

void hg_node_use(const struct hg_expr *e, const struct hg_node *n); /* emitted code reads it */

/* Numbers of a node over ntime frames and the turns of its loops. */
size_t hg_extent(const struct hg_expr *e, hg_id id, uint32_t ntime);

/* Where the operand has its number for the k-th number of a node. */
size_t hg_place(const struct hg_expr *e, const struct hg_node *n, size_t k, const struct hg_node *operand);

/* Where the body of a sum has the number of a turn, for the k-th number of the sum. */
size_t hg_turn(const struct hg_expr *e, const struct hg_node *sum, size_t k, uint32_t turn);

/* Turns of a sum. */
uint32_t hg_turns(const struct hg_expr *e, const struct hg_node *sum);
