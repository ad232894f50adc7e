/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/past.h"

#include <inttypes.h>
#include <time.h>

#include "base/units.h"
#include "report/table.h"

static bool is_same(const struct top_past *past, const struct screen_subject *subject)
{
	return past->grouping == subject->grouping && past->line == subject->line;
}

bool top_past_knows(struct top_past *past, const struct screen_subject *subject, size_t number)
{
	const struct top_past_row *row = &past->rows[number % TOP_PAST_KEPT];

	if (!is_same(past, subject))
		*past = (struct top_past){ subject->grouping, subject->line, { { 0 } } };
	return row->is_known && row->number == number;
}

/* --- looking --- */

static bool find_thread(const struct state_window *window, uint64_t id, struct state_line *ret)
{
	for (size_t i = 0; i < window->deltas.count; i++) {
		if (window->deltas.items[i].thread->id != id)
			continue;
		*ret = state_line_of(window, &window->deltas.items[i]);
		return true;
	}
	return false;
}

static struct error *find_group(const struct state_window *window,
				const struct screen_subject *subject, struct state_line *ret,
				bool *ret_found)
{
	struct state_view view = *subject->view;
	struct state_list list;
	struct error *err;

	view.grouping = subject->grouping;
	view.is_tree = view.no_ended = false;
	state_list_init(&list);
	err = state_list_make(&list, window, &view);
	for (size_t i = 0; !err && i < list.lines.count; i++) {
		if (list.lines.items[i].id != subject->line)
			continue;
		*ret = list.lines.items[i];
		*ret_found = true;
	}
	state_list_deinit(&list);
	return err;
}

struct error *top_past_look(struct top_past *past, const struct screen_subject *subject,
			    const struct state_window *window, size_t number)
{
	struct top_past_row row = {
		.is_known = true,
		.number = number,
		.at_unix_ns = window->at_unix_ns,
		.length_ns = window->ended_ns - window->begun_ns,
		.measured = window->measured,
	};
	struct error *err = NULL;

	if (top_past_knows(past, subject, number))
		return NULL;
	if (subject->grouping == STATE_BY_THREAD)
		row.is_there = find_thread(window, subject->line, &row.line);
	else
		err = find_group(window, subject, &row.line, &row.is_there);
	if (err)
		return err;
	row.line.thread = NULL;
	row.line.label = NULL;
	past->rows[number % TOP_PAST_KEPT] = row;
	return NULL;
}

/* --- as text --- */

/* Who or when (two columns), the states, switches, the wait that went on in the end. */
enum { STATES_AT = 2, COLUMNS = STATES_AT + STATE_MAIN_COUNT + 2 };

static void fill_columns(struct table_column columns[COLUMNS], struct table_column first,
			 struct table_column second)
{
	size_t at = 0;

	columns[at++] = first;
	columns[at++] = second;
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		columns[at++] = (struct table_column){ state_rows[state_mains[i]].label, true };
	columns[at++] = (struct table_column){ "SW/s", true };
	columns[at++] = (struct table_column){ "waits", false };
}

static bool add_text(struct table *table, const char *text)
{
	return table_add(table, text_of(text), TABLE_PLAIN);
}

static bool add_time(struct table *table, uint64_t at_unix_ns)
{
	const time_t seconds = (time_t)(at_unix_ns / NS_PER_S);
	char day[16] = "-", text[32];
	struct tm when;

	if (gmtime_r(&seconds, &when))
		strftime(day, sizeof(day), "%T", &when);
	snprintf(text, sizeof(text), "%s.%03u", day,
		 (unsigned)(at_unix_ns % NS_PER_S / (NS_PER_S / 1000)));
	return add_text(table, text);
}

static bool add_states(struct table *table, const struct top_past_row *row)
{
	bool done = true;

	for (size_t i = 0; i < STATE_MAIN_COUNT && done; i++) {
		const enum state state = state_mains[i];
		char text[32] = "-";

		if (row->is_there && state_is_measured_in_part(row->measured, state))
			snprintf(text, sizeof(text), "%.1f",
				 100 * state_line_share(&row->line, state));
		done = add_text(table, text);
	}
	return done;
}

static bool add_switches(struct table *table, const struct top_past_row *row)
{
	char text[32] = "-";

	if (row->is_there && row->length_ns)
		snprintf(text, sizeof(text), "%.0f",
			 (double)row->line.switches * 1e9 / (double)row->length_ns);
	return add_text(table, text);
}

static bool add_wait(struct table *table, const struct top_past_row *row)
{
	const struct state_line *line = &row->line;
	char amount[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX + 64] = "";

	if (!row->is_there)
		snprintf(text, sizeof(text), "(not there)");
	else if (line->in_progress_ns)
		snprintf(text, sizeof(text), "%s%s %s", line->in_progress_at_least ? ">" : "",
			 units_format(amount, UNIT_NS, (__int128)line->in_progress_ns),
			 state_rows[line->in_progress].name);
	return add_text(table, text);
}

static bool add_cells(struct table *table, const struct top_past_row *row)
{
	return add_states(table, row) && add_switches(table, row) && add_wait(table, row);
}

static struct error *print(struct table *table, bool done, FILE *out)
{
	struct error *err = done ? table_print(table, out, 0, false) : &error_no_memory;

	table_deinit(table);
	return err;
}

struct error *top_past_print(const struct top_past *past, size_t number, bool is_recorded,
			     FILE *out)
{
	struct table_column columns[COLUMNS];
	struct table table;
	struct error *err;
	size_t unknown = 0;
	bool done = true;

	fill_columns(columns, (struct table_column){ "until (UTC)", false },
		     (struct table_column){ "window", true });
	table_init(&table, columns, COLUMNS);
	for (size_t i = 0; i < TOP_PAST_WINDOWS && i <= number && done; i++) {
		const struct top_past_row *row = &past->rows[(number - i) % TOP_PAST_KEPT];
		char length[UNITS_TEXT_MAX];

		if (!row->is_known || row->number != number - i) {
			unknown++;
			continue;
		}
		units_format(length, UNIT_NS, (__int128)row->length_ns);
		done = add_time(&table, row->at_unix_ns) && add_text(&table, length) &&
		       add_cells(&table, row);
	}
	err = print(&table, done, out);
	if (!err && unknown && is_recorded)
		fprintf(out, "... %zu more, not read yet\n", unknown);
	return err;
}

struct error *top_threads_print(const struct state_window *window, const struct state_line *lines,
				size_t count, FILE *out)
{
	struct table_column columns[COLUMNS];
	struct table table;
	bool done = true;

	fill_columns(columns, (struct table_column){ "tid", true },
		     (struct table_column){ "name", false });
	table_init(&table, columns, COLUMNS);
	for (size_t i = 0; i < count && done; i++) {
		const struct top_past_row row = {
			.is_there = true,
			.length_ns = window->ended_ns - window->begun_ns,
			.measured = window->measured,
			.line = lines[i],
		};
		char tid[16];

		snprintf(tid, sizeof(tid), "%" PRIu32, lines[i].thread->tid);
		done = add_text(&table, tid) &&
		       table_add(&table, name_text(lines[i].label), TABLE_PLAIN) &&
		       add_cells(&table, &row);
	}
	return print(&table, done, out);
}
