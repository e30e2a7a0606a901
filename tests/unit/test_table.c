/* test_table.c -- tables from text, HDF5 and numpy files, and datasets made of them. */
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"
#include "input/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char file[64];
static struct fit_error err;

static void write_text(const char *text)
{
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

static struct fit_table *read_ok(const char *text, const struct fit_table_options *o)
{
    struct fit_table *t;
    write_text(text);
    if (fit_table_read(file, o, &t, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return t;
}

static void read_bad(const char *text, const char *message)
{
    struct fit_table *t;
    write_text(text);
    assert_int_equal(fit_table_read(file, NULL, &t, &err), FIT_ERR_DATA);
    assert_null(t);
    if (!strstr(err.message, message))
        fail_msg("'%s' does not tell '%s'", err.message, message);
}

static void test_text_in_many_forms(void **state)
{
    (void)state;
    static const char *const form[] = {
        "t,y\n1,2\n3,4\n",
        "\xef\xbb\xbft,y\r\n1,2\r\n3,4",
        "# made by hand\n# t y\n1 2\n  3\t4 \n\n",
        "# t,y\n1.0e+00,2\n3,4\n",
        "\"t\";\"y\"\n1;2\n# in between\n3;4\n",
        "t\ty\n1\t2\n3\t4\n",
        "t y\n1    2\n3 4",
        "% made by hand\n% t y\n1 2\n% in between\n3 4\n",
        "t,y\n1,2 # remark\n3,4# 5,6\n",
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct fit_table *t = read_ok(form[i], NULL);
        assert_int_equal(t->nrow, 2);
        assert_int_equal(t->ncolumn, 2);
        assert_string_equal(t->name[0], "t");
        assert_string_equal(t->name[1], "y");
        assert_true(t->column[0][1] == 3 && t->column[1][0] == 2);
        fit_table_free(t);
    }
}

static void test_names_numbers_gaps_and_skipped_rows(void **state)
{
    (void)state;
    struct fit_table *t = read_ok("1,2,\n4,nan,6\n", NULL);
    assert_int_equal(t->ncolumn, 3);
    assert_string_equal(t->name[0], "");
    assert_true(isnan(t->column[2][0]) && isnan(t->column[1][1]) && t->column[2][1] == 6);
    assert_int_equal(fit_table_find(t, "2"), 1);
    assert_int_equal(fit_table_find(t, "4"), -1);
    assert_int_equal(fit_table_find(t, ""), -1);
    fit_table_free(t);
    t = read_ok("t,y\n1,NA\n# 4\nNA,3\n", NULL);
    assert_true(isnan(t->column[1][0]) && isnan(t->column[0][1]) && t->column[1][1] == 3);
    assert_true(t->line[0] == 2 && t->line[1] == 4);
    fit_table_free(t);
    t = read_ok("t (s),y [mV],x/mm,n_s,a/b\n1,2,3,4,5\n", NULL);
    assert_int_equal(fit_table_find(t, "t"), 0);
    assert_int_equal(fit_table_find(t, "y"), 1);
    assert_int_equal(fit_table_find(t, "X"), 2);
    assert_int_equal(fit_table_find(t, "n"), -1);
    assert_int_equal(fit_table_find(t, "a"), -1);
    fit_table_free(t);
    t = read_ok("instrument 7\nrun 12\ntau g2\n1 2\n", &(struct fit_table_options){.skip_rows = 2});
    assert_int_equal(fit_table_find(t, "G2"), 1);
    assert_int_equal(fit_table_find(t, "tau"), 0);
    fit_table_free(t);
    t = read_ok("a|b\n1|2\n", &(struct fit_table_options){.delimiter = '|'});
    assert_int_equal(t->ncolumn, 2);
    fit_table_free(t);
}

static void test_bad_text_is_refused_with_its_line(void **state)
{
    (void)state;
    read_bad("t,y\n1,2\n3\n", ":3: 1 columns");
    read_bad("t,y\n1,2\n\n3,x4\n", ":4: column 2: 'x4'");
    read_bad("t,y\n1,2\n3,NAN4\n", ":3: column 2: 'NAN4'");
    read_bad("t,y\n", "no row of numbers");
    read_bad("", "no row of numbers");
    struct fit_table *t;
    FILE *f = fopen(file, "wb");
    fwrite("1,2\n\0\0", 1, 6, f);
    fclose(f);
    assert_int_equal(fit_table_read(file, NULL, &t, &err), FIT_ERR_DATA);
    assert_int_equal(fit_table_read("/nonexistent.csv", NULL, &t, &err), FIT_ERR_IO);
}

static void test_hdf5_groups_and_matrices(void **state)
{
    (void)state;
    struct fit_h5 *h;
    struct fit_table *t;
    const double x[4] = {1, 2, 3, 4}, m[6] = {1, 2, 3, 4, 5, 6};
    const size_t dims[2] = {3, 2};
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    fit_h5_write_doubles(h, "/run/x", x, 4, &err);
    fit_h5_write_doubles(h, "/run/y", x, 4, &err);
    fit_h5_write_string(h, "/run/title", "not a column", &err);
    fit_h5_write_doubles(h, "/odd/x", x, 4, &err);
    fit_h5_write_doubles(h, "/odd/y", x, 3, &err);
    fit_h5_write(h, "/m", &(struct fit_h5_array){FIT_H5_F64, 2, dims, m, 0}, &err);
    fit_h5_write_attr_string(h, "/m", "columns", "tau, g2", &err);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
    assert_int_equal(fit_table_read(file, &(struct fit_table_options){.dataset = "/run"}, &t, &err),
                     FIT_OK);
    assert_true(t->nrow == 4 && t->ncolumn == 2 && t->column[1][3] == 4);
    assert_string_equal(t->name[1], "y");
    fit_table_free(t);
    assert_int_equal(fit_table_read(file, &(struct fit_table_options){.dataset = "/m"}, &t, &err),
                     FIT_OK);
    assert_true(t->nrow == 3 && t->ncolumn == 2 && t->column[1][2] == 6);
    assert_string_equal(t->name[1], "g2");
    fit_table_free(t);
    assert_int_equal(fit_table_read(file, &(struct fit_table_options){.dataset = "/odd"}, &t, &err),
                     FIT_ERR_DATA);
    assert_int_equal(fit_table_read(file, &(struct fit_table_options){.dataset = "/no"}, &t, &err),
                     FIT_ERR_DATA);
    assert_int_equal(fit_table_read(file, NULL, &t, &err),
                     FIT_ERR_DATA); /* no columns at the root */
}

static void test_npy_in_both_orders(void **state)
{
    (void)state;
    for (int fortran = 0; fortran < 2; fortran++) {
        unsigned char bytes[128 + 48] = "\x93NUMPY\1\0\x76";
        const double c[6] = {1, 2, 3, 4, 5, 6}, f[6] = {1, 3, 5, 2, 4, 6};
        struct fit_table *t;
        memset(bytes + 10, ' ', 118);
        int n =
            sprintf((char *)bytes + 10, "{'descr': '<f8', 'fortran_order': %s, 'shape': (3, 2), }",
                    fortran ? "True" : "False");
        bytes[10 + n] = ' ';
        memcpy(bytes + 128, fortran ? f : c, 48);
        FILE *to = fopen(file, "wb");
        fwrite(bytes, 1, sizeof bytes, to);
        fclose(to);
        assert_int_equal(fit_table_read(file, NULL, &t, &err), FIT_OK);
        assert_true(t->nrow == 3 && t->ncolumn == 2 && t->column[0][1] == 3 &&
                    t->column[1][2] == 6);
        fit_table_free(t);
    }
}

static const struct fit_column columns[] = {{"tau", "s", "", FIT_ROLE_COVARIATE, 0, 0},
                                            {"g2", "1", "", FIT_ROLE_VALUE, 0, 0},
                                            {"sigma", "1", "", FIT_ROLE_SIGMA, 0, 0}};
static const struct fit_setting settings[] = {{"q", "1/angstrom", "", NAN, FIT_STATISTIC_NONE, 0}};
static const struct fit_kernel kernel = {.name = "kww",
                                         .space = FIT_ROWS,
                                         .ncolumn = 3,
                                         .column = columns,
                                         .nsetting = 1,
                                         .setting = settings,
                                         .intercept = -1};

static void test_columns_find_their_roles(void **state)
{
    (void)state;
    struct fit_measurement *m;
    const double q = 0.01;
    write_text("g2,tau,sigma\n1.5,1e-3,0.1\n1.25,1e-2,0.1\n1.1,1e-1,0\n");
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
    assert_int_equal(m->dataset->npoint, 2);
    assert_int_equal(m->dataset->ndropped, 1);
    assert_int_equal(m->dataset->weighted, 1);
    assert_true(m->dataset->tile[0].y[1] == 1.25 && m->dataset->layout.column[0][1] == 1e-2);
    assert_int_equal(strlen(m->sha256), 64);
    assert_true(m->size == 51);
    fit_measurement_free(m);
    write_text("1e-3 1.5\n1e-2 1.25\n"); /* by position, without errors */
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
    assert_int_equal(m->dataset->weighted, 0);
    assert_int_equal(m->notes.n, 1);
    assert_true(m->dataset->tile[0].y[0] == 1.5);
    fit_measurement_free(m);
    struct fit_config_column map[2] = {{.role = "tau", .source = "delay"},
                                       {.role = "g2", .source = "3"}};
    const struct fit_config_table cfg = {.ncolumn = 2, .column = map};
    write_text("delay,other,value\n1,7,1.5\n");
    assert_int_equal(fit_table_load(file, &cfg, &kernel, &q, &m, &err), FIT_OK);
    assert_true(m->dataset->tile[0].y[0] == 1.5);
    fit_measurement_free(m);
    map[1].source = "g3";
    assert_int_equal(fit_table_load(file, &cfg, &kernel, &q, &m, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "'g3'"));
    assert_int_equal(fit_table_load(file, &cfg, &kernel, NULL, &m, &err), FIT_ERR_CONFIG); /* q */
}

/* A header without a name of the model: by position only when no column is left over. */
static void test_unknown_names_are_not_guessed(void **state)
{
    (void)state;
    struct fit_measurement *m;
    const double q = 0.01;
    write_text("time_ms,value\n1,1.5\n2,1.2\n");
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
    assert_true(m->dataset->tile[0].y[0] == 1.5 && !m->dataset->weighted);
    assert_true(m->dataset->layout.column[0][0] == 1e-3);
    assert_int_equal(m->notes.ndoubt, 1);
    assert_non_null(strstr(m->notes.text[0], "by position: tau is 'time_ms', g2 is 'value'"));
    assert_non_null(strstr(m->notes.text[1], "is in ms (its name) and was converted to s"));
    fit_measurement_free(m);
    write_text("time,value,temperature\n1,1.5,300\n2,1.2,300\n"); /* 300 is no error of g2 */
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "no column 'tau'; there are 'time', 'value', 'temperature'"));
    assert_non_null(strstr(err.message, "--set 'data.columns={tau: NAME, g2: NAME}'"));
    write_text("1,1.5,0.1\n2,1.2,0.1\n"); /* without names: as the model has them */
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
    assert_int_equal(m->dataset->weighted, 1);
    assert_non_null(strstr(m->notes.text[0], "by position: tau, g2, sigma"));
    fit_measurement_free(m);
    struct fit_h5 *h; /* arrays with names: the file orders them by the alphabet */
    const double x[3] = {1, 2, 3};
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    fit_h5_write_doubles(h, "/value", x, 3, &err);
    fit_h5_write_doubles(h, "/time", x, 3, &err);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_ERR_DATA);
}

