/* device.c -- the devices of all kinds: listed, chosen by a word, used.
 *
 * Takes a word, gives an open device; everything else is passed on to its driver. */
#include "device/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"
#include "device/shelf.h"
#include "fit/gpu_shape.h"
#include "machine/team.h"

static const struct fit_device_driver *const drivers[] = {&fit_driver_cuda, &fit_driver_opencl, &fit_driver_plain};

static struct fit_device *used;

void fit_device_use(struct fit_device *d)
{
    used = d;
}

void fit_device_use_here(struct fit_device *d)
{
    fit_team_carry(d);
}

struct fit_device *fit_device_used(void)
{
    struct fit_device *here = fit_team_carried();
    return here ? here : used;
}

void fit_device_list(void (*fn)(void *user, const struct fit_device_info *info), void *user, char *missing,
                     size_t size)
{
    size_t n = 0;
    missing[0] = 0;
    for (int k = FIT_DEVICE_CUDA; k < FIT_DEVICE_PLAIN; k++) {
        const char *why = drivers[k]->list(fn, user);
        if (why && n < size)
            n += (size_t)snprintf(missing + n, size - n, "%s%s", n ? "; " : "", why);
    }
}

int fit_device_fail(struct fit_device *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->failure, sizeof d->failure, format, args);
    va_end(args);
    return -1;
}

/* ---- choice ------------------------------------------------------------------------------------------ */

/* Above this ratio of single to double precision, a card is unsuitable for double precision. */
enum { MOST_WEAK = 4 };

enum { MOST_FOUND = 64 };

struct choice {
    const char *word;
    int card; /* any card; else what the word says */
    size_t nfound;
    struct fit_device_info found[MOST_FOUND];
    char seen[400]; /* unsuitable cards, and why; or what there is */
};

/* The word names this device, or its kind. */
static int is_named(const char *word, const char *device)
{
    const size_t n = strlen(word);
    return strcmp(word, device) == 0 || (strncmp(word, device, n) == 0 && device[n] == ':');
}

/* The number of this process among those of its run on this machine, from the variables of MPI libraries and SLURM;
 * otherwise 0. */
static size_t local_rank(void)
{
    static const char *const name[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                                       "SLURM_LOCALID", "PMI_RANK", "PMIX_RANK"};
    const char *text = NULL;
    for (size_t k = 0; k < sizeof name / sizeof *name && !text; k++)
        text = getenv(name[k]);
    return text ? (size_t)strtoul(text, NULL, 10) : 0;
}

static void add_seen(struct choice *c, const char *name, const char *why)
{
    size_t n = strlen(c->seen);
    snprintf(c->seen + n, sizeof c->seen - n, "%s%s%s%s", n ? "; " : "", name, why[0] ? ": " : "", why);
}

static void consider(void *user, const struct fit_device_info *info)
{
    struct choice *c = user;
    char why[200];
    if (c->nfound == MOST_FOUND)
        return;
    if (!c->card) {
        if (is_named(c->word, info->word))
            c->found[c->nfound++] = *info;
        else
            add_seen(c, info->word, "");
        return;
    }
    if (!info->is_card)
        return;
    if (info->unusable[0] || info->weak > MOST_WEAK) {
        snprintf(why, sizeof why, "double precision is 1/%d of single", info->weak);
        add_seen(c, info->name, info->unusable[0] ? info->unusable : why);
        return;
    }
    c->found[c->nfound++] = *info;
}

static enum fit_status open_found(const struct choice *c, struct fit_device **d, struct fit_error *err)
{
    const struct fit_device_info *info = &c->found[local_rank() % c->nfound];
    struct fit_device *x = calloc(1, sizeof *x);
    if (!x)
        return fit_no_memory(err, "device");
    x->driver = drivers[info->kind];
    x->info = *info;
    x->automatic = strcmp(c->word, "auto") == 0;
    pthread_mutex_init(&x->lock, NULL);
    if (info->unusable[0] || x->driver->open(x) != 0) {
        enum fit_status st = fit_fail(err, FIT_ERR_CONFIG, "device %s (%s): %s", info->word, info->name,
                                      info->unusable[0] ? info->unusable : x->failure);
        pthread_mutex_destroy(&x->lock);
        free(x);
        return st;
    }
    *d = x;
    return FIT_OK;
}

static void plain_info(void *user, const struct fit_device_info *info)
{
    consider(user, info);
}

static enum fit_status is_word(const char *word, struct fit_error *err)
{
    static const char *const known[] = {"cpu", "gpu", "auto", "plain"};
    int good = is_named("cuda", word) || is_named("opencl", word);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        good |= strcmp(word, known[k]) == 0;
    return good ? FIT_OK
                : fit_fail(err, FIT_ERR_CONFIG,
                           "device %s: must be cpu, gpu, auto, cuda:all, or one or several (A+B) that "
                           "`homodyne info --devices` shows", word);
}

