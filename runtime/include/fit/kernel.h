/* fit/kernel.h -- the only bridge between an emitted kernel and the runtime.
 *
 * A kernel is one compiled model at one instruction-set level: a constant descriptor (what the model is)
 * and a few functions that work on one tile of data (what it computes).  Kernels allocate nothing, keep no
 * global state, are re-entrant, and call nothing but <math.h> and the inline functions of fit/vmath.h.
 *
 * The model of the data, for a group g (an azimuth, a q bin: one measured matrix or one table):
 *
 *     mean = sum_q  lin[g*nlinear + q] * b_q(theta)  +  rest(theta)
 *
 * theta are the nparam nonlinear parameters; the nlinear linear ones are eliminated by the driver
 * (variable projection, Golub & Pereyra 1973), one set per group unless `over` says that they are shared.
 *
 * That is for errors that are normal.  A kernel with a `density` (tables only) gives the log density l(y | theta) of
 * any other noise distribution instead; it has no linear parameters, and of the sums below
 *     moments    gives -2 l        where it is  r^2,
 *     normal     gives -d2 l       where it is  m_k m_l,    and  d l / d theta_k  where it is  m_k r,
 *     gradient   gives d l / d theta_k  where it is  m_k r,
 * so that least squares, with known errors of 1, become maximum likelihood and Gauss-Newton steps become Newton's.
 * model and points are the mean, as ever: what is drawn beside the data.
 *
 * Two spaces of data points:
 *   FIT_PAIRS  pairs of frames i < j of one time grid, for each group (two-time correlation);
 *   FIT_ROWS   rows of a table; i is the place of a row.  Groups are rows with the same value of the axes (of
 *              one q: a curve of its own); without axes there is one.  Rows of a group follow one another,
 *              each group begins at a multiple of FIT_LANES, a tile holds rows of one group.
 *
 * Order of numbers in a tile.  Data are stored in vectors of FIT_LANES columns, angles innermost, so that
 * a kernel reads one stream from front to back:
 *   pairs:  for i in [i0, i1)  for block b in [max(j0, i+1) / 8, ceil(j1 / 8))  for g  8 lanes j = 8b .. 8b+7
 *           a lane counts when i < j < j1;  other lanes hold zero.
 *   rows:   for block b in [i0 / 8, ceil(i1 / 8))  8 lanes;  a lane counts when row < i1.
 * Pairs without weights may also lie in single precision as a file has them, row by row in a matrix of each group
 * (fit_tile.raw): kernels that say so (fit_kernel.raw) read them there, with the same bits.
 */
#ifndef FIT_KERNEL_H
#define FIT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define FIT_KERNEL_ABI 16
#define FIT_LANES 8 /* doubles in a vector; fixed, so the order of summation does not depend on the machine */

enum { FIT_CARRIED = 64 }; /* states of a kernel, at most (fit_layout.carried) */

enum fit_space { FIT_PAIRS, FIT_ROWS };

/* Python packages for the same data. */
enum fit_peer { FIT_PEER_NONE, FIT_PEER_HOMODYNE, FIT_PEER_HETERODYNE, FIT_PEER_XPCSJAX };

/* What a kernel answers.  REJECT: the parameters give non-finite tables; the driver shortens its step. */
enum fit_eval { FIT_EVAL_OK = 0, FIT_EVAL_REJECT = 1, FIT_EVAL_STOP = -1 };

/* Kinds of priors, a row each: its word in model files, its name in configurations, how many numbers it has (two: a and
 * b; one: the scale b), whether it lives above 0 only, how a model file asks for it. */