/* factor 0: refused, with `says` in the message. */
struct said {
    const char *name;
    double factor;
    const char *says;
};

static void test_names_that_say_another_unit(void **state)
{
    (void)state;
    static const struct said c[] = {{"delay_ms", 1e-3, ""},        {"delay (us)", 1e-6, ""},
                                    {"delay_s", 1, ""},            {"delay [s]", 1, ""},
                                    {"delay_nm", 1, ""},           {"delay_first", 1, ""},
                                    {"delay(min)", 60, ""},        {"delay/ns", 1e-9, ""},
                                    {"delay (microseconds)", 1e-6, ""}, {"delay(g2)", 1, ""},
                                    {"delay (foo)", 0, "'foo', which is not a known unit"},
                                    {"delay (nm)", 0, "'nm', which is another kind of unit"},
                                    {"delay [keV]", 0, "'keV'"},   {"delay/nm", 0, "'nm'"},
                                    {"delay_min", 0, "'min', which may be no unit"},
                                    {"delay_h", 0, "'h'"},         {"delay ()", 1, ""},
                                    {"delay (1/s)", 0, "'1/s'"},   {"delay (arb. units)", 0, "'arb. units'"}};
    const double q = 0.01;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct fit_measurement *m;
        struct fit_config_column map = {.role = "tau", .source = c[i].name}, unit = {.role = "tau", .source = "ms"};
        struct fit_config_table cfg = {.ncolumn = 1, .column = &map};
        char text[80];
        snprintf(text, sizeof text, "%s,g2\n1,1.5\n2,1.2\n", c[i].name);
        write_text(text);
        const enum fit_status st = fit_table_load(file, &cfg, &kernel, &q, &m, &err);
        if (st != (c[i].factor > 0 ? FIT_OK : FIT_ERR_DATA))
            fail_msg("'%s': %s", c[i].name, st == FIT_OK ? "taken" : err.message);
        if (st == FIT_OK && m->dataset->layout.column[0][0] != c[i].factor)
            fail_msg("'%s': %g", c[i].name, m->dataset->layout.column[0][0]);
        if (st != FIT_OK && (!strstr(err.message, c[i].says) || !strstr(err.message, "data.units={tau: s}")))
            fail_msg("'%s': %s", c[i].name, err.message);
        if (st == FIT_OK)
            fit_measurement_free(m);
        cfg.nunit = 1; /* what the user says counts */
        cfg.unit = &unit;
        assert_int_equal(fit_table_load(file, &cfg, &kernel, &q, &m, &err), FIT_OK);
        assert_true(m->dataset->layout.column[0][0] == 1e-3);
        fit_measurement_free(m);
    }
}

