/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/past.h"

#include <time.h>

#include "base/units.h"
#include "report/table.h"

static bool is_same_subject(const struct top_past *past, const struct screen_subject *subject)
{
	return past->grouping == subject->grouping && past->line == subject->line;
}

bool top_past_knows(struct top_past *past, const struct screen_subject *subject, size_t number)
{
	const struct top_past_row *row = &past->rows[number % TOP_PAST_KEPT];

	if (!is_same_subject(past, subject))
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

/* Lines of windows, or of threads in one window. */
enum { OF_WINDOWS = 1, OF_THREADS = 2 };

enum past_field { UNTIL, LENGTH, TID, NAME, SHARE, SWITCHES, WAIT };

enum { STATES_AT = 4, COLUMNS = STATES_AT + STATE_MAIN_COUNT + 2 };

static void fill_columns(struct table_column columns[COLUMNS])
{
	size_t at = 0;

	columns[at++] = (struct table_column){ "until (UTC)", .type = TABLE_TEXT,
					       .when = OF_WINDOWS, .field = UNTIL };
	columns[at++] = (struct table_column){ "window", .type = TABLE_NS, .when = OF_WINDOWS,
					       .field = LENGTH };
	columns[at++] = (struct table_column){ "tid", .type = TABLE_COUNT, .when = OF_THREADS,
					       .field = TID };
	columns[at++] = (struct table_column){ "name", .type = TABLE_TEXT, .when = OF_THREADS,
					       .field = NAME };
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		columns[at++] = (struct table_column){ state_rows[state_mains[i]].label,
						       .type = TABLE_REAL, .decimals = 1,
						       .field = SHARE, .argument = state_mains[i] };
	columns[at++] = (struct table_column){ "SW/s", .type = TABLE_REAL, .field = SWITCHES };
	columns[at++] = (struct table_column){ "waits", .type = TABLE_TEXT, .field = WAIT };
}

static void set_time(struct table_cell *ret, uint64_t at_unix_ns)
{
	const time_t seconds = (time_t)(at_unix_ns / NS_PER_S);
	char day[16] = "-";
	struct tm when;

	if (gmtime_r(&seconds, &when))
		strftime(day, sizeof(day), "%T", &when);
	table_printf(ret, "%s.%03u", day, (unsigned)(at_unix_ns % NS_PER_S / (NS_PER_S / 1000)));
}

/* An empty cell where nothing is in progress. */
static void set_wait(struct table_cell *ret, const struct top_past_row *row)
{
	const struct state_line *line = &row->line;
	char amount[UNITS_TEXT_MAX];

	if (!row->is_there)
		table_text(ret, TEXT("(not there)"));
	else if (!line->in_progress_ns)
		table_text(ret, TEXT(""));
	else
		table_printf(ret, "%s%s %s", line->in_progress_at_least ? ">" : "",
			     units_format(amount, UNIT_NS, (__int128)line->in_progress_ns),
			     state_rows[line->in_progress].name);
}

static void get_window_cell(const void *context, const void *row_,
			    const struct table_column *column, struct table_cell *ret)
{
	const struct top_past_row *row = row_;

	(void)context;
	switch ((enum past_field)column->field) {
	case UNTIL:
		set_time(ret, row->at_unix_ns);
		return;
	case LENGTH:
		table_ns(ret, row->length_ns);
		return;
	case TID:
		table_count(ret, row->line.thread->tid);
		return;
	case NAME:
		table_text(ret, name_text(row->line.label));
		return;
	case SHARE:
		if (row->is_there && state_is_measured_in_part(row->measured, column->argument))
			table_real(ret, TABLE_REAL,
				   100 * state_line_share(&row->line, column->argument));
		return;
	case SWITCHES:
		if (row->is_there && row->length_ns)
			table_real(ret, TABLE_REAL,
				   (double)row->line.switches * 1e9 / (double)row->length_ns);
		return;
	case WAIT:
		set_wait(ret, row);
		return;
	}
}

static void begin_table(struct table *table, unsigned when, FILE *out)
{
	struct table_column columns[COLUMNS];

	fill_columns(columns);
	table_begin(table, columns, COLUMNS,
		    (struct table_options){ .format = TABLE_AS_TEXT,
					    .out = out,
					    .get = get_window_cell,
					    .when = when });
}

struct error *top_past_print(const struct top_past *past, size_t number, bool is_recorded,
			     FILE *out)
{
	struct table table;
	struct error *err;
	size_t unknown = 0;

	begin_table(&table, OF_WINDOWS, out);
	for (size_t i = 0; i < TOP_PAST_WINDOWS && i <= number; i++) {
		const struct top_past_row *row = &past->rows[(number - i) % TOP_PAST_KEPT];

		if (row->is_known && row->number == number - i)
			table_row(&table, row);
		else
			unknown++;
	}
	err = table_end(&table);
	if (!err && unknown && is_recorded)
		fprintf(out, "... %zu more, not read yet\n", unknown);
	return err;
}

struct error *top_threads_print(const struct state_window *window, const struct state_line *lines,
				size_t count, FILE *out)
{
	struct table table;

	begin_table(&table, OF_THREADS, out);
	for (size_t i = 0; i < count; i++) {
		const struct top_past_row row = {
			.is_there = true,
			.length_ns = window->ended_ns - window->begun_ns,
			.measured = window->measured,
			.line = lines[i],
		};

		table_row(&table, &row);
	}
	return table_end(&table);
}
