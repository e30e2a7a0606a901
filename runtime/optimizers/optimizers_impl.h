/* optimizers_impl.h -- shared by the files of this room. */
#pragma once

#include "optimizers/registry.h"

extern const struct fit_optimize_method fit_optimize_nlsq;

/* The function or table `name` (NULL: the return value of the file) of a shared library or a Lua file. */
enum fit_status fit_optimizer_load_c(struct fit_optimizer *found, const char *file, const char *name,
                                     struct fit_error *err);
enum fit_status fit_optimizer_load_lua(struct fit_optimizer *found, const char *file, const char *name,
                                       struct fit_error *err);
