/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fleet: which hosts are unlike the others, how two groups of hosts differ, and what changed when,
 * from the tables that agents fill.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"
#include "cli/commands.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/fleet.h"
#include "cmd/inputs.h"
#include "fleet/groups.h"
#include "fleet/outliers.h"
#include "store/hosts.h"
#include "store/no_rows.h"

/* Slices after a point in time, and at most before it. */
#define SLICES_AFTER  8
#define SLICES_BEFORE 64

#define AT(member)    offsetof(struct fleet_arguments, member)

static const char *format_name(size_t number)
{
	static const char *const names[] = { "text", "json", "csv" };

	return number < array_length(names) ? names[number] : NULL;
}

static struct error *parse_format(const char *argument, void *at)
{
	static const enum table_format formats[] = { TABLE_AS_TEXT, TABLE_AS_JSON, TABLE_AS_CSV };
	const size_t number = option_value(argument, format_name);

	if (!format_name(number))
		return unknown_value("format", argument, format_name);
	*(enum table_format *)at = formats[number];
	return NULL;
}

static const struct option_row fleet_options[] = {
	{ "by", 0, "LABEL[=VALUES]", parse_string, AT(by),
	  "Compare two groups of hosts: LABEL=A,B compares hosts with the value B with those with "
	  "A, LABEL=B with all others. LABEL is a label of the agents' configuration; or kernel, "
	  "arch, cpu_model, agent (its version) or host; or container, pod, namespace, image or "
	  "unit, of which a host may have several. A comma in a value is written as %2C, and % as "
	  "%25.",
	  NULL, OPTION_COMMON },
	{ "since", 0, "TIME", parse_string, AT(since),
	  "With regressions: compare the time after TIME (-2h, 14:30, 2026-11-20T12:30:05) with "
	  "the time before it, which begins at the URL's 'from', or is as long as that after it.",
	  NULL, OPTION_COMMON },
	{ "all", 0, NULL, parse_flag, AT(all),
	  "Show every finding, not only the largest of each host and program. Of functions that "
	  "call each other and have the same values, text shows the first.",
	  NULL, OPTION_COMMON },
	{ "limit", 0, "N", parse_size, AT(limit),
	  "In text, show at most N rows (default 15; 0 is all).", NULL, OPTION_COMMON },
	{ "format", 0, "FORMAT", parse_format, AT(format),
	  "The output format: text (the default), or json or csv with all findings.", format_name,
	  OPTION_COMMON },
	TERMINAL_OPTIONS
};

/* --- verbs --- */

static const struct fleet_slices one_slice = { .count = 1 };

/* An error if there is nothing to compare. */
static struct error *load_data(struct store *store, const struct store_url *url,
			       struct fleet_slices slices, const struct fleet_parts *parts,
			       struct fleet_run *run)
{
	struct error *err;

	if (run->has_data)
		fleet_data_deinit(&run->data);
	err = fleet_load(store, url, slices, parts, &run->data);
	run->has_data = !err;
	if (!err && !run->data.hosts.count)
		err = store_nothing(store, url,
				    store_url_selects_programs(url) ? "states" : "loads");
	return err;
}

/* A host that was observed in other minutes than its peers differs by these. */
static struct error *leave_out_partial_hosts(struct store *store, const struct store_url *url,
					     struct fleet_run *run)
{
	struct error *err = fleet_load_partial_hosts(store, url, &run->partial);

	for (size_t i = 0; !err && i < run->partial.count; i++) {
		const uint32_t host =
			fleet_data_find_host(&run->data, text_of(run->partial.items[i].name));

		if (host != FLEET_NONE)
			fleet_data_clear_host(&run->data, host);
	}
	return err;
}

/* After a comparison. Its findings stand without the states of their waits. */
static void load_waits(struct store *store, const struct store_url *url, struct fleet_slices slices,
		       const struct fleet_parts *parts, const struct fleet_sides *sides,
		       struct fleet_run *run)
{
	_cleanup_error_ struct error *err = fleet_load_wait_states(
		store, url, slices, parts, sides, &run->data, &run->findings, &run->waits);

	if (err)
		fprintf(stderr, "ctprof: cannot read what functions wait for: %s\n", err->message);
}

static struct error *load_outliers(struct store *store, const struct store_url *url, void *context)
{
	struct fleet_run *run = context;
	struct error *err = load_data(store, url, one_slice, NULL, run);

	if (!err)
		err = fleet_load_silent_hosts(store, url, &run->silent);
	if (!err)
		err = leave_out_partial_hosts(store, url, run);
	if (!err)
		err = fleet_outliers(&run->data, 0, 1, &run->findings);
	if (!err)
		load_waits(store, url, one_slice, NULL,
			   &(struct fleet_sides){ .comparison = FLEET_OF_HOSTS }, run);
	return err;
}

