/* criteria.h -- two fits of the same values by different models: which one the data prefer. */
#ifndef HOMODYNE_CRITERIA_H
#define HOMODYNE_CRITERIA_H

#include "frontend/result.h"

struct front_criteria {
    const char *what;    /* the meaning of minus_two_log_l: "chi2", "n log(RSS/n)", "-2 log L" */
    double nparam;       /* number of fitted parameters; plus one for an estimated noise */
    double minus_two_log_l; /* up to a constant that is the same for both */
    double aic, bic;     /* values that are independent */
    double clic;         /* values that are not */
};

struct front_choice {
    int correlated;      /* 1: the values are not independent: clic applies, not aic and bic */
    double eta;          /* part of the values that count */
    double p;            /* correlated: probability that the further parameters gain as much by chance */
    int better;          /* correlated: 0, 1; -1: the data do not decide */
};

/* For both results. 0: they cannot be compared, and why holds the reason. */
int front_criteria(const struct front_result *const r[2], int same_data, struct front_criteria out[2],
                   struct front_choice *choice, char *why, size_t size);

/* 1: neighbouring residuals are correlated by more than chance. */
int front_is_correlated(const struct front_result *r);

/* log of the Bayes factor of the second against the first; NaN: there is none, and why holds the reason, or "" where
 * one of them has no evidence.  Of efficient estimates there is none, and *why says so. */
double front_bayes_factor(const struct front_result *const r[2], int same_data, char *why, size_t size);

#endif
