/* select.h -- which matrices and which frames of a file are fitted.
 *
 * q: the bin centre nearest to the requested value, among the matrices that are in the file; then all azimuths of
 * exactly that q. A model with the axis q takes every q of the file, or those of a list, in increasing order or that of
 * the list, each with its azimuths. Azimuths (of every q): the nearest to each of a list, or all inside ranges. Frames:
 * a window of rows, from 1, ends included. Nothing is chosen silently: a missing item is an error that lists the
 * available ones, and a note reports every adjustment.
 */
#pragma once

#include "base/notes.h"
#include "base/status.h"
#include "config/config.h"
#include "input/source.h"

#include <stddef.h>
#include <stdint.h>

struct fit_selection {
    const char *path;   /* data file */
    struct fit_source_wish wish; /* what is known of its layout */

    double q;           /* 1/angstrom; NaN: the file must have one q only (or all_q) */
    size_t nq;          /* several of them were requested: q is NaN */
    const double *q_list;
    double q_tolerance; /* largest |dq|/q */
    int q_rule;         /* enum fit_q_rule */
    int all_q;          /* 1: every q, or those of q_list (the model has the axis q) */
    int first_q;        /* 1: without q the lowest one, where there are several */

    size_t nlist;
    const double *list;   /* azimuths, degrees, in the order of the fit; takes precedence over `range` */
    double phi_tolerance; /* degrees, for `list` */
    size_t nrange;
    const struct fit_angle_range *range;
    int fallback_all; /* 1: when no azimuth is inside the ranges, take all, with a note */

    long first, last; /* frames, from 1, ends included; last < 0: to the end */
    size_t nmask;
    const struct fit_frame_range *mask; /* frames left out; numbers of the file */
    int exclude_t0; /* 1: leave the first frame of the window out of the pairs */

    double dt;         /* s, of the configuration; NaN: not given */
    const char *config;       /* for messages; NULL: none */
    unsigned dt_line, q_line; /* lines of the configuration where these are null; 0: none */
    int dt_policy;     /* enum fit_dt_policy: what to do when file and configuration differ */
    int time_origin;   /* enum fit_time_origin */
    int origin_given;  /* 1: the user named it */
    double first_time; /* s, time of the frame at the origin; 0 unless data say otherwise */

    int sigma;     /* enum fit_sigma_kind */
    size_t nsigma; /* FIT_SIGMA_VALUE: 1, or one per selected azimuth */
    const double *sigma_value;
    const char *sigma_path; /* FIT_SIGMA_FILE: FILE or FILE:/dataset */

    int stream;        /* enum fit_stream_kind: values in memory or read in every pass */
    int divide;        /* 1: each of several ranks may hold only its share of the values (data/share.h) */
    size_t memory;     /* FIT_STREAM_AUTO: bytes that loading may take; 0: any */
    size_t slot_bytes; /* of the buffers for reading by blocks; 0: the default, and small
                          matrices are read whole */
};

/* The selection of a configuration without entries: all azimuths, all frames, dt of the file, 5 % for q. */
void fit_selection_init(struct fit_selection *sel, const char *path);

/* The selection of a configuration; pointers refer to it. */
void fit_selection_from_config(const struct fit_config *cfg, struct fit_selection *sel);

/* "my.yaml:12: ", where a value was left open; empty when there is no such line. */
void fit_selection_where(const struct fit_selection *sel, unsigned line, char *text, size_t size);

/* Indices of the selected matrices (the caller frees) and their number. */
enum fit_status fit_select_matrices(const struct fit_source *src, const struct fit_selection *sel,
                                    size_t **index, size_t *n, struct fit_notes *notes,
                                    struct fit_error *err);

/* The q of a file, increasing, 1/angstrom; the caller frees. FIT_ERR_DATA when it has none. */
enum fit_status fit_select_every_q(const struct fit_selection *sel, double **q, size_t *n,
                                   struct fit_error *err);

/* The window as rows of the matrices: first row (from 0) and number of rows, at least 3. */
enum fit_status fit_select_window(const struct fit_source *src, const struct fit_selection *sel,
                                  size_t *first, size_t *n, struct fit_notes *notes,
                                  struct fit_error *err);

/* Frame period of the rows by sel->dt_policy. */
enum fit_status fit_select_dt(const struct fit_source *src, const struct fit_selection *sel,
                              double *dt, struct fit_notes *notes, struct fit_error *err);

/* An angle moved into (-180, 180]. */
double fit_wrap_angle(double degrees);

/* 1 when the angle lies in the range; both are wrapped first, and lower > upper goes through 180.
 * A range of 360 degrees or more holds every angle. */
int fit_angle_inside(double degrees, double lower, double upper);

/* "1..3, 7, 9..12": numbers from increasing indices (index + offset), cut with "..." when too
 * long. */
void fit_format_list(const uint32_t *index, size_t n, long offset, char *text, size_t size);
