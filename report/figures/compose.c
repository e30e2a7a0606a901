/* compose.c -- the panels of a composed figure and their positions; see compose.h.
 *
 * Maps take the whole width. Other panels stand side by side: two in a column, up to three on two columns, in rows
 * as equal as possible; frames of a row have the same height. */
#include "report/figures/compose.h"

#include "report/draw/rich.h"
#include "report/figures/figures.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Widths of columns: PNAS, author's guide (8.7, 17.8 cm); APS, style guide (8.6, 17.8 cm); Nature (89, 183 mm). */
const struct rp_look rp_looks[] = {{"plain", "a, b, c; 86 and 178 mm", {86, 178}, "a", NULL},
                                   {"pnas", "A, B, C; 87 and 178 mm, Helvetica", {87, 178}, "A", "Helvetica"},
                                   {"aps", "(a), (b), (c); 86 and 178 mm, Times", {86, 178}, "(a)", "Times"},
                                   {"nature", "a, b, c; 89 and 183 mm, Helvetica", {89, 183}, "a", "Helvetica"},
                                   {NULL, NULL, {0, 0}, NULL, NULL}};

/* numbers: height of the space below a frame */
static const double between_rows = 10, between_parts = 22, margin = 3, numbers = 42;

/* ---- which panels ---------------------------------------------------------------------------- */

static int is_rate(const char *curve)
{
    return (curve[0] == 'D' || curve[0] == 'J') && (!curve[1] || curve[1] == '_' || curve[1] == '[');
}

static int is_shear(const char *curve)
{
    return strstr(curve, "shear") || strncmp(curve, "gamma_dot", 9) == 0;
}

/* Does the word of --panels refer to this curve? */
static int means(const char *word, size_t n, const char *curve)
{
    static const char *const other[][2] = {{"velocity", "v"}, {"f", "fraction"}, {"J", "D"}};
    char own[RP_NAME];
    snprintf(own, sizeof own, "%.*s", (int)n, word);
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (strcmp(own, other[k][0]) == 0 && strcmp(own, curve) != 0)
            snprintf(own, sizeof own, "%s", other[k][1]);
    const size_t plain = strcspn(curve, "["); /* of one file among several */
    if (curve[plain] && strlen(own) == plain && strncmp(own, curve, plain) == 0)
        return 1;
    return strcmp(own, curve) == 0 || (strcmp(own, "D") == 0 && is_rate(curve)) ||
           (strcmp(own, "shear") == 0 && is_shear(curve));
}

static struct rp_part *add(struct rp_composed *f, enum rp_kind kind)
{
    struct rp_part *p = &f->part[f->npart];
    if (f->npart == RP_PARTS)
        return NULL;
    f->npart++;
    *p = (struct rp_part){.kind = kind};
    return p;
}

static int has_curve(const struct rp_result *r, size_t k)
{
    size_t finite = 0;
    for (size_t i = 0; i < r->nt; i++)
        finite += isfinite(r->curve[k].value[i]) != 0;
    return finite > 1;
}

/* All curves that a word refers to and that share a unit, in one frame; returns their number. */
static size_t add_curves(struct rp_composed *f, const char *word, size_t n)
{
    struct rp_part *p = NULL;
    for (size_t k = 0; k < f->r->ncurve; k++) {
        const struct rp_curve *v = &f->r->curve[k];
        if (!means(word, n, v->name) || !has_curve(f->r, k))
            continue;
        if (!p && !(p = add(f, RP_PART_CURVES)))
            return 0;
        if (p->ncurve < RP_TOGETHER && strcmp(v->unit, f->r->curve[p->ncurve ? p->curve[0] : k].unit) == 0)
            p->curve[p->ncurve++] = k;
    }
    return p ? p->ncurve : 0;
}

static int is_word(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncmp(word, name, n) == 0;
}

/* "maps, g2, D" and the like: the panels that this result has. */
static void list_panels(const struct rp_result *r, char *text, size_t size)
{
    snprintf(text, size, "%s", !r->pairs ? "data" : r->fitted ? "maps, residuals, g2" : "maps, g2");
    for (size_t k = 0; k < r->ncurve; k++) {
        const size_t used = strlen(text);
        const char *curve = r->curve[k].name;
        snprintf(text + used, size - used, ", %s", is_shear(curve) ? "shear" : curve);
    }
}

static int add_word(struct rp_composed *f, const char *word, size_t n)
{
    const struct rp_result *r = f->r;
    if (r->pairs && r->side > 1 && is_word(word, n, "maps"))
        return add(f, RP_PART_MAPS) != NULL;
    if (r->pairs && r->fitted && (is_word(word, n, "residuals") || is_word(word, n, "residual")))
        return add(f, RP_PART_RESIDUALS) != NULL;
    if (r->pairs && r->nlag > 1 && is_word(word, n, "g2"))
        return add(f, RP_PART_CUTS) != NULL;
    if (!r->pairs && (is_word(word, n, "data") || is_word(word, n, "g2")))
        return add(f, RP_PART_ROWS) != NULL;
    return add_curves(f, word, n) > 0;
}

