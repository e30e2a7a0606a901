/* dsl.c -- runs a model file in a sandbox.
 *
 * dsl_sandbox.c defines the part of Lua and the units that the file can use.
 *
 * Limits: memory by the allocator, instructions by a hook, work on expressions by hg_steps (expr.h). pcall is not
 * available, so the file cannot catch an exceeded limit. Patterns, sort and coroutines are not available, since they
 * escape the hook; string.rep of an empty text would escape it, too.
 *
 * The file may be run twice. Whether a parameter is linear decides which node represents it, but is known only at the
 * end (from observe's list, or by differentiation); when the guess of the first run was wrong, a second one, with a
 * fresh graph, corrects it.
 */
#include "language/dsl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "language/dsl_private.h"
#include "model/objective.h"
#include "model/rates.h"

#include "common/regular.h"
#include "common/sha256.h"
#include "common/text.h"

enum {
    MAX_FILE = 1 << 22,
    MAX_MEMORY = 64 << 20,
    MAX_INSTRUCTIONS = 20000000, /* of each run */
    STEP_BYTES = 64,             /* new memory counts as steps, too: the hook does not see the work of filling it */
    MAX_BLOCK = 16 << 20,        /* of one text or table: bounds the work on it between two events */
    HOOK_EVERY = 100
};

/* --- errors ----------------------------------------------------------------------------------- */

static const char reported; /* its address, as a Lua error: the message has been printed */

struct dsl *dsl_of(lua_State *L)
{
    return *(struct dsl **)lua_getextraspace(L);
}

/* An error at the current position. */
static void tell(lua_State *L, const char *near, const char *help, const char *message)
{
    size_t place;
    if (dsl_place(L, near, &place))
        hg_error_at(dsl_of(L)->diag, place, help, "%s", message);
    else
        hg_error(dsl_of(L)->diag, 0, near, help, "%s", message);
}

void dsl_complain(lua_State *L, const char *near, const char *help, const char *format, ...)
{
    char message[500];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    tell(L, near, help, message);
}

void dsl_fail(lua_State *L, const char *near, const char *help, const char *format, ...)
{
    char message[500];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    tell(L, near, help, message);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&reported);
    lua_error(L);
    abort(); /* lua_error does not return */
}

void dsl_fail_at(lua_State *L, size_t place, const char *help, const char *format, ...)
{
    char message[500];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hg_error_at(dsl_of(L)->diag, place, help, "%s", message);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&reported);
    lua_error(L);
    abort(); /* lua_error does not return */
}

/* The word in quotes at the end of a message of Lua, "... near 'end'" or "... (local 'x')"; NULL:
 * none. */
static const char *quoted_word(struct hg_arena *a, const char *message)
{
    const char *end = strrchr(message, '\''), *start = end;
    while (start && start > message && start[-1] != '\'')
        start--;
    return start && start > message && end > start ? hg_format(a, "%.*s", (int)(end - start), start) : NULL;
}

/* Is the text in this line of the source? */
static int line_has(const char *source, uint32_t line, const char *text)
{
    for (uint32_t k = 1; source && k < line; k++)
        source = strchr(source, '\n') ? strchr(source, '\n') + 1 : NULL;
    const char *found = source ? strstr(source, text) : NULL;
    return found && found < source + strcspn(source, "\n");
}

int dsl_line_has(lua_State *L, const char *text)
{
    return line_has(dsl_of(L)->diag->text, dsl_line(L), text);
}

