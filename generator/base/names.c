/* names.c -- names in use: a hash table. For each stem it also keeps the number to be tried next. */
#include "base/names.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

struct hg_name_entry {
    const char *name;
    int next; /* suffixes below it are in use */
};

int hg_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct hg_name_entry *find(const struct hg_names *s, const char *name)
{
    uint64_t h = 1469598103934665603u;
    for (const char *p = name; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    size_t k = (size_t)(h ^ h >> 32) & (s->size - 1);
    while (s->slot[k].name && strcmp(s->slot[k].name, name) != 0)
        k = (k + 1) & (s->size - 1);
    return &s->slot[k];
}

static int have(const struct hg_names *s, const char *name)
{
    return s->size && find(s, name)->name;
}

static struct hg_name_entry *add(struct hg_names *s, struct hg_arena *a, const char *name)
{
    if (2 * (s->n + 1) > s->size) {
        struct hg_names larger = {.size = s->size ? 2 * s->size : 64, .n = s->n};
        larger.slot = hg_alloc(a, larger.size * sizeof *larger.slot);
        for (size_t k = 0; k < s->size; k++)
            if (s->slot[k].name)
                *find(&larger, s->slot[k].name) = s->slot[k];
        *s = larger;
    }
    struct hg_name_entry *e = find(s, name);
    if (!e->name) {
        *e = (struct hg_name_entry){hg_strdup(a, name), 2};
        s->n++;
    }
    return e;
}

const char *hg_names_unique(struct hg_names *s, struct hg_arena *a, const char *stem, int (*refused)(const char *))
{
    if (!have(s, stem) && !(refused && refused(stem)))
        return add(s, a, stem)->name;
    int k = add(s, a, stem)->next;
    const char *name = hg_format(a, "%s_%d", stem, k);
    while (have(s, name) || (refused && refused(name)))
        name = hg_format(a, "%s_%d", stem, ++k);
    name = add(s, a, name)->name;
    find(s, stem)->next = k + 1;
    return name;
}
