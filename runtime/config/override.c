/* override.c -- options of the command line as changes of a configuration.
 *
 * Most options are a key of the file under a shorter name: they are processed like a file, with another origin. The
 * others refer to parameters by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "config/config_impl.h"

enum kind {
    KEY,    /* the value of a key */
    KEYS,   /* a list, split at commas and blanks */
    SWITCH, /* no value; the key gets `fixed` */
    CALL    /* by a function */
};

struct option {
    const char *name;
    enum kind kind;
    const char *path;  /* KEY, KEYS, SWITCH */
    const char *fixed; /* SWITCH */
    void (*call)(struct fit_cfg_reader *r, const char *value);
};

/* ---- Keys ------------------------------------------------------------------------------------ */

static void apply_node(struct fit_cfg_reader *r, const char *path, const struct fit_yaml *node)
{
    const struct fit_cfg_key *key = fit_cfg_find(path);
    if (!key) {
        struct nearest near = {.name = path};
        for (size_t i = 0; i < fit_cfg_nkeys; i++)
            nearest_offer(&near, fit_cfg_keys[i].path);
        fit_cfg_error(r, NULL, "unknown key '%.200s'%s%s%s", path,
                      near.best ? "; did you mean '" : "", near.best ? near.best : "",
                      near.best ? "'?" : "");
        return;
    }
    if (key->kind == FIT_CFG_IGNORE) {
        fit_cfg_note(r, 0, 0, "%s has no effect here: %s", path, key->about);
        return;
    }
    fit_cfg_read_key(r, key, node);
    fit_cfg_later_input(r);
    fit_cfg_later_angles(r);
    fit_cfg_later_compat(r);
    fit_cfg_later_params(r);
}

static void apply_scalar(struct fit_cfg_reader *r, const char *path, const char *value)
{
    const struct fit_yaml node = {.kind = FIT_YAML_SCALAR, .text = value, .size = 1};
    apply_node(r, path, &node);
}

