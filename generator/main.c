/* main.c -- homodyne-gen: from a model file to kernels.
 *
 *   homodyne-gen MODEL.lua [-o DIR] [--variant fast|parity] [--check] [--explain] [--dump PASS]
 *                [--emit c,hessian,gpu,check,json,yaml,dot,html,latex]
 *
 * compile() shows the passes in their order. Files are written under temporary names and renamed; after an error
 * nothing is written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/manifest.h"
#include "document/objective_page.h"
#include "document/page.h"
#include "emit/emit.h"
#include "emit/emit_check.h"
#include "emit/emit_gpu.h"
#include "emit/emit_objective.h"
#include "graph/dot.h"
#include "graph/dump.h"
#include "judge/check.h"
#include "judge/objective_check.h"
#include "judge/domain.h"
#include "judge/stability.h"
#include "language/dsl.h"
#include "structure/form.h"
#include "structure/program.h"

#include "common/options.h"
#include "common/signals.h"
#include "common/stream.h"
#include "common/text.h"
#include "common/unique.h"

#ifndef HG_VERSION
#define HG_VERSION "0"
#endif

struct options {
    const char *file, *dir, *variant, *emit, *dump;
    int check, explain, words, help, version;
};

#define AT(kind, member) OPTION_AT(kind, struct options, member)

static const struct option_row rows[] = {
    {"output", 'o', "DIR", "where files are written (default: the current folder)", 0, AT(TEXT, dir)},
    {"variant", 0, "NAME", "variant of the model: fast (default) or one the model declares, such as parity", 0,
     AT(TEXT, variant)},
    {"emit", 0, "LIST", "what to write, separated by commas (default: c)", 0, AT(TEXT, emit)},
    {"check", 0, NULL, "test the derivatives against dual numbers and the model's own test points", 0, AT(FLAG, check)},
    {"explain", 0, NULL, "print what the compiler found", 0, AT(FLAG, explain)},
    {"dump", 0, "PASS", "print the program after a pass: load, rewrite, plan, separate or factor", 0, AT(TEXT, dump)},
    {"words", 0, NULL, "print the names that a model file can use", 0, AT(FLAG, words)},
    {"help", 'h', NULL, "this text", 0, AT(FLAG, help)},
    {"version", 0, NULL, "the version", 0, AT(FLAG, version)},
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static const char usage[] =
    "usage: homodyne-gen MODEL.lua [-o DIR] [--variant NAME] [--emit LIST] [--check] [--explain]\n"
    "                    [--dump PASS]\n\n";

static const char emitted[] =
    "\n"
    "What --emit can write:\n"
    "  c        the kernel, NAME.c (NAME_VARIANT.c for other variants)\n"
    "  hessian  with c: second derivatives in the kernel; with check or --check: tested\n"
    "  gpu      kernels for accelerators, NAME_gpu.c: one text for CUDA C, OpenCL C and C\n"
    "  check    reference values for NAME selfcheck, NAME_check.txt\n"
    "  json     the manifest: parameters, units, bounds, hash of the model\n"
    "  yaml     a commented configuration\n"
    "  dot      the expression graph\n"
    "  html     a page that documents the model, NAME.html\n"
    "  latex    the same for pdflatex, NAME.tex\n"
    "\n"
    "--dump prints one node a line, operands first, then the results:\n"
    "  %NUMBER OPERATION(OPERANDS)    what it varies with    its name\n"
    "  NAME = %NUMBER\n";

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

static int complain(const char *message)
{
    fprintf(text_stream(STDERR_FILENO), "homodyne-gen: %s\n", message);
    return -1;
}

/* 1: go on, 0: done, -1: wrong, -2: no memory. */
static int read_options(int argc, char **argv, struct options *o)
{
    const struct option_set set = {.table = {table}, .help = "homodyne-gen --help"};
    struct command_line line;
    char message[400];
    *o = (struct options){.dir = ".", .variant = "fast"};
    const enum options_end end = options_read(&set, argc, argv, 1, &line, message, sizeof message);
    int go = end == OPTIONS_GOOD && options_store(o, &line, message, sizeof message) ? 1 : complain(message);
    if (end == OPTIONS_NO_MEMORY)
        go = -2;
    o->file = go == 1 && line.nword ? line.word[0] : NULL;
    if (go == 1 && line.nword > 1)
        go = complain("one model at a time");
    options_free(&line);
    if (go == 1 && (o->help || o->version || o->words)) {
        if (o->help) {
            fputs("Compiles a model into C kernels.\n\n", out());
            fputs(usage, out());
            options_put(out(), &table);
            fputs(emitted, out());
        } else if (o->version)
            fprintf(out(), "homodyne-gen %s\n", HG_VERSION);
        else
            print_words();
        return 0;
    }
    if (go == 1 && !o->file)
        return fputs(usage, text_stream(STDERR_FILENO)), -1;
    if (!o->emit)
        o->emit = o->check || o->explain || o->dump ? "" : "c";
    return go;
}

