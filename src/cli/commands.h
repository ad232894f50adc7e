/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of commands. Dispatch, help, completion and the manual pages walk it.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command *const commands[];
extern const size_t command_count;

/* What our caller had SIGPIPE do, for the commands that we run. */
extern void (*inherited_sigpipe)(int);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* For unknown_value. */
const char *command_name(size_t number);

extern const struct command capture_command, diff_command, compare_command, show_command,
	show_host_command, metric_list_command, doctor_command, profile_command, offcpu_command,
	flame_command, top_command, kstats_command, help_command;

#endif
