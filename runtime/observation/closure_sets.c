/* closure_sets.c -- selects the triangles and quadrangles of baselines (closures.h, SETS).
 *
 * Rows are sorted by time; those of one time form a table of stations, in which closures find their legs. */
#include "observation/closures_impl.h"

#include "math/special.h"

#include <string.h>

/* Rows of one time may differ by the rounding of dates (days of double precision since 4713 BC: 0.04 ms). */
#define SAME_TIME 1e-6 /* hours */

enum { MOST_STATIONS = 2048 }; /* stations at one time: their table of pairs has 16 MB */

struct scan {
    const struct fit_obs *obs;
    int nleg, maximal;
    const size_t *place;
    size_t *at;      /* nsite: the index of a station among those of this time, + 1; 0: absent */
    size_t nstation; /* of this time */
    size_t *station; /* nsite */
    int32_t *row_of; /* nstation x nstation: +-(row + 1), 0: not measured */
    struct fit_closure_sets *sets;
    int counting;
};

/* One closure: legs in pairs of stations. */
static void emit(struct scan *s, const size_t (*pair)[2])
{
    int32_t leg[4];
    for (int k = 0; k < s->nleg; k++)
        if (!(leg[k] = s->row_of[pair[k][0] * s->nstation + pair[k][1]]))
            return;
    if (!s->counting)
        memcpy(s->sets->leg + s->sets->n * (size_t)s->nleg, leg, (size_t)s->nleg * sizeof *leg);
    s->sets->n++;
}

static void triangle(struct scan *s, size_t a, size_t b, size_t c)
{
    emit(s, (const size_t[][2]){{a, b}, {b, c}, {c, a}});
}

static void quadrangle(struct scan *s, size_t a, size_t b, size_t c, size_t d)
{
    emit(s, (const size_t[][2]){{a, b}, {c, d}, {a, d}, {b, c}});
}

static void triangles(struct scan *s)
{
    size_t n = s->nstation;
    for (size_t a = 0; a < (s->maximal ? n : n > 0); a++)
        for (size_t b = a + 1; b < n; b++)
            for (size_t c = b + 1; c < n; c++)
                triangle(s, a, b, c);
}

static void all_quadrangles(struct scan *s)
{
    size_t n = s->nstation;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            for (size_t c = b + 1; c < n; c++)
                for (size_t d = c + 1; d < n; d++) {
                    quadrangle(s, a, b, c, d);
                    quadrangle(s, a, c, b, d);
                    quadrangle(s, a, b, d, c);
                }
}

static void quadrangles(struct scan *s)
{
    for (size_t i = 3; i < s->nstation; i++)
        for (size_t j = 1; j < i; j++)
            quadrangle(s, 0, i, j, j == i - 1 ? 1 : j + 1);
}

/* ---- one time ----------------------------------------------------------------------------------------- */

/* The stations of n rows, in their order. */
static void find_stations(struct scan *s, const size_t *row, size_t n)
{
    s->nstation = 0;
    for (size_t k = 0; k < 2 * n; k++) {
        size_t site = (size_t)(k % 2 ? s->obs->t2 : s->obs->t1)[row[k / 2]], j = s->nstation;
        if (s->at[site])
            continue;
        for (; j && s->place[s->station[j - 1]] > s->place[site]; j--)
            s->station[j] = s->station[j - 1];
        s->station[j] = site;
        s->at[site] = 1;
        s->nstation++;
    }
    for (size_t j = 0; j < s->nstation; j++)
        s->at[s->station[j]] = j + 1;
}

static void forget_stations(struct scan *s)
{
    for (size_t j = 0; j < s->nstation; j++)
        s->at[s->station[j]] = 0;
}

static void fill_table(struct scan *s, const size_t *row, size_t n)
{
    size_t m = s->nstation;
    memset(s->row_of, 0, m * m * sizeof *s->row_of);
    for (size_t k = 0; k < n; k++) {
        size_t a = s->at[s->obs->t1[row[k]]] - 1, b = s->at[s->obs->t2[row[k]]] - 1;
        if (s->row_of[a * m + b]) {
            s->sets->repeated++;
            continue;
        }
        s->row_of[a * m + b] = (int32_t)row[k] + 1;
        s->row_of[b * m + a] = -s->row_of[a * m + b];
    }
}

