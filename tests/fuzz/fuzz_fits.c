/* fuzz_fits.c -- FITS files: visibilities (uvfits.c) and images (image_fits.c). */
#include "fuzz.h"

#include "observation/image.h"
#include "observation/observation.h"

#include <math.h>
#include <string.h>

static void read_visibilities(const char *file)
{
    struct fit_obs *o;
    struct fit_error err = {0};
    if (fit_obs_read(file, &o, &err) != FIT_OK) {
        FUZZ_ASSERT(!o && err.message[0]);
        return;
    }
    FUZZ_ASSERT(o->n && fit_obs_check(o, NULL) == FIT_OK);
    for (size_t i = 0; i < o->n; i++)
        FUZZ_ASSERT(isfinite(o->time[i]) && o->time[i] >= 0);
    fit_obs_free(o);
}

static void read_image(const char *file)
{
    struct fit_sky *m;
    struct fit_error err = {0};
    if (fit_image_read(file, &m, &err) != FIT_OK) {
        FUZZ_ASSERT(!m && err.message[0]);
        return;
    }
    for (size_t i = 0; i < m->nx * m->ny; i++)
        FUZZ_ASSERT(isfinite(m->stokes[FIT_STOKES_I][i]));
    fit_image_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *file = fuzz_file(data, size);
    if (size < 9 || memcmp(data, "SIMPLE  =", 9))
        return 0;
    read_visibilities(file);
    read_image(file);
    return 0;
}
