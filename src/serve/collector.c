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
#include "sched/kernel_lock.h"
#include "sched/profile_limit.h"
#include "security/privileges.h"
#include "serve/snapshot.h"
#include "serve/thread_inspector.h"
#include "serve/tick.h"
#include "snapshot/file.h"

struct collector {
	struct collector_options options;
	struct capture_options capture;
	struct profile_options profile;
	struct profile_session *session;
	struct capturer *capturer; /* NULL: captures do not work here; `failure` says why */
	struct error *failure;
	struct thread_inspector *inspector; /* NULL: threads are not inspected */
	uint64_t readings;                  /* how many were taken */
	struct requests requests;           /* pending ones of the web process */
	uint64_t received_ns;               /* CLOCK_MONOTONIC, when requests were last received */
	uint64_t snapshot_ns;               /* CLOCK_MONOTONIC, of the last snapshot */
	struct symbol_cache *symbols;       /* names, kept from reading to reading */
	struct guard *guard;                /* of files whose file systems may hang */
	struct kstats_watch *kstats;        /* NULL: not wanted */
	struct host_load before;
	struct tick_buffer reading;        /* the last one */
	struct tick_buffer reply;          /* to a request */
	const struct tick_buffer *message; /* the one of the two that is being sent; NULL: none */
	size_t sent;                       /* bytes of `message` */
	uint64_t next_ns;                  /* CLOCK_MONOTONIC: of the next reading */
	uint64_t ends_ns;                  /* CLOCK_MONOTONIC; UINT64_MAX: never */
	bool has_no_reader;
	bool receiver_has_work;
};

/* Shares of a limit of memory: files that stay open. */
#define BINARIES_SHARE 32

/* Bytes of a thread in a snapshot, on average, with the times of its states. */
#define BYTES_OF_THREAD 512

static struct symbol_cache *create_symbols(const struct collector *c)
{
	const uint64_t limit = c->profile.memory_limit;

	return limit ? symbol_cache_create_within(limit / BINARIES_SHARE) : symbol_cache_create();
}

struct error *collector_open(const struct collector_options *options, struct collector **ret)
{
	struct collector *c = calloc(1, sizeof(*c));
	struct error *err;

	if (!c)
		return &error_no_memory;
	c->options = *options;
	c->capture = *options->capture;
	c->profile = *options->profile;
	c->profile.memory_of_thread = BYTES_OF_THREAD;
	c->symbols = create_symbols(c);
	c->profile.symbols = c->symbols;
	err = c->symbols ? profile_session_open(&c->profile, &c->session) : &error_no_memory;
	if (err) {
		symbol_cache_destroy(c->symbols);
		free(c);
		return err;
	}
	/* Opening reads no process. If it fails, everything but snapshots works. */
	c->failure = capturer_open_beside(&c->capture, &c->capturer);
	*ret = c;
	if (options->no_inspection)
		return NULL;
	kernel_lock_load();
	return thread_inspector_create(&c->inspector);
}

void collector_close(struct collector *c)
{
	if (!c)
		return;
	thread_inspector_close(c->inspector);
	profile_session_close(c->session);
	symbol_cache_destroy(c->symbols);
	capturer_close(c->capturer);
	error_destroy(c->failure);
	guard_destroy(c->guard);
	kstats_watch_destroy(c->kstats);
	free(c->reading.bytes);
	free(c->reply.bytes);
	free(c);
}

/* --- to the web process --- */

static bool has_web_process(const struct collector *c)
{
	return c->options.socket >= 0;
}

static bool is_sending(const struct collector *c)
{
	return c->message != NULL;
}

static void begin_sending(struct collector *c, const struct tick_buffer *message)
{
	c->message = message;
	c->sent = 0;
}

/* Free the reply, which may be much larger than the next one. */
static void end_sending(struct collector *c)
{
	c->message = NULL;
	free(c->reply.bytes);
	c->reply = (struct tick_buffer){ 0 };
}

