/* rewrites.c -- the table of rules, and patterns: read, matched, built.
 *
 * A pattern becomes a tree of the operations of the graph; differences are sums with -1, quotients products with powers
 * of -1. Sums and products match as sets: terms are tried in order with backtracking, and a term whose variables are
 * already bound is built and looked up, since equal expressions have equal ids.
 */
#include "judge/rewrites.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

#define HIGHAM "Higham, Accuracy and Stability of Numerical Algorithms, 2002"
#define KAHAN "Kahan, Branch Cuts for Complex Elementary Functions, 1987"
#define HERBIE "Panchekha, Sanchez-Stern, Wilcox, Tatlock, PLDI 2015 (Herbie)"

/* In the order of trial: special rules come before general ones. */
const struct hg_rule hg_rule[] = {
    {"expm1", "exp(a) - 1", "expm1(a)", HIGHAM ", section 1.14.1"},
    {"difference of exponentials", "exp(a) - exp(b)", "exp(b)*expm1(a - b)", HERBIE},
    {"exprel", "expm1(a)/a", "exprel(a)", HIGHAM ", section 1.14.1"},
    {"sinhc", "sinh(a)/a", "sinhc(a)", HIGHAM ", section 1.14.1"},
    {"tanhc", "tanh(a)/a", "sinhc(a)/cosh(a)", HIGHAM ", section 1.14.1"},
    {"root of 1 + a less 1", "(1 + a)^0.5 - 1", "a/(1 + (1 + a)^0.5)", HIGHAM ", section 1.7"},
    {"power of 1 + a less 1", "(1 + a)^b - 1", "expm1(b*log1p(a))", KAHAN},
    {"difference of roots", "a^0.5 - b^0.5", "(a - b)/(a^0.5 + b^0.5)", HIGHAM ", section 1.8"},
    {"softplus", "log1p(exp(a))", "softplus(a)", "Maechler, log(1 - exp(-|a|)), 2012, section 2"},
    {"softplus", "log(1 + exp(a))", "softplus(a)", "Maechler, log(1 - exp(-|a|)), 2012, section 2"},
    {"log-sum-exp", "log(exp(a) + exp(b))", "a + softplus(b - a)",
     "Blanchard, Higham, Higham, IMA J. Numer. Anal. 41 (2021) 2311"},
    {"log1p", "log(1 + a)", "log1p(a)", HIGHAM ", problem 1.5"},
    {"log1prel", "log1p(a)/a", "log1prel(a)", HIGHAM ", problem 1.5"},
    {"difference of logarithms", "log(a) - log(b)", "where(lt(abs(a - b), abs(b)/2), log1p((a - b)/b), log(a/b))",
     HERBIE},
    {"logistic", "1/(1 + exp(a))", "logistic(-a)", "Blanchard, Higham, Higham, IMA J. Numer. Anal. 41 (2021) 2311"},
    {"logistic", "exp(a)*logistic(-a)", "logistic(a)", "the same"},
    {"complement of logistic", "1 - logistic(a)", "logistic(-a)", "the same"},
    {"1 less a squared cosine", "1 - cos(a)^2", "sin(a)^2", HIGHAM ", section 1.7"},
    {"1 less a squared sine", "1 - sin(a)^2", "cos(a)^2", HIGHAM ", section 1.7"},
    {"1 less a squared tanh", "1 - tanh(a)^2", "cosh(a)^-2", HERBIE},
    {"versine", "1 - cos(a)", "2*sin(a/2)^2", HIGHAM ", section 1.7"},
    {"difference of cosines", "cos(a) - cos(b)", "2*sin((a + b)/2)*sin((b - a)/2)", HERBIE},
    {"difference of sines", "sin(a) - sin(b)", "2*cos((a + b)/2)*sin((a - b)/2)", HERBIE},
    {"sinc", "sin(a)/a", "sinc(a)", HIGHAM ", section 1.14.1"},
    {"tanc", "tan(a)/a", "sinc(a)/cos(a)", HIGHAM ", section 1.14.1"},
    {"cosh less 1", "cosh(a) - 1", "2*sinh(a/2)^2", HIGHAM ", section 1.7"},
    {"complement of tanh", "1 - tanh(a)", "2*logistic(-2*a)", HERBIE},
    {"complement of erf", "1 - erf(a)", "erfc(a)", "Abramowitz, Stegun 7.1.2"},
    {"complement of erfc", "1 - erfc(a)", "erf(a)", "Abramowitz, Stegun 7.1.2"},
    {"difference of squares", "a^2 - b^2", "(a - b)*(a + b)", HIGHAM ", section 1.7"},
    {"1 less a square", "1 - a^2", "(1 - a)*(1 + a)", HIGHAM ", section 1.7"},
    {"difference of reciprocals", "1/a - 1/b", "(b - a)/(a*b)", HERBIE},
    {"power at 0", "a^b", "where(lt(0, abs(a)), a^b, 0)", "limits of a^b and a^b log(a) at a = 0, b > 0"},
};
const uint32_t hg_nrule = sizeof hg_rule / sizeof *hg_rule;

