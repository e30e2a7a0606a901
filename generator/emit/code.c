/* code.c -- statements and expressions of the emitted C. */
#include "emit/code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/names.h"
#include "graph/functions.h"
#include "graph/words.h"

struct hg_code_private {
    uint32_t n; /* nodes known when the function was begun */
    uint32_t *uses;
    const char **var; /* name of the temporary in scope, or NULL */
    const char **low; /* for a logarithm: name of its rounding remainder; for sinc: name of the cosine; or NULL */
    hg_id *log;       /* nodes bound, in order: undone by pop */
    size_t nlog, log_room;
    size_t scope[32];
    int depth;
    struct hg_names names; /* taken in this function */
    uint32_t line;         /* of the model, shown last; 0: none */
};

/* --- names and scopes --------------------------------------------------------------------------------- */

uint32_t hg_code_uses(const struct hg_code *c, hg_id id)
{
    return id < c->private_->n ? c->private_->uses[id] : 0;
}

const char *hg_code_unique(struct hg_code *c, const char *stem)
{
    struct hg_code_private *p = c->private_;
    char *s = hg_strdup(c->e->arena, stem);
    for (char *q = s; *q; q++)
        if (!((*q >= 'a' && *q <= 'z') || (*q >= 'A' && *q <= 'Z') || (*q >= '0' && *q <= '9')))
            *q = '_';
    if (hg_code_macro(s))
        s = hg_format(c->e->arena, "%s_", s);
    return hg_names_unique(&p->names, c->e->arena, s, hg_code_reserved);
}

int hg_code_is_symbol(const struct hg_code *c, hg_id id)
{
    return hg_at(c->e, id)->nargs == 0;
}

static void count_uses(struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    struct hg_code_private *p = c->private_;
    HG_SCRATCH unsigned char *need = hg_zeros(p->n, 1);
    for (uint32_t k = 0; k < nroot; k++) {
        need[root[k]] = 1;
        p->uses[root[k]]++;
    }
    for (hg_id id = p->n - 1; id > 0; id--) {
        const struct hg_node *n = hg_at(c->e, id);
        for (uint32_t k = 0; need[id] && !c->is_leaf(c, id) && k < n->nargs; k++) {
            need[n->arg[k]] = 1;
            p->uses[n->arg[k]]++;
        }
    }
}

void hg_code_begin(struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    struct hg_code_private *p = hg_alloc(c->e->arena, sizeof *p);
    c->private_ = p;
    p->n = c->e->n;
    p->uses = hg_zeros(p->n, sizeof *p->uses);
    p->var = hg_zeros(p->n, sizeof *p->var);
    p->low = hg_zeros(p->n, sizeof *p->low);
    for (uint32_t k = 0; k < c->nreserve; k++)
        hg_code_unique(c, c->reserve[k]);
    count_uses(c, nroot, root);
}

void hg_code_end(struct hg_code *c)
{
    free(c->private_->uses);
    free(c->private_->var);
    free(c->private_->low);
    c->private_ = NULL;
}

void hg_code_push(struct hg_code *c)
{
    struct hg_code_private *p = c->private_;
    if (p->depth == 32)
        hg_bug("code: scopes too deep");
    p->scope[p->depth++] = p->nlog;
}

void hg_code_pop(struct hg_code *c)
{
    struct hg_code_private *p = c->private_;
    size_t start = p->scope[--p->depth];
    while (p->nlog > start)
        p->var[p->log[--p->nlog]] = NULL;
}

void hg_code_bind(struct hg_code *c, hg_id id, const char *name)
{
    struct hg_code_private *p = c->private_;
    if (id >= p->n)
        hg_bug("code: node made after the function was begun");
    if (p->nlog == p->log_room)
        p->log = hg_grow(c->e->arena, p->log, p->nlog, p->nlog + 64, sizeof *p->log, &p->log_room);
    p->log[p->nlog++] = id;
    p->var[id] = name;
    p->low[id] = NULL;
}

void hg_code_array(struct hg_code *c, const char *name, uint32_t n, const hg_id *id)
{
    hg_declare(c->out, "fit_vd", "%s[%u];", name, n);
    for (uint32_t k = 0; k < n; k++)
        hg_do(c->out, "%s[%u] = %s;", name, k, hg_code_vector(c, id[k]));
}

