/* gen_model.c -- random models: see gen_model.h. */
#include "gen_model.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PARAMETERS = 8 };

/* What a parameter may be used for, by its bounds. */
enum role { POSITIVE, EXPONENT, SIGNED, ANGLE, SMALL, STIFF, NROLE };
static const double bounds[NROLE][2] = {{0.3, 2}, {-1.2, 1.2}, {-1, 1},
                                        {-3, 3},  {0.02, 0.3}, {20, 300}};

struct gen {
    struct hg_arena *a;
    struct random *r;
    char *head, *body; /* declarations; named functions of time */
    uint32_t n;        /* parameters so far */
    enum role role[MOST_PARAMETERS];
    uint32_t nlocal;
    int rows;
};

static uint32_t pick(struct gen *g, uint32_t n)
{
    return random_below(g->r, n);
}

static char *number(struct gen *g, double lo, double hi)
{
    return hg_format(g->a, "%.3g", random_in(g->r, lo, hi));
}

/* A parameter for the role: new, or one that is there already; a number when there are enough. */
static char *parameter(struct gen *g, enum role role)
{
    int reuse = g->n == MOST_PARAMETERS || random_chance(g->r, 0.2);
    for (uint32_t k = 0; reuse && k < g->n; k++)
        if (g->role[k] == role)
            return hg_format(g->a, "p%u", k);
    if (g->n == MOST_PARAMETERS)
        return number(g, role == SIGNED || role == ANGLE ? 0.1 : bounds[role][0], bounds[role][1]);
    g->role[g->n] = role;
    g->head =
        hg_format(g->a, "%slocal p%u = m.parameter(\"p%u\", { start = %g, bounds = {%g, %g} })\n",
                  g->head, g->n, g->n, (bounds[role][0] + bounds[role][1]) / 2 + 0.01,
                  bounds[role][0], bounds[role][1]);
    return hg_format(g->a, "p%u", g->n++);
}

/* The text, or a local variable that holds it. */
static char *maybe_named(struct gen *g, const char *stem, char *text)
{
    if (random_chance(g->r, 0.5))
        return hg_format(g->a, "(%s)", text);
    g->body = hg_format(g->a, "%slocal %s%u = %s\n", g->body, stem, g->nlocal, text);
    return hg_format(g->a, "%s%u", stem, g->nlocal++);
}

/* A positive function of time. */
static char *rate(struct gen *g)
{
    struct hg_arena *a = g->a;
    char *x = parameter(g, POSITIVE), *s;
    switch (pick(g, 8)) {
    case 0:
        s = hg_format(a, "%s*ts^%s + %s", x, parameter(g, EXPONENT), parameter(g, SMALL));
        break;
    case 1:
        s = hg_format(a, "floor_at(%s*ts^%s + %s, 0.3)", x, parameter(g, EXPONENT),
                      parameter(g, SIGNED));
        break;
    case 2:
        s = hg_format(a, "%s*exp(-%s*ts) + %s", x, parameter(g, POSITIVE), number(g, 0.1, 0.5));
        break;
    case 3: s = hg_format(a, "%s/(1 + %s*ts)", x, parameter(g, POSITIVE)); break;
    case 4:
        s = hg_format(a, "%s*(1 + 0.5*sin(%s*ts + %s))", x, parameter(g, POSITIVE),
                      parameter(g, ANGLE));
        break;
    case 5:
        s = hg_format(a, "%s*exp(-%s*ts*(1.5 + 0.5*sin(phi)))", x, parameter(g, SMALL));
        break; /* per group */
    case 6: s = hg_format(a, "cap_at(%s + %s*ts, 2.5)", x, parameter(g, SMALL)); break;
    default: s = hg_format(a, "%s*ts + 1", x); break;
    }
    return maybe_named(g, "rate", s);
}

