/* test_eval.c -- values and derivatives of emitted kernels against those of the Python packages.
 *
 * For every parameter point of the golden files: `homodyne-MODEL eval --variant=parity --jacobian`,
 * then all of /c2 and /jacobian, the diagonal included, against homodyne 2.23.3 (xpcsjax differs
 * from it on the diagonal only).  Usage: test_eval BINDIR.  Skips (77) without the golden files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hdf5/reader.h"
#include "shared.h"

/* Both sides round differently: of c2, some ulp of 1; of a derivative, relative to its largest
 * value over all points, with a floor for derivatives that are nearly nothing everywhere. */
static const double TOL_C2 = 1e-13, TOL_JACOBIAN = 1e-12, TINY_JACOBIAN = 1e-5;

static const char peer[] = "homodyne_2.23.3";

struct text {
    char s[8192];
    size_t n;
};

static void add(struct text *t, const char *word, double value, const char *after)
{
    t->n += (size_t)snprintf(t->s + t->n, sizeof t->s - t->n, "%s%.17g%s", word, value, after);
}

static void need(enum fit_status st, const struct fit_error *err)
{
    if (st == FIT_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static double *read_values(struct fit_h5 *h, const char *group, const char *name, size_t *n)
{
    char path[256];
    double *value = NULL;
    struct fit_error err;
    snprintf(path, sizeof path, "%s/%s", group, name);
    need(fit_h5_read_doubles(h, path, &value, n, &err), &err);
    return value;
}

static double attribute(struct fit_h5 *h, const char *group, const char *name, double otherwise)
{
    double *value = NULL, first;
    size_t n;
    struct fit_error err;
    if (!fit_h5_has_attr(h, group, name))
        return otherwise;
    need(fit_h5_read_attr_doubles(h, group, name, &value, &n, &err), &err);
    first = value[0];
    free(value);
    return first;
}

static void add_list(struct text *t, const char *option, struct fit_h5 *h, const char *group,
                     const char *name)
{
    size_t n;
    double *value = read_values(h, group, name, &n);
    add(t, option, value[0], "");
    for (size_t k = 1; k < n; k++)
        add(t, ",", value[k], "");
    free(value);
}

/* --set NAME=VALUE for the names in the attribute param_names: "D0,alpha,..." */
static void add_parameters(struct text *t, struct fit_h5 *h, const char *group)
{
    char *names = NULL, word[128];
    size_t n, k = 0;
    struct fit_error err;
    double *value = read_values(h, group, "params", &n);
    need(fit_h5_read_attr_string(h, group, "param_names", &names, &err), &err);
    for (char *name = strtok(names, ","); name && k < n; name = strtok(NULL, ","), k++) {
        snprintf(word, sizeof word, " --set %s=", name);
        add(t, word, value[k], "");
    }
    free(names);
    free(value);
}

static void command(struct text *t, const char *program, struct fit_h5 *h, const char *group,
                    const char *out)
{
    size_t n;
    double *time = read_values(h, group, "t", &n);
    t->n = (size_t)snprintf(t->s, sizeof t->s,
                            "'%s' eval -o '%s' --variant=parity --jacobian --frames %zu", program,
                            out, n);
    add(t, " --first-time ", time[0], "");
    add(t, " --dt ", attribute(h, group, "dt_s", 0), "");
    add(t, " --q ", attribute(h, group, "q_invA", 0), "");
    add(t, " --gap ", attribute(h, group, "L_A", 1e6), "");
    add_list(t, " --phi ", h, group, "phi_deg");
    add_list(t, " --contrast ", h, group, "contrast");
    add_list(t, " --offset ", h, group, "offset");
    add_parameters(t, h, group);
    free(time);
}

/* Largest |a - b| of column c of rows of `width`, over the largest |b| there or `tiny`. */
static double worst(const double *a, const double *b, size_t n, size_t width, size_t c, double tiny)
{
    double difference = 0, scale = tiny;
    for (size_t k = c; k < n; k += width) {
        double d = fabs(a[k] - b[k]);
        difference = d <= difference ? difference : d; /* NaN counts */
        scale = fmax(scale, fabs(b[k]));
    }
    return difference / scale;
}

static int compare(struct fit_h5 *ours, struct fit_h5 *golden, const char *group)
{
    char name[128];
    int bad = 0;
    size_t n, m, nj, mj;
    double *a = read_values(ours, "", "c2", &n), *ja = read_values(ours, "", "jacobian", &nj);
    snprintf(name, sizeof name, "%s/c2", peer);
    double *b = read_values(golden, group, name, &m);
    snprintf(name, sizeof name, "%s/jac", peer);
    double *jb = read_values(golden, group, name, &mj);
    if (n != m || nj != mj) {
        printf("FAILED: %s: %zu values, %zu expected\n", group, n, m);
        bad = 1;
    } else {
        double e = worst(a, b, n, 1, 0, 1);
        if (!(e < TOL_C2)) {
            printf("FAILED: %s: c2 differs by %.2g\n", group, e);
            bad = 1;
        }
        for (size_t c = 0; c < nj / n; c++) {
            e = worst(ja, jb, nj, nj / n, c, TINY_JACOBIAN);
            if (!(e < TOL_JACOBIAN)) {
                printf("FAILED: %s: derivative %zu differs by %.2g of its largest value\n", group,
                       c, e);
                bad = 1;
            }
        }
    }
    free(a);
    free(b);
    free(ja);
    free(jb);
    return bad;
}

/* All points of one file; 1 when something failed. */
static int one_file(const char *bin, const char *model, const char *path)
{
    struct fit_h5 *golden, *ours;
    struct fit_error err;
    struct text t;
    char **name, program[512], group[128], out[] = "/tmp/fit-golden-XXXXXX";
    size_t n;
    int bad = 0, fd = mkstemp(out);
    if (fd < 0)
        return 1;
    close(fd);
    snprintf(program, sizeof program, "%s/homodyne-%s", bin, model);
    need(fit_h5_open(path, &golden, &err), &err);
    need(fit_h5_list(golden, "/", &name, &n, &err), &err);
    for (size_t k = 0; k < n; k++) {
        snprintf(group, sizeof group, "/%s", name[k]);
        command(&t, program, golden, group, out);
        if (system(t.s) != 0) {
            printf("FAILED: %s\n", t.s);
            bad = 1;
            continue;
        }
        need(fit_h5_open(out, &ours, &err), &err);
        bad |= compare(ours, golden, group);
        fit_h5_close(ours);
    }
    printf("%s: %zu parameter points\n", path, n);
    fit_h5_free_strings(name, n);
    fit_h5_close(golden);
    unlink(out);
    return bad;
}

int main(int argc, char **argv)
{
    static const char *const file[][2] = {
        {"laminar", "golden/xpcs/golden_laminar_flow.h5"},
        {"laminar", "golden/xpcs/golden_laminar_flow_t_from_dt.h5"},
        {"static_isotropic", "golden/xpcs/golden_static_isotropic.h5"},
        {"static_isotropic", "golden/xpcs/golden_static_isotropic_t_from_dt.h5"},
        {"static_anisotropic", "golden/xpcs/golden_static_anisotropic.h5"},
        {"static_anisotropic", "golden/xpcs/golden_static_anisotropic_t_from_dt.h5"},
    };
    char path[1024];
    int bad = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: test_eval BINDIR\n");
        return 1;
    }
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        if (!shared_path(path, sizeof path, file[k][1]))
            return 77;
        bad |= one_file(argv[1], file[k][0], path);
    }
    return bad;
}