static struct error *show_outliers(struct fleet_run *run)
{
	struct error *err = input_query(run->url, load_outliers, run);

	return err ? err : fleet_show(run, FLEET_OF_HOSTS);
}

static struct error *load_comparison(struct store *store, const struct store_url *url,
				     void *context)
{
	_cleanup_free_ uint8_t *groups = NULL;
	struct fleet_run *run = context;
	const struct fleet_parts *parts;
	struct fleet_parts room;
	struct error *err = fleet_find_groups(store, url, &run->groups);

	if (err)
		return err;
	parts = fleet_groups_parts(&run->groups, &room);
	err = load_data(store, url, one_slice, parts, run);
	if (!err)
		err = fleet_groups_of(&run->groups, &run->data, &groups);
	if (!err)
		err = fleet_compare_groups(&run->data, groups, &run->findings);
	if (!err)
		load_waits(store, url, one_slice, parts,
			   &(struct fleet_sides){ .comparison = FLEET_OF_GROUPS, .groups = groups },
			   run);
	return err;
}

static struct error *show_comparison(struct fleet_run *run)
{
	struct error *err = input_query(run->url, load_comparison, run);

	return err ? err : fleet_show(run, FLEET_OF_GROUPS);
}

static struct error *find_changes(struct fleet_run *run, size_t cut)
{
	struct fleet_findings hosts = { 0 };
	struct error *err;

	if (run->data.hosts.count < PAIRED_HOSTS_LEAST)
		return fleet_compare_slices(&run->data, cut, &run->findings);
	err = fleet_compare_times(&run->data, cut, &run->findings);
	if (err)
		return err;
	err = fleet_outlier_changes(&run->data, cut, &hosts);
	if (!err && !fleet_findings_join(&run->findings, &hosts))
		err = &error_no_memory;
	fleet_findings_deinit(&hosts);
	return err;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/* Compare `before` slices with the SLICES_AFTER that follow. Slices are needed only for few hosts;
 * for more, whole times are compared, and slices are as long as they can be. */
static struct error *compare_times(struct store *store, const struct store_url *url,
				   uint64_t before, uint64_t width, struct fleet_run *run)
{
	const uint64_t longest = common_divisor(before, SLICES_AFTER);
	struct fleet_slices slices = { .count = (before + SLICES_AFTER) / longest,
				       .by_rows = width < 60 };
	struct fleet_sides sides = { .comparison = FLEET_OF_TIMES, .cut = before / longest };
	struct error *err = load_data(store, url, slices, NULL, run);

	if (!err && run->data.hosts.count < PAIRED_HOSTS_LEAST) {
		slices.count = before + SLICES_AFTER;
		sides.cut = before;
		err = load_data(store, url, slices, NULL, run);
	}
	if (!err)
		err = find_changes(run, sides.cut);
	if (!err)
		load_waits(store, url, slices, NULL, &sides, run);
	return err;
}

static struct error *load_changes(struct store *store, const struct store_url *url, void *context)
{
	struct fleet_run *run = context;
	struct store_url both = *url;
	uint64_t width = (url->to_s - run->since_s) / SLICES_AFTER, before = SLICES_AFTER;

	if (run->since_s > input_now_s())
		return error_create("--since: the time is in the future");
	if (run->since_s >= url->to_s || !width)
		return error_create("--since must be at least %d s before the URL's 'to', which is "
				    "now if it is not given",
				    SLICES_AFTER);
	if (url->has_from && url->from_s >= run->since_s)
		return error_create("--since must be after the URL's 'from': the time between is "
				    "compared with the time after --since");
	if (url->has_from)
		before = (run->since_s - url->from_s + width - 1) / width;
	if (before > SLICES_BEFORE) {
		before = SLICES_BEFORE;
		fprintf(stderr,
			"ctprof: the time before --since is at most %d times as long as that "
			"after it: it does not begin at 'from'\n",
			SLICES_BEFORE / SLICES_AFTER);
	}
	if (before * width > run->since_s)
		return error_create("--since: no time is left before it");
	both.from_s = run->since_s - before * width;
	both.to_s = run->since_s + SLICES_AFTER * width;
	run->from_s = both.from_s;
	run->to_s = both.to_s;
	return compare_times(store, &both, before, width, run);
}

static struct error *parse_since(struct fleet_run *run)
{
	_cleanup_free_ char *value = percent_encode(text_of(run->arguments->since));
	_cleanup_free_ char *text = value ? text_print("ch://host/d?to=%s", value) : NULL;
	struct store_url url = { 0 };
	struct error *err = text ? store_url_parse(text, input_now_s(), &url) : &error_no_memory;

