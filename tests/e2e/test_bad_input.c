/* test_bad_input.c -- what is wrong is told, with the exit code for it, and nothing is written.
 *
 * Data files with one defect each (made here), configurations, command lines, models.  Every message must name
 * the file or option and hold the words that help; the output must not exist afterwards.
 */
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 12, USAGE = 3, DATA = 4 };

static char *folder;

/* The path of a file in the folder of the test; good for the next seven calls. */
static char *in_folder(const char *name)
{
    static char path[8][1200];
    static size_t next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int contains(const char *file, const char *part)
{
    char text[1 << 14];
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    if (strstr(text, part))
        return 1;
    print_error("expected '%s' in:\n%s\n", part, text);
    return 0;
}

/* Runs argv: exit code, message, no file or folder `out`. */
static void refuses(const char *const argv[], int code, const char *message, const char *out)
{
    int got = e2e_run(argv, NULL, in_folder("err"));
    int told = contains(in_folder("err"), message);
    struct stat st;
    if (got != code || !told || (out && stat(out, &st) == 0))
        fail_msg("%s %s %s %s: exit code %d (%d), %s, %s", argv[0], argv[1], argv[2] ? argv[2] : "",
                 argv[2] && argv[3] ? argv[3] : "", got, code, told ? "told" : "not told",
                 out && stat(out, &st) == 0 ? "something was written" : "nothing was written");
}

/* ---- data files --------------------------------------------------------------------------------------- */

struct file {
    size_t rows, columns;
    const char *without; /* path that is left out */
    double fill;         /* value of all elements; 0: a decay */
    const double *time;  /* N times, or NULL */
};

static void put(struct fit_h5 *h, const struct file *f, const char *path, const double *value, int rank, size_t a,
                size_t b)
{
    struct fit_error err = {0};
    struct fit_h5_array array = {.type = FIT_H5_F64, .rank = rank, .dims = (size_t[]){a, b}, .value = value};
    if (f->without && strcmp(f->without, path) == 0)
        return;
    if (fit_h5_write(h, path, &array, &err) != FIT_OK)
        fail_msg("%s", err.message);
}

/* An APS-U file of one matrix. */
static void write_file(const char *path, const struct file *f)
{
    double *c2 = e2e_doubles(f->rows * f->columns + 1), one = 1;
    struct fit_h5 *h = NULL;
    struct fit_error err = {0};
    for (size_t i = 0; i < f->rows; i++)
        for (size_t j = i; j < f->columns; j++)
            c2[i * f->columns + j] = f->fill != 0 ? f->fill : 1 + 0.3 * exp(-0.3 * (double)(j - i));
    if (fit_h5_create(path, &h, &err) != FIT_OK)
        fail_msg("%s", err.message);
    put(h, f, "/xpcs/qmap/dynamic_v_list_dim0", (double[]){0.0054}, 1, 1, 1);
    put(h, f, "/xpcs/qmap/dynamic_v_list_dim1", (double[]){0}, 1, 1, 1);
    put(h, f, "/xpcs/qmap/dynamic_index_mapping", (double[]){0}, 1, 1, 1);
    put(h, f, "/xpcs/twotime/processed_bins", &one, 1, 1, 1);
    put(h, f, "/xpcs/twotime/correlation_map/c2_00001", c2, 2, f->rows, f->columns);
    if (f->time)
        put(h, f, "/xpcs/twotime/t", f->time, 1, N, 1);
    if (fit_h5_finish(h, &err) != FIT_OK)
        fail_msg("%s", err.message);
    free(c2);
}

static void config(const char *more)
{
    char text[2048];
    snprintf(text, sizeof text,
             "analysis_mode: static_isotropic\n"
             "experimental_data: {file_path: data.h5}\n"
             "analyzer_parameters: {dt: 0.1, scattering: {wavevector_q: 0.0054}}\n%s",
             more);
    write_text(in_folder("c.yaml"), text);
}

static const char *const *fit_command(const char *option, const char *value)
{
    static const char *argv[8];
    static char file[1200], out[1200];
    snprintf(file, sizeof file, "%s/c.yaml", folder);
    snprintf(out, sizeof out, "%s/no", folder);
    argv[0] = "homodyne-static_isotropic", argv[1] = "fit", argv[2] = file, argv[3] = "-o", argv[4] = out;
    argv[5] = option, argv[6] = value, argv[7] = NULL;
    return argv;
}

static void refuses_file(const struct file *f, const char *message)
{
    write_file(in_folder("data.h5"), f);
    refuses(fit_command(NULL, NULL), DATA, message, in_folder("no"));
}

static void good_file(void)
{
    write_file(in_folder("data.h5"), &(struct file){.rows = N, .columns = N});
}

/* The files below have one defect each: without it, this one is fitted. */
static void nothing_wrong(void **state)
{
    (void)state;
    struct stat st;
    config("");
    good_file();
    int code = e2e_run(fit_command(NULL, NULL), NULL, in_folder("err"));
    assert_true(code == 0 || code == 2);
    assert_int_equal(stat(in_folder("no/fit.json"), &st), 0);
    char *out = malloc(1200);
    snprintf(out, 1200, "%s/no", folder);
    e2e_remove(out);
}

static void missing_dataset(void **state)
{
    (void)state;
    config("");
    refuses_file(&(struct file){.rows = N, .columns = N, .without = "/xpcs/qmap/dynamic_v_list_dim1"},
                 "data.h5: no dataset /xpcs/qmap/dynamic_v_list_dim1");
    refuses_file(&(struct file){.rows = N, .columns = N, .without = "/xpcs/twotime/correlation_map/c2_00001"},
                 "data.h5: no layout of two-time data is recognised");
}

static void wrong_shape(void **state)
{
    (void)state;
    config("");
    refuses_file(&(struct file){.rows = N, .columns = N - 1}, "12 x 11; square matrices are needed");
    refuses_file(&(struct file){.rows = 0, .columns = 0}, "is 0 x 0");
    refuses_file(&(struct file){.rows = 2, .columns = 2}, "frames are possible");
}

static void not_finite(void **state)
{
    (void)state;
    config("");
    refuses_file(&(struct file){.rows = N, .columns = N, .fill = (double)NAN}, "12 of 12 frames are blank");
    refuses_file(&(struct file){.rows = N, .columns = N, .fill = (double)INFINITY}, "12 of 12 frames are blank");
}

static void bad_times(void **state)
{
    (void)state;
    double time[N];
    const struct file f = {.rows = N, .columns = N, .time = time};
    config("");
    for (size_t i = 0; i < N; i++)
        time[i] = 0.1 * (double)i;
    time[5] = time[4];
    refuses_file(&f, "times must increase, but frame 5 has 0.4 and frame 6 has 0.4");
    time[5] = 0.05;
    refuses_file(&f, "times must increase, but frame 5 has 0.4 and frame 6 has 0.05");
    time[5] = (double)NAN;
    refuses_file(&f, "the time of frame 6 is");
    time[5] = 0.56;
    refuses_file(&f, "frames must be equally spaced");
    for (size_t i = 5; i < N; i++)
        time[i] = 0.1 * (double)i + 0.3;
    refuses_file(&f, "the step from frame 5 to 6 is 0.4 s, all others 0.1 s; frames must be equally spaced");
}

static void damaged_file(void **state)
{
    (void)state;
    config("");
    good_file();
    assert_int_equal(truncate(in_folder("data.h5"), 3000), 0);
    refuses(fit_command(NULL, NULL), DATA, "data.h5: cannot be opened as HDF5", in_folder("no"));
    write_text(in_folder("data.h5"), "not a data file\n");
    refuses(fit_command(NULL, NULL), DATA, "data.h5", in_folder("no"));
    write_text(in_folder("data.h5"), "");
    refuses(fit_command(NULL, NULL), DATA, "data.h5", in_folder("no"));
    remove(in_folder("data.h5"));
    refuses(fit_command(NULL, NULL), DATA, "data.h5: no such file", in_folder("no"));
}

/* Three matrices of N frames under this name, with q and azimuths when there are some; blank: bits of the matrices
 * without values. */
static void write_flat(const char *name, const double *q, const double *phi, int blank)
{
    static double c2[3][N][N];
    struct fit_h5 *h = NULL;
    struct fit_error err = {0};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                c2[k][i][j] = blank >> k & 1 ? (double)NAN : 1 + 0.3 * exp(-0.3 * fabs((double)i - (double)j));
    struct fit_h5_array cube = {.type = FIT_H5_F64, .rank = 3, .dims = (size_t[]){3, N, N}, .value = c2};
    assert_int_equal(fit_h5_create(in_folder("data.h5"), &h, &err), FIT_OK);
    assert_int_equal(fit_h5_write(h, name, &cube, &err), FIT_OK);
    if (q)
        assert_int_equal(fit_h5_write_doubles(h, "/q", q, 3, &err), FIT_OK);
    if (phi)
        assert_int_equal(fit_h5_write_doubles(h, "/phi", phi, 3, &err), FIT_OK);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
}

static void says(const char *const argv[], const char *message)
{
    assert_int_equal(e2e_run(argv, in_folder("out"), NULL), 0);
    if (!contains(in_folder("out"), message))
        fail_msg("%s %s: not told", argv[0], argv[1]);
}

/* Files that are nearly right: what they lack, and what would be right. */
static void nearly_right(void **state)
{
    (void)state;
    static const double q[] = {0.0054, 0.0054, 0.0054}, degrees[] = {0, 45, 90}, radians[] = {-0.785, 0, 1.571};
    char data[1200], yaml[1200];
    const char *const inspect[] = {"homodyne-static_isotropic", "inspect", data, NULL};
    const char *const check[] = {"homodyne-static_isotropic", "check", yaml, NULL};
    snprintf(data, sizeof data, "%s/data.h5", folder);
    snprintf(yaml, sizeof yaml, "%s/c.yaml", folder);
    write_flat("/entry/C2", q, degrees, 0);
    refuses(inspect, DATA, "matrices may be /entry/C2 (3 x 12 x 12): --dataset PATH takes one of them", NULL);
    write_flat("/c2", NULL, NULL, 0);
    says(inspect, "q not in the file, phi not in the file  (3 matrices)");
    says(inspect, "the frame period: fit and config take it with --dt S");
    write_flat("/c2", q, radians, 0);
    says(inspect, "note: ");
    says(inspect, "all azimuths lie within -0.785 .. 1.571; they are taken in degrees: when they are radians");
    write_flat("/c2", q, degrees, 2);
    says(inspect, "note: [1] (phi = 45): 12 blank frames, 66 values not finite");
    config("");
    refuses(fit_command(NULL, NULL), DATA, "the whole matrix. Leave it out: --phi=0,90", in_folder("no"));
    write_flat("/c2", q, degrees, 3);
    says(inspect, "[0]: no value is finite");
    refuses(check, DATA, "the whole matrix, as those of phi = 45. Leave them out: --phi=90", NULL);
    refuses(fit_command("--stream", "on"), DATA, "the whole matrix, as those of phi = 45. Leave them out: --phi=90",
            in_folder("no"));
    write_flat("/c2", q, degrees, 7);
    refuses(check, DATA, "the whole matrix, as all others of them: there is nothing to fit", NULL);
    /* null in a configuration: its line, once */
    write_flat("/c2", NULL, degrees, 0);
    write_text(in_folder("c.yaml"), "analysis_mode: static_isotropic\nexperimental_data: {file_path: data.h5}\n"
                                    "analyzer_parameters:\n  dt: 0.1\n  scattering: {wavevector_q: null}\n");
    refuses(fit_command(NULL, NULL), USAGE, "c.yaml:5: ", in_folder("no"));
    refuses(check, USAGE, "c.yaml:5: error: ", NULL);
    refuses(check, USAGE, "data.h5 does not give q; set analyzer_parameters.scattering.wavevector_q in 1/angstrom",
            NULL);
    config("phi_filtering: {enabled: true,\n  target_ranges: [{min_angle: 20, max_angle: 30}]}\n");
    refuses(check, DATA, "c.yaml:5: error: ", NULL);
    config("");
    write_flat("/c2", q, NULL, 0);
    refuses(fit_command(NULL, NULL), DATA, "add the angles, one per matrix: phi_filtering.angles, or --phi",
            in_folder("no"));
    good_file();
    const char *const look_at_folder[] = {"homodyne-static_isotropic", "inspect", folder, NULL};
    refuses(look_at_folder, DATA, "is a folder; name a file in it", NULL);
    says(inspect, "1 matrix of 12 frames");
    const char *const table[] = {"homodyne-kww", "fit", "--data", data, "-o", in_folder("no"), NULL};
    write_flat("/c2", q, degrees, 0);
    refuses(table, DATA, "data.h5: is two-time data (flat); the model kww is for tables", in_folder("no"));
    refuses(fit_command("--q", "0.054"), DATA, "; 0.054 looks like nm^-1: write the unit, \"0.054 nm^-1\"",
            in_folder("no"));
    static const double per_nm[] = {0.54, 0.54, 0.54};
    write_flat("/c2", per_nm, degrees, 0);
    refuses(fit_command("--q", "0.054"), DATA, "the file seems to hold q in nm^-1, where 1/angstrom is needed",
            in_folder("no"));
    good_file();
}

/* ---- configurations, command lines -------------------------------------------------------------------- */

static void bad_configuration(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"initial_parameters: {parameter_names: [D0, alpah], values: [1000, 0]}\n", "did you mean 'alpha'?"},
        {"initial_parameters: {parameter_names: [D0, alpha, D_offset], values: [10, 0, 1]}\n",
         "the start of D0, 10, lies outside its bounds 100 .. 100000"},
        {"parameter_space: {bounds: [{name: D0, min: 100, max: 10}]}\n", "not below the upper bound 10"},
        {"optimisation: {method: nlsq}\n",
         "c.yaml:4:1: error: unknown key 'optimisation'; did you mean 'optimization'?"},
        {"optimization: {nlsq: {max_iteratons: 20}}\n", "did you mean 'max_iterations'?"},
        {"noise: [1, 2\n", "c.yaml"},
        {"optimization:\n   method: nlsq\n  nlsq: {loss: huber}\n",
         "c.yaml:6:3: error: did not find expected key; lines of one section are indented alike: 2 spaces here, 3 "
         "above"},
    };
    good_file();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        config(wrong[k][0]);
        refuses(fit_command(NULL, NULL), USAGE, wrong[k][1], in_folder("no"));
    }
    remove(in_folder("c.yaml"));
    refuses(fit_command(NULL, NULL), USAGE, "c.yaml: error: there is no such configuration file", in_folder("no"));
    mkdir(in_folder("c.yaml"), 0777);
    refuses(fit_command(NULL, NULL), USAGE, "c.yaml: error: is a folder; a configuration is a file", in_folder("no"));
    rmdir(in_folder("c.yaml"));
}

