/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/tui.h"

#include <stdio.h>
#include <string.h>

/* Below its head; at least one, that moving has somewhere to go. */
static int rows_seen(const struct tui *tui)
{
	int rows = tui_table_lines(tui) - 1;

	return rows > 1 ? rows : 1;
}

enum state_grouping table_grouping(const struct tui *tui)
{
	/* A tree by threads has groups too: it shows how many. */
	return tui->view.is_tree && tui->view.grouping == STATE_BY_THREAD ? STATE_BY_PROCESS
									  : tui->view.grouping;
}

/* All cgroups are the root: a column of "/" says nothing. */
static bool has_cgroups(const struct tui *tui)
{
	for (size_t i = 0; i < tui->model->list.lines.count; i++) {
		const struct name *cgroup = tui->model->list.lines.items[i].thread->cgroup;

		if (cgroup && !text_equal(name_text(cgroup), TEXT("/")))
			return true;
	}
	return false;
}

static enum top_column column_of_sort(struct state_sort sort)
{
	return column_of_key(sort.key, sort.state);
}

/* Rows in an order by what is not seen seem to be in none. The bar shows the states that it has,
 * and who turned a usual column off needs no order explained. */
static bool shows_order(const struct tui *tui)
{
	const struct state_sort sort = tui->view.sort;
	const enum top_column column = column_of_sort(sort);

	if (column == TOP_COLUMN_COUNT || column_rows[column].is_on)
		return false;
	return sort.key != STATE_SORT_STATE || !state_is_main(sort.state) ||
	       !tui->columns.is_on[TOP_COLUMN_STATES];
}

struct column_choice table_columns(const struct tui *tui)
{
	struct column_choice choice = tui->columns;

	choice.has_hosts = state_hosts_differ(&tui->model->window.hosts);
	choice.is_on[TOP_COLUMN_CGROUP] = choice.is_on[TOP_COLUMN_CGROUP] && tui->has_cgroups;
	if (shows_order(tui))
		choice.is_on[column_of_sort(tui->view.sort)] = true;
	return choice;
}

void table_layout(const struct tui *tui, struct column_layout *layout, int columns)
{
	const struct column_choice choice = table_columns(tui);

	column_layout_make(layout, &choice, table_grouping(tui),
			   columns > 0 ? (unsigned)columns : 0);
}

/* --- drawing --- */

/* Does it stand for the same order as another column that is seen? */
static bool is_further(const struct column_layout *layout, enum top_column column)
{
	return column == TOP_COLUMN_HISTORY && column_layout_has(layout, TOP_COLUMN_ACTIVE);
}

/* "ACTIVE" with a mark where it decides the order; a bar says by which state. */
static enum style head_of(const struct tui *tui, const struct column_layout *layout,
			  enum top_column column, unsigned width, char *out, size_t size)
{
	const struct column_row *row = &column_rows[column];
	struct state_sort sorts[COLUMN_SORTS_MAX];
	size_t count = is_further(layout, column) ? 0 : column_sorts(column, sorts);
	const char *mark = tui->view.sort.reverse ? tui->terminal.utf8 ? "\xe2\x96\xb2" : "^"
			   : tui->terminal.utf8   ? "\xe2\x96\xbc"
						  : "v";

	snprintf(out, size, "%s", row->head);
	for (size_t i = 0; i < count; i++) {
		if (!sort_is(tui->view.sort, sorts[i]))
			continue;
		if (column == TOP_COLUMN_STATES)
			snprintf(out, size, "%s %s%s", row->head, mark,
				 state_rows[sorts[i].state].name);
		else if (strlen(row->head) < width)
			snprintf(out, size, "%s%s", row->head, mark);
		return STYLE_SORTED;
	}
	return STYLE_HEAD;
}

