/* symbol.c -- names as symbols; see symbol.h. */
#include "common/symbol.h"

#include <string.h>

static const char digits[] = "0123456789", between[] = "_[]";

static const struct symbol_greek greek[] = {{"alpha", "α", "\\alpha"},
                                            {"beta", "β", "\\beta"},
                                            {"gamma", "γ", "\\gamma"},
                                            {"delta", "δ", "\\delta"},
                                            {"epsilon", "ε", "\\varepsilon"},
                                            {"eps", "ε", "\\varepsilon"},
                                            {"zeta", "ζ", "\\zeta"},
                                            {"eta", "η", "\\eta"},
                                            {"theta", "θ", "\\theta"},
                                            {"iota", "ι", "\\iota"},
                                            {"kappa", "κ", "\\kappa"},
                                            {"lambda", "λ", "\\lambda"},
                                            {"mu", "μ", "\\mu"},
                                            {"nu", "ν", "\\nu"},
                                            {"xi", "ξ", "\\xi"},
                                            {"pi", "π", "\\pi"},
                                            {"rho", "ρ", "\\rho"},
                                            {"sigma", "σ", "\\sigma"},
                                            {"tau", "τ", "\\tau"},
                                            {"upsilon", "υ", "\\upsilon"},
                                            {"phi", "φ", "\\varphi"},
                                            {"chi", "χ", "\\chi"},
                                            {"psi", "ψ", "\\psi"},
                                            {"omega", "ω", "\\omega"},
                                            {"Gamma", "Γ", "\\Gamma"},
                                            {"Delta", "Δ", "\\Delta"},
                                            {"Theta", "Θ", "\\Theta"},
                                            {"Lambda", "Λ", "\\Lambda"},
                                            {"Xi", "Ξ", "\\Xi"},
                                            {"Pi", "Π", "\\Pi"},
                                            {"Sigma", "Σ", "\\Sigma"},
                                            {"Phi", "Φ", "\\Phi"},
                                            {"Psi", "Ψ", "\\Psi"},
                                            {"Omega", "Ω", "\\Omega"},
                                            {"inf", "∞", "\\infty"}};

const struct symbol_greek *symbol_greek(const char *word, size_t n)
{
    for (size_t k = 0; k < sizeof greek / sizeof *greek; k++)
        if (strlen(greek[k].word) == n && strncmp(greek[k].word, word, n) == 0)
            return &greek[k];
    return NULL;
}

static void add(struct symbol *s, const char *text, size_t n, int comma)
{
    if (s->n == SYMBOL_PARTS || n == 0)
        return;
    struct symbol_part *p = &s->part[s->n++];
    *p = (struct symbol_part){.text = text, .n = n, .greek = symbol_greek(text, n), .comma = comma};
    p->kind = strspn(text, digits) >= n ? SYMBOL_NUMBER : n == 1 || p->greek ? SYMBOL_LETTER : SYMBOL_WORD;
}

/* Letters and the digits after them, "t0". */
static size_t letters(const char *text, size_t n, size_t least)
{
    while (n > least && strchr(digits, text[n - 1]))
        n--;
    return n;
}

static const char *accent_of(const char *text, size_t n)
{
    static const char *const accent[] = {"dot", "hat", "bar", "tilde"};
    for (size_t k = 0; k < sizeof accent / sizeof *accent; k++)
        if (strlen(accent[k]) == n && strncmp(text, accent[k], n) == 0)
            return accent[k];
    return NULL;
}

void symbol_cut(const char *name, struct symbol *s)
{
    size_t n = strcspn(name, between), word = letters(name, n, 1);
    *s = (struct symbol){.n = 0};
    add(s, name, word, 0);
    if (word < n)
        add(s, name + word, n - word, 0);
    for (name += n; *name; name += n) {
        name += strspn(name, between);
        n = strcspn(name, between);
        word = letters(name, n, 0);
        if (s->n == 1 && !s->accent && s->part[0].kind == SYMBOL_LETTER && (s->accent = accent_of(name, n)))
            continue;
        if (s->n == 1 && s->accent && strcmp(s->accent, "dot") == 0 && word == 1 && *name == 't' &&
            (name[n] || word < n)) {
            add(s, name + word, n - word, 0);
            continue;
        }
        const int comma = s->n > 1;
        add(s, name, word, comma);
        add(s, name + word, n - word, comma && word == 0);
    }
}
