/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "cmd/inputs.h"
#include "cmd/record.h"
#include "top/top.h"
#include "tui/columns.h"

/* --- what is wanted --- */

/* A shorter window would measure mostly ctprof itself. */
#define INTERVAL_MIN_MS  50
#define INTERVAL_DEFAULT NS_PER_S

/* Without the option, the first format. */
enum { FORMAT_DEFAULT = STATES_FORMAT_COUNT };

static const char *engine_value(size_t number)
{
	return number < ENGINE_COUNT ? engine_names[number] : number == ENGINE_AUTO ? "auto" : NULL;
}

static const char *format_word(size_t number)
{
	return number < STATES_FORMAT_COUNT ? states_format_names[number] : NULL;
}

static const char *grouping_value(size_t number)
{
	return number < STATE_GROUPINGS ? state_grouping_names[number] : NULL;
}

static struct error *parse_value(const char *what, const char *argument, option_values values,
				 unsigned *ret)
{
	for (unsigned i = 0; values(i); i++)
		if (strcmp(values(i), argument) == 0) {
			*ret = i;
			return NULL;
		}
	return unknown_value(what, argument, values);
}

static struct error *parse_engine(const char *argument, void *at)
{
	return parse_value("engine", argument, engine_value, at);
}

static struct error *parse_states_format(const char *argument, void *at)
{
	return parse_value("format", argument, format_word, at);
}

static struct error *parse_grouping(const char *argument, void *at)
{
	return parse_value("grouping", argument, grouping_value, at);
}

static struct error *parse_number(const char *argument, void *at)
{
	uint32_t *ret = at;

	if (!text_u32(text_of(argument), ret) || !*ret || *ret > INT32_MAX)
		return error_create("'%.40s' is not a process or thread ID", argument);
	return NULL;
}

/* A number, or else the name of a process. */
static struct error *parse_inspect(const char *argument, void *at)
{
	struct top_arguments *a = at;

	a->inspect = 0;
	a->inspect_name = NULL;
	if (*argument && !argument[strspn(argument, "0123456789")])
		return parse_number(argument, &a->inspect);
	return parse_string(argument, &a->inspect_name);
}

static struct error *parse_columns(const char *argument, void *at)
{
	struct column_choice choice;
	struct error *err = column_choice_parse(text_of(argument), &choice);

	return err ? err : parse_string(argument, at);
}

static struct error *parse_window(const char *argument, void *at)
{
	return parse_duration_from(argument, INTERVAL_MIN_MS, at);
}

#define AT(member) offsetof(struct top_arguments, member)

static const struct option_row top_options[] = {
	TARGET_OPTIONS(top_arguments, parse_pids),
	{ "tid", 't', "TID[,TID...]", parse_tids, AT(tids),
	  "Show only these threads. May be given more than once.", NULL, false },
	{ "filter", 'f', "TERMS", parse_string, AT(filter),
	  "Show only threads that match all terms: part of a name, a glob, user:NAME, cgroup:PATH, "
	  "state:NAME, pid:NUMBER; \"a|b\" matches either.",
	  NULL, OPTION_COMMON },
	{ "no-kernel", 'K', NULL, parse_flag, AT(no_kernel), "Exclude kernel threads.", NULL,
	  false },
	{ "by", 'b', "GROUP", parse_grouping, AT(grouping),
	  "Choose what a row is: a thread (the default), process, cgroup, or pool (threads of a "
	  "process whose names differ only in numbers).",
	  grouping_value, OPTION_COMMON },
	{ "sort", 's', "KEY", parse_string, AT(sort),
	  "Choose the order of rows: a column of --columns (default active), wait (the longest "
	  "in progress), or a state; a leading \"-\" reverses the order. By default, json and csv "
	  "are sorted by busy: as active, but time that waits for storage does not count.",
	  NULL, OPTION_COMMON },
	{ "columns", 0, "COLUMN[,COLUMN...]", parse_columns, AT(columns),
	  "Columns of the screen, from left to right: tid, pid, threads, name, user, cgroup, "
	  "active, cpu, states, now, switches, memory, priority, nice, read, write, rchar, wchar, "
	  "ended, exit, history, command, the names of states, or default. With --batch: memory to "
	  "wchar, exit and command are added to the rows.",
	  NULL, false },
	{ "engine", 'e', "ENGINE", parse_engine, AT(engine),
	  "exact: every switch, by BPF; counters: the kernel's own counters; taskstats: four "
	  "delays by netlink; procfs: files of /proc, without privileges; auto: the first of these "
	  "that works on this host.",
	  engine_value, false },
	{ "interval", 'i', "TIME", parse_window, AT(interval_ns),
	  "The length of a window (default 1s, at least 50ms).", NULL, OPTION_COMMON },
	{ "inspect", 0, "PID|TID|NAME", parse_inspect, 0,
	  "Print what keeps a process or thread waiting: its state, the holder of its lock, the "
	  "other end of its socket or pipe; then its stacks and open files. NAME is that of a "
	  "single process. With --by, of the group that it is in. Implies --batch, and --count "
	  "1.",
	  NULL, OPTION_COMMON },
	{ "batch", 'B', NULL, parse_flag, AT(batch), "Print windows instead of showing a screen.",
	  NULL, OPTION_COMMON },
	{ "count", 'n', "NUMBER", parse_count, AT(count),
	  "With --batch: stop after NUMBER windows.", NULL, false },
	{ "format", 0, "FORMAT", parse_states_format, AT(format),
	  "With --batch: table, json (one object per row and line), csv, or none (with --record, "
	  "print nothing).",
	  format_word, false },
	{ "limit", 'l', "NUMBER", parse_size, AT(limit),
	  "With --batch: print only the first NUMBER rows of each window.", NULL, false },
	{ "all", 'a', NULL, parse_flag, AT(all),
	  "With --batch: print all rows of a table instead of the ten with most of the time that "
	  "matters (running, waiting for a CPU, memory, locks or storage).",
	  NULL, false },
	{ "wide", 0, NULL, parse_wide, 0,
	  "With --batch on a terminal: print all columns, and their cells whole.", NULL, false },
	{ "record", 'r', "DIR", parse_string, AT(record),
	  "Record the windows to DIR: a capture with the state times at the end of each, for "
	  "--replay, show and compare.",
	  NULL, OPTION_COMMON },
	{ "keep", 0, "TIME|SIZE", parse_keep, AT(keep),
	  "With --record: keep the captures of the last TIME (1h, 7d), or at most SIZE (500MiB). "
	  "May be given once for each.",
	  NULL, false },
	{ "without", 0, "PART[,PART...]", parse_without, AT(reading.without),
	  "With --record: skip expensive or sensitive sources in captures.", part_name, false },
	{ "replay", 'R', "DIR[@TIME]|URL", parse_string, AT(replay),
	  "Show the windows of a recording (by top --record or capture --interval), starting with "
	  "the first, or with the one that ended at TIME (12:30:05, -5m); or the intervals of "
	  "hosts in a store: ch://SERVER/DATABASE?host=NAME.",
	  NULL, OPTION_COMMON },
};

