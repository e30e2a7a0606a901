/* dump.c -- a program between two passes, one node per line. */
#include "graph/dump.h"

const char *hg_vary_text(struct hg_arena *a, unsigned vary)
{
    static const struct {
        unsigned set;
        const char *name;
    } word[] = {{HG_T, "frame"}, {HG_I | HG_J, "pair"}, {HG_R, "row"},
                {HG_G, "group"}, {HG_K1, "turn"},       {HG_K2, "inner turn"}};
    const char *text = "";
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (vary & word[k].set)
            text = hg_format(a, "%s%s%s", text, *text ? " " : "", word[k].name);
    return text;
}

/* A leaf by its own text, any other node by its number. */
static const char *operand(const struct hg_expr *e, hg_id id)
{
    return hg_at(e, id)->nargs ? hg_format(e->arena, "%%%u", (unsigned)id) : hg_text(e, id, 0);
}

static void node(const struct hg_expr *e, hg_id id, FILE *out)
{
    const struct hg_node *n = hg_at(e, id);
    const char *text = hg_format(e->arena, "%s(", hg_op_text[n->op]);
    for (uint32_t k = 0; k < n->nargs; k++)
        text = hg_format(e->arena, "%s%s%s", text, k ? ", " : "", operand(e, n->arg[k]));
    const char *name = n->name ? n->name : "", *vary = hg_vary_text(e->arena, n->vary);
    fprintf(out, "%%%u %s)%*s%s%s%s\n", (unsigned)id, text, *name || *vary ? 4 : 0, "", vary,
            *name && *vary ? "    " : "", name);
}

void hg_dump(const struct hg_expr *e, const char *title, uint32_t n, const struct hg_root *root, FILE *out)
{
    HG_SCRATCH unsigned char *need = hg_zeros(e->n, 1);
    for (uint32_t k = 0; k < n; k++)
        need[root[k].id] = 1;
    for (hg_id id = e->n - 1; id > 0; id--)
        for (uint32_t k = 0; need[id] && k < hg_at(e, id)->nargs; k++)
            need[hg_at(e, id)->arg[k]] = 1;
    fprintf(out, "# %s\n", title);
    for (hg_id id = 1; id < e->n; id++)
        if (need[id] && hg_at(e, id)->nargs)
            node(e, id, out);
    for (uint32_t k = 0; k < n; k++)
        if (root[k].id)
            fprintf(out, "%s = %s\n", root[k].name, operand(e, root[k].id));
}
