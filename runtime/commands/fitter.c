/* fitter.c -- a fitter: the program of main.c with the kernels that the build put into it. */
#include "fit/kernel.h"
#include "commands/program.h"

int main(int argc, char **argv)
{
    return fit_program_main(argc, argv, fit_kernels);
}
