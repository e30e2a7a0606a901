/* objective_page.h -- the page about an objective of arrays: unknowns, terms, steps, data, numbers. */
#pragma once

#include "document/page.h"

void hg_objective_page(struct hg_model *m, const struct hg_page_format *f, FILE *out);
