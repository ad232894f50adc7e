/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/feeder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grid.h"
#include "base/thread.h"

#define TICK_NS (NS_PER_S / 4)

/* Requests of the screen. Those for one action are removed when it is done. */
struct wishes {
	struct state_view view;
	struct state_filter filter; /* of the view, if it has one */
	uint64_t view_number;
	bool is_paused, is_over;
	bool jumps;
	char jump[sizeof(((struct line_edit *)0)->bytes)];
	int steps;            /* after that */
	bool inspects, looks; /* at `inspected`; and it has not been looked at yet */
	struct screen_subject inspected;
};

struct feeder {
	/* Neither changes them. */
	const struct screen_feed *feed;
	uint64_t interval_ns;
	/* Written to by who has something for the other. A condition variable would not do: who
	 * signals one may have to wait until a thread that was woken before has run. */
	int news_event, wish_event;
	/* The thread's own. */
	struct wishes doing;
	struct model *making;
	struct state_window window; /* the feed's, until it is asked again */
	bool has_window;
	struct state_list groups;      /* all of the window, when one of them is inspected */
	struct state_thread last_seen; /* that is inspected */
	bool has_told_end;             /* of it: nobody has more to say of it */
	uint64_t next_at, tick_at, ended_at;
	/* The screen's own. */
	struct model *shown;
	/* Shared by both threads, under the lock. */
	pthread_mutex_t lock;
	struct wishes wishes;
	struct feeder_news news;
	struct model *ready; /* finished, if there are news of a window */
	bool has_ended;
	struct model models[3];
};

static void copy_view(struct wishes *to, const struct state_view *view)
{
	to->view = *view;
	if (!view->filter)
		return;
	to->filter = *view->filter;
	to->view.filter = &to->filter;
}

/* --- events --- */

static void raise_event(int event)
{
	const uint64_t one = 1;

	/* It cannot be full: who takes something takes all of it. */
	if (write(event, &one, sizeof(one)) < 0)
		return;
}

static void lower_event(int event)
{
	uint64_t times;

	/* How often it was raised, which may be never. */
	if (read(event, &times, sizeof(times)) < 0)
		return;
}

/* Until it is raised, or that time. */
static void wait_for_event(int event, uint64_t until)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const struct timespec left = clock_moment(until > now ? until - now : 0);
	struct pollfd polled = { .fd = event, .events = POLLIN };

	ppoll(&polled, 1, &left, NULL);
}

/* --- the thread: what it tells --- */

/* Without the lock: who hears of it wants it at once, and may have our CPU for that. */
static void tell(struct feeder *feeder)
{
	raise_event(feeder->news_event);
}

static void tell_error(struct feeder *feeder, struct error *err)
{
	pthread_mutex_lock(&feeder->lock);
	feeder->news.err = err;
	pthread_mutex_unlock(&feeder->lock);
	tell(feeder);
}

static void tell_window(struct feeder *feeder)
{
	struct model *finished = feeder->making;

	pthread_mutex_lock(&feeder->lock);
	feeder->making = feeder->ready;
	feeder->ready = finished;
	feeder->news.has_window = true;
	pthread_mutex_unlock(&feeder->lock);
	tell(feeder);
}

static void tell_message(struct feeder *feeder, bool is_error, const char *text)
{
	pthread_mutex_lock(&feeder->lock);
	snprintf(feeder->news.message, sizeof(feeder->news.message), "%s", text);
	feeder->news.message_is_error = is_error;
	pthread_mutex_unlock(&feeder->lock);
	tell(feeder);
}

static void tell_pause(struct feeder *feeder)
{
	pthread_mutex_lock(&feeder->lock);
	feeder->wishes.is_paused = feeder->doing.is_paused = true;
	feeder->news.has_paused = true;
	pthread_mutex_unlock(&feeder->lock);
	tell(feeder);
}

/* Takes the page. */
static void tell_page(struct feeder *feeder, uint64_t id, bool has_ended, char *page)
{
	struct feeder_news *news = &feeder->news;

	pthread_mutex_lock(&feeder->lock);
	/* One that nobody took stays, if it has ended since: there is no better one to come. */
	if (page || news->page_of != id) {
		free(news->page);
		news->page = page;
	}
	news->has_page = true;
	news->page_of = id;
	news->has_ended = has_ended;
	pthread_mutex_unlock(&feeder->lock);
	tell(feeder);
}

/* --- the thread: what it does --- */

