/* run_files.h -- are the files of a result of one run?  base/run_id.h says where each of them has its id. */
#pragma once

#include "base/status.h"

/* Are all files of the result in `folder` of one run?  FIT_ERR_DATA names two that are not.  Files that fit.json lists
 * as "kept_files" of an earlier run may be of another.  Results of versions without ids pass. */
enum fit_status fit_run_id_check(const char *folder, struct fit_error *err);
