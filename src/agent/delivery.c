/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/delivery_internal.h"
#include "base/fd_channel.h"

/* --- jobs --- */

static bool has_requests(const struct delivery *d, const struct delivery_channel *c)
{
	return spool_count(d->spool, delivery_index(d, c)) > 0;
}

void delivery_set_timer(struct delivery *d)
{
	struct itimerspec timer = { 0 };
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < d->count; i++) {
		const struct delivery_channel *c = &d->channels[i];

		if (!c->is_busy && has_requests(d, c) && c->due_ns < due)
			due = c->due_ns;
	}
	/* 0 would stop it. */
	if (due != UINT64_MAX)
		timer.it_value = clock_timespec(due ? due : 1);
	timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &timer, NULL);
}

void delivery_end_sender(struct delivery_channel *c)
{
	if (c->socket >= 0)
		close(take_fd(c->socket));
}

static struct error *begin_sender(struct delivery *d, struct delivery_channel *c)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct error *err = sender_start(d->starter, delivery_index(d, c), &c->socket);

	if (!err && epoll_ctl(d->epoll, EPOLL_CTL_ADD, c->socket, &event)) {
		err = error_system(errno, "cannot wait for a sender");
		delivery_end_sender(c);
	}
	return err;
}

/* The first request may have been dropped since a sender was given one. What is known of it is not
 * true of the one that is the first now. */
static void forget_dropped(struct delivery *d, struct delivery_channel *c)
{
	if (c->first_id && c->first_id != spool_id(d->spool, delivery_index(d, c), 0))
		delivery_go_on(d, c);
}

/* Give the sender the first request, or another one. */
static void begin_job(struct delivery *d, struct delivery_channel *c)
{
	struct sender_job job;
	struct error *err = c->socket < 0 ? begin_sender(d, c) : NULL;
	bool is_marked;
	int fd;

	if (err) {
		delivery_fail(d, c, err->message, 0);
		error_destroy(err);
		return;
	}
	if (c->index >= spool_count(d->spool, delivery_index(d, c)))
		delivery_go_on(d, c);
	forget_dropped(d, c);
	if (!spool_open_request(d->spool, delivery_index(d, c), c->index, &fd, &is_marked)) {
		c->due_ns = delivery_now() + d->retry_ns;
		return;
	}
	/* Damaged ones were dropped. */
	forget_dropped(d, c);
	c->first_id = spool_id(d->spool, delivery_index(d, c), 0);
	if (is_marked && c->absent_id != spool_id(d->spool, delivery_index(d, c), c->index))
		c->is_uncertain = c->is_interrupted = true;
	c->job = c->is_uncertain ? SENDER_CHECK : SENDER_SEND;
	job = (struct sender_job){ .kind = c->job };
	c->is_busy = true;
	spool_hold(d->spool, delivery_index(d, c), c->index + 1);
	err = fd_channel_send(c->socket, &job, sizeof(job), &fd, 1);
	close(fd);
	if (err) {
		error_destroy(err);
		delivery_fail_without_sender(d, c);
	}
}

/* Is something to be read, or the other end closed? */
static bool is_ready(int socket)
{
	struct pollfd poll_fd = { .fd = socket, .events = POLLIN };

	return poll(&poll_fd, 1, 0) > 0;
}

static void advance(struct delivery *d, struct delivery_channel *c)
{
	struct sender_answer answer;

	if (c->socket >= 0 && is_ready(c->socket)) {
		if (c->is_busy && sender_receive(c->socket, &answer))
			delivery_take_answer(d, c, &answer);
		else
			delivery_fail_without_sender(d, c);
	}
	if (!c->is_busy && has_requests(d, c) && delivery_now() >= c->due_ns)
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
	delivery_tell_of_left(d);
	delivery_set_timer(d);
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
		delivery_say(d, "cannot write into the spool: %s; what it does not take is lost",
			     err->message);
	d->cannot_write = err;
	if (err == &error_no_memory)
		return err;
	error_destroy(err);
	advance(d, &d->channels[sink]);
	delivery_tell_of_left(d);
	delivery_set_timer(d);
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
	const uint64_t until = delivery_now() + ns;
	struct error *err = delivery_poll(d);

	while (!err && delivery_waiting(d).requests && !is_failing(d) && delivery_now() < until) {
		struct pollfd poll_fd = { .fd = d->epoll, .events = POLLIN };
		const uint64_t left = until - delivery_now();

		if (poll(&poll_fd, 1, left / 1000000 > 1000 ? 1000 : (int)(left / 1000000) + 1) <
			    0 &&
		    errno != EINTR)
			return error_system(errno, "cannot wait for senders");
		err = delivery_poll(d);
	}
	return err;
}
