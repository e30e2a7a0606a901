/* typeset_name.c -- names, units and numbers of a model as boxes.
 *
 * How a name is cut into a letter, its accent and a subscript: common/symbol.h.
 */
#include "common/symbol.h"
#include "document/box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hg_box *hg_box(struct hg_arena *a, enum hg_box_kind kind, const char *text, const char *tex, uint32_t n,
                            const struct hg_box *const *child)
{
    struct hg_box *b = hg_alloc(a, sizeof *b);
    const struct hg_box **copy = hg_alloc(a, (n + 1) * sizeof *copy);
    if (n)
        memcpy(copy, child, n * sizeof *copy);
    *b = (struct hg_box){.kind = kind, .text = text, .tex = tex ? tex : text, .n = n, .child = copy};
    return b;
}

static const struct hg_box *leaf(struct hg_arena *a, enum hg_box_kind kind, const char *text, const char *tex)
{
    return hg_box(a, kind, text, tex, 0, NULL);
}

static const struct hg_box *two(struct hg_arena *a, enum hg_box_kind kind, const struct hg_box *x,
                                const struct hg_box *y)
{
    const struct hg_box *child[2] = {x, y};
    return hg_box(a, kind, NULL, NULL, 2, child);
}

static size_t letters(const char *utf8)
{
    size_t n = 0;
    for (; *utf8; utf8++)
        n += ((unsigned char)*utf8 & 0xc0) != 0x80;
    return n;
}

int hg_box_tall(const struct hg_box *b)
{
    int tall =
        b->kind == HG_BOX_FRACTION || b->kind == HG_BOX_INTEGRAL || b->kind == HG_BOX_CASES || b->kind == HG_BOX_ROOT;
    for (uint32_t k = 0; k < b->n && !tall; k++)
        tall = hg_box_tall(b->child[k]);
    return tall;
}

double hg_box_width(const struct hg_box *b)
{
    static const double extra[] = {
        [HG_BOX_SIGN] = 1.2, [HG_BOX_PREFIX] = 0.3, [HG_BOX_THIN] = 0.3,     [HG_BOX_COMMA] = 0.8,
        [HG_BOX_FENCE] = 1,  [HG_BOX_ROOT] = 1,     [HG_BOX_INTEGRAL] = 1.5, [HG_BOX_CASES] = 1};
    double w = (size_t)b->kind < sizeof extra / sizeof *extra ? extra[b->kind] : 0, most = 0;
    if (b->kind != HG_BOX_OVER && b->kind != HG_BOX_FENCE && b->kind != HG_BOX_INTEGRAL && b->text)
        w += 1.0 * (double)letters(b->text);
    if (b->kind == HG_BOX_CASES) {
        for (uint32_t k = 0; k + 1 < b->n; k += 2)
            most = fmax(most, hg_box_width(b->child[k]) + 3 + hg_box_width(b->child[k + 1]));
        return w + most;
    }
    for (uint32_t k = 0; k < b->n; k++) {
        int small = k > 0 && (b->kind == HG_BOX_SUB || b->kind == HG_BOX_SUP || b->kind == HG_BOX_SUBSUP);
        double c = hg_box_width(b->child[k]) * (small || b->kind == HG_BOX_INTEGRAL ? 0.7 : 1);
        most = fmax(most, c);
        w += b->kind == HG_BOX_FRACTION || b->kind == HG_BOX_INTEGRAL ? 0 : c;
    }
    return w + (b->kind == HG_BOX_FRACTION || b->kind == HG_BOX_INTEGRAL ? most : 0);
}

/* --- names ------------------------------------------------------------------------------------ */

static const struct hg_box *stem(struct hg_arena *a, const struct symbol_part *p)
{
    static const enum hg_box_kind kind[] = {
        [SYMBOL_LETTER] = HG_BOX_LETTER, [SYMBOL_WORD] = HG_BOX_WORD, [SYMBOL_NUMBER] = HG_BOX_NUMBER};
    if (p->greek)
        return leaf(a, HG_BOX_LETTER, p->greek->text, p->greek->tex);
    return leaf(a, kind[p->kind], hg_format(a, "%.*s", (int)p->n, p->text), NULL);
}

const struct hg_box *hg_typeset_name(struct hg_arena *a, const char *name)
{
    struct symbol s;
    const struct hg_box *list[2 * SYMBOL_PARTS];
    uint32_t count = 0;
    symbol_cut(name, &s);
    if (!s.n)
        return leaf(a, HG_BOX_WORD, name, NULL);
    const struct hg_box *base = stem(a, &s.part[0]);
    if (s.accent)
        base = hg_box(a, HG_BOX_OVER, s.accent, NULL, 1, &base);
    for (size_t k = 1; k < s.n; k++) {
        if (s.part[k].comma)
            list[count++] = leaf(a, HG_BOX_COMMA, ",", NULL);
        list[count++] = stem(a, &s.part[k]);
    }
    return count ? two(a, HG_BOX_SUB, base, hg_box(a, HG_BOX_ROW, NULL, NULL, count, list)) : base;
}

/* --- units ------------------------------------------------------------------------------------ */

static const struct hg_box *unit_word(struct hg_arena *a, const char *s, size_t n)
{
    static const struct {
        const char *word, *text, *tex;
    } sign[] = {{"angstrom", "Å", "\\text{\\AA}"},
                {"deg", "°", "{}^\\circ"},
                {"ohm", "Ω", "\\Omega"},
                {"ampere", "A", "A"},
                {"percent", "%", "\\%"}};
    char *word = hg_format(a, "%.*s", (int)n, s);
    for (size_t k = 0; k < sizeof sign / sizeof *sign; k++)
        if (strcmp(word, sign[k].word) == 0)
            return leaf(a, HG_BOX_WORD, sign[k].text, sign[k].tex);
    if (n == 2 && *word == 'u') /* um, us, uL, uM, ... */
        return leaf(a, HG_BOX_WORD, hg_format(a, "µ%s", word + 1), hg_format(a, "\\mu %s", word + 1));
    return leaf(a, HG_BOX_WORD, word, NULL);
}

