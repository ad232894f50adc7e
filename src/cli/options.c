/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/help.h"
#include "cli/pager.h"

#define HELP_OPTION 1000

struct error *parse_flag(const char *argument, void *at)
{
	(void)argument;
	*(bool *)at = true;
	return NULL;
}

struct error *parse_string(const char *argument, void *at)
{
	if (!*argument)
		return error_create("empty argument");
	*(const char **)at = argument;
	return NULL;
}

struct error *parse_size(const char *argument, void *at)
{
	uint64_t value;

	if (!text_u64(text_of(argument), &value) || value > SIZE_MAX)
		return error_create("'%s' is not a number", argument);
	*(size_t *)at = (size_t)value;
	return NULL;
}

struct error *parse_count(const char *argument, void *at)
{
	size_t count;
	struct error *err = parse_size(argument, &count);

	if (!err && !count)
		err = error_create("must be at least 1");
	if (!err)
		*(size_t *)at = count;
	return err;
}

struct error *parse_duration(const char *argument, void *at)
{
	return parse_duration_from(argument, 0, at);
}

struct error *parse_duration_from(const char *argument, unsigned least_ms, void *at)
{
	uint64_t ns;

	if (!units_parse_seconds(text_of(argument), &ns) || !ns)
		return error_create(
			"invalid duration '%.40s': expected e.g. 10 (seconds), 500ms, 2min",
			argument);
	if (ns < least_ms * UINT64_C(1000000))
		return error_create("'%.60s' is too short: at least %ums", argument, least_ms);
	*(uint64_t *)at = ns;
	return NULL;
}

/* A user's input on one line and without control characters. */
static const char *safe(const char *wrong, char buffer[80])
{
	snprintf(buffer, 80, "%s", wrong);
	text_make_safe(buffer);
	return buffer;
}

size_t option_value(const char *wanted, option_values values)
{
	size_t number = 0;

	while (values(number) && strcmp(values(number), wanted) != 0)
		number++;
	return number;
}

struct error *unknown_value(const char *what, const char *wrong, option_values values)
{
	_cleanup_free_ const char **names = NULL;
	const char *nearest;
	char shown[80], *list = NULL;
	size_t count = 0, length = 0;
	struct error *err;
	FILE *out;

	while (values(count))
		count++;
	names = calloc(count + 1, sizeof(*names));
	if (!names)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		names[i] = values(i);
	nearest = text_nearest(wrong, names, count, sizeof(*names));
	if (nearest)
		return error_create("unknown %s '%s'; did you mean '%s'?", what, safe(wrong, shown),
				    nearest);
	if (count > 32)
		return error_create("unknown %s '%s' (see ctprof metric-list)", what,
				    safe(wrong, shown));
	out = open_memstream(&list, &length);
	if (!out)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? ", " : "", names[i]);
	if (!file_close_memory(out, &list))
		return &error_no_memory;
	err = error_create("unknown %s '%s'; expected one of: %s", what, safe(wrong, shown), list);
	free(list);
	return err;
}

struct error *each_piece(const char *list, const char *what,
			 struct error *(*take)(void *context, const char *piece), void *context)
{
	_cleanup_free_ char *copy = strdup(list);
	struct error *err = NULL;
	char *rest = copy, *piece;

	if (!copy)
		return &error_no_memory;
	while (!err && (piece = strsep(&rest, ","))) {
		struct text trimmed = text_trim(text_of(piece));

		if (!trimmed.length)
			return error_create("empty %s in '%s'", what, list);
		piece = (char *)(uintptr_t)trimmed.bytes;
		piece[trimmed.length] = '\0';
		err = take(context, piece);
	}
	return err;
}

/* Aliases: spellings of the release before this one. They are accepted when written in full, but
 * neither help nor completion lists them. A row can go one release later. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "all-slots", "all-buckets" },
	{ "booked-only", "completed-only" },
	{ "noisy", "preempted-by" },
};

/* Does the command line have "--NAME"? */
static bool has_option(char **argv, const char *name)
{
	for (size_t i = 1; argv[i]; i++)
		if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0)
			return true;
	return false;
}

/* Add the option of number `number` under its name, and under its aliases that the command line
 * has: getopt would count others when it looks what an abbreviation can mean. Returns how many were
 * added. */
static size_t add_names(const struct option_row *row, size_t number, char **argv,
			struct option *options)
{
	struct option option = { .name = row->name,
				 .has_arg = row->argument ? required_argument : no_argument,
				 .val = (int)number + HELP_OPTION + 1 };
	size_t n = 0;

	options[n++] = option;
	for (size_t i = 0; i < array_length(aliases); i++)
		if (strcmp(aliases[i].name, row->name) == 0 && has_option(argv, aliases[i].alias)) {
			option.name = aliases[i].alias;
			options[n++] = option;
		}
	return n;
}

