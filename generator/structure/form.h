/* form.h -- the plan's expressions in the form in which they are written.
 *
 * Basis functions, rest and channels are separated (separate.h), then factored together (factor.h), with the cores of
 * the cross moments sum b_q m_k.  The cross moments are needed per group; equal cores share a slot.
 */
#pragma once

#include "structure/plan.h"
#include "structure/separate.h"

/* sum over pairs of  core * U  for a basis function q and a channel c; coefficient * that is sum b_q m_k. */
struct hg_moment {
    uint32_t q, channel;
    hg_id coefficient; /* scalar with LINEAR leaves */
    hg_id core;        /* function of the pair */
    uint32_t slot;     /* equal cores of the same kind of channel share one */
};

/* Channels as sums over fields that they share, m_c = sum_f coefficient_cf field_f (terms.h): there are fewer products
 * of two fields than of two channels. */
struct hg_shared {
    uint32_t nfield;     /* 0: sharing does not pay */
    uint32_t least;      /* number of groups from which on it pays */
    hg_id *field;
    hg_id *coefficient;  /* [nchannel x nfield]; 0: none */
};

struct hg_form {
    struct hg_plan *p;
    struct hg_separation separation;
    hg_id *basis, rest; /* [nlinear] */
    hg_id *m;           /* [nchannel] */
    struct hg_moment *moment;
    uint32_t nmoment, nslot;
    struct hg_shared shared; /* pairs */
};

/* The first pass: functions of differences become products of tables. */
struct hg_form *hg_form_separate(struct hg_plan *p);

/* The second: each part in the outermost loop that allows it, common factors once; slots of the moments. */
void hg_form_factor(struct hg_form *f);

/* Takes the scalars of the call and of groups out of a product: x = coefficient * core. */
void hg_form_strip(struct hg_expr *e, hg_id x, hg_id *coefficient, hg_id *core);

/* Properties of a slot: one of its moments, how its table enters, whether the table of (channel, parameter k) is
 * needed. */
const struct hg_moment *hg_form_slot(const struct hg_form *f, uint32_t slot);
enum hg_channel_kind hg_form_slot_kind(const struct hg_form *f, uint32_t slot);
int hg_form_slot_uses(const struct hg_form *f, uint32_t slot, uint32_t channel, uint32_t k);
