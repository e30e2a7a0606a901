/* divided.c -- shards over the ranks of a run (ranks/ranks.h): a rank sends its result for a shard to all others as
 * one record, so that all combine the same numbers. */
#include "base/arena.h"
#include "consensus/consensus_impl.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

struct head {
    struct fit_shard_report report;
    enum fit_status status;
    unsigned char finished;
    char message[sizeof((struct fit_error *)0)->message];
};

static size_t numbers(const struct fit_consensus_run *c)
{
    const size_t n = c->out->nz;
    return n + n * n + c->opt.keep * n;
}

/* The record of shard k to (out 1) or from `record`. */
static void exchange(struct fit_consensus_run *c, size_t k, char *record, int out)
{
    const size_t n = c->out->nz, keep = c->opt.keep;
    struct head h = {.report = c->out->shard[k], .status = c->status[k], .finished = c->finished[k]};
    double *const part[] = {c->mean + k * n, c->precision + k * n * n, c->kept + k * keep * n};
    const size_t length[] = {n, n * n, keep * n};
    memcpy(h.message, c->error[k].message, sizeof h.message);
    if (out)
        memcpy(record, &h, sizeof h);
    else
        memcpy(&h, record, sizeof h);
    record += sizeof h;
    for (size_t i = 0; i < 3; record += length[i++] * sizeof(double)) {
        if (out)
            memcpy(record, part[i], length[i] * sizeof(double));
        else
            memcpy(part[i], record, length[i] * sizeof(double));
    }
    c->out->shard[k] = h.report;
    c->status[k] = h.status;
    c->finished[k] = h.finished;
    memcpy(c->error[k].message, h.message, sizeof h.message);
}

static void turn(void *user, size_t k, size_t thread)
{
    struct fit_consensus_round *r = user;
    r->shard(r->c, r->first + k, thread);
}

/* Sets the counters to their values for a single process. */
static void count(struct fit_consensus_run *c)
{
    c->ndone = 0;
    for (size_t k = 0; k < c->out->nshard; k++) {
        c->ndone += c->finished[k];
        c->failed |= c->status[k] != FIT_OK;
    }
    c->stop = fit_ranks_least(-c->stop) < 0;
    c->late = fit_ranks_least(-c->late) < 0;
}

enum fit_status fit_consensus_round(struct fit_consensus_round *r, int threads, struct fit_error *err)
{
    struct fit_consensus_run *c = r->c;
    const size_t bytes = sizeof(struct head) + numbers(c) * sizeof(double);
    FIT_OWNED char *record = malloc(r->n * bytes);
    if (!record)
        return fit_no_memory(err, "consensus");
    fit_ranks_run((struct fit_team){threads, FIT_TEAM_NEXT}, r->n, turn, r);
    for (size_t k = 0; k < r->n; k++)
        exchange(c, c->shards->order[r->first + k], record + k * bytes, 1);
    fit_ranks_spread(record, r->n, bytes);
    for (size_t k = 0; k < r->n; k++)
        exchange(c, c->shards->order[r->first + k], record + k * bytes, 0);
    count(c);
    return FIT_OK;
}
