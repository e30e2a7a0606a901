/* objective_page.h -- the page that documents an objective of arrays: what is solved for, data, numbers, steps, terms. */
#pragma once

#include "document/page.h"

void hg_objective_page(struct hg_model *m, const struct hg_page_format *f, FILE *out);
