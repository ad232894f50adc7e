/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An HTTP server with toy routes and its clients, in one thread: the server runs while a test waits
 * for an answer.
 */
#ifndef UNIT_HTTP_SCENE_H
#define UNIT_HTTP_SCENE_H

#include "serve/http.h"
#include "unit/unit.h"

/*
 * The routes:
 *	GET /hello           "hello"
 *	GET /echo            the value of q in the query
 *	GET /files/...       what stands for the "*"
 *	GET /large           100,000 bytes that compress well
 *	GET /later           "now" after two calls of http_wake()
 *	GET /stream          "event N\n" after each http_wake(); ends after event 3
 *	GET /pieces          "piece\n" five times, without http_wake()
 *	GET /fails?errno=N   an error
 *	POST /size           the length of the body, of at most 100,000 bytes
 *	POST /upload         "taken"; a "!" in the body ends it
 *	POST /upload?errno=N an error, before the body is read
 *	GET /open            needs no token
 */
struct http_scene {
	struct http_server *server;
	int port;
	pid_t process;                /* that runs the server; 0: this one */
	int end;                      /* of that process, when it is closed */
	uint64_t announced, uploaded; /* bytes of the last body of /upload */
	unsigned handled, destroyed;  /* calls of handlers; of destroy() of what /stream keeps */
};

void http_scene_open(struct http_scene *scene, const char *token);
/* The same in a process of its own, in the sandbox of servers. */
void http_scene_open_confined(struct http_scene *scene);
void http_scene_close(struct http_scene *scene);

int http_client(const struct http_scene *scene);
void http_send(int client, const char *bytes);

/* Run the server for a moment. */
void http_run(struct http_scene *scene);

/* What the client has got when no more comes; it is freed by the caller. */
char *http_receive(struct http_scene *scene, int client);

/* The answer to a request on a connection of its own. Headers that each request needs are added:
 * give the request line and other headers, each with its end of line. */
char *http_ask(struct http_scene *scene, const char *request);

#endif
