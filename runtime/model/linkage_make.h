/* linkage_make.h -- shared by linkage.c and linkage_words.c while a linkage is made. */
#pragma once

#include "model/linkage_impl.h"

struct fit_making {
    const struct fit_linkage_spec *spec;
    const struct fit_kernel *inner;
    const struct fit_dataset *ds;
    struct fit_linkage *link;
    size_t p, q, ng;      /* of the inner kernel; groups */
    size_t n, c;          /* unknowns: nonlinear; linear in one group */
    size_t *unknown;      /* p x ng; SIZE_MAX: tied */
    size_t *linear_first; /* q: first unknown of a linear parameter that is not tied */
};

/* n zero elements that live as long as the linkage; NULL: its storage has failed. */
void *fit_link_keep(struct fit_making *m, size_t n, size_t size);
char *fit_link_text(struct fit_making *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

int fit_link_tied(const struct fit_making *m, size_t k);

/* Curves, combinations, derived quantities, degeneracies and rates of the kernel (linkage_words.c). */
void fit_linkage_words(struct fit_making *m);
