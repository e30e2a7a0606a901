/* test_stream_fit.c -- whole fits of values that stay in their file: what is written has the bits of a fit in
 * memory, for several shapes, types and ways of storing, and any number of threads; a file that is damaged, or
 * changes while it is read, ends the fit with a message and without results.
 *
 * Laminar flow, simulated by the kernel itself; noise differs from frame to frame, so that robust errors and
 * weights are not trivial.
 */
#include "math/rng.h"
#include "support.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_GROUPS = 4, GZIP = 4 };

struct shape {
    size_t ngroup, n, chunk; /* chunk 0: contiguous */
    int single, gzip, shuffle, holes, sigma;
    const char *more[4]; /* options of the fit */
};

static const double phi[MOST_GROUPS] = {-5, 20, 75, 110};
static const double truth[] = {20000, -0.2, 500, 0.006, -0.3, 0.0005, -4};
static char *folder, file[600], config[600];

/* ---- the experiment ------------------------------------------------------------------------------------- */

static double *matrices(const struct shape *s)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = e2e_dataset(
        k, &(struct e2e_grid){.ntime = s->n, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = s->ngroup, .phi = phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    double *v = e2e_doubles(s->ngroup * s->n * s->n), lin[2 * MOST_GROUPS], z[2];
    for (size_t g = 0; g < s->ngroup; g++)
        lin[2 * g] = 0.28 + 0.02 * (double)g, lin[2 * g + 1] = 1;
    for (uint32_t g = 0; g < s->ngroup; g++)
        for (uint32_t i = 0; i < s->n; i++)
            for (uint32_t j = i; j < s->n; j++) {
                double c2 = 1.2;
                if (j > i)
                    k->points(&ds->layout, p.ws, lin, &(struct fit_points){1, &i, &j, &g}, &c2, NULL);
                fit_rng_normal(7, g, i * s->n + j, z);
                c2 += (0.005 + 0.01 * (double)(i % 3)) * z[0];
                if (s->holes && (i * 7 + j * 3) % 311 == 5)
                    c2 = NAN;
                v[(g * s->n + i) * s->n + j] = v[(g * s->n + j) * s->n + i] = c2;
            }
    e2e_release(&p);
    fit_dataset_free(ds);
    return v;
}

static void write_cube(hid_t h, const char *name, const struct shape *s, const double *v)
{
    hsize_t dims[3] = {s->ngroup, s->n, s->n}, part[3] = {1, s->chunk, s->chunk};
    hid_t space = H5Screate_simple(3, dims, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
    if (s->chunk)
        H5Pset_chunk(made, 3, part);
    if (s->shuffle)
        H5Pset_shuffle(made);
    if (s->gzip)
        H5Pset_deflate(made, GZIP);
    hid_t id = H5Dcreate2(h, name, s->single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(id >= 0);
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
    H5Dclose(id);
    H5Pclose(made);
    H5Sclose(space);
}

static void write_list(hid_t h, const char *name, const double *v, hsize_t n)
{
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t id = H5Dcreate2(h, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v);
    H5Dclose(id);
    H5Sclose(space);
}

static void write_experiment(const struct shape *s)
{
    double *v = matrices(s), q[MOST_GROUPS] = {0.0054, 0.0054, 0.0054, 0.0054};
    hid_t h = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(h >= 0);
    write_cube(h, "/c2", s, v);
    for (size_t k = 0; s->sigma && k < s->ngroup * s->n * s->n; k++) {
        size_t i = k / s->n % s->n, j = k % s->n;
        v[k] = 0.005 + 0.01 * (double)((i < j ? i : j) % 3);
    }
    if (s->sigma)
        write_cube(h, "/sigma", s, v);
    write_list(h, "/q", q, s->ngroup);
    write_list(h, "/phi", phi, s->ngroup);
    H5Fclose(h);
    free(v);
    FILE *f = fopen(config, "w");
    assert_non_null(f);
    fprintf(f,
            "analysis_mode: laminar_flow\n"
            "experimental_data: {file_path: %s}\n"
            "analyzer_parameters:\n"
            "  dt: 0.1\n"
            "  scattering: {wavevector_q: 0.0054}\n"
            "  geometry: {stator_rotor_gap: 200 um}\n",
            file);
    fclose(f);
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

static char *in_folder(const char *a, const char *b)
{
    static char path[4][700];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s%s%s", folder, a, *b ? "/" : "", b);
    return p;
}

static int fit(const struct shape *s, const char *out, const char *stream, const char *threads)
{
    const char *argv[20] = {"homodyne-laminar", "fit",   config, "--quiet", "--stream", stream,
                            "--threads",        threads, "-o"};
    int n = 9;
    char path[700];
    snprintf(path, sizeof path, "%s", in_folder(out, ""));
    argv[n++] = path;
    for (size_t k = 0; k < 4 && s->more[k]; k++)
        argv[n++] = s->more[k];
    return e2e_run(argv, NULL, in_folder("err.txt", ""));
}

/* Lines that tell of the run, not of its result. */
static int of_the_run(const char *line)
{
    static const char *const keys[] = {"wall_seconds", "peak_rss_mb",  "memory_estimate_mb", "\"threads\"",
                                       "values were read from", "command_line", "begin", "end\":", "stream", "run_id"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (strstr(line, keys[k]))
            return 1;
    return 0;
}

static int next_line(FILE *f, char *line, size_t size)
{
    while (fgets(line, (int)size, f)) {
        if (strstr(line, "\"phases\""))
            while (fgets(line, (int)size, f) && !strchr(line, '}'))
                ;
        else if (!of_the_run(line))
            return 1;
    }
    return 0;
}

static void same_json(const char *a, const char *b)
{
    static char x[65536], y[65536];
    FILE *f = fopen(a, "r"), *g = fopen(b, "r");
    size_t lines = 0;
    assert_true(f && g);
    while (next_line(f, x, sizeof x)) {
        assert_true(next_line(g, y, sizeof y));
        assert_string_equal(x, y);
        lines++;
    }
    assert_false(next_line(g, y, sizeof y));
    assert_true(lines > 150); /* the list above has not swallowed the result */
    fclose(f);
    fclose(g);
}

struct comparison {
    hid_t other;
    size_t compared;
};

static herr_t same_object(hid_t h, const char *name, const H5L_info_t *info, void *user)
{
    struct comparison *c = user;
    (void)info;
    hid_t a = H5Dopen2(h, name, H5P_DEFAULT);
    if (a < 0) /* a group */
        return 0;
    hid_t b = H5Dopen2(c->other, name, H5P_DEFAULT), type = H5Dget_type(a);
    if (b < 0)
        fail_msg("%s is missing", name);
    hid_t space = H5Dget_space(a), native = H5Tget_native_type(type, H5T_DIR_ASCEND);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    size_t bytes = (size_t)n * H5Tget_size(native);
    if (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER) {
        char *x = calloc(1, bytes + 1), *y = calloc(1, bytes + 1);
        H5Dread(a, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
        H5Dread(b, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, y);
        if (memcmp(x, y, bytes) != 0 && !strstr(name, "seconds") && !strstr(name, "threads") &&
            strcmp(name, "entry/convergence/time") != 0)
            fail_msg("%s differs", name);
        c->compared++;
        free(x);
        free(y);
    }
    H5Tclose(native);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(a);
    H5Dclose(b);
    return 0;
}

static void same_hdf5(const char *a, const char *b)
{
    hid_t f = H5Fopen(a, H5F_ACC_RDONLY, H5P_DEFAULT);
    struct comparison c = {.other = H5Fopen(b, H5F_ACC_RDONLY, H5P_DEFAULT)};
    assert_true(f >= 0 && c.other >= 0);
    H5Lvisit(f, H5_INDEX_NAME, H5_ITER_INC, same_object, &c);
    assert_true(c.compared > 20);
    H5Fclose(f);
    H5Fclose(c.other);
}

static char *text_of(const char *path)
{
    static char text[8192];
    FILE *f = fopen(path, "r");
    text[0] = '\0';
    if (f) {
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
    }
    return text;
}

static void check(const struct shape *s)
{
    static const char *const threads[] = {"1", "2", "3"};
    write_experiment(s);
    int code = fit(s, "memory", "off", "2");
    if (code != 0 && code != 2)
        fail_msg("exit code %d: %s", code, text_of(in_folder("err.txt", "")));
    for (int k = 0; k < (s->n > 1000 ? 1 : 3); k++) {
        assert_int_equal(fit(s, "streamed", "on", threads[k]), code);
        same_json(in_folder("memory", "fit.json"), in_folder("streamed", "fit.json"));
        same_hdf5(in_folder("memory", "fit.h5"), in_folder("streamed", "fit.h5"));
    }
    /* errors for correlated noise are there wherever there are errors */
    static const char *const names[] = {"D0", "alpha", "D_offset", "gamma_dot_t0", "phi0"};
    int found = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double usual = E2E_JSON(in_folder("streamed", "fit.json"), "parameters", names[k], "std"),
               robust = E2E_JSON(in_folder("streamed", "fit.json"), "parameters", names[k], "std_robust");
        assert_true(isnan(usual) == isnan(robust));
        found += robust > 0;
    }
    if (found == 0)
        fail_msg("no error in any of %zu x %zu frames: %s", s->ngroup, s->n,
                 text_of(in_folder("streamed", "summary.txt")));
}

static void test_streamed_fits_are_those_in_memory(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {.ngroup = 1, .n = 260, .single = 1},
        {.ngroup = 3, .n = 150},
        {.ngroup = 4, .n = 203, .single = 1, .chunk = 64, .gzip = 1, .shuffle = 1},
        {.ngroup = 2, .n = 190, .chunk = 77, .gzip = 1, .holes = 1},
        {.ngroup = 2, .n = 160, .single = 1, .chunk = 160, .gzip = 1, .sigma = 1},
        {.ngroup = 3, .n = 180, .single = 1, .more = {"--frames", "5:170", "--mask", "20:22,90:90"}},
        {.ngroup = 2, .n = 170, .chunk = 50, .more = {"--loss", "soft_l1"}},
        {.ngroup = 1, .n = 1500, .single = 1, .chunk = 1500, .gzip = 1, .shuffle = 1}, /* one large chunk */
        {.ngroup = 1, .n = 1100, .chunk = 1100, .gzip = 1},
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        check(&shapes[k]);
}

/* ---- faults --------------------------------------------------------------------------------------------- */

static void nothing_written(const char *out)
{
    static const char *const names[] = {"fit.json", "fit.h5", "summary.txt", "run.log"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (access(in_folder(out, names[k]), F_OK) == 0)
            fail_msg("%s was written", names[k]);
}

static void test_a_damaged_chunk(void **state)
{
    (void)state;
    static const struct shape s = {.ngroup = 2, .n = 150, .single = 1, .chunk = 50, .gzip = 1};
    write_experiment(&s);
    struct stat now;
    assert_int_equal(stat(file, &now), 0);
    int fd = open(file, O_WRONLY);
    char junk[2000];
    memset(junk, 0x5a, sizeof junk);
    assert_true(pwrite(fd, junk, sizeof junk, now.st_size / 2) > 0);
    close(fd);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(fit(&s, "damaged", k ? "on" : "off", "2"), 4);
        const char *text = text_of(in_folder("err.txt", ""));
        if (!strstr(text, file) || (k && !strstr(text, "damaged")))
            fail_msg("the message is: %s", text);
        nothing_written("damaged");
    }
}

/* Starts a fit and waits until it tells of its first step. */
static pid_t start_fit(const char *out, int *from)
{
    char program[1024], path[700];
    int pipe_[2];
    snprintf(program, sizeof program, "%s/homodyne-laminar", E2E_BIN_DIR);
    snprintf(path, sizeof path, "%s", in_folder(out, ""));
    assert_int_equal(pipe(pipe_), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipe_[1], 2);
        close(pipe_[0]);
        execl(program, program, "fit", config, "--stream", "on", "--progress=json", "-o", path, (char *)NULL);
        _exit(127);
    }
    close(pipe_[1]);
    *from = pipe_[0];
    char line[4096];
    size_t n = 0;
    while (n < sizeof line - 1 && read(*from, line + n, 1) == 1) {
        line[++n] = '\0';
        if (line[n - 1] == '\n') {
            if (strstr(line, "iteration"))
                break;
            n = 0;
        }
    }
    kill(pid, SIGSTOP);
    return pid;
}

static int end_fit(pid_t pid, int from, char *text, size_t size)
{
    int status;
    size_t n = 0;
    ssize_t got;
    kill(pid, SIGCONT);
    while ((got = read(from, text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(from);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_a_file_that_changes_while_it_is_read(void **state)
{
    (void)state;
    static const struct shape s = {.ngroup = 3, .n = 600, .single = 1};
    static const char *const what[] = {"truncated", "replaced", "removed"};
    for (int k = 0; k < 3; k++) {
        char text[16384], other[700];
        int from;
        write_experiment(&s);
        pid_t pid = start_fit("changed", &from);
        if (k == 0) {
            assert_int_equal(truncate(file, 100000), 0);
        } else if (k == 1) {
            snprintf(other, sizeof other, "%s.new", file);
            FILE *f = fopen(other, "w");
            fputs("another", f);
            fclose(f);
            rename(other, file);
        } else {
            unlink(file);
        }
        int code = end_fit(pid, from, text, sizeof text);
        if (code != 4 || !strstr(text, file) || !strstr(text, k == 2 ? "has disappeared" : "was changed"))
            fail_msg("%s: exit code %d: %s", what[k], code, text);
        nothing_written("changed");
    }
}

int main(void)
{
    folder = e2e_folder();
    snprintf(file, sizeof file, "%s/experiment.h5", folder);
    snprintf(config, sizeof config, "%s/config.yaml", folder);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streamed_fits_are_those_in_memory),
        cmocka_unit_test(test_a_damaged_chunk),
        cmocka_unit_test(test_a_file_that_changes_while_it_is_read),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    e2e_remove(folder);
    return failed;
}
