/* nvrtc.c -- from the text of kernels to PTX by NVRTC, NVIDIA's compiler as a library, loaded at run time: for
 * models whose build had no compiler for PTX. Contraction off, as the text requires. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/driver.h"

struct nvrtc {
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*ptx_size)(void *, size_t *);
    int (*ptx)(void *, char *);
    int (*destroy)(void **);
};

static void *open_library(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *h = NULL;
    for (size_t k = 0; !h && k < sizeof names / sizeof *names; k++)
        h = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    return h;
}

static int find(void *h, const char *name, void *at)
{
    void **to = at;
    *to = dlsym(h, name);
    return *to != NULL;
}

static int find_all(void *h, struct nvrtc *n)
{
    return find(h, "nvrtcCreateProgram", &n->create) && find(h, "nvrtcCompileProgram", &n->compile) &&
           find(h, "nvrtcGetProgramLogSize", &n->log_size) && find(h, "nvrtcGetProgramLog", &n->log) &&
           find(h, "nvrtcGetPTXSize", &n->ptx_size) && find(h, "nvrtcGetPTX", &n->ptx) &&
           find(h, "nvrtcDestroyProgram", &n->destroy);
}

static void keep_log(struct fit_device *d, const struct nvrtc *n, void *program)
{
    size_t size = 0;
    char *log = n->log_size(program, &size) == 0 ? malloc(size + 1) : NULL;
    if (log && n->log(program, log) == 0) {
        log[size] = 0;
        fit_device_fail(d, "NVRTC: %s", log);
    } else {
        fit_device_fail(d, "NVRTC failed");
    }
    free(log);
}

static char *ptx_of(struct fit_device *d, const struct nvrtc *n, const char *text, unsigned arch)
{
    char option[60];
    const char *const options[] = {option, "--fmad=false"};
    void *program = NULL;
    size_t size = 0;
    char *ptx = NULL;
    snprintf(option, sizeof option, "--gpu-architecture=compute_%u", arch);
    if (n->create(&program, text, "kernels.cu", 0, NULL, NULL) != 0) {
        fit_device_fail(d, "NVRTC: no program");
        return NULL;
    }
    if (n->compile(program, 2, options) != 0)
        keep_log(d, n, program);
    else if (n->ptx_size(program, &size) == 0 && (ptx = malloc(size + 1)) != NULL && n->ptx(program, ptx) == 0)
        ptx[size] = 0;
    n->destroy(&program);
    return ptx;
}

char *fit_nvrtc_compile(struct fit_device *d, const char *text, unsigned arch)
{
    struct nvrtc n;
    void *h = open_library();
    char *ptx = NULL;
    if (!h)
        fit_device_fail(d, "this program has no PTX, and there is no NVRTC (libnvrtc.so) to make it");
    else if (!find_all(h, &n))
        fit_device_fail(d, "libnvrtc.so lacks a function");
    else
        ptx = ptx_of(d, &n, text, arch);
    if (h)
        dlclose(h);
    return ptx;
}
