/* canvas.c -- paths, inks and widths of texts, for all kinds of canvas; see canvas.h. */
#include "report/draw/canvas.h"

#include "report/draw/rich.h"

#include <stdlib.h>

static void step(struct rp_canvas *c, char what, double x, double y)
{
    if (c->nstep == c->capacity) {
        size_t more = 2 * c->capacity + 64;
        struct rp_step *s = realloc(c->step, more * sizeof *s);
        if (!s) {
            c->failed = 1;
            return;
        }
        c->step = s;
        c->capacity = more;
    }
    c->step[c->nstep++] = (struct rp_step){x, y, what};
}

void rp_move(struct rp_canvas *c, double x, double y)
{
    step(c, 'M', x, y);
}

void rp_line(struct rp_canvas *c, double x, double y)
{
    step(c, 'L', x, y);
}

void rp_close(struct rp_canvas *c)
{
    step(c, 'Z', 0, 0);
}

/* A line of zero length has round ends. */
void rp_dot(struct rp_canvas *c, double x, double y)
{
    step(c, 'M', x, y);
    step(c, 'L', x, y);
}

void rp_box(struct rp_canvas *c, double x, double y, double w, double h)
{
    rp_move(c, x, y);
    rp_line(c, x + w, y);
    rp_line(c, x + w, y + h);
    rp_line(c, x, y + h);
    rp_close(c);
}

void rp_draw(struct rp_canvas *c, const struct rp_style *s)
{
    if (c->nstep && !c->failed)
        c->path(c, s);
    c->nstep = 0;
}

/* Of n bytes without marks, in sizes. */
static double run_width(const char *text, size_t n)
{
    /* thousandths of the size, characters 32 .. 126; Adobe Font Metrics of Helvetica */
    static const short width[95] = {
        278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
        556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
        667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
        333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
        556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
    const double widest = 1.15, other = 600;
    double sum = 0;
    for (const unsigned char *p = (const unsigned char *)text, *end = p + n; p < end; p++)
        if (*p >= 32 && *p < 127)
            sum += width[*p - 32];
        else if (*p >= 0xC0 && *p != 0xCC) /* first byte of a character outside ASCII; 0xCC: of accents */
            sum += other;
    return sum / 1000 * widest;
}

double rp_text_width(const char *text, double size)
{
    struct rp_run run = {0};
    double sum = 0;
    while (rp_run_next(&text, &run))
        sum += run_width(run.text, run.n) * (run.shift ? rp_small : 1);
    return sum * size;
}

uint32_t rp_ink_rgb(uint32_t ink)
{
    /* series: Okabe and Ito (2008), told apart by the colour-blind; darkened where they are weak on
     * white */
    static const uint32_t rgb[] = {0,        0x1c1f23, 0x5b636d, 0xe3e6ea, 0xffffff,
                                   0x0072b2, 0xd55e00, 0x00875f, 0xb0589a, 0xb07d00,
                                   0x2f96c8, 0x6d5bb8, 0x7a7f85};
    return ink & RP_RGB_BIT ? ink & 0xffffff : rgb[ink % (sizeof rgb / sizeof *rgb)];
}
