/* page_kernel.c -- the model of a fit for the page: its kernel as WebAssembly, and the input of that kernel.
 *
 * The file share/homodyne-gen/live/MODEL.wasm lies beside the programs if the build made it (LiveKernel.cmake). That
 * of a user's model file lies in the cache where `homodyne` compiled it: cache/KEY/MODEL.wasm. It is used if it was
 * made from exactly the model of the fit (it contains the hash), and if the fit recorded the input of its kernel
 * (/entry/kernel of fit.h5). Otherwise nothing is written, and the page stays as it is.
 *
 * Data before any fit (`extract`) have that, too; their parameters are those of the configuration that the file
 * holds.
 *
 * Only numbers, and names that consist of letters, digits and _ : no untrusted text gets near a script. */
#define _XOPEN_SOURCE 700
#include "report/page/page.h"

#include "hdf5/reader.h"
#include "report/draw/base64.h"
#include "report/draw/rich.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WASM = 1 << 21, MOST_TIMES = 40000 };

struct bytes {
    unsigned char *at;
    size_t n;
};

/* ---- the module ------------------------------------------------------------------------------ */

static int is_name(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

/* "D0[45]", "tau[q=0.004]": of one group among others. */
static int is_parameter(const char *text)
{
    return *text &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[]=.,+- ") == strlen(text);
}

/* Which kernel: name, variant, hash of the model's text. */
struct identity {
    char name[80], variant[80], hash[80];
};

static void text_of(const struct fit_h5 *h, const char *path, char *to, size_t size)
{
    char *text = NULL;
    if (fit_h5_exists(h, path) && fit_h5_read_string(h, path, &text, NULL) == FIT_OK)
        snprintf(to, size, "%s", text);
    free(text);
}

static struct identity identify(const struct rp_result *r, const struct fit_h5 *h)
{
    struct identity id = {"", "", ""};
    if (r->fitted) {
        snprintf(id.name, sizeof id.name, "%s", rp_json_text(r->json, "model.name"));
        snprintf(id.variant, sizeof id.variant, "%s", rp_json_text(r->json, "model.variant"));
        snprintf(id.hash, sizeof id.hash, "%s", rp_json_text(r->json, "model.hash"));
        return id;
    }
    text_of(h, "/entry/model_name", id.name, sizeof id.name);
    text_of(h, "/entry/kernel_variant", id.variant, sizeof id.variant);
    text_of(h, "/entry/model_sha256", id.hash, sizeof id.hash);
    return id;
}

/* ../share/homodyne-gen/live/NAME.wasm, as seen from this program. */
static int module_path(const struct identity *id, char *path, size_t size)
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0 || !is_name(id->name) || !is_name(id->variant))
        return 0;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return 0;
    *slash = '\0';
    const int fast = strcmp(id->variant, "fast") == 0;
    const int k = snprintf(path, size, "%s/../share/homodyne-gen/live/%s%s%s.wasm", self, id->name, fast ? "" : "_",
                           fast ? "" : id->variant);
    return k > 0 && (size_t)k < size;
}

static int holds(const struct bytes *b, const char *text)
{
    const size_t n = strlen(text);
    for (size_t k = 0; n && k + n <= b->n; k++)
        if (memcmp(b->at + k, text, n) == 0)
            return 1;
    return 0;
}

static int read_file(const struct identity *id, const char *path, struct bytes *b)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    b->at = b->at ? b->at : malloc(MOST_WASM);
    b->n = b->at ? fread(b->at, 1, MOST_WASM, f) : 0;
    fclose(f);
    return b->n > 8 && b->n < MOST_WASM && holds(b, id->hash);
}

/* The first in the cache of compiled models that is of this model. */
static int read_cached(const struct identity *id, struct bytes *b)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const int own = base && *base == '/';
    char cache[PATH_MAX], path[PATH_MAX + 400];
    snprintf(cache, sizeof cache, "%s%s/homodyne", own ? base : home ? home : "", own ? "" : "/.cache");
    DIR *d = is_name(id->name) ? opendir(cache) : NULL;
    int found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%.255s/%s.wasm", cache, e->d_name, id->name);
        found = e->d_name[0] != '.' && read_file(id, path, b);
    }
    if (d)
        closedir(d);
    return found;
}

