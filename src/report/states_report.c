/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/states_report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/units.h"
#include "report/table.h"
#include "snapshot/timestamp.h"

const char *const states_format_names[STATES_FORMAT_COUNT] = {
#define STATES_FORMAT_NAME(id, name, ...) [STATES_FORMAT_##id] = name,
	STATES_FORMATS(STATES_FORMAT_NAME)
#undef STATES_FORMAT_NAME
};

static const enum table_format table_formats[STATES_FORMAT_COUNT] = {
#define STATES_FORMAT_AS(id, name, format) [STATES_FORMAT_##id] = TABLE_AS_##format,
	STATES_FORMATS(STATES_FORMAT_AS)
#undef STATES_FORMAT_AS
};

/* Tables of one heading and equal columns, which continue from window to window. */
static bool is_for_csv(enum states_format format)
{
	return TABLE_FOR_CSV >> table_formats[format] & 1;
}

/* --- columns --- */

enum states_field {
	NUMBER,
	AT,
	HOST,
	LABEL,
	TITLE,
	TID,
	TGID,
	COMM,
	PROCESS,
	UID,
	USER,
	CGROUP,
	IS_KERNEL,
	THREADS,
	ENDED_THREADS,
	HAS_ENDED,
	WINDOW_NS,
	SHARE,
	NS,
	TIMES,
	WAIT,
	WAIT_STATE,
	PROGRESS_STATE,
	PROGRESS_NS,
	PROGRESS,
	SWITCHES,
	SWITCH_RATE,
	FACT,
	EXIT,
};

/* When columns are shown: below these bits, one for each state that is shown to people. */
#define BY_THREAD  (1u << 31)
#define BY_GROUP   (1u << 30)
#define BY_PROCESS (1u << 29)
_Static_assert(STATE_COUNT < 29, "a bit for each state");

#define PEOPLE   TABLE_FOR_PEOPLE
#define PROGRAMS TABLE_FOR_PROGRAMS
#define CSV      TABLE_FOR_CSV
#define JSON     TABLE_FOR_JSON

