/* about.c -- the meaning of each key of a configuration, and its effect: fit_config_key. */
#include "config/config_impl.h"

int fit_config_key(size_t i, struct fit_config_key *out)
{
    if (i >= fit_cfg_nkeys)
        return 0;
    const struct fit_cfg_key *key = &fit_cfg_keys[i],
                             *same = key->use == FIT_KEY_SAME ? fit_cfg_find(key->about) : NULL;
    const struct fit_cfg_key *said = same ? same : key;
    *out = (struct fit_config_key){.path = key->path,
                                   .use = same && same->use == FIT_KEY_READ ? FIT_KEY_SAME : said->use,
                                   .about = said->about,
                                   .same = same ? same->path : NULL,
                                   .option = fit_cfg_option_of(key->path),
                                   .unit = key->unit};
    return 1;
}
