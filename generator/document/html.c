/* html.c -- the page of a model as one HTML file: MathML formulas, its own style, no script, no
 * network.
 *
 * A formula is several <math> elements in a row, between which the browser may break the line: long
 * sums fold on a narrow screen.
 */
#include "document/page.h"

#include <string.h>

#include "common/text.h"

extern const unsigned char embedded_page_css[]; /* templates/page.css */

static void escape(FILE *out, const char *s)
{
    char one[TEXT_ONE];
    while (s && *s) {
        s += text_xml(s, one);
        fputs(one, out);
    }
}

/* --- formulas --------------------------------------------------------------------------------- */

static void mathml(FILE *out, const struct hg_box *b);

static void element(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    escape(out, text);
    fprintf(out, "</%.*s>", (int)strcspn(name, " "), name);
}

static void children(FILE *out, const char *name, const struct hg_box *b)
{
    fprintf(out, "<%s>", name);
    for (uint32_t k = 0; k < b->n; k++)
        mathml(out, b->child[k]);
    fprintf(out, "</%.*s>", (int)strcspn(name, " "), name);
}

static void delimiter(FILE *out, char c, const char *form, int tall)
{
    fprintf(out, "<mo form=\"%s\" stretchy=\"%s\">%c</mo>", form, tall ? "true" : "false", c);
}

static void cases(FILE *out, const struct hg_box *b)
{
    fputs("<mrow>", out);
    delimiter(out, '{', "prefix", 1);
    fputs("<mtable displaystyle=\"true\">", out);
    for (uint32_t k = 0; k + 1 < b->n; k += 2) {
        fputs("<mtr><mtd>", out);
        mathml(out, b->child[k]);
        fputs("</mtd><mtd>", out);
        mathml(out, b->child[k + 1]);
        fputs("</mtd></mtr>", out);
    }
    fputs("</mtable></mrow>", out);
}

static const char *accent(const char *word)
{
    return strcmp(word, "dot") == 0 ? "˙" : strcmp(word, "hat") == 0 ? "^" : strcmp(word, "bar") == 0 ? "¯" : "˜";
}

/* Spaces at the ends of words in a formula would be dropped. */
static void words(FILE *out, const char *text)
{
    fputs("<mtext>", out);
    while (*text) {
        char one[TEXT_ONE];
        text += text_xml(text, one);
        fputs(*one == ' ' ? "&#160;" : one, out);
    }
    fputs("</mtext>", out);
}

static int one_letter(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n == 1;
}

static void mathml(FILE *out, const struct hg_box *b)
{
    switch (b->kind) {
    case HG_BOX_ROW: children(out, "mrow", b); break;
    case HG_BOX_LETTER: element(out, "mi", b->text); break;
    case HG_BOX_WORD: element(out, one_letter(b->text) ? "mi mathvariant=\"normal\"" : "mi", b->text); break;
    case HG_BOX_NUMBER: element(out, "mn", b->text); break;
    case HG_BOX_SIGN: element(out, "mo form=\"infix\"", b->text); break;
    case HG_BOX_PREFIX: element(out, "mo lspace=\"0\" rspace=\"0\"", b->text); break;
    case HG_BOX_THIN: fputs("<mspace width=\"0.2em\"></mspace>", out); break;
    case HG_BOX_COMMA: element(out, "mo separator=\"true\"", b->text); break;
    case HG_BOX_TEXT: words(out, b->text); break;
    case HG_BOX_SUB: children(out, "msub", b); break;
    case HG_BOX_SUP: children(out, "msup", b); break;
    case HG_BOX_SUBSUP: children(out, "msubsup", b); break;
    case HG_BOX_FRACTION: children(out, "mfrac", b); break;
    case HG_BOX_ROOT: children(out, "msqrt", b); break;
    case HG_BOX_OVER:
        fputs("<mover accent=\"true\">", out);
        mathml(out, b->child[0]);
        element(out, "mo stretchy=\"false\"", accent(b->text));
        fputs("</mover>", out);
        break;
    case HG_BOX_FENCE:
        fputs("<mrow>", out);
        delimiter(out, b->text[0], "prefix", hg_box_tall(b->child[0]));
        mathml(out, b->child[0]);
        delimiter(out, b->text[1], "postfix", hg_box_tall(b->child[0]));
        fputs("</mrow>", out);
        break;
    case HG_BOX_INTEGRAL:
        fprintf(out, "<msubsup><mo>%s</mo>", b->text);
        mathml(out, b->child[0]);
        mathml(out, b->child[1]);
        fputs("</msubsup>", out);
        break;
    case HG_BOX_CASES: cases(out, b); break;
    }
}

static void inline_math(FILE *out, const struct hg_box *b)
{
    fputs("<math>", out);
    mathml(out, b);
    fputs("</math>", out);
}

static void formula(FILE *out, const struct hg_formula *f)
{
    fputs("<div class=\"eq\"><math displaystyle=\"true\">", out);
    mathml(out, f->left);
    for (uint32_t k = 0; k < f->n; k++) {
        fputs(k ? "</math><wbr><math displaystyle=\"true\">" : "", out);
        mathml(out, f->piece[k]);
    }
    fputs("</math></div>\n", out);
}

/* --- text and tables -------------------------------------------------------------------------- */

static void begin(FILE *out, const char *title, const char *subtitle)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    escape(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", (const char *)embedded_page_css);
    escape(out, title);
    fputs("</h1>\n<p class=\"sub\"><code>", out);
    escape(out, subtitle);
    fputs("</code></p>\n", out);
}

static void code(FILE *out, const char *text)
{
    fputs("<code>", out);
    escape(out, text);
    fputs("</code>", out);
}

static void verbatim(FILE *out, const char *text)
{
    fputs("<pre>", out);
    escape(out, text + (*text == '\n'));
    fputs("</pre>\n", out);
}

static const struct hg_column *heading; /* of the table that is being written: repeated on narrow screens */

static void table(FILE *out, const struct hg_column *column, uint32_t n)
{
    heading = column;
    fputs("<div class=\"wide\"><table class=\"t\">\n<thead><tr>", out);
    for (uint32_t k = 0; k < n; k++)
        element(out, "th", column[k].title);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void cell(FILE *out, uint32_t k)
{
    fputs("<td data-h=\"", out);
    escape(out, heading[k].title);
    fputs("\">", out);
}

const struct hg_page_format hg_page_html = {
    .begin = begin,
    .text = escape,
    .code = code,
    .verbatim = verbatim,
    .math = inline_math,
    .formula = formula,
    .table = table,
    .cell = cell,
    .section = {"<h2>", "</h2>\n"},
    .subsection = {"<h3>", "</h3>\n"},
    .paragraph = {"<p>", "</p>\n"},
    .row = {"<tr>", "</tr>\n"},
    .cell_end = "</td>",
    .table_end = "</tbody></table></div>\n",
    .end = "</body>\n</html>\n",
};
