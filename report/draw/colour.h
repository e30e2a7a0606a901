/* colour.h -- maps from numbers to colours. */
#ifndef RP_COLOUR_H
#define RP_COLOUR_H

#include "report/draw/canvas.h"

extern const struct rp_palette *rp_viridis(void);   /* perceptually uniform, dark to light */
extern const struct rp_palette *rp_diverging(void); /* blue, white at the middle, red */
extern const struct rp_palette *rp_density(void);   /* series 0, from transparent to full */

/* Index of a value between lo and hi; values outside get the last colour; NaN: 0, transparent. */
unsigned char rp_level(double value, double lo, double hi);

/* Colour of a palette at x in [0, 1], as RP_RGB. */
uint32_t rp_colour_at(const struct rp_palette *p, double x);

#endif
