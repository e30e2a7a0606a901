/* identity.h -- which file it is: its size and SHA-256. */
#pragma once

#include "base/status.h"

#include <stdint.h>

/* sha256: 64 hexadecimal digits; size: bytes.  FIT_ERR_IO, FIT_ERR_MEMORY. */
enum fit_status fit_file_identity(const char *file, char sha256[65], uint64_t *size, struct fit_error *err);
