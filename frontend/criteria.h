/* criteria.h -- two fits of the same values by different models: which one the data prefer. */
#ifndef HOMODYNE_CRITERIA_H
#define HOMODYNE_CRITERIA_H

#include "result.h"

struct front_criteria {
    const char *what;    /* of what minus_two_log_l stands: "chi2", "n log(RSS/n)", "-2 log L" */
    double nparam;       /* that were fitted; with a noise that was estimated one more */
    double minus_two_log_l; /* less a constant that is the same for both */
    double aic, bic;
};

/* Of both results.  0: they cannot be compared, and why holds the reason. */
int front_criteria(const struct front_result *const r[2], int same_data, struct front_criteria out[2], char *why,
                   size_t size);

#endif
