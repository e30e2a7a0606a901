/* imager.c -- an imaging program: main.c with the objective that the build put into it. */
#include "imaging/commands.h"

extern const struct fit_functional *const fit_functionals[];

int main(int argc, char **argv)
{
    return fit_imaging_main(argc, argv, fit_functionals);
}