const char *hg_code_bound(const struct hg_code *c, hg_id id)
{
    return id < c->private_->n ? c->private_->var[id] : NULL;
}

int hg_code_is_vector(const struct hg_code *c, hg_id id)
{
    return (hg_at(c->e, id)->vary & c->vector_if) != 0;
}

/* --- expressions -------------------------------------------------------------------------------------- */

static const char *text(struct hg_code *c, hg_id id, int *sum);

static const char *stem(const struct hg_node *n)
{
    switch (n->op) {
    case HG_REDUCE:
    case HG_SUM: return "sum";
    case HG_PROD: return "prod";
    case HG_POW: return "power";
    case HG_EXP:
    case HG_EXPD: return "e";
    case HG_SIN:
    case HG_SIND: return "sn";
    case HG_COS:
    case HG_COSD: return "cs";
    case HG_SINC:
    case HG_SINC_SERIES: return "sinc";
    case HG_DSINC:
    case HG_DSINC_SERIES: return "dsinc";
    case HG_GUARD:
    case HG_WHERE: return "choice";
    case HG_SMALL: return "small";
    case HG_LT:
    case HG_LE: return "below";
    default: return hg_op_text[n->op];
    }
}

/* The variable that stands for a node, when that is a name alone. */
static const char *variable(const void *user, hg_id id)
{
    const struct hg_code_private *p = user;
    const char *s = id < p->n ? p->var[id] : NULL;
    return s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s) ? s : NULL;
}

/* The node's own name, or one of the words it is made of, or the name of its operation. */
const char *hg_code_stem(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    const char *s = hg_op_flags[n->op] & HG_F_BOOL ? NULL : hg_words(c->e, id, variable, c->private_);
    return n->name ? n->name : s ? s : stem(n);
}

/* The function to be called: functions of one argument have names of their own, the others use their text. */
static const char *scalar_name(enum hg_op op)
{
    const struct hg_function *f = hg_function(op);
    return f ? f->scalar : hg_op_text[op];
}

static const char *vector_name(enum hg_op op)
{
    const struct hg_function *f = hg_function(op);
    return f ? f->vector : hg_op_text[op];
}

const char *hg_code_vector(struct hg_code *c, hg_id id)
{
    int sum;
    const char *s = text(c, id, &sum);
    return hg_code_is_vector(c, id) ? s : hg_format(c->e->arena, "fit_vset1(%s)", s);
}

const char *hg_code_factor(struct hg_code *c, hg_id id)
{
    int sum;
    const char *s = text(c, id, &sum);
    return sum ? hg_format(c->e->arena, "(%s)", s) : s;
}

/* sinc of x if its vectors have been declared together with the cosine, or 0. */
static hg_id sinc_with_cosine(const struct hg_code *c, hg_id x)
{
    const struct hg_code_private *p = c->private_;
    for (hg_id id = x + 1; id < p->n; id++)
        if (p->low[id] && p->var[id] && hg_at(c->e, id)->op == HG_SINC && hg_at(c->e, id)->arg[0] == x)
            return id;
    return 0;
}

static const char *call_text(struct hg_code *c, const struct hg_node *n, hg_id id)
{
    struct hg_arena *a = c->e->arena;
    int sum, vector = hg_code_is_vector(c, id);
    const hg_id sinc = n->op == HG_DSINC && vector ? sinc_with_cosine(c, n->arg[0]) : 0;
    if (sinc)
        return hg_format(a, "fit_vdsinc_of(%s, %s, %s)", text(c, n->arg[0], &sum), c->private_->var[sinc],
                         c->private_->low[sinc]);
    if (n->nargs == 1)
        return vector ? hg_format(a, "fit_v%s(%s)", vector_name(n->op), text(c, n->arg[0], &sum))
                      : hg_format(a, "%s(%s)", scalar_name(n->op), text(c, n->arg[0], &sum));
    if (hg_many(n->op)) {
        const char *all = "";
        for (uint32_t k = 0; k < n->nargs; k++)
            all = hg_format(a, "%s%s%s", all, k ? ", " : "",
                            vector ? hg_code_vector(c, n->arg[k]) : text(c, n->arg[k], &sum));
        return hg_format(a, "fit_%s%s(%s)", vector ? "v" : "", hg_many(n->op)->name, all);
    }
    if (vector)
        return hg_format(a, "fit_v%s(%s, %s)", vector_name(n->op), hg_code_vector(c, n->arg[0]),
                         hg_code_vector(c, n->arg[1]));
    const char *x = hg_strdup(a, text(c, n->arg[0], &sum));
    return hg_format(a, "%s(%s, %s)", scalar_name(n->op), x, text(c, n->arg[1], &sum));
}

