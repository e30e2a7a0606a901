/* sha256.h -- SHA-256 (NIST FIPS 180-4, section 6.2), for the identity of data files and model
 * sources.
 *
 *     struct sha256 s;
 *     unsigned char digest[SHA256_BYTES];
 *     char hex[SHA256_HEX];
 *     sha256_init(&s);
 *     sha256_update(&s, data, n);       any number of times
 *     sha256_final(&s, digest);
 *     sha256_hex(digest, hex);
 *
 * Uses the SHA instructions of x86 when the processor has them (about 2 GB/s), plain C otherwise.
 * No global state; nothing allocated; nothing can fail.
 */
#ifndef COMMON_SHA256_H
#define COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64, SHA256_HEX = 65 };

struct sha256 {
    uint32_t h[8];
    uint64_t length; /* bytes so far */
    unsigned char tail[SHA256_BLOCK];
    void (*compress)(uint32_t h[8], const unsigned char *block, size_t nblock);
};

void sha256_init(struct sha256 *s);

/* The same without special instructions: for tests. */
void sha256_init_portable(struct sha256 *s);

void sha256_update(struct sha256 *s, const void *data, size_t n);
void sha256_final(struct sha256 *s, unsigned char digest[SHA256_BYTES]);

/* 64 lower-case digits and a final NUL. */
void sha256_hex(const unsigned char digest[SHA256_BYTES], char hex[SHA256_HEX]);

/* The digits of n bytes in one call. */
void sha256_of(const void *data, size_t n, char hex[SHA256_HEX]);

#endif