static enum fit_status open_one(const char *word, struct fit_device **d, char *note, size_t size, struct fit_error *err)
{
    struct choice c = {.word = word, .card = strcmp(word, "gpu") == 0 || strcmp(word, "auto") == 0};
    char missing[400];
    *d = NULL;
    note[0] = 0;
    if (strcmp(word, "cpu") == 0)
        return FIT_OK;
    if (is_word(word, err) != FIT_OK)
        return err->status;
    fit_device_list(consider, &c, missing, sizeof missing);
    if (!c.card)
        fit_driver_plain.list(plain_info, &c);
    if (c.nfound)
        return open_found(&c, d, err);
    if (!c.card)
        return fit_fail(err, FIT_ERR_CONFIG, "device %s: there is no such device%s%s%s%s", word,
                        c.seen[0] ? "; there is: " : "", c.seen, missing[0] ? "; " : "", missing);
    const char *none = c.seen[0] || missing[0] ? "" : "none found";
    snprintf(note, size, "no card with full double precision (%s%s%s%s); the processor is used", c.seen,
             c.seen[0] && missing[0] ? "; " : "", missing, none);
    return FIT_OK;
}

/* ---- several ------------------------------------------------------------------------------------------ */

enum { MOST_TOGETHER = 16 };

static enum fit_status no_part(const char *word, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_CONFIG, "device %s: a device is missing beside +", word);
}

struct words {
    const char *kind; /* of which all are wanted */
    size_t n;
    char word[MOST_TOGETHER][24];
};

static void add_word(void *user, const struct fit_device_info *info)
{
    struct words *w = user;
    if (is_named(w->kind, info->word) && !info->unusable[0] && w->n < MOST_TOGETHER)
        snprintf(w->word[w->n++], sizeof w->word[0], "%s", info->word);
}

/* Splits `a+b`, or expands all devices of a kind; n = 0: a single device is meant. */
static void split(const char *word, struct words *w, char *kind, size_t size)
{
    static const char all[] = ":all";
    const size_t n = strlen(word);
    char missing[400];
    w->n = 0;
    if (n >= sizeof all && strcmp(word + n - (sizeof all - 1), all) == 0) {
        snprintf(kind, size, "%.*s", (int)(n - (sizeof all - 1)), word);
        w->kind = kind;
        fit_device_list(add_word, w, missing, sizeof missing);
        return;
    }
    for (const char *at = strchr(word, '+') ? word : NULL; at && w->n < MOST_TOGETHER; at = strchr(at, '+')) {
        at += at > word;
        snprintf(w->word[w->n++], sizeof w->word[0], "%.*s", (int)strcspn(at, "+"), at);
    }
}

enum fit_status fit_device_is_word(const char *word, struct fit_error *err)
{
    char part[64];
    enum fit_status st = FIT_OK;
    for (const char *at = word, *end; at && st == FIT_OK; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, "+");
        snprintf(part, sizeof part, "%.*s", (int)(end - at), at);
        st = *part || !strchr(word, '+') ? is_word(part, err) : no_part(word, err);
    }
    return st;
}

/* 1: the last of the devices from d on is there before. Plain C is no hardware: tests let it share with itself. */
static int is_twice(const struct fit_device *d)
{
    const struct fit_device *last = d;
    while (last->next)
        last = last->next;
    for (; d != last; d = d->next)
        if (strcmp(d->info.word, last->info.word) == 0 && strcmp(d->info.word, "plain") != 0)
            return 1;
    return 0;
}

enum fit_status fit_device_open(const char *word, struct fit_device **d, char *note, size_t size, struct fit_error *err)
{
    struct words w = {0};
    char kind[24];
    enum fit_status st = FIT_OK;
    struct fit_device **at = d;
    split(word, &w, kind, sizeof kind);
    if (!w.n)
        return open_one(word, d, note, size, err);
    *d = NULL;
    for (size_t k = 0; k < w.n && st == FIT_OK; k++) {
        st = w.word[k][0] ? open_one(w.word[k], at, note, size, err) : no_part(word, err);
        if (st == FIT_OK && !*at)
            st = fit_fail(err, FIT_ERR_CONFIG, "device %s: %s is no device that shares sums with others", word,
                          w.word[k]);
        else if (st == FIT_OK && is_twice(*d))
            st = fit_fail(err, FIT_ERR_CONFIG, "device %s: %s is named twice", word, (*at)->info.word);
        at = st == FIT_OK ? &(*at)->next : at;
    }
    if (st == FIT_OK) {
        (*d)->info.together = (unsigned)w.n;
        return FIT_OK;
    }
    fit_device_close(*d);
    *d = NULL;
    return st;
}

struct fit_device *fit_device_next(const struct fit_device *d)
{
    return d->next;
}

/* ---- passed on --------------------------------------------------------------------------------------- */

