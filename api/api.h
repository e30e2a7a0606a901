/* api.h -- shared by the parts of the shared library. */
#ifndef API_H
#define API_H

#include "api/fit_api.h"

#include "data/dataset.h"
#include "leastsquares/fit_types.h"
#include "model/linkage.h"

#define API __attribute__((visibility("default")))

struct fit_api_model {
    void *library;
    const struct fit_kernel *kernel;
};

struct fit_api_problem {
    const struct fit_kernel *kernel;
    struct fit_dataset *geometry; /* for evaluation: no values (pairs), zeros (rows) */
    struct fit_dataset *data;     /* NULL: for evaluation only */
    struct fit_linkage *link;     /* of the geometry: settings of every file; NULL: one file */
    struct fit_dataset_files files;
    size_t *of;                   /* parts of files */
    double *setting;
};

/* Keeps the message for fit_api_message() of this thread and returns the status. */
int api_failed(const struct fit_error *err);

/* Copies a structure of a program compiled with an older header; the rest of `to` is zero.  FIT_OK,
 * or an error that names the structure. */
enum fit_status api_take(void *to, size_t size, const void *from, const char *name,
                         struct fit_error *err);

/* The completed input of a problem: arrays of the caller, and values filled in by default. */
struct api_parts {
    const struct fit_kernel *k;
    struct fit_api_data d;
    size_t nfile;          /* 1 at least */
    double *setting;       /* nfile x nsetting */
    double *time;
    const double **column; /* rows: no NULL in it */
    const double **place;  /* coordinates of groups or rows: the model's axes; for several files `file` after them */
    double *file;          /* from 1 */
    double *zero;          /* nrow */
};

/* For a model of tables: checks settings and covariates. *x is to be freed, whatever is returned. */
enum fit_status api_parts_new(const struct fit_kernel *k, const struct fit_api_data *d, struct api_parts *x,
                              struct fit_error *err);
/* A dataset of the rows, which the caller frees: with the values x->d.value, or with zeros. */
enum fit_status api_parts_rows(const struct api_parts *x, int values, struct fit_dataset **out, struct fit_error *err);
void api_parts_free(struct api_parts *x);

#endif
