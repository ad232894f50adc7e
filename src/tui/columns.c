/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

#include "tui/tui.h"

#define DRAWN(id)                                                                    \
	static void draw_##id(const struct tui *tui, struct pen *pen,                \
			      const struct state_line *line, enum tui_column column, \
			      unsigned width)
#define UNUSED(variable) ((void)(variable))

static bool is_group(const struct tui *tui, const struct state_line *line)
{
	return tui->view.grouping != STATE_BY_THREAD || (tui->view.is_tree && !line->depth);
}

/* What was read of the row; NULL: nothing yet. */
static const struct row_facts *facts_of(const struct tui *tui, const struct state_line *line)
{
	const struct row_subject subject = table_subject(tui, line);

	for (size_t i = 0; i < tui->facts.count; i++)
		if (row_subject_is(&tui->facts.items[i].subject, &subject))
			return line->thread->has_ended ? NULL : &tui->facts.items[i];
	return NULL;
}

static void draw_number(struct pen *pen, uint64_t value, unsigned width)
{
	char buffer[FIT_NUMBER_MAX * 2];

	snprintf(buffer, sizeof(buffer), "%llu", (unsigned long long)value);
	pen_field(pen, STYLE_PLAIN, text_of(buffer), width, ALIGN_RIGHT, FIT_START);
}

/* Zeros are dimmed. */
static void draw_percent(struct pen *pen, double share, unsigned width)
{
	char buffer[FIT_NUMBER_MAX];

	fit_percent(buffer, share);
	pen_field(pen, share >= 0.0005 ? STYLE_PLAIN : STYLE_DIM, text_of(buffer), width,
		  ALIGN_RIGHT, FIT_START);
}

DRAWN(TID)
{
	UNUSED(column);
	draw_number(pen,
		    line->depth || !is_group(tui, line) ? line->thread->tid : line->thread->tgid,
		    width);
}

DRAWN(PID)
{
	UNUSED(tui), UNUSED(column);
	draw_number(pen, line->thread->tgid, width);
}

DRAWN(CPU)
{
	const uint64_t ns = line->interval_ns, ran = state_times_of(&line->times, STATE_EXEC);

	UNUSED(tui), UNUSED(column);
	draw_percent(pen, ns ? (double)ran / (double)ns : 0, width);
}

DRAWN(ENDED)
{
	const double s = (double)line->interval_ns / NS_PER_S;
	char buffer[FIT_NUMBER_MAX];

	UNUSED(tui), UNUSED(column);
	pen_field(pen, line->ended ? STYLE_PLAIN : STYLE_DIM,
		  text_of(fit_rate(buffer, s > 0 ? line->ended / s : 0)), width, ALIGN_RIGHT,
		  FIT_START);
}

/* As wait(2) has it: a signal or a code, and how long ago that was. */
DRAWN(EXIT)
{
	const uint64_t at_ns = tui->model->window.ended_ns;
	struct last_exit own;
	const struct last_exit *last =
		last_exits_of(&tui->exits, line, tui->view.grouping, at_ns, &own);
	char word[LAST_EXIT_TEXT_MAX] = "", ago[FIT_NUMBER_MAX], text[48] = "";

	UNUSED(column);
	if (last && last->at_ns && last->at_ns <= at_ns)
		snprintf(text, sizeof(text), "%s %s ago", last_exit_text(word, last),
			 fit_duration(ago, at_ns - last->at_ns));
	else if (last)
		snprintf(text, sizeof(text), "%s", last_exit_text(word, last));
	pen_field(pen, last && last_exit_signal(last) ? STYLE_ERROR : STYLE_PLAIN, text_of(text),
		  width, ALIGN_LEFT, FIT_START);
}

static void draw_unknown(struct pen *pen, unsigned width, enum align align)
{
	pen_field(pen, STYLE_DIM, TEXT("-"), width, align, FIT_START);
}

static void draw_bytes(struct pen *pen, uint64_t bytes, unsigned width)
{
	char buffer[FIT_NUMBER_MAX];

	pen_field(pen, bytes ? STYLE_PLAIN : STYLE_DIM, text_of(fit_bytes(buffer, bytes)), width,
		  ALIGN_RIGHT, FIT_START);
}

DRAWN(COMMAND)
{
	const struct row_facts *facts = facts_of(tui, line);

	UNUSED(column);
	if (row_facts_have(facts, ROW_FACT_COMMAND))
		pen_field(pen, STYLE_PLAIN, (struct text){ facts->command, facts->command_length },
			  width, ALIGN_LEFT, FIT_START);
	else
		draw_unknown(pen, width, ALIGN_LEFT);
}

