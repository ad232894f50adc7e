/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "tui/flame_tui.h"

/* Lower screens have no legend, and then no line of details, so that some rows are left. */
#define HEAD_LEAST    8
#define DETAILS_LEAST 6

static int lines_of_screen(void)
{
	int lines, columns;

	paint_size(&lines, &columns);
	return lines;
}

int flame_head_lines(void)
{
	const int lines = lines_of_screen();

	return lines >= HEAD_LEAST ? 2 : lines > 2;
}

static int detail_lines(void)
{
	return lines_of_screen() >= DETAILS_LEAST;
}

int flame_body_lines(void)
{
	const int lines = lines_of_screen() - flame_head_lines() - detail_lines() - 1;

	return lines > 0 ? lines : 0;
}

static char *percent_text(char buffer[FIT_NUMBER_MAX + 2], uint64_t part, uint64_t whole)
{
	const double share = whole ? 100 * (double)part / (double)whole : 0;

	snprintf(buffer, FIT_NUMBER_MAX + 2, share && share < 0.05 ? "<0.1%%" : "%.1f%%", share);
	return buffer;
}

static char *value_text(char buffer[UNITS_TEXT_MAX], const struct flame *flame, uint64_t value)
{
	return units_format(buffer, flame->is_events ? UNIT_COUNT : UNIT_NS, (__int128)value);
}

static uint64_t whole_of(const struct flame_tui *tui)
{
	return tui->flame ? tui->flame->nodes.items[0].total : 0;
}

/* --- the head --- */

static const char *const time_words[FLAME_TIME_COUNT] = {
	[FLAME_TIME_WALL] = "wall time",
	[FLAME_TIME_ON_CPU] = "on CPU",
	[FLAME_TIME_OFF_CPU] = "off CPU",
};

/* A word that does not fit is left out. */
__attribute__((format(printf, 3, 4))) static void put(struct pen *pen, enum style style,
						      const char *format, ...)
{
	char text[256];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	if (pen->x + 2 + (int)strlen(text) > pen->end && pen->end - pen->x < 14)
		return;
	pen_print(pen, STYLE_PLAIN, "  ");
	pen_text(pen, style, text_of(text));
}

static void put_sum(const struct flame_tui *tui, struct pen *pen)
{
	char time[UNITS_TEXT_MAX], half[UNITS_TEXT_MAX];

	if (tui->news.ns)
		put(pen, STYLE_PLAIN, "%s",
		    units_format_span(time, (double)(tui->news.ns / (NS_PER_S / 10)) / 10));
	if (tui->settings.sum == FLAME_SUM_DECAY)
		put(pen, STYLE_STRONG, "halved every %s",
		    units_format_span(half, (double)tui->news.half_life_ns / (double)NS_PER_S));
	if (tui->settings.sum == FLAME_SUM_LAST)
		put(pen, STYLE_STRONG, "last reading");
}

static void draw_title(const struct flame_tui *tui, int columns)
{
	const char *target = tui->options->target ? tui->options->target : tui->target;
	struct pen pen = pen_at(&tui->terminal, 0, 0, columns);
	char matched[FIT_NUMBER_MAX + 2];

	pen_print(&pen, STYLE_STRONG, "%s", tui->options->title);
	if (tui->is_frozen)
		put(&pen, STYLE_ERROR, "frozen");
	if (*tui->news.problem)
		put(&pen, STYLE_ERROR, "%s", tui->news.problem);
	if (*tui->news.ended)
		put(&pen, STYLE_STRONG, "%s", tui->news.ended);
	put(&pen, STYLE_PLAIN, "%s",
	    tui->flame && tui->flame->is_events ? "events" : time_words[tui->time]);
	put_sum(tui, &pen);
	if (tui->matches)
		put(&pen, STYLE_STRONG, "matched %s",
		    percent_text(matched, tui->matched,
				 tui->flame->nodes.items[tui->zoomed].total));
	if (tui->view.group_by)
		put(&pen, STYLE_DIM, "by %s", flame_group_names[tui->view.group_by]);
	if (*target)
		put(&pen, STYLE_PLAIN, "%s", target);
}

/* The state whose colour a reason has. */
static enum state state_of_reason(enum reason reason)
{
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (reason_of_state(state) == reason)
			return state;
	return STATE_SLEEP;
}

