/* arrays_options.h -- the command line of the program of a user-defined objective. */
#pragma once

#include "arrays/descent.h"
#include "base/command_line.h"

enum { FIT_ARRAYS_MOST = 64 };

struct fit_arrays_options {
    const char *command, *data, *output, *from; /* data: FILE.h5 or FILE.h5:/GROUP */
    size_t nweight, nsize, nset, nstart;
    struct fit_named_number weight[FIT_ARRAYS_MOST], size[FIT_ARRAYS_MOST];
    struct fit_named_text set[FIT_ARRAYS_MOST], start[FIT_ARRAYS_MOST];
    struct fit_descent_options descent;
    size_t threads; /* 0: all */
    int quiet, help, version;
    struct fit_arena arena;
};

enum fit_status fit_arrays_parse(int argc, char **argv, struct fit_arrays_options *o, struct fit_error *err);
void fit_arrays_help(const char *program, const char *title, FILE *out);
