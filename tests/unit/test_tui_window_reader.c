/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/window_reader.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "unit/unit.h"

#define THREADS 200
#define HOUR    (3600 * (uint64_t)NS_PER_S)
#define MS      ((uint64_t)1000000)

/* --- a feed that can be held up --- */

static struct fed {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	bool is_held, is_waiting; /* it is to wait within a window; and does */
	unsigned begun, ticks;    /* windows asked for */
	unsigned looks_away;
	/* The reader's thread alone has these. */
	int at;
	struct state_window window;
	struct state_thread threads[THREADS];
	struct arena arena;
	struct names names;
	char note[16];
	/* To begin with. */
	int fail;        /* this window is an error */
	int last;        /* of a replay */
	int leader_ends; /* the first thread, in this window; 0: in none */
} fed;

static void fed_init(void)
{
	fed = (struct fed){ .fail = -1, .last = 9 };
	pthread_mutex_init(&fed.lock, NULL);
	pthread_cond_init(&fed.changed, NULL);
	arena_init(&fed.arena, SIZE_MAX / 2);
	names_init(&fed.names, &fed.arena);
}

static void fed_deinit(void)
{
	state_window_deinit(&fed.window);
	names_deinit(&fed.names);
	arena_deinit(&fed.arena);
	pthread_cond_destroy(&fed.changed);
	pthread_mutex_destroy(&fed.lock);
}

static void hold(bool is_held)
{
	pthread_mutex_lock(&fed.lock);
	fed.is_held = is_held;
	pthread_cond_broadcast(&fed.changed);
	pthread_mutex_unlock(&fed.lock);
}

/* From then on there are no update. */
static void wait_until_held(void)
{
	pthread_mutex_lock(&fed.lock);
	while (!fed.is_waiting)
		pthread_cond_wait(&fed.changed, &fed.lock);
	pthread_mutex_unlock(&fed.lock);
}

static void wait_until_begun(unsigned windows)
{
	pthread_mutex_lock(&fed.lock);
	while (fed.begun < windows)
		pthread_cond_wait(&fed.changed, &fed.lock);
	pthread_mutex_unlock(&fed.lock);
}

/* All threads say which window it is, in memory that is used for each. */
static struct error *make_window(void)
{
	char name[16];

	fed.window.deltas.count = 0;
	snprintf(name, sizeof(name), "in-%d", fed.at);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct state_delta delta = { .thread = &fed.threads[i],
					     .window_ns = NS_PER_S,
					     .switches = (uint64_t)fed.at };

		fed.threads[i] = (struct state_thread){
			.tid = i + 1,
			.tgid = i / 10 * 10 + 1,
			.id = i + 1,
			.uid = i % 3,
			.name = names_intern(&fed.names, name, strlen(name)),
			.has_ended = (i == 7 && fed.at >= 5) ||
				     (i == 0 && fed.leader_ends && fed.at >= fed.leader_ends),
		};
		delta.times.ns[STATE_EXEC] = i;
		if (!array_push(&fed.window.deltas, delta))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *next(void *context, struct state_window *ret, struct screen_host *host)
{
	assert_ptr_equal(context, &fed);
	pthread_mutex_lock(&fed.lock);
	fed.begun++;
	pthread_cond_broadcast(&fed.changed);
	while (fed.is_held) {
		fed.is_waiting = true;
		pthread_cond_broadcast(&fed.changed);
		pthread_cond_wait(&fed.changed, &fed.lock);
	}
	fed.is_waiting = false;
	pthread_mutex_unlock(&fed.lock);
	if (fed.at == fed.fail)
		return error_create("the engine broke");
	if (make_window())
		return &error_no_memory;
	*ret = fed.window;
	ret->at_unix_ns = (uint64_t)fed.at;
	snprintf(fed.note, sizeof(fed.note), "window %d", fed.at);
	*host = (struct screen_host){ .cpus = (unsigned)fed.at, .note = fed.note };
	return NULL;
}

static struct error *next_live(void *context, struct state_window *ret, struct screen_host *host)
{
	fed.at++;
	return next(context, ret, host);
}

static struct error *tick(void *context)
{
	assert_ptr_equal(context, &fed);
	pthread_mutex_lock(&fed.lock);
	fed.ticks++;
	pthread_cond_broadcast(&fed.changed);
	pthread_mutex_unlock(&fed.lock);
	return NULL;
}

static struct error *inspect(void *context, const struct screen_subject *subject, FILE *out)
{
	const struct state_thread *thread = &subject->thread;

