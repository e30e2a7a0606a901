/* emit_rows.h -- common parts of the functions over the rows of a table. */
#pragma once

#include "emit/emit.h"

/* Text of a leaf in a loop over rows: columns, locals (of the group `g`), settings. */
const char *hg_row_leaf(struct hg_code *c, hg_id id);

/* First definitions of such a function. */
void hg_rows_head(const struct hg_emit *em, struct hg_tree *out);

/* The code inside such a loop, its scope open. */
struct hg_code hg_rows_begin(struct hg_emit *em, struct hg_tree *out, uint32_t nroot, const hg_id *root,
                             const char *(*leaf)(struct hg_code *c, hg_id id));
void hg_rows_end(struct hg_code *c);

/* The function `model`. */
void hg_rows_model(struct hg_emit *em, struct hg_tree *out);

/* The log density l of a noise distribution, as it is written (emit_density.c). */
struct hg_density_form {
    struct hg_emit *em;
    hg_id constant, rest; /* of l */
    hg_id *slope;         /* [nparam] */
    hg_id *bend;          /* upper triangle, row by row */
    hg_id *argument;      /* of the law */
    uint32_t K, nbend;
};

/* Text of a leaf there: the measured value comes with the tile. */
const char *hg_density_leaf(struct hg_code *c, hg_id id);
