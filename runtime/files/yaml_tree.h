/* yaml_tree.h -- a YAML (or JSON) text as a tree of nodes that know their position.
 *
 * One document; keys are scalars; a repeated key, a second document, a tag other than the core ones, an alias to a
 * node that contains it, and bad syntax are errors with name:line:column. Merge keys (<<) are expanded. Size, depth
 * and the growth by aliases are limited, so that no text can exhaust the machine. Only this file uses libyaml. */
#pragma once

#include <stddef.h>

#include "base/status.h"

#define FIT_YAML_MAX_BYTES (16u << 20) /* of the text */
#define FIT_YAML_MAX_DEPTH 64          /* nested lists and maps, aliases included */
#define FIT_YAML_MAX_NODES 500000u     /* after aliases are expanded */

enum fit_yaml_kind {
    FIT_YAML_SCALAR, /* text, quoted */
    FIT_YAML_LIST,   /* n, entry[].value */
    FIT_YAML_MAP     /* n, entry[] */
};

struct fit_yaml;

struct fit_yaml_entry {
    const char *key;       /* NULL in a list */
    unsigned line, column; /* of the key, or of the element */
    const struct fit_yaml *value;
};

struct fit_yaml {
    enum fit_yaml_kind kind;
    unsigned line, column; /* 1-based; column in characters */
    int quoted; /* scalar in quotes, literal or tagged !!str: never null */
    const char *text; /* UTF-8, no zero bytes inside */
    size_t n;
    const struct fit_yaml_entry *entry;
    size_t size; /* nodes of this subtree, aliases expanded */
    int depth;   /* 0 for a scalar */
};

struct fit_yaml_doc;

/* Parses length bytes (UTF-8 or UTF-16 with a mark).  name: for messages.  An empty text gives an
 * empty map. Errors: FIT_ERR_CONFIG, FIT_ERR_MEMORY. */
enum fit_status fit_yaml_parse(const char *text, size_t length, const char *name,
                               struct fit_yaml_doc **doc, struct fit_error *err);

/* The same from a file.  FIT_ERR_IO when it cannot be read. */
enum fit_status fit_yaml_parse_file(const char *path, struct fit_yaml_doc **doc,
                                    struct fit_error *err);

const struct fit_yaml *fit_yaml_root(const struct fit_yaml_doc *doc);
void fit_yaml_free(struct fit_yaml_doc *doc);

/* Value of a key of a map; NULL when node is NULL, not a map, or has no such key. */
const struct fit_yaml *fit_yaml_get(const struct fit_yaml *node, const char *key);

/* True for the plain scalars null, Null, NULL, ~ and the empty one. */
int fit_yaml_is_null(const struct fit_yaml *node);