/* split: the separators of its elements. */
static void apply_list(struct fit_cfg_reader *r, const char *path, const char *value, const char *split)
{
    const size_t room = strlen(value) + 1;
    struct fit_yaml *scalar = fit_cfg_alloc(r, room * sizeof *scalar);
    struct fit_yaml_entry *entry = fit_cfg_alloc(r, room * sizeof *entry);
    char *text = fit_arena_string(&r->cfg->private_->arena, value), *save;
    if (!scalar || !entry || !text) {
        r->no_memory = 1;
        return;
    }
    size_t n = 0;
    for (char *word = strtok_r(text, split, &save); word; word = strtok_r(NULL, split, &save), n++) {
        scalar[n] = (struct fit_yaml){.kind = FIT_YAML_SCALAR, .text = word, .size = 1};
        entry[n].value = &scalar[n];
    }
    const struct fit_yaml list = {
        .kind = FIT_YAML_LIST, .n = n, .entry = entry, .size = n + 1, .depth = 1};
    if (n)
        apply_node(r, path, &list);
    else
        fit_cfg_error(r, NULL, "expected a list, as in 0,45,90");
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Splits NAME=VALUE; value is NULL when there is no '='.  0 after an error. */
static int split(struct fit_cfg_reader *r, const char *text, char name[128], const char **value)
{
    const char *equal = strchr(text, '=');
    const size_t n = equal ? (size_t)(equal - text) : strlen(text);
    if (!n || n >= 128) {
        fit_cfg_error(r, NULL, "'%.100s': expected NAME=VALUE", text);
        return 0;
    }
    memcpy(name, text, n);
    name[n] = 0;
    *value = equal ? equal + 1 : NULL;
    return 1;
}

static int split_value(struct fit_cfg_reader *r, const char *text, char name[128],
                       const char **value)
{
    if (!split(r, text, name, value))
        return 0;
    if (*value && **value)
        return 1;
    fit_cfg_error(r, NULL, "'%.100s': expected NAME=VALUE", text);
    return 0;
}

static int get_number(struct fit_cfg_reader *r, const char *text, const char *unit, double *value)
{
    const struct fit_yaml node = {.kind = FIT_YAML_SCALAR, .text = text, .size = 1};
    int bare;
    return fit_cfg_get_real(r, &node, unit, value, &bare);
}

/* NAME=VALUE,NAME=VALUE is refused: commas separate the values of one parameter. */
static int several(struct fit_cfg_reader *r, const char *text, const char *value)
{
    if (!value || !strchr(value, ',') || !strchr(value, '='))
        return 0;
    fit_cfg_error(r, NULL, "'%.100s': one parameter at a time; repeat --%s", text, r->path);
    return 1;
}

static void put_start(struct fit_cfg_reader *r, int i, const char *text)
{
    struct fit_config_param *p = &r->cfg->param[i];
    double value;
    r->path = p->declared->name;
    if (!get_number(r, text, p->declared->unit, &value))
        return;
    if (!isfinite(value)) {
        fit_cfg_error(r, NULL, "%s: infinite", p->declared->name);
        return;
    }
    p->start = (struct fit_cfg_real){value, fit_cfg_origin(r, NULL)};
    p->automatic = 0;
    p->list.n = 0;
}

static void call_start(struct fit_cfg_reader *r, const char *text)
{
    char name[128];
    const char *value;
    r->path = "start";
    if (!split_value(r, text, name, &value))
        return;
    const int i = fit_cfg_param_named(r, name, 0, 0);
    if (i >= 0 && !several(r, text, value))
        put_start(r, i, value);
}

/* a.dotted.key=VALUE, VALUE in YAML. */
static void set_key(struct fit_cfg_reader *r, const char *path, const char *value)
{
    struct fit_yaml_doc *doc;
    struct fit_error err = {0};
    if (fit_yaml_parse(value, strlen(value), "value", &doc, &err) != FIT_OK) {
        fit_cfg_error(r, NULL, "%s: %s", path, err.message);
        return;
    }
    apply_node(r, path, fit_yaml_root(doc));
    fit_yaml_free(doc);
}

static void call_set(struct fit_cfg_reader *r, const char *text)
{
    char name[128];
    const char *value;
    r->path = "set";
    if (!split_value(r, text, name, &value))
        return;
    const struct fit_kernel *k = r->cfg->kernel;
    const int setting = fit_cfg_setting_index(k, name);
    if (setting >= 0 && strchr(value, ',')) {
        FIT_OWNED char *list = malloc(strlen(value) + sizeof "{: []}" + sizeof name);
        if (list && sprintf(list, "{%s: [%s]}", name, value) > 0)
            set_key(r, "settings", list);
        else
            r->no_memory = 1;
    } else if (setting >= 0) {
        struct fit_cfg_real *x = fit_cfg_setting(r->cfg, (size_t)setting);
        double number;
        if (get_number(r, value, k->setting[setting].unit, &number))
            *x = (struct fit_cfg_real){fit_cfg_kept(r->cfg, (size_t)setting, number), fit_cfg_origin(r, NULL)};
        r->cfg->setting_list[setting].n = 0;
    } else if (fit_config_param_index(k, name) < 0 && (strchr(name, '.') || fit_cfg_find(name))) {
        set_key(r, name, value);
    } else {
        const int i = fit_cfg_param_named(r, name, 0, 0);
        if (i >= 0 && !several(r, text, value))
            put_start(r, i, value);
    }
}

static void call_fix(struct fit_cfg_reader *r, const char *text)
{
    char name[128];
    const char *value;
    r->path = "fix";
    if (!split(r, text, name, &value))
        return;
    const int i = fit_cfg_param_named(r, name, 0, 0);
    if (i < 0 || several(r, text, value))
        return;
    r->cfg->param[i].fixed = (struct fit_cfg_flag){1, fit_cfg_origin(r, NULL)};
    r->cfg->param[i].tie = NULL;
    if (value)
        put_start(r, i, value);
}

static void call_free(struct fit_cfg_reader *r, const char *text)
{
    r->path = "free";
    const int i = fit_cfg_param_named(r, text, 0, 0);
    if (i < 0)
        return;
    r->cfg->param[i].fixed = (struct fit_cfg_flag){0, fit_cfg_origin(r, NULL)};
    r->cfg->param[i].tie = NULL;
}

static void call_tie(struct fit_cfg_reader *r, const char *text)
{
    char name[128];
    const char *value;
    r->path = "tie";
    if (!split_value(r, text, name, &value))
        return;
    const int i = fit_cfg_param_named(r, name, 0, 0);
    const struct fit_yaml scalar = {.kind = FIT_YAML_SCALAR, .text = value, .size = 1};
    if (i >= 0)
        fit_cfg_tie(r, i, &scalar);
}

static void call_bounds(struct fit_cfg_reader *r, const char *text)
{
    char name[128], low[128] = "";
    const char *value;
    r->path = "bounds";
    if (!split_value(r, text, name, &value))
        return;
    const char *colon = strchr(value, ':');
    const int i = fit_cfg_param_named(r, name, 0, 0);
    if (i < 0)
        return;
    if (!colon || (size_t)(colon - value) >= sizeof low || (colon == value && !colon[1])) {
        fit_cfg_error(r, NULL, "'%.100s': expected NAME=LOWER:UPPER", text);
        return;
    }
    memcpy(low, value, (size_t)(colon - value));
    struct fit_config_param *p = &r->cfg->param[i];
    double x;
    r->path = p->declared->name;
    if (*low && get_number(r, low, p->declared->unit, &x))
        p->lower = (struct fit_cfg_real){x, fit_cfg_origin(r, NULL)};
    if (colon[1] && get_number(r, colon + 1, p->declared->unit, &x))
        p->upper = (struct fit_cfg_real){x, fit_cfg_origin(r, NULL)};
}

/* --initial-gamma-dot-t0 and the like: the parameter whose name or alias is the same except for case and dashes. */
static void initial(struct fit_cfg_reader *r, const char *name, const char *value)
{
    const struct fit_config *cfg = r->cfg;
    r->path = "initial";
    for (size_t i = 0; i < cfg->nparam + cfg->nlinear; i++) {
        const struct fit_param *p = cfg->param[i].declared;
        int same = same_word(name, p->name);
        for (const char *const *alias = p->alias; !same && alias && *alias; alias++)
            same = same_word(name, *alias);
        if (same) {
            put_start(r, (int)i, value);
            return;
        }
    }
    fit_cfg_param_named(r, name, 0, 0); /* says what is near */
}

#define NLSQ "optimization.nlsq."
#define SHARD "optimization.cmc.per_shard_mcmc."

/* ---- Input ----------------------------------------------------------------------------------- */

/* A repetition of the option adds a file. */
static void call_data(struct fit_cfg_reader *r, const char *value)
{
    const struct fit_cfg_texts *had = &r->cfg->input.path;
    const size_t n = had->from.kind == FIT_FROM_COMMAND ? had->n : 0;
    const char **all = fit_cfg_alloc(r, (n + 1) * sizeof *all);
    if (!all)
        return;
    if (n)
        memcpy(all, had->value, n * sizeof *all);
    all[n] = value;
    fit_cfg_set_files(r, NULL, n + 1, all, NULL);
}

/* One, or several separated by commas, each with an optional unit. */
static void call_q(struct fit_cfg_reader *r, const char *value)
{
    static const char key[] = "analyzer_parameters.scattering.wavevector_q";
    if (strchr(value, ','))
        apply_list(r, key, value, ",");
    else
        apply_scalar(r, key, value);
}

/* Azimuths separated by commas or blanks; a unit may follow a blank. */
static void call_phi(struct fit_cfg_reader *r, const char *value)
{
    const size_t numbers = strspn(value, "0123456789+-.eE, \t");
    apply_list(r, "phi_filtering.angles", value, value[numbers] ? "," : ", \t");
}

static void call_dt(struct fit_cfg_reader *r, const char *value)
{
    const int word = strcmp(value, "yaml") == 0 || strcmp(value, "file") == 0;
    apply_scalar(r, word ? "analyzer_parameters.dt_policy" : "analyzer_parameters.dt", value);
}

/* NAME=SOURCE,NAME=SOURCE: assigns columns. */
static void call_columns(struct fit_cfg_reader *r, const char *value)
{
    const size_t room = 4 * strlen(value) + 16;
    char *text = fit_cfg_alloc(r, room), *copy = fit_arena_string(&r->cfg->private_->arena, value), *save;
    size_t at = 0;
    if (!text || !copy) {
        r->no_memory = 1;
        return;
    }
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        char *equal = strchr(word, '=');
        if (!equal || equal == word || !equal[1]) {
            fit_cfg_error(r, NULL, "'%.60s': expected NAME=SOURCE, as in delay=tau,sigma=g2_err", word);
            return;
        }
        at += (size_t)snprintf(text + at, room - at, "%s%.*s: \"", at ? ", " : "{", (int)(equal - word), word);
        for (const char *c = equal + 1; *c; c++) {
            if (*c == '"' || *c == '\\')
                text[at++] = '\\';
            text[at++] = *c;
        }
        text[at++] = '"';
    }
    snprintf(text + at, room - at, "}");
    set_key(r, "data.columns", at ? text : "{}");
}

