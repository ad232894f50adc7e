/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/delivery.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>

#include "agent/sender.h"
#include "agent/spool.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/fd_channel.h"

#define RETRY_NS       NS_PER_S
#define RETRY_MOST_NS  (300 * NS_PER_S)
#define RETRY_AFTER_NS (3600 * NS_PER_S) /* the longest that a server may ask for */
/* After so many failures at the same request, or at the question whether it has arrived, the server
 * is given another one. If it takes that, the request is the reason: it is dropped if only errors
 * of the server were answered, and else moved behind the others. For some time afterwards, one
 * failure is enough. */
#define FAILURES_MOST 6
#define SUSPECT_NS    (3600 * NS_PER_S)
#define MEMORY_MOST   ((uint64_t)128 << 20)
/* A sink that fails every now and then is reported no more often. */
#define SAY_NS (60 * NS_PER_S)
/* So are files that cannot be removed, and requests of which a part was not stored, or sums. */
#define SAY_LEFT_NS (3600 * NS_PER_S)
#define SAY_PART_NS (3600 * NS_PER_S)
/* The longest part of a server's URL in messages. */
#define URL_MOST 200

/* A sink. The request that is sent is *uncertain* if it may have arrived. */
struct channel {
	struct delivery_sink sink;
	char title[DELIVERY_SINK_NAME_SIZE + URL_MOST + sizeof(" ()")]; /* in messages */
	int socket; /* of its sender; -1: there is none */
	bool is_busy, is_uncertain;
	/* The server, or the connection, failed while the request was sent, also by an earlier
	 * agent: if it has arrived, sums of it may be missing. */
	bool is_interrupted;
	bool is_absent; /* a check has said so of the request, which may still have that mark */
	bool is_second_uncertain;     /* after a start, the second request may have arrived, too */
	bool was_said;                /* that it fails */
	uint32_t job;                 /* what the sender does: enum sender_kind */
	size_t index;                 /* of the request; 1: another one than that which fails */
	unsigned failures;            /* since something worked */
	unsigned at_request;          /* failures of the server at the first request */
	bool may_pass;                /* one of these was no error: the server may take it later */
	uint64_t suspect_ns;          /* when a request was the reason; 0: never */
	uint64_t due_ns;              /* the next attempt */
	uint64_t failing_ns, said_ns; /* since when it fails; 0: it works, or that was not said */
	uint64_t part_said_ns;        /* that a part of a request was not stored; 0: never */
	uint64_t sums_said_ns;        /* that sums of a request may be missing; 0: never */
};

struct delivery {
	struct spool *spool;
	int starter, epoll, timer;
	uint64_t retry_ns;
	void (*say)(void *context, const char *line);
	void *context;
	bool cannot_write;     /* it was said that the spool takes nothing */
	uint64_t left_said_ns; /* that files cannot be removed from it; 0: never */
	/* Losses that were handed out. Their texts are the spool's. */
	struct {
		ARRAY(struct agent_loss);
	} handed;
	size_t count;
	struct channel channels[];
};