static enum fit_status wanted(struct rp_composed *f, const char *list, struct fit_error *err)
{
    char there[512];
    for (const char *at = list; *at;) {
        at += strspn(at, ", ");
        const size_t n = strcspn(at, ", ");
        if (n && f->npart == RP_PARTS)
            return fit_fail(err, FIT_ERR_USAGE, "figure: --panels: at most %d in one figure", RP_PARTS);
        if (n && !add_word(f, at, n)) {
            list_panels(f->r, there, sizeof there);
            return fit_fail(err, FIT_ERR_USAGE, "figure: this result has no panel '%.*s'; there are %s", (int)n, at,
                            there);
        }
        at += n;
    }
    return f->npart ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "figure: --panels names nothing");
}

/* The contents of the result: maps, g2, then each rate with its own unit once. */
static void all_panels(struct rp_composed *f)
{
    const struct rp_result *r = f->r;
    if (r->pairs) {
        add_word(f, "maps", 4);
        add_word(f, "g2", 2);
    } else {
        add_word(f, "data", 4);
    }
    int rates = 0;
    for (size_t k = 0; k < r->ncurve && f->npart < RP_PARTS; k++) {
        const char *name = r->curve[k].name;
        if (is_rate(name) && rates++)
            continue;
        const size_t plain = strcspn(name, "[");
        if (!is_rate(name) && k && strncmp(r->curve[k - 1].name, name, plain + 1) == 0 && name[plain])
            continue; /* those of other files stand in the frame of the first */
        add_curves(f, is_rate(name) ? "D" : name, is_rate(name) ? 1 : plain);
    }
}

/* ---- which angles and age -------------------------------------------------------------------- */

static size_t room_for(const struct rp_composed *f)
{
    return f->columns == 1 ? 3 : 5;
}

static double apart(double a, double b)
{
    const double d = fmod(fabs(a - b), 360);
    return fmin(d, 360 - d);
}

/* Directions: flow at 0 and at 180 degrees is the same. */
static double turned(double phi, double from)
{
    const double d = apart(phi, from);
    return fmin(d, 180 - d);
}

/* The direction of the flow, where the result has one; NaN: it has none. */
static double flow_of(const struct rp_result *r)
{
    static const char *const name[] = {"parameters.phi0.value", "parameters.phi0_het.value"};
    const double phi = rp_json_number(r->json, name[0]);
    return isnan(phi) ? rp_json_number(r->json, name[1]) : phi;
}

static int is_taken(const struct rp_composed *f, size_t g)
{
    for (size_t k = 0; k < f->ngroup; k++)
        if (f->group[k] == g)
            return 1;
    return 0;
}

/* The group of this file (0: any) whose angle to the flow is closest to `want`. */
static void take_turned(struct rp_composed *f, double flow, double want, double file)
{
    const struct rp_result *r = f->r;
    size_t best = r->ngroup;
    for (size_t g = 0; g < r->ngroup; g++) {
        if (is_taken(f, g) || (file > 0 && r->file[g] != file))
            continue;
        if (best == r->ngroup || fabs(turned(r->phi[g], flow) - want) < fabs(turned(r->phi[best], flow) - want))
            best = g;
    }
    if (best < r->ngroup && f->ngroup < RP_ANGLES)
        f->group[f->ngroup++] = best;
}

