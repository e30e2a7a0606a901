/* terms.c -- see terms.h. */
#include "structure/terms.h"

enum { MOST_TERMS = 64 }; /* of one function; longer sums are summed over the groups as they are */

static int varies_with_group(const struct hg_expr *e, hg_id id)
{
    return (hg_at(e, id)->vary & HG_G) != 0;
}

static void add_term(struct hg_terms *x, uint32_t channel, hg_id product)
{
    struct hg_expr *e = x->e;
    const struct hg_node n = *hg_at(e, product);
    hg_id *in = hg_alloc(e->arena, (n.nargs + 1) * sizeof *in), *out = hg_alloc(e->arena, (n.nargs + 1) * sizeof *out);
    uint32_t nin = 0, nout = 0, f = 0;
    for (uint32_t k = 0; n.op == HG_PROD && k < n.nargs; k++) {
        if (varies_with_group(e, n.arg[k]))
            in[nin++] = n.arg[k];
        else
            out[nout++] = n.arg[k];
    }
    const int mixed = nin && n.op == HG_PROD;
    const hg_id core = mixed ? hg_prod(e, nin, in) : varies_with_group(e, product) ? product : hg_const(e, 1.0);
    hg_id rest = core == product ? hg_const(e, 1.0) : product;
    if (mixed)
        rest = nout ? hg_prod(e, nout, out) : hg_const(e, 1.0);
    while (f < x->nfield && x->field[f] != core)
        f++;
    if (f == x->nfield) {
        x->field = hg_grow(e->arena, x->field, x->nfield, x->nfield + 1, sizeof *x->field, &x->field_room);
        x->field[x->nfield++] = core;
    }
    x->term = hg_grow(e->arena, x->term, x->nterm, x->nterm + 1, sizeof *x->term, &x->term_room);
    x->term[x->nterm++] = (struct hg_term){channel, f, rest};
}

/* The terms of x, multiplied out as far as that separates pairs from groups; 0 when there are too many. */
static uint32_t multiply_out(struct hg_expr *e, hg_id x, hg_id *term, uint32_t most)
{
    const struct hg_node n = *hg_at(e, x);
    uint32_t nterm = 0;
    if (n.op == HG_SUM) {
        for (uint32_t k = 0; k < n.nargs; k++) {
            uint32_t more = multiply_out(e, n.arg[k], term + nterm, most - nterm);
            if (more == 0)
                return 0;
            nterm += more;
        }
        return nterm;
    }
    for (uint32_t k = 0; n.op == HG_PROD && k < n.nargs; k++) {
        const struct hg_node s = *hg_at(e, n.arg[k]);
        hg_id *factor = hg_alloc(e->arena, n.nargs * sizeof *factor);
        if (s.op != HG_SUM || !(s.vary & HG_G) || !(s.vary & (HG_I | HG_J)))
            continue;
        for (uint32_t f = 0; f < n.nargs; f++)
            factor[f] = n.arg[f];
        for (uint32_t m = 0; m < s.nargs; m++) {
            factor[k] = s.arg[m];
            uint32_t more = multiply_out(e, hg_prod(e, n.nargs, factor), term + nterm, most - nterm);
            if (more == 0)
                return 0;
            nterm += more;
        }
        return nterm;
    }
    if (most == 0)
        return 0;
    term[0] = x;
    return 1;
}

void hg_terms_add(struct hg_terms *t, uint32_t c, hg_id x)
{
    hg_id term[MOST_TERMS];
    uint32_t n = multiply_out(t->e, x, term, MOST_TERMS);
    if (n == 0)
        term[n++] = x;
    for (uint32_t k = 0; k < n; k++)
        add_term(t, c, term[k]);
}
