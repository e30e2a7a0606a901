/* items.h -- a data set divided into items, a block of threads each (fit/gpu.h): by the data's shape alone. */
#pragma once

#include "data/dataset.h"

struct fit_items {
    size_t n;
    long *item;   /* n x FIT_ITEM_NUMBERS */
    long *first;  /* 2 x ngroup: tables, where the items of a group begin and end */
    size_t *tile; /* ntile + 1: the first item of a tile */
    size_t *at;   /* ntile + 1: the first number of a tile in y */
};

/* 0: no memory. */
int fit_items_new(const struct fit_dataset *ds, struct fit_items *items);
void fit_items_free(struct fit_items *items);
