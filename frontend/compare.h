/* compare.h -- the data of `compare` on two results: computed and printed in cmd_compare.c, as JSON and as a page in
 * compare_json.c. */
#pragma once

#include "frontend/criteria.h"
#include "frontend/front.h"
#include "frontend/loo.h"
#include "frontend/result.h"

struct comparison {
    const struct front_result *r[2];
    int same_data, same_model;
    double limit;
    int ranked; /* criteria hold */
    struct front_criteria criteria[2];
    struct front_choice choice;
    char why_not[160];
    double bayes;                                      /* log Bayes factor of the second; NaN: none */
    char no_bayes[160];                                /* why, where both have an evidence */
    struct front_loo loo;                              /* nrow = 0: none */
    char no_loo[160];                                  /* why, where both are posteriors of tables */
    size_t ncompared, nbeyond, nunknown, nonly, nunit; /* nonly: in only one of the two; nunit: of different units */
};

/* The parameter of result `of` (0, 1) that is the same quantity, or NULL. */
const struct front_param *comparison_partner(const struct comparison *c, size_t of, const char *name);
/* Difference in standard deviations; NaN: one of the two was not determined. */
double comparison_sigma(const struct comparison *c, const struct front_param *a, const struct front_param *b);
int comparison_same_unit(const struct front_param *a, const struct front_param *b);
int comparison_shown(const struct front_param *p, int all);
int comparison_differs(const struct comparison *c);
/* The conclusions, one per line, with these names of the results. */
void comparison_verdict(FILE *f, const struct comparison *c, const char *const label[2]);

/* compare_json.c */
enum fit_status comparison_json(FILE *f, const struct comparison *c, int all, struct fit_error *err);
/* The page, by homodyne-report, whose exit status is passed on; compare.html, or the file of --report=FILE or
 * --output. where: the two results as they were named. */
enum fit_status comparison_page(struct front *f, const struct comparison *c, char *const where[2],
                                const struct front_args *a, struct fit_error *err);