static struct error *inspect(struct feeder *feeder, const struct screen_subject *subject)
{
	const struct screen_feed *feed = feeder->feed;
	_cleanup_free_ char *page = NULL;
	struct error *err;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);

	if (!out)
		return error_system(errno, "the inspector");
	err = feed->inspect(feed->context, subject, out);
	if (fclose(out) && !err)
		err = &error_no_memory;
	if (err) {
		/* As of one that ends meanwhile: no reason to end the screen. */
		tell_message(feeder, true, err->message);
		error_destroy(err);
		return NULL;
	}
	tell_page(feeder, subject->line, subject->thread.has_ended, take_ptr(page));
	return NULL;
}

static const struct state_thread *find_thread_state(const struct state_window *window, uint64_t id)
{
	for (size_t i = 0; i < window->deltas.count; i++)
		if (window->deltas.items[i].thread->id == id)
			return window->deltas.items[i].thread;
	return NULL;
}

/* Find the thread that represents the group now: one that passes the filter, as in its row; any
 * thread of the group where none passes. */
static struct error *find_leader(struct feeder *feeder, const struct screen_subject *subject,
				 const struct state_thread **ret)
{
	struct state_list *list = &feeder->groups;
	struct state_view view = feeder->doing.view;
	struct error *err;

	*ret = NULL;
	view.grouping = subject->grouping;
	view.is_tree = view.no_ended = false;
	do {
		err = state_list_make(list, &feeder->window, &view);
		for (size_t i = 0; i < list->lines.count && !*ret; i++)
			if (list->lines.items[i].id == subject->line)
				*ret = list->lines.items[i].thread;
		if (!view.filter && !view.no_kernel)
			break;
		view.filter = NULL;
		view.no_kernel = false;
	} while (!err && (!*ret || (*ret)->has_ended));
	return err;
}

/* Where it is in the feed's window. */
static struct error *find_inspected(struct feeder *feeder, struct screen_subject *subject,
				    bool *ret_is_there)
{
	const struct state_thread *thread = NULL;
	struct error *err = NULL;

	if (subject->grouping == STATE_BY_THREAD)
		thread = find_thread_state(&feeder->window, subject->line);
	else
		err = find_leader(feeder, subject, &thread);
	if (thread)
		feeder->last_seen = *thread;
	subject->thread = feeder->last_seen;
	subject->view = &feeder->doing.view;
	*ret_is_there = thread && !thread->has_ended;
	return err;
}

/* At once. Of a group another thread than that of its row may be the one that stands for it. */
static struct error *inspect_now(struct feeder *feeder)
{
	struct screen_subject subject = feeder->doing.inspected;
	bool is_there = true;
	struct error *err;

	feeder->last_seen = subject.thread;
	subject.view = &feeder->doing.view;
	err = feeder->has_window ? find_inspected(feeder, &subject, &is_there) : NULL;
	feeder->has_told_end = !is_there;
	if (!feeder->feed->step && !is_there)
		subject.thread.has_ended = true;
	return err ? err : inspect(feeder, &subject);
}

/* After each window. Of one that has ended it is said once how it did, and that stays: nobody has
 * more to say. */
static struct error *inspect_again(struct feeder *feeder)
{
	struct screen_subject subject = feeder->doing.inspected;
	bool is_there;
	struct error *err = find_inspected(feeder, &subject, &is_there);

	if (err)
		return err;
	if (is_there) {
		feeder->has_told_end = false;
		return inspect(feeder, &subject);
	}
	if (!feeder->feed->step && !feeder->has_told_end) {
		feeder->has_told_end = subject.thread.has_ended = true;
		return inspect(feeder, &subject);
	}
	tell_page(feeder, subject.line, true, NULL);
	return NULL;
}

/* It may have changed while that was read. */
static void look_at_view(struct feeder *feeder)
{
	pthread_mutex_lock(&feeder->lock);
	copy_view(&feeder->doing, &feeder->wishes.view);
	feeder->doing.view_number = feeder->wishes.view_number;
	pthread_mutex_unlock(&feeder->lock);
}

static struct error *next_window(struct feeder *feeder)
{
	const struct screen_feed *feed = feeder->feed;
	struct screen_host host = { 0 };
	struct error *err;

	feeder->ended_at = clock_ns(CLOCK_MONOTONIC);
	err = feed->next(feed->context, &feeder->window, &host);
	if (err)
		return err;
	look_at_view(feeder);
	err = model_fill(feeder->making, &feeder->window, &host, &feeder->doing.view);
	if (err)
		return err;
	feeder->making->view_number = feeder->doing.view_number;
	feeder->has_window = true;
	tell_window(feeder);
	return feeder->doing.inspects ? inspect_again(feeder) : NULL;
}

