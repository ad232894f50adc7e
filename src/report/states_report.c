/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/states_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/units.h"
#include "report/csv_text.h"
#include "report/stream.h"
#include "report/table.h"

const char *const states_format_names[STATES_FORMAT_COUNT] = {
#define STATES_FORMAT_NAME(id, name) [STATES_FORMAT_##id] = name,
	STATES_FORMATS(STATES_FORMAT_NAME)
#undef STATES_FORMAT_NAME
};

/* --- what is known --- */

static uint64_t ns_of(const struct state_line *line, enum state state)
{
	return state_is_main(state) ? state_times_of(&line->times, state) : line->times.ns[state];
}

static struct error *written(FILE *out)
{
	return ferror(out) ? error_system(errno, "standard output") : NULL;
}

/* --- a table --- */

/* TID or threads, states, the wait, switches a second, name. */
enum { COLUMNS_MOST = STATE_COUNT + 5 };

/* The seven; and of one that is not known as a whole, those parts that are. */
static bool has_column(unsigned measured, enum state state)
{
	const enum state main = state_rows[state].main;

	return state == main ||
	       (!state_is_measured(measured, main) && state_is_measured(measured, state));
}

static size_t fill_columns(struct table_column columns[COLUMNS_MOST], enum state_grouping grouping,
			   unsigned measured)
{
	size_t at = 0;

	columns[at++] =
		(struct table_column){ grouping == STATE_BY_THREAD ? "tid" : "threads", true };
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (has_column(measured, state))
			columns[at++] = (struct table_column){ state_rows[state].name, true };
	columns[at++] = (struct table_column){ "waits", true };
	columns[at++] = (struct table_column){ "in", false };
	columns[at++] = (struct table_column){ "switches/s", true };
	columns[at++] = (struct table_column){ state_grouping_names[grouping], false };
	return at;
}

static bool add_number(struct table *table, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%.0f", value);
	return table_add(table, text_of(text), TABLE_PLAIN);
}

static bool add_percent(struct table *table, double share)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f%%", 100 * share);
	return table_add(table, text_of(text), TABLE_PLAIN);
}

/* Captures of other tools may be dated alike: a window of no length has neither shares nor rates.
 */
static uint64_t length_of(const struct state_window *window)
{
	return window->ended_ns - window->begun_ns;
}

static bool add_states(struct table *table, const struct states_report *report,
		       const struct state_line *line)
{
	const unsigned measured = report->window->measured;
	bool done = true;

	for (enum state state = 0; state < STATE_COUNT && done; state++) {
		if (!has_column(measured, state))
			continue;
		if (state_is_measured(measured, state) && length_of(report->window))
			done = add_percent(table, state_line_share(line, state));
		else
			done = table_add(table, TEXT("-"), TABLE_PLAIN);
	}
	return done;
}

static bool add_wait(struct table *table, const struct state_line *line)
{
	const bool has_ended = line->thread && !line->threads;
	char amount[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX + 1];

	if (has_ended || !line->in_progress_ns)
		return table_add(table, TEXT(""), TABLE_PLAIN) &&
		       table_add(table, has_ended ? TEXT("ended") : TEXT(""), TABLE_PLAIN);
	snprintf(text, sizeof(text), "%s%s", line->in_progress_at_least ? ">" : "",
		 units_format(amount, UNIT_NS, (__int128)line->in_progress_ns));
	return table_add(table, text_of(text), TABLE_PLAIN) &&
	       table_add(table, text_of(state_rows[line->in_progress].name), TABLE_PLAIN);
}

static bool add_who(struct table *table, const struct states_report *report,
		    const struct state_line *line)
{
	char text[256];

	if (!line->thread)
		return table_add(table, TEXT("all"), TABLE_PLAIN);
	if (report->grouping != STATE_BY_THREAD ||
	    strcmp(line->thread->process->bytes, line->thread->name->bytes) == 0)
		return table_add(table, name_text(line->label), TABLE_PLAIN);
	snprintf(text, sizeof(text), "%s (%s)", line->thread->name->bytes,
		 line->thread->process->bytes);
	return table_add(table, text_of(text), TABLE_PLAIN);
}

