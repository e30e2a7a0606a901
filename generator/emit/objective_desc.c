/* objective_desc.c -- the description of an objective as C tables: everything in struct fit_functional except its
 * code. */
#include "emit/objective_desc.h"

#include <math.h>
#include <string.h>

#include "emit/code.h"
#include "emit/emit_desc.h"

const char *const hg_objective_pass_name[] = {"forward", "backward", "tangent", "second"};

static const char *name_of(const struct hg_list *list, uint32_t k)
{
    return list->item[k].name;
}

void hg_objective_head(const struct hg_model *m, FILE *out)
{
    static const char *const kind[] = {"free", "data", "kept", "made"}, *const term[] = {"data", "regularizer",
                                                                                         "prior"};
    const struct hg_objective *o = m->objective;
    fprintf(out, " * %s\n", m->title ? m->title : m->name);
    for (const char *s = m->formula; s && *s; s += *s == '\n') {
        const int n = (int)(strchr(s, '\n') ? strchr(s, '\n') - s : (long)strlen(s));
        fprintf(out, " *     %.*s\n", n, s);
        s += n;
    }
    fprintf(out, " *\n * c->array, c->slope: values of arrays, and dJ/d of those that move with free ones\n");
    for (uint32_t k = 0; k < o->narray; k++)
        fprintf(out, " *   %3u  %-20s %s over %s%s\n", k, name_of(&m->column, k), kind[o->array[k].kind],
                o->axis[o->array[k].axis].name, o->array[k].moves ? ", moves" : "");
    fprintf(out, " *\n * c->number\n");
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (o->number[k].kind != FIT_NUMBER_TOTAL)
            fprintf(out, " *   %3u  %s\n", k, name_of(&m->setting, k));
    fprintf(out, " *\n * terms\n");
    for (uint32_t k = 0; k < o->nterm; k++)
        fprintf(out, " *   %3u  %-14s %s%s%s\n", k, o->term[k].name, term[o->term[k].kind], o->term[k].doc ? ": " : "",
                o->term[k].doc ? o->term[k].doc : "");
}

static void text_field(FILE *out, const char *field, const char *text)
{
    fprintf(out, ".%s = ", field);
    if (text)
        hg_desc_string(out, text);
    else
        fputs("NULL", out);
}

static void named(FILE *out, const char *name, const char *doc)
{
    fputs("    {", out);
    text_field(out, "name", name);
    fputs(", ", out);
    text_field(out, "doc", doc);
}

/* The unit, if one was declared. */
static void unit_of(FILE *out, const struct hg_symbol_decl *s)
{
    if (strcmp(s->unit, "1") == 0)
        return;
    fputs(", ", out);
    text_field(out, "unit", s->unit);
}

static const char *number(const struct hg_model *m, double x)
{
    return isnan(x) ? "NAN" : isinf(x) ? (x < 0 ? "-INFINITY" : "INFINITY") : hg_number(m->expr->arena, x);
}

/* A range that is declared. */
static void range_of(const struct hg_model *m, FILE *out, const struct hg_symbol_decl *s)
{
    if (!(s->lower < s->upper))
        return;
    fprintf(out, " .lower = %s,", number(m, s->lower));
    fprintf(out, " .upper = %s,", number(m, s->upper));
}

static void axes(const struct hg_model *m, FILE *out)
{
    const struct hg_objective *o = m->objective;
    fputs("static const struct fit_index_desc desc_axis[] = {\n", out);
    for (uint32_t k = 0; k < o->naxis; k++) {
        named(out, o->axis[k].name, o->axis[k].doc);
        if (o->axis[k].row) {
            fputs(", ", out);
            text_field(out, "row", o->axis[k].row);
            fputs(", ", out);
            text_field(out, "column", o->axis[k].column);
        }
        fprintf(out, ", .size = %u},\n", o->axis[k].size);
    }
    fputs("};\n\n", out);
}

static void arrays(const struct hg_model *m, FILE *out)
{
    static const char *const kind[] = {"FIT_ARRAY_FREE", "FIT_ARRAY_DATA", "FIT_ARRAY_KEPT", "FIT_ARRAY_MADE"};
    const struct hg_objective *o = m->objective;
    fputs("static const struct fit_array_desc desc_array[] = {\n", out);
    for (uint32_t k = 0; k < o->narray; k++) {
        named(out, m->column.item[k].name, m->column.item[k].doc);
        unit_of(out, &m->column.item[k]);
        fprintf(out, ", .kind = %s, .axis = %u, .moves = %d, .need = UINT64_C(0x%llx)},\n", kind[o->array[k].kind],
                o->array[k].axis, o->array[k].moves, (unsigned long long)o->array[k].need);
    }
    fputs("};\n\n", out);
}

static void numbers(const struct hg_model *m, FILE *out)
{
    static const char *const kind[] = {"FIT_NUMBER_HYPER", "FIT_NUMBER_SIZE", "FIT_NUMBER_TOTAL"};
    const struct hg_objective *o = m->objective;
    fputs("static const struct fit_number_desc desc_number[] = {\n", out);
    for (uint32_t k = 0; k < o->nnumber; k++) {
        named(out, m->setting.item[k].name, m->setting.item[k].doc);
        unit_of(out, &m->setting.item[k]);
        fprintf(out, ", .kind = %s, .axis = %u, .start = %s,", kind[o->number[k].kind], o->number[k].axis,
                number(m, m->setting.item[k].start));
        range_of(m, out, &m->setting.item[k]);
        fprintf(out, " .need = UINT64_C(0x%llx)},\n", (unsigned long long)o->number[k].need);
    }
    fputs("};\n\n", out);
}

