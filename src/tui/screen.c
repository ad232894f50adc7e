/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen.h"

#include <signal.h>

#include "base/clock.h"
#include "tui/tui.h"

struct error *tui_list(struct tui *tui)
{
	struct error *err;

	window_reader_show(tui->reader, &tui->view, ++tui->view_number);
	if (!tui->has_window)
		return NULL;
	err = model_list(tui->model, &tui->view);
	if (!err)
		table_settle(tui);
	return err;
}

/* --- what was read beside --- */

static struct error *take_window(struct tui *tui)
{
	struct model *model = window_reader_model(tui->reader);
	struct error *err = NULL;

	tui->model = model;
	tui->has_window = true;
	last_exits_take(&tui->exits, &model->window);
	/* A key came while they were made; or their order is by what only the screen has. */
	if (model->view_number != tui->view_number ||
	    state_sort_source(tui->view.sort) != COLUMN_FROM_WINDOW)
		err = model_list(model, &tui->view);
	if (err)
		return err;
	table_settle(tui);
	history_begin(&tui->history);
	for (size_t i = 0; i < model->list.lines.count; i++)
		history_put(&tui->history, model->list.lines.items[i].id,
			    state_line_active(&model->list.lines.items[i]));
	return NULL;
}

static struct error *take_facts(struct tui *tui, const struct window_update *update)
{
	struct error *err = NULL;

	row_fact_set_take(&tui->facts, update->facts, update->fact_count);
	if (tui->has_window && state_sort_facts(tui->view.sort)) {
		err = model_list(tui->model, &tui->view);
		table_settle(tui);
	}
	return err;
}

static struct error *take_update(struct tui *tui)
{
	struct window_update update;
	struct error *err = NULL;

	window_reader_take(tui->reader, &update);
	if (update.has_window)
		err = take_window(tui);
	if (update.has_page && !err)
		err = inspector_take(tui, &update);
	free(update.page);
	if (update.facts && !err)
		err = take_facts(tui, &update);
	else
		free(update.facts);
	tui->is_paused = tui->is_paused || update.has_paused;
	if (*update.message)
		tui_say(tui, update.message_is_error, "%s", update.message);
	if (!update.err)
		return err;
	error_destroy(err);
	return update.err;
}

/* --- waiting --- */

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

/* The view may be another one afterwards. */
static struct error *do_what_came(struct tui *tui, const struct terminal_events *events)
{
	struct error *err = NULL;

	if (events->has_signals)
		take_signals(tui);
	if (events->has_keys && !tui->is_over)
		err = tui_read_keys(tui);
	if (!err && events->has_news && !tui->is_over)
		err = take_update(tui);
	if (tui->message.until_ns && tui->message.until_ns <= clock_ns(CLOCK_MONOTONIC))
		tui->message.until_ns = 0;
	return err;
}

static struct error *run_screen(struct tui *tui)
{
	struct error *err = NULL;

	while (!err && !tui->is_over) {
		struct terminal_events events;

		tui_draw(tui);
		err = terminal_wait(&tui->terminal, window_reader_fd(tui->reader),
				    tui->message.until_ns, &events);
		if (!err)
			err = do_what_came(tui, &events);
	}
	return err;
}

static struct error *run_fed(struct tui *tui)
{
	struct error *err =
		window_reader_open(tui->feed, &tui->view, tui->interval_ns, &tui->reader);

	if (err)
		return err;
	tui->model = window_reader_model(tui->reader);
	return run_screen(tui);
}

static void tui_deinit(struct tui *tui)
{
	window_reader_close(tui->reader);
	history_deinit(&tui->history);
	row_fact_set_deinit(&tui->facts);
	array_deinit(&tui->subjects);
	array_deinit(&tui->asked_subjects);
	last_exits_deinit(&tui->exits);
	page_deinit(&tui->page);
	page_deinit(&tui->lower);
}