/* A:B, A: or :B; B may be negative for the last frame. */
static void call_frames(struct fit_cfg_reader *r, const char *value)
{
    char first[32] = "";
    const char *colon = strchr(value, ':');
    if (!colon || (size_t)(colon - value) >= sizeof first || (colon == value && !colon[1])) {
        fit_cfg_error(r, NULL, "'%.60s': expected FIRST:LAST, counted from 1", value);
        return;
    }
    memcpy(first, value, (size_t)(colon - value));
    if (*first)
        apply_scalar(r, "analyzer_parameters.start_frame", first);
    if (colon[1])
        apply_scalar(r, "analyzer_parameters.end_frame", colon + 1);
}

static void call_metric(struct fit_cfg_reader *r, const char *value)
{
    int dense = strcmp(value, "dense") == 0;
    r->path = "metric";
    if (!dense && strcmp(value, "diagonal") != 0)
        fit_cfg_error(r, NULL, "'%.60s': expected dense or diagonal", value);
    else
        apply_scalar(r, SHARD "dense_mass", dense ? "true" : "false");
}

/* KIND or KIND:REPLICATES. */
static void call_bootstrap(struct fit_cfg_reader *r, const char *value)
{
    char kind[32];
    const char *colon = strchr(value, ':');
    snprintf(kind, sizeof kind, "%.*s", (int)(colon ? (size_t)(colon - value) : strlen(value)), value);
    apply_scalar(r, "bootstrap.kind", kind);
    if (colon)
        apply_scalar(r, "bootstrap.replicates", colon + 1);
}