static uint64_t now(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* --- messages --- */

static void say(const struct delivery *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct delivery *d, const char *format, ...)
{
	char line[1024];
	va_list values;

	if (!d->say)
		return;
	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	d->say(d->context, line);
}

/* The name of a sink, and if others are of its type, the URL of its server without a query, which
 * may have secrets. */
static void set_title(const struct delivery *d, struct channel *c)
{
	const size_t length = strcspn(c->sink.url, "?#");
	size_t same = 0;

	for (size_t i = 0; i < d->count; i++)
		same += d->channels[i].sink.type == c->sink.type;
	if (same > 1)
		snprintf(c->title, sizeof(c->title), "%s (%.*s)", c->sink.name,
			 (int)(length < URL_MOST ? length : URL_MOST), c->sink.url);
	else
		snprintf(c->title, sizeof(c->title), "%s", c->sink.name);
	text_make_safe(c->title);
}

static size_t index_of(const struct delivery *d, const struct channel *c)
{
	return (size_t)(c - d->channels);
}

static bool has_requests(const struct delivery *d, const struct channel *c)
{
	return spool_count(d->spool, index_of(d, c)) > 0;
}

/* A request of this sink was recently one that the server did not take, unlike others. */
static bool is_suspect(const struct channel *c)
{
	return c->suspect_ns && now() - c->suspect_ns < SUSPECT_NS;
}

/* The sink fails: say so once, and not again soon, or much later if it may be such a request. */
static void note_failure(struct delivery *d, struct channel *c, const char *what, const char *why)
{
	const uint64_t at = now(), pause = c->at_request && is_suspect(c) ? SUSPECT_NS : SAY_NS;

	if (!c->failing_ns)
		c->failing_ns = at;
	if (c->was_said || (c->said_ns && at - c->said_ns < pause))
		return;
	c->was_said = true;
	c->said_ns = at;
	say(d, "%s: %s; %s", c->title, why[0] ? why : "it has failed", what);
}

static void note_success(struct delivery *d, struct channel *c)
{
	char span[UNITS_TEXT_MAX], waiting[UNITS_TEXT_MAX];
	const size_t count = spool_count(d->spool, index_of(d, c));

	if (c->was_said)
		say(d, "%s: works again after %s; %s request%s to send", c->title,
		    units_format_span(span, (double)(now() - c->failing_ns) / (double)NS_PER_S),
		    units_grouped(waiting, (__int128)count, ""), plural(count));
	c->failures = 0;
	c->failing_ns = 0;
	c->was_said = false;
}

/* Say that files cannot be removed, at most once an hour. */
static void tell_of_left(struct delivery *d)
{
	char number[UNITS_TEXT_MAX];
	int errnum;
	size_t count;

	if (d->left_said_ns && now() - d->left_said_ns < SAY_LEFT_NS)
		return;
	count = spool_left(d->spool, &errnum);
	if (!count || !errnum)
		return;
	d->left_said_ns = now();
	say(d,
	    "cannot remove %s file%s from the spool: %s; %s not sent again, and count%s for its "
	    "size",
	    units_grouped(number, (__int128)count, ""), plural(count), strerror(errnum),
	    count == 1 ? "it is" : "they are", count == 1 ? "s" : "");
}

/* --- waiting --- */

/* A number from half of `most` to `most`, so that many agents do not come back at once. */
static uint64_t jitter(uint64_t most)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = now();
	return most / 2 + number % (most / 2 + 1);
}

static void wait_after_failure(const struct delivery *d, struct channel *c, uint64_t retry_after_ns)
{
	const unsigned doublings = c->failures < 16 ? c->failures : 16;
	uint64_t most = (2 * d->retry_ns) << doublings;

	if (retry_after_ns > RETRY_AFTER_NS)
		retry_after_ns = RETRY_AFTER_NS;
	if (most > RETRY_MOST_NS)
		most = RETRY_MOST_NS;
	most = jitter(most);
	c->failures++;
	/* Not before the server says, and not all agents at the same time. */
	c->due_ns = now() +
		    (most > retry_after_ns ? most : retry_after_ns + jitter(retry_after_ns / 10));
}

/* Have the timer expire when the next attempt is due. */
static void set_timer(struct delivery *d)
{
	struct itimerspec timer = { 0 };
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < d->count; i++) {
		const struct channel *c = &d->channels[i];

		if (!c->is_busy && has_requests(d, c) && c->due_ns < due)
			due = c->due_ns;
	}
	/* 0 would stop it. */
	if (due != UINT64_MAX)
		timer.it_value = clock_timespec(due ? due : 1);
	timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* --- jobs --- */

static void end_sender(struct channel *c)
{
	if (c->socket >= 0)
		close(take_fd(c->socket));
}

/* Hold the request in the spool if it may have arrived: to drop it would count it although it may
 * be there. */
static void settle(struct delivery *d, struct channel *c, bool is_uncertain)
{
	c->is_uncertain = is_uncertain;
	c->is_interrupted &= is_uncertain;
	spool_hold(d->spool, index_of(d, c), is_uncertain ? c->index + 1 : 0);
}

/* The request may have arrived, which a later agent must know, too. */
static void mark_interrupted(struct delivery *d, struct channel *c)
{
	/* If the disk refuses it, this agent knows it. */
	if (!c->is_interrupted)
		(void)spool_mark(d->spool, index_of(d, c), c->index);
	c->is_interrupted = true;
	settle(d, c, true);
}

