/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/target.h"

#include "base/text.h"

static struct error *take_pid(void *context, const char *piece)
{
	struct target *target = context;
	uint32_t pid;

	if (!text_u32(text_of(piece), &pid) || !pid || pid > INT32_MAX)
		return error_create("'%s' is not a process number", piece);
	return array_push(&target->pids, pid) ? NULL : &error_no_memory;
}

struct error *parse_pids(const char *argument, void *at)
{
	return each_piece(argument, "process number", take_pid, at);
}

struct error *parse_cgroup(const char *argument, void *at)
{
	if (argument[0] != '/')
		return error_create("a cgroup path starts with '/'");
	return parse_string(argument, at);
}

void target_deinit(struct target *target)
{
	array_deinit(&target->pids);
}

static struct error *take_tid(void *context, const char *piece)
{
	struct thread_numbers *numbers = context;
	uint32_t tid;

	if (!text_u32(text_of(piece), &tid) || !tid || tid > INT32_MAX)
		return error_create("'%.40s' is not a thread number", piece);
	return array_push(numbers, tid) ? NULL : &error_no_memory;
}

struct error *parse_tids(const char *argument, void *at)
{
	return each_piece(argument, "thread number", take_tid, at);
}