	assert_ptr_equal(context, &fed);
	if (thread->tid == 13)
		return error_create("13 is not looked at");
	fprintf(out, "%u %s\n", thread->tid, thread->name->bytes);
	return NULL;
}

static void look_away(void *context)
{
	assert_ptr_equal(context, &fed);
	pthread_mutex_lock(&fed.lock);
	fed.looks_away++;
	pthread_cond_broadcast(&fed.changed);
	pthread_mutex_unlock(&fed.lock);
}

static bool step(void *context, int by)
{
	(void)context;
	if (fed.at + by < 0 || fed.at + by > fed.last)
		return false;
	fed.at += by;
	return true;
}

static struct error *jump(void *context, const char *to)
{
	(void)context;
	if (sscanf(to, "%d", &fed.at) != 1)
		return error_create("'%s' is no time", to);
	return NULL;
}

static const char *user_name(void *context, uint32_t uid)
{
	static const char *const names[] = { "root", "daemon" };

	assert_string_equal(context, "users");
	return uid < array_length(names) ? names[uid] : NULL;
}

static const struct screen_feed live = {
	.next = next_live,
	.tick = tick,
	.inspect = inspect,
	.look_away = look_away,
	.context = &fed,
};
static const struct screen_feed replay = {
	.next = next, .step = step, .jump = jump, .context = &fed
};
static const struct screen_feed replay_inspected = {
	.next = next, .step = step, .jump = jump, .inspect = inspect, .context = &fed
};
static const struct state_view by_tid = { .sort = { .key = STATE_SORT_TID },
					  .user_name = user_name,
					  .context = (void *)(uintptr_t) "users" };

static struct window_reader *open_reader(const struct screen_feed *feed, uint64_t interval_ns)
{
	struct window_reader *reader = NULL;

	expect_ok(window_reader_open(feed, &by_tid, interval_ns, &reader));
	return reader;
}

static void inspect_thread(struct window_reader *reader, const struct state_thread *thread)
{
	const struct screen_subject subject = { .line = thread->id, .thread = *thread };

	window_reader_inspect(reader, &subject);
}

/* --- what comes of it --- */

/* News that are there at once. */
static bool take(struct window_reader *reader, struct window_update *ret)
{
	struct pollfd polled = { .fd = window_reader_fd(reader), .events = POLLIN };
	const bool is_told = poll(&polled, 1, 0) == 1;

	window_reader_take(reader, ret);
	return is_told;
}

/* The next update, whenever they come. */
static struct window_update wait_for_update(struct window_reader *reader)
{
	struct pollfd polled = { .fd = window_reader_fd(reader), .events = POLLIN };
	struct window_update update;

	assert_int_equal(poll(&polled, 1, 60000), 1);
	window_reader_take(reader, &update);
	return update;
}

static struct model *wait_for_window(struct window_reader *reader)
{
	struct window_update update;