/* Blanks between columns: what stands in brackets belongs to the name before it. */
static void test_units_in_headers_of_blanks(void **state)
{
    (void)state;
    static const char *const head[] = {"tau (ms) g2", "# tau [ms]  g2 (1)", "# tau (milli seconds) g2"};
    const double q = 0.01;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
        struct fit_measurement *m;
        char text[80];
        snprintf(text, sizeof text, "%s\n1 1.5\n2 1.2\n", head[i]);
        write_text(text);
        assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), i == 2 ? FIT_ERR_DATA : FIT_OK);
        if (i == 2) {
            assert_non_null(strstr(err.message, "'milli seconds'"));
            continue;
        }
        assert_true(m->dataset->layout.column[0][0] == 1e-3);
        fit_measurement_free(m);
    }
}

/* Errors under another name are not dropped without a word. */
static void test_errors_that_are_not_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } made[] = {{"tau,g2,g2_err\n1,1.5,0.1\n2,1.2,0.1\n", "{sigma: g2_err}"},
                {"tau (s),g2,dg2\n1,1.5,0.1\n2,1.2,0.1\n", "{tau: tau (s), sigma: dg2}"},
                {"tau,g2,err\n1,1.5,0.1\n2,1.2,nan\n", "{sigma: err}"},
                {"tau,g2,err\n1,1.5,0.1\n2,1.2,-0.1\n", NULL},
                {"tau,g2,temperature\n1,1.5,300\n2,1.2,300\n", NULL},
                {"tau,g2,sigma,err\n1,1.5,0.1,1\n2,1.2,0.1,1\n", NULL}};
    const double q = 0.01;
    struct fit_measurement *m;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        write_text(made[i].text);
        assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
        assert_int_equal(m->notes.ndoubt, made[i].word != NULL);
        if (made[i].word)
            assert_non_null(strstr(m->notes.text[0], made[i].word));
        fit_measurement_free(m);
    }
    write_text("t,g2,err\n1,1.5,0.1\n2,1.2,0.1\n");
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "--set 'data.columns={tau: NAME, sigma: err}'"));
    write_text("tau,g2,g2,sigma\n1,1.5,7,0.1\n2,1.2,8,0.1\n");
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
    assert_non_null(strstr(m->notes.text[0], "column 'g2' is there twice, as number 2 and 3"));
    fit_measurement_free(m);
}

