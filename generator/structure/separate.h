/* separate.h -- transcendental functions of differences become products of tables.
 *
 * With x = sum_c a_c delta(P_c) + s, where a_c and s do not depend on frames, and u = sum_c a_c P_c:
 *     exp x  = exp s * EXPD(u)                        EXPD(u) = E_j E_i, tables re-centred per tile
 *     sin x, cos x  by angle addition from            SIND(u), COSD(u), tables of sin u and cos u
 *     sinc x = SIND(u) / x,  dsinc x = (COSD(u) - SIND(u)/x) / x   where |x| >= FIT_SINC_X0,
 *              a series below (GUARD), with 1/x = (1/a)(1/delta P) so that one division per pair serves all
 *              groups
 * Expressions of other forms stay as they are; the reason is kept for --explain.
 */
#pragma once

#include "structure/plan.h"

struct hg_note {
    hg_id id;         /* the function met */
    const char *text; /* the rewrite that was applied, or why there was none */
    int refused;
};

struct hg_separation {
    struct hg_note *note;
    uint32_t n;
    size_t room;
};

/* The root with its functions of differences separated. */
hg_id hg_separate(struct hg_plan *p, hg_id root, struct hg_separation *s);