static void closures_of_time(struct scan *s, const size_t *row, size_t n)
{
    size_t before = s->sets->n;
    find_stations(s, row, n);
    fill_table(s, row, n);
    if (s->nleg == 3)
        triangles(s);
    else if (s->maximal)
        all_quadrangles(s);
    else
        quadrangles(s);
    forget_stations(s);
    if (s->sets->n == before)
        return;
    if (!s->counting)
        s->sets->block[s->sets->nblock] = s->sets->n - before;
    s->sets->nblock++;
}

/* ---- all times ---------------------------------------------------------------------------------------- */

/* Number of rows of one time, from `first` on. */
static size_t rows_of_time(const struct fit_obs *obs, const size_t *row, size_t first, size_t n)
{
    size_t k = first + 1;
    while (k < n && obs->time[row[k]] - obs->time[row[k - 1]] <= SAME_TIME)
        k++;
    return k - first;
}

static void all_times(struct scan *s, const size_t *row, size_t n)
{
    s->sets->n = s->sets->nblock = s->sets->repeated = 0;
    for (size_t k = 0, m; k < n; k += m) {
        m = rows_of_time(s->obs, row, k, n);
        closures_of_time(s, row + k, m);
    }
}

static size_t most_stations(struct scan *s, const size_t *row, size_t n)
{
    size_t most = 0;
    for (size_t k = 0, m; k < n; k += m) {
        m = rows_of_time(s->obs, row, k, n);
        find_stations(s, row + k, m);
        forget_stations(s);
        most = s->nstation > most ? s->nstation : most;
    }
    return most;
}

/* Selected rows, ordered by time; those of the same time in the order of the observation. */
static size_t sort_rows(const struct fit_obs *obs, const unsigned char *use, size_t *row)
{
    size_t m = 0;
    fit_sort_index(obs->n, obs->time, row);
    for (size_t k = 0; k < obs->n; k++)
        if (use[row[k]])
            row[m++] = row[k];
    return m;
}

static enum fit_status take_sets(struct scan *s, const size_t *row, size_t n, struct fit_arena *a,
                                 struct fit_error *err)
{
    s->counting = 1;
    all_times(s, row, n);
    s->sets->leg = fit_take(a, s->sets->n, (size_t)s->nleg * sizeof *s->sets->leg);
    s->sets->block = fit_take(a, s->sets->nblock, sizeof *s->sets->block);
    if (a->failed)
        return fit_no_memory(err, "closures");
    s->counting = 0;
    all_times(s, row, n);
    return FIT_OK;
}

enum fit_status fit_closure_sets(const struct fit_obs *obs, const unsigned char *use, int nleg, int maximal,
                                 struct fit_arena *a, struct fit_closure_sets *sets, struct fit_error *err)
{
    FIT_SCRATCH(t);
    size_t *row = fit_take(&t, obs->n, sizeof *row), *place = fit_take(&t, obs->nsite, sizeof *place);
    struct scan s = {.obs = obs, .nleg = nleg, .maximal = maximal, .place = place, .sets = sets};
    s.at = fit_take(&t, obs->nsite, sizeof *s.at);
    s.station = fit_take(&t, obs->nsite, sizeof *s.station);
    if (t.failed)
        return fit_no_memory(err, "closures");
    fit_obs_site_order(obs, place);
    size_t n = sort_rows(obs, use, row), most = most_stations(&s, row, n);
    if (most > MOST_STATIONS)
        return fit_fail(err, FIT_ERR_UNSUPPORTED,
                        "%s: %zu stations measured at one time; closures are made of at most %d", obs->file, most,
                        MOST_STATIONS);
    if (!(s.row_of = fit_take(&t, most * most, sizeof *s.row_of)))
        return fit_no_memory(err, "closures");
    return take_sets(&s, row, n, a, err);
}
