/* sha256.c -- SHA-256 (NIST FIPS 180-4, section 6.2) with the SHA instructions of x86 chosen at
 * run time.
 *
 * The accelerated form keeps the state as two vectors (a b e f) and (c d g h); SHA256RNDS2 does
 * two rounds with the sum of message and constant words, SHA256MSG1/MSG2 extend the message
 * (Gulley et al., "Intel SHA Extensions", 2013).
 */
#include "common/sha256.h"

#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAVE_X86 1
#include <cpuid.h>
#include <immintrin.h>
#else
#define HAVE_X86 0
#endif

/* Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One round; from call to call the names of the state move by one, not the values. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                           \
    do {                                                                                           \
        uint32_t t1 =                                                                              \
            h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + w[t];     \
        d += t1;                                                                                   \
        h = t1 + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));         \
    } while (0)

static void compress_portable(uint32_t s[8], const unsigned char *block, size_t nblock)
{
    for (; nblock; nblock--, block += SHA256_BLOCK) {
        uint32_t w[64];
        uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
        for (int t = 0; t < 16; t++)
            w[t] = big_endian(block + 4 * t);
        for (int t = 16; t < 64; t++) {
            uint32_t x = w[t - 15], y = w[t - 2];
            w[t] = w[t - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[t - 7] +
                   (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
        }
        for (int t = 0; t < 64; t += 8) {
            ROUND(a, b, c, d, e, f, g, h, t);
            ROUND(h, a, b, c, d, e, f, g, t + 1);
            ROUND(g, h, a, b, c, d, e, f, t + 2);
            ROUND(f, g, h, a, b, c, d, e, t + 3);
            ROUND(e, f, g, h, a, b, c, d, t + 4);
            ROUND(d, e, f, g, h, a, b, c, t + 5);
            ROUND(c, d, e, f, g, h, a, b, t + 6);
            ROUND(b, c, d, e, f, g, h, a, t + 7);
        }
        s[0] += a;
        s[1] += b;
        s[2] += c;
        s[3] += d;
        s[4] += e;
        s[5] += f;
        s[6] += g;
        s[7] += h;
    }
}

#if HAVE_X86
/* Four rounds with the message vector m; m1, m2, m3 are those of the next rounds.  m becomes the
 * message of the rounds 16 later. */
#define ROUNDS(m, k)                                                                               \
    do {                                                                                           \
        __m128i x = _mm_add_epi32(m, _mm_loadu_si128((const void *)(K + 4 * (k))));                \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, x);                                               \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(x, 0x0e));                      \
    } while (0)
#define EXTEND(m, m1, m2, m3)                                                                      \
    (m = _mm_sha256msg2_epu32(                                                                     \
         _mm_add_epi32(_mm_sha256msg1_epu32(m, m1), _mm_alignr_epi8(m3, m2, 4)), m3))
#define SIXTEEN(k, last)                                                                           \
    do {                                                                                           \
        ROUNDS(a, k);                                                                              \
        if (!(last))                                                                               \
            EXTEND(a, b, c, d);                                                                    \
        ROUNDS(b, k + 1);                                                                          \
        if (!(last))                                                                               \
            EXTEND(b, c, d, a);                                                                    \
        ROUNDS(c, k + 2);                                                                          \
        if (!(last))                                                                               \
            EXTEND(c, d, a, b);                                                                    \
        ROUNDS(d, k + 3);                                                                          \
        if (!(last))                                                                               \
            EXTEND(d, a, b, c);                                                                    \
    } while (0)

__attribute__((target("sha,sse4.1,ssse3"))) static void
compress_x86(uint32_t h[8], const unsigned char *block, size_t nblock)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const void *)h), hgfe = _mm_loadu_si128((const void *)(h + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; nblock; nblock--, block += SHA256_BLOCK) {
        __m128i abef0 = abef, cdgh0 = cdgh;
        __m128i a = _mm_shuffle_epi8(_mm_loadu_si128((const void *)block), swap);
        __m128i b = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(block + 16)), swap);
        __m128i c = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(block + 32)), swap);
        __m128i d = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(block + 48)), swap);
        SIXTEEN(0, 0);
        SIXTEEN(4, 0);
        SIXTEEN(8, 0);
        SIXTEEN(12, 1);
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* 1: the processor has SHA instructions. */
static int accelerated(void)
{
    const unsigned sse41 = 1u << 19, ssse3 = 1u << 9, sha = 1u << 29;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (sse41 | ssse3)) != (sse41 | ssse3))
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & sha);
}
#endif

void sha256_init_portable(struct sha256 *s)
{
    /* Fractional parts of the square roots of the first 8 primes (FIPS 180-4, 5.3.3). */
    static const uint32_t h0[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, h0, sizeof h0);
    s->length = 0;
    s->compress = compress_portable;
}

void sha256_init(struct sha256 *s)
{
    sha256_init_portable(s);
#if HAVE_X86
    if (accelerated())
        s->compress = compress_x86;
#endif
}

void sha256_update(struct sha256 *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t fill = (size_t)(s->length % SHA256_BLOCK);
    if (!n)
        return;
    s->length += n;
    if (fill) {
        size_t take = SHA256_BLOCK - fill < n ? SHA256_BLOCK - fill : n;
        memcpy(s->tail + fill, p, take);
        if (fill + take < SHA256_BLOCK)
            return;
        s->compress(s->h, s->tail, 1);
        p += take;
        n -= take;
    }
    s->compress(s->h, p, n / SHA256_BLOCK);
    memcpy(s->tail, p + n / SHA256_BLOCK * SHA256_BLOCK, n % SHA256_BLOCK);
}

void sha256_final(struct sha256 *s, unsigned char digest[SHA256_BYTES])
{
    uint64_t bits = s->length * 8;
    size_t fill = (size_t)(s->length % SHA256_BLOCK);
    s->tail[fill++] = 0x80;
    if (fill > SHA256_BLOCK - 8) {
        memset(s->tail + fill, 0, SHA256_BLOCK - fill);
        s->compress(s->h, s->tail, 1);
        fill = 0;
    }
    memset(s->tail + fill, 0, SHA256_BLOCK - 8 - fill);
    for (int i = 0; i < 8; i++)
        s->tail[SHA256_BLOCK - 1 - i] = (unsigned char)(bits >> 8 * i);
    s->compress(s->h, s->tail, 1);
    for (int i = 0; i < SHA256_BYTES; i++)
        digest[i] = (unsigned char)(s->h[i / 4] >> 8 * (3 - i % 4));
}

void sha256_hex(const unsigned char digest[SHA256_BYTES], char hex[SHA256_HEX])
{
    static const char digit[] = "0123456789abcdef";
    for (int i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = digit[digest[i] >> 4];
        hex[2 * i + 1] = digit[digest[i] & 15];
    }
    hex[2 * SHA256_BYTES] = 0;
}

void sha256_of(const void *data, size_t n, char hex[SHA256_HEX])
{
    unsigned char digest[SHA256_BYTES];
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, data, n);
    sha256_final(&s, digest);
    sha256_hex(digest, hex);
}
