/* latex.c -- the page of a model as LaTeX: pdflatex with amsmath, array and longtable (part of
 * every LaTeX). */
#include "document/page.h"

#include <string.h>

enum { LINE = 68 }; /* rough width of a formula's line, in letters */

/* --- texts ------------------------------------------------------------------------------------ */

static const struct {
    const char *utf8, *tex;
} special[] = {
    {"#", "\\#"},
    {"$", "\\$"},
    {"%", "\\%"},
    {"&", "\\&"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"\\", "\\textbackslash{}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"\"", "\\char34{}"},
    {"--", "-{}"},
    {"Å", "\\AA{}"},
    {"Å", "\\AA{}"},
    {"°", "$^\\circ$"},
    {"±", "$\\pm$"},
    {"²", "$^2$"},
    {"³", "$^3$"},
    {"¹", "$^1$"},
    {"⁻", "$^-$"},
    {"·", "$\\cdot$"},
    {"×", "$\\times$"},
    {"µ", "$\\mu$"},
    {"−", "$-$"},
    {"∞", "$\\infty$"},
    {"≤", "$\\le$"},
    {"≥", "$\\ge$"},
    {"≈", "$\\approx$"},
    {"∫", "$\\int$"},
    {"√", "$\\surd$"},
    {"∂", "$\\partial$"},
    {"α", "$\\alpha$"},
    {"β", "$\\beta$"},
    {"γ", "$\\gamma$"},
    {"δ", "$\\delta$"},
    {"ε", "$\\varepsilon$"},
    {"ζ", "$\\zeta$"},
    {"η", "$\\eta$"},
    {"θ", "$\\theta$"},
    {"κ", "$\\kappa$"},
    {"λ", "$\\lambda$"},
    {"μ", "$\\mu$"},
    {"ν", "$\\nu$"},
    {"ξ", "$\\xi$"},
    {"π", "$\\pi$"},
    {"ρ", "$\\rho$"},
    {"σ", "$\\sigma$"},
    {"τ", "$\\tau$"},
    {"φ", "$\\varphi$"},
    {"χ", "$\\chi$"},
    {"ψ", "$\\psi$"},
    {"ω", "$\\omega$"},
    {"Γ", "$\\Gamma$"},
    {"Δ", "$\\Delta$"},
    {"Θ", "$\\Theta$"},
    {"Λ", "$\\Lambda$"},
    {"Σ", "$\\Sigma$"},
    {"Φ", "$\\Phi$"},
    {"Ψ", "$\\Psi$"},
    {"Ω", "$\\Omega$"},
    {"–", "--"},
    {"—", "---"},
    {"…", "\\dots{}"},
    {"“", "``"},
    {"”", "''"},
    {"‘", "`"},
    {"’", "'"},
    {"′", "$'$"},
};

/* The code point at s and its length; -1 when s is not UTF-8. */
static long code_point(const char *s, size_t *n)
{
    unsigned char c = (unsigned char)*s;
    *n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
    if (*n == 0)
        return -1;
    long u = *n == 1 ? c : c & (0x7f >> *n);
    for (size_t k = 1; k < *n; k++) {
        if (((unsigned char)s[k] & 0xc0) != 0x80)
            return -1;
        u = u << 6 | ((unsigned char)s[k] & 0x3f);
    }
    return u;
}

/* Writes the character at s; returns its length. LaTeX has letters up to U+017F; a character that neither it nor the
 * table has is written as its number. */
static size_t character(FILE *out, const char *s)
{
    size_t n;
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        n = strlen(special[k].utf8);
        if (strncmp(s, special[k].utf8, n) == 0)
            return fputs(special[k].tex, out), special[k].utf8[0] == '-' ? 1 : n;
    }
    long u = code_point(s, &n);
    if (u < 0 || (u < ' ' && u != '\n' && u != '\t'))
        return 1;
    if (u < 0x80 || (u >= 0xc0 && u <= 0x17f && u != 0xd7 && u != 0xf7))
        fprintf(out, "%.*s", (int)n, s);
    else
        fprintf(out, "[U+%04lX]", u);
    return n;
}

