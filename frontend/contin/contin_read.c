/* contin_read.c -- tables of correlation functions: columns by name, units, usable rows, one curve for each q. Names
 * and units are those of any table (input/table.h): the columns are declared like those of a model. */
#include "frontend/contin/contin_front.h"

#include "fit/kernel.h"
#include "input/table_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Further names of a column. */
static const char *const aliases[][8] = {{"delay", "tau", "lag", "t", "dt", "delay_time", "lagtime", NULL},
                                         {"g2", "c2", "intensity", NULL},
                                         {"g1", "f", "field", NULL},
                                         {"sigma", "error", "err", "g2_err", "g2_error", "dg2", "g1_err", NULL},
                                         {"q", "wavevector", NULL}};
enum role { DELAY, G2, G1, SIGMA, Q, ROLES };

struct roles {
    struct fit_config_column column[ROLES], unit[ROLES];
    struct fit_config_table table;
    char text[2][200];
};

/* "delay: NAME, g2: NAME" */
static enum fit_status list(const char *option, const char *given, char *text, size_t size,
                            struct fit_config_column *to, size_t *n, struct fit_error *err)
{
    *n = 0;
    if (!given)
        return FIT_OK;
    if (strlen(given) >= size)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: is longer than %zu letters", option, size - 1);
    strcpy(text, given);
    for (char *save, *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *colon = strpbrk(word, ":=");
        size_t k = 0;
        word += strspn(word, " ");
        while (k < ROLES && colon && strncmp(word, aliases[k][0], strlen(aliases[k][0])) != 0)
            k++;
        if (!colon || k == ROLES || *n == ROLES)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not ROLE:NAME with a ROLE of delay, g2, g1, sigma, q",
                            option, word);
        char *source = colon + 1 + strspn(colon + 1, " ");
        for (size_t e = strlen(source); e > 0 && source[e - 1] == ' ';)
            source[--e] = '\0';
        to[(*n)++] = (struct fit_config_column){.role = aliases[k][0], .source = source};
    }
    return FIT_OK;
}

static int is_given(const struct roles *r, enum role role)
{
    for (size_t k = 0; k < r->table.ncolumn; k++)
        if (strcmp(r->column[k].role, aliases[role][0]) == 0)
            return 1;
    return 0;
}

/* A column under another of its names, if neither its own name nor an option identifies it. */
static void offer(struct roles *r, const struct fit_table *t, enum role role)
{
    if (is_given(r, role))
        return;
    for (size_t k = 0; aliases[role][k]; k++)
        if (fit_table_find(t, aliases[role][k]) >= 0) {
            if (k > 0)
                r->column[r->table.ncolumn++] =
                    (struct fit_config_column){.role = aliases[role][0], .source = aliases[role][k]};
            return;
        }
}

static int has(const struct roles *r, const struct fit_table *t, enum role role)
{
    return is_given(r, role) || fit_table_find(t, aliases[role][0]) >= 0;
}

/* Messages of tables name the option of fits. */
static void reword(char *message, size_t size)
{
    static const char *const from[] = {"--set 'data.columns={", "--set 'data.units={"};
    static const char *const to[] = {"--columns '", "--units '"};
    char copy[1024];
    for (size_t k = 0; k < 2; k++) {
        const char *at = strstr(message, from[k]);
        const char *end = at ? strstr(at, "}'") : NULL;
        if (!end)
            continue;
        snprintf(copy, sizeof copy, "%.*s%s%.*s'%s", (int)(at - message), message, to[k],
                 (int)(end - at - (ptrdiff_t)strlen(from[k])), at + strlen(from[k]), end + 2);
        snprintf(message, size, "%s", copy);
    }
}

static enum fit_status reworded(enum fit_status st, struct fit_error *err)
{
    if (st != FIT_OK && err)
        reword(err->message, sizeof err->message);
    return st;
}

static void take_notes(struct contin_job *j, const struct fit_notes *from)
{
    char text[1024];
    for (size_t k = 0; k < from->n; k++) {
        snprintf(text, sizeof text, "%s", from->text[k]);
        reword(text, sizeof text);
        fit_notes_add(&j->notes, "%s", text);
    }
}

/* Columns of the table for delay, value, sigma, q; -1: not there. */
struct found {
    int delay, value, sigma, q;
};

static enum fit_status match(struct contin_job *j, const char *file, struct fit_table *t, struct roles *r,
                             struct found *at, struct fit_error *err)
{
    for (enum role k = DELAY; k < ROLES; k++)
        offer(r, t, k);
    const int g1 = j->words.power == 1 || (!j->words.power && has(r, t, G1) && !has(r, t, G2));
    if (j->words.power == 0)
        j->words.power = g1 ? 1 : 2;
    struct fit_column column[] = {{.name = "delay", .unit = "s", .role = FIT_ROLE_COVARIATE},
                                  {.name = g1 ? "g1" : "g2", .unit = "1", .role = FIT_ROLE_VALUE},
                                  {.name = "sigma", .unit = "1", .role = FIT_ROLE_SIGMA},
                                  {.name = "q", .unit = "1/angstrom", .role = FIT_ROLE_COVARIATE}};
    struct fit_kernel kernel = {.name = "contin", .space = FIT_ROWS, .ncolumn = 3, .column = column};
    struct fit_notes notes = {0};
    int from[3] = {-1, -1, -1};
    r->table.column = r->column;
    r->table.unit = r->unit;
    enum fit_status st =
        fit_table_match(file, t, r->table.ncolumn || r->table.nunit ? &r->table : NULL, &kernel, from, &notes, err);
    at->q = fit_table_find(t, "q");
    for (size_t k = 0; k < r->table.ncolumn; k++)
        if (strcmp(r->column[k].role, "q") == 0)
            at->q = fit_table_find(t, r->column[k].source);
    kernel.ncolumn = 4;
    if (st == FIT_OK && at->q >= 0)
        st = fit_table_take_unit(file, t, &r->table, &kernel, 3, &at->q, &notes, err);
    take_notes(j, &notes);
    fit_notes_free(&notes);
    at->delay = from[0];
    at->value = from[1];
    at->sigma = from[2];
    return reworded(st, err);
}

