/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/window_reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/grid.h"
#include "base/thread.h"

#define TICK_NS (NS_PER_S / 4)

/* Requests of the screen. One for a single action is removed when it is taken. */
struct reader_requests {
	struct state_view view;
	struct state_filter filter; /* of the view, if it has one */
	uint64_t view_number;
	bool is_paused, is_over;
	bool jumps;
	char jump[sizeof(((struct line_edit *)0)->bytes)];
	uint64_t interval_ns;
	int steps;            /* after that */
	bool inspects, looks; /* inspect `inspected`; it has not been inspected yet */
	struct screen_subject inspected;
	bool asks; /* for facts of these rows, which it owns */
	struct row_question question;
	struct row_subject *subjects;
};

struct window_reader {
	/* Constant. */
	const struct screen_feed *feed;
	/* Each thread wakes the other by one of these. Not condition variables: signalling one may
	 * block until a thread that was woken before has run. */
	int update_event, request_event;
	/* Used by the thread only. */
	struct reader_requests doing;
	struct model *making;
	struct state_window window; /* owned by the feed; valid until its next call */
	bool has_window;
	struct state_list groups;      /* of the window, if a group is inspected */
	struct state_thread last_seen; /* the inspected thread */
	bool has_published_end;        /* its end was published, so its page is final */
	bool has_inspected;            /* and did not look away since */
	uint64_t next_at, tick_at, ended_at;
	/* Used by the screen only. */
	struct model *shown;
	/* Shared by both threads, under the lock. */
	pthread_mutex_t lock;
	struct reader_requests requests;
	struct window_update update;
	struct model *ready; /* finished, if `update` has a window */
	bool has_ended;
	struct model models[3];
};

static void copy_view(struct reader_requests *to, const struct state_view *view)
{
	to->view = *view;
	/* The screen changes these meanwhile. */
	to->view.facts = NULL;
	to->view.exits = NULL;
	if (!view->filter)
		return;
	to->filter = *view->filter;
	to->view.filter = &to->filter;
}

/* --- events --- */

static void raise_event(int event)
{
	const uint64_t one = 1;

	/* It cannot overflow: each read resets it. */
	if (write(event, &one, sizeof(one)) < 0)
		return;
}

static void lower_event(int event)
{
	uint64_t times;

	/* The number of writes, which may be 0. */
	if (read(event, &times, sizeof(times)) < 0)
		return;
}

/* Wait until the event is raised, or until that time. */
static void wait_for_event(int event, uint64_t until)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const struct timespec left = clock_timespec(until > now ? until - now : 0);
	struct pollfd polled = { .fd = event, .events = POLLIN };

	ppoll(&polled, 1, &left, NULL);
}

/* --- the thread: updates --- */

/* Called without the lock: the woken thread takes the lock at once, possibly on this CPU. */
static void notify_screen(struct window_reader *reader)
{
	raise_event(reader->update_event);
}

static void publish_error(struct window_reader *reader, struct error *err)
{
	pthread_mutex_lock(&reader->lock);
	reader->update.err = err;
	pthread_mutex_unlock(&reader->lock);
	notify_screen(reader);
}

static void publish_window(struct window_reader *reader)
{
	struct model *finished = reader->making;

	pthread_mutex_lock(&reader->lock);
	reader->making = reader->ready;
	reader->ready = finished;
	reader->update.has_window = true;
	pthread_mutex_unlock(&reader->lock);
	notify_screen(reader);
}

static void publish_message(struct window_reader *reader, bool is_error, const char *text)
{
	pthread_mutex_lock(&reader->lock);
	snprintf(reader->update.message, sizeof(reader->update.message), "%s", text);
	reader->update.message_is_error = is_error;
	pthread_mutex_unlock(&reader->lock);
	notify_screen(reader);
}

static void publish_pause(struct window_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	reader->requests.is_paused = reader->doing.is_paused = true;
	reader->update.has_paused = true;
	pthread_mutex_unlock(&reader->lock);
	notify_screen(reader);
}

