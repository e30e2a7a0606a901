/* session.h -- the data that `homodyne view` shows, and the programs that it runs for them.
 *
 * All output lies in one folder, the chosen one: fits as fit-1, fit-2, ..., configurations, and temporary files
 * whose names begin with .view. */
#pragma once

#include "frontend/front.h"
#include "frontend/viewer/request.h"

#include <limits.h>

enum { VIEW_RESULTS = 64 };

struct view_result {
    char name[VIEW_NAME], path[PATH_MAX + 1];
};

struct view_session {
    const char *dir;                /* of the programs */
    char folder[FRONT_PATH];        /* the chosen one, absolute */
    char base[PATH_MAX + 64];       /* configuration from which fits start; "" when only results are watched */
    char title[256];                /* what the user named */
    int at_rest;                    /* 1: no model was named for a data file, and that of a sample at rest is used */
    char *data;                     /* data file, or NULL */
    char *inspect;                  /* its contents, JSON of `inspect`; NULL: unknown */
    char *first;                    /* the data selected by the configuration, JSON, until they are requested */
    char *models;                   /* JSON of `models`, once requested */
    char history[FRONT_PATH + 32];  /* of `watch`: a line of JSON for each fit; "": none */
    size_t nresult;
    struct view_result result[VIEW_RESULTS];
    long pid;                       /* of the fit that runs; 0: none */
    int code;                       /* of the last one; -1: there was none */
    size_t nfit;
    char fit[VIEW_NAME], message[512];
    struct view_words words;        /* of the request at hand */
};

/* target: folder of a fit, configuration or data file; more: further results. model: of a data file, or NULL. */
struct view_start {
    const char *target, *folder, *model, *gap;
    const char *history; /* of `watch`, or NULL */
    size_t nmore;
    char *const *more;
};
enum fit_status view_session_open(struct view_session *s, const char *dir, const struct view_start *start,
                                  struct fit_error *err);
void view_session_close(struct view_session *s); /* ends a running fit, removes temporary files */

/* Texts; the caller frees. s->words: the request of the page. */
enum fit_status view_session_state(struct view_session *s, char **json, struct fit_error *err);
enum fit_status view_session_file(struct view_session *s, char **json, struct fit_error *err);
enum fit_status view_session_live(struct view_session *s, const char *name, char **json, struct fit_error *err);
enum fit_status view_session_data(struct view_session *s, char **json, struct fit_error *err);
enum fit_status view_session_report(struct view_session *s, const char *name, char **page, struct fit_error *err);
enum fit_status view_session_fit(struct view_session *s, char **json, struct fit_error *err);
enum fit_status view_session_stop(struct view_session *s, char **json, struct fit_error *err);
/* The available models; changes the configuration to that of another model, words.name, with words.gap. */
enum fit_status view_session_models(struct view_session *s, char **json, struct fit_error *err);
enum fit_status view_session_model(struct view_session *s, char **json, struct fit_error *err);
enum fit_status view_session_write(struct view_session *s, char **json, struct fit_error *err);
