/* compile_gpu.c -- kernels for accelerators of a user's model file: NAME.gpu beside NAME.so in the cache.
 *
 * A shared object with the text of the kernels, their description for the host, and the same kernels as plain C;
 * homodyne-any reads it with NAME.so (loaded.c). OpenCL and NVRTC compile the text when a fit needs it. It is made
 * when --device names an available device; a model without it is fitted by the processor. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"

enum { MOST_TEXT = 1 << 24 };

struct seen {
    const char *word;
    int found;
};

static void see(void *user, const struct fit_device_info *info)
{
    struct seen *s = user;
    const int any = strcmp(s->word, "gpu") == 0 || strcmp(s->word, "auto") == 0;
    s->found |= (any ? info->is_card : strcmp(info->word, s->word) == 0) && !info->unusable[0];
}

static int is_there(const char *word)
{
    struct seen s = {word, strcmp(word, "plain") == 0};
    char missing[400];
    if (strcmp(word, "cpu") != 0 && !s.found)
        fit_device_list(see, &s, missing, sizeof missing);
    return s.found;
}

static int run(char *const *word)
{
    char *text = NULL;
    int code = 1;
    struct fit_error err;
    const enum fit_status st = front_capture(word[0], word, &text, &code, &err);
    free(text);
    return st == FIT_OK && code == 0;
}

/* Bytes of one file as numbers in another, and the table that programs look for. */
static int write_table(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "w");
    int c, good = in && out;
    size_t n = 0;
    if (good)
        fputs("#include \"fit/gpu_program.h\"\nextern const struct fit_gpu_program fit_gpu_own;\n"
              "static const unsigned char text[] = {\n", out);
    while (good && (c = getc(in)) != EOF && n < MOST_TEXT)
        fprintf(out, "%d,%s", c, ++n % 32 ? "" : "\n");
    if (good)
        fputs("0};\nconst struct fit_gpu_source fit_gpu_sources[] = {{&fit_gpu_own, text, 0}, {0, 0, 0}};\n", out);
    if (in)
        fclose(in);
    if (out)
        good = fclose(out) == 0 && good;
    return good && n > 0 && n < MOST_TEXT;
}

/* FOLDER/NAME.gpu. */
static int make(const struct front *f, const char *file, const char *folder, const char *name)
{
    char gen[FRONT_PATH + 32], include[FRONT_PATH + 160], text[FRONT_PATH + 256], table[FRONT_PATH + 256],
        object[FRONT_PATH + 256], beside[FRONT_PATH + 32];
    struct fit_error err;
    snprintf(gen, sizeof gen, "%s/homodyne-gen", f->dir);
    snprintf(include, sizeof include, "-I%s", folder);
    snprintf(text, sizeof text, "%s/%s_gpu.c", folder, name);
    snprintf(table, sizeof table, "%s/%s_text.c", folder, name);
    snprintf(object, sizeof object, "%s/%s.gpu", folder, name);
    char *const generate[] = {gen, front_word(file), front_word("-o"), front_word(folder), front_word("--emit=gpu"),
                              NULL};
    char *const compile[] = {front_word(front_compiler(f, beside, sizeof beside)), front_word("-std=gnu11"),
                             front_word("-O1"), front_word("-w"), front_word("-fPIC"), front_word("-shared"),
                             front_word("-fno-math-errno"), front_word("-ffp-contract=off"),
                             front_word("-DFIT_GPU_SYMBOL=fit_gpu_own"), include, text, table, front_word("-o"), object,
                             front_word("-lm"), NULL};
    return front_write_headers(folder, &err) == FIT_OK && run(generate) && write_table(text, table) && run(compile);
}

void front_device_kernels(struct front *f, const struct front_args *a, const struct front_fitter *fitter)
{
    const char *word = front_passed(a, "--device"), *file = option_value(&a->own, "model");
    char path[FRONT_PATH + 64], cache[FRONT_PATH + 64], made[FRONT_PATH + 256];
    const size_t n = strlen(fitter->kernel);
    struct front_making making = {.lock = -1};
    struct fit_error err;
    if (!word || !file || n < 4 || !is_there(word))
        return;
    snprintf(path, sizeof path, "%.*s.gpu", (int)n - 3, fitter->kernel);
    if (access(path, R_OK) == 0)
        return;
    snprintf(cache, sizeof cache, "%s", fitter->kernel); /* CACHE/KEY/NAME.so */
    for (int k = 0; k < 2 && strrchr(cache, '/'); k++)
        *strrchr(cache, '/') = 0;
    if (!a->quiet)
        fprintf(f->err, "compiling kernels of %s for accelerators ...\n", file);
    int good = front_making_begin(&making, cache, &err) == FIT_OK && make(f, file, making.folder, fitter->model);
    snprintf(made, sizeof made, "%s/%s.gpu", making.folder, fitter->model);
    good = good && rename(made, path) == 0;
    front_making_end(&making);
    if (!good)
        fprintf(f->err, "note: the kernels of %s for accelerators cannot be made; the processor will be used\n", file);
}