#define FIT_PRIORS(ROW) \
    ROW(NONE, "none", "Uniform", 0, 0, "prior = {\"none\"}") /* flat inside the bounds */ \
    ROW(NORMAL, "normal", "Normal", 2, 0, "prior = {\"normal\", mean, sd}") \
    ROW(TRUNCATED_NORMAL, "truncated_normal", "TruncatedNormal", 2, 0, /* inside the bounds */ \
        "prior = {\"truncated_normal\", mean, sd}") \
    ROW(LOG_NORMAL, "log_normal", "LogNormal", 2, 1, "prior = {\"log_normal\", mean, sd} of the logarithm") \
    ROW(HALF_NORMAL, "half_normal", "HalfNormal", 1, 1, "prior = {\"half_normal\", scale}") \
    ROW(EXPONENTIAL, "exponential", "Exponential", 1, 1, "prior = {\"exponential\", scale}") \
    ROW(HALF_CAUCHY, "half_cauchy", "HalfCauchy", 1, 1, "prior = {\"half_cauchy\", scale}") \
    ROW(BETA_SCALED, "beta", "BetaScaled", 2, 0, "prior = {\"beta\", a, b}, scaled to the bounds") \
    ROW(LAPLACE, "laplace", "Laplace", 2, 0, "prior = {\"laplace\", mean, scale}") \
    ROW(LOG_UNIFORM, "log_uniform", "LogUniform", 0, 0, "prior = {\"log_uniform\"}, inside positive bounds")

enum fit_prior_kind {
#define FIT_KIND(KIND, ...) FIT_PRIOR_##KIND,
    FIT_PRIORS(FIT_KIND)
#undef FIT_KIND
    FIT_PRIOR_TANH_NORMAL, /* these two are the runtime's own: model/prior.h */
    FIT_PRIOR_JEFFREYS
};

struct fit_param {
    const char *name;         /* as in the model file */
    const char *unit;         /* "angstrom^2/s", "1" when dimensionless */
    const char *doc;          /* one sentence */
    const char *const *alias; /* other spellings accepted in configurations; ends with NULL; may be NULL */
    double start, lower, upper;
    enum fit_prior_kind prior;
    double prior_a, prior_b;
    int over; /* axis index: one value per group; -1: one value.  A nonlinear one (density only) is that of the group
                 at hand: the driver gives every group its own theta (linkage.h) */
};

/* A setting that is known when data are loaded: of all rows of a column. */
enum fit_statistic { FIT_STATISTIC_NONE, FIT_STATISTIC_MEAN, FIT_STATISTIC_SD };

struct fit_setting {
    const char *name, *unit, *doc;
    double value; /* default; NaN: must be given, unless it is a statistic */
    enum fit_statistic statistic;
    uint32_t column; /* of which it is */
};

struct fit_axis {
    const char *name, *unit, *doc;
};

/* A column of a table model. */
enum fit_role { FIT_ROLE_COVARIATE, FIT_ROLE_VALUE, FIT_ROLE_SIGMA };
struct fit_column {
    const char *name, *unit, *doc;
    enum fit_role role;
    double lower, upper; /* lower < upper: the range that the model declares */
};

/* A derived curve over the time grid or, for table models, over the first covariate. */
struct fit_curve {
    const char *name, *unit, *doc;
};

/* A number that follows from parameters, settings and coordinates: m.derived. */
struct fit_derived {
    const char *name, *unit, *doc;
    int each;                  /* 1: one value for each group; 0: one for all */
    const unsigned char *uses; /* nparam + nlinear: 1: it contains that parameter; emitted kernels only */
};

/* Parameters that no data of some kind can tell apart, found and, where `proved`, proved by the compiler. */
enum fit_degeneracy_kind {
    FIT_DEGENERATE_EVERYWHERE, /* whatever the parameters and the data */
    FIT_DEGENERATE_AT_VALUE,   /* where parameter `condition` has the value `value` */
    FIT_DEGENERATE_ONE_GROUP,  /* for data of one group */
    FIT_DEGENERATE_MIRROR,     /* another set of parameters gives the same mean */
    FIT_DEGENERATE_MIRROR_ANGLE /* the same for groups at equal coordinates (of axis 0) modulo 90 degrees:
                                   parameter `condition` -> `value` coordinate - parameter */
};
/* Of a mirror: the image of parameter param[i] is shift + sign param[from]. */
struct fit_image {
    unsigned from; /* place in fit_degeneracy.param */
    double shift, sign;
};
struct fit_degeneracy {
    enum fit_degeneracy_kind kind;
    size_t nparam;
    const unsigned *param; /* those that take part: k, or fit_kernel.nparam + q for linear ones */
    const struct fit_image *image; /* MIRROR: nparam; else NULL */
    int condition;         /* index of a nonlinear parameter, or -1 */
    double value;
    size_t first, ncombination; /* what stays determined: fit_kernel.combination[first ...] */
    int each;              /* 1: each of them by itself has no effect; 0: they depend on one another */
    int held;              /* everywhere only: this one loses nothing when it is held at a value; -1: none */
    int proved;            /* 1: simplified to zero; 0: evaluated at many points */
    const char *text;      /* "f0 and f2 enter only as f0 exp(-f1 f2): only this combination is determined" */
};

