/* sha256.h -- SHA-256 (FIPS 180-4, section 6.2) of a text, for the hash of a model file. */
#ifndef HG_SHA256_H
#define HG_SHA256_H

#include <stddef.h>

/* hex receives 64 hexadecimal digits and a NUL. */
void hg_sha256(const void *data, size_t n, char hex[65]);

#endif