/* --- reading -------------------------------------------------------------------------------------------- */

enum { VARIABLE = HG_NOP, EXPREL, LOG1PREL, SINHC }; /* kinds beside the operations */

struct pattern {
    int op;
    uint32_t nargs, variable;
    double value;
    const struct pattern *arg[8];
};

struct reader {
    struct hg_arena *arena;
    const char *s;
};

static const struct pattern *read_sum(struct reader *r);

static struct pattern *new_pattern(struct reader *r, int op)
{
    struct pattern *p = hg_alloc(r->arena, sizeof *p);
    p->op = op;
    return p;
}

static const struct pattern *number(struct reader *r, double x)
{
    struct pattern *p = new_pattern(r, HG_CONST);
    p->value = x;
    return p;
}

static const struct pattern *two(struct reader *r, int op, const struct pattern *a, const struct pattern *b)
{
    struct pattern *p = new_pattern(r, op);
    p->nargs = 2;
    p->arg[0] = a;
    p->arg[1] = b;
    return p;
}

static void skip(struct reader *r, char c)
{
    while (*r->s == ' ')
        r->s++;
    if (c && *r->s++ != c)
        hg_bug("rewrites: '%c' expected before '%s'", c, r->s);
}

static int next_is(struct reader *r, char c)
{
    skip(r, 0);
    if (*r->s != c)
        return 0;
    r->s++;
    return 1;
}

static int operation(const char *name, size_t n)
{
    static const struct {
        const char *name;
        int op;
    } more[] = {{"lt", HG_LT}, {"le", HG_LE}, {"where", HG_WHERE}, {"abs", HG_ABS}, {"exprel", EXPREL},
                {"log1prel", LOG1PREL}, {"sinhc", SINHC}};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        if (strlen(more[k].name) == n && strncmp(more[k].name, name, n) == 0)
            return more[k].op;
    for (int op = HG_EXP; op <= HG_SIGN; op++)
        if (strlen(hg_op_text[op]) == n && strncmp(hg_op_text[op], name, n) == 0)
            return op;
    hg_bug("rewrites: no function %.*s", (int)n, name);
}

static const struct pattern *read_atom(struct reader *r)
{
    if (next_is(r, '(')) {
        const struct pattern *p = read_sum(r);
        skip(r, ')');
        return p;
    }
    if (isdigit((unsigned char)*r->s)) {
        char *end;
        double x = strtod(r->s, &end);
        r->s = end;
        return number(r, x);
    }
    size_t n = 0;
    while (isalnum((unsigned char)r->s[n]))
        n++;
    if (n == 1) {
        struct pattern *p = new_pattern(r, VARIABLE);
        p->variable = (uint32_t)(*r->s++ - 'a');
        return p;
    }
    struct pattern *p = new_pattern(r, operation(r->s, n));
    r->s += n;
    skip(r, '(');
    do
        p->arg[p->nargs++] = read_sum(r);
    while (next_is(r, ','));
    skip(r, ')');
    return p;
}

static const struct pattern *read_power(struct reader *r)
{
    const struct pattern *p = read_atom(r);
    if (!next_is(r, '^'))
        return p;
    return two(r, HG_POW, p, next_is(r, '-') ? number(r, -read_atom(r)->value) : read_atom(r));
}

