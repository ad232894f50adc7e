/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/flame_screen.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/sum.h"
#include "tui/flame_tui.h"
#include "tui/settings_file.h"

void flame_tui_say(struct flame_tui *tui, bool is_error, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	key_message_set(&tui->message, is_error, format, values);
	va_end(values);
}

/* --- the tree --- */

static const unsigned classes_of[FLAME_TIME_COUNT] = {
	[FLAME_TIME_WALL] = FLAME_ALL & ~FLAME_EVENTS,
	[FLAME_TIME_ON_CPU] = FLAME_ON_CPU,
	[FLAME_TIME_OFF_CPU] = FLAME_OFF_CPU,
};

/* What it consists of. */
static void add_up(struct flame_tui *tui, const struct profile *profile,
		   const struct flame_view *view)
{
	memset(tui->by_reason, 0, sizeof(tui->by_reason));
	tui->idle_ns = 0;
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];
		const bool is_idle =
			idle_has(view->idle, sample->thread, sample->class, sample->state);

		if (view->classes && !(view->classes >> sample->class & 1))
			continue;
		sum_add(is_idle ? &tui->idle_ns : &tui->by_reason[reason_of_state(sample->state)],
			sample->ns);
	}
}

static struct error *make_tree(struct flame_tui *tui, const struct profile *profile)
{
	_cleanup_(idle_deinit) struct idle idle = { 0 };
	struct flame_view view = tui->view;
	struct flame *flame = NULL;
	struct error *err = NULL;

	/* Only hits of probes have no time, and then they are shown. */
	if (profile_total_ns(profile, FLAME_ALL & ~FLAME_EVENTS))
		view.classes = classes_of[tui->time];
	if (profile->meta.is_whole_host && !tui->shows_idle) {
		err = idle_find(profile, &idle);
		view.idle = &idle;
	}
	if (!err)
		err = flame_create(profile, NULL, &view, &flame);
	if (err)
		return err;
	add_up(tui, profile, &view);
	/* Readings may name it in different words, and their sum in none. */
	if (profile->meta.target)
		snprintf(tui->target, sizeof(tui->target), "%s", profile->meta.target->bytes);
	flame_destroy(tui->flame);
	tui->flame = flame;
	tui->rows_are_old = true;
	tui->selected = flame_path_find(&tui->selected_path, flame);
	tui->zoomed = flame_path_find(&tui->zoomed_path, flame);
	return flame_tui_look(tui);
}

struct error *flame_tui_make(struct flame_tui *tui)
{
	const struct profile *profile = NULL;
	struct error *err = tui->feed->borrow(tui->feed->context, &profile, &tui->news);

	if (!err && profile)
		err = make_tree(tui, profile);
	tui->feed->give_back(tui->feed->context);
	tui->is_outdated = false;
	return err;
}

struct error *flame_tui_look(struct flame_tui *tui)
{
	struct error *err;

	if (!tui->flame)
		return NULL;
	free(tui->matches);
	tui->matches = NULL;
	tui->matched = 0;
	if (tui->search.length) {
		tui->matches = flame_search(tui->flame, line_edit_text(&tui->search));
		if (!tui->matches)
			return &error_no_memory;
		tui->matched = flame_matched(tui->flame, tui->zoomed, tui->matches);
	}
	if (tui->mode != FLAME_MODE_FUNCTIONS)
		return NULL;
	err = flame_functions_make(&tui->functions, tui->flame, tui->zoomed,
				   tui->settings.by_total);
	if (tui->chosen >= tui->functions.count)
		tui->chosen = tui->functions.count ? tui->functions.count - 1 : 0;
	return err;
}

struct error *flame_tui_lay_out(struct flame_tui *tui)
{
	int lines, columns;
	struct error *err;

	if (!tui->rows_are_old || !tui->flame)
		return NULL;
	paint_size(&lines, &columns);
	err = flame_rows_make(&tui->rows, tui->flame, tui->zoomed, columns);
	tui->rows_are_old = err != NULL;
	return err;
}

struct error *flame_tui_select(struct flame_tui *tui, uint32_t node)
{
	tui->follows = true;
	if (node == NODE_NONE || !tui->flame)
		return NULL;
	tui->selected = node;
	return flame_path_set(&tui->selected_path, tui->flame, node) ? NULL : &error_no_memory;
}

