/* Configurations: the three packages' dialects, errors with place and nearest name, overrides,
 * round trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_impl.h"
#include "config/config_impl.h"
#include "config_kernels.h"
#include "shared.h"

#define DATA FIT_SOURCE_DIR "/tests/data/config/"

static struct fit_config *must_read(const char *file, const struct fit_kernel *k,
                                    struct fit_config_log *log)
{
    struct fit_config *cfg = NULL;
    struct fit_error err = {0};
    if (fit_config_read(file, k, NULL, log, &cfg, &err) != FIT_OK ||
        fit_config_finish(cfg, log, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return cfg;
}

/* Reads and finishes a text; all errors are in *log.  Returns the configuration or NULL. */
static struct fit_config *read_text(const char *text, const struct fit_kernel *k,
                                    struct fit_config_log *log)
{
    struct fit_config *cfg = NULL;
    struct fit_error err = {0};
    if (fit_config_read_text(text, strlen(text), "t.yaml", k, NULL, log, &cfg, &err) != FIT_OK) {
        assert_true(err.message[0]);
        return NULL;
    }
    if (fit_config_finish(cfg, log, &err) != FIT_OK) {
        fit_config_free(cfg);
        return NULL;
    }
    return cfg;
}

static void has(const struct fit_config_log *log, int errors, const char *part)
{
    char *text = fit_config_log_text(log, errors);
    assert_non_null(text);
    if (!strstr(text, part)) {
        print_error("messages:\n%s", text);
        free(text);
        fail_msg("no message contains '%s'", part);
    }
    free(text);
}

static void refuse(const char *text, const struct fit_kernel *k, const char *part)
{
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = read_text(text, k, &log);
    if (cfg)
        fail_msg("accepted: %s", text);
    has(&log, 1, part);
    fit_config_log_free(&log);
}

static const struct fit_config_param *param(const struct fit_config *cfg, const char *name)
{
    const int i = fit_config_param_index(cfg->kernel, name);
    assert_true(i >= 0);
    return &cfg->param[i];
}

/* ---- Dialects */

static void test_short_form(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "minimal.yaml", &laminar_kernel, &log);
    assert_string_equal(cfg->mode.value, "laminar");
    assert_int_equal(cfg->mode.from.line, 2);
    assert_int_equal(cfg->input.path.n, 1);
    assert_string_equal(cfg->input.path.value[0], DATA "data.h5");
    assert_true(fabs(cfg->input.dt.value - 2e-5) < 1e-20);
    assert_true(fabs(cfg->input.q.value - 0.00541) < 1e-17);
    assert_true(cfg->input.gap.value == 2e6);
    assert_true(cfg->setting[1].value == 2e6);
    assert_true(cfg->setting[2].value == 300);
    assert_int_equal(cfg->setting[2].from.kind, FIT_FROM_MODEL);
    assert_int_equal(cfg->input.end_frame.value, -1);
    assert_int_equal(cfg->angles.filter.value, 1);
    assert_int_equal(cfg->angles.nrange, 2);
    assert_true(cfg->angles.range[1].lower == 85);
    assert_true(param(cfg, "D0")->automatic);
    assert_int_equal(cfg->scaling.automatic, 1);
    assert_int_equal(log.n, 0);
    fit_config_free(cfg);
}

#define GAP "analyzer_parameters: {geometry: {stator_rotor_gap: 2000000}}\n"

static double inside(const struct fit_param *p)
{
    return 0.25 * p->lower + 0.75 * p->upper;
}

/* Without names: one value for each parameter of the model, in its order; null leaves one to be found. */
static void test_values_by_order(void **state)
{
    (void)state;
    const struct fit_kernel *kernel = &laminar_kernel;
    for (size_t left = 0; left <= kernel->nparam; left++) {
        char text[600] = GAP "initial_parameters:\n  values: [";
        for (size_t k = 0; k < kernel->nparam; k++)
            if (k == left)
                strcat(text, "null, ");
            else
                snprintf(text + strlen(text), sizeof text - strlen(text), "%.17g, ", inside(&kernel->param[k]));
        strcpy(text + strlen(text) - 2, "]\n");
        struct fit_config_log log;
        fit_config_log_init(&log);
        struct fit_config *cfg = read_text(text, kernel, &log);
        if (!cfg)
            fail_msg("%s%s", text, fit_config_log_text(&log, 1));
        has(&log, 0, "in the model's order");
        for (size_t k = 0; k < kernel->nparam; k++) {
            assert_int_equal(cfg->param[k].automatic, k == left);
            assert_true(k == left || fabs(cfg->param[k].start.value - inside(&kernel->param[k])) <= 0);
        }
        fit_config_free(cfg);
        fit_config_log_free(&log);
    }
    refuse(GAP "initial_parameters: {values: [1, 2]}\n", kernel, "2 values without parameter_names");
}

