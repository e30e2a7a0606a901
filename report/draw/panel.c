/* panel.c -- axes: ranges, ticks, numbers; see panel.h. */
#include "report/draw/panel.h"

#include "report/draw/colour.h"
#include "report/draw/typeset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tick_length = 4, gap = 4;

/* ---- ranges ---------------------------------------------------------------------------------- */

void rp_axis_begin(struct rp_axis *a)
{
    a->lo = INFINITY;
    a->hi = -INFINITY;
}

void rp_axis_take(struct rp_axis *a, double value)
{
    if (!isfinite(value) || (a->log && !(value > 0)))
        return;
    a->lo = fmin(a->lo, value);
    a->hi = fmax(a->hi, value);
}

void rp_axis_end(struct rp_axis *a, double widen)
{
    if (!(a->hi >= a->lo)) {
        a->lo = a->log ? 0.1 : 0;
        a->hi = 1;
    }
    if (a->log) {
        const double factor = a->hi > a->lo * 1.0001 ? pow(a->hi / a->lo, widen) : 1.5;
        a->lo /= factor;
        a->hi *= factor;
        return;
    }
    const double length = a->hi - a->lo, size = fmax(fabs(a->lo), fabs(a->hi));
    const double more = length > 1e-9 * size ? widen * length : size > 0 ? 0.1 * size : 1;
    a->lo -= more;
    a->hi += more;
}

void rp_axis_join(struct rp_axis *a, const struct rp_axis *b)
{
    a->log &= b->log;
    a->lo = fmin(a->lo, b->lo);
    a->hi = fmax(a->hi, b->hi);
}

void rp_axis_residuals(struct rp_axis *a, double largest)
{
    static const double limit[] = {3.5, 5.5, 11, 22, 55, 110}; /* ticks at 2, 5, 10, ... */
    size_t k = 0;
    while (k + 1 < sizeof limit / sizeof *limit && !(largest <= limit[k]))
        k++;
    a->hi = limit[k];
    a->lo = -limit[k];
}

static double place(const struct rp_axis *a, double v)
{
    const double x = a->log ? log(v / a->lo) / log(a->hi / a->lo) : (v - a->lo) / (a->hi - a->lo);
    return !(x > 0) ? 0 : x > 1 ? 1 : x;
}

double rp_panel_x(const struct rp_panel *p, double x)
{
    return p->x + p->w * place(&p->ax, x);
}

double rp_panel_y(const struct rp_panel *p, double y)
{
    return p->y + p->h * (1 - place(&p->ay, y));
}

int rp_panel_holds(const struct rp_panel *p, double x, double y)
{
    return x >= p->ax.lo && x <= p->ax.hi && y >= p->ay.lo && y <= p->ay.hi;
}

/* ---- ticks ----------------------------------------------------------------------------------- */

enum { TICKS = 160 };

struct ticks {
    size_t n;
    double at[TICKS];
    int decade; /* numbers are given in 10^decade */
    int decimals;
    int minor[TICKS]; /* no number */
};

