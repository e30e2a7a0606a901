/* same_numbers.c -- do two HDF5 files hold the same numbers, to the bit?  same_numbers A B [NAME...]
 *
 * All datasets and attributes of integers and floating-point numbers of A are looked for in B; those whose last name is
 * one of NAME may differ.  Prints what differs; 0: nothing, 1: something, 2: a file cannot be read. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **except;
static int nexcept;
static size_t compared, different;

static int excepted(const char *name)
{
    const char *last = strrchr(name, '/');
    for (int k = 0; k < nexcept; k++)
        if (strcmp(except[k], last ? last + 1 : name) == 0)
            return 1;
    return 0;
}

static void tell(const char *name, const char *attribute, const char *what)
{
    printf("%s%s%s: %s\n", name, *attribute ? " @" : "", attribute, what);
    different++;
}

/* Numbers of an object; NULL: they are none, *size is 0.  The type is the file's own, of this machine. */
static void *numbers(hid_t object, int is_attribute, size_t *size)
{
    const hid_t type = is_attribute ? H5Aget_type(object) : H5Dget_type(object);
    const hid_t space = is_attribute ? H5Aget_space(object) : H5Dget_space(object);
    const H5T_class_t kind = H5Tget_class(type);
    void *data = NULL;
    *size = 0;
    if (kind == H5T_INTEGER || kind == H5T_FLOAT) {
        *size = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
        data = calloc(*size + 1, 1);
        if (data && is_attribute)
            H5Aread(object, type, data);
        else if (data && *size)
            H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    }
    H5Sclose(space);
    H5Tclose(type);
    return data;
}

static void compare(hid_t a, hid_t b, int is_attribute, const char *name, const char *attribute)
{
    size_t n, m;
    void *x = numbers(a, is_attribute, &n), *y = numbers(b, is_attribute, &m);
    if (x) {
        compared++;
        if (!y || n != m)
            tell(name, attribute, "another length");
        else if (memcmp(x, y, n) != 0)
            tell(name, attribute, "other numbers");
    }
    free(x);
    free(y);
}

struct object {
    hid_t a, b;
    const char *name;
};

static herr_t one_attribute(hid_t at, const char *attribute, const H5A_info_t *info, void *user)
{
    const struct object *o = user;
    (void)at;
    (void)info;
    if (excepted(attribute))
        return 0;
    if (H5Aexists(o->b, attribute) <= 0) {
        tell(o->name, attribute, "not there");
        return 0;
    }
    const hid_t x = H5Aopen(o->a, attribute, H5P_DEFAULT), y = H5Aopen(o->b, attribute, H5P_DEFAULT);
    compare(x, y, 1, o->name, attribute);
    H5Aclose(x);
    H5Aclose(y);
    return 0;
}

static void objects(hid_t a, hid_t b, const char *name)
{
    struct object o = {a, b, name};
    H5Aiterate(a, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, one_attribute, &o);
    if (H5Iget_type(a) == H5I_DATASET)
        compare(a, b, 0, name, "");
}

/* H5Lvisit, because the arguments of H5Ovisit are others in each version of HDF5. */
static herr_t one_link(hid_t root, const char *name, const H5L_info_t *info, void *user)
{
    const hid_t other = *(hid_t *)user;
    (void)info;
    if (excepted(name))
        return 0;
    const hid_t a = H5Oopen(root, name, H5P_DEFAULT), b = H5Oopen(other, name, H5P_DEFAULT);
    if (a >= 0 && b >= 0)
        objects(a, b, name);
    else if (a >= 0)
        tell(name, "", "not there");
    if (a >= 0)
        H5Oclose(a);
    if (b >= 0)
        H5Oclose(b);
    return 0;
}

int main(int argc, char **argv)
{
    H5Eset_auto(H5E_DEFAULT, NULL, NULL);
    if (argc < 3)
        return 2;
    hid_t a = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT), b = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (a < 0 || b < 0) {
        printf("%s: cannot be read\n", a < 0 ? argv[1] : argv[2]);
        return 2;
    }
    except = argv + 3;
    nexcept = argc - 3;
    objects(a, b, "/");
    H5Lvisit(a, H5_INDEX_NAME, H5_ITER_NATIVE, one_link, &b);
    H5Fclose(a);
    H5Fclose(b);
    printf("%zu arrays compared, %zu differ\n", compared, different);
    return different > 0 || compared == 0;
}