/* Go on with the first request. */
static void go_on(struct delivery *d, struct channel *c)
{
	c->index = 0;
	c->at_request = 0;
	c->may_pass = false;
	c->is_interrupted = c->is_absent = false;
	settle(d, c, c->is_second_uncertain);
	c->is_second_uncertain = false;
}

static void fail(struct delivery *d, struct channel *c, const char *why, uint64_t retry_after_ns)
{
	note_failure(d, c, "its requests wait in the spool", why);
	wait_after_failure(d, c, retry_after_ns);
}

static void fail_without_sender(struct delivery *d, struct channel *c)
{
	const bool was_sent = c->is_busy && c->job == SENDER_SEND;

	end_sender(c);
	c->is_busy = false;
	if (was_sent)
		mark_interrupted(d, c);
	fail(d, c, "the process that sends requests has ended", 0);
}

static struct error *begin_sender(struct delivery *d, struct channel *c)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct error *err = sender_start(d->starter, index_of(d, c), &c->socket);

	if (!err && epoll_ctl(d->epoll, EPOLL_CTL_ADD, c->socket, &event)) {
		err = error_system(errno, "cannot wait for a sender");
		end_sender(c);
	}
	return err;
}

/* Give the sender the first request. */
static void begin_job(struct delivery *d, struct channel *c)
{
	struct sender_job job;
	struct error *err = c->socket < 0 ? begin_sender(d, c) : NULL;
	bool is_marked;
	int fd;

	if (err) {
		fail(d, c, err->message, 0);
		error_destroy(err);
		return;
	}
	if (c->index >= spool_count(d->spool, index_of(d, c)))
		go_on(d, c);
	if (!spool_open_request(d->spool, index_of(d, c), c->index, &fd, &is_marked)) {
		c->due_ns = now() + d->retry_ns;
		return;
	}
	if (is_marked && !c->is_absent)
		c->is_uncertain = c->is_interrupted = true;
	c->job = c->is_uncertain ? SENDER_CHECK : SENDER_SEND;
	job = (struct sender_job){ .kind = c->job };
	c->is_busy = true;
	spool_hold(d->spool, index_of(d, c), c->index + 1);
	err = fd_channel_send(c->socket, &job, sizeof(job), &fd, 1);
	close(fd);
	if (err) {
		error_destroy(err);
		fail_without_sender(d, c);
	}
}

/* The server does not have all of the request: say so, but not again soon, and count the rest. */
static void take_part(struct delivery *d, struct channel *c, const struct sender_answer *answer)
{
	static const char *const reasons[SENDER_LOSSES] = {
		[SENDER_LOSS_REFUSED] = "refused",
		[SENDER_LOSS_PART] = "stored in part",
		[SENDER_LOSS_OLD] = "too old",
	};
	char number[UNITS_TEXT_MAX];

	if (!c->part_said_ns || now() - c->part_said_ns >= SAY_PART_NS) {
		c->part_said_ns = now();
		say(d, "%s: %s of a request were not stored%s%s; they are counted as lost",
		    c->title, units_grouped(number, (__int128)answer->lost, ""),
		    answer->said[0] ? ": " : "", answer->said);
	}
	spool_drop(d->spool, index_of(d, c), c->index, reasons[answer->loss], answer->lost);
}

/* The request was found. A server that died, or had too little memory, between its rows and its
 * sums has only the rows. */
static void take_found(struct delivery *d, struct channel *c)
{
	if (!spool_remove_without_sums(d->spool, index_of(d, c), c->index) ||
	    (c->sums_said_ns && now() - c->sums_said_ns < SAY_PART_NS))
		return;
	c->sums_said_ns = now();
	say(d,
	    "%s: a request that was interrupted is stored, but sums by minute and hour may lack "
	    "its rows; these are counted in losses",
	    c->title);
}

/* The server takes another request, and not the first one. */
static void pass_first(struct delivery *d, struct channel *c)
{
	if (!is_suspect(c))
		say(d,
		    c->may_pass ? "%s: a request that it does not accept now waits behind others, "
				  "which it accepts"
				: "%s: dropped a request that it cannot process; it accepts others",
		    c->title);
	c->suspect_ns = now();
	if (c->may_pass)
		spool_move_last(d->spool, index_of(d, c));
	else
		spool_drop(d->spool, index_of(d, c), 0, "refused", SPOOL_ALL);
}

