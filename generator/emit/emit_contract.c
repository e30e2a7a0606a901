/* emit_contract.c -- products of the fields with the tables.
 *
 * A factor at one frame need not be multiplied in for every pair: a factor at i enters once per row, after the sum
 * along it; a factor at j once per tile, after the sum down the column. Differences of tables are formed for the pair
 * and the products added up in registers. (The expansion (T_j - T_i)(U_j - U_i) = T_j U_j - ... would cancel where the
 * correlation decays fast.)
 *
 *     factors of c and d          per pair                                        later
 *     difference x difference     sum_kl += U_ck (F U_dl)
 *     difference x at j           column_k += F U_ck                              per tile   column_k U_dl(j)
 *     difference or at j x at i   row_k += F U_ck                                 per row    row_k U_dl(i)
 *     at j x at j                 column += F                                     per tile   column U_ck(j) U_dl(j)
 *     at i x at i                 row += F                                        per row    row U_ck(i) U_dl(i)
 *     1 x any                     like the above without the second factor
 *
 * A column sum costs a load and a store; where the tables are few, the direct product is cheaper and is used.
 *
 * The fields of a strip of pairs are buffered, and the strip is traversed several times, each pass for as many sums as
 * registers hold. Products of channels with many tables are not written out: loops over the tables form them.
 */
#include "emit/emit_contract.h"


enum {
    COLUMN_COST = 3,  /* cost of a column sum in operations: addition, load, store */
    MOST_SUMS = 20,   /* of a pass: they live in registers, */
    MOST_LIVE = 26,   /* and so do the factors of a pair */
    MOST_WRITTEN = 128 /* products of two channels written out; loops form more */
};

enum how { DIRECT, ALONG_ROW, DOWN_COLUMN };

/* The products of one field. */
struct job {
    uint32_t field;
    uint32_t a, b;  /* channels, b may be E: the residual. The factor of b is the one taken out, if any */
    enum how how;
    uint32_t nsum;  /* sums in registers */
    uint32_t place; /* of its first row or column sum */
    uint32_t pass;
    int looped;     /* DIRECT, and too many to be written out */
};

struct hg_contract {
    struct hg_emit *em;
    struct job *job;
    uint32_t njob, npass, nrow, ncolumn;
};

/* --- fields ------------------------------------------------------------------------------------------- */

uint32_t hg_contract_nfield(const struct hg_emit *em)
{
    uint32_t E = em->p->nchannel;
    return E * (E + 1) / 2 + E;
}

uint32_t hg_contract_place(uint32_t E, uint32_t c, uint32_t d)
{
    const uint32_t a = c < d ? c : d, b = c < d ? d : c;
    return b == E ? E * (E + 1) / 2 + a : a * E - a * (a + 1) / 2 + b;
}

uint32_t hg_contract_field(const struct hg_emit *em, uint32_t c, uint32_t d)
{
    return hg_contract_place(em->p->nchannel, c, d);
}

const char *hg_contract_field_name(const struct hg_emit *em, uint32_t c, uint32_t d)
{
    const struct hg_channel *ch = em->p->channel;
    uint32_t E = em->p->nchannel, a = c < d ? c : d, b = c < d ? d : c;
    return b == E ? hg_format(em->e->arena, "G_%s", ch[a].name)
                  : hg_format(em->e->arena, "F_%s_%s", ch[a].name, ch[b].name);
}

/* --- methods for the products --------------------------------------------------------------------------- */

/* Factors of the residual are those of a channel of kind ONE. */
static enum hg_channel_kind kind_of(const struct hg_emit *em, uint32_t c)
{
    return c == em->p->nchannel ? HG_CHANNEL_ONE : em->p->channel[c].kind;
}

/* Parameters of a channel; the residual counts as one. */
static uint32_t tables_of(const struct hg_emit *em, uint32_t c)
{
    return c == em->p->nchannel ? 1 : em->p->channel[c].nuse;
}

/* Order of taking out: factors that stay in the pair first. */
static int rank(enum hg_channel_kind k)
{
    switch (k) {
    case HG_CHANNEL_DELTA: return 0;
    case HG_CHANNEL_AT_J: return 1;
    case HG_CHANNEL_AT_I: return 2;
    default: return 3;
    }
}

