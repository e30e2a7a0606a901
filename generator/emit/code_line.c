/* code_line.c -- what C asks of its text: numbers that are read back to the same bits, names that mean nothing else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emit/code.h"
#include "graph/functions.h"

/* --- numbers ------------------------------------------------------------------------------------------ */

const char *hg_number(struct hg_arena *a, double x)
{
    char s[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtod(s, NULL) == x)
            break;
    }
    if (isinf(x))
        return x > 0 ? "INFINITY" : "-INFINITY";
    if (isnan(x))
        return "NAN";
    return strpbrk(s, ".e") ? hg_strdup(a, s) : hg_format(a, "%s.0", s);
}

/* --- names -------------------------------------------------------------------------------------------- */

static const char *const keyword[] = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "return", "register", "restrict", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "b", "g", "i", "j", "k",
    "l", "t", "w", "y", "out", "ws", "lin", "scratch", "pow", "gamma", "j0",
    "j1", "y0", "y1", "jn", "yn", "ng", "nf", "lanes", "on", "r", "theta", "tables", "main", "abs", "sqrt", "use", "p",
    "n", "J", "mean", "jac", "stride", "run", "list", "part", "F", "G", "H", "V", "v", "m", "row", "column", "at",
    "start", "end",
    "exps", "weight", "sum", "sums", "data", "d", "nt", "value", "tangent", "derivative", "check", "base", "y0", "yn",
    "tgamma", "atan2", "floor", "ceil", "round",
    "hypot", "cbrt", "fma", "masked",
    /* variables and constants of the functions that are written */
    "SUMS", "PIECES", "BATCH", "STRIP", "EXPS", "COLUMNS", "ROWS", "ROW_SUMS", "FIELDS", "PAIRS", "CHANNELS_R",
    "ALONG_SUMS", "COLUMN_SUMS", "MOMENT_SUMS", "adj", "along", "at_column", "at_lin", "at_m", "at_pair", "at_rows",
    "columns", "cut", "down", "factor", "field", "first", "from", "full", "here", "high", "low", "pair", "pieces",
    "place", "plain", "root", "row_sum", "seeds", "to", "turn", "whole", "block", "strip", "kept", "KEPT", "nearest",
    /* macros of the C library and the compiler */
    "I", "errno", "linux", "unix", "i386", "complex", "bool", "true", "false", "nullptr", "alignas", "alignof",
    "constexpr", "noreturn", "static_assert", "thread_local", "typeof", "typeof_unqual", "asm", "assert", "offsetof",
    "signgam", "stdin", "stdout", "stderr", "math_errhandling"};

/* Macros of C libraries (M_PI, DBL_MAX, OVERFLOW, PRId64) are written in capitals, and there are too many, different
 * ones everywhere, for a list.  Single capitals and capitals before digits (D0) are none, but for those above; nor is a
 * name that ends with _, or with __ and a number: what the compiler makes of a reserved name. */
int hg_code_macro(const char *name)
{
    size_t capitals = 0, n = strlen(name);
    if ((n && name[n - 1] == '_') || strstr(name, "__"))
        return 0;
    for (const char *s = name; *s; s++) {
        if (*s >= 'a' && *s <= 'z')
            return strncmp(name, "PRI", 3) == 0 || strncmp(name, "SCN", 3) == 0;
        capitals += *s >= 'A' && *s <= 'Z';
    }
    return capitals > 1;
}

int hg_code_reserved(const char *name)
{
    if (hg_code_macro(name))
        return 1;
    for (size_t k = 0; k < sizeof keyword / sizeof *keyword; k++)
        if (strcmp(keyword[k], name) == 0)
            return 1;
    for (int op = 0; op < HG_NOP; op++)
        if (hg_function((enum hg_op)op) && strcmp(hg_function((enum hg_op)op)->scalar, name) == 0)
            return 1;
    for (int op = 0; op < HG_NOP; op++)
        if (hg_many((enum hg_op)op) && strncmp(name, "fit_", 4) == 0 &&
            strcmp(hg_many((enum hg_op)op)->name, name + 4) == 0)
            return 1;
    /* these stems with digits are made by the writers of functions */
    static const char *const stems[] = {"p", "b", "m", "s", "u", "k", "F", "G", "mw", "row", "places_", "numbers_"};
    size_t n = strcspn(name, "0123456789");
    for (size_t k = 0; name[n] && k < sizeof stems / sizeof *stems; k++)
        if (strlen(stems[k]) == n && strncmp(stems[k], name, n) == 0)
            return strspn(name + n, "0123456789") == strlen(name + n);
    return 0;
}