static void draw_head(const struct tui *tui, const struct column_layout *layout, int columns)
{
	struct pen pen = pen_at(&tui->terminal, tui_head_lines(), 0, columns);
	char head[64];

	for (size_t i = 0; i < layout->count; i++) {
		const struct column_place *place = &layout->places[i];
		enum style style =
			head_of(tui, layout, place->column, place->width, head, sizeof(head));

		pen_skip(&pen, STYLE_HEAD, place->x);
		pen_field(&pen, style, text_of(head), place->width,
			  column_rows[place->column].is_right ? ALIGN_RIGHT : ALIGN_LEFT,
			  FIT_START);
	}
	pen_skip(&pen, STYLE_HEAD, columns);
}

static void draw_line(const struct tui *tui, const struct column_layout *layout, size_t index,
		      int y, int columns)
{
	const struct state_line *line = &tui->model->list.lines.items[index];
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);

	pen.is_selected = tui->has_selected && line->id == tui->selected;
	for (size_t i = 0; i < layout->count; i++) {
		const struct column_place *place = &layout->places[i];

		pen_skip(&pen, STYLE_PLAIN, place->x);
		column_draw(tui, &pen, line, place->column, place->width);
	}
	pen_skip(&pen, STYLE_PLAIN, columns);
}

static void draw_emptiness(const struct tui *tui, int columns)
{
	struct pen pen = pen_at(&tui->terminal, tui_head_lines() + 2, 2, columns);

	if (!tui->has_window)
		pen_print(&pen, STYLE_DIM, "The first window has not ended yet.");
	else if (tui->model->window.deltas.count)
		pen_print(&pen, STYLE_DIM, "None of %zu threads matches the filter. Esc clears it.",
			  tui->model->window.deltas.count);
	else
		pen_print(&pen, STYLE_DIM, "There are no threads.");
}

void table_draw(struct tui *tui, int columns)
{
	struct column_layout layout;
	int rows = tui_table_lines(tui) - 1;

	table_layout(tui, &layout, columns);
	draw_head(tui, &layout, columns);
	if (!tui->model->list.lines.count)
		draw_emptiness(tui, columns);
	for (int i = 0; i < rows && tui->top + (size_t)i < tui->model->list.lines.count; i++)
		draw_line(tui, &layout, tui->top + (size_t)i, tui_head_lines() + 1 + i, columns);
}

/* --- facts of the rows that are seen --- */

static unsigned facts_shown(const struct tui *tui, int columns)
{
	struct column_layout layout;
	unsigned facts = 0;

	table_layout(tui, &layout, columns);
	for (size_t i = 0; i < layout.count; i++)
		facts |= column_facts(layout.places[i].column);
	return facts;
}

/* Of lines of the list. False without memory. */
static bool add_subjects(struct tui *tui, size_t from, size_t to)
{
	const struct state_list *list = &tui->model->list;

	for (; from < to && from < list->lines.count && tui->subjects.count < SCREEN_SUBJECTS_MAX;
	     from++) {
		const struct state_line *line = &list->lines.items[from];

		if (line->threads && !array_push(&tui->subjects, view_subject(&tui->view, line)))
			return false;
	}
	return true;
}

static bool is_asked(const struct tui *tui, const struct row_question *question)
{
	if (question->facts != tui->asked.facts || question->order != tui->asked.order ||
	    question->seen != tui->asked.seen || question->count != tui->asked.count)
		return false;
	for (size_t i = 0; i < question->count; i++)
		if (!row_subject_is(&tui->subjects.items[i], &tui->asked_subjects.items[i]) ||
		    tui->subjects.items[i].seen_ns != tui->asked_subjects.items[i].seen_ns)
			return false;
	return true;
}

