/* estimate.c -- number of speckles and shot noise from the moments of residuals; see noise.h.
 *
 * The expected moments follow from the covariance of the values: a polynomial of second degree in the shot noise s2,
 * over M; its mean over the values is that over a fixed sample of them. Where s2 is small compared with the contrast,
 * differences over one frame and over several distinguish it from the decay of the model; where it is large, the
 * products of differences with a common frame do. M and s2 are where the logarithms of all agree best, weighted by
 * their scatter over the slices; leaving out one slice at a time gives their errors (jackknife: Miller, Biometrika 61
 * (1974) 1).
 */
#include "speckle/noise.h"

#include <math.h>
#include <string.h>

#include "math/rng.h"

enum {
    SAMPLES = 256,
    PIECE = 64,
    LEAST = 30, /* values of a moment */
    MOMENTS = FIT_SPECKLE_DISTANCES + 1,
    STEPS = 90, /* steps of the search for s2, a tenth of a decade each */
    HALVINGS = 24,
    AGES = 8,
    QUARTER = 8,
    LOOKED = 128
};
static const double FLOOR = 0.03;    /* least scatter of a logarithm: no moment is trusted more */
static const double LOWEST = 1e-4;   /* s2, of the contrast */
static const double LEFT = 1e-6;     /* C over the contrast, of a part that is there */
static const double SAME = 0.2, ROUND = 0.02; /* how far C may be from the contrast at equal times, and from 0 */

/* ---- the model ------------------------------------------------------------------------------------------- */

void fit_speckle_values(const struct fit_speckle_model *m, size_t g, size_t n, const uint32_t *i, const uint32_t *j,
                        double *out)
{
    const double base = m->lin[g * m->kernel->nlinear + (size_t)m->kernel->intercept];
    uint32_t group[PIECE];
    for (size_t k = 0; k < PIECE; k++)
        group[k] = (uint32_t)g;
    for (size_t k = 0; k < n; k += PIECE) {
        const size_t some = n - k < PIECE ? n - k : PIECE;
        m->kernel->points(m->layout, m->ws, m->lin, &(struct fit_points){some, i + k, j + k, group}, out + k, NULL);
        for (size_t e = 0; e < some; e++)
            out[k + e] -= base;
    }
}

static double value(const struct fit_speckle_model *m, size_t g, size_t i, size_t j)
{
    double out;
    fit_speckle_values(m, g, 1, &(uint32_t){(uint32_t)i}, &(uint32_t){(uint32_t)j}, &out);
    return out;
}

/* Frames after `age` at which C is 1/e of b; beyond the last frame, extrapolated from the decay so far. */
static double decay_after(const struct fit_speckle_model *m, size_t g, size_t age, double b)
{
    const size_t most = m->layout->nframe - 1 - age;
    size_t lo = 0, hi = 1;
    while (hi < most && value(m, g, age, age + hi) > b * exp(-1)) {
        lo = hi;
        hi *= 2;
    }
    hi = hi < most ? hi : most;
    double last = value(m, g, age, age + hi) / b;
    if (last > exp(-1))
        return (double)hi / fmax(-log(fmin(last, 1)), 1e-3);
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        *(value(m, g, age, age + mid) > b * exp(-1) ? &lo : &hi) = mid;
    }
    const double above = value(m, g, age, age + lo) / b, below = value(m, g, age, age + hi) / b;
    return above > below ? (double)lo + (above - exp(-1)) / (above - below) : (double)hi;
}

/* Largest C from the first frame over lags of a quarter of the data. */
static double left_after(const struct fit_speckle_model *m, size_t g, size_t lag)
{
    const size_t n = m->layout->nframe;
    double most = 0;
    for (size_t k = 0; k <= QUARTER; k++)
        most = fmax(most, value(m, g, 0, lag + k * (n / 4 - 1) / QUARTER));
    return most;
}