/* x^n for small integers: x*x, x*x*x; the base has a name or is short. */
static const char *repeated(struct hg_code *c, const char *x, int n)
{
    char *s = hg_strdup(c->e->arena, x);
    for (int k = 1; k < n; k++)
        s = hg_format(c->e->arena, "%s*%s", s, x);
    return s;
}

/* The logarithm of the base, if its vectors have been declared with fit_vlog_low. */
static hg_id log_with_low(const struct hg_code *c, hg_id base)
{
    const struct hg_code_private *p = c->private_;
    for (hg_id id = base + 1; id < p->n; id++)
        if (p->low[id] && p->var[id] && hg_at(c->e, id)->op == HG_LOG && hg_at(c->e, id)->arg[0] == base)
            return id;
    return 0;
}

static const char *pow_text(struct hg_code *c, const struct hg_node *n, hg_id id, int *sum)
{
    struct hg_arena *a = c->e->arena;
    double b;
    *sum = 0;
    if (hg_is_const(c->e, n->arg[1], &b)) {
        const char *sqrt_name = hg_code_is_vector(c, n->arg[0]) ? "fit_vsqrt" : "sqrt";
        const char *x = hg_code_factor(c, n->arg[0]);
        if (b == -1.0)
            return *sum = 1, hg_format(a, "1.0/%s", x);
        if (b == 0.5)
            return hg_format(a, "%s(%s)", sqrt_name, x);
        if (b == -0.5)
            return *sum = 1, hg_format(a, "1.0/%s(%s)", sqrt_name, x);
        if (b == floor(b) && b >= 2 && b <= 4)
            return repeated(c, x, (int)b);
        if (b == floor(b) && b <= -2 && b >= -4)
            return *sum = 1, hg_format(a, "1.0/(%s)", repeated(c, x, (int)-b));
    }
    hg_id log = hg_code_is_vector(c, n->arg[0]) ? log_with_low(c, n->arg[0]) : 0;
    if (log)
        return hg_format(a, "fit_vpow_of_log(%s, %s, %s, %s)", hg_code_text(c, n->arg[0]), hg_code_vector(c, n->arg[1]),
                         c->private_->var[log], c->private_->low[log]);
    return call_text(c, n, id);
}

/* Numerator and denominator: factors x^-1 become divisors. */
static const char *prod_text(struct hg_code *c, const struct hg_node *n)
{
    struct hg_arena *a = c->e->arena;
    const char *top = NULL, *bottom = NULL, *sign = "";
    double v;
    for (uint32_t k = 0; k < n->nargs; k++) {
        const struct hg_node *f = hg_at(c->e, n->arg[k]);
        if (k == 0 && hg_is_const(c->e, n->arg[0], &v) && v < 0) {
            sign = "-";
            top = v == -1.0 ? NULL : hg_number(a, -v);
        } else if (f->op == HG_POW && hg_is_const(c->e, f->arg[1], &v) && v == -1.0 && !hg_code_bound(c, n->arg[k])) {
            const char *x = hg_code_factor(c, f->arg[0]);
            bottom = bottom ? hg_format(a, "%s*%s", bottom, x) : x;
            if (hg_at(c->e, f->arg[0])->op == HG_PROD && !hg_code_bound(c, f->arg[0]))
                bottom = hg_format(a, "(%s)", bottom);
        } else {
            const char *x = hg_code_factor(c, n->arg[k]);
            top = top ? hg_format(a, "%s*%s", top, x) : x;
        }
    }
    if (!bottom)
        return hg_format(a, "%s%s", sign, top);
    return hg_format(a, strchr(bottom, '*') ? "%s%s/(%s)" : "%s%s/%s", sign, top ? top : "1.0", bottom);
}

