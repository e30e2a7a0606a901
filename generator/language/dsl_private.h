/* dsl_private.h -- shared by the files of this room, the only ones that know Lua.
 *
 * Invariants. A Lua value that stands for an expression is a userdatum with three integers: node id, unit and the
 * written formula. Everything else lives in the arena, so neither a Lua error (longjmp) nor a collection can leak or
 * dangle. The unit belongs to the written formula, not to the node: t and t / second are the same node.
 */
#pragma once

#include "base/memory.h"
#include "base/diag.h"
#include "model/model.h"
#include "model/written.h"
#include "language/tokens.h"

struct lua_Debug;
struct lua_State;

/* A growing list of names. */
struct dsl_names {
    const char **name;
    size_t n, room;
};

/* The tokens of a model; each stands on a line of its own in the text that is run. */
struct dsl_places {
    struct hg_tokens t;
    uint32_t *line;    /* of the text that is run */
    uint32_t *written; /* of the model */
};

/* One run of a model file. */
struct dsl {
    struct hg_arena *arena;
    struct hg_diag *diag;
    struct hg_model *m;
    const char *chunk;          /* name of the model's code in Lua: "@laminar.lua" */
    struct dsl_places places;
    int read;                   /* Lua has read the text; later errors are not syntax errors */
    int silent;                 /* second run: print() does nothing */
    struct dsl_names linear;    /* these parameters are linear (from the first run) */
    struct dsl_names claimed;   /* declared linear, by `linear = true` or in observe's list */
    struct dsl_names nonlinear; /* declared `linear = false` */
    int claim;                  /* observe had a list `linear` (perhaps empty) */
    uint32_t open[HG_LEVELS]; /* loops of the sums whose functions are being run, the outermost first */
    unsigned depth;           /* so many */
    int has_grid, has_pair;
    hg_id time, t1, t2;
    size_t memory; /* bytes held by Lua */
    unsigned long instructions;
    size_t printed;  /* bytes */
    uint64_t random; /* state of the generator of random() */
    size_t test_room;
};

struct dsl_value {
    hg_id id;
    hg_unit unit;
    hg_wid written;
};

/* --- dsl.c --- */

struct dsl *dsl_of(struct lua_State *L);

int dsl_line_has(struct lua_State *L, const char *text); /* the line of the model that is being run */

