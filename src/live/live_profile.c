/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "profile/lock_frames.h"
#include "profile/profile_sum.h"
#include "profile/symbolise.h"
#include "security/privileges.h"

/* Read the session once a second; the first reading comes sooner, so that the screen fills
 * early. */
#define READ_NS      NS_PER_S
#define READ_SOON_NS (NS_PER_S / 4)
#define TICK_NS      (NS_PER_S / 4)
#define HALF_LIFE_NS (10 * NS_PER_S)

/* Progress of the session's start. It is global because live_profile_progress() is called before a
 * collector exists; a process shows one screen at a time. */
static struct {
	atomic_bool is_over;
	atomic_size_t done, all;
} starting;

bool live_profile_progress(void *context, size_t done, size_t all)
{
	(void)context;
	atomic_store(&starting.done, done);
	atomic_store(&starting.all, all);
	return !atomic_load(&starting.is_over);
}

struct live_collector {
	const struct live_profile *live;
	int news, requests; /* eventfds that wake the screen, and the thread */
	/* Used by the thread only. */
	struct guard *guard;
	struct symbol_cache *symbols;
	uint64_t next_ns, tick_ns, ends_ns; /* CLOCK_MONOTONIC; 0: never */
	/* Shared by the thread and the screen, protected by `lock`. */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct profile_sum sum;
	struct profile *frozen; /* the copy that is shown while frozen; NULL: show `sum` */
	bool is_frozen, is_over, has_ended;
	bool is_collecting;   /* the session has started */
	char end[80];         /* why collecting has ended; "": it has not */
	struct error *failed; /* the error that ended the thread; owned */
};

static void raise_event(int event)
{
	const uint64_t one = 1;

	/* The counter cannot overflow: each read resets it. */
	if (write(event, &one, sizeof(one)) < 0)
		return;
}

static void clear_event(int event)
{
	uint64_t count;

	if (read(event, &count, sizeof(count)) < 0)
		return;
}

static bool is_over(struct live_collector *c)
{
	bool over;

	pthread_mutex_lock(&c->lock);
	over = c->is_over;
	pthread_mutex_unlock(&c->lock);
	return over;
}

/* --- readings --- */

static bool is_naming_over(void *context)
{
	return is_over(context);
}

static struct error *name_frames(struct live_collector *c, struct profile *profile)
{
	const struct symbolise_options options = {
		.no_inline = c->live->no_inline,
		.symfs = c->live->symfs,
		.guard = c->guard,
		.cache = c->symbols,
		.is_over = is_naming_over,
		.is_over_context = c,
	};
	const bool was_raised = privileges_raise();
	struct error *err = symbolise_kernel_cached(profile, c->symbols);
	struct filtered filtered;

	/* Files below --symfs are chosen by the user, so read them with the user's rights. */
	if (c->live->symfs)
		privileges_lower(was_raised);
	if (!err)
		err = symbolise_user(profile, &options);
	if (!c->live->symfs)
		privileges_lower(was_raised);
	if (!err)
		err = lock_frames_apply(profile);
	if (!err && c->live->filter)
		err = filter_apply(c->live->filter, profile, &filtered);
	return err;
}

static struct error *read_session(struct live_collector *c)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	const bool was_raised = privileges_raise();
	struct error *err = profile_session_read(c->live->session, &profile);

	privileges_lower(was_raised);
	if (!err)
		err = name_frames(c, profile);
	if (err)
		return err;
	pthread_mutex_lock(&c->lock);
	err = profile_sum_add(&c->sum, profile);
	pthread_mutex_unlock(&c->lock);
	raise_event(c->news);
	return err;
}

static struct error *tick_session(struct live_collector *c)
{
	PRIVILEGES_RAISED;

	return profile_session_tick(c->live->session);
}

static struct error *stop_session(struct live_collector *c)
{
	PRIVILEGES_RAISED;

	return profile_session_stop(c->live->session);
}

/* --- the thread --- */

