/* object.h -- the components of an HDF5 file: object headers, links, attributes, types, the storage of datasets. For
 * the reading files of this room; others use reader.h.
 *
 * All functions that take a file count the bytes they read against the walk (fit_h5_walk). They return FIT_ERR_DATA for
 * damage, and FIT_ERR_UNSUPPORTED for features of the format that are not supported here: the message is then a word
 * for the feature, without the file (fit_h5_refuse).
 */
#pragma once

#include "hdf5/bytes.h"
#include "hdf5/plugins.h"
#include "hdf5/reader.h"

/* ---- Headers of objects (header.c; IV.A.1) ---------------------------------------------- */

enum fit_h5_message_type {
    FIT_H5_SPACE = 0x01,
    FIT_H5_LINK_INFO = 0x02,
    FIT_H5_TYPE = 0x03,
    FIT_H5_OLD_FILL = 0x04,
    FIT_H5_FILL = 0x05,
    FIT_H5_LINK = 0x06,
    FIT_H5_EXTERNAL = 0x07, /* values in other files */
    FIT_H5_LAYOUT = 0x08,
    FIT_H5_FILTERS = 0x0b,
    FIT_H5_ATTRIBUTE = 0x0c,
    FIT_H5_CONTINUED = 0x10,
    FIT_H5_SYMBOLS = 0x11,
    FIT_H5_ATTRIBUTE_INFO = 0x15
};

struct fit_h5_message {
    unsigned type, shared; /* shared: it is stored elsewhere, and was not found there */
    const unsigned char *body;
    size_t n;
};

struct fit_h5_header {
    struct fit_h5_bytes *file;
    uint64_t address;
    struct fit_h5_message *message;
    size_t n, room;
    unsigned char **block; /* where the bodies lie */
    size_t nblock;
};

/* fit_h5_header_as_is() leaves shared messages unresolved: their bodies say where they are. */
enum fit_status fit_h5_header_as_is(struct fit_h5_bytes *f, uint64_t address, struct fit_h5_header *h,
                                    struct fit_error *err);
enum fit_status fit_h5_header_read(struct fit_h5_bytes *f, uint64_t address,
                                   struct fit_h5_header *h, struct fit_error *err);
void fit_h5_header_free(struct fit_h5_header *h);

/* The first message of a type, or NULL. */
const struct fit_h5_message *fit_h5_message(const struct fit_h5_header *h, unsigned type);

/* ---- Shared messages (shared.c; III.I, IV.C) -------------------------------------------- */

/* The body of a message that refers to it, for the caller to free. */
enum fit_status fit_h5_shared_read(struct fit_h5_bytes *f, const struct fit_h5_message *m, unsigned char **body,
                                   size_t *n, struct fit_error *err);
/* The same from an identifier (8 bytes) in the heap of shared messages of a type. */
enum fit_status fit_h5_shared_heap(struct fit_h5_bytes *f, unsigned type, const unsigned char *id, unsigned char **body,
                                   size_t *n, struct fit_error *err);

/* ---- Heaps (heap.c; III.D-F) ------------------------------------------------------------ */

/* Names of an old group: the bytes of its local heap, for the caller to free. */
enum fit_status fit_h5_local_heap(struct fit_h5_bytes *f, uint64_t address, unsigned char **data,
                                  size_t *n, struct fit_error *err);

/* Texts of variable length: a collection of the global heap; {0} before the first call, free(block)
 * after the last. */
struct fit_h5_collection {
    uint64_t address;
    unsigned char *block;
    size_t n;
};
enum fit_status fit_h5_global(struct fit_h5_bytes *f, struct fit_h5_collection *c,
                              uint64_t address, unsigned index, const unsigned char **data,
                              size_t *n, struct fit_error *err);

/* Links and attributes that do not fit into a header. */
struct fit_h5_fractal {
    uint64_t address, root, large;
    unsigned wide_id, wide_offset, wide_length, width, rows, bits, filters;
    uint64_t start, direct_most;
};
enum fit_status fit_h5_fractal_open(struct fit_h5_bytes *f, uint64_t address,
                                    struct fit_h5_fractal *heap, struct fit_error *err);
/* The object of an identifier of n bytes; for the caller to free. */
enum fit_status fit_h5_fractal_read(struct fit_h5_bytes *f, const struct fit_h5_fractal *heap,
                                    const unsigned char *id, size_t n, unsigned char **object,
                                    size_t *size, struct fit_error *err);

/* ---- B-trees (btree.c; III.A) ----------------------------------------------------------- */

/* A record of n bytes; a value other than 0 ends the walk; *err is filled if that was an error. */
typedef int fit_h5_on_record(void *user, const unsigned char *record, size_t n,
                             struct fit_error *err);

/* Version 1: keys of wide_key bytes, each before an address; type 0 (groups) or 1 (chunks).  A record
 * of a leaf is its key and its address. */
enum fit_status fit_h5_tree(struct fit_h5_bytes *f, uint64_t address, unsigned type,
                            unsigned wide_key, fit_h5_on_record *on, void *user,
                            struct fit_error *err);

