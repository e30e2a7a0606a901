/* base64.c -- see base64.h. */
#include "report/draw/base64.h"

void rp_base64(FILE *out, const unsigned char *p, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < n; k += 3) {
        unsigned x = (unsigned)p[k] << 16 | (k + 1 < n ? (unsigned)p[k + 1] << 8 : 0) |
                     (k + 2 < n ? p[k + 2] : 0u);
        fputc(digit[x >> 18], out);
        fputc(digit[x >> 12 & 63], out);
        fputc(k + 1 < n ? digit[x >> 6 & 63] : '=', out);
        fputc(k + 2 < n ? digit[x & 63] : '=', out);
    }
}