static int wants(const struct options *o, const char *what)
{
    size_t n = strlen(what);
    for (const char *p = o->emit; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, what, n) == 0 && (p[n] == ',' || p[n] == 0))
            return 1;
    return 0;
}

/* 1 when every word of a comma-separated list is among those of `known`. */
static int are_known(const char *option, const char *list, const char *known)
{
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
        const size_t n = strcspn(p, ",");
        const char *k = known;
        while (*k && (strcspn(k, ",") != n || strncmp(k, p, n) != 0))
            k += strcspn(k, ",") + (k[strcspn(k, ",")] == ',' ? 2 : 0);
        if (!*k) {
            fprintf(text_stream(STDERR_FILENO), "homodyne-gen: --%s=%.*s is not possible; choose from %s\n", option,
                    (int)n, p, known);
            return 0;
        }
    }
    return 1;
}

static int unwritten; /* 1: the error is not one of the model */

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

/* A run of the compiler: the results that each pass leaves to the next ones. */
struct run {
    const struct options *o;
    struct hg_arena *a;
    struct hg_diag d;
    struct hg_model *m;
    struct hg_variant *v;
    struct hg_analysis found;
    struct hg_plan *plan;
    struct hg_form *form;
    struct hg_emit *em;
};

static struct hg_variant *find_variant(struct hg_model *m, const char *name)
{
    for (uint32_t k = 0; k < m->nvariant; k++)
        if (strcmp(m->variant[k].name, name) == 0)
            return &m->variant[k];
    fprintf(text_stream(STDERR_FILENO), "homodyne-gen: %s declares no variant '%s'\n", m->file, name);
    return NULL;
}

/* The equations of the model in MathML, for the descriptor. */
static const char *equations(struct run *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        hg_out_of_memory();
    hg_page_equations(r->m, r->v, &hg_page_html, f);
    if (fclose(f) != 0)
        hg_out_of_memory();
    const char *kept = hg_strdup(r->a, text);
    free(text);
    return kept;
}

static void write_kernel(struct run *r, FILE *f)
{
    if (!r->m->objective)
        r->em->equations = equations(r);
    if (r->m->objective)
        hg_emit_objective(r->m, f);
    else
        hg_emit_file(r->em, &r->found, f);
}

static void write_gpu(struct run *r, FILE *f)
{
    if (r->m->objective)
        hg_emit_objective_gpu(r->m, f);
    else
        hg_emit_gpu(r->em, f);
}

static void write_check(struct run *r, FILE *f)
{
    const struct hg_march *march = r->m->expr->march;
    (march && march->flow ? hg_emit_check : hg_wide_emit_check)(r->m, r->v, wants(r->o, "hessian"), f);
}

static void write_json(struct run *r, FILE *f)
{
    hg_manifest_json(r->m, &r->found, f);
}

static void write_yaml(struct run *r, FILE *f)
{
    hg_manifest_yaml(r->m, f);
}

static void write_dot(struct run *r, FILE *f)
{
    hg_dot(r->m->expr, r->v->mean, r->m->name, f);
}

static void write_page(struct run *r, const struct hg_page_format *format, FILE *f)
{
    if (r->m->objective)
        hg_objective_page(r->m, format, f);
    else
        hg_page(r->m, r->v, &r->found, format, f);
}

static void write_html(struct run *r, FILE *f)
{
    write_page(r, &hg_page_html, f);
}

static void write_latex(struct run *r, FILE *f)
{
    write_page(r, &hg_page_latex, f);
}

/* Everything that --emit requests. */
static int write_all(struct run *r)
{
    static const struct {
        const char *word, *end;
        void (*write)(struct run *r, FILE *f);
    } output[] = {{"c", ".c", write_kernel},         {"gpu", "_gpu.c", write_gpu},
                  {"check", "_check.txt", write_check}, {"json", ".json", write_json},
                  {"yaml", ".yaml", write_yaml},     {"dot", ".dot", write_dot},
                  {"html", ".html", write_html},     {"latex", ".tex", write_latex}};
    const char *variant = strcmp(r->o->variant, "fast") ? hg_format(r->a, "_%s", r->o->variant) : "";
    int ok = 1;
    for (size_t k = 0; ok && k < sizeof output / sizeof *output; k++) {
        char *text = NULL;
        size_t size = 0;
        if (!wants(r->o, output[k].word))
            continue;
        FILE *f = open_memstream(&text, &size);
        if (!f)
            hg_out_of_memory();
        output[k].write(r, f);
        ok = fclose(f) == 0 &&
             write_file(hg_format(r->a, "%s/%s%s%s", r->o->dir, r->m->name, variant, output[k].end), text, size);
        free(text);
    }
    return ok;
}

static void on_signal(int number)
{
    (void)number;
    _exit(130);
}

