/* server.h -- the viewer's HTTP: one address, 127.0.0.1. */
#pragma once

#include "frontend/viewer/session.h"

struct view_server;

/* port 0: any. *port is the one on which the server listens. */
enum fit_status view_server_begin(struct view_session *s, const char *token, unsigned short *port,
                                  struct view_server **out, struct fit_error *err);
void view_server_end(struct view_server *server);
