/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/tui.h"

#include <stdio.h>

struct error *inspector_take(struct tui *tui, struct window_update *update)
{
	_cleanup_free_ char *page = take_ptr(update->page);

	struct page *shown = tui->mode == MODE_INSPECTOR ? &tui->page
			     : tui->has_lower            ? &tui->lower
							 : NULL;

	/* The page may arrive after the inspector was closed or shows another row. */
	if (!shown || update->page_of != tui->inspected.line)
		return NULL;
	tui->inspected_is_gone = update->has_ended;
	return page ? page_set(shown, take_ptr(page)) : NULL;
}

void inspector_close(struct tui *tui)
{
	window_reader_inspect(tui->reader, NULL);
	tui->has_lower = false;
}

/* A group of one thread is that. */
static struct screen_subject subject_of(const struct tui *tui, const struct state_line *line)
{
	const bool is_thread = line->depth || state_line_is_one(line);

	return (struct screen_subject){
		.grouping = is_thread ? STATE_BY_THREAD : table_grouping(tui),
		.line = is_thread ? line->thread->id : line->id,
		.thread = *line->thread,
	};
}

static void look_at(struct tui *tui, const struct state_line *line)
{
	tui->inspected = subject_of(tui, line);
	snprintf(tui->inspected_name, sizeof(tui->inspected_name), "%s",
		 line->label ? line->label->bytes : "");
	tui->inspected_is_gone = line->thread->has_ended;
	window_reader_inspect(tui->reader, &tui->inspected);
}

void inspector_open(struct tui *tui)
{
	const struct state_line *line;

	if (!tui->feed->inspect) {
		tui_say(tui, false, "No further details.");
		return;
	}
	/* The first that is seen, when none is selected. */
	if (!table_selected(tui))
		table_move(tui, 1);
	line = table_selected(tui);
	if (!line) {
		tui_say(tui, false, "There is no row to inspect.");
		return;
	}
	tui->mode = MODE_INSPECTOR;
	page_deinit(&tui->page);
	look_at(tui, line);
}

/* A row that is gone stays below until another one is selected. */
void inspector_follow(struct tui *tui)
{
	const struct state_line *line = table_selected(tui);
	struct screen_subject subject;

	if (!tui->is_split || !line)
		return;
	subject = subject_of(tui, line);
	if (tui->has_lower && subject.grouping == tui->inspected.grouping &&
	    subject.line == tui->inspected.line)
		return;
	page_deinit(&tui->lower);
	look_at(tui, line);
	tui->has_lower = true;
}
