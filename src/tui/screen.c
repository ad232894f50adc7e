/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "base/clock.h"
#include "tui/tui.h"

#define TICK_NS 250000000ull

struct error *tui_list(struct tui *tui)
{
	struct error *err;

	if (!tui->has_window)
		return NULL;
	err = state_list_make(&tui->list, &tui->window, &tui->view);
	if (!err)
		table_settle(tui);
	return err;
}

struct error *tui_next(struct tui *tui)
{
	struct error *err = tui->feed->next(tui->feed->context, &tui->window, &tui->host);

	if (err)
		return err;
	tui->has_window = true;
	history_begin(&tui->history);
	err = tui_list(tui);
	for (size_t i = 0; !err && i < tui->list.lines.count; i++)
		history_put(&tui->history, tui->list.lines.items[i].id,
			    column_busy(&tui->window, &tui->list.lines.items[i]));
	if (!err && tui->mode == MODE_INSPECTOR)
		err = inspector_update(tui);
	return err;
}

/* --- waiting --- */

struct schedule {
	uint64_t next_at; /* the end of the window: begun + N * interval */
	uint64_t tick_at;
};

/* The next time on the grid; those that were slept through are left out. */
static uint64_t grid_after(uint64_t at, uint64_t now, uint64_t interval)
{
	return at > now ? at : at + ((now - at) / interval + 1) * interval;
}

/* What has to be done at its time. `*ret_changed`: there is something new to see. */
static struct error *do_due(struct tui *tui, struct schedule *schedule, bool *ret_changed)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err = NULL;

	if (tui->message_until && tui->message_until <= now) {
		tui->message_until = 0;
		*ret_changed = true;
	}
	if (schedule->tick_at <= now) {
		if (tui->feed->tick)
			err = tui->feed->tick(tui->feed->context);
		schedule->tick_at = grid_after(schedule->tick_at, now, TICK_NS);
	}
	if (err || schedule->next_at > now)
		return err;
	schedule->next_at = grid_after(schedule->next_at, now, tui->options->interval_ns);
	if (tui->is_paused)
		return NULL;
	*ret_changed = true;
	/* A replay goes on by itself, as far as there is more. */
	if (tui_is_replay(tui) && tui->has_window && !tui->feed->step(tui->feed->context, 1)) {
		tui->is_paused = true;
		tui_say(tui, false, "This is the last window.");
		return NULL;
	}
	return tui_next(tui);
}

static struct error *wait_for_something(const struct tui *tui, const struct schedule *schedule,
					struct pollfd polled[3])
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = schedule->next_at;
	struct timespec left;

	if (tui->feed->tick && schedule->tick_at < until)
		until = schedule->tick_at;
	if (tui->message_until && tui->message_until < until)
		until = tui->message_until;
	left = clock_moment(until > now ? until - now : 0);
	polled[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	polled[1] = (struct pollfd){ .fd = tui->terminal.signals, .events = POLLIN };
	polled[2] = (struct pollfd){ .fd = STDOUT_FILENO };
	if (ppoll(polled, 3, &left, NULL) < 0) {
		polled[0].revents = polled[1].revents = polled[2].revents = 0;
		if (errno != EINTR)
			return error_system(errno, "waiting for keys");
	}
	return NULL;
}

/* Signals that came: those that end the screen say so. */
static void take_signals(struct tui *tui)
{
	for (int number; (number = terminal_signal(&tui->terminal));) {
		if (number == SIGWINCH) {
			table_settle(tui);
			continue;
		}
		tui->result.signal = number;
		tui->is_over = true;
	}
}

static struct error *run(struct tui *tui)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct schedule schedule = { now + tui->options->interval_ns, now + TICK_NS };
	struct error *err = NULL;

	/* A recording has its windows already. */
	if (tui_is_replay(tui))
		err = tui_next(tui);
	if (!err)
		tui_draw(tui);
	while (!err && !tui->is_over) {
		struct pollfd polled[3];
		bool changed = false;

		err = wait_for_something(tui, &schedule, polled);
		if (err)
			break;
		if (polled[1].revents)
			take_signals(tui);
		else if ((polled[0].revents | polled[2].revents) & (POLLHUP | POLLERR | POLLNVAL))
			return error_create("the terminal has gone");
		if (polled[0].revents && !tui->is_over)
			err = keys_read(tui);
		if (!err && !tui->is_over)
			err = do_due(tui, &schedule, &changed);
		if (!err && (changed || polled[0].revents || polled[1].revents))
			tui_draw(tui);
	}
	return err;
}

static void tui_deinit(struct tui *tui)
{
	state_list_deinit(&tui->list);
	history_deinit(&tui->history);
	page_deinit(&tui->page);
}

struct error *screen_run(const struct screen_options *options, const struct screen_feed *feed,
			 struct screen_result *ret)
{
	struct terminal_options terminal = {
		.no_colour = options->no_colour,
		.no_utf8 = options->no_utf8,
		.no_mouse = options->no_mouse,
	};
	struct tui tui = {
		.options = options,
		.feed = feed,
		.mode = MODE_TABLE,
		.view = options->view,
	};
	struct error *err;

	err = terminal_open(&tui.terminal, &terminal);
	if (err)
		return err;
	state_list_init(&tui.list);
	column_choice_init(&tui.columns);
	if (options->filter && *options->filter) {
		line_edit_set(&tui.edit, text_of(options->filter));
		err = state_filter_parse(line_edit_text(&tui.edit), &tui.filter);
		tui.view.filter = &tui.filter;
	}
	if (!err)
		err = run(&tui);
	terminal_close(&tui.terminal);
	if (!err)
		*ret = tui.result;
	tui_deinit(&tui);
	return err;
}