static void test_rows_that_do_not_count_are_named(void **state)
{
    (void)state;
    const double q = 0.01;
    struct fit_measurement *m;
    write_text("tau,g2,sigma\n1,1.5,0.1\n\n2,nan,0.1\n3,1.1,-0.1\n4,1,0\n5,1,0.1\n6,inf,1\nnan,1,1\n");
    assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), FIT_OK);
    assert_non_null(strstr(m->notes.text[0],
                           "5 of 7 rows are not finite, or have no positive error, and have weight zero"
                           " (line 4: g2 is nan, line 5: sigma is -0.1, line 6: sigma is 0, line 8: g2 is"
                           " inf, ...)"));
    fit_measurement_free(m);
}

static void test_attributes_that_say_another_unit(void **state)
{
    (void)state;
    static const struct said c[] = {{"ms", 1e-3, ""}, {"s", 1, ""}, {"m", 0, "'m'"}, {"something", 0, "'something'"},
                                    {"", 1, ""},      {"\xC2\xB5s", 1e-6, ""}};
    const double q = 0.01, x[3] = {1, 2, 3};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct fit_measurement *m;
        struct fit_h5 *h;
        assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
        fit_h5_write_doubles(h, "/tau", x, 3, &err);
        fit_h5_write_doubles(h, "/g2", x, 3, &err);
        fit_h5_write_attr_string(h, "/tau", i == 2 ? "unit" : "units", c[i].name, &err);
        assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
        assert_int_equal(fit_table_load(file, NULL, &kernel, &q, &m, &err), c[i].factor > 0 ? FIT_OK : FIT_ERR_DATA);
        if (c[i].factor > 0) {
            assert_true(m->dataset->layout.column[0][0] == c[i].factor);
            fit_measurement_free(m);
        } else {
            assert_non_null(strstr(err.message, c[i].says));
        }
    }
}

