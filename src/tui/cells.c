/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/columns.h"

#include <stdio.h>

#include "base/units.h"

#include "tui/tui.h"

#define DRAWN(id)                                                                    \
	static void draw_##id(const struct tui *tui, struct pen *pen,                \
			      const struct state_line *line, enum top_column column, \
			      unsigned width)
#define UNUSED(variable) ((void)(variable))

static bool is_group(const struct tui *tui, const struct state_line *line)
{
	return tui->view.grouping != STATE_BY_THREAD || (tui->view.is_tree && !line->depth);
}

/* What was read of the row; NULL: nothing yet. */
static const struct row_facts *facts_of(const struct tui *tui, const struct state_line *line)
{
	const struct row_subject subject = view_subject(&tui->view, line);

	return line->thread->has_ended ? NULL : row_fact_set_find(&tui->facts, &subject);
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

DRAWN(HOST)
{
	UNUSED(column);
	pen_field(pen, STYLE_PLAIN,
		  name_text(state_host_name(&tui->model->window.hosts, line->thread)), width,
		  ALIGN_LEFT, FIT_TAIL);
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

/* A fact, in its unit. */
static void draw_fact(const struct tui *tui, struct pen *pen, const struct state_line *line,
		      enum top_column column, unsigned width)
{
	const struct column_row *row = &column_rows[column];
	const enum row_fact fact = column_fact(column);
	const struct row_facts *facts = facts_of(tui, line);
	char buffer[FIT_NUMBER_MAX * 2];

	if (!row_facts_have(facts, fact)) {
		draw_unknown(pen, width, row->is_right ? ALIGN_RIGHT : ALIGN_LEFT);
	} else if (row->unit == COLUMN_IN_TEXT) {
		pen_field(pen, STYLE_PLAIN, row_facts_command(facts), width, ALIGN_LEFT, FIT_START);
	} else if (row->unit == COLUMN_IN_BYTES) {
		draw_bytes(pen, (uint64_t)row_facts_number(facts, fact), width);
	} else {
		snprintf(buffer, sizeof(buffer), "%lld", (long long)row_facts_number(facts, fact));
		pen_field(pen, STYLE_PLAIN, text_of(buffer), width, ALIGN_RIGHT, FIT_START);
	}
}
#define draw_MEMORY   draw_fact
#define draw_PRIORITY draw_fact
#define draw_NICE     draw_fact
#define draw_READ     draw_fact
#define draw_WRITE    draw_fact
#define draw_RCHAR    draw_fact
#define draw_WCHAR    draw_fact
#define draw_COMMAND  draw_fact

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
	enum state state = (enum state)(column - TOP_COLUMN_STATE_FIRST);

	if (state_is_measured_in_part(tui->model->window.measured, state))
		draw_percent(pen, state_line_share(line, state), width);
	else
		pen_field(pen, STYLE_DIM, TEXT("-"), width, ALIGN_RIGHT, FIT_START);
}

void column_draw(const struct tui *tui, struct pen *pen, const struct state_line *line,
		 enum top_column column, unsigned width)
{
	static void (*const draw[TOP_COLUMN_STATE_FIRST])(
		const struct tui *tui, struct pen *pen, const struct state_line *line,
		enum top_column column, unsigned width) = {
#define COLUMN_DRAW(id, ...) [TOP_COLUMN_##id] = draw_##id,
		TOP_COLUMNS(COLUMN_DRAW)
#undef COLUMN_DRAW
	};

	(column < TOP_COLUMN_STATE_FIRST ? draw[column] : draw_STATE)(tui, pen, line, column,
								      width);
}