/* Version 2, from its header. */
enum fit_status fit_h5_tree2(struct fit_h5_bytes *f, uint64_t address, fit_h5_on_record *on,
                             void *user, struct fit_error *err);

/* The records of links or attributes in the heap that a message names; `orders`: bytes of their largest creation
 * order, if present. FIT_OK also where there are none. */
enum fit_status fit_h5_dense(struct fit_h5_bytes *f, const struct fit_h5_message *m, unsigned orders,
                             struct fit_h5_fractal *heap, fit_h5_on_record *on, void *user, struct fit_error *err);

/* ---- Links (link.c; IV.A.2.g) ----------------------------------------------------------- */

enum fit_h5_link_kind {
    FIT_H5_HARD, /* an object of the file */
    FIT_H5_SOFT, /* a path in the file */
    FIT_H5_EXTERNAL_LINK, /* a path in another file */
    FIT_H5_ODD_LINK       /* something that a plugin knows: never followed */
};

struct fit_h5_link {
    enum fit_h5_link_kind kind;
    const char *name, *target; /* not ended by NUL */
    size_t nname, ntarget;
    uint64_t address;
};

/* A value other than 0 ends the walk, without an error when err is not filled. */
typedef int fit_h5_on_link(void *user, const struct fit_h5_link *link, struct fit_error *err);

enum fit_status fit_h5_links(struct fit_h5_bytes *f, uint64_t group, fit_h5_on_link *on, void *user,
                             struct fit_error *err);

/* The link of a name in a group, NULL: none; from a cached list (groups.c), valid until the next call. 0: no list
 * can be kept, and nothing is known. */
int fit_h5_known_link(struct fit_h5_bytes *f, uint64_t group, const char *name, size_t n,
                      const struct fit_h5_link **link);

/* Resolves a path, perhaps into another file. A missing object is no error. ELSEWHERE: a link that is not followed,
 * or dangles; the latter is an error. */
enum fit_h5_end { FIT_H5_NOTHING, FIT_H5_OBJECT, FIT_H5_ELSEWHERE };
struct fit_h5_at {
    struct fit_h5_bytes *f; /* lives as long as the file of the path */
    uint64_t address;
};
enum fit_status fit_h5_find(struct fit_h5_bytes *f, const char *path, enum fit_h5_end *end, struct fit_h5_at *at,
                            struct fit_error *err);

/* The header of the dataset at a path, perhaps in another file; the message says what is there instead. */
enum fit_status fit_h5_dataset_header(struct fit_h5_bytes *f, const char *path,
                                      struct fit_h5_header *h, struct fit_error *err);

/* ---- Types and extents (type.c; IV.A.2.b, d) -------------------------------------------- */

enum fit_h5_class { FIT_H5_INTEGER, FIT_H5_FLOAT, FIT_H5_FIXED_TEXT, FIT_H5_LONG_TEXT, FIT_H5_ODD_NUMBER, FIT_H5_ODD };

struct fit_h5_datatype {
    enum fit_h5_class class;
    size_t size;
    int big_endian, is_signed, spaces; /* spaces: text is padded with them */
    unsigned offset, precision;        /* bits of an integer */
};

struct fit_h5_space {
    int rank;
    size_t dims[FIT_H5_RANK], n; /* unused extents are 1 */
    uint64_t most[FIT_H5_RANK];  /* to which an extent may grow */
};

enum fit_status fit_h5_type_read(struct fit_h5_bytes *f, const struct fit_h5_message *m,
                                 struct fit_h5_datatype *type, struct fit_error *err);
enum fit_status fit_h5_space_read(struct fit_h5_bytes *f, const struct fit_h5_message *m,
                                  struct fit_h5_space *space, struct fit_error *err);

/* 1 when fit_h5_convert can convert values of the type to doubles. */
int fit_h5_is_number(const struct fit_h5_datatype *type);

/* 1 when the type is float (4 bytes) or double of this machine. */
int fit_h5_is_native(const struct fit_h5_datatype *type);

/* Converts n values to doubles. `from` may be the last n * size bytes of the memory of `to`. */
void fit_h5_convert(const struct fit_h5_datatype *type, const unsigned char *from, size_t n, double *to);

/* ---- Datasets (storage.c; IV.A.2.f, i, l) ----------------------------------------------- */

enum { FIT_H5_FILTERS_MOST = 32 /* as in libhdf5 */ };
enum { FIT_H5_DEFLATE = 1, FIT_H5_SHUFFLE = 2, FIT_H5_FLETCHER = 3, FIT_H5_LZF = 32000 }; /* others: plugins.h */
enum { FIT_H5_PARAMETERS = 5 };
enum fit_h5_storage { FIT_H5_UNKNOWN, FIT_H5_COMPACT, FIT_H5_CONTIGUOUS, FIT_H5_CHUNKED, FIT_H5_VIRTUAL };
enum fit_h5_index {
    FIT_H5_SINGLE = 1,
    FIT_H5_IMPLICIT = 2,
    FIT_H5_FIXED_ARRAY = 3,
    FIT_H5_GROWING_ARRAY = 4,
    FIT_H5_INDEX_TREE2 = 5,
    FIT_H5_INDEX_TREE = 6 /* older versions */
};

