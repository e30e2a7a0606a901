/* rat43_hand.h -- see rat43_hand.c.  b: b2, b3, b4, b1.  J: n x 4, d mean / d(b2, b3, b4, b1). */
#ifndef RAT43_HAND_H
#define RAT43_HAND_H

#include <stddef.h>

void rat43_naive(const double b[4], size_t n, const double *x, const double *y, double *r, double *J);
void rat43_shared(const double b[4], size_t n, const double *x, const double *y, double *r, double *J);
/* In vectors: x, y, r aligned to 64 bytes, n a multiple of 8. */
void rat43_vectors(const double b[4], size_t n, const double *x, const double *y, double *r, double *J);
/* Sums m_k m_l (6), m_k r (3), P m_k (3), m over b2, b3, b4. */
void rat43_fused(const double b[4], size_t n, const double *x, const double *y, double out[12]);

#endif
