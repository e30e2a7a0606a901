/* table_text.c -- tables in text files.  See table.h. */
#include "input/table_impl.h"

#include "base/paths.h"
#include "machine/memory.h"

#include "common/regular.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 32) /* bytes of room */

struct text {
    const char *file;
    char *bytes, *end;
    char delimiter; /* ' ' means any run of spaces and tabs */
    int comma;      /* decimals had commas */
    size_t line;    /* number of the line that `at` begins, from 1 */
};

/* Doubles the memory, which holds n bytes so far. Input without an end is rejected before it takes all memory. */
static enum fit_status grow(const char *file, char **bytes, size_t *room, struct fit_error *err)
{
    const size_t more = 2 * *room;
    if (more > TEXT_MAX)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: more than %.0f GB of text; a table of this size is read from HDF5 or npz", file,
                        (double)*room / 1e9);
    char *b = fit_memory_room((double)more) ? realloc(*bytes, more + 1) : NULL;
    if (!b)
        return fit_no_memory(err, file);
    *bytes = b;
    *room = more;
    return FIT_OK;
}

static enum fit_status read_text(const char *file, struct text *t, struct fit_error *err)
{
    FILE *f = regular_open(file);
    size_t room = 1 << 16, n = 0, got;
    if (!f)
        return fit_path_missing(file, err);
    char *b = malloc(room + 1);
    enum fit_status st = b ? FIT_OK : fit_no_memory(err, file);
    while (st == FIT_OK && (got = fread(b + n, 1, room - n, f)) > 0) {
        if (memchr(b + n, 0, got))
            st = fit_fail(err, FIT_ERR_DATA, "%s: is neither text nor HDF5, npz or npy", file);
        n += got;
        if (st == FIT_OK && n == room)
            st = grow(file, &b, &room, err);
    }
    if (st == FIT_OK && ferror(f))
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be read", file);
    fclose(f);
    if (st != FIT_OK) {
        free(b);
        return st;
    }
    b[n] = 0;
    *t = (struct text){.file = file, .bytes = b, .end = b + n, .line = 1};
    return FIT_OK;
}