/* Frames in which C falls by e between the third quarter of the data and the last; 0: nothing remains there. */
static double tail_of(const struct fit_speckle_model *m, size_t g, double b)
{
    const size_t n = m->layout->nframe;
    const double before = left_after(m, g, n / 2), last = left_after(m, g, n - n / 4);
    return n >= 8 && last > LEFT * b ? (double)n / 4 / fmax(log(before / last), 1e-6) : 0;
}

int fit_speckle_suits(const struct fit_speckle_model *m, size_t g, struct fit_speckle_noise *x, const char **why)
{
    const size_t n = m->layout->nframe;
    uint32_t i[LOOKED], j[LOOKED];
    double c[LOOKED], least = INFINITY, most = -INFINITY, b = 0;
    for (size_t k = 0; k < LOOKED; k++)
        i[k] = (uint32_t)(k * n / LOOKED);
    fit_speckle_values(m, g, LOOKED, i, i, c);
    for (size_t k = 0; k < LOOKED; k++) {
        b += c[k] / LOOKED;
        least = fmin(least, c[k]);
        most = fmax(most, c[k]);
    }
    *x = (struct fit_speckle_noise){0};
    if (!(fabs(least) > 0) && !(fabs(most) > 0)) /* on its bound: only noise between frames is visible */
        return n > 2;
    *why = "the model's contrast is not positive";
    if (!(b > 0) || !isfinite(b))
        return 0;
    *why = "the model's contrast depends on the time";
    if (!(most - least < SAME * b))
        return 0;
    for (size_t k = 0; k < LOOKED; k++) {
        double u[2];
        fit_rng_uniform(1, 0, k, u);
        i[k] = (uint32_t)(u[0] * (double)n);
        j[k] = (uint32_t)(u[1] * (double)n);
    }
    fit_speckle_values(m, g, LOOKED, i, j, c);
    *why = "the model is not a contrast times |g1|^2 on a baseline";
    for (size_t k = 0; k < LOOKED; k++)
        if (!(c[k] >= -ROUND * b && c[k] <= (1 + SAME) * b))
            return 0;
    *x = (struct fit_speckle_noise){.contrast = b};
    for (size_t k = 0; k < AGES && n > 2; k++)
        x->frames += decay_after(m, g, k * (n - 2) / AGES, b) / AGES;
    x->longest = n > 2 ? fmax(x->frames, tail_of(m, g, b)) : 0;
    return n > 2;
}

/* ---- expected moments ------------------------------------------------------------------------------------ */

/* C between four frames, 0 .. 3. */
struct four {
    double C[4][4], g[4][4], b, shot;
};

static double shot_too(const struct four *x, int i, int j)
{
    return x->C[i][j] + (i == j ? x->shot : 0);
}

static double third(const struct four *x, int i, int j, int k)
{
    return 2 * x->b * x->b * x->g[i][j] * x->g[j][k] * x->g[k][i];
}

static double cycle(const struct four *x, int i, int j, int k, int l)
{
    return x->g[i][j] * x->g[j][k] * x->g[k][l] * x->g[l][i];
}

/* Third moment of the measured intensity: the variance of photons is proportional to the intensity. i != j. */
static double third_seen(const struct four *x, int i, int j, int k)
{
    return third(x, i, j, k) + (i == k || j == k ? x->shot * x->C[i][j] : 0);
}

/* The same for the fourth moment, where pairs have one frame in common, and where they have both. */
static double photons(const struct four *x, int s, int t, int u, int v)
{
    const double one = (s == u ? third(x, s, t, v) : 0) + (s == v ? third(x, s, t, u) : 0) +
                       (t == u ? third(x, t, s, v) : 0) + (t == v ? third(x, t, s, u) : 0);
    return x->shot * one + ((s == u && t == v) || (s == v && t == u) ? x->shot * x->shot * x->C[s][t] : 0);
}

