/* json.c -- a small writer of JSON text (RFC 8259).
 *
 * Layout: two blanks per level, one value per line; arrays of numbers on one line. The shortest number is found by
 * trying 15, 16 and 17 digits: 17 always read back exactly (Steele & White 1990), 15 usually do. */
#include "base/json.h"

#include "common/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct fit_json *j, const char *s, size_t n)
{
    if (j->failed)
        return;
    if (j->length + n + 1 > j->capacity) {
        size_t capacity = j->capacity ? j->capacity : 1024;
        while (capacity < j->length + n + 1)
            capacity *= 2;
        char *text = realloc(j->text, capacity);
        if (!text) {
            j->failed = 1;
            return;
        }
        j->text = text;
        j->capacity = capacity;
    }
    memcpy(j->text + j->length, s, n);
    j->length += n;
    j->text[j->length] = '\0';
}

static void put_text(struct fit_json *j, const char *s)
{
    put(j, s, strlen(s));
}

static void new_line(struct fit_json *j)
{
    if (j->compact)
        return;
    put_text(j, "\n");
    for (int d = 0; d < j->depth; d++)
        put_text(j, "  ");
}

static void quote(struct fit_json *j, const char *value)
{
    char one[TEXT_ONE];
    put_text(j, "\"");
    for (const char *s = value; *s;) {
        s += text_json(s, one);
        put_text(j, one);
    }
    put_text(j, "\"");
}

/* Comma, new line and key before a value. */
static void lead(struct fit_json *j, const char *key)
{
    if (j->depth > 0) {
        int *count = &j->count[j->depth - 1];
        if (*count)
            put_text(j, j->compact ? ", " : ",");
        *count += 1;
        new_line(j);
    }
    if (key) {
        quote(j, key);
        put_text(j, ": ");
    }
}

void fit_json_begin(struct fit_json *j, const char *key, char bracket)
{
    lead(j, key);
    if (j->depth == FIT_JSON_DEPTH) {
        j->failed = 1;
        return;
    }
    put(j, &bracket, 1);
    j->open[j->depth] = bracket;
    j->count[j->depth] = 0;
    j->depth++;
}

void fit_json_end(struct fit_json *j)
{
    if (j->depth == 0) {
        j->failed = 1;
        return;
    }
    j->depth--;
    if (j->count[j->depth])
        new_line(j);
    put_text(j, j->open[j->depth] == '{' ? "}" : "]");
    if (j->depth == 0 && !j->compact)
        put_text(j, "\n");
}

void fit_json_string(struct fit_json *j, const char *key, const char *value)
{
    lead(j, key);
    if (value)
        quote(j, value);
    else
        put_text(j, "null");
}

void fit_format_double(char *buffer, size_t size, double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, x);
        double back = strtod(buffer, NULL);
        if (memcmp(&back, &x, sizeof x) == 0)
            return;
    }
}

static void put_number(struct fit_json *j, double value)
{
    char text[32] = "null";
    if (isfinite(value))
        fit_format_double(text, sizeof text, value);
    put_text(j, text);
}

void fit_json_number(struct fit_json *j, const char *key, double value)
{
    lead(j, key);
    put_number(j, value);
}

void fit_json_integer(struct fit_json *j, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    lead(j, key);
    put_text(j, text);
}

void fit_json_boolean(struct fit_json *j, const char *key, int value)
{
    lead(j, key);
    put_text(j, value ? "true" : "false");
}

void fit_json_numbers(struct fit_json *j, const char *key, const double *value, size_t n)
{
    lead(j, key);
    put_text(j, "[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            put_text(j, ", ");
        put_number(j, value[i]);
    }
    put_text(j, "]");
}

const char *fit_json_text(const struct fit_json *j)
{
    return j->failed || j->depth != 0 ? NULL : j->text;
}

void fit_json_free(struct fit_json *j)
{
    free(j->text);
    *j = (struct fit_json){0};
}

int fit_json_put(struct fit_json *j, FILE *f)
{
    const char *text = fit_json_text(j);
    const int lost = text == NULL;
    if (text)
        fprintf(f, "%s\n", text);
    fit_json_free(j);
    return lost ? -1 : 0;
}
