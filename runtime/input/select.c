/* select.c -- choice of q, azimuths, frames and frame period.  See select.h. */
#include "input/select.h"
#include "math/special.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Q_EQUAL 1e-9       /* relative: bins of one ring carry the same number */
#define Q_OLD_FRACTION 0.1 /* homodyne's rule for old files: all bins within 10 %, ... */
#define DT_EQUAL 1e-6      /* relative: float32 periods against decimal ones */
#define PER_NM 10          /* 1/angstrom in nm^-1 */
enum {
    Q_OLD_FEW = 5,
    Q_OLD_NEAREST = 10
}; /* ... and the ten nearest when there are fewer than five */
enum { FRAMES_MIN = 3 };

void fit_selection_init(struct fit_selection *sel, const char *path)
{
    *sel = (struct fit_selection){.path = path,
                                  .q = NAN,
                                  .q_tolerance = 0.05,
                                  .phi_tolerance = 5,
                                  .first = 1,
                                  .last = -1,
                                  .dt = NAN,
                                  .dt_policy = FIT_DT_STRICT,
                                  .q_rule = FIT_Q_NEAREST,
                                  .time_origin = FIT_TIME_WINDOW,
                                  .sigma = FIT_SIGMA_AUTO};
}

static struct fit_source_wish wish_of(const struct fit_config *cfg)
{
    return (struct fit_source_wish){.layout = cfg->input.layout.value,
                                    .dataset = cfg->table.dataset.value,
                                    .naxis = cfg->table.ncolumn,
                                    .axis = cfg->table.column,
                                    .nunit = cfg->table.nunit,
                                    .unit = cfg->table.unit};
}

void fit_selection_from_config(const struct fit_config *cfg, struct fit_selection *sel)
{
    const struct fit_config_input *in = &cfg->input;
    const struct fit_config_angles *angles = &cfg->angles;
    fit_selection_init(sel, in->path.n ? in->path.value[0] : NULL);
    sel->wish = wish_of(cfg);
    sel->q = in->q.value;
    sel->nq = in->q_list.n;
    sel->q_list = in->q_list.value;
    sel->all_q = fit_config_axis_index(cfg->kernel, "q") >= 0;
    if (!isnan(in->q_tolerance.value))
        sel->q_tolerance = in->q_tolerance.value;
    sel->q_rule = in->q_rule.value;
    sel->first_q = cfg->study.sequence.value == FIT_SEQUENCE_Q;
    sel->nlist = angles->list.n;
    sel->list = angles->list.value;
    if (!isnan(angles->tolerance.value))
        sel->phi_tolerance = angles->tolerance.value;
    sel->nrange = angles->filter.value ? angles->nrange : 0;
    sel->range = angles->range;
    sel->fallback_all = angles->fallback_all.value;
    sel->first = in->start_frame.value;
    sel->last = in->end_frame.value;
    sel->nmask = in->nmask;
    sel->mask = in->mask;
    sel->exclude_t0 = cfg->compat.exclude_t0.value;
    sel->dt = in->dt.value;
    sel->config = cfg->file;
    sel->dt_line = fit_given(in->dt.from) ? 0 : in->dt.from.line;
    sel->q_line = fit_given(in->q.from) ? 0 : in->q.from.line;
    sel->dt_policy = in->dt_policy.value;
    sel->time_origin = in->time_origin.value;
    sel->origin_given = fit_given(in->time_origin.from);
    sel->sigma = in->sigma.value;
    sel->nsigma = in->sigma_value.n;
    sel->sigma_value = in->sigma_value.value;
    sel->sigma_path = in->sigma_path.value;
    sel->stream = cfg->nlsq.stream.value;
}

void fit_selection_where(const struct fit_selection *sel, unsigned line, char *text, size_t size)
{
    *text = '\0';
    if (sel->config && line)
        snprintf(text, size, "%.150s:%u: ", sel->config, line);
}