/* M Cov[c_st, c_uv]; places of different frames. */
static double element(const struct four *x, int s, int t, int u, int v)
{
    return shot_too(x, s, u) * shot_too(x, t, v) + shot_too(x, s, v) * shot_too(x, t, u) + photons(x, s, t, u, v) +
           2 * x->b * x->b * x->b * (cycle(x, s, t, u, v) + cycle(x, s, t, v, u) + cycle(x, s, u, t, v)) -
           x->C[u][v] * (third_seen(x, s, t, u) + third_seen(x, s, t, v)) -
           x->C[s][t] * (third_seen(x, u, v, s) + third_seen(x, u, v, t)) +
           x->C[s][t] * x->C[u][v] * (shot_too(x, s, u) + shot_too(x, s, v) + shot_too(x, t, u) + shot_too(x, t, v));
}

static void take_four(const struct fit_speckle_model *m, size_t g, const size_t *frame, size_t n, struct four *x)
{
    uint32_t i[16], j[16];
    double c[16];
    size_t count = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++, count++) {
            i[count] = (uint32_t)(frame[a] < frame[b] ? frame[a] : frame[b]);
            j[count] = (uint32_t)(frame[a] < frame[b] ? frame[b] : frame[a]);
        }
    fit_speckle_values(m, g, count, i, j, c);
    count = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++, count++) {
            x->C[a][b] = x->C[b][a] = fmin(fmax(c[count], 0), x->b);
            x->g[a][b] = x->g[b][a] = frame[a] == frame[b] ? 1 : sqrt(x->C[a][b] / x->b);
        }
}

/* Number k of the sample in the triangle t - s >= 3, t + apart < n; 0: there is none. */
static int draw(size_t n, size_t apart, uint64_t stream, uint64_t *k, size_t *s, size_t *t)
{
    for (int turn = 0; turn < 64; turn++) {
        double u[2];
        fit_rng_uniform(1, stream, (*k)++, u);
        *s = (size_t)(u[0] * (double)n);
        *t = (size_t)(u[1] * (double)n);
        if (*t >= *s + 3 && *t + apart < n)
            return 1;
    }
    return 0;
}

/* Coefficients of a polynomial of second degree from its values at s2 = 0, b and 2 b. */
static void coefficients(const double at[3], double b, double out[3])
{
    out[0] = at[0];
    out[2] = (at[2] - 2 * at[1] + at[0]) / (2 * b * b);
    out[1] = (at[1] - at[0]) / b - out[2] * b;
}

static int tell_square(const struct fit_speckle_model *m, size_t g, double b, size_t apart, double out[3])
{
    struct four x = {.b = b};
    double at[3] = {0};
    uint64_t k = 0;
    for (size_t n = 0; n < SAMPLES; n++) {
        size_t frame[3];
        if (!draw(m->layout->nframe, apart, 1, &k, &frame[0], &frame[1]))
            return 0;
        frame[2] = frame[1] + apart;
        take_four(m, g, frame, 3, &x);
        for (int e = 0; e < 3; e++) {
            x.shot = e * b;
            at[e] += (element(&x, 0, 1, 0, 1) - 2 * element(&x, 0, 1, 0, 2) + element(&x, 0, 2, 0, 2)) / SAMPLES;
        }
    }
    coefficients(at, b, out);
    return 1;
}

static int tell_product(const struct fit_speckle_model *m, size_t g, double b, size_t rows, double out[3])
{
    struct four x = {.b = b};
    double at[3] = {0};
    uint64_t k = 0;
    for (size_t n = 0; n < SAMPLES;) {
        size_t frame[4];
        double u[2];
        if (!draw(m->layout->nframe, 1, 2, &k, &frame[0], &frame[2]) || k > 64 * SAMPLES)
            return 0;
        fit_rng_uniform(1, 3, k, u);
        frame[1] = frame[0] / rows * rows + (size_t)(u[0] * (double)rows);
        frame[3] = frame[2] + 1;
        if (frame[1] == frame[0] || frame[1] + 3 > frame[2] ||
            frame[1] / m->layout->chunk != frame[0] / m->layout->chunk)
            continue; /* segments end with their tile */
        n++;
        take_four(m, g, frame, 4, &x);
        for (int e = 0; e < 3; e++) {
            x.shot = e * b;
            at[e] += (element(&x, 0, 2, 1, 2) - element(&x, 0, 2, 1, 3) - element(&x, 0, 3, 1, 2) +
                      element(&x, 0, 3, 1, 3)) / SAMPLES;
        }
    }
    coefficients(at, b, out);
    return 1;
}