/* A remedy for habits from other languages, and its position; NULL: none. */
static const char *habit(struct dsl *d, uint32_t line, const char *message, const char *word, const char **near)
{
    static const struct {
        const char *message, *source, *help;
    } known[] = {
        {"near '*'", "**", "a power is written a^b"},
        {"near '+'", "+=", "write a = a + b"},
        {"near '*'", "*=", "write a = a * b"},
        {"near '#'", "#", "a remark begins with --"},
        {"near '//'", "//", "a remark begins with --"},
        {"near '!'", "!=", "unequal is ~="},
        {"near '!'", "!", "not so is `not`"},
        {"near '&'", "&&", "both is `and`"},
        {"near '|'", "||", "one of both is `or`"},
        {"near '+'", "++", "write a = a + 1"},
        {"near '-'", "-=", "write a = a - b"},
        {"near '/'", "/=", "write a = a / b"},
        {"near '>'", "=>", "a function is local function f(x) return ... end"},
        {"near '='", "=>", "a function is local function f(x) return ... end"},
        {"then' expected near '='", " = ", "equal is =="},
        {"'then' expected", "", "a condition ends with `then`: if ... then ... end"},
        {"'do' expected", "", "a loop is written for k = 1, 3 do ... end"},
        {"syntax error near", "def ", "a function is local function f(x) return ... end"},
        {"malformed number", "", "a product needs *: 2 * a; a power of ten is 1e-3"},
        {"'for' limit", "",
         "a loop runs while the model is read: its ends are numbers, no parameters, columns or times; a sum "
         "over frames is integral(f, t1, t2), one up to a parameter sum(1, 20, function(k) return where(le(k, n), ..., "
         "0) "
         "end)"},
        {"'for' initial value", "",
         "a loop runs while the model is read: its ends are numbers; a sum over frames is "
         "integral(f, t1, t2)"},
        {"to 'floor'", "", "what is rounded has no derivative; numbers of the model alone are: math.floor(2.5)"},
        {"to 'ceil'", "", "what is rounded has no derivative; numbers of the model alone are: math.ceil(2.5)"},
        {"to 'fmod'", "", "what repeats is written with sin and cos: sin(2 * pi * x / period)"},
        {"to 'pow'", "", "a power is written a^b"},
        {"to 'convert'", "", "convert(x, \"nm\"): the unit is a text"},
        {"to 'unit'", "", "unit \"nm\": the unit is a text"},
        {"'for' step", "", "a loop runs while the model is read: its step is a number"},
        {"stack overflow", "",
         "a function that calls itself needs an end: a number that becomes smaller, not a formula"},
        {"a nil value", "", "nil is what a misspelt field or a forgotten argument gives"},
    };
    if (word && strstr(message, "number expected, got expression") && !strstr(message, "'for'"))
        return dsl_is_in("exp log sin cos tan asin acos atan sqrt abs", word)
                   ? hg_format(d->arena, "math.%s is for numbers; write %s(x)", word, word)
                   : "this one is for numbers, not for formulas";
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strstr(message, known[k].message) && line_has(d->diag->text, line, known[k].source)) {
            *near = *known[k].source ? known[k].source : *near;
            return known[k].help;
        }
    return NULL;
}

/* A message of Lua: "laminar.lua:14: ..." or, from the prelude, "prelude:3: ...". */
static void report_lua(lua_State *L, uint32_t line, const char *message)
{
    struct dsl *d = dsl_of(L);
    const char *colon = strchr(message, ':');
    if (colon && colon[1] >= '0' && colon[1] <= '9') {
        char *rest;
        unsigned long at = strtoul(colon + 1, &rest, 10);
        if (strncmp(message, "prelude", 7) != 0)
            line = d->read ? dsl_written_line(d, (uint32_t)at) : (uint32_t)at;
        message = *rest == ':' ? rest + 1 : rest;
        message += *message == ' ';
    }
    const char *word = quoted_word(d->arena, message);
    const char *near = word, *help = habit(d, line, message, word, &near), *culprit, *remedy;
    if (d->read && strstr(message, "a nil value") && dsl_find_nil(L, &culprit, &remedy)) {
        message = hg_format(d->arena, "%.*s%s, which is nil", (int)(strstr(message, "a nil value") - message), message,
                            culprit);
        near = culprit;
        help = remedy ? remedy : help;
    }
    if (d->read)
        tell(L, near, help, message);
    else if (!dsl_foreign_letter(d->arena, d->diag, message) &&
             (help || !dsl_syntax_error(d->arena, d->diag, line, message, word)))
        hg_error(d->diag, line, near, help, "%s", message);
}