DRAWN(MEMORY)
{
	const struct row_facts *facts = facts_of(tui, line);

	UNUSED(column);
	if (row_facts_have(facts, ROW_FACT_MEMORY))
		draw_bytes(pen, facts->memory_bytes, width);
	else
		draw_unknown(pen, width, ALIGN_RIGHT);
}

/* One of both. */
DRAWN(PRIORITY)
{
	const struct row_facts *facts = facts_of(tui, line);
	char buffer[FIT_NUMBER_MAX];

	if (!row_facts_have(facts, ROW_FACT_PRIORITY)) {
		draw_unknown(pen, width, ALIGN_RIGHT);
		return;
	}
	snprintf(buffer, sizeof(buffer), "%d",
		 column == TUI_COLUMN_NICE ? facts->nice : facts->priority);
	pen_field(pen, STYLE_PLAIN, text_of(buffer), width, ALIGN_RIGHT, FIT_START);
}
#define draw_NICE draw_PRIORITY

/* Any of the rates. */
DRAWN(READ)
{
	const struct row_facts *facts = facts_of(tui, line);
	const size_t rate = column - TUI_COLUMN_READ;

	if (row_facts_have(facts, (enum row_fact)(ROW_FACT_READ + rate)))
		draw_bytes(pen, facts->rates[rate], width);
	else
		draw_unknown(pen, width, ALIGN_RIGHT);
}
#define draw_WRITE draw_READ
#define draw_RCHAR draw_READ
#define draw_WCHAR draw_READ

DRAWN(THREADS)
{
	UNUSED(column);
	if (is_group(tui, line) && !line->depth)
		draw_number(pen, line->threads, width);
}

/* A thread's line in a tree hangs at that of its group. */
static const char *branch_of(const struct tui *tui, const struct state_line *line)
{
	const struct state_line *next = line + 1;
	bool is_last = next == tui->model->list.lines.items + tui->model->list.lines.count ||
		       next->depth < line->depth;

	if (!tui->terminal.utf8)
		return is_last ? "`- " : "|- ";
	return is_last ? "\xe2\x94\x94\xe2\x94\x80 " : "\xe2\x94\x9c\xe2\x94\x80 ";
}

DRAWN(NAME)
{
	struct text process = name_text(line->thread->process);
	const struct name *label = line->label ? line->label : line->thread->name;
	enum style style = line->threads ? STYLE_PLAIN : STYLE_DIM;
	int end = pen->x + (int)width;
	struct pen name = *pen;
	enum fit_end cut =
		tui->view.grouping == STATE_BY_CGROUP && !line->depth ? FIT_TAIL : FIT_START;

	UNUSED(column);
	name.end = end < pen->end ? end : pen->end;
	if (line->depth)
		pen_text(&name, STYLE_DIM, text_of(branch_of(tui, line)));
	if (cut == FIT_TAIL)
		pen_field(&name, style, name_text(label), (unsigned)(name.end - name.x), ALIGN_LEFT,
			  cut);
	pen_text(&name, style, cut == FIT_TAIL ? TEXT("") : name_text(label));
	/* Below the row of its process, the name of the process would be redundant. */
	if (!is_group(tui, line) && !line->depth && process.length &&
	    !text_equal(process, name_text(label))) {
		pen_text(&name, STYLE_DIM, TEXT(" "));
		pen_text(&name, STYLE_DIM, process);
	}
	pen_skip(&name, style, end);
	pen->x = name.x;
}

DRAWN(USER)
{
	const char *name = model_user_name(tui->model, line->thread->uid);
	char number[FIT_NUMBER_MAX];

	UNUSED(column);
	snprintf(number, sizeof(number), "%u", line->thread->uid);
	pen_field(pen, STYLE_PLAIN, text_of(name ? name : number), width, ALIGN_LEFT, FIT_START);
}

DRAWN(CGROUP)
{
	UNUSED(tui), UNUSED(column);
	pen_field(pen, STYLE_DIM, name_text(line->thread->cgroup), width, ALIGN_LEFT, FIT_TAIL);
}

DRAWN(ACTIVE)
{
	const double threads = state_line_active(line);
	char buffer[FIT_NUMBER_MAX];

	UNUSED(tui), UNUSED(column);
	pen_field(pen, threads >= 0.005 ? STYLE_PLAIN : STYLE_DIM,
		  text_of(fit_average(buffer, threads, true)), width, ALIGN_RIGHT, FIT_START);
}

DRAWN(STATES)
{
	UNUSED(tui), UNUSED(column);
	pen_bar(pen, &line->times, line->whole_ns, width);
}