const struct hg_box *hg_typeset_unit(struct hg_arena *a, const char *unit)
{
    const struct hg_box **list = hg_alloc(a, (2 * strlen(unit) + 2) * sizeof *list);
    uint32_t count = 0;
    int below = 0;
    while (*unit) {
        size_t n = strcspn(unit, "*/^"), power = 0;
        const char *exponent = unit + n;
        if (*exponent == '^') {
            exponent++;
            power = *exponent == '(' ? strcspn(exponent, ")") + 1 : strcspn(exponent, "*/");
        }
        if (!(n == 1 && *unit == '1')) {
            const struct hg_box *word = unit_word(a, unit, n);
            size_t cut = power && *exponent == '(';
            const char *digits = power ? hg_format(a, "%.*s", (int)(power - 2 * cut), exponent + cut) : "1";
            int negative = below != (*digits == '-');
            digits += *digits == '-';
            if (negative || strcmp(digits, "1") != 0) {
                const struct hg_box *row[2] = {leaf(a, HG_BOX_PREFIX, "−", "-"), leaf(a, HG_BOX_NUMBER, digits, NULL)};
                word = two(a, HG_BOX_SUP, word, hg_box(a, HG_BOX_ROW, NULL, NULL, negative ? 2 : 1, row + !negative));
            }
            if (count)
                list[count++] = leaf(a, HG_BOX_THIN, NULL, NULL);
            list[count++] = word;
        }
        unit = exponent + power;
        below = *unit == '/';
        unit += *unit != 0;
    }
    return count == 0 ? NULL : count == 1 ? list[0] : hg_box(a, HG_BOX_ROW, NULL, NULL, count, list);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The shortest decimal that reads back as x > 0: digits and exponent, or plain between 1e-4 and
 * 1e6. */
static const struct hg_box *decimal(struct hg_arena *a, double x)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*e", digits - 1, x);
    while (strtod(text, NULL) != x && ++digits <= 17);
    char *e = strchr(text, 'e');
    int exponent = atoi(e + 1);
    *e = 0;
    if (exponent >= -4 && (exponent < 5 || (exponent < 7 && digits > exponent - 2))) {
        int places = digits - 1 - exponent;
        return leaf(a, HG_BOX_NUMBER, hg_format(a, "%.*f", places > 0 ? places : 0, x), NULL);
    }
    const struct hg_box *row[3];
    uint32_t n = 0;
    if (strcmp(text, "1") != 0) {
        row[n++] = leaf(a, HG_BOX_NUMBER, hg_strdup(a, text), NULL);
        row[n++] = leaf(a, HG_BOX_SIGN, "×", "\\times");
    }
    const struct hg_box *power[2] = {leaf(a, HG_BOX_PREFIX, "−", "-"),
                                     leaf(a, HG_BOX_NUMBER, hg_format(a, "%d", abs(exponent)), NULL)};
    row[n++] = two(a, HG_BOX_SUP, leaf(a, HG_BOX_NUMBER, "10", NULL),
                   hg_box(a, HG_BOX_ROW, NULL, NULL, exponent < 0 ? 2 : 1, power + (exponent >= 0)));
    return n == 1 ? row[0] : hg_box(a, HG_BOX_ROW, NULL, NULL, n, row);
}

/* 1/3 and 2/7, but not 1/2: numbers without a short decimal. Multiples of pi. */
static int ratio(double x, int *top, int *bottom)
{
    for (*bottom = 1; *bottom <= 16; ++*bottom)
        for (*top = 1; *top <= 16; ++*top)
            if ((double)*top / *bottom == x) /* the literal that the author wrote */
                return 1;
    return 0;
}

static const struct hg_box *whole(struct hg_arena *a, int n)
{
    return leaf(a, HG_BOX_NUMBER, hg_format(a, "%d", n), NULL);
}

const struct hg_box *hg_typeset_number(struct hg_arena *a, double x)
{
    const double pi = 3.14159265358979323846;
    const struct hg_box *p = leaf(a, HG_BOX_LETTER, "π", "\\pi");
    int top, bottom;
    if (ratio(x, &top, &bottom) && bottom > 1 && bottom % 3 * (bottom % 7) * (bottom % 11) * (bottom % 13) == 0)
        return two(a, HG_BOX_FRACTION, whole(a, top), whole(a, bottom));
    if (!ratio(x, &top, &bottom) && ratio(x / pi, &top, &bottom)) {
        const struct hg_box *row[2] = {whole(a, top), p};
        const struct hg_box *above = top == 1 ? p : hg_box(a, HG_BOX_ROW, NULL, NULL, 2, row);
        return bottom == 1 ? above : two(a, HG_BOX_FRACTION, above, whole(a, bottom));
    }
    return x == 0 ? leaf(a, HG_BOX_NUMBER, "0", NULL) : decimal(a, x);
}

const struct hg_box *hg_typeset_value(struct hg_arena *a, double x)
{
    const struct hg_box *row[2] = {leaf(a, HG_BOX_PREFIX, "−", "-"), NULL};
    if (isnan(x))
        return leaf(a, HG_BOX_TEXT, "–", "--");
    row[1] = isinf(x) ? leaf(a, HG_BOX_NUMBER, "∞", "\\infty") : hg_typeset_number(a, fabs(x));
    return x < 0 ? hg_box(a, HG_BOX_ROW, NULL, NULL, 2, row) : row[1];
}