static void bad_options(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *message;
        int code;
    } wrong[] = {
        {"--start", "DO=1000", "did you mean 'D0'?", USAGE},
        {"--start", "D0=1", "lies outside its bounds", USAGE},
        {"--start", "D0=nan", "not a number", USAGE},
        {"--bounds", "D0=200:100", "not below the upper bound", USAGE},
        {"--dt", "0", "give a positive, finite number", USAGE},
        {"--gap", "3 s", "another kind of unit", USAGE},
        {"--sigma", "0", "give a positive number", USAGE},
        {"--fix", "D_off=0", "has no parameter 'D_off'; did you mean 'D_offset'?", USAGE},
        {"--loss", "hubert", "did you mean 'huber'?", USAGE},
        {"--threads", "-3", "is not a whole number", USAGE},
        {"--max-iterations", "0", "give 1 or more", USAGE},
        {"--frames", "4:5", "at least three are needed", USAGE},
        {"--max-iteration", "5", "did you mean --max-iterations? See homodyne-static_isotropic fit --help", USAGE},
        {"--counts", "5", "no option of `fit`; it belongs to `simulate`", USAGE},
        {"--jacobian", "", "it belongs to `eval`", USAGE},
        {"--q", "0.1", "nearest q bin is 0.0054", DATA},
        {"--frames", "40:50", "the file has 1..12", DATA},
        {"--phi", "77", "no azimuth within", DATA},
        {"--data", "nothing.h5", "no such file", DATA},
    };
    config("");
    good_file();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refuses(fit_command(wrong[k].option, wrong[k].value), wrong[k].code, wrong[k].message, in_folder("no"));
}