/* Appends to text, which never overflows; returns the new length. */
static size_t append(char *text, size_t size, size_t at, const char *format, ...)
{
    va_list ap;
    if (at + 1 >= size)
        return at;
    va_start(ap, format);
    int n = vsnprintf(text + at, size - at, format, ap);
    va_end(ap);
    return n < 0 ? at : at + (size_t)n < size ? at + (size_t)n : size - 1;
}

void fit_format_list(const uint32_t *index, size_t n, long offset, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && index[j] == index[j - 1] + 1;)
            j++;
        if (at + 40 > size) {
            append(text, size, at, ", ...");
            return;
        }
        at = append(text, size, at, "%s%ld", i ? ", " : "", (long)index[i] + offset);
        if (j - i > 1)
            at = append(text, size, at, "..%ld", (long)index[j - 1] + offset);
    }
}

/* ---- q --------------------------------------------------------------------------------------- */

static int same_q(double a, double b)
{
    return fabs(a - b) <= Q_EQUAL * fabs(b);
}

/* Distinct q of the matrices, increasing; the caller frees.  *n = 0 when no matrix has one. */
static double *distinct_q(const struct fit_source *src, size_t *n)
{
    double *q = malloc(src->nmatrix * sizeof *q);
    size_t m = 0;
    *n = 0;
    if (!q)
        return NULL;
    for (size_t k = 0; k < src->nmatrix; k++)
        if (!isnan(src->matrix[k].q))
            q[m++] = src->matrix[k].q;
    qsort(q, m, sizeof *q, fit_ascending);
    for (size_t i = 0; i < m; i++)
        if (!*n || !same_q(q[i], q[*n - 1]))
            q[(*n)++] = q[i];
    return q;
}

static void format_q(const double *q, size_t n, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (at + 24 > size) {
            append(text, size, at, " ...");
            return;
        }
        at = append(text, size, at, "%s%.6g", i ? " " : "", q[i]);
    }
}

/* The probable mistake in `wanted`, whose nearest value is q: units. */
static void advise_q(const double *all, size_t n, double wanted, double q, double tolerance, char advice[100])
{
    int wanted_per_nm = 0;
    for (size_t i = 0; i < n; i++)
        wanted_per_nm |= fabs(all[i] * PER_NM - wanted) <= tolerance * wanted;
    advice[0] = '\0';
    if (wanted_per_nm)
        snprintf(advice, 100, "; %.6g looks like nm^-1: write the unit, \"%.6g nm^-1\"", wanted, wanted);
    else if (fabs(q / PER_NM - wanted) <= tolerance * wanted)
        snprintf(advice, 100,
                 "; the file seems to hold q in nm^-1, where 1/angstrom is "
                 "needed: correct it there");
}

/* The q to take: *q, the bin nearest to `wanted` (NaN: the only one); NaN when the file has none. */
static enum fit_status choose_q(const struct fit_source *src, const struct fit_selection *sel, double wanted,
                                double *q, struct fit_notes *notes, struct fit_error *err)
{
    size_t n, best = 0;
    char text[400];
    FIT_OWNED double *all = distinct_q(src, &n);
    enum fit_status st = FIT_OK;
    if (!all)
        return fit_no_memory(err, src->file);
    *q = NAN;
    if (n == 0)
        return st;
    format_q(all, n, text, sizeof text);
    if (isnan(wanted) && n > 1 && sel->first_q)
        fit_notes_add(notes, "q = %.6g 1/A, the lowest of %zu: %s", all[0], n, text);
    if (isnan(wanted) && n > 1 && !sel->first_q) {
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: holds %zu values of q; choose one (--q), or --sequence q fits every one. "
                      "Processed bins: %s 1/A",
                      src->file, n, text);
        return st;
    }
    for (size_t i = 1; i < n && !isnan(wanted); i++)
        if (fabs(all[i] - wanted) < fabs(all[best] - wanted))
            best = i;
    *q = all[best];
    double off = isnan(wanted) ? 0 : fabs(*q - wanted) / wanted;
    char advice[100];
    advise_q(all, n, wanted, *q, sel->q_tolerance, advice);
    if (!(off <= sel->q_tolerance))
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: nearest q bin is %.6g 1/A, you asked for %.6g (%.3g%% off). Processed bins: %s%s", src->file,
                      *q, wanted, 100 * off, text, advice);
    else if (off > 1e-6)
        fit_notes_add(notes, "q = %.9g 1/A, the bin nearest to %.6g (%.2g%% off)", *q, wanted, 100 * off);
    return st;
}

