/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/web.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "serve/answers.h"
#include "serve/static.h"
#include "serve/stream.h"

static const struct http_route routes[] = {
	STATIC_ROUTES,
	{ "GET", "/api/live", stream_live, 0, false },
	{ "GET", "/api/about", stream_about, 0, false },
	{ "GET", "/api/profile", answer_profile, 0, false },
	{ "GET", "/api/threads", answer_threads, 0, false },
	{ "GET", "/debug/pprof/profile", answer_pprof_on, 0, false },
	{ "GET", "/debug/pprof/offcpu", answer_pprof_off, 0, false },
	{ "GET", "/debug/pprof/wall", answer_pprof_wall, 0, false },
};

/* --- readings --- */

static struct error *make_room(struct tick_buffer *buffer, size_t room)
{
	char *more;

	if (buffer->room >= room)
		return NULL;
	more = realloc(buffer->bytes, room);
	if (!more)
		return &error_no_memory;
	buffer->bytes = more;
	buffer->room = room;
	return NULL;
}

/* How many bytes of the reading that is coming should be there: those of the header, then all. */
static struct error *wanted(const struct tick_buffer *buffer, size_t *ret)
{
	*ret = sizeof(struct tick_header);
	return buffer->length < *ret
		       ? NULL
		       : tick_length((const struct tick_header *)(void *)buffer->bytes, ret);
}

static struct error *take_reading(struct web *web)
{
	struct tick tick;
	struct error *err = tick_unpack(web->buffer.bytes, web->buffer.length, &tick);

	if (!err)
		err = store_take(web->store, &tick);
	web->buffer.length = 0;
	if (!err)
		http_wake(web->server);
	return err;
}

/* What there is, but one reading at most, so that requests are answered in between. */
static struct error *receive(struct web *web, bool *ret_has_ended)
{
	for (;;) {
		size_t length;
		struct error *err = wanted(&web->buffer, &length);
		ssize_t got;

		if (!err && web->buffer.length == length && length > sizeof(struct tick_header))
			return take_reading(web);
		if (!err)
			err = make_room(&web->buffer, length);
		if (err)
			return err;
		got = recv(web->options->socket, web->buffer.bytes + web->buffer.length,
			   length - web->buffer.length, MSG_DONTWAIT);
		if (got > 0) {
			web->buffer.length += (size_t)got;
		} else if (got < 0 && errno == EAGAIN) {
			return NULL;
		} else if (got == 0 || errno != EINTR) {
			*ret_has_ended = true;
			return NULL;
		}
	}
}

/* --- the loop --- */

static struct error *serve(struct web *web)
{
	bool has_ended = false;
	struct error *err = NULL;

	while (!err && !has_ended) {
		struct pollfd reasons[] = {
			{ .fd = http_fd(web->server), .events = POLLIN },
			{ .fd = web->options->socket, .events = POLLIN },
		};

		poll(reasons, array_length(reasons), http_timeout_ms(web->server));
		if (reasons[1].revents)
			err = receive(web, &has_ended);
		if (!err)
			err = http_serve(web->server);
	}
	return err;
}

struct error *web_run(const struct web_options *options)
{
	struct web web = { .options = options };
	struct error *err = store_create(&options->store, &web.store);

	if (!err)
		err = http_open(&options->http, routes, array_length(routes), &web, &web.server);
	if (!err)
		err = serve(&web);
	http_close(web.server);
	store_destroy(web.store);
	free(web.buffer.bytes);
	return err;
}