/* Without memory nothing is asked until the next time. */
void table_ask(struct tui *tui, int columns)
{
	const int rows = tui_table_lines(tui) - 1;
	const size_t end = tui->top + (size_t)(rows > 0 ? rows : 0);
	struct row_question question = { .order = state_sort_facts(tui->view.sort) };

	if (!tui->feed->facts)
		return;
	question.facts = facts_shown(tui, columns) | question.order;
	array_clear(&tui->subjects);
	if (question.facts && !add_subjects(tui, tui->top, end))
		return;
	question.seen = tui->subjects.count;
	if (question.order &&
	    (!add_subjects(tui, 0, tui->top) || !add_subjects(tui, end, SIZE_MAX)))
		return;
	question.count = tui->subjects.count;
	if (is_asked(tui, &question))
		return;
	if (question.count && !window_reader_ask(tui->reader, &question, tui->subjects.items))
		return;
	tui->asked = question;
	array_clear(&tui->asked_subjects);
	if (!array_reserve(&tui->asked_subjects, question.count))
		tui->asked.count = 0;
	for (size_t i = 0; i < tui->asked.count; i++)
		tui->asked_subjects.items[tui->asked_subjects.count++] = tui->subjects.items[i];
}

/* --- what is selected, and seen --- */

static void limit_top(struct tui *tui)
{
	size_t rows = (size_t)rows_seen(tui), count = tui->model->list.lines.count;

	if (tui->top + rows > count)
		tui->top = count > rows ? count - rows : 0;
}

static void bring_into_sight(struct tui *tui)
{
	size_t rows = (size_t)rows_seen(tui);

	if (tui->selected_at < tui->top)
		tui->top = tui->selected_at;
	if (tui->selected_at >= tui->top + rows)
		tui->top = tui->selected_at - rows + 1;
}

static void select_at(struct tui *tui, size_t index)
{
	const struct state_line *line = &tui->model->list.lines.items[index];

	tui->selected_at = index;
	tui->selected = line->id;
	tui->selected_thread = line->thread->id;
	tui->has_selected = true;
	tui->has_selected_thread = state_line_is_one(line);
}

/* The selected line, or else one that is its thread alone; as many as there are lines: none. */
static size_t find_selected(const struct tui *tui)
{
	const struct state_line *lines = tui->model->list.lines.items;
	size_t count = tui->model->list.lines.count, found = count;

	for (size_t i = 0; i < count; i++) {
		if (lines[i].id == tui->selected)
			return i;
		if (tui->has_selected_thread && state_line_is_one(&lines[i]) &&
		    lines[i].thread->id == tui->selected_thread)
			found = i;
	}
	return found;
}

void table_settle(struct tui *tui)
{
	size_t count = tui->model->list.lines.count;
	size_t at = tui->has_selected ? find_selected(tui) : count;

	tui->has_cgroups = has_cgroups(tui);
	if (tui->has_selected && at < count) {
		select_at(tui, at);
	} else if (tui->has_selected) {
		/* When the selected row disappears, no other row is selected: it is another thread.
		 */
		if (tui->follows)
			tui_say(tui, false, "The followed row is no longer there.");
		tui->has_selected = tui->follows = false;
	}
	if (tui->follows && tui->has_selected)
		bring_into_sight(tui);
	limit_top(tui);
}

const struct state_line *table_selected(const struct tui *tui)
{
	if (!tui->has_selected || tui->selected_at >= tui->model->list.lines.count)
		return NULL;
	return &tui->model->list.lines.items[tui->selected_at];
}

bool table_is_process(const struct tui *tui, const struct state_line *line)
{
	if (tui->view.grouping == STATE_BY_THREAD)
		return tui->view.is_tree && !line->depth;
	return tui->view.grouping == STATE_BY_PROCESS && !line->depth;
}

void table_move(struct tui *tui, long by)
{
	long count = (long)tui->model->list.lines.count, at = (long)tui->selected_at;

	if (!count)
		return;
	if (!tui->has_selected && (by == 1 || by == -1))
		at = (long)tui->top;
	else
		at += by;
	select_at(tui, (size_t)(at < 0 ? 0 : at < count ? at : count - 1));
	bring_into_sight(tui);
}

