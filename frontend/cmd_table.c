/* cmd_table.c -- `table`: the parameters of results side by side, for a paper: LaTeX, Markdown or CSV.
 *
 * Values and errors are rounded together, the error to two digits (CSV has all of them). For a result with a
 * posterior its mean and standard deviation are used, otherwise least squares with the robust error, if there is
 * one, as in `compare`. A parameter without a valid error has its 95 % interval instead.
 *
 * Symbols follow from the names: common/symbol.h. */
#include "base/number_text.h"
#include "common/symbol.h"
#include "frontend/front.h"
#include "frontend/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum style { MARKDOWN, LATEX, CSV };

struct table {
    FILE *f;
    enum style style;
    int all; /* 1: contrast and offset, too */
    size_t n;
    struct front_result *r;
    const char **name; /* n: folders */
};

/* ---- words of LaTeX --------------------------------------------------------------------------------------------- */

static void put_latex(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\textbackslash{}", f);
        else if (*text == '~' || *text == '^')
            fprintf(f, "\\%c{}", *text);
        else
            fprintf(f, strchr("&%$#_{}", *text) ? "\\%c" : "%c", *text);
    }
}

/* A part of a symbol: a letter, a Greek letter, or upright. */
static void put_part(FILE *f, const struct symbol_part *p)
{
    if (p->greek)
        fputs(p->greek->tex, f);
    else
        fprintf(f, p->kind == SYMBOL_WORD ? "\\mathrm{%.*s}" : "%.*s", (int)p->n, p->text);
}

/* "gamma_dot_t0" -> \dot{\gamma}_{0} in mathematics. */
static void put_symbol(FILE *f, const char *name)
{
    struct symbol s;
    symbol_cut(name, &s);
    for (size_t k = 0; k < s.n; k++) {
        if (k == 0 && s.accent)
            fprintf(f, "\\%s{", s.accent);
        else if (k == 1)
            fputs("_{", f);
        else if (s.part[k].comma)
            fputc(',', f);
        else if (k > 1 && s.part[k - 1].greek)
            fputc(' ', f); /* ends the word of LaTeX */
        put_part(f, &s.part[k]);
        fputs(k == 0 && s.accent ? "}" : "", f);
    }
    fputs(s.n > 1 ? "}" : "", f);
}

/* "angstrom^2/s" -> \AA$^{2}$\,s$^{-1}$ */
static void put_unit(FILE *f, const char *unit)
{
    int below = 0, some = 0;
    while (*unit) {
        const size_t n = strcspn(unit, "*/^");
        const char *next = unit + n;
        long power = 1;
        if (*next == '^')
            power = strtol(next + 1, (char **)(void *)&next, 10);
        if (!(n == 1 && *unit == '1') && n) {
            fputs(some++ ? "\\," : "", f);
            if (strncmp(unit, "angstrom", n) == 0 && n == 8)
                fputs("\\AA{}", f);
            else if (strncmp(unit, "deg", n) == 0 && n == 3)
                fputs("$^\\circ$", f);
            else
                fprintf(f, "%.*s", (int)n, unit);
            if (power != 1 || below)
                fprintf(f, "$^{%ld}$", below ? -power : power);
        }
        below |= *next == '/';
        unit = *next ? next + 1 : next;
    }
}

