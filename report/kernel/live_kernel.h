/* live_kernel.h -- the functions of live_kernel.c, and the numbers that the page (live.js) uses as names.
 *
 *     live_open, then the arrays of live_at: SETTING .. CELL_J, THETA, LIN, BOUND, DATA, WEIGHT, COLUMN
 *     blocks of several pairs: live_prepare at the fit, then for each group MEAN = its fit, live_reference
 *     for each set of parameters: THETA, live_prepare, live_group of the visible groups;
 *     if the linear parameters are those of all groups, before it live_sums_begin, live_sums of every group,
 *     live_sums_end.  Tied parameters differ from group to group: THETA and live_prepare come before each.
 *
 * A cell is a block of pairs of frames, or a row of a table: measured ones and, with weight 0, points between them.
 * In a table all groups have equally many cells, a multiple of 8; missing ones are copies of the last one.
 *
 * There is one state; a page makes one instance of the module for each result. */
#pragma once

/* Arrays: doubles, or 32-bit whole numbers where it says so. */
enum live_part {
    LIVE_SETTING, /* settings of the model */
    LIVE_COORD,   /* axes x groups */
    LIVE_TIME,    /* the time grid, s */
    LIVE_FRAME,   /* whole: places on it of the frames that are used */
    LIVE_THETA,   /* parameters */
    LIVE_LIN,     /* groups x linear parameters: eliminated, or as they are (LIVE_CONSTANT) */
    LIVE_BOUND,   /* lower and upper bound of each linear parameter */
    LIVE_CELL_I,  /* whole: the pair of frames in the middle of each cell */
    LIVE_CELL_J,
    LIVE_DATA,   /* groups x cells */
    LIVE_WEIGHT, /* groups x cells: 1 / variance; 0: not measured */
    LIVE_SHIFT,  /* groups x cells: see live_kernel.c */
    LIVE_BASIS,  /* of the group at hand: linear parameters + 1, x cells */
    LIVE_MEAN,   /* of the group at hand: cells */
    LIVE_CHI2,   /* groups */
    LIVE_COLUMN, /* of a table: columns x groups x cells */
    LIVE_COUNT,  /* whole: of a table with states, the rows of each group */
    LIVE_PARTS
};

enum { LIVE_INDIVIDUAL, LIVE_AVERAGED, LIVE_CONSTANT };

enum {
    LIVE_MODEL_NAME,
    LIVE_MODEL_HASH,
    LIVE_MODEL_VARIANT,
    LIVE_PARAM_NAME, /* nonlinear ones first */
    LIVE_PARAM_UNIT,
    LIVE_PARAM_DOC,
    LIVE_SETTING_NAME,
    LIVE_AXIS_NAME,
    LIVE_COLUMN_NAME /* of covariates; NULL for those that are measured */
};
enum {
    LIVE_NPARAM,
    LIVE_NLINEAR,
    LIVE_INTERCEPT,
    LIVE_LOWER,
    LIVE_UPPER,
    LIVE_START,
    LIVE_OVER, /* of a linear parameter: >= 0 where every group has its own */
    LIVE_NCOLUMN,
    LIVE_NSTATE, /* > 0: there are no places between the rows */
    LIVE_IS_TABLE,
    LIVE_HAS_LAW /* 1: CHI2 is -2 log likelihood */
};

/* Room for all arrays; of a table ntime = nframe = 0.  -1: no memory; 1: this model is not for pages. */
int live_open(int ngroup, int ntime, int nframe, int ncell, double step);
void *live_at(int part);
void live_step(double step); /* the frame period of the times that are put next: of files with their own */
const char *live_word(int what, int at); /* NULL: there is none */
double live_number(int what, int at);

int live_prepare(void);             /* 1: the kernel rejects the parameters */
void live_reference(int group);     /* MEAN holds the means of the fit over the blocks */
void live_sums_begin(void);
void live_sums(int group); /* at the parameters as they are prepared */
void live_sums_end(void);  /* LIN of all groups */
void live_group(int group, int scaling); /* MEAN, CHI2 and, of LIVE_INDIVIDUAL, LIN of the group */
void live_points(int group, int n); /* MEAN at the first n pairs of CELL_I, CELL_J, with LIN as it is */