static void place_job(struct hg_contract *x, struct job *j)
{
    const struct hg_emit *em = x->em;
    uint32_t na = tables_of(em, j->a), nb = tables_of(em, j->b);
    enum hg_channel_kind a = kind_of(em, j->a), b = kind_of(em, j->b);
    j->how = DIRECT;
    j->nsum = j->a == j->b ? na * (na + 1) / 2 : na * nb;
    if (a == HG_CHANNEL_AT_I || b == HG_CHANNEL_AT_I) {
        j->how = ALONG_ROW;
        j->nsum = a == HG_CHANNEL_AT_I ? 1 : na;
    } else if (a == HG_CHANNEL_AT_J || b == HG_CHANNEL_AT_J) {
        uint32_t columns = a == HG_CHANNEL_AT_J ? 1 : na;
        unsigned direct = j->nsum + (b == HG_CHANNEL_ONE ? 0 : nb);
        if (direct > COLUMN_COST * columns) {
            j->how = DOWN_COLUMN;
            j->nsum = columns;
        }
    }
    j->looped = j->how == DIRECT && j->nsum > MOST_WRITTEN;
    if (j->how == ALONG_ROW) {
        j->place = x->nrow;
        x->nrow += j->nsum;
    } else if (j->how == DOWN_COLUMN) {
        j->place = x->ncolumn;
        x->ncolumn += j->nsum;
    }
}

/* Factors of a pair that the job needs of channel c. */
static int needs_factors(const struct hg_emit *em, const struct job *j, uint32_t c)
{
    enum hg_channel_kind k = kind_of(em, c);
    if ((c != j->a && c != j->b) || k == HG_CHANNEL_ONE || k == HG_CHANNEL_AT_I)
        return 0;
    return k == HG_CHANNEL_DELTA || j->how == DIRECT || j->how == ALONG_ROW;
}

/* Vectors alive in a pass to which job j is added. */
static uint32_t live(const struct hg_contract *x, uint32_t pass, const struct job *j, int *fresh)
{
    uint32_t n = 0;
    *fresh = 0;
    for (uint32_t c = 0; c < x->em->p->nchannel; c++) {
        int used = 0;
        for (uint32_t k = 0; k < x->njob; k++)
            used |= x->job[k].pass == pass && needs_factors(x->em, &x->job[k], c);
        int mine = needs_factors(x->em, j, c);
        *fresh |= mine && !used;
        n += used || mine ? tables_of(x->em, c) : 0;
    }
    return n;
}

static uint32_t sums_in_registers(const struct job *j)
{
    return j->how == DOWN_COLUMN ? 0 : j->nsum;
}

/* The first job not yet taken opens a pass; jobs that need no other factors join it, then any others. */
static void make_passes(struct hg_contract *x)
{
    for (uint32_t first = 0; first < x->njob; first++) {
        if (x->job[first].pass)
            continue;
        uint32_t pass = ++x->npass, sums = sums_in_registers(&x->job[first]);
        x->job[first].pass = pass;
        for (int any = 0; any < 2 && !x->job[first].looped; any++)
            for (uint32_t k = first + 1; k < x->njob; k++) {
                struct job *j = &x->job[k];
                int fresh;
                uint32_t factors = live(x, pass, j, &fresh), more = sums + sums_in_registers(j);
                if (j->pass || j->looped || (fresh && !any) || more > MOST_SUMS || more + factors > MOST_LIVE)
                    continue;
                j->pass = pass;
                sums = more;
            }
    }
}

struct hg_contract *hg_contract_new(struct hg_emit *em)
{
    struct hg_contract *x = hg_alloc(em->e->arena, sizeof *x);
    uint32_t E = em->p->nchannel;
    *x = (struct hg_contract){.em = em};
    x->job = hg_alloc(em->e->arena, (hg_contract_nfield(em) + 1) * sizeof *x->job);
    for (uint32_t c = 0; c < E; c++)
        for (uint32_t d = c; d <= E; d++) {
            int swap = rank(kind_of(em, d)) < rank(kind_of(em, c));
            struct job *j = &x->job[x->njob++];
            *j = (struct job){.field = hg_contract_field(em, c, d), .a = swap ? d : c, .b = swap ? c : d};
            place_job(x, j);
        }
    make_passes(x);
    return x;
}