static void fill_getopt(const struct command *command, char **argv, struct option *options,
			char *letters)
{
	size_t n = 0;

	*letters++ = ':';
	for (size_t i = 0; i < command->option_count; i++) {
		const struct option_row *row = &command->options[i];

		n += add_names(row, i, argv, options + n);
		if (row->letter) {
			*letters++ = row->letter;
			if (row->argument)
				*letters++ = ':';
		}
	}
	options[n++] = (struct option){ .name = "help", .val = HELP_OPTION };
	options[n] = (struct option){ 0 };
	strcpy(letters, "h");
}

static const struct option_row *find_row(const struct command *command, int found)
{
	if (found > HELP_OPTION)
		return &command->options[found - HELP_OPTION - 1];
	for (size_t i = 0; i < command->option_count; i++)
		if (command->options[i].letter == found)
			return &command->options[i];
	return NULL;
}

/* The error of an abbreviation of several options; NULL for other words. */
static struct error *ambiguous_option(const struct command *command, const char *bare)
{
	char *list = NULL;
	size_t count = 0, length = 0;
	struct error *err;
	FILE *out = open_memstream(&list, &length);

	if (!out)
		return &error_no_memory;
	for (size_t i = 0; i < command->option_count; i++)
		if (strncmp(command->options[i].name, bare, strlen(bare)) == 0)
			fprintf(out, "%s--%s", count++ ? ", " : "", command->options[i].name);
	if (!file_close_memory(out, &list))
		return &error_no_memory;
	err = count < 2 ? NULL : error_create("option '--%s' is ambiguous: %s", bare, list);
	free(list);
	return err;
}

/* Words that are no options, in their order: an option's further arguments, or operands. */
struct words_found {
	char **items;
	int count;
	const struct option_row *option; /* the last one */
	bool has_end;                    /* "--" stands behind the options */
	bool *given; /* a mark for each row of an option that there was; may be NULL */
};

/* An option of a command to run, which stands before it without "--"; NULL: it is not. */
static struct error *misplaced_option(const struct command *command, const char *option,
				      const struct words_found *words)
{
	char shown[80];

	if (!words->count || !strstr(command->operands, "-- COMMAND"))
		return NULL;
	safe(words->items[0], shown);
	return error_create("unknown option '%s'; if it belongs to %s, write -- before the "
			    "command: ctprof %s -- %s %s ...",
			    option, shown, command->name, shown, option);
}

static struct error *unknown_option(const struct command *command, const char *word,
				    const struct words_found *words)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	struct error *err;
	const char *nearest;
	char bare[64];

	if (strncmp(word, "--", 2) != 0) {
		for (const struct foreign_option *f = command->foreign; f && f->letter; f++)
			if (f->letter == letter[1])
				return error_create("unknown option '%s': %s", letter, f->instead);
		err = misplaced_option(command, letter, words);
		return err ? err : error_create("unknown option '%s'", letter);
	}
	if (optopt >= HELP_OPTION)
		return error_create("option '%.*s' takes no argument", (int)strcspn(word, "="),
				    word);
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	err = ambiguous_option(command, bare);
	if (!err && optopt < HELP_OPTION) {
		char option[80];

		snprintf(option, sizeof(option), "--%s", bare);
		err = misplaced_option(command, option, words);
	}
	if (err)
		return err;
	nearest = text_nearest(bare, &command->options[0].name, command->option_count,
			       sizeof(command->options[0]));
	if (nearest)
		return error_create("unknown option '--%s'; did you mean '--%s'?", bare, nearest);
	return error_create("unknown option '--%s'", bare);
}

int usage_error(const struct command *command, struct error *err)
{
	report_error(err, STATUS_USAGE);
	fprintf(stderr, "Try 'ctprof %s --help'.\n", command->name);
	return STATUS_USAGE;
}

static struct error *check_operands(const struct command *command, int given)
{
	if (given >= command->operands_least && given <= command->operands_most)
		return NULL;
	if (!command->operands_most)
		return error_create("%s takes no operands", command->name);
	return error_create("%s takes %s", command->name, command->operands);
}

/* Process an option that getopt found. */
static struct error *take_option(const struct command *command, int found, char **argv,
				 void *arguments, struct words_found *words)
{
	const struct option_row *row = NULL;
	struct error *err;

	if (found == ':')
		return error_create("option '%s' requires an argument", argv[optind - 1]);
	if (found != '?')
		row = find_row(command, found);
	if (!row)
		return unknown_option(command, argv[optind - 1], words);
	err = row->parse(optarg, (char *)arguments + row->offset);
	words->option = row;
	if (words->given)
		words->given[row - command->options] = true;
	return err ? error_prefix(err, "--%s", row->name) : NULL;
}

static struct error *take_word(struct words_found *words, char *word, void *arguments)
{
	struct error *err;

