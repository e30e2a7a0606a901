/* plane.c -- boxes of two-time matrices in files.  See plane.h. */
#include "data/plane.h"

/* Rows and columns as the file numbers them. */
static struct fit_rect stored(const struct fit_plane *p, const struct fit_rect *box)
{
    struct fit_rect s = *box;
    if (p->lower)
        s = (struct fit_rect){box->c0, box->c1, box->r0, box->r1};
    if (p->flipped)
        s = (struct fit_rect){p->n - s.r1, p->n - s.r0, s.c0, s.c1};
    return s;
}

size_t fit_plane_together(const struct fit_plane *p)
{
    return p->last ? p->total : 1;
}

size_t fit_plane_band(const struct fit_plane *p)
{
    unsigned row = p->rank == 3 && !p->last ? 1 : 0;
    row += p->lower ? 1 : 0;
    return fit_h5_raw_band(p->raw, 1u << row | (p->rank == 3 && !p->last ? 1u : 0));
}

enum fit_status fit_plane_read(const struct fit_plane *p, const struct fit_rect *box, void *out,
                               struct fit_error *err)
{
    struct fit_rect s = stored(p, box);
    size_t rows = s.r1 - s.r0, columns = s.c1 - s.c0;
    if (p->rank == 2)
        return fit_h5_raw_read(p->raw, (size_t[]){s.r0, s.c0}, (size_t[]){rows, columns}, out, err);
    if (p->last)
        return fit_h5_raw_read(p->raw, (size_t[]){s.r0, s.c0, 0},
                               (size_t[]){rows, columns, p->total}, out, err);
    return fit_h5_raw_read(p->raw, (size_t[]){p->at, s.r0, s.c0}, (size_t[]){1, rows, columns}, out,
                           err);
}

struct fit_view fit_plane_view(const struct fit_plane *p, const struct fit_rect *box,
                               const void *bytes)
{
    struct fit_rect s = stored(p, box);
    size_t item = fit_h5_raw_item(p->raw), rows = s.r1 - s.r0, count = fit_plane_together(p);
    ptrdiff_t along = (ptrdiff_t)count, down = (ptrdiff_t)((s.c1 - s.c0) * count);
    size_t corner = p->last ? p->at : 0;
    if (p->flipped) {
        corner += (rows - 1) * (size_t)down;
        down = -down;
    }
    return (struct fit_view){.value = (const char *)bytes + corner * item,
                             .single = item == sizeof(float),
                             .row = p->lower ? along : down,
                             .column = p->lower ? down : along,
                             .baseline = p->baseline};
}
