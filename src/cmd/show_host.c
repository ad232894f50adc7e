/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "capture/capture.h"
#include "cli/commands.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/inputs.h"
#include "report/host_report.h"
#include "security/memory_limit.h"
#include "security/privileges.h"

struct show_host_arguments {
	const char *proc_root, *sys_root;
};

static const struct option_row show_host_options[] = {
	{ "proc-root", 0, "DIR", parse_string, offsetof(struct show_host_arguments, proc_root),
	  "Read this tree instead of /proc.", NULL, false },
	{ "sys-root", 0, "DIR", parse_string, offsetof(struct show_host_arguments, sys_root),
	  "Read this tree instead of /sys.", NULL, false },
	TERMINAL_OPTIONS
};

/* A tree that the user names is read with the user's own rights. */
static struct error *capture_host(const struct show_host_arguments *arguments,
				  struct ctprof_snapshot **ret)
{
	const bool has_tree = arguments->proc_root || arguments->sys_root;
	const struct capture_options options = { .proc_root = arguments->proc_root,
						 .sys_root = arguments->sys_root,
						 .host_only = true };
	struct error *err =
		has_tree ? privileges_keep_for_files() : privileges_keep(PRIVILEGE_READ_FILES);
	bool was_raised;

	if (err)
		return err;
	was_raised = !has_tree && privileges_raise();
	err = capture_run(&options, ret);
	privileges_lower(was_raised);
	return err;
}

static int run_show_host(const struct command *command, int argc, char **argv)
{
	struct show_host_arguments arguments = { 0 };
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	_cleanup_free_ char *name = NULL;
	struct error *err;
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	if (first < 0)
		return status;
	memory_limit_set();
	if (first < argc) {
		err = privileges_keep_for_files();
		if (!err)
			err = input_snapshot(argv[first], NULL, &snapshot, &name);
	} else {
		err = capture_host(&arguments, &snapshot);
	}
	if (err)
		return report_error(err, STATUS_FAILED);
	pager_begin(PAGER_TEXT);
	report_host(stdout, snapshot->host);
	return STATUS_DONE;
}

const struct command show_host_command = {
	.name = "show-host",
	.run = run_show_host,
	.summary = "print facts about this host, or about the host of a snapshot",
	.operands = "[SNAPSHOT]",
	.operands_most = 1,
	.needs = "",
	.drops_privileges = true,
	.examples = { "ctprof show-host", "ctprof show-host after.ctprof.zst" },
	.options = show_host_options,
	.option_count = array_length(show_host_options),
};