static void say_end(struct live_collector *c, const char *text)
{
	pthread_mutex_lock(&c->lock);
	snprintf(c->end, sizeof(c->end), "%s", text);
	pthread_mutex_unlock(&c->lock);
	raise_event(c->news);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

/* Sleep until the next tick, reading or end, or until the screen makes a request. */
static void wait_a_little(const struct live_collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t until = sooner(profile_session_next_tick(c->live->session, now), c->next_ns);
	struct timespec left;
	struct pollfd reasons[] = {
		{ .fd = c->requests, .events = POLLIN },
		{ .fd = profile_session_fd(c->live->session), .events = POLLIN },
	};

	until = sooner(sooner(until, c->ends_ns), c->live->tick ? c->tick_ns : 0);
	left = clock_timespec(until > now ? until - now : 0);
	ppoll(reasons, array_length(reasons), &left, NULL);
	if (reasons[0].revents)
		clear_event(c->requests);
	if (reasons[1].revents)
		usleep((useconds_t)(profile_session_gather_ns(c->live->session) / 1000));
}

static struct error *tick_caller(struct live_collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!c->live->tick || now < c->tick_ns)
		return NULL;
	c->tick_ns = now + TICK_NS;
	return c->live->tick(c->live->tick_context);
}

static struct error *read_if_due(struct live_collector *c)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (now < c->next_ns)
		return NULL;
	err = read_session(c);
	/* Pause for READ_NS after each reading, however long it took. */
	c->next_ns = clock_ns(CLOCK_MONOTONIC) + READ_NS;
	/* Return the memory of this reading to the kernel: the next may have fewer threads. */
	malloc_trim(0);
	return err;
}

static bool have_targets_ended(const struct live_collector *c)
{
	const struct live_profile *live = c->live;

	return live->ends_with_targets && profile_session_targets_ended(live->session) &&
	       (!live->may_return || !live->may_return(live->may_return_context));
}

static struct error *collect(struct live_collector *c)
{
	struct error *err = NULL;
	const char *end = NULL;

	while (!err && !end && !is_over(c)) {
		wait_a_little(c);
		err = tick_session(c);
		if (!err)
			err = tick_caller(c);
		if (!err)
			err = read_if_due(c);
		if (have_targets_ended(c))
			end = "all targets have ended";
		else if (c->ends_ns && clock_ns(CLOCK_MONOTONIC) >= c->ends_ns)
			end = "the time is over";
	}
	if (!err)
		err = stop_session(c);
	if (!err)
		err = read_session(c);
	if (!err && end)
		say_end(c, end);
	return err;
}

/* After the session has ended, go on calling the caller's tick until the screen closes. */
static struct error *idle(struct live_collector *c)
{
	struct error *err = NULL;

	while (!err && !is_over(c)) {
		struct pollfd request = { .fd = c->requests, .events = POLLIN };
		const int timeout_ms = c->live->tick ? (int)(TICK_NS / 1000000) : -1;

		if (poll(&request, 1, timeout_ms) > 0)
			clear_event(c->requests);
		err = tick_caller(c);
	}
	return err;
}

static struct error *start_session(struct live_collector *c)
{
	const bool was_raised = privileges_raise();
	struct error *err = profile_session_start(c->live->session);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	privileges_lower(was_raised);
	c->next_ns = now + READ_SOON_NS;
	c->ends_ns = c->live->duration_ns ? now + c->live->duration_ns : 0;
	pthread_mutex_lock(&c->lock);
	c->is_collecting = true;
	pthread_mutex_unlock(&c->lock);
	raise_event(c->news);
	return err;
}