/* A function of the nonlinear parameters that stays determined. */
struct fit_combination {
    const char *text, *unit; /* "f0 exp(-f1 f2)"; unit "" when it depends on parameters */
};

/* Nonlinear parameters that make a rate; no parameter has a part in two.  Samplers have coordinates of their own for
 * them.
 *     POWER         amplitude (t / time)^exponent + offset
 *     EXPONENTIAL   amplitude exp(exponent (t / time - shift)) + offset; without shift (-1) that is 0 */
enum fit_rate_kind { FIT_RATE_POWER, FIT_RATE_EXPONENTIAL };
struct fit_rate {
    enum fit_rate_kind kind;
    unsigned amplitude, exponent, offset;
    int shift;
    double time; /* s */
};

/* Nonlinear parameters in the priors of others: levels of a hierarchy. */
struct fit_level {
    unsigned from[2]; /* of a parameter: 1 + the one whose value stands for prior_a, prior_b; 0: the number */
    int hyper;        /* 1: it has a part in priors of others only, none in the data */
};

/* Laws that the runtime can draw from, compute the variance of, and name.  Arguments beside the mean, in order, each
 * perhaps different in every row; y is in the unit of the mean.
 *     GAUSSIAN sd   STUDENT_T scale nu   LAPLACE scale (of exp(-|y - mean| / scale))   LOG_NORMAL sd (of log y; the
 *     mean is the median)   EXPONENTIAL   GAMMA shape   POISSON   NEGATIVE_BINOMIAL modes (variance mean + mean^2 /
 * modes: counts of speckle: Goodman, Statistical Optics, 1985, section 9.2)   BINOMIAL trials (the mean is that of the
 * counts) */
enum fit_law {
    FIT_LAW_OTHER,
    FIT_LAW_GAUSSIAN,
    FIT_LAW_STUDENT_T,
    FIT_LAW_LAPLACE,
    FIT_LAW_LOG_NORMAL,
    FIT_LAW_EXPONENTIAL,
    FIT_LAW_GAMMA,
    FIT_LAW_POISSON,
    FIT_LAW_NEGATIVE_BINOMIAL,
    FIT_LAW_BINOMIAL
};

/* What measured values may be: finite; not negative; positive; 0, 1, 2, ...; the same, up to the argument of BINOMIAL.
 */
enum fit_support {
    FIT_SUPPORT_REAL,
    FIT_SUPPORT_NONNEGATIVE,
    FIT_SUPPORT_POSITIVE,
    FIT_SUPPORT_COUNTS,
    FIT_SUPPORT_TRIALS
};

/* A quantity that is carried from row to row. */
struct fit_state {
    const char *name, *unit, *doc;
};

/* One of several measured quantities of a table: the columns with its values and with their standard deviations. */
struct fit_observable {
    unsigned value;
    int sigma; /* -1: none */
    enum fit_support support; /* where errors have a law */
};

struct fit_layout;
struct fit_tile;

/* Errors that are not normal.  l = constant + the rest: terms without parameters are in `constant` alone, to be added
 * up once for a data set. */
struct fit_density {
    enum fit_law law;
    enum fit_support support;
    const char *name;            /* "poisson" */
    const char *formula;         /* of l, plain text; or NULL */
    size_t nargument;            /* of the law */
    const char *const *argument; /* their names */

