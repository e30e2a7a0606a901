/* request.c -- requests of a browser; see request.h.
 *
 * A request must know the token and use a name of this machine. Pages of other sites do not know the token; the
 * header Host reveals foreign names that lead here (DNS rebinding), and Origin reveals requests of foreign pages.
 * The port is ignored: behind a tunnel (ssh -L) it differs. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/viewer/request.h"

#include "files/yaml_tree.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- origin and target of a request ------------------------------------------------------------ */

/* "127.0.0.1", "localhost" or "[::1]", perhaps with a port. */
static int is_here(const char *host)
{
    static const char *const name[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        const size_t n = strlen(name[k]);
        if (strncmp(host, name[k], n) != 0)
            continue;
        const char *rest = host + n;
        if (!*rest)
            return 1;
        if (*rest == ':' && rest[1] && strlen(rest) <= 6 && strspn(rest + 1, "0123456789") == strlen(rest + 1))
            return 1;
    }
    return 0;
}

static int is_our_page(const char *origin)
{
    return !origin || (strncmp(origin, "http://", 7) == 0 && is_here(origin + 7));
}

/* Compares to the end even after a difference, in constant time. */
static int has_token(const char *path, const char *token, const char **rest)
{
    const size_t n = strlen(token);
    unsigned char differ = 0;
    if (path[0] != '/' || strlen(path) < n + 2 || path[n + 1] != '/')
        return 0;
    for (size_t k = 0; k < n; k++)
        differ |= (unsigned char)(path[k + 1] ^ token[k]);
    *rest = path + n + 2;
    return differ == 0;
}

int view_is_name(const char *text)
{
    const size_t n = strlen(text);
    return n > 0 && n < VIEW_NAME && *text != '.' && *text != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") == n;
}

struct place {
    const char *path, *method;
    enum view_route route;
    int named; /* a name follows */
};

static const struct place places[] = {
    {"", "GET", VIEW_PAGE, 0},
    {"app.js", "GET", VIEW_SCRIPT, 0},
    {"app.css", "GET", VIEW_STYLE, 0},
    {"api/state", "GET", VIEW_STATE, 0},
    {"api/file", "GET", VIEW_FILE, 0},
    {"api/live/", "GET", VIEW_LIVE, 1},
    {"report/", "GET", VIEW_REPORT, 1},
    {"api/models", "GET", VIEW_MODELS, 0},
    {"api/data", "POST", VIEW_DATA, 0},
    {"api/fit", "POST", VIEW_FIT, 0},
    {"api/stop", "POST", VIEW_STOP, 0},
    {"api/write", "POST", VIEW_WRITE, 0},
    {"api/model", "POST", VIEW_MODEL, 0},
};

int view_judge(const struct view_request *r, const char *token, struct view_target *target)
{
    const char *rest = NULL;
    if (!r->host)
        return 400;
    if (!is_here(r->host) || !is_our_page(r->origin))
        return 403;
    if (!has_token(r->path, token, &rest))
        return 404;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const struct place *p = &places[k];
        const size_t n = strlen(p->path);
        if (p->named ? strncmp(rest, p->path, n) != 0 : strcmp(rest, p->path) != 0)
            continue;
        if (p->named && !view_is_name(rest + n))
            return 404;
        if (strcmp(r->method, p->method) != 0)
            return 405;
        if (strcmp(p->method, "POST") == 0 && (!r->type || strncmp(r->type, "application/json", 16) != 0))
            return 400;
        target->route = p->route;
        snprintf(target->name, sizeof target->name, "%s", p->named ? rest + n : "");
        return 200;
    }
    return 404;
}

/* ---- words for a fitter ---------------------------------------------------------------------- */

static enum fit_status refuse(struct fit_error *err, const char *what)
{
    return fit_fail(err, FIT_ERR_USAGE, "view: the page sends %s", what);
}

/* Adds to the last word. */
__attribute__((format(printf, 2, 3))) static void extend(struct view_words *w, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(w->text + w->used, VIEW_TEXT - w->used, format, ap);
    va_end(ap);
    w->used += n > 0 ? (size_t)n : 0;
    if (w->used > VIEW_TEXT - 2)
        w->used = VIEW_TEXT - 2;
}

static void begin_word(struct view_words *w)
{
    if (w->n && w->used < VIEW_TEXT - 2)
        w->text[w->used++] = '\0';
    if (w->n < VIEW_WORDS)
        w->word[w->n++] = w->text + w->used;
}

static int is_full(const struct view_words *w)
{
    return w->n >= VIEW_WORDS || w->used >= VIEW_TEXT - 2;
}

/* A finite number; 0: it is not one. */
static int number(const struct fit_yaml *v, double *x)
{
    char *end = NULL;
    if (!v || v->kind != FIT_YAML_SCALAR || v->quoted)
        return 0;
    *x = strtod(v->text, &end);
    return end != v->text && !*end && isfinite(*x);
}

static int is_given(const struct fit_yaml *v)
{
    return v && !fit_yaml_is_null(v);
}

/* A pair of frames, counted from 1. */
static int range(const struct fit_yaml *v, double pair[2])
{
    if (!v || v->kind != FIT_YAML_LIST || v->n != 2)
        return 0;
    for (int k = 0; k < 2; k++)
        if (!number(v->entry[k].value, &pair[k]) || pair[k] < 1 || pair[k] > 1e9 || pair[k] != floor(pair[k]))
            return 0;
    return pair[0] <= pair[1];
}