/* Takes ownership of the page. */
static void publish_page(struct window_reader *reader, uint64_t id, bool has_ended, char *page)
{
	struct window_update *update = &reader->update;

	pthread_mutex_lock(&reader->lock);
	/* If the row has ended (no page), keep a page that was not taken: there will be no other.
	 */
	if (page || update->page_of != id) {
		free(update->page);
		update->page = page;
	}
	update->has_page = true;
	update->page_of = id;
	update->has_ended = has_ended;
	pthread_mutex_unlock(&reader->lock);
	notify_screen(reader);
}

/* Takes ownership of the facts. */
static void publish_facts(struct window_reader *reader, struct row_facts *facts, size_t count)
{
	pthread_mutex_lock(&reader->lock);
	free(reader->update.facts);
	reader->update.facts = facts;
	reader->update.fact_count = count;
	pthread_mutex_unlock(&reader->lock);
	notify_screen(reader);
}

/* --- the thread: work --- */

static struct error *read_facts(struct window_reader *reader)
{
	const struct screen_feed *feed = reader->feed;
	const struct row_question *asked = &reader->doing.question;
	const struct row_subject *subjects = reader->doing.subjects;
	struct row_facts *facts = calloc(asked->count, sizeof(*facts));

	if (!facts)
		return &error_no_memory;
	feed->facts(feed->context, asked->facts, subjects, asked->seen, facts);
	if (asked->seen < asked->count)
		feed->facts(feed->context, asked->order, subjects + asked->seen,
			    asked->count - asked->seen, facts + asked->seen);
	publish_facts(reader, facts, asked->count);
	return NULL;
}

static struct error *inspect(struct window_reader *reader, const struct screen_subject *subject)
{
	const struct screen_feed *feed = reader->feed;
	_cleanup_free_ char *page = NULL;
	struct error *err;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);

	if (!out)
		return error_system(errno, "the inspector");
	reader->has_inspected = true;
	err = feed->inspect(feed->context, subject, out);
	if (!file_close_memory(out, &page) && !err)
		err = &error_no_memory;
	if (err) {
		/* For example, the thread ended meanwhile. This does not end the screen. */
		publish_message(reader, true, err->message);
		error_destroy(err);
		return NULL;
	}
	publish_page(reader, subject->line, subject->thread.has_ended, take_ptr(page));
	return NULL;
}

static const struct state_thread *find_state_thread(const struct state_window *window, uint64_t id)
{
	for (size_t i = 0; i < window->deltas.count; i++)
		if (window->deltas.items[i].thread->id == id)
			return window->deltas.items[i].thread;
	return NULL;
}

/* Find the thread that represents the group now: one that passes the filter, as in its row; any
 * thread of the group where none passes. */
