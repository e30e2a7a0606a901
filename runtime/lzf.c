/* lzf.c -- LZF decoder and the HDF5 filter around it.
 *
 * Stream (Lehmann, LibLZF): a control byte c < 32 is followed by c + 1 literal bytes.  Otherwise
 * the length is c >> 5, plus the next byte when it is 7, plus 2; the distance is ((c & 31) << 8) +
 * next byte + 1; the bytes are copied from that far back in the output, and may overlap what is
 * being written.
 */
#include "lzf.h"

#include "clock.h"

#include <hdf5.h>
#include <string.h>

enum { FILTER_ID = 32000, MAX_RATIO = 100 /* 3 bytes make 264 at most */ };

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
        if (distance >= len)
            memcpy(out + o, out + o - distance, len);
        else
            for (size_t k = 0; k < len; k++)
                out[o + k] = out[o + k - distance];
        o += len;
    }
    *written = o;
    return FIT_LZF_OK;
}

/* Called by HDF5.  Parameters: filter revision, library version, size of the chunk in bytes (0 in
 * very old files: the output grows until everything fits).  Returns 0 to say that the chunk cannot
 * be read. */
static size_t filter(unsigned flags, size_t nparam, const unsigned param[], size_t nbytes,
                     size_t *size, void **buf)
{
    size_t known = nparam > 2 ? param[2] : 0, room = known ? known : 2 * nbytes,
           limit = MAX_RATIO * nbytes;
    if (!(flags & H5Z_FLAG_REVERSE) || !nbytes || known > limit)
        return 0;
    for (; room <= limit; room *= 2) {
        size_t written = 0;
        unsigned char *out = H5allocate_memory(room, 0);
        if (!out)
            return 0;
        enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
        enum fit_lzf got = fit_lzf_decode(*buf, nbytes, out, room, &written);
        fit_clock_enter(was);
        if (got == FIT_LZF_OK && (!known || written == known)) {
            H5free_memory(*buf);
            *buf = out;
            *size = room;
            return written;
        }
        H5free_memory(out);
        if (got != FIT_LZF_FULL || known)
            return 0;
    }
    return 0;
}

int fit_lzf_register(void)
{
    static const H5Z_class2_t class = {
        H5Z_CLASS_T_VERS, FILTER_ID, 0, 1, "lzf", NULL, NULL, filter};
    if (H5Zfilter_avail(FILTER_ID) > 0)
        return 0;
    return H5Zregister(&class) < 0 ? -1 : 0;
}