/* A term of a sum without its sign. */
static const char *term_text(struct hg_code *c, hg_id id, int *negative)
{
    const struct hg_node *n = hg_at(c->e, id);
    double v;
    int sum;
    *negative = 0;
    if (n->op == HG_CONST && n->value < 0) {
        *negative = 1;
        return hg_number(c->e->arena, -n->value);
    }
    if (n->op == HG_PROD && !hg_code_bound(c, id) && hg_is_const(c->e, n->arg[0], &v) && v < 0) {
        struct hg_node m = *n;
        *negative = 1;
        if (v == -1.0) {
            m.nargs--, m.arg++;
            return m.nargs == 1 ? hg_code_factor(c, m.arg[0]) : prod_text(c, &m);
        }
        const char *s = prod_text(c, n);
        return s + (s[0] == '-');
    }
    const char *s = text(c, id, &sum);
    if (s[0] == '-')
        return *negative = 1, s + 1;
    return s;
}

/* A product of factors without a division: may be fused with a sum. */
static int is_fused(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    double v;
    if (n->op != HG_PROD || n->nargs < 2 || hg_code_bound(c, id))
        return 0;
    for (uint32_t k = 0; k < n->nargs; k++) {
        const struct hg_node *f = hg_at(c->e, n->arg[k]);
        if (f->op == HG_POW && hg_is_const(c->e, f->arg[1], &v) && v == -1.0 && !hg_code_bound(c, n->arg[k]))
            return 0;
    }
    return 1;
}

static const char *fused_text(struct hg_code *c, hg_id product, const char *sum)
{
    struct hg_node m = *hg_at(c->e, product);
    const char *last = hg_code_factor(c, m.arg[--m.nargs]);
    const char *first = m.nargs == 1 ? hg_code_factor(c, m.arg[0]) : prod_text(c, &m);
    return hg_format(c->e->arena, "fit_vfma(%s, %s, %s)", first, last, sum);
}

/* First the terms that are not products, then the products, in their order. */
static const char *fused_sum_text(struct hg_code *c, const struct hg_node *n)
{
    struct hg_arena *a = c->e->arena;
    const char *s = NULL;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < n->nargs; k++) {
            int negative;
            if (is_fused(c, n->arg[k]))
                continue;
            const char *t = term_text(c, n->arg[k], &negative);
            if (negative != (int)pass)
                continue;
            s = s ? hg_format(a, "%s %c %s", s, pass ? '-' : '+', t) : hg_format(a, "%s%s", pass ? "-" : "", t);
        }
    for (uint32_t k = 0; k < n->nargs; k++)
        if (is_fused(c, n->arg[k]))
            s = s ? fused_text(c, n->arg[k], s) : prod_text(c, hg_at(c->e, n->arg[k]));
    return s;
}

/* Place of factor f in the product `id`; its number of factors: it is none, or has a name, or has not this factor. */
static uint32_t place_of(const struct hg_code *c, hg_id id, hg_id f)
{
    const struct hg_node *n = hg_at(c->e, id);
    uint32_t k = 0;
    while (k < n->nargs && (n->op != HG_PROD || hg_code_bound(c, id) || n->arg[k] != f))
        k++;
    return k;
}

static int has_factor(const struct hg_code *c, hg_id id, hg_id f)
{
    return place_of(c, id, f) < hg_at(c->e, id)->nargs;
}

/* A vector that all terms of a sum have as a factor; 0: none. Taken out it saves a multiplication for each term, where
 * the rest of one is still a product. */
static hg_id common_factor(const struct hg_code *c, const struct hg_node *sum)
{
    const struct hg_node *first = hg_at(c->e, sum->arg[0]);
    for (uint32_t k = 0; first->op == HG_PROD && k < first->nargs; k++) {
        const hg_id f = first->arg[k];
        uint32_t with = 0, longer = 0;
        for (uint32_t m = 0; m < sum->nargs && hg_code_is_vector(c, f); m++) {
            with += has_factor(c, sum->arg[m], f) != 0;
            longer += hg_at(c->e, sum->arg[m])->nargs > 2;
        }
        if (with == sum->nargs && longer)
            return f;
    }
    return 0;
}

