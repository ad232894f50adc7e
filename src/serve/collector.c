/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/collector.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/host_load.h"
#include "profile/lock_frames.h"
#include "profile/symbolise.h"
#include "security/privileges.h"
#include "serve/snapshot.h"
#include "serve/tick.h"
#include "snapshot/file.h"

struct collector {
	struct collector_options options;
	struct profile_session *session;
	struct capturer *capturer; /* NULL: captures do not work here, for `failure` */
	struct error *failure;
	bool wants_snapshot;
	uint64_t snapshot_ns;         /* CLOCK_MONOTONIC: of the last one */
	struct symbol_cache *symbols; /* names from reading to reading */
	struct guard *guard;          /* of files whose file systems may hang */
	struct host_load before;
	struct tick_buffer buffer;
	size_t sent;      /* of `buffer` */
	uint64_t next_ns; /* CLOCK_MONOTONIC: of the next reading */
	uint64_t ends_ns; /* CLOCK_MONOTONIC; UINT64_MAX: never */
	bool has_no_reader;
};

struct error *collector_open(const struct collector_options *options, struct collector **ret)
{
	struct collector *c = calloc(1, sizeof(*c));
	struct error *err;

	if (!c)
		return &error_no_memory;
	c->options = *options;
	err = profile_session_open(options->profile, &c->session);
	if (err) {
		free(c);
		return err;
	}
	/* Opening reads no process. Without snapshots everything else works. */
	c->failure = capturer_open_beside(options->capture, &c->capturer);
	*ret = c;
	return NULL;
}

void collector_close(struct collector *c)
{
	if (!c)
		return;
	profile_session_close(c->session);
	symbol_cache_destroy(c->symbols);
	capturer_close(c->capturer);
	error_destroy(c->failure);
	guard_destroy(c->guard);
	free(c->buffer.bytes);
	free(c);
}

/* --- a reading --- */

static struct error *name_frames(struct collector *c, struct profile *profile)
{
	const struct symbolise_options options = { .guard = c->guard, .cache = c->symbols };
	struct error *err = symbolise_kernel_cached(profile, c->symbols);

	if (!err)
		err = symbolise_user(profile, &options);
	return err ? err : lock_frames_apply(profile);
}

/* In the interval; TICK_UNMEASURED where the kernel does not count it. */
static uint64_t stalled_ns(const struct psi_line *before, const struct psi_line *after)
{
	if (!before->measured || !after->measured || after->total_usec < before->total_usec)
		return TICK_UNMEASURED;
	return (after->total_usec - before->total_usec) * 1000;
}

static void look_at_host(struct collector *c, struct tick_host *ret)
{
	static const struct {
		enum host_resource resource;
		bool is_full;
	} rows[] = {
#define PRESSURE_ROW(id, name, resource, full) [TICK_PRESSURE_##id] = { HOST_##resource, full },
		TICK_PRESSURES(PRESSURE_ROW)
#undef PRESSURE_ROW
	};
	struct host_load now;

	host_load_read(&now);
	*ret = (struct tick_host){
		.cpu_ns = now.busy_ns > c->before.busy_ns ? now.busy_ns - c->before.busy_ns : 0,
		.memory_total = now.memory_bytes,
		.memory_available = now.memory_available_bytes,
		.load_hundredths = now.load[0] > 0 ? (uint64_t)(now.load[0] * 100) : 0,
	};
	for (size_t i = 0; i < array_length(rows); i++) {
		const struct psi_lines *before = &c->before.pressure[rows[i].resource];
		const struct psi_lines *after = &now.pressure[rows[i].resource];

		ret->pressure_ns[i] = rows[i].is_full ? stalled_ns(&before->full, &after->full)
						      : stalled_ns(&before->some, &after->some);
	}
	c->before = now;
}

static struct error *take_reading(struct collector *c)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct tick_host host;
	struct error *err;
	PRIVILEGES_RAISED;

	err = profile_session_read(c->session, &profile);
	/* Of the same time: names can take longer than the interval. */
	look_at_host(c, &host);
	if (!err)
		err = name_frames(c, profile);
	if (err)
		return err;
	if (!profile->meta.version)
		profile->meta.version =
			profile_name(profile, c->options.version, strlen(c->options.version));
	c->sent = 0;
	err = tick_pack(profile, &host, &c->buffer);
	return err;
}

/* --- snapshots --- */

