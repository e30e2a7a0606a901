/* yaml_tree.c -- libyaml events to a tree of nodes.
 *
 * Parses a text into a tree in one arena, by a recursive descent over the events whose depth is limited before
 * libyaml's own stacks can grow. Aliases share the node they name; `size` and `depth` of a node count it as if it
 * were copied, which bounds every later walk over the tree ("billion laughs"). */
#include "files/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/paths.h"

#include "common/regular.h"

struct fit_yaml_doc {
    struct fit_arena arena;
    const struct fit_yaml *root;
};

struct anchor {
    const char *name;
    const struct fit_yaml *node;
    struct anchor *next;
};

struct parse {
    yaml_parser_t parser;
    yaml_event_t event;
    int have_event;
    const char *name, *text;
    size_t length;
    struct fit_yaml_doc *doc;
    struct anchor *anchor;
    size_t nodes;
    struct fit_error *err;
};

static enum fit_status build(struct parse *p, int depth, struct fit_yaml **out);

static enum fit_status no_memory(struct parse *p)
{
    return fit_fail(p->err, FIT_ERR_MEMORY, "%s: out of memory while reading", p->name);
}

static enum fit_status complain(struct parse *p, yaml_mark_t at, const char *what)
{
    return fit_fail_at(p->err, FIT_ERR_CONFIG, p->name, at.line + 1, at.column + 1, "%s", what);
}

/* Line of a byte offset, for errors of the character decoder, which have no position. */
static size_t line_of(const struct parse *p, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset && i < p->length; i++)
        line += p->text[i] == '\n';
    return line;
}

/* Leading spaces of line `line` (0-based) of the text; *after: what follows them. */
static size_t indent_of(const struct parse *p, size_t line, char *after)
{
    size_t at = 0, n = 0;
    for (; line && at < p->length; at++)
        line -= p->text[at] == '\n';
    while (at + n < p->length && p->text[at + n] == ' ')
        n++;
    *after = '\0';
    if (at + n < p->length)
        *after = p->text[at + n];
    return n;
}

/* The same for the last line with a value before `line`. */
static size_t indent_above(const struct parse *p, size_t line)
{
    char after = '\0';
    size_t n = 0;
    while (line-- > 0 && (after == '\0' || strchr("#\r\n", after)))
        n = indent_of(p, line, &after);
    return n;
}

static enum fit_status syntax_error(struct parse *p)
{
    const yaml_parser_t *y = &p->parser;
    if (y->error == YAML_MEMORY_ERROR)
        return no_memory(p);
    if (y->error == YAML_READER_ERROR)
        return fit_fail_at(p->err, FIT_ERR_CONFIG, p->name, line_of(p, y->problem_offset), 0,
                           "%s; save the file as UTF-8", y->problem ? y->problem : "unreadable characters");
    char after;
    const size_t here = indent_of(p, y->problem_mark.line, &after), above = indent_above(p, y->problem_mark.line);
    const int tab = after == '\t';
    const char *what = y->problem ? y->problem : "not YAML";
    char context[160] = "";
    if (y->context && !tab && strcmp(what, "did not find expected key") == 0 && here != above)
        snprintf(context, sizeof context, "; lines of one section are indented alike: %zu spaces here, %zu above",
                 here, above);
    else if (y->context && !tab)
        snprintf(context, sizeof context, " (%s, line %zu)", y->context, y->context_mark.line + 1);
    return fit_fail_at(p->err, FIT_ERR_CONFIG, p->name, y->problem_mark.line + 1, y->problem_mark.column + 1, "%s%s%s",
                       what, context, tab ? "; the line is indented with a tab, use spaces" : "");
}

static enum fit_status next(struct parse *p)
{
    if (p->have_event)
        yaml_event_delete(&p->event);
    p->have_event = 0;
    if (!yaml_parser_parse(&p->parser, &p->event))
        return syntax_error(p);
    p->have_event = 1;
    return FIT_OK;
}

static enum fit_status new_node(struct parse *p, enum fit_yaml_kind kind, struct fit_yaml **out)
{
    struct fit_yaml *node = fit_arena_alloc(&p->doc->arena, sizeof *node);
    if (!node)
        return no_memory(p);
    if (++p->nodes > FIT_YAML_MAX_NODES)
        return complain(p, p->event.start_mark, "more values than a configuration can have");
    node->kind = kind;
    node->size = 1;
    node->line = (unsigned)(p->event.start_mark.line + 1);
    node->column = (unsigned)(p->event.start_mark.column + 1);
    *out = node;
    return FIT_OK;
}

