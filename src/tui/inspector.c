/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/tui.h"

#include <errno.h>
#include <stdio.h>

static const struct state_thread *find_thread(const struct tui *tui)
{
	for (size_t i = 0; i < tui->window.deltas.count; i++)
		if (tui->window.deltas.items[i].thread->id == tui->inspected)
			return tui->window.deltas.items[i].thread;
	return NULL;
}

static struct error *ask(struct tui *tui, const struct state_thread *thread)
{
	_cleanup_free_ char *bytes = NULL;
	struct error *err;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	if (!out)
		return error_system(errno, "the inspector");
	err = tui->feed->inspect(tui->feed->context, thread, out);
	if (fclose(out) && !err)
		err = &error_no_memory;
	if (err) {
		/* As one that ends meanwhile: no reason to end the screen. */
		tui_say(tui, true, "%s", err->message);
		error_destroy(err);
		return NULL;
	}
	return page_set(&tui->page, take_ptr(bytes));
}

struct error *inspector_update(struct tui *tui)
{
	const struct state_thread *thread = find_thread(tui);

	/* What was last seen of it stays: nobody has more to say of one that has ended. */
	tui->inspected_is_gone = !thread || thread->has_ended;
	return tui->inspected_is_gone ? NULL : ask(tui, thread);
}

struct error *inspector_open(struct tui *tui)
{
	const struct state_line *line;

	if (!tui->feed->inspect) {
		tui_say(tui, false, "Nothing more is known here.");
		return NULL;
	}
	/* The first that is seen, when none is selected. */
	if (!table_selected(tui))
		table_move(tui, 1);
	line = table_selected(tui);
	if (!line) {
		tui_say(tui, false, "There is no row to inspect.");
		return NULL;
	}
	tui->inspected = line->thread->id;
	tui->inspected_tid = line->thread->tid;
	snprintf(tui->inspected_name, sizeof(tui->inspected_name), "%s",
		 line->thread->name ? line->thread->name->bytes : "");
	tui->mode = MODE_INSPECTOR;
	page_deinit(&tui->page);
	tui->inspected_is_gone = line->thread->has_ended;
	return ask(tui, line->thread);
}
