/* test_sequence.c -- every q of a file fitted alone (--sequence q): as fits of that q by itself, and for data in which
 * diffusion is the same for every q, the same within the errors.
 *
 * Static model, three rings of q with two azimuths each, simulated by the kernel itself.
 */
#include "math/rng.h"
#include "support.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RINGS = 3, ANGLES = 2, N = 60, NP = 3 };
static const double ring[RINGS] = {0.004, 0.0054, 0.008}, azimuth[ANGLES] = {0, 90};
static const double truth[NP] = {9000, -0.3, 400}, NOISE = 0.004;
static char *folder, file[600], config[600];

static void one_ring(const struct fit_kernel *k, size_t r, double *v)
{
    struct fit_dataset *ds = e2e_dataset(
        k, &(struct e2e_grid){.ntime = N, .dt = 0.1, .q = ring[r], .gap = 2e6, .nphi = ANGLES, .phi = azimuth});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    double lin[2 * ANGLES] = {0.3 - 0.02 * (double)r, 1, 0.28 - 0.02 * (double)r, 1}, z[2];
    for (uint32_t g = 0; g < ANGLES; g++)
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = i; j < N; j++) {
                double c2 = 1.3;
                if (j > i)
                    k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, &c2, NULL);
                fit_rng_normal(11, r * ANGLES + g, i * N + j, z);
                v[(g * N + i) * N + j] = v[(g * N + j) * N + i] = c2 + NOISE * z[0];
            }
    e2e_release(&p);
    fit_dataset_free(ds);
}

static void write_numbers(hid_t h, const char *name, int rank, const hsize_t *dims, const double *v)
{
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t id = H5Dcreate2(h, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
    H5Dclose(id);
    H5Sclose(space);
}

static int write_experiment(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    double *v = e2e_doubles(RINGS * ANGLES * N * N), q[RINGS * ANGLES], phi[RINGS * ANGLES];
    const hsize_t cube[3] = {RINGS * ANGLES, N, N};
    (void)state;
    folder = e2e_folder();
    snprintf(file, sizeof file, "%s/rings.h5", folder);
    snprintf(config, sizeof config, "%s/rings.yaml", folder);
    for (size_t r = 0; r < RINGS; r++) {
        one_ring(k, r, v + r * ANGLES * N * N);
        for (size_t a = 0; a < ANGLES; a++) {
            q[r * ANGLES + a] = ring[r];
            phi[r * ANGLES + a] = azimuth[a];
        }
    }
    hid_t h = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_numbers(h, "/c2", 3, cube, v);
    write_numbers(h, "/q", 1, cube, q);
    write_numbers(h, "/phi", 1, cube, phi);
    H5Fclose(h);
    free(v);
    FILE *f = fopen(config, "w");
    fprintf(f,
            "analysis_mode: static_anisotropic\nexperimental_data: {file_path: %s}\n"
            "analyzer_parameters: {dt: 0.1}\n",
            file);
    return fclose(f);
}

static int remove_experiment(void **state)
{
    (void)state;
    e2e_remove(folder);
    return 0;
}

static char *in_folder(const char *a, const char *b)
{
    static char path[4][700];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s%s%s", folder, a, *b ? "/" : "", b);
    return p;
}

static int fit(const char *out, const char *option, const char *value)
{
    const char *const argv[] = {"homodyne-static_anisotropic", "fit", config, "--quiet", "-o", in_folder(out, ""),
                                option, value, NULL};
    return e2e_run(argv, NULL, in_folder("err.txt", ""));
}

static double of_row(const char *row, const char *name, const char *key)
{
    return E2E_JSON(in_folder("all", "fit.json"), "sequence", row, "parameters", name, key);
}

static void test_every_q_is_as_a_fit_of_it(void **state)
{
    static const char *const names[NP] = {"D0", "alpha", "D_offset"}, *const row[] = {"0", "1", "2"};
    (void)state;
    assert_int_equal(fit("all", "--sequence", "q"), 0);
    for (size_t r = 0; r < RINGS; r++) {
        char q[40];
        snprintf(q, sizeof q, "%g", ring[r]);
        assert_int_equal(fit("one", "--q", q), 0);
        assert_true(fabs(E2E_JSON(in_folder("all", "fit.json"), "sequence", row[r], "q") - ring[r]) < 1e-15);
        for (size_t k = 0; k < NP; k++) {
            double value = of_row(row[r], names[k], "value"), std = of_row(row[r], names[k], "std");
            assert_true(std > 0);
            double alone = E2E_JSON(in_folder("one", "fit.json"), "parameters", names[k], "value");
            if (!(fabs(value - alone) < 0.01 * std))
                fail_msg("%s at q = %g: %.9g in the sequence, %.9g alone, error %.3g", names[k], ring[r], value, alone,
                         std);
            if (!(fabs(value - truth[k]) < 5 * std))
                fail_msg("%s at q = %g: %.9g +- %.3g, truth %g", names[k], ring[r], value, std, truth[k]);
        }
        double contrast = of_row(row[r], "contrast", "value"), error = of_row(row[r], "contrast", "std");
        assert_true(error > 0 && fabs(contrast - (0.29 - 0.02 * (double)r)) < 5 * error);
    }
    /* without --q the fit itself is of the lowest */
    assert_true(fabs(E2E_JSON(in_folder("all", "fit.json"), "parameters", "D0", "value") - of_row("0", "D0", "value")) <
                0.01 * of_row("0", "D0", "std"));
}

static void test_means_over_q(void **state)
{
    static const char *const row[] = {"0", "1", "2"};
    double w = 0, wv = 0, chi2 = 0;
    (void)state;
    for (size_t r = 0; r < RINGS; r++) {
        double robust = of_row(row[r], "D0", "std_robust"), std = robust > 0 ? robust : of_row(row[r], "D0", "std");
        w += 1 / (std * std);
        wv += of_row(row[r], "D0", "value") / (std * std);
    }
    for (size_t r = 0; r < RINGS; r++) {
        double robust = of_row(row[r], "D0", "std_robust"), std = robust > 0 ? robust : of_row(row[r], "D0", "std");
        chi2 += pow((of_row(row[r], "D0", "value") - wv / w) / std, 2) / (RINGS - 1);
    }
    const char *json = in_folder("all", "fit.json");
    assert_true(fabs(E2E_JSON(json, "sequence_mean", "D0", "value") / (wv / w) - 1) < 1e-12);
    assert_true(fabs(E2E_JSON(json, "sequence_mean", "D0", "std") * sqrt(w) - 1) < 1e-12);
    assert_true(fabs(E2E_JSON(json, "sequence_mean", "D0", "chi2_per_dof") - chi2) < 1e-9 * (1 + chi2));
    assert_true(chi2 < 8); /* 2 degrees of freedom: beyond that in one of 3000 cases */
}

static void test_refusals(void **state)
{
    (void)state;
    assert_int_equal(fit("refused", "--sequence", "k"), 3);
    /* without a sequence several q are an error that names them */
    assert_int_equal(fit("refused", "--loss", "linear"), 4);
}

int main(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_q_is_as_a_fit_of_it),
        cmocka_unit_test(test_means_over_q),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, write_experiment, remove_experiment);
}
