/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "unit/built.h"

static const char *shape(size_t number)
{
	static const char *const names[] = { "round", "sharp_edged" };

	return number < array_length(names) ? names[number] : NULL;
}

/* More than anybody reads. */
static const char *number_name(size_t number)
{
	static char name[16];

	snprintf(name, sizeof(name), "number-%zu", number);
	return number < 17 ? name : NULL;
}

static bool ending(size_t number, const char **ret_words, const char **ret_prose)
{
	static const char *const words[] = { "end_*", "stop" };

	if (number >= array_length(words))
		return false;
	*ret_words = words[number];
	*ret_prose = "It ends.";
	return true;
}

static const struct help_section sections[] = { { "How it ends", ending, false, false } };

static const struct option_row options[] = {
	{ "all", 'a', NULL, parse_flag, 0, "All of it.", NULL, false },
	{ "shape", 0, "LIST", parse_string, 0,
	  "The *shape* is one that has a long explanation, "
	  "which does not fit into a line.",
	  shape, false },
	{ "number", 'n', "NUMBER", parse_string, 0, "Which.", number_name, false },
	{ "output", 'o', "FILE", parse_string, 0, "Where to.", NULL, false },
};

static const struct command draw = {
	.name = "draw",
	.summary = "draw a shape",
	.operands = "PLACE [PLACE]",
	.operands_least = 1,
	.operands_most = 2,
	.needs = "CAP_DRAW",
	.options = options,
	.option_count = array_length(options),
	.sections = sections,
	.section_count = array_length(sections),
};

static const struct command rest = {
	.name = "rest", .summary = "do nothing", .operands = "", .needs = ""
};

/* Of the program, which this is not. */
const struct command *const commands[] = { &draw, &rest };
const size_t command_count = array_length(commands);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

const char *command_name(size_t number)
{
	return number < command_count ? commands[number]->name : NULL;
}

static char *printed_by(void (*print)(FILE *out, const struct command *command),
			const struct command *command)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	print(out, command);
	fclose(out);
	return text;
}

static void print_all(FILE *out, const struct command *command)
{
	(void)command;
	help_print_all(out);
}

static void print_bash(FILE *out, const struct command *command)
{
	(void)command;
	help_print_bash(out);
}

TEST(for_people)
{
	_cleanup_free_ char *text = printed_by(help_print, &draw);

	assert_string_equal(
		text,
		"ctprof draw: draw a shape\n\n"
		"usage: ctprof draw [OPTIONS] PLACE [PLACE]\n\n"
		"How it ends:\n"
		"  end_*\n"
		"          It ends.\n"
		"  stop\n"
		"          It ends.\n\n"
		"Options:\n"
		"  -a, --all\n"
		"          All of it.\n"
		"      --shape LIST\n"
		"          The *shape* is one that has a long explanation, which does not fit\n"
		"          into a line.\n"
		"          Any of: round, sharp_edged\n"
		"  -n, --number NUMBER\n"
		"          Which.\n"
		"  -o, --output FILE\n"
		"          Where to.\n"
		"  -h, --help\n"
		"          With -h, show the main options and examples; with --help, this text.\n\n"
		"Privileges: CAP_DRAW\n");
}

TEST(of_a_command_that_has_nothing)
{
	_cleanup_free_ char *text = printed_by(help_print, &rest);

	assert_string_equal(text, "ctprof rest: do nothing\n\nusage: ctprof rest\n\n"
				  "  -h, --help\n          With -h, show the main options and "
				  "examples; with --help, this text.\n");
}

TEST(a_part_of_a_command_has_a_line_for_each_option)
{
	struct command part = draw;
	_cleanup_free_ char *text = NULL;

	part.details = "'man draw'";
	part.examples[0] = "ctprof draw here";
	text = printed_by(help_print, &part);
	assert_string_equal(
		text, "ctprof draw: draw a shape\n\n"
		      "usage: ctprof draw [OPTIONS] PLACE [PLACE]\n\n"
		      "Examples:\n"
		      "  ctprof draw here\n\n"
		      "How it ends:\n"
		      "  end_*  It ends\n"
		      "  stop   It ends\n\n"
		      "Options:\n"
		      "  -a, --all            All of it\n"
		      "      --shape LIST     The *shape* is one that has a long explanation\n"
		      "  -n, --number NUMBER  Which\n"
		      "  -o, --output FILE    Where to\n\n"
		      "'man draw' explains them all.\n");
}

TEST(every_command_is_listed)
{
	_cleanup_free_ char *text = printed_by(print_all, NULL);

	for (size_t i = 0; i < command_count; i++) {
		const char *line = strstr(text, commands[i]->summary);

		assert_non_null(line);
		assert_true(line > strstr(text, commands[i]->name));
	}
}

/* scdoc(5): *bold*, _underlined_, a backslash before what is neither. */
TEST(for_the_manual_page)
{
	_cleanup_free_ char *text = printed_by(help_print_scdoc, &draw);

	assert_string_equal(
		text,
		"*-a*, *--all*\n\tAll of it.\n\n"
		"*--shape* LIST\n\tThe \\*shape\\* is one that has a long explanation, which "
		"does not fit into a line. Of: round, sharp\\_edged.\n\n"
		"*-n*, *--number* NUMBER\n\tWhich. *ctprof-metric-list*(1) lists the values.\n\n"
		"*-o*, *--output* FILE\n\tWhere to.\n\n"
		"*-h*\n\tShow the main options, and examples.\n\n*--help*\n\tShow a summary of "
		"this page.\n"
		"\n# HOW IT ENDS\n"
		"\n*end\\_\\**\n\tIt ends.\n"
		"\n*stop*\n\tIt ends.\n");
}

/* What bash completes, asked of bash. */
TEST(for_bash)
{
	static const struct {
		const char *words, *replies;
	} rows[] = {
		{ "ctprof \"\"", "draw rest --help --version " },
		{ "ctprof dr", "draw " },
		{ "ctprof draw --", "--all --shape --number --output --help " },
		{ "ctprof draw --sh", "--shape " },
		{ "ctprof draw --shape \"\"", "round sharp_edged " },
		{ "ctprof draw --shape = s", "sharp_edged " },
		{ "ctprof draw --shape round,s", "round,sharp_edged " },
		{ "ctprof draw -n number-1", "number-1 number-10 number-11 number-12 number-13 "
					     "number-14 number-15 number-16 " },
		{ "ctprof rest x", "" },
	};
	_cleanup_free_ char *script = printed_by(print_bash, NULL);
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "complete", text_of(script));
	for (size_t i = 0; i < array_length(rows); i++) {
		_cleanup_free_ char *command = text_print(
			"bash -c '. ./complete; COMP_WORDS=(%s); "
			"COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _ctprof; "
			"[ ${#COMPREPLY[@]} = 0 ] || printf \"%%s \" \"${COMPREPLY[@]}\"'",
			rows[i].words);
		_cleanup_free_ char *said = NULL;

		said = printed(&scratch, command);
		assert_non_null(said);
		assert_string_equal(said, rows[i].replies);
	}
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(for_people), cmocka_unit_test(of_a_command_that_has_nothing),
	   cmocka_unit_test(a_part_of_a_command_has_a_line_for_each_option),
	   cmocka_unit_test(every_command_is_listed), cmocka_unit_test(for_the_manual_page),
	   cmocka_unit_test(for_bash))
