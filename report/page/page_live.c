/* page_live.c -- the data of the maps for scripts, and the script; see page.h.
 *
 * The page is complete without scripts. With them maps can be enlarged and read: this file writes their values,
 * upper triangles in base64, and live.js, which is the program's own. Only numbers: no untrusted text gets near a
 * script.
 *
 * Quantities are rounded: c2 and fit to 1/65534 of the range of both in a group. Residuals follow from them if all
 * values of a group have one standard deviation; otherwise they are written, to 0.1 (the displayed precision). Maps
 * that would be too large are averaged. */
#include "report/page/page.h"

#include "report/draw/base64.h"
#include "report/draw/colour.h"
#include "report/figures/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1200000, STEPS = 65534, NOTHING = 65535, NO_Z = -128 };
static const double Z_STEP = 0.1;

/* The maps as they are written: n points on a side, each the mean of up to b x b. */
struct thinned {
    size_t n, b;
    double *c2, *fit, *z; /* upper triangles, row by row; fit, z: NULL before a fit */
    size_t cells;
    unsigned char *byte;
};

static size_t cells_of(size_t n)
{
    return n * (n + 1) / 2;
}

static size_t choose_bin(const struct rp_result *r)
{
    const size_t each = r->fitted ? 5 : 2;
    size_t b = 1;
    while (r->ngroup * cells_of((r->side + b - 1) / b) * each > MOST_BYTES)
        b *= 2;
    return b;
}

/* Means over the points of a cell that lie above the diagonal; the residual of the mean. */
static void average(const struct rp_result *r, size_t g, struct thinned *t)
{
    const size_t N = r->side;
    const double *c2 = r->c2 + g * N * N, *fit = r->fitted ? r->model + g * N * N : NULL,
                 *z = r->fitted ? r->residual + g * N * N : NULL;
    for (size_t a = 0, at = 0; a < t->n; a++)
        for (size_t b = a; b < t->n; b++, at++) {
            double n = 0, sum = 0, model = 0, rest = 0;
            for (size_t i = a * t->b; i < (a + 1) * t->b && i < N; i++)
                for (size_t j = b * t->b > i ? b * t->b : i; j < (b + 1) * t->b && j < N; j++) {
                    const double v = c2[i * N + j];
                    if (isnan(v))
                        continue;
                    n += 1;
                    sum += v;
                    model += fit ? fit[i * N + j] : 0;
                    rest += z ? z[i * N + j] : 0;
                }
            t->c2[at] = n > 0 ? sum / n : NAN;
            if (!fit)
                continue;
            t->fit[at] = n > 0 ? model / n : NAN;
            t->z[at] = n > 0 ? rest / sqrt(n) : NAN;
        }
}

static unsigned level_of(double x, double lo, double hi)
{
    return isfinite(x) ? (unsigned)lround((x - lo) / (hi - lo) * STEPS) : NOTHING;
}

static void put_levels(struct rp_markup *out, const char *name, const double *x, struct thinned *t, double lo,
                       double hi)
{
    for (size_t k = 0; k < t->cells; k++) {
        const unsigned level = level_of(x[k], lo, hi);
        t->byte[2 * k] = (unsigned char)(level & 255);
        t->byte[2 * k + 1] = (unsigned char)(level >> 8);
    }
    rp_put(out, ",\"%s\":\"", name);
    rp_base64(out->file, t->byte, 2 * t->cells);
    rp_put(out, "\"");
}

/* The same of what is smooth along a row: a byte for the difference from the line through the two levels before, plus
 * 128; 0 and the two bytes of the level where that is not enough. */
static void put_smooth(struct rp_markup *out, const char *name, const double *x, struct thinned *t, double lo,
                       double hi)
{
    long before[2] = {0, 0};
    size_t n = 0;
    for (size_t k = 0; k < t->cells; k++) {
        const long level = (long)level_of(x[k], lo, hi), d = level - (2 * before[0] - before[1]) + 128;
        if (d >= 1 && d <= 255) {
            t->byte[n++] = (unsigned char)d;
        } else {
            t->byte[n++] = 0;
            t->byte[n++] = (unsigned char)(level & 255);
            t->byte[n++] = (unsigned char)(level >> 8);
        }
        before[1] = before[0];
        before[0] = level;
    }
    rp_put(out, ",\"%s\":\"", name);
    rp_base64(out->file, t->byte, n);
    rp_put(out, "\"");
}

