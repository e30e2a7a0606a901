/* keys.c -- the table of known keys and of the words that some of them take. */
#include "config/config_impl.h"
#include "leastsquares/fit_types.h"
#include "sampler/nuts.h" /* FIT_NUTS_MAX_DEPTH */

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// clang-format off
const struct fit_cfg_word fit_cfg_word_dt_policy[] = {
    {"strict", FIT_DT_STRICT}, {"yaml", FIT_DT_YAML}, {"file", FIT_DT_FILE}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_time_origin[] = {
    {"window", FIT_TIME_WINDOW}, {"file", FIT_TIME_FILE}, {"step", FIT_TIME_STEP}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_q_rule[] = {
    {"nearest", FIT_Q_NEAREST}, {"homodyne_old_q10", FIT_Q_HOMODYNE_OLD}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_scaling_mode[] = {
    {"auto", FIT_CFG_SCALING_AUTO}, {"individual", FIT_SCALING_INDIVIDUAL},
    {"constant", FIT_SCALING_CONSTANT}, {"fixed_constant", FIT_SCALING_CONSTANT},
    {"averaged", FIT_SCALING_AVERAGED}, {"auto_averaged", FIT_SCALING_AVERAGED},
    {"fourier", FIT_SCALING_FOURIER}, {"hierarchical", FIT_SCALING_HIERARCHICAL}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_loss[] = {
    {"linear", FIT_LOSS_LINEAR}, {"soft_l1", FIT_LOSS_SOFT_L1},
    {"huber", FIT_LOSS_HUBER}, {"cauchy", FIT_LOSS_CAUCHY}, {"arctan", FIT_LOSS_ARCTAN}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_estimator[] = {
    {"auto", FIT_ESTIMATOR_AUTO}, {"least-squares", FIT_ESTIMATOR_LEAST_SQUARES},
    {"least_squares", FIT_ESTIMATOR_LEAST_SQUARES}, {"efficient", FIT_ESTIMATOR_EFFICIENT}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_noise_kind[] = {
    {"auto", FIT_NOISE_KIND_AUTO}, {"white", FIT_NOISE_KIND_WHITE}, {"speckle", FIT_NOISE_KIND_SPECKLE},
    {"monitor", FIT_NOISE_KIND_MONITOR}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_stream[] = {
    {"auto", FIT_STREAM_AUTO}, {"on", FIT_STREAM_ON}, {"true", FIT_STREAM_ON},
    {"off", FIT_STREAM_OFF}, {"false", FIT_STREAM_OFF}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_units_policy[] = {{"check", 0}, {"trust", 1}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_variant[] = {{"fast", 0}, {"parity", 1}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_bootstrap[] = {
    {"none", FIT_BOOTSTRAP_NONE}, {"parametric", FIT_BOOTSTRAP_PARAMETRIC}, {"block", FIT_BOOTSTRAP_BLOCK}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_sequence[] = {
    {"none", FIT_SEQUENCE_NONE}, {"angle", FIT_SEQUENCE_ANGLE}, {"q", FIT_SEQUENCE_Q}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_method[] = {
    {"nlsq", FIT_METHOD_NLSQ}, {"nuts", FIT_METHOD_NUTS}, {"laplace", FIT_METHOD_LAPLACE},
    {"cmc", FIT_METHOD_CMC}, {"both", FIT_CFG_METHOD_BOTH}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_prior_compat[] = {
    {"none", FIT_PEER_NONE}, {"homodyne", FIT_PEER_HOMODYNE}, {NULL, 0}};
const struct fit_cfg_word fit_cfg_word_prior[] = {
#define PRIOR(KIND, word, name, ...) {name, FIT_PRIOR_##KIND}, {word, FIT_PRIOR_##KIND},
    FIT_PRIORS(PRIOR)
    {"beta_scaled", FIT_PRIOR_BETA_SCALED}, {NULL, 0}};

#define AT(member) .offset = offsetof(struct fit_config, member)
#define ROW(p, k, r, u, text) .path = p, .kind = FIT_CFG_##k, .role = FIT_CFG_##r, .use = FIT_KEY_##u, .about = text
#define REAL(p, m, un, lo, hi, r, u, text) {ROW(p, REAL, r, u, text), AT(m), .unit = un, .lower = lo, .upper = hi},
#define INT(p, m, lo, hi, r, u, text) {ROW(p, INT, r, u, text), AT(m), .lowest = lo, .highest = hi},
#define INT_AUTO(p, m, lo, hi, r, u, text) {ROW(p, INT_AUTO, r, u, text), AT(m), .lowest = lo, .highest = hi},
#define FLAG(p, m, r, u, text) {ROW(p, FLAG, r, u, text), AT(m)},
#define TEXT(p, m, r, u, text) {ROW(p, TEXT, r, u, text), AT(m)},
#define CHOICE(p, m, t, r, u, text) {ROW(p, CHOICE, r, u, text), AT(m), .word = fit_cfg_word_##t},
#define READ(p, f, u, text) {ROW(p, READ, ALSO, u, text), .read = f},
#define LATER(p, u, text) {ROW(p, LATER, ALSO, u, text)},
#define IGNORE(p, why) {ROW(p, IGNORE, ALSO, NO_EFFECT, why)},

const struct fit_cfg_key fit_cfg_keys[] = {
#include "config/keys.def"
};
// clang-format on

const size_t fit_cfg_nkeys = sizeof fit_cfg_keys / sizeof *fit_cfg_keys;

/* First row that is not before path. */
static size_t lower_bound(const char *path)
{
    size_t lo = 0, hi = fit_cfg_nkeys;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (strcmp(fit_cfg_keys[mid].path, path) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct fit_cfg_key *fit_cfg_find(const char *path)
{
    const size_t i = lower_bound(path);
    return i < fit_cfg_nkeys && strcmp(fit_cfg_keys[i].path, path) == 0 ? &fit_cfg_keys[i] : NULL;
}

int fit_cfg_is_section(const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = lower_bound(path); i < fit_cfg_nkeys; i++) {
        if (strncmp(fit_cfg_keys[i].path, path, n) != 0)
            return 0;
        if (fit_cfg_keys[i].path[n] == '.')
            return 1;
    }
    return 0;
}