/* Names separated by commas; those inside brackets, D0[0,45], belong to a name. */
static void call_profile(struct fit_cfg_reader *r, const char *value)
{
    char *text = fit_arena_string(&r->cfg->private_->arena, value);
    int depth = 0;
    for (char *c = text; c && *c; c++) {
        depth += (*c == '[') - (*c == ']');
        *c = *c == ',' && depth > 0 ? ';' : *c;
    }
    if (text)
        apply_list(r, "profile", text, ", ");
}

/* ---- The table ------------------------------------------------------------------------------- */

// clang-format off
static const struct option options[] = {
    {"bootstrap", CALL, NULL, NULL, call_bootstrap},
    {"bounds", CALL, NULL, NULL, call_bounds},
    {"chains", KEY, SHARD "num_chains", NULL, NULL},
    {"checkpoint-seconds", KEY, "optimization.cmc.backend_config.checkpoint_seconds", NULL, NULL},
    {"cluster-joint", SWITCH, "robust.cluster_joint", "true", NULL},
    {"cluster-length", KEY, "robust.cluster_length", NULL, NULL},
    {"cmc-num-shards", KEY, "optimization.cmc.sharding.num_shards", NULL, NULL},
    {"columns", CALL, NULL, NULL, call_columns},
    {"compat", KEYS, "compat", NULL, NULL},
    {"consensus", SWITCH, "optimization.cmc.consensus", "true", NULL},
    {"data", CALL, NULL, NULL, call_data},
    {"data-file", CALL, NULL, NULL, call_data},
    {"dataset", KEY, "data.dataset", NULL, NULL},
    {"dense-mass-matrix", SWITCH, SHARD "dense_mass", "true", NULL},
    {"draws", KEY, SHARD "num_samples", NULL, NULL},
    {"dt", CALL, NULL, NULL, call_dt},
    {"estimator", KEY, "estimator", NULL, NULL},
    {"exclude-t0", SWITCH, "compat.exclude_t0", "true", NULL},
    {"fix", CALL, NULL, NULL, call_fix},
    {"fourier-order", KEY, NLSQ "anti_degeneracy.fourier_order", NULL, NULL},
    {"frames", CALL, NULL, NULL, call_frames},
    {"free", CALL, NULL, NULL, call_free},
    {"ftol", KEY, NLSQ "ftol", NULL, NULL},
    {"gap", KEY, "analyzer_parameters.geometry.stator_rotor_gap", NULL, NULL},
    {"global", SWITCH, NLSQ "cmaes.enable", "true", NULL},
    {"gtol", KEY, NLSQ "gtol", NULL, NULL},
    {"layout", KEY, "experimental_data.layout", NULL, NULL},
    {"loss", KEY, NLSQ "loss", NULL, NULL},
    {"mask", KEYS, "mask", NULL, NULL},
    {"max-iterations", KEY, NLSQ "max_iterations", NULL, NULL},
    {"max-seconds", KEY, "max_seconds", NULL, NULL},
    {"max-tree-depth", KEY, SHARD "max_tree_depth", NULL, NULL},
    {"method", KEY, "optimization.method", NULL, NULL},
    {"metric", CALL, NULL, NULL, call_metric},
    {"multistart", SWITCH, NLSQ "multi_start.enable", "true", NULL},
    {"multistart-n", KEY, NLSQ "multi_start.n_starts", NULL, NULL},
    {"n-chains", KEY, SHARD "num_chains", NULL, NULL},
    {"n-samples", KEY, SHARD "num_samples", NULL, NULL},
    {"n-warmup", KEY, SHARD "num_warmup", NULL, NULL},
    {"no-multistart", SWITCH, NLSQ "multi_start.enable", "false", NULL},
    {"no-nlsq-warmstart", SWITCH, "optimization.cmc.nlsq.use_nlsq_warmstart", "false", NULL},
    {"noise", KEY, "speckle.noise", NULL, NULL},
    {"num-chains", KEY, SHARD "num_chains", NULL, NULL},
    {"num-samples", KEY, SHARD "num_samples", NULL, NULL},
    {"num-warmup", KEY, SHARD "num_warmup", NULL, NULL},
    {"o", KEY, "output.output_dir", NULL, NULL},
    {"optimizer", KEY, NLSQ "optimizer", NULL, NULL},
    {"optimizer-state", KEY, NLSQ "optimizer_state", NULL, NULL},
    {"output", KEY, "output.output_dir", NULL, NULL},
    {"output-dir", KEY, "output.output_dir", NULL, NULL},
    {"phi", CALL, NULL, NULL, call_phi},
    {"profile", CALL, NULL, NULL, call_profile},
    {"q", CALL, NULL, NULL, call_q},
    {"q-tolerance", KEY, "analyzer_parameters.scattering.q_tolerance", NULL, NULL},
    {"scaling", KEY, NLSQ "anti_degeneracy.per_angle_mode", NULL, NULL},
    {"seed", KEY, "seed", NULL, NULL},
    {"sequence", KEY, "sequence", NULL, NULL},
    {"set", CALL, NULL, NULL, call_set},
    {"share", CALL, NULL, NULL, fit_cfg_call_share},
    {"shot", KEY, "speckle.shot", NULL, NULL},
    {"sigma", KEY, "sigma", NULL, NULL},
    {"sigma-prior", KEY, "sigma.prior", NULL, NULL},
    {"speckles", KEY, "speckle.count", NULL, NULL},
    {"start", CALL, NULL, NULL, call_start},
    {"stream", KEY, NLSQ "stream", NULL, NULL},
    {"target-accept", KEY, SHARD "target_accept_prob", NULL, NULL},
    {"threads", KEY, "threads", NULL, NULL},
    {"tie", CALL, NULL, NULL, call_tie},
    {"tolerance", KEY, NLSQ "ftol", NULL, NULL},
    {"units", KEY, "units", NULL, NULL},
    {"variant", KEY, "compat.variant", NULL, NULL},
    {"warmup", KEY, SHARD "num_warmup", NULL, NULL},
    {"xtol", KEY, NLSQ "xtol", NULL, NULL},
};
// clang-format on