static enum fit_status keep_anchor(struct parse *p, const char *name, const struct fit_yaml *node)
{
    struct anchor *a = fit_arena_alloc(&p->doc->arena, sizeof *a);
    if (!a)
        return no_memory(p);
    *a = (struct anchor){name, node, p->anchor};
    p->anchor = a;
    return FIT_OK;
}

static enum fit_status resolve_alias(struct parse *p, struct fit_yaml **out)
{
    const char *name = (const char *)p->event.data.alias.anchor;
    for (const struct anchor *a = p->anchor; a; a = a->next) {
        if (strcmp(a->name, name) == 0) {
            struct fit_yaml *copy = fit_arena_alloc(&p->doc->arena, sizeof *copy);
            if (!copy)
                return no_memory(p);
            *copy = *a->node;
            *out = copy;
            return FIT_OK;
        }
    }
    return complain(p, p->event.start_mark, "alias (*name) without an anchor (&name) before it");
}

/* Only the core tags are interpreted; !!str makes a string of a plain scalar. */
static enum fit_status check_tag(struct parse *p, const yaml_char_t *tag, int *string)
{
    static const char *const core[] = {"str", "int", "float", "bool", "null", "map", "seq"};
    *string = 0;
    if (!tag)
        return FIT_OK;
    const char *t = (const char *)tag, *prefix = "tag:yaml.org,2002:";
    if (strcmp(t, "!") == 0) {
        *string = 1;
        return FIT_OK;
    }
    if (strncmp(t, prefix, strlen(prefix)) == 0)
        for (size_t i = 0; i < sizeof core / sizeof *core; i++)
            if (strcmp(t + strlen(prefix), core[i]) == 0) {
                *string = i == 0;
                return FIT_OK;
            }
    return complain(p, p->event.start_mark, "tags (!name) are not understood; write a plain value");
}

static enum fit_status build_scalar(struct parse *p, struct fit_yaml **out)
{
    struct fit_yaml *node = NULL;
    enum fit_status st = new_node(p, FIT_YAML_SCALAR, &node);
    if (st)
        return st;
    const char *value = (const char *)p->event.data.scalar.value;
    const size_t n = p->event.data.scalar.length;
    int string;
    if ((st = check_tag(p, p->event.data.scalar.tag, &string)) != FIT_OK)
        return st;
    if (memchr(value, 0, n))
        return complain(p, p->event.start_mark, "a zero character inside a value");
    node->quoted = string || p->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = fit_arena_copy(&p->doc->arena, value, n);
    if (!node->text)
        return no_memory(p);
    *out = node;
    return FIT_OK;
}

struct entries {
    struct fit_yaml_entry *entry;
    size_t n, room;
};

static enum fit_status append(struct parse *p, struct entries *list, struct fit_yaml_entry e)
{
    if (list->n == list->room) {
        const size_t room = list->room ? 2 * list->room : 8;
        struct fit_yaml_entry *bigger = realloc(list->entry, room * sizeof *bigger);
        if (!bigger)
            return no_memory(p);
        list->entry = bigger;
        list->room = room;
    }
    list->entry[list->n++] = e;
    return FIT_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct fit_yaml_entry *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    if (order)
        return order;
    return x->line != y->line ? (x->line < y->line ? -1 : 1)
                              : (x->column > y->column) - (x->column < y->column);
}

static enum fit_status check_duplicates(struct parse *p, const struct entries *list)
{
    if (list->n < 2)
        return FIT_OK;
    FIT_OWNED struct fit_yaml_entry *sorted = malloc(list->n * sizeof *sorted);
    if (!sorted)
        return no_memory(p);
    enum fit_status st = FIT_OK;
    memcpy(sorted, list->entry, list->n * sizeof *sorted);
    qsort(sorted, list->n, sizeof *sorted, by_key);
    for (size_t i = 1; i < list->n && st == FIT_OK; i++)
        if (strcmp(sorted[i - 1].key, sorted[i].key) == 0)
            st = fit_fail_at(p->err, FIT_ERR_CONFIG, p->name, sorted[i].line, sorted[i].column,
                             "key '%.200s' is given twice (first in line %u)", sorted[i].key, sorted[i - 1].line);
    return st;
}

static int has_key(const struct entries *list, const char *key)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->entry[i].key, key) == 0)
            return 1;
    return 0;
}

/* Adds the entries of a merged map that the map itself does not have. */
static enum fit_status merge_map(struct parse *p, struct entries *list, const struct fit_yaml *from)
{
    if (from->kind != FIT_YAML_MAP || from->n > 4096 || list->n > 4096)
        return fit_fail_at(p->err, FIT_ERR_CONFIG, p->name, from->line, from->column,
                           "<< needs an alias of a (small) map");
    enum fit_status st = FIT_OK;
    for (size_t i = 0; i < from->n && st == FIT_OK; i++)
        if (!has_key(list, from->entry[i].key))
            st = append(p, list, from->entry[i]);
    return st;
}

