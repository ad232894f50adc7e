/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "unit/unit.h"

/* Of the program, which this is not. */
static unsigned helped;

void help_print(FILE *out, const struct command *command)
{
	(void)out, (void)command;
	helped++;
}

void help_print_short(FILE *out, const struct command *command)
{
	help_print(out, command);
}

/* --- many --- */

#define COUNT 200

static char names[COUNT][16];
static struct option_row rows[COUNT];

struct flags {
	bool flags[COUNT];
};

static struct command command_of_many(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "option-%zu", i);
		rows[i] = (struct option_row){ .name = names[i],
					       .letter = i < 26 ? (char)('A' + i) : '\0',
					       .parse = parse_flag,
					       .offset = i * sizeof(bool) };
	}
	return (struct command){
		.name = "many", .operands = "", .options = rows, .option_count = COUNT
	};
}

TEST(a_command_may_have_any_number_of_options)
{
	const struct command command = command_of_many();
	struct flags arguments = { 0 };
	char words[][16] = { "ctprof", "--option-199", "-B", "--option-64" };
	char *argv[] = { words[0], words[1], words[2], words[3], NULL };
	int status = 0;

	assert_int_equal(options_parse(&command, 4, argv, &arguments, &status), 4);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(arguments.flags[i], i == 199 || i == 64 || i == 1);
}

#define VALUES 600

static const char *value(size_t number)
{
	static char shown[16];

	if (number >= VALUES)
		return NULL;
	if (number == VALUES - 1)
		return "the-last-of-all";
	snprintf(shown, sizeof(shown), "x");
	return shown;
}

TEST(the_nearest_of_any_number_of_values)
{
	struct error *err = unknown_value("value", "the-last-of-al", value);

	assert_string_equal(err->message,
			    "unknown value 'the-last-of-al'; did you mean 'the-last-of-all'?");
	error_destroy(err);
}

/* --- command lines --- */

struct arguments {
	bool all, completed;
	const char *output;
	size_t limit;
	char files[64]; /* of --file, each with a comma behind it */
};

static struct error *parse_file(const char *argument, void *at)
{
	strcat(strcat(at, argument), ",");
	return NULL;
}

#define AT(member) offsetof(struct arguments, member)

static const struct option_row options[] = {
	{ "all", 'a', NULL, parse_flag, AT(all), "", NULL, false },
	{ "output", 'o', "FILE", parse_string, AT(output), "", NULL, false },
	{ "limit", 0, "N", parse_size, AT(limit), "", NULL, false },
	{ "file", 'f', "FILE...", parse_file, AT(files), "", NULL, true },
	{ "completed-only", 0, NULL, parse_flag, AT(completed), "", NULL, false },
};

static const struct command command = {
	.name = "test",
	.operands = "A [B]",
	.operands_least = 1,
	.operands_most = 2,
	.options = options,
	.option_count = array_length(options),
};

/* Parse words that blanks divide; what went to standard error is in *ret_said (free). */
static int parse(const struct command *of, const char *line, struct arguments *arguments,
		 char **ret_operands, int *ret_status, char **ret_said)
{
	char *copy = strdup(line), *rest = copy, *word, *argv[16];
	char own[] = "ctprof";
	FILE *usual = stderr;
	size_t length;
	int argc = 1, first;

	argv[0] = own;
	while ((word = strsep(&rest, " ")))
		if (*word)
			argv[argc++] = word;
	argv[argc] = NULL;
	*arguments = (struct arguments){ 0 };
	*ret_status = -1;
	stderr = open_memstream(ret_said, &length);
	first = options_parse(of, argc, argv, arguments, ret_status);
	fclose(stderr);
	stderr = usual;
	*ret_operands = calloc(1, strlen(line) + 2);
	for (int i = first; first >= 0 && i < argc; i++)
		strcat(strcat(*ret_operands, i > first ? " " : ""), argv[i]);
	/* Arguments point into it. */
	arguments->output = arguments->output ? strdup(arguments->output) : NULL;
	free(copy);
	return first;
}

TEST(command_lines)
{
	static const struct {
		const char *line, *operands;
		struct arguments wanted;
	} good[] = {
		{ "x", "x", { 0 } },
		{ "x y", "x y", { 0 } },
		{ "-a x", "x", { .all = true } },
		{ "x --all y", "x y", { .all = true } },
		{ "x y -a", "x y", { .all = true } },
		{ "--output=f x", "x", { .output = "f" } },
		{ "--output f x", "x", { .output = "f" } },
		{ "-o f x", "x", { .output = "f" } },
		{ "-of x", "x", { .output = "f" } },
		{ "-aof x", "x", { .all = true, .output = "f" } },
		{ "--limit 3 --limit 4 x", "x", { .limit = 4 } },
		{ "--lim 3 x", "x", { .limit = 3 } },
		{ "--output=--all x", "x", { .output = "--all" } },
		/* All after two dashes are operands. */
		{ "-- -a", "-a", { 0 } },
		{ "x -- --all", "x --all", { 0 } },
		{ "-o -- x", "x", { .output = "--" } },
		/* An option that takes more has the plain words up to the next option. */
		{ "x --file f g --all y", "x y", { .all = true, .files = "f,g," } },
		{ "--file f g -f h -- x", "x", { .files = "f,g,h," } },
		/* A spelling of the release before. */
		{ "--booked-only x", "x", { .completed = true } },
	};

	for (size_t i = 0; i < array_length(good); i++) {
		_cleanup_free_ char *operands = NULL, *said = NULL;
		struct arguments got;
		int status;

		if (parse(&command, good[i].line, &got, &operands, &status, &said) < 0)
			fail_msg("'%s': %s", good[i].line, said);
		assert_string_equal(said, "");
		assert_string_equal(operands, good[i].operands);
		assert_int_equal(got.all, good[i].wanted.all);
		assert_int_equal(got.completed, good[i].wanted.completed);
		assert_int_equal(got.limit, good[i].wanted.limit);
		assert_string_equal(got.files, good[i].wanted.files);
		assert_string_equal(got.output ? got.output : "",
				    good[i].wanted.output ? good[i].wanted.output : "");
		free((char *)(uintptr_t)got.output);
	}
}

