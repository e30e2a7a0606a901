/* fit_arrays.c -- values of a compiled model, and a fit of them:
 *     cc fit_arrays.c $(pkg-config --cflags --libs homodyne-gen) -lm -o fit_arrays && ./fit_arrays
 */
#include <fit_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(ok) ((ok) ? (void)0 : (fprintf(stderr, "%s\n", fit_api_message()), exit(1)))

enum { N = 60 };

int main(void)
{
    double delay[N], g2[N], sigma[N], param[] = {0.5, 0.7},
                                      linear[] = {0.2, 1.0}; /* tau, beta; contrast, baseline */
    for (int k = 0; k < N; k++)
        delay[k] = 1e-3 * pow(10, 4.0 * k / (N - 1));
    struct fit_api_model *m = fit_api_open("kww", NULL);
    CHECK(m);
    printf("%s\n", fit_api_text(m, FIT_API_TITLE));

    const double *column[] = {delay, NULL,
                              NULL}; /* the measured value and its error are no covariates */
    struct fit_api_data data = {.size = sizeof data, .nrow = N, .column = column};
    struct fit_api_problem *grid = fit_api_problem_new(m, &data);
    CHECK(grid);
    CHECK(fit_api_evaluate(grid, param, linear, 0, g2, NULL) == 0);
    for (int k = 0; k < N; k++) { /* something like noise: two waves of 0.001 */
        sigma[k] = 0.001;
        g2[k] += sigma[k] * (sin(7.0 * k) + cos(11.0 * k * k));
    }
    data.value = g2;
    data.sigma = sigma;
    struct fit_api_problem *p = fit_api_problem_new(m, &data);
    CHECK(p);
    const struct fit_api_result *r =
        fit_api_fit(p, &(struct fit_api_options){.size = sizeof(struct fit_api_options)});
    CHECK(r);
    for (size_t k = 0; k < r->nfull; k++) {
        struct fit_api_item item = {.size = sizeof item};
        size_t linear_one = k - r->nparam; /* one group: linear parameters follow once */
        CHECK(fit_api_item(m, k < r->nparam ? FIT_API_PARAM : FIT_API_LINEAR,
                           k < r->nparam ? k : linear_one, &item) == 0);
        printf("%-10s %8.4f +- %.4f %s\n", item.name,
               k < r->nparam ? r->param[k] : r->linear[linear_one], r->std[k], item.unit);
    }
    printf("%s: chi2/dof %.3f\n", r->status, r->reduced_chi2);
    fit_api_result_free(r);
    fit_api_problem_free(p);
    fit_api_problem_free(grid);
    fit_api_close(m);
    return 0;
}
