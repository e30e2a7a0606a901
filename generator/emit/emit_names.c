/* emit_names.c -- parameters and settings in the emitted functions, under the model's own names, declared in one block
 * at the start; and the leaves of expressions that are the same in every function.
 */
#include <string.h>

#include "emit/emit.h"
#include "graph/loop.h"
#include "graph/march.h"

/* Names that functions of a differential equation use themselves (emit_march.c). */
static const char *const solver_name[] = {"x",     "dx",    "df",   "time",  "flow",      "context", "event", "change",
                                          "order", "moved", "now",  "top",   "work",      "ode",     "slope", "events",
                                          "start", "end",   "from", "first", "parameter", "at",      "check", "NAN"};
enum { SOLVER_NAMES = sizeof solver_name / sizeof *solver_name };

static int is_of_solver(const struct hg_emit *em, const char *name)
{
    for (size_t k = 0; em->e->march && em->e->march->flow && k < SOLVER_NAMES; k++)
        if (strcmp(name, solver_name[k]) == 0)
            return 1;
    return 0;
}

/* The model's name; with an underscore when it has another meaning in C. */
static const char *clean_name(struct hg_emit *em, const char *name)
{
    return hg_code_reserved(name) || is_of_solver(em, name) ? hg_format(em->e->arena, "%s_", name) : name;
}

uint32_t hg_emit_names(struct hg_emit *em, const char *const **name)
{
    const struct hg_model *m = em->p->model;
    const char **list = hg_alloc(em->e->arena, (m->param.n + m->setting.n + SOLVER_NAMES) * sizeof *list);
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->param.n; k++)
        list[n++] = clean_name(em, m->param.item[k].name);
    for (uint32_t k = 0; k < m->setting.n; k++)
        list[n++] = clean_name(em, m->setting.item[k].name);
    for (uint32_t k = 0; em->e->march && em->e->march->flow && k < SOLVER_NAMES; k++)
        if (!hg_code_reserved(solver_name[k]))
            list[n++] = solver_name[k];
    *name = list;
    return n;
}

void hg_emit_declare_names(struct hg_emit *em, struct hg_tree *out)
{
    const struct hg_model *m = em->p->model;
    for (uint32_t k = 0; k < m->param.n; k++) {
        const char *name = clean_name(em, m->param.item[k].name);
        hg_offer(out, "const double", "%s = theta[%u]; /* [%s] */", name, k, m->param.item[k].unit);
    }
    for (uint32_t k = 0; k < m->setting.n; k++) {
        const char *name = clean_name(em, m->setting.item[k].name);
        hg_offer(out, "const double", "%s = l->setting[%u]; /* [%s] */", name, k, m->setting.item[k].unit);
    }
}

/* A number of a turn: counted, or read. */
static const char *node_text(struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    const struct hg_loop *l = hg_loop_at(c->e, hg_node_loop(n));
    const char *turn = hg_code_turn(c, id);
    if (l->rule == HG_COUNT)
        return hg_format(c->e->arena, "(%s + (double)%s)", hg_number(c->e->arena, l->first), turn);
    hg_node_use(c->e, n);
    return hg_format(c->e->arena, "%s%u[%s]", hg_loop_column_name[n->ref % HG_LOOP_COLUMNS], hg_node_loop(n), turn);
}

const char *hg_emit_common_leaf(struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    struct hg_arena *a = c->e->arena;
    switch (n->op) {
    case HG_STEP: return "l->step";
    case HG_NODE: return node_text(c, id);
    case HG_COORD: return hg_format(a, "l->coord[%u][g]", n->ref);
    case HG_PARAM:
    case HG_SETTING:
        /* names come after those of the parameters in the list of reserved ones */
        return c->reserve[n->ref + (n->op == HG_SETTING ? c->nparam : 0)];
    default: hg_bug("emit: no leaf %s here", hg_op_text[n->op]);
    }
}