	do {
		update = wait_for_update(reader);
		expect_ok(update.err);
		free(update.page);
	} while (!update.has_window);
	return window_reader_model(reader);
}

/* All of it is of one window, and the window's own. */
static void expect_whole(const struct model *model)
{
	const uint64_t number = model->window.at_unix_ns;
	char name[16], note[16];

	snprintf(name, sizeof(name), "in-%d", (int)number);
	snprintf(note, sizeof(note), "window %d", (int)number);
	assert_string_equal(model->host.note, note);
	assert_int_equal(model->host.cpus, number);
	assert_int_equal(model->window.deltas.count, THREADS);
	assert_int_equal(model->list.lines.count, THREADS);
	for (size_t i = 0; i < THREADS; i++) {
		const struct state_line *line = &model->list.lines.items[i];

		assert_true(line->thread >= model->threads.items &&
			    line->thread < model->threads.items + THREADS);
		assert_string_equal(line->thread->name->bytes, name);
		assert_int_equal(line->switches, number);
		assert_int_equal(line->times.ns[STATE_EXEC], line->thread->tid - 1);
	}
}

/* --- tests --- */

/* An engine that never comes back holds up nothing but its window. */
TEST(the_screen_never_waits)
{
	struct state_view turned = by_tid;
	struct window_update update;
	struct window_reader *reader;
	struct state_thread thread;
	struct model *model;

	fed_init();
	reader = open_reader(&live, MS);
	model = wait_for_window(reader);
	expect_whole(model);
	thread = *model->list.lines.items[0].thread;
	hold(true);
	wait_until_held();
	/* What was finished before. */
	window_reader_take(reader, &update);
	model = window_reader_model(reader);
	for (int i = 0; i < 100; i++) {
		turned.sort.reverse = !turned.sort.reverse;
		window_reader_show(reader, &turned, (uint64_t)i + 1);
		inspect_thread(reader, &thread);
		window_reader_pause(reader, i % 2 == 0);
		assert_false(take(reader, &update));
		assert_false(update.has_window || update.has_page || update.err);
		assert_ptr_equal(window_reader_model(reader), model);
		/* Rows are made anew meanwhile. */
		expect_ok(model_list(model, &turned));
		expect_whole(model);
		assert_int_equal(model->list.lines.items[0].thread->tid,
				 turned.sort.reverse ? THREADS : 1);
	}
	hold(false);
	/* By the last view that was requested. */
	assert_true(wait_for_window(reader) != model);
	expect_whole(window_reader_model(reader));
	assert_int_equal(window_reader_model(reader)->view_number, 100);
	assert_int_equal(window_reader_model(reader)->list.lines.items[0].thread->tid, 1);
	window_reader_close(reader);
	fed_deinit();
}

/* However it falls in time. */
TEST(windows_are_whole)
{
	struct state_filter filter;
	struct state_view view = by_tid;
	struct window_reader *reader;
	uint64_t seed = 42, last = 0;

	fed_init();
	expect_ok(state_filter_parse(TEXT("in-"), &filter));
	reader = open_reader(&live, 50000);
	for (unsigned windows = 0; windows < 500; windows++) {
		const uint64_t random = next_random(&seed);
		struct model *model = wait_for_window(reader);

		expect_whole(model);
		assert_true(model->window.at_unix_ns > last);
		last = model->window.at_unix_ns;
		view.sort.reverse = random & 1;
		view.filter = random & 2 ? &filter : NULL;
		window_reader_show(reader, &view, windows);
		if (random & 4)
			inspect_thread(reader, model->list.lines.items[3].thread);
		if (random & 8)
			expect_ok(model_list(model, &view));
		expect_whole(model);
		assert_string_equal(model_user_name(model, 1), "daemon");
		assert_null(model_user_name(model, 2));
		assert_null(model_user_name(model, 3));
	}
	window_reader_close(reader);
	fed_deinit();
}

/* No window is seen while it is frozen, not even one that was under way. */
TEST(frozen_is_frozen)
{
	struct window_update update;
	struct window_reader *reader;
	unsigned begun;

	fed_init();
	hold(true);
	reader = open_reader(&live, 20 * MS);
	wait_until_held();
	window_reader_pause(reader, true);
	hold(false);
	/* It has been made when another request is done. */
	inspect_thread(reader, &(struct state_thread){ .tid = 13, .id = 13 });
	do
		update = wait_for_update(reader);
	while (!*update.message);
	assert_false(update.has_window);
	window_reader_take(reader, &update);
	assert_false(update.has_window);
	assert_int_equal(window_reader_model(reader)->window.deltas.count, 0);
	pthread_mutex_lock(&fed.lock);
	begun = fed.begun;
	/* Time passes meanwhile: more than ten windows. */
	while (fed.ticks < 2)
		pthread_cond_wait(&fed.changed, &fed.lock);
	assert_int_equal(fed.begun, begun);
	pthread_mutex_unlock(&fed.lock);
	window_reader_pause(reader, false);
	expect_whole(wait_for_window(reader));
	assert_int_equal(window_reader_model(reader)->window.at_unix_ns, 1);
	window_reader_close(reader);
	fed_deinit();
}

static struct window_update wait_for_page(struct window_reader *reader)
{
	struct window_update update;

