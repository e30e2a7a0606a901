/* config_impl.h -- shared by the files of this room.
 *
 * Reading has three steps. walk.c visits every key of the tree, finds its row in the table fit_cfg_keys (keys.def)
 * and reads plain values into members of struct fit_config; it remembers the nodes of rows of kind LATER.
 * model_keys.c and params.c read those, in a fixed order. fit_config_finish checks that everything fits together.
 * Options of the command line are processed in the same way, with another origin. */
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "files/yaml_tree.h"

enum fit_cfg_kind {
    FIT_CFG_REAL,
    FIT_CFG_INT,
    FIT_CFG_INT_AUTO,
    FIT_CFG_FLAG,
    FIT_CFG_TEXT,
    FIT_CFG_CHOICE,
    FIT_CFG_READ,
    FIT_CFG_LATER,
    FIT_CFG_IGNORE
};
enum fit_cfg_role { FIT_CFG_MAIN, FIT_CFG_ALSO, FIT_CFG_WEAK };

struct fit_cfg_reader;

/* Words of a choice; ends with name NULL.  value -1: a word of the packages that is refused. */
struct fit_cfg_word {
    const char *name;
    int value;
};

struct fit_cfg_key {
    const char *path;
    enum fit_cfg_kind kind;
    enum fit_cfg_role role;
    size_t offset;    /* of the member in struct fit_config */
    const char *unit; /* REAL */
    double lower, upper;
    long lowest, highest; /* INT, INT_AUTO */
    const struct fit_cfg_word *word;
    void (*read)(struct fit_cfg_reader *r, const struct fit_yaml *node);
    enum fit_key_use use;
    const char *about; /* its meaning, or FIT_KEY_SAME: path of the key of which this is another spelling */
};

extern const struct fit_cfg_key fit_cfg_keys[];
extern const size_t fit_cfg_nkeys;

/* Option of the command line whose value is that of the key, or NULL. */
const char *fit_cfg_option_of(const char *path);

/* Row of a path, or NULL. */
const struct fit_cfg_key *fit_cfg_find(const char *path);
/* True when some row lies below path ("a.b" when there is "a.b.c"). */
int fit_cfg_is_section(const char *path);

/* State of reading one file or one option. */
struct fit_cfg_reader {
    struct fit_config *cfg;
    struct fit_config_log *log;
    struct fit_error *err;
    int lax;
    enum fit_origin_kind source; /* FIT_FROM_FILE or FIT_FROM_COMMAND */
    const char *option;          /* FIT_FROM_COMMAND: "--bounds" */
    const char *path;            /* of the key being read, for messages */
    size_t nerror;
    const struct fit_yaml **seen; /* per row of fit_cfg_keys: node of a LATER row */
    int no_memory;
};

struct fit_config_private {
    struct fit_arena arena;
};