/* Programs and configurations find a model by its name, and a file by the model's name. */
static void compare_names(const struct hg_model *m, struct hg_diag *d)
{
    const char *file = text_file_name(m->file);
    const size_t n = strlen(m->name);
    if (strncmp(file, m->name, n) != 0 || strcmp(file + n, ".lua") != 0)
        hg_warning(d, 0, NULL, hg_format(m->expr->arena, "call the file %s.lua", m->name),
                   "the model is called '%s', its file %s", m->name, file);
}

/* Prints the program after a pass when --dump requests it. */
static void dump(const struct run *r, const char *pass)
{
    struct hg_root *root;
    uint32_t n;
    if (!r->o->dump || strcmp(r->o->dump, pass) != 0)
        return;
    root = r->form ? hg_form_roots(r->form, &n) : r->plan ? hg_plan_roots(r->plan, &n)
                                                          : hg_model_roots(r->m, r->v, &n);
    hg_dump(r->m->expr, hg_format(r->a, "pass %s: %s, variant %s", pass, r->m->name, r->v->name), n, root, out());
}

/* Checks before any code is written: derivatives against dual numbers, test points, rounding errors. */
static int prove(struct run *r)
{
    if (!hg_check(r->m, r->v, wants(r->o, "hessian"), &r->d, out()))
        return 0;
    hg_accuracy_print(r->found.accuracy, "  ", 110, out());
    hg_rule_error_print(r->found.rules, "  ", out());
    return 1;
}

/* The output for objectives. */
static int compile_objective(struct run *r)
{
    const struct options *o = r->o;
    if (strcmp(o->variant, "fast") != 0 || o->explain || o->dump || wants(o, "hessian") || wants(o, "check") ||
        wants(o, "json") || wants(o, "yaml") || wants(o, "dot")) {
        fprintf(text_stream(STDERR_FILENO),
                "homodyne-gen: %s is an objective; there are --check and --emit=c,gpu,html,latex for it\n", r->m->file);
        return 0;
    }
    return !o->check || hg_objective_prove(r->m, &r->d, out());
}

/* The passes.  Each leaves its result in *r; 0 when one of them refused the model. */
static int compile(struct run *r)
{
    const struct options *o = r->o;
    FILE *explain = o->explain ? out() : NULL;
    if ((r->m = hg_dsl_load(r->a, o->file, &r->d)) == NULL)
        return 0;
    if (r->m->objective)
        return compile_objective(r);
    if ((r->v = find_variant(r->m, o->variant)) == NULL)
        return 0;
    dump(r, "load");
    hg_domain_check(r->m, r->v, &r->d);
    if (!hg_stability(r->m, r->v, &r->found, &r->d, explain))
        return 0;
    dump(r, "rewrite");
    r->found.rules = hg_rule_error(r->m, r->v->mean, r->found.accuracy->box);
    hg_rule_error_warn(r->found.rules, r->m, &r->d);
    if (o->check && !prove(r))
        return 0;
    if ((r->plan = hg_plan_new(r->m, r->v, &r->d)) == NULL)
        return 0;
    dump(r, "plan");
    r->form = hg_form_separate(r->plan);
    dump(r, "separate");
    hg_form_factor(r->form);
    dump(r, "factor");
    r->em = hg_emit_functions(r->form, r->v, wants(o, "hessian"));
    r->found.cost = r->em->cost;
    r->found.degenerate = hg_degenerate(r->m, r->v);
    if (explain)
        hg_explain(r->em, explain);
    return 1;
}

/* Prints the summary of a successful run. */
static void conclude(struct run *r)
{
    if (r->o->check)
        compare_names(r->m, &r->d);
    if (r->m->objective)
        return;
    hg_model_warn_linear(r->m, &r->d);
    if (r->o->check || r->o->explain)
        hg_degenerate_print(r->found.degenerate, out());
}

int main(int argc, char **argv)
{
    signals_catch(on_signal);
    struct options o;
    int go = read_options(argc, argv, &o);
    if (go <= 0)
        return go < 0 ? (go == -2 ? 1 : 3) : text_stream_finish("homodyne-gen", 0);
    if (!are_known("emit", o.emit, "c, hessian, gpu, check, json, yaml, dot, html, latex") ||
        !are_known("dump", o.dump ? o.dump : "", "load, rewrite, plan, separate, factor"))
        return 3;
    struct run r = {.o = &o, .a = hg_arena_new(), .d = {.out = text_stream(STDERR_FILENO)}};
    int ok = compile(&r);
    if (ok && mkdir(o.dir, 0777) != 0 && errno != EEXIST)
        ok = cannot_write(o.dir);
    if (ok) {
        unique_sweep(o.dir);
        ok = write_all(&r);
    }
    if (ok)
        conclude(&r);
    hg_arena_free(r.a);
    return text_stream_finish("homodyne-gen", unwritten ? 4 : ok && r.d.errors == 0 ? 0 : 3);
}
