/* emit_contract.h -- products of the fields with the tables: the part of `normal` after the sums over groups.
 *
 * A field is a number of each pair: F_cd = sum_g w m_c m_d for channels c <= d, and G_c = sum_g w m_c r. The results
 * are, with the small factors U of plan.h,
 *     (J^T J)_kl = sum over pairs, c, d of  F_cd U_ck U_dl ,      (J^T r)_k = sum over pairs, c of  G_c U_ck .
 */
#pragma once

#include "emit/emit_block.h"

struct hg_contract; /* which sums are taken, and how */

struct hg_contract *hg_contract_new(struct hg_emit *em);

/* Fields of a pair and their indices; d may be the number of channels, which stands for the residual. */
uint32_t hg_contract_nfield(const struct hg_emit *em);
uint32_t hg_contract_place(uint32_t E, uint32_t c, uint32_t d); /* of E numbers and the residual */
uint32_t hg_contract_field(const struct hg_emit *em, uint32_t c, uint32_t d);
const char *hg_contract_field_name(const struct hg_emit *em, uint32_t c, uint32_t d);

/* Vectors of sums along one row, and of sums down one column, that a tile keeps. */
uint32_t hg_contract_nrow(const struct hg_contract *x);
uint32_t hg_contract_ncolumn(const struct hg_contract *x);

/* The emitted function `contract`; lines for the end of a row and of a tile. */
void hg_contract_function(struct hg_contract *x, struct hg_tree *out);
void hg_contract_row_end(struct hg_contract *x, struct hg_tree *out);
void hg_contract_tile_end(struct hg_contract *x, struct hg_tree *out);

/* Operations per pair: as emitted, and if every product were added to its sum directly. */
void hg_contract_count(const struct hg_contract *x, unsigned *taken, unsigned *direct);

/* --- sums over many groups, by the fields that channels share (struct hg_shared of form.h; emit_shared.c) --------- */

/* Roots besides those of the channels: the fields. Returns their number; 0 where sharing does not pay. */
uint32_t hg_shared_roots(const struct hg_emit *em, hg_id *root);

/* In the loop over the pairs of a group, with `many`: the fields and the residual, in place of the channels. */
void hg_shared_store(struct hg_emit *em, struct hg_code *c);

/* The function shared_fields: the sums of products of two channels, and of a channel and the residual, in place of
 * those of two fields, and of a field and the residual. */
void hg_shared_function(struct hg_emit *em, struct hg_block *b, struct hg_tree *out);