static int read_module(const struct identity *id, struct bytes *b)
{
    char path[PATH_MAX + 200];
    return (module_path(id, path, sizeof path) && read_file(id, path, b)) ||
           (strcmp(id->variant, "fast") == 0 && read_cached(id, b));
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_number(struct rp_markup *out, size_t k, double x)
{
    if (x - x == 0)
        rp_put(out, "%s%.17g", k ? "," : "", x);
    else
        rp_put(out, "%snull", k ? "," : "");
}

static void put_array(struct rp_markup *out, const char *name, const double *x, size_t n)
{
    rp_put(out, ",\"%s\":[", name);
    for (size_t k = 0; k < n; k++)
        put_number(out, k, x[k]);
    rp_put(out, "]");
}

/* A dataset, when it is there. 0: it is not, or has another number of values than `want` (0: any). */
static int put_dataset(struct rp_markup *out, const struct fit_h5 *h, const char *name, size_t want)
{
    char path[80];
    double *x = NULL;
    size_t n = 0;
    snprintf(path, sizeof path, "/entry/kernel/%s", name);
    const int good = fit_h5_exists(h, path) && fit_h5_read_doubles(h, path, &x, &n, NULL) == FIT_OK &&
                     n <= MOST_TIMES && (want == 0 || n == want);
    if (good)
        put_array(out, name, x, n);
    free(x);
    return good;
}

/* Coordinates of the groups, one axis after the other. */
static void put_axes(struct rp_markup *out, const struct fit_h5 *h)
{
    char path[80];
    int some = 0;
    rp_put(out, ",\"coord\":[");
    for (size_t a = 0; a < 8; a++) {
        double *x = NULL;
        size_t n = 0;
        snprintf(path, sizeof path, "/entry/kernel/axis_%zu", a);
        if (fit_h5_exists(h, path) && fit_h5_read_doubles(h, path, &x, &n, NULL) == FIT_OK && n <= MOST_TIMES)
            for (size_t g = 0; g < n; g++)
                put_number(out, (size_t)some++, x[g]);
        free(x);
    }
    rp_put(out, "]");
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Letters and marks of rich.h, as JSON. */
static void put_symbol(struct rp_markup *out, const char *name)
{
    char symbol[256];
    rp_symbol(name, symbol, sizeof symbol);
    rp_put(out, "\"");
    for (const char *at = symbol; *at; at++)
        if ((unsigned char)*at < ' ')
            rp_put(out, "\\u%04x", (unsigned)(unsigned char)*at);
        else if (*at != '"' && *at != '\\')
            fputc(*at, out->file); /* of a name that is one, and of our own table */
    rp_put(out, "\"");
}

/* Of a fit, as fit.json has it; of a configuration, with other names and a start. */
static void put_parameter(struct rp_markup *out, const char *name, const struct fit_yaml *p, int fitted)
{
    const char *vary = rp_json_text(p, "vary");
    rp_put(out, "{\"name\":\"%s\",\"symbol\":", name);
    put_symbol(out, name);
    rp_put(out, ",\"lower\":");
    put_number(out, 0, rp_json_number(p, fitted ? "lower" : "min"));
    rp_put(out, ",\"upper\":");
    put_number(out, 0, rp_json_number(p, fitted ? "upper" : "max"));
    rp_put(out, ",\"std\":");
    put_number(out, 0, rp_json_number(p, "std"));
    rp_put(out, ",\"start\":");
    put_number(out, 0, rp_json_number(p, fitted ? "start" : "value"));
    rp_put(out, ",\"fixed\":%s}", (fitted ? rp_json_true(p, "fixed") : strcmp(vary, "false") == 0) ? "true" : "false");
}

/* tied: tied parameters follow from the others, and are left out; otherwise nothing is written if any are tied. */
static int put_parameters(struct rp_markup *out, const struct fit_yaml *all, int fitted, int tied)
{
    size_t some = 0;
    if (!all || all->kind != FIT_YAML_MAP)
        return 0;
    rp_put(out, ",\"parameters\":[");
    for (size_t k = 0; k < all->n; k++) {
        const struct fit_yaml *tie = rp_get(all->entry[k].value, fitted ? "tied" : "tie");
        if (!is_parameter(all->entry[k].key) || (tie && !tied))
            return 0;
        if (tie)
            continue;
        rp_put(out, some++ ? "," : "");
        put_parameter(out, all->entry[k].key, all->entry[k].value, fitted);
    }
    rp_put(out, "]");
    return 1;
}

/* Those of the configuration in a file of data. */
static int put_configured(struct rp_markup *out, const struct fit_h5 *h)
{
    const int tied = fit_h5_exists(h, "/entry/kernel/unknown");
    struct fit_yaml_doc *doc = NULL;
    char *text = NULL;
    int good = fit_h5_exists(h, "/entry/config_yaml") &&
               fit_h5_read_string(h, "/entry/config_yaml", &text, NULL) == FIT_OK &&
               fit_yaml_parse(text, strlen(text), "config_yaml", &doc, NULL) == FIT_OK;
    good = good && put_parameters(out, rp_get(fit_yaml_root(doc), "parameters"), 0, tied);
    fit_yaml_free(doc);
    free(text);
    return good;
}

static void put_sigma(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "noise.sigma");
    rp_put(out, ",\"sigma\":[");
    for (size_t g = 0; list && list->kind == FIT_YAML_LIST && g < list->n; g++)
        put_number(out, g, rp_json_value(list->entry[g].value));
    for (size_t g = 0; !r->fitted && r->noise && g < r->ngroup; g++)
        put_number(out, g, r->noise[g]);
    rp_put(out, "]");
}

static void put_settings(struct rp_markup *out, const struct rp_result *r, size_t bin)
{
    const char *scaling = rp_json_text(r->json, "settings.scaling"), *loss = rp_json_text(r->json, "settings.loss");
    rp_put(out, ",\"bin\":%zu,\"scaling\":\"%s\",\"loss\":\"%s\"", bin, is_name(scaling) ? scaling : "",
           is_name(loss) ? loss : "");
}

static int put_all(struct rp_markup *out, const struct rp_result *r, const struct fit_h5 *h, size_t bin,
                   const struct bytes *module)
{
    rp_put(out, ",\n\"model\":{\"wasm\":\"");
    rp_base64(out->file, module->at, module->n);
    rp_put(out, "\"");
    put_settings(out, r, bin);
    put_axes(out, h);
    int good = !r->pairs ||
               (put_dataset(out, h, "time", 0) && put_dataset(out, h, "frame", 0) && put_dataset(out, h, "step", 0));
    if (fit_h5_exists(h, "/entry/kernel/file"))
        good = good && put_dataset(out, h, "file", 0);
    good = good && (!r->fitted || put_dataset(out, h, "theta", 0));
    if (fit_h5_exists(h, "/entry/kernel/unknown"))
        good = good && put_dataset(out, h, "unknown", 0) && put_dataset(out, h, "tie_factor", 0) &&
               put_dataset(out, h, "tie_constant", 0);
    if (fit_h5_exists(h, "/entry/kernel/setting"))
        good = good && put_dataset(out, h, "setting", 0);
    if (fit_h5_exists(h, "/entry/kernel/linear"))
        good = good && put_dataset(out, h, "linear", 0) && put_dataset(out, h, "linear_bounds", 0);
    put_sigma(out, r);
    good = good && (r->fitted ? put_parameters(out, rp_get(r->json, "parameters"), 1, 1) : put_configured(out, h));
    rp_put(out, "}");
    return good;
}

/* All or nothing: it is written to memory first. */
void rp_page_kernel(struct rp_markup *out, const struct rp_result *r, size_t bin)
{
    struct bytes module = {0};
    struct fit_h5 *h = NULL;
    char file[1100], *text = NULL;
    size_t size = 0;
    snprintf(file, sizeof file, "%s%s", r->folder, r->fitted ? "/fit.h5" : "");
    if (fit_h5_open(file, &h, NULL) != FIT_OK)
        return;
    const struct identity id = identify(r, h);
    if (read_module(&id, &module)) {
        FILE *memory = open_memstream(&text, &size);
        const int good = memory && put_all(&(struct rp_markup){memory}, r, h, bin, &module);
        if (memory && fclose(memory) == 0 && good)
            fwrite(text, 1, size, out->file);
        free(text);
    }
    fit_h5_close(h);
    free(module.at);
}