    /* sum w times the terms without parameters; needs no tables. */
    double (*constant)(const struct fit_layout *l, const struct fit_tile *t);

    /* l, complete, in the order of the tile's data (lanes that do not count hold anything). */
    void (*log_density)(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *out);

    /* The arguments in the order of the tile's data, one after the other, fit_padded(i1) - i0 numbers each. */
    void (*arguments)(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *out);
};

/* Operations counted by the compiler: multiplications, additions, divisions, calls of functions. */
struct fit_cost {
    unsigned per_frame, per_pair, per_pair_group; /* arithmetic operations of `normal` */
    unsigned value_per_pair_group;                /* of `moments` */
    unsigned functions_per_pair;                  /* exp, sin, ... left in the pair loop; 0 when separable */
};

/* The geometry of one data set: fixed before the first evaluation, read-only, shared by threads. */
struct fit_layout {
    const double *setting; /* nsetting values, in the descriptor's order and units */

    size_t ngroup;              /* groups: measured matrices */
    const double *const *coord; /* naxis arrays of ngroup coordinates, in the descriptor's units */

    /* FIT_PAIRS */
    size_t ntime;          /* frames of the time grid on which integrals run */
    const double *time;    /* ntime times, s, increasing */
    double step;           /* frame period, s */
    size_t nframe;         /* frames that take part in pairs */
    const uint32_t *frame; /* nframe indices into time, increasing (masked frames are left out); in a shard
                              (shard.h) only inside tiles, from row to columns */
    size_t panel;          /* columns of a tile: a multiple of FIT_LANES; j0 is a multiple of it */
    size_t chunk;          /* rows of a tile; i0 is a multiple of it */

    /* FIT_ROWS */
    size_t nrow;                 /* places: rows, and with groups the padding between them */
    const double *const *column; /* ncolumn arrays, each aligned to 64 bytes; each group is padded with copies
                                    of its last row to a multiple of 8 */
    const size_t *first, *count; /* ngroup places: where the rows of a group begin, in the order of the file, and how
                                    many there are; NULL: one group of all rows.  For kernels with states */

    /* Of kernels with feedback, tables of values alone: `carried` (FIT_CARRIED places, or NULL) gets what their states
     * are behind the row `from`.  Where that is not the first of its group the states before it are taken from there:
     * rows follow as values become known, each in a time that does not grow. */
    double *carried;
    size_t from;

    const void *context; /* of a kernel that the runtime has made around another one; else NULL, and not read */
};

/* Data of one tile.  y and w are aligned to 64 bytes, in the order given at the top of this file. */
struct fit_tile {
    size_t i0, i1, j0, j1;
    size_t group;    /* FIT_ROWS: of all rows of the tile; its sums for other groups are 0.  Pairs: not used */
    const double *y; /* measured values minus a reference per group, see fit_kernel.intercept */
    const double *w; /* weights (1/variance, up to a factor), or NULL: all 1 */
    const double *sum; /* 3 per group: sum of w, w y, w y^2 over the lanes that count */

    /* Not NULL: y is NULL and w is NULL, and the value of the pair (i, j) of group g, less its reference, is
     *     raw[g][(i - i0) * raw_row + (j - j0)] - reference[g]        for i0 <= i < i1, j0 <= j < j1.
     * What is there for j <= i may be anything. */
    const float *const *raw; /* ngroup */
    ptrdiff_t raw_row;
    const double *reference; /* ngroup */
    double *row;             /* room for one row of the tile, which kernels write: ngroup times its columns, aligned */
};

/* Single points of the data, in any order.  Pairs: i, j index the used frames (i >= j is allowed), g the group; rows:
 * i is the place, j may be NULL, and g where there is one group. */
struct fit_points {
    size_t n;
    const uint32_t *i, *j, *g;
};

