/* crew.c -- see crew.h. */
#include "leastsquares/crew.h"

#include <pthread.h>
#include <string.h>

#include "data/share.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "math/linalg.h"

enum {
    MOST_MEMBERS = 16,
    FEW = 2000,      /* number of values below which all passes together take less time than starting threads */
    MANY = 1 << 21   /* number of values from which passes are long enough for all threads */
};

static size_t members(const struct fit_ls *f)
{
    const int threads = f->setup.threads > 0 ? f->setup.threads : fit_topology_threads();
    if (threads < 2 || f->ds->npoint < FEW || f->ds->npoint > MANY || fit_dataset_streamed(f->ds) ||
        fit_dataset_divided(f->ds))
        return 1;
    return threads < MOST_MEMBERS ? (size_t)threads : MOST_MEMBERS;
}

/* Member m, whose private data come from the crew's storage. */
static enum fit_status begin(struct fit_crew *crew, size_t m)
{
    struct fit_ls *f = crew->f, *own = &crew->member[m];
    struct fit_arena *a = &crew->storage;
    struct fit_options *opt = fit_take_copy(a, f->opt, 1, sizeof *opt);
    const size_t n = f->p;
    *own = *f;
    own->nlsq = NULL;
    own->obj = NULL;
    own->err = fit_take(a, 1, sizeof *own->err);
    FIT_TAKE_DOUBLES(a, n, &own->theta, &own->better, &own->before);
    own->second = fit_take(a, n * n, sizeof *own->second);
    own->axis = fit_take(a, 4 * n + fit_boxqp_work(n), sizeof *own->axis);
    own->axis_state = fit_take(a, n, sizeof *own->axis_state);
    if (a->failed)
        return fit_no_memory(f->err, "fit");
    if (m > 0)
        opt->progress = NULL; /* the line is that of one thread */
    own->opt = opt;
    if (crew->n == 1) {
        own->obj = f->obj;
        own->nlsq = f->nlsq;
        return FIT_OK;
    }
    own->nlsq = fit_nlsq_new(n);
    return own->nlsq ? fit_objective_twin(f->obj, 1, &own->obj, f->err) : fit_no_memory(f->err, "fit");
}

enum fit_status fit_crew_new(struct fit_ls *f, struct fit_crew *crew)
{
    *crew = (struct fit_crew){.f = f, .n = members(f)};
    crew->member = fit_take(&crew->storage, crew->n, sizeof *crew->member);
    enum fit_status st = crew->member ? FIT_OK : fit_no_memory(f->err, "fit");
    for (size_t m = 0; m < crew->n && st == FIT_OK; m++)
        st = begin(crew, m);
    return st;
}

void fit_crew_free(struct fit_crew *crew)
{
    struct fit_ls *f = crew->f;
    for (size_t m = 0; crew->member && m < crew->n; m++) {
        struct fit_ls *own = &crew->member[m];
        if (own->obj == f->obj)
            continue;
        f->obj->nvalue += own->obj ? own->obj->nvalue : 0;
        f->obj->nnormal += own->obj ? own->obj->nnormal : 0;
        fit_objective_free(own->obj);
        fit_nlsq_free(own->nlsq);
    }
    fit_arena_free(&crew->storage);
    *crew = (struct fit_crew){0};
}

struct pieces {
    struct fit_crew *crew;
    fit_crew_work *work;
    void *user;
    struct piece {
        enum fit_status status;
        struct fit_error error;
        int over, done;
    } *piece;
    /* Of a chain: */
    fit_crew_merge *merge; /* or NULL */
    size_t n, merged;      /* pieces; those before this one are merged */
    pthread_mutex_t lock;
    pthread_cond_t more;
};

/* Waits for the pieces from which piece k may learn. They started earlier, on other threads, or are done. */
static void wait_for(struct pieces *all, size_t k)
{
    pthread_mutex_lock(&all->lock);
    while (all->merged + FIT_CREW_LAG <= k)
        pthread_cond_wait(&all->more, &all->lock);
    pthread_mutex_unlock(&all->lock);
}

static void merge_done(struct pieces *all, size_t k)
{
    pthread_mutex_lock(&all->lock);
    all->piece[k].done = 1;
    for (; all->merged < all->n && all->piece[all->merged].done; all->merged++)
        all->merge(all->user, all->merged);
    pthread_cond_broadcast(&all->more);
    pthread_mutex_unlock(&all->lock);
}

static void one(void *user, size_t k, size_t thread)
{
    struct pieces *all = user;
    struct piece *piece = &all->piece[k];
    struct fit_ls *own = &all->crew->member[thread];
    own->found_lower = own->over = 0;
    own->curvature = all->crew->f->curvature;
    if (all->merge)
        wait_for(all, k);
    piece->status = all->work(all->user, own, thread, k);
    piece->over = own->over;
    if (piece->status != FIT_OK)
        piece->error = *own->err;
    if (all->merge)
        merge_done(all, k);
}

enum fit_status fit_crew_chain(struct fit_crew *crew, size_t n, fit_crew_work *work, fit_crew_merge *merge, void *user)
{
    FIT_SCRATCH(a);
    struct pieces all = {.crew = crew, .work = work, .user = user, .merge = merge, .n = n};
    struct fit_ls *f = crew->f;
    all.piece = fit_take_unset(&a, n, sizeof *all.piece); /* messages are long */
    if (a.failed)
        return fit_no_memory(f->err, "fit");
    for (size_t k = 0; k < n; k++)
        all.piece[k].over = all.piece[k].done = 0;
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.more, NULL);
    fit_team_run((struct fit_team){(int)crew->n, FIT_TEAM_NEXT}, n, one, &all);
    pthread_cond_destroy(&all.more);
    pthread_mutex_destroy(&all.lock);
    for (size_t k = 0; k < n; k++) {
        f->over |= all.piece[k].over;
        if (all.piece[k].status != FIT_OK) {
            if (f->err)
                *f->err = all.piece[k].error;
            return all.piece[k].status;
        }
    }
    return FIT_OK;
}

enum fit_status fit_crew_run(struct fit_crew *crew, size_t n, fit_crew_work *work, void *user)
{
    return fit_crew_chain(crew, n, work, NULL, user);
}
