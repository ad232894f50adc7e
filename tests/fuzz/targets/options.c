/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <getopt.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/display.h"

#define WORDS_MAX 12

/* Command lines are refused on standard error, which nobody reads here. */
static void be_quiet(void)
{
	static FILE *nowhere;

	if (nowhere)
		return;
	nowhere = fopen("/dev/null", "w");
	must(nowhere);
	stdout = stderr = nowhere;
}

/* As each command has its arguments: the options of display first. */
struct arguments {
	struct display display;
	union {
		bool list; /* show */
		struct {
			struct patterns baseline, candidate; /* compare */
		};
	};
};

static void check_accepted(const struct command *command, const struct arguments *arguments,
			   int operands)
{
	must(operands >= command->operands_least && operands <= command->operands_most);
	must(arguments->display.view.axis && arguments->display.view.sections);
	must(!(arguments->display.view.sections & ~SECTIONS_ALL));
}

static void parse(const struct command *command, int argc, char **argv)
{
	struct arguments arguments = { 0 };
	int status = -1, first;

	/* glibc keeps its place in a word that was given up. */
	optind = 0;
	getopt_long(1, argv, "", (struct option[]){ { 0 } }, NULL);
	display_init(&arguments.display);
	first = options_parse(command, argc, argv, &arguments, &status);
	if (first < 0)
		must(status == STATUS_DONE || status == STATUS_USAGE);
	else
		check_accepted(command, &arguments, argc - first);
	display_deinit(&arguments.display);
	if (command == &compare_command) {
		array_deinit(&arguments.baseline);
		array_deinit(&arguments.candidate);
	}
}

/* The first byte chooses the command, NULs part the words. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct command *const displaying[] = { &show_command, &compare_command };
	char *argv[WORDS_MAX + 2] = { (char *)"ctprof" };
	char *copy = malloc(size + 1), *word = copy + 1;
	int argc = 1;

	must(copy);
	be_quiet();
	if (size) {
		memcpy(copy, data, size);
		copy[size] = '\0';
		for (; word < copy + size && argc <= WORDS_MAX; word += strlen(word) + 1)
			argv[argc++] = word;
		parse(displaying[(unsigned char)copy[0] % 2], argc, argv);
	}
	free(copy);
	return 0;
}
