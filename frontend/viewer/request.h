/* request.h -- the requests that a browser may send to `homodyne view`, and the words in which they are passed on.
 *
 * Everything from the network is checked here, without a socket and without files, so that it can be fuzzed. */
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { VIEW_NAME = 64, VIEW_TEXT = 16384, VIEW_WORDS = 256, VIEW_BODY = 65536 };

enum view_route {
    VIEW_PAGE,
    VIEW_SCRIPT,
    VIEW_STYLE,
    VIEW_STATE,  /* the displayed data, the results, the progress of a fit: GET api/state */
    VIEW_FILE,   /* the contents of the data file, from `inspect`: GET api/file */
    VIEW_LIVE,   /* maps and model of a result: GET api/live/NAME */
    VIEW_REPORT, /* its report: GET report/NAME */
    VIEW_MODELS, /* the models that there are: GET api/models */
    VIEW_DATA,   /* maps of the data as the body selects them: POST api/data */
    VIEW_FIT,    /* begin a fit: POST api/fit */
    VIEW_STOP,   /* end it: POST api/stop */
    VIEW_WRITE,  /* write a configuration: POST api/write */
    VIEW_MODEL,  /* fit with another model from now on: POST api/model */
    VIEW_ROUTES
};

struct view_request {
    const char *method, *path, *host, *origin, *type; /* headers may be NULL */
};

struct view_target {
    enum view_route route;
    char name[VIEW_NAME]; /* of a result; "": none */
};

/* The answer's status: 200 and *target, or 400 (headers), 403 (foreign host or page), 404 (wrong token, or no such
 * path), 405 (another method). */
int view_judge(const struct view_request *r, const char *token, struct view_target *target);

/* A name of a result or a file that is one part of a path: letters, digits and - _ . + , not a dot first. */
int view_is_name(const char *text);

/* Options of a fitter. */
struct view_words {
    char text[VIEW_TEXT];
    char *word[VIEW_WORDS + 1]; /* into text; ended by NULL */
    size_t n, used, ndata;      /* ndata: the first words, which select data */
    char name[VIEW_NAME];       /* member "name"; "": none */
    double gap;                 /* member "gap", um; NaN: none */
};

/* From the body of a request: an object with any of
 *     "q": number   "phi": [numbers]   "frames": [first, last]   "mask": [[first, last], ...]
 *     "name": text   "gap": um
 *     "parameters": [{"name": text, "start": number, "lower": number, "upper": number, "fixed": true}, ...]
 * Numbers may be null: not given.  FIT_ERR_USAGE: anything else. */
enum fit_status view_words_read(const char *body, size_t size, struct view_words *w, struct fit_error *err);