static enum fit_status merge(struct parse *p, struct entries *list, const struct fit_yaml *from)
{
    if (from->kind != FIT_YAML_LIST)
        return merge_map(p, list, from);
    enum fit_status st = FIT_OK;
    for (size_t i = 0; i < from->n && st == FIT_OK; i++)
        st = merge_map(p, list, from->entry[i].value);
    return st;
}

/* Puts the collected entries into the node and checks its size with aliases expanded. */
static enum fit_status close_node(struct parse *p, struct fit_yaml *node,
                                  const struct entries *list)
{
    struct fit_yaml_entry *e = fit_arena_alloc(&p->doc->arena, list->n * sizeof *e);
    if (!e)
        return no_memory(p);
    if (list->n)
        memcpy(e, list->entry, list->n * sizeof *e);
    node->entry = e;
    node->n = list->n;
    for (size_t i = 0; i < list->n; i++) {
        node->size += list->entry[i].value->size;
        if (node->depth < list->entry[i].value->depth + 1)
            node->depth = list->entry[i].value->depth + 1;
    }
    if (node->size > FIT_YAML_MAX_NODES || node->depth > FIT_YAML_MAX_DEPTH)
        return fit_fail_at(p->err, FIT_ERR_CONFIG, p->name, node->line, node->column,
                           "aliases expand to too many values");
    return FIT_OK;
}

static enum fit_status build_list(struct parse *p, int depth, struct fit_yaml *node)
{
    struct entries list = {0};
    enum fit_status st;
    while ((st = next(p)) == FIT_OK && p->event.type != YAML_SEQUENCE_END_EVENT) {
        struct fit_yaml *value;
        if ((st = build(p, depth + 1, &value)) != FIT_OK)
            break;
        st = append(p, &list, (struct fit_yaml_entry){NULL, value->line, value->column, value});
        if (st != FIT_OK)
            break;
    }
    if (st == FIT_OK)
        st = close_node(p, node, &list);
    free(list.entry);
    return st;
}

static enum fit_status build_map(struct parse *p, int depth, struct fit_yaml *node)
{
    struct entries list = {0};
    const struct fit_yaml *merged = NULL;
    enum fit_status st;
    while ((st = next(p)) == FIT_OK && p->event.type != YAML_MAPPING_END_EVENT) {
        struct fit_yaml *key, *value;
        if (p->event.type != YAML_SCALAR_EVENT) {
            st = complain(p, p->event.start_mark, "a key must be a single word");
            break;
        }
        if ((st = build_scalar(p, &key)) != FIT_OK || (st = next(p)) != FIT_OK ||
            (st = build(p, depth + 1, &value)) != FIT_OK)
            break;
        if (!key->quoted && strcmp(key->text, "<<") == 0 && !merged)
            merged = value;
        else if ((st = append(p, &list,
                              (struct fit_yaml_entry){key->text, key->line, key->column, value})) !=
                 FIT_OK)
            break;
    }
    if (st == FIT_OK)
        st = check_duplicates(p, &list);
    if (st == FIT_OK && merged)
        st = merge(p, &list, merged);
    if (st == FIT_OK)
        st = close_node(p, node, &list);
    free(list.entry);
    return st;
}

static const char *event_anchor(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)e->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)e->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return (const char *)e->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static enum fit_status build_collection(struct parse *p, int depth, struct fit_yaml **out)
{
    const int list = p->event.type == YAML_SEQUENCE_START_EVENT;
    int string;
    enum fit_status st = check_tag(
        p, list ? p->event.data.sequence_start.tag : p->event.data.mapping_start.tag, &string);
    if (st == FIT_OK)
        st = new_node(p, list ? FIT_YAML_LIST : FIT_YAML_MAP, out);
    if (st == FIT_OK)
        st = list ? build_list(p, depth, *out) : build_map(p, depth, *out);
    return st;
}

/* The node that begins with the current event. */
static enum fit_status build(struct parse *p, int depth, struct fit_yaml **out)
{
    if (p->event.type == YAML_ALIAS_EVENT)
        return resolve_alias(p, out);
    if (depth >= FIT_YAML_MAX_DEPTH)
        return complain(p, p->event.start_mark, "nested too deeply");
    const char *anchor = event_anchor(&p->event);
    if (anchor && !(anchor = fit_arena_string(&p->doc->arena, anchor)))
        return no_memory(p);
    enum fit_status st;
    if (p->event.type == YAML_SCALAR_EVENT)
        st = build_scalar(p, out);
    else if (p->event.type == YAML_SEQUENCE_START_EVENT ||
             p->event.type == YAML_MAPPING_START_EVENT)
        st = build_collection(p, depth, out);
    else
        st = complain(p, p->event.start_mark, "a value is missing");
    if (st == FIT_OK && anchor)
        st = keep_anchor(p, anchor, *out);
    return st;
}