static void *collector_thread(void *argument)
{
	struct live_collector *c = argument;
	struct error *err;

	c->guard = symbolise_guard();
	c->symbols = symbol_cache_create();
	err = c->guard && c->symbols ? start_session(c) : &error_no_memory;
	if (!err)
		err = collect(c);
	if (!err)
		err = idle(c);
	guard_destroy(c->guard);
	symbol_cache_destroy(c->symbols);
	pthread_mutex_lock(&c->lock);
	c->failed = err;
	c->has_ended = true;
	/* The screen may free the collector as soon as the lock is released. */
	raise_event(c->news);
	pthread_cond_signal(&c->ended);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* --- the feed --- */

static void tell_losses(const struct profile_losses *losses, char *ret, size_t room)
{
	if (losses->lost)
		snprintf(ret, room, "%" PRIu64 " events lost", losses->lost);
	else if (losses->threads_lost)
		snprintf(ret, room, "%" PRIu64 " threads left out: no room", losses->threads_lost);
}

static void tell_start(const struct live_collector *c, char *ret, size_t room)
{
	const size_t all = atomic_load(&starting.all);

	if (c->is_collecting)
		snprintf(ret, room, "Collecting...");
	else if (all)
		snprintf(ret, room, "Making unwind tables: %zu of %zu files",
			 atomic_load(&starting.done), all);
	else
		snprintf(ret, room, "Looking at processes...");
}

static struct error *borrow(void *context, const struct profile **ret, struct flame_news *news)
{
	struct live_collector *c = context;
	struct error *err;

	clear_event(c->news);
	pthread_mutex_lock(&c->lock);
	*news = (struct flame_news){ .half_life_ns = HALF_LIFE_NS };
	*ret = c->is_frozen ? c->frozen : c->sum.profile;
	snprintf(news->ended, sizeof(news->ended), "%s", c->end);
	if (*ret) {
		news->ns = (*ret)->meta.duration_ns;
		tell_losses(&(*ret)->meta.losses, news->problem, sizeof(news->problem));
		if (c->sum.restarts && !*news->problem)
			snprintf(news->problem, sizeof(news->problem),
				 "begun anew: too many stacks");
	} else {
		tell_start(c, news->waits_for, sizeof(news->waits_for));
	}
	err = c->failed;
	c->failed = NULL;
	return err;
}

static void give_back(void *context)
{
	struct live_collector *c = context;

	pthread_mutex_unlock(&c->lock);
}

static void freeze(void *context, bool is_frozen)
{
	struct live_collector *c = context;

	pthread_mutex_lock(&c->lock);
	profile_destroy(c->frozen);
	c->frozen = NULL;
	/* Without memory for the copy, the screen stays live. */
	c->is_frozen = is_frozen;
	if (is_frozen) {
		struct error *err = profile_sum_copy(&c->sum, &c->frozen);

		c->is_frozen = !err;
		error_destroy(err);
	}
	pthread_mutex_unlock(&c->lock);
}

static void begin_anew(void *context)
{
	struct live_collector *c = context;

	pthread_mutex_lock(&c->lock);
	profile_sum_reset(&c->sum);
	pthread_mutex_unlock(&c->lock);
}

static void sum_up(void *context, enum flame_sum sum)
{
	struct live_collector *c = context;

	pthread_mutex_lock(&c->lock);
	c->sum.only_last = sum == FLAME_SUM_LAST;
	c->sum.half_life_ns = sum == FLAME_SUM_DECAY ? HALF_LIFE_NS : 0;
	pthread_mutex_unlock(&c->lock);
}

/* --- all of it --- */

static struct error *open_collector(struct live_collector *c, const struct live_profile *live)
{
	*c = (struct live_collector){ .live = live,
				      .news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				      .requests = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	atomic_store(&starting.is_over, false);
	atomic_store(&starting.all, 0);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->ended, NULL);
	if (c->news < 0 || c->requests < 0)
		return error_system(errno, "a descriptor for the screen");
	if (!thread_start(collector_thread, c))
		return thread_missing("take a profile");
	return NULL;
}

/* Symbolisation checks is_over() before each file, so this waits for one file at most. */
static void end_thread(struct live_collector *c)
{
	atomic_store(&starting.is_over, true);
	pthread_mutex_lock(&c->lock);
	c->is_over = true;
	raise_event(c->requests);
	while (!c->has_ended)
		pthread_cond_wait(&c->ended, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static void close_collector(struct live_collector *c)
{
	error_destroy(c->failed);
	profile_sum_deinit(&c->sum);
	profile_destroy(c->frozen);
	pthread_cond_destroy(&c->ended);
	pthread_mutex_destroy(&c->lock);
	if (c->news >= 0)
		close(c->news);
	if (c->requests >= 0)
		close(c->requests);
}

struct error *live_profile_run(const struct live_profile *live, struct profile **ret_profile,
			       struct flame_screen_end *ret)
{
	struct live_collector c;
	struct flame_feed feed = {
		.borrow = borrow,
		.give_back = give_back,
		.freeze = freeze,
		.begin_anew = begin_anew,
		.sum_up = sum_up,
		.context = &c,
	};
	struct error *err = open_collector(&c, live);

	if (!err) {
		feed.news = c.news;
		err = flame_screen_run(live->screen, &feed, ret);
		end_thread(&c);
		if (!err)
			err = take_ptr(c.failed);
	}
	if (!err && ret_profile)
		*ret_profile = take_ptr(c.sum.profile);
	close_collector(&c);
	return err;
}