uint32_t hg_contract_nrow(const struct hg_contract *x)
{
    return x->nrow;
}

uint32_t hg_contract_ncolumn(const struct hg_contract *x)
{
    return x->ncolumn;
}

/* --- text --------------------------------------------------------------------------------------------- */

/* Parameter of the n-th table of a channel. */
static uint32_t param_of(const struct hg_emit *em, uint32_t c, uint32_t n)
{
    for (uint32_t k = 0; k < em->p->nparam; k++)
        if (em->p->channel[c].table[k] && n-- == 0)
            return k;
    hg_bug("emit: channel without this table");
}

static const char *param_name(const struct hg_emit *em, uint32_t k)
{
    return em->p->model->param.item[k].name;
}

static const char *table_name(struct hg_emit *em, uint32_t c, uint32_t n)
{
    return hg_emit_field(em, HG_FIELD_FRAME, em->p->channel[c].table[param_of(em, c, n)], 1)->name;
}

/* The n-th small factor of channel c at a pair. */
static const char *factor_name(struct hg_emit *em, uint32_t c, uint32_t n)
{
    return hg_format(em->e->arena, "u_%s_%s", em->p->channel[c].name, param_name(em, param_of(em, c, n)));
}

/* Index of H to which the product of the n-th factor of a and the m-th of b is added. */
static uint32_t target(const struct hg_emit *em, const struct job *j, uint32_t n, uint32_t m)
{
    uint32_t K = em->p->nparam, k = param_of(em, j->a, n);
    if (j->b == em->p->nchannel)
        return K * (K + 1) / 2 + k;
    uint32_t l = param_of(em, j->b, m), low = k < l ? k : l, high = k < l ? l : k;
    return low * K - low * (low + 1) / 2 + high;
}

static const char *target_text(const struct hg_emit *em, const struct job *j, uint32_t n, uint32_t m)
{
    const char *k = param_name(em, param_of(em, j->a, n));
    return j->b == em->p->nchannel ? hg_format(em->e->arena, "J^T r: %s", k)
                                   : hg_format(em->e->arena, "%s, %s", k, param_name(em, param_of(em, j->b, m)));
}

/* A parameter that both channels serve: its square gets U_a U_b + U_b U_a. */
static const char *twice(const struct hg_emit *em, const struct job *j, uint32_t n, uint32_t m)
{
    int both = j->b != em->p->nchannel && j->a != j->b && param_of(em, j->a, n) == param_of(em, j->b, m);
    return both ? "2.0*" : "";
}

/* Only one of (n, m), (m, n) when both factors are of the same channel. */
static int counted(const struct job *j, uint32_t n, uint32_t m)
{
    return j->a != j->b || n <= m;
}

/* Before the loop of a pass: tables at i, sums. */
static void open_pass(struct hg_contract *x, uint32_t pass, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    uint32_t nsum = 0;
    for (uint32_t k = 0; k < x->njob; k++)
        nsum += x->job[k].pass == pass ? sums_in_registers(&x->job[k]) : 0;
    for (uint32_t c = 0; c < em->p->nchannel; c++) {
        int used = 0;
        for (uint32_t k = 0; k < x->njob; k++)
            used |= x->job[k].pass == pass && needs_factors(em, &x->job[k], c);
        for (uint32_t n = 0; used && kind_of(em, c) == HG_CHANNEL_DELTA && n < tables_of(em, c); n++)
            hg_declaration(out, HG_WHOLE, "const double", "%s_i = w->%s[i];", factor_name(em, c, n),
                           table_name(em, c, n));
    }
    for (uint32_t s = 0; s < nsum; s++)
        hg_put(out, "%s s%u = {0}%s", s % 8 ? "," : "        fit_vd", s, s % 8 == 7 || s + 1 == nsum ? ";\n" : "");
}