enum fit_status fit_select_every_q(const struct fit_selection *sel, double **q, size_t *n,
                                   struct fit_error *err)
{
    struct fit_source *src = NULL;
    *q = NULL;
    enum fit_status st = fit_source_open(sel->path, &sel->wish, &src, err);
    if (st == FIT_OK && !(*q = distinct_q(src, n)))
        st = fit_no_memory(err, sel->path);
    if (st == FIT_OK && *n == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: does not give q, so a sequence over q is not possible", sel->path);
    fit_source_close(src);
    return st;
}

struct ranked {
    double off;
    size_t k;
};

static int nearer(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off) : (x->k > y->k) - (x->k < y->k);
}

/* homodyne's rule for old files, for comparisons: bins within 10 % of q, or the ten nearest. */
static size_t old_rule(const struct fit_source *src, double q, size_t *index)
{
    FIT_SCRATCH(a);
    struct ranked *r = fit_take(&a, src->nmatrix, sizeof *r);
    size_t n = 0;
    for (size_t k = 0; k < src->nmatrix; k++)
        if (fabs(src->matrix[k].q - q) <= Q_OLD_FRACTION * q)
            index[n++] = k;
    if (n >= Q_OLD_FEW || !r)
        return n;
    for (size_t k = 0; k < src->nmatrix; k++)
        r[k] = (struct ranked){fabs(src->matrix[k].q - q), k};
    qsort(r, src->nmatrix, sizeof *r, nearer);
    n = src->nmatrix < Q_OLD_NEAREST ? src->nmatrix : Q_OLD_NEAREST;
    for (size_t i = 0; i < n; i++)
        index[i] = r[i].k;
    return n;
}

/* Matrices of one q, as requested. */
static enum fit_status select_one_q(const struct fit_source *src, const struct fit_selection *sel, double wanted,
                                    size_t *index, size_t *n, struct fit_notes *notes, struct fit_error *err)
{
    double q;
    enum fit_status st = choose_q(src, sel, wanted, &q, notes, err);
    if (st != FIT_OK)
        return st;
    if (!isnan(q) && sel->q_rule == FIT_Q_HOMODYNE_OLD) {
        *n = old_rule(src, q, index);
        fit_notes_add(
            notes, "q: homodyne's rule for old files mixes %zu bins; use it for comparisons only",
            *n);
        return FIT_OK;
    }
    for (size_t k = 0; k < src->nmatrix; k++)
        if (isnan(q) || same_q(src->matrix[k].q, q))
            index[(*n)++] = k;
    return FIT_OK;
}