/* The request has arrived. If it was given to the server because it fails at the first one, that
 * one is the reason; but not if it had already arrived before the start. */
static void take_success(struct delivery *d, struct channel *c, const struct sender_answer *answer)
{
	const size_t sink = index_of(d, c), index = c->index;
	const bool lacks_sums =
		c->job == SENDER_CHECK && (c->is_interrupted || answer->has_restarted);

	settle(d, c, false);
	if (answer->lost)
		take_part(d, c, answer);
	else if (lacks_sums)
		take_found(d, c);
	else
		spool_remove(d->spool, sink, index);
	if (index && c->is_second_uncertain)
		c->is_second_uncertain = false;
	else if (index)
		pass_first(d, c);
	go_on(d, c);
	note_success(d, c);
}

/* The first request has failed so often that it may be the reason. */
static bool is_time_for_another(const struct delivery *d, const struct channel *c)
{
	return c->at_request >= (is_suspect(c) ? 1 : FAILURES_MOST) &&
	       spool_count(d->spool, index_of(d, c)) > 1;
}

static void go_to_second(struct delivery *d, struct channel *c)
{
	c->index = 1;
	c->is_absent = false;
	settle(d, c, c->is_second_uncertain);
}

/* The server does not take the request, which has not arrived. Is it time to try another one? */
static void consider_another(struct delivery *d, struct channel *c)
{
	settle(d, c, false);
	if (c->index && c->is_second_uncertain) {
		/* It was only asked whether it arrived before the start. */
		c->is_second_uncertain = false;
	} else if (c->index) {
		go_on(d, c);
	} else if (is_time_for_another(d, c)) {
		go_to_second(d, c);
	}
}

/* It stays unknown whether the request has arrived. If that goes on, try another one: what must be
 * known of this one is in its file. */
static void take_failed_check(struct delivery *d, struct channel *c)
{
	settle(d, c, true);
	if (c->index) {
		if (!spool_mark(d->spool, index_of(d, c), c->index))
			return;
		c->is_second_uncertain = false;
		go_on(d, c);
		return;
	}
	c->at_request++;
	c->may_pass = true;
	if (is_time_for_another(d, c) && spool_mark(d->spool, index_of(d, c), 0))
		go_to_second(d, c);
}

static void take_refusal(struct delivery *d, struct channel *c, const char *what, const char *said)
{
	const size_t index = c->index;

	if (said)
		note_failure(d, c, "what it refuses is dropped", said);
	settle(d, c, false);
	spool_drop(d->spool, index_of(d, c), index, what, SPOOL_ALL);
	go_on(d, c);
}

static void note_failed_request(struct channel *c, uint32_t outcome)
{
	if (c->index)
		return;
	c->at_request++;
	c->may_pass |= outcome != SENDER_FAILED;
}

static void take_answer(struct delivery *d, struct channel *c, const struct sender_answer *answer)
{
	const bool was_check = c->job == SENDER_CHECK;

	c->is_busy = false;
	switch (answer->outcome) {
	case SENDER_DONE:
		take_success(d, c, answer);
		break;
	case SENDER_ABSENT:
		c->is_absent = true;
		consider_another(d, c);
		break;
	case SENDER_REFUSED:
		take_refusal(d, c, "refused", answer->said);
		break;
	case SENDER_DAMAGED:
		take_refusal(d, c, "damaged", NULL);
		break;
	case SENDER_FAILED:
	case SENDER_UNKNOWN:
		if (was_check) {
			take_failed_check(d, c);
		} else {
			note_failed_request(c, answer->outcome);
			mark_interrupted(d, c);
		}
		fail(d, c, answer->said, answer->retry_after_ns);
		break;
	case SENDER_RETRY:
		if (was_check) {
			take_failed_check(d, c);
		} else {
			note_failed_request(c, answer->outcome);
			consider_another(d, c);
		}
		fail(d, c, answer->said, answer->retry_after_ns);
		break;
	default:
		settle(d, c, was_check);
		fail(d, c, answer->said, answer->retry_after_ns);
		break;
	}
}