static struct error *step(struct feeder *feeder, int by)
{
	const struct screen_feed *feed = feeder->feed;

	if (!feed->step(feed->context, by)) {
		tell_message(feeder, false,
			     by < 0 ? "This is the first window." : "This is the last window.");
		return NULL;
	}
	tell_pause(feeder);
	return next_window(feeder);
}

static struct error *jump(struct feeder *feeder, const char *to)
{
	const struct screen_feed *feed = feeder->feed;
	struct error *err = feed->jump(feed->context, to);

	if (err) {
		tell_message(feeder, true, err->message);
		error_destroy(err);
		return NULL;
	}
	tell_pause(feeder);
	return next_window(feeder);
}

/* A window has ended. A replay goes on by itself, as far as there is more. */
static struct error *go_on(struct feeder *feeder)
{
	const struct screen_feed *feed = feeder->feed;

	if (feed->step && feeder->has_window && !feed->step(feed->context, 1)) {
		tell_pause(feeder);
		tell_message(feeder, false, "This is the last window.");
		return NULL;
	}
	return next_window(feeder);
}

static struct error *do_due(struct feeder *feeder)
{
	const struct screen_feed *feed = feeder->feed;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err = NULL;

	if (feed->tick && feeder->tick_at <= now) {
		err = feed->tick(feed->context);
		feeder->tick_at = grid_next(feeder->tick_at, TICK_NS, now, now);
	}
	if (err || feeder->next_at > now)
		return err;
	if (!feeder->doing.is_paused)
		err = go_on(feeder);
	feeder->next_at = grid_next(feeder->next_at, feeder->interval_ns, feeder->ended_at,
				    clock_ns(CLOCK_MONOTONIC));
	return err;
}

static struct error *do_wishes(struct feeder *feeder)
{
	const struct wishes *doing = &feeder->doing;
	struct error *err = NULL;

	if (doing->jumps)
		err = jump(feeder, doing->jump);
	else if (doing->steps)
		err = step(feeder, doing->steps);
	if (!err && doing->looks)
		err = inspect_now(feeder);
	return err ? err : do_due(feeder);
}

/* --- the thread: what it waits for --- */

static uint64_t next_due(const struct feeder *feeder)
{
	const bool ticks = feeder->feed->tick;

	return ticks && feeder->tick_at < feeder->next_at ? feeder->tick_at : feeder->next_at;
}

static void wait_for_something(struct feeder *feeder)
{
	const struct wishes *wishes = &feeder->wishes;
	bool has_wishes;

	lower_event(feeder->wish_event);
	pthread_mutex_lock(&feeder->lock);
	has_wishes = wishes->is_over || wishes->jumps || wishes->steps || wishes->looks;
	pthread_mutex_unlock(&feeder->lock);
	if (!has_wishes)
		wait_for_event(feeder->wish_event, next_due(feeder));
}

/* Several steps are made one. */
static void take_wishes(struct feeder *feeder)
{
	struct wishes *wishes = &feeder->wishes, *doing = &feeder->doing;

	pthread_mutex_lock(&feeder->lock);
	*doing = *wishes;
	copy_view(doing, &wishes->view);
	wishes->jumps = wishes->looks = false;
	if (!doing->jumps) {
		doing->steps = (wishes->steps > 0) - (wishes->steps < 0);
		wishes->steps -= doing->steps;
	}
	pthread_mutex_unlock(&feeder->lock);
}

static void *work(void *argument)
{
	struct feeder *feeder = argument;
	struct error *err = NULL;

	while (!err && !feeder->doing.is_over) {
		wait_for_something(feeder);
		take_wishes(feeder);
		if (!feeder->doing.is_over)
			err = do_wishes(feeder);
		if (err)
			tell_error(feeder, err);
	}
	/* With the lock: after it there may be no feeder. */
	pthread_mutex_lock(&feeder->lock);
	feeder->has_ended = true;
	tell(feeder);
	pthread_mutex_unlock(&feeder->lock);
	return NULL;
}

/* --- its life --- */

static void destroy(struct feeder *feeder)
{
	for (size_t i = 0; i < array_length(feeder->models); i++)
		model_deinit(&feeder->models[i]);
	state_list_deinit(&feeder->groups);
	free(feeder->news.page);
	error_destroy(feeder->news.err);
	pthread_mutex_destroy(&feeder->lock);
	if (feeder->news_event >= 0)
		close(feeder->news_event);
	if (feeder->wish_event >= 0)
		close(feeder->wish_event);
	free(feeder);
}