static bool add_switches(struct table *table, const struct state_window *window,
			 const struct state_line *line)
{
	const uint64_t length = length_of(window);

	return length ? add_number(table, (double)line->switches * NS_PER_S / (double)length)
		      : table_add(table, TEXT("-"), TABLE_PLAIN);
}

static bool add_line(struct table *table, const struct states_report *report,
		     const struct state_line *line)
{
	const bool is_thread = report->grouping == STATE_BY_THREAD && line->thread;

	return add_number(table, is_thread ? line->thread->tid : line->threads) &&
	       add_states(table, report, line) && add_wait(table, line) &&
	       add_switches(table, report->window, line) && add_who(table, report, line);
}

static struct error *print_table(const struct states_report *report, FILE *out)
{
	struct table_column columns[COLUMNS_MOST];
	const struct state_list *list = report->list;
	struct table table;
	struct error *err;
	bool done;
	size_t shown = list->lines.count;

	if (report->limit && report->limit < shown)
		shown = report->limit;
	table_init(&table, columns,
		   fill_columns(columns, report->grouping, report->window->measured));
	done = add_line(&table, report, &list->total);
	for (size_t i = 0; i < shown && done; i++)
		done = add_line(&table, report, &list->lines.items[i]);
	err = done ? table_print(&table, out, report->width, report->colour) : &error_no_memory;
	table_deinit(&table);
	if (!err && shown < list->lines.count)
		fprintf(out, "... %zu more\n", list->lines.count - shown);
	fputc('\n', out);
	return err;
}

/* --- JSON --- */

static void put_times(struct json_writer *w, unsigned measured, const struct state_line *line)
{
	json_key(w, "states");
	json_object_begin(w);
	for (enum state state = 0; state < STATE_COUNT; state++) {
		json_key(w, state_rows[state].name);
		if (state_is_measured(measured, state))
			json_u64(w, ns_of(line, state));
		else
			json_null(w);
	}
	json_object_end(w);
}

static void put_progress(struct json_writer *w, const struct state_line *line)
{
	json_key(w, "in_progress");
	if (!line->in_progress_ns) {
		json_null(w);
		return;
	}
	json_object_begin(w);
	json_key(w, "state");
	json_text(w, text_of(state_rows[line->in_progress].name));
	json_key(w, "ns");
	json_u64(w, line->in_progress_ns);
	json_key(w, "at_least");
	json_bool(w, line->in_progress_at_least);
	json_object_end(w);
}

static void put_who(struct json_writer *w, const struct states_report *report,
		    const struct state_line *line)
{
	const struct state_thread *t = line->thread;

	if (report->grouping != STATE_BY_THREAD) {
		json_key(w, state_grouping_names[report->grouping]);
		json_text(w, name_text(line->label));
		if (report->grouping == STATE_BY_PROCESS) {
			json_key(w, "tgid");
			json_u64(w, t->tgid);
		}
		json_key(w, "threads");
		json_u64(w, line->threads);
		json_key(w, "ended");
		json_u64(w, line->ended);
		return;
	}
	json_key(w, "tid");
	json_u64(w, t->tid);
	json_key(w, "tgid");
	json_u64(w, t->tgid);
	json_key(w, "comm");
	json_text(w, name_text(t->name));
	json_key(w, "process");
	json_text(w, name_text(t->process));
	json_key(w, "uid");
	json_u64(w, t->uid);
	json_key(w, "cgroup");
	if (t->cgroup)
		json_text(w, name_text(t->cgroup));
	else
		json_null(w);
	json_key(w, "kernel");
	json_bool(w, t->is_kernel);
	json_key(w, "ended");
	json_bool(w, t->has_ended);
}

static struct error *print_json(const struct states_report *report, FILE *out)
{
	size_t shown = report->list->lines.count;