static enum reason largest_reason(const struct flame_tui *tui, unsigned drawn)
{
	enum reason largest = REASON_COUNT;

	for (enum reason i = 0; i < REASON_COUNT; i++)
		if (!(drawn >> i & 1) && tui->by_reason[i] &&
		    (largest == REASON_COUNT || tui->by_reason[i] > tui->by_reason[largest]))
			largest = i;
	return largest;
}

/* What the time consists of, the most first. */
static void draw_legend(const struct flame_tui *tui, int columns)
{
	struct pen pen = pen_at(&tui->terminal, 1, 0, columns);
	char share[FIT_NUMBER_MAX + 2], idle[UNITS_TEXT_MAX];
	unsigned drawn = 0;
	uint64_t whole = 0;

	for (enum reason i = 0; i < REASON_COUNT; i++)
		whole += tui->by_reason[i];
	if (tui->idle_ns && columns >= 60)
		pen_print(&pen, STYLE_DIM, "idle %s hidden (i)",
			  units_format(idle, UNIT_NS, (__int128)tui->idle_ns));
	for (enum reason i; (i = largest_reason(tui, drawn)) != REASON_COUNT; drawn |= 1u << i) {
		const char *name = reason_rows[i].heading;

		percent_text(share, tui->by_reason[i], whole);
		if (pen.x + (int)(strlen(name) + strlen(share)) + 6 > pen.end)
			break;
		pen_skip(&pen, STYLE_PLAIN, pen.x ? pen.x + 2 : 0);
		pen_box(&pen, (struct box_look){ .state = state_of_reason(i) }, TEXT(""), 2);
		pen_print(&pen, STYLE_DIM, " %s ", name);
		pen_print(&pen, STYLE_PLAIN, "%s", share);
	}
}

/* --- the graph --- */

static struct box_look look_of(const struct flame_tui *tui, const struct flame_box *box)
{
	const struct flame_node *node = &tui->flame->nodes.items[box->node];
	const enum frame_kind kind = flame_face(tui->flame, node)->kind;

	return (struct box_look){
		.state = (enum state)node->state,
		.is_kernel = kind == FRAME_KERNEL,
		.is_note = kind == FRAME_NOTE || kind == FRAME_IDLE,
		.is_selected = box->node == tui->selected,
		.is_match = tui->matches && tui->matches[node->face],
	};
}

static void draw_box(const struct flame_tui *tui, const struct flame_box *box, int y)
{
	const struct flame_node *node = &tui->flame->nodes.items[box->node];
	const struct name *name = flame_name(tui->flame, node);
	struct pen pen = pen_at(&tui->terminal, y, box->x, box->x + box->width);
	char share[FIT_NUMBER_MAX + 2];

	pen_box(&pen, look_of(tui, box), name_text(name), (unsigned)box->width);
	percent_text(share, node->total, whole_of(tui));
	/* Behind the name, if there is room for both. */
	if ((size_t)box->width < name->length + strlen(share) + 4)
		return;
	pen = pen_at(&tui->terminal, y, box->x + box->width - (int)strlen(share) - 1,
		     box->x + box->width - 1);
	pen_box_note(&pen, look_of(tui, box), text_of(share));
}

static void draw_row(const struct flame_tui *tui, const struct flame_row *row, int y)
{
	for (size_t i = 0; i < row->count; i++) {
		const struct flame_box *box = &row->items[i];

		if (box->node != NODE_NONE) {
			draw_box(tui, box, y);
		} else {
			struct pen pen = pen_at(&tui->terminal, y, box->x, box->x + box->width);

			pen_narrow(&pen, (unsigned)box->width);
		}
	}
}

size_t flame_row_at(const struct flame_tui *tui, int y)
{
	const int line = y - flame_head_lines(), height = flame_body_lines();

	if (line < 0 || line >= height)
		return SIZE_MAX;
	return tui->top + (size_t)(tui->settings.root_is_below ? height - 1 - line : line);
}

/* The selected box, or the nearest of its callers that is wide enough. */
static void settle_selection(struct flame_tui *tui)
{
	while (tui->selected && !flame_rows_find(&tui->rows, tui->flame, tui->selected))
		tui->selected = tui->flame->nodes.items[tui->selected].parent;
}

