/* names.h -- a set of names in use; makes new names that differ from them: stem, stem_2, stem_3, ... */
#pragma once

#include "base/memory.h"

struct hg_names {
    struct hg_name_entry *slot; /* open addressing, at most half full */
    size_t size, n;
};

/* 1 for letters, digits and _. */
int hg_in_name(char c);

/* Adds and returns the first of stem, stem_2, stem_3, ... that is neither in the set nor rejected by `refused`
 * (which may be NULL). */
const char *hg_names_unique(struct hg_names *s, struct hg_arena *a, const char *stem, int (*refused)(const char *));
