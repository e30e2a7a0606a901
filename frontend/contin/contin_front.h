/* contin_front.h -- shared by the parts of `homodyne contin`: cmd_contin.c, contin_read.c, contin_words.c,
 * contin_text.c, contin_files.c, contin_figure.c. */
#ifndef FRONT_CONTIN_H
#define FRONT_CONTIN_H

#include "base/json.h"
#include "base/notes.h"
#include "contin/contin.h"
#include "frontend/front.h"

enum { CONTIN_CURVES = 64 };

/* The quantity on the axis of the distribution. */
enum contin_axis { CONTIN_RATE, CONTIN_DIFFUSION, CONTIN_RADIUS };

/* One correlation function: rows of one file with one q. */
struct contin_data {
    char *file;
    double q; /* 1/angstrom; NaN: unknown */
    int q_from_column;
    size_t n;
    double *delay, *y, *sigma; /* s; g1, or g2 - 1; sigma NULL: none */
};

/* The command line, in the units of the program. */
struct contin_words {
    int power; /* 1: g1, 2: g2; 0: determined by the columns */
    size_t nq;
    double q[CONTIN_CURVES];       /* 1/angstrom */
    double temperature, viscosity; /* K, Pa s; NaN: not given */
    enum contin_axis axis;
    int axis_given;
    double range[2];  /* of the axis; NaN: by the data */
    double delays[2]; /* s, window */
    long points, draws, seed;
    int free_baseline;
    enum contin_smoothing smoothing;
    double alpha;
    const char *columns, *units; /* as given, or NULL */
    const char *output;          /* folder, or NULL */
    int table;
};

struct contin_job {
    struct front *f;
    struct contin_words words;
    size_t ncurve;
    struct contin_data data[CONTIN_CURVES];
    struct contin_curve curve[CONTIN_CURVES];
    double *u, *shown; /* grid of the solver; the same as the axis shows it */
    struct contin_problem problem;
    struct contin_result result;
    struct fit_notes notes;
};

/* Options to words (contin_words.c). */
enum fit_status contin_read_words(const struct front_args *a, struct contin_words *w, struct fit_error *err);
/* Adds all curves of a file to the existing ones (contin_read.c). */
enum fit_status contin_read_file(struct contin_job *j, const char *file, struct fit_error *err);

/* Name and unit of the axis; a value of the solver's grid on it. */
const char *contin_axis_name(enum contin_axis axis);
const char *contin_axis_key(enum contin_axis axis);
const char *contin_axis_unit(enum contin_axis axis);
double contin_show(const struct contin_words *w, double u);

void contin_print(FILE *f, const struct contin_job *j);            /* contin_text.c */
void contin_json(struct fit_json *to, const struct contin_job *j); /* contin_files.c */
enum fit_status contin_write(const struct contin_job *j, struct fit_error *err);
enum fit_status contin_draw_figure(const struct contin_job *j, const char *path, struct fit_error *err);

#endif