/* End of the line that begins at p: its newline, or the end of the text. */
static char *line_end(const struct text *t, char *p)
{
    char *e = memchr(p, '\n', (size_t)(t->end - p));
    return e ? e : t->end;
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct fit_cell trim(const char *a, const char *b)
{
    while (a < b && is_space(*a))
        a++;
    while (a < b && is_space(b[-1]))
        b--;
    if (b - a >= 2 && *a == '"' && b[-1] == '"') {
        a++;
        b--;
    }
    return (struct fit_cell){a, (size_t)(b - a)};
}

/* Splits the line [p, e) into at most `most` cells and returns their number. */
size_t fit_text_split(char delimiter, const char *p, const char *e, struct fit_cell *cell,
                      size_t most)
{
    size_t n = 0;
    while (e > p && is_space(e[-1]) && (delimiter != '\t' || e[-1] == '\r'))
        e--;
    if (delimiter == ' ') {
        for (;;) {
            while (p < e && is_space(*p))
                p++;
            if (p == e)
                return n;
            const char *a = p;
            while (p < e && !is_space(*p))
                p++;
            if (n < most)
                cell[n] = trim(a, p);
            n++;
        }
    }
    for (;;) {
        const char *a = p;
        while (p < e && *p != delimiter)
            p++;
        if (n < most)
            cell[n] = trim(a, p);
        n++;
        if (p == e)
            return n;
        p++;
    }
}

/* The number in a cell; an empty one, and NA, are NaN. 0: not a number. */
static int number(struct fit_cell c, double *v)
{
    char *end;
    *v = NAN;
    if (c.n == 0 || (c.n == 2 && memcmp(c.at, "NA", 2) == 0))
        return 1;
    if (isspace((unsigned char)*c.at))
        return 0;
    *v = strtod(c.at, &end);
    return end == c.at + c.n;
}

/* "0,05": one comma, between digits, and otherwise only characters of a number. */
static int has_decimal_comma(struct fit_cell cell)
{
    size_t commas = 0, others = 0;
    for (size_t k = 0; k < cell.n; k++) {
        if (cell.at[k] == ',')
            commas += k > 0 && k + 1 < cell.n && isdigit((unsigned char)cell.at[k - 1]) &&
                              isdigit((unsigned char)cell.at[k + 1])
                          ? 1
                          : 2;
        others += !strchr("0123456789+-eE,", cell.at[k]);
    }
    return commas == 1 && others == 0;
}

static int is_blank(const char *p, const char *e)
{
    while (p < e && is_space(*p))
        p++;
    return p == e;
}

static int is_comment(const char *p, const char *e)
{
    while (p < e && is_space(*p))
        p++;
    return p < e && (*p == '#' || *p == '%');
}

/* End of a row's text before a comment. */
static char *before_remark(char *p, char *e)
{
    char *remark = memchr(p, '#', (size_t)(e - p));
    return remark ? remark : e;
}

static char detect_delimiter(const char *p, const char *e)
{
    for (const char *d = ",;\t"; *d; d++)
        if (memchr(p, *d, (size_t)(e - p)))
            return *d;
    return ' ';
}

static int all_numbers(const struct fit_cell *cell, size_t n)
{
    double v;
    for (size_t c = 0; c < n; c++)
        if (!number(cell[c], &v))
            return 0;
    return 1;
}

/* ---- decimal commas -------------------------------------------------------------------------- */

/* The separator of cells in which a comma is the decimal point. */
static char other_delimiter(const char *p, const char *e)
{
    return memchr(p, ';', (size_t)(e - p)) ? ';' : memchr(p, '\t', (size_t)(e - p)) ? '\t' : ' ';
}

/* Number of cells of a row with a decimal comma; 0 also when one of the others is not a number. */
static size_t decimal_commas(char delimiter, const char *p, const char *e, struct fit_cell *cell)
{
    const size_t n = fit_text_split(delimiter, p, e, cell, FIT_TABLE_COLUMNS);
    size_t commas = 0;
    double v;
    for (size_t c = 0; c < n && c < FIT_TABLE_COLUMNS; c++) {
        if (has_decimal_comma(cell[c]))
            commas++;
        else if (!number(cell[c], &v))
            return 0;
    }
    return commas;
}

/* The delimiter of rows with decimal commas, from the first row that shows it; 0: there are none. */
static char comma_delimiter(const struct text *t, struct fit_cell *cell)
{
    size_t left = 200; /* lines of a head */
    for (char *p = t->bytes; p < t->end && left--;) {
        char *e = line_end(t, p), *end = before_remark(p, e);
        const char d = other_delimiter(p, end);
        if (!is_blank(p, e) && !is_comment(p, e) && memchr(p, ',', (size_t)(end - p))) {
            const size_t n = fit_text_split(',', p, end, cell, FIT_TABLE_COLUMNS);
            if (n <= FIT_TABLE_COLUMNS && all_numbers(cell, n))
                return 0; /* separated by commas */
            if (decimal_commas(d, p, end, cell))
                return d;
        }
        p = e < t->end ? e + 1 : e;
    }
    return 0;
}

/* Replaces the commas of numbers by points, if they are decimal commas: they do not separate cells then. */
static void mend_commas(struct text *t, const struct fit_table_options *o, struct fit_cell *cell)
{
    const char d = o->delimiter == ',' ? 0 : comma_delimiter(t, cell);
    if (!d)
        return;
    t->delimiter = o->delimiter ? o->delimiter : d;
    t->comma = 1;
    for (char *p = t->bytes; p < t->end;) {
        char *e = line_end(t, p), *end = before_remark(p, e);
        if (!is_comment(p, e) && decimal_commas(t->delimiter, p, end, cell))
            for (char *c = p; (c = memchr(c, ',', (size_t)(end - c))) != NULL; c++)
                *c = '.';
        p = e < t->end ? e + 1 : e;
    }
}

/* Words of a header in brackets belong to the name before them: tau (ms); returns the number of names. */
static size_t join_units(struct fit_cell *cell, size_t n)
{
    size_t kept = 0;
    int open = 0;
    for (size_t c = 0; c < n; c++) {
        const int joins = kept && (open > 0 || (cell[c].n && (*cell[c].at == '(' || *cell[c].at == '[')));
        for (size_t i = 0; i < cell[c].n; i++)
            open += (cell[c].at[i] == '(' || cell[c].at[i] == '[') - (cell[c].at[i] == ')' || cell[c].at[i] == ']');
        if (joins)
            cell[kept - 1].n = (size_t)(cell[c].at + cell[c].n - cell[kept - 1].at);
        else
            cell[kept++] = cell[c];
    }
    return kept;
}

/* The names in a header line. */
static size_t header(char delimiter, const char *p, const char *e, struct fit_cell *name)
{
    const size_t n = fit_text_split(delimiter, p, e, name, FIT_TABLE_COLUMNS);
    return delimiter == ' ' ? join_units(name, n < FIT_TABLE_COLUMNS ? n : FIT_TABLE_COLUMNS) : n;
}

/* Finds the beginning of the numbers, the number of columns, and the cells that hold their names (nname 0: none). */
struct plan {
    char *first;
    size_t line, ncolumn, nname;
};

/* A row of n cells; numbers: all of them are. Names continue to the end of an apparent comment. 0: too many.
 */
static size_t split_row(const struct text *t, char *p, char *e, int named, struct fit_cell *cell, int *numbers)
{
    size_t n = fit_text_split(t->delimiter, p, before_remark(p, e), cell, FIT_TABLE_COLUMNS);
    if (n > FIT_TABLE_COLUMNS)
        return 0;
    *numbers = all_numbers(cell, n);
    if (!named && !*numbers && (n = fit_text_split(t->delimiter, p, e, cell, FIT_TABLE_COLUMNS)) > FIT_TABLE_COLUMNS)
        n = FIT_TABLE_COLUMNS;
    return n;
}

/* A first row of n cells below plan->nname names. If there are as many names as cells, the names belong to them. If
 * there are more cells than names between commas, decimals may have commas, too, and cells by position would be
 * halves of numbers. */
static enum fit_status judge_names(const struct text *t, size_t n, int named, struct plan *plan, struct fit_error *err)
{
    if (named && t->delimiter == ',' && plan->nname > 1 && n > plan->nname)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s:%zu: %zu cells below %zu names; where decimals have commas, cells are separated by "
                        "semicolons or tabs; lines that are no header are left out by data.skip_rows",
                        t->file, t->line, n, plan->nname);
    if (plan->nname != n)
        plan->nname = 0;
    return FIT_OK;
}