/* --- the command --- */

/* Reject options that have no effect in this mode. */
static struct error *check_modes(const struct top_arguments *a)
{
	const struct {
		bool given;
		const char *name;
	} live[] = {
		{ a->record, "--record" },
		{ a->engine != ENGINE_AUTO, "--engine" },
		{ a->interval_ns, "--interval" },
	};
	const struct {
		bool given;
		const char *name;
		bool has_what_it_needs;
		const char *needs;
	} parts[] = {
		{ a->count, "--count", a->batch, "--batch" },
		{ a->format != FORMAT_DEFAULT, "--format", a->batch, "--batch" },
		{ a->limit, "--limit", a->batch, "--batch" },
		{ a->all, "--all", a->batch, "--batch" },
		{ a->keep.age_ms || a->keep.bytes, "--keep", a->record, "--record" },
		{ a->reading.without, "--without", a->record, "--record" },
	};

	for (size_t i = 0; i < array_length(live) && a->replay; i++)
		if (live[i].given)
			return error_create("%s has no effect with --replay", live[i].name);
	for (size_t i = 0; i < array_length(parts); i++)
		if (parts[i].given && !parts[i].has_what_it_needs)
			return error_create("%s requires %s", parts[i].name, parts[i].needs);
	if (a->inspect && a->format != FORMAT_DEFAULT && a->format != STATES_FORMAT_TABLE &&
	    a->format != STATES_FORMAT_JSON)
		return error_create("--inspect has no format '%s', only table and json",
				    states_format_names[a->format]);
	if (a->inspect_name && a->replay)
		return error_create("--inspect of a replay takes a number, not a name");
	if (a->inspect && a->limit)
		return error_create("--limit has no effect with --inspect");
	if (a->all && a->limit)
		return error_create("--limit has no effect with --all");
	if (a->format == STATES_FORMAT_NONE && !a->record)
		return error_create("--format none requires --record");
	return NULL;
}

/* An error if the rows of this grouping lack the column to sort by. */
static struct error *check_order(const struct top_arguments *a, struct state_sort sort)
{
	char word[COLUMN_WORD_MAX];

	if (state_sort_source(sort) != COLUMN_FROM_PROC)
		return NULL;
	if (a->replay)
		return error_create("a replay has no '%s' of rows", state_sort_word(sort, word));
	if (!(state_sort_facts(sort) & row_facts_by(a->grouping)))
		return error_create("rows of a %s have no '%s'", state_grouping_names[a->grouping],
				    state_sort_word(sort, word));
	return NULL;
}