static int rising(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Evenly from along the flow to across it, of every file as many. */
static void spread_turned(struct rp_composed *f, double flow)
{
    const struct rp_result *r = f->r;
    double files = 1;
    for (size_t g = 0; r->file && g < r->ngroup; g++)
        files = fmax(files, r->file[g]);
    const size_t all = room_for(f), each = files < (double)all ? all / (size_t)files : 1;
    for (double file = 1; file <= files && f->ngroup < all; file++)
        for (size_t k = each; k-- > 0;) /* across the flow first: where one alone is shown */
            take_turned(f, flow, each > 1 ? 90.0 * (double)k / (double)(each - 1) : 90, r->file ? file : 0);
    qsort(f->group, f->ngroup, sizeof *f->group, rising);
}

static void spread_groups(struct rp_composed *f)
{
    const struct rp_result *r = f->r;
    const size_t all = r->pairs || r->axis ? r->ngroup : 1, most = r->pairs ? room_for(f) : RP_ANGLES;
    const double flow = r->pairs && r->phi && !r->q ? flow_of(r) : NAN;
    if (all > most && (!isnan(flow) || (r->file && r->phi))) {
        spread_turned(f, isnan(flow) ? 0 : flow);
        return;
    }
    f->ngroup = all < most ? all : most;
    for (size_t k = 0; k < f->ngroup; k++)
        f->group[k] = f->ngroup > 1 ? (k * (all - 1) + (f->ngroup - 1) / 2) / (f->ngroup - 1) : 0;
}

static enum fit_status choose_groups(struct rp_composed *f, const char *phi, struct fit_error *err)
{
    const struct rp_result *r = f->r;
    if (!phi) {
        spread_groups(f);
        return FIT_OK;
    }
    if (!r->pairs || !r->phi)
        return fit_fail(err, FIT_ERR_USAGE, "figure: --phi: this result has no azimuths");
    for (const char *at = phi; *at;) {
        char *end;
        const double want = strtod(at, &end);
        size_t best = 0;
        if (end == at || f->ngroup == RP_ANGLES)
            return fit_fail(err, FIT_ERR_USAGE, "figure: --phi %s: up to %d azimuths in degrees, split by commas", phi,
                            RP_ANGLES);
        for (size_t g = 1; g < r->ngroup; g++)
            if (apart(r->phi[g], want) < apart(r->phi[best], want))
                best = g;
        f->group[f->ngroup++] = best;
        at = end + strspn(end, ", ");
    }
    return FIT_OK;
}

static void choose_age(struct rp_composed *f, double age)
{
    const struct rp_result *r = f->r;
    f->age = r->nage ? (r->nage - 1) / 2 : 0;
    for (size_t a = 0; a < r->nage && isfinite(age); a++)
        if (fabs(r->age[a] - age) < fabs(r->age[f->age] - age))
            f->age = a;
}

/* ---- where they stand ------------------------------------------------------------------------ */

/* A single map is as narrow as other panels. */
static int is_wide(const struct rp_composed *f, const struct rp_part *p)
{
    return (p->kind == RP_PART_MAPS || p->kind == RP_PART_RESIDUALS) && (f->columns == 1 || f->ngroup > 1);
}

/* Of `left` narrow parts in a row: the number on the next line. */
static size_t beside(const struct rp_composed *f, size_t left)
{
    const size_t most = f->columns == 1 ? 2 : 3;
    const size_t lines = (left + most - 1) / most;
    return (left + lines - 1) / lines;
}

/* Parts first .. first + n - 1 on one line at height y; returns its end. */
static double place_line(struct rp_composed *f, size_t first, size_t n, double y)
{
    const double w = (f->width - (double)(n - 1) * between_parts) / (double)n;
    double head = 0;
    for (size_t k = first; k < first + n; k++) {
        struct rp_part *p = &f->part[k];
        p->x = (double)(k - first) * (w + between_parts);
        p->w = w;
        p->y = y;
        rp_part_measure(f, p);
        head = fmax(head, p->head);
    }
    double frame = 0;
    for (size_t k = first; k < first + n; k++)
        frame = fmax(frame, f->part[k].frame);
    for (size_t k = first; k < first + n; k++) {
        f->part[k].head = head;
        f->part[k].frame = frame;
    }
    return y + head + frame + numbers;
}

/* Aligns the left edges of frames that stand below each other. */
static void align(struct rp_composed *f)
{
    for (size_t k = 0; k < f->npart; k++)
        for (size_t o = 0; o < f->npart; o++)
            if (fabs(f->part[k].x - f->part[o].x) + fabs(f->part[k].w - f->part[o].w) < 1)
                f->part[k].left = fmax(f->part[k].left, f->part[o].left);
}

static void place(struct rp_composed *f)
{
    double y = margin;
    for (size_t k = 0; k < f->npart;) {
        size_t narrow = 0;
        while (k + narrow < f->npart && !is_wide(f, &f->part[k + narrow]))
            narrow++;
        const int alone = f->columns == 1 && (f->part[k].kind == RP_PART_CUTS || f->part[k].kind == RP_PART_ROWS);
        const size_t n = narrow && !alone ? beside(f, narrow) : 1;
        y = place_line(f, k, n, y + (k ? between_rows : 0));
        k += n;
    }
    f->height = y + margin;
    align(f);
}

enum fit_status rp_compose(const struct rp_result *r, const struct rp_wish *wish, struct rp_composed *f,
                           struct fit_error *err)
{
    *f = (struct rp_composed){.r = r, .look = wish->look, .columns = wish->columns};
    f->width = wish->look->column[wish->columns - 1] / 25.4 * 72 / (wish->letters / RP_FONT);
    if (wish->panels) {
        enum fit_status st = wanted(f, wish->panels, err);
        if (st != FIT_OK)
            return st;
    } else {
        all_panels(f);
    }
    enum fit_status st = choose_groups(f, wish->phi, err);
    if (st != FIT_OK)
        return st;
    choose_age(f, wish->age);
    place(f);
    return FIT_OK;
}

/* ---- drawing and caption --------------------------------------------------------------------- */

static void letter_of(const struct rp_composed *f, size_t k, char text[8])
{
    const char *form = f->look->letter;
    const char letter = (char)((isupper((unsigned char)form[form[0] == '(']) ? 'A' : 'a') + (int)k);
    snprintf(text, 8, form[0] == '(' ? "(%c)" : "%c", letter);
}

void rp_composed_draw(struct rp_canvas *c, const struct rp_composed *f)
{
    char letter[8];
    for (size_t k = 0; k < f->npart; k++) {
        rp_part_draw(c, f, &f->part[k]);
        if (f->npart < 2)
            continue;
        letter_of(f, k, letter);
        c->text(c, f->part[k].x, f->part[k].y + RP_FONT,
                &(struct rp_label){.size = RP_FONT * 8 / 7.5, .bold = letter[0] != '('}, letter);
    }
}

static size_t say(char *text, size_t size, size_t used, const char *more)
{
    return used + 1 < size ? used + (size_t)snprintf(text + used, size - used, "%s", more) : used;
}

static const char *age_text(const struct rp_composed *f, char *text, size_t size)
{
    snprintf(text, size, "g2 against the lag time at age %.3g %s; points: data with standard errors%s%s",
             f->r->age[f->age], f->r->time_unit, f->r->fitted ? ", lines: fit" : "",
             f->r->g2_low ? ", bands: 95 % of the posterior" : "");
    return text;
}

static const char *curve_text(const struct rp_composed *f, const struct rp_part *p, char *text, size_t size)
{
    size_t used = 0;
    int band = 0;
    for (size_t k = 0; k < p->ncurve && used < size; k++) {
        band |= rp_curve_has_band(f->r, p->curve[k]);
        const struct rp_curve *v = &f->r->curve[p->curve[k]];
        const char *doc = v->doc[0] ? v->doc : v->name;
        if (k && strcmp(v->doc, f->r->curve[p->curve[k - 1]].doc) == 0) /* of another file */
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%c%s", k ? "; " : "",
                                 k ? doc[0] : toupper((unsigned char)doc[0]), doc + 1);
    }
    if (used < size && band)
        snprintf(text + used, size - used, "; bands: %s",
                 f->r->curve[p->curve[0]].low ? "95 % of the posterior" : "68 % and 95 %");
    return text;
}

