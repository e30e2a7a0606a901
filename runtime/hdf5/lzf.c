/* lzf.c -- LZF decoder.
 *
 * Stream (Lehmann, LibLZF): a control byte c < 32 is followed by c + 1 literal bytes.  Otherwise
 * the length is c >> 5, plus the next byte when it is 7, plus 2; the distance is ((c & 31) << 8) +
 * next byte + 1; the bytes are copied from that far back in the output, and may overlap what is
 * being written.
 */
#include "hdf5/lzf.h"

#include <string.h>

/* Repeats len bytes that begin `distance` before `to`. */
static void repeat(unsigned char *to, size_t distance, size_t len)
{
    if (distance >= len)
        memcpy(to, to - distance, len);
    else
        for (size_t k = 0; k < len; k++)
            to[k] = to[(ptrdiff_t)k - (ptrdiff_t)distance];
}

enum fit_lzf fit_lzf_decode(const unsigned char *in, size_t n, unsigned char *out, size_t size,
                            size_t *written)
{
    size_t i = 0, o = 0;
    *written = 0;
    while (i < n) {
        size_t c = in[i++];
        if (c < 32) {
            size_t len = c + 1;
            if (len > n - i)
                return FIT_LZF_BAD;
            if (len > size - o)
                return FIT_LZF_FULL;
            memcpy(out + o, in + i, len);
            i += len;
            o += len;
            continue;
        }
        size_t len = c >> 5;
        if (len == 7) {
            if (i >= n)
                return FIT_LZF_BAD;
            len += in[i++];
        }
        len += 2;
        if (i >= n)
            return FIT_LZF_BAD;
        size_t distance = ((c & 31) << 8) + in[i++] + 1;
        if (distance > o)
            return FIT_LZF_BAD;
        if (len > size - o)
            return FIT_LZF_FULL;
        repeat(out + o, distance, len);
        o += len;
    }
    *written = o;
    return FIT_LZF_OK;
}
