/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that select threads, the same in all commands.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cli/options.h"

struct target {
	struct {
		ARRAY(uint32_t);
	} pids;
	const char *cgroup; /* in `cgroup_text` */
	char *cgroup_text;
};

/* The rows, for the table of a command whose arguments have a `struct target target`. `parse` is
 * parse_pids, or parse_pids_by_comm where there is a --comm as well. */
#define TARGET_OPTIONS(arguments, parse)                                                       \
	{ "pid",                                                                               \
	  'p',                                                                                 \
	  "PID[,PID...]",                                                                      \
	  parse,                                                                               \
	  offsetof(struct arguments, target),                                                  \
	  "Select only these processes, with all their threads. May be given more than once.", \
	  NULL,                                                                                \
	  OPTION_COMMON },                                                                     \
	{                                                                                      \
		"cgroup", 0, "PATH", parse_cgroup, offsetof(struct arguments, target),         \
			"Select only threads in this cgroup (version 2) and its descendants.", \
			NULL, OPTION_COMMON                                                    \
	}

struct error *parse_cgroup(const char *argument, void *at);
struct error *parse_pids(const char *argument, void *at);
/* The same; for a name the error shows --comm. */
struct error *parse_pids_by_comm(const char *argument, void *at);

/* Thread IDs. */
struct thread_numbers {
	ARRAY(uint32_t);
};
struct error *parse_tids(const char *argument, void *at);

/* An error where a process or thread is not there. */
struct error *target_check(const struct target *target,
			   const struct thread_numbers *tids) MUST_CHECK;

/* The first process or thread of them that is alive; 0: none. */
uint32_t target_alive(const struct target *target, const struct thread_numbers *tids);

/* The only process with this name (comm, of which the kernel keeps 15 bytes), but for this one. An
 * error that lists those of the name if there are several. */
struct error *target_find_process(const char *name, uint32_t *ret) MUST_CHECK;

/* The error that this one is alive, for commands that saw no thread of all of them: some hosts of
 * containers and virtual machines hide the process that runs them from BPF programs. Its files in
 * /proc can be read all the same. NULL: none is alive. */
struct error *target_hidden(const struct target *target,
			    const struct thread_numbers *tids) MUST_CHECK;

/* The error for a single PID or TID that cannot be seen. */
struct error *target_hidden_number(bool is_process, uint32_t number) MUST_CHECK;

/* The number of a cgroup, and its path as /proc has it: users may give the directory too. An error
 * where it is not there. */
struct error *target_find_cgroup(const char **path, uint64_t *ret) MUST_CHECK;

/* Was the cgroup with this path and ID removed? A cgroup that is created again under the same path
 * has another ID. */
bool target_is_cgroup_removed(const char *path, uint64_t number);

void target_deinit(struct target *target);

#endif
