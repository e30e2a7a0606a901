/* test_imaging_fits.c -- UVFITS and FITS images as another program writes them (tests/data/imaging/make_samples.py),
 * our own images in FITS and HDF5, damaged files. */
#include "golden.h"

#include "observation/image.h"
#include "observation/uvfits.h"

#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA FIT_SOURCE_DIR "/tests/data/imaging/"

/* Numbers of 24 bits, and sums of a few of them. */
#define SINGLE 5e-7

static struct fit_error err;
static char file[64];

static struct fit_obs *read_obs(const char *name)
{
    struct fit_obs *o;
    if (fit_obs_read(name, &o, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return o;
}

static int has_note(const struct fit_notes *n, const char *word)
{
    for (size_t k = 0; k < n->n; k++)
        if (strstr(n->text[k], word))
            return 1;
    return 0;
}

/* The row of golden_eht.h5 of the same time and stations (by name). */
static size_t row_of(const struct fit_obs *g, const struct fit_obs *o, size_t i)
{
    for (size_t k = 0; k < g->n; k++)
        if (fabs(g->time[k] - o->time[i]) < 1e-6 && !strcmp(g->site[g->t1[k]], o->site[o->t1[i]]) &&
            !strcmp(g->site[g->t2[k]], o->site[o->t2[i]]))
            return k;
    fail_msg("row %zu is not in the other file", i);
    return 0;
}

static double complex visibility(const struct fit_obs *o, enum fit_stokes s, size_t i)
{
    return CMPLX(o->stokes[s].re[i], o->stokes[s].im[i]);
}

static void same_row(const struct fit_obs *g, const struct fit_obs *o, size_t i, double eps)
{
    static const double part[FIT_STOKES] = {1, 0.2, -0.1, 0.05};
    size_t k = row_of(g, o, i);
    assert_true(fabs(o->u[i] - g->u[k]) <= eps * fabs(g->u[k]) && fabs(o->v[i] - g->v[k]) <= eps * fabs(g->v[k]));
    for (int s = 0; s < FIT_STOKES; s++) {
        if (isinf(o->stokes[s].sigma[i]))
            continue;
        double complex want = part[s] * visibility(g, FIT_STOKES_I, k);
        assert_true(cabs(visibility(o, (enum fit_stokes)s, i) - want) < 3 * eps * cabs(visibility(g, FIT_STOKES_I, k)));
        assert_true(fabs(o->stokes[s].sigma[i] / g->stokes[0].sigma[k] - 1) < eps);
    }
}

static void test_circular_feeds(void **state)
{
    (void)state;
    struct fit_obs *g = read_obs(GOLDEN), *o = read_obs(DATA "circular.uvfits");
    assert_int_equal(o->n, 42); /* one is flagged, one of a station with itself */
    assert_true(o->mjd == 51544 && o->tint == 5 && o->frequency == 230e9 && o->bandwidth == 4e9);
    assert_true(fabs(o->ra - 17.761) < 1e-12 && o->dec == -29);
    assert_string_equal(o->object, "SGRA");
    assert_string_equal(o->site[0], "JCMT");
    assert_true(o->site_xyz[0] == 7e6 && o->site_xyz[1] == 2.5 && o->site_xyz[2] == -2);
    assert_true(has_note(&o->notes, "1 groups of a station with itself") && has_note(&o->notes, "one parallel hand"));
    for (size_t i = 0; i < o->n; i++) {
        size_t k = row_of(g, o, i);
        int alone = isinf(o->stokes[FIT_STOKES_V].sigma[i]);
        assert_int_equal(alone, i == 1);
        if (!alone) {
            same_row(g, o, i, SINGLE);
            continue;
        }
        /* RR alone: I + V, with its error */
        assert_true(cabs(visibility(o, FIT_STOKES_I, i) / visibility(g, FIT_STOKES_I, k) - 1.05) < SINGLE);
        assert_true(fabs(o->stokes[0].sigma[i] / g->stokes[0].sigma[k] - sqrt(2)) < SINGLE);
        assert_true(cabs(visibility(o, FIT_STOKES_Q, i) / visibility(g, FIT_STOKES_I, k) - 0.2) < SINGLE);
    }
    fit_obs_free(g);
    fit_obs_free(o);
}

static void test_linear_feeds_channels_and_ifs(void **state)
{
    (void)state;
    struct fit_obs *g = read_obs(GOLDEN), *o = read_obs(DATA "linear.uvfits");
    assert_int_equal(o->n, 21);
    assert_true(o->frequency == 231.5e9 && o->bandwidth == 2e9 && isnan(o->tint));
    assert_true(has_note(&o->notes, "2 channels of 2 IFs"));
    for (size_t i = 0; i < o->n; i++)
        same_row(g, o, i, 1e-12);
    size_t place[8];
    assert_int_equal(fit_obs_site_order(o, place), 1);
    fit_obs_free(g);
    fit_obs_free(o);
}

/* Jones matrices are not needed: each convention gives back the parameters from which its correlations were made. */
static void test_stokes_of_correlations(void **state)
{
    (void)state;
    double complex i = 1.1 + 0.2 * I, q = 0.3 - 0.1 * I, u = -0.2 + 0.05 * I, v = 0.1 + 0.3 * I;
    const double complex want[4] = {i, q, u, v};
    const struct {
        int base;
        double complex c[4];
    } f[] = {{-1, {i + v, i - v, q + I * u, q - I * u}}, {-5, {i + q, i - q, u + I * v, u - I * v}}, {1, {i, q, u, v}}};
    for (int k = 0; k < 3; k++) {
        struct fit_correlation c[4], s[4];
        for (int j = 0; j < 4; j++)
            c[j] = (struct fit_correlation){creal(f[k].c[j]), cimag(f[k].c[j]), 0.2};
        fit_uvfits_stokes(f[k].base, c, s);
        for (int j = 0; j < 4; j++) {
            assert_true(cabs(CMPLX(s[j].re, s[j].im) - want[j]) < 1e-15);
            assert_true(fabs(s[j].sigma - (f[k].base == 1 ? 0.2 : sqrt(0.02))) < 1e-16);
        }
        c[0].sigma = INFINITY;
        fit_uvfits_stokes(f[k].base, c, s);
        assert_true(f[k].base == 1 ? isinf(s[0].sigma) : s[0].sigma == 0.2 && s[0].re == c[1].re);
    }
}

/* ---- images ---------------------------------------------------------------------------------------------- */

static struct fit_sky *read_image(const char *name)
{
    struct fit_sky *m;
    if (fit_image_read(name, &m, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return m;
}

static void test_image_of_another_writer(void **state)
{
    (void)state;
    struct fit_sky *m = read_image(DATA "beam.fits");
    double degree = acos(-1.0) / 180, factor = 1e-18 / (acos(-1.0) / (4 * log(2)) * 12e-18);
    assert_true(m->nx == 6 && m->ny == 5 && fabs(m->pixel / (1e-9 * degree) - 1) < 1e-15);
    assert_true(m->ra == 12.5 && m->dec == 12.5 && m->frequency == 345e9 && m->mjd == 57850);
    assert_string_equal(m->object, "M87's");
    for (size_t r = 0; r < 5; r++) /* CDELT1 > 0: turned; CDELT2 < 0: as it is */
        for (size_t c = 0; c < 6; c++)
            assert_true(fabs(m->stokes[0][r * 6 + c] - factor * (double)(r * 6 + 5 - c)) < 1e-12);
    fit_image_free(m);
}

static void test_images_of_golden_files(void **state)
{
    (void)state;
    struct fit_sky *m = read_image(GOLDEN ":/grid/truth");
    double sum = 0;
    for (size_t i = 0; i < 120; i++)
        sum += m->stokes[0][i];
    assert_true(m->nx == 12 && m->ny == 10 && m->pixel == 8.080228018490226e-11 && fabs(sum - 2) < 1e-12);
    fit_image_free(m);
    m = read_image(GOLDEN ":/survey/prior_fwhm60"); /* its shape is that of /grid */
    assert_true(m->nx == 12 && m->ny == 10);
    fit_image_free(m);
    assert_int_equal(fit_image_read(GOLDEN ":/obs/u", &m, &err), FIT_ERR_DATA);
    assert_null(m);
    assert_int_equal(fit_image_read(GOLDEN ":/nothing", &m, &err), FIT_ERR_DATA);
    assert_int_equal(fit_image_read(DATA "circular.uvfits", &m, &err), FIT_ERR_DATA);
    struct fit_obs *o;
    assert_int_equal(fit_obs_read(DATA "beam.fits", &o, &err), FIT_ERR_DATA);
    assert_null(o);
}

static void fill(struct fit_sky *m)
{
    m->pixel = 2.4e-11;
    m->ra = 17.761;
    m->dec = -28.9;
    m->frequency = 230.1e9;
    m->mjd = 57850.25;
    m->object = fit_arena_string(&m->arena, "it's");
    assert_true(fit_image_add_stokes(m, FIT_STOKES_U) && fit_image_add_stokes(m, FIT_STOKES_V));
    for (size_t i = 0; i < m->nx * m->ny; i++) {
        m->stokes[FIT_STOKES_I][i] = exp(sin((double)i));
        m->stokes[FIT_STOKES_U][i] = -1e-300 * (double)(i + 1);
        m->stokes[FIT_STOKES_V][i] = cos((double)i);
    }
}

static void test_images_come_back(void **state)
{
    (void)state;
    static const char *const end[] = {".fits", ".h5", ".h5:/a/b"};
    for (int k = 0; k < 3; k++) {
        char name[96], plain[80];
        snprintf(name, sizeof name, "%s%s", file, end[k]);
        snprintf(plain, sizeof plain, "%s%s", file, k ? ".h5" : ".fits");
        struct fit_sky *m = fit_image_new(37, 23);
        fill(m);
        if (fit_image_write(name, m, &err) != FIT_OK)
            fail_msg("%s", err.message);
        struct fit_sky *r = read_image(name);
        assert_true(r->nx == 37 && r->ny == 23 && fabs(r->pixel / m->pixel - 1) < 1e-15 && fabs(r->ra - m->ra) < 1e-14);
        assert_true(r->dec == m->dec && r->frequency == m->frequency && r->mjd == m->mjd);
        assert_string_equal(r->object, "it's");
        assert_null(r->stokes[FIT_STOKES_Q]);
        for (int s = 0; s < FIT_STOKES; s++)
            if (m->stokes[s])
                assert_memory_equal(r->stokes[s], m->stokes[s], 37 * 23 * sizeof(double));
        assert_int_equal(r->notes.n, 0);
        fit_image_free(r);
        fit_image_free(m);
        remove(plain);
    }
}

/* Keywords that other programs look for, in cards of 80 bytes in blocks of 2880. */
static void test_header_that_is_written(void **state)
{
    (void)state;
    static const char *const card[] = {"SIMPLE  =                    T", "BITPIX  =                  -64",
                                       "CTYPE1  = 'RA---SIN'",           "CTYPE2  = 'DEC--SIN'",
                                       "BUNIT   = 'JY/PIXEL'",           "OBJECT  = 'it''s   '",
                                       "CRPIX1  =                 19.0"};
    char name[80], header[2881] = "";
    snprintf(name, sizeof name, "%s.fits", file);
    struct fit_sky *m = fit_image_new(37, 23);
    fill(m);
    assert_int_equal(fit_image_write(name, m, &err), FIT_OK);
    FILE *f = fopen(name, "rb");
    assert_int_equal(fread(header, 1, 2880, f), 2880);
    fseek(f, 0, SEEK_END);
    assert_int_equal(ftell(f), 3 * (2880 + 3 * 2880)); /* 37 x 23 x 8 bytes are 3 blocks */
    fclose(f);
    for (size_t k = 0; k < sizeof card / sizeof *card; k++) {
        const char *at = strstr(header, card[k]);
        assert_true(at && (at - header) % 80 == 0);
    }
    assert_int_equal(strlen(header), 2880);
    fit_image_free(m);
    remove(name);
}

/* ---- damaged files --------------------------------------------------------------------------------------- */

/* The sample with the first `from` replaced by `to` (the same length), cut to so many bytes (0: all). */
static const char *damaged(const char *sample, const char *from, const char *to, size_t cut)
{
    static char bytes[40000], name[80];
    FILE *f = fopen(sample, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t k = 0; *from && k + strlen(from) <= n; k++)
        if (!memcmp(bytes + k, from, strlen(from))) {
            memcpy(bytes + k, to, strlen(to));
            break;
        }
    snprintf(name, sizeof name, "%s.damaged", file);
    f = fopen(name, "wb");
    fwrite(bytes, 1, cut ? cut : n, f);
    fclose(f);
    return name;
}

static void test_damaged_uvfits_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *word;
        size_t cut;
    } d[] = {{"", "", "ends at byte", 5000},
             {"GCOUNT  =                   44", "GCOUNT  =           4000000000", "ends at byte", 0},
             {"GCOUNT  =                   44", "GCOUNT  =     9000000000000000", "ends at byte", 0},
             {"GROUPS  =                    T", "GROUPS  =                    F", "no visibilities", 0},
             {"PTYPE3  = 'BASELINE'", "PTYPE3  = 'BASELIME'", "BASELINE", 0},
             {"CTYPE3  = 'STOKES  '", "CTYPE3  = 'STOKED  '", "STOKE", 0},
             {"CRVAL3  =                   -1", "CRVAL3  =                   -3", "polarisation", 0},
             {"CTYPE4  = 'FREQ    '", "CTYPE4  = 'FROG    '", "no frequency", 0},
             {"EXTNAME = 'AIPS AN ", "EXTNAME = 'AIPS ON ", "AIPS AN", 0},
             {"TTYPE1  = 'ANNAME", "TTYPE1  = 'ONNAME", "ANNAME", 0},
             {"TFORM1  = '8A", "TFORM1  = '9A", "NOSTA", 0},
             {"BITPIX  =                  -32", "BITPIX  =                  -33", "BITPIX", 0},
             {"CTYPE2  = 'COMPLEX '", "CTYPE2  = 'COMPLEY '", "COMPLEY", 0}};
    for (size_t k = 0; k < sizeof d / sizeof *d; k++) {
        struct fit_obs *o;
        enum fit_status st = fit_obs_read(damaged(DATA "circular.uvfits", d[k].from, d[k].to, d[k].cut), &o, &err);
        if (st != FIT_ERR_DATA && st != FIT_ERR_UNSUPPORTED)
            fail_msg("%zu: status %d", k, (int)st);
        if (!strstr(err.message, d[k].word))
            fail_msg("%zu: %s", k, err.message);
        assert_null(o);
    }
}

static void test_damaged_images_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *word;
        size_t cut;
    } d[] = {{"", "", "ends at byte", 2890},
             {"", "", "ends at byte", 2000},
             {"NAXIS1  =                    6", "NAXIS1  =             90000000", "ends at byte", 0},
             {"CTYPE4  = 'STOKES  '", "CTYPE4  = 'STOKER  '", "", 0},
             {"CRVAL4  =                  1.0", "CRVAL4  =                  2.0", "no image of Stokes I", 0},
             {"CDELT1  =                1E-09", "CDELT1  =                2E-09", "square", 0},
             {"CDELT2  =               -1E-09", "CDELT2  =                0E-09", "CDELT", 0},
             {"MJD-OBS =              57850.0", "CROTA2  =                 12.5", "rotated", 0},
             {"MJD-OBS =              57850.0", "CD1_2   =                1E-10", "rotated", 0},
             {"MJD-OBS =              57850.0", "CROTA2  =                  0.0", "", 0},
             {"BUNIT   = 'Jy/beam '", "BUNIT   = 'Jy/bean '", "BUNIT", 0},
             {"BMAJ    =", "BMAX    =", "BMAJ", 0}};
    for (size_t k = 0; k < sizeof d / sizeof *d; k++) {
        struct fit_sky *m;
        enum fit_status st = fit_image_read(damaged(DATA "beam.fits", d[k].from, d[k].to, d[k].cut), &m, &err);
        if (!*d[k].word) {
            assert_int_equal(st, FIT_OK);
            fit_image_free(m);
            continue;
        }
        if (st != FIT_ERR_DATA && st != FIT_ERR_UNSUPPORTED)
            fail_msg("%zu: status %d", k, (int)st);
        if (!strstr(err.message, d[k].word))
            fail_msg("%zu: %s", k, err.message);
        assert_null(m);
    }
    char name[80];
    snprintf(name, sizeof name, "%s.damaged", file);
    remove(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circular_feeds),
        cmocka_unit_test(test_linear_feeds_channels_and_ifs),
        cmocka_unit_test(test_stokes_of_correlations),
        cmocka_unit_test(test_image_of_another_writer),
        cmocka_unit_test(test_images_of_golden_files),
        cmocka_unit_test(test_images_come_back),
        cmocka_unit_test(test_header_that_is_written),
        cmocka_unit_test(test_damaged_uvfits_is_refused),
        cmocka_unit_test(test_damaged_images_are_refused),
    };
    snprintf(file, sizeof file, "/tmp/fit_fits_%d", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