static void test_homodyne_file(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "homodyne.yaml", &laminar_kernel, &log);
    assert_true(param(cfg, "alpha")->start.value == -0.1);
    assert_int_equal(param(cfg, "alpha")->start.from.line, 28);
    assert_false(param(cfg, "alpha")->automatic);
    assert_true(param(cfg, "contrast")->automatic);
    assert_int_equal(param(cfg, "D0")->prior.value, FIT_PRIOR_TRUNCATED_NORMAL);
    assert_true(param(cfg, "D0")->prior_a == 1000);
    assert_true(param(cfg, "contrast")->prior_a ==
                0.5); /* the middle, not `priors`, which nobody reads */
    assert_true(cfg->nlsq.ftol.value == 1e-8);
    assert_true(cfg->nlsq.gtol.value == 1e-8);
    assert_int_equal(cfg->nlsq.loss.value, FIT_LOSS_SOFT_L1);
    assert_int_equal(cfg->nlsq.global.value, 1);
    assert_int_equal(cfg->nlsq.n_starts.value, 10);
    assert_int_equal(cfg->sampling.warmup.value, 700); /* per_shard_mcmc before mcmc */
    assert_int_equal(cfg->sampling.draws.value, 1500);
    assert_int_equal(cfg->sampling.chains.value, 4);
    assert_int_equal(cfg->sampling.shards.value, 0);
    assert_int_equal(cfg->sampling.dense_mass.value, 1);
    assert_string_equal(cfg->output.dir.value, "./homodyne_results/results");
    assert_true(fit_config_peers_average(cfg, 3));
    assert_false(fit_config_peers_average(cfg, 2));
    assert_int_equal(fit_config_scaling(cfg, 23), FIT_SCALING_INDIVIDUAL);
    assert_int_equal(log.nerror, 0);
    has(&log, 0, "keys have no effect here");
    has(&log, 0, "packages average them");
    has(&log, 0, "never repaired");
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_heterodyne_file(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "heterodyne.yaml", &heterodyne_kernel, &log);
    assert_true(param(cfg, "D0_ref")->start.value == 1500);
    assert_true(param(cfg, "D0_ref")->lower.value == 100); /* parameters: before parameter_space */
    assert_true(param(cfg, "D0_ref")->prior_a == 10000);
    assert_true(param(cfg, "beta")->start.value == 0.1);
    assert_string_equal(param(cfg, "beta")->written, "v_beta");
    assert_int_equal(param(cfg, "v0")->prior.value, FIT_PRIOR_NORMAL);
    assert_true(param(cfg, "v0")->prior_b == 20);
    assert_int_equal(param(cfg, "f2")->fixed.value, 1);
    assert_int_equal(param(cfg, "f1")->fixed.value, 0);
    assert_int_equal(cfg->angles.nrange, 3);
    assert_true(cfg->angles.range[1].lower == 87 && cfg->angles.range[1].upper == 93);
    assert_true(cfg->angles.range[2].lower > cfg->angles.range[2].upper);
    assert_int_equal(cfg->scaling.automatic, 0);
    assert_int_equal(cfg->scaling.average_threshold.value, 3);
    assert_int_equal(cfg->nlsq.multi_start.value, 1);
    assert_int_equal(cfg->nlsq.n_starts.value, 12);
    assert_true(cfg->nlsq.memory_fraction.value == 0.5);
    assert_string_equal(cfg->output.dir.value, "./out");
    has(&log, 0, "not a number of angles");
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_legacy_json(void **state)
{
    (void)state;
    struct fit_config_log log;
    char name[64];
    struct fit_error err;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "legacy.json", &laminar_kernel, &log);
    assert_true(cfg->input.dt.value == 0.5);
    assert_int_equal(cfg->input.start_frame.value, 401);
    assert_string_equal(cfg->input.path.value[0], DATA "data/a.hdf");
    assert_true(param(cfg, "gamma_dot_t0")->automatic);
    assert_true(param(cfg, "gamma_dot_t_offset")->start.value == 1e-4);
    assert_int_equal(param(cfg, "phi0")->fixed.value, 1);
    assert_int_equal(param(cfg, "D0")->fixed.value, 0);
    assert_int_equal(cfg->angles.filter.value, 1);
    assert_int_equal(cfg->angles.nrange, 1);
    has(&log, 0, "phi0 is fixed at 0; homodyne and xpcsjax would fit it");
    fit_config_free(cfg);
    fit_config_log_free(&log);
    assert_int_equal(fit_config_detect(DATA "legacy.json", name, &err), FIT_OK);
    assert_string_equal(name, "laminar");
    assert_int_equal(fit_config_detect(DATA "heterodyne.yaml", name, &err), FIT_OK);
    assert_string_equal(name, "heterodyne");
    assert_int_equal(fit_config_detect(DATA "minimal.yaml", name, &err), FIT_OK);
    assert_string_equal(name, "laminar");
}