void table_scroll(struct tui *tui, long by)
{
	tui->top = by < 0 && (size_t)-by > tui->top ? 0 : tui->top + (size_t)by;
	limit_top(tui);
}

/* --- order, and clicks --- */

struct error *table_sort_by(struct tui *tui, struct state_sort sort)
{
	sort.reverse = sort_is(sort, tui->view.sort) && !tui->view.sort.reverse;
	tui->view.sort = sort;
	return tui_list(tui);
}

bool table_can_sort(const struct tui *tui, enum top_column column)
{
	const struct column_row *row = &column_rows[column];

	if (column == TOP_COLUMN_HOST && !state_hosts_differ(&tui->model->window.hosts))
		return false;
	return !(row->not_in & 1u << table_grouping(tui)) &&
	       (row->source != COLUMN_FROM_PROC || tui->feed->facts);
}

/* All orders of the columns that are seen, from left to right, each once. */
static size_t all_sorts(const struct tui *tui, struct state_sort *ret)
{
	struct column_layout layout;
	size_t count = 0;
	int lines, columns;

	paint_size(&lines, &columns);
	table_layout(tui, &layout, columns);
	for (size_t i = 0; i < layout.count; i++) {
		const enum top_column column = layout.places[i].column;

		if (!is_further(&layout, column) && table_can_sort(tui, column))
			count += column_sorts(column, ret + count);
	}
	return count;
}

bool table_search(struct tui *tui, const char *text, bool after)
{
	const size_t count = tui->model->list.lines.count;
	const size_t from = tui->has_selected ? tui->selected_at + after : tui->top;

	for (size_t i = 0; i < count; i++) {
		const size_t at = (from + i) % count;
		const struct state_line *line = &tui->model->list.lines.items[at];

		if (!strcasestr(line->label->bytes, text) &&
		    !strcasestr(line->thread->process->bytes, text))
			continue;
		select_at(tui, at);
		bring_into_sight(tui);
		return true;
	}
	return false;
}

struct error *table_sort_move(struct tui *tui, int by)
{
	struct state_sort sorts[TOP_COLUMN_COUNT + COLUMN_SORTS_MAX];
	size_t count = all_sorts(tui, sorts), at = 0;

	while (at < count && !sort_is(sorts[at], tui->view.sort))
		at++;
	if (!count)
		return NULL;
	at = at == count ? 0 : (at + count + (size_t)by) % count;
	tui->view.sort = sorts[at];
	return tui_list(tui);
}

static struct error *click_head(struct tui *tui, enum top_column column)
{
	struct state_sort sorts[COLUMN_SORTS_MAX];
	size_t count = column_sorts(column, sorts), at = 0;

	while (at < count && !sort_is(sorts[at], tui->view.sort))
		at++;
	/* A column with several sort keys cycles through them; any other reverses its order. */
	if (!table_can_sort(tui, column))
		return NULL;
	if (count == 1)
		return table_sort_by(tui, sorts[0]);
	tui->view.sort = sorts[at < count ? (at + 1) % count : 0];
	return tui_list(tui);
}

struct error *table_click(struct tui *tui, int y, int x, bool *ret_again)
{
	size_t index = tui->top + (size_t)(y - tui_head_lines() - 1);
	struct column_layout layout;
	int lines, columns;

	*ret_again = false;
	paint_size(&lines, &columns);
	table_layout(tui, &layout, columns);
	for (size_t i = 0; y == tui_head_lines() && i < layout.count; i++)
		if (x >= layout.places[i].x &&
		    x <= layout.places[i].x + (int)layout.places[i].width)
			return click_head(tui, layout.places[i].column);
	if (y <= tui_head_lines() || y > tui_head_lines() + rows_seen(tui) ||
	    index >= tui->model->list.lines.count)
		return NULL;
	*ret_again = tui->has_selected && tui->selected == tui->model->list.lines.items[index].id;
	select_at(tui, index);
	return NULL;
}
