/* emit_points.h -- common parts of the functions at single points: leaves, and the loop over points. */
#pragma once

#include "emit/emit.h"

/* `user` of the code of such a function. */
struct hg_points {
    struct hg_emit *em;
    int derivative; /* of fields registered from now on, see struct hg_field */
};

/* The code of a function at points with these roots. */
struct hg_code hg_points_begin(struct hg_points *q, struct hg_tree *out, uint32_t nroot, const hg_id *root);
void hg_points_end(struct hg_code *c);

/* The function's head `static void NAME(.., RESULTS)`, the loop, the points `at` of a vector, and the linear
 * parameters by name. */
void hg_points_head(struct hg_code *c, const char *name, const char *results);

/* A function of time u at frame "i" or "j": its text; declared as a variable made from `name` (may be NULL); its
 * difference, declared likewise; the difference of an integral that is kept with its rounding remainders. */
const char *hg_point_table(struct hg_code *c, hg_id u, const char *frame);
const char *hg_point_at(struct hg_code *c, hg_id u, const char *frame, const char *name);
const char *hg_point_delta(struct hg_code *c, hg_id u, const char *name);
const char *hg_point_delta_low(struct hg_code *c, hg_id u, const char *name);

/* The function of time that an INPUT node stands for, as one point reads it. */
struct hg_input_slot {
    enum hg_input_kind kind; /* not SCALAR: scalars are LOCALs */
    hg_id def;
    int derivative;
};
const char *hg_point_input(struct hg_code *c, hg_id id); /* emit_second.c */