static void text(FILE *out, const char *s)
{
    while (s && *s) {
        if (*s == '\n' && s[1] == '\n') /* not a new paragraph, which may be forbidden */
            s++;
        else
            s += character(out, s);
    }
}

/* A name or a hash may be broken into lines, at its underscores and after every eighth letter. */
static void code(FILE *out, const char *s)
{
    fputs("\\texttt{", out);
    for (int k = 1; *s; k++) {
        char one[2] = {*s, 0};
        if ((unsigned char)*s < 0x80) { /* one by one: -- stays two hyphens */
            text(out, one);
            s++;
        } else {
            s += character(out, s);
        }
        if (one[0] == '_' || k % 8 == 0)
            fputs("\\allowbreak{}", out);
    }
    fputs("}", out);
}

static void verbatim(FILE *out, const char *s)
{
    fputs("\\begin{quote}\\small\\ttfamily\\raggedright\n", out);
    for (s += *s == '\n'; *s;) {
        fputs("\\mbox{}", out);
        for (; *s && *s != '\n';)
            if (*s == ' ')
                fputs("\\ ", out), s++;
            else
                s += character(out, s);
        s += *s == '\n';
        fputs(*s ? "\\\\\n" : "\n", out);
    }
    fputs("\\end{quote}\n", out);
}

/* --- formulas --------------------------------------------------------------------------------- */

static void tex(FILE *out, const struct hg_box *b);

static void group(FILE *out, const char *before, const struct hg_box *b)
{
    fprintf(out, "%s{", before);
    tex(out, b);
    fputc('}', out);
}

static const char *accent(const char *word)
{
    return strcmp(word, "dot") == 0   ? "\\dot"
           : strcmp(word, "hat") == 0 ? "\\hat"
           : strcmp(word, "bar") == 0 ? "\\bar"
                                      : "\\tilde";
}

static void cases(FILE *out, const struct hg_box *b)
{
    fputs("\\begin{cases}", out);
    for (uint32_t k = 0; k + 1 < b->n; k += 2) {
        fputs(k ? " \\\\ " : "", out);
        tex(out, b->child[k]);
        fputs(" & ", out);
        tex(out, b->child[k + 1]);
    }
    fputs("\\end{cases}", out);
}

static void word(FILE *out, const struct hg_box *b)
{
    if (b->tex[0] == '\\' || b->tex[0] == '{') {
        fprintf(out, strncmp(b->tex, "\\mu", 3) == 0 ? "\\mathrm{%s}" : "%s ", b->tex);
        return;
    }
    fputs("\\mathrm{", out);
    text(out, b->tex);
    fputs("}", out);
}

static void tex(FILE *out, const struct hg_box *b)
{
    switch (b->kind) {
    case HG_BOX_ROW:
        for (uint32_t k = 0; k < b->n; k++)
            tex(out, b->child[k]);
        break;
    case HG_BOX_LETTER: fprintf(out, b->tex[0] == '\\' ? "%s " : "%s", b->tex); break;
    case HG_BOX_WORD: word(out, b); break;
    case HG_BOX_NUMBER: fprintf(out, b->tex[0] == '\\' ? "%s " : "%s", b->tex); break;
    case HG_BOX_SIGN: fprintf(out, " %s ", b->tex); break;
    case HG_BOX_PREFIX: fprintf(out, "{%s}", b->tex); break;
    case HG_BOX_THIN: fputs("\\,", out); break;
    case HG_BOX_COMMA: fputs(",", out); break;
    case HG_BOX_TEXT: fprintf(out, b->tex != b->text ? "%s" : "\\text{%s}", b->tex); break;
    case HG_BOX_SUB:
        group(out, "", b->child[0]);
        group(out, "_", b->child[1]);
        break;
    case HG_BOX_SUP:
        group(out, "", b->child[0]);
        group(out, "^", b->child[1]);
        break;
    case HG_BOX_SUBSUP:
        group(out, "", b->child[0]);
        group(out, "_", b->child[1]);
        group(out, "^", b->child[2]);
        break;
    case HG_BOX_OVER: group(out, accent(b->text), b->child[0]); break;
    case HG_BOX_FRACTION:
        group(out, "\\frac", b->child[0]);
        group(out, "", b->child[1]);
        break;
    case HG_BOX_ROOT: group(out, "\\sqrt", b->child[0]); break;
    case HG_BOX_FENCE:
        fprintf(out, hg_box_tall(b->child[0]) ? "\\left%c" : "%c", b->text[0]);
        tex(out, b->child[0]);
        fprintf(out, hg_box_tall(b->child[0]) ? "\\right%c" : "%c", b->text[1]);
        break;
    case HG_BOX_INTEGRAL:
        fputs(b->tex, out);
        group(out, "_", b->child[0]);
        group(out, "^", b->child[1]);
        break;
    case HG_BOX_CASES: cases(out, b); break;
    }
}

