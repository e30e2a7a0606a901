/* compose_parts.c -- the panels of a composed figure; see compose.h.
 *
 * Maps are split along the diagonal: t2 > t1 shows data, t2 < t1 the fit; both are symmetric, so nothing is lost. */
#include "report/draw/colour.h"
#include "report/draw/rich.h"
#include "report/figures/compose.h"
#include "report/figures/figures.h"
#include "report/figures/parts.h"

#include <math.h>
#include <stdlib.h>

static const double letter_line = 20, after = 8, between_maps = 14, bar_gap = 14, residual_frame = 56;

/* ---- maps ------------------------------------------------------------------------------------ */

/* Colours that all maps share. */
static struct rp_axis value_axis(const struct rp_composed *f, const struct rp_part *p)
{
    struct rp_axis a = {.lo = INFINITY, .hi = -INFINITY, .name = RP_C2};
    double limit = 4;
    for (size_t k = 0; k < f->ngroup; k++) {
        double range[3];
        rp_map_range(f->r, f->group[k], range);
        a.lo = fmin(a.lo, range[0]);
        a.hi = fmax(a.hi, range[1]);
        limit = fmax(limit, range[2]);
    }
    if (p->kind == RP_PART_RESIDUALS)
        a = (struct rp_axis){.lo = -limit, .hi = limit, .name = "res. / σ"};
    return a;
}

struct map_size {
    double left, side, bar;
};

static struct map_size map_size(const struct rp_composed *f, const struct rp_part *p)
{
    const struct rp_axis t = rp_map_axis(f->r, f->group[0]), value = value_axis(f, p);
    struct rp_axis t2 = t;
    const double n = (double)f->ngroup, most = f->columns == 1 ? 230 : 260;
    t2.name = RP_T2;
    struct map_size m = {.left = rp_panel_left(&t2, 120), .bar = rp_colour_bar_width(&value, 100)};
    const double beside = between_maps + (f->r->t_group ? m.left : 0); /* each with its own times */
    for (int pass = 0; pass < 3; pass++) { /* the numbers of the bar depend on its height */
        m.side = fmin(most, (p->w - m.left - (n - 1) * beside - bar_gap - m.bar) / n);
        m.bar = fmax(m.bar, rp_colour_bar_width(&value, m.side));
    }
    return m;
}

static double split_value(const struct rp_result *r, const struct rp_part *p, size_t g, size_t row, size_t column)
{
    const size_t n = r->side, at = g * n * n;
    if (p->kind == RP_PART_RESIDUALS)
        return r->residual[at + row * n + column];
    return rp_map_value((row < column && r->fitted ? r->model : r->c2) + at, n, row, column);
}

/* Rows from the top: the latest t2. */
static void draw_map(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p, size_t g,
                     const struct rp_panel *frame, const struct rp_axis *value)
{
    const size_t n = rp_map_side(f->r, g);
    unsigned char *pixel = malloc(n * n + 1);
    for (size_t i = 0; pixel && i < n; i++)
        for (size_t j = 0; j < n; j++)
            pixel[(n - 1 - i) * n + j] = rp_level(split_value(f->r, p, g, i, j), value->lo, value->hi);
    if (pixel)
        c->image(c, frame->x, frame->y, frame->w, frame->h,
                 &(struct rp_image){n, n, pixel, p->kind == RP_PART_MAPS ? rp_viridis() : rp_diverging()});
    else
        c->failed = 1;
    free(pixel);
    if (p->kind == RP_PART_RESIDUALS || !f->r->fitted)
        return;
    rp_move(c, frame->x, frame->y + frame->h);
    rp_line(c, frame->x + frame->w, frame->y);
    rp_draw(c, &(struct rp_style){.stroke = RP_RGB(0xffffff), .width = 0.8, .opacity = 0.7});
    c->text(c, frame->x + 5, frame->y + RP_FONT + 1, &(struct rp_label){.size = RP_FONT, .ink = RP_RGB(0xffffff)},
            "data");
    c->text(c, frame->x + frame->w - 5, frame->y + frame->h - 6,
            &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT, .ink = RP_RGB(0xffffff)}, "fit");
}

static void draw_maps(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p)
{
    const struct map_size m = map_size(f, p);
    const struct rp_axis value = value_axis(f, p), t = rp_map_axis(f->r, f->group[0]);
    struct rp_panel frame = {.x = p->x + m.left, .y = p->y + p->head, .w = m.side, .h = m.side, .ax = t, .ay = t};
    char title[96];
    frame.ay.name = RP_T2;
    for (size_t k = 0; k < f->ngroup; k++) {
        const struct rp_axis own = rp_map_axis(f->r, f->group[k]);
        frame.ax.lo = frame.ay.lo = own.lo;
        frame.ax.hi = frame.ay.hi = own.hi;
        frame.ay.hidden = k && !f->r->t_group;
        draw_map(c, f, p, f->group[k], &frame, &value);
        rp_panel_frame(c, &frame);
        if (f->r->file)
            rp_group_among(f->r, f->group, f->ngroup, f->group[k], title, sizeof title);
        else
            rp_group_title(f->r, f->group[k], title, sizeof title);
        c->text(c, frame.x + m.side / 2, frame.y - 6, &(struct rp_label){.anchor = RP_MIDDLE, .size = RP_FONT}, title);
        frame.x += m.side + between_maps + (f->r->t_group ? m.left : 0);
    }
    const double beyond = between_maps + (f->r->t_group ? m.left : 0);
    rp_colour_bar_upright(c, frame.x - beyond + bar_gap, frame.y, m.side,
                          p->kind == RP_PART_MAPS ? rp_viridis() : rp_diverging(), &value);
}