/* Data that a declared range does not foresee. */
static void test_ranges_that_the_model_declares(void **state)
{
    (void)state;
    static const struct {
        double lower, upper;
        const char *word; /* of 0.001 .. 0.05 s */
    } range[] = {{0, 50, "tau lies in 0.001 .. 0.05 s; the model declares 0 .. 50: another unit?"},
                 {0, 0.1, NULL},
                 {1e-6, 50, NULL},
                 {0.01, 50, "the model declares 0.01 .. 50"},
                 {-1, 0.01, "the model declares -1 .. 0.01"},
                 {0, 0, NULL}};
    const double q = 0.01;
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        struct fit_column column[sizeof columns / sizeof *columns];
        struct fit_kernel own = kernel;
        struct fit_measurement *m;
        memcpy(column, columns, sizeof columns);
        column[0].lower = range[i].lower;
        column[0].upper = range[i].upper;
        own.column = column;
        write_text("tau,g2,sigma\n0.001,1.5,0.1\n0.05,1.2,0.1\n");
        assert_int_equal(fit_table_load(file, NULL, &own, &q, &m, &err), FIT_OK);
        assert_int_equal(m->notes.ndoubt, range[i].word != NULL);
        if (range[i].word)
            assert_non_null(strstr(m->notes.text[0], range[i].word));
        fit_measurement_free(m);
    }
}

static int set_up(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "test_table_%ld.tmp", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(file);
    return 0;
}

static double cell(const struct fit_table *t, const char *name, size_t row)
{
    const int c = fit_table_find(t, name);
    if (c < 0 || row >= t->nrow)
        fail_msg("no column %s with %zu rows", name, row + 1);
    return t->column[c][row];
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_decimal_commas(void **state)
{
    (void)state;
    static const char *const form[] = {"t;y\n0,5;2\n1;-1,25e-1\n", "t\ty\n0,5\t2\n1\t-1,25e-1\n",
                                       "t y\n0,5   2\n1 -1,25e-1\n", "# a, b\n# t y\n0,5 2\n1 -1,25e-1 # 1,2\n"};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct fit_table *t = read_ok(form[i], NULL);
        assert_int_equal(t->ncolumn, 2);
        assert_true(cell(t, "t", 0) == 0.5 && cell(t, "y", 0) == 2 && cell(t, "t", 1) == 1 &&
                    cell(t, "y", 1) == -0.125);
        assert_non_null(strstr(t->notes.text[0], "decimals are written with a comma"));
        fit_table_free(t);
    }
    struct fit_table *t = read_ok("0,5\n1,25\n", NULL); /* separated by commas: two columns */
    assert_int_equal(t->ncolumn, 2);
    assert_int_equal(t->notes.n, 0);
    fit_table_free(t);
    t = read_ok("t, y\n1, 2\n3, 4\n", NULL);
    assert_int_equal(t->ncolumn, 2);
    assert_true(cell(t, "y", 1) == 4);
    fit_table_free(t);
    read_bad("t;y\n0,5;2\n1;a,5\n", "'a,5' is not a number");
    read_bad("t,y,s\n0,5,2,25,0,1\n1,0,3,75,0,1\n", ":2: 6 cells below 3 names; where decimals have commas");
}

