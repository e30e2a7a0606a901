/* analyzer.h -- read by clang-tidy before every file: what its analyzer cannot see across files. */
#ifndef LINT_ANALYZER_H
#define LINT_ANALYZER_H

#include "base/status.h"

/* fit_fail() gives the status that it is given, which is not FIT_OK: after it nothing goes on. */
#define fit_fail(err, status, ...) (fit_fail(err, status, __VA_ARGS__), (status))

#endif