/* 1, 2 or 5 times a power of ten, so that about `most` of them fit. */
static double nice_step(double length, double most)
{
    const double raw = length / most, ten = pow(10, floor(log10(raw))), part = raw / ten;
    return ten * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void linear_ticks(const struct rp_axis *a, double most, struct ticks *t)
{
    const double step = nice_step(a->hi - a->lo, most), size = fmax(fabs(a->lo), fabs(a->hi));
    const int order = (int)floor(log10(size > 0 ? size : 1));
    t->decade = order >= 5 || order < -2 ? (int)floor(order / 3.0) * 3 : 0;
    t->decimals = (int)fmax(0, -floor(log10(step * 1.0001) - t->decade));
    for (double k = ceil(a->lo / step - 1e-9); k * step <= a->hi + 1e-9 * step && t->n < TICKS; k++)
        t->at[t->n++] = k * step;
}

static void log_ticks(const struct rp_axis *a, double most, struct ticks *t)
{
    const double decades = log10(a->hi / a->lo);
    if (decades < 0.8) {
        linear_ticks(a, most, t);
        return;
    }
    const int every = (int)ceil(decades / fmax(1, most));
    const int fine = decades * 3 <= most;
    for (int k = (int)floor(log10(a->lo)); k <= (int)ceil(log10(a->hi)); k++)
        for (int m = 1; m < 10; m++) {
            const double v = m * pow(10, k);
            const int numbered = m == 1 ? k % every == 0 : fine && (m == 2 || m == 5);
            if (v < a->lo * 0.9999 || v > a->hi * 1.0001 || t->n == TICKS || (every > 1 && m > 1))
                continue;
            t->minor[t->n] = !numbered;
            t->at[t->n++] = v;
        }
}

static void tick_text(const struct rp_axis *a, const struct ticks *t, double v, char *text,
                      size_t size)
{
    if (a->log && t->decade == 0 && t->decimals == 0) {
        const double order = floor(log10(v) + 1e-9);
        if (order >= 5 || order < -3) {
            char power[32];
            const double m = v / pow(10, order);
            rp_superscript((int)order, power, sizeof power);
            if (m > 1.5)
                snprintf(text, size, "%.0f·10%s", m, power);
            else
                snprintf(text, size, "10%s", power);
        } else
            snprintf(text, size, "%.*f", order < 0 ? -(int)order : 0, v);
        return;
    }
    v /= pow(10, t->decade);
    snprintf(text, size, "%.*f", t->decimals, fabs(v) < 0.5 * pow(10, -t->decimals) ? 0.0 : v);
    rp_minus(text, size);
}

/* One word of a unit with a power: "Å²"; a fractional power stays as it is written. */
static size_t unit_word(const char *word, size_t n, const char *power, size_t npower, int below, char *text,
                        size_t size)
{
    static const char *const sign[][2] = {{"angstrom", "Å"}, {"degree", "°"}, {"deg", "°"}, {"ohm", "Ω"},
                                          {"percent", "%"}};
    char *end = NULL, up[32] = "";
    const long exponent = npower ? strtol(power, &end, 10) : 1;
    const int whole = !npower || end == power + npower;
    size_t k = 0, at;
    while (k < 5 && (strlen(sign[k][0]) != n || strncmp(word, sign[k][0], n) != 0))
        k++;
    if (k < 5)
        at = (size_t)snprintf(text, size, "%s", sign[k][1]);
    else if (n == 2 && *word == 'u')
        at = (size_t)snprintf(text, size, "µ%c", word[1]);
    else
        at = (size_t)snprintf(text, size, "%.*s", (int)n, word);
    if (whole && exponent != (below ? 0 : 1))
        rp_superscript((int)(below ? -exponent : exponent), up, sizeof up);
    if (at < size)
        at += (size_t)(whole ? snprintf(text + at, size - at, "%s", up)
                             : snprintf(text + at, size - at, "^%s%.*s", below ? "-" : "", (int)npower, power));
    return at < size ? at : size - 1;
}

void rp_unit(const char *unit, char *text, size_t size)
{
    size_t used = 0;
    int below = 0;
    text[0] = '\0';
    while (unit && *unit && used + 2 < size) {
        const size_t n = strcspn(unit, "*/^");
        const char *power = unit + n + (unit[n] == '^');
        const size_t npower = unit[n] != '^' ? 0 : *power == '(' ? strcspn(power, ")") + 1 : strcspn(power, "*/");
        if (n && !(n == 1 && *unit == '1')) {
            used += used ? (size_t)snprintf(text + used, size - used, " ") : 0;
            used += unit_word(unit, n, power, npower, below, text + used, size - used);
        }
        const char *next = unit[n] == '^' ? power + npower : unit + n;
        below = *next == '/';
        unit = *next ? next + 1 : next;
    }
}

static void axis_name(const struct rp_axis *a, int decade, char *text, size_t size)
{
    char unit[64], power[32];
    rp_unit(a->unit, unit, sizeof unit);
    rp_superscript(decade, power, sizeof power);
    if (decade)
        snprintf(text, size, "%s (10%s%s%s)", a->name, power, unit[0] ? " " : "", unit);
    else if (unit[0])
        snprintf(text, size, "%s (%s)", a->name, unit);
    else
        snprintf(text, size, "%s", a->name);
}

/* ---- how many ------------------------------------------------------------------------------- */

static double widest(const struct rp_axis *a, const struct ticks *t)
{
    char text[64];
    double w = 0;
    for (size_t k = 0; k < t->n; k++)
        if (!t->minor[k]) {
            tick_text(a, t, t->at[k], text, sizeof text);
            w = fmax(w, rp_text_width(text, RP_FONT));
        }
    return w;
}

/* Smallest distance between two numbers. */
static double nearest(const struct rp_axis *a, const struct ticks *t, double length)
{
    double last = NAN, least = INFINITY;
    for (size_t k = 0; k < t->n; k++)
        if (!t->minor[k]) {
            const double at = length * place(a, t->at[k]);
            least = isnan(last) ? least : fmin(least, at - last);
            last = at;
        }
    return least;
}

static int leaves_room(const struct rp_axis *a, const struct ticks *t, double length, int upward)
{
    return nearest(a, t, length) >= (upward ? 1.4 * RP_FONT : widest(a, t) + 0.9 * RP_FONT);
}

static size_t numbered(const struct ticks *t)
{
    size_t n = 0;
    for (size_t k = 0; k < t->n; k++)
        n += !t->minor[k];
    return n;
}

/* One number alone does not show the scale: finer ticks, of which only some have a number; 0: there is no room for
 * two. */
static int some_numbered(const struct rp_axis *a, double length, int upward, struct ticks *t)
{
    for (double most = 1; most <= 8; most++) {
        struct ticks fine = {0};
        linear_ticks(a, most, &fine);
        for (size_t every = 2; every < fine.n; every++) {
            for (size_t k = 0; k < fine.n; k++)
                fine.minor[k] = k % every != 0;
            if (leaves_room(a, &fine, length, upward)) {
                *t = fine;
                return 1;
            }
        }
    }
    return 0;
}

/* As many as leave room between the numbers. */
static struct ticks make_ticks(const struct rp_axis *a, double length, int upward)
{
    const double dense = upward ? 30 : 28, few = 3.6;
    struct ticks t = {0};
    for (double most = fmax(few, length / dense); most >= 1 && a->hidden < 2; most -= 0.4) {
        t = (struct ticks){0};
        (a->log ? log_ticks : linear_ticks)(a, most, &t);
        if (leaves_room(a, &t, length, upward))
            break;
    }
    if (numbered(&t) < 2 && a->hidden < 2 && !a->log)
        some_numbered(a, length, upward, &t);
    return t;
}

static struct ticks ticks_x(const struct rp_panel *p)
{
    return make_ticks(&p->ax, p->w, 0);
}

static struct ticks ticks_y(const struct rp_panel *p)
{
    return make_ticks(&p->ay, p->h, 1);
}

void rp_axis_text(const struct rp_axis *a, double length, char *text, size_t size)
{
    const struct ticks t = make_ticks(a, length, 0);
    axis_name(a, t.decade, text, size);
}

/* ---- frames ---------------------------------------------------------------------------------- */

double rp_panel_left(const struct rp_axis *ay, double height)
{
    const struct ticks t = make_ticks(ay, height, 1);
    return ay->hidden ? gap
                      : widest(ay, &t) + tick_length + 2 * gap +
                            (ay->name && *ay->name ? RP_FONT + 2 * gap : gap);
}

void rp_panel_grid(struct rp_canvas *c, const struct rp_panel *p)
{
    const struct ticks tx = ticks_x(p), ty = ticks_y(p);
    for (size_t k = 0; k < tx.n; k++)
        if (!tx.minor[k]) {
            rp_move(c, rp_panel_x(p, tx.at[k]), p->y);
            rp_line(c, rp_panel_x(p, tx.at[k]), p->y + p->h);
        }
    for (size_t k = 0; k < ty.n; k++)
        if (!ty.minor[k]) {
            rp_move(c, p->x, rp_panel_y(p, ty.at[k]));
            rp_line(c, p->x + p->w, rp_panel_y(p, ty.at[k]));
        }
    rp_draw(c, &(struct rp_style){.stroke = RP_GRID, .width = 1});
}

static void numbers_x(struct rp_canvas *c, const struct rp_panel *p, const struct ticks *t)
{
    char text[96];
    for (size_t k = 0; k < t->n; k++) {
        const double x = rp_panel_x(p, t->at[k]), y = p->y + p->h;
        rp_move(c, x, y);
        rp_line(c, x, y + (t->minor[k] ? tick_length / 2 : tick_length));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    if (p->ax.hidden)
        return;
    for (size_t k = 0; k < t->n; k++) {
        if (t->minor[k])
            continue;
        tick_text(&p->ax, t, t->at[k], text, sizeof text);
        const double most = c->width - 1 - rp_text_width(text, RP_FONT) / 2; /* the last may be wide: it stays whole */
        c->text(c, fmin(rp_panel_x(p, t->at[k]), most), p->y + p->h + tick_length + RP_FONT,
                &(struct rp_label){.anchor = RP_MIDDLE, .size = RP_FONT, .ink = RP_SOFT}, text);
    }
    if (p->ax.name && *p->ax.name) {
        axis_name(&p->ax, t->decade, text, sizeof text);
        c->text(c, p->x + p->w / 2, p->y + p->h + tick_length + 2 * RP_FONT + gap,
                &(struct rp_label){.anchor = RP_MIDDLE, .size = RP_FONT}, text);
    }
}

static void numbers_y(struct rp_canvas *c, const struct rp_panel *p, const struct ticks *t)
{
    char text[96];
    for (size_t k = 0; k < t->n; k++) {
        const double y = rp_panel_y(p, t->at[k]);
        rp_move(c, p->x, y);
        rp_line(c, p->x - (t->minor[k] ? tick_length / 2 : tick_length), y);
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    if (p->ay.hidden)
        return;
    for (size_t k = 0; k < t->n; k++) {
        if (t->minor[k])
            continue;
        tick_text(&p->ay, t, t->at[k], text, sizeof text);
        c->text(c, p->x - tick_length - gap, rp_panel_y(p, t->at[k]) + 0.35 * RP_FONT,
                &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT, .ink = RP_SOFT}, text);
    }
    if (p->ay.name && *p->ay.name) {
        axis_name(&p->ay, t->decade, text, sizeof text);
        c->text(c, p->x - tick_length - 3 * gap - widest(&p->ay, t), p->y + p->h / 2,
                &(struct rp_label){.anchor = RP_MIDDLE, .size = RP_FONT, .upward = 1}, text);
    }
}

void rp_panel_frame(struct rp_canvas *c, const struct rp_panel *p)
{
    const struct ticks tx = ticks_x(p), ty = ticks_y(p);
    rp_box(c, p->x, p->y, p->w, p->h);
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    numbers_x(c, p, &tx);
    numbers_y(c, p, &ty);
    if (p->title)
        c->text(c, p->x + p->w / 2, p->y - 2 * gap,
                &(struct rp_label){.anchor = RP_MIDDLE, .size = RP_FONT, .bold = 1}, p->title);
}

void rp_colour_bar(struct rp_canvas *c, double x, double y, double w,
                   const struct rp_palette *palette, const struct rp_axis *a)
{
    enum { HEIGHT = 9 };
    unsigned char pixel[RP_LEVELS];
    for (size_t k = 0; k < RP_LEVELS; k++)
        pixel[k] = (unsigned char)(k + 1);
    c->image(c, x, y, w, HEIGHT, &(struct rp_image){RP_LEVELS, 1, pixel, palette});
    struct rp_panel p = {.x = x, .y = y, .w = w, .h = HEIGHT, .ax = *a};
    const struct ticks t = make_ticks(a, w, 0);
    rp_box(c, x, y, w, HEIGHT);
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    numbers_x(c, &p, &t);
}

/* Numbers to the right of a frame. */
static void numbers_right(struct rp_canvas *c, const struct rp_panel *p, const struct ticks *t)
{
    const double right = p->x + p->w;
    char text[96];
    for (size_t k = 0; k < t->n; k++) {
        const double y = rp_panel_y(p, t->at[k]);
        rp_move(c, right, y);
        rp_line(c, right + (t->minor[k] ? tick_length / 2 : tick_length), y);
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    for (size_t k = 0; k < t->n; k++) {
        if (t->minor[k])
            continue;
        tick_text(&p->ay, t, t->at[k], text, sizeof text);
        c->text(c, right + tick_length + gap, rp_panel_y(p, t->at[k]) + 0.35 * RP_FONT,
                &(struct rp_label){.size = RP_FONT, .ink = RP_SOFT}, text);
    }
}

enum { UPRIGHT = 11 };

double rp_colour_bar_width(const struct rp_axis *a, double h)
{
    const struct ticks t = make_ticks(a, h, 1);
    return UPRIGHT + tick_length + gap + widest(a, &t);
}

void rp_colour_bar_upright(struct rp_canvas *c, double x, double y, double h, const struct rp_palette *palette,
                           const struct rp_axis *a)
{
    unsigned char pixel[RP_LEVELS];
    char text[96];
    for (size_t k = 0; k < RP_LEVELS; k++)
        pixel[k] = (unsigned char)(RP_LEVELS - k);
    c->image(c, x, y, UPRIGHT, h, &(struct rp_image){1, RP_LEVELS, pixel, palette});
    const struct rp_panel p = {.x = x, .y = y, .w = UPRIGHT, .h = h, .ay = *a};
    const struct ticks t = make_ticks(a, h, 1);
    rp_box(c, x, y, UPRIGHT, h);
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
    numbers_right(c, &p, &t);
    axis_name(a, t.decade, text, sizeof text);
    c->text(c, x, y - 2 * gap, &(struct rp_label){.size = RP_FONT}, text);
}

static double mark_of(const struct rp_key *key)
{
    return key->dot ? 8 : 18;
}

double rp_keys_width(const struct rp_key *key, size_t n)
{
    double w = 0;
    for (size_t k = 0; k < n; k++)
        w += (k ? 3 * gap : 0) + mark_of(&key[k]) + gap + rp_text_width(key[k].text, RP_FONT);
    return w;
}

double rp_keys(struct rp_canvas *c, double x, double y, double right, const struct rp_key *key,
               size_t n)
{
    const double line = RP_FONT + 6, left = x;
    double top = y;
    for (size_t k = 0; k < n; k++) {
        const double mark = mark_of(&key[k]), w = mark + gap + rp_text_width(key[k].text, RP_FONT);
        if (x > left && x + w > right) {
            x = left;
            top += line;
        }
        const double mid = top + line / 2;
        if (key[k].dot) {
            rp_dot(c, x + mark / 2, mid);
        } else if (key[k].style.fill != RP_NONE) {
            rp_box(c, x, mid - 5, mark, 10);
        } else {
            rp_move(c, x, mid);
            rp_line(c, x + mark, mid);
        }
        rp_draw(c, &key[k].style);
        c->text(c, x + mark + gap, mid + 0.35 * RP_FONT, &(struct rp_label){.size = RP_FONT},
                key[k].text);
        x += w + 3 * gap;
    }
    return top + line - y;
}

void rp_number(double x, int digits, char *text, size_t size)
{
    if (isnan(x))
        snprintf(text, size, "–");
    else
        snprintf(text, size, "%.*g", digits, x);
}

void rp_panels_open(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below)
{
    rp_panel_grid(c, p);
    if (!below)
        return;
    rp_panel_grid(c, below);
    rp_move(c, below->x, rp_panel_y(below, 0));
    rp_line(c, below->x + below->w, rp_panel_y(below, 0));
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1});
}

void rp_panels_close(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below)
{
    rp_panel_frame(c, p);
    if (below)
        rp_panel_frame(c, below);
}
