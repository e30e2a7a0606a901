/* nearest.c -- edit distance with swaps, three rows at a time. */
#include "nearest.h"

#include <string.h>

#define LONGEST 63 /* longer names are not compared */

static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

int fit_same_word(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b))
        a++, b++;
    return *a == *b;
}

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t fit_edit_distance(const char *a, const char *b, size_t limit)
{
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST || (na > nb ? na - nb : nb - na) > limit)
        return limit + 1;
    size_t row[3][LONGEST + 1]; /* row[i % 3][j]: distance of the first i letters of a and j of b */
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3];
        const size_t *above = row[(i + 2) % 3], *above2 = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const char x = plain(a[i - 1]), y = plain(b[j - 1]);
            now[j] = min2(min2(above[j], now[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == plain(b[j - 2]) && plain(a[i - 2]) == y)
                now[j] = min2(now[j], above2[j - 2] + 1);
        }
    }
    return min2(row[na % 3][nb], limit + 1);
}

void fit_nearest_offer(struct fit_nearest *n, const char *candidate)
{
    const size_t length = strlen(n->name);
    const size_t limit = length <= 3 ? 1 : length <= 11 ? 2 : 3;
    size_t d = fit_edit_distance(n->name, candidate, limit), same = 0;
    while (same < length && plain(n->name[same]) == plain(candidate[same]))
        same++;
    const int begins = length >= 3 && same == length; /* cut short: as good as the worst of the others */
    if (begins && d > limit)
        d = limit + 1;
    if ((begins || d <= limit) && (!n->best || d < n->distance)) {
        n->best = candidate;
        n->distance = d;
    }
}

const char *fit_nearest_of(const char *name, const char *const *candidate, size_t n)
{
    struct fit_nearest near = {.name = name};
    for (size_t i = 0; i < n; i++)
        fit_nearest_offer(&near, candidate[i]);
    return near.best;
}
