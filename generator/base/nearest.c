/* nearest.c -- edit distance between names (Damerau 1964, optimal string alignment). */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAME = 48 };

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Twice the distance; a change of case costs 1, any other step 2. */
static size_t distance2(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t row[3][MAX_NAME + 1];
    if (na > MAX_NAME || nb > MAX_NAME)
        return (size_t)-1;
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = 2 * j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        now[0] = 2 * i;
        for (size_t j = 1; j <= nb; j++) {
            int alike = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            size_t change = a[i - 1] == b[j - 1] ? 0 : alike ? 1 : 2;
            now[j] = min2(up[j - 1] + change, min2(up[j], now[j - 1]) + 2);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min2(now[j], up2[j - 2] + 2);
        }
    }
    return row[na % 3][nb];
}

void hg_nearest_try(struct hg_nearest *n, const char *candidate)
{
    size_t length = strlen(n->name);
    size_t reach = 2 * (length / 3 > 1 ? length / 3 : 1);
    size_t d = distance2(n->name, candidate);
    if (d > reach || (length == 1 && d > 1) || (n->best && d > n->distance))
        return;
    if (n->best && d == n->distance && strcmp(candidate, n->best) >= 0)
        return; /* of equals the first in the alphabet: candidates come in no order */
    n->best = candidate;
    n->distance = d;
}