/* Message handler: runs where the error is, so that the line of the model is known. */
static int on_error(lua_State *L)
{
    if (lua_touserdata(L, 1) == (void *)(uintptr_t)&reported)
        return 1;
    if (lua_type(L, 1) == LUA_TSTRING)
        report_lua(L, dsl_line(L), lua_tostring(L, 1));
    else
        hg_error(dsl_of(L)->diag, dsl_line(L), "error", NULL, "the model stopped with an error");
    lua_pushlightuserdata(L, (void *)(uintptr_t)&reported);
    return 1;
}

/* --- limits ----------------------------------------------------------------------------------- */

static void *limited_alloc(void *context, void *old, size_t old_size, size_t size)
{
    struct dsl *d = context;
    size_t held = old ? old_size : 0; /* for new blocks Lua passes a type in old_size */
    if (size == 0) {
        free(old);
        d->memory -= held;
        return NULL;
    }
    if (size > held && (size > MAX_BLOCK || d->memory - held + size > MAX_MEMORY))
        return NULL;
    void *p = realloc(old, size);
    if (!p)
        hg_out_of_memory(); /* distinguishes the limit of the model from that of the machine's memory */
    d->memory = d->memory - held + size;
    if (size > held)
        d->instructions += (size - held) / STEP_BYTES;
    return p;
}

static void on_event(lua_State *L, lua_Debug *ar)
{
    struct dsl *d = dsl_of(L);
    if (ar->event == LUA_HOOKRET) {
        dsl_name_inside(L, ar);
        return;
    }
    d->instructions += HOOK_EVERY;
    if (d->instructions > MAX_INSTRUCTIONS)
        dsl_fail(L, NULL, "is there a loop without an end?", "the model ran for more than %d million steps",
                 MAX_INSTRUCTIONS / 1000000);
}

/* --- lists of names --------------------------------------------------------------------------- */

void dsl_add_name(struct dsl *d, struct dsl_names *list, const char *name)
{
    if (dsl_has_name(list, name))
        return;
    list->name = hg_grow(d->arena, list->name, list->n, list->n + 1, sizeof *list->name, &list->room);
    list->name[list->n++] = name;
}

int dsl_has_name(const struct dsl_names *list, const char *name)
{
    for (size_t k = 0; k < list->n; k++) {
        if (strcmp(list->name[k], name) == 0)
            return 1;
    }
    return 0;
}

/* --- one run ---------------------------------------------------------------------------------- */

static int run_protected(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    dsl_open_names(L);
    dsl_open_environment(L);
    if (luaL_loadbufferx(L, d->diag->text, strlen(d->diag->text), d->chunk, "t") != LUA_OK)
        return lua_error(L);
    const char *text = dsl_rewrite_equal(d, d->diag->text);
    if (luaL_loadbufferx(L, text, strlen(text), d->chunk, "t") != LUA_OK)
        return lua_error(L);
    d->read = 1;
    lua_remove(L, -2);
    lua_pushvalue(L, -2);
    lua_setupvalue(L, -2, 1);
    lua_sethook(L, on_event, LUA_MASKCOUNT | LUA_MASKRET, HOOK_EVERY);
    lua_call(L, 0, 0);
    return 0;
}

/* The passes after the model has run; none can continue without the nodes that it requests. */
static _Noreturn void too_large(const struct hg_expr *e)
{
    hg_error(e->diag, 0, NULL, dsl_large_help,
             "the expressions of this model are too large: its %u nodes have taken"
             " more than %d million steps of the compiler",
             (unsigned)e->n, (int)(HG_MOST_STEPS / 1000000));
    fflush(e->diag->out);
    exit(3);
}

