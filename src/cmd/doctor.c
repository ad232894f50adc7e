/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/terminal.h"

struct doctor_arguments {
	struct {
		ARRAY(size_t);
	} required; /* numbers of probes */
	bool json;
};

static struct error *require(void *context, const char *piece)
{
	struct doctor_arguments *arguments = context;

	for (size_t i = 0; i < probe_count; i++)
		if (strcmp(piece, probes[i].name) == 0)
			return array_push(&arguments->required, i) ? NULL : &error_no_memory;
	return unknown_value("source", piece, probe_name);
}

static struct error *parse_required(const char *argument, void *at)
{
	return each_piece(argument, "source", require, at);
}

static const char *const formats[] = { "table", "json", NULL };

static const char *format_name(size_t number)
{
	return formats[number];
}

static struct error *parse_format(const char *argument, void *at)
{
	if (strcmp(argument, "table") != 0 && strcmp(argument, "json") != 0)
		return unknown_value("format", argument, format_name);
	*(bool *)at = strcmp(argument, "json") == 0;
	return NULL;
}

static const struct option_row doctor_options[] = {
	{ "require", 0, "LIST", parse_required, 0,
	  "Check only these sources, and exit with 1 if one of them is unavailable.", probe_name,
	  false },
	{ "format", 0, "FORMAT", parse_format, offsetof(struct doctor_arguments, json),
	  "Select the output format.", format_name, false },
	TERMINAL_OPTIONS
};

static bool is_probe_selected(const struct doctor_arguments *arguments, size_t number)
{
	for (size_t i = 0; i < arguments->required.count; i++)
		if (arguments->required.items[i] == number)
			return true;
	return !arguments->required.count;
}

/* --- for people: the summary --- */

/* How a source that is not fully available can be enabled. */
enum remedy { REMEDY_COMMAND, REMEDY_BOOT, REMEDY_NONE, REMEDY_NONE_PARTLY, REMEDY_COUNT };

static const char *const remedy_words[REMEDY_COUNT] = {
	[REMEDY_COMMAND] = "a command enables",
	[REMEDY_BOOT] = "a boot parameter enables",
	[REMEDY_NONE] = "missing, for reasons below",
	[REMEDY_NONE_PARTLY] = "in part, for reasons below",
};

static enum remedy remedy_of(const struct probe_result *result)
{
	if (result->command)
		return REMEDY_COMMAND;
	if (result->boot)
		return REMEDY_BOOT;
	return result->presence == PRESENCE_NO ? REMEDY_NONE : REMEDY_NONE_PARTLY;
}

static void print_sources(const struct probe_result *results, enum remedy remedy)
{
	const char *before = "";

	for (size_t i = 0; i < probe_count; i++) {
		if (results[i].presence == PRESENCE_YES || remedy_of(&results[i]) != remedy)
			continue;
		if (*before)
			printf("%s%s", before, probes[i].name);
		else
			printf("  %s: %s", remedy_words[remedy], probes[i].name);
		before = ", ";
	}
	if (*before)
		putchar('\n');
}

static void print_summary(const struct probe_result *results)
{
	size_t counts[PRESENCE_COUNT] = { 0 };

	for (size_t i = 0; i < probe_count; i++)
		counts[results[i].presence]++;
	printf("%zu of %zu sources work here", probe_count - counts[PRESENCE_NO], probe_count);
	if (counts[PRESENCE_PARTLY])
		printf(", %zu of them in part", counts[PRESENCE_PARTLY]);
	putchar('\n');
	for (enum remedy remedy = 0; remedy < REMEDY_COUNT; remedy++)
		print_sources(results, remedy);
	putchar('\n');
}

/* The command that enables most sources. */
static void print_next(const struct probe_result *results)
{
	const char *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < probe_count; i++) {
		size_t count = 0;

		for (size_t k = i; results[i].command && k < probe_count; k++)
			count += strings_equal(results[k].command, results[i].command);
		if (count > most) {
			most = count;
			best = results[i].command;
		}
	}
	if (best && geteuid())
		printf("\nWhat works as root? sudo ctprof doctor\n");
	else if (best)
		printf("\nEnable %zu source%s: %s\n", most, most == 1 ? "" : "s", best);
	else
		printf("\nWhat do threads do now? ctprof top\n");
}

/* --- for people: the table --- */

static void print_detail(const char *what, const char *text)
{
	if (text)
		printf("    %-7s%s\n", what, text);
}

/* The source before this one whose remedy is the same command, and was printed; NULL: there is
 * none.
 */
