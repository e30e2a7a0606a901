/* model_names.h -- the models of the project as their files declare them, built or not: a table that the build makes
 * (build-aux/ModelNames.cmake), for code that has a name but no kernel. */
#pragma once

struct fit_model_name {
    const char *name;
    const char *mode;         /* its name in the Python package that has the model, if different; or NULL */
    const char *const *alias; /* other names in configurations, ended by NULL */
};
extern const struct fit_model_name fit_model_names[]; /* ended by a name that is NULL */