static const struct pattern *read_product(struct reader *r)
{
    struct pattern *p = new_pattern(r, HG_PROD);
    if (next_is(r, '-'))
        p->arg[p->nargs++] = number(r, -1);
    p->arg[p->nargs++] = read_power(r);
    for (;;) {
        if (next_is(r, '*'))
            p->arg[p->nargs++] = read_power(r);
        else if (next_is(r, '/'))
            p->arg[p->nargs++] = two(r, HG_POW, read_power(r), number(r, -1));
        else
            break;
    }
    if (p->nargs == 2 && p->arg[0]->op == HG_CONST && p->arg[0]->value == 1.0) /* 1/x, exactly */
        return p->arg[1];
    return p->nargs == 1 ? p->arg[0] : p;
}

static const struct pattern *read_sum(struct reader *r)
{
    struct pattern *p = new_pattern(r, HG_SUM);
    p->arg[p->nargs++] = read_product(r);
    for (;;) {
        if (next_is(r, '+'))
            p->arg[p->nargs++] = read_product(r);
        else if (next_is(r, '-'))
            p->arg[p->nargs++] = two(r, HG_PROD, number(r, -1), read_product(r));
        else
            break;
    }
    return p->nargs == 1 ? p->arg[0] : p;
}

static const struct pattern *read_pattern(struct hg_expr *e, const char *text)
{
    struct reader r = {e->arena, text};
    const struct pattern *p = read_sum(&r);
    if (*r.s)
        hg_bug("rewrites: '%s' is left of '%s'", r.s, text);
    return p;
}

/* --- building ------------------------------------------------------------------------------------------- */

/* c[0] + x (c[1] + x (c[2] + ...)) */
static hg_id horner(struct hg_expr *e, hg_id x, uint32_t n, const double *c)
{
    hg_id s = hg_const(e, c[n - 1]);
    for (uint32_t k = n - 1; k-- > 0;)
        s = hg_add(e, hg_const(e, c[k]), hg_mul(e, x, s));
    return s;
}

/* where(|a| < limit, near, far) */
static hg_id near_zero(struct hg_expr *e, hg_id a, double limit, hg_id near, hg_id far)
{
    return hg_where(e, hg_call2(e, HG_LT, hg_call(e, HG_ABS, a), hg_const(e, limit)), near, far);
}

/* (e^a - 1)/a: sum of a^n/(n+1)! below 1/2, to 1e-17 with its slope */
static hg_id exprel(struct hg_expr *e, hg_id a)
{
    double c[17], factorial = 1;
    for (uint32_t n = 0; n < 17; n++) {
        factorial *= n + 1;
        c[n] = 1 / factorial;
    }
    return near_zero(e, a, 0.5, horner(e, a, 17, c), hg_div(e, hg_call(e, HG_EXPM1, a), a));
}

/* log(1 + a)/a = 2/(2 + a) artanh(z)/z with z = a/(2 + a): sum of z^(2n)/(2n+1) below 1/4 */
static hg_id log1prel(struct hg_expr *e, hg_id a)
{
    double c[11];
    for (uint32_t n = 0; n < 11; n++)
        c[n] = 1.0 / (2 * n + 1);
    hg_id down = hg_add(e, hg_const(e, 2), a), z = hg_div(e, a, down);
    hg_id near = hg_div(e, hg_mul(e, hg_const(e, 2), horner(e, hg_pow(e, z, hg_const(e, 2)), 11, c)), down);
    return near_zero(e, a, 0.25, near, hg_div(e, hg_call(e, HG_LOG1P, a), a));
}

/* sinh(a)/a: sum of a^(2n)/(2n+1)! below 1 */
static hg_id sinhc(struct hg_expr *e, hg_id a)
{
    double c[11], factorial = 1;
    for (uint32_t n = 0; n < 11; n++) {
        factorial *= n ? 2 * n * (2 * n + 1) : 1;
        c[n] = 1 / factorial;
    }
    hg_id near = horner(e, hg_pow(e, a, hg_const(e, 2)), 11, c);
    return near_zero(e, a, 1, near, hg_div(e, hg_call(e, HG_SINH, a), a));
}

