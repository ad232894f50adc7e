/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/inspected.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/web.h"

/* --- answers --- */

void inspecteds_deinit(struct inspecteds *inspecteds)
{
	for (size_t i = 0; i < INSPECTED_MOST; i++)
		free(inspecteds->items[i].bytes);
	*inspecteds = (struct inspecteds){ 0 };
}

static struct inspected *find(const struct inspecteds *inspecteds, uint32_t tid)
{
	for (size_t i = 0; i < INSPECTED_MOST; i++)
		if (inspecteds->items[i].tid == tid)
			return (struct inspected *)&inspecteds->items[i];
	return NULL;
}

const struct inspected *inspecteds_find(const struct inspecteds *inspecteds, uint32_t tid,
					uint64_t least_ns)
{
	const struct inspected *found = find(inspecteds, tid);

	return found && found->came_ns && found->came_ns >= least_ns ? found : NULL;
}

/* Is a request pending? The collector may drop requests, so a request expires. */
static bool is_on_its_way(const struct inspected *inspected, uint64_t now)
{
	return inspected->asked_ns && now - inspected->asked_ns < INSPECTED_PATIENCE_NS;
}

/* A free place, or else the place with the oldest answer. */
static struct inspected *find_place(struct inspecteds *inspecteds, uint64_t now)
{
	struct inspected *oldest = NULL;

	for (size_t i = 0; i < INSPECTED_MOST; i++) {
		struct inspected *place = &inspecteds->items[i];

		if (!is_on_its_way(place, now) && (!oldest || place->came_ns < oldest->came_ns))
			oldest = place;
	}
	return oldest;
}

static size_t count_on_their_way(const struct inspecteds *inspecteds, uint64_t now)
{
	size_t count = 0;

	for (size_t i = 0; i < INSPECTED_MOST; i++)
		count += is_on_its_way(&inspecteds->items[i], now);
	return count;
}

struct error *inspecteds_ask(struct inspecteds *inspecteds, uint32_t tid, uint64_t now,
			     bool *ret_is_new)
{
	struct inspected *place = find(inspecteds, tid);

	_Static_assert(REQUEST_THREADS_MOST < INSPECTED_MOST, "there is always a place");
	*ret_is_new = !place || !is_on_its_way(place, now);
	if (!*ret_is_new)
		return NULL;
	if (count_on_their_way(inspecteds, now) >= REQUEST_THREADS_MOST)
		return error_coded(EBUSY, "too many threads wait to be inspected");
	if (!place) {
		place = find_place(inspecteds, now);
		free(place->bytes);
		*place = (struct inspected){ .tid = tid };
	}
	place->asked_ns = now;
	return NULL;
}

struct error *inspecteds_take(struct inspecteds *inspecteds, const struct reply_header *header,
			      const char *bytes, uint64_t now)
{
	struct inspected *place = find(inspecteds, header->tid);
	size_t length;
	char *copy;

	if (!header->tid || !place)
		return NULL;
	copy = reply_copy(header, bytes, &length);
	if (!copy)
		return &error_no_memory;
	free(place->bytes);
	*place = (struct inspected){
		.tid = header->tid,
		.came_ns = now,
		.status = header->status,
		.bytes = copy,
		.length = length,
	};
	return NULL;
}

/* --- requests --- */

struct inspected_reader {
	uint32_t tid;
	uint64_t since_ns;
};

static struct error *query_tid(const struct http_exchange *exchange, uint32_t *ret)
{
	const char *given = http_query(exchange, "tid");

	if (given && text_u32(text_of(given), ret) && *ret && *ret <= REQUEST_TID_MAX)
		return NULL;
	return error_coded(EINVAL, "tid is missing, or is not a thread ID");
}

/* Is the thread in the readings? Only then may the collector be asked about it. */
static bool is_known(const struct tick_store *store, uint32_t tid)
{
	for (size_t i = 0; i < store->book->threads.count; i++)
		if (store->book->threads.items[i].tid == tid)
			return true;
	return false;
}

static struct error *begin(struct http_exchange *exchange, uint64_t now,
			   struct inspected_reader **ret)
{
	struct inspected_reader *waiting;
	uint32_t tid;
	struct error *err = query_tid(exchange, &tid);

	if (err)
		return err;
	waiting = calloc(1, sizeof(*waiting));
	if (!waiting)
		return &error_no_memory;
	*waiting = (struct inspected_reader){ tid, now };
	http_keep(exchange, waiting, free);
	*ret = waiting;
	return NULL;
}

/* Request the inspection of a thread, unless a request about it is pending. */
static struct error *ask(struct web *web, uint32_t tid, uint64_t now)
{
	bool is_new;
	struct error *err;

	if (!is_known(web->store, tid))
		return error_coded(ENOENT, "thread %" PRIu32 " is not in the readings", tid);
	err = inspecteds_ask(&web->inspecteds, tid, now, &is_new);
	if (err || !is_new)
		return err;
	err = request_send(web->options->socket, REQUEST_THREAD, tid);
	if (err)
		find(&web->inspecteds, tid)->asked_ns = 0;
	return err;
}

static struct error *send_answer(struct http_exchange *exchange, const struct inspected *inspected)
{
	switch (inspected->status) {
	case REPLY_GONE:
		return error_coded(ENOENT, "%s", inspected->bytes);
	case REPLY_FAILED:
		return error_create("%s", inspected->bytes);
	case REPLY_DONE:
		break;
	}
	return http_write(exchange, inspected->bytes, inspected->length);
}

struct error *answer_thread(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	struct web *web = context;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct inspected_reader *waiting = http_kept(exchange);
	const struct inspected *answer;
	struct error *err;

	*ret = HTTP_DONE;
	if (web->options->no_inspection)
		return error_coded(EPERM, "threads are not inspected (--no-inspect)");
	err = waiting ? NULL : begin(exchange, now, &waiting);
	if (err)
		return err;
	*ret = HTTP_LATER;
	/* The first reading may take a while. */
	if (!web->store->ticks.count) {
		waiting->since_ns = now;
		return NULL;
	}
	answer = inspecteds_find(&web->inspecteds, waiting->tid,
				 waiting->since_ns - INSPECTED_FRESH_NS);
	if (!answer && now - waiting->since_ns <= INSPECTED_PATIENCE_NS)
		return ask(web, waiting->tid, now);
	*ret = HTTP_DONE;
	return answer ? send_answer(exchange, answer)
		      : error_coded(EBUSY, "the thread was not inspected in time");
}
