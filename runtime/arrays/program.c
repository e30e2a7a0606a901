/* program.c -- the program of an objective: main.c with the objective that the build has compiled in. */
#include "arrays/arrays_main.h"

extern const struct fit_functional *const fit_functionals[];

int main(int argc, char **argv)
{
    return fit_arrays_main(argc, argv, fit_functionals);
}
