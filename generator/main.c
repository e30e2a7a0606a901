/* main.c -- homodyne-gen: from a model file to kernels.
 *
 *   homodyne-gen MODEL.lua [-o DIR] [--variant=fast|parity] [--check] [--explain]
 *                [--emit=c,hessian,check,json,yaml,dot,html,latex]
 *
 * The pipeline: load (dsl) -> rewrite and judge rounding (stability) -> check (check) -> plan, separate, factor,
 * write (emit) -> manifest.  Files are written to temporary names and renamed; when anything is wrong nothing
 * is written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/check.h"
#include "judge/degenerate.h"
#include "judge/domain.h"
#include "graph/dot.h"
#include "language/dsl.h"
#include "emit/emit.h"
#include "emit/emit_check.h"
#include "document/manifest.h"
#include "document/page.h"
#include "judge/stability.h"

#include "common/signals.h"
#include "common/stream.h"
#include "common/text.h"
#include "common/unique.h"

#ifndef HG_VERSION
#define HG_VERSION "0"
#endif

struct options {
    const char *file, *dir, *variant, *emit;
    int check, explain;
};

static const char usage[] =
    "usage: homodyne-gen MODEL.lua [-o DIR] [--variant=NAME] [--emit=LIST] [--check] [--explain]\n"
    "\n"
    "Compiles a model into C kernels.\n"
    "  -o DIR           where files are written (default: the current folder)\n"
    "  --variant=NAME   variant of the model: fast (default) or one the model declares, such as parity\n"
    "  --emit=LIST      what to write, separated by commas (default: c)\n"
    "                     c        the kernel, NAME.c (NAME_VARIANT.c for other variants)\n"
    "                     hessian  with c: second derivatives in the kernel; with check or --check: tested\n"
    "                     check    reference values for NAME selfcheck, NAME_check.txt\n"
    "                     json     the manifest: parameters, units, bounds, hash of the model\n"
    "                     yaml     a commented configuration\n"
    "                     dot      the expression graph\n"
    "                     html     a page that documents the model, NAME.html\n"
    "                     latex    the same for pdflatex, NAME.tex\n"
    "  --check          test the derivatives against dual numbers and the model's own test points\n"
    "  --explain        print what the compiler found\n"
    "  --words          print the names that a model file can use\n"
    "  --version, --help\n";

static int option(const char *arg, const char *name, const char **value)
{
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0 || arg[n] != '=')
        return 0;
    *value = arg + n + 1;
    return 1;
}

static FILE *out(void)
{
    return text_stream(STDOUT_FILENO);
}

static void print_words(void)
{
    struct hg_arena *a = hg_arena_new();
    hg_dsl_words(a, out());
    hg_arena_free(a);
}

/* 1: go on, 0: done, -1: wrong. */
static int read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options){.dir = ".", .variant = "fast", .emit = NULL};
    for (int k = 1; k < argc; k++) {
        const char *a = argv[k];
        if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0)
            return fputs(usage, out()), 0;
        if (strcmp(a, "--version") == 0)
            return fprintf(out(), "homodyne-gen %s\n", HG_VERSION), 0;
        if (strcmp(a, "--words") == 0)
            return print_words(), 0;
        if (strcmp(a, "-o") == 0 && k + 1 < argc)
            o->dir = argv[++k];
        else if (strcmp(a, "--check") == 0)
            o->check = 1;
        else if (strcmp(a, "--explain") == 0)
            o->explain = 1;
        else if (a[0] != '-' && !o->file)
            o->file = a;
        else if (!option(a, "--variant", &o->variant) && !option(a, "--emit", &o->emit))
            return fprintf(text_stream(STDERR_FILENO), "homodyne-gen: unknown option '%s'\n%s", a, usage), -1;
    }
    if (!o->file)
        return fputs(usage, text_stream(STDERR_FILENO)), -1;
    if (!o->emit)
        o->emit = o->check || o->explain ? "" : "c";
    return 1;
}

static int wants(const struct options *o, const char *what)
{
    size_t n = strlen(what);
    for (const char *p = o->emit; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, what, n) == 0 && (p[n] == ',' || p[n] == 0))
            return 1;
    return 0;
}

static int known_emit(const struct options *o)
{
    static const char *const known[] = {"c", "hessian", "check", "json", "yaml", "dot", "html", "latex"};
    for (const char *p = o->emit; *p; p += strcspn(p, ","), p += *p == ',') {
        size_t n = strcspn(p, ",");
        int ok = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            ok |= strlen(known[k]) == n && strncmp(p, known[k], n) == 0;
        if (!ok) {
            fprintf(text_stream(STDERR_FILENO),
                    "homodyne-gen: --emit=%.*s is not possible; choose from c, hessian, check, json,"
                    " yaml, dot, html, latex\n",
                    (int)n, p);
            return 0;
        }
    }
    return 1;
}

static int unwritten; /* 1: the fault was not that of the model */

/* Says why; returns 0. */
static int cannot_write(const char *path)
{
    fprintf(text_stream(STDERR_FILENO), "homodyne-gen: cannot write %s: %s\n", path, strerror(errno));
    unwritten = 1;
    return 0;
}

