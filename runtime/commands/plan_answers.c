/* plan_answers.c -- answers of `plan` for speckle noise: the best division of the same photons into frames, and the
 * number of frames or speckles that makes an error as small as requested.
 *
 * Photons of a pixel, the dose, are the same in all divisions: twice the frames have twice the shot noise each, in
 * half the period, or in the same period when the shutter stays closed between them. Errors of a parameter are the
 * smaller ones of least squares and of efficient estimates. They scale as 1/sqrt(M) with the number of speckles; for
 * the number of frames, the program computes them at twice, four times, .. as many, and interpolates by a power law. */
#include "base/json.h"
#include "commands/program.h"
#include "setup/planning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TIMES = 64, MOST_FRAMES = 16384, FEWEST_FRAMES = 12 };

/* ---- photons ------------------------------------------------------------------------------------- */

enum fit_status fit_plan_know_photons(struct planning *x, const struct fit_cli *cli, struct fit_error *err)
{
    const int flux = !isnan(cli->flux), exposure = !isnan(cli->exposure);
    x->shot = x->cfg->robust.shot.value;
    if (exposure && !flux)
        return fit_fail(err, FIT_ERR_USAGE, "plan: --exposure %g has no effect without --flux", cli->exposure);
    if (!flux)
        return FIT_OK;
    if (x->shot > 0)
        return fit_fail(err, FIT_ERR_USAGE, "plan: --flux and --shot say the same; give one");
    if (!(cli->flux > 0) || isinf(cli->flux))
        return fit_fail(err, FIT_ERR_USAGE, "plan: --flux %g: give photons per pixel and second, above 0", cli->flux);
    if (!(x->cfg->robust.count.value > 0))
        return fit_fail(err, FIT_ERR_USAGE, "plan: the number of speckles is missing; give --speckles with --flux");
    if (exposure && !(cli->exposure > 0 && cli->exposure <= x->dt))
        return fit_fail(err, FIT_ERR_USAGE,
                        "plan: --exposure %g s: give a time above 0, no longer than the frame period of %g s",
                        cli->exposure, x->dt);
    x->flux = cli->flux;
    x->exposure = exposure ? cli->exposure : x->dt;
    x->shot = 1 / (x->flux * x->exposure);
    return FIT_OK;
}

static double best_error(const struct fit_plan *p, size_t j)
{
    return p->efficient ? fmin(p->efficient[j], p->plain[j]) : NAN;
}

static int is_estimated(const struct planning *x, size_t j)
{
    return best_error(&x->d[0].plan, j) > 0;
}

/* ---- splits -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double frames, period;
} SPLIT[SPLITS] = {{"frames / 4", 0.25, 4}, {"frames / 2", 0.5, 2}, {"as planned", 1, 1},       {"frames x 2", 2, 0.5},
                   {"frames x 4", 4, 0.25}, {"closed 1/2", 1, 2},   {"closed 3/4", 1, 4}};

static enum fit_status run_split(struct planning *x, int k, struct fit_error *err)
{
    struct planned *p = &x->split[k];
    struct fit_error why = {.status = FIT_OK};
    const double frames = round((double)x->frames * SPLIT[k].frames);
    *p = (struct planned){.name = SPLIT[k].name, .design = {.frames = (size_t)frames, .dt = x->dt * SPLIT[k].period}};
    x->nsplit = (size_t)k + 1;
    enum fit_status st = fit_plan_set_groups(x, p, 0, err);
    if (st != FIT_OK || frames < FEWEST_FRAMES)
        return st;
    p->design.shot = x->shot * frames / (double)x->frames;
    p->done = fit_plan_run(x->cfg, x->model, &p->design, &p->plan, &why) == FIT_OK && p->plan.efficient;
    return FIT_OK;
}

/* ---- goals --------------------------------------------------------------------------------------- */

/* Index of the nonlinear parameter with this name; their number: none. */
static size_t find_param(const struct fit_plan *p, const char *name, size_t n)
{
    size_t k = 0;
    while (k < p->fit.nparam &&
           (strlen(p->kernel->param[k].name) != n || strncmp(p->kernel->param[k].name, name, n) != 0))
        k++;
    return k;
}