/* ---- measured moments ------------------------------------------------------------------------------------ */

/* Mean over all slices except `without`; the number of values in *count. */
static double mean_of(const double *sum, const double *number, size_t without, double *count)
{
    double s = 0, n = 0;
    for (size_t q = 0; q < FIT_SPECKLE_SLICES; q++)
        if (q != without) {
            s += sum[q];
            n += number[q];
        }
    *count = n;
    return n > 0 ? s / n : NAN;
}

/* The level whose segments are as long as twice the decay: frames are still correlated there. */
static size_t level_for(double frames)
{
    size_t h = 0;
    while (h + 1 < FIT_SPECKLE_LEVELS && (double)((size_t)4 << h) <= 2 * frames)
        h++;
    return h;
}

void fit_speckle_sharing(const struct fit_speckle_moments *m, double frames, double *sum, double *variance)
{
    const size_t h = level_for(frames);
    double n, ns, square = mean_of(m->square[0], m->nsquare[0], FIT_SPECKLE_SLICES, &ns),
                  product = mean_of(m->product[h], m->nproduct[h], FIT_SPECKLE_SLICES, &n);
    if (!(n > 0) || !(square > 0))
        return;
    *sum += n * product / square; /* of n products, each once more, and like its neighbour's by half */
    *variance += 3 * n;
}

/* Moments in use: expected and measured values, and their uncertainties. */
struct seen {
    size_t n;
    double told[MOMENTS][3], mean[MOMENTS][FIT_SPECKLE_SLICES + 1], weight[MOMENTS];
};

static double told_at(const double a[3], double shot)
{
    return a[0] + shot * (a[1] + shot * a[2]);
}

/* Adds a moment; the means without one slice scatter about that of all. */
static void add_moment(struct seen *x, const double *sum, const double *number)
{
    const size_t all = FIT_SPECKLE_SLICES;
    double n, *mean = x->mean[x->n], square = 0;
    for (size_t q = 0; q <= all; q++) {
        mean[q] = mean_of(sum, number, q, &n);
        if (!(mean[q] > 0) || n < LEAST)
            return;
    }
    for (size_t q = 0; q < all; q++)
        square += pow(log(mean[q] / mean[all]), 2);
    x->weight[x->n++] = 1 / (square * (double)(all - 1) / (double)all + FLOOR * FLOOR);
}

/* Disagreement about M of the moments without slice q, and log M. */
static double disagreement(const struct seen *x, size_t q, double shot, double *log_count)
{
    double w = 0, mean = 0, square = 0, y[MOMENTS];
    for (size_t k = 0; k < x->n; k++) {
        const double told = told_at(x->told[k], shot);
        y[k] = told > 0 ? log(told / x->mean[k][q]) : -100;
        w += x->weight[k];
        mean += x->weight[k] * y[k];
    }
    *log_count = mean / w;
    for (size_t k = 0; k < x->n; k++)
        square += x->weight[k] * pow(y[k] - mean / w, 2);
    return square;
}

/* The best s2, and log M. */
static double best_shot(const struct seen *x, size_t q, double b, double *log_count)
{
    double best = 0, ignored, least = disagreement(x, q, 0, log_count), at = -1;
    for (int k = 0; k < STEPS; k++) {
        const double shot = b * LOWEST * pow(10, 0.1 * k), d = disagreement(x, q, shot, &ignored);
        if (d < least) {
            least = d;
            at = k;
        }
    }
    if (at < 0)
        return 0;
    double lo = at - 1, hi = at + 1;
    for (int k = 0; k < HALVINGS; k++) { /* golden section */
        const double a = hi - 0.618034 * (hi - lo), c = lo + 0.618034 * (hi - lo);
        if (disagreement(x, q, b * LOWEST * pow(10, 0.1 * a), &ignored) <
            disagreement(x, q, b * LOWEST * pow(10, 0.1 * c), &ignored))
            hi = c;
        else
            lo = a;
    }
    best = b * LOWEST * pow(10, 0.05 * (lo + hi));
    disagreement(x, q, best, log_count);
    return best;
}

