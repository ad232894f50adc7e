/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct error *request_send(int socket, enum request_kind kind, uint32_t tid)
{
	const struct request request = { .kind = kind, .tid = tid };

	if (send(socket, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(request))
		return NULL;
	return errno == EAGAIN
		       ? error_coded(EBUSY, "too many requests wait")
		       : error_system(errno, "cannot send a request to the process that measures");
}

/* --- in the collector --- */

static void add_thread(struct requests *requests, uint32_t tid)
{
	if (!tid || tid > REQUEST_TID_MAX || requests->tid_count == REQUEST_THREADS_MOST)
		return;
	for (size_t i = 0; i < requests->tid_count; i++)
		if (requests->tids[i] == tid)
			return;
	requests->tids[requests->tid_count++] = tid;
}

static void add(struct requests *requests, const struct request *request)
{
	switch (request->kind) {
	case REQUEST_SNAPSHOT:
		requests->wants_snapshot |= !request->tid;
		return;
	case REQUEST_THREAD:
		add_thread(requests, request->tid);
		return;
	}
}

void requests_take(struct requests *requests, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length) {
		const size_t lacks = sizeof(requests->part) - requests->part_length;
		const size_t taken = length < lacks ? length : lacks;
		struct request request;

		memcpy(requests->part + requests->part_length, at, taken);
		requests->part_length += taken;
		at += taken;
		length -= taken;
		if (requests->part_length < sizeof(requests->part))
			return;
		memcpy(&request, requests->part, sizeof(request));
		requests->part_length = 0;
		add(requests, &request);
	}
}

bool requests_take_snapshot(struct requests *requests)
{
	const bool is_wanted = requests->wants_snapshot;

	requests->wants_snapshot = false;
	return is_wanted;
}

uint32_t requests_take_thread(struct requests *requests)
{
	const uint32_t tid = requests->tid_count ? requests->tids[0] : 0;

	if (tid)
		memmove(requests->tids, requests->tids + 1,
			--requests->tid_count * sizeof(requests->tids[0]));
	return tid;
}

/* --- replies --- */

struct error *reply_length(const struct reply_header *header, size_t *ret)
{
	static const size_t most[] = {
		[REQUEST_SNAPSHOT] = REPLY_SNAPSHOT_MAX,
		[REQUEST_THREAD] = REPLY_THREAD_MAX,
	};

	if (header->magic != REPLY_MAGIC || header->kind < REQUEST_SNAPSHOT ||
	    header->kind >= sizeof(most) / sizeof(most[0]) || header->status > REPLY_GONE ||
	    header->length < sizeof(*header) || header->length > most[header->kind])
		return error_create("malformed reply of the collector");
	*ret = header->length;
	return NULL;
}

char *reply_copy(const struct reply_header *header, const char *bytes, size_t *ret_length)
{
	const size_t length = header->length - sizeof(*header);
	char *copy = malloc(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	*ret_length = length;
	return copy;
}
