/* text.c -- the whole text of a program: its headers fit/... , which the build has embedded, are inserted where it
 * includes them, so that a compiler at run time needs no files. */
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"

extern const unsigned char embedded_gpu_h[], embedded_gpu_shape_h[], embedded_gpu_libm_h[],
    embedded_gpu_coefficients_h[], embedded_gpu_functional_h[], embedded_gpu_objective_h[], embedded_vmath_exp_h[],
    embedded_vmath_trig_h[], embedded_vmath_gamma_h[], embedded_vmath_coefficients_h[], embedded_vmath_special_h[],
    embedded_vmath_bessel_h[], embedded_vmath_bessel_second_h[], embedded_vmath_faddeeva_h[], embedded_vmath_erf_h[];

static const struct {
    const char *name;
    const unsigned char *text;
} header[] = {{"gpu.h", embedded_gpu_h},
              {"gpu_shape.h", embedded_gpu_shape_h},
              {"gpu_libm.h", embedded_gpu_libm_h},
              {"gpu_coefficients.h", embedded_gpu_coefficients_h},
              {"gpu_functional.h", embedded_gpu_functional_h},
              {"gpu_objective.h", embedded_gpu_objective_h},
              {"vmath_exp.h", embedded_vmath_exp_h},
              {"vmath_trig.h", embedded_vmath_trig_h},
              {"vmath_gamma.h", embedded_vmath_gamma_h},
              {"vmath_coefficients.h", embedded_vmath_coefficients_h},
              {"vmath_special.h", embedded_vmath_special_h},
              {"vmath_bessel.h", embedded_vmath_bessel_h},
              {"vmath_bessel_second.h", embedded_vmath_bessel_second_h},
              {"vmath_faddeeva.h", embedded_vmath_faddeeva_h},
              {"vmath_erf.h", embedded_vmath_erf_h}};

struct growing {
    char *s;
    size_t n, room;
    int failed;
};

static void append(struct growing *g, const char *s, size_t n)
{
    if (!g->failed && g->n + n + 1 > g->room) {
        size_t room = 2 * (g->n + n + 1);
        char *bigger = realloc(g->s, room);
        g->failed = bigger == NULL;
        g->s = bigger ? bigger : g->s;
        g->room = bigger ? room : g->room;
    }
    if (g->failed)
        return;
    memcpy(g->s + g->n, s, n);
    g->n += n;
    g->s[g->n] = 0;
}

static const char *embedded(const char *line)
{
    static const char word[] = "#include \"fit/";
    if (strncmp(line, word, sizeof word - 1) != 0)
        return NULL;
    line += sizeof word - 1;
    for (size_t k = 0; k < sizeof header / sizeof *header; k++) {
        size_t n = strlen(header[k].name);
        if (strncmp(line, header[k].name, n) == 0 && line[n] == '"')
            return (const char *)header[k].text;
    }
    return NULL;
}

/* Headers include headers, but never themselves. */
static void append_lines(struct growing *g, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
        const char *in = embedded(text);
        if (in)
            append_lines(g, in);
        else
            append(g, text, n);
        text += n;
    }
}

char *fit_gpu_whole_text(const struct fit_gpu_source *source)
{
    struct growing g = {0};
    append(&g, "", 0);
    append_lines(&g, (const char *)source->text);
    if (!g.failed)
        return g.s;
    free(g.s);
    return NULL;
}
