/* imager.c -- an imaging program: main.c with the objective compiled into it. */
#include "device/sums.h"
#include "imaging/commands.h"

extern const struct fit_functional *const fit_functionals[];

int main(int argc, char **argv)
{
    fit_device_offer(fit_gpu_sources, NULL);
    return fit_imaging_main(argc, argv, fit_functionals);
}
