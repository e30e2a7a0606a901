/* groups.c -- the links of recently queried groups, sorted by name: further queries of a group do not read it again, so
 * that a list of n members costs n log n instead of n^2.
 *
 * A list contains the result of a walk along all links of the group; of equal names the first counts, as in a walk.
 */
#include "base/arena.h"
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS = 8, MOST_LINKS = 1 << 20 };

struct known_link {
    struct fit_h5_link link;
    size_t order;
};

struct known_group {
    int whole; /* the list is complete */
    uint64_t address;
    struct known_link *link;
    size_t n;
    struct fit_arena storage;
};

struct fit_h5_groups {
    struct known_group group[GROUPS];
    size_t next; /* the one that is given up next */
};

static int keep(void *user, const struct fit_h5_link *l, struct fit_error *err)
{
    struct known_group *g = user;
    struct fit_arena *a = &g->storage;
    struct known_link *list = g->n < MOST_LINKS ? fit_take_more(a, g->link, g->n, sizeof *list) : NULL;
    (void)err;
    if (!list)
        return 1;
    g->link = list;
    struct known_link *to = &list[g->n];
    *to = (struct known_link){.link = *l, .order = g->n};
    to->link.name = fit_arena_copy(a, l->name, l->nname);
    to->link.target = l->kind == FIT_H5_HARD ? NULL : fit_arena_copy(a, l->target, l->ntarget);
    g->n++;
    return a->failed;
}

static int compare_names(const char *a, size_t na, const char *b, size_t nb)
{
    const int c = memcmp(a, b, na < nb ? na : nb);
    return c ? c : (na > nb) - (na < nb);
}

static int by_name(const void *a, const void *b)
{
    const struct known_link *x = a, *y = b;
    const int c = compare_names(x->link.name, x->link.nname, y->link.name, y->link.nname);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static struct fit_h5_groups *groups_of(struct fit_h5_bytes *f)
{
    if (!f->groups)
        f->groups = calloc(1, sizeof *f->groups);
    return f->groups;
}

/* The list of a group; NULL: none can be kept, for whatever reason. */
static const struct known_group *known(struct fit_h5_bytes *f, uint64_t address)
{
    struct fit_h5_groups *all = groups_of(f);
    for (size_t k = 0; all && k < GROUPS; k++)
        if (all->group[k].whole && all->group[k].address == address)
            return &all->group[k];
    if (!all)
        return NULL;
    struct known_group *g = &all->group[all->next];
    fit_arena_free(&g->storage);
    *g = (struct known_group){.address = address};
    struct fit_error why = {.status = FIT_OK};
    const enum fit_status st = fit_h5_links(f, address, keep, g, &why);
    if (st != FIT_OK || g->storage.failed || g->n == MOST_LINKS) {
        fit_arena_free(&g->storage);
        *g = (struct known_group){.address = address};
        return NULL;
    }
    if (g->n)
        qsort(g->link, g->n, sizeof *g->link, by_name);
    g->whole = 1;
    all->next = (all->next + 1) % GROUPS;
    return g;
}

int fit_h5_known_link(struct fit_h5_bytes *f, uint64_t group, const char *name, size_t n,
                      const struct fit_h5_link **link)
{
    const struct known_group *g = known(f, group);
    *link = NULL;
    if (!g)
        return 0;
    size_t lo = 0, hi = g->n;
    while (lo < hi) { /* the first that is not before the name */
        const size_t mid = lo + (hi - lo) / 2;
        if (compare_names(g->link[mid].link.name, g->link[mid].link.nname, name, n) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < g->n && compare_names(g->link[lo].link.name, g->link[lo].link.nname, name, n) == 0)
        *link = &g->link[lo].link;
    return 1;
}

void fit_h5_groups_free(struct fit_h5_groups *all)
{
    for (size_t k = 0; all && k < GROUPS; k++)
        fit_arena_free(&all->group[k].storage);
    free(all);
}
