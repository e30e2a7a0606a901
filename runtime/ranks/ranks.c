/* ranks.c -- the processes of one run, by a plugin. See ranks.h.
 *
 * Every collective call ("meeting") is one gather, in which each rank's block begins with a header: whether a signal
 * has come, its clock, the number of the meeting and its length. Ranks at different meetings have diverged: the run is
 * ended, and one of them says so. What may differ between the files and programs of ranks is compared before
 * (ranks/same.h), so that only a fault of the program is left. */
#define _DEFAULT_SOURCE /* gethostname, nanosleep */
#include "ranks/ranks.h"

#include "base/arena.h"
#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ASKED, CLOCK, NUMBER, LENGTH, HEADER = 4 };
static const double PATIENCE = 5; /* seconds for which a failed rank waits for the others */
static const struct timespec LEAVE = {.tv_sec = 1},  /* to the rank that says why the run ends */
    ON_ITS_WAY = {.tv_nsec = 200000000}; /* for what was printed: a launcher that ends the run may drop it */

static struct {
    const struct fit_ranks_plugin *plugin; /* NULL: no other ranks */
    size_t size, rank; /* of those who meet now */
    size_t world_size, world_rank;
    char (*host)[FIT_RANKS_HOST]; /* of all ranks */
    void (*tell)(const char *why);
    atomic_int *interrupt;
    double origin, first; /* fit_seconds() at the beginning; of rank 0 at the last meeting */
    double number, world_number; /* of the next meeting; of all ranks, while they are in groups */
    double *send, *receive;
    size_t nsend, nreceive;
    int *count, *place;
    size_t *one; /* size numbers, for meetings with blocks of equal length */
} all = {.size = 1, .world_size = 1};

static atomic_int asked, parted;
static _Thread_local int meets; /* the thread that has begun */

/* ---- meeting --------------------------------------------------------------------------------------------- */

/* Ends the run. speaks: this rank tells why; another one leaves it the time. */
static void give_up(int speaks, const char *why)
{
    if (speaks && all.tell)
        all.tell(why);
    else
        nanosleep(&LEAVE, NULL);
    fit_ranks_abort(fit_status_exit(FIT_ERR_INTERNAL));
}

static void give_up_memory(void)
{
    give_up(1, "out of memory for what the ranks tell each other");
}

static void give_up_unreached(void)
{
    char words[2 * FIT_RANKS_WHERE], own[FIT_RANKS_WHERE];
    snprintf(words, sizeof words, "%s cannot reach the others", fit_ranks_where(all.rank, own));
    give_up(all.rank == 0, words);
}

static void give_up_diverged(size_t r)
{
    char words[3 * FIT_RANKS_WHERE];
    char first[FIT_RANKS_WHERE], other[FIT_RANKS_WHERE];
    snprintf(words, sizeof words, "%s and %s take different steps: please report it", fit_ranks_where(0, first),
             fit_ranks_where(r, other));
    give_up(all.rank == 0, words);
}

/* Room for n numbers; failure ends the run. */
static double *room(double **block, size_t *has, size_t n)
{
    if (n > *has) {
        free(*block);
        *block = malloc(n * sizeof **block);
        *has = n;
    }
    if (!*block)
        give_up_memory();
    return *block;
}

/* What the headers say; total: the length of the meeting. */
static void read_headers(const double *received, size_t total)
{
    int stop = 0;
    for (size_t r = 0; r < all.size; r++) {
        const double *h = received + all.place[r];
        stop |= h[ASKED] > 0;
        if (h[NUMBER] != received[NUMBER] || h[LENGTH] != received[LENGTH])
            give_up_diverged(r);
    }
    if (received[NUMBER] != all.number || received[LENGTH] != (double)total)
        give_up_diverged(all.rank);
    all.first = received[CLOCK];
    all.number++;
    if (stop)
        atomic_store(all.interrupt, 1);
}