/* Of several options for a key, the longest name: "output-dir", not "o"; of functions, those that set one key. */
const char *fit_cfg_option_of(const char *path)
{
    static const char *const calls[][2] = {
        {"analyzer_parameters.dt", "dt"},
        {"analyzer_parameters.start_frame", "frames"},
        {"analyzer_parameters.end_frame", "frames"},
        {"analyzer_parameters.dt_policy", "dt"},
        {"data.columns", "columns"},
        {"bootstrap.kind", "bootstrap"},
        {"bootstrap.replicates", "bootstrap"},
        {"experimental_data.file_path", "data"},
        {"initial_parameters.fixed_parameters", "fix"},
        {"initial_parameters.values", "start"},
        {"parameter_space.bounds", "bounds"},
        {"profile", "profile"},
        {"settings", "set"},
        {"phi_filtering.angles", "phi"},
        {"analyzer_parameters.scattering.wavevector_q", "q"},
        {"share", "share"},
        {"ties", "tie"},
    };
    const char *best = NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i][0], path) == 0)
            return calls[i][1];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].path && strcmp(options[i].path, path) == 0 &&
            (!best || (strlen(best) < 2 && strlen(options[i].name) > 1) || strcmp(options[i].name, "output-dir") == 0))
            best = options[i].name;
    return best;
}