	do {
		update = wait_for_update(reader);
		expect_ok(update.err);
	} while (!update.has_page);
	return update;
}

static void expect_page(struct window_reader *reader, const char *page)
{
	struct window_update update = wait_for_page(reader);

	assert_int_equal(update.page_of, 8);
	if (page)
		assert_string_equal(update.page, page);
	else
		assert_null(update.page);
	assert_int_equal(update.has_ended, !page);
	free(update.page);
}

/* It is told of at once, and with each window until it ends. */
TEST(a_thread_is_inspected)
{
	const struct name *name;
	struct window_update update;
	struct window_reader *reader;

	fed_init();
	name = names_intern(&fed.names, "it", 2);
	reader = open_reader(&live, HOUR);
	inspect_thread(reader, &(struct state_thread){ .tid = 8, .id = 8, .name = name });
	expect_page(reader, "8 it\n");
	inspect_thread(reader, &(struct state_thread){ .tid = 13, .id = 13, .name = name });
	update = wait_for_update(reader);
	assert_string_equal(update.message, "13 is not looked at");
	assert_true(update.message_is_error);
	assert_false(update.has_page);
	window_reader_close(reader);
	fed_deinit();
}

static unsigned count_looks_away(unsigned least)
{
	unsigned count;

	pthread_mutex_lock(&fed.lock);
	while (fed.looks_away < least)
		pthread_cond_wait(&fed.changed, &fed.lock);
	count = fed.looks_away;
	pthread_mutex_unlock(&fed.lock);
	return count;
}

/* What was begun for the inspector ends when it is closed, or the screen is, and not before. */
TEST(the_feed_looks_away)
{
	const struct name *name;
	struct window_reader *reader;

	fed_init();
	name = names_intern(&fed.names, "it", 2);
	reader = open_reader(&live, HOUR);
	for (unsigned i = 0; i < 3; i++) {
		inspect_thread(reader, &(struct state_thread){ .tid = 8, .id = 8, .name = name });
		expect_page(reader, "8 it\n");
		inspect_thread(reader, &(struct state_thread){ .tid = 9, .id = 8, .name = name });
		expect_page(reader, "9 it\n");
		assert_int_equal(count_looks_away(0), i);
		if (i < 2) {
			window_reader_inspect(reader, NULL);
			assert_int_equal(count_looks_away(i + 1), i + 1);
		}
	}
	window_reader_close(reader);
	assert_int_equal(count_looks_away(0), 3);
	reader = open_reader(&live, HOUR);
	window_reader_close(reader);
	assert_int_equal(count_looks_away(0), 3);
	fed_deinit();
}

TEST(the_inspected_thread_ends)
{
	struct window_update update = { .has_page = false };
	char page[16];
	struct window_reader *reader;

	fed_init();
	reader = open_reader(&live, MS);
	wait_for_window(reader);
	inspect_thread(reader, &window_reader_model(reader)->threads.items[7]);
	/* Whatever was taken too late to be seen, its end is told. */
	do {
		update = wait_for_update(reader);
		expect_ok(update.err);
		if (update.page) {
			snprintf(page, sizeof(page), "8 in-%c\n", update.page[5]);
			assert_string_equal(update.page, page);
		}
		free(update.page);
	} while (!update.has_page || !update.has_ended);
	expect_page(reader, NULL);
	window_reader_close(reader);
	fed_deinit();
}

/* The first row, which that thread stands for. */
static void inspect_first(struct window_reader *reader, struct screen_subject *subject,
			  uint32_t tid)
{
	const struct state_line *line;

	wait_for_window(reader);
	line = &window_reader_model(reader)->list.lines.items[0];
	subject->line = line->id;
	subject->thread = *line->thread;
	assert_int_equal(subject->thread.tid, tid);
	window_reader_inspect(reader, subject);
}

/* A group stays who it is when another thread stands for it, and ends with its last. */
TEST(a_group_is_inspected)
{
	struct state_view view = by_tid;
	struct window_update update;
	struct screen_subject subject = { .grouping = STATE_BY_PROCESS };
	struct window_reader *reader;

	fed_init();
	fed.leader_ends = 1;
	view.grouping = STATE_BY_PROCESS;
	expect_ok(window_reader_open(&replay_inspected, &view, HOUR, &reader));
	/* The first process: its leader, until that ends. */
	inspect_first(reader, &subject, 1);
	update = wait_for_page(reader);
	assert_string_equal(update.page, "1 in-0\n");
	free(update.page);
	window_reader_step(reader, 1);
	update = wait_for_page(reader);
	assert_true(update.page_of == subject.line);
	assert_false(update.has_ended);
	assert_string_equal(update.page, "2 in-1\n");
	free(update.page);
	window_reader_close(reader);
	fed_deinit();
}

/* Its page is of the threads that its row has, and it lives when that has none. */
TEST(a_group_that_is_filtered_is_inspected)
{
	/* In the first window it has a row, of some of its threads; then none. */
	static const char *const pages[] = { "2 in-0\n", "1 in-1\n", "1 in-2\n" };
	struct state_view view = by_tid;
	struct state_filter filter;
	struct window_update update;
	struct screen_subject subject = { .grouping = STATE_BY_PROCESS };
	struct window_reader *reader;

	fed_init();
	view.grouping = STATE_BY_PROCESS;
	expect_ok(state_filter_parse(TEXT("in-0 user:daemon"), &filter));
	view.filter = &filter;
	expect_ok(window_reader_open(&replay_inspected, &view, HOUR, &reader));
	inspect_first(reader, &subject, 2);
	for (size_t i = 0; i < array_length(pages); i++) {
		if (i)
			window_reader_step(reader, 1);
		update = wait_for_page(reader);
		assert_true(update.page_of == subject.line);
		assert_false(update.has_ended);
		assert_string_equal(update.page, pages[i]);
		free(update.page);
	}
	assert_int_equal(window_reader_model(reader)->window.deltas.count, THREADS);
	assert_int_equal(window_reader_model(reader)->list.lines.count, 0);
	window_reader_close(reader);
	fed_deinit();
}

static struct window_update wait_for_message(struct window_reader *reader, const char *message)
{
	struct window_update update;

