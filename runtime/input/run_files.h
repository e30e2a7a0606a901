/* run_files.h -- do the files of a result come from one run? base/run_id.h says where each of them has its id. */
#pragma once

#include "base/status.h"

/* Do all files of the result in `folder` come from one run? FIT_ERR_DATA names two that do not. Files that fit.json
 * lists as "kept_files" of an earlier run may differ. Results of versions without ids pass. */
enum fit_status fit_run_id_check(const char *folder, struct fit_error *err);