/* In a word; not every engine knows. */
static struct text now_of(const struct state_line *line)
{
	enum state state = line->in_progress_ns ? line->in_progress : line->thread->state;

	if (!line->in_progress_ns && line->threads + line->ended != 1)
		return TEXT("");
	if (!line->threads)
		return TEXT("ended");
	return state < STATE_COUNT ? text_of(state_rows[state].label) : TEXT("-");
}

/* The longest wait; what it does else, where one thread does. */
DRAWN(NOW)
{
	enum state state = line->in_progress_ns ? line->in_progress : line->thread->state;
	char duration[FIT_NUMBER_MAX] = "", text[FIT_NUMBER_MAX + 1];

	UNUSED(tui), UNUSED(column);
	if (line->in_progress_ns)
		fit_duration(duration, line->in_progress_ns);
	/* It started before it was watched. */
	snprintf(text, sizeof(text), "%s%s",
		 line->in_progress_ns && line->in_progress_at_least ? ">" : "", duration);
	pen_field(pen, line->threads && state < STATE_COUNT ? STYLE_OF(state) : STYLE_DIM,
		  now_of(line), 6, ALIGN_LEFT, FIT_START);
	pen_field(pen, STYLE_PLAIN, text_of(text), width - 6, ALIGN_RIGHT, FIT_START);
}

DRAWN(SWITCHES)
{
	uint64_t ns = tui->model->window.ended_ns - tui->model->window.begun_ns;
	double rate = ns ? (double)line->switches * 1e9 / (double)ns : 0;
	char buffer[FIT_NUMBER_MAX];

	UNUSED(column);
	pen_field(pen, rate >= 0.05 ? STYLE_PLAIN : STYLE_DIM, text_of(fit_rate(buffer, rate)),
		  width, ALIGN_RIGHT, FIT_START);
}

DRAWN(HISTORY)
{
	uint8_t levels[HISTORY_LENGTH];

	UNUSED(column);
	history_get(&tui->history, line->id, levels, width);
	pen_spark(pen, levels, width);
}

/* No engine tells all parts apart. */
DRAWN(STATE)
{
	enum state state = (enum state)(column - TUI_COLUMN_STATE_FIRST);

	if (state_is_measured_in_part(tui->model->window.measured, state))
		draw_percent(pen, state_line_share(line, state), width);
	else
		pen_field(pen, STYLE_DIM, TEXT("-"), width, ALIGN_RIGHT, FIT_START);
}

