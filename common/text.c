/* text.c -- foreign texts made safe for display; see text.h. */
#include "common/text.h"

#include <stdio.h>
#include <string.h>

size_t text_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    for (size_t k = 1; k < n; k++)
        if ((s[k] & 0xC0) != 0x80)
            return 0;
    if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)))
        return 0;
    if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)))
        return 0;
    return n;
}

int text_is_control(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    if (n == 1)
        return s[0] < 0x20 || s[0] == 0x7F;
    if (n == 2)
        return (s[0] == 0xC2 && s[1] < 0xA0) || (s[0] == 0xD8 && s[1] == 0x9C); /* C1; U+061C */
    if (n != 3)
        return 0;
    const unsigned u = (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    return u == 0x200E || u == 0x200F || (u >= 0x2028 && u <= 0x202E) || (u >= 0x2066 && u <= 0x2069) || u == 0xFEFF;
}

size_t text_printable(const char *s, size_t bytes, int keep_lines, char *out, size_t size)
{
    size_t length = 0, room = size ? size - 1 : 0;
    const char *end = s + bytes;
    for (size_t n; s < end; s += n) {
        char hex[4 * 4 + 1];
        const size_t valid = text_utf8_length(s);
        const int kept = valid && (!text_is_control(s, valid) || (keep_lines && (*s == '\n' || *s == '\t')));
        const char *piece = kept ? s : hex;
        size_t m = 0;
        n = valid ? valid : 1;
        for (size_t k = 0; !kept && k < n; k++)
            m += (size_t)snprintf(hex + m, sizeof hex - m, "\\x%02x", (unsigned char)s[k]);
        m = kept ? n : m;
        if (length + m <= room)
            memcpy(out + length, piece, m);
        else
            room = length < room ? length : room; /* a character that does not fit ends the text */
        length += m;
    }
    if (size)
        out[length < room ? length : room] = '\0';
    return length;
}

/* The character at s as it is, or U+FFFD. */
static size_t copy_one(const char *s, char out[TEXT_ONE])
{
    const size_t n = text_utf8_length(s);
    snprintf(out, TEXT_ONE, "%.*s", n ? (int)n : 3, n ? s : "\xEF\xBF\xBD");
    return n ? n : 1;
}

size_t text_json(const char *s, char out[TEXT_ONE])
{
    if (*s == '"' || *s == '\\')
        snprintf(out, TEXT_ONE, "\\%c", *s);
    else if (*s == '\n')
        snprintf(out, TEXT_ONE, "\\n");
    else if ((unsigned char)*s < 0x20)
        snprintf(out, TEXT_ONE, "\\u%04x", (unsigned)*s);
    else
        return copy_one(s, out);
    return 1;
}

size_t text_xml(const char *s, char out[TEXT_ONE])
{
    static const char special[] = "&<>\"", *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    const char *found = strchr(special, *s);
    const size_t n = copy_one(s, out);
    if (found)
        snprintf(out, TEXT_ONE, "%s", entity[found - special]);
    else if (text_utf8_length(s) && text_is_control(s, n) && *s != '\n' && *s != '\t')
        out[0] = '\0';
    return n;
}

int text_ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