static struct error *find_leader(struct window_reader *reader, const struct screen_subject *subject,
				 const struct state_thread **ret)
{
	struct state_list *list = &reader->groups;
	struct state_view view = reader->doing.view;
	struct error *err;

	*ret = NULL;
	view.grouping = subject->grouping;
	view.is_tree = view.no_ended = false;
	do {
		err = state_list_make(list, &reader->window, &view);
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

/* Find the inspected row in the window of the feed. */
static struct error *find_inspected(struct window_reader *reader, struct screen_subject *subject,
				    bool *ret_is_there)
{
	const struct state_thread *thread = NULL;
	struct error *err = NULL;

	if (subject->grouping == STATE_BY_THREAD)
		thread = find_state_thread(&reader->window, subject->line);
	else
		err = find_leader(reader, subject, &thread);
	if (thread)
		reader->last_seen = *thread;
	subject->thread = reader->last_seen;
	subject->view = &reader->doing.view;
	*ret_is_there = thread && !thread->has_ended;
	return err;
}

/* Inspect as soon as the screen requests it. Another thread than that of the row may represent a
 * group now. */
static struct error *inspect_now(struct window_reader *reader)
{
	struct screen_subject subject = reader->doing.inspected;
	bool is_there = true;
	struct error *err;

	reader->last_seen = subject.thread;
	subject.view = &reader->doing.view;
	err = reader->has_window ? find_inspected(reader, &subject, &is_there) : NULL;
	reader->has_published_end = !is_there;
	if (!reader->feed->step && !is_there)
		subject.thread.has_ended = true;
	return err ? err : inspect(reader, &subject);
}

/* Inspect again after each window. When the thread has ended, publish its end once; that page
 * stays. */
static struct error *inspect_again(struct window_reader *reader)
{
	struct screen_subject subject = reader->doing.inspected;
	bool is_there;
	struct error *err = find_inspected(reader, &subject, &is_there);

	if (err)
		return err;
	if (is_there) {
		reader->has_published_end = false;
		return inspect(reader, &subject);
	}
	if (!reader->feed->step && !reader->has_published_end) {
		reader->has_published_end = subject.thread.has_ended = true;
		return inspect(reader, &subject);
	}
	publish_page(reader, subject.line, true, NULL);
	return NULL;
}

/* The view may have changed while the window was read. */
static void refresh_view(struct window_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	copy_view(&reader->doing, &reader->requests.view);
	reader->doing.view_number = reader->requests.view_number;
	pthread_mutex_unlock(&reader->lock);
}

static struct error *read_window(struct window_reader *reader)
{
	const struct screen_feed *feed = reader->feed;
	struct screen_host host = { 0 };
	struct error *err;

	reader->ended_at = clock_ns(CLOCK_MONOTONIC);
	err = feed->next(feed->context, &reader->window, &host);
	if (err)
		return err;
	refresh_view(reader);
	err = model_fill(reader->making, &reader->window, &host, &reader->doing.view);
	if (err)
		return err;
	reader->making->view_number = reader->doing.view_number;
	reader->has_window = true;
	publish_window(reader);
	return reader->doing.inspects ? inspect_again(reader) : NULL;
}

static struct error *step(struct window_reader *reader, int by)
{
	const struct screen_feed *feed = reader->feed;

	if (!feed->step(feed->context, by)) {
		publish_message(reader, false,
				by < 0 ? "This is the first window." : "This is the last window.");
		return NULL;
	}
	publish_pause(reader);
	return read_window(reader);
}

static struct error *jump(struct window_reader *reader, const char *to)
{
	const struct screen_feed *feed = reader->feed;
	struct error *err = feed->jump(feed->context, to);

	if (err) {
		publish_message(reader, true, err->message);
		error_destroy(err);
		return NULL;
	}
	publish_pause(reader);
	return read_window(reader);
}

/* What was begun for the inspector costs as long as it goes on. */
static void look_away(struct window_reader *reader)
{
	if (reader->has_inspected && reader->feed->look_away)
		reader->feed->look_away(reader->feed->context);
	reader->has_inspected = false;
}

/* Make the window that has ended. A replay advances to its next window, if there is one. */
static struct error *make_due_window(struct window_reader *reader)
{
	const struct screen_feed *feed = reader->feed;

	if (feed->step && reader->has_window && !feed->step(feed->context, 1)) {
		publish_pause(reader);
		publish_message(reader, false, "This is the last window.");
		return NULL;
	}
	return read_window(reader);
}

static struct error *run_due(struct window_reader *reader)
{
	const struct screen_feed *feed = reader->feed;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err = NULL;

	if (feed->tick && reader->tick_at <= now) {
		err = feed->tick(feed->context);
		reader->tick_at = grid_next(reader->tick_at, TICK_NS, now, now);
	}
	if (err || reader->next_at > now)
		return err;
	if (!reader->doing.is_paused)
		err = make_due_window(reader);
	reader->next_at = grid_next(reader->next_at, reader->doing.interval_ns, reader->ended_at,
				    clock_ns(CLOCK_MONOTONIC));
	return err;
}

static struct error *run_requests(struct window_reader *reader)
{
	const struct reader_requests *doing = &reader->doing;
	struct error *err = NULL;

	if (doing->jumps)
		err = jump(reader, doing->jump);
	else if (doing->steps)
		err = step(reader, doing->steps);
	if (!err && doing->asks)
		err = read_facts(reader);
	if (!err && doing->looks)
		err = inspect_now(reader);
	return err ? err : run_due(reader);
}

/* --- the thread: waiting --- */

static uint64_t next_due(const struct window_reader *reader)
{
	const bool ticks = reader->feed->tick;

	return ticks && reader->tick_at < reader->next_at ? reader->tick_at : reader->next_at;
}

static void wait_for_work(struct window_reader *reader)
{
	const struct reader_requests *requests = &reader->requests;
	bool has_requests;

	lower_event(reader->request_event);
	pthread_mutex_lock(&reader->lock);
	has_requests = requests->is_over || requests->jumps || requests->steps || requests->looks ||
		       requests->asks || (reader->has_inspected && !requests->inspects) ||
		       requests->interval_ns != reader->doing.interval_ns;
	pthread_mutex_unlock(&reader->lock);
	if (!has_requests)
		wait_for_event(reader->request_event, next_due(reader));
}

/* Take one of several steps at a time. */
static void take_requests(struct window_reader *reader)
{
	struct reader_requests *requests = &reader->requests, *doing = &reader->doing;
	const uint64_t interval_ns = doing->interval_ns;

	pthread_mutex_lock(&reader->lock);
	free(doing->subjects);
	*doing = *requests;
	requests->subjects = NULL;
	copy_view(doing, &requests->view);
	if (doing->interval_ns != interval_ns)
		reader->next_at = reader->ended_at + doing->interval_ns;
	requests->jumps = requests->looks = requests->asks = false;
	if (!doing->jumps) {
		doing->steps = (requests->steps > 0) - (requests->steps < 0);
		requests->steps -= doing->steps;
	}
	pthread_mutex_unlock(&reader->lock);
}

static void *work(void *argument)
{
	struct window_reader *reader = argument;
	struct error *err = NULL;

	while (!err && !reader->doing.is_over) {
		wait_for_work(reader);
		take_requests(reader);
		if (!reader->doing.inspects)
			look_away(reader);
		if (!reader->doing.is_over)
			err = run_requests(reader);
		if (err)
			publish_error(reader, err);
	}
	look_away(reader);
	/* Notify with the lock held: after it is released, the reader may be freed. */
	pthread_mutex_lock(&reader->lock);
	reader->has_ended = true;
	notify_screen(reader);
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

/* --- open and close --- */

static void destroy(struct window_reader *reader)
{
	for (size_t i = 0; i < array_length(reader->models); i++)
		model_deinit(&reader->models[i]);
	state_list_deinit(&reader->groups);
	free(reader->doing.subjects);
	free(reader->requests.subjects);
	free(reader->update.page);
	free(reader->update.facts);
	error_destroy(reader->update.err);
	pthread_mutex_destroy(&reader->lock);
	if (reader->update_event >= 0)
		close(reader->update_event);
	if (reader->request_event >= 0)
		close(reader->request_event);
	free(reader);
}

static struct error *open_events(struct window_reader *reader)
{
	reader->update_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	reader->request_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->update_event < 0 || reader->request_event < 0)
		return error_system(errno, "eventfd");
	return NULL;
}

struct error *window_reader_open(const struct screen_feed *feed, const struct state_view *view,
				 uint64_t interval_ns, struct window_reader **ret)
{
	struct window_reader *reader = calloc(1, sizeof(*reader));
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err;

	if (!reader)
		return &error_no_memory;
	reader->feed = feed;
	reader->requests.interval_ns = reader->doing.interval_ns = interval_ns;
	reader->ended_at = now;
	/* The windows of a recording exist already. */
	reader->next_at = feed->step ? now : now + interval_ns;
	reader->tick_at = now + TICK_NS;
	copy_view(&reader->requests, view);
	for (size_t i = 0; i < array_length(reader->models); i++)
		model_init(&reader->models[i]);
	state_list_init(&reader->groups);
	reader->shown = &reader->models[0];
	reader->ready = &reader->models[1];
	reader->making = &reader->models[2];
	pthread_mutex_init(&reader->lock, NULL);
	err = open_events(reader);
	if (!err && !thread_start(work, reader))
		err = error_create("cannot create a thread to read windows");
	if (err) {
		destroy(reader);
		return err;
	}
	*ret = reader;
	return NULL;
}

static struct reader_requests *begin_request(struct window_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	return &reader->requests;
}

static void end_request(struct window_reader *reader)
{
	pthread_mutex_unlock(&reader->lock);
	raise_event(reader->request_event);
}

static bool has_reader_ended(struct window_reader *reader)
{
	bool has;

	pthread_mutex_lock(&reader->lock);
	has = reader->has_ended;
	pthread_mutex_unlock(&reader->lock);
	return has;
}

void window_reader_close(struct window_reader *reader)
{
	if (!reader)
		return;
	begin_request(reader)->is_over = true;
	end_request(reader);
	while (!has_reader_ended(reader)) {
		wait_for_event(reader->update_event, UINT64_MAX);
		lower_event(reader->update_event);
	}
	destroy(reader);
}

/* --- the screen: updates --- */

int window_reader_fd(const struct window_reader *reader)
{
	return reader->update_event;
}

void window_reader_take(struct window_reader *reader, struct window_update *ret)
{
	struct model *shown = reader->shown;
	bool is_frozen;

	lower_event(reader->update_event);
	pthread_mutex_lock(&reader->lock);
	is_frozen = reader->requests.is_paused && !reader->feed->step;
	*ret = reader->update;
	reader->update = (struct window_update){ .has_window = ret->has_window && is_frozen };
	ret->has_window = ret->has_window && !is_frozen;
	if (ret->has_window) {
		reader->shown = reader->ready;
		reader->ready = shown;
	}
	pthread_mutex_unlock(&reader->lock);
}

struct model *window_reader_model(struct window_reader *reader)
{
	return reader->shown;
}

/* --- the screen: requests --- */

void window_reader_show(struct window_reader *reader, const struct state_view *view,
			uint64_t number)
{
	struct reader_requests *requests = begin_request(reader);

	copy_view(requests, view);
	requests->view_number = number;
	end_request(reader);
}

void window_reader_pause(struct window_reader *reader, bool is_paused)
{
	bool waits;

	begin_request(reader)->is_paused = is_paused;
	waits = reader->update.has_window;
	end_request(reader);
	if (waits)
		notify_screen(reader);
}

void window_reader_set_interval(struct window_reader *reader, uint64_t interval_ns)
{
	begin_request(reader)->interval_ns = interval_ns;
	end_request(reader);
}

void window_reader_step(struct window_reader *reader, int by)
{
	begin_request(reader)->steps += by;
	end_request(reader);
}

void window_reader_jump(struct window_reader *reader, const char *to)
{
	struct reader_requests *requests = begin_request(reader);

	snprintf(requests->jump, sizeof(requests->jump), "%s", to);
	requests->jumps = true;
	requests->steps = 0;
	end_request(reader);
}

bool window_reader_ask(struct window_reader *reader, const struct row_question *question,
		       const struct row_subject *subjects)
{
	struct row_subject *own = reallocarray(NULL, question->count, sizeof(*own));
	struct reader_requests *requests;

	if (!own)
		return false;
	memcpy(own, subjects, question->count * sizeof(*own));
	requests = begin_request(reader);
	free(requests->subjects);
	requests->subjects = own;
	requests->question = *question;
	requests->asks = true;
	end_request(reader);
	return true;
}

void window_reader_inspect(struct window_reader *reader, const struct screen_subject *subject)
{
	struct reader_requests *requests = begin_request(reader);

	requests->inspects = requests->looks = subject && reader->feed->inspect;
	if (subject)
		requests->inspected = *subject;
	end_request(reader);
}