/* A scalar of the call or of the group. */
static char *scalar(struct gen *g)
{
    struct hg_arena *a = g->a;
    switch (pick(g, 7)) {
    case 0: return hg_format(a, "cos(%s - phi)", parameter(g, ANGLE));
    case 1:
        return hg_format(a, "(%s*q*cos(%s - phi))", parameter(g, POSITIVE), parameter(g, ANGLE));
    case 2: return hg_format(a, "(%s*exp(0.2*phi))", parameter(g, POSITIVE));
    case 3: return parameter(g, SIGNED);
    case 4: return hg_format(a, "(%s*%s)", number(g, 0.2, 1), parameter(g, POSITIVE));
    case 5: return "q";
    default: return hg_format(a, "sqrt(1 + (%s*phi)^2)", parameter(g, SIGNED));
    }
}

static char *integral(struct gen *g)
{
    char *f = pick(g, 8) ? rate(g) : parameter(g, POSITIVE);
    return hg_format(g->a, "(integral(%s, t1, t2)/second)", f);
}

/* A function of the integral x, bounded. */
static char *of_difference(struct gen *g)
{
    struct hg_arena *a = g->a;
    char *x = integral(g);
    switch (pick(g, 18)) {
    case 0:
    case 1: return hg_format(a, "exp(-%s*%s)", parameter(g, POSITIVE), x);
    case 2: return hg_format(a, "exp(-0.3*%s - %s^2*%s)", x, scalar(g), integral(g));
    case 3: return hg_format(a, "sinc(%s*%s)", scalar(g), x);
    case 4: return hg_format(a, "sinc(%s*%s)^2", scalar(g), x);
    case 5: return hg_format(a, "cos(%s*%s)", scalar(g), x);
    case 6: return hg_format(a, "sin(%s*%s + %s)", scalar(g), x, parameter(g, ANGLE));
    case 7: return hg_format(a, "exp(-(0.3*%s)^2)", x);
    case 8: return hg_format(a, "exp(-(0.1 + %s)^%s)", x, parameter(g, POSITIVE));
    case 9: return hg_format(a, "1/(1 + (%s*%s)^2)", scalar(g), x);
    case 10: return hg_format(a, "tanh(%s*%s)", scalar(g), x);
    case 11: return hg_format(a, "(0.2*%s)", x);
    case 12: return hg_format(a, "where(lt(%s, 1.03), %s, 1.03 + sin(%s - 1.03))", x, x, x);
    case 13: return hg_format(a, "log1p(%s^2)", x);
    case 14:
        return hg_format(a, "exp(-%s*%s)*cos(%s*%s)", parameter(g, SMALL), x, scalar(g),
                         integral(g));
    case 15: return hg_format(a, "exp(-%s*%s)", parameter(g, STIFF), x);
    case 16: /* not monotone, and wider than tables may be */
        return hg_format(a, "exp(%s*(%s - 1.1*%s))", parameter(g, STIFF), x, integral(g));
    default: return hg_format(a, "erf(%s*%s)", scalar(g), x);
    }
}

/* A function of single frames of the pair. */
static char *of_frames(struct gen *g)
{
    struct hg_arena *a = g->a;
    char *f = rate(g);
    switch (pick(g, 8)) {
    case 0:
    case 1: return hg_format(a, "(at(%s, t1)*at(%s, t2))", f, f);
    case 2: return hg_format(a, "(at(%s, t1) + at(%s, t2))", f, rate(g));
    case 3: return hg_format(a, "(at(%s, t1)/(0.5 + at(%s, t1) + at(%s, t2)))", f, f, rate(g));
    case 4: return hg_format(a, "sinc(%s*%s + at(%s, t2))", scalar(g), integral(g), f);
    case 5: return hg_format(a, "exp(-0.4*at(%s, t1)*%s)", f, integral(g));
    case 6: return hg_format(a, "sqrt(at(%s, t1)*at(%s, t2))", f, f);
    default: return hg_format(a, "at(%s, t2)", f);
    }
}

