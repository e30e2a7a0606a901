/* json.h -- a small writer of JSON text.
 *
 * The text grows in memory; nothing is printed and no call fails: a lack of memory is remembered and reported by
 * fit_json_text(). Objects and arrays nest up to FIT_JSON_DEPTH. Inside an object every value has a key; inside an
 * array the key is NULL.
 *
 *     struct fit_json j = {0};
 *     fit_json_begin(&j, NULL, '{');
 *     fit_json_number(&j, "cost", 1.5);
 *     fit_json_begin(&j, "starts", '[');
 *     fit_json_integer(&j, NULL, 3);
 *     fit_json_end(&j);
 *     fit_json_end(&j);
 *     puts(fit_json_text(&j));   -> {"cost": 1.5, "starts": [3]}
 *     fit_json_free(&j);
 *
 * Numbers are written with the fewest digits that read back to the same double; numbers outside JSON (NaN, infinities)
 * become null. Strings are UTF-8; invalid bytes become U+FFFD.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FIT_JSON_DEPTH 16

struct fit_json {
    char *text; /* NUL-terminated; NULL before the first value */
    size_t length, capacity;
    int depth;
    char open[FIT_JSON_DEPTH]; /* '{' or '[' */
    int count[FIT_JSON_DEPTH]; /* values written at each level */
    int compact;               /* set before the first call: all on one line */
    int failed;                /* out of memory, or nested too deep */
};

void fit_json_begin(struct fit_json *j, const char *key, char bracket); /* bracket: '{' or '[' */
void fit_json_end(struct fit_json *j);
/* A NULL string becomes null. */
void fit_json_string(struct fit_json *j, const char *key, const char *value);
void fit_json_number(struct fit_json *j, const char *key, double value);
void fit_json_integer(struct fit_json *j, const char *key, int64_t value);
void fit_json_boolean(struct fit_json *j, const char *key, int value);
/* An array of numbers, on one line. */
void fit_json_numbers(struct fit_json *j, const char *key, const double *value, size_t n);

/* The text written so far (owned by j), or NULL when memory ran out or brackets are not closed. */
const char *fit_json_text(const struct fit_json *j);
void fit_json_free(struct fit_json *j);

/* Writes the text and a newline, and frees it.  0; -1 when memory ran out (nothing is written). */
int fit_json_put(struct fit_json *j, FILE *f);

/* Writes the shortest decimal form of a finite x that reads back as x; buffer of at least 32. */
void fit_format_double(char *buffer, size_t size, double x);