/* ---- frames with axes ------------------------------------------------------------------------ */

static struct rp_panel frame_of(const struct rp_part *p, double height)
{
    return (struct rp_panel){.x = p->x + p->left, .y = p->y + p->head, .w = p->w - p->left - after, .h = height};
}

enum { KEYS = RP_ANGLES };

struct keys {
    size_t n;
    char text[KEYS][96];
    struct rp_key key[KEYS];
};

static void keys_of(const struct rp_composed *f, const struct rp_part *p, struct keys *k)
{
    const size_t all = p->kind == RP_PART_CURVES ? p->ncurve : f->ngroup;
    k->n = all < KEYS ? all : KEYS;
    for (size_t i = 0; i < k->n; i++) {
        const uint32_t ink = RP_S0 + (uint32_t)i;
        if (p->kind == RP_PART_CURVES)
            rp_curve_name(f->r->curve[p->curve[i]].name, k->text[i], sizeof k->text[i]);
        else if (p->kind == RP_PART_ROWS)
            rp_rows_title(f->r, f->group[i], k->text[i], sizeof k->text[i]);
        else if (f->r->file)
            rp_group_among(f->r, f->group, f->ngroup, f->group[i], k->text[i], sizeof k->text[i]);
        else if (i && !f->r->q)
            snprintf(k->text[i], sizeof k->text[i], "%s%.5g°", f->r->phi[f->group[i]] < 0 ? "−" : "",
                     fabs(f->r->phi[f->group[i]]));
        else
            rp_group_title(f->r, f->group[i], k->text[i], sizeof k->text[i]);
        k->key[i] = p->kind == RP_PART_CURVES ? (struct rp_key){k->text[i], {.stroke = ink, .width = 2}, 0}
                                              : (struct rp_key){k->text[i], {.stroke = ink, .width = 6}, 1};
    }
    if (k->n < 2) /* nothing to tell apart */
        k->n = 0;
}

static const double left_guess = 66, key_line = RP_FONT + 6;

/* Rows that the keys take beside the letter. */
static double keys_height(const struct rp_part *p, const struct keys *k)
{
    double x = p->x + left_guess, rows = 1;
    for (size_t i = 0; i < k->n; i++) {
        const double w = rp_keys_width(&k->key[i], 1);
        if (x > p->x + left_guess && x + w > p->x + p->w) {
            x = p->x + left_guess;
            rows++;
        }
        x += w + 12;
    }
    return k->n ? rows * key_line : 0;
}

static void draw_keys(struct rp_canvas *c, const struct rp_part *p, const struct keys *k)
{
    if (k->n)
        rp_keys(c, p->x + left_guess, p->y + p->head - keys_height(p, k) - 4, p->x + p->w, k->key, k->n);
}

static void cut_axes(const struct rp_composed *f, struct rp_axis *tau, struct rp_axis *g2)
{
    const struct rp_result *r = f->r;
    struct rp_bin bin[RP_BINS];
    *tau = (struct rp_axis){.log = 1, .name = RP_TAU, .unit = r->time_unit};
    *g2 = (struct rp_axis){.name = RP_G2};
    rp_axis_begin(tau);
    rp_axis_begin(g2);
    for (size_t k = 0; k < f->ngroup; k++)
        for (size_t n = rp_cut_bins(r, f->group[k], f->age, bin), i = 0; i < n; i++) {
            rp_axis_take(tau, bin[i].tau);
            rp_axis_take(g2, bin[i].g2);
            if (r->fitted)
                rp_axis_take(g2, bin[i].model);
        }
    rp_axis_end(tau, 0.03);
    rp_axis_end(g2, 0.06);
}

static void draw_cuts(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p)
{
    struct rp_bin bin[RP_BINS];
    struct rp_panel frame = frame_of(p, p->frame);
    cut_axes(f, &frame.ax, &frame.ay);
    for (size_t k = 0; k < f->ngroup; k++) {
        const size_t n = rp_cut_bins(f->r, f->group[k], f->age, bin);
        rp_cut_points(c, &frame, bin, n, RP_S0 + (uint32_t)k);
    }
    for (size_t k = 0; k < f->ngroup && f->r->fitted; k++)
        rp_cut_fit(c, f->r, f->group[k], f->age, &frame, RP_S0 + (uint32_t)k);
    rp_panel_frame(c, &frame);
}