static void test_files_of_alv(void **state)
{
    (void)state;
    struct fit_table *t;
    if (fit_table_read(FIT_SOURCE_DIR "/tests/data/alv.ASC", NULL, &t, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(t->nrow, 6);
    for (size_t k = 0; k < 6; k++) {
        assert_true(near(cell(t, "delay", k), 1e-3 * ldexp(1, (int)k)) && near(cell(t, "sigma", k), 0.00390625));
        assert_true(fabs(cell(t, "g2", k) - 1 - 0.75 * ldexp(1, -(int)k)) < 1e-6); /* the file has six digits */
        assert_true(fabs(cell(t, "q", k) - 0.00187040) < 1e-7 &&
                    cell(t, "angle", k) == 90); /* 4 pi n sin(45 deg)/lambda */
    }
    fit_table_free(t);
    write_text("ALV-5000\n\"Correlation\"\n\n");
    assert_int_equal(fit_table_read(file, NULL, &t, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "without values"));
}

static void test_g2_of_many_bins(void **state)
{
    (void)state;
    static const char path[] = FIT_SOURCE_DIR "/tests/data/boost_multitau.h5";
    static const double frames[] = {1, 2, 3, 4, 6, 8}, q[] = {0.003, 0.003, 0.005, 0.005, 0.005},
                        phi[] = {0, 120, 0, 60, 120};
    struct fit_table *t;
    if (fit_table_read(path, NULL, &t, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(t->nrow, 28); /* of 30 one is missing, one has no error */
    assert_int_equal(t->ncurve, 5);
    for (size_t r = 0; r < t->nrow; r++) {
        const size_t k = (r + 1) / 6, i = (r + 1) % 6;
        assert_true(near(cell(t, "delay", r), 0.5 * frames[i]) && cell(t, "bin", r) == (double)(k + 1));
        assert_true(near(cell(t, "g2", r), 1 + exp2(-(double)k - 0.125 * frames[i])));
        assert_true(near(cell(t, "q", r), q[k]) && cell(t, "phi", r) == phi[k] && cell(t, "sigma", r) == 0.0078125);
    }
    fit_table_free(t);
    assert_int_equal(fit_table_read(path, &(struct fit_table_options){.dataset = "2"}, &t, &err), FIT_OK);
    assert_int_equal(t->nrow, 6);
    assert_true(cell(t, "phi", 0) == 120 && t->ncurve == 1);
    fit_table_free(t);
    assert_int_equal(fit_table_read(path, &(struct fit_table_options){.dataset = "6"}, &t, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "bin 6 is not there"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_in_many_forms),
        cmocka_unit_test(test_decimal_commas),
        cmocka_unit_test(test_files_of_alv),
        cmocka_unit_test(test_g2_of_many_bins),
        cmocka_unit_test(test_names_numbers_gaps_and_skipped_rows),
        cmocka_unit_test(test_bad_text_is_refused_with_its_line),
        cmocka_unit_test(test_hdf5_groups_and_matrices),
        cmocka_unit_test(test_npy_in_both_orders),
        cmocka_unit_test(test_columns_find_their_roles),
        cmocka_unit_test(test_unknown_names_are_not_guessed),
        cmocka_unit_test(test_names_that_say_another_unit),
        cmocka_unit_test(test_units_in_headers_of_blanks),
        cmocka_unit_test(test_errors_that_are_not_taken),
        cmocka_unit_test(test_rows_that_do_not_count_are_named),
        cmocka_unit_test(test_attributes_that_say_another_unit),
        cmocka_unit_test(test_ranges_that_the_model_declares),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
