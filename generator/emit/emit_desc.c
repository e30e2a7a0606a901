/* emit_desc.c -- the description of a model as C tables. */
#include "emit/emit_desc.h"

#include <math.h>
#include <string.h>

#include "emit/code.h"
#include "model/rates.h"

/* A text as a C string.  Lines of the text become lines of the source; ? is escaped, since
 * ??= and its like are trigraphs. */
void hg_desc_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; s && *s; s++) {
        if (*s == '\n' && s[1])
            fputs("\\n\"\n        \"", out);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (*s == '"' || *s == '\\' || *s == '?')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            fprintf(out, "\\%03o", (unsigned)(unsigned char)*s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

static const char *number(const struct hg_model *m, double x)
{
    if (isnan(x))
        return "NAN";
    if (isinf(x))
        return x > 0 ? "HUGE_VAL" : "-HUGE_VAL";
    return hg_number(m->expr->arena, x);
}

/* The names of kernel.h. */
static const char *const prior_name[] = {
#define PRIOR(KIND, ...) "FIT_PRIOR_" #KIND,
    FIT_PRIORS(PRIOR)
};
static const char *const law_name[] = {
#define LAW(KIND, word, words) [FIT_LAW_##KIND] = "FIT_LAW_" #KIND,
#include "common/laws.def"
};
static const char *const support_name[] = {
#define SUPPORT(KIND, word) [FIT_SUPPORT_##KIND] = "FIT_SUPPORT_" #KIND,
#include "common/laws.def"
};

/* An array of the texts; continues its line. */
static void texts(FILE *out, const char *const *text)
{
    fputs("[] = {", out);
    for (; *text; text++) {
        hg_desc_string(out, *text);
        fputs(", ", out);
    }
    fputs("NULL};\n", out);
}

static void aliases(FILE *out, const char *prefix, const struct hg_list *list)
{
    for (uint32_t k = 0; k < list->n; k++)
        if (list->item[k].alias) {
            fprintf(out, "static const char *const desc_%s_alias_%u", prefix, (unsigned)k);
            texts(out, list->item[k].alias);
        }
}

static void params(const struct hg_model *m, FILE *out, const char *name,
                   const struct hg_list *list)
{
    if (list->n == 0)
        return;
    aliases(out, name, list);
    fprintf(out, "static const struct fit_param desc_%s[] = {\n", name);
    for (uint32_t k = 0; k < list->n; k++) {
        const struct hg_symbol_decl *s = &list->item[k];
        fputs("    {.name = ", out);
        hg_desc_string(out, s->name);
        fputs(", .unit = ", out);
        hg_desc_string(out, s->unit);
        fputs(", .doc = ", out);
        hg_desc_string(out, s->doc);
        if (s->alias)
            fprintf(out, ",\n     .alias = desc_%s_alias_%u", name, (unsigned)k);
        fprintf(out, ",\n     .start = %s, ", number(m, s->start));
        fprintf(out, ".lower = %s, ", number(m, s->lower));
        fprintf(out, ".upper = %s, ", number(m, s->upper));
        fprintf(out, ".over = %d,\n     .prior = %s, ", s->over, prior_name[s->prior]);
        fprintf(out, ".prior_a = %s, ", number(m, s->prior_a));
        fprintf(out, ".prior_b = %s},\n", number(m, s->prior_b));
    }
    fputs("};\n\n", out);
}

/* Settings, axes, columns, curves and derived quantities: name, unit, doc and perhaps more. */
static void named(const struct hg_model *m, FILE *out, const char *type, const char *name,
                  const struct hg_list *list)
{
    static const char *const role[] = {
        [FIT_ROLE_COVARIATE] = "FIT_ROLE_COVARIATE", [FIT_ROLE_VALUE] = "FIT_ROLE_VALUE",
        [FIT_ROLE_SIGMA] = "FIT_ROLE_SIGMA"};
    static const char *const statistic[] = {"FIT_STATISTIC_NONE", "FIT_STATISTIC_MEAN", "FIT_STATISTIC_SD"};
    if (list->n == 0)
        return;
    fprintf(out, "static const struct %s desc_%s[] = {\n", type, name);
    for (uint32_t k = 0; k < list->n; k++) {
        const struct hg_symbol_decl *s = &list->item[k];
        fputs("    {", out);
        hg_desc_string(out, s->name);
        fputs(", ", out);
        hg_desc_string(out, s->unit);
        fputs(", ", out);
        hg_desc_string(out, s->doc);
        if (list == &m->setting)
            fprintf(out, ", %s, %s, %u", number(m, s->statistic ? NAN : s->start), statistic[s->statistic],
                    (unsigned)s->of);
        if (list == &m->derived)
            fprintf(out, ", %d, desc_derived_uses_%u", hg_model_derived_each(m, s), (unsigned)k);
        if (list == &m->column)
            fprintf(out, ", %s, %s", role[s->role], number(m, s->lower < s->upper ? s->lower : 0));
        if (list == &m->column)
            fprintf(out, ", %s", number(m, s->lower < s->upper ? s->upper : 0));
        fputs("},\n", out);
    }
    fputs("};\n\n", out);
}

static int has_empty(const struct hg_model *m)
{
    for (uint32_t k = 0; k < m->column.n; k++)
        if (m->column.item[k].has_empty)
            return 1;
    return 0;
}

/* The values for empty cells of columns. */
static void empty_cells(const struct hg_model *m, FILE *out)
{
    if (!has_empty(m))
        return;
    fputs("static const double desc_empty[] = {", out);
    for (uint32_t k = 0; k < m->column.n; k++)
        fprintf(out, "%s%s", k ? ", " : "", number(m, m->column.item[k].has_empty ? m->column.item[k].empty : NAN));
    fputs("};\n\n", out);
}

/* For every derived quantity, the parameters that it contains. */
static void uses(const struct hg_model *m, FILE *out)
{
    for (uint32_t k = 0; k < m->derived.n; k++) {
        const struct hg_list *list[] = {&m->param, &m->linear};
        fprintf(out, "static const unsigned char desc_derived_uses_%u[] = {", (unsigned)k);
        for (uint32_t i = 0; i < 2; i++)
            for (uint32_t p = 0; p < list[i]->n; p++)
                fprintf(out, "%d, ", hg_contains(m->expr, m->derived.item[k].node, list[i]->item[p].node));
        fputs("};\n", out);
    }
}

static void screen(const struct hg_model *m, FILE *out)
{
    if (m->nscreen == 0 || m->param.n == 0)
        return;
    fprintf(out, "/* parameter sets%s */\nstatic const double desc_screen[] = {\n",
            m->has_random ? ", drawn by the model's random()" : " within the bounds: the model has no random()");
    for (uint32_t row = 0; row < m->nscreen; row++) {
        fputs("   ", out);
        for (uint32_t k = 0; k < m->param.n; k++)
            fprintf(out, " %s,", number(m, m->screen[row * m->param.n + k]));
        fputc('\n', out);
    }
    fputs("};\n\n", out);
}

static void image(const struct hg_degeneracy *d, uint32_t k, FILE *out)
{
    fprintf(out, "static const struct fit_image desc_image_%u[] = {", (unsigned)k);
    for (uint32_t i = 0; i < d->n; i++)
        fprintf(out, "%s{%u, %.17g, %.17g}", i ? ", " : "", (unsigned)d->image[i].from, d->image[i].shift,
                d->image[i].sign);
    fputs("};\n", out);
}

static uint32_t degeneracies(const struct hg_degeneracies *all, FILE *out)
{
    static const char *const kind[] = {[FIT_DEGENERATE_EVERYWHERE] = "FIT_DEGENERATE_EVERYWHERE",
                                       [FIT_DEGENERATE_AT_VALUE] = "FIT_DEGENERATE_AT_VALUE",
                                       [FIT_DEGENERATE_ONE_GROUP] = "FIT_DEGENERATE_ONE_GROUP",
                                       [FIT_DEGENERATE_MIRROR] = "FIT_DEGENERATE_MIRROR",
                                       [FIT_DEGENERATE_MIRROR_ANGLE] = "FIT_DEGENERATE_MIRROR_ANGLE"};
    if (all->n == 0)
        return 0;
    fputs("/* what data cannot tell apart */\n", out);
    for (uint32_t k = 0; k < all->n; k++) {
        const struct hg_degeneracy *d = &all->item[k];
        fprintf(out, "static const unsigned desc_degenerate_%u[] = {", (unsigned)k);
        for (uint32_t i = 0; i < d->n; i++)
            fprintf(out, "%s%u", i ? ", " : "", (unsigned)d->param[i]);
        fputs("};\n", out);
        if (d->image)
            image(d, k, out);
    }
    fputs("static const struct fit_degeneracy desc_degeneracy[] = {\n", out);
    for (uint32_t k = 0; k < all->n; k++) {
        const struct hg_degeneracy *d = &all->item[k];
        fprintf(out, "    {.kind = %s, .nparam = %u, .param = desc_degenerate_%u,", kind[d->kind], (unsigned)d->n,
                (unsigned)k);
        if (d->image)
            fprintf(out, " .image = desc_image_%u,", (unsigned)k);
        fprintf(out, "\n     .condition = %d, .value = %.17g, .first = %u, .ncombination = %u, .each = %d,\n"
                     "     .held = %d, .proved = %d, .text = ",
                d->condition, d->value, (unsigned)d->first,
                (unsigned)d->ncombination, d->each, d->held, d->proved);
        hg_desc_string(out, d->text);
        fputs("},\n", out);
    }
    fputs("};\n\n", out);
    return all->n;
}

static void combinations(const struct hg_degeneracies *all, FILE *out)
{
    if (all->ncombination == 0)
        return;
    fputs("static const struct fit_combination desc_combination[] = {\n", out);
    for (uint32_t k = 0; k < all->ncombination; k++) {
        fputs("    {", out);
        hg_desc_string(out, all->combination[k].text);
        fputs(", ", out);
        hg_desc_string(out, all->combination[k].unit);
        fputs("},\n", out);
    }
    fputs("};\n\n", out);
}

static void rates(const struct hg_model *m, FILE *out)
{
    if (m->nrate == 0)
        return;
    fputs("/* amplitude (t / time)^exponent + offset, or with exp(exponent (t / time - shift)) */\n"
          "static const struct fit_rate desc_rate[] = {\n", out);
    for (uint32_t k = 0; k < m->nrate; k++) {
        const struct hg_rate *r = &m->rate[k];
        const struct hg_symbol_decl *x = m->param.item;
        fprintf(out, "    {%s, %u, %u, %u, %d, %s}, /* %s, %s, %s%s%s */\n",
                r->kind == FIT_RATE_POWER ? "FIT_RATE_POWER" : "FIT_RATE_EXPONENTIAL", (unsigned)r->amplitude,
                (unsigned)r->exponent, (unsigned)r->offset, r->shift, number(m, r->time), x[r->amplitude].name,
                x[r->exponent].name, x[r->offset].name, r->shift < 0 ? "" : ", ", r->shift < 0 ? "" : x[r->shift].name);
    }
    fputs("};\n\n", out);
}

static int has_levels(const struct hg_model *m)
{
    int any = 0;
    for (uint32_t k = 0; k < m->param.n; k++)
        any |= m->param.item[k].hyper;
    return any;
}

static void levels(const struct hg_model *m, FILE *out)
{
    if (!has_levels(m))
        return;
    fputs("static const struct fit_level desc_level[] = {\n", out);
    for (uint32_t k = 0; k < m->param.n; k++) {
        const struct hg_symbol_decl *s = &m->param.item[k];
        fprintf(out, "    {{%u, %u}, %d}, /* %s */\n", (unsigned)s->prior_from[0], (unsigned)s->prior_from[1],
                s->hyper && !hg_model_uses(m, s->node), s->name);
    }
    fputs("};\n\n", out);
}

static void density(const struct hg_density *d, FILE *out)
{
    if (!d)
        return;
    if (d->narg)
        fputs("static const char *const desc_argument[] = {", out);
    for (uint32_t k = 0; k < d->narg; k++) {
        fputs(k ? ", " : "", out);
        hg_desc_string(out, d->arg_name[k]);
    }
    fputs(d->narg ? "};\n" : "", out);
    fprintf(out, "static const struct fit_density desc_density = {\n    .law = %s, .support = %s, .name = ",
            law_name[d->law], support_name[d->support]);
    hg_desc_string(out, d->name);
    if (d->narg)
        fprintf(out, ",\n    .nargument = %u, .argument = desc_argument", (unsigned)d->narg);
    fputs(",\n    .constant = density_constant, .log_density = log_density, .arguments = law_arguments,\n};\n\n", out);
}

static void text_field(FILE *out, const char *field, const char *text)
{
    fprintf(out, "    .%s = ", field);
    hg_desc_string(out, text);
    fputs(",\n", out);
}

/* Names in configurations, and the package that has the model too. */
static void peer_fields(FILE *out, const struct hg_model *m)
{
    if (m->alias)
        fputs("    .alias = desc_alias,\n", out);
    if (m->package)
        fprintf(out, "    .peer = %s,\n",
                strcmp(m->package, "heterodyne") == 0 ? "FIT_PEER_HETERODYNE" : "FIT_PEER_HOMODYNE");
    if (m->mode)
        text_field(out, "mode", m->mode);
    if (m->first_step)
        fprintf(out, "    .first_step = %d,\n", m->first_step);
}

/* Longer ones are omitted: a compiler need not accept string literals above 4095 characters (C11 5.2.4.1). */
enum { LONGEST_EQUATION = 4000, MOST_EQUATIONS = 16000 };

static int carried(const char *equations)
{
    if (!equations || !*equations || strlen(equations) > MOST_EQUATIONS)
        return 0;
    for (const char *at = equations; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strcspn(at, "\n") > LONGEST_EQUATION)
            return 0;
    return 1;
}

/* An array of the lines. */
static void equations(const struct hg_emit *em, FILE *out)
{
    if (!carried(em->equations))
        return;
    fputs("/* the model in MathML */\nstatic const char *const desc_equation[] = {\n", out);
    for (const char *at = em->equations; *at;) {
        const size_t n = strcspn(at, "\n");
        fputs("    ", out);
        hg_desc_string(out, hg_format(em->e->arena, "%.*s", (int)n, at));
        fputs(",\n", out);
        at += n + (at[n] == '\n');
    }
    fputs("    NULL};\n\n", out);
}

static void count_field(FILE *out, const char *name, uint32_t n)
{
    if (n)
        fprintf(out, "    .n%s = %u,\n    .%s = desc_%s,\n", name, (unsigned)n, name, name);
}

static void names_and_parameters(const struct hg_emit *em, FILE *out)
{
    const struct hg_model *m = em->p->model;
    text_field(out, "name", m->name);
    text_field(out, "variant", em->variant);
    text_field(out, "title", m->title);
    text_field(out, "formula", m->formula);
    if (carried(em->equations))
        fputs("    .equation = desc_equation,\n", out);
    text_field(out, "reference", m->reference);
    text_field(out, "source", m->file);
    text_field(out, "hash", m->hash);
    peer_fields(out, m);
    fprintf(out, "    .isa = FIT_KERNEL_ISA,\n    .space = %s,\n    .raw = %d,\n",
            m->space == FIT_ROWS ? "FIT_ROWS" : "FIT_PAIRS", m->space == FIT_PAIRS);
    count_field(out, "param", m->param.n);
    count_field(out, "linear", m->linear.n);
    fprintf(out, "    .intercept = %d,\n", em->p->intercept);
    if (m->has_noise)
        fprintf(out, "    .has_noise_prior = 1, .noise_prior = %s, .noise_a = %s, .noise_b = %s,\n",
                prior_name[m->noise.prior], hg_number(m->expr->arena, m->noise.prior_a),
                hg_number(m->expr->arena, m->noise.prior_b));
}

static void cost_and_functions(const struct hg_emit *em, FILE *out)
{
    const struct fit_cost *cost = &em->cost;
    fprintf(out, "    .cost = {.per_frame = %u, .per_pair = %u, .per_pair_group = %u,\n"
                 "             .value_per_pair_group = %u, .functions_per_pair = %u},\n"
                 "    .table_doubles = %u,\n",
            cost->per_frame, cost->per_pair, cost->per_pair_group, cost->value_per_pair_group,
            cost->functions_per_pair, (unsigned)em->table_doubles);
    fprintf(out, "    .workspace = workspace,\n    .scratch = %s,\n    .prepare = prepare,\n"
                 "    .moments = moments,\n    .normal = normal,\n    .gradient = gradient,\n"
                 "    .model = model,\n    .points = points,\n    .curves = curves,\n",
            em->p->model->space == FIT_ROWS ? "scratch_size" : "tile_scratch");
    if (em->hessian)
        fputs("    .hessian = hessian,\n    .direction = direction,\n    .second = second,\n", out);
}

/* Of several measured quantities. */
static void quantities(const struct hg_model *m, FILE *out)
{
    if (m->which < 0)
        return;
    fputs("static const struct fit_observable desc_observable[] = {\n", out);
    for (uint32_t k = 0; k < m->nquantity; k++)
        fprintf(out, "    {.value = %u, .sigma = %d, .support = %s},\n", (unsigned)m->quantity[k].value,
                m->quantity[k].sigma, support_name[m->quantity[k].support]);
    fputs("};\n\n", out);
}

/* The tables to which the descriptor points; how many degeneracies there are. */
static uint32_t tables(const struct hg_emit *em, const struct hg_degeneracies *degenerate, FILE *out)
{
    const struct hg_model *m = em->p->model;
    params(m, out, "param", &m->param);
    params(m, out, "linear", &m->linear);
    named(m, out, "fit_setting", "setting", &m->setting);
    named(m, out, "fit_axis", "axis", &m->axis);
    named(m, out, "fit_column", "column", &m->column);
    empty_cells(m, out);
    quantities(m, out);
    named(m, out, "fit_curve", "curve", &m->curve);
    named(m, out, "fit_state", "state", &m->state);
    uses(m, out);
    named(m, out, "fit_derived", "derived", &m->derived);
    screen(m, out);
    const uint32_t ndegeneracy = degeneracies(degenerate, out);
    combinations(degenerate, out);
    rates(m, out);
    density(m->density, out);
    levels(m, out);
    if (m->alias) {
        fputs("static const char *const desc_alias", out);
        texts(out, m->alias);
    }
    equations(em, out);
    return ndegeneracy;
}

/* Members that most models do not need. */
static void rare_members(const struct hg_model *m, FILE *out)
{
    if (m->density)
        fputs("    .density = &desc_density,\n", out);
    if (has_levels(m))
        fputs("    .level = desc_level,\n", out);
    count_field(out, "state", m->state.n);
    if (m->feedback)
        fputs("    .feedback = 1,\n", out);
    if (hg_march_by_rows(m->expr))
        fprintf(out, "    .times = %u,\n", (unsigned)hg_at(m->expr, m->expr->march->time)->ref + 1);
    if (has_empty(m))
        fputs("    .empty = desc_empty,\n", out);
}

void hg_emit_desc(const struct hg_emit *em, const struct hg_degeneracies *degenerate, FILE *out)
{
    const struct hg_model *m = em->p->model;
    const uint32_t ndegeneracy = tables(em, degenerate, out);
    fputs("extern const struct fit_kernel FIT_KERNEL_SYMBOL;\n"
          "const struct fit_kernel FIT_KERNEL_SYMBOL = {\n"
          "    .abi = FIT_KERNEL_ABI,\n", out);
    names_and_parameters(em, out);
    count_field(out, "setting", m->setting.n);
    count_field(out, "axis", m->axis.n);
    count_field(out, "column", m->column.n);
    if (m->which >= 0)
        fprintf(out, "    .which = %d,\n", m->which);
    count_field(out, "observable", m->which < 0 ? 0 : m->nquantity);
    count_field(out, "curve", m->curve.n);
    count_field(out, "derived", m->derived.n);
    if (m->derived.n)
        fputs("    .derive = derive,\n", out);
    count_field(out, "screen", m->param.n ? m->nscreen : 0);
    cost_and_functions(em, out);
    if (ndegeneracy)
        fprintf(out, "    .ndegeneracy = %u,\n    .degeneracy = desc_degeneracy,\n", (unsigned)ndegeneracy);
    count_field(out, "combination", degenerate->ncombination);
    if (degenerate->ncombination)
        fputs("    .combine = combine,\n", out);
    count_field(out, "rate", m->nrate);
    rare_members(m, out);
    fputs("};\n", out);
}