struct fit_kernel {
    unsigned abi;         /* FIT_KERNEL_ABI */
    const char *name;     /* "laminar" */
    const char *variant;  /* "fast" or "parity" */
    const char *title;    /* one line */
    const char *formula;  /* plain text */
    const char *const *equation; /* in MathML, each inside a div of class eq, ended by NULL; or NULL */
    const char *reference;
    const char *source;   /* "laminar.lua" */
    const char *hash;     /* SHA-256 of the model's source text, hexadecimal */
    const char *const *alias; /* other names of the model in configurations, ended by NULL; or NULL */
    enum fit_peer peer;   /* the package that has this model too, and what it calls it where that is another name: */
    const char *mode;     /* "laminar_flow"; or NULL */
    int first_step;       /* pairs: frame periods from t = 0 to the first frame of a window, 0 or 1 */
    const char *isa;      /* "x86-64-v3", ...; set by the build */
    enum fit_space space;
    int raw; /* 1: moments, normal and gradient also take tiles whose values are fit_tile.raw */

    size_t nparam;
    const struct fit_param *param;
    size_t nlinear;
    const struct fit_param *linear;
    int intercept; /* index of the linear parameter whose b_q is the constant 1, or -1.  When it is given the
                      driver may subtract a constant per group from y and from lin[intercept] alike. */
    size_t nsetting;
    const struct fit_setting *setting;
    size_t naxis;
    const struct fit_axis *axis;
    size_t ncolumn;
    const struct fit_column *column;
    size_t nobservable; /* 0: there is one, the column of role VALUE.  Else a row of a file gives one row of the
                         data set for each of them: its value, and its number, 0, 1, ..., in column `which` */
    const struct fit_observable *observable;
    unsigned which;
    size_t ncurve;
    const struct fit_curve *curve;
    size_t nderived;
    const struct fit_derived *derived;
    size_t nscreen;       /* rows of `screen` */
    const double *screen; /* nscreen x nparam sensible parameter sets (the model's random()), for starts */
    struct fit_cost cost;
    size_t table_doubles; /* doubles read per (group, frame) in the pair loop: for the choice of `panel` */

    int has_noise_prior; /* the standard deviation of the noise has this prior (in the units of the data, when
                            they bring no weights); else it is that of collapsed.h */
    enum fit_prior_kind noise_prior;
    double noise_a, noise_b;

    /* Doubles of workspace that `prepare` fills and the tile functions read; aligned to 64 bytes by the
     * caller.  One workspace may be read by many threads. */
    size_t (*workspace)(const struct fit_layout *l);

    /* Doubles of scratch that moments, normal and gradient write; one per thread, aligned to 64 bytes.  Its content
     * on entry does not matter. */
    size_t (*scratch)(const struct fit_layout *l);

    /* Tables for parameters theta[nparam].  derivative = 0: values only (enough for moments and model);
     * 1: first derivatives too; 2: also what `hessian` reads; -1: what 1 adds, where ws holds the rest for this
     * theta. */
    enum fit_eval (*prepare)(const struct fit_layout *l, const double *theta, int derivative, double *ws);

    /* Sums of one tile for the linear parameters.  Per group, nlinear*(nlinear+1)/2 + nlinear + 1 numbers:
     *     sum w b_p b_q  (p <= q, row by row) | sum w b_q (y - rest) | sum w (y - rest)^2
     * out: ngroup times that; overwritten. */
    void (*moments)(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out);

    /* Sums of one tile for the nonlinear parameters at given linear ones (lin: ngroup x nlinear).  With
     * m_k = d mean / d theta_k and r = y - mean:
     *     sum w m_k m_l (k <= l, row by row) | sum w m_k r  [over all groups]
     *     then per group, nlinear x nparam:  sum w b_q m_k
     * out: nparam*(nparam+1)/2 + nparam + ngroup*nlinear*nparam numbers; overwritten. */
    void (*normal)(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out);

