/* affine.h -- reads expressions that are affine in named quantities: "0.1*gamma_dot_t0 + 1e-4".
 *
 * Numbers, names, + - * / and parentheses; at least one of the two sides of a product must be a number, and so must the
 * right side of a quotient.
 */
#pragma once

#include <stddef.h>

struct fit_affine_names {
    size_t n;
    /* Index of a name of `length` characters, or -1: then *message says why (borrowed until the end). */
    int (*index)(void *user, const char *name, size_t length, const char **message);
    void *user;
};

/* Stores the factors in factor[n + 1], the constant last. Returns 1; or 0 with a message that gives the character
 * (from 1) at which the expression is wrong. */
int fit_affine_parse(const char *text, const struct fit_affine_names *names, double *factor, char *message,
                     size_t size);