/* Matrices of several q, one q after the other: those of the list, or all of the file. */
static enum fit_status select_many_q(const struct fit_source *src, const struct fit_selection *sel, size_t *index,
                                     size_t *n, struct fit_notes *notes, struct fit_error *err)
{
    size_t nq;
    FIT_OWNED double *q = distinct_q(src, &nq);
    enum fit_status st = q ? FIT_OK : fit_no_memory(err, src->file);
    if (st == FIT_OK && nq == 0) { /* labels are given, or requested when the data are read */
        for (size_t k = 0; k < src->nmatrix; k++)
            index[(*n)++] = k;
        return FIT_OK;
    }
    for (size_t i = 0; i < (sel->nq ? sel->nq : nq) && st == FIT_OK; i++) {
        size_t first = *n;
        double one = sel->nq ? NAN : q[i];
        if (sel->nq)
            st = choose_q(src, sel, sel->q_list[i], &one, notes, err);
        for (size_t k = 0; k < first && st == FIT_OK; k++)
            if (same_q(src->matrix[index[k]].q, one))
                st = fit_fail(err, FIT_ERR_DATA,
                              "%s: the bin q = %.6g 1/A is the nearest to two of the q asked for, of which"
                              " %.6g is the second",
                              src->file, one, sel->q_list[i]);
        for (size_t k = 0; k < src->nmatrix && st == FIT_OK; k++)
            if (same_q(src->matrix[k].q, one))
                index[(*n)++] = k;
    }
    return st;
}

static enum fit_status select_q(const struct fit_source *src, const struct fit_selection *sel,
                                size_t *index, size_t *n, struct fit_notes *notes,
                                struct fit_error *err)
{
    *n = 0;
    if (sel->nq && !sel->all_q)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%zu wavevectors were asked for; this model takes one (its q is not an axis): give "
                        "--q Q, or --sequence q, which fits every q by itself",
                        sel->nq);
    return sel->all_q && isnan(sel->q) ? select_many_q(src, sel, index, n, notes, err)
                                       : select_one_q(src, sel, sel->q, index, n, notes, err);
}

/* ---- azimuths -------------------------------------------------------------------------------- */

double fit_wrap_angle(double a)
{
    double r = fmod(a, 360);
    if (r < 0)
        r += 360;
    return r > 180 ? r - 360 : r;
}

int fit_angle_inside(double degrees, double lower, double upper)
{
    double a = fit_wrap_angle(degrees), lo = fit_wrap_angle(lower), hi = fit_wrap_angle(upper);
    if (fabs(upper - lower) >= 360)
        return 1;
    return lo <= hi ? a >= lo && a <= hi : a >= lo || a <= hi;
}

static void format_phi(const struct fit_source *src, const size_t *index, size_t n, char *text,
                       size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (at + 24 > size) {
            append(text, size, at, " ...");
            return;
        }
        at = append(text, size, at, "%s%.6g", i ? " " : "", src->matrix[index[i]].phi);
    }
}

/* The nearest of n measured angles, *off from it; n: there is none. */
static size_t nearest_angle(const struct fit_source *src, const size_t *index, size_t n, double phi, double *off)
{
    size_t best = n;
    *off = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(fit_wrap_angle(src->matrix[index[i]].phi - phi));
        if (d < *off) {
            *off = d;
            best = i;
        }
    }
    return best;
}

/* For each angle of the list the nearest measured one of these matrices, in the order of the list. */
static enum fit_status nearest_of_list(const struct fit_source *src, const struct fit_selection *sel,
                                   size_t *index, size_t *n, struct fit_notes *notes,
                                   struct fit_error *err)
{
    size_t *chosen = malloc(sel->nlist * sizeof *chosen), m = 0;
    char text[400];
    enum fit_status st = FIT_OK;
    if (!chosen)
        return fit_no_memory(err, src->file);
    for (size_t l = 0; l < sel->nlist && st == FIT_OK; l++) {
        double off;
        const size_t best = nearest_angle(src, index, *n, sel->list[l], &off);
        int twice = 0;
        if (best == *n || !(off <= sel->phi_tolerance)) {
            format_phi(src, index, *n, text, sizeof text);
            st = fit_fail(err, FIT_ERR_DATA, "%s: no azimuth within %g degrees of %g; there are %s",
                          src->file, sel->phi_tolerance, sel->list[l], text);
            break;
        }
        for (size_t i = 0; i < m; i++)
            twice |= chosen[i] == index[best];
        if (twice)
            fit_notes_add(notes,
                          "phi: %g degrees is nearest to an azimuth that is already chosen (%g)",
                          sel->list[l], src->matrix[index[best]].phi);
        else
            chosen[m++] = index[best];
        if (off > 1e-6 && !twice)
            fit_notes_add(notes, "phi = %.6g degrees, the azimuth nearest to %g",
                          src->matrix[index[best]].phi, sel->list[l]);
    }
    if (st == FIT_OK) {
        memcpy(index, chosen, m * sizeof *index);
        *n = m;
    }
    free(chosen);
    return st;
}