static void meet(const double *mine, const size_t *count)
{
    size_t total = 0;
    for (size_t r = 0; r < all.size; r++) {
        all.count[r] = (int)(count[r] + HEADER);
        all.place[r] = (int)total;
        total += count[r] + HEADER;
    }
    double *send = room(&all.send, &all.nsend, count[all.rank] + HEADER);
    double *to = room(&all.receive, &all.nreceive, total);
    send[ASKED] = atomic_load(&asked);
    send[CLOCK] = fit_seconds() - all.origin;
    send[NUMBER] = all.number;
    send[LENGTH] = (double)total;
    if (count[all.rank])
        memcpy(send + HEADER, mine, count[all.rank] * sizeof *mine);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_WAIT);
    if (total > INT_MAX || all.plugin->gather(send, to, all.count, all.place) != 0)
        give_up_unreached();
    fit_clock_enter(was);
    read_headers(to, total);
}

void fit_ranks_gather(const double *mine, const size_t *count, double *to)
{
    if (!fit_ranks_shared())
        return;
    meet(mine, count);
    for (size_t r = 0; r < all.size; to += count[r], r++)
        memcpy(to, all.receive + all.place[r] + HEADER, count[r] * sizeof *to);
}

/* Blocks of n numbers from each. */
static const double *meet_alike(const double *mine, size_t n)
{
    for (size_t r = 0; r < all.size; r++)
        all.one[r] = n;
    meet(mine, all.one);
    return all.receive;
}

void fit_ranks_agree(void)
{
    if (fit_ranks_shared())
        meet_alike(NULL, 0);
}

double fit_ranks_least(double x)
{
    if (!fit_ranks_shared())
        return x;
    const double *got = meet_alike(&x, 1);
    for (size_t r = 0; r < all.size; r++) {
        const double other = got[all.place[r] + HEADER];
        x = other < x ? other : x;
    }
    return x;
}

void fit_ranks_copy(size_t from, void *data, size_t bytes)
{
    if (fit_ranks_shared() && bytes && all.plugin->broadcast(data, bytes, (int)from) != 0)
        give_up_unreached();
}

double fit_ranks_total(double x)
{
    if (!fit_ranks_shared())
        return x;
    const double *got = meet_alike(&x, 1);
    double total = 0;
    for (size_t r = 0; r < all.size; r++)
        total += got[all.place[r] + HEADER];
    return total;
}

void fit_ranks_add(double *x, size_t n)
{
    const size_t most = (size_t)1 << 18; /* of a meeting: bounds the memory */
    for (size_t at = 0; fit_ranks_shared() && at < n; at += most) {
        const size_t here = n - at < most ? n - at : most;
        const double *got = meet_alike(x + at, here);
        for (size_t k = 0; k < here; k++) {
            double sum = 0;
            for (size_t r = 0; r < all.size; r++)
                sum += got[(size_t)all.place[r] + HEADER + k];
            x[at + k] = sum;
        }
    }
}

/* What has happened to rank r alone begins with its name. */
static void name_rank(size_t r, struct fit_error *err)
{
    char where[FIT_RANKS_WHERE], text[sizeof err->message];
    snprintf(text, sizeof text, "%s", err->message);
    snprintf(err->message, sizeof err->message, "%s: %.*s", fit_ranks_where(r, where),
             (int)(sizeof err->message - sizeof where - 3), text);
    err->says += err->says ? (unsigned)strlen(where) + 2 : 0;
}

enum fit_status fit_ranks_agree_status(enum fit_status st, struct fit_error *err)
{
    if (!fit_ranks_shared())
        return st;
    const double mine = st;
    const double *got = meet_alike(&mine, 1);
    size_t first = all.size, failed = 0;
    for (size_t r = all.size; r-- > 0;)
        if (got[all.place[r] + HEADER] > 0) {
            st = (enum fit_status)got[all.place[r] + HEADER];
            first = r;
            failed++;
        }
    if (!failed)
        return FIT_OK;
    struct fit_error none = {.status = FIT_OK};
    err = err ? err : &none; /* all of them send, or receive */
    fit_ranks_copy(first, err, sizeof *err);
    if (failed < all.size)
        name_rank(first, err);
    return st;
}