struct error *flame_tui_zoom(struct flame_tui *tui, uint32_t node)
{
	if (node == NODE_NONE || !tui->flame)
		return NULL;
	tui->zoomed = node;
	tui->rows_are_old = true;
	if (!flame_path_set(&tui->zoomed_path, tui->flame, node))
		return &error_no_memory;
	return flame_tui_look(tui);
}

/* --- what is kept from run to run --- */

static void read_settings(struct flame_tui *tui)
{
	char bytes[SETTINGS_BYTES_MAX], note[SETTINGS_NOTE_MAX];

	flame_settings_parse(settings_file_read(FLAME_SETTINGS_FILE, bytes), &tui->settings, note);
	if (*note)
		flame_tui_say(tui, true, "%s", note);
	if (flame_tui_grows(tui))
		tui->feed->sum_up(tui->feed->context, tui->settings.sum);
}

/* Once the terminal is as it was: the disk may be what is slow. */
static void write_settings(const struct flame_settings *settings, struct flame_screen_end *ret)
{
	_cleanup_free_ char *text = flame_settings_print(settings);
	struct error *err = settings_file_write(FLAME_SETTINGS_FILE, text);

	if (err)
		snprintf(ret->unkept, sizeof(ret->unkept), "settings are not kept: %s",
			 err->message);
	error_destroy(err);
}

static bool settings_are(const struct flame_settings *a, const struct flame_settings *b)
{
	return a->root_is_below == b->root_is_below && a->by_total == b->by_total &&
	       a->sum == b->sum;
}

/* --- the loop --- */

static void take_signals(struct flame_tui *tui)
{
	for (int number; (number = terminal_signal(&tui->terminal));) {
		if (number == SIGWINCH) {
			tui->follows = tui->rows_are_old = true;
			continue;
		}
		tui->signal = number;
		tui->is_over = true;
	}
}

static struct error *do_what_came(struct flame_tui *tui, const struct terminal_events *events)
{
	struct error *err = NULL;

	if (events->has_signals)
		take_signals(tui);
	if (events->has_keys && !tui->is_over)
		err = flame_tui_read_keys(tui);
	if (!err && !tui->is_over && (events->has_news || tui->is_outdated))
		err = flame_tui_make(tui);
	if (tui->message.until_ns && tui->message.until_ns <= clock_ns(CLOCK_MONOTONIC))
		tui->message.until_ns = 0;
	return err;
}

static struct error *run(struct flame_tui *tui)
{
	struct error *err = flame_tui_make(tui);

	while (!err && !tui->is_over) {
		struct terminal_events events;

		flame_tui_draw(tui);
		err = terminal_wait(&tui->terminal, tui->feed->news, tui->message.until_ns,
				    &events);
		if (!err)
			err = do_what_came(tui, &events);
	}
	return err;
}

static void deinit(struct flame_tui *tui)
{
	flame_destroy(tui->flame);
	flame_path_deinit(&tui->selected_path);
	flame_path_deinit(&tui->zoomed_path);
	flame_rows_deinit(&tui->rows);
	array_deinit(&tui->functions);
	free(tui->matches);
	page_deinit(&tui->page);
}

/* The time that is shown first: all that may be shown. */
static enum flame_time first_time(unsigned classes)
{
	const bool on = classes & FLAME_ON_CPU, off = classes & FLAME_OFF_CPU;

	return on == off ? FLAME_TIME_WALL : on ? FLAME_TIME_ON_CPU : FLAME_TIME_OFF_CPU;
}

struct error *flame_screen_run(const struct flame_screen_options *options,
			       const struct flame_feed *feed, struct flame_screen_end *ret)
{
	const struct terminal_options terminal = { .no_colour = options->no_colour,
						   .instead = options->instead };
	struct flame_tui tui = {
		.options = options,
		.feed = feed,
		.mode = FLAME_MODE_GRAPH,
		.mode_before = FLAME_MODE_GRAPH,
		.view = options->view,
		.time = first_time(options->classes),
		.shows_idle = options->shows_idle,
		.follows = true,
	};
	struct flame_settings begun;
	struct error *err = terminal_open(&tui.terminal, &terminal);

	*ret = (struct flame_screen_end){ 0 };
	if (err)
		return err;
	read_settings(&tui);
	begun = tui.settings;
	err = run(&tui);
	terminal_close(&tui.terminal);
	deinit(&tui);
	if (!settings_are(&tui.settings, &begun))
		write_settings(&tui.settings, ret);
	ret->signal = tui.signal;
	return err;
}
