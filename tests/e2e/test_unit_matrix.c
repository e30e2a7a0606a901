/* test_unit_matrix.c -- units, by place of entry, quantity and unit: each cell ends with the truth in the unit of the
 * model, or with exit code 3 or 4 and a message that names the unit.  test_unit_matrix BINDIR
 *
 * Two-time data of
 *     c2 = 1 + 0.4 exp(-(q^2 D + cos(phi)^2 gap / mm) (t2 - t1)),  q = 0.054 1/nm, gap 0.2 mm, phi 0 and 60 degrees,
 *     dt 0.1 s, D = 200 nm^2/s
 * give D only when q, gap, phi and dt are all understood; tables of
 *     y = a exp(-q^2 D tau) + 0.1 E/keV,   a = 1
 * only when tau, E and q are.  Models declare their quantities in different units, and a cell takes them in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"

enum { FRAMES = 20, GROUPS = 2, ROWS = 24, MODELS = 3 };
static const double Q = 0.054, D = 200, GAP = 0.2, DT = 0.1; /* 1/nm, nm^2/s, mm, s */
static const double PHI[GROUPS] = {0, 60};
static const double TOLERANCE = 2e-3;

static const char *bin;
static int cells, failures;

/* How many of `unit` are the truth's unit; 0: another kind of unit, or none. */
struct unit {
    const char *text;
    double factor;
};

static const struct unit of_q[] = {{"1/nm", 1},         {"nm^-1", 1},         {"nm-1", 1},
                                   {"1/angstrom", 0.1}, {"A^-1", 0.1},        {"\xC3\x85\xE2\x81\xBB\xC2\xB9", 0.1},
                                   {"1/um", 1e3},       {"1/\xC2\xB5m", 1e3}, {"m^-1", 1e9},
                                   {"nanometer^-1", 1}, {"1/Angstrom", 0.1},  {"1/s", 0},
                                   {"nm", 0},           {"foo", 0},           {"keV", 0}};
static const struct unit of_gap[] = {{"mm", 1},         {"um", 1e3}, {"\xC2\xB5m", 1e3}, {"micron", 1e3}, {"m", 1e-3},
                                     {"angstrom", 1e7}, {"nm", 1e6}, {"s", 0},           {"1/nm", 0},     {"foo", 0}};
static const struct unit of_phi[] = {{"deg", 1},
                                     {"degree", 1},
                                     {"Degrees", 1},
                                     {"\xC2\xB0", 1},
                                     {"rad", 3.14159265358979323846 / 180},
                                     {"radians", 3.14159265358979323846 / 180},
                                     {"mrad", 1e3 * 3.14159265358979323846 / 180},
                                     {"nm", 0},
                                     {"foo", 0}};
static const struct unit of_time[] = {{"s", 1},          {"ms", 1e3},    {"us", 1e6}, {"\xC2\xB5s", 1e6}, {"ns", 1e9},
                                      {"min", 1.0 / 60}, {"seconds", 1}, {"Hz", 0},   {"nm", 0},          {"foo", 0}};
static const struct unit of_energy[] = {{"keV", 1}, {"eV", 1e3}, {"MeV", 1e-3}, {"J", 1.602176634e-16},
                                        {"s", 0},   {"foo", 0},  {"nm", 0}};
static const struct unit of_D[] = {
    {"nm^2/s", 1}, {"um^2/s", 1e-6}, {"angstrom^2/s", 100}, {"m^2/s", 1e-18}, {"nm\xC2\xB2/ms", 1e-3}, {"s", 0},
    {"foo", 0},    {"nm/s", 0}};
#define N(a) (sizeof(a) / sizeof *(a))

/* ---- models ---------------------------------------------------------------------------------- */

static const char *const model_q[MODELS] = {"1/angstrom", "1/nm", "1/m"};
static const double model_q_factor[MODELS] = {0.1, 1, 1e9};
static const char *const model_gap[MODELS] = {"angstrom", "um", "mm"};
static const double model_gap_factor[MODELS] = {1e7, 1e3, 1};
static const char *const model_phi[MODELS] = {"deg", "rad", "deg"};
static const char *const model_tau[MODELS] = {"s", "ms", "us"};
static const double model_tau_factor[MODELS] = {1, 1e3, 1e6};

static FILE *made(const char *name)
{
    FILE *f = fopen(name, "w");
    if (!f) {
        perror(name);
        exit(1);
    }
    return f;
}