/* f * (the terms without f) */
static const char *factored_text(struct hg_code *c, const struct hg_node *sum, hg_id f)
{
    struct hg_arena *a = c->e->arena;
    const char *s = NULL;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < sum->nargs; k++) {
            struct hg_node m = *hg_at(c->e, sum->arg[k]);
            hg_id *arg = hg_alloc(a, m.nargs * sizeof *arg);
            const uint32_t at = place_of(c, sum->arg[k], f);
            memcpy(arg, m.arg, at * sizeof *arg);
            memcpy(arg + at, m.arg + at + 1, (m.nargs - at - 1) * sizeof *arg);
            m.arg = arg, m.nargs--;
            const char *t = m.nargs == 1 ? hg_code_factor(c, arg[0]) : prod_text(c, &m);
            const uint32_t negative = t[0] == '-';
            if (negative == pass)
                s = s ? hg_format(a, "%s %c %s", s, pass ? '-' : '+', t + negative) : t;
        }
    return hg_format(a, "%s*(%s)", hg_code_factor(c, f), s);
}

static const char *sum_text(struct hg_code *c, const struct hg_node *n)
{
    if (c->fused)
        return fused_sum_text(c, n);
    const hg_id common = c->open ? common_factor(c, n) : 0; /* in the loop of a sum */
    if (common)
        return factored_text(c, n, common);
    struct hg_arena *a = c->e->arena;
    HG_SCRATCH const char **term = hg_zeros(n->nargs, sizeof *term);
    HG_SCRATCH unsigned char *negative = hg_zeros(n->nargs, 1);
    size_t size = 1;
    for (uint32_t k = 0; k < n->nargs; k++) {
        int sign;
        term[k] = term_text(c, n->arg[k], &sign);
        negative[k] = (unsigned char)sign;
        size += strlen(term[k]) + 3;
    }
    char *s = hg_alloc(a, size), *end = s;
    /* a positive term first, so that a sum starts with a sign only if it must */
    for (unsigned char pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < n->nargs; k++) {
            if (negative[k] != pass)
                continue;
            if (end == s)
                end += sprintf(end, "%s%s", pass ? "-" : "", term[k]);
            else
                end += sprintf(end, " %c %s", pass ? '-' : '+', term[k]);
        }
    return s;
}

static const char *where_text(struct hg_code *c, const struct hg_node *n, hg_id id)
{
    struct hg_arena *a = c->e->arena;
    int sum;
    const char *q = text(c, n->arg[0], &sum);
    if (hg_code_is_vector(c, n->arg[0]))
        return hg_format(a, "fit_vselect(%s, %s, %s)", q, hg_code_vector(c, n->arg[1]), hg_code_vector(c, n->arg[2]));
    if (hg_code_is_vector(c, id))
        return hg_format(a, "((%s) ? %s : %s)", q, hg_code_vector(c, n->arg[1]), hg_code_vector(c, n->arg[2]));
    const char *x = hg_code_factor(c, n->arg[1]);
    return hg_format(a, "((%s) ? %s : %s)", q, x, hg_code_factor(c, n->arg[2]));
}

static const char *text(struct hg_code *c, hg_id id, int *sum)
{
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    int s;
    *sum = 0;
    if (id < c->private_->n && c->private_->var[id])
        return c->private_->var[id];
    if (n->op == HG_CONST) {
        *sum = n->value < 0;
        return hg_number(a, n->value);
    }
    if (c->is_leaf(c, id))
        return c->leaf(c, id);
    switch (n->op) {
    case HG_SUM: *sum = 1; return sum_text(c, n);
    case HG_PROD: {
        const char *r = prod_text(c, n);
        *sum = r[0] == '-' || strchr(r, '/') != NULL;
        return r;
    }
    case HG_POW: return pow_text(c, n, id, sum);
    case HG_HOLD: return text(c, n->arg[0], sum);
    case HG_LT:
    case HG_LE: {
        *sum = 1;
        const char *x = hg_code_factor(c, n->arg[0]);
        return hg_format(a, "%s %s %s", x, hg_op_text[n->op], hg_code_factor(c, n->arg[1]));
    }
    case HG_WHERE:
    case HG_GUARD: return where_text(c, n, id);
    case HG_SMALL: {
        const char *x = text(c, n->arg[0], &s);
        return hg_format(a, hg_code_is_vector(c, id) ? "fit_vabs(%s) < FIT_SINC_X0" : "fabs(%s) < FIT_SINC_X0", x);
    }
    default: return call_text(c, n, id);
    }
}

