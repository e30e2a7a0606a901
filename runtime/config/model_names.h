/* model_names.h -- the models of the project as their files declare them, built or not: a table that the build makes
 * (build-aux/ModelNames.cmake), for those who have a name and no kernel. */
#pragma once

struct fit_model_name {
    const char *name;
    const char *mode;         /* in the Python package that has the model, where that is another name; or NULL */
    const char *const *alias; /* other names in configurations, ended by NULL */
};
extern const struct fit_model_name fit_model_names[]; /* ended by a name that is NULL */