static void settle_top(struct flame_tui *tui, size_t height)
{
	const size_t row = tui->flame->nodes.items[tui->selected].depth;

	if (tui->follows && row < tui->top)
		tui->top = row;
	if (tui->follows && row >= tui->top + height)
		tui->top = row - height + 1;
	if (tui->top + height > tui->rows.count)
		tui->top = tui->rows.count > height ? tui->rows.count - height : 0;
}

static struct error *draw_graph(struct flame_tui *tui)
{
	const int head = flame_head_lines(), height = flame_body_lines();
	struct error *err = flame_tui_lay_out(tui);

	if (err || height < 1)
		return err;
	settle_selection(tui);
	settle_top(tui, (size_t)height);
	for (int i = 0; i < height; i++) {
		const size_t row = flame_row_at(tui, head + i);

		if (row < tui->rows.count)
			draw_row(tui, &tui->rows.items[row], head + i);
	}
	return NULL;
}

/* "vfs_read [kernel]  12.3%  1.2s, 34 times  self 0.1%  storage  /usr/bin/stockd": what is known of
 * the selected box. */
static void draw_details(const struct flame_tui *tui, const struct flame_node *node, int y,
			 int columns)
{
	const struct flame_face *face = flame_face(tui->flame, node);
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	char share[FIT_NUMBER_MAX + 2], self[FIT_NUMBER_MAX + 2], value[UNITS_TEXT_MAX];
	const enum reason reason = reason_of_state(node->state);

	pen_print(&pen, STYLE_HEAD, " ");
	/* The numbers have room beside a long name. */
	pen.end = columns > 60 ? columns - 40 : columns > 24 ? columns - 14 : columns;
	pen_text(&pen, STYLE_HEAD, name_text(face->name));
	pen.end = columns;
	pen_print(&pen, STYLE_HEAD, "%s  %s  %s",
		  face->kind == FRAME_KERNEL ? " [kernel]"
		  : face->inlined            ? " [inlined]"
					     : "",
		  percent_text(share, node->total, whole_of(tui)),
		  value_text(value, tui->flame, node->total));
	pen_print(&pen, STYLE_HEAD, "  self %s", percent_text(self, node->self, whole_of(tui)));
	if (!tui->flame->is_events)
		pen_print(&pen, STYLE_HEAD, "  %s", reason_rows[reason].heading);
	if (face->module) {
		pen_print(&pen, STYLE_HEAD, "  ");
		pen_text(&pen, STYLE_HEAD, name_text(face->module));
	}
	pen_skip(&pen, STYLE_HEAD, columns);
}

/* --- functions --- */

#define NUMBER_WIDTH 8

static void draw_function(const struct flame_tui *tui, const struct flame_function *function, int y,
			  int columns, bool is_chosen)
{
	const uint64_t whole = tui->flame->nodes.items[tui->zoomed].total;
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	char text[FIT_NUMBER_MAX + 2];
	struct pen swatch;

	pen.is_selected = is_chosen;
	pen_field(&pen, STYLE_PLAIN, text_of(percent_text(text, function->own, whole)),
		  NUMBER_WIDTH, ALIGN_RIGHT, FIT_START);
	pen_field(&pen, STYLE_PLAIN, text_of(percent_text(text, function->total, whole)),
		  NUMBER_WIDTH, ALIGN_RIGHT, FIT_START);
	pen_print(&pen, STYLE_PLAIN, " ");
	swatch = pen;
	pen_box(&swatch,
		(struct box_look){ .state = (enum state)function->state,
				   .is_kernel = function->kind == FRAME_KERNEL },
		TEXT(""), 2);
	pen.x = swatch.x;
	pen_print(&pen, STYLE_PLAIN, " ");
	pen_text(&pen, STYLE_STRONG, name_text(function->name));
	if (function->module) {
		pen_print(&pen, STYLE_DIM, "  ");
		pen_text(&pen, STYLE_DIM, name_text(function->module));
	}
	pen_skip(&pen, STYLE_PLAIN, columns);
}