static void curve_axes(const struct rp_composed *f, const struct rp_part *p, char name[160], struct rp_axis *t,
                       struct rp_axis *y)
{
    *t = (struct rp_axis){.name = RP_TIME, .unit = "s"};
    *y = (struct rp_axis){.name = name, .unit = f->r->curve[p->curve[0]].unit};
    rp_curve_name(p->ncurve > 1 ? "J" : f->r->curve[p->curve[0]].name, name, 160);
    rp_curve_axes(f->r, p->curve, p->ncurve, t, y);
}

static void draw_curves(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p)
{
    char name[160];
    struct rp_panel frame = frame_of(p, p->frame);
    curve_axes(f, p, name, &frame.ax, &frame.ay);
    rp_curve_marks(c, f->r, p->curve, p->ncurve, &frame, RP_S0);
    rp_panel_frame(c, &frame);
}

struct table {
    struct rp_rows rows[RP_ANGLES];
    struct rp_axis x, y, z;
    char name[2][160];
};

static int table_open(const struct rp_composed *f, struct table *t)
{
    int good = 1;
    for (size_t k = 0; k < f->ngroup; k++) {
        t->rows[k] = rp_rows_of(f->r, f->group[k]);
        good &= t->rows[k].row != NULL;
    }
    t->x = (struct rp_axis){.name = t->name[0]};
    t->y = (struct rp_axis){.name = t->name[1]};
    t->z = (struct rp_axis){.name = "res. / σ"};
    if (good)
        rp_rows_axes(f->r, t->rows, f->ngroup, &t->x, &t->y, &t->z);
    rp_rows_names(f->r, &t->rows[0], t->name[0], t->name[1], sizeof t->name[0]);
    return good;
}

static void table_close(const struct rp_composed *f, struct table *t)
{
    for (size_t k = 0; k < f->ngroup; k++)
        free(t->rows[k].row);
}

/* Of the frame above that of the residuals. */
static double upper(const struct rp_composed *f, const struct rp_part *p)
{
    return p->frame - (f->r->fitted ? residual_frame + 8 : 0);
}

static void draw_rows(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p)
{
    struct table t;
    const int good = table_open(f, &t), two = f->r->fitted;
    struct rp_panel frame = frame_of(p, upper(f, p)), below = frame;
    c->failed |= !good;
    frame.ax = below.ax = t.x;
    frame.ay = t.y;
    below.ay = t.z;
    below.y += frame.h + 8;
    below.h = residual_frame;
    frame.ax.hidden = two;
    for (size_t k = 0; good && k < f->ngroup; k++)
        rp_rows_marks(c, f->r, &frame, two ? &below : NULL, &t.rows[k], RP_S0 + (uint32_t)k,
                      f->ngroup > 1 ? RP_S0 + (uint32_t)k : RP_S0 + 1);
    if (two) {
        rp_move(c, below.x, rp_panel_y(&below, 0));
        rp_line(c, below.x + below.w, rp_panel_y(&below, 0));
        rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    }
    rp_panels_close(c, &frame, two ? &below : NULL);
    table_close(f, &t);
}

/* Room that numbers and name take left of the frame. */
static double left_of(const struct rp_composed *f, const struct rp_part *p)
{
    struct rp_axis x, y;
    struct table t;
    char name[160];
    double left;
    switch (p->kind) {
    case RP_PART_CUTS: cut_axes(f, &x, &y); return rp_panel_left(&y, p->frame);
    case RP_PART_CURVES: curve_axes(f, p, name, &x, &y); return rp_panel_left(&y, p->frame);
    case RP_PART_ROWS:
        left = table_open(f, &t) ? rp_panel_left(&t.y, upper(f, p)) : 0;
        left = f->r->fitted ? fmax(left, rp_panel_left(&t.z, residual_frame)) : left;
        table_close(f, &t);
        return left;
    default: return 0;
    }
}

/* ---------------------------------------------------------------------------------------------- */

void rp_part_measure(const struct rp_composed *f, struct rp_part *p)
{
    struct keys keys;
    const double flat = f->columns == 1 ? 0.5 : 0.72, least = 110,
                 most = f->columns == 1 && p->kind == RP_PART_CURVES ? 140 : 210;
    p->head = f->npart > 1 ? letter_line : after;
    if (p->kind == RP_PART_MAPS || p->kind == RP_PART_RESIDUALS) {
        p->head = letter_line + 4;
        p->frame = map_size(f, p).side;
        return;
    }
    keys_of(f, p, &keys);
    p->head = fmax(p->head, keys_height(p, &keys) + 6);
    p->frame = fmin(most, fmax(least, flat * p->w)) + (p->kind == RP_PART_ROWS && f->r->fitted ? residual_frame : 0);
    p->left = left_of(f, p);
}

void rp_part_draw(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p)
{
    switch (p->kind) {
    case RP_PART_MAPS:
    case RP_PART_RESIDUALS: draw_maps(c, f, p); break;
    case RP_PART_CUTS: draw_cuts(c, f, p); break;
    case RP_PART_CURVES: draw_curves(c, f, p); break;
    case RP_PART_ROWS: draw_rows(c, f, p); break;
    }
    if (p->kind == RP_PART_MAPS || p->kind == RP_PART_RESIDUALS)
        return;
    struct keys keys;
    keys_of(f, p, &keys);
    draw_keys(c, p, &keys);
}
