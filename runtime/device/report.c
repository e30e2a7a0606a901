/* report.c -- accelerators for people: lists them, chooses one and reports the choice. */
#include "device/report.h"

#include <string.h>

#include "base/json.h"
#include "ranks/ranks.h"

struct listing {
    FILE *f;
    struct fit_json *json;
    int n;
};

static void print_one(void *user, const struct fit_device_info *info)
{
    struct listing *l = user;
    char rate[60] = "";
    if (info->weak > 1)
        snprintf(rate, sizeof rate, ", double precision 1/%d of single", info->weak);
    fprintf(l->f, "  %-10s %s\n             %s; %.1f GB, %u units, %u MHz%s%s%s\n", info->word, info->name, info->what,
            (double)info->memory / 1e9, info->units, info->mhz, rate, info->unusable[0] ? "; not usable: " : "",
            info->unusable);
    l->n++;
}

static void json_one(void *user, const struct fit_device_info *info)
{
    struct fit_json *j = ((struct listing *)user)->json;
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "device", info->word);
    fit_json_string(j, "name", info->name);
    fit_json_string(j, "what", info->what);
    fit_json_integer(j, "memory_bytes", (long long)info->memory);
    fit_json_integer(j, "units", info->units);
    fit_json_integer(j, "mhz", info->mhz);
    fit_json_integer(j, "single_to_double", info->weak);
    fit_json_boolean(j, "card", info->is_card);
    fit_json_string(j, "unusable", info->unusable[0] ? info->unusable : NULL);
    fit_json_end(j);
}

static enum fit_status devices_json(FILE *f, struct fit_error *err)
{
    struct fit_json j = {0};
    struct listing l = {.json = &j};
    char missing[400];
    fit_json_begin(&j, NULL, '{');
    fit_json_begin(&j, "devices", '[');
    fit_device_list(json_one, &l, missing, sizeof missing);
    fit_json_end(&j);
    fit_json_string(&j, "missing", missing[0] ? missing : NULL);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    if (text)
        fputs(text, f);
    fit_json_free(&j);
    return text ? FIT_OK : fit_no_memory(err, "info");
}

enum fit_status fit_device_report(FILE *f, int json, struct fit_error *err)
{
    struct listing l = {.f = f};
    char missing[400];
    if (json)
        return devices_json(f, err);
    fprintf(f, "Devices for --device, beside cpu:\n");
    fit_device_list(print_one, &l, missing, sizeof missing);
    fprintf(f, "  %-10s this processor, one thread: kernels as plain C, for comparison\n", "plain");
    if (missing[0])
        fprintf(f, "Not found: %s\n", missing);
    return FIT_OK;
}

/* The message with the name of the option. */
static enum fit_status of_option(enum fit_status st, struct fit_error *err)
{
    const struct fit_error why = *err;
    return fit_fail(err, st, "--%.400s", why.message);
}

enum fit_status fit_device_check(const char *word, struct fit_error *err)
{
    const enum fit_status st = word ? fit_device_is_word(word, err) : FIT_OK;
    return st == FIT_OK ? st : of_option(st, err);
}

enum fit_status fit_device_begin(const struct fit_device_wish *wish, struct fit_device **d, struct fit_error *err)
{
    char note[500] = "";
    *d = NULL;
    if (!wish->word || strcmp(wish->word, "cpu") == 0)
        return FIT_OK;
    enum fit_status st = fit_device_open(wish->word, d, note, sizeof note, err);
    if (st != FIT_OK)
        return of_option(st, err);
    if (*d && fit_device_next(*d) && fit_ranks_size() > 1) {
        fit_device_close(*d);
        *d = NULL;
        return fit_fail(err, FIT_ERR_CONFIG, "--device %s: ranks of a run have one device each: --device cuda, opencl",
                        wish->word);
    }
    if (fit_ranks_size() > 1 && fit_ranks_least(*d ? 1 : 0) < 1) {
        fit_device_close(*d);
        *d = NULL;
        if (!note[0])
            snprintf(note, sizeof note, "another rank has none; the processors are used");
    }
    if (note[0] && !wish->quiet)
        fprintf(wish->err, "%s: note: --device %s: %s\n", wish->program, wish->word, note);
    if (*d && !wish->quiet && wish->verbose)
        for (const struct fit_device *k = *d; k; k = fit_device_next(k))
            fprintf(wish->err, "%s: note: device %s: %s\n", wish->program, fit_device_about(k)->word,
                    fit_device_about(k)->name);
    fit_device_use(*d);
    return FIT_OK;
}

void fit_device_end(const struct fit_device_wish *wish, struct fit_device *d)
{
    if (!d)
        return;
    const struct fit_device_tally t = fit_device_tally(d);
    if (!wish->quiet && t.why[0])
        fprintf(wish->err, "%s: note: --device %s: %s%s\n", wish->program, wish->word,
                t.calls ? "in part by the processor: " : "the processor was used: ", t.why);
    for (struct fit_device *k = d; k && !wish->quiet && wish->verbose; k = fit_device_next(k)) {
        const struct fit_device_tally own = fit_device_tally_alone(k);
        if (own.calls)
            fprintf(wish->err, "%s: note: device %s: %zu sums in %zu launches\n", wish->program,
                    fit_device_about(k)->word, own.calls, own.launches);
    }
    fit_device_close(d);
}