static void inline_math(FILE *out, const struct hg_box *b)
{
    fputc('$', out);
    tex(out, b);
    fputc('$', out);
}

static void formula(FILE *out, const struct hg_formula *f)
{
    double width = hg_box_width(f->left);
    fputs("\\begin{align*}\n", out);
    tex(out, f->left);
    fputs(" &", out);
    for (uint32_t k = 0; k < f->n; k++) {
        double w = hg_box_width(f->piece[k]);
        if (k && width + w > LINE) {
            fputs(" \\\\\n &\\quad ", out);
            width = 8;
        }
        width += w;
        tex(out, f->piece[k]);
    }
    fputs("\n\\end{align*}\n", out);
}

/* --- the page --------------------------------------------------------------------------------- */

static void begin(FILE *out, const char *title, const char *subtitle)
{
    fputs("\\documentclass[a4paper,10pt]{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage{"
          "amsmath}\n"
          "\\usepackage{array,longtable}\n"
          "\\setlength{\\textwidth}{170mm}\\setlength{\\oddsidemargin}{-5mm}\n"
          "\\setlength{\\textheight}{245mm}\\setlength{\\topmargin}{-20mm}\n"
          "\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{4pt}\\allowdisplaybreaks\n"
          "\\begin{document}\n{\\LARGE\\raggedright ",
          out);
    text(out, title);
    fputs("\\par}\n", out);
    code(out, subtitle);
    fputs("\\medskip\n\n", out);
}

static void table(FILE *out, const struct hg_column *column, uint32_t n)
{
    fputs("{\\footnotesize\\setlength{\\LTleft}{0pt}\\setlength{\\tabcolsep}{4pt}\n\\begin{"
          "longtable}{@{}",
          out);
    for (uint32_t k = 0; k < n; k++) {
        if (column[k].mm)
            fprintf(out, ">{\\raggedright\\arraybackslash}p{%dmm}", column[k].mm);
        else
            fputc('l', out);
    }
    fputs("@{}}\n", out);
    for (uint32_t k = 0; k < n; k++) {
        fputs(k ? " & \\textit{" : "\\textit{", out);
        text(out, column[k].title);
        fputs("}", out);
    }
    fputs(" \\\\[1pt] \\hline\\noalign{\\vskip 2pt} \\endhead\n", out);
}

static void cell(FILE *out, uint32_t k)
{
    fputs(k ? " & " : "", out);
}

const struct hg_page_format hg_page_latex = {
    .begin = begin,
    .text = text,
    .code = code,
    .verbatim = verbatim,
    .math = inline_math,
    .formula = formula,
    .table = table,
    .cell = cell,
    .section = {"\n\\section*{", "}\n"},
    .subsection = {"\n\\subsection*{", "}\n"},
    .paragraph = {"", "\n\n"},
    .row = {"", " \\\\\n"},
    .cell_end = "",
    .table_end = "\\end{longtable}}\n",
    .end = "\\end{document}\n",
};
