/* config_about.c -- what each key of a configuration is, and what becomes of it: fit_config_key. */
#include "config_impl.h"

#include <string.h>

struct about {
    const char *path;
    enum fit_key_use use;
    const char *text;
};

#define READ(path, text) {path, FIT_KEY_READ, text},
#define OTHER(path, text) {path, FIT_KEY_OTHER_WAY, text},
#define NONE(path, text) {path, FIT_KEY_NO_EFFECT, text},
#define REFUSED(path, text) {path, FIT_KEY_REFUSED, text},
static const struct about abouts[] = {
#include "config_about.def"
};

static const struct about *find(const char *path)
{
    for (size_t i = 0; i < sizeof abouts / sizeof *abouts; i++)
        if (strcmp(abouts[i].path, path) == 0)
            return &abouts[i];
    return NULL;
}

static int plain(const struct fit_cfg_key *key)
{
    return key->kind != FIT_CFG_READ && key->kind != FIT_CFG_LATER && key->kind != FIT_CFG_IGNORE;
}

/* The key that a spelling of role ALSO or WEAK stands for: it has the same member and is described.
 */
static const struct about *meant(const struct fit_cfg_key *key)
{
    static const char *const others[][2] = {{"data.file", "experimental_data.file_path"},
                                            {"data.file_path", "experimental_data.file_path"},
                                            {"data.path", "experimental_data.file_path"},
                                            {"data_file", "experimental_data.file_path"},
                                            {"compat.version", "compat"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key->path, others[i][0]) == 0)
            return find(others[i][1]);
    for (size_t i = 0; plain(key) && i < fit_cfg_nkeys; i++) {
        const struct fit_cfg_key *other = &fit_cfg_keys[i];
        if (plain(other) && other->offset == key->offset && other->role == FIT_CFG_MAIN)
            return find(other->path);
    }
    return NULL;
}

int fit_config_key(size_t i, struct fit_config_key *out)
{
    if (i >= fit_cfg_nkeys)
        return 0;
    const struct fit_cfg_key *key = &fit_cfg_keys[i];
    *out = (struct fit_config_key){
        .path = key->path, .option = fit_cfg_option_of(key->path), .unit = key->unit};
    if (key->kind == FIT_CFG_IGNORE) {
        out->use = FIT_KEY_NO_EFFECT;
        out->about = key->reason;
        return 1;
    }
    const struct about *about = find(key->path);
    if (!about) {
        about = meant(key);
        out->same = about ? about->path : NULL;
    }
    out->about = about ? about->text : "";
    out->use = !about                                    ? FIT_KEY_READ
               : out->same && about->use == FIT_KEY_READ ? FIT_KEY_SAME
                                                         : about->use;
    return 1;
}
