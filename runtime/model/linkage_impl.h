/* linkage_impl.h -- shared by linkage.c (making) and linkage_kernel.c (working). */
#pragma once

#include "base/arena.h"
#include "model/linkage.h"

/* Rows of a matrix with few entries: entries of row r are [first[r], first[r + 1]). */
struct fit_sparse {
    size_t nrow;
    size_t *first, *column;
    double *value, *constant;
};

/* Groups with the same theta. */
struct fit_link_class {
    size_t ngroup, *group;
    double **coord;          /* naxis x ngroup */
    size_t *first, *count;   /* tables: places of their rows; NULL where the layout has none */
    struct fit_sparse theta; /* inner nparam rows over x */
    const double *setting;   /* of its file; NULL: those of the layout */
    size_t ntime;            /* pairs: frames of its file; 0: all */
    const double *time;      /* times of its file; NULL: those of the layout */
    double step;             /* of these times */
};

struct fit_linkage_private {
    struct fit_link_class *class;
    size_t *curve_class;      /* classes whose curves are reported: those of equal theta and settings once */
    size_t ncurve_class;
    size_t most;              /* groups of the largest class */
    size_t *place;            /* ngroup: inside its class */
    int plain;                /* 1: lin is c, group by group */
    struct fit_sparse *lin;   /* ngroup: inner nlinear rows over c */
    size_t naxis;
    struct fit_arena storage; /* of everything else */
};

/* Function pointers of the kernel. */
void fit_linkage_functions(struct fit_linkage *link);

/* out[nrow] = matrix in + constant. */
void fit_sparse_apply(const struct fit_sparse *s, const double *in, double *out);