	if (err)
		return err == &error_no_memory ? err : error_prefix(err, "--since");
	run->since_s = url.to_s;
	store_url_deinit(&url);
	return NULL;
}

static struct error *show_changes(struct fleet_run *run)
{
	struct error *err = parse_since(run);

	if (!err)
		err = input_query(run->url, load_changes, run);
	return err ? err : fleet_show(run, FLEET_OF_TIMES);
}

/* Hosts are listed, too, if none has rows in the time of the query. */
static void note_shared_names(struct store *store, const struct store_url *url)
{
	struct store_hosts hosts = { 0 };
	struct error *err = store_hosts_read(store, url, &hosts);

	store_hosts_note_shared(&hosts, stderr);
	store_hosts_deinit(&hosts);
	error_destroy(err);
}

static struct error *load_hosts(struct store *store, const struct store_url *url, void *context)
{
	struct fleet_run *run = context;
	struct error *err;

	if (store_url_selects_programs(url))
		return error_create("hosts are selected by host, label.NAME, from and to: leave "
				    "out process, comm and cgroup");
	err = fleet_load_hosts(store, url, &run->hosts);
	run->to_s = url->to_s;
	if (!err && !run->hosts.count)
		err = store_nothing(store, url, "loads");
	if (!err)
		note_shared_names(store, url);
	return err ? err : fleet_load_silent_hosts(store, url, &run->silent);
}

static struct error *show_hosts(struct fleet_run *run)
{
	struct error *err = input_query(run->url, load_hosts, run);

	return err ? err : fleet_show_hosts(run);
}

/* --- flame --- */

static struct error *load_groups(struct store *store, const struct store_url *url, void *context)
{
	struct fleet_run *run = context;

	return fleet_find_groups(store, url, &run->groups);
}

/* Which hosts a flame graph leaves out, so that totals can be compared. */
static void print_sizes(const struct fleet_groups *groups, size_t most)
{
	for (unsigned second = 0; second < 2; second++) {
		const size_t size = fleet_group_size(groups, second);
		_cleanup_free_ char *name = fleet_group_name(groups, second);

		if (name && size > most)
			fprintf(stderr,
				"ctprof: %s: %zu of its %zu hosts, as many as of the other group\n",
				name, most, size);
	}
}

/* `ctprof flame --diff FIRST SECOND` and the options that were given. */
static int run_flame(int argc, char **argv)
{
	_cleanup_free_ char **words = calloc((size_t)argc + 4, sizeof(*words));
	_cleanup_free_ char *first = NULL, *second = NULL;
	struct fleet_arguments arguments = { 0 };
	struct fleet_run run = { .arguments = &arguments };
	struct error *err = NULL;
	static char diff[] = "--diff";
	size_t most = 0;
	int count = 0, status = STATUS_FAILED;

	if (!words)
		return report_error(&error_no_memory, STATUS_FAILED);
	words[count++] = argv[0];
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--by") == 0 && i + 1 < argc)
			arguments.by = argv[++i];
		else if (strncmp(argv[i], "--by=", 5) == 0)
			arguments.by = argv[i] + 5;
		else if (store_is_url(argv[i]) && !run.url)
			run.url = argv[i];
		else if (strcmp(argv[i], "--diff") != 0)
			words[count++] = argv[i];
	}
	if (!arguments.by || !run.url)
		return usage_error(
			&fleet_command,
			error_create("flame requires --by, as --by version=1.4,1.5, and a "
				     "query ch://HOST/DATABASE"));
	err = fleet_groups_parse(arguments.by, &run.groups);
	if (err) {
		fleet_run_deinit(&run);
		return usage_error(&fleet_command, err);
	}
	err = input_query(run.url, load_groups, &run);
	if (!err)
		err = fleet_group_urls(&run.groups, run.url, &most, &first, &second);
	if (!err)
		print_sizes(&run.groups, most);
	if (err) {
		status = report_error(err, STATUS_FAILED);
	} else {
		words[count++] = diff;
		words[count++] = first;
		words[count++] = second;
		status = flame_command.run(&flame_command, count, words);
	}
	fleet_run_deinit(&run);
	return status;
}

/* --- the command --- */

/* VERB(name, function, what it does) */
#define FLEET_VERBS(VERB)                                                                  \
	VERB("outliers", show_outliers, "which hosts are unlike the others, and by what")  \
	VERB("compare", show_comparison, "how two groups of hosts differ: --by LABEL=A,B") \
	VERB("regressions", show_changes, "what changed on hosts: --since TIME")           \
	VERB("hosts", show_hosts, "the hosts of the store, with their labels")             \
	VERB("flame", NULL,                                                                \
	     "the stacks of two groups as flame --diff: --by LABEL=A,B, and options of flame")