/* The same for the matrices of each q, which follow one another. */
static enum fit_status select_list(const struct fit_source *src, const struct fit_selection *sel,
                                   size_t *index, size_t *n, struct fit_notes *notes,
                                   struct fit_error *err)
{
    size_t kept = 0, end;
    enum fit_status st = FIT_OK;
    for (size_t first = 0; first < *n && st == FIT_OK; first = end) {
        size_t m;
        const double q = src->matrix[index[first]].q;
        for (end = first + 1; end < *n && (!sel->all_q || isnan(q) || same_q(src->matrix[index[end]].q, q));)
            end++;
        m = end - first;
        st = nearest_of_list(src, sel, index + first, &m, notes, err);
        memmove(index + kept, index + first, m * sizeof *index);
        kept += m;
    }
    *n = kept;
    return st;
}

static enum fit_status select_ranges(const struct fit_source *src, const struct fit_selection *sel,
                                     size_t *index, size_t *n, struct fit_notes *notes,
                                     struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t m = 0;
    char text[400];
    unsigned char *inside = fit_take(&a, *n ? *n : 1, 1);
    if (!inside)
        return fit_no_memory(err, src->file);
    for (size_t i = 0; i < *n; i++) {
        for (size_t r = 0; r < sel->nrange && !inside[i]; r++)
            inside[i] = (unsigned char)fit_angle_inside(src->matrix[index[i]].phi,
                                                        sel->range[r].lower, sel->range[r].upper);
        m += inside[i];
    }
    if (m == 0) {
        format_phi(src, index, *n, text, sizeof text);
        if (!sel->fallback_all)
            return fit_fail(err, FIT_ERR_DATA,
                            "%s: no azimuth lies in the ranges of phi_filtering; there are %s",
                            src->file, text);
        fit_notes_add(
            notes, "phi: no azimuth lies in the ranges of phi_filtering; all are used (%s)", text);
        return FIT_OK;
    }
    m = 0;
    for (size_t i = 0; i < *n; i++)
        if (inside[i])
            index[m++] = index[i];
    *n = m;
    return FIT_OK;
}

enum fit_status fit_select_matrices(const struct fit_source *src, const struct fit_selection *sel,
                                    size_t **out, size_t *n, struct fit_notes *notes,
                                    struct fit_error *err)
{
    size_t *index = malloc(src->nmatrix * sizeof *index), unknown = 0;
    *out = NULL;
    *n = 0;
    if (!index)
        return fit_no_memory(err, src->file);
    enum fit_status st = select_q(src, sel, index, n, notes, err);
    for (size_t i = 0; i < *n; i++)
        unknown += isnan(src->matrix[index[i]].phi) ? 1 : 0;
    if (st == FIT_OK && !unknown && sel->nlist)
        st = select_list(src, sel, index, n, notes, err);
    else if (st == FIT_OK && !unknown && sel->nrange)
        st = select_ranges(src, sel, index, n, notes, err);
    else if (st == FIT_OK && unknown && sel->nrange && !sel->nlist)
        fit_notes_add(
            notes,
            "phi: the file does not give azimuths; the ranges of phi_filtering are not used");
    if (st == FIT_OK)
        *out = index;
    else
        free(index);
    return st;
}

/* ---- frames and time ------------------------------------------------------------------------- */