/* Bytes of the web process: whatever they are and however many, they ask for one snapshot. */
static void hear_requests(struct collector *c)
{
	char bytes[64];

	while (recv(c->options.socket, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		c->wants_snapshot = true;
}

/* The compressed file of a snapshot, in memory that is the caller's. */
static struct error *take_snapshot(struct collector *c, char **ret, size_t *ret_length)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	struct error *err;

	if (!c->capturer)
		return error_create("%s", c->failure->message);
	{
		PRIVILEGES_RAISED;

		err = capturer_take(c->capturer, &snapshot);
	}
	return err ? err : snapshot_pack(snapshot, ret, ret_length);
}

/* Put a message into `buffer`: the file of a snapshot, or the reason why there is none. */
static struct error *pack_snapshot(struct collector *c)
{
	_cleanup_free_ char *bytes = NULL;
	_cleanup_error_ struct error *failure = NULL;
	struct snapshot_header header = { .magic = SNAPSHOT_MAGIC };
	const char *content;
	size_t length = 0;
	struct error *err;

	failure = take_snapshot(c, &bytes, &length);
	if (!failure && length > SNAPSHOT_BYTES_MAX - sizeof(header))
		failure = error_create("the snapshot is larger than %zu bytes", SNAPSHOT_BYTES_MAX);
	header.has_failed = failure != NULL;
	content = failure ? failure->message : bytes;
	if (failure)
		length = strlen(content);
	header.length = sizeof(header) + length;
	err = tick_buffer_reserve(&c->buffer, header.length);
	if (err)
		return err;
	memcpy(c->buffer.bytes, &header, sizeof(header));
	memcpy(c->buffer.bytes + sizeof(header), content, length);
	c->buffer.length = header.length;
	c->sent = 0;
	return NULL;
}

/* --- the loop --- */

/* As much as the socket takes now. */
static struct error *send_reading(struct collector *c)
{
	while (c->sent < c->buffer.length) {
		const ssize_t sent = send(c->options.socket, c->buffer.bytes + c->sent,
					  c->buffer.length - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent > 0) {
			c->sent += (size_t)sent;
		} else if (sent < 0 && errno == EAGAIN) {
			return NULL;
		} else if (sent < 0 && errno != EINTR) {
			c->has_no_reader = errno == EPIPE || errno == ECONNRESET;
			return c->has_no_reader ? NULL
						: error_system(errno, "cannot send a reading");
		}
	}
	return NULL;
}

static bool is_sending(const struct collector *c)
{
	return c->sent < c->buffer.length;
}

static uint64_t snapshot_due(const struct collector *c)
{
	return c->snapshot_ns ? c->snapshot_ns + SNAPSHOT_PAUSE_NS : 0;
}

static void sleep_a_little(struct collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t tick = profile_session_next_tick(c->session, now);
	const uint64_t due =
		c->wants_snapshot && snapshot_due(c) < c->next_ns ? snapshot_due(c) : c->next_ns;
	const uint64_t soon = c->ends_ns < tick ? c->ends_ns : tick;
	const uint64_t until = !is_sending(c) && due < soon ? due : soon;
	const struct timespec left = clock_timespec(until > now ? until - now : 0);
	struct pollfd reasons[] = {
		{ .fd = profile_session_fd(c->session), .events = POLLIN },
		{ .fd = c->options.socket, .events = is_sending(c) ? POLLIN | POLLOUT : POLLIN },
	};

	ppoll(reasons, array_length(reasons), &left, c->options.mask);
	if (reasons[0].revents)
		usleep((useconds_t)(profile_session_gather_ns(c->session) / 1000));
	c->has_no_reader |= (reasons[1].revents & (POLLHUP | POLLERR)) != 0;
}

static struct error *tick_session(struct collector *c)
{
	PRIVILEGES_RAISED;

	return profile_session_tick(c->session);
}

static struct error *take_when_due(struct collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (now < c->next_ns || is_sending(c))
		return NULL;
	while (c->next_ns <= now)
		c->next_ns += c->options.interval_ns;
	err = take_reading(c);
	/* The memory was for one reading; the next may have fewer threads. */
	malloc_trim(0);
	return err;
}

static bool have_targets_ended(const struct collector *c)
{
	return c->options.ends_with_targets && profile_session_targets_ended(c->session) &&
	       (!c->options.may_return || !c->options.may_return(c->options.context));
}

static struct error *take_snapshot_when_due(struct collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	hear_requests(c);
	if (!c->wants_snapshot || is_sending(c) || now < snapshot_due(c))
		return NULL;
	c->wants_snapshot = false;
	c->snapshot_ns = now;
	err = pack_snapshot(c);
	malloc_trim(0);
	return err;
}

static struct error *start(struct collector *c)
{
	PRIVILEGES_RAISED;

	c->guard = symbolise_guard();
	c->symbols = symbol_cache_create();
	if (!c->symbols)
		return &error_no_memory;
	host_load_read(&c->before);
	return profile_session_start(c->session);
}

static bool is_over(const struct collector *c)
{
	return *c->options.is_over || c->has_no_reader || clock_ns(CLOCK_MONOTONIC) >= c->ends_ns ||
	       have_targets_ended(c);
}

struct error *collector_run(struct collector *c)
{
	struct error *err = start(c);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	c->next_ns = now + c->options.interval_ns;
	c->ends_ns = c->options.duration_ns ? now + c->options.duration_ns : UINT64_MAX;
	while (!err && !is_over(c)) {
		sleep_a_little(c);
		err = tick_session(c);
		if (!err)
			err = take_when_due(c);
		if (!err)
			err = take_snapshot_when_due(c);
		if (!err)
			err = send_reading(c);
	}
	return err;
}
