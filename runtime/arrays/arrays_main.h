/* arrays_main.h -- the program of a user-defined objective: homodyne-NAME info | eval | fit DATA.h5 (load.h). */
#pragma once

#include "functional/functional.h"

int fit_arrays_main(int argc, char **argv, const struct fit_functional *const *kernels);