static hg_id build(struct hg_expr *e, const struct pattern *p, const hg_id *bind)
{
    hg_id arg[8];
    for (uint32_t k = 0; k < p->nargs; k++)
        arg[k] = build(e, p->arg[k], bind);
    switch (p->op) {
    case VARIABLE: return bind[p->variable];
    case HG_CONST: return hg_const(e, p->value);
    case EXPREL: return exprel(e, arg[0]);
    case LOG1PREL: return log1prel(e, arg[0]);
    case SINHC: return sinhc(e, arg[0]);
    default: return hg_make(e, (enum hg_op)p->op, p->nargs, arg);
    }
}

hg_id hg_rule_build(struct hg_expr *e, const char *text, const hg_id bind[HG_RULE_VARIABLES])
{
    return build(e, read_pattern(e, text), bind);
}

/* --- matching ------------------------------------------------------------------------------------------- */

static int is_bound(const struct pattern *p, const hg_id *bind)
{
    if (p->op == VARIABLE)
        return bind[p->variable] != 0;
    for (uint32_t k = 0; k < p->nargs; k++)
        if (!is_bound(p->arg[k], bind))
            return 0;
    return 1;
}

/* A term or factor without its number. */
static const struct pattern *without_number(const struct pattern *p, double *c)
{
    *c = 1;
    if (p->op == HG_CONST) {
        *c = p->value;
        return NULL;
    }
    if (p->op == HG_PROD && p->nargs == 2 && p->arg[0]->op == HG_CONST) {
        *c = p->arg[0]->value;
        return p->arg[1]->op == HG_CONST ? (*c *= p->arg[1]->value, NULL) : p->arg[1];
    }
    return p;
}

static int match(struct hg_expr *e, const struct pattern *p, hg_id id, hg_id *bind);

/* The square root of a product of even powers, which simplify.c makes of (x y)^2; 0 for others. */
static hg_id square_root(struct hg_expr *e, hg_id id)
{
    const struct hg_node n = *hg_at(e, id);
    hg_id root = hg_const(e, 1);
    if (n.op != HG_PROD)
        return 0;
    for (uint32_t k = 0; k < n.nargs; k++) {
        const struct hg_node f = *hg_at(e, n.arg[k]);
        double c;
        if (f.op == HG_CONST && f.value > 0 && sqrt(f.value) * sqrt(f.value) == f.value) /* exact roots only */
            root = hg_mul(e, root, hg_const(e, sqrt(f.value)));
        else if (f.op == HG_POW && hg_is_const(e, f.arg[1], &c) && fmod(c, 2) == 0)
            root = hg_mul(e, root, hg_pow(e, f.arg[0], hg_const(e, c / 2)));
        else
            return 0;
    }
    return root;
}

/* A sum inside a pattern: all terms must match; a variable alone takes the remaining ones. */
static int match_whole_sum(struct hg_expr *e, const struct pattern *p, hg_id id, hg_id *bind)
{
    const struct hg_node n = *hg_at(e, id);
    const struct pattern *rest = NULL;
    unsigned char used[64] = {0};
    if (n.op != HG_SUM || n.nargs > sizeof used)
        return 0;
    for (uint32_t k = 0; k < p->nargs; k++) {
        int found = 0;
        if (p->arg[k]->op == VARIABLE && !bind[p->arg[k]->variable] && !rest) {
            rest = p->arg[k];
            continue;
        }
        for (uint32_t t = 0; t < n.nargs && !found; t++) {
            hg_id keep[HG_RULE_VARIABLES];
            memcpy(keep, bind, sizeof keep);
            found = !used[t] && match(e, p->arg[k], n.arg[t], bind);
            used[t] = (unsigned char)(used[t] | found);
            if (!found)
                memcpy(bind, keep, sizeof keep);
        }
        if (!found)
            return 0;
    }
    hg_id *left = hg_alloc(e->arena, n.nargs * sizeof *left);
    uint32_t nleft = 0;
    for (uint32_t t = 0; t < n.nargs; t++)
        if (!used[t])
            left[nleft++] = n.arg[t];
    if (!rest)
        return nleft == 0;
    bind[rest->variable] = nleft ? hg_sum(e, nleft, left) : 0;
    return nleft > 0;
}

