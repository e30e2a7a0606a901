/* emit_block.h -- common parts of the functions over pairs: leaves of a block, loops around it. */
#pragma once

#include "emit/emit.h"

/* A condition |a p| < FIT_SINC_X0 with p of the pair part and a the same for all pairs of a strip. */
struct hg_near {
    hg_id condition;
    uint32_t pair;    /* place of p in the pair part */
    const char *test; /* name of: it may hold in this strip */
};

struct hg_block {
    struct hg_emit *em;
    struct hg_near near[8];
    uint32_t nnear;
    int derivative;      /* fields used here are needed for derivatives only */
    int direct_exp;      /* exponentials are taken per pair (model, which has no scratch) */
    hg_id exps[16];      /* EXPD nodes met, for the tile's prologue */
    uint32_t nexp;
    uint32_t doubles;    /* table doubles read per (group, frame) */
};

/* Starts the code of a block function with these roots. */
struct hg_code hg_block_begin(struct hg_emit *em, struct hg_block *b, struct hg_tree *out, uint32_t nroot,
                              const hg_id *root);

/* Declares the part that does not depend on the group, before the loop over groups. */
void hg_block_need_pair_part(struct hg_code *c, uint32_t nroot, const hg_id *root);

/* Names scalar operands of the roots, so that they are not recomputed as vectors. */
void hg_block_need_scalars(struct hg_code *c, uint32_t nroot, const hg_id *root);

/* Declares linear parameters under their names; writes the mean as a sum over basis functions. */
void hg_block_declare_linear(struct hg_code *c);
const char *hg_block_mean(struct hg_code *c);

/* Arguments that a function receives in one structure: its declaration; in the function, its members by their own
 * names. */
struct hg_member {
    const char *type, *name; /* type: with the blank or star at its end; the list ends with NULL */
};
void hg_declare_members(struct hg_tree *out, const char *name, const struct hg_member *member);
void hg_define_members(struct hg_tree *out, const char *name, const struct hg_member *member);

/* `struct block`, the argument of the functions moments_block and gradient_block. */
void hg_block_struct(struct hg_tree *out);

/* First definitions of a block function, of its loop over groups, and of the tile function that calls it. given: it
 * receives a struct block. */
void hg_block_head(struct hg_tree *out, int given);
void hg_group_head(struct hg_tree *out);
void hg_tile_head(struct hg_tree *out);

/* In the tile function: the properties of the tile that exponentials need; the loops over rows and blocks with the
 * call of the block function (without its last argument, masked), the members of its struct block besides those of
 * the loops, and statements for the end of a row (or NULL). */
void hg_block_exp_prologue(struct hg_emit *em, const struct hg_block *b, struct hg_tree *out);
void hg_block_loops(struct hg_tree *out, const char *call, const char *members, const struct hg_tree *row_end);