static enum fit_status read_mask(const struct fit_yaml *v, struct view_words *w, struct fit_error *err)
{
    double pair[2];
    if (!is_given(v))
        return FIT_OK;
    if (v->kind != FIT_YAML_LIST)
        return refuse(err, "a mask that is not a list");
    for (size_t k = 0; k < v->n; k++) {
        if (!range(v->entry[k].value, pair))
            return refuse(err, "a mask that is not a list of [first, last]");
        if (k == 0) {
            begin_word(w);
            extend(w, "--mask=");
        }
        extend(w, "%s%.0f:%.0f", k ? "," : "", pair[0], pair[1]);
    }
    return FIT_OK;
}

static enum fit_status read_data(const struct fit_yaml *root, struct view_words *w, struct fit_error *err)
{
    const struct fit_yaml *q = fit_yaml_get(root, "q"), *phi = fit_yaml_get(root, "phi"),
                          *frames = fit_yaml_get(root, "frames");
    double x = 0, pair[2];
    if (is_given(q)) {
        if (!number(q, &x) || x < 0)
            return refuse(err, "a wavevector that is not a number");
        begin_word(w);
        extend(w, "--q=%.12g", x);
    }
    if (is_given(frames)) {
        if (!range(frames, pair))
            return refuse(err, "frames that are not [first, last]");
        begin_word(w);
        extend(w, "--frames=%.0f:%.0f", pair[0], pair[1]);
    }
    if (is_given(phi) && (phi->kind != FIT_YAML_LIST || phi->n == 0))
        return refuse(err, "azimuths that are not a list");
    for (size_t k = 0; is_given(phi) && k < phi->n; k++) {
        if (!number(phi->entry[k].value, &x))
            return refuse(err, "an azimuth that is not a number");
        if (k == 0) {
            begin_word(w);
            extend(w, "--phi=");
        }
        extend(w, "%s%.12g", k ? "," : "", x);
    }
    return read_mask(fit_yaml_get(root, "mask"), w, err);
}

static int is_parameter(const struct fit_yaml *v)
{
    return v && v->kind == FIT_YAML_SCALAR && *v->text && strlen(v->text) < VIEW_NAME &&
           strspn(v->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(v->text);
}

static enum fit_status read_parameter(const struct fit_yaml *p, struct view_words *w, struct fit_error *err)
{
    const struct fit_yaml *name = fit_yaml_get(p, "name"), *fixed = fit_yaml_get(p, "fixed"),
                          *start = fit_yaml_get(p, "start");
    double x = 0, lo = 0, hi = 0;
    if (!is_parameter(name))
        return refuse(err, "a parameter without a name");
    const int lower = number(fit_yaml_get(p, "lower"), &lo), upper = number(fit_yaml_get(p, "upper"), &hi);
    const int held = fixed && fixed->kind == FIT_YAML_SCALAR && strcmp(fixed->text, "true") == 0;
    if (is_given(start) && !number(start, &x))
        return refuse(err, "a start that is not a number");
    if (lower && upper && lo < hi) {
        begin_word(w);
        extend(w, "--bounds=%s=%.17g:%.17g", name->text, lo, hi);
    }
    if (is_given(start)) {
        begin_word(w);
        extend(w, held ? "--fix=%s=%.17g" : "--start=%s=%.17g", name->text, x);
    }
    return FIT_OK;
}

enum fit_status view_words_read(const char *body, size_t size, struct view_words *w, struct fit_error *err)
{
    struct fit_yaml_doc *doc = NULL;
    w->n = w->used = w->ndata = 0;
    w->name[0] = w->text[0] = '\0';
    w->gap = NAN;
    if (fit_yaml_parse(body, size, "request", &doc, NULL) != FIT_OK)
        return refuse(err, "something that is not JSON");
    const struct fit_yaml *root = fit_yaml_root(doc);
    const struct fit_yaml *all = fit_yaml_get(root, "parameters"), *name = fit_yaml_get(root, "name");
    enum fit_status st = root->kind == FIT_YAML_MAP ? read_data(root, w, err) : refuse(err, "no object");
    w->ndata = w->n;
    if (st == FIT_OK && is_given(all) && all->kind != FIT_YAML_LIST)
        st = refuse(err, "parameters that are not a list");
    for (size_t k = 0; st == FIT_OK && is_given(all) && k < all->n; k++)
        st = read_parameter(all->entry[k].value, w, err);
    if (st == FIT_OK && is_given(name)) {
        if (name->kind == FIT_YAML_SCALAR && view_is_name(name->text))
            snprintf(w->name, sizeof w->name, "%s", name->text);
        else
            st = fit_fail(err, FIT_ERR_USAGE, "a name has letters, digits and - _ . + only, no dot at first");
    }
    if (st == FIT_OK && is_given(fit_yaml_get(root, "gap")) &&
        (!number(fit_yaml_get(root, "gap"), &w->gap) || !(w->gap > 0)))
        st = refuse(err, "a gap that is not a number above 0");
    if (st == FIT_OK && is_full(w))
        st = refuse(err, "too much at once");
    w->text[w->used] = '\0';
    w->word[w->n] = NULL;
    fit_yaml_free(doc);
    return st;
}