static void write_models(void)
{
    for (int m = 0; m < MODELS; m++) {
        char name[32];
        snprintf(name, sizeof name, "pairs%d.lua", m);
        FILE *f = made(name);
        fprintf(f,
                "local m = model \"pairs%d\" { title = \"diffusion\" }\n"
                "local t, phi = m.grid(\"t\", \"s\"), m.axis(\"phi\", { unit = \"%s\", range = {0, 3} })\n"
                "local q, gap = m.setting(\"q\", \"%s\"), m.setting(\"gap\", \"%s\")\n"
                "local D = m.parameter(\"D\", { unit = \"nm^2/s\", start = 150, bounds = {1, 1e5} })\n"
                "local c = m.parameter(\"c\", { over = phi, start = 0.3, bounds = {0, 1} })\n"
                "local o = m.parameter(\"o\", { over = phi, start = 1, bounds = {0.5, 1.5} })\n"
                "local rate = convert(q, \"1/nm\")^2 * D + cos(phi)^2 * (convert(gap, \"mm\") / unit \"mm\") / second\n"
                "local t1, t2 = pair(t)\n"
                "m.observe(\"c2\", { over = {phi, t1, t2}, mean = o + c * exp(-rate * (t2 - t1)) })\n",
                m, model_phi[m], model_q[m], model_gap[m]);
        fclose(f);
        snprintf(name, sizeof name, "rows%d.lua", m);
        f = made(name);
        fprintf(f,
                "local m = model \"rows%d\" { title = \"a decay\" }\n"
                "local tau, E, y, s = m.columns({ \"tau\", unit = \"%s\", range = {%g, %g} },\n"
                "    { \"E\", unit = \"keV\", range = {1, 4} }, \"y\", \"s\")\n"
                "local q = m.setting(\"q\", \"%s\")\n"
                "local D = m.parameter(\"D\", { unit = \"nm^2/s\", start = 150, bounds = {1, 1e5} })\n"
                "local a = m.parameter(\"a\", { start = 0.5, bounds = {0, 10} })\n"
                "m.observe(y, { mean = a * exp(-convert(q, \"1/nm\")^2 * D * convert(tau, \"s\")) + 0.1 * E / unit "
                "\"keV\",\n"
                "    sigma = s })\n",
                m, model_tau[m], 0.1 * model_tau_factor[m], 2.5 * model_tau_factor[m], model_q[m]);
        fclose(f);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Of the quantities of a file: their unit, the name of the attribute that says so; text NULL: the file does not have
 * it. */
struct told {
    struct unit unit;
    const char *attribute; /* NULL: none */
};
struct file {
    const char *layout;
    struct told q, phi, time;
    const char *map_unit[2]; /* aps_u: /xpcs/qmap/map_units */
};

static void write_c2(struct fit_h5 *h, const char *path, size_t first, size_t n, int rank)
{
    static float c2[GROUPS][FRAMES][FRAMES];
    const size_t dims[3] = {n, FRAMES, FRAMES};
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < FRAMES; i++)
            for (size_t j = 0; j < FRAMES; j++) {
                const double cosine = cos(PHI[g] * 3.14159265358979323846 / 180),
                             rate = Q * Q * D + cosine * cosine * GAP;
                const double noise = 1e-5 * sin(7.7 * (double)(i + j) + 3.3 * (double)(i * j + g));
                c2[g][i][j] = (float)(1 + 0.4 * exp(-rate * DT * fabs((double)i - (double)j)) + noise);
            }
    const struct fit_h5_array a = {.type = FIT_H5_F32, .rank = rank, .dims = dims + 3 - rank, .value = c2[first]};
    fit_h5_write(h, path, &a, NULL);
}

static void write_told(struct fit_h5 *h, const char *path, const struct told *t, const double *value, size_t n)
{
    double v[FRAMES];
    const double factor = t->unit.factor > 0 ? t->unit.factor : 1;
    if (!t->unit.text)
        return;
    for (size_t i = 0; i < n; i++)
        v[i] = value[i] * factor;
    fit_h5_write_doubles(h, path, v, n, NULL);
    if (t->attribute)
        fit_h5_write_attr_string(h, path, t->attribute, t->unit.text, NULL);
}

static void write_file(const char *name, const struct file *f)
{
    struct fit_h5 *h;
    double time[FRAMES], q[GROUPS] = {Q, Q}, bins[GROUPS] = {1, 2}, points[2] = {1, GROUPS}, map[GROUPS] = {0, 1};
    for (size_t i = 0; i < FRAMES; i++)
        time[i] = DT * (double)i;
    if (fit_h5_create(name, &h, NULL) != FIT_OK)
        exit(1);
    if (strcmp(f->layout, "flat") == 0) {
        write_c2(h, "/c2", 0, GROUPS, 3);
        write_told(h, "/q", &f->q, q, 1);
        write_told(h, "/phi", &f->phi, PHI, GROUPS);
        write_told(h, "/t", &f->time, time, FRAMES);
    } else if (strcmp(f->layout, "exchange") == 0) {
        fit_h5_make_group(h, "/exchange", NULL);
        write_c2(h, "/exchange/c2", 0, GROUPS, 3);
        write_told(h, "/exchange/q", &f->q, q, GROUPS);
        write_told(h, "/exchange/phi", &f->phi, PHI, GROUPS);
        write_told(h, "/exchange/t", &f->time, time, FRAMES);
    } else if (strcmp(f->layout, "nxxpcs") == 0) {
        write_c2(h, "/entry/XPCS/twotime/two_time_corr_func", 0, GROUPS, 3);
        write_told(h, "/entry/XPCS/instrument/masks/dynamic_q_list", &f->q, q, GROUPS);
        write_told(h, "/entry/XPCS/instrument/masks/dynamic_phi_list", &f->phi, PHI, GROUPS);
        write_told(h, "/entry/XPCS/twotime/time", &f->time, time, FRAMES);
    } else if (strcmp(f->layout, "aps_u") == 0) {
        write_c2(h, "/xpcs/twotime/correlation_map/c2_00001", 0, 1, 2);
        write_c2(h, "/xpcs/twotime/correlation_map/c2_00002", 1, 1, 2);
        write_told(h, "/xpcs/qmap/dynamic_v_list_dim0", &f->q, q, 1);
        write_told(h, "/xpcs/qmap/dynamic_v_list_dim1", &f->phi, PHI, GROUPS);
        fit_h5_write_doubles(h, "/xpcs/qmap/dynamic_num_pts", points, 2, NULL);
        fit_h5_write_doubles(h, "/xpcs/qmap/dynamic_index_mapping", map, GROUPS, NULL);
        fit_h5_write_doubles(h, "/xpcs/twotime/processed_bins", bins, GROUPS, NULL);
        write_told(h, "/entry/instrument/detector_1/frame_time", &f->time, time + 1, 1);
        if (f->map_unit[0])
            fit_h5_write_strings(h, "/xpcs/qmap/map_units", f->map_unit, 2, NULL);
    } else {
        write_c2(h, "/exchange/C2T_all/g2_00001", 0, 1, 2);
        write_c2(h, "/exchange/C2T_all/g2_00002", 1, 1, 2);
        write_told(h, "/xpcs/dqlist", &f->q, q, GROUPS);
        write_told(h, "/xpcs/dphilist", &f->phi, PHI, GROUPS);
        write_told(h, "/measurement/instrument/detector/exposure_period", &f->time, time + 1, 1);
    }
    if (fit_h5_finish(h, NULL) != FIT_OK)
        exit(1);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Runs a command of the program; what it says is in the file said. */
static int run(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "'%s/homodyne' %s >said 2>&1", bin, command);
    const int status = system(line);
    return status == -1 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static char *content(const char *name)
{
    static char text[1 << 18];
    FILE *f = fopen(name, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

/* A number of a parameter in out/fit.json. */
static double number(const char *parameter, const char *key)
{
    char name[80];
    snprintf(name, sizeof name, "\"%s\": {", parameter);
    const char *at = strstr(content("out/fit.json"), name);
    snprintf(name, sizeof name, "\"%s\":", key);
    at = at ? strstr(at, name) : NULL;
    return at ? strtod(at + strlen(name), NULL) : NAN;
}

static void judge(const char *place, const char *unit, int model, int right, int status, double got, double truth)
{
    const int truth_told = (status == 0 || status == 2) && fabs(got / truth - 1) < TOLERANCE;
    const int refused = (status == 3 || status == 4) && strstr(content("said"), unit) != NULL;
    cells++;
    if (right ? truth_told : refused)
        return;
    failures++;
    printf("FAILED: %s, %s, model %d: exit code %d, %.10g instead of %s %.10g: %.160s\n", place, unit, model, status,
           got, right ? "" : "a refusal, not", truth, status == 3 || status == 4 ? content("said") : "");
}

static void fit_cell(const char *place, const struct unit *u, int model, const char *options)
{
    char command[1024];
    unlink("out/fit.json");
    snprintf(command, sizeof command, "fit %s -o out --quiet", options);
    const int status = run(command);
    judge(place, u->text, model, u->factor > 0, status, number("D", "value"), D);
}

static const struct told in_order[3] = {{{"1/angstrom", 0.1}, NULL}, {{"deg", 1}, NULL}, {{"s", 1}, NULL}};

/* q, phi and times of the layouts of files. */
static void files(void)
{
    static const char *const layout[] = {"flat", "exchange", "nxxpcs", "aps_u", "aps_legacy"};
    static const struct {
        const char *name;
        const struct unit *unit;
        size_t n;
    } quantity[] = {{"q", of_q, N(of_q)}, {"phi", of_phi, N(of_phi)}, {"t", of_time, N(of_time)}};
    int turn = 0;
    for (size_t l = 0; l < N(layout); l++)
        for (size_t k = 0; k < 3; k++)
            for (size_t u = 0; u < quantity[k].n; u++, turn++) {
                struct file f = {layout[l], in_order[0], in_order[1], in_order[2], {NULL, NULL}};
                struct told *t = k == 0 ? &f.q : k == 1 ? &f.phi : &f.time;
                char place[80], options[200];
                *t = (struct told){quantity[k].unit[u], turn % 2 ? "units" : "unit"};
                write_file("f.h5", &f);
                snprintf(place, sizeof place, "attribute of %s, %s", layout[l], quantity[k].name);
                snprintf(options, sizeof options, "--model pairs%d.lua --data f.h5 --gap '200 um' --sigma 1e-5",
                         turn % MODELS);
                fit_cell(place, &quantity[k].unit[u], turn % MODELS, options);
            }
    for (size_t u = 0; u < N(of_q); u += 2, turn++) {
        const struct file f = {"aps_u", {of_q[u], NULL}, in_order[1], in_order[2], {of_q[u].text, "deg"}};
        char options[200];
        write_file("f.h5", &f);
        snprintf(options, sizeof options, "--model pairs%d.lua --data f.h5 --gap '200 um' --sigma 1e-5", turn % MODELS);
        fit_cell("map_units, q", &of_q[u], turn % MODELS, options);
    }
}

/* "VALUE UNIT" of a truth. */
static const char *quantity_text(const struct unit *u, double truth)
{
    static char text[80];
    snprintf(text, sizeof text, "%.15g %s", truth * (u->factor > 0 ? u->factor : 1), u->text);
    return text;
}

static void config(int model, const char *more)
{
    FILE *f = made("run.yaml");
    fprintf(f, "analysis_mode: pairs%d\nexperimental_data: {file_path: f.h5}\nsigma: 1e-5\n%s\n", model, more);
    fclose(f);
}

/* Options and keys of two-time data: the file tells all but the quantity at hand. */
static void options_of_pairs(void)
{
    static const struct {
        const char *name, *option, *key, *setting;
        const struct unit *unit;
        size_t n;
        double truth;
    } c[] = {{"q", "--q", "analyzer_parameters: {scattering: {wavevector_q: %s}}", "settings: {q: %s}", of_q, N(of_q),
              0.054},
             {"gap", "--gap", "analyzer_parameters: {geometry: {stator_rotor_gap: %s}}", "settings: {gap: %s}", of_gap,
              N(of_gap), 0.2},
             {"dt", "--dt", "analyzer_parameters: {dt: %s}", NULL, of_time, N(of_time), 0.1}};
    int turn = 0;
    for (size_t k = 0; k < N(c); k++)
        for (size_t u = 0; u < c[k].n; u++)
            for (int way = 0; way < 4; way++, turn++) {
                struct file f = {"flat", in_order[0], in_order[1], in_order[2], {NULL, NULL}};
                char place[80], options[400], key[200], yaml[300];
                const char *gap = k == 1 ? "" : "--gap '200 um'", *text = quantity_text(&c[k].unit[u], c[k].truth);
                const int model = turn % MODELS;
                if ((way == 1 || way == 3) && !c[k].setting)
                    continue;
                if (k != 1)
                    *(k == 0 ? &f.q : &f.time) = (struct told){{NULL, 0}, NULL};
                write_file("f.h5", &f);
                snprintf(place, sizeof place, "%s, %s",
                         way == 0   ? "option"
                         : way == 1 ? "--set"
                         : way == 2 ? "key"
                                    : "settings:",
                         c[k].name);
                if (way < 2) {
                    snprintf(options, sizeof options, "--model pairs%d.lua --data f.h5 --sigma 1e-5 %s %s%s%s'%s'",
                             model, gap, way ? "--set " : c[k].option, way ? c[k].name : "", way ? "=" : " ", text);
                } else {
                    snprintf(key, sizeof key, way == 2 ? c[k].key : c[k].setting, text);
                    snprintf(yaml, sizeof yaml, "%s", key);
                    config(model, yaml);
                    snprintf(options, sizeof options, "run.yaml --model pairs%d.lua %s", model, gap);
                }
                fit_cell(place, &c[k].unit[u], model, options);
            }
}

/* Bare numbers: in the documented unit of the place, whatever the model declares. */
static void bare(void)
{
    const struct unit none = {"a bare number", 1};
    struct file f = {"flat", {{NULL, 0}, NULL}, in_order[1], {{NULL, 0}, NULL}, {NULL, NULL}};
    char options[300];
    write_file("f.h5", &f);
    for (int m = 0; m < MODELS; m++) {
        snprintf(options, sizeof options, "--model pairs%d.lua --data f.h5 --sigma 1e-5 --q 0.0054 --gap 2e6 --dt 0.1",
                 m);
        fit_cell("options", &none, m, options);
        snprintf(options, sizeof options,
                 "--model pairs%d.lua --data f.h5 --sigma 1e-5 --dt 0.1 --set q=%.15g --set gap=%.15g", m,
                 Q * model_q_factor[m], GAP * model_gap_factor[m]);
        fit_cell("--set", &none, m, options);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void write_rows(const char *head, double tau_factor, double E_factor)
{
    FILE *f = made("f.csv");
    fprintf(f, "%s\n", head);
    for (int r = 0; r < ROWS; r++) {
        const double tau = 0.1 * (r + 1), E = 1 + r % 3;
        fprintf(f, "%.15g,%.15g,%.15g,1e-5\n", tau * tau_factor, E * E_factor,
                exp(-Q * Q * D * tau) + 0.1 * E + 1e-5 * sin(5.5 * r));
    }
    fclose(f);
}

static void write_h5_rows(const struct unit *tau, const struct unit *E)
{
    struct fit_h5 *h;
    double v[4][ROWS];
    for (int r = 0; r < ROWS; r++) {
        const double t = 0.1 * (r + 1), e = 1 + r % 3;
        v[0][r] = t * (tau->factor > 0 ? tau->factor : 1);
        v[1][r] = e * (E->factor > 0 ? E->factor : 1);
        v[2][r] = exp(-Q * Q * D * t) + 0.1 * e + 1e-5 * sin(5.5 * r);
        v[3][r] = 1e-5;
    }
    if (fit_h5_create("f.h5", &h, NULL) != FIT_OK)
        exit(1);
    static const char *const name[] = {"/tau", "/E", "/y", "/s"};
    for (int c = 0; c < 4; c++)
        fit_h5_write_doubles(h, name[c], v[c], ROWS, NULL);
    fit_h5_write_attr_string(h, "/tau", "units", tau->text, NULL);
    fit_h5_write_attr_string(h, "/E", "unit", E->text, NULL);
    fit_h5_finish(h, NULL);
}

static void row_cell(const char *place, const struct unit *u, int model, const char *data, const char *more)
{
    char options[400];
    snprintf(options, sizeof options, "--model rows%d.lua --data %s --q '0.054 1/nm' %s", model, data, more);
    fit_cell(place, u, model, options);
}

static void columns(void)
{
    static const char *const spelling[] = {"tau (%s),E,y,s", "tau [%s],E,y,s", "tau/%s,E,y,s",
                                           "# a remark\n# tau (%s),E,y,s"};
    static const struct unit keV = {"keV", 1}, seconds = {"s", 1};
    char head[120], more[120];
    int turn = 0;
    for (size_t u = 0; u < N(of_time); u++) {
        const double factor = of_time[u].factor > 0 ? of_time[u].factor : 1;
        for (size_t s = 0; s < N(spelling); s++, turn++) {
            if (s == 2 && (strcmp(of_time[u].text, "foo") == 0 || strpbrk(of_time[u].text, "\xC2")))
                continue; /* tau/foo is a name */
            snprintf(head, sizeof head, spelling[s], of_time[u].text);
            write_rows(head, factor, 1);
            row_cell(spelling[s], &of_time[u], turn % MODELS, "f.csv", "");
        }
        write_rows("tau,E,y,s", factor, 1);
        snprintf(more, sizeof more, "--set 'data.units={tau: \"%s\"}'", of_time[u].text);
        row_cell("data.units, tau", &of_time[u], turn % MODELS, "f.csv", more);
        write_h5_rows(&of_time[u], &keV);
        row_cell("attribute of a table, tau", &of_time[u], (turn + 1) % MODELS, "f.h5", "");
    }
    for (size_t u = 0; u < N(of_energy); u++, turn++) {
        snprintf(head, sizeof head, "tau (s),E (%s),y,s", of_energy[u].text);
        write_rows(head, 1, of_energy[u].factor > 0 ? of_energy[u].factor : 1);
        row_cell("E (..)", &of_energy[u], turn % MODELS, "f.csv", "");
        write_h5_rows(&seconds, &of_energy[u]);
        row_cell("attribute of a table, E", &of_energy[u], turn % MODELS, "f.h5", "");
    }
    static const struct unit suffix[] = {{"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}, {"min", 0}};
    for (size_t u = 0; u < N(suffix); u++) { /* tau_min: a minimum, or minutes? */
        snprintf(head, sizeof head, "lag_%s,E,y,s", suffix[u].text);
        snprintf(more, sizeof more, "--set 'data.columns={tau: lag_%s}'", suffix[u].text);
        write_rows(head, suffix[u].factor > 0 ? suffix[u].factor : 1, 1);
        row_cell("lag_..", &suffix[u], (int)u % MODELS, "f.csv", more);
    }
    const struct unit none = {"a bare number", 1};
    for (int m = 0; m < MODELS; m++) { /* no unit: the model's */
        write_rows("tau,E,y,s", model_tau_factor[m], 1);
        row_cell("a name without unit", &none, m, "f.csv", "");
    }
}

/* Parameters and q of a table, given with units. */
static void parameters(void)
{
    static const char *const way[] = {"--fix 'D=%s'", "--start 'D=%s'", "--set 'D=%s'", "--bounds 'D=%s:1e5'"};
    char more[200], options[300];
    write_rows("tau (s),E (keV),y,s", 1, 1);
    for (size_t u = 0; u < N(of_D); u++)
        for (size_t w = 0; w < N(way); w++) {
            const int model = (int)(u + w) % MODELS;
            const double truth = w == 3 ? D / 2 : D;
            char place[40];
            snprintf(more, sizeof more, way[w], quantity_text(&of_D[u], truth));
            snprintf(options, sizeof options, "fit --model rows%d.lua --data f.csv --q '0.054 1/nm' %s -o out --quiet",
                     model, more);
            snprintf(place, sizeof place, "%.12s of D", way[w]);
            unlink("out/fit.json");
            const int status = run(options);
            judge(place, of_D[u].text, model, of_D[u].factor > 0, status,
                  number("D", w == 0   ? "value"
                              : w == 3 ? "lower"
                                       : "start"),
                  truth);
        }
    for (size_t u = 0; u < N(of_q); u++) {
        snprintf(options, sizeof options, "--model rows%d.lua --data f.csv --set 'q=%s'", (int)u % MODELS,
                 quantity_text(&of_q[u], Q));
        fit_cell("--set q of a table", &of_q[u], (int)u % MODELS, options);
    }
}

/* ---- simulate, plan -------------------------------------------------------------------------- */

/* What simulate writes fits, by options in any unit: the file and the configuration that it makes. */
static void simulations(void)
{
    char options[600];
    int turn = 0;
    for (size_t u = 0; u < N(of_q); u++, turn++) {
        const int m = turn % MODELS;
        const struct unit *phi = &of_phi[of_q[u].factor > 0 ? u % 6 : 0], *gap = &of_gap[u % 7], *dt = &of_time[u % 5];
        char q[80], g[80], t[80], place[80];
        snprintf(q, sizeof q, "%s", quantity_text(&of_q[u], Q));
        snprintf(g, sizeof g, "%s", quantity_text(gap, GAP));
        snprintf(t, sizeof t, "%s", quantity_text(dt, DT));
        snprintf(options, sizeof options,
                 "simulate --model pairs%d.lua -o sim.h5 --config-out sim.yaml --force --frames 20 --dt '%s' --q '%s' "
                 "--gap '%s'"
                 " --phi '0,%s' --set D=200 --noise 1e-5 --quiet",
                 m, t, q, g, quantity_text(phi, 60));
        int status = run(options);
        snprintf(options, sizeof options, "fit sim.yaml --model pairs%d.lua -o out --quiet", m);
        unlink("out/fit.json");
        if (status == 0)
            status = run(options);
        snprintf(place, sizeof place, "simulate --q --gap --dt --phi (%s, %s, %s)", gap->text, dt->text, phi->text);
        judge(place, of_q[u].text, m, of_q[u].factor > 0, status, number("D", "value"), D);
    }
    static const struct unit wrong[] = {{"foo", 0}, {"s", 0}};
    static const char *const option[] = {"--phi '0,60 %s'", "--gap '2 %s'"};
    for (size_t o = 0; o < N(option); o++)
        for (size_t u = 0; u < N(wrong); u++) {
            char more[80];
            snprintf(more, sizeof more, option[o], wrong[u].text);
            snprintf(options, sizeof options,
                     "simulate --model pairs1.lua -o sim.h5 --force --frames 20 --dt 0.1 --q 0.005 %s %s"
                     " --noise 1e-5 --quiet",
                     o == 0 ? "--gap 2e6" : "--phi 0", more);
            judge(option[o], wrong[u].text, 1, 0, run(options), NAN, 1);
        }
}

/* Places that take no unit, or the one of a quantity without: another unit is refused. */
static void places_without(void)
{
    static const struct unit wrong[] = {{"nm", 0}, {"foo", 0}, {"ms", 0}};
    static const char *const fits[] = {"--sigma '0.01 %s'", "--bounds 'c=0:1 %s'", "--start 'o=1 %s'",
                                       "--phi '0,60 %s'", "--set 'c=0.3 %s'"};
    static const char *const makes[] = {"--contrast '0.3 %s'", "--noise '0.01 %s'", "--first-time '0 %s'",
                                        "--set 'D=200 %s'"};
    const struct file f = {"flat", in_order[0], in_order[1], in_order[2], {NULL, NULL}};
    char options[400], more[80];
    write_file("f.h5", &f);
    for (size_t u = 0; u < N(wrong); u++) {
        for (size_t w = 0; w < N(fits); w++) {
            snprintf(more, sizeof more, fits[w], wrong[u].text);
            snprintf(options, sizeof options, "--model pairs1.lua --data f.h5 --gap 2e6 %s", more);
            fit_cell(fits[w], &wrong[u], 1, options);
        }
        for (size_t w = 0; w < N(makes); w++) {
            if (w == 2 && u == 2)
                continue; /* ms is a time */
            snprintf(more, sizeof more, makes[w], wrong[u].text);
            snprintf(options, sizeof options,
                     "simulate --model pairs1.lua -o sim.h5 --force --frames 20 --dt 0.1 --q 0.005"
                     " --gap 2e6 --phi 0,60 %s --quiet",
                     more);
            judge(makes[w], wrong[u].text, 1, 0, run(options), NAN, 1);
        }
        snprintf(options, sizeof options,
                 "simulate --model rows1.lua -o sim.csv --force --x '100 %s:2000 %s:9' --set E=1"
                 " --set q=0.05 --quiet",
                 wrong[u].text, wrong[u].text);
        judge("--x", wrong[u].text, 1, 0, run(options), NAN, 1);
    }
}

/* Keys of a configuration: azimuths in a list, starts and bounds with a label of their unit. */
static void keys(void)
{
    const struct file f = {"flat", in_order[0], {{NULL, 0}, NULL}, in_order[2], {NULL, NULL}};
    char yaml[400];
    write_file("f.h5", &f);
    for (size_t u = 0; u < N(of_phi); u++) {
        snprintf(yaml, sizeof yaml, "phi_filtering: {angles: [0, \"%s\"]}", quantity_text(&of_phi[u], 60));
        config((int)u % MODELS, yaml);
        snprintf(yaml, sizeof yaml, "run.yaml --model pairs%d.lua --gap '200 um'", (int)u % MODELS);
        fit_cell("phi_filtering.angles", &of_phi[u], (int)u % MODELS, yaml);
    }
    const struct file g = {"flat", in_order[0], in_order[1], in_order[2], {NULL, NULL}};
    write_file("f.h5", &g);
    for (size_t u = 0; u < N(of_D); u++)
        for (int way = 0; way < 3; way++) {
            const double factor = of_D[u].factor > 0 ? of_D[u].factor : 1;
            if (way == 0)
                snprintf(yaml, sizeof yaml, "parameters: {D: {value: %.15g, unit: \"%s\", vary: false}}", D * factor,
                         of_D[u].text);
            else if (way == 1)
                snprintf(yaml, sizeof yaml, "parameters: {D: {value: \"%s\", vary: false}}",
                         quantity_text(&of_D[u], D));
            else
                snprintf(yaml, sizeof yaml,
                         "parameter_space: {bounds: [{name: D, min: %.15g, max: %.15g, unit: \"%s\"}]}", D * factor,
                         3 * D * factor, of_D[u].text);
            config((int)u % MODELS, yaml);
            snprintf(yaml, sizeof yaml, "fit run.yaml --model pairs%d.lua --gap '200 um' -o out --quiet",
                     (int)u % MODELS);
            unlink("out/fit.json");
            const int status = run(yaml);
            judge(way == 0   ? "parameters: unit"
                  : way == 1 ? "parameters: value"
                             : "parameter_space.bounds: unit",
                  of_D[u].text, (int)u % MODELS, of_D[u].factor > 0, status, number("D", way == 2 ? "lower" : "value"),
                  D);
        }
}

/* A table with the axis q, a curve for each of two: fitted, and made by simulate. */
static void axes(void)
{
    char name[32], options[400];
    for (int m = 0; m < MODELS; m++) {
        snprintf(name, sizeof name, "rings%d.lua", m);
        FILE *f = made(name);
        fprintf(f,
                "local m = model \"rings%d\" { title = \"decays\" }\n"
                "local q = m.axis(\"q\", { unit = \"%s\", range = {%g, %g} })\n"
                "local tau, y = m.columns({ \"tau\", unit = \"s\", range = {0.1, 2.5} }, \"y\")\n"
                "local D = m.parameter(\"D\", { unit = \"nm^2/s\", start = 150, bounds = {1, 1e5} })\n"
                "local a = m.parameter(\"a\", { over = q, start = 0.5, bounds = {0, 10} })\n"
                "m.observe(y, { mean = a * exp(-convert(q, \"1/nm\")^2 * D * tau) })\n",
                m, model_q[m], 0.05 * model_q_factor[m], 0.09 * model_q_factor[m]);
        fclose(f);
    }
    for (size_t u = 0; u < N(of_q); u++) {
        const int m = (int)u % MODELS;
        const double factor = of_q[u].factor > 0 ? of_q[u].factor : 1;
        FILE *f = made("f.csv");
        fprintf(f, "q (%s),tau,y\n", of_q[u].text);
        for (int r = 0; r < 2 * ROWS; r++) {
            const double q = r < ROWS ? Q : 1.5 * Q, tau = 0.1 * (r % ROWS + 1);
            fprintf(f, "%.15g,%.15g,%.15g\n", q * factor, tau, exp(-q * q * D * tau) + 1e-6 * sin(5.5 * r));
        }
        fclose(f);
        snprintf(options, sizeof options, "--model rings%d.lua --data f.csv", m);
        fit_cell("axis q of a table", &of_q[u], m, options);
        snprintf(options, sizeof options,
                 "simulate --model rings%d.lua -o sim.csv --force --x 0.1:2.4:24 --set 'q=%s' --set D=200 --set a=1"
                 " --noise 1e-6 --quiet",
                 m, quantity_text(&of_q[u], Q));
        int status = run(options);
        snprintf(options, sizeof options, "fit --model rings%d.lua --data sim.csv -o out --quiet", m);
        unlink("out/fit.json");
        if (status == 0)
            status = run(options);
        judge("simulate --set q of a table", of_q[u].text, m, of_q[u].factor > 0, status, number("D", "value"), D);
    }
}

/* Values of the model at the rows of a table. */
static void evaluations(void)
{
    char head[80], options[300];
    for (size_t u = 0; u < N(of_time); u++) {
        const int m = (int)u % MODELS;
        struct fit_h5 *h;
        double *mean = NULL;
        size_t n = 0;
        snprintf(head, sizeof head, "tau (%s),E,y,s", of_time[u].text);
        write_rows(head, of_time[u].factor > 0 ? of_time[u].factor : 1, 1);
        snprintf(options, sizeof options,
                 "eval --model rows%d.lua --data f.csv --set 'q=0.054 nm^-1' --set D=200 --set a=1 -o eval.h5 --quiet",
                 m);
        unlink("eval.h5");
        const int status = run(options);
        if (status == 0 && fit_h5_open("eval.h5", &h, NULL) == FIT_OK) {
            fit_h5_read_doubles(h, "/mean", &mean, &n, NULL);
            fit_h5_close(h);
        }
        judge("eval --data", of_time[u].text, m, of_time[u].factor > 0, status, n ? mean[n / 2] : NAN,
              exp(-Q * Q * D * 0.1 * (ROWS / 2 + 1)) + 0.1 * (1 + ROWS / 2 % 3));
        free(mean);
    }
}

/* The error that plan expects of D is that of model 0, whatever unit a model has its q in. */
static void plans(void)
{
    double truth = NAN;
    char options[400];
    for (size_t u = 0; u < N(of_q); u++) {
        const int m = (int)u % MODELS;
        char q[80];
        snprintf(q, sizeof q, "%s", quantity_text(&of_q[u], Q));
        char dt[80];
        snprintf(dt, sizeof dt, "%s", quantity_text(&of_time[u % 5], DT));
        snprintf(
            options, sizeof options,
            "plan --model pairs%d.lua --frames 1:40 --phi 0,60 --sigma 0.01 --dt '%s' --q '%s' --gap '200 um' --json",
            m, dt, q);
        const int status = run(options);
        const char *at = strstr(content("said"), "\"std\":");
        const double std = at ? strtod(at + strlen("\"std\":"), NULL) : NAN;
        truth = u == 0 ? std : truth;
        judge("plan --q --dt", of_q[u].text, m, of_q[u].factor > 0, status, std, truth);
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/unit-matrix-XXXXXX", command[200];
    if (argc < 2 || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    bin = argv[1];
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("LC_ALL", "C", 1);
    write_models();
    files();
    options_of_pairs();
    bare();
    columns();
    parameters();
    simulations();
    places_without();
    keys();
    plans();
    axes();
    evaluations();
    printf("%d cells, %d wrong\n", cells, failures);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0)
        return 1;
    return failures || cells < 150;
}