/* A user's mistake at the current line.  dsl_fail ends the run; after dsl_complain it goes on. */
_Noreturn void dsl_fail(struct lua_State *L, const char *near, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void dsl_complain(struct lua_State *L, const char *near, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same at a position in the model's text, with a caret there. */
_Noreturn void dsl_fail_at(struct lua_State *L, size_t place, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void dsl_add_name(struct dsl *d, struct dsl_names *list, const char *name);
int dsl_has_name(const struct dsl_names *list, const char *name);

/* --- dsl_place.c --- */

/* Line of the model file that is being run; 0 when none is. */
uint32_t dsl_line(struct lua_State *L);

/* The tokens of the model; each is run on a line of its own, the first on line 2. */
void dsl_places_set(struct dsl *d, struct hg_tokens t);

/* The model's line for a line of the text that is run. */
uint32_t dsl_written_line(const struct dsl *d, uint32_t line);

/* Position of `near` in the part of the model's text that is being run, or of the operation or call itself; 0:
 * nothing of the model is being run. */
int dsl_place(struct lua_State *L, const char *near, size_t *place);

/* The word `and`, `or`, `not`, `then` or `do` beside the call that is being run, and its position; NULL: none. */
const char *dsl_beside_call(struct lua_State *L, size_t *place);

/* --- dsl_nil.c --- */

/* 1: *what, a part of the line that is being run, is nil ("a[4]"); *help: a remedy, or NULL. */
int dsl_find_nil(struct lua_State *L, const char **what, const char **help);

/* --- dsl_sandbox.c --- */

/* Pushes the table of all names that a model file may use. */
void dsl_open_names(struct lua_State *L);

/* Pushes the model's environment, which reads the table of names on top of the stack and refuses
 * assignments. */
void dsl_open_environment(struct lua_State *L);

/* --- dsl_expr.c --- */

/* Makes the metatable of expressions; adds exp, sin, where, ... to the table on top of the stack.
 */
void dsl_open_expr(struct lua_State *L);

void dsl_push(struct lua_State *L, hg_id id, hg_unit unit);

/* The same with the written formula; w.node and w.unit are set here. */
void dsl_push_written(struct lua_State *L, hg_id id, hg_unit unit, struct hg_written w);

/* The same for the result of an operation whose operands are all values on the stack. */
void dsl_push_word(struct lua_State *L, hg_id id, hg_unit unit, enum hg_word word, enum hg_op op);

/* The expression at stack position i; NULL when there is none. Valid while the value is on the stack. */
const struct dsl_value *dsl_test(struct lua_State *L, int i);

/* The expression or number at i; what: for the message, e.g. "mean". */
struct dsl_value dsl_value_at(struct lua_State *L, int i, const char *what);

/* Before building nodes: gives them the current line; fails when the graph has grown too large. */
extern const char dsl_large_help[]; /* the remedy for expressions that are too large */
struct hg_expr *dsl_build(struct lua_State *L);

/* Name of a local variable of the model that holds the value, or NULL. */
const char *dsl_local_name(struct lua_State *L, struct dsl_value v);

/* Names the nodes held by local variables of the model. */
void dsl_name_locals(struct lua_State *L);

/* Names one value by a variable that holds it, as dsl_name_locals does. */
void dsl_name_value(struct lua_State *L, const struct dsl_value *v, const char *name);

/* Called when a function of the model returns: its variables name the formulas written in it. */
void dsl_name_inside(struct lua_State *L, struct lua_Debug *ar);

/* A unit from text; fails with a message. */
hg_unit dsl_unit(struct lua_State *L, const char *text);

/* A remedy for unit a where b is wanted: convert(), or both in base units; NULL: none. */
const char *dsl_unit_help(struct lua_State *L, hg_unit a, hg_unit b);

/* The common unit of both, for `op`; when they differ, reports the mistake and returns ANY. */
hg_unit dsl_common_unit(struct lua_State *L, const char *op, struct dsl_value a, struct dsl_value b);

/* The argument of a function that requires a plain number, or (angle) a number or degrees. */
struct dsl_value dsl_dimensionless(struct lua_State *L, const char *function, struct dsl_value v, int angle);

/* The expression or number at i, not a comparison; what: as above. */
struct dsl_value dsl_factor(struct lua_State *L, int i, const char *what);

/* A unit as messages show it; the remedy for two units that differ only by a factor, or NULL. */
const char *dsl_unit_text(struct lua_State *L, hg_unit unit);
const char *dsl_base_help(struct lua_State *L, hg_unit a, hg_unit b);

/* --- dsl_quantity.c --- */

/* A column is measured; sigma: that of its errors, or -1. */
void dsl_quantity_add(struct lua_State *L, uint32_t value, int sigma);

/* Joins the mean (and the noise distribution) of the quantity added last to the previous ones; `before`: their
 * distribution, or NULL. */
void dsl_quantity_join(struct lua_State *L, struct dsl_value mean, struct hg_density *before);

/* --- dsl_complex.c --- */

/* Is the value at i complex? */
int dsl_is_complex(struct lua_State *L, int i);

/* When one of the arguments, which are all that is on the stack, is complex: applies the rule of complex.lua for
 * this operation ("__add", "exp"), leaves the result on top and returns 1; without a rule, prints a message.
 * Otherwise 0. */
int dsl_complex(struct lua_State *L, const char *operation);

/* The parts of the complex value at i; a part that is a plain number is refused. */
void dsl_complex_parts(struct lua_State *L, int i, struct dsl_value part[2]);

/* Replaces the two values on top of the stack by the complex value that they form. */
void dsl_make_complex(struct lua_State *L);

/* Names the parts of the complex value at i: "z_re", "z_im". */
void dsl_name_complex(struct lua_State *L, int i, const char *name);

/* Adds complex, i, re, im, ... to the table on top of the stack. */
void dsl_open_complex(struct lua_State *L);

/* --- dsl_equal.c --- */

/* The text of a model that Lua accepts, with calls of __equal for == and ~= and of __true around conditions; and
 * these functions. Each token stands on a line of its own. */
const char *dsl_rewrite_equal(struct dsl *d, const char *text);
int dsl_equal(struct lua_State *L);
int dsl_true(struct lua_State *L);

/* --- dsl_syntax.c --- */

/* Reports a message of Lua about a text that it cannot read, with the probable position of the mistake; 0: nothing
 * is known beyond the message, and nothing is reported. word: the word named in the message, or NULL. */
int dsl_foreign_letter(struct hg_arena *a, struct hg_diag *d, const char *message); /* the same, of one letter */
int dsl_syntax_error(struct hg_arena *a, struct hg_diag *d, uint32_t line, const char *message, const char *word);

/* --- dsl_functions.c --- */

/* Adds exp, sin, where, ... to the table on top of the stack. */
void dsl_open_functions(struct lua_State *L);

/* --- dsl_sums.c --- */

/* Adds sum, integrate, average to the table on top of the stack. */
void dsl_open_sums(struct lua_State *L);

/* Fails when the node contains the variable of a sum outside that sum. */
void dsl_check_bound(struct lua_State *L, hg_id id);

/* --- dsl_model.c --- */

/* Adds model() to the table on top of the stack. */
void dsl_open_model(struct lua_State *L);
void dsl_open_parameters(struct lua_State *L); /* after the prelude, whose functions it uses */

/* The k-th function of a model, "observe"; NULL after the last. */
const char *dsl_method(size_t k);

/* Checks of a new symbol, whose name is at stack position i: name, duplicates, order. */
const char *dsl_new_name(struct lua_State *L, int i, const char *what);

/* Reads the name of the model at 1 and the entries common to all models (title, formula, ...) in the table at 2; leaves
 * 1.
 */
void dsl_model_name(struct lua_State *L);
int dsl_model_table(struct lua_State *L);

/* --- dsl_objective.c: objectives of arrays --- */

/* Adds objective() to the table on top of the stack. */
void dsl_open_objective(struct lua_State *L);

/* --- dsl_states.c: quantities carried from row to row --- */

int dsl_state(struct lua_State *L); /* m.state, m.step */
int dsl_step(struct lua_State *L);
int dsl_ode(struct lua_State *L);
int dsl_event(struct lua_State *L);
void dsl_open_statistics(struct lua_State *L); /* column_mean() and column_sd(), to the same table */
void dsl_check_statistics(struct lua_State *L, const struct hg_symbol_decl *measured); /* none is of what is measured */
void dsl_open_states(struct lua_State *L); /* adds previous() to the table on top of the stack */

/* Checks that the steps and declarations are complete; call it before anything is differentiated. */
void dsl_close_states(struct lua_State *L);

/* A formula that is observed, with STATE nodes; it must not depend on measured values in its own row. what: "the
 * mean". */
hg_id dsl_with_states(struct lua_State *L, hg_id root, const char *what);

/* --- dsl_observe.c --- */

int dsl_observe(struct lua_State *L); /* m.observe, m.variant, ... */
int dsl_variant(struct lua_State *L);
int dsl_curve(struct lua_State *L);
int dsl_random(struct lua_State *L);
int dsl_test_point(struct lua_State *L);

/* A realistic random value of a parameter for which the author gave no rule. */
double dsl_random_start(struct dsl *d, const struct hg_symbol_decl *s);

/* --- dsl_derived.c --- */

int dsl_derived(struct lua_State *L); /* m.derived */
int dsl_is_derived(const struct hg_model *m, const char *name);

/* --- dsl_constrained.c: parameters with constraints among them --- */

int dsl_ordered(struct lua_State *L); /* m.ordered, ... */
int dsl_simplex(struct lua_State *L);
int dsl_correlated(struct lua_State *L);

/* Is a bound in the options at t a formula?  Then m.parameter is dsl_bounded. */
int dsl_has_formula_bounds(struct lua_State *L, int t);
int dsl_bounded(struct lua_State *L);

/* After the first m.observe: the constrained quantities become derived quantities. Clears the stack. */
void dsl_observed(struct lua_State *L);

/* Reads constrained.lua, whose environment is the table on top of the stack; parameter: m.parameter. */
void dsl_open_constrained(struct lua_State *L, int (*parameter)(struct lua_State *));

/* --- dsl_density.c: the noise distribution --- */

/* Does the table of m.observe at t name a distribution: 0: no, 1: `noise`, 2: `log_density`. Fails when it has both. */
int dsl_has_law(struct lua_State *L, int t);

/* Pushes the mean of the table at stack position 2, or that of its distribution; 0 (and nothing pushed): neither has
 * one. */
int dsl_law_mean(struct lua_State *L, int t);

/* m->density from the table at 2 with the distribution of that kind, for the measured column `value` in `unit`. */
void dsl_read_law(struct lua_State *L, const struct hg_symbol_decl *value, hg_unit unit, int kind);

/* --- dsl_options.c: reading tables of options --- */

/* Is `key` among the words of a list such as "unit start bounds"? */
int dsl_is_in(const char *list, const char *key);
const char *dsl_nearest_in(struct dsl *d, const char *list, const char *key);

/* Fails when the table at t (absolute) has a key that is not in the list; names the first in the alphabet. */
void dsl_check_keys(struct lua_State *L, int t, const char *what, const char *list);
void dsl_need_table(struct lua_State *L, int t, const char *usage);

/* Values at a stack position, or under a key of the table at t; texts are copied into the arena. */
const char *dsl_text_at(struct lua_State *L, int i, const char *what);
const char *dsl_lines(struct lua_State *L, int t, const char *key);
const char *dsl_text(struct lua_State *L, int t, const char *key);
double dsl_number_at(struct lua_State *L, int i, const char *what); /* never NaN */
double dsl_number(struct lua_State *L, int t, const char *key, double otherwise);
/* "x" or {"x", "y"}; ends with NULL */
const char *const *dsl_texts(struct lua_State *L, int t, const char *key);

/* Fails unless the name can be used in C. */
void dsl_check_c_name(struct lua_State *L, const char *name, const char *what);

/* Field `key` of the table at t, a prior like {"normal", mean, sd}, into s; does nothing when there is none. Bounds
 * of s are known. */
void dsl_read_prior(struct lua_State *L, int t, const char *key, struct hg_symbol_decl *s);
void dsl_read_bounds(struct lua_State *L, int t, struct hg_symbol_decl *s); /* all numbers where none are declared */
