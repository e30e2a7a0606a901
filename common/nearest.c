/* nearest.c -- edit distance with swaps, three rows at a time. */
#include "common/nearest.h"

#include <string.h>

#define LONGEST 63 /* longer names are not compared */

static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

int same_word(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b))
        a++, b++;
    return *a == *b;
}

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Cost of replacing one letter by another. */
static size_t change(char a, char b)
{
    const char x = a == '-' ? '_' : a, y = b == '-' ? '_' : b;
    return x == y ? 0 : plain(a) == plain(b) ? 1 : 2;
}

size_t nearest_distance(const char *a, const char *b, size_t limit)
{
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST || 2 * (na > nb ? na - nb : nb - na) > limit)
        return limit + 1;
    size_t row[3][LONGEST + 1]; /* row[i % 3][j]: distance of the first i letters of a and j of b */
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = 2 * j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3];
        const size_t *above = row[(i + 2) % 3], *above2 = row[(i + 1) % 3];
        now[0] = 2 * i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = min2(min2(above[j], now[j - 1]) + 2, above[j - 1] + change(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1]))
                now[j] = min2(now[j], above2[j - 2] + 2);
            if (j > 1 && plain(a[i - 1]) == 'f' && plain(b[j - 2]) == 'p' && plain(b[j - 1]) == 'h')
                now[j] = min2(now[j], above[j - 2] + 2); /* as it is heard: alfa, fi0 */
        }
    }
    return min2(row[na % 3][nb], limit + 1);
}

void nearest_offer(struct nearest *n, const char *candidate)
{
    const size_t length = strlen(n->name);
    const size_t limit = length == 1 ? 1 : length < 6 ? 2 : length / 3 * 2;
    size_t d = nearest_distance(n->name, candidate, limit), same = 0;
    while (same < length && plain(n->name[same]) == plain(candidate[same]))
        same++;
    const int begins = length >= 3 && same == length; /* an abbreviation: as far as the farthest accepted */
    if ((begins || d <= limit) &&
        (!n->best || d < n->distance || (d == n->distance && strcmp(candidate, n->best) < 0))) {
        n->best = candidate;
        n->distance = d;
    }
}

const char *nearest_of(const char *name, const char *const *candidate, size_t n)
{
    struct nearest near = {.name = name};
    for (size_t i = 0; i < n; i++)
        nearest_offer(&near, candidate[i]);
    return near.best;
}