/* Pairs of frames behind a cell. */
static double count_of(size_t bin, int diagonal)
{
    const double n = (double)bin;
    return !diagonal ? n * n : bin == 1 ? 1 : n * (n - 1) / 2;
}

/* Do the residuals follow from data, fit and one standard deviation, so that a page does not need them? The last
 * cells on a side may be smaller than the others. */
static int follows(const struct thinned *t, size_t bin, double sigma)
{
    for (size_t a = 0, at = 0; a < t->n; a++)
        for (size_t b = a; b < t->n; b++, at++) {
            const double z = (t->c2[at] - t->fit[at]) / sigma * sqrt(count_of(bin, a == b));
            if (b + 1 < t->n && !(fabs(z - t->z[at]) < 1.5 * Z_STEP + 0.02 * fabs(z)) && !isnan(t->z[at]))
                return 0;
        }
    return 1;
}

static void put_residuals(struct rp_markup *out, struct thinned *t, size_t bin, double sigma)
{
    if (sigma > 0 && follows(t, bin, sigma)) {
        rp_put(out, ",\"sigma\":%.9g", sigma);
        return;
    }
    for (size_t k = 0; k < t->cells; k++) {
        const double z = t->z[k];
        t->byte[k] = (unsigned char)(signed char)(isnan(z) ? NO_Z : lround(fmin(fmax(z / Z_STEP, -127), 127)));
    }
    rp_put(out, ",\"z\":\"");
    rp_base64(out->file, t->byte, t->cells);
    rp_put(out, "\"");
}

static double sigma_of(const struct rp_result *r, size_t g)
{
    const struct fit_yaml *list = rp_get(r->json, "noise.sigma");
    return list && list->kind == FIT_YAML_LIST && g < list->n ? rp_json_value(list->entry[g].value) : NAN;
}

static void put_number(struct rp_markup *out, const char *name, double x)
{
    if (isfinite(x))
        rp_put(out, ",\"%s\":%.9g", name, x);
}

/* Mean times of the cells: not equidistant where frames are left out; behind the last frame of a file at the distance
 * of the last two. */
static void put_times(struct rp_markup *out, const struct rp_result *r, const struct thinned *t, const double *time)
{
    double last[2] = {0, 0};
    rp_put(out, ",\"t\":[");
    for (size_t a = 0; a < t->n; a++) {
        double sum = 0, n = 0;
        for (size_t i = a * t->b; i < (a + 1) * t->b && i < r->side; i++, n++)
            sum += time[i];
        const double at = isnan(sum) ? 2 * last[0] - last[1] : sum / n;
        last[1] = a ? last[0] : at;
        last[0] = at;
        rp_put(out, "%s%.9g", a ? "," : "", at);
    }
    rp_put(out, "]");
}

static void put_group(struct rp_markup *out, const struct rp_result *r, const struct rp_figure *f, struct thinned *t)
{
    const size_t g = f->index;
    double lo = INFINITY, hi = -INFINITY;
    average(r, g, t);
    for (size_t k = 0; k < t->cells; k++) {
        lo = fmin(lo, fmin(t->c2[k], r->fitted ? t->fit[k] : t->c2[k]));
        hi = fmax(hi, fmax(t->c2[k], r->fitted ? t->fit[k] : t->c2[k]));
    }
    if (!(hi > lo)) {
        lo = isfinite(lo) ? lo - 0.5 : 0;
        hi = lo + 1;
    }
    rp_put(out, "{\"group\":%zu", g);
    put_number(out, "phi", r->phi[g]);
    put_number(out, "q", r->q ? r->q[g] : NAN);
    rp_put(out, ",\"lo\":%.9g,\"hi\":%.9g,\"range\":[%.9g,%.9g,%.9g]", lo, hi, f->range[0],
           f->range[1], f->range[2]);
    const struct fit_yaml *scaling = rp_get(r->json, "scaling");
    if (r->fitted && scaling && scaling->kind == FIT_YAML_LIST && g < scaling->n) {
        put_number(out, "contrast", rp_json_number(scaling->entry[g].value, "contrast"));
        put_number(out, "offset", rp_json_number(scaling->entry[g].value, "offset"));
    }
    if (r->t_group) {
        put_times(out, r, t, r->t_group + g * r->side);
        rp_put(out, ",\"side\":%zu", (rp_map_side(r, g) + t->b - 1) / t->b);
    }
    put_levels(out, "c2", t->c2, t, lo, hi);
    if (r->fitted) {
        put_smooth(out, "fit", t->fit, t, lo, hi);
        put_residuals(out, t, r->bin * t->b, sigma_of(r, g));
    }
    rp_put(out, "}");
}