static const struct option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static int is_initial(const char *name)
{
    return strncmp(name, "initial-", 8) == 0 && name[8];
}

int fit_config_option_known(const char *option, int *takes_value)
{
    const struct option *o = find_option(option);
    *takes_value = o ? o->kind != SWITCH : is_initial(option);
    return o || is_initial(option);
}

static void apply(struct fit_cfg_reader *r, const struct option *o, const char *option,
                  const char *value)
{
    if (!value && !(o && o->kind == SWITCH))
        fit_cfg_error(r, NULL, "a value is missing");
    else if (!o)
        initial(r, option + strlen("initial-"), value);
    else if (o->kind == KEY)
        apply_scalar(r, o->path, value);
    else if (o->kind == KEYS)
        apply_list(r, o->path, value, ", ");
    else if (o->kind == SWITCH)
        apply_scalar(r, o->path, o->fixed);
    else
        o->call(r, value);
}

static enum fit_status unknown_option(struct fit_error *err, const char *option)
{
    struct nearest near = {.name = option};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        nearest_offer(&near, options[i].name);
    if (near.best)
        return fit_fail(err, FIT_ERR_USAGE, "unknown option --%.60s; did you mean --%s?", option,
                        near.best);
    return fit_fail(err, FIT_ERR_USAGE, "unknown option --%.60s", option);
}

enum fit_status fit_config_override(struct fit_config *cfg, const char *option, const char *value,
                                    struct fit_config_log *log, struct fit_error *err)
{
    const struct option *o = find_option(option);
    if (!o && !is_initial(option))
        return unknown_option(err, option);
    struct fit_config_log own;
    struct fit_error own_err = {0};
    char dashed[80];
    fit_config_log_init(&own);
    snprintf(dashed, sizeof dashed, "--%.70s", option);
    struct fit_cfg_reader r = {
        .cfg = cfg, .log = log ? log : &own, .err = err ? err : &own_err, .path = ""};
    r.source = FIT_FROM_COMMAND;
    r.option = fit_cfg_copy(&r, dashed);
    r.seen = calloc(fit_cfg_nkeys, sizeof *r.seen);
    const size_t first = r.log->n;
    if (r.seen && r.option)
        apply(&r, o, option, value);
    else
        r.no_memory = 1;
    const enum fit_status st = fit_cfg_status(&r, FIT_ERR_USAGE, first);
    free(r.seen);
    fit_config_log_free(&own);
    return st;
}