/* Send as much as fits into the socket now. */
static struct error *send_message(struct collector *c)
{
	while (is_sending(c) && c->sent < c->message->length) {
		const ssize_t sent =
			send(c->options.socket, c->message->bytes + c->sent,
			     c->message->length - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

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
	if (is_sending(c))
		end_sending(c);
	return NULL;
}

/* Begin to send a reply: the bytes of the result, or of an error message. */
static struct error *reply(struct collector *c, struct reply_header header, const char *bytes,
			   size_t length)
{
	struct error *err;

	header.magic = REPLY_MAGIC;
	header.length = sizeof(header) + length;
	err = tick_buffer_reserve(&c->reply, header.length);
	if (err)
		return err;
	memcpy(c->reply.bytes, &header, sizeof(header));
	memcpy(c->reply.bytes + sizeof(header), bytes, length);
	c->reply.length = header.length;
	begin_sending(c, &c->reply);
	return NULL;
}

/* --- a reading --- */

static struct error *name_frames(struct collector *c, struct profile *profile,
				 struct symbolise_left *left)
{
	struct memory_limit limit = profile_session_limit(c->session);
	const struct symbolise_options options = {
		.no_inline = c->options.no_inline,
		.left = left,
		.guard = c->guard,
		.limit = &limit,
		.cache = c->symbols,
	};
	struct error *err;
	PRIVILEGES_RAISED;

	/* Files are closed before frames get their names. */
	limit.beside += PROFILE_LIMIT_REST + profile_limit_reading(0, profile->samples.count);
	err = symbolise_kernel_cached(profile, c->symbols);
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

static void read_host(struct collector *c, struct tick_host *ret)
{
	static const struct {
		enum host_resource resource;
		bool is_full;
	} rows[] = {
#define PRESSURE_ROW(id, name, resource, psi, full) \
	[TICK_PRESSURE_##id] = { HOST_##resource, full },
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

static void changes_guard(struct kstats_changes *changes)
{
	kstats_changes_clear(changes);
}

/* Metrics of kstats belong to root. The user decides whether they can be read, so privileges are
 * not raised. */
static struct error *read_kstats(struct collector *c, struct kstats_changes *ret)
{
	return c->kstats ? kstats_watch_read(c->kstats, ret) : NULL;
}

/* Take a snapshot for the receiver. Without one it gets the rest of the reading. */
static struct error *capture_reading(struct collector *c, struct ctprof_snapshot **ret_snapshot)
{
	const struct capture_options options = c->capture;
	struct error *err;

	if (!c->options.receiver.wants_snapshots)
		return NULL;
	if (!c->capturer)
		return error_create("%s", c->failure->message);
	c->capture.without = c->options.receiver.without;
	c->capture.is_idle = c->options.receiver.is_idle;
	c->capture.idle_context = c->options.receiver.context;
	{
		PRIVILEGES_RAISED;

		err = capturer_take(c->capturer, ret_snapshot);
	}
	c->capture = options;
	return err;
}

static struct error *prepare_receiver(struct collector *c, struct collector_reading *reading)
{
	const struct collector_receiver *receiver = &c->options.receiver;

	return receiver->prepare ? receiver->prepare(receiver->context, reading) : NULL;
}

static struct error *give_reading(struct collector *c, struct collector_reading *reading)
{
	const struct collector_receiver *receiver = &c->options.receiver;

	return receiver->take ? receiver->take(receiver->context, reading) : NULL;
}

/* The snapshot that the first interval begins with. */
static struct error *prepare_first(struct collector *c)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_error_ struct error *failure = capture_reading(c, &snapshot);
	struct collector_reading reading = {
		.snapshot = snapshot,
		.failure = failure ? failure->message : NULL,
	};

	return prepare_receiver(c, &reading);
}

static struct error *begin_sending_reading(struct collector *c, const struct profile *profile,
					   const struct tick_host *host,
					   const struct kstats_changes *kstats)
{
	struct error *err;

	if (!has_web_process(c))
		return NULL;
	err = tick_pack(profile, host, kstats, &c->reading);
	if (err)
		return err;
	c->readings++;
	begin_sending(c, &c->reading);
	return NULL;
}

static struct error *read_session(struct collector *c, struct profile **ret)
{
	PRIVILEGES_RAISED;

	return profile_session_read(c->session, ret);
}

static struct error *take_reading(struct collector *c, const struct kstats_changes *kstats)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_error_ struct error *failure = NULL;
	struct tick_host host;
	struct collector_reading reading = { .host = &host };
	struct error *err = read_session(c, &profile);

	/* At the same time: naming frames can take longer than the interval. */
	read_host(c, &host);
	if (err)
		return err;
	failure = capture_reading(c, &snapshot);
	reading.profile = profile;
	reading.snapshot = snapshot;
	reading.failure = failure ? failure->message : NULL;
	err = prepare_receiver(c, &reading);
	if (!err)
		err = name_frames(c, profile, &reading.left);
	if (err)
		return err;
	if (!profile->meta.version)
		profile->meta.version =
			profile_name(profile, c->options.version, strlen(c->options.version));
	err = begin_sending_reading(c, profile, &host, kstats);
	return err ? err : give_reading(c, &reading);
}

/* --- requests --- */

/* Receive at most RECEIVE_BYTES at a time, with a pause of RECEIVE_PAUSE_NS, so that a compromised
 * web process cannot keep the collector busy: when the socket is full, it cannot send more. */
#define RECEIVE_BYTES    (64 * sizeof(struct request))
#define RECEIVE_PAUSE_NS (NS_PER_S / 100)

static bool may_receive(const struct collector *c)
{
	return clock_ns(CLOCK_MONOTONIC) >= c->received_ns + RECEIVE_PAUSE_NS;
}

static void receive_requests(struct collector *c)
{
	char bytes[RECEIVE_BYTES];
	ssize_t got;

	if (!has_web_process(c) || !may_receive(c))
		return;
	got = recv(c->options.socket, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (got <= 0)
		return;
	c->received_ns = clock_ns(CLOCK_MONOTONIC);
	requests_take(&c->requests, bytes, (size_t)got);
}

/* --- snapshots --- */

/* Take a snapshot and compress it to the bytes of a file. Release them with free(). */
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

static struct error *reply_snapshot(struct collector *c)
{
	_cleanup_free_ char *bytes = NULL;
	_cleanup_error_ struct error *failure = NULL;
	struct reply_header header = { .kind = REQUEST_SNAPSHOT };
	size_t length = 0;

	failure = take_snapshot(c, &bytes, &length);
	if (!failure && length > REPLY_SNAPSHOT_MAX - sizeof(header))
		failure = error_create("the snapshot is larger than %zu bytes", REPLY_SNAPSHOT_MAX);
	if (!failure)
		return reply(c, header, bytes, length);
	header.status = REPLY_FAILED;
	return reply(c, header, failure->message, strlen(failure->message));
}

static uint64_t snapshot_due(const struct collector *c)
{
	return c->snapshot_ns ? c->snapshot_ns + SNAPSHOT_PAUSE_NS : 0;
}

static struct error *take_snapshot_when_due(struct collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (is_sending(c) || now < snapshot_due(c) || !requests_take_snapshot(&c->requests))
		return NULL;
	c->snapshot_ns = now;
	err = reply_snapshot(c);
	malloc_trim(0);
	return err;
}

/* --- inspections --- */

/* The states that readings contain, a bit each. Times on CPUs are exact, but not divided into user
 * and system time. */
static unsigned measured_states(const struct profile_options *options)
{
	unsigned measured = 0;

	for (size_t i = 0; options->off_cpu && i < CLASS_COUNT; i++)
		if (profile_classes[i].is_off_cpu)
			measured |= options->selection ? options->selection->states[i]
						       : (1u << STATE_COUNT) - 1;
	measured &= ~(1u << STATE_EXEC_USER | 1u << STATE_EXEC_SYSTEM);
	return measured | 1u << STATE_EXEC;
}

static struct error *reply_inspection(struct collector *c, struct inspection *inspection)
{
	struct reply_header header = {
		.kind = REQUEST_THREAD,
		.tid = inspection->tid,
		.status = inspection->status,
	};
	struct error *err =
		reply(c, header, inspection->bytes ? inspection->bytes : "", inspection->length);

	free(inspection->bytes);
	return err;
}

static struct error *begin_inspection(struct collector *c, uint32_t tid)
{
	struct reply_header header = {
		.kind = REQUEST_THREAD,
		.tid = tid,
		.status = REPLY_FAILED,
	};
	struct tick tick;
	_cleanup_error_ struct error *failure =
		tick_unpack(c->reading.bytes, c->reading.length, &tick);

	if (!failure)
		failure = thread_inspector_begin(c->inspector, &tick, c->readings,
						 measured_states(c->options.profile), tid);
	return failure ? reply(c, header, failure->message, strlen(failure->message)) : NULL;
}

static struct error *inspect_when_due(struct collector *c)
{
	struct inspection inspection;
	uint32_t tid;

	if (!c->inspector || is_sending(c) || !c->readings)
		return NULL;
	if (thread_inspector_end(c->inspector, &inspection))
		return reply_inspection(c, &inspection);
	if (clock_ns(CLOCK_MONOTONIC) < thread_inspector_due(c->inspector))
		return NULL;
	tid = requests_take_thread(&c->requests);
	return tid ? begin_inspection(c, tid) : NULL;
}

/* --- the loop --- */

/* When the next reading or reply is due. */
static uint64_t next_due(const struct collector *c)
{
	uint64_t due = c->next_ns;

	if (c->requests.wants_snapshot && snapshot_due(c) < due)
		due = snapshot_due(c);
	if (c->inspector && c->requests.tid_count && thread_inspector_due(c->inspector) < due)
		due = thread_inspector_due(c->inspector);
	return due;
}

static void wait_for_events(struct collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t tick = profile_session_next_tick(c->session, now);
	const uint64_t due = next_due(c);
	const uint64_t soon = c->ends_ns < tick ? c->ends_ns : tick;
	const uint64_t until = !is_sending(c) && due < soon ? due : soon;
	const struct timespec left = clock_timespec(until > now ? until - now : 0);
	const int receives = may_receive(c) ? POLLIN : 0, sends = is_sending(c) ? POLLOUT : 0;
	struct pollfd reasons[] = {
		{ .fd = profile_session_fd(c->session), .events = POLLIN },
		{ .fd = c->options.socket, .events = (short)(receives | sends) },
		/* Ignore a result until the current message is sent. */
		{ .fd = c->inspector && !sends ? thread_inspector_fd(c->inspector) : -1,
		  .events = POLLIN },
		{ .fd = c->options.receiver.work ? c->options.receiver.fd : -1, .events = POLLIN },
	};

	ppoll(reasons, array_length(reasons), &left, c->options.mask);
	if (reasons[0].revents)
		usleep((useconds_t)(profile_session_gather_ns(c->session) / 1000));
	c->has_no_reader |= (reasons[1].revents & (POLLHUP | POLLERR)) != 0;
	c->receiver_has_work = reasons[3].revents != 0;
}

static struct error *tick_session(struct collector *c)
{
	PRIVILEGES_RAISED;

	return profile_session_tick(c->session);
}

static struct error *take_when_due(struct collector *c)
{
	_cleanup_(changes) struct kstats_changes kstats = { 0 };
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (now < c->next_ns || is_sending(c))
		return NULL;
	while (c->next_ns <= now)
		c->next_ns += c->options.interval_ns;
	err = read_kstats(c, &kstats);
	if (!err)
		err = take_reading(c, &kstats);
	/* The memory was for one reading; the next may have fewer threads. */
	malloc_trim(0);
	return err;
}

static bool have_targets_ended(const struct collector *c)
{
	return c->options.ends_with_targets && profile_session_targets_ended(c->session) &&
	       (!c->options.may_return || !c->options.may_return(c->options.context));
}

/* Values that were recorded before the first interval do not count: read and discard them. */
static struct error *begin_kstats(struct collector *c)
{
	_cleanup_(changes) struct kstats_changes before = { 0 };
	struct error *err;

	if (c->options.kstats && !*c->options.kstats)
		return NULL;
	err = kstats_watch_create(c->options.kstats, &c->kstats);
	return err ? err : kstats_watch_read(c->kstats, &before);
}

static struct error *serve_requests(struct collector *c)
{
	struct error *err;

	receive_requests(c);
	err = take_snapshot_when_due(c);
	if (!err)
		err = inspect_when_due(c);
	return err ? err : send_message(c);
}

static struct error *start(struct collector *c)
{
	PRIVILEGES_RAISED;

	c->guard = symbolise_guard();
	host_load_read(&c->before);
	return profile_session_start(c->session);
}

static bool is_over(const struct collector *c)
{
	return *c->options.is_over || c->has_no_reader || clock_ns(CLOCK_MONOTONIC) >= c->ends_ns ||
	       have_targets_ended(c);
}

/* What was counted since the last reading, for a receiver that is to miss nothing. */
static struct error *take_last(struct collector *c)
{
	const struct kstats_changes none = { 0 };

	if (!c->options.receiver.take)
		return NULL;
	/* Nothing more goes to the web process. */
	c->options.socket = -1;
	return take_reading(c, &none);
}

struct error *collector_run(struct collector *c)
{
	struct error *err = start(c);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!err)
		err = begin_kstats(c);
	if (!err)
		err = prepare_first(c);
	c->next_ns = now + c->options.interval_ns;
	c->ends_ns = c->options.duration_ns ? now + c->options.duration_ns : UINT64_MAX;
	while (!err && !is_over(c)) {
		wait_for_events(c);
		err = tick_session(c);
		if (!err && c->receiver_has_work)
			err = c->options.receiver.work(c->options.receiver.context);
		/* Before readings: where these are slow, one may be due in each round. */
		if (!err)
			err = serve_requests(c);
		if (!err)
			err = take_when_due(c);
		if (!err)
			err = send_message(c);
	}
	return err ? err : take_last(c);
}
