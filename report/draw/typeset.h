/* typeset.h -- numbers as in print: minus signs, raised powers of ten, digits of large counts in groups. */
#ifndef RP_TYPESET_H
#define RP_TYPESET_H

#include <stddef.h>

/* "-1.5e+05, 1e-06" -> "−1.5×10⁵, 10⁻⁶".  Hyphens of words stay. */
void rp_typeset(const char *plain, char *text, size_t size);

/* 99500 -> "99 500", with thin spaces. */
void rp_count(double x, char *text, size_t size);

/* -5 -> "⁻⁵"; 0: nothing is raised */
void rp_superscript(int k, char *text, size_t size);

/* The hyphen with which a number begins becomes a sign of minus. */
void rp_minus(char *text, size_t size);

#endif