/* Writes a file through a temporary name. */
static int write_file(const char *path, const char *text, size_t size)
{
    char temporary[4096];
    const int fd = unique_beside(path, temporary, sizeof temporary);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    int ok = f && fwrite(text, 1, size, f) == size && fflush(f) == 0;
    ok = ok && rename(temporary, path) == 0;
    if (!ok) {
        cannot_write(path);
        if (fd >= 0)
            unlink(temporary);
    }
    if (f) /* after the rename: until then the file is locked */
        ok = fclose(f) == 0 && ok;
    else if (fd >= 0)
        close(fd);
    return ok;
}

struct output {
    FILE *f;
    char *text;
    size_t size;
};

static int open_output(struct output *o)
{
    *o = (struct output){0};
    o->f = open_memstream(&o->text, &o->size);
    return o->f != NULL;
}

static int close_output(struct output *o, const char *path, int write)
{
    int ok = fclose(o->f) == 0 && (!write || write_file(path, o->text, o->size));
    free(o->text);
    return ok;
}

static const char *output_path(struct hg_arena *a, const struct options *o, const struct hg_model *m, const char *end)
{
    return hg_format(a, "%s/%s%s%s%s", o->dir, m->name, strcmp(o->variant, "fast") ? "_" : "",
                     strcmp(o->variant, "fast") ? o->variant : "", end);
}

static struct hg_variant *find_variant(struct hg_model *m, const char *name)
{
    for (uint32_t k = 0; k < m->nvariant; k++)
        if (strcmp(m->variant[k].name, name) == 0)
            return &m->variant[k];
    fprintf(text_stream(STDERR_FILENO), "homodyne-gen: %s declares no variant '%s'\n", m->file, name);
    return NULL;
}

static int emit_all(struct hg_arena *a, const struct options *o, struct hg_model *m, const struct hg_variant *v,
                    struct hg_diag *d)
{
    struct output kernel, other;
    if (!open_output(&kernel))
        hg_out_of_memory();
    int ok = hg_emit_kernel(m, v, d, kernel.f, o->explain ? out() : NULL);
    ok = close_output(&kernel, output_path(a, o, m, ".c"), ok && wants(o, "c")) && ok;
    if (ok && wants(o, "check") && open_output(&other)) {
        hg_emit_check(m, v, other.f);
        ok = close_output(&other, output_path(a, o, m, "_check.txt"), 1);
    }
    if (ok && wants(o, "json") && open_output(&other)) {
        hg_manifest_json(m, other.f);
        ok = close_output(&other, output_path(a, o, m, ".json"), 1);
    }
    if (ok && wants(o, "yaml") && open_output(&other)) {
        hg_manifest_yaml(m, other.f);
        ok = close_output(&other, output_path(a, o, m, ".yaml"), 1);
    }
    if (ok && wants(o, "dot") && open_output(&other)) {
        hg_dot(m->expr, v->mean, m->name, other.f);
        ok = close_output(&other, output_path(a, o, m, ".dot"), 1);
    }
    if (ok && wants(o, "html") && open_output(&other)) {
        hg_page(m, v, &hg_page_html, other.f);
        ok = close_output(&other, output_path(a, o, m, ".html"), 1);
    }
    if (ok && wants(o, "latex") && open_output(&other)) {
        hg_page(m, v, &hg_page_latex, other.f);
        ok = close_output(&other, output_path(a, o, m, ".tex"), 1);
    }
    return ok;
}

static void on_signal(int number)
{
    (void)number;
    _exit(130);
}

/* Programs and configurations find a model by its name, and a file by that of the model. */
static void compare_names(const struct hg_model *m, struct hg_diag *d)
{
    const char *file = text_file_name(m->file);
    const size_t n = strlen(m->name);
    if (strncmp(file, m->name, n) != 0 || strcmp(file + n, ".lua") != 0)
        hg_warning(d, 0, NULL, hg_format(m->expr->arena, "call the file %s.lua", m->name),
                   "the model is called '%s', its file %s", m->name, file);
}

int main(int argc, char **argv)
{
    signals_catch(on_signal);
    struct options o;
    int go = read_options(argc, argv, &o);
    if (go <= 0)
        return go < 0 ? 3 : text_stream_finish("homodyne-gen", 0);
    if (!known_emit(&o))
        return 3;
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = text_stream(STDERR_FILENO)};
    struct hg_model *m = hg_dsl_load(a, o.file, &d);
    struct hg_variant *v = m ? find_variant(m, o.variant) : NULL;
    int ok = v != NULL;
    if (m)
        m->hessian = wants(&o, "hessian");
    if (ok)
        hg_domain_check(m, v, &d);
    if (ok)
        ok = hg_stability(m, v, &d, o.explain ? out() : NULL);
    if (ok && o.check)
        ok = hg_check(m, v, &d, out());
    if (ok && o.check)
        hg_accuracy_print(v->accuracy, "  ", 110, out());
    if (ok && mkdir(o.dir, 0777) != 0 && errno != EEXIST)
        ok = cannot_write(o.dir);
    if (ok) {
        unique_sweep(o.dir);
        ok = emit_all(a, &o, m, v, &d);
    }
    if (ok)
        hg_model_warn_linear(m, &d);
    if (ok && o.check)
        compare_names(m, &d);
    if (ok && (o.check || o.explain))
        hg_degenerate_print(hg_degenerate(m, v), out());
    hg_arena_free(a);
    return text_stream_finish("homodyne-gen", unwritten ? 4 : ok && d.errors == 0 ? 0 : 3);
}
