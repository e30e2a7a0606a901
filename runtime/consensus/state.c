/* state.c -- the results of finished shards, as bytes for a checkpoint.
 *
 * Doubles in machine order, as everything in a checkpoint (checkpoint.h): shards, numbers of z, kept draws; then for
 * each shard 1 or 0, and for finished ones its report, mean, precision and kept draws.
 */
#include "consensus/consensus_impl.h"

#include <math.h>
#include <string.h>

enum { HEAD = 3, REPORT = 7 };

static size_t shard_doubles(const struct fit_consensus_run *c)
{
    size_t n = c->out->nz;
    return 1 + REPORT + n + n * n + c->opt.keep * n;
}

size_t fit_consensus_state_size(const struct fit_consensus_run *c)
{
    return (HEAD + c->out->nshard * shard_doubles(c)) * sizeof(double);
}

static unsigned char *put(unsigned char *to, const double *from, size_t n)
{
    memcpy(to, from, n * sizeof *from);
    return to + n * sizeof *from;
}

static const unsigned char *get(const unsigned char *from, double *to, size_t n)
{
    memcpy(to, from, n * sizeof *to);
    return from + n * sizeof *to;
}

void fit_consensus_state_save(struct fit_consensus_run *c, unsigned char *state)
{
    size_t n = c->out->nz, m = c->opt.keep * n;
    unsigned char *at = state;
    memset(state, 0, fit_consensus_state_size(c));
    at = put(at, (const double[HEAD]){(double)c->out->nshard, (double)n, (double)c->opt.keep}, HEAD);
    for (size_t k = 0; k < c->out->nshard; k++, at += shard_doubles(c) * sizeof(double)) {
        const struct fit_shard_report *r = &c->out->shard[k];
        if (!c->finished[k])
            continue;
        unsigned char *to = put(at, (const double[1 + REPORT]){1, (double)r->npoint, r->r_hat, r->ess, r->divergences,
                                                        r->gradients, r->passes, r->retries}, 1 + REPORT);
        to = put(to, c->mean + k * n, n);
        to = put(to, c->precision + k * n * n, n * n);
        put(to, c->kept + k * m, m);
    }
}

enum fit_status fit_consensus_state_load(struct fit_consensus_run *c, const unsigned char *state, size_t size,
                                         struct fit_error *err)
{
    size_t n = c->out->nz, m = c->opt.keep * n;
    double head[HEAD] = {0};
    if (size >= sizeof head)
        memcpy(head, state, sizeof head);
    if (size != fit_consensus_state_size(c) || (size_t)head[0] != c->out->nshard || (size_t)head[1] != n ||
        (size_t)head[2] != c->opt.keep)
        return fit_fail(err, FIT_ERR_DATA, "consensus: the checkpoint is of %.0f shards with %.0f numbers, not of %zu"
                                           " with %zu", head[0], head[1], c->out->nshard, n);
    const unsigned char *at = state + sizeof head;
    for (size_t k = 0; k < c->out->nshard; k++, at += shard_doubles(c) * sizeof(double)) {
        double r[1 + REPORT];
        const unsigned char *from = get(at, r, 1 + REPORT);
        if (!(r[0] > 0))
            continue;
        c->out->shard[k] = (struct fit_shard_report){.npoint = (size_t)r[1], .r_hat = r[2], .ess = r[3],
                                                     .divergences = r[4], .gradients = r[5], .passes = r[6],
                                                     .retries = (unsigned)r[7], .distance = NAN, .p = NAN};
        from = get(from, c->mean + k * n, n);
        from = get(from, c->precision + k * n * n, n * n);
        get(from, c->kept + k * m, m);
        c->finished[k] = 1;
        c->ndone++;
    }
    return FIT_OK;
}