static void declare_factors(struct hg_contract *x, uint32_t pass, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    for (uint32_t c = 0; c < em->p->nchannel; c++) {
        int used = 0;
        for (uint32_t k = 0; k < x->njob; k++)
            used |= x->job[k].pass == pass && needs_factors(em, &x->job[k], c);
        for (uint32_t n = 0; used && n < tables_of(em, c); n++) {
            const char *u = factor_name(em, c, n), *t = table_name(em, c, n);
            if (kind_of(em, c) == HG_CHANNEL_DELTA)
                hg_declaration(out, HG_WHOLE, "const fit_vd", "%s = fit_vload(w->%s + j) - %s_i;", u, t, u);
            else
                hg_declaration(out, HG_WHOLE, "const fit_vd", "%s = fit_vload(w->%s + j);", u, t);
        }
    }
}

/* The direct sums of a job: p = F u_b, then sum += u_a p. */
static void add_direct(struct hg_contract *x, const struct job *j, uint32_t *s, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    const char *f = hg_format(em->e->arena, "F[%u]", j->field);
    int one_a = kind_of(em, j->a) == HG_CHANNEL_ONE, one_b = kind_of(em, j->b) == HG_CHANNEL_ONE;
    for (uint32_t m = 0; m < tables_of(em, j->b); m++) {
        const char *p = f;
        if (!one_b) {
            p = hg_format(em->e->arena, "p%u_%u", j->field, m);
            hg_declaration(out, HG_WHOLE, "const fit_vd", "%s = %s*%s;", p, f, factor_name(em, j->b, m));
        }
        for (uint32_t n = 0; n < tables_of(em, j->a); n++)
            if (counted(j, n, m))
                hg_whole(out, "s%u += %s%s%s%s;", (*s)++, twice(em, j, n, m), one_a ? "" : factor_name(em, j->a, n),
                         one_a ? "" : "*", p);
    }
}

/* Sums along the row and down the column: of F alone, or of F times the factors of a. */
static void add_later(struct hg_contract *x, const struct job *j, uint32_t *s, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    enum hg_channel_kind a = kind_of(em, j->a);
    int alone = a == HG_CHANNEL_AT_I || (a == HG_CHANNEL_AT_J && j->how == DOWN_COLUMN);
    for (uint32_t n = 0; n < j->nsum; n++) {
        const char *sum = j->how == ALONG_ROW ? hg_format(em->e->arena, "s%u", (*s)++)
                                              : hg_format(em->e->arena, "C[%u]", j->place + n);
        hg_whole(out, "%s += F[%u]%s%s;", sum, j->field, alone ? "" : "*", alone ? "" : factor_name(em, j->a, n));
    }
}

static void close_pass(struct hg_contract *x, uint32_t pass, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    uint32_t s = 0;
    for (uint32_t k = 0; k < x->njob; k++) {
        const struct job *j = &x->job[k];
        if (j->pass != pass || j->how == DOWN_COLUMN)
            continue;
        for (uint32_t n = 0; n < j->nsum && j->how == ALONG_ROW; n++)
            hg_whole(out, "row[%u] += s%u;", j->place + n, s++);
        for (uint32_t m = 0; m < tables_of(em, j->b) && j->how == DIRECT; m++)
            for (uint32_t n = 0; n < tables_of(em, j->a); n++)
                if (counted(j, n, m))
                    hg_whole(out, "H[%u] += s%u; /* %s */", target(em, j, n, m), s++, target_text(em, j, n, m));
    }
}

static const char *channel_name(const struct hg_emit *em, uint32_t c)
{
    return c == em->p->nchannel ? "residual" : em->p->channel[c].name;
}

/* The tables of a channel and their parameters, as arrays. */
static void list_tables(struct hg_contract *x, uint32_t c, const char *end, struct hg_tree *out)
{
    uint32_t n = tables_of(x->em, c);
    hg_put(out, "        const double *const u_%s[] = {", end);
    for (uint32_t k = 0; k < n; k++)
        hg_put(out, "%sw->%s%s", k % 6 ? " " : "\n            ", table_name(x->em, c, k), k + 1 < n ? "," : "};\n");
    hg_put(out, "        static const unsigned short k_%s[] = {", end);
    for (uint32_t k = 0; k < n; k++)
        hg_put(out, "%s%u%s", k % 16 ? " " : "\n            ", param_of(x->em, c, k), k + 1 < n ? "," : "};\n");
}