static void bad_simulation(void **state)
{
    (void)state;
    static const char *const wrong[][4] = {
        {"0", "0.1", "--seed=1", "--frames 0"},
        {"10000000", "0.1", "--seed=1", "--frames 10000000"},
        {"10", "-1", "--seed=1", "--dt"},
        {"10", "0.1", "--contrast=nan", "--contrast"},
        {"10", "0.1", "--noise=-1", "--noise"},
        {"10", "0.1", "--set=D1=3", "did you mean 'D0'?"},
        {"10", "0.1", "--contrast=1,2", "2 numbers for 1 angles; give 1"},
    };
    char out[1200]; /* in_folder() forgets its older answers */
    snprintf(out, sizeof out, "%s", in_folder("no.h5"));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const char *const argv[] = {"homodyne-static_isotropic", "simulate", "-o", out, "--q", "0.0054", "--phi", "0",
                                    "--frames", wrong[k][0], "--dt", wrong[k][1], wrong[k][2], NULL};
        refuses(argv, USAGE, wrong[k][3], out);
    }
}

/* A file in the way stops also those who may write everywhere. */
static void output_not_writable(void **state)
{
    (void)state;
    config("");
    good_file();
    write_text(in_folder("taken"), "mine\n");
    const char *const below[] = {"homodyne-static_isotropic", "fit", in_folder("c.yaml"), "-o",
                                 in_folder("taken/results"), NULL};
    refuses(below, DATA, "taken", NULL);
    const char *const same[] = {"homodyne-static_isotropic", "fit", in_folder("c.yaml"), "-o", in_folder("taken"),
                                NULL};
    refuses(same, DATA, "is in the way of the output folder", NULL);
    assert_true(contains(in_folder("taken"), "mine"));
    if (geteuid() == 0)
        return; /* permissions do not bind */
    assert_int_equal(mkdir(in_folder("locked"), 0500), 0);
    const char *const locked[] = {"homodyne-static_isotropic", "fit", in_folder("c.yaml"), "-o",
                                  in_folder("locked/results"), NULL};
    refuses(locked, DATA, "locked", in_folder("locked/results"));
}