static void operations(const struct hg_model *m, FILE *out)
{
    static const char *const kind[] = {"FIT_OUTER", "FIT_DIFFERENCE", "FIT_GATHER", "FIT_BLOCKS", "FIT_DENSE"};
    const struct hg_objective *o = m->objective;
    if (!o->noperation)
        return;
    fputs("static const struct fit_operator_desc desc_operation[] = {\n", out);
    for (uint32_t k = 0; k < o->noperation; k++) {
        const struct hg_operation *p = &o->operation[k];
        fputs("    {", out);
        text_field(out, "name", p->name);
        fputs(", ", out);
        text_field(out, "data", p->data);
        fprintf(out,
                ", .kind = %s, .from = %u, .to = %u, .in = %u, .out = %u, .is_complex = %d,\n     .need = "
                "UINT64_C(0x%llx)},\n",
                kind[p->kind], p->from, p->to, p->in[0], p->out[0], p->nin == 2,
                (unsigned long long)o->array[p->out[0]].need);
    }
    fputs("};\n\n", out);
}

static void terms(const struct hg_model *m, FILE *out)
{
    static const char *const kind[] = {"FIT_TERM_DATA", "FIT_TERM_REGULARIZER", "FIT_TERM_PRIOR"};
    const struct hg_objective *o = m->objective;
    fputs("static const struct fit_term_desc desc_term[] = {\n", out);
    for (uint32_t k = 0; k < o->nterm; k++) {
        named(out, o->term[k].name, o->term[k].doc);
        fprintf(out, ", .kind = %s, .offset = %s, .weight = %s, .residual = %d},\n", kind[o->term[k].kind],
                number(m, o->term[k].offset), number(m, o->term[k].weight), o->term[k].residual);
    }
    fputs("};\n\n", out);
}

static void phases(const struct hg_objective_phases *p, const char *which, FILE *out)
{
    static const char *const unit[] = {"FIT_UNIT_ELEMENTS", "FIT_UNIT_ROWS", "FIT_UNIT_BLOCKS", "FIT_UNIT_ONE"},
                      *const kind[] = {"FIT_PHASE_FORMULA", "FIT_PHASE_SUM", "FIT_PHASE_OPERATOR"};
    for (uint32_t k = 0; k < p->n; k++)
        if (p->phase[k].nsum) {
            fprintf(out, "static const uint32_t desc_%s_sum_%u[] = {", which, k);
            for (uint32_t i = 0; i < p->phase[k].nsum; i++)
                fprintf(out, i ? ", %u" : "%u", p->phase[k].sum[i]);
            fputs("};\n", out);
        }
    fprintf(out, "static const struct fit_phase desc_%s[] = {\n", which);
    for (uint32_t k = 0; k < p->n; k++) {
        const struct hg_objective_phase *q = &p->phase[k];
        fputs("    {", out);
        text_field(out, "name", q->name);
        fprintf(out,
                ", .kind = %s, .need = UINT64_C(0x%llx), .unit = %s,\n"
                "     .axis = %u, .operation = %u, .work = %u, ",
                kind[q->kind], (unsigned long long)q->need, unit[q->unit], q->axis, q->operation, q->work);
        if (q->nsum)
            fprintf(out, ".nsum = %u, .sum = desc_%s_sum_%u, ", q->nsum, which, k);
        fprintf(out, ".run = %s},\n", q->function);
    }
    fputs("};\n\n", out);
}

void hg_objective_desc(const struct hg_model *m, const struct hg_objective_phases p[HG_OBJECTIVE_PASSES],
                       FILE *out)
{
    static const char *const field[] = {"title", "formula", "reference"};
    const char *const text[] = {m->title, m->formula, m->reference};
    const struct hg_objective *o = m->objective;
    axes(m, out);
    arrays(m, out);
    numbers(m, out);
    operations(m, out);
    terms(m, out);
    for (int pass = 0; pass < HG_OBJECTIVE_PASSES; pass++)
        phases(&p[pass], hg_objective_pass_name[pass], out);
    fputs("extern const struct fit_functional FIT_KERNEL_SYMBOL;\n"
          "const struct fit_functional FIT_KERNEL_SYMBOL = {\n    .interface = FIT_FUNCTIONAL_INTERFACE,\n    ",
          out);
    text_field(out, "name", m->name);
    for (int k = 0; k < 3; k++) {
        fputs(",\n    ", out);
        text_field(out, field[k], text[k]);
    }
    fprintf(out, ",\n    .hash = \"%s\",\n    .isa = FIT_KERNEL_ISA,\n    .compiler = __VERSION__,\n", m->hash);
    fprintf(out,
            "    .naxis = %u, .narray = %u, .nnumber = %u, .noperator = %u, .nterm = %u,\n"
            "    .nforward = %u, .nbackward = %u, .ntangent = %u,\n",
            o->naxis, o->narray, o->nnumber, o->noperation, o->nterm, p[HG_FORWARD].n, p[HG_BACKWARD].n,
            p[HG_TANGENT].n);
    fprintf(out,
            "    .axis = desc_axis, .array = desc_array, .number = desc_number,%s .term = desc_term,\n"
            "    .forward = desc_forward, .backward = desc_backward, .tangent = desc_tangent, .second = desc_second,\n"
            "    .terms = terms, .seeds = seeds, .seeds_second = seeds_second,\n};\n",
            o->noperation ? " .operation = desc_operation," : "");
}