static struct error *parse_view(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct error *err = check_modes(a);

	if (err)
		return err;
	err = state_filter_parse(text_of(a->filter ? a->filter : ""), &top->filter);
	if (err)
		return error_prefix(err, "--filter");
	top->view = (struct state_view){
		.grouping = a->grouping,
		.filter = &top->filter,
		.no_kernel = a->no_kernel,
		.user_name = top_user_name,
		.context = &top->users,
	};
	/* Programs get rows in the order of earlier versions. */
	if (a->batch && (a->format == STATES_FORMAT_JSON || a->format == STATES_FORMAT_CSV))
		top->view.sort.key = STATE_SORT_BUSY;
	if (a->sort)
		err = state_sort_parse(text_of(a->sort), &top->view.sort);
	if (!err)
		err = check_order(a, top->view.sort);
	return err ? error_prefix(err, "--sort") : NULL;
}

/* A query of a store is a recording, too. Its server is asked with no more privileges than files
 * are read with. */
static struct error *open_query(struct top_arguments *a, struct recording *recording)
{
	struct error *err;

	if (!a->replay || !input_is_query(a->replay))
		return NULL;
	err = privileges_keep_for_files();
	if (!err)
		err = input_recording(a->replay, recording);
	if (!err)
		a->recording = recording;
	return err;
}

static int run_mode(const struct command *command, struct top_arguments *arguments)
{
	struct top top = { .arguments = arguments };
	struct recording recording;
	struct error *err;
	int status = STATUS_DONE;

	state_list_init(&top.list);
	err = parse_view(&top);
	if (err) {
		status = usage_error(command, err);
	} else {
		if (arguments->format == FORMAT_DEFAULT)
			arguments->format = STATES_FORMAT_TABLE;
		arguments->has_interval = arguments->interval_ns;
		if (!arguments->has_interval)
			arguments->interval_ns = INTERVAL_DEFAULT;
		err = open_query(arguments, &recording);
		if (!err)
			err = top_open(&top);
		if (!err && arguments->batch)
			err = top_run_batch(&top);
		else if (!err)
			err = top_run_screen(&top, &status);
		if (top_recorder_close(top.recorder) != STATUS_DONE && status == STATUS_DONE)
			status = STATUS_FAILED;
		if (err)
			status = report_error(err, STATUS_FAILED);
	}
	top_close(&top);
	return status;
}

/* The operand, and what is inspected, restrict the engine to it; other groups than processes have
 * more threads than those of the number. */
static struct error *select_numbers(struct top_arguments *a, const char *operand)
{
	const bool is_targeted = a->target.pids.count || a->tids.count || a->target.cgroup;
	uint32_t number = a->grouping == STATE_BY_CGROUP ? 0 : a->inspect;
	struct error *err = operand ? parse_number(operand, &number) : NULL;

	if (a->inspect) {
		a->batch = true;
		a->count = a->count ? a->count : 1;
	}
	if (err || !number || ((a->replay || is_targeted) && !operand))
		return err;
	return top_select(a, number);
}

/* The processes of a recording have other numbers than those of now. */
static struct error *find_inspected(struct top_arguments *a)
{
	return a->inspect_name && !a->replay ? target_find_process(a->inspect_name, &a->inspect)
					     : NULL;
}

static int run_top(const struct command *command, int argc, char **argv)
{
	struct top_arguments arguments = {
		.engine = ENGINE_AUTO,
		.format = FORMAT_DEFAULT,
	};
	struct error *err;
	int status, at;

	at = options_parse(command, argc, argv, &arguments, &status);
	err = at >= 0 ? find_inspected(&arguments) : NULL;
	if (err) {
		status = report_error(err, STATUS_FAILED);
	} else if (at >= 0) {
		err = select_numbers(&arguments, at < argc ? argv[at] : NULL);
		status = err ? usage_error(command, err) : run_mode(command, &arguments);
	}
	target_deinit(&arguments.target);
	array_deinit(&arguments.tids);
	return status;
}

/* Options of top(1) and htop(1) that have another letter here. */
static const struct foreign_option foreign_options[] = {
	{ 'd', "-i 2s sets the interval; --batch -n 10 ends after ten windows" },
	{ 'u', "-f user:NAME shows the threads of a user" },
	{ 'o', "-s KEY chooses the order" },
	{ 'H', "rows are threads unless --by says otherwise" },
	{ '\0', NULL },
};

const struct command top_command = {
	.name = "top",
	.run = run_top,
	.summary = "show what every thread does with its time, live",
	.operands = "[PID|TID]",
	.operands_least = 0,
	.operands_most = 1,
	.needs = "root, or CAP_BPF, CAP_PERFMON and CAP_SYSLOG; without them fewer states "
		 "(--engine)",
	.drops_privileges = true,
	.examples = { "sudo ctprof top", "sudo ctprof top -b cgroup -s wait",
		      "sudo ctprof top --inspect 4242" },
	.options = top_options,
	.option_count = array_length(top_options),
	.foreign = foreign_options,
};