/* Is something to be read, or the other end closed? */
static bool is_ready(int socket)
{
	struct pollfd poll_fd = { .fd = socket, .events = POLLIN };

	return poll(&poll_fd, 1, 0) > 0;
}

static void advance(struct delivery *d, struct channel *c)
{
	struct sender_answer answer;

	if (c->socket >= 0 && is_ready(c->socket)) {
		if (c->is_busy && sender_receive(c->socket, &answer))
			take_answer(d, c, &answer);
		else
			fail_without_sender(d, c);
	}
	if (!c->is_busy && has_requests(d, c) && now() >= c->due_ns)
		begin_job(d, c);
}

struct error *delivery_poll(struct delivery *d)
{
	uint64_t expirations;

	if (read(d->timer, &expirations, sizeof(expirations)) < 0)
		errno = 0;
	if (d->count && is_ready(d->starter))
		return error_create("the process that starts senders has ended");
	for (size_t i = 0; i < d->count; i++)
		advance(d, &d->channels[i]);
	tell_of_left(d);
	set_timer(d);
	return NULL;
}

int delivery_fd(const struct delivery *d)
{
	return d->epoll;
}

/* --- requests and losses --- */

struct error *delivery_add(struct delivery *d, size_t sink, const struct sink_request *request)
{
	struct error *err = spool_add(d->spool, sink, request);

	if (err && !d->cannot_write)
		say(d, "cannot write into the spool: %s; what it does not take is lost",
		    err->message);
	d->cannot_write = err;
	if (err == &error_no_memory)
		return err;
	error_destroy(err);
	advance(d, &d->channels[sink]);
	tell_of_left(d);
	set_timer(d);
	return NULL;
}

struct error *delivery_emit(void *target, const struct sink_request *request)
{
	const struct delivery_target *t = target;

	return delivery_add(t->delivery, t->sink, request);
}

/* Does a sink that keeps losses work, or is there none that keeps them? */
static bool can_keep_losses(const struct delivery *d)
{
	bool is_kept = false;

	for (size_t i = 0; i < d->count; i++) {
		if (d->channels[i].sink.keeps_losses && !d->channels[i].failing_ns)
			return true;
		is_kept |= d->channels[i].sink.keeps_losses;
	}
	return !is_kept;
}

const struct agent_loss *delivery_losses(struct delivery *d, size_t *ret_count)
{
	const struct losses *losses = spool_losses(d->spool);

	array_clear(&d->handed);
	for (size_t i = 0; can_keep_losses(d) && i < losses->count; i++)
		if (!array_push(&d->handed, losses->items[i]))
			break;
	*ret_count = d->handed.count;
	return d->handed.items;
}

struct error *delivery_losses_taken(struct delivery *d)
{
	uint64_t numbers[LOSSES_MOST];
	const size_t count = d->handed.count;

	for (size_t i = 0; i < count; i++)
		numbers[i] = d->handed.items[i].count;
	array_clear(&d->handed);
	spool_subtract_losses(d->spool, numbers, count);
	return NULL;
}

struct delivery_waiting delivery_waiting(const struct delivery *d)
{
	struct delivery_waiting waiting = { .bytes = spool_bytes(d->spool) };

	for (size_t i = 0; i < d->count; i++)
		waiting.requests += spool_count(d->spool, i);
	return waiting;
}

static bool is_failing(const struct delivery *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->channels[i].failing_ns && has_requests(d, &d->channels[i]))
			return true;
	return false;
}

struct error *delivery_drain(struct delivery *d, uint64_t ns)
{
	const uint64_t until = now() + ns;
	struct error *err = delivery_poll(d);

	while (!err && delivery_waiting(d).requests && !is_failing(d) && now() < until) {
		struct pollfd poll_fd = { .fd = d->epoll, .events = POLLIN };
		const uint64_t left = until - now();

		if (poll(&poll_fd, 1, left / 1000000 > 1000 ? 1000 : (int)(left / 1000000) + 1) <
			    0 &&
		    errno != EINTR)
			return error_system(errno, "cannot wait for senders");
		err = delivery_poll(d);
	}
	return err;
}

/* --- opening --- */