	if (!words->option || !(words->option->flags & OPTION_TAKES_MORE)) {
		words->items[words->count++] = word;
		return NULL;
	}
	err = words->option->parse(word, (char *)arguments + words->option->offset);
	return err ? error_prefix(err, "--%s", words->option->name) : NULL;
}

/* Options stand before the operands from now on. */
static int move_operands(struct words_found *words, int argc, char **argv)
{
	bool dashes = words->has_end && !words->count;
	int first;

	for (int i = optind; i < argc; i++)
		words->items[words->count++] = argv[i];
	first = argc - words->count;
	for (int i = 0; i < words->count; i++)
		argv[first + i] = words->items[i];
	/* An argument of an option may be "--" too: it must not be taken for the other. */
	if (first > 1 && !dashes)
		argv[first - 1] = argv[0];
	return first;
}

static struct error *parse_all(const struct command *command, int argc, char **argv,
			       void *arguments, struct words_found *words, help_printer **ret_help)
{
	/* Besides the command's own: aliases, --help and the end. Letters: a minus, a colon, two
	 * for each option, "h". */
	_cleanup_free_ struct option *options =
		calloc(command->option_count + array_length(aliases) + 2, sizeof(*options));
	_cleanup_free_ char *letters = calloc(2 * command->option_count + 4, 1);
	struct error *err = NULL;
	int found, behind = 1;

	if (!options || !letters)
		return &error_no_memory;

	/* With a minus first, getopt gives plain words as they come, as the argument of 1. */
	letters[0] = '-';
	fill_getopt(command, argv, options, letters + 1);
	/* 0, where 1 would do for one command line: glibc forgets its place in an earlier one. */
	optind = 0;
	opterr = 0;
	while (!err && (found = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		*ret_help = found == HELP_OPTION ? help_print
			    : found == 'h'       ? help_print_short
						 : NULL;
		if (*ret_help)
			return NULL;
		err = found == 1 ? take_word(words, optarg, arguments)
				 : take_option(command, found, argv, arguments, words);
		behind = optind;
	}
	/* Only "--" is passed over without being reported. */
	words->has_end = optind > behind;
	return err;
}

int options_parse(const struct command *command, int argc, char **argv, void *arguments,
		  int *ret_status)
{
	return options_parse_noting(command, argc, argv, arguments, NULL, ret_status);
}

int options_parse_noting(const struct command *command, int argc, char **argv, void *arguments,
			 bool *given, int *ret_status)
{
	_cleanup_free_ char **items = calloc((size_t)argc + 1, sizeof(*items));
	struct words_found words = { .items = items, .given = given };
	help_printer *help = NULL;
	struct error *err =
		items ? parse_all(command, argc, argv, arguments, &words, &help) : &error_no_memory;
	int first;

	if (help) {
		if (help == help_print)
			pager_begin(PAGER_TEXT);
		help(stdout, command);
		*ret_status = fflush(stdout) && !pager_end() ? STATUS_FAILED : STATUS_DONE;
		return -1;
	}
	if (!err) {
		first = move_operands(&words, argc, argv);
		err = check_operands(command, argc - first);
	}
	if (err) {
		*ret_status = usage_error(command, err);
		return -1;
	}
	return first;
}

/* --- from elsewhere --- */

size_t option_number(const struct command *command, const char *name)
{
	size_t number = 0;

	while (number < command->option_count && strcmp(command->options[number].name, name) != 0)
		number++;
	return number;
}

static struct error *take_yes_or_no(const struct option_row *row, const char *value, void *at)
{
	static const struct {
		const char *word;
		bool is_yes;
	} words[] = { { "yes", true }, { "true", true }, { "no", false }, { "false", false } };

	for (size_t i = 0; i < array_length(words); i++)
		if (strcmp(value, words[i].word) == 0)
			return words[i].is_yes ? row->parse(NULL, at) : NULL;
	return error_create("expected yes or no");
}

struct error *option_take(const struct command *command, const char *name, const char *value,
			  void *arguments)
{
	const size_t number = option_number(command, name);
	const struct option_row *row = &command->options[number];
	const char *nearest;
	char shown[80];
	struct error *err;

	if (number == command->option_count) {
		nearest = text_nearest(name, &command->options[0].name, command->option_count,
				       sizeof(command->options[0]));
		safe(name, shown);
		return nearest ? error_create("unknown key '%s'; did you mean '%s'?", shown,
					      nearest)
			       : error_create("unknown key '%s'", shown);
	}
	err = row->argument ? row->parse(value, (char *)arguments + row->offset)
			    : take_yes_or_no(row, value, (char *)arguments + row->offset);
	return err ? error_prefix(err, "%s", row->name) : NULL;
}

int report_error(struct error *err, int status)
{
	fprintf(stderr, "ctprof: %s\n", err->message);
	error_destroy(err);
	return status;
}