	do
		update = wait_for_update(reader);
	while (!*update.message);
	assert_string_equal(update.message, message);
	return update;
}

static void wait_until_at(struct window_reader *reader, uint64_t number)
{
	while (wait_for_window(reader)->window.at_unix_ns != number)
		;
	expect_whole(window_reader_model(reader));
}

/* Each step is a window, whoever sees it. */
TEST(a_replay_steps_and_jumps)
{
	struct window_reader *reader;

	fed_init();
	reader = open_reader(&replay, HOUR);
	wait_until_at(reader, 0);
	for (int i = 0; i < 4; i++)
		window_reader_step(reader, 1);
	window_reader_step(reader, -1);
	wait_until_at(reader, 3);
	assert_true(fed.begun >= 4);
	window_reader_step(reader, -4);
	assert_false(wait_for_message(reader, "This is the first window.").message_is_error);
	window_reader_jump(reader, "8");
	window_reader_step(reader, 1);
	wait_until_at(reader, 9);
	window_reader_step(reader, 1);
	wait_for_message(reader, "This is the last window.");
	window_reader_jump(reader, "never");
	assert_true(wait_for_message(reader, "'never' is no time").message_is_error);
	window_reader_close(reader);
	fed_deinit();
}

/* By itself, and then it stands still. */
TEST(a_replay_goes_on_to_its_end)
{
	struct window_update update;
	struct window_reader *reader;
	bool has_paused = false;

	fed_init();
	reader = open_reader(&replay, MS);
	do {
		update = wait_for_update(reader);
		has_paused = has_paused || update.has_paused;
	} while (!*update.message);
	assert_string_equal(update.message, "This is the last window.");
	assert_true(has_paused);
	assert_int_equal(window_reader_model(reader)->window.at_unix_ns, 9);
	window_reader_close(reader);
	fed_deinit();
}

TEST(an_error_is_the_last_update)
{
	struct window_update update;
	struct window_reader *reader;

	fed_init();
	fed.fail = 3;
	reader = open_reader(&live, MS);
	do
		update = wait_for_update(reader);
	while (!update.err);
	expect_error(update.err, "the engine broke");
	assert_int_equal(window_reader_model(reader)->window.at_unix_ns, 2);
	window_reader_close(reader);
	/* One that nobody takes is not lost memory. */
	fed.at = 2;
	reader = open_reader(&live, MS);
	wait_until_begun(4);
	window_reader_close(reader);
	fed_deinit();
}

/* Pages are there to be taken when nobody does any more. */
TEST(closing_takes_no_update)
{
	struct window_reader *reader;

	fed_init();
	hold(true);
	reader = open_reader(&live, MS);
	wait_until_held();
	inspect_thread(reader, &(struct state_thread){ .tid = 2,
						       .id = 2,
						       .name = names_intern(&fed.names, "x", 1) });
	hold(false);
	wait_until_begun(3);
	window_reader_close(reader);
	fed_deinit();
}

UNIT_TESTS(cmocka_unit_test(the_screen_never_waits), cmocka_unit_test(windows_are_whole),
	   cmocka_unit_test(frozen_is_frozen), cmocka_unit_test(a_thread_is_inspected),
	   cmocka_unit_test(the_feed_looks_away), cmocka_unit_test(a_group_is_inspected),
	   cmocka_unit_test(a_group_that_is_filtered_is_inspected),
	   cmocka_unit_test(the_inspected_thread_ends), cmocka_unit_test(a_replay_steps_and_jumps),
	   cmocka_unit_test(a_replay_goes_on_to_its_end),
	   cmocka_unit_test(an_error_is_the_last_update), cmocka_unit_test(closing_takes_no_update))