/* Assigns names to files; when all maps have one azimuth, they do not show it. */
static void say_files(const struct rp_composed *f, char *text, size_t size, size_t used)
{
    char one[400], phi[40];
    rp_files_text(f->r, one, sizeof one);
    if (!*one || !f->ngroup || !f->r->phi)
        return;
    int same = f->ngroup > 1;
    for (size_t k = 0; k < f->ngroup; k++)
        same &= fabs(f->r->phi[f->group[k]] - f->r->phi[f->group[0]]) < 1e-6;
    snprintf(phi, sizeof phi, " Azimuth %.5g°.", f->r->phi[f->group[0]]);
    used = same ? say(text, size, used, phi) : used;
    used = say(text, size, used, " F");
    used = say(text, size, used, one + 1);
    say(text, size, used, ".");
}

void rp_composed_caption(const struct rp_composed *f, char *text, size_t size)
{
    char one[400], letter[8];
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < f->npart; k++) {
        const struct rp_part *p = &f->part[k];
        letter_of(f, k, letter);
        if (f->npart > 1) {
            used = say(text, size, used, letter[0] == '(' ? "" : "(");
            used = say(text, size, used, letter);
            used = say(text, size, used, letter[0] == '(' ? " " : ") ");
        }
        switch (p->kind) {
        case RP_PART_MAPS:
            used = say(text, size, used,
                       f->r->fitted ? "Two-time correlation c2: data above the diagonal, fit below"
                                    : "Two-time correlation c2");
            break;
        case RP_PART_RESIDUALS: used = say(text, size, used, "Residuals in standard deviations"); break;
        case RP_PART_CUTS: used = say(text, size, used, age_text(f, one, sizeof one)); break;
        case RP_PART_ROWS:
            used = say(text, size, used, "Data with standard errors, fit, and residuals in standard deviations");
            break;
        case RP_PART_CURVES: used = say(text, size, used, curve_text(f, p, one, sizeof one)); break;
        }
        used = say(text, size, used, k + 1 < f->npart ? ". " : ".");
    }
    say_files(f, text, size, used);
}
