/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/pager.h"
#include "security/memory_limit.h"
#include "security/parser_sandbox.h"
#include "security/privileges.h"

const struct command *const commands[] = {
#define COMMAND_ROW(name) &name##_command,
	COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};
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

void (*inherited_sigpipe)(int);

/* A command that succeeded fails if its output could not be written. */
static int finish(int status)
{
	struct error *err = output_end();

	return err ? report_error(err, STATUS_FAILED) : status;
}

static int dispatch(int argc, char **argv)
{
	const struct command *command;
	struct error *err;

	if (argc < 2) {
		help_print_all(stderr);
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_print_all(stdout);
		return STATUS_DONE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("ctprof %s\n", CTPROF_VERSION);
		return STATUS_DONE;
	}
	command = command_find(argv[1]);
	if (!command) {
		report_error(argv[1][0] == '-'
				     ? error_create("unknown option '%s'; expected --help or "
						    "--version",
						    argv[1])
				     : unknown_value("command", argv[1], command_name),
			     STATUS_USAGE);
		fprintf(stderr, "Try 'ctprof --help'.\n");
		return STATUS_USAGE;
	}
	if (!command->drops_privileges) {
		memory_limit_set();
		err = privileges_keep_for_files();
	} else {
		err = NULL;
	}
	return err ? report_error(err, STATUS_FAILED) : command->run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	struct error *err;

	/* A reader that closes the pipe early (head, a pager) is not a failure to report. */
	inherited_sigpipe = signal(SIGPIPE, SIG_DFL);
	err = privileges_begin();
	parser_sandbox_begin();
	return finish(err ? report_error(err, STATUS_FAILED) : dispatch(argc, argv));
}
