/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of commands. Dispatch, help, completion and the manual pages walk it.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

/* In the order of the help: each is a `struct command` of this name with _command behind it. */
/* clang-format off */
#define COMMANDS(COMMAND) \
	COMMAND(capture) \
	COMMAND(diff) \
	COMMAND(compare) \
	COMMAND(show) \
	COMMAND(show_host) \
	COMMAND(report) \
	COMMAND(metric_list) \
	COMMAND(doctor) \
	COMMAND(profile) \
	COMMAND(offcpu) \
	COMMAND(flame) \
	COMMAND(serve) \
	COMMAND(agent) \
	COMMAND(fleet) \
	COMMAND(top) \
	COMMAND(kstats) \
	COMMAND(help)
/* clang-format on */

#define COMMAND_DECLARED(name) extern const struct command name##_command;
COMMANDS(COMMAND_DECLARED)
#undef COMMAND_DECLARED

extern const struct command *const commands[];
extern const size_t command_count;

/* The disposition of SIGPIPE that ctprof inherited, for the commands that it runs. */
extern void (*inherited_sigpipe)(int);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* For unknown_value. */
const char *command_name(size_t number);

#endif
