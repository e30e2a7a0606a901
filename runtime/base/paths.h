/* paths.h -- paths as users write them in configurations. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* Resolves a path: ~ and ~/ (HOME), $VAR and ${VAR} are expanded, unless a file is called so; a relative path is
 * sought beside `beside` (a file; NULL: no such file) first, then in the current directory; if it exists in neither,
 * the first is meant. "..", spaces and UTF-8 are allowed. *path is to be freed by the caller. Errors: FIT_ERR_CONFIG (a
 * variable is not set), FIT_ERR_MEMORY. */
enum fit_status fit_path_resolve(const char *written, const char *beside, char **path,
                                 struct fit_error *err);

/* The two joined with one '/'; an absolute name, or one with an empty folder, is unchanged. NULL: out of memory. */
char *fit_path_join(const char *folder, const char *name);

int fit_path_exists(const char *path);

/* "; did you mean 'my.yaml'?": the nearest name in the folder of a missing file; empty when none is near. 300
 * characters suffice.
 */
void fit_path_meant(const char *path, char *text, size_t size);

/* The message about a file that cannot be opened: FIT_ERR_IO, with the nearest name in its folder. */
enum fit_status fit_path_missing(const char *path, struct fit_error *err);
