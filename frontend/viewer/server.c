/* server.c -- HTTP of the viewer, by libmicrohttpd; see server.h.
 *
 * One thread answers one request after another. request.c defines the permitted requests; bodies are held in memory,
 * up to VIEW_BODY bytes. Answers must not be cached, framed, or loaded by other pages; pages load nothing from
 * elsewhere. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/viewer/server.h"

#include "base/json.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char embedded_view_html[], embedded_view_js[], embedded_view_css[], embedded_live_js[],
    embedded_live_model_js[], embedded_live_sliders_js[], embedded_live_rows_js[], embedded_report_css[];

struct view_server {
    struct MHD_Daemon *daemon;
    struct view_session *session;
    const char *token;
};

struct body { /* of one request */
    char *text;
    size_t n;
    int too_long;
};

/* ---- answers --------------------------------------------------------------------------------- */

static const char policy_app[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
static const char policy_report[] = /* a page that is one file */
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type, const char *policy,
                             char *text)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(text);
        return MHD_NO;
    }
    const char *const header[][2] = {{"Content-Type", type},
                                     {"Content-Security-Policy", policy},
                                     {"Cache-Control", "no-store"},
                                     {"X-Content-Type-Options", "nosniff"},
                                     {"X-Frame-Options", "DENY"},
                                     {"Referrer-Policy", "no-referrer"},
                                     {"Cross-Origin-Resource-Policy", "same-origin"}};
    for (size_t k = 0; k < sizeof header / sizeof *header; k++)
        MHD_add_response_header(r, header[k][0], header[k][1]);
    const enum MHD_Result queued = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return queued;
}

static enum MHD_Result send_json(struct MHD_Connection *c, unsigned status, char *text)
{
    return reply(c, status, "application/json; charset=utf-8", "default-src 'none'", text);
}

static enum MHD_Result send_error(struct MHD_Connection *c, unsigned status, const char *message)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "error", message);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    char *copy = text ? strdup(text) : NULL;
    fit_json_free(&j);
    return copy ? send_json(c, status, copy) : MHD_NO;
}

/* The program's own texts, one after the other. */
static enum MHD_Result send_own(struct MHD_Connection *c, const char *type, const unsigned char *const *part)
{
    size_t n = 0;
    for (size_t k = 0; part[k]; k++)
        n += strlen((const char *)part[k]);
    char *text = malloc(n + 1), *end = text;
    if (!text)
        return MHD_NO;
    *end = '\0';
    for (size_t k = 0; part[k]; k++) {
        const size_t size = strlen((const char *)part[k]);
        memcpy(end, part[k], size + 1);
        end += size;
    }
    return reply(c, 200, type, policy_app, text);
}

static const char *reason(unsigned status)
{
    return status == 403   ? "asked by another page or name; open the address that homodyne view has printed"
           : status == 404 ? "nothing is here; open the address that homodyne view has printed"
           : status == 405 ? "not by this method"
           : status == 413 ? "too long"
                           : "not a request of this page";
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum fit_status ask(struct view_session *s, const struct view_target *t, char **text, struct fit_error *err)
{
    switch (t->route) {
    case VIEW_FILE: return view_session_file(s, text, err);
    case VIEW_LIVE: return view_session_live(s, t->name, text, err);
    case VIEW_REPORT: return view_session_report(s, t->name, text, err);
    case VIEW_MODELS: return view_session_models(s, text, err);
    case VIEW_MODEL: return view_session_model(s, text, err);
    case VIEW_DATA: return view_session_data(s, text, err);
    case VIEW_FIT: return view_session_fit(s, text, err);
    case VIEW_STOP: return view_session_stop(s, text, err);
    case VIEW_WRITE: return view_session_write(s, text, err);
    default: return view_session_state(s, text, err);
    }
}

static enum MHD_Result answer_target(struct view_server *v, struct MHD_Connection *c, const struct view_target *t,
                                     const struct body *b)
{
    static const unsigned char *const page[] = {embedded_view_html, NULL},
                                      *const style[] = {embedded_report_css, embedded_view_css, NULL},
                                      *const script[] = {embedded_live_model_js, embedded_live_sliders_js,
                                                         embedded_live_rows_js,  embedded_live_js,
                                                         embedded_view_js,       NULL};
    struct fit_error err = {.status = FIT_OK};
    char *text = NULL;
    if (t->route == VIEW_PAGE)
        return send_own(c, "text/html; charset=utf-8", page);
    if (t->route == VIEW_STYLE)
        return send_own(c, "text/css; charset=utf-8", style);
    if (t->route == VIEW_SCRIPT)
        return send_own(c, "text/javascript; charset=utf-8", script);
    const int posted = t->route >= VIEW_DATA;
    enum fit_status st = FIT_OK;
    if (posted)
        st = view_words_read(b->text ? b->text : "{}", b->text ? b->n : 2, &v->session->words, &err);
    if (st == FIT_OK)
        st = ask(v->session, t, &text, &err);
    if (st != FIT_OK) {
        free(text);
        return send_error(c, st == FIT_ERR_USAGE ? 400 : st == FIT_ERR_IO ? 404 : 422, err.message);
    }
    return t->route == VIEW_REPORT ? reply(c, 200, "text/html; charset=utf-8", policy_report, text)
                                   : send_json(c, 200, text);
}

static int collect(struct body *b, const char *data, size_t *size)
{
    if (b->n + *size > VIEW_BODY)
        b->too_long = 1;
    char *more = b->too_long ? NULL : realloc(b->text, b->n + *size + 1);
    if (more) {
        memcpy(more + b->n, data, *size);
        b->text = more;
        b->n += *size;
    }
    *size = 0;
    return more || b->too_long;
}

static enum MHD_Result answer(void *user, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    struct view_server *v = user;
    struct body *b = *state;
    struct view_target target = {.route = VIEW_ROUTES};
    (void)version;
    if (!b) {
        *state = calloc(1, sizeof *b);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*size)
        return collect(b, data, size) ? MHD_YES : MHD_NO;
    const struct view_request r = {.method = method,
                                   .path = url,
                                   .host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host"),
                                   .origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin"),
                                   .type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type")};
    const int status = b->too_long ? 413 : view_judge(&r, v->token, &target);
    return status == 200 ? answer_target(v, c, &target, b) : send_error(c, (unsigned)status, reason((unsigned)status));
}

static void finished(void *user, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
    struct body *b = *state;
    (void)user, (void)c, (void)code;
    if (b)
        free(b->text);
    free(b);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

enum fit_status view_server_begin(struct view_session *s, const char *token, unsigned short *port,
                                  struct view_server **out, struct fit_error *err)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(*port)};
    struct view_server *v = calloc(1, sizeof *v);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!v)
        return fit_no_memory(err, "view");
    v->session = s;
    v->token = token;
    v->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, *port, NULL, NULL, answer, v,
                                 MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&here, MHD_OPTION_CONNECTION_LIMIT, 32u,
                                 MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_NOTIFY_COMPLETED, finished, NULL,
                                 MHD_OPTION_END);
    if (!v->daemon) {
        free(v);
        return fit_fail(err, FIT_ERR_IO, "view: cannot listen on 127.0.0.1:%u%s", *port,
                        *port ? "; another program may; without --port any free one is taken" : "");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(v->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (info)
        *port = info->port;
    *out = v;
    return FIT_OK;
}

void view_server_end(struct view_server *v)
{
    if (!v)
        return;
    MHD_stop_daemon(v->daemon);
    free(v);
}