static enum fit_status make_plan(struct text *t, const struct fit_table_options *o,
                                 struct plan *plan, struct fit_cell *cell, struct fit_cell *name,
                                 struct fit_error *err)
{
    char *p = t->bytes, *comment = NULL, *comment_end = NULL;
    int named = 0;
    *plan = (struct plan){0};
    if (t->end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (; p < t->end; t->line++) {
        char *e = line_end(t, p), *next = e < t->end ? e + 1 : e;
        if (t->line > o->skip_rows && is_comment(p, e)) {
            comment = p + strspn(p, " \t\r") + 1;
            comment_end = e;
        } else if (t->line > o->skip_rows && !is_blank(p, e)) {
            if (!t->delimiter)
                t->delimiter = o->delimiter ? o->delimiter : detect_delimiter(p, e);
            int numbers;
            const size_t n = split_row(t, p, e, named, cell, &numbers);
            if (n == 0)
                return fit_fail(err, FIT_ERR_DATA, "%s:%zu: more than %d columns", t->file, t->line, FIT_TABLE_COLUMNS);
            if (named || numbers) {
                *plan = (struct plan){
                    .first = p, .line = t->line, .ncolumn = n, .nname = named ? plan->nname : 0};
                if (!named && comment)
                    plan->nname = header(detect_delimiter(comment, comment_end), comment, comment_end, name);
                return judge_names(t, n, named, plan, err);
            }
            memcpy(name, cell, n * sizeof *cell);
            plan->nname = t->delimiter == ' ' ? join_units(name, n) : n;
            named = 1;
        }
        p = next;
    }
    return fit_fail(err, FIT_ERR_DATA, "%s: holds no row of numbers", t->file);
}

/* Largest possible number of rows from p on: that of lines that are not blank, but no more than fit into the bytes,
 * since a cell and its end take at least one each. (Many short lines after a long one are an error, reported for the
 * first of them.) */
static size_t count_rows(const struct text *t, char *p, size_t ncolumn)
{
    const size_t most = (size_t)(t->end - p) / ncolumn + 1;
    size_t n = 0;
    while (p < t->end) {
        char *e = line_end(t, p);
        n += !is_blank(p, e);
        p = e < t->end ? e + 1 : e;
    }
    return n < most ? n : most;
}

static enum fit_status fill_rows(const struct text *t, const struct plan *plan,
                                 struct fit_table *table, struct fit_cell *cell,
                                 struct fit_error *err)
{
    size_t row = 0, line = plan->line;
    for (char *p = plan->first; p < t->end; line++) {
        char *e = line_end(t, p);
        if (!is_blank(p, e) && !is_comment(p, e)) {
            size_t n = fit_text_split(t->delimiter, p, before_remark(p, e), cell, FIT_TABLE_COLUMNS);
            if (n != plan->ncolumn)
                return fit_fail(err, FIT_ERR_DATA, "%s:%zu: %zu columns; the rows before have %zu",
                                t->file, line, n, plan->ncolumn);
            for (size_t c = 0; c < n; c++)
                if (!number(cell[c], &table->column[c][row]))
                    return fit_fail(err, FIT_ERR_DATA, "%s:%zu: column %zu: '%.*s' is not a number%s", t->file, line,
                                    c + 1, (int)(cell[c].n < 40 ? cell[c].n : 40), cell[c].at,
                                    !has_decimal_comma(cell[c]) ? ""
                                    : t->comma                  ? "; its row has a cell that is none"
                                               : "; other rows are separated by commas, or have points");
            table->line[row++] = line;
        }
        p = e < t->end ? e + 1 : e;
    }
    table->nrow = row;
    return FIT_OK;
}

/* The table of a text that was read. */
static enum fit_status make_table(struct text *t, const struct fit_table_options *o, struct fit_table **out,
                                  struct fit_error *err)
{
    struct plan plan;
    FIT_SCRATCH(a);
    struct fit_cell *cell = fit_take(&a, 2 * FIT_TABLE_COLUMNS, sizeof *cell);
    if (!cell)
        return fit_no_memory(err, t->file);
    struct fit_cell *name = cell + FIT_TABLE_COLUMNS;
    mend_commas(t, o, cell);
    enum fit_status st = make_plan(t, o, &plan, cell, name, err);
    if (st != FIT_OK)
        return st;
    struct fit_table *table = *out = fit_table_new(count_rows(t, plan.first, plan.ncolumn), plan.ncolumn);
    if (!table || !(table->line = fit_take(&table->storage_, table->nrow, sizeof *table->line)))
        return fit_no_memory(err, t->file);
    for (size_t c = 0; c < plan.nname; c++)
        if (!fit_table_set_name(table, c, name[c].at, name[c].n))
            return fit_no_memory(err, t->file);
    if (t->comma)
        fit_notes_add(&table->notes, "%s: decimals are written with a comma", t->file);
    return fill_rows(t, &plan, table, cell, err);
}

enum fit_status fit_table_read_text(const char *file, const struct fit_table_options *o, struct fit_table **out,
                                    struct fit_error *err)
{
    struct text t = {0};
    *out = NULL;
    enum fit_status st = read_text(file, &t, err);
    if (st != FIT_OK)
        return st;
    const size_t size = (size_t)(t.end - t.bytes);
    st = fit_table_is_alv(t.bytes, size) ? fit_table_read_alv(file, t.bytes, size, out, err)
                                         : make_table(&t, o, out, err);
    free(t.bytes);
    if (st != FIT_OK) {
        fit_table_free(*out);
        *out = NULL;
    }
    return st;
}
