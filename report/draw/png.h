/* png.h -- pictures with a palette as PNG files, in memory. */
#ifndef RP_PNG_H
#define RP_PNG_H

#include "report/draw/canvas.h"

/* Writes the picture as the text of a data URI ("data:image/png;base64,...").  0 when memory ran
 * out. */
int rp_png_uri(FILE *out, const struct rp_image *image);

/* The chunk pHYs: dots per inch. */
void rp_png_resolution(FILE *out, double dpi);

#endif