static enum fit_status build_document(struct parse *p)
{
    struct fit_yaml *root = NULL;
    enum fit_status st = next(p); /* stream start */
    if (st == FIT_OK)
        st = next(p);
    if (st != FIT_OK)
        return st;
    if (p->event.type == YAML_STREAM_END_EVENT) {
        if ((st = new_node(p, FIT_YAML_MAP, &root)) != FIT_OK)
            return st;
        p->doc->root = root;
        return FIT_OK;
    }
    if ((st = next(p)) != FIT_OK || (st = build(p, 0, &root)) != FIT_OK)
        return st;
    p->doc->root = root;
    if ((st = next(p)) != FIT_OK || (st = next(p)) != FIT_OK) /* document end, then what follows */
        return st;
    if (p->event.type != YAML_STREAM_END_EVENT)
        return complain(p, p->event.start_mark,
                        "a second document (---); one file is one configuration");
    return FIT_OK;
}

enum fit_status fit_yaml_parse(const char *text, size_t length, const char *name,
                               struct fit_yaml_doc **doc, struct fit_error *err)
{
    *doc = NULL;
    if (length > FIT_YAML_MAX_BYTES)
        return fit_fail_at(err, FIT_ERR_CONFIG, name, 0, 0, "larger than %u MiB, which no configuration is",
                           FIT_YAML_MAX_BYTES >> 20);
    struct parse p = {.name = name, .text = text, .length = length, .err = err};
    p.doc = calloc(1, sizeof *p.doc);
    if (!p.doc)
        return no_memory(&p);
    if (!yaml_parser_initialize(&p.parser)) {
        free(p.doc);
        return no_memory(&p);
    }
    yaml_parser_set_input_string(&p.parser, (const unsigned char *)text, length);
    const enum fit_status st = build_document(&p);
    if (p.have_event)
        yaml_event_delete(&p.event);
    yaml_parser_delete(&p.parser);
    if (st == FIT_OK)
        *doc = p.doc;
    else
        fit_yaml_free(p.doc);
    return st;
}

static enum fit_status read_all(FILE *f, const char *path, char **text, size_t *length,
                                struct fit_error *err)
{
    size_t room = 1 << 16, n = 0;
    char *t = NULL;
    for (;;) {
        char *bigger = realloc(t, room);
        if (!bigger) {
            free(t);
            return fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory while reading", path);
        }
        t = bigger;
        n += fread(t + n, 1, room - n, f);
        if (n < room || n > FIT_YAML_MAX_BYTES)
            break;
        room *= 2;
    }
    if (ferror(f)) {
        free(t);
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read", path);
    }
    *text = t;
    *length = n;
    return FIT_OK;
}

enum fit_status fit_yaml_parse_file(const char *path, struct fit_yaml_doc **doc,
                                    struct fit_error *err)
{
    FIT_OWNED char *text = NULL;
    size_t length = 0;
    *doc = NULL;
    FILE *f = regular_open(path);
    const int why = errno;
    if (!f && regular_what(path))
        return fit_path_missing(path, err);
    if (!f && why == EISDIR)
        return fit_fail_at(err, FIT_ERR_IO, path, 0, 0, "is a folder; a configuration is a file");
    if (!f) {
        char meant[300];
        fit_path_meant(path, meant, sizeof meant);
        return fit_fail_at(err, FIT_ERR_IO, path, 0, 0, "there is no such configuration file, or it may not be read%s",
                           meant);
    }
    enum fit_status st = read_all(f, path, &text, &length, err);
    fclose(f);
    if (st == FIT_OK)
        st = fit_yaml_parse(text, length, path, doc, err);
    return st;
}

const struct fit_yaml *fit_yaml_root(const struct fit_yaml_doc *doc)
{
    return doc->root;
}

void fit_yaml_free(struct fit_yaml_doc *doc)
{
    if (!doc)
        return;
    fit_arena_free(&doc->arena);
    free(doc);
}

const struct fit_yaml *fit_yaml_get(const struct fit_yaml *node, const char *key)
{
    if (!node || node->kind != FIT_YAML_MAP)
        return NULL;
    for (size_t i = 0; i < node->n; i++)
        if (strcmp(node->entry[i].key, key) == 0)
            return node->entry[i].value;
    return NULL;
}

int fit_yaml_is_null(const struct fit_yaml *node)
{
    static const char *const spelling[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != FIT_YAML_SCALAR || node->quoted)
        return 0;
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++)
        if (strcmp(node->text, spelling[i]) == 0)
            return 1;
    return 0;
}