static char *of_row(struct gen *g)
{
    struct hg_arena *a = g->a;
    switch (pick(g, 9)) {
    case 0: return hg_format(a, "exp(-%s*x)", parameter(g, POSITIVE));
    case 1: return hg_format(a, "exp(-(0.1 + x)^%s)", parameter(g, POSITIVE));
    case 2: return hg_format(a, "cos(%s*x + %s)", parameter(g, POSITIVE), parameter(g, ANGLE));
    case 3: return hg_format(a, "sinc(%s*x)", parameter(g, SIGNED));
    case 4: return hg_format(a, "1/(1 + (%s*x)^2)", parameter(g, SIGNED));
    case 5: return hg_format(a, "where(lt(x, 1.03), %s*x, sqrt(x))", parameter(g, POSITIVE));
    case 6: return hg_format(a, "log1p(%s*x)", parameter(g, POSITIVE));
    case 7:
        return hg_format(a, "(%s + logistic(%s*(x - 2)))", parameter(g, SIGNED),
                         parameter(g, ANGLE));
    default: return hg_format(a, "(%s*x)", parameter(g, SIGNED));
    }
}

static char *factor(struct gen *g)
{
    if (g->rows)
        return of_row(g);
    switch (pick(g, 6)) {
    case 0:
    case 1: return of_frames(g);
    case 2: return scalar(g);
    default: return of_difference(g);
    }
}

static char *term(struct gen *g)
{
    char *s = g->rows ? of_row(g) : random_chance(g->r, 0.7) ? of_difference(g) : of_frames(g);
    for (uint32_t n = pick(g, 3); n > 0; n--)
        s = hg_format(g->a, "%s*%s", s, factor(g));
    return s;
}

static char *terms(struct gen *g)
{
    char *s = term(g);
    return random_chance(g->r, 0.3) ? hg_format(g->a, "%s + %s", s, term(g)) : s;
}

/* lin_0 b_0 + ... + rest; *list names the linear parameters. */
static char *mean(struct gen *g, char **list)
{
    struct hg_arena *a = g->a;
    uint32_t nlinear = pick(g, 4);
    char *s = NULL;
    *list = "";
    for (uint32_t q = 0; q < nlinear; q++) {
        const char *over = !g->rows && random_chance(g->r, 0.5) ? ", over = phi" : "";
        char *basis = q == 0 && random_chance(g->r, 0.7) ? "1" : terms(g);
        g->head = hg_format(
            a, "%slocal l%u = m.parameter(\"l%u\", { start = 0.5, bounds = {-2, 2}%s })\n", g->head,
            q, q, over);
        *list = hg_format(a, "%s%sl%u", *list, q ? ", " : "", q);
        s = hg_format(a, "%s%sl%u*(%s)", s ? s : "", s ? " + " : "", q, basis);
    }
    if (nlinear < 2 || random_chance(g->r, 0.4))
        s = hg_format(a, "%s%s%s", s ? s : "", s ? " + " : "", terms(g));
    return s;
}

char *gen_model(struct hg_arena *a, struct random *r, const char *name, int rows)
{
    struct gen g = {.a = a, .r = r, .head = "", .body = "", .rows = rows};
    char *list, *m = mean(&g, &list), *linear = "", *curve = "";
    if (*list && random_chance(r, 0.8))
        linear = hg_format(a, ", linear = {%s}", list);
    if (rows)
        return hg_format(a,
                         "local m = model \"%s\" { title = \"random\" }\n"
                         "local x, y, s = m.columns(\"x\", \"y\", \"s\")\n%s%s"
                         "m.observe(y, { mean = %s, sigma = s%s })\n",
                         name, g.head, g.body, m, linear);
    if (random_chance(r, 0.3))
        curve = hg_format(a, "m.curve(\"c\", ts*%s, \"a curve\")\n", parameter(&g, SMALL));
    return hg_format(a,
                     "local m = model \"%s\" { title = \"random\" }\n"
                     "local t = m.grid(\"t\", \"s\")\n"
                     "local phi = m.axis(\"psi\", \"1\", \"an angle\")\n"
                     "local q = m.setting(\"w\", \"1\", \"a setting\")\n"
                     "%slocal ts = floor_at(t, t.step/2)/second\nlocal t1, t2 = pair(t)\n%s"
                     "m.observe(\"c2\", { over = {phi, t1, t2}, mean = %s%s })\n%s",
                     name, g.head, g.body, m, linear, curve);
}