static void test_older_sections_and_flat_file(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = read_text("temporal: {dt: 0.2, t_start: 10, time_length: 50}\n"
                                       "scattering: {wavevector_q: 0.01, phi_angles: [0, 90]}\n"
                                       "data_file: /a/b.h5\nx-mine: {free: text}\n",
                                       &heterodyne_kernel, &log);
    assert_non_null(cfg);
    assert_int_equal(cfg->input.start_frame.value, 11);
    assert_int_equal(cfg->input.end_frame.value, 60);
    assert_int_equal(cfg->angles.list.n, 2);
    assert_string_equal(cfg->input.path.value[0], "/a/b.h5");
    fit_config_free(cfg);
    cfg = read_text(
        "data_file: b.h5\ndt: 0.1\nstart_frame: 1\nend_frame: -1\noutput_directory: here\n",
        &static_anisotropic_kernel, &log);
    assert_non_null(cfg);
    assert_string_equal(cfg->output.dir.value, "here");
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_table_model(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg =
        read_text("analysis_mode: decay\n"
                  "data: {file: g2.csv, columns: {t: tau, y: 2, sigma: err}, skip_rows: 1}\n"
                  "parameters: {rate: 3 1/s, offset: {value: 1, fixed: yes}}\n",
                  &decay_kernel, &log);
    assert_non_null(cfg);
    assert_int_equal(cfg->table.ncolumn, 3);
    assert_string_equal(cfg->table.column[1].source, "2");
    assert_true(param(cfg, "rate")->start.value == 3);
    assert_int_equal(param(cfg, "offset")->fixed.value, 1);
    fit_config_free(cfg);
    fit_config_log_free(&log);
    refuse("data: {file: a.csv, columns: {tt: 1}}\n", &decay_kernel, "did you mean 't'?");
}

static void test_modes_and_the_models_that_may_read_them(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    fit_config_free(read_text("analysis_mode: static\n", &static_isotropic_kernel, &log));
    fit_config_free(read_text("analysis_mode: static\n", &static_anisotropic_kernel, &log));
    fit_config_free(read_text("analysis_mode: static_isotropic\n", &static_isotropic_kernel, &log));
    struct fit_kernel variation = laminar_kernel;
    variation.name = "laminar_theory";
    variation.nsetting = 1;
    fit_config_free(read_text("analysis_mode: laminar_flow\n", &variation, &log));
    static const char *const alias[] = {"slit_flow", NULL}; /* of a model of one's own, which no table knows */
    struct fit_kernel own = laminar_kernel;
    own.name = "slit";
    own.nsetting = 1;
    own.mode = NULL;
    own.alias = alias;
    fit_config_free(read_text("analysis_mode: Slit-flow\n", &own, &log));
    assert_int_equal(log.nerror, 0);
    fit_config_log_free(&log);
    assert_string_equal(fit_config_canonical_mode("Laminar_Flow"), "laminar");
    assert_string_equal(fit_config_canonical_mode("slit_flow"), "slit_flow");
    assert_string_equal(fit_config_written_mode("laminar"), "laminar_flow");
    assert_string_equal(fit_config_written_mode("static_anisotropic"), "static_anisotropic");
    assert_string_equal(fit_config_other_mode("heterodyne"), "two_component");
    assert_null(fit_config_other_mode("kww"));
    assert_true(fit_config_same_mode("static_isotropic", "static"));
    assert_false(fit_config_same_mode("laminar", "laminar_theory"));
    refuse("analysis_mode: static_isotropic\n", &static_anisotropic_kernel,
           "run homodyne-static_isotropic");
    refuse("analysis_mode: laminar_flow\nparameters: {gamma: 1}\n", &static_anisotropic_kernel,
           "t.yaml:1:16: error: analysis_mode is 'laminar_flow', and this program fits "
           "'static_anisotropic'; "
           "run homodyne-laminar");
    refuse("analysis_mode: laminar_flw\n", &laminar_kernel, "did you mean 'laminar_flow'?");
}

/* ---- Errors */

static void test_errors_of_keys_and_values(void **state)
{
    (void)state;
    const struct fit_kernel *k = &laminar_kernel;
    refuse("analyzer_parameters:\n  scattering:\n    wavevector: 0.0054\n", k,
           "t.yaml:3:5: error: unknown key 'wavevector' in analyzer_parameters.scattering; did you "
           "mean "
           "'wavevector_q'?");
    refuse("analyser_parameters: {dt: 1}\n", k, "did you mean 'analyzer_parameters'?");
    refuse("optimization: {max_iterations: 5}\n", k, "it belongs under optimization.nlsq");
    refuse("plotting: {dpii: 3}\n", k, "did you mean 'dpi'?");
    refuse("analyzer_parameters: {geometry: {stator_rotor_gap: 200}}\n", k,
           "write the unit, e.g. '200 um'");
    refuse("analyzer_parameters: {scattering: {wavevector_q: 5.4}}\n", k, "looks like nm^-1");
    refuse("analyzer_parameters: {scattering: {wavevector_q: 5.4e7}}\n", k, "looks like m^-1");
    refuse("analyzer_parameters: {scattering: {wavevector_q: 5 s}}\n", k, "expected is 1/angstrom");
    refuse("analyzer_parameters: {dt: abc}\n", k,
           "t.yaml:1:27: error: analyzer_parameters.dt: 'abc' is not a number");
    refuse("analyzer_parameters: {dt: true}\n", k, "'true' is not a number");
    refuse("analyzer_parameters: {dt: 0}\n", k, "positive");
    refuse("analyzer_parameters: {dt: [1]}\n", k, "expected a number here, found a list");
    refuse("analyzer_parameters: 5\n", k, "a section");
    refuse("analyzer_parameters: {start_frame: 1.5}\n", k, "not a whole number");
    refuse("analyzer_parameters: {start_frame: 0}\n", k, "give 1 or more");
    refuse("analyzer_parameters: {start_frame: 5, end_frame: 6}\n", k, "at least three");
    refuse("analyzer_parameters: {dt: 1, temporal: {dt: 2}}\n", k, "line 1 says otherwise");
    refuse("phi_filtering: {enabled: maybe}\n", k, "neither true nor false");
    refuse("phi_filtering: {target_ranges: [{min_angel: 1, max_angle: 2}]}\n", k,
           "did you mean 'min_angle'?");
    refuse("optimization: {nlsq: {loss: tukey}}\n", k,
           "possible are linear, soft_l1, huber, cauchy, arctan");
    refuse("optimization: {nlsq: {loss: soft_l2}}\n", k, "did you mean 'soft_l1'?");
    refuse("optimization: {nlsq: {per_angle_mode: fourier, fourier_order: 0}}\n", k, "fourier_order");
    refuse("optimization: {method: gurobi}\n", k, "possible are nlsq, nuts, laplace, cmc, both");
}

static void test_errors_of_parameters(void **state)
{
    (void)state;
    const struct fit_kernel *k = &laminar_kernel;
    refuse("parameters: {D1: 5}\n", k, "has no parameter 'D1'; did you mean 'D0'?");
    refuse("parameters: {beta: {vallue: 5}}\n", k, "did you mean 'value'?");
    refuse("parameters: {gamma0: 0.1, gamma_dot_t0: 0.2}\n", k, "given twice");
    refuse("initial_parameters:\n  parameter_names: [D0, alpha]\n  values: [1]\n", k,
           "1 values for 2");
    refuse("initial_parameters: {parameter_names: [D0, aplha], values: [1000, 0]}\n", k,
           "did you mean 'alpha'?");
    refuse(
        GAP "parameters:\n  D0: {value: 5}\nparameter_space:\n  bounds:\n  - {name: D0, min: 100, "
            "max: 1000}\n",
        k,
        "t.yaml:3:15: error: the start of D0, 5, lies outside its bounds 100 .. 1000 (t.yaml:6)");
    refuse(GAP "parameters: {phi0: 20}\n", k, "(model)");
    refuse(GAP "parameters: {alpha: {min: 2, max: 1}}\n", k, "is not below");
    refuse("parameters: {alpha: {prior: wrong}}\n", k, "unknown word 'wrong'");
    refuse("share: {beta: per_angel}\n", k, "did you mean 'per_angle'?");
    refuse("share: {beta: [0, 45]}\n", k, "[[0, 45], [90]]");
}

static void test_errors_of_ties(void **state)
{
    (void)state;
    const struct fit_kernel *k = &laminar_kernel;
    refuse(GAP "initial_parameters: {tied_parameters: {beta: alpha, alpha: beta}}\n", k, "in its turn");
    refuse(GAP "ties: {beta: 2*alpha, alpha: D0 + 3*phi0, phi0: 1 - beta}\n", k, "in its turn");
    refuse("ties: {beta: beta + 1}\n", k, "tied to itself");
    refuse("ties:\n    beta: 0.1*gamma_dot_0 + gama_dot_t0\n", k,
           "t.yaml:2:11: error: ties: beta = '0.1*gamma_dot_0 + gama_dot_t0', character 19: the model laminar "
           "has no parameter 'gama_dot_t0'; did you mean 'gamma_dot_t0'?");
    refuse("ties: {beta: 2*alpha*D0}\n", k, "a product of parameters is not linear");
    refuse("ties: {beta: 1/alpha}\n", k, "division by a parameter is not linear");
    refuse("ties: {beta: alpha^2}\n", k, "powers are not linear");
    refuse("ties: {beta: exp(alpha)}\n", k, "functions are not linear");
    refuse("ties: {beta: 2*(alpha}\n", k, "closing parenthesis");
    refuse("ties: {beta: alpha/0}\n", k, "division by zero");
    refuse("ties: {beta: 2 alpha}\n", k, "an operator");
    refuse("ties: {beta: alpha +}\n", k, "ends too early");
    refuse("ties: {beta: 3}\n", k, "--fix beta=VALUE");
    refuse("ties: {offset: D0}\n", k, "linear");
    refuse(GAP "ties: {beta: alpha}\nshare: {beta: per_angle}\n", k, "as many values");
    refuse(GAP "ties: {beta: alpha}\nparameters: {beta: {value: 0, vary: false}}\n", k, "both fixed and tied");
    refuse("initial_parameters: {tied_parameters: {beta: contrast}}\n", k, "linear");
}

static void test_errors_of_settings_and_of_yaml(void **state)
{
    (void)state;
    const struct fit_kernel *k = &laminar_kernel;
    refuse("settings: {temprature: 3}\n", k, "did you mean 'temperature'?");
    refuse("data_filtering: {enabled: true}\n", k, "phi_filtering");
    refuse("preprocessing: {enabled: true, whatever: 3}\n", k, "preprocessing");
    refuse("sigma: -1\n", k, "positive");
    refuse("mask: [3..1]\n", k, "788..1000");
    refuse("compat: homodine\n", k, "did you mean 'homodyne'?");
    refuse("- a\n- b\n", k, "key: value");
    refuse("experimental_data: {file_path: $FIT_TEST_NOT_SET/x}\n", k,
           "FIT_TEST_NOT_SET is not set");
    refuse("analysis_mode: laminar\n", k, "no value for the setting 'gap' (angstrom)");
    refuse("a: 1\na: 2\n", k, "t.yaml:2:1: error: key 'a' is given twice");
}

static void test_all_errors_at_once_but_not_too_many(void **state)
{
    (void)state;
    struct fit_config_log log;
    struct fit_config *cfg;
    struct fit_error err = {0};
    char text[4096] = "";
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "unknown_key_%d: 1\n", i);
    fit_config_log_init(&log);
    assert_int_equal(
        fit_config_read_text(text, strlen(text), "t.yaml", &laminar_kernel, NULL, &log, &cfg, &err),
        FIT_ERR_CONFIG);
    assert_null(cfg);
    assert_int_equal(log.n, FIT_CONFIG_MAX_ERRORS);
    assert_int_equal(log.nerror, 30);
    assert_non_null(strstr(err.message, "unknown_key_0"));
    assert_non_null(strstr(err.message, "(and 29 more)"));
    has(&log, 1, "and 10 more errors");
    fit_config_log_free(&log);

    fit_config_log_init(&log);
    const struct fit_config_options lax = {.lax = 1};
    assert_int_equal(
        fit_config_read_text(text, strlen(text), "t.yaml", &laminar_kernel, &lax, &log, &cfg, &err),
        FIT_OK);
    assert_int_equal(log.nerror, 0);
    assert_int_equal(log.n, 30);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_trusted_units(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg =
        read_text("units: trust\nanalyzer_parameters: {scattering: {wavevector_q: 1.4}, "
                  "geometry: {stator_rotor_gap: 20}}\n",
                  &laminar_kernel, &log);
    assert_non_null(cfg);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

/* The unit of a parameter is a factor: it scales numbers of its priors, and moves the mean of a logarithm alone. */
static void test_priors_in_another_unit(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg =
        read_text("parameters:\n  D0: {unit: nm^2/s, value: 10, prior: {type: LogNormal, mu: 1, sigma: 0.5}}\n"
                  "  D_offset: {unit: nm^2/s, value: 0, prior: {type: Normal, mu: 1, sigma: 0.5}}\n",
                  &static_isotropic_kernel, &log);
    assert_non_null(cfg);
    assert_true(fabs(param(cfg, "D0")->start.value - 1000) < 1e-9);
    assert_true(fabs(param(cfg, "D0")->prior_a - (1 + 4.605170185988092)) < 1e-12);
    assert_true(param(cfg, "D0")->prior_b == 0.5);
    assert_true(fabs(param(cfg, "D_offset")->prior_a - 100) < 1e-12);
    assert_true(fabs(param(cfg, "D_offset")->prior_b - 50) < 1e-12);
    fit_config_free(cfg);
    fit_config_log_free(&log);
    refuse("parameters: {D0: {prior: {type: LogNormal}}}\n", &static_isotropic_kernel, "of the logarithm");
}

/* ---- Data paths */

static void test_the_existing_file_is_meant(void **state)
{
    (void)state;
    char dir[] = "/tmp/fit-config-XXXXXX", name[128], text[512];
    struct fit_config_log log;
    assert_non_null(mkdtemp(dir));
    snprintf(name, sizeof name, "%s/real.h5", dir);
    fclose(fopen(name, "w"));
    snprintf(text, sizeof text,
             "experimental_data: {file_path: ./data/sample/experiment.hdf, data_folder_path: %s, "
             "data_file_name: real.h5}\n",
             dir);
    fit_config_log_init(&log);
    struct fit_config *cfg = read_text(text, &static_anisotropic_kernel, &log);
    assert_non_null(cfg);
    assert_string_equal(cfg->input.path.value[0], name);
    has(&log, 0, "the second exists and is read");
    fit_config_free(cfg);
    fit_config_log_free(&log);
    snprintf(text, sizeof text,
             "experimental_data: {file_path: %s, data_folder_path: /, data_file_name: tmp}\n",
             name);
    refuse(text, &static_anisotropic_kernel, "both exist; keep one");
    unlink(name);
    rmdir(dir);
}

/* ---- What is said about keys */

/* Words for every key; a key that is the same as another names one that is there, and is the same as no third. */
static void test_every_key_is_described(void **state)
{
    (void)state;
    struct fit_config_key key;
    for (size_t i = 0; fit_config_key(i, &key); i++) {
        const struct fit_cfg_key *row = fit_cfg_find(key.path), *same;
        if (!key.about[0] || !row)
            fail_msg("config_keys.def has no words for %s", key.path);
        if (row->use == FIT_KEY_SAME && (!(same = fit_cfg_find(row->about)) || same->use == FIT_KEY_SAME))
            fail_msg("%s is the same as %s, which is no key or the same as another", key.path, row->about);
        assert_true((key.same != NULL) == (row->use == FIT_KEY_SAME));
    }
}

/* ---- Compatibility switches */

static void test_compat_implies_what_it_does_not_override(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = read_text("compat: homodyne-2.23\nsigma: 0.02\n",
                                       &static_anisotropic_kernel, &log);
    assert_non_null(cfg);
    assert_int_equal(cfg->compat.peer.value, FIT_PEER_HOMODYNE);
    assert_int_equal(cfg->compat.exclude_t0.value, 1);
    assert_int_equal(cfg->compat.full_matrix.value, 1);
    assert_int_equal(cfg->compat.full_matrix.from.kind, FIT_FROM_COMPAT);
    assert_true(cfg->input.sigma_value.value[0] == 0.02);
    assert_int_equal(fit_config_scaling(cfg, 5), FIT_SCALING_AVERAGED);
    assert_int_equal(fit_config_scaling(cfg, 2), FIT_SCALING_INDIVIDUAL);
    fit_config_free(cfg);
    cfg = read_text("compat: {version: homodyne-2.23, exclude_t0: false}\n",
                    &static_anisotropic_kernel, &log);
    assert_non_null(cfg);
    assert_int_equal(cfg->compat.exclude_t0.value, 0);
    assert_true(cfg->input.sigma_value.value[0] == 0.01);
    fit_config_free(cfg);
    cfg = read_text("compat: [full_matrix, homodyne_old_q10]\n", &static_anisotropic_kernel, &log);
    assert_non_null(cfg);
    assert_int_equal(cfg->compat.peer.value, FIT_PEER_NONE);
    assert_int_equal(cfg->compat.full_matrix.value, 1);
    assert_int_equal(cfg->input.q_rule.value, FIT_Q_HOMODYNE_OLD);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_masks_are_sorted_and_joined(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = read_text("mask: {frames: [9, 3..5, [6, 7], '20:22', 21]}\n",
                                       &static_anisotropic_kernel, &log);
    assert_non_null(cfg);
    assert_int_equal(cfg->input.nmask, 3);
    assert_int_equal(cfg->input.mask[0].first, 3);
    assert_int_equal(cfg->input.mask[0].last, 7);
    assert_int_equal(cfg->input.mask[2].last, 22);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

/* ---- Command line */

static void over(struct fit_config *cfg, const char *option, const char *value)
{
    struct fit_error err = {0};
    if (fit_config_override(cfg, option, value, NULL, &err) != FIT_OK)
        fail_msg("--%s %s: %s", option, value ? value : "", err.message);
}

static void over_fails(struct fit_config *cfg, const char *option, const char *value,
                       const char *part)
{
    struct fit_error err = {0};
    assert_int_equal(fit_config_override(cfg, option, value, NULL, &err), FIT_ERR_USAGE);
    if (!strstr(err.message, part))
        fail_msg("--%s %s: message '%s' lacks '%s'", option, value ? value : "", err.message, part);
}

static void test_overrides_of_parameters(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "homodyne.yaml", &laminar_kernel, &log);
    over(cfg, "bounds", "phi0=-90:90");
    over(cfg, "bounds", "phi_0=:80 deg");
    over(cfg, "start", "phi0=45");
    assert_true(param(cfg, "phi0")->upper.value == 80 && param(cfg, "phi0")->lower.value == -90);
    over(cfg, "initial-gamma-dot-t0", "0.02");
    over(cfg, "initial-d0", "500 \xC3\x85\xC2\xB2/s");
    assert_true(param(cfg, "gamma_dot_t0")->start.value == 0.02);
    assert_true(param(cfg, "D0")->start.value == 500);
    over(cfg, "fix", "beta=0.25");
    over(cfg, "fix", "alpha");
    over(cfg, "free", "alpha");
    assert_int_equal(param(cfg, "beta")->fixed.value, 1);
    assert_int_equal(param(cfg, "alpha")->fixed.value, 0);
    over(cfg, "tie", "alpha=beta");
    assert_true(param(cfg, "alpha")->tie->factor[4] == 1);
    over(cfg, "tie", "alpha=(beta - 2e-1)/4 + 3*-phi0");
    const double *f = param(cfg, "alpha")->tie->factor; /* D0 alpha D_offset gamma beta offset phi0 c o, 1 */
    assert_true(f[4] == 0.25 && f[6] == -3 && fabs(f[9] + 0.05) < 1e-16 && f[0] == 0 && f[1] == 0);
    over(cfg, "share", "D0=0,45/90");
    assert_int_equal(param(cfg, "D0")->share.nset, 2);
    assert_true(param(cfg, "D0")->share.set[0].n == 2 && param(cfg, "D0")->share.set[1].value[0] == 90);
    over(cfg, "share", "contrast=shared");
    assert_int_equal(param(cfg, "contrast")->share.kind, FIT_SHARE_ALL);
    struct fit_error err;
    assert_int_equal(fit_config_finish(cfg, NULL, &err), FIT_OK);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_overrides_of_data_and_methods(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "homodyne.yaml", &laminar_kernel, &log);
    over(cfg, "q", "0.06 nm^-1");
    assert_true(fabs(cfg->input.q.value - 0.006) < 1e-17);
    assert_string_equal(cfg->input.q.from.option, "--q");
    over(cfg, "frames", "5:80");
    assert_int_equal(cfg->input.start_frame.value, 5);
    assert_int_equal(cfg->input.end_frame.value, 80);
    over(cfg, "frames", ":-1");
    assert_int_equal(cfg->input.end_frame.value, -1);
    over(cfg, "set", "temperature=310");
    over(cfg, "set", "gap=300 um");
    over(cfg, "set", "optimization.nlsq.max_iterations=7");
    over(cfg, "set", "phi_filtering.target_ranges=[{min_angle: 1, max_angle: 2}]");
    assert_true(cfg->setting[2].value == 310);
    assert_true(cfg->input.gap.value == 3e6);
    assert_int_equal(cfg->nlsq.max_iterations.value, 7);
    assert_int_equal(cfg->angles.nrange, 1);
    over(cfg, "phi", "0,45,90");
    assert_int_equal(cfg->angles.list.n, 3);
    over(cfg, "data-file", "/x/y.h5");
    assert_string_equal(cfg->input.path.value[0], "/x/y.h5");
    over(cfg, "dt", "file");
    assert_int_equal(cfg->input.dt_policy.value, FIT_DT_FILE);
    over(cfg, "dt", "0.25");
    assert_true(cfg->input.dt.value == 0.25);
    over(cfg, "method", "both");
    assert_int_equal(cfg->sample_after.value, 1);
    over(cfg, "multistart", NULL);
    over(cfg, "n-samples", "99");
    over(cfg, "output-dir", "elsewhere");
    over(cfg, "scaling", "averaged");
    over(cfg, "loss", "linear");
    over(cfg, "sigma", "0.5");
    over(cfg, "mask", "3:5,9");
    over(cfg, "compat", "heterodyne-2.0.1,exclude_t0");
    assert_int_equal(cfg->sampling.draws.value, 99);
    assert_string_equal(cfg->output.dir.value, "elsewhere");
    assert_int_equal(cfg->scaling.mode.value, FIT_SCALING_AVERAGED);
    assert_int_equal(cfg->input.nmask, 2);
    assert_int_equal(cfg->compat.peer.value, FIT_PEER_HETERODYNE);
    struct fit_error err;
    assert_int_equal(fit_config_finish(cfg, NULL, &err), FIT_OK);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

static void test_wrong_overrides(void **state)
{
    (void)state;
    struct fit_config *cfg = NULL;
    struct fit_error err = {0};
    int value;
    assert_int_equal(fit_config_new(&laminar_kernel, &cfg, &err), FIT_OK);
    over_fails(cfg, "bound", "a=1:2", "did you mean --bounds?");
    over_fails(cfg, "bounds", "D1=1:2",
               "--bounds: error: bounds: the model laminar has no parameter 'D1'");
    over_fails(cfg, "bounds", "D0=1", "LOWER:UPPER");
    over_fails(cfg, "start", "D0", "NAME=VALUE");
    over_fails(cfg, "start", "D0=x", "'x' is not a number");
    over_fails(cfg, "start", "D0=1 nm", "angstrom^2/s");
    over_fails(cfg, "set", "optimization.nlsq.max_iteration=1",
               "did you mean 'optimization.nlsq.max_iterations'");
    over_fails(cfg, "initial-bta", "1", "did you mean 'beta'?");
    over_fails(cfg, "q", NULL, "a value is missing");
    over_fails(cfg, "frames", "7", "FIRST:LAST");
    over_fails(cfg, "scaling", "fouriers", "did you mean 'fourier'?");
    over_fails(cfg, "set", "a.b=[1", "a.b");
    assert_true(fit_config_option_known("bounds", &value) && value);
    assert_true(fit_config_option_known("multistart", &value) && !value);
    assert_true(fit_config_option_known("initial-d0", &value) && value);
    assert_false(fit_config_option_known("nonsense", &value));
    assert_int_equal(fit_config_override(cfg, "start", "phi0=30", NULL, &err), FIT_OK);
    over(cfg, "gap", "2000000");
    assert_int_equal(fit_config_finish(cfg, NULL, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(
        err.message, "--start: error: the start of phi0, 30, lies outside its bounds -10 .. 10"));
    fit_config_free(cfg);
}

/* ---- Round trip */

static void reread_is_the_same(const struct fit_config *cfg)
{
    struct fit_config_log log;
    struct fit_config *again = NULL;
    struct fit_error err = {0};
    char *text = fit_config_text(cfg), *second;
    assert_non_null(text);
    fit_config_log_init(&log);
    if (fit_config_read_text(text, strlen(text), "t.yaml", cfg->kernel, NULL, &log, &again, &err) !=
            FIT_OK ||
        fit_config_finish(again, &log, &err) != FIT_OK)
        fail_msg("%s\nin\n%s", err.message, text);
    second = fit_config_text(again);
    assert_non_null(second);
    /* Same but for the sources, which stand behind "  #". */
    const char *a = strchr(text, '\n'), *b = strchr(second, '\n');
    while (*a && *b) {
        const char *ca = strstr(a, "  #"), *cb = strstr(b, "  #");
        const size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");
        const size_t la = ca && ca < a + na ? (size_t)(ca - a) : na,
                     lb = cb && cb < b + nb ? (size_t)(cb - b) : nb;
        if (la != lb || memcmp(a, b, la) != 0)
            fail_msg("differ:\n%.*s\n%.*s", (int)na, a, (int)nb, b);
        a += na + (a[na] != 0);
        b += nb + (b[nb] != 0);
    }
    assert_int_equal(*a, *b);
    free(text);
    free(second);
    fit_config_free(again);
    fit_config_log_free(&log);
}

static void test_effective_configuration_reads_back(void **state)
{
    (void)state;
    struct fit_config_log log;
    fit_config_log_init(&log);
    struct fit_config *cfg = must_read(DATA "homodyne.yaml", &laminar_kernel, &log);
    over(cfg, "mask", "3:5,9");
    over(cfg, "phi", "0,45.5");
    over(cfg, "sigma", "0.125");
    over(cfg, "tie", "alpha=beta");
    over(cfg, "set",
         "parameters={D0: {type: BetaScaled, prior_mu: 1000, prior_sigma: 200}, D_offset: {type: Laplace, prior_mu: "
         "10, prior_sigma: 4}, beta: {type: Uniform}}");
    assert_true(param(cfg, "D_offset")->prior.value == FIT_PRIOR_LAPLACE && param(cfg, "D_offset")->prior_b == 4);
    over(cfg, "set", "initial_parameters.per_angle_scaling={contrast: [0.1, 0.2]}");
    over(cfg, "compat", "homodyne");
    over(cfg, "output-dir", "a \"strange\" \\ name");
    char *text = fit_config_text(cfg);
    assert_non_null(strstr(text, "wavevector_q: 0.0054  # homodyne.yaml:11\n"));
    assert_non_null(strstr(text, "full_matrix: true  # compat\n"));
    assert_non_null(strstr(text, "max_tree_depth: 10  # default\n"));
    free(text);
    reread_is_the_same(cfg);
    fit_config_free(cfg);
    cfg = must_read(DATA "heterodyne.yaml", &heterodyne_kernel, &log);
    reread_is_the_same(cfg);
    fit_config_free(cfg);
    cfg = read_text("data: {file: g2.csv, columns: {t: tau, y: 2}}\n", &decay_kernel, &log);
    assert_non_null(cfg);
    reread_is_the_same(cfg);
    fit_config_free(cfg);
    fit_config_log_free(&log);
}

/* ---- The table of keys */

static void test_table_of_keys_is_sorted_and_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < fit_cfg_nkeys; i++) {
        const struct fit_cfg_key *key = &fit_cfg_keys[i];
        if (i && strcmp(fit_cfg_keys[i - 1].path, key->path) >= 0)
            fail_msg("%s stands before %s", fit_cfg_keys[i - 1].path, key->path);
        assert_ptr_equal(fit_cfg_find(key->path), key);
        for (size_t j = 0; key->role == FIT_CFG_MAIN && j < i; j++)
            if (fit_cfg_keys[j].role == FIT_CFG_MAIN && fit_cfg_keys[j].offset == key->offset)
                fail_msg("%s and %s are both the main spelling", fit_cfg_keys[j].path, key->path);
    }
    assert_true(fit_cfg_is_section("optimization.nlsq"));
    assert_false(fit_cfg_is_section("optimization.nlsq.loss"));
    assert_false(fit_cfg_is_section("optimiz"));
}

/* ---- The packages' own files */

static const struct {
    const char *file;
    const struct fit_kernel *kernel;
} samples[] = {
    {"h_laminar_N1000x23.yaml", &laminar_kernel},
    {"h_laminar_N100x3.yaml", &laminar_kernel},
    {"h_laminar_N200x5.yaml", &laminar_kernel},
    {"h_static_N200.yaml", &static_isotropic_kernel},
    {"h_static_N200_lin.yaml", &static_anisotropic_kernel},
    {"h_static_aniso_N200x5.yaml", &static_anisotropic_kernel},
    {"het_N1000x1.yaml", &heterodyne_kernel},
    {"het_N1000x3.yaml", &heterodyne_kernel},
    {"het_N100x2.yaml", &heterodyne_kernel},
    {"het_N200x3.yaml", &heterodyne_kernel},
    {"x_het_N1000x1.yaml", &heterodyne_kernel},
    {"x_het_N100x2.yaml", &heterodyne_kernel},
    {"x_het_N200x3.yaml", &heterodyne_kernel},
    {"x_laminar_N200x5.yaml", &laminar_kernel},
    {"x_static_aniso_N200x5.yaml", &static_anisotropic_kernel},
    {"x_static_iso_N200.yaml", &static_isotropic_kernel},
};

static void test_files_of_the_packages_parse_with_notes_only(void **state)
{
    (void)state;
    char path[1024], name[64];
    struct fit_error err;
    if (!shared_path(path, sizeof path, "samples"))
        skip();
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct fit_config_log log;
        char file[128];
        snprintf(file, sizeof file, "samples/%s", samples[i].file);
        assert_true(shared_path(path, sizeof path, file));
        fit_config_log_init(&log);
        struct fit_config *cfg = must_read(path, samples[i].kernel, &log);
        assert_int_equal(log.nerror, 0);
        assert_true(cfg->input.q.value == 0.0054);
        assert_true(cfg->input.dt.value == 0.1);
        assert_int_equal(cfg->input.path.n, 1);
        assert_true(cfg->nignored > 100);
        assert_false(cfg->param[0].automatic);
        assert_int_equal(fit_config_detect(path, name, &err), FIT_OK);
        assert_true(strcmp(name, samples[i].kernel->name) == 0 ||
                    strncmp(samples[i].file, "h_static", 8) == 0);
        reread_is_the_same(cfg);
        fit_config_free(cfg);
        fit_config_log_free(&log);
    }
}

/* ---- Mutated files: no crash, no hang; what comes out is a configuration or a message */

static unsigned long long random_state;

static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % n;
}

static size_t mutate(char *text, size_t n, size_t room)
{
    static const char *const pieces[] = {
        ":",    "- ", "[",  "]", "{",    "}",      "&a ",  "*a", "null", "1e999",
        "-1",   "\t", "\n", "'", "\"",   "<<: *a", "!!x ", "#",  ".nan", "\xC3",
        "true", "  ", "0",  "~", "D0: ", "? ",     "|\n",  "%",  "é",    "1e-400"};
    for (unsigned k = 1 + random_below(4); k; k--) {
        const unsigned at = random_below((unsigned)n + 1);
        const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
        const size_t length = strlen(piece);
        size_t cut = random_below(3) ? 0 : random_below(200);
        cut = cut > n - at ? n - at : cut;
        if (n - cut + length >= room)
            continue;
        memmove(text + at + length, text + at + cut, n - at - cut);
        memcpy(text + at, piece, length);
        n = n - cut + length;
    }
    return n;
}

static void fuzz(const char *file, const struct fit_kernel *k, unsigned rounds)
{
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    char *original = malloc(65536), *text = malloc(65536);
    const size_t n0 = fread(original, 1, 60000, f);
    fclose(f);
    for (unsigned i = 0; i < rounds; i++) {
        struct fit_config_log log;
        struct fit_config *cfg = NULL;
        struct fit_error err = {0};
        memcpy(text, original, n0);
        const size_t n = mutate(text, n0, 65536);
        fit_config_log_init(&log);
        const enum fit_status st =
            fit_config_read_text(text, n, "t.yaml", k, NULL, &log, &cfg, &err);
        assert_true(st == FIT_OK || st == FIT_ERR_CONFIG);
        assert_true(st == FIT_OK ? cfg != NULL && !log.nerror
                                 : !cfg && log.nerror && err.message[0]);
        if (cfg && fit_config_finish(cfg, &log, &err) == FIT_OK)
            reread_is_the_same(cfg);
        fit_config_free(cfg);
        fit_config_log_free(&log);
    }
    free(original);
    free(text);
}

static void test_mutated_files_do_no_harm(void **state)
{
    (void)state;
    char path[1024], file[128];
    const char *rounds_text = getenv("FIT_FUZZ_ROUNDS"), *seed = getenv("FIT_FUZZ_SEED");
    const unsigned rounds = rounds_text ? (unsigned)atoi(rounds_text) : 60;
    random_state = seed ? strtoull(seed, NULL, 10) : 20240607;
    print_message("seed %llu, %u rounds for each file\n", random_state, rounds);
    fuzz(DATA "minimal.yaml", &laminar_kernel, rounds);
    fuzz(DATA "homodyne.yaml", &laminar_kernel, rounds);
    fuzz(DATA "heterodyne.yaml", &heterodyne_kernel, rounds);
    fuzz(DATA "legacy.json", &laminar_kernel, rounds);
    if (!shared_path(path, sizeof path, "samples"))
        return;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        snprintf(file, sizeof file, "samples/%s", samples[i].file);
        if (shared_path(path, sizeof path, file))
            fuzz(path, samples[i].kernel, rounds / 4 + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priors_in_another_unit),
        cmocka_unit_test(test_short_form),
        cmocka_unit_test(test_values_by_order),
        cmocka_unit_test(test_homodyne_file),
        cmocka_unit_test(test_heterodyne_file),
        cmocka_unit_test(test_legacy_json),
        cmocka_unit_test(test_older_sections_and_flat_file),
        cmocka_unit_test(test_table_model),
        cmocka_unit_test(test_modes_and_the_models_that_may_read_them),
        cmocka_unit_test(test_errors_of_keys_and_values),
        cmocka_unit_test(test_errors_of_parameters),
        cmocka_unit_test(test_errors_of_ties),
        cmocka_unit_test(test_errors_of_settings_and_of_yaml),
        cmocka_unit_test(test_all_errors_at_once_but_not_too_many),
        cmocka_unit_test(test_trusted_units),
        cmocka_unit_test(test_the_existing_file_is_meant),
        cmocka_unit_test(test_every_key_is_described),
        cmocka_unit_test(test_compat_implies_what_it_does_not_override),
        cmocka_unit_test(test_masks_are_sorted_and_joined),
        cmocka_unit_test(test_overrides_of_parameters),
        cmocka_unit_test(test_overrides_of_data_and_methods),
        cmocka_unit_test(test_wrong_overrides),
        cmocka_unit_test(test_effective_configuration_reads_back),
        cmocka_unit_test(test_table_of_keys_is_sorted_and_sound),
        cmocka_unit_test(test_files_of_the_packages_parse_with_notes_only),
        cmocka_unit_test(test_mutated_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
