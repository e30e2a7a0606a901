/* posterior_file.c -- looks at posterior.nc with HDF5 alone.
 *
 *     posterior_file same A.nc B.nc    exit 0 when all draws, statistics and coordinates have the
 * same bits posterior_file check FILE.nc     exit 0 when the layout is that of ArviZ: every
 * variable has a scale attached to each dimension, with the name of a coordinate of its own group
 * and with its length; chain and draw are 0, 1, ...; values are finite; attributes are there
 *     posterior_file read FILE         exit 0 when all numbers of any HDF5 file can be read
 *     posterior_file mean FILE.nc VARIABLE   prints the mean of a variable of the group posterior
 */
#include <hdf5.h>
#include <hdf5_hl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults;

static void fault(const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    faults++;
}

/* H5I_DATASET, H5I_GROUP, ... of the object that a link leads to.  H5Ovisit would tell it, but the arguments of
 * H5Ovisit, and what it hands over, are others in each of HDF5 1.8, 1.10 and 1.12; H5Lvisit is written the same way for
 * all of them. */
static H5I_type_t kind_of(hid_t file, const char *name)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    H5I_type_t kind = object < 0 ? H5I_BADID : H5Iget_type(object);
    if (object < 0)
        fault(name, "cannot be opened");
    else
        H5Oclose(object);
    return kind;
}

/* ---- same ------------------------------------------------------------------------------------ */

struct bytes {
    void *value;
    size_t n;
};

static struct bytes read_all(hid_t file, const char *path)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set),
          type = H5Dget_type(set);
    struct bytes b = {NULL, (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type)};
    b.value = calloc(b.n + 1, 1);
    if (set < 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, b.value) < 0)
        fault(path, "cannot be read");
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return b;
}

static int is_text(hid_t file, const char *path)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), type = H5Dget_type(set);
    int text = H5Tget_class(type) == H5T_STRING;
    H5Tclose(type);
    H5Dclose(set);
    return text;
}

struct comparison {
    hid_t other;
    size_t compared;
};

static herr_t compare(hid_t file, const char *name, const H5L_info_t *link, void *user)
{
    struct comparison *c = user;
    (void)link;
    if (kind_of(file, name) != H5I_DATASET || is_text(file, name))
        return 0;
    if (H5Lexists(c->other, name, H5P_DEFAULT) <= 0) {
        fault(name, "only in one file");
        return 0;
    }
    struct bytes a = read_all(file, name), b = read_all(c->other, name);
    if (a.n != b.n || memcmp(a.value, b.value, a.n) != 0)
        fault(name, "differs");
    c->compared += a.n;
    free(a.value);
    free(b.value);
    return 0;
}

static void same(hid_t a, hid_t b)
{
    struct comparison c = {.other = b};
    H5Lvisit(a, H5_INDEX_NAME, H5_ITER_INC, compare, &c);
    if (c.compared < 1000)
        fault("same", "there is too little to compare");
}

/* ---- read ------------------------------------------------------------------------------------ */

static herr_t read_one(hid_t file, const char *name, const H5L_info_t *link, void *user)
{
    size_t *n = user;
    (void)link;
    if (kind_of(file, name) == H5I_DATASET && !is_text(file, name)) {
        free(read_all(file, name).value);
        *n += 1;
    }
    return 0;
}

static void read_every(hid_t file)
{
    size_t n = 0;
    if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, read_one, &n) < 0 || n < 5)
        fault("read", "not all can be read, or there is too little");
}

/* ---- check ----------------------------------------------------------------------------------- */

struct scale {
    char name[64];
    hsize_t length;
    int found;
};

static herr_t take_scale(hid_t set, unsigned dim, hid_t scale, void *user)
{
    struct scale *s = user;
    hid_t space = H5Dget_space(scale);
    (void)set;
    (void)dim;
    H5DSget_scale_name(scale, s->name, sizeof s->name);
    s->length = (hsize_t)H5Sget_simple_extent_npoints(space);
    s->found++;
    H5Sclose(space);
    return 0;
}

static double *doubles(hid_t set, size_t *n)
{
    hid_t space = H5Dget_space(set);
    *n = (size_t)H5Sget_simple_extent_npoints(space);
    double *x = calloc(*n + 1, sizeof *x);
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0)
        *n = 0;
    H5Sclose(space);
    return x;
}