TEST(wrong_command_lines)
{
	static const struct {
		const char *line, *said;
	} bad[] = {
		{ "", "test takes A [B]" },
		{ "x y z", "test takes A [B]" },
		{ "-z x", "unknown option '-z'" },
		{ "--outptu f x", "unknown option '--outptu'; did you mean '--output'?" },
		{ "--xyzzyxyzzy x", "unknown option '--xyzzyxyzzy'\n" },
		{ "--xyzzyxyzzy=1 x", "unknown option '--xyzzyxyzzy'\n" },
		{ "--all=1 x", "option '--all' takes no argument" },
		{ "x --output", "option '--output' requires an argument" },
		{ "x -o", "option '-o' requires an argument" },
		{ "--output= x", "--output: empty argument" },
		{ "--limit many x", "--limit: 'many' is not a number" },
	};

	for (size_t i = 0; i < array_length(bad); i++) {
		_cleanup_free_ char *operands = NULL, *said = NULL;
		struct arguments got;
		int status;

		assert_int_equal(parse(&command, bad[i].line, &got, &operands, &status, &said), -1);
		assert_int_equal(status, STATUS_USAGE);
		if (!strstr(said, bad[i].said))
			fail_msg("'%s' says: %s", bad[i].line, said);
		assert_int_equal(strncmp(said, "ctprof: ", 8), 0);
		assert_non_null(strstr(said, "\nTry 'ctprof test --help'.\n"));
		free((char *)(uintptr_t)got.output);
	}
}

TEST(no_operands)
{
	const struct command none = { .name = "none", .operands = "" };
	_cleanup_free_ char *operands = NULL, *said = NULL;
	struct arguments got;
	int status;

	assert_int_equal(parse(&none, "x", &got, &operands, &status, &said), -1);
	assert_non_null(strstr(said, "none takes no operands"));
}

/* Whatever else is wrong. */
TEST(help_ends_a_command)
{
	static const char *const lines[] = { "-h", "--help", "x y z --help", "--all -h --wrong" };

	for (size_t i = 0; i < array_length(lines); i++) {
		_cleanup_free_ char *operands = NULL, *said = NULL;
		struct arguments got;
		int status;

		helped = 0;
		assert_int_equal(parse(&command, lines[i], &got, &operands, &status, &said), -1);
		assert_int_equal(status, STATUS_DONE);
		assert_int_equal(helped, 1);
		assert_string_equal(said, "");
	}
}

/* --- arguments --- */

TEST(numbers)
{
	static const char *const bad[] = { "", "-1", "1k", " 1", "0x1", "18446744073709551616" };
	size_t size = 0;

	expect_ok(parse_size("18446744073709551615", &size));
	assert_true(size == SIZE_MAX);
	expect_ok(parse_size("0", &size));
	assert_int_equal(size, 0);
	for (size_t i = 0; i < array_length(bad); i++)
		expect_error(parse_size(bad[i], &size), "is not a number");
	assert_int_equal(size, 0);
}

static struct error *collect(void *context, const char *piece)
{
	if (strcmp(piece, "bad") == 0)
		return error_create("no '%s' here", piece);
	strcat(strcat(context, piece), "|");
	return NULL;
}

TEST(lists)
{
	static const struct {
		const char *list, *pieces, *error;
	} lists[] = {
		{ "a", "a|", NULL },
		{ "a,b", "a|b|", NULL },
		{ " a , b c,d ", "a|b c|d|", NULL },
		{ "", "", "empty thing in ''" },
		{ "a,,b", "a|", "empty thing in 'a,,b'" },
		{ "a,", "a|", "empty thing in 'a,'" },
		{ "a,bad,c", "a|", "no 'bad' here" },
	};

	for (size_t i = 0; i < array_length(lists); i++) {
		char pieces[64] = "";
		struct error *err = each_piece(lists[i].list, "thing", collect, pieces);

		if (lists[i].error)
			expect_error(err, lists[i].error);
		else
			expect_ok(err);
		assert_string_equal(pieces, lists[i].pieces);
	}
}

static const char *colour(size_t number)
{
	static const char *const colours[] = { "red", "green", "blue" };

	return number < array_length(colours) ? colours[number] : NULL;
}

TEST(values)
{
	assert_int_equal(option_value("green", colour), 1);
	assert_int_equal(option_value("gren", colour), 3);
	expect_error(unknown_value("colour", "gren", colour), "did you mean 'green'?");
	expect_error(unknown_value("colour", "ochre-yellow", colour),
		     "unknown colour 'ochre-yellow'; expected one of: red, green, blue");
	expect_error(unknown_value("colour", "a\033[2J\nb", colour), "unknown colour 'a?[2J?b'");
	expect_error(unknown_value("value", "none-of-these", value), "metric-list");
}

UNIT_TESTS(cmocka_unit_test(a_command_may_have_any_number_of_options),
	   cmocka_unit_test(the_nearest_of_any_number_of_values), cmocka_unit_test(command_lines),
	   cmocka_unit_test(wrong_command_lines), cmocka_unit_test(no_operands),
	   cmocka_unit_test(help_ends_a_command), cmocka_unit_test(numbers),
	   cmocka_unit_test(lists), cmocka_unit_test(values))