/* "", the name of the grouping. */
static const struct table_column all_columns[] = {
	{ "window", .type = TABLE_COUNT, .formats = PROGRAMS, .field = NUMBER },
	{ "at_unix_ns", .type = TABLE_COUNT, .formats = PROGRAMS, .field = AT },
	{ "host", .type = TABLE_TEXT, .field = HOST },
	{ "group", .type = TABLE_TEXT, .formats = CSV, .field = LABEL },
	{ "", .type = TABLE_TEXT, .formats = JSON, .when = BY_GROUP, .field = LABEL },
	{ "tid", .type = TABLE_COUNT, .when = BY_THREAD, .field = TID },
	{ "tgid", .type = TABLE_COUNT, .formats = PROGRAMS, .when = BY_THREAD | BY_PROCESS,
	  .field = TGID },
	{ "comm", .type = TABLE_TEXT, .formats = JSON, .when = BY_THREAD, .field = COMM },
	{ "process", .type = TABLE_TEXT, .formats = JSON, .when = BY_THREAD, .field = PROCESS },
	{ "uid", .type = TABLE_COUNT, .formats = JSON, .when = BY_THREAD, .field = UID },
	{ "cgroup", .type = TABLE_TEXT, .formats = JSON, .when = BY_THREAD, .field = CGROUP },
	{ "kernel", .type = TABLE_BOOL, .formats = JSON, .when = BY_THREAD, .field = IS_KERNEL },
	{ "threads", .type = TABLE_COUNT, .when = BY_GROUP, .field = THREADS },
	{ "ended", .type = TABLE_COUNT, .formats = PROGRAMS, .when = BY_GROUP,
	  .field = ENDED_THREADS },
	{ "ended", .type = TABLE_BOOL, .formats = JSON, .when = BY_THREAD, .field = HAS_ENDED },
	{ "window_ns", .type = TABLE_NS, .formats = PROGRAMS, .field = WINDOW_NS },
#define STATE(id, main, name, ...)                                           \
	{ name,                                                              \
	  .type = TABLE_PERCENT,                                             \
	  .decimals = 1,                                                     \
	  .formats = PEOPLE,                                                 \
	  .when = 1u << STATE_##id,                                          \
	  .field = SHARE,                                                    \
	  .argument = STATE_##id },                                          \
		{ name "_ns", .type = TABLE_NS, .formats = CSV, .field = NS, \
		  .argument = STATE_##id },
	THREAD_STATES(STATE)
#undef STATE
		{ "states", .type = TABLE_OBJECT, .formats = JSON, .field = TIMES },
	{ "waits", .type = TABLE_TEXT, .right = true, .formats = PEOPLE, .field = WAIT,
	  .minor = 1 },
	{ "in", .type = TABLE_TEXT, .formats = PEOPLE, .field = WAIT_STATE, .whole = true,
	  .minor = 1 },
	{ "in_progress", .type = TABLE_TEXT, .formats = CSV, .field = PROGRESS_STATE },
	{ "in_progress_ns", .type = TABLE_NS, .formats = CSV, .field = PROGRESS_NS },
	{ "in_progress", .type = TABLE_OBJECT, .formats = JSON, .field = PROGRESS },
	{ "switches/s", .type = TABLE_REAL, .formats = PEOPLE, .field = SWITCH_RATE, .minor = 3 },
	{ "switches", .type = TABLE_COUNT, .formats = PROGRAMS, .field = SWITCHES },
	{ "", .type = TABLE_TEXT, .formats = PEOPLE, .field = TITLE },
	{ "process", .type = TABLE_TEXT, .formats = CSV, .field = PROCESS },
	{ "user", .type = TABLE_TEXT, .formats = CSV, .field = USER },
	{ "cgroup", .type = TABLE_TEXT, .formats = CSV, .field = CGROUP },
/* Columns that are printed only if the user asks for them. */
#define ADDED_WINDOW(...)
#define ADDED_EXITS(id, a_name, a_heading, unit)                                     \
	{ a_name, .heading = a_heading, .type = TABLE_TEXT, .formats = PEOPLE | CSV, \
	  .field = EXIT },                                                           \
		{ a_name, .type = TABLE_OBJECT, .formats = JSON, .field = EXIT },
#define ADDED_PROC(id, a_name, a_heading, unit)                                                 \
	{ a_name, .heading = a_heading,                                                         \
	  .type = COLUMN_IN_##unit == COLUMN_IN_TEXT ? TABLE_TEXT : TABLE_COUNT, .field = FACT, \
	  .argument = TOP_COLUMN_##id },
#define ADDED(id, head, source, name, heading, unit, ...) ADDED_##source(id, name, heading, unit)
	TOP_COLUMNS(ADDED)
#undef ADDED
};

/* A terminal can do without a state that no row shows, and without "idle", which is what the others
 * leave of 100 %. */
#define MINOR_IDLE 2
#define MINOR_ZERO 4
/* What is less is printed as 0.0 %. */
#define SHARE_SHOWN 0.0005

static bool is_in_rows(const struct state_list *list, enum state state)
{
	if (state_line_share(&list->total, state) >= SHARE_SHOWN)
		return true;
	for (size_t i = 0; i < list->lines.count; i++)
		if (state_line_share(&list->lines.items[i], state) >= SHARE_SHOWN)
			return true;
	return false;
}

static unsigned minor_of(const struct states_report *report, const struct table_column *column)
{
	if (column->field != SHARE || !report->list)
		return column->minor;
	if (!is_in_rows(report->list, column->argument))
		return MINOR_ZERO;
	return column->argument == STATE_IDLE ? MINOR_IDLE : 0;
}

/* Those that are there always, or were asked for. Returns their number. */
static size_t choose_columns(const struct states_report *report,
			     struct table_column ret[array_length(all_columns)])
{
	size_t count = 0;

	for (size_t i = 0; i < array_length(all_columns); i++) {
		const struct table_column *column = &all_columns[i];

		if (column->field == FACT   ? report->facts & column_facts(column->argument)
		    : column->field == EXIT ? report->exits != NULL
		    : column->field == HOST ? report->has_hosts
					    : true) {
			ret[count] = *column;
			ret[count++].minor = minor_of(report, column);
		}
	}
	return count;
}

/* People see the seven states; and of one that is not known as a whole, the parts that are. CSV
 * has the same columns always. */
static unsigned columns_shown(const struct states_report *report)
{
	unsigned shown = report->grouping == STATE_BY_THREAD ? BY_THREAD : BY_GROUP;

	if (report->grouping == STATE_BY_PROCESS)
		shown |= BY_PROCESS;
	if (is_for_csv(report->format))
		shown |= BY_THREAD | BY_GROUP;
	for (enum state state = 0; state < STATE_COUNT; state++) {
		const enum state main = state_rows[state].main;

		if (state == main || (!state_is_measured(report->window->measured, main) &&
				      state_is_measured(report->window->measured, state)))
			shown |= 1u << state;
	}
	return shown;
}

/* --- cells --- */

/* Captures of other tools may be dated alike: a window of no length has neither shares nor rates.
 */
static uint64_t length_of(const struct state_window *window)
{
	return window->ended_ns - window->begun_ns;
}

static uint64_t ns_of(const struct state_line *line, enum state state)
{
	return state_is_main(state) ? state_times_of(&line->times, state) : line->times.ns[state];
}

static void set_total_title(struct table_cell *ret, const struct states_report *report,
			    const struct state_line *line)
{
	if (report->grouping == STATE_BY_THREAD)
		table_printf(ret, "all (%u thread%s)", line->threads, plural(line->threads));
	else
		table_text(ret, TEXT("all"));
}

/* A thread is "name (process)" where these differ; the line without one is the sum of all. */
static void set_title(struct table_cell *ret, const struct states_report *report,
		      const struct state_line *line)
{
	if (!line->thread)
		set_total_title(ret, report, line);
	else if (report->grouping != STATE_BY_THREAD ||
		 strcmp(line->thread->process->bytes, line->thread->name->bytes) == 0)
		table_text(ret, name_text(line->label));
	else
		table_printf(ret, "%.240s (%.240s)", line->thread->name->bytes,
			     line->thread->process->bytes);
}

/* Print the user's name, or number. */
static void set_user(struct table_cell *ret, const struct states_report *report, uint32_t uid)
{
	const char *name = report->user_name ? report->user_name(report->context, uid) : NULL;

	if (name)
		table_string(ret, name);
	else
		table_count(ret, uid);
}

_Static_assert(STATE_COUNT < TABLE_MEMBERS_MAX,
	       "no member for each state: raise TABLE_MEMBERS_MAX (report/table.h)");

static void set_times(struct table_cell *ret, unsigned measured, const struct state_line *line)
{
	for (enum state state = 0; state < STATE_COUNT; state++) {
		struct table_member *member = table_member(ret, state_rows[state].name);

		if (state_is_measured(measured, state))
			member->value =
				(struct table_value){ TABLE_NS, .count = ns_of(line, state) };
	}
}

static void set_progress(struct table_cell *ret, const struct state_line *line)
{
	if (!line->in_progress_ns)
		return;
	table_member(ret, "state")->value =
		(struct table_value){ TABLE_TEXT,
				      .text = text_of(state_rows[line->in_progress].name) };
	table_member(ret, "ns")->value =
		(struct table_value){ TABLE_NS, .count = line->in_progress_ns };
	table_member(ret, "at_least")->value =
		(struct table_value){ TABLE_BOOL, .flag = line->in_progress_at_least };
}

/* An empty cell where nothing is in progress. */
static void set_wait(struct table_cell *ret, const struct state_line *line, bool has_ended)
{
	char amount[UNITS_TEXT_MAX];

	if (has_ended || !line->in_progress_ns)
		table_text(ret, TEXT(""));
	else
		table_printf(ret, "%s%s", line->in_progress_at_least ? ">" : "",
			     units_format(amount, UNIT_NS, (__int128)line->in_progress_ns));
}

static void set_fact(struct table_cell *ret, const struct states_report *report,
		     const struct state_line *line, enum top_column column)
{
	const enum row_fact fact = column_fact(column);
	const enum column_unit unit = column_rows[column].unit;
	const size_t index = (size_t)(line - report->list->lines.items);
	const struct row_facts *facts =
		line->thread && index < report->row_count ? &report->rows[index] : NULL;

	if (!line->thread)
		table_string(ret, "");
	if (!row_facts_have(facts, fact))
		return;
	if (unit == COLUMN_IN_TEXT)
		table_text(ret, row_facts_command(facts));
	else if (unit == COLUMN_IN_BYTES)
		ret->value =
			(struct table_value){ TABLE_BYTES,
					      .count = (uint64_t)row_facts_number(facts, fact) };
	else
		ret->value = (struct table_value){ TABLE_SIGNED,
						   .integer = row_facts_number(facts, fact) };
}

/* How a process like that ended last. */
static void set_exit(struct table_cell *ret, const struct states_report *report,
		     const struct state_line *line)
{
	const uint64_t at_ns = report->window->ended_ns;
	struct last_exit own;
	const struct last_exit *last =
		line->thread ? last_exits_of(report->exits, line, report->grouping, at_ns, &own)
			     : NULL;
	const uint64_t ago_ns = last && last->at_ns < at_ns ? at_ns - last->at_ns : 0;
	char word[LAST_EXIT_TEXT_MAX], amount[UNITS_TEXT_MAX];
	const char *name;

	if (!line->thread)
		table_string(ret, "");
	if (!last)
		return;
	if (report->format != STATES_FORMAT_JSON) {
		table_printf(ret, "%s %s ago", last_exit_text(word, last),
			     units_format(amount, UNIT_NS, (__int128)ago_ns));
		return;
	}
	name = last_exit_signal(last) ? sigabbrev_np((int)last_exit_signal(last)) : NULL;
	table_member(ret, "code")->value =
		(struct table_value){ TABLE_COUNT, .count = last->code >> 8 & 0xff };
	table_member(ret, "signal")->value =
		(struct table_value){ TABLE_COUNT, .count = last_exit_signal(last) };
	if (name)
		table_member(ret, "signal_name")->value =
			(struct table_value){ TABLE_TEXT, .text = text_of(name) };
	table_member(ret, "ago_ns")->value = (struct table_value){ TABLE_NS, .count = ago_ns };
}

static void get_state_cell(const void *context, const void *row, const struct table_column *column,
			   struct table_cell *ret)
{
	const struct states_report *report = context;
	const struct state_line *line = row;
	const struct state_thread *thread = line->thread;
	const unsigned measured = report->window->measured;
	const uint64_t length = length_of(report->window);
	const bool has_ended = thread && !line->threads;

	switch ((enum states_field)column->field) {
	case NUMBER:
		table_count(ret, report->number);
		return;
	case AT:
		table_count(ret, report->window->at_unix_ns);
		return;
	case HOST:
		table_text(ret, thread ? name_text(state_host_name(&report->window->hosts, thread))
				       : TEXT(""));
		return;
	case LABEL:
		table_text(ret, name_text(line->label));
		return;
	case TITLE:
		set_title(ret, report, line);
		return;
	case TID:
		if (thread)
			table_count(ret, thread->tid);
		else
			table_string(ret, "");
		return;
	case TGID:
		table_count(ret, thread->tgid);
		return;
	case COMM:
		table_text(ret, name_text(thread->name));
		return;
	case PROCESS:
		table_text(ret, name_text(thread->process));
		return;
	case UID:
		table_count(ret, thread->uid);
		return;
	case USER:
		set_user(ret, report, thread->uid);
		return;
	case CGROUP:
		if (thread->cgroup)
			table_text(ret, name_text(thread->cgroup));
		return;
	case IS_KERNEL:
		table_bool(ret, thread->is_kernel);
		return;
	case THREADS:
		table_count(ret, line->threads);
		return;
	case ENDED_THREADS:
		table_count(ret, line->ended);
		return;
	case HAS_ENDED:
		table_bool(ret, thread->has_ended);
		return;
	case WINDOW_NS:
		table_ns(ret, line->window_ns);
		return;
	case SHARE:
		if (state_is_measured(measured, column->argument) && length)
			table_real(ret, TABLE_PERCENT,
				   100 * state_line_share(line, column->argument));
		return;
	case NS:
		if (state_is_measured(measured, column->argument))
			table_ns(ret, ns_of(line, column->argument));
		return;
	case TIMES:
		set_times(ret, measured, line);
		return;
	case WAIT:
		set_wait(ret, line, has_ended);
		return;
	case WAIT_STATE:
		table_string(ret, has_ended              ? "ended"
				  : line->in_progress_ns ? state_rows[line->in_progress].name
							 : "");
		return;
	case PROGRESS_STATE:
		if (line->in_progress_ns)
			table_string(ret, state_rows[line->in_progress].name);
		return;
	case PROGRESS_NS:
		table_ns(ret, line->in_progress_ns);
		return;
	case PROGRESS:
		set_progress(ret, line);
		return;
	case SWITCHES:
		table_count(ret, line->switches);
		return;
	case SWITCH_RATE:
		if (length)
			table_real(ret, TABLE_REAL,
				   (double)line->switches * NS_PER_S / (double)length);
		return;
	case FACT:
		set_fact(ret, report, line, (enum top_column)column->argument);
		return;
	case EXIT:
		set_exit(ret, report, line);
		return;
	}
}

/* --- the table --- */

static struct error *written(FILE *out)
{
	return ferror(out) ? error_system(errno, "standard output") : NULL;
}

/* CSV has one heading for all windows. */
struct error *states_report_begin(const struct states_report *report, FILE *out)
{
	struct table_column columns[array_length(all_columns)];
	const size_t count = choose_columns(report, columns);
	struct table table;
	struct error *err;

	if (!is_for_csv(report->format))
		return NULL;
	table_begin(&table, columns, count,
		    (struct table_options){
			    .format = table_formats[report->format], .out = out, .when = ~0u });
	err = table_end(&table);
	return err ? err : written(out);
}

static void print_time(const struct state_window *window, FILE *out)
{
	const struct state_hosts *hosts = &window->hosts;
	char at[TIMESTAMP_TEXT_SIZE], length[UNITS_TEXT_MAX];

	timestamp_print(at, window->at_unix_ns / (NS_PER_S / 1000));
	fprintf(out, "window of %s until %s",
		units_format(length, UNIT_NS, (__int128)length_of(window)), at);
	if (hosts->observed < hosts->count)
		fprintf(out, ", %zu of %zu hosts", hosts->observed, hosts->count);
	else if (state_hosts_differ(hosts))
		fprintf(out, ", %zu hosts", hosts->count);
	fputc('\n', out);
}

static struct error *print_state_rows(const struct states_report *report, FILE *out)
{
	const bool is_text = report->format == STATES_FORMAT_TABLE;
	const struct state_list *list = report->list;
	const size_t count = list->lines.count;
	const size_t shown = report->limit && report->limit < count ? report->limit : count;
	struct table_column columns[array_length(all_columns)];
	const size_t column_count = choose_columns(report, columns);
	struct table table;
	struct error *err;

	if (is_text && report->has_time)
		print_time(report->window, out);
	for (size_t i = 0; i < column_count; i++)
		if (!*columns[i].name)
			columns[i].name = state_grouping_names[report->grouping];
	table_begin(&table, columns, column_count,
		    (struct table_options){ .format = table_formats[report->format],
					    .out = out,
					    .get = get_state_cell,
					    .context = report,
					    .when = columns_shown(report),
					    .width = report->width,
					    .colour = report->colour,
					    .no_heading = true });
	if (is_text)
		table_row(&table, &list->total);
	for (size_t i = 0; i < shown && table_row(&table, &list->lines.items[i]); i++)
		;
	if (is_text && shown < count) {
		char line[64];

		snprintf(line, sizeof(line), "... %zu more row%s (--all)", count - shown,
			 plural(count - shown));
		table_line(&table, line);
	}
	err = table_end(&table);
	if (is_text)
		fputc('\n', out);
	return err || is_text ? err : written(out);
}

struct error *states_report_print(const struct states_report *report, FILE *out)
{
	struct error *err =
		report->format == STATES_FORMAT_NONE ? NULL : print_state_rows(report, out);

	/* A reader of a pipe gets each window as it ends. */
	if (!err && fflush(out))
		err = error_system(errno, "standard output");
	return err;
}