static struct error *open_events(struct feeder *feeder)
{
	feeder->news_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	feeder->wish_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (feeder->news_event < 0 || feeder->wish_event < 0)
		return error_system(errno, "a descriptor for news");
	return NULL;
}

struct error *feeder_open(const struct screen_feed *feed, const struct state_view *view,
			  uint64_t interval_ns, struct feeder **ret)
{
	struct feeder *feeder = calloc(1, sizeof(*feeder));
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (!feeder)
		return &error_no_memory;
	feeder->feed = feed;
	feeder->interval_ns = interval_ns;
	feeder->ended_at = now;
	/* A recording has its windows already. */
	feeder->next_at = feed->step ? now : now + interval_ns;
	feeder->tick_at = now + TICK_NS;
	copy_view(&feeder->wishes, view);
	for (size_t i = 0; i < array_length(feeder->models); i++)
		model_init(&feeder->models[i]);
	state_list_init(&feeder->groups);
	feeder->shown = &feeder->models[0];
	feeder->ready = &feeder->models[1];
	feeder->making = &feeder->models[2];
	pthread_mutex_init(&feeder->lock, NULL);
	err = open_events(feeder);
	if (!err && !thread_start(work, feeder))
		err = error_create("there can be no thread to read in");
	if (err) {
		destroy(feeder);
		return err;
	}
	*ret = feeder;
	return NULL;
}

static struct wishes *begin_wish(struct feeder *feeder)
{
	pthread_mutex_lock(&feeder->lock);
	return &feeder->wishes;
}

static void end_wish(struct feeder *feeder)
{
	pthread_mutex_unlock(&feeder->lock);
	raise_event(feeder->wish_event);
}

static bool has_reader_ended(struct feeder *feeder)
{
	bool has;

	pthread_mutex_lock(&feeder->lock);
	has = feeder->has_ended;
	pthread_mutex_unlock(&feeder->lock);
	return has;
}

void feeder_close(struct feeder *feeder)
{
	if (!feeder)
		return;
	begin_wish(feeder)->is_over = true;
	end_wish(feeder);
	while (!has_reader_ended(feeder)) {
		wait_for_event(feeder->news_event, UINT64_MAX);
		lower_event(feeder->news_event);
	}
	destroy(feeder);
}

/* --- the screen: what it takes --- */

int feeder_fd(const struct feeder *feeder)
{
	return feeder->news_event;
}

void feeder_take(struct feeder *feeder, struct feeder_news *ret)
{
	struct model *shown = feeder->shown;
	bool is_frozen;

	lower_event(feeder->news_event);
	pthread_mutex_lock(&feeder->lock);
	is_frozen = feeder->wishes.is_paused && !feeder->feed->step;
	*ret = feeder->news;
	feeder->news = (struct feeder_news){ .has_window = ret->has_window && is_frozen };
	ret->has_window = ret->has_window && !is_frozen;
	if (ret->has_window) {
		feeder->shown = feeder->ready;
		feeder->ready = shown;
	}
	pthread_mutex_unlock(&feeder->lock);
}

struct model *feeder_model(struct feeder *feeder)
{
	return feeder->shown;
}

/* --- the screen: what it wishes --- */

void feeder_show(struct feeder *feeder, const struct state_view *view, uint64_t number)
{
	struct wishes *wishes = begin_wish(feeder);

	copy_view(wishes, view);
	wishes->view_number = number;
	end_wish(feeder);
}

void feeder_pause(struct feeder *feeder, bool is_paused)
{
	bool waits;

	begin_wish(feeder)->is_paused = is_paused;
	waits = feeder->news.has_window;
	end_wish(feeder);
	if (waits)
		tell(feeder);
}

void feeder_step(struct feeder *feeder, int by)
{
	begin_wish(feeder)->steps += by;
	end_wish(feeder);
}

void feeder_jump(struct feeder *feeder, const char *to)
{
	struct wishes *wishes = begin_wish(feeder);

	snprintf(wishes->jump, sizeof(wishes->jump), "%s", to);
	wishes->jumps = true;
	wishes->steps = 0;
	end_wish(feeder);
}

void feeder_inspect(struct feeder *feeder, const struct screen_subject *subject)
{
	struct wishes *wishes = begin_wish(feeder);

	wishes->inspects = wishes->looks = subject && feeder->feed->inspect;
	if (subject)
		wishes->inspected = *subject;
	end_wish(feeder);
}