/* A factor of a pair: of table `u` at i and j. */
static const char *looped_factor(const struct hg_contract *x, uint32_t c, const char *u)
{
    return hg_format(x->em->e->arena,
                     kind_of(x->em, c) == HG_CHANNEL_DELTA ? "(fit_vload(%s + j) - %s[i])" : "fit_vload(%s + j)", u, u);
}

/* p = F u_b for a strip, then four sums of u_a p at a time. */
static void write_looped(struct hg_contract *x, const struct job *j, struct hg_tree *out)
{
    uint32_t na = tables_of(x->em, j->a), nb = tables_of(x->em, j->b), K = x->em->p->nparam;
    hg_open(out, "{ /* %s x %s */", channel_name(x->em, j->a), channel_name(x->em, j->b));
    list_tables(x, j->a, "a", out);
    list_tables(x, j->b, "b", out);
    const char *end = j->a == j->b ? "b + 1" : hg_format(x->em->e->arena, "%u", na);
    hg_declare(out, "fit_vd", "p[STRIP * PIECES];");
    hg_open(out, "for (size_t b = 0; b < %u; b++) {", nb);
    hg_line(out, "for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL)\n    p[k] = field[k * FIELDS + %u] * %s;",
            j->field, looped_factor(x, j->b, "u_b[b]"));
    hg_open(out, "for (size_t a = 0; a < %s; a += 4) {", end);
    hg_line(out,
            "const double *const v[4] = {u_a[a], u_a[a + 1 < %u ? a + 1 : a], u_a[a + 2 < %u ? a + 2 : a],\n"
            "                            u_a[a + 3 < %u ? a + 3 : a]};\n"
            "fit_vd s[4] = {{0}};\n"
            "for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL)\n"
            "    for (size_t q = 0; q < 4; q++)\n"
            "        s[q] += %s * p[k];",
            na, na, na, looped_factor(x, j->a, "v[q]"));
    hg_line(out, "for (size_t q = 0; q < 4 && a + q < %s; q++) {\n"
                 "    const size_t x = k_a[a + q], y = k_b[b], low = x < y ? x : y, high = x < y ? y : x;\n"
                 "    H[low * %u - low * (low + 1) / 2 + high] += %ss[q];\n}",
                 end, K, j->a == j->b ? "" : "(x == y ? 2.0 : 1.0) * ");
    hg_close(out);
    hg_close(out);
    hg_close(out);
}

static void write_pass(struct hg_contract *x, uint32_t pass, struct hg_tree *out)
{
    uint32_t s = 0, column = 0;
    const char *list = NULL;
    for (uint32_t k = 0; k < x->njob; k++) {
        const struct job *j = &x->job[k];
        if (j->pass != pass)
            continue;
        column |= j->how == DOWN_COLUMN;
        list = hg_format(x->em->e->arena, "%s%s%s x %s", list ? list : "", list ? ", " : "", channel_name(x->em, j->a),
                         channel_name(x->em, j->b));
    }
    hg_statement(out, HG_OPENING | HG_WHOLE, "{ /* %s */", list);
    open_pass(x, pass, out);
    hg_open(out, "for (size_t k = 0, j = j0; k < n; k++, j += FIT_VL) {");
    hg_declare(out, "const fit_vd *", "F = field + k * FIELDS;");
    if (column)
        hg_declare(out, "fit_vd *", "C = column + k * COLUMN_SUMS;");
    declare_factors(x, pass, out);
    for (uint32_t k = 0; k < x->njob; k++) {
        const struct job *j = &x->job[k];
        if (j->pass == pass && j->how == DIRECT)
            add_direct(x, j, &s, out);
        else if (j->pass == pass)
            add_later(x, j, &s, out);
    }
    hg_close(out);
    close_pass(x, pass, out);
    hg_close(out);
}