/* ---- divided loops --------------------------------------------------------------------------------------- */

void fit_ranks_look(void)
{
    if (atomic_load_explicit(&parted, memory_order_relaxed) && atomic_load_explicit(&asked, memory_order_relaxed))
        atomic_store(all.interrupt, 1);
}

int fit_ranks_part(void)
{
    if (!fit_ranks_shared())
        return 0;
    fit_ranks_agree();
    atomic_store(&parted, 1);
    return 1;
}

void fit_ranks_join(int was_parted)
{
    if (!was_parted)
        return;
    atomic_store(&parted, 0);
    fit_ranks_agree();
}

size_t fit_ranks_leader(size_t n, size_t k)
{
    return k * (all.world_size / n);
}

size_t fit_ranks_group(size_t n)
{
    if (!fit_ranks_shared())
        return 0;
    const size_t each = all.size / n, mine = all.rank / each;
    fit_ranks_agree();
    if (all.plugin->group((int)n) != 0)
        give_up_unreached();
    all.world_number = all.number;
    all.number = 0;
    all.size = each;
    all.rank %= each;
    fit_ranks_agree();
    return mine;
}

void fit_ranks_ungroup(void)
{
    if (all.size == all.world_size)
        return;
    if (all.plugin->group(1) != 0)
        give_up_unreached();
    all.number = all.world_number;
    all.size = all.world_size;
    all.rank = all.world_rank;
    fit_ranks_agree();
}

size_t fit_ranks_owner(size_t k)
{
    return k % all.size;
}

struct share {
    fit_turn *turn;
    void *user;
};

static void own_turn(void *user, size_t k, size_t thread)
{
    const struct share *s = user;
    fit_ranks_look();
    s->turn(s->user, all.rank + k * all.size, thread);
}

void fit_ranks_run(struct fit_team team, size_t n, fit_turn *turn, void *user)
{
    const int alone = !fit_ranks_part();
    if (alone) {
        fit_team_run(team, n, turn, user);
        return;
    }
    struct share s = {turn, user};
    fit_team_run(team, (n + all.size - 1 - all.rank) / all.size, own_turn, &s);
    fit_ranks_join(1);
}

void fit_ranks_spread(void *results, size_t n, size_t bytes)
{
    if (!fit_ranks_shared() || !n)
        return;
    const size_t each = (bytes + sizeof(double) - 1) / sizeof(double), most = (n + all.size - 1) / all.size;
    FIT_OWNED double *block = calloc(most * each, sizeof *block);
    if (!block) {
        give_up_memory();
        return;
    }
    char *result = results;
    for (size_t k = all.rank, at = 0; k < n; k += all.size, at += each)
        memcpy(block + at, result + k * bytes, bytes);
    for (size_t r = 0; r < all.size; r++)
        all.one[r] = (n + all.size - 1 - r) / all.size * each;
    meet(block, all.one);
    for (size_t k = 0; k < n; k++)
        memcpy(result + k * bytes, all.receive + all.place[k % all.size] + HEADER + k / all.size * each, bytes);
}

/* ---- identity of the ranks ----------------------------------------------------------------------------------- */

size_t fit_ranks_size(void)
{
    return all.size;
}

size_t fit_ranks_rank(void)
{
    return all.rank;
}

const char *fit_ranks_library(void)
{
    return all.plugin ? all.plugin->name() : "";
}

const char *fit_ranks_host(size_t r)
{
    return all.host ? all.host[all.world_rank - all.rank + r] : "";
}

const char *fit_ranks_where(size_t r, char text[FIT_RANKS_WHERE])
{
    snprintf(text, FIT_RANKS_WHERE, "rank %zu (%s)", all.world_rank - all.rank + r, fit_ranks_host(r));
    return text;
}