enum fit_status fit_select_window(const struct fit_source *src, const struct fit_selection *sel,
                                  size_t *first, size_t *n, struct fit_notes *notes,
                                  struct fit_error *err)
{
    long lo = src->first_frame, hi = lo + (long)src->nframe - 1;
    long a = sel->first, b = sel->last < 0 ? hi : sel->last;
    if (a < 1) {
        fit_notes_add(notes, "frames: start_frame %ld is taken as 1", a);
        a = 1;
    }
    if (a > b || a > hi || b < lo)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: frames %ld..%ld were asked for; the file has %ld..%ld", src->file,
                        sel->first, sel->last, lo, hi);
    if (b > hi) {
        fit_notes_add(notes,
                      "frames: end_frame %ld is beyond the last one, %ld; frames to %ld are used",
                      b, hi, hi);
        b = hi;
    }
    if (a < lo) {
        fit_notes_add(notes, "frames: the file begins with frame %ld, not %ld", lo, a);
        a = lo;
    }
    if (b - a + 1 < FRAMES_MIN)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: frames %ld..%ld are only %ld; at least %d are needed", src->file, a, b,
                        b - a + 1, FRAMES_MIN);
    *first = (size_t)(a - lo);
    *n = (size_t)(b - a + 1);
    return FIT_OK;
}

/* Neither the file nor the configuration has it. */
static enum fit_status no_dt(const struct fit_source *src, const struct fit_selection *sel, struct fit_error *err)
{
    char where[200];
    fit_selection_where(sel, sel->dt_line, where, sizeof where);
    const int no_q = src->nmatrix && isnan(src->matrix[0].q) && isnan(sel->q);
    const int no_phi = src->nmatrix > 1 && isnan(src->matrix[0].phi) && !sel->nlist;
    return fit_fail(err, FIT_ERR_DATA,
                    "%s%s does not give the frame period; set analyzer_parameters.dt in s (or --dt)%s%s", where,
                    src->file, no_q ? "; nor q (--q, in 1/angstrom)" : "",
                    no_phi ? "; nor the azimuths (--phi, in degrees, one for each matrix)" : "");
}

enum fit_status fit_select_dt(const struct fit_source *src, const struct fit_selection *sel,
                              double *dt, struct fit_notes *notes, struct fit_error *err)
{
    double file = src->dt, given = sel->dt;
    if (!isnan(given) && !(given > 0 && isfinite(given)))
        return fit_fail(err, FIT_ERR_CONFIG, "dt = %g s; the frame period must be positive", given);
    if (isnan(file) && isnan(given))
        return no_dt(src, sel, err);
    if (sel->dt_policy == FIT_DT_FILE && isnan(file))
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: does not give the frame period, which was to be taken from it "
                        "(--dt file)",
                        src->file);
    char uneven[200];
    if (sel->dt_policy != FIT_DT_YAML && fit_source_is_uneven(src, uneven, sizeof uneven))
        return fit_fail(err, FIT_ERR_DATA, "%s: %s; frames must be equally spaced (--dt yaml ignores the axis)",
                        src->file, uneven);
    if (isnan(file) || isnan(given)) {
        *dt = isnan(file) ? given : file;
        if (isnan(given))
            fit_notes_add(notes, "dt = %.9g s from the file: %s", file, src->dt_text);
        return FIT_OK;
    }
    *dt = sel->dt_policy == FIT_DT_FILE ? file : given;
    if (fabs(file - given) <= DT_EQUAL * fabs(file))
        return FIT_OK;
    if (sel->dt_policy == FIT_DT_STRICT)
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: %s but the configuration says dt = %.9g s. Remove dt, or pass --dt yaml or --dt "
            "file.",
            src->file, src->dt_text, given);
    fit_notes_add(notes, "dt = %.9g s from the %s; the %s says %.9g s", *dt,
                  sel->dt_policy == FIT_DT_FILE ? "file" : "configuration",
                  sel->dt_policy == FIT_DT_FILE ? "configuration" : "file",
                  sel->dt_policy == FIT_DT_FILE ? given : file);
    return FIT_OK;
}