static void run(struct dsl *d)
{
    unsigned before = d->diag->errors;
    lua_State *L = lua_newstate(limited_alloc, d);
    if (!L) {
        hg_error(d->diag, 0, NULL, NULL, "out of memory");
        return;
    }
    *(struct dsl **)lua_getextraspace(L) = d;
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, run_protected);
    int status = lua_pcall(L, 0, 0, 1);
    if (status == LUA_ERRMEM)
        hg_error(d->diag, 0, NULL, NULL, "the model needs more than %d MB of memory, or %d MB in one piece",
                 MAX_MEMORY >> 20, MAX_BLOCK >> 20);
    else if (status != LUA_OK && d->diag->errors == before)
        hg_error(d->diag, 0, NULL, NULL, "the model could not be run");
    lua_close(L);
    d->m->expr->line = 0;
    d->m->expr->too_large = too_large; /* while the model runs, dsl_build gives its own lines */
}

static struct dsl *new_run(struct hg_arena *a, const char *file, struct hg_diag *diag, const struct dsl *first)
{
    struct dsl *d = hg_alloc(a, sizeof *d);
    d->arena = a;
    d->diag = diag;
    d->m = hg_model_new(a);
    d->m->file = file;
    d->m->text = diag->text;
    sha256_of(diag->text, strlen(diag->text), d->m->hash);
    d->chunk = hg_format(a, "@%s", file);
    d->silent = first != NULL;
    d->m->expr->diag = diag;
    return d;
}

/* --- which parameters are linear -------------------------------------------------------------- */

/* Nothing was declared: takes every parameter that can join, in order of declaration. For pairs of frames these are
 * only parameters with one value per group, since the driver solves for them group by group.
 */
static void find_linear(struct dsl *d, struct dsl_names *found)
{
    struct hg_model *m = d->m;
    if (m->density)
        return;
    hg_id *taken = hg_alloc(d->arena, (m->param.n + 1) * sizeof *taken);
    for (uint32_t k = 0; k < m->param.n; k++) {
        const struct hg_symbol_decl *s = &m->param.item[k];
        int join = (m->space == FIT_ROWS || s->over >= 0) && !dsl_has_name(&d->nonlinear, s->name) && !s->hyper &&
                   !s->prior_from[0] && !s->prior_from[1] && hg_contains(m->expr, m->variant[0].mean, s->node) &&
                   hg_model_linear_everywhere(m, s->node, s->node);
        for (size_t j = 0; join && j < found->n; j++)
            join = hg_model_linear_everywhere(m, s->node, taken[j]);
        if (!join)
            continue;
        taken[found->n] = s->node;
        dsl_add_name(d, found, s->name);
    }
}

/* The linear parameters as they should be; 1 when this run assumed others. */
static int wanted_linear(struct dsl *d, struct dsl_names *wanted)
{
    if (d->claim || d->claimed.n)
        *wanted = d->claimed;
    else
        find_linear(d, wanted);
    if (wanted->n != d->m->linear.n)
        return 1;
    for (uint32_t k = 0; k < d->m->linear.n; k++) {
        if (!dsl_has_name(wanted, d->m->linear.item[k].name))
            return 1;
    }
    return 0;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* When the author gives no random(): uniform inside finite bounds, near the start otherwise. */
static void default_screen(struct dsl *d)
{
    enum { ROWS = 64 };
    struct hg_model *m = d->m;
    m->nscreen = ROWS;
    m->screen = hg_alloc(d->arena, (size_t)ROWS * (m->param.n + 1) * sizeof *m->screen);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t k = 0; k < m->param.n; k++)
            m->screen[row * m->param.n + k] = dsl_random_start(d, &m->param.item[k]);
    }
}