static const struct fleet_verb {
	const char *name;
	struct error *(*show)(struct fleet_run *run);
	const char *what;
} verbs[] = {
#define VERB_ROW(name, show, what) { name, show, what },
	FLEET_VERBS(VERB_ROW)
#undef VERB_ROW
};

static const char *verb_name(size_t number)
{
	return number < array_length(verbs) ? verbs[number].name : NULL;
}

static bool verb_help(size_t number, const char **ret_words, const char **ret_prose)
{
	if (number >= array_length(verbs))
		return false;
	*ret_words = verbs[number].name;
	*ret_prose = verbs[number].what;
	return true;
}

/* The options without which a verb makes no sense, and those that it does not take. */
static struct error *check_options(const struct fleet_verb *verb,
				   const struct fleet_arguments *arguments)
{
	if (arguments->by && verb->show != show_comparison)
		return error_create("--by has no effect with %s: use compare or flame", verb->name);
	if (arguments->since && verb->show != show_changes)
		return error_create("--since has no effect with %s: use regressions%s", verb->name,
				    verb->show == show_hosts ? "" : ", or 'from' of the URL");
	if (verb->show == show_hosts && (arguments->all || arguments->limit != LIMIT_UNSET))
		return error_create("%s has no effect with hosts: it shows all of them",
				    arguments->all ? "--all" : "--limit");
	if (verb->show == show_comparison && !arguments->by)
		return error_create("compare requires --by, as --by version=1.4,1.5");
	if (verb->show == show_changes && !arguments->since)
		return error_create("regressions requires --since, as --since -2h");
	return NULL;
}

static int run_verb(const struct command *command, const struct fleet_arguments *arguments,
		    char **words)
{
	const size_t verb = option_value(words[0], verb_name);
	struct fleet_run run = { .arguments = arguments, .url = words[1] };
	struct error *err;

	if (!verb_name(verb))
		return usage_error(command, unknown_value("verb", words[0], verb_name));
	if (!verbs[verb].show)
		return usage_error(command,
				   error_create("'%s' must be the first argument", words[0]));
	if (!store_is_url(run.url))
		return usage_error(command,
				   error_create("'%.100s' is not a query: expected "
						"ch://HOST[:PORT]/DATABASE[?host=...&from=-1h]",
						run.url));
	err = check_options(&verbs[verb], arguments);
	if (!err && arguments->by)
		err = fleet_groups_parse(arguments->by, &run.groups);
	if (err) {
		fleet_run_deinit(&run);
		return usage_error(command, err);
	}
	err = verbs[verb].show(&run);
	fleet_run_deinit(&run);
	return err ? report_error(err, STATUS_FAILED) : STATUS_DONE;
}

/* The first word that asks for help, or NULL. */
static char *help_word(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
			return argv[i];
	return NULL;
}

static int run_fleet(const struct command *command, int argc, char **argv)
{
	struct fleet_arguments arguments = { .limit = LIMIT_UNSET };
	/* The options of flame are not in the table of this command. */
	const bool is_flame = argc > 1 && strcmp(argv[1], "flame") == 0;
	char *help[] = { argv[0], is_flame ? help_word(argc, argv) : NULL, NULL };
	int status, first;

	if (is_flame && !help[1])
		return run_flame(argc - 1, argv + 1);
	first = is_flame ? options_parse(command, 2, help, &arguments, &status)
			 : options_parse(command, argc, argv, &arguments, &status);
	return first < 0 ? status : run_verb(command, &arguments, argv + first);
}

static const struct help_section sections[] = {
	{ .title = "Verbs", .row = verb_help, .is_short = true },
};

const struct command fleet_command = {
	.name = "fleet",
	.run = run_fleet,
	.summary = "compare hosts of a store: outliers, versions, regressions",
	.operands = "VERB ch://HOST[:PORT]/DATABASE[?PARAMETERS]",
	.operands_least = 2,
	.operands_most = 2,
	.needs = "",
	.examples = { "ctprof fleet outliers 'ch://clickhouse/ctprof?host=web-*&from=-1h'",
		      "ctprof fleet compare --by version=1.4,1.5 ch://clickhouse/ctprof",
		      "ctprof fleet regressions --since 14:30 ch://clickhouse/ctprof" },
	.options = fleet_options,
	.option_count = array_length(fleet_options),
	.sections = sections,
	.section_count = array_length(sections),
};
