/* domain.h -- expressions that can leave their domain inside the declared bounds. */
#pragma once

#include "base/diag.h"
#include "model/model.h"

/* Warns about log, powers, asin and acos outside their domain, divisions by 0 and exponentials that overflow, if the
 * mean of the variant, or the log density, is not finite for that reason at some parameters inside the bounds. Adds
 * no nodes to the graph. */
void hg_domain_check(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d);