/* Is row k used? A row that no measurement can give is an error. */
static enum fit_status judge(const struct contin_job *j, const char *file, const struct fit_table *t,
                             const struct found *at, size_t k, int *use, struct fit_error *err)
{
    const double delay = t->column[at->delay][k], y = t->column[at->value][k];
    const double sigma = at->sigma >= 0 ? t->column[at->sigma][k] : 1, q = at->q >= 0 ? t->column[at->q][k] : 1;
    const double *window = j->words.delays;
    const size_t line = t->line ? t->line[k] : 0;
    *use = isfinite(delay) && isfinite(y) && isfinite(sigma) && isfinite(q);
    const char *what = !*use ? NULL : delay < 0 ? "delay" : sigma <= 0 ? "sigma" : q <= 0 ? "q" : NULL;
    if (what)
        return fit_fail(err, FIT_ERR_DATA, "%s: row %zu%s: %s is %g; it must be %s 0", file, line ? line : k + 1,
                        line ? " (of the text)" : "", what,
                        delay < 0    ? delay
                        : sigma <= 0 ? sigma
                                     : q,
                        delay < 0 ? "at least" : "above");
    *use &= delay > 0 && !(delay < window[0]) && !(delay > window[1]);
    return FIT_OK;
}

/* The curve of this q in this file: the existing one, or a new one. */
static struct contin_data *curve_of(struct contin_job *j, const char *file, double q, size_t first, size_t room)
{
    for (size_t c = first; c < j->ncurve; c++)
        if (isnan(q) || !(j->data[c].q < q || j->data[c].q > q))
            return &j->data[c];
    if (j->ncurve == CONTIN_CURVES)
        return NULL;
    struct contin_data *d = &j->data[j->ncurve];
    *d = (struct contin_data){.file = strdup(file), .q = q, .q_from_column = !isnan(q)};
    d->delay = calloc(3 * room, sizeof *d->delay);
    if (!d->file || !d->delay) {
        free(d->file);
        free(d->delay);
        return NULL;
    }
    d->y = d->delay + room;
    d->sigma = d->delay + 2 * room;
    j->ncurve++;
    return d;
}

static enum fit_status take_rows(struct contin_job *j, const char *file, const struct fit_table *t,
                                 const struct found *at, struct fit_error *err)
{
    const size_t first = j->ncurve;
    size_t left_out = 0;
    for (size_t k = 0; k < t->nrow; k++) {
        int use = 0;
        enum fit_status st = judge(j, file, t, at, k, &use, err);
        if (st != FIT_OK)
            return st;
        left_out += !use;
        if (!use)
            continue;
        struct contin_data *d = curve_of(j, file, at->q >= 0 ? t->column[at->q][k] : NAN, first, t->nrow);
        if (!d)
            return j->ncurve == CONTIN_CURVES
                       ? fit_fail(err, FIT_ERR_DATA, "%s: more than %d correlation functions", file, CONTIN_CURVES)
                       : fit_no_memory(err, file);
        d->delay[d->n] = t->column[at->delay][k];
        d->y[d->n] = t->column[at->value][k] - (j->words.power == 2 ? 1 : 0);
        d->sigma[d->n++] = at->sigma >= 0 ? t->column[at->sigma][k] : 1;
    }
    for (size_t c = first; c < j->ncurve && at->sigma < 0; c++)
        j->data[c].sigma = NULL;
    if (left_out)
        fit_notes_add(&j->notes, "%s: %zu of %zu rows are left out: delay 0, outside of the window, or no number", file,
                      left_out, t->nrow);
    if (j->ncurve == first)
        return fit_fail(err, FIT_ERR_DATA, "%s: no row can be used: delays must be above 0 and inside of --delays",
                        file);
    return FIT_OK;
}

enum fit_status contin_read_file(struct contin_job *j, const char *file, struct fit_error *err)
{
    struct roles r = {.table = {0}};
    struct fit_table *t = NULL;
    struct found at;
    enum fit_status st =
        list("columns", j->words.columns, r.text[0], sizeof r.text[0], r.column, &r.table.ncolumn, err);
    if (st == FIT_OK)
        st = list("units", j->words.units, r.text[1], sizeof r.text[1], r.unit, &r.table.nunit, err);
    if (st == FIT_OK)
        st = fit_table_read(file, NULL, &t, err);
    if (st == FIT_OK)
        st = match(j, file, t, &r, &at, err);
    if (t)
        take_notes(j, &t->notes);
    if (st == FIT_OK)
        st = take_rows(j, file, t, &at, err);
    fit_table_free(t);
    return st;
}