struct error *delivery_check(const struct delivery_options *options)
{
	if (options->sink_count > DELIVERY_SINKS_MOST)
		return error_create("more than %d sinks", DELIVERY_SINKS_MOST);
	for (size_t i = 0; i < options->sink_count; i++) {
		const char *folder = options->sinks[i].folder;

		if (!*folder || strlen(folder) >= DELIVERY_SINK_NAME_SIZE ||
		    strspn(folder, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(folder))
			return error_create(
				"the folder of a sink is not of letters, digits and '-'");
		for (size_t j = 0; j < i; j++)
			if (strings_equal(folder, options->sinks[j].folder))
				return error_create("%s and %s are the same store",
						    options->sinks[j].name, options->sinks[i].name);
	}
	return NULL;
}

static struct error *open_spool(struct delivery *d, const struct delivery_options *options)
{
	struct spool_sink folders[DELIVERY_SINKS_MOST];
	const struct spool_options spool = {
		.path = options->spool,
		.most = options->spool_most,
		.sinks = folders,
		.sink_count = options->sink_count,
	};
	struct error *err;
	size_t strange;

	for (size_t i = 0; i < options->sink_count; i++)
		folders[i] =
			(struct spool_sink){ options->sinks[i].folder, options->sinks[i].name };
	err = spool_open(&spool, &d->spool);
	if (err)
		return error_prefix(err, "spool");
	strange = spool_strange_folders(d->spool);
	if (strange)
		say(d, "%s: requests of %zu store%s that %s not configured are kept and not sent",
		    options->spool, strange, plural(strange), strange == 1 ? "is" : "are");
	return NULL;
}

static struct error *open_senders(struct delivery *d, const struct delivery_options *options)
{
	struct sender_sink sinks[DELIVERY_SINKS_MOST];
	const struct sender_options senders = {
		.sinks = sinks,
		.sink_count = options->sink_count,
		.http = { .netrc = options->netrc,
			  .ca_file = options->ca_file,
			  .total_ns = options->total_ns,
			  .stalled_ns = options->stalled_ns },
		.memory_most = options->memory_most ? options->memory_most : MEMORY_MOST,
	};

	if (!options->sink_count)
		return NULL;
	for (size_t i = 0; i < options->sink_count; i++)
		sinks[i] = (struct sender_sink){ options->sinks[i].url, options->sinks[i].type };
	return senders_open(&senders, &d->starter);
}

static struct error *open_events(struct delivery *d)
{
	struct epoll_event event = { .events = EPOLLIN };

	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->epoll < 0 || d->timer < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->timer, &event) ||
	    (d->starter >= 0 && epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->starter, &event)))
		return error_system(errno, "cannot wait for senders");
	return NULL;
}

/* The previous agent may have ended while it sent the first request of a sink: check whether that
 * request has arrived before it is sent. */
static void resume(struct delivery *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (spool_count(d->spool, i)) {
			settle(d, &d->channels[i], true);
			d->channels[i].is_second_uncertain = true;
			d->channels[i].due_ns = now() + d->retry_ns;
		}
	set_timer(d);
}

struct error *delivery_open(const struct delivery_options *options, struct delivery **ret)
{
	struct error *err = delivery_check(options);
	struct delivery *d;

	if (err)
		return err;
	d = calloc(1, sizeof(*d) + options->sink_count * sizeof(d->channels[0]));
	if (!d)
		return &error_no_memory;
	d->starter = d->epoll = d->timer = -1;
	d->count = options->sink_count;
	d->say = options->say;
	d->context = options->context;
	d->retry_ns = options->retry_ns ? options->retry_ns : RETRY_NS;
	for (size_t i = 0; i < d->count; i++)
		d->channels[i] = (struct channel){ .sink = options->sinks[i], .socket = -1 };
	for (size_t i = 0; i < d->count; i++)
		set_title(d, &d->channels[i]);
	/* Before the spool is open, which senders have nothing to do with. */
	err = open_senders(d, options);
	if (!err)
		err = open_spool(d, options);
	if (!err)
		err = open_events(d);
	if (err) {
		delivery_close(d);
		return err;
	}
	resume(d);
	*ret = d;
	return NULL;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void delivery_close(struct delivery *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		end_sender(&d->channels[i]);
	close_fd(d->starter);
	close_fd(d->timer);
	close_fd(d->epoll);
	array_deinit(&d->handed);
	spool_close(d->spool);
	free(d);
}