void fit_ranks_tell(void (*tell)(const char *why))
{
    all.tell = tell;
}

int fit_ranks_shared(void)
{
    return meets && all.size > 1 && !atomic_load_explicit(&parted, memory_order_relaxed) && !fit_team_inside();
}

int fit_ranks_ask(void)
{
    atomic_store(&asked, 1);
    return all.size > 1;
}

double fit_ranks_seconds(void)
{
    if (all.size < 2)
        return fit_seconds();
    return atomic_load_explicit(&parted, memory_order_relaxed) ? fit_seconds() - all.origin : all.first;
}

/* The names of all hosts. */
static void know_hosts(void)
{
    char own[FIT_RANKS_HOST] = "";
    gethostname(own, sizeof own - 1);
    const double *got = meet_alike((const double *)(const void *)own, sizeof own / sizeof(double));
    for (size_t r = 0; r < all.size; r++)
        memcpy(all.host[r], got + all.place[r] + HEADER, sizeof own);
}

enum fit_status fit_ranks_begin(const struct fit_ranks_plugin *plugin, long expected, atomic_int *interrupt,
                                struct fit_error *err)
{
    int rank = 0, size = 1;
    if (plugin->begin(&rank, &size) != 0)
        return fit_fail(err, FIT_ERR_INTERNAL, "ranks: the library of the launcher could not be started");
    if (size != expected) {
        plugin->end();
        return fit_fail(err, FIT_ERR_USAGE,
                        "ranks: the launcher has started %ld programs, but %s sees %d: it belongs to another MPI."
                        " HOMODYNE_MPI=openmpi, mpich or FILE names that of the launcher, `homodyne mpi --build` makes"
                        " it",
                        expected, plugin->name(), size);
    }
    const size_t n = (size_t)size;
    all.plugin = plugin;
    all.rank = all.world_rank = (size_t)rank;
    all.interrupt = interrupt;
    all.origin = fit_seconds();
    all.count = calloc(n, sizeof *all.count);
    all.place = calloc(n, sizeof *all.place);
    all.one = calloc(n, sizeof *all.one);
    all.host = calloc(n, sizeof *all.host);
    if (!all.count || !all.place || !all.one || !all.host)
        return fit_no_memory(err, "ranks");
    all.size = all.world_size = n;
    meets = 1;
    atomic_store(interrupt, 0); /* an earlier signal is reported at the first meeting */
    know_hosts();
    return FIT_OK;
}

static void release(void)
{
    free(all.count);
    free(all.place);
    free(all.one);
    free(all.host);
    free(all.send);
    free(all.receive);
    all.plugin = NULL;
    all.host = NULL;
    all.size = all.world_size = 1;
    all.rank = all.world_rank = 0;
}

enum fit_ranks_last fit_ranks_end(enum fit_status st)
{
    const struct fit_ranks_plugin *plugin = all.plugin;
    if (!plugin)
        return FIT_RANKS_ALONE;
    if (!plugin->meet(st == FIT_OK ? 0 : PATIENCE))
        return FIT_RANKS_LOST;
    const double mine = st;
    all.number = -1; /* errors may have come from different places */
    const double *got = meet_alike(&mine, 1);
    size_t first = 0;
    while (first < all.size && !(got[all.place[first] + HEADER] > 0))
        first++;
    const int speaks = first < all.size ? first == all.rank : all.rank == 0;
    return speaks ? FIT_RANKS_SPEAKS : FIT_RANKS_SILENT;
}

void fit_ranks_leave(void)
{
    if (!all.plugin)
        return;
    all.plugin->meet(PATIENCE);
    all.plugin->end();
    release();
}

void fit_ranks_abort(int exit_code)
{
    if (!all.plugin)
        return;
    nanosleep(&ON_ITS_WAY, NULL);
    all.plugin->fail(exit_code);
}
