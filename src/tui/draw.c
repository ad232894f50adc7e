/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>

#include "tui/tui.h"

/* Below it there is room for the head of the table and two rows, as far as the screen is so high.
 */
int tui_head_lines(void)
{
	const int rest = 4, most = 4;
	int lines, columns;

	paint_size(&lines, &columns);
	return lines >= rest + most ? most : lines > rest ? lines - rest : 0;
}

int tui_body_lines(void)
{
	int lines, columns;

	paint_size(&lines, &columns);
	return lines - tui_head_lines() - 1;
}

/* Below that, neither part would have room. */
#define SPLIT_LEAST 10

int tui_table_lines(const struct tui *tui)
{
	const int lines = tui_body_lines();

	return tui->is_split && lines >= SPLIT_LEAST ? lines / 2 : lines;
}

void tui_say(struct tui *tui, bool is_error, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	key_message_set(&tui->message, is_error, format, values);
	va_end(values);
}

/* "12-40 of 96": which lines of a longer text are seen. Returns where it begins. */
static int draw_place(const struct tui *tui, int y, int columns)
{
	size_t height = tui_body_lines() > 1 ? (size_t)tui_body_lines() - 1 : 0;
	size_t count = tui->page.lines.count, top = tui->page.top;
	char text[64];
	struct pen pen;

	if (!(tui->mode & (MODE_HELP | MODE_INSPECTOR)) || count <= height || !height)
		return columns;
	snprintf(text, sizeof(text), " %zu-%zu of %zu", top + 1, top + height, count);
	if ((int)strlen(text) > columns)
		return columns;
	pen = pen_at(&tui->terminal, y, columns - (int)strlen(text), columns);
	pen_text(&pen, STYLE_PLAIN, text_of(text));
	return columns - (int)strlen(text);
}

/* The kind, unless it is a thread, the number and the name. */
static void draw_inspected(const struct tui *tui, struct pen *pen)
{
	const struct state_hosts *hosts = &tui->model->window.hosts;
	const struct screen_subject *subject = &tui->inspected;

	pen_print(pen, STYLE_HEAD, "  ");
	if (subject->grouping != STATE_BY_THREAD)
		pen_print(pen, STYLE_HEAD, "%s ", state_grouping_names[subject->grouping]);
	if (subject->grouping == STATE_BY_PROCESS)
		pen_print(pen, STYLE_HEAD, "%u ", subject->thread.tgid);
	if (subject->grouping == STATE_BY_THREAD)
		pen_print(pen, STYLE_HEAD, "%u ", subject->thread.tid);
	pen_text(pen, STYLE_SORTED, text_of(tui->inspected_name));
	if (state_hosts_differ(hosts)) {
		pen_print(pen, STYLE_HEAD, " of ");
		pen_text(pen, STYLE_SORTED, name_text(state_host_name(hosts, &subject->thread)));
	}
	/* In a replay, it may also begin later. */
	if (tui->inspected_is_gone)
		pen_print(pen, STYLE_HEAD, "  %s; showing its last data",
			  tui_is_replay(tui) ? "not in this window" : "ended");
}

/* The inspector below the table. */
static void draw_lower(struct tui *tui, int columns)
{
	const int y = tui_head_lines() + tui_table_lines(tui);
	const int height = tui_body_lines() - tui_table_lines(tui) - 1;
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);

	if (height < 1)
		return;
	pen_print(&pen, STYLE_HEAD, " Inspector");
	if (tui->has_lower)
		draw_inspected(tui, &pen);
	if (tui->lower.lines.count > (size_t)height)
		pen_print(&pen, STYLE_HEAD, "  [ ] scroll");
	pen_skip(&pen, STYLE_HEAD, columns);
	pen = pen_at(&tui->terminal, y + 1, 1, columns);
	if (!tui->has_lower)
		pen_print(&pen, STYLE_DIM, "No row is selected.");
	else if (!tui->lower.bytes)
		pen_print(&pen, STYLE_DIM, "Reading...");
	page_scroll(&tui->lower, 0, height);
	page_draw(&tui->lower, &tui->terminal, y + 1, height, columns);
}

static void draw_page(struct tui *tui, int columns)
{
	struct pen pen = pen_at(&tui->terminal, tui_head_lines(), 0, columns);
	int height = tui_body_lines() - 1;

	pen_print(&pen, STYLE_HEAD, " %s", tui->mode == MODE_HELP ? "Help" : "Inspector");
	if (tui->mode == MODE_INSPECTOR)
		draw_inspected(tui, &pen);
	pen_skip(&pen, STYLE_HEAD, columns);
	if (tui->mode == MODE_INSPECTOR && !tui->page.bytes) {
		pen = pen_at(&tui->terminal, tui_head_lines() + 1, 1, columns);
		pen_print(&pen, STYLE_DIM, "Reading...");
	}
	/* The area may be larger than before. */
	page_scroll(&tui->page, 0, height);
	page_draw(&tui->page, &tui->terminal, tui_head_lines() + 1, height, columns);
}

static void draw_last_line(struct tui *tui, int y, int columns)
{
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);

	if (tui->message.until_ns) {
		pen_text(&pen, tui->message.is_error ? STYLE_ERROR : STYLE_STRONG,
			 text_of(tui->message.text));
		return;
	}
	pen.end = draw_place(tui, y, columns);
	key_hints_draw(&tui->hints, &tui_keys, tui->mode, tui_is_replay(tui), &pen);
}

void tui_draw(struct tui *tui)
{
	int lines, columns, cursor = 0;
	bool is_prompt = tui->mode & (MODE_FILTER | MODE_JUMP | MODE_SEARCH | MODE_INTERVAL);

	paint_size(&lines, &columns);
	paint_begin();
	header_draw(tui, columns);
	if (tui->mode & (MODE_HELP | MODE_INSPECTOR))
		draw_page(tui, columns);
	else if (tui->mode & (MODE_COLUMNS | MODE_SORT))
		chooser_draw(tui, columns);
	else {
		inspector_follow(tui);
		table_draw(tui, columns);
		table_ask(tui, columns);
		if (tui->is_split)
			draw_lower(tui, columns);
	}
	if (is_prompt)
		prompt_draw(tui, lines - 1, columns, &cursor);
	else
		draw_last_line(tui, lines - 1, columns);
	paint_end(is_prompt ? lines - 1 : -1, cursor);
}
