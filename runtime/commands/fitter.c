/* fitter.c -- a fitter: the program of main.c with the kernels compiled into it. */
#include "fit/kernel.h"
#include "commands/program.h"
#include "device/sums.h"

int main(int argc, char **argv)
{
    fit_device_offer(fit_gpu_sources, fit_kernels);
    return fit_program_main(argc, argv, fit_kernels);
}