/* "NAME=ERROR,.." */
static enum fit_status read_goals(struct planning *x, const char *text, struct fit_error *err)
{
    const struct fit_plan *p = &x->d[0].plan;
    while (text && *text) {
        const size_t n = strcspn(text, ",");
        const char *equal = memchr(text, '=', n);
        struct plan_goal *g = &x->goal[x->ngoal];
        char *end = NULL;
        if (x->ngoal == GOALS)
            return fit_fail(err, FIT_ERR_USAGE, "plan: --want takes %d parameters at most", GOALS);
        *g = (struct plan_goal){.wanted = equal ? strtod(equal + 1, &end) : NAN, .frames = NAN};
        if (!equal || end != text + n || !(g->wanted > 0) || isinf(g->wanted))
            return fit_fail(err, FIT_ERR_USAGE, "plan: --want %.*s: give NAME=ERROR,.. with errors above 0", (int)n,
                            text);
        g->param = find_param(p, text, (size_t)(equal - text));
        if (g->param == p->fit.nparam || !is_estimated(x, g->param))
            return fit_fail(err, FIT_ERR_USAGE, "plan: --want %.*s: %s of the model has this name", (int)n, text,
                            g->param == p->fit.nparam ? "no parameter" : "no parameter that is estimated");
        x->ngoal++;
        text += n + (text[n] == ',');
    }
    return FIT_OK;
}

/* Errors of all requested parameters with so many frames; NaN: there are none. */
static enum fit_status errors_with(struct planning *x, size_t frames, double *error, struct fit_error *err)
{
    struct planned p = {.design = {.frames = frames, .dt = x->dt}};
    struct fit_error why = {.status = FIT_OK};
    enum fit_status st = fit_plan_set_groups(x, &p, 0, err);
    const int done = st == FIT_OK && fit_plan_run(x->cfg, x->model, &p.design, &p.plan, &why) == FIT_OK;
    for (size_t k = 0; k < x->ngoal; k++)
        error[k] = done && p.plan.efficient ? best_error(&p.plan, x->goal[k].param) : NAN;
    fit_plan_free(&p.plan);
    free(p.place);
    return st;
}

/* Interpolates between the last two numbers of frames by a power law. */
static void meet(struct plan_goal *g, double before, double after, double error_before, double error_after)
{
    const double part = log(error_before / g->wanted) / log(error_before / error_after);
    g->frames = ceil(before * pow(after / before, part));
}

/* Doubles the frames repeatedly, or halves them where fewer are sufficient. */
static enum fit_status find_frames(struct planning *x, int fewer, struct fit_error *err)
{
    double before[GOALS], now[GOALS], frames = (double)x->frames;
    const double step = fewer ? 0.5 : 2;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < x->ngoal; k++)
        before[k] = x->goal[k].planned;
    for (int open = 1; open && st == FIT_OK;) {
        const double next = floor(frames * step);
        open = 0;
        if (next > (double)x->frames * MOST_TIMES || next > MOST_FRAMES || next < FEWEST_FRAMES)
            return FIT_OK;
        if ((st = errors_with(x, (size_t)next, now, err)) != FIT_OK)
            return st;
        for (size_t k = 0; k < x->ngoal; k++) {
            struct plan_goal *g = &x->goal[k];
            if ((g->planned <= g->wanted) != fewer || !isnan(g->frames) || isnan(now[k]))
                continue;
            if ((now[k] <= g->wanted) != fewer)
                meet(g, frames, next, before[k], now[k]);
            g->reached = now[k];
            g->most = (size_t)next;
            before[k] = now[k];
            open |= isnan(g->frames);
        }
        frames = next;
    }
    return st;
}

static enum fit_status find_goals(struct planning *x, struct fit_error *err)
{
    int some[2] = {0, 0};
    for (size_t k = 0; k < x->ngoal; k++) {
        struct plan_goal *g = &x->goal[k];
        g->planned = g->reached = best_error(&x->d[0].plan, g->param);
        g->most = x->frames;
        g->speckles = ceil(x->d[0].design.count * pow(g->planned / g->wanted, 2));
        some[g->planned <= g->wanted] = 1;
    }
    enum fit_status st = some[0] ? find_frames(x, 0, err) : FIT_OK;
    return st == FIT_OK && some[1] ? find_frames(x, 1, err) : st;
}

enum fit_status fit_plan_answer(struct planning *x, const struct fit_cli *cli, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (!x->d[0].plan.efficient)
        return cli->want ? fit_fail(err, FIT_ERR_USAGE, "plan: --want is answered under the noise of speckles; give "
                                                        "--speckles, and --shot or --flux%s%s",
                                    *x->d[0].plan.why ? "; " : "", x->d[0].plan.why)
                         : FIT_OK;
    if ((st = read_goals(x, cli->want, err)) != FIT_OK)
        return st;
    for (int k = 0; k < SPLITS && st == FIT_OK; k++)
        st = run_split(x, k, err);
    return st == FIT_OK ? find_goals(x, err) : st;
}