const char *hg_code_text(struct hg_code *c, hg_id id)
{
    int sum;
    return text(c, id, &sum);
}

/* --- statements --------------------------------------------------------------------------------------- */

static const char *type_of(const struct hg_code *c, hg_id id)
{
    int vector = hg_code_is_vector(c, id);
    if (hg_op_flags[hg_at(c->e, id)->op] & HG_F_BOOL)
        return vector ? "fit_vm" : "int";
    return vector ? "fit_vd" : "double";
}

void hg_code_source(struct hg_code *c, hg_id id)
{
    enum { LONGEST = 116 };
    uint32_t line = hg_at(c->e, id)->line;
    const char *s = c->units ? c->units->text : NULL;
    if (!c->source || !line || line == c->private_->line)
        return;
    c->private_->line = line;
    for (uint32_t k = 1; s && k < line; k++)
        s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL;
    s = s ? s + strspn(s, " \t") : "";
    size_t n = strcspn(s, "\r\n"), used = 4 * (size_t)c->out->depth + strlen(c->source) + 20, room = LONGEST - used;
    room = used < LONGEST ? room : 0;
    for (size_t k = 0; k + 1 < n; k++) /* text that would begin or end a comment in C */
        if ((s[k] == '/' && s[k + 1] == '*') || (s[k] == '*' && s[k + 1] == '/'))
            n = k;
    int cut = n > room;
    n = cut ? room : n;
    while (cut && n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80) /* not inside of a UTF-8 character */
        n--;
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        n--;
    hg_remark(c->out, "/* %s:%u: %.*s%s */", c->source, line, (int)n, s, cut ? " ..." : "");
}

/* TYPE NAME = VALUE; with the unit of the node behind. */
static void declare(struct hg_code *c, const char *type, const char *name, const char *value, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    const char *unit = c->units ? hg_model_unit_text(c->units, id) : NULL;
    const char *s = hg_format(c->e->arena, "%s = %s;", name, value);
    const int column = 77 - 4 * c->out->depth - (int)strlen(type);
    if (unit && n->op != HG_LOCAL && !(hg_op_flags[n->op] & HG_F_BOOL))
        hg_declare(c->out, type, "%-*s /* [%s] */", column, s, unit);
    else
        hg_declare(c->out, type, "%s", s);
}

const char *hg_code_declare(struct hg_code *c, hg_id id, const char *name)
{
    struct hg_arena *a = c->e->arena;
    int sum;
    const char *value = text(c, id, &sum);
    name = hg_code_unique(c, name ? name : hg_code_stem(c, id));
    if (hg_at(c->e, id)->op != HG_LOCAL && !(hg_op_flags[hg_at(c->e, id)->op] & HG_F_BOOL))
        hg_code_source(c, id);
    declare(c, hg_format(a, "const %s", type_of(c, id)), name, value, id);
    hg_code_bind(c, id, name);
    return name;
}

/* One rare branch for n guards with one condition: where it holds, each uses its other formula. */
static void branch(struct hg_code *c, hg_id condition, uint32_t n, const hg_id *guard, const char *const *name)
{
    const char *when = c->private_->var[condition];
    int vector = hg_code_is_vector(c, condition);
    hg_open(c->out, vector ? "if (fit_vany(%s)) {" : "if (%s) {", when);
    hg_code_push(c);
    for (uint32_t k = 0; k < n; k++) {
        const struct hg_node *g = hg_at(c->e, guard[k]);
        hg_code_need(c, g->arg[1]);
        if (vector)
            hg_do(c->out, "%s = fit_vselect(%s, %s, %s);", name[k], when, hg_code_vector(c, g->arg[1]), name[k]);
        else
            hg_do(c->out, "%s = %s;", name[k], hg_code_text(c, g->arg[1]));
    }
    hg_code_pop(c);
    hg_close(c->out);
}

static void declare_condition(struct hg_code *c, hg_id condition)
{
    hg_code_need(c, condition);
    if (!c->private_->var[condition])
        hg_code_declare(c, condition, "small");
}