/* file: the file name from which the model's name is taken; diag->file: its name in messages. */
static struct hg_model *load_text(struct hg_arena *a, const char *file, struct hg_diag *diag)
{
    struct dsl_names linear = {0};
    unsigned before = diag->errors;
    struct dsl *d = new_run(a, file, diag, NULL);
    run(d);
    if (diag->errors == before && !d->m->name)
        hg_error(diag, 0, NULL, "local m = model \"name\" { title = \"...\" }", "the file declares no model");
    if (diag->errors == before && d->m->objective)
        return hg_objective_check(d->m, diag) ? d->m : NULL;
    if (diag->errors == before && !d->m->nvariant)
        hg_error(diag, 0, NULL,
                 d->m->column.n ? "m.observe(y, { mean = ... }), with y from m.columns(...)"
                                : "m.observe(\"c2\", { over = {t1, t2}, mean = ... })",
                 "the model has no observe statement");
    if (diag->errors != before)
        return NULL;
    if (wanted_linear(d, &linear)) {
        d = new_run(a, file, diag, d);
        d->linear = linear;
        run(d);
    }
    if (diag->errors != before || !hg_model_check(d->m, diag))
        return NULL;
    if (!d->m->screen)
        default_screen(d);
    if (!d->m->density)
        hg_rates_find(d->m);
    return d->m;
}

struct hg_model *hg_dsl_load_text(struct hg_arena *a, const char *file, const char *text, struct hg_diag *diag)
{
    diag->file = file;
    diag->text = text;
    return load_text(a, file, diag);
}

static char *read_file(struct hg_arena *a, const char *path, struct hg_diag *d)
{
    FILE *f = regular_open(path);
    if (!f) {
        const char *what = regular_what(path);
        hg_error(d, 0, NULL, NULL, "cannot open %s%s%s", path, what ? ": it is no file, but " : "", what ? what : "");
        return NULL;
    }
    char *text = NULL;
    size_t n = 0, room = 0, got;
    do {
        text = hg_grow(a, text, n, n + (1 << 14), 1, &room);
        n += got = fread(text + n, 1, room - n - 1, f);
    } while (got > 0 && n <= MAX_FILE);
    int bad = ferror(f);
    fclose(f);
    text[n] = '\0';
    if (!bad && n <= MAX_FILE && !memchr(text, 0, n))
        return text;
    if (bad)
        hg_error(d, 0, NULL, NULL, "cannot read %s", path);
    else
        hg_error(d, 0, NULL, NULL, "%s is not text, or longer than 4 MB", path);
    return NULL;
}

struct hg_model *hg_dsl_load(struct hg_arena *a, const char *path, struct hg_diag *d)
{
    d->file = hg_strdup(a, path);
    d->text = NULL;
    d->text = read_file(a, path, d);
    return d->text ? load_text(a, hg_strdup(a, text_file_name(path)), d) : NULL;
}

/* --- the words of the language ---------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the names of the sandbox that plain Lua does not have to the list d->linear. */
static int list_names(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    luaL_openlibs(L);
    dsl_open_names(L);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        lua_getglobal(L, lua_tostring(L, -2));
        if (lua_isnil(L, -1) || strcmp(lua_tostring(L, -3), "pairs") == 0)
            dsl_add_name(d, &d->linear, hg_strdup(d->arena, lua_tostring(L, -3)));
        lua_pop(L, 1);
    }
    return 0;
}

void hg_dsl_words(struct hg_arena *a, FILE *out)
{
    struct hg_diag diag = {.out = out, .file = "", .text = ""};
    struct dsl *d = new_run(a, "", &diag, NULL);
    const char *text, *name;
    lua_State *L = lua_newstate(limited_alloc, d);
    if (!L)
        hg_out_of_memory();
    *(struct dsl **)lua_getextraspace(L) = d;
    lua_pushcfunction(L, list_names);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK)
        hg_bug("the sandbox cannot be opened");
    lua_close(L);
    for (size_t k = 0; (name = dsl_method(k)) != NULL; k++)
        dsl_add_name(d, &d->linear, hg_format(a, "m.%s", name));
    for (size_t k = 0; (name = hg_unit_constant(k, &text)) != NULL; k++)
        dsl_add_name(d, &d->linear, name);
    qsort(d->linear.name, d->linear.n, sizeof *d->linear.name, compare_words);
    for (size_t k = 0; k < d->linear.n; k++)
        fprintf(out, "%s\n", d->linear.name[k]);
}