void fit_device_close(struct fit_device *d)
{
    if (!d)
        return;
    if (used == d)
        used = NULL;
    fit_device_close(d->next);
    fit_shelf_close(d);
    for (struct fit_device_module *m = d->loaded, *next; m; m = next) {
        next = m->next;
        d->driver->unload(m);
        free(m);
    }
    d->driver->close(d);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

const struct fit_device_info *fit_device_about(const struct fit_device *d)
{
    return &d->info;
}

int fit_device_is_automatic(const struct fit_device *d)
{
    return d->automatic;
}

const char *fit_device_failure(const struct fit_device *d)
{
    return d->failure;
}

void *fit_device_buffer(struct fit_device *d, size_t bytes)
{
    return d->driver->buffer(d, bytes ? bytes : sizeof(double));
}

void fit_device_release(struct fit_device *d, void *buffer)
{
    if (buffer)
        d->driver->release(d, buffer);
}

int fit_device_write(struct fit_device *d, void *buffer, size_t at, const void *from, size_t bytes)
{
    return bytes ? d->driver->write(d, buffer, at, from, bytes) : 0;
}

int fit_device_read(struct fit_device *d, void *buffer, void *to, size_t bytes)
{
    return fit_device_read_at(d, buffer, 0, to, bytes);
}

int fit_device_read_at(struct fit_device *d, void *buffer, size_t at, void *to, size_t bytes)
{
    return bytes ? d->driver->read(d, buffer, at, to, bytes) : 0;
}

void *fit_device_host(struct fit_device *d, size_t bytes)
{
    return d->driver->host ? d->driver->host(d, bytes) : malloc(bytes);
}

void fit_device_host_free(struct fit_device *d, void *memory)
{
    if (d->driver->host_free && memory)
        d->driver->host_free(d, memory);
    else
        free(memory);
}

int fit_device_send(struct fit_device *d, void *buffer, const void *from, size_t bytes)
{
    return !bytes ? 0 : d->driver->send ? d->driver->send(d, buffer, from, bytes)
                                        : d->driver->write(d, buffer, 0, from, bytes);
}

int fit_device_arrive(struct fit_device *d, size_t slot)
{
    return d->driver->arrive ? d->driver->arrive(d, slot) : 0;
}

int fit_device_leave(struct fit_device *d, size_t slot)
{
    return d->driver->leave ? d->driver->leave(d, slot) : 0;
}

int fit_device_settle(struct fit_device *d, size_t slot)
{
    return d->driver->settle ? d->driver->settle(d, slot) : 0;
}

void fit_device_expect(struct fit_device *d, size_t fits)
{
    for (; d; d = d->next)
        d->expected = fits;
}

void fit_device_crowd(struct fit_device *d, size_t fits)
{
    fit_device_expect(d, fits);
    d->crowded = 1;
}

size_t fit_device_expected(const struct fit_device *d)
{
    return d->expected > 1 ? d->expected : 1;
}

int fit_device_threads(int threads, size_t n)
{
    enum { MOST = 64 };
    const size_t most = n < MOST ? n : MOST;
    if (!fit_device_used() || fit_device_used()->crowded || (size_t)threads >= most)
        return threads;
    fit_device_expect(fit_device_used(), most);
    return (int)most;
}

double fit_device_tree(double *leaf)
{
    for (size_t step = 1; step < FIT_GPU_THREADS; step *= 2)
        for (size_t k = 0; k < FIT_GPU_THREADS; k += 2 * step)
            leaf[k] += leaf[k + step];
    return leaf[0];
}

enum fit_status fit_device_load(struct fit_device *d, const struct fit_gpu_source *source,
                                struct fit_device_module **module, struct fit_error *err)
{
    struct fit_device_module *m = d->loaded;
    while (m && m->source != source)
        m = m->next;
    *module = m;
    if (m)
        return FIT_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return fit_no_memory(err, "device");
    m->d = d;
    m->source = source;
    if (d->driver->load(m) != 0) {
        free(m);
        return fit_fail(err, FIT_ERR_INTERNAL, "device %s: the kernels of %s cannot be loaded: %s", d->info.word,
                        source->program->name, d->failure);
    }
    m->next = d->loaded;
    *module = d->loaded = m;
    return FIT_OK;
}

int fit_device_run(struct fit_device_module *m, const struct fit_device_call *call)
{
    if (!call->grid[0] || !call->grid[1] || !call->grid[2])
        return 0;
    return m->d->driver->run(m, call);
}

struct fit_device_tally fit_device_tally_alone(struct fit_device *d)
{
    fit_device_lock(d);
    const struct fit_device_tally t = d->tally;
    fit_device_unlock(d);
    return t;
}

struct fit_device_tally fit_device_tally(struct fit_device *d)
{
    struct fit_device_tally all = fit_device_tally_alone(d);
    while ((d = d->next) != NULL) {
        const struct fit_device_tally t = fit_device_tally_alone(d);
        all.calls += t.calls;
        all.launches += t.launches;
        if (!all.why[0])
            memcpy(all.why, t.why, sizeof all.why);
    }
    return all;
}

void fit_device_add(struct fit_device *d, size_t calls)
{
    d->tally.calls += calls;
    d->tally.launches++;
}

void fit_device_say(struct fit_device *d, const char *why)
{
    fit_device_lock(d);
    snprintf(d->tally.why, sizeof d->tally.why, "%.230s", why ? why : "");
    fit_device_unlock(d);
}

void fit_device_lock(struct fit_device *d)
{
    pthread_mutex_lock(&d->lock);
}

void fit_device_unlock(struct fit_device *d)
{
    pthread_mutex_unlock(&d->lock);
}
