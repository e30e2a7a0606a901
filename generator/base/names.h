/* names.h -- a set of names in use, and new ones that differ from them: stem, stem_2, stem_3, ... */
#pragma once

#include "base/memory.h"

struct hg_names {
    struct hg_name_entry *slot; /* open addressing, at most half full */
    size_t size, n;
};

/* 1 for letters, digits and _. */
int hg_in_name(char c);

/* The first of stem, stem_2, stem_3, ... that is not in the set and that `refused` (may be NULL) does not
 * refuse; it is added. */
const char *hg_names_unique(struct hg_names *s, struct hg_arena *a, const char *stem, int (*refused)(const char *));