/* A number as mathematics: 1e-05 is a power of ten. */
static void put_math(FILE *f, const char *number)
{
    const char *e = strpbrk(number, "eE");
    if (e)
        fprintf(f, "%.*s \\times 10^{%ld}", (int)(e - number), number, strtol(e + 1, NULL, 10));
    else
        fputs(number, f);
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static void put_interval(const struct table *t, const struct front_param *p)
{
    char low[48] = "", high[48] = "", none[48];
    const double scale = fmin(fabs(p->value - p->lower95), fabs(p->upper95 - p->value)),
                 by = isfinite(scale) ? scale : 1e-3 * fabs(p->value); /* fmin ignores an open end */
    fit_format_error(p->lower95, by, low, sizeof low, none, sizeof none);
    fit_format_error(p->upper95, by, high, sizeof high, none, sizeof none);
    const int latex = t->style == LATEX;
    if (isnan(p->lower95))
        fprintf(t->f, latex ? "$< %s$" : "< %s", high);
    else if (isnan(p->upper95))
        fprintf(t->f, latex ? "$> %s$" : "> %s", low);
    else
        fprintf(t->f, latex ? "$%s \\ldots %s$" : "%s ... %s", low, high);
}

/* Groups are counted from 1, as on the screen and in reports. */
static const char *shown_name(const struct front_param *p, char *text, size_t size)
{
    char *end;
    const char *open = strchr(p->name, '[');
    const unsigned long group = open ? strtoul(open + 1, &end, 10) : 0;
    if (p->physical || !open || end == open + 1 || strcmp(end, "]") != 0)
        return p->name;
    snprintf(text, size, "%.*s[%lu]", (int)(open - p->name), p->name, group + 1);
    return text;
}

static void put_cell(const struct table *t, const struct front_result *r, const struct front_param *p)
{
    char value[48], error[48] = "";
    const int latex = t->style == LATEX;
    const double x = p ? front_estimate(r, p) : NAN;
    if (isnan(x)) {
        fputs(latex ? "--" : "-", t->f);
        return;
    }
    if (p->undetermined && !r->sampled) {
        fputs("undetermined", t->f);
        return;
    }
    if (!r->sampled && !p->fixed && p->interval && (isfinite(p->lower95) || isfinite(p->upper95))) {
        put_interval(t, p);
        return;
    }
    fit_format_error(x, front_error(r, p), value, sizeof value, error, sizeof error);
    if (latex) {
        fputc('$', t->f);
        put_math(t->f, value);
        if (*error) {
            fputs(" \\pm ", t->f);
            put_math(t->f, error);
        }
        fputc('$', t->f);
    } else {
        fprintf(t->f, "%s%s%s", value, *error ? " ± " : "", error);
    }
    if (p->fixed)
        fputs(" (held)", t->f);
    else if (p->at_bound)
        fputs(" (at a bound)", t->f);
}

static void put_csv_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_csv_number(FILE *f, double x)
{
    fputc(',', f);
    if (isfinite(x))
        fprintf(f, "%.17g", x);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* Is the parameter missing from all previous results? */
static int is_new(const struct table *t, size_t k, const char *name)
{
    for (size_t m = 0; m < k; m++)
        if (front_result_param(&t->r[m], name))
            return 0;
    return 1;
}

static void put_row(const struct table *t, const struct front_param *p)
{
    const char *unit = strcmp(p->unit, "1") == 0 ? "" : p->unit;
    char own[80];
    const char *name = shown_name(p, own, sizeof own);
    FILE *f = t->f;
    if (t->style == LATEX) {
        fputs("  $", f);
        put_symbol(f, name);
        fputs("$ & ", f);
        put_unit(f, unit);
    } else if (t->style == MARKDOWN) {
        fprintf(f, "| %s | %s", name, unit);
    } else {
        put_csv_text(f, name);
        fputc(',', f);
        put_csv_text(f, unit);
    }
    for (size_t k = 0; k < t->n; k++) {
        const struct front_result *r = &t->r[k];
        const struct front_param *q = front_result_param(r, p->name);
        const int fitted = q && !q->fixed && !(q->undetermined && !r->sampled);
        if (t->style == CSV) {
            put_csv_number(f, q ? front_estimate(r, q) : NAN);
            put_csv_number(f, fitted && !(q->interval && !r->sampled) ? front_error(r, q) : NAN);
            put_csv_number(f, fitted && q->interval && !r->sampled ? q->lower95 : NAN);
            put_csv_number(f, fitted && q->interval && !r->sampled ? q->upper95 : NAN);
            continue;
        }
        fputs(t->style == LATEX ? " & " : " | ", f);
        put_cell(t, r, q);
    }
    fputs(t->style == LATEX ? " \\\\\n" : t->style == MARKDOWN ? " |\n" : "\n", f);
}

static void put_chi2(const struct table *t)
{
    int some = 0;
    for (size_t k = 0; k < t->n; k++)
        some |= isfinite(t->r[k].reduced_chi2);
    if (!some || t->style == CSV)
        return;
    fputs(t->style == LATEX ? "  \\midrule\n  $\\chi^2$ per degree of freedom & " : "| chi2/dof | ", t->f);
    for (size_t k = 0; k < t->n; k++) {
        fputs(t->style == LATEX ? " & " : " | ", t->f);
        if (isfinite(t->r[k].reduced_chi2))
            fprintf(t->f, "%.4f", t->r[k].reduced_chi2);
    }
    fputs(t->style == LATEX ? " \\\\\n" : " |\n", t->f);
}

static void put_head(const struct table *t)
{
    if (t->style == LATEX) {
        fputs("% needs \\usepackage{booktabs}; errors are one standard deviation, ranges and limits 95 % intervals\n"
              "\\begin{tabular}{ll",
              t->f);
        for (size_t k = 0; k < t->n; k++)
            fputc('r', t->f);
        fputs("}\n  \\toprule\n  parameter & unit", t->f);
    } else {
        fputs(t->style == MARKDOWN ? "| parameter | unit" : "parameter,unit", t->f);
    }
    for (size_t k = 0; k < t->n; k++) {
        if (t->style == LATEX) {
            fputs(" & ", t->f);
            put_latex(t->f, t->name[k]);
        } else if (t->style == MARKDOWN) {
            fprintf(t->f, " | %s", t->name[k]);
        } else {
            static const char *const what[] = {"value", "error", "lower95", "upper95"};
            for (size_t c = 0; c < 4; c++) {
                char word[1400];
                snprintf(word, sizeof word, "%.1300s %s", t->name[k], what[c]);
                fputc(',', t->f);
                put_csv_text(t->f, word);
            }
        }
    }
    fputs(t->style == LATEX ? " \\\\\n  \\midrule\n" : t->style == MARKDOWN ? " |\n|---|---" : "\n", t->f);
    for (size_t k = 0; t->style == MARKDOWN && k < t->n; k++)
        fputs("|---:", t->f);
    fputs(t->style == MARKDOWN ? "|\n" : "", t->f);
}

static void put_table(const struct table *t)
{
    put_head(t);
    for (size_t k = 0; k < t->n; k++)
        for (size_t m = 0; m < t->r[k].nparam; m++) {
            const struct front_param *p = &t->r[k].param[m];
            if ((p->physical || t->all) && is_new(t, k, p->name))
                put_row(t, p);
        }
    put_chi2(t);
    if (t->style == LATEX)
        fputs("  \\bottomrule\n\\end{tabular}\n", t->f);
}

/* Parameters of one name must be one quantity: of one unit. */
static enum fit_status check_units(const struct table *t, struct fit_error *err)
{
    for (size_t k = 0; k < t->n; k++)
        for (size_t m = 0; m < t->r[k].nparam; m++)
            for (size_t o = 0; o < k; o++) {
                const struct front_param *p = &t->r[k].param[m], *q = front_result_param(&t->r[o], p->name);
                if (q && *p->unit && *q->unit && strcmp(p->unit, q->unit) != 0)
                    return fit_fail(err, FIT_ERR_USAGE,
                                    "table: %s has the unit %s in %s and %s in %s; a row has one unit", p->name,
                                    q->unit, t->name[o], p->unit, t->name[k]);
            }
    return FIT_OK;
}

enum fit_status front_cmd_table(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct table t = {.f = f->out, .all = option_given(&a->own, "all"), .style = MARKDOWN};
    const int latex = option_given(&a->own, "latex"), csv = option_given(&a->own, "csv");
    if (latex + csv + option_given(&a->own, "markdown") > 1)
        return fit_fail(err, FIT_ERR_USAGE, "table: --latex, --csv and --markdown exclude each other");
    if (!a->nrest)
        return fit_fail(err, FIT_ERR_USAGE, "table: no result is named; give the folders of fits");
    t.style = latex ? LATEX : csv ? CSV : MARKDOWN;
    t.r = calloc(a->nrest, sizeof *t.r);
    t.name = calloc(a->nrest, sizeof *t.name);
    enum fit_status st = t.r && t.name ? FIT_OK : fit_no_memory(err, NULL);
    for (size_t k = 0; st == FIT_OK && k < a->nrest; k++) {
        st = front_result_read(a->rest[k], &t.r[k], err);
        if (st != FIT_OK)
            break;
        t.name[k] = a->rest[k];
        t.n++;
    }
    if (st == FIT_OK)
        st = check_units(&t, err);
    if (st == FIT_OK)
        put_table(&t);
    for (size_t k = 0; k < t.n; k++)
        front_result_free(&t.r[k]);
    free(t.r);
    free(t.name);
    return st;
}
