/* mirror.c -- mirror images of draws: parameters that give the same mean, as the compiler proved or found.
 *
 * A mirror is a map of the parameters onto themselves that is its own inverse and preserves volumes, so draws x of a
 * posterior p confined to one image determine the mass of the other: p(image) / p = prior(image) / prior, and
 *
 *     mass of the other / mass of this = mean of prior(image) / prior over the draws.
 *
 * Where the two priors are equal for every draw, and every image is within the bounds, the two halves of the posterior
 * are equal: each draw is moved to the side of the mode (folded), which changes no statement about either image, and
 * chains on different sides agree. Otherwise nothing is changed, and the verdict names the image where it has a share
 * of the mass.
 */
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double EQUAL = 1e-9;  /* of log priors: rounding */
static const double PART = 0.01;   /* of the mass that is worth a word */

struct mirror {
    const struct fit_posterior *p;
    const struct fit_degeneracy *d;
    const struct fit_prior *prior; /* d->nparam */
    size_t side;                   /* index of the parameter that distinguishes the sides */
    double sign;                   /* of parameter - image there, on the side of the mode */
};

static double image_of(const struct mirror *m, const double *theta, size_t i)
{
    const struct fit_image *x = &m->d->image[i];
    return x->shift + x->sign * theta[m->d->param[x->from]];
}

/* Log prior of the image minus that of the draw; -infinity outside the bounds. */
static double change(const struct mirror *m, const double *theta)
{
    double sum = 0;
    for (size_t i = 0; i < m->d->nparam; i++) {
        double image = image_of(m, theta, i);
        const struct fit_prior *prior = &m->prior[i];
        if (image < prior->lower || image > prior->upper)
            return -INFINITY;
        sum += fit_prior_log(prior, image, NULL) - fit_prior_log(prior, theta[m->d->param[i]], NULL);
    }
    return sum;
}

static int on_side(const struct mirror *m, const double *theta)
{
    return (theta[m->d->param[m->side]] - image_of(m, theta, m->side)) * m->sign >= 0;
}

static void fold(const struct mirror *m, double *theta, double *image)
{
    for (size_t i = 0; i < m->d->nparam; i++)
        image[i] = image_of(m, theta, i);
    for (size_t i = 0; i < m->d->nparam; i++)
        theta[m->d->param[i]] = image[i];
}

/* The parameter by which mode and image differ most, in standard deviations of its prior or otherwise relatively. */
static void choose_side(struct mirror *m, const double *mode)
{
    double most = -1;
    for (size_t i = 0; i < m->d->nparam; i++) {
        double apart = mode[m->d->param[i]] - image_of(m, mode, i), scale = fabs(mode[m->d->param[i]]);
        scale = m->prior[i].proper ? fit_prior_quantile(&m->prior[i], 0.84) - fit_prior_quantile(&m->prior[i], 0.16)
                                   : scale;
        if (!(fabs(apart) > most * scale))
            continue;
        most = fabs(apart) / scale;
        m->side = i;
        m->sign = apart < 0 ? -1 : 1;
    }
}

/* Does the mirror leave fixed parameters unchanged, and does each parameter have a prior? */
static int applies(const struct mirror *m, struct fit_prior *prior)
{
    for (size_t i = 0; i < m->d->nparam; i++) {
        size_t k = m->d->param[i];
        const struct fit_posterior_param *x = k < m->p->setup.kernel->nparam ? &m->p->setup.param[k] : NULL;
        if (!x || x->fixed || !fit_prior_init(&prior[i], x->prior, x->a, x->b, x->lower, x->upper))
            return 0;
    }
    return m->d->nparam > 0;
}

/* Fraction of the mass in the other image; folded <- draws that were moved to the side of the mode. */
static double look(const struct mirror *m, struct fit_samples *s, double *work, size_t *folded)
{
    size_t n = s->chains * s->draws, equal = 0, away = 0;
    double ratio = 0;
    *folded = 0;
    for (size_t k = 0; k < n; k++) {
        double *theta = s->x + k * s->ncolumn, c = change(m, theta);
        int here = on_side(m, theta);
        equal += fabs(c) <= EQUAL;
        away += !here;
        ratio += here ? exp(c) : 0;
    }
    if (equal == n) {
        for (size_t k = 0; k < n; k++)
            if (!on_side(m, s->x + k * s->ncolumn)) {
                fold(m, s->x + k * s->ncolumn, work);
                ++*folded;
            }
        return 0.5;
    }
    ratio /= n > away ? (double)(n - away) : 1;
    return ratio / (1 + ratio);
}

/* Chains that are mostly on the other side than the first. */
static size_t apart(const struct mirror *m, const struct fit_samples *s)
{
    size_t count = 0, first = 0;
    for (size_t c = 0; c < s->chains; c++) {
        size_t here = 0;
        for (size_t k = 0; k < s->draws; k++)
            here += on_side(m, s->x + (c * s->draws + k) * s->ncolumn) != 0;
        int mostly = 2 * here > s->draws;
        if (c == 0)
            first = (size_t)mostly;
        count += (size_t)mostly != first;
    }
    return count;
}

static void tell(struct fit_samples *s, const struct mirror *m, double part, size_t folded, size_t chains)
{
    char *text = s->mirror_text;
    size_t at = strlen(text), room = sizeof s->mirror_text - at;
    const char *semicolon = at ? "; " : "";
    if (part == 0.5 && folded)
        snprintf(text + at, room, "%s%s: draws of both images are shown as those of one, %zu were exchanged", semicolon,
                 m->d->text, folded);
    else if (part == 0.5)
        snprintf(text + at, room, "%s%s: the image not shown is as probable", semicolon, m->d->text);
    else if (chains)
        snprintf(text + at, room, "%s%s: %zu of the chains are in the other image, and their priors differ", semicolon,
                 m->d->text, chains);
    else
        snprintf(text + at, room, "%s%s: %.2g %% of the mass is in the image, by its prior", semicolon, m->d->text,
                 100 * part);
    s->mirror_apart |= chains > 0;
    s->mirror_missed |= part != 0.5 && !chains && s->nmode < 2; /* else looked for by itself */
}

enum fit_status fit_samples_mirrors(struct fit_samples *s, const struct fit_posterior *p, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_kernel *k = p->setup.kernel;
    double *mode = fit_take(&a, 2 * k->nparam, sizeof *mode);
    struct fit_prior *prior = fit_take(&a, k->nparam, sizeof *prior);
    enum fit_status st = !a.failed ? FIT_OK : fit_no_memory(err, "posterior");
    for (size_t i = 0; st == FIT_OK && i < k->ndegeneracy; i++) {
        struct mirror m = {.p = p, .d = &k->degeneracy[i], .prior = prior};
        size_t folded;
        if (!m.d->image || m.d->nparam > k->nparam || !applies(&m, prior) || !fit_posterior_theta(p, s->mode, mode))
            continue;
        choose_side(&m, mode);
        double part = look(&m, s, mode + k->nparam, &folded);
        size_t chains = part == 0.5 || s->modes_apart ? 0 : apart(&m, s);
        s->folded += folded;
        if (part > PART)
            tell(s, &m, part, folded, chains);
    }
    return st;
}
