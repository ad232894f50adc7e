/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/web.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "serve/answers.h"
#include "serve/static.h"
#include "serve/stream.h"

/* These select readings, and samples in them. */
#define SPAN_PARAMETERS "from to seconds mode filter idle"
/* The same for readings to come; here the path selects the mode. */
#define PPROF_PARAMETERS "seconds filter idle"

static const struct http_route routes[] = {
	STATIC_ROUTES,
	{ "GET", "/api/live", stream_live, 0, false, "history", NULL },
	{ "GET", "/api/about", stream_about, 0, false, NULL, NULL },
	{ "GET", "/api/profile", answer_profile, 0, false, SPAN_PARAMETERS " format group_by",
	  NULL },
	{ "GET", "/api/threads", answer_threads, 0, false, SPAN_PARAMETERS, NULL },
	{ "GET", "/api/thread", answer_thread, 0, false, "tid", NULL },
	{ "GET", "/api/snapshot", answer_snapshot, 0, false, NULL, NULL },
	{ "POST", "/api/files", answer_uploaded, FILE_BYTES_MOST, false, "name", &upload_file },
	{ "POST", "/api/report", answer_report, 0, false, "files", NULL },
	{ "GET", "/api/report/*", answer_page, 0, true, NULL, NULL },
	{ "GET", "/metrics", answer_metrics, 0, false, NULL, NULL },
	{ "GET", "/debug/pprof/profile", answer_pprof_on, 0, false, PPROF_PARAMETERS, NULL },
	{ "GET", "/debug/pprof/offcpu", answer_pprof_off, 0, false, PPROF_PARAMETERS, NULL },
	{ "GET", "/debug/pprof/wall", answer_pprof_wall, 0, false, PPROF_PARAMETERS, NULL },
};

/* --- readings --- */

/* Readings and replies both begin with a magic number and their length. */
static const struct reply_header *head_of(const struct tick_buffer *buffer)
{
	return (const struct reply_header *)(void *)buffer->bytes;
}

static bool is_reply(const struct tick_buffer *buffer)
{
	return head_of(buffer)->magic == REPLY_MAGIC;
}

/* How many bytes of the message that is coming should be there: its head, then all. */
static struct error *wanted(const struct tick_buffer *buffer, size_t *ret)
{
	*ret = sizeof(struct reply_header);
	if (buffer->length < *ret)
		return NULL;
	return is_reply(buffer)
		       ? reply_length(head_of(buffer), ret)
		       : tick_length((const struct tick_header *)(void *)buffer->bytes, ret);
}

static struct error *take_reply(struct web *web)
{
	const struct reply_header *header = head_of(&web->buffer);
	const char *bytes = web->buffer.bytes + sizeof(*header);

	return header->kind == REQUEST_SNAPSHOT ? snapshots_take(&web->snapshots, header, bytes)
						: inspecteds_take(&web->inspecteds, header, bytes,
								  clock_ns(CLOCK_MONOTONIC));
}

static struct error *take_reading(struct web *web)
{
	struct tick tick;
	struct error *err = tick_unpack(web->buffer.bytes, web->buffer.length, &tick);

	if (!err)
		err = store_take(web->store, &tick);
	return err ? err : metrics_take(&web->metrics, web->store, &tick);
}

static struct error *take_message(struct web *web)
{
	struct error *err = is_reply(&web->buffer) ? take_reply(web) : take_reading(web);

	web->buffer.length = 0;
	if (!err)
		http_wake(web->server);
	return err;
}

/* What there is, but one message at most, so that requests are answered in between. */
static struct error *receive(struct web *web, bool *ret_has_ended)
{
	for (;;) {
		size_t length;
		struct error *err = wanted(&web->buffer, &length);
		ssize_t got;

		if (!err && web->buffer.length == length)
			return take_message(web);
		if (!err)
			err = tick_buffer_reserve(&web->buffer, length);
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
			{ .fd = web->reports.worker, .events = POLLIN },
		};

		poll(reasons, array_length(reasons), http_timeout_ms(web->server));
		if (reasons[1].revents)
			err = receive(web, &has_ended);
		if (reasons[2].revents && reports_take(&web->reports))
			http_wake(web->server);
		if (!err)
			err = http_serve(web->server);
	}
	return err;
}

struct error *web_run(const struct web_options *options)
{
	struct web web = { .options = options, .reports = { .worker = -1 } };
	struct error *err = store_create(&options->store, &web.store);

	metrics_init(&web.metrics, options->series_most);
	if (!err)
		err = reports_init(&web.reports, options->worker);
	if (!err)
		err = http_open(&options->http, routes, array_length(routes), &web, &web.server);
	if (!err)
		err = serve(&web);
	http_close(web.server);
	reports_deinit(&web.reports);
	metrics_deinit(&web.metrics);
	store_destroy(web.store);
	free(web.buffer.bytes);
	inspecteds_deinit(&web.inspecteds);
	free(web.snapshots.bytes);
	return err;
}