    /* Adjoint sums of one tile at given linear parameters: one number for each nonlinear parameter, at a cost
     * that does not depend on how many there are.  adj: per group 1 + nlinear*(nlinear+1)/2 numbers, a factor
     * rho and the upper triangle of a symmetric matrix M, row by row.  With r = y - mean:
     *     out[k] = sum w [ sum_q (rho lin_q r - sum_p M_qp b_p) d b_q/d theta_k  +  rho r d rest/d theta_k ]
     * rho = 1, M = 0 gives sum w m_k r; rho = a_n/b_n, M = A^-1 the gradient of a density from which the linear
     * parameters and the variance are integrated out.  out: nparam numbers; overwritten.  NULL: kernels written
     * by hand may lack it; then there is no sampling. */
    void (*gradient)(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out);

    /* mean in the order of the tile's data (lanes that do not count hold anything finite or not). */
    void (*model)(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out);

    /* mean and derivatives at n points, by the direct (unfactored) formula.
     * mean: n;  jac: nparam + nlinear columns of n, the derivative c of point k at jac[c n + k]; or NULL (then prepare
     * with derivative = 0 will do).  A result depends on its own point alone, to the last bit.  Points of one row of
     * one group, j rising by one, are the fastest. */
    void (*points)(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                   double *mean, double *jac);

    /* Derived curves at theta: value ncurve x ntime; tangent ncurve x nparam x ntime, or NULL. */
    void (*curves)(const struct fit_layout *l, const double *theta, double *value, double *tangent);

    /* Derived quantities of group g at theta and lin (ngroup x nlinear): value nderived; gradient nderived x
     * (nparam + nlinear), by theta and the linear parameters of this group, or NULL.  derive is NULL when there are
     * none. */
    void (*derive)(const struct fit_layout *l, const double *theta, const double *lin, size_t g, double *value,
                   double *gradient);

    /* Second derivatives of the mean; NULL unless the compiler was asked for them (--emit=c,hessian).
     *
     * hessian: at n points, after prepare with derivative = 2, for W = nparam + nlinear
     * parameters (nonlinear ones first) the upper triangle row by row: d2 mean / d p_a d p_b, a <= b, stands
     * at a W - a (a + 1) / 2 + b.  hess: n x W (W + 1) / 2.  Between two linear parameters it is 0.
     *
     * second: d2 mean / d eps2 at eps = 0 where the parameters move along a straight line, p + eps v, at n
     * points; out: n.  It costs little more than two values, however many parameters there are: what the
     * geodesic acceleration of a step needs (Transtrum & Sethna, arXiv:1201.5885, 2012).  Before it comes
     * `prepare` with derivative >= 1, then `direction`, which writes tables for the direction v into a part
     * of ws that nothing else reads, so that it may be called again for another one.
     * v: nparam numbers, then for each group nlinear. */
    void (*hessian)(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                    double *hess);
    void (*direction)(const struct fit_layout *l, const double *theta, const double *v, double *ws);
    void (*second)(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                   double *out);

    /* What cannot be identified. */
    size_t ndegeneracy;
    const struct fit_degeneracy *degeneracy;
    size_t ncombination;
    const struct fit_combination *combination;

    /* Combinations at theta, for the first group: value ncombination; gradient ncombination x nparam.
     * NULL when there are none. */
    void (*combine)(const struct fit_layout *l, const double *theta, double *value, double *gradient);

    size_t nrate;
    const struct fit_rate *rate;

    /* NULL: errors are normal.  Else intercept = -1 and nlinear = 0, and no group of parameters is a rate. */
    const struct fit_density *density;

    const struct fit_level *level; /* nparam; NULL: all priors have numbers */

    /* Quantities that `prepare` carries along the rows of every group, in their order; so that a row is no datum by
     * itself: rows may not be left out, doubled or exchanged. */
    size_t nstate;
    const struct fit_state *state;
    int feedback; /* 1: states read what was measured in earlier rows */
    unsigned times; /* 1 + the column of the times, where states go through all rows of a group in their order, for
                       rows have doses, or columns that rates read: they need no value.  0: not so */
    const double *empty; /* ncolumn: what an empty cell of a column stands for, NaN: for nothing; or NULL */
};

/* The kernels compiled into a fitter: one per variant and instruction-set level, ended by NULL. */
extern const struct fit_kernel *const fit_kernels[];

#endif