static int match(struct hg_expr *e, const struct pattern *p, hg_id id, hg_id *bind)
{
    const struct hg_node n = *hg_at(e, id);
    if (p->op == VARIABLE) {
        if (!bind[p->variable])
            bind[p->variable] = id;
        return bind[p->variable] == id;
    }
    if (p->op == HG_CONST)
        return hg_is_value(e, id, p->value);
    if (p->op == HG_POW && p->arg[1]->op == VARIABLE && n.op == HG_POW && hg_is_const(e, n.arg[1], NULL) &&
        p->arg[0]->op == VARIABLE)
        return 0; /* a^b is not for literal exponents */
    if (p->op == HG_SUM)
        return match_whole_sum(e, p, id, bind);
    if (p->op == HG_POW && n.op == HG_PROD && p->arg[1]->op == HG_CONST && p->arg[1]->value == 2.0) {
        hg_id root = square_root(e, id);
        return root && match(e, p->arg[0], root, bind);
    }
    if ((int)n.op != p->op || n.nargs != p->nargs)
        return 0;
    for (uint32_t k = 0; k < p->nargs; k++)
        if (!match(e, p->arg[k], n.arg[k], bind))
            return 0;
    return 1;
}

/* Matches a pattern that is a sum with some terms of a sum, with a common factor K. */
struct sum_match {
    struct hg_expr *e;
    const struct pattern *p;
    hg_id node, *bind, K;
    unsigned char used[64];
};

static int next_term(struct sum_match *s, uint32_t k);

/* Term k of the pattern must be this id. */
static int take(struct sum_match *s, uint32_t k, hg_id wanted)
{
    const struct hg_node n = *hg_at(s->e, s->node);
    for (uint32_t t = 0; t < n.nargs; t++)
        if (!s->used[t] && n.arg[t] == wanted) {
            s->used[t] = 1;
            if (next_term(s, k + 1))
                return 1;
            s->used[t] = 0;
        }
    return 0;
}

/* A term, whole or up to its sign, then each of its factors, as the core of the first term of the pattern. */
static int first_term(struct sum_match *s, const struct pattern *core, double c, uint32_t t)
{
    struct hg_expr *e = s->e;
    hg_id term = hg_at(e, s->node)->arg[t];
    const struct hg_node n = *hg_at(e, term);
    uint32_t nf = n.op == HG_PROD ? n.nargs : 0;
    for (uint32_t f = 0; f < nf + 2; f++) {
        hg_id factor = f == 0 ? term : f == 1 ? hg_neg(e, term) : n.arg[f - 2], keep[HG_RULE_VARIABLES];
        memcpy(keep, s->bind, sizeof keep);
        if (!hg_is_const(e, factor, NULL) && match(e, core, factor, s->bind)) {
            s->K = hg_mul(e, hg_const(e, 1 / c), hg_div(e, term, factor));
            s->used[t] = 1;
            if (next_term(s, 1))
                return 1;
            s->used[t] = 0;
        }
        memcpy(s->bind, keep, sizeof keep);
    }
    return 0;
}

static int next_term(struct sum_match *s, uint32_t k)
{
    struct hg_expr *e = s->e;
    double c;
    if (k == s->p->nargs)
        return 1;
    const struct pattern *core = without_number(s->p->arg[k], &c);
    uint32_t nargs = hg_at(e, s->node)->nargs;
    if (k > 0 && (!core || is_bound(core, s->bind))) {
        hg_id x = core ? build(e, core, s->bind) : hg_const(e, 1);
        return take(s, k, hg_mul(e, hg_mul(e, hg_const(e, c), s->K), x));
    }
    for (uint32_t t = 0; t < nargs; t++) {
        if (s->used[t])
            continue;
        if (k == 0) {
            if (first_term(s, core, c, t))
                return 1;
            continue;
        }
        hg_id keep[HG_RULE_VARIABLES];
        memcpy(keep, s->bind, sizeof keep);
        hg_id q = hg_div(e, hg_at(e, s->node)->arg[t], hg_mul(e, hg_const(e, c), s->K));
        s->used[t] = 1;
        if (match(e, core, q, s->bind) && next_term(s, k + 1))
            return 1;
        s->used[t] = 0;
        memcpy(s->bind, keep, sizeof keep);
    }
    return 0;
}