static const char *same_remedy(const struct doctor_arguments *arguments,
			       const struct probe_result *results, size_t number)
{
	for (size_t i = 0; results[number].command && i < number; i++)
		if (is_probe_selected(arguments, i) && results[i].command &&
		    strcmp(results[i].command, results[number].command) == 0)
			return probes[i].name;
	return NULL;
}

/* A command that enables several sources is printed at the first of them. */
static void print_remedy(const struct doctor_arguments *arguments,
			 const struct probe_result *results, size_t number)
{
	const char *same = same_remedy(arguments, results, number);

	if (same) {
		printf("    %-7sthe command of %s, above\n", "run", same);
		return;
	}
	print_detail("run", results[number].command);
	print_detail("boot", results[number].boot);
	print_detail("covers", results[number].covers);
}

static void print_results_text(const struct doctor_arguments *arguments,
			       const struct probe_result *results)
{
	const bool is_whole = !arguments->required.count;

	if (is_whole)
		print_summary(results);
	printf("%-16s %-7s %s\n", "source", "here", "provides");
	for (size_t i = 0; i < probe_count; i++) {
		const struct probe_result *result = &results[i];

		if (!is_probe_selected(arguments, i))
			continue;
		printf("%-16s %-7s %s\n", probes[i].name, presence_names[result->presence],
		       probes[i].gives);
		print_detail("why", result->why);
		print_remedy(arguments, results, i);
	}
	if (is_whole)
		print_next(results);
}

/* --- for programs --- */

static struct error *to_stdout(void *context, const void *bytes, size_t length)
{
	(void)context;
	fwrite(bytes, 1, length, stdout);
	return NULL; /* main sees to what could not be written */
}

static void write_member(struct json_writer *w, const char *key, const char *text)
{
	json_key(w, key);
	if (text)
		json_text(w, text_of(text));
	else
		json_null(w);
}

static struct error *print_json(const struct doctor_arguments *arguments,
				const struct probe_result *results)
{
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err = json_writer_init(&w, to_stdout, NULL);

	if (err)
		return err;
	json_array_begin(&w);
	for (size_t i = 0; i < probe_count; i++) {
		if (!is_probe_selected(arguments, i))
			continue;
		json_line(&w);
		json_object_begin(&w);
		write_member(&w, "source", probes[i].name);
		write_member(&w, "gives", probes[i].gives);
		write_member(&w, "here", presence_names[results[i].presence]);
		write_member(&w, "why", results[i].why);
		write_member(&w, "command", results[i].command);
		write_member(&w, "boot_parameter", results[i].boot);
		write_member(&w, "covers", results[i].covers);
		json_object_end(&w);
	}
	json_array_end(&w);
	err = json_writer_finish(&w);
	putchar('\n');
	return err;
}

static int run_probes(const struct doctor_arguments *arguments)
{
	struct progress progress;
	_cleanup_(probe_results_destroy) struct probe_result *results = NULL;
	struct error *err = privileges_keep(CAPTURE_OPEN_PRIVILEGES);
	bool was_raised;
	int status = STATUS_DONE;

	if (err)
		return report_error(err, STATUS_FAILED);
	was_raised = privileges_raise();
	err = doctor_run(progress_begin(&progress, "processes", false), &progress, &results);
	privileges_lower(was_raised);
	progress_end(&progress);
	if (err)
		return report_error(err, STATUS_FAILED);
	pager_begin(arguments->json ? PAGER_DATA : PAGER_TEXT);
	if (arguments->json)
		err = print_json(arguments, results);
	else
		print_results_text(arguments, results);
	for (size_t i = 0; i < arguments->required.count; i++)
		if (results[arguments->required.items[i]].presence == PRESENCE_NO)
			status = STATUS_FAILED;
	return err ? report_error(err, STATUS_FAILED) : status;
}

static int run_doctor(const struct command *command, int argc, char **argv)
{
	struct doctor_arguments arguments = { 0 };
	int status;

	if (options_parse(command, argc, argv, &arguments, &status) >= 0)
		status = run_probes(&arguments);
	array_deinit(&arguments.required);
	return status;
}

const struct command doctor_command = {
	.name = "doctor",
	.run = run_doctor,
	.summary = "find out what this host can measure, and what enables the rest",
	.operands = "",
	.needs = "the same as for capture: doctor reports what capture would measure with them",
	.drops_privileges = true,
	.examples = { "sudo ctprof doctor",
		      "sudo ctprof doctor --require bpf,schedstats || exit 1" },
	.options = doctor_options,
	.option_count = array_length(doctor_options),
};