/* ---- log.c */
/* Adds a message, whose texts are copied; `says` points into text. 0: out of memory. */
int fit_cfg_keep(struct fit_config_log *log, struct fit_config_message m);
void fit_cfg_error(struct fit_cfg_reader *r, const struct fit_yaml *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fit_cfg_error_at(struct fit_cfg_reader *r, unsigned line, unsigned column, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
void fit_cfg_note(struct fit_cfg_reader *r, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Status of the reader: FIT_OK, FIT_ERR_MEMORY or status, with the first message in err. */
enum fit_status fit_cfg_status(const struct fit_cfg_reader *r, enum fit_status status,
                               size_t first_message);

/* ---- scalar.c: a node as a value.  Return 1, or 0 after an error message. */
int fit_cfg_get_real(struct fit_cfg_reader *r, const struct fit_yaml *node, const char *unit,
                     double *value, int *bare);
int fit_cfg_get_int(struct fit_cfg_reader *r, const struct fit_yaml *node, long *value);
int fit_cfg_get_flag(struct fit_cfg_reader *r, const struct fit_yaml *node, int *value);
int fit_cfg_get_text(struct fit_cfg_reader *r, const struct fit_yaml *node, const char **value);
int fit_cfg_get_word(struct fit_cfg_reader *r, const struct fit_yaml *node,
                     const struct fit_cfg_word *word, int *value);
int fit_cfg_get_reals(struct fit_cfg_reader *r, const struct fit_yaml *node, const char *unit,
                      struct fit_cfg_reals *out);
int fit_cfg_want(struct fit_cfg_reader *r, const struct fit_yaml *node, enum fit_yaml_kind kind,
                 const char *what);

/* Origin of a value read at node. */
struct fit_origin fit_cfg_origin(const struct fit_cfg_reader *r, const struct fit_yaml *node);
/* True when a value read at node may replace one that came from `from`; then *from is the new
 * origin. same: the values are equal.  Two different values of the same rank in one file are an
 * error. */
int fit_cfg_claim(struct fit_cfg_reader *r, struct fit_origin *from, const struct fit_yaml *node,
                  int weak, int same);
void fit_cfg_set_real(struct fit_cfg_reader *r, struct fit_cfg_real *x, const struct fit_yaml *node,
                      double value, int weak);
void fit_cfg_set_int(struct fit_cfg_reader *r, struct fit_cfg_int *x, const struct fit_yaml *node,
                     long value, int weak);

void *fit_cfg_alloc(struct fit_cfg_reader *r, size_t size);
const char *fit_cfg_copy(struct fit_cfg_reader *r, const char *text);

/* ---- walk.c */
void fit_cfg_walk(struct fit_cfg_reader *r, const struct fit_yaml *root);
/* Reads one value into the row's member, or remembers the node. */
void fit_cfg_read_key(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                      const struct fit_yaml *node);
/* Node of a LATER row that was seen and is not null, or NULL; sets r->path. */
const struct fit_yaml *fit_cfg_seen(struct fit_cfg_reader *r, const char *path);

/* ---- read.c */
/* A missing configuration is an error of the call, not of the data. */
enum fit_status fit_cfg_cannot_read(enum fit_status st, struct fit_error *err);

/* ---- mode.c, model_keys.c, input.c, params.c: LATER rows.  later_mode
 * returns 0 when the model does not fit the file. */
int fit_cfg_later_mode(struct fit_cfg_reader *r);
void fit_cfg_later_input(struct fit_cfg_reader *r);
void fit_cfg_later_angles(struct fit_cfg_reader *r);
void fit_cfg_later_compat(struct fit_cfg_reader *r);
void fit_cfg_later_params(struct fit_cfg_reader *r);
void fit_cfg_set_files(struct fit_cfg_reader *r, const struct fit_yaml *at, size_t n,
                       const char *const *written, const char *beside);

/* ---- links.c: ties and values of groups. */
void fit_cfg_later_links(struct fit_cfg_reader *r);
void fit_cfg_tie(struct fit_cfg_reader *r, int child, const struct fit_yaml *at);
void fit_cfg_share(struct fit_cfg_reader *r, int i, const struct fit_yaml *at);
void fit_cfg_call_share(struct fit_cfg_reader *r, const char *text);
void fit_cfg_check_links(struct fit_cfg_reader *r);

/* Index of a parameter, nonlinear first, or -1 after an error with the nearest name. */
int fit_cfg_param_named(struct fit_cfg_reader *r, const char *name, unsigned line, unsigned column);
/* Index of a setting or -1, no message. */
int fit_cfg_setting_index(const struct fit_kernel *k, const char *name);
/* The member that holds setting i: input.q, input.gap, input.dt or setting[i]. */
struct fit_cfg_real *fit_cfg_setting(struct fit_config *cfg, size_t i);
/* A number in the unit that the model declares for setting i, as fit_cfg_setting() keeps it: q, gap and dt in those of
 * fit_units_of(). */
double fit_cfg_kept(struct fit_config *cfg, size_t i, double value);

/* ---- rows of kind READ */
void fit_cfg_read_scaling(struct fit_cfg_reader *r, const struct fit_yaml *node);
void fit_cfg_read_method(struct fit_cfg_reader *r, const struct fit_yaml *node);
void fit_cfg_read_noise_prior(struct fit_cfg_reader *r, const struct fit_yaml *node);
void fit_cfg_read_threshold(struct fit_cfg_reader *r, const struct fit_yaml *node);
void fit_cfg_refuse_filtering(struct fit_cfg_reader *r, const struct fit_yaml *node);
void fit_cfg_refuse_preprocessing(struct fit_cfg_reader *r, const struct fit_yaml *node);
void fit_cfg_note_quality(struct fit_cfg_reader *r, const struct fit_yaml *node);

/* ---- tables of words (keys.c) */
#define FIT_CFG_SCALING_AUTO 100
#define FIT_CFG_METHOD_BOTH 100
extern const struct fit_cfg_word fit_cfg_word_dt_policy[], fit_cfg_word_time_origin[], fit_cfg_word_q_rule[],
    fit_cfg_word_scaling_mode[], fit_cfg_word_loss[], fit_cfg_word_bootstrap[],
    fit_cfg_word_estimator[], fit_cfg_word_noise_kind[], fit_cfg_word_sequence[],
    fit_cfg_word_stream[], fit_cfg_word_units_policy[], fit_cfg_word_variant[], fit_cfg_word_method[],
    fit_cfg_word_prior[], fit_cfg_word_prior_compat[];