/* ---- models ------------------------------------------------------------------------------------------- */

#define HEAD                                                                                                 \
    "local m = model \"bad\" { title = \"x\" }\n"                                                            \
    "local t = m.grid(\"t\", \"s\")\n"                                                                       \
    "local D = m.parameter(\"D\", { unit = \"angstrom^2/s\", start = 1, bounds = {0, 10} })\n"               \
    "local t1, t2 = pair(t)\n"
#define TAIL "m.observe(\"c2\", { over = {t1, t2}, mean = exp(-integral(D, t1, t2) / unit \"angstrom^2\") })\n"

static void bad_model(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {HEAD "local c = D + 1 / second\n" TAIL, "bad.lua:5: error: unit mismatch"},
        {HEAD "local c = expp(-t / second)\n" TAIL, "bad.lua:5: error: there is no function 'expp'"},
        {HEAD "local c = D / 0\n" TAIL, "bad.lua:5: error: division by zero"},
        {HEAD "while true do end\n" TAIL, "is there a loop without an end?"},
        {HEAD "local f = io.open(\"/etc/passwd\")\n" TAIL, "bad.lua:5: error"},
        {HEAD "local c = (D\n" TAIL, "bad.lua"},
        {HEAD, "error"},
        {"", "error"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const char *const argv[] = {"homodyne-gen", in_folder("bad.lua"), "-o", in_folder("made"), NULL};
        write_text(in_folder("bad.lua"), wrong[k][0]);
        refuses(argv, USAGE, wrong[k][1], in_folder("made/bad.c"));
    }
    const char *const path[] = {"homodyne-gen", in_folder("bad.lua"), "-o", in_folder("made"), NULL};
    write_text(in_folder("bad.lua"), wrong[0][0]);
    refuses(path, USAGE, in_folder("bad.lua:5: error: unit mismatch"), in_folder("made/bad.c"));
    const char *const missing[] = {"homodyne-gen", in_folder("none.lua"), "-o", in_folder("made"), NULL};
    refuses(missing, USAGE, "none.lua", in_folder("made/none.c"));
}

static int begin(void **state)
{
    (void)state;
    folder = e2e_folder();
    return 0;
}

static int end(void **state)
{
    (void)state;
    e2e_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_wrong),   cmocka_unit_test(missing_dataset),    cmocka_unit_test(wrong_shape),
        cmocka_unit_test(not_finite),      cmocka_unit_test(bad_times),          cmocka_unit_test(damaged_file),
        cmocka_unit_test(nearly_right),
        cmocka_unit_test(bad_configuration), cmocka_unit_test(bad_options),      cmocka_unit_test(bad_simulation),
        cmocka_unit_test(output_not_writable), cmocka_unit_test(bad_model),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