struct fit_h5_dataset {
    struct fit_h5_datatype type;
    struct fit_h5_space space;
    enum fit_h5_storage storage;
    uint64_t address;       /* of the values (contiguous) or of the index */
    unsigned char *compact; /* the values, or NULL */
    size_t ncompact;
    unsigned char *fill; /* value of unwritten elements; NULL: zeros */
    /* chunks */
    size_t part[FIT_H5_RANK];
    enum fit_h5_index index;
    uint64_t single_bytes;
    unsigned single_skipped;
    int plain_edges; /* chunks that reach beyond the extent are not filtered */
    int nfilter, filter[FIT_H5_FILTERS_MOST];
    uint32_t parameter[FIT_H5_FILTERS_MOST][FIT_H5_PARAMETERS]; /* the first numbers of each; 0: it has fewer */
};

/* Type and space only. */
enum fit_status fit_h5_dataset_look(const struct fit_h5_header *h, struct fit_h5_dataset *d, struct fit_error *err);

/* The whole description. With FIT_ERR_UNSUPPORTED (fit_h5_refuse) d contains the understood part: its storage is
 * UNKNOWN, or only its filters are none of those below. */
enum fit_status fit_h5_dataset_read(const struct fit_h5_header *h, struct fit_h5_dataset *d, struct fit_error *err);
void fit_h5_dataset_free(struct fit_h5_dataset *d);
int fit_h5_is_dataset(const struct fit_h5_header *h);
int fit_h5_is_group(const struct fit_h5_header *h);
int fit_h5_is_virtual(const struct fit_h5_header *h);

/* ---- Chunks (chunk.c, array.c; III.A, VII) ----------------------------------------- */

struct fit_h5_place {
    uint64_t at[FIT_H5_RANK]; /* in chunks */
    uint64_t address, bytes;
    unsigned skipped; /* filters that were left out */
};

typedef void fit_h5_on_chunk(void *user, const struct fit_h5_place *place);

/* Bytes of an expanded chunk; 0 when they are too many. */
uint64_t fit_h5_chunk_bytes(const struct fit_h5_dataset *d);

/* Calls `on` for every chunk that was written. */
enum fit_status fit_h5_chunks(struct fit_h5_bytes *f, const struct fit_h5_dataset *d,
                              fit_h5_on_chunk *on, void *user, struct fit_error *err);

/* For the arrays: the element of chunk number k (in the order of the array). */
struct fit_h5_numbered {
    struct fit_h5_bytes *f;
    const struct fit_h5_dataset *d;
    fit_h5_on_chunk *on;
    void *user;
    uint64_t down[FIT_H5_RANK]; /* distance in chunks between neighbours along an axis */
    int axis[FIT_H5_RANK];      /* in the order of the array */
    uint64_t most;              /* chunks that there can be */
};
void fit_h5_numbered(const struct fit_h5_numbered *a, uint64_t k, const unsigned char *element,
                     size_t n);
enum fit_status fit_h5_fixed_array(const struct fit_h5_numbered *a, struct fit_error *err);
enum fit_status fit_h5_growing_array(const struct fit_h5_numbered *a, struct fit_error *err);

/* ---- Filters (filter.c; IV.A.2.l) ------------------------------------------------------- */

/* 1 when the filter compresses; for bitshuffle this depends on its parameters. */
int fit_h5_compresses(const struct fit_h5_dataset *d, int k);
struct fit_bitshuffle fit_h5_bitshuffle(const uint32_t *parameter);

/* Reverses the filters that are not in `skipped`, last first. `in` (malloc, n bytes) is consumed; *out has `size`
 * bytes, for the caller to free. *damaged: the chunk is invalid (*out is NULL then, and the status FIT_OK). */
enum fit_status fit_h5_expand(const struct fit_h5_dataset *d, unsigned skipped, unsigned char *in,
                              size_t n, size_t size, unsigned char **out, int *damaged,
                              struct fit_error *err);

/* 1 when n bytes can expand to `size` by these filters: one byte gives at most 1032 with gzip, 88 with LZF, 255 with
 * LZ4, 32768 with Zstandard. */
int fit_h5_can_become(const struct fit_h5_dataset *d, unsigned skipped, uint64_t n, uint64_t size);

/* ---- Attributes (attribute.c; IV.A.2.m, v) ---------------------------------------------- */

struct fit_h5_attribute {
    const char *name; /* not ended by NUL */
    size_t nname;
    struct fit_h5_datatype type;
    struct fit_h5_space space;
    const unsigned char *value;
};

typedef int fit_h5_on_attribute(void *user, const struct fit_h5_attribute *a,
                                struct fit_error *err);

/* Unsupported attributes are left out. */
enum fit_status fit_h5_attributes(const struct fit_h5_header *h, fit_h5_on_attribute *on, void *user,
                                  struct fit_error *err);