void hg_contract_function(struct hg_contract *x, struct hg_tree *out)
{
    hg_put(out,
        "/* The fields of n vectors of pairs (i, j0 ..) times the tables: added to the sums H of J^T J and J^T r, and\n"
        " * to the sums along the row and down the columns that get their other factor later. */\n");
    hg_open_function(out, "FIT_LARGE void", "contract",
                "const struct tables *w, size_t i, size_t j0, size_t n, const fit_vd *restrict field, "
                "fit_vd *restrict H, fit_vd *restrict row, fit_vd *restrict column");
    for (uint32_t pass = 1; pass <= x->npass; pass++) {
        const struct job *looped = NULL;
        for (uint32_t k = 0; k < x->njob; k++)
            looped = x->job[k].pass == pass && x->job[k].looped ? &x->job[k] : looped;
        if (looped)
            write_looped(x, looped, out);
        else
            write_pass(x, pass, out);
    }
    hg_close_function(out);
}

/* Multiplies sums by the factors left out: those of b at `at` (text with a placeholder for the table), and those of
 * a if they have not entered either. */
static void multiply_later(struct hg_contract *x, const struct job *j, const char *sum, const char *before,
                           const char *after, struct hg_tree *out)
{
    struct hg_emit *em = x->em;
    struct hg_arena *arena = em->e->arena;
    enum hg_channel_kind late = j->how == ALONG_ROW ? HG_CHANNEL_AT_I : HG_CHANNEL_AT_J;
    int a_late = kind_of(em, j->a) == late, b_late = kind_of(em, j->b) == late;
    for (uint32_t n = 0; n < tables_of(em, j->a); n++)
        for (uint32_t m = 0; m < tables_of(em, j->b); m++) {
            if (!counted(j, n, m))
                continue;
            const char *s = hg_format(arena, "%s[%u]", sum, j->place + (a_late ? 0 : n));
            const char *ta = a_late ? hg_format(arena, "*%s%s%s", before, table_name(em, j->a, n), after) : "";
            const char *tb = b_late ? hg_format(arena, "*%s%s%s", before, table_name(em, j->b, m), after) : "";
            hg_whole(out, "H[%u] += %s%s%s%s; /* %s */", target(em, j, n, m), twice(em, j, n, m), s, ta, tb,
                     target_text(em, j, n, m));
        }
}

void hg_contract_row_end(struct hg_contract *x, struct hg_tree *out)
{
    for (uint32_t k = 0; k < x->njob; k++)
        if (x->job[k].how == ALONG_ROW)
            multiply_later(x, &x->job[k], "along", "w->", "[i]", out);
    if (x->nrow)
        hg_line(out, "for (size_t k = 0; k < ALONG_SUMS; k++)\n    along[k] = (fit_vd){0};");
}

void hg_contract_tile_end(struct hg_contract *x, struct hg_tree *out)
{
    if (!x->ncolumn)
        return;
    hg_open(out, "for (size_t k = 0, j = t->j0; k < pieces; k++, j += FIT_VL) {");
    hg_declare(out, "const fit_vd *", "C = down + k * COLUMN_SUMS;");
    for (uint32_t k = 0; k < x->njob; k++)
        if (x->job[k].how == DOWN_COLUMN)
            multiply_later(x, &x->job[k], "C", "fit_vload(w->", " + j)", out);
    hg_close(out);
}

/* --- cost --------------------------------------------------------------------------------------------- */

void hg_contract_count(const struct hg_contract *x, unsigned *taken, unsigned *direct)
{
    *taken = *direct = 0;
    for (uint32_t k = 0; k < x->njob; k++) {
        const struct job *j = &x->job[k];
        uint32_t na = tables_of(x->em, j->a), nb = tables_of(x->em, j->b);
        unsigned all = (j->a == j->b ? na * (na + 1) / 2 : na * nb) +
                       (kind_of(x->em, j->b) == HG_CHANNEL_ONE ? 0 : nb);
        *direct += all;
        *taken += j->how == DIRECT ? all : j->nsum;
    }
}