/* Compared with what it began with; what was changed before it was continued stays changed. */
static void keep_screen(const struct tui *tui, const struct screen_settings *begun,
			struct screen_result *ret)
{
	const struct screen_result *again = tui->options->again;
	const struct screen_result before = again ? *again : (struct screen_result){ 0 };

	*ret = tui->result;
	ret->has_new_columns = before.has_new_columns;
	ret->has_new_sort = before.has_new_sort;
	ret->has_new_interval = before.has_new_interval;
	ret->view = tui->view;
	ret->view.filter = NULL;
	ret->view.facts = NULL;
	ret->view.exits = NULL;
	snprintf(ret->filter, sizeof(ret->filter), "%s", tui->edit.bytes);
	ret->columns = tui->columns;
	ret->interval_ns = tui->interval_ns;
	ret->is_split = tui->is_split;
	ret->has_new_columns |= !column_choice_is(&tui->columns, &begun->columns);
	ret->has_new_sort |= !sort_is(tui->view.sort, begun->sort) ||
			     tui->view.sort.reverse != begun->sort.reverse;
	ret->has_new_interval |= tui->interval_ns != begun->interval_ns;
}

static void continue_screen(struct tui *tui, const struct screen_result *again)
{
	tui->view = again->view;
	tui->columns = again->columns;
	tui->interval_ns = again->interval_ns;
	tui->is_split = again->is_split;
	line_edit_set(&tui->edit, text_of(again->filter));
}

static void use_settings(struct tui *tui, const struct screen_settings *settings)
{
	if (settings->has_columns)
		tui->columns = settings->columns;
	if (settings->has_sort)
		tui->view.sort = settings->sort;
	if (settings->interval_ns)
		tui->interval_ns = settings->interval_ns;
}

/* The view to begin with. */
static struct error *choose_view(struct tui *tui)
{
	const struct screen_options *options = tui->options;

	column_choice_init(&tui->columns);
	if (options->note && *options->note)
		tui_say(tui, true, "%s", options->note);
	if (options->again) {
		continue_screen(tui, options->again);
		return NULL;
	}
	if (options->settings)
		use_settings(tui, options->settings);
	return options->columns ? column_choice_parse(text_of(options->columns), &tui->columns)
				: NULL;
}

struct error *screen_run(const struct screen_options *options, const struct screen_feed *feed,
			 struct screen_result *ret)
{
	struct terminal_options terminal = {
		.no_colour = options->no_colour,
		.no_utf8 = options->no_utf8,
		.no_mouse = options->no_mouse,
		.instead = "use --batch",
	};
	struct tui tui = {
		.options = options,
		.feed = feed,
		.mode = MODE_TABLE,
		.view = options->view,
		.interval_ns = options->interval_ns,
	};
	struct screen_settings begun;
	struct error *err;

	err = terminal_open(&tui.terminal, &terminal);
	if (err)
		return err;
	err = choose_view(&tui);
	tui.view.facts = &tui.facts;
	tui.view.exits = &tui.exits;
	begun = (struct screen_settings){ .columns = tui.columns,
					  .sort = tui.view.sort,
					  .interval_ns = tui.interval_ns };
	if (!options->again && options->filter)
		line_edit_set(&tui.edit, text_of(options->filter));
	if (!err && tui.edit.length) {
		err = state_filter_parse(line_edit_text(&tui.edit), &tui.filter);
		tui.view.filter = &tui.filter;
	}
	/* Half of a filter may have been left in the prompt. */
	if (err && options->again) {
		error_destroy(err);
		err = NULL;
		line_edit_set(&tui.edit, TEXT(""));
		tui.view.filter = NULL;
	}
	if (!err)
		err = run_fed(&tui);
	/* At once: what is under way beside may take a while to end. */
	terminal_close(&tui.terminal);
	if (!err)
		keep_screen(&tui, &begun, ret);
	tui_deinit(&tui);
	return err;
}
