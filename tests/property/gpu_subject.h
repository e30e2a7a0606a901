/* gpu_subject.h -- random models with their kernels for processors and for accelerators, for tests: written to a
 * folder, compiled to one shared object, loaded. */
#ifndef GPU_SUBJECT_H
#define GPU_SUBJECT_H

#include "fit/gpu_program.h"
#include "fit/kernel.h"
#include "generator/emit/emit.h"
#include "property/random.h"

struct gpu_subject {
    struct hg_arena *a;
    char *text, *gpu; /* of the model, of its kernels for accelerators */
    struct hg_model *m;
    const struct fit_kernel *kernel;
    const struct fit_gpu_program *program;
};

enum gpu_subject_part {
    GPU_SUBJECT_ALL,
    GPU_SUBJECT_VALUES /* of the kernels for accelerators that of the mean alone; compiled as cheaply as can be */
};

/* n of them in DIR (mkdtemp); what goes wrong ends the test.  *so: for dlclose, after which subjects are freed. */
struct gpu_subject *gpu_subjects_new(const char *dir, unsigned n, enum gpu_subject_part part, struct random *r,
                                     void **so);
void gpu_subjects_free(struct gpu_subject *s, unsigned n, const char *dir);

#endif
