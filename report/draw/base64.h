/* base64.h -- bytes as text (RFC 4648, section 4). */
#ifndef RP_BASE64_H
#define RP_BASE64_H

#include <stddef.h>
#include <stdio.h>

void rp_base64(FILE *out, const unsigned char *p, size_t n);

#endif
