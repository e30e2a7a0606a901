/* dot.c -- the expression graph as a picture: text for graphviz. Colours show what a node varies with. */
#include "graph/dot.h"


#include "base/diag.h"

static const char *colour(unsigned vary)
{
    if (vary & (HG_I | HG_J | HG_R))
        return vary & HG_G ? "#f2b8a0" : "#f6dca8";
    if (vary & HG_T)
        return "#bcd9f0";
    return vary & HG_G ? "#c9e4c5" : "#eeeeee";
}

static void label(const struct hg_node *n, FILE *out)
{
    if (n->op == HG_CONST)
        fprintf(out, "%.6g", n->value);
    else
        fprintf(out, "%s%s%s", n->name ? n->name : "", n->name ? "\\n" : "", hg_op_text[n->op]);
}

void hg_dot(const struct hg_expr *e, hg_id root, const char *title, FILE *out)
{
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    need[root] = 1;
    fprintf(out, "digraph \"%s\" {\n    rankdir = BT;\n    node [shape = box, style = filled];\n", title);
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(e, id);
        if (!need[id])
            continue;
        fprintf(out, "    n%u [label = \"", id);
        label(n, out);
        fprintf(out, "\", fillcolor = \"%s\"];\n", colour(n->vary));
        for (uint32_t k = 0; k < n->nargs; k++) {
            need[n->arg[k]] = 1;
            fprintf(out, "    n%u -> n%u;\n", n->arg[k], id);
        }
    }
    fprintf(out, "}\n");
}