static int look(const struct fit_speckle_model *m, size_t g, const struct fit_speckle_moments *moments,
                const struct fit_speckle_noise *x, struct seen *out)
{
    const size_t n = m->layout->nframe, h = level_for(x->frames);
    for (size_t k = 0; k < FIT_SPECKLE_DISTANCES; k++) {
        const size_t apart = (size_t)1 << k;
        if ((k && (2 * (double)apart > x->frames || 8 * apart > n)) ||
            !tell_square(m, g, x->contrast, apart, out->told[out->n]))
            break;
        add_moment(out, moments->square[k], moments->nsquare[k]);
    }
    if (out->n == 0)
        return 0;
    const size_t squares = out->n;
    if (tell_product(m, g, x->contrast, (size_t)2 << h, out->told[squares]))
        add_moment(out, moments->product[h], moments->nproduct[h]);
    return out->n > squares;
}

/* A given number replaces the estimate; the other one, if not given, is that of the moments with it. */
static void take_given(const struct seen *seen, const struct fit_noise_model *given, struct fit_speckle_noise *x)
{
    double log_count, lo = log(x->contrast * LOWEST), hi = lo + 0.1 * STEPS * log(10);
    if (given->shot > 0) {
        x->shot = given->shot;
        disagreement(seen, FIT_SPECKLE_SLICES, x->shot, &log_count);
        x->count = exp(log_count);
    } else { /* more shot noise, more speckles */
        for (int k = 0; k < 2 * HALVINGS; k++) {
            disagreement(seen, FIT_SPECKLE_SLICES, exp((lo + hi) / 2), &log_count);
            *(log_count < log(given->count) ? &lo : &hi) = (lo + hi) / 2;
        }
        x->shot = exp((lo + hi) / 2);
    }
    if (given->count > 0) {
        x->count = given->count;
        x->count_std = 0;
    }
    x->shot_std = given->shot > 0 ? 0 : x->shot_std;
    x->shared_std = given->shot > 0 ? 0 : x->shared_std;
    x->noise = x->shot / sqrt(x->count);
}

void fit_speckle_estimate(const struct fit_speckle_model *m, size_t g, const struct fit_speckle_moments *moments,
                          int shared, const struct fit_noise_model *given, struct fit_speckle_noise *x)
{
    struct seen seen = {0};
    double n, square = mean_of(moments->square[0], moments->nsquare[0], FIT_SPECKLE_SLICES, &n);
    x->known = FIT_SPECKLE_UNKNOWN;
    if (n < LEAST || !(square > 0))
        return;
    x->known = FIT_SPECKLE_SHOT;
    x->noise = sqrt(square / 2);
    if (!shared || !look(m, g, moments, x, &seen))
        return;
    double log_count, counts = 0, shots = 0, inverse = 0;
    x->known = FIT_SPECKLE_BOTH;
    x->shot = best_shot(&seen, FIT_SPECKLE_SLICES, x->contrast, &log_count);
    x->count = exp(log_count);
    for (size_t q = 0; q < FIT_SPECKLE_SLICES; q++) {
        double other, shot = best_shot(&seen, q, x->contrast, &other);
        counts += pow(other - log_count, 2);
        shots += pow(shot - x->shot, 2);
        inverse += pow(x->shot / shot - 1, 2);
    }
    const double jack = (FIT_SPECKLE_SLICES - 1.0) / FIT_SPECKLE_SLICES;
    x->count_std = x->count * sqrt(jack * counts);
    x->shot_std = sqrt(jack * shots);
    x->shared_std = x->shot > 0 ? sqrt(jack * inverse) : INFINITY;
    x->noise = x->shot / sqrt(x->count);
    if (given->count > 0 || given->shot > 0)
        take_given(&seen, given, x);
}
