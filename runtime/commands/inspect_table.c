/* inspect_table.c -- `inspect` of a table: its rows and, for every column, name, unit, range and number of empty
 * cells; notes on how it was read. */
#include "base/json.h"
#include "commands/program.h"
#include "input/table.h"

#include <math.h>
#include <sys/stat.h>

struct range {
    double low, high;
    size_t empty;
};

static struct range range_of(const struct fit_table *t, size_t column)
{
    struct range r = {INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < t->nrow; i++) {
        const double x = t->column[column][i];
        r.empty += isnan(x) ? 1 : 0;
        r.low = fmin(r.low, x);
        r.high = fmax(r.high, x);
    }
    return r;
}

static const char *unit_of(const struct fit_table *t, size_t column)
{
    return t->unit && t->unit[column] ? t->unit[column] : "";
}

static void put_json(FILE *f, const char *file, const struct fit_table *t)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "file", file);
    fit_json_string(&j, "layout", "table");
    fit_json_integer(&j, "rows", (int64_t)t->nrow);
    fit_json_begin(&j, "columns", '[');
    for (size_t c = 0; c < t->ncolumn; c++) {
        const struct range r = range_of(t, c);
        fit_json_begin(&j, NULL, '{');
        fit_json_string(&j, "name", t->name[c]);
        fit_json_string(&j, "unit", *unit_of(t, c) ? unit_of(t, c) : NULL);
        fit_json_number(&j, "min", r.low);
        fit_json_number(&j, "max", r.high);
        fit_json_integer(&j, "empty", (int64_t)r.empty);
        fit_json_end(&j);
    }
    fit_json_end(&j);
    fit_json_end(&j);
    fit_json_put(&j, f);
}

static void put_text(FILE *f, const char *file, const struct fit_table *t)
{
    fprintf(f, "%s: a table of %zu rows and %zu columns", file, t->nrow, t->ncolumn);
    if (t->ncurve > 1)
        fprintf(f, ", of %zu bins", t->ncurve);
    fprintf(f, "\n\n  %3s %-20s %-14s %12s %12s %7s\n", "#", "column", "unit", "from", "to", "empty");
    for (size_t c = 0; c < t->ncolumn; c++) {
        const struct range r = range_of(t, c);
        char empty[24] = "";
        if (r.empty)
            snprintf(empty, sizeof empty, "%zu", r.empty);
        if (r.low > r.high)
            fprintf(f, "  %3zu %-20.20s %-14.14s %12s %12s %7s\n", c + 1, t->name[c], unit_of(t, c), "-", "-", empty);
        else
            fprintf(f, "  %3zu %-20.20s %-14.14s %12.6g %12.6g %7s\n", c + 1, t->name[c], unit_of(t, c), r.low, r.high,
                    empty);
    }
    fprintf(f, "\nNext: homodyne fit --model MODEL --data FILE; `homodyne models` lists models,\n"
               "`homodyne info --model MODEL` the columns of one, --columns NAME=COLUMN names them.\n");
}

/* Letters, digits and blanks at its beginning; does not wait for a pipe. */
static int is_text(const char *file)
{
    struct stat is;
    FILE *f = stat(file, &is) == 0 && S_ISREG(is.st_mode) ? fopen(file, "rb") : NULL;
    int c = EOF, n = 0, text = f != NULL;
    while (f && n < 512 && (c = fgetc(f)) != EOF) {
        text &= c >= ' ' || c == '\t' || c == '\r' || c == '\n';
        n++;
    }
    if (f)
        fclose(f);
    return text && n > 0;
}

enum fit_status fit_inspect_table(struct fit_program *p, const struct fit_cli *cli, int *is_one, struct fit_error *err)
{
    struct fit_table *t = NULL;
    *is_one = is_text(cli->word[0]);
    if (!*is_one)
        return FIT_OK;
    const enum fit_status st = fit_table_read(cli->word[0], NULL, &t, err);
    if (st != FIT_OK)
        return st;
    if (cli->json)
        put_json(p->out, cli->word[0], t);
    else if (!cli->quiet)
        put_text(p->out, cli->word[0], t);
    for (size_t k = 0; k < t->notes.n && !cli->quiet; k++)
        fprintf(p->err, "note: %s\n", t->notes.text[k]);
    fit_table_free(t);
    return FIT_OK;
}