/* All guards with the same condition: the common formulas first, then one rare branch for all of them. */
static void declare_guards(struct hg_code *c, hg_id first)
{
    struct hg_code_private *p = c->private_;
    hg_id condition = hg_at(c->e, first)->arg[0];
    hg_id guard[16];
    uint32_t n = 0;
    for (hg_id id = 1; id < p->n && n < 16; id++)
        if (hg_at(c->e, id)->op == HG_GUARD && hg_at(c->e, id)->arg[0] == condition && p->uses[id] && !p->var[id])
            guard[n++] = id;
    const char *near = c->near && !p->var[condition] ? c->near(c, condition) : NULL;
    if (!near)
        declare_condition(c, condition);
    const char *name[16];
    for (uint32_t k = 0; k < n; k++) {
        const struct hg_node *g = hg_at(c->e, guard[k]);
        hg_code_need(c, g->arg[2]);
        name[k] = hg_code_unique(c, g->name ? g->name : hg_code_stem(c, g->arg[1]));
        hg_code_source(c, guard[k]);
        declare(c, type_of(c, guard[k]), name[k], hg_code_text(c, g->arg[2]), guard[k]);
    }
    if (near) {
        hg_open(c->out, "if (%s) {", near);
        hg_code_push(c);
        declare_condition(c, condition);
    }
    branch(c, condition, n, guard, name);
    if (near) {
        hg_code_pop(c);
        hg_close(c->out);
    }
    for (uint32_t k = 0; k < n; k++)
        hg_code_bind(c, guard[k], name[k]);
}

/* Powers with small integer exponents repeat their base, which therefore needs a name. */
static int repeats_operand(const struct hg_expr *e, const struct hg_node *n)
{
    double b;
    return n->op == HG_POW && hg_is_const(e, n->arg[1], &b) && b == floor(b) && fabs(b) >= 2 && fabs(b) <= 4;
}

/* A power whose base also appears in a logarithm, both vectors: one logarithm serves both. */
static void declare_log(struct hg_code *c, const struct hg_node *n)
{
    struct hg_code_private *p = c->private_;
    hg_id base = n->arg[0], log = 0;
    int power = 0;
    double b;
    if ((n->op != HG_POW && n->op != HG_LOG) || !hg_code_is_vector(c, base))
        return;
    for (hg_id id = base + 1; id < p->n; id++) {
        const struct hg_node *m = hg_at(c->e, id);
        if (!p->uses[id] || m->nargs == 0 || m->arg[0] != base || p->var[id])
            continue;
        log = m->op == HG_LOG ? id : log;
        power |= m->op == HG_POW && !hg_is_const(c->e, m->arg[1], &b);
    }
    if (!log || !power)
        return;
    const char *x = hg_code_text(c, base), *name = hg_code_unique(c, hg_code_stem(c, log));
    const char *low = hg_code_unique(c, hg_format(c->e->arena, "%s_low", name));
    hg_declare(c->out, "fit_vd", "%s;", low);
    hg_declare(c->out, "const fit_vd", "%s = fit_vlog_low(%s, &%s);", name, x, low);
    hg_code_bind(c, log, name);
    p->low[log] = low;
}

/* sinc and its derivative of the same vector: one sine and cosine serve both. */
static void declare_sinc(struct hg_code *c, const struct hg_node *n)
{
    struct hg_code_private *p = c->private_;
    hg_id sinc = 0, slope = 0;
    if ((n->op != HG_SINC && n->op != HG_DSINC) || !hg_code_is_vector(c, n->arg[0]))
        return;
    for (hg_id id = n->arg[0] + 1; id < p->n; id++) {
        const struct hg_node *m = hg_at(c->e, id);
        if (!p->uses[id] || p->var[id] || (m->op != HG_SINC && m->op != HG_DSINC) || m->arg[0] != n->arg[0])
            continue;
        *(m->op == HG_SINC ? &sinc : &slope) = id;
    }
    if (!sinc || !slope)
        return;
    const char *x = hg_code_text(c, n->arg[0]), *name = hg_code_unique(c, hg_code_stem(c, sinc));
    const char *cosine = hg_code_unique(c, hg_format(c->e->arena, "cos_%s", name));
    hg_declare(c->out, "fit_vd", "%s;", cosine);
    hg_declare(c->out, "const fit_vd", "%s = fit_vsinc_cos(%s, &%s);", name, x, cosine);
    hg_code_bind(c, sinc, name);
    p->low[sinc] = cosine;
}

