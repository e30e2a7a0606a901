/* api.h -- shared by the parts of the shared library. */
#ifndef API_H
#define API_H

#include "api/fit_api.h"

#include "data/dataset.h"
#include "device/device.h"
#include "leastsquares/fit_types.h"
#include "model/linkage.h"

#define API __attribute__((visibility("default")))

struct fit_api_model {
    void *library;
    const struct fit_kernel *kernel, *single[2]; /* single: a table of the only one of its library */
    struct api_devices *devices;
};

struct fit_api_problem {
    const struct fit_api_model *model;
    const struct fit_kernel *kernel;
    struct fit_dataset *geometry; /* for evaluation: no values (pairs), zeros (rows) */
    struct fit_dataset *data;     /* NULL: for evaluation only */
    struct fit_linkage *link;     /* of the geometry: settings of every file; NULL: one file */
    struct fit_dataset_files files;
    size_t *of;                   /* parts of files */
    double *setting;
    struct fit_arena times;       /* the same */
};

/* Keeps the message for fit_api_message() of this thread and returns the status. */
int api_failed(const struct fit_error *err);

/* Copies a structure of a program compiled with an older header; the rest of `to` is zero.  FIT_OK,
 * or an error that names the structure. */
enum fit_status api_take(void *to, size_t size, const void *from, const char *name,
                         struct fit_error *err);

/* Accelerators of a model (device.c): opened when one is first asked for, by its word; closed with the model. */
struct api_devices *api_devices_new(void *library, const char *path, const struct fit_kernel *const *kernels);
void api_devices_free(struct api_devices *devices);

/* Use of a device by one fit, or one call of many: what is told of it at the end. */
struct api_device_use {
    struct fit_device *d;
    struct fit_device_tally before;
    size_t sums, launches;
    char name[120], text[560]; /* as in fit_api_result; name "": NULL there */
};
/* Fits of this thread, and of the threads of its loops, use the device of this word from now on; word NULL: none. */
enum fit_status api_device_begin(struct api_devices *devices, const char *word, struct api_device_use *use,
                                 struct fit_error *err);
/* Until now; also for a use that is all zero. */
void api_device_end(struct api_device_use *use);

/* What a problem is made from, completed: arrays of the caller, and what was left to be filled in. */
struct api_parts {
    const struct fit_kernel *k;
    struct fit_api_data d;
    size_t nfile;          /* 1 at least */
    double *setting;       /* nfile x nsetting */
    double *time;
    const double **column; /* rows: no NULL in it */
    const double **place;  /* coordinates of groups or rows: the model's axes; for several files `file` after them */
    double *file;          /* from 1 */
    struct fit_dataset_files files; /* of files with own times; its arrays are in `times` */
    struct fit_arena times;
    double *zero;          /* nrow */
};

/* For a model of tables: checks settings and covariates. *x is to be freed, whatever is returned. */
enum fit_status api_parts_new(const struct fit_kernel *k, const struct fit_api_data *d, struct api_parts *x,
                              struct fit_error *err);
/* A dataset of the rows, which the caller frees: with the values x->d.value, or with zeros. */
enum fit_status api_parts_rows(const struct api_parts *x, int values, struct fit_dataset **out, struct fit_error *err);
void api_parts_free(struct api_parts *x);

#endif