/* The constant of a sum is a term like any other: the first term of a pattern must not be one. */
static hg_id apply_to_sum(struct hg_expr *e, const struct pattern *p, const struct pattern *to, hg_id node, hg_id *bind)
{
    struct sum_match s = {.e = e, .node = node, .bind = bind};
    struct pattern turned = *p;
    const struct hg_node n = *hg_at(e, node);
    if (n.op != HG_SUM || n.nargs > sizeof s.used)
        return 0;
    if (p->arg[0]->op == HG_CONST) {
        turned.arg[0] = p->arg[1];
        turned.arg[1] = p->arg[0];
    }
    s.p = &turned;
    if (!next_term(&s, 0))
        return 0;
    hg_id *term = hg_alloc(e->arena, (n.nargs + 1) * sizeof *term);
    uint32_t nterm = 0;
    for (uint32_t t = 0; t < n.nargs; t++)
        if (!s.used[t])
            term[nterm++] = n.arg[t];
    term[nterm++] = hg_mul(e, s.K, build(e, to, bind));
    return hg_sum(e, nterm, term);
}

/* Factors of a product, with multiplicity given by their powers. */
static double degree(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    double sum = 0, c;
    if (n->op == HG_CONST)
        return 0;
    if (n->op == HG_POW && hg_is_const(e, n->arg[1], &c))
        return fabs(c);
    for (uint32_t k = 0; n->op == HG_PROD && k < n->nargs; k++)
        sum += degree(e, n->arg[k]);
    return n->op == HG_PROD ? sum : 1;
}

/* A pattern that is a product: its first factor is found among those of the node, to an integer power E; then the
 * node is divided by the pattern, and the quotient must have fewer factors. */
static hg_id apply_to_product(struct hg_expr *e, const struct pattern *p, const struct pattern *to, hg_id node,
                              hg_id *bind)
{
    const struct hg_node n = *hg_at(e, node);
    if (n.op != HG_PROD)
        return 0;
    for (uint32_t k = 0; k < n.nargs; k++) {
        const struct hg_node f = *hg_at(e, n.arg[k]);
        double power = 1;
        hg_id base = n.arg[k];
        memset(bind, 0, HG_RULE_VARIABLES * sizeof *bind);
        if (f.op == HG_POW && hg_is_const(e, f.arg[1], &power) && power == rint(power))
            base = f.arg[0];
        if (!match(e, p->arg[0], base, bind) || !is_bound(p, bind))
            continue;
        hg_id one = hg_const(e, power), pattern = hg_pow(e, build(e, p, bind), one);
        hg_id rest = hg_div(e, node, pattern);
        if (degree(e, rest) < degree(e, node))
            return hg_mul(e, rest, hg_pow(e, build(e, to, bind), one));
    }
    return 0;
}

/* The operation at the top of a pattern, without a full parse: sums and products are recognised. */
static int can_match(const struct hg_rule *r, enum hg_op op)
{
    int depth = 0, top = 0;
    for (const char *s = r->from; *s; s++) {
        depth += (*s == '(') - (*s == ')');
        if (depth == 0 && (*s == '+' || (*s == '-' && s != r->from)))
            return op == HG_SUM;
        top |= depth == 0 && (*s == '*' || (*s == '/' && r->from[0] != '1'));
    }
    return top ? op == HG_PROD : op != HG_SUM && op != HG_PROD;
}

hg_id hg_rule_apply(struct hg_expr *e, uint32_t k, hg_id node, hg_id bind[HG_RULE_VARIABLES])
{
    const struct hg_rule *r = &hg_rule[k];
    if (!can_match(r, hg_at(e, node)->op))
        return 0;
    const struct pattern *from = read_pattern(e, r->from), *to = read_pattern(e, r->to);
    uint32_t line = e->line;
    hg_id new_id = 0;
    memset(bind, 0, HG_RULE_VARIABLES * sizeof *bind);
    e->line = hg_at(e, node)->line;
    if (from->op == HG_SUM)
        new_id = apply_to_sum(e, from, to, node, bind);
    else if (from->op == HG_PROD)
        new_id = apply_to_product(e, from, to, node, bind);
    else if (match(e, from, node, bind))
        new_id = build(e, to, bind);
    e->line = line;
    return new_id == node ? 0 : new_id;
}
