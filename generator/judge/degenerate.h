/* degenerate.h -- parameters that no data can distinguish.
 *
 * A degeneracy is a vector field L = sum_k c_k(theta) d/dtheta_k with L mean = 0 at every data point:
 *   everywhere            f0 exp(-f1 f2): f0 and f2 are one parameter;
 *   where a parameter has a special value    D0 t^alpha + D_offset at alpha = 0;
 *   for data of one group                    v0 cos(phi + phi0) from one angle.
 * A mirror is a map of parameters to others that give the same mean: f <-> 1 - f with ref <-> sample.
 *
 * The search is numerical: the null space of the Jacobian of the mean in extended precision, at the model's random sets
 * and at special values (degenerate.c). Then the result is put into words, with the combinations that stay determined,
 * and proved if possible: L applied to the graph from below must simplify to 0 at nodes through which everything
 * passes. Otherwise it is called "evaluated": the combination of columns vanishes at all points tried within its
 * running error bound (degenerate_name.c). Mirrors are evaluated (mirror.c).
 */
#pragma once

#include <stdio.h>

#include "model/model.h"

struct hg_combination {
    hg_id id;          /* over PARAM, SETTING and COORD leaves */
    const char *text;  /* "f0 exp(-f1 f2)" */
    const char *unit;  /* "" when unknown */
};

struct hg_degeneracy {
    enum fit_degeneracy_kind kind;
    uint32_t n;
    uint32_t *param;     /* n: k for nonlinear, nparam + q for linear parameters */
    struct fit_image *image; /* mirrors: n; else NULL */
    int condition;       /* parameter that has `value`; -1 none */
    double value;
    uint32_t first, ncombination; /* in the list of combinations */
    int held;            /* everywhere only: parameter that may be fixed at any value without loss; -1 none */
    const char *text;    /* a sentence */
    int each;            /* each parameter by itself has no effect */
    int proved;          /* 1: simplified to zero; 0: evaluated */
    int inside;          /* mirrors: the image of the start, or of a random set, is inside the bounds */
};

struct hg_degeneracies {
    uint32_t n, ncombination;
    struct hg_degeneracy *item;
    struct hg_combination *combination;
    size_t room, combination_room;
};

/* Degeneracies of a variant; the model's arena owns them. Adds nodes to the graph, so call it after the functions of
 * the kernel are written. */
const struct hg_degeneracies *hg_degenerate(struct hg_model *m, const struct hg_variant *v);

/* One sentence for each, with the kind of proof. */
void hg_degenerate_print(const struct hg_degeneracies *d, FILE *out);

/* --- shared by the files of this analysis --- */

enum { HG_SETS = 4, HG_GROUPS = 3, HG_FRAMES = 10, HG_ROWS = 60, HG_CIRCUIT = 12 };

/* The mean and its derivatives at points chosen for this analysis: parameter sets from the model's random(), three
 * groups, a short time grid or some rows. */
struct hg_probe {
    struct hg_model *m;
    hg_id mean;
    uint32_t nparam, nlinear, nset, choice[HG_SETS]; /* rows of the model's random sets */
    hg_id *root;              /* mean, then derivatives by parameters and linear parameters */
    struct hg_eval *eval;     /* of all roots */
    struct hg_eval *value;    /* of the mean alone */
    double time[HG_FRAMES], step;
    double *setting;
    double *coord[HG_GROUPS], *linear[HG_GROUPS];
    double *row[HG_ROWS];
    /* By parameters, then linear ones: 1 when the mean contains it only in branches of choices, as in where(lt(q,
     * 2), a, b), that no point above enters, with several groups [0] or one [1]. Nothing is claimed about it: data
     * may enter. */
    unsigned char *unseen[2];
};

void hg_probe_open(struct hg_probe *p, struct hg_model *m, hg_id mean);
void hg_probe_close(struct hg_probe *p);

/* Parameters of random set s in theta; returns theta. */
double *hg_probe_set(const struct hg_probe *p, uint32_t s, double *theta);

/* Visits the data points of `ngroup` groups at theta: calls run for every point with the evaluator filled, until it
 * returns a nonzero value. */
typedef int hg_probe_visit(void *user, const struct hg_eval *ev, uint32_t group);
void hg_probe_run(const struct hg_probe *p, struct hg_eval *ev, const double *theta, uint32_t ngroup,
                  hg_probe_visit *visit, void *user);

/* Puts a circuit into words: fills combination, text, proved of *d, whose kind, param, condition and value are
 * given. c: HG_SETS x n coefficients of the vector field at the random sets. */
void hg_degenerate_name(const struct hg_probe *p, struct hg_degeneracies *all, struct hg_degeneracy *d,
                        const double *c);

/* Adds mirrors. */
void hg_mirrors(const struct hg_probe *p, struct hg_degeneracies *all);