void fit_plan_free_answers(struct planning *x)
{
    for (size_t k = 0; k < x->nsplit; k++) {
        fit_plan_free(&x->split[k].plan);
        free(x->split[k].place);
    }
}

/* ---- as text ------------------------------------------------------------------------------------- */

static void print_splits(const struct planning *x, FILE *f)
{
    const struct fit_plan *p = &x->d[0].plan;
    fprintf(f, "the same photons per pixel (%.3g) in other frames, the smaller error of both:\n  %-12s%8s%10s%8s",
            (double)x->frames / x->shot, "", "frames", "period", "shot");
    for (size_t j = 0; j < p->fit.nparam; j++)
        if (is_estimated(x, j))
            fprintf(f, " %*s", (int)(strlen(p->kernel->param[j].name) > 8 ? strlen(p->kernel->param[j].name) : 8),
                    p->kernel->param[j].name);
    fprintf(f, "\n");
    for (size_t k = 0; k < x->nsplit; k++) {
        const struct planned *s = &x->split[k];
        if (!s->done)
            continue;
        fprintf(f, "  %-12s%8zu%10.4g%8.3g", s->name, s->design.frames, s->design.dt, s->design.shot);
        for (size_t j = 0; j < p->fit.nparam; j++)
            if (is_estimated(x, j))
                fprintf(f, " %*.2g", (int)(strlen(p->kernel->param[j].name) > 8 ? strlen(p->kernel->param[j].name) : 8),
                        best_error(&s->plan, j));
        fprintf(f, "\n");
    }
}

static void print_goal(const struct planning *x, const struct plan_goal *g, FILE *f)
{
    const char *name = x->d[0].plan.kernel->param[g->param].name;
    if (!isnan(g->frames))
        fprintf(f, "%s +- %.3g: about %.0f frames, %.3g s (%.3g photons per pixel)", name, g->wanted, g->frames,
                g->frames * x->dt, g->frames / x->shot);
    else if (g->planned <= g->wanted)
        fprintf(f, "%s +- %.3g: %zu frames do as well (%.2g)", name, g->wanted, g->most, g->reached);
    else
        fprintf(f, "%s +- %.3g: not with %zu frames (%.2g)", name, g->wanted, g->most, g->reached);
    fprintf(f, "; with the frames as planned %.3g speckles\n", g->speckles);
}

void fit_plan_print_answers(const struct planning *x, FILE *f)
{
    if (x->nsplit)
        print_splits(x, f);
    for (size_t k = 0; k < x->ngoal; k++)
        print_goal(x, &x->goal[k], f);
}

/* ---- as JSON ------------------------------------------------------------------------------------- */

static void put_split(struct fit_json *j, const struct planning *x, const struct planned *s)
{
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "name", s->name);
    fit_json_integer(j, "frames", (int64_t)s->design.frames);
    fit_json_number(j, "dt", s->design.dt);
    fit_json_number(j, "shot", s->design.shot);
    for (int kind = LEAST_SQUARES; kind <= EFFICIENT; kind++) {
        fit_json_begin(j, kind == EFFICIENT ? "std_efficient" : "std_speckle", '{');
        for (size_t e = 0; e < x->d[0].plan.fit.nparam; e++)
            if (is_estimated(x, e))
                fit_json_number(j, x->d[0].plan.kernel->param[e].name, fit_plan_errors(&s->plan, kind)[e]);
        fit_json_end(j);
    }
    fit_json_end(j);
}

void fit_plan_put_answers(struct fit_json *j, const struct planning *x)
{
    if (!x->nsplit)
        return;
    fit_json_number(j, "shot", x->shot);
    fit_json_begin(j, "splits", '[');
    for (size_t k = 0; k < x->nsplit; k++)
        if (x->split[k].done)
            put_split(j, x, &x->split[k]);
    fit_json_end(j);
    fit_json_begin(j, "wanted", '[');
    for (size_t k = 0; k < x->ngoal; k++) {
        const struct plan_goal *g = &x->goal[k];
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "parameter", x->d[0].plan.kernel->param[g->param].name);
        fit_json_number(j, "std", g->wanted);
        fit_json_number(j, "std_planned", g->planned);
        fit_json_number(j, "frames", g->frames);
        fit_json_integer(j, "frames_looked_at", (int64_t)g->most);
        fit_json_number(j, "std_there", g->reached);
        fit_json_number(j, "speckles", g->speckles);
        fit_json_end(j);
    }
    fit_json_end(j);
}