static void draw_functions(struct flame_tui *tui, int columns)
{
	const int y = flame_head_lines(), height = flame_body_lines() - 1;
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);

	pen_field(&pen, tui->settings.by_total ? STYLE_HEAD : STYLE_SORTED, TEXT("OWN"),
		  NUMBER_WIDTH, ALIGN_RIGHT, FIT_START);
	pen_field(&pen, tui->settings.by_total ? STYLE_SORTED : STYLE_HEAD, TEXT("TOTAL"),
		  NUMBER_WIDTH, ALIGN_RIGHT, FIT_START);
	pen_print(&pen, STYLE_HEAD, "    FUNCTION");
	pen_skip(&pen, STYLE_HEAD, columns);
	if (height < 1)
		return;
	if (tui->chosen < tui->list_top)
		tui->list_top = tui->chosen;
	if (tui->chosen >= tui->list_top + (size_t)height)
		tui->list_top = tui->chosen - (size_t)height + 1;
	for (int i = 0; i < height && tui->list_top + (size_t)i < tui->functions.count; i++) {
		const size_t number = tui->list_top + (size_t)i;

		draw_function(tui, &tui->functions.items[number], y + 1 + i, columns,
			      number == tui->chosen);
	}
}

/* --- all of it --- */

static void draw_empty(const struct flame_tui *tui, int columns)
{
	struct pen pen = pen_at(&tui->terminal, flame_head_lines(), 1, columns);

	if (!tui->flame)
		pen_print(&pen, STYLE_DIM, "%s", tui->news.waits_for);
	else
		pen_print(&pen, STYLE_DIM, "No %s yet%s.", time_words[tui->time],
			  tui->idle_ns ? " but of idle threads: i shows them" : "");
}

static void draw_body(struct flame_tui *tui, int columns)
{
	const int y = lines_of_screen() - 2;
	struct error *err = NULL;

	if (tui->mode == FLAME_MODE_HELP) {
		page_scroll(&tui->page, 0, flame_body_lines() + detail_lines());
		page_draw(&tui->page, &tui->terminal, flame_head_lines(),
			  flame_body_lines() + detail_lines(), columns);
		return;
	}
	if (!whole_of(tui)) {
		draw_empty(tui, columns);
		return;
	}
	if (tui->mode == FLAME_MODE_FUNCTIONS)
		draw_functions(tui, columns);
	else
		err = draw_graph(tui);
	if (err)
		flame_tui_say(tui, true, "%s", err->message);
	else if (detail_lines())
		draw_details(
			tui,
			&tui->flame->nodes.items[tui->mode == FLAME_MODE_FUNCTIONS ? tui->zoomed
										   : tui->selected],
			y, columns);
	error_destroy(err);
}

static void draw_prompt(const struct flame_tui *tui, int y, int columns, int *ret_x)
{
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	const struct text text = line_edit_text(&tui->search);
	char out[FIT_ROOM(sizeof(tui->search.bytes))];

	pen_text(&pen, STYLE_STRONG, TEXT("Search: "));
	*ret_x = pen.x + (int)fit_text((struct text){ text.bytes, tui->search.cursor },
				       sizeof(tui->search.bytes), FIT_START, tui->terminal.utf8,
				       out);
	pen_text(&pen, STYLE_PLAIN, text);
	pen_text(&pen, STYLE_DIM, TEXT("   part of a name; n: the next; Esc: none"));
}

static void draw_last_line(struct flame_tui *tui, int y, int columns)
{
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);

	if (tui->message.until_ns)
		pen_text(&pen, tui->message.is_error ? STYLE_ERROR : STYLE_STRONG,
			 text_of(tui->message.text));
	else
		key_hints_draw(&tui->hints, &flame_keys, tui->mode, !flame_tui_grows(tui), &pen);
}

void flame_tui_draw(struct flame_tui *tui)
{
	const bool is_prompt = tui->mode == FLAME_MODE_SEARCH;
	int lines, columns, cursor = 0;

	paint_size(&lines, &columns);
	paint_begin();
	if (flame_head_lines() > 0)
		draw_title(tui, columns);
	if (flame_head_lines() > 1)
		draw_legend(tui, columns);
	draw_body(tui, columns);
	if (is_prompt)
		draw_prompt(tui, lines - 1, columns, &cursor);
	else
		draw_last_line(tui, lines - 1, columns);
	paint_end(is_prompt ? lines - 1 : -1, cursor);
}
