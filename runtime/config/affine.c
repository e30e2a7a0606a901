/* affine.c -- recursive descent over an expression; each part is the vector of its factors.  See affine.h. */
#include "config/affine.h"
#include "base/arena.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 40 };

struct parser {
    const char *text, *at;
    const struct fit_affine_names *names;
    char *message;
    size_t size;
    int failed, depth;
};

static void fail(struct parser *p, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void fail(struct parser *p, const char *at, const char *format, ...)
{
    char what[400];
    va_list ap;
    if (p->failed)
        return;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    snprintf(p->message, p->size, "'%.200s', character %zu: %s", p->text, (size_t)(at - p->text) + 1, what);
    p->failed = 1;
}

static void skip(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static int is_number(const struct parser *p, const double *v)
{
    for (size_t k = 0; k < p->names->n; k++)
        if (v[k] != 0) /* exactly: nothing was ever added */
            return 0;
    return 1;
}

static void sum(struct parser *p, double *out);

static void name(struct parser *p, double *out)
{
    const char *from = p->at, *message = NULL;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    size_t length = (size_t)(p->at - from);
    skip(p);
    if (*p->at == '(') {
        fail(p, from, "functions are not linear; write sums of numbers times parameters");
        return;
    }
    int k = p->names->index(p->names->user, from, length, &message);
    if (k < 0)
        fail(p, from, "%s", message ? message : "unknown name");
    else
        out[k] = 1;
}

static void number(struct parser *p, double *out)
{
    char *end;
    double v = strtod(p->at, &end);
    if (!isfinite(v))
        fail(p, p->at, "a finite number is wanted");
    out[p->names->n] = v;
    p->at = end;
}

/* A number, a name, a sum in parentheses; with signs before. */
static void factor(struct parser *p, double *out)
{
    memset(out, 0, (p->names->n + 1) * sizeof *out);
    skip(p);
    const char c = *p->at;
    if (p->depth > DEEPEST) {
        fail(p, p->at, "too many parentheses");
    } else if (c == '-' || c == '+') {
        p->at++;
        p->depth++;
        factor(p, out);
        p->depth--;
        for (size_t k = 0; c == '-' && k <= p->names->n; k++)
            out[k] = -out[k];
    } else if (c == '(') {
        p->at++;
        p->depth++;
        sum(p, out);
        p->depth--;
        skip(p);
        if (*p->at != ')')
            fail(p, p->at, "a closing parenthesis is missing");
        else
            p->at++;
    } else if (isdigit((unsigned char)c) || c == '.') {
        number(p, out);
    } else if (isalpha((unsigned char)c) || c == '_') {
        name(p, out);
    } else {
        fail(p, p->at, c ? "expected a number or the name of a parameter" : "the expression ends too early");
    }
}

static void product(struct parser *p, double *out)
{
    size_t n = p->names->n;
    FIT_OWNED double *right = calloc(n + 1, sizeof *right);
    factor(p, out);
    for (skip(p); right && !p->failed && (*p->at == '*' || *p->at == '/'); skip(p)) {
        const char *sign = p->at++;
        int power = *sign == '*' && *p->at == '*';
        if (!power)
            factor(p, right);
        int left_number = is_number(p, out), right_number = is_number(p, right);
        if (p->failed)
            break;
        if (power) {
            fail(p, sign, "powers are not linear; write sums of numbers times parameters");
        } else if (*sign == '/' && !right_number) {
            fail(p, sign, "division by a parameter is not linear; write sums of numbers times parameters");
        } else if (*sign == '*' && !left_number && !right_number) {
            fail(p, sign, "a product of parameters is not linear; write sums of numbers times parameters");
        } else if (*sign == '/' && right[n] == 0) {
            fail(p, sign, "division by zero");
        } else {
            double c = right_number ? right[n] : out[n];
            for (size_t k = 0; k <= n; k++)
                out[k] = *sign == '/' ? out[k] / c : c * (right_number ? out[k] : right[k]);
        }
    }
    if (!right)
        fail(p, p->at, "out of memory");
}

static void sum(struct parser *p, double *out)
{
    FIT_OWNED double *right = calloc(p->names->n + 1, sizeof *right);
    product(p, out);
    for (skip(p); right && !p->failed && (*p->at == '+' || *p->at == '-'); skip(p)) {
        double sign = *p->at++ == '-' ? -1 : 1;
        product(p, right);
        for (size_t k = 0; k <= p->names->n; k++)
            out[k] += sign * right[k];
    }
    if (!right)
        fail(p, p->at, "out of memory");
}

int fit_affine_parse(const char *text, const struct fit_affine_names *names, double *out, char *message, size_t size)
{
    struct parser p = {.text = text, .at = text, .names = names, .message = message, .size = size};
    sum(&p, out);
    skip(&p);
    if (!p.failed && *p.at == '^')
        fail(&p, p.at, "powers are not linear; write sums of numbers times parameters");
    else if (!p.failed && *p.at)
        fail(&p, p.at, "expected an operator (+ - * /) here");
    return !p.failed;
}
