/* support.h -- what the end-to-end tests share: the emitted kernels, grids to evaluate them on, programs to
 * run and the numbers they write.
 */
#ifndef TESTS_E2E_SUPPORT_H
#define TESTS_E2E_SUPPORT_H

#include "data/dataset.h"
#include "fit/kernel.h"

#include <stddef.h>

/* All kernels of all models that the build made; ended by NULL. */
extern const struct fit_kernel *const e2e_kernels[];

/* The kernel of the best (isa = NULL) or the named ("v2") level that this machine can run, or NULL. */
const struct fit_kernel *e2e_kernel(const char *model, const char *variant, const char *isa);

/* A grid of two-time data. */
struct e2e_grid {
    size_t ntime;
    const double *time; /* s; NULL: 0, dt, 2 dt, ... */
    double dt, q, gap;
    size_t nframe;         /* used frames; 0: all */
    const uint32_t *frame; /* NULL: all */
    size_t nphi;
    const double *phi; /* degrees */
};

/* A dataset with that geometry and no data; fails the test on error. */
struct fit_dataset *e2e_dataset(const struct fit_kernel *k, const struct e2e_grid *grid);

/* A kernel with its tables at theta. */
struct e2e_prepared {
    const struct fit_kernel *kernel;
    const struct fit_layout *layout;
    double *ws, *scratch;
    enum fit_eval answer; /* of prepare */
};
struct e2e_prepared e2e_prepare(const struct fit_kernel *k, const struct fit_layout *l, const double *theta);
void e2e_release(struct e2e_prepared *p);

/* 64-byte aligned doubles, zero; fails the test when memory is out.  free() releases. */
double *e2e_doubles(size_t n);

/* The larger one, and NaN when one of them is. */
double e2e_max(double a, double b);

/* Runs a program without shell: argv ends with NULL; argv[0] is a name in the folder of the programs, or a
 * path.  Standard output and error go to the files out and err (NULL: nowhere).  Returns the exit status,
 * 128 + signal when it was killed. */
int e2e_run(const char *const argv[], const char *out, const char *err);

/* A number in a JSON file: the path's words are keys or indices of arrays, ended by NULL.  NaN when it is
 * null or absent. */
double e2e_json(const char *file, const char *const path[]);
#define E2E_JSON(file, ...) e2e_json(file, (const char *const[]){__VA_ARGS__, NULL})

/* A string in a JSON file, into text; empty when absent. */
void e2e_json_text(const char *file, const char *const path[], char *text, size_t size);

/* A new folder below TMPDIR, and its removal with all that is in it. */
char *e2e_folder(void);
void e2e_remove(char *folder);

#endif