static void check_coordinate(hid_t set, const char *name)
{
    const char *last = strrchr(name, '/');
    if (H5Aexists(set, "_Netcdf4Dimid") <= 0)
        fault(name, "no _Netcdf4Dimid");
    if (!last || (strcmp(last, "/chain") != 0 && strcmp(last, "/draw") != 0))
        return;
    size_t n;
    double *x = doubles(set, &n);
    for (size_t k = 0; k < n; k++)
        if (x[k] != (double)k)
            fault(name, "is not 0, 1, 2, ...");
    free(x);
}

static void check_dimensions(hid_t file, hid_t set, const char *name)
{
    hid_t space = H5Dget_space(set);
    hsize_t dims[8];
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    const char *last = strrchr(name, '/');
    char path[256];
    for (int k = 0; k < rank; k++) {
        struct scale s = {.name = ""};
        H5DSiterate_scales(set, (unsigned)k, NULL, take_scale, &s);
        snprintf(path, sizeof path, "%.*s/%s", (int)(last - name), name, s.name);
        if (s.found != 1)
            fault(name, "a dimension has no scale, or several");
        else if (s.length != dims[k])
            fault(name, "a scale has another length");
        else if (H5Lexists(file, path, H5P_DEFAULT) <= 0)
            fault(path, "this coordinate is not in the group");
    }
    H5Sclose(space);
}

static void check_values(hid_t set, const char *name)
{
    hid_t type = H5Dget_type(set);
    size_t n;
    double *x = H5Tget_class(type) == H5T_FLOAT ? doubles(set, &n) : NULL;
    for (size_t k = 0; x && k < n && strncmp(name, "observed_data/", 14) != 0;
         k++) /* holes of the data are NaN */
        if (!isfinite(x[k])) {
            fault(name, "is not finite");
            break;
        }
    free(x);
    H5Tclose(type);
}

static herr_t check_object(hid_t file, const char *name, const H5L_info_t *link, void *user)
{
    size_t *count = user;
    H5I_type_t kind = kind_of(file, name);
    (void)link;
    if (kind == H5I_GROUP)
        for (int k = 0; k < 2; k++) {
            static const char *const wanted[] = {"created_at", "inference_library"};
            if (H5Aexists_by_name(file, name, wanted[k], H5P_DEFAULT) <= 0)
                fault(name, "has not the attributes of ArviZ");
        }
    if (kind != H5I_DATASET)
        return 0;
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (H5DSis_scale(set) > 0) {
        check_coordinate(set, name);
    } else {
        check_dimensions(file, set, name);
        check_values(set, name);
    }
    H5Dclose(set);
    *count += 1;
    return 0;
}

static void check(hid_t file)
{
    static const char *const group[] = {"posterior", "sample_stats", "unconstrained_posterior",
                                        "constant_data", "predictive_check"};
    static const char *const attribute[] = {"seed",
                                            "model_sha256",
                                            "data_sha256",
                                            "settings",
                                            "verdict",
                                            "status",
                                            "inference_library_version",
                                            "config_yaml"};
    size_t count = 0;
    for (size_t k = 0; k < sizeof group / sizeof *group; k++)
        if (H5Lexists(file, group[k], H5P_DEFAULT) <= 0)
            fault(group[k], "is missing");
    for (size_t k = 0; k < sizeof attribute / sizeof *attribute; k++)
        if (H5Aexists(file, attribute[k]) <= 0)
            fault(attribute[k], "this attribute of the file is missing");
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, check_object, &count);
    if (count < 15)
        fault("check", "there is too little in the file");
}

/* ---- mean ------------------------------------------------------------------------------------ */

static void mean(hid_t file, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/posterior/%s", name);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    if (set < 0) {
        fault(path, "is missing");
        return;
    }
    size_t n;
    double *x = doubles(set, &n), sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    printf("%.15g\n", sum / (double)n);
    free(x);
    H5Dclose(set);
}

int main(int argc, char **argv)
{
    hid_t a = argc > 2 ? H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT) : -1, b = -1;
    if (a < 0)
        return 3;
    if (strcmp(argv[1], "same") == 0 && argc > 3) {
        b = H5Fopen(argv[3], H5F_ACC_RDONLY, H5P_DEFAULT);
        if (b < 0)
            return 3;
        same(a, b);
        H5Fclose(b);
    } else if (strcmp(argv[1], "read") == 0) {
        read_every(a);
    } else if (strcmp(argv[1], "mean") == 0 && argc > 3) {
        mean(a, argv[3]);
    } else {
        check(a);
    }
    H5Fclose(a);
    return faults ? 1 : 0;
}