const struct column_row column_rows[TUI_COLUMN_COUNT] = {
#define COLUMN_ON  true
#define COLUMN_OFF false
#define TUI_COLUMN_ROW(id, a_head, width, widest, part, order, groupings, side, on, sort, text) \
	[TUI_COLUMN_##id] = { .word = #id,                                                      \
			      .head = a_head,                                                   \
			      .prose = text,                                                    \
			      .least = width,                                                   \
			      .most = widest,                                                   \
			      .share = part,                                                    \
			      .leaves = order,                                                  \
			      .not_in = groupings,                                              \
			      .align = ALIGN_##side,                                            \
			      .is_on = COLUMN_##on,                                             \
			      .key = STATE_SORT_##sort,                                         \
			      .draw = draw_##id },
	TOP_COLUMNS(TUI_COLUMN_ROW)
#undef TUI_COLUMN_ROW
#define TUI_COLUMN_ROW(id, main_one, name, label, letter, text)            \
	[TUI_COLUMN_STATE_FIRST + STATE_##id] = { .word = name,            \
						  .head = label,           \
						  .prose = text,           \
						  .least = 6,              \
						  .most = 6,               \
						  .leaves = 2,             \
						  .align = ALIGN_RIGHT,    \
						  .key = STATE_SORT_STATE, \
						  .draw = draw_STATE },
		THREAD_STATES(TUI_COLUMN_ROW)
#undef TUI_COLUMN_ROW
};

/* The first ones are given; the others follow as they are in the table, with states behind their
 * bar. */
static void order_columns(struct column_choice *choice, const enum tui_column *first, size_t count)
{
	bool is_there[TUI_COLUMN_COUNT] = { false };
	size_t at = 0;

	for (; at < count; at++) {
		choice->order[at] = first[at];
		is_there[first[at]] = true;
	}
	for (enum tui_column c = 0; c < TUI_COLUMN_STATE_FIRST; c++) {
		if (!is_there[c])
			choice->order[at++] = c;
		for (enum tui_column s = TUI_COLUMN_STATE_FIRST;
		     c == TUI_COLUMN_STATES && s < TUI_COLUMN_COUNT; s++)
			if (!is_there[s])
				choice->order[at++] = s;
	}
}

void column_choice_init(struct column_choice *choice)
{
	*choice = (struct column_choice){ .numbers = false };
	for (enum tui_column c = 0; c < TUI_COLUMN_COUNT; c++)
		choice->is_on[c] = column_rows[c].is_on;
	order_columns(choice, NULL, 0);
}

static bool is_word(struct text word, const char *of)
{
	return word.length == strlen(of) && strncasecmp(word.bytes, of, word.length) == 0;
}

static bool is_called(const struct column_row *row, struct text word)
{
	return is_word(word, row->word) || is_word(word, row->head);
}

static struct error *unknown_column(struct text word)
{
	char name[32], all[512] = "";
	const char *nearest;
	size_t used = 0;

	snprintf(name, sizeof(name), "%.*s", (int)(word.length < 31 ? word.length : 31),
		 word.bytes);
	nearest =
		text_nearest(name, &column_rows[0].word, TUI_COLUMN_COUNT, sizeof(column_rows[0]));
	if (nearest)
		return error_create("unknown column '%s'; did you mean '%s'?", name, nearest);
	for (enum tui_column c = 0; c < TUI_COLUMN_STATE_FIRST && used < sizeof(all); c++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s, ",
					 column_rows[c].word);
	return error_create("unknown column '%s'; expected: %sor a state", name, all);
}

/* TUI_COLUMN_COUNT: there is none. */
static enum tui_column find_column(struct text word)
{
	enum tui_column c = 0;

	while (c < TUI_COLUMN_COUNT && !is_called(&column_rows[c], word))
		c++;
	return c;
}

struct error *column_choice_parse(struct text text, struct column_choice *ret)
{
	struct column_choice choice = { .numbers = false };
	enum tui_column chosen[TUI_COLUMN_COUNT];
	size_t count = 0;
	struct text word;

	if (is_word(text_trim(text), "default")) {
		column_choice_init(ret);
		return NULL;
	}
	while (text_cut(&text, ',', &word)) {
		const enum tui_column c = find_column(text_trim(word));

		if (c == TUI_COLUMN_COUNT)
			return unknown_column(text_trim(word));
		if (choice.is_on[c])
			return error_create("column '%s' appears twice", column_rows[c].word);
		choice.is_on[c] = true;
		chosen[count++] = c;
	}
	if (!count)
		return error_create("no column");
	order_columns(&choice, chosen, count);
	*ret = choice;
	return NULL;
}

bool column_choice_parse_known(struct text text, struct column_choice *ret,
			       struct text *ret_unknown, size_t *count)
{
	struct column_choice choice = { .numbers = false };
	enum tui_column chosen[TUI_COLUMN_COUNT];
	size_t known = 0;
	struct text word;

	*ret_unknown = (struct text){ NULL, 0 };
	while (text_cut(&text, ',', &word)) {
		const enum tui_column c = find_column(text_trim(word));

		if (c < TUI_COLUMN_COUNT && !choice.is_on[c]) {
			choice.is_on[c] = true;
			chosen[known++] = c;
		} else if (!(*count)++ || !ret_unknown->bytes) {
			*ret_unknown = text_trim(word);
		}
	}
	if (!known)
		return false;
	order_columns(&choice, chosen, known);
	*ret = choice;
	return true;
}

bool column_choice_is(const struct column_choice *a, const struct column_choice *b)
{
	return memcmp(a->is_on, b->is_on, sizeof(a->is_on)) == 0 &&
	       memcmp(a->order, b->order, sizeof(a->order)) == 0;
}

bool column_choice_is_usual(const struct column_choice *choice)
{
	struct column_choice usual;

	column_choice_init(&usual);
	return column_choice_is(choice, &usual);
}

/* --- facts of rows --- */

unsigned column_facts(enum tui_column column)
{
	if (column == TUI_COLUMN_COMMAND)
		return ROW_FACT_BIT(COMMAND);
	if (column >= TUI_COLUMN_MEMORY && column <= TUI_COLUMN_WCHAR)
		return ROW_FACT_BIT(MEMORY) << (column - TUI_COLUMN_MEMORY);
	return 0;
}
_Static_assert(TUI_COLUMN_WCHAR - TUI_COLUMN_MEMORY == (int)ROW_FACT_WCHAR - (int)ROW_FACT_MEMORY,
	       "columns have the order of the facts that they show");

unsigned column_choice_facts(const struct column_choice *choice)
{
	unsigned facts = 0;

	for (enum tui_column c = 0; c < TUI_COLUMN_COUNT; c++)
		facts |= choice->is_on[c] ? column_facts(c) : 0;
	return facts;
}

/* --- where they are --- */

bool column_is_wanted(const struct column_choice *choice, enum state_grouping grouping,
		      enum tui_column column)
{
	bool is_number = choice->numbers && choice->is_on[TUI_COLUMN_STATES] &&
			 column >= TUI_COLUMN_STATE_FIRST &&
			 state_is_main((enum state)(column - TUI_COLUMN_STATE_FIRST));

	if (column_rows[column].not_in & 1u << grouping)
		return false;
	return is_number ||
	       (choice->is_on[column] && (column != TUI_COLUMN_STATES || !choice->numbers));
}

/* A path needs more than a name: rather without a history. */
#define LEAST_OF_PATH 28

static unsigned least_of(enum tui_column column, enum state_grouping grouping)
{
	bool is_path = column == TUI_COLUMN_NAME && grouping == STATE_BY_CGROUP;

	return is_path ? LEAST_OF_PATH : column_rows[column].least;
}

/* All that are wanted, in their order. */
static void list_wanted(struct column_layout *layout, const struct column_choice *choice,
			enum state_grouping grouping)
{
	layout->count = 0;
	for (size_t i = 0; i < TUI_COLUMN_COUNT; i++) {
		const enum tui_column c = choice->order[i];

		if (column_is_wanted(choice, grouping, c))
			layout->places[layout->count++] =
				(struct column_place){ c, 0, least_of(c, grouping) };
	}
}

static unsigned whole_width(const struct column_layout *layout)
{
	unsigned sum = layout->count ? (unsigned)layout->count - 1 : 0;

	for (size_t i = 0; i < layout->count; i++)
		sum += layout->places[i].width;
	return sum;
}

/* The one that matters least, of several the last. False when the rest stays. */
static bool leave_out_column(struct column_layout *layout)
{
	size_t least = 0;

	for (size_t i = 1; i < layout->count; i++)
		if (column_rows[layout->places[i].column].leaves >=
		    column_rows[layout->places[least].column].leaves)
			least = i;
	if (!layout->count || !column_rows[layout->places[least].column].leaves)
		return false;
	layout->count--;
	memmove(&layout->places[least], &layout->places[least + 1],
		(layout->count - least) * sizeof(layout->places[0]));
	return true;
}

/* The rest of the width goes to columns that can use it, by their shares: round by round, as some
 * are full. */
static void widen(struct column_layout *layout, unsigned left)
{
	while (left) {
		unsigned shares = 0, given = 0;

		for (size_t i = 0; i < layout->count; i++) {
			const struct column_row *row = &column_rows[layout->places[i].column];

			shares += layout->places[i].width < row->most ? row->share : 0;
		}
		for (size_t i = 0; i < layout->count && shares; i++) {
			struct column_place *place = &layout->places[i];
			const struct column_row *row = &column_rows[place->column];
			unsigned part = (left * row->share + shares - 1) / shares;

			if (part > row->most - place->width)
				part = row->most - place->width;
			if (part > left - given)
				part = left - given;
			place->width += part;
			given += part;
		}
		if (!given)
			return;
		left -= given;
	}
}

void column_layout_make(struct column_layout *layout, const struct column_choice *choice,
			enum state_grouping grouping, unsigned width)
{
	int x = 0;

	list_wanted(layout, choice, grouping);
	while (whole_width(layout) > width && leave_out_column(layout))
		;
	if (whole_width(layout) < width)
		widen(layout, width - whole_width(layout));
	for (size_t i = 0; i < layout->count; i++) {
		layout->places[i].x = x;
		x += (int)layout->places[i].width + 1;
	}
}

bool column_layout_has(const struct column_layout *layout, enum tui_column column)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->places[i].column == column)
			return true;
	return false;
}

/* --- orders --- */

size_t column_sorts(enum tui_column column, struct state_sort ret[TUI_COLUMN_SORTS_MAX])
{
	const struct column_row *row = &column_rows[column];
	size_t count = 0;

	if (row->key == STATE_SORT_NONE)
		return 0;
	if (column == TUI_COLUMN_STATES) {
		for (; count < BAR_STATES; count++)
			ret[count] = (struct state_sort){ .key = STATE_SORT_STATE,
							  .state = bar_states[count] };
		return count;
	}
	ret[0] = (struct state_sort){ .key = row->key };
	if (row->key == STATE_SORT_STATE)
		ret[0].state = (enum state)(column - TUI_COLUMN_STATE_FIRST);
	return 1;
}