/* Sine and cosine of the same vector in the loop of a sum: one reduction of the argument serves both. */
static void declare_sine_cosine(struct hg_code *c, const struct hg_node *n)
{
    struct hg_code_private *p = c->private_;
    hg_id sine = 0, cosine = 0;
    if (!c->open || (n->op != HG_SIN && n->op != HG_COS) || !hg_code_is_vector(c, n->arg[0]))
        return;
    for (hg_id id = n->arg[0] + 1; id < p->n; id++) {
        const struct hg_node *m = hg_at(c->e, id);
        if (p->uses[id] && !p->var[id] && (m->op == HG_SIN || m->op == HG_COS) && m->arg[0] == n->arg[0])
            *(m->op == HG_SIN ? &sine : &cosine) = id;
    }
    if (!sine || !cosine)
        return;
    const char *x = hg_code_text(c, n->arg[0]), *s = hg_code_unique(c, hg_code_stem(c, sine));
    const char *k = hg_code_unique(c, hg_code_stem(c, cosine));
    hg_do(c->out, "fit_vd %s, %s;", s, k);
    hg_do(c->out, "fit_vsincos(%s, &%s, &%s);", x, s, k);
    hg_code_bind(c, sine, s);
    hg_code_bind(c, cosine, k);
}

/* n of 1/x^n for n = 1 .. 4; else 0. */
static int inverse_power(const struct hg_expr *e, const struct hg_node *n)
{
    double b;
    return n->op == HG_POW && hg_is_const(e, n->arg[1], &b) && b == floor(b) && b <= -1 && b >= -4 ? (int)-b : 0;
}

/* Several of 1/x, 1/x^2, ... of the same vector: one division serves all. */
static void declare_inverse(struct hg_code *c, const struct hg_node *n)
{
    struct hg_code_private *p = c->private_;
    const hg_id base = n->nargs ? n->arg[0] : 0;
    uint32_t several = 0;
    if (!inverse_power(c->e, n) || !hg_code_is_vector(c, base))
        return;
    for (hg_id id = base + 1; id < p->n; id++)
        several += p->uses[id] && !p->var[id] && inverse_power(c->e, hg_at(c->e, id)) &&
                   hg_at(c->e, id)->arg[0] == base;
    if (several < 2)
        return;
    const char *x = hg_code_factor(c, base);
    const char *inverse = hg_code_unique(c, hg_format(c->e->arena, "inv_%s", hg_code_stem(c, base)));
    hg_declare(c->out, "const fit_vd", "%s = 1.0/%s;", inverse, x);
    for (hg_id id = base + 1; id < p->n; id++) {
        const int power = inverse_power(c->e, hg_at(c->e, id));
        if (!p->uses[id] || p->var[id] || !power || hg_at(c->e, id)->arg[0] != base)
            continue;
        const char *name = power == 1 ? inverse : hg_code_unique(c, hg_code_stem(c, id));
        if (power > 1)
            hg_declare(c->out, "const fit_vd", "%s = %s;", name, repeated(c, inverse, power));
        hg_code_bind(c, id, name);
    }
}

void hg_code_need(struct hg_code *c, hg_id id)
{
    struct hg_code_private *p = c->private_;
    const struct hg_node *n = hg_at(c->e, id);
    if (id >= p->n)
        hg_bug("code: node made after the function was begun");
    if (p->var[id] || n->op == HG_CONST)
        return;
    if (c->is_leaf(c, id)) {
        const char *s = c->leaf(c, id);
        if (!p->var[id])
            hg_code_bind(c, id, s);
        return;
    }
    if (n->op == HG_GUARD) {
        declare_guards(c, id);
        return;
    }
    if (n->op == HG_REDUCE) {
        hg_code_reduce(c, id);
        return;
    }
    for (uint32_t k = 0; k < n->nargs; k++) {
        hg_code_need(c, n->arg[k]);
        if (repeats_operand(c->e, n) && k == 0 && !p->var[n->arg[0]] && hg_at(c->e, n->arg[0])->nargs)
            hg_code_declare(c, n->arg[0], NULL);
    }
    declare_log(c, n);
    declare_sinc(c, n);
    declare_sine_cosine(c, n);
    declare_inverse(c, n);
    if (p->var[id])
        return;
    if (p->uses[id] > 1 || n->name)
        hg_code_declare(c, id, NULL);
}