static void put_palette(struct rp_markup *out, const char *name, const struct rp_palette *p)
{
    rp_put(out, ",\"%s\":\"", name);
    for (size_t k = 1; k <= RP_LEVELS; k++) {
        const unsigned char *c = p->rgba[k];
        rp_put(out, "%06lx", (unsigned long)c[0] << 16 | (unsigned long)c[1] << 8 | (unsigned long)c[2]);
    }
    rp_put(out, "\"");
}

static void put_all(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list, struct thinned *t)
{
    const double step = r->side > 1 ? (r->t[r->side - 1] - r->t[0]) / (double)(r->side - 1) : 1;
    rp_put(out, "{\"bin\":%zu,\"n\":%zu,\"t0\":%.9g,\"step\":%.9g,\"unit\":\"%s\"",
           r->bin * t->b, t->n, r->t[0] + step * (double)(t->b - 1) / 2, step * (double)t->b,
           strcmp(r->time_unit, "s") == 0 ? "s" : "frames");
    put_number(out, "first", r->origin.first); /* frames of the file, from 1 */
    put_number(out, "last", r->origin.last);
    put_number(out, "q", r->q ? NAN : r->origin.q);
    put_times(out, r, t, r->t);
    put_palette(out, "viridis", rp_viridis());
    put_palette(out, "diverging", rp_diverging());
    rp_put(out, ",\"groups\":[");
    int some = 0;
    for (size_t k = 0; k < list->n; k++) {
        if (list->figure[k].section != RP_MAPS)
            continue;
        rp_put(out, some++ ? ",\n" : "\n");
        put_group(out, r, &list->figure[k], t);
    }
    rp_put(out, "]");
    rp_page_kernel(out, r, r->bin * t->b);
    rp_put(out, "}");
}

enum fit_status rp_page_values(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                               struct fit_error *err)
{
    if (rp_page_has_rows(r)) {
        rp_page_rows(out, r);
        return FIT_OK;
    }
    struct thinned t = {.b = choose_bin(r)};
    if (!r->pairs || r->side < 2)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: a table of %zu rows; panels are of 2 to 20000, `homodyne report` shows it", r->folder,
                        r->nrow);
    t.n = (r->side + t.b - 1) / t.b;
    t.cells = cells_of(t.n);
    t.c2 = malloc(3 * t.cells * sizeof *t.c2);
    t.byte = malloc(3 * t.cells);
    const int ok = t.c2 && t.byte;
    if (ok) {
        t.fit = t.c2 + t.cells;
        t.z = t.fit + t.cells;
        put_all(out, r, list, &t);
    }
    free(t.c2);
    free(t.byte);
    return ok ? FIT_OK : fit_no_memory(err, "report");
}

void rp_page_scripts(struct rp_markup *out)
{
    rp_put(out, "<script>\n//<![CDATA[\n");
    rp_put_raw(out, (const char *)embedded_live_model_js);
    rp_put_raw(out, (const char *)embedded_live_sliders_js);
    rp_put_raw(out, (const char *)embedded_live_rows_js);
    rp_put_raw(out, (const char *)embedded_live_js);
    rp_put(out, "//]]>\n</script>\n");
}

enum fit_status rp_page_live(struct rp_markup *out, const struct rp_result *r, const struct rp_figures *list,
                             struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if ((r->pairs && r->side > 1) || rp_page_has_rows(r)) {
        rp_put(out, "<script type=\"application/json\" id=\"live\">");
        st = rp_page_values(out, r, list, err);
        rp_put(out, "</script>\n");
    }
    rp_page_scripts(out);
    return st;
}
