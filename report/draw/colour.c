/* colour.c -- palettes by linear interpolation between colours at equal distances; see colour.h.
 *
 * viridis: van der Walt and Smith (2015), CC0.  Diverging: RdBu of ColorBrewer (Brewer 2003),
 * reversed. */
#include "report/draw/colour.h"

#include <math.h>

static void fill(struct rp_palette *p, const uint32_t *knot, size_t n)
{
    for (size_t k = 1; k <= RP_LEVELS; k++) {
        const double x = (double)(k - 1) / (RP_LEVELS - 1) * (double)(n - 1);
        size_t at = (size_t)x;
        if (at > n - 2)
            at = n - 2;
        for (int c = 0; c < 3; c++) {
            const int shift = 16 - 8 * c;
            const double a = knot[at] >> shift & 255, b = knot[at + 1] >> shift & 255;
            p->rgba[k][c] = (unsigned char)lround(a + (b - a) * (x - (double)at));
        }
        p->rgba[k][3] = 255;
    }
}

const struct rp_palette *rp_viridis(void)
{
    static const uint32_t knot[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                    0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
    static struct rp_palette p;
    if (!p.rgba[1][3])
        fill(&p, knot, sizeof knot / sizeof *knot);
    return &p;
}

const struct rp_palette *rp_diverging(void)
{
    static const uint32_t knot[] = {0x053061, 0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7,
                                    0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b, 0x67001f};
    static struct rp_palette p;
    if (!p.rgba[1][3])
        fill(&p, knot, sizeof knot / sizeof *knot);
    return &p;
}

const struct rp_palette *rp_density(void)
{
    static struct rp_palette p;
    for (size_t k = 1; k <= RP_LEVELS && !p.rgba[RP_LEVELS][3]; k++) {
        for (int c = 0; c < 3; c++)
            p.rgba[k][c] = (unsigned char)(rp_ink_rgb(RP_S0) >> (16 - 8 * c) & 255);
        p.rgba[k][3] = (unsigned char)(255 * k / RP_LEVELS);
    }
    return &p;
}

unsigned char rp_level(double value, double lo, double hi)
{
    if (isnan(value))
        return 0;
    const double x = (value - lo) / (hi - lo) * (RP_LEVELS - 1);
    return (unsigned char)(1 + (!(x > 0) ? 0 : x > RP_LEVELS - 1 ? RP_LEVELS - 1 : lround(x)));
}

uint32_t rp_colour_at(const struct rp_palette *p, double x)
{
    const unsigned char *c = p->rgba[rp_level(x, 0, 1)];
    return RP_RGB((uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2]);
}