	if (report->limit && report->limit < shown)
		shown = report->limit;
	for (size_t i = 0; i < shown; i++) {
		const struct state_line *line = &report->list->lines.items[i];
		struct json_writer w;
		struct error *err = json_writer_init(&w, stream_to_file, out);

		if (err)
			return err;
		json_object_begin(&w);
		json_key(&w, "window");
		json_u64(&w, report->number);
		json_key(&w, "at_unix_ns");
		json_u64(&w, report->window->at_unix_ns);
		put_who(&w, report, line);
		json_key(&w, "window_ns");
		json_u64(&w, line->window_ns);
		put_times(&w, report->window->measured, line);
		put_progress(&w, line);
		json_key(&w, "switches");
		json_u64(&w, line->switches);
		json_object_end(&w);
		err = json_writer_finish(&w);
		json_writer_deinit(&w);
		if (err)
			return err;
		fputc('\n', out);
	}
	return written(out);
}

/* --- CSV --- */

static void print_csv_head(FILE *out)
{
	fputs("window,at_unix_ns,group,tid,tgid,threads,ended,window_ns", out);
	for (enum state state = 0; state < STATE_COUNT; state++)
		fprintf(out, ",%s_ns", state_rows[state].name);
	fputs(",in_progress,in_progress_ns,switches,process,user,cgroup\n", out);
}

static void put_number(FILE *out, uint64_t value)
{
	putc_unlocked(',', out);
	csv_u64(out, value);
}

/* By name, or number. */
static void put_csv_user(const struct states_report *report, uint32_t uid, FILE *out)
{
	const char *name = report->user_name ? report->user_name(report->context, uid) : NULL;

	if (name)
		csv_text(out, text_of(name));
	else
		csv_u64(out, uid);
}

static void put_csv(const struct states_report *report, const struct state_line *line, FILE *out)
{
	csv_u64(out, report->number);
	put_number(out, report->window->at_unix_ns);
	putc_unlocked(',', out);
	csv_text(out, name_text(line->label));
	put_number(out, line->thread->tid);
	put_number(out, line->thread->tgid);
	put_number(out, line->threads);
	put_number(out, line->ended);
	put_number(out, line->window_ns);
	for (enum state state = 0; state < STATE_COUNT; state++) {
		if (state_is_measured(report->window->measured, state))
			put_number(out, ns_of(line, state));
		else
			putc_unlocked(',', out);
	}
	putc_unlocked(',', out);
	if (line->in_progress_ns)
		fputs(state_rows[line->in_progress].name, out);
	put_number(out, line->in_progress_ns);
	put_number(out, line->switches);
	putc_unlocked(',', out);
	csv_text(out, name_text(line->thread->process));
	putc_unlocked(',', out);
	put_csv_user(report, line->thread->uid, out);
	putc_unlocked(',', out);
	if (line->thread->cgroup)
		csv_text(out, name_text(line->thread->cgroup));
	putc_unlocked('\n', out);
}

static struct error *print_csv(const struct states_report *report, FILE *out)
{
	size_t shown = report->list->lines.count;

	if (report->limit && report->limit < shown)
		shown = report->limit;
	for (size_t i = 0; i < shown; i++)
		put_csv(report, &report->list->lines.items[i], out);
	return written(out);
}

/* --- formats --- */

/* For who wants the recording alone. */
static struct error *print_nothing(const struct states_report *report, FILE *out)
{
	(void)report;
	(void)out;
	return NULL;
}

static const struct {
	void (*begin)(FILE *out);
	struct error *(*print)(const struct states_report *report, FILE *out);
} formats[STATES_FORMAT_COUNT] = {
	[STATES_FORMAT_TABLE] = { NULL, print_table },
	[STATES_FORMAT_JSON] = { NULL, print_json },
	[STATES_FORMAT_CSV] = { print_csv_head, print_csv },
	[STATES_FORMAT_NONE] = { NULL, print_nothing },
};

struct error *states_report_begin(enum states_format format, FILE *out)
{
	if (formats[format].begin)
		formats[format].begin(out);
	return written(out);
}

struct error *states_report_print(const struct states_report *report, FILE *out)
{
	struct error *err = formats[report->format].print(report, out);

	/* Who reads a pipe wants a window when it is over. */
	if (!err && fflush(out))
		err = error_system(errno, "standard output");
	return err;
}
