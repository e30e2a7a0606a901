/* judge_private.h -- what judge.c and judge_second.c share. */
#ifndef JUDGE_PRIVATE_H
#define JUDGE_PRIVATE_H

#include "judge.h"

enum { L = FIT_LANES, MAX_GROUPS = 5, MAX_FRAMES = 45, MAX_ROWS = 64, MAX_LINEAR = 24 };

/* Reference of one point: value and error bound of the mean, the rest, the derivatives (parameters,
 * then linear parameters). */
struct value {
    long double v, e;
};

struct judge {
    struct hg_model *m;
    size_t K, Q;
    hg_id *leaf; /* K + Q */
    hg_id *root; /* mean, rest, K + Q derivatives */
    struct hg_eval *symbolic, *dual;
    hg_id *second; /* packed second derivatives by all pairs of leaves, when the model is to have them */
    struct hg_eval *symbolic2;
    char message[1000];
};

/* One geometry with its parameters. */
struct setup {
    struct judge *jd;
    const struct fit_kernel *k;
    struct random *r;
    struct judge_report *report;
    struct fit_layout l;
    _Alignas(64) double column[4][MAX_ROWS + L];
    double time[2 * MAX_FRAMES], coord[4][MAX_GROUPS], setting[4];
    const double *coord_ptr[4], *column_ptr[4];
    uint32_t frame[MAX_FRAMES];
    double theta[64], lin[MAX_GROUPS * MAX_LINEAR];
    size_t npoint, width; /* reference points; values per point: 2 + K + Q */
    struct value *ref;    /* npoint x width */
    uint32_t *pi, *pj, *pg;
    long double *top; /* largest |value| of each column */
    double *ws, *scratch;
    int derivative; /* what ws was prepared for */
    int values;     /* `model` alone; then width is 1 */
};

/* The place of reference point p, with room for its coordinates and its row. */
struct hg_point judge_point(const struct setup *s, size_t p, double *coord, double *column);

/* 1 when x is within `allowed` bounds e of v; else the message is written. */
int judge_agrees(struct setup *s, enum judge_product what, double x, long double v, long double e,
                 long double allowed);
int judge_annotate(struct setup *s, const char *format, size_t a, size_t b, size_t c);

/* hessian and second at some points, with a workspace prepared for derivative = 1 or 2. */
int judge_second(struct setup *s);

/* Points alone and in a list, bit for bit (judge_alone.c). */
int judge_alone(struct setup *s);

#endif
