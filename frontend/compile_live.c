/* compile_live.c -- the kernel of a user's model file for pages, NAME.wasm beside NAME.so in the cache.
 *
 * It is made together with the other one if clang can make WebAssembly (build-aux/LiveKernel.cmake lists what that
 * needs) and a page can show the model; otherwise the file is silently left out. homodyne-report finds it by the
 * hash of the model in it. */
#define _POSIX_C_SOURCE 200809L
#include "fit/page.h"
#include "frontend/front.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const unsigned char embedded_live_kernel_c[], embedded_live_kernel_h[];
extern const size_t embedded_live_kernel_c_size, embedded_live_kernel_h_size;

enum { MOST_WORDS = 48 };

static int write_file(const char *folder, const char *name, const unsigned char *text, size_t size)
{
    char path[FRONT_PATH + 512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    const int good = f && fwrite(text, 1, size, f) == size;
    return (!f || fclose(f) == 0) && good;
}

/* The files that the kernel is compiled with, at paths by which they include one another. */
static int write_sources(const char *folder)
{
    char path[FRONT_PATH + 256];
    snprintf(path, sizeof path, "%s/report", folder);
    if (mkdir(path, 0700) != 0)
        return 0;
    snprintf(path, sizeof path, "%s/report/kernel", folder);
    return mkdir(path, 0700) == 0 &&
           write_file(path, "live_kernel.c", embedded_live_kernel_c, embedded_live_kernel_c_size) &&
           write_file(path, "live_kernel.h", embedded_live_kernel_h, embedded_live_kernel_h_size);
}

static size_t split(char *text, char **word, size_t n)
{
    char *save;
    for (char *w = strtok_r(text, " ", &save); w && n < MOST_WORDS - 12; w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    return n;
}

/* Starts clang; 0: it cannot be started. */
static long begin(const char *folder, const char *source, const char *object)
{
    char flags[] = FRONT_LIVE_FLAGS, link[] = FRONT_LIVE_LINK, kernel[FRONT_PATH + 256], log[FRONT_PATH + 256];
    char include[FRONT_PATH + 256], *word[MOST_WORDS] = {front_word("/usr/bin/env"), front_word("clang")};
    size_t n = split(flags, word, 2);
    long pid = 0;
    snprintf(include, sizeof include, "-I%s", folder);
    snprintf(kernel, sizeof kernel, "%s/report/kernel/live_kernel.c", folder);
    snprintf(log, sizeof log, "%s/live.log", folder);
    word[n++] = include;
    word[n++] = front_word("-DFIT_KERNEL_SYMBOL=fit_kernel_page");
    word[n++] = front_word("-DFIT_KERNEL_ISA=\"wasm32\"");
    word[n++] = front_word("-DFIT_ISA_SUFFIX=_page");
    word[n++] = kernel;
    word[n++] = front_word(source);
    n = split(link, word, n);
    word[n++] = front_word("-o");
    word[n++] = front_word(object);
    word[n] = NULL;
    return front_start(word[0], word, log, &pid, NULL) == FIT_OK ? pid : 0;
}

/* 1: a page can show a model of these sizes, which NAME_check.txt tells. clang would take most of the time for a
 * kernel with hundreds of linear parameters, which report/kernel/live_kernel.c refuses. */
static int is_for_pages(const char *folder, const char *name)
{
    char path[FRONT_PATH + 256], line[512];
    unsigned linear = 0, axes = 0, columns = 0;
    snprintf(path, sizeof path, "%s/%s_check.txt", folder, name);
    FILE *f = fopen(path, "r");
    for (int found = 0; f && !found && fgets(line, sizeof line, f);)
        found = sscanf(line, "sizes %*u %u %*u %u %u", &linear, &axes, &columns) == 3;
    if (f)
        fclose(f);
    return linear <= FIT_PAGE_LINEAR && axes <= FIT_PAGE_AXES && columns <= FIT_PAGE_COLUMNS;
}

long front_live_begin(const char *folder, const char *source, const char *name)
{
    char object[FRONT_PATH + 256];
    snprintf(object, sizeof object, "%s/%s.wasm", folder, name);
    return is_for_pages(folder, name) && write_sources(folder) ? begin(folder, source, object) : 0;
}

void front_live_end(long pid, const char *folder, const char *name)
{
    char path[FRONT_PATH + 256];
    int code = 1;
    if (!pid)
        return;
    const int good = front_wait(pid, &code, NULL) == FIT_OK && code == 0;
    snprintf(path, sizeof path, "%s/live.log", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s.wasm", folder, name);
    if (!good)
        unlink(path);
}
