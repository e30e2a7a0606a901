/* analyzer.h -- read by clang-tidy before every file: what its analyzer cannot see across files. */
#ifndef LINT_ANALYZER_H
#define LINT_ANALYZER_H

#if __has_include("base/status.h") /* files of the runtime, and of those that stand upon it */
#include "base/status.h"

/* fit_fail() gives the status that it is given, which is not FIT_OK: after it nothing goes on. */
#define fit_fail(err, status, ...) (fit_fail(err, status, __VA_ARGS__), (status))
#define fit_no_memory(err, what) (fit_no_memory(err, what), FIT_ERR_MEMORY)
#endif

#endif
