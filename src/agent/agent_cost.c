/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent_cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "os/stat.h"
#include "os/tasks.h"

/* More descendants than an agent starts. */
#define DESCENDANTS_MOST 64

struct resident {
	uint64_t bytes, of_files;
};

/* "SIZE RESIDENT SHARED ...", in pages (proc_pid_statm() in fs/proc/array.c). */
static struct resident read_resident(int proc, const char *process, struct file_buffer *buffer)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct text rest, word;
	uint64_t pages = 0, shared = 0;
	char path[32];

	snprintf(path, sizeof(path), "%s/statm", process);
	if (file_read_record(proc, path, buffer, &rest) || !text_word(&rest, &word) ||
	    !text_word(&rest, &word) || !text_u64(word, &pages) || !text_word(&rest, &word) ||
	    !text_u64(word, &shared))
		return (struct resident){ 0 };
	return (struct resident){ pages * page, (shared < pages ? shared : pages) * page };
}

static bool read_process(int proc, uint32_t pid, struct file_buffer *buffer,
			 struct process_cost *ret)
{
	struct stat_line line;
	struct text bytes;
	uint64_t user, system;
	char path[32];

	snprintf(path, sizeof(path), "%" PRIu32 "/stat", pid);
	if (file_read_record(proc, path, buffer, &bytes) || !stat_parse(bytes, &line) ||
	    !text_u64(line.columns[STAT_UTIME], &user) ||
	    !text_u64(line.columns[STAT_STIME], &system) ||
	    !text_u64(line.columns[STAT_START_TIME], &ret->started))
		return false;
	ret->pid = pid;
	ret->ticks = user + system;
	return true;
}

static uint64_t ticks_before(const struct agent_cost *cost, const struct process_cost *now)
{
	for (size_t i = 0; i < cost->processes.count; i++) {
		const struct process_cost *before = &cost->processes.items[i];

		if (before->pid == now->pid && before->started == now->started)
			return before->ticks < now->ticks ? before->ticks : now->ticks;
	}
	return 0;
}

static void add_descendants(struct agent_cost *cost, int proc, struct file_buffer *buffer)
{
	const uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	__typeof__(cost->processes) processes = { 0 };
	struct tids pids = { 0 };

	if (array_push(&pids, (uint32_t)getpid()))
		(void)tasks_add_children(proc, DESCENDANTS_MOST, &pids);
	for (size_t i = 1; i < pids.count; i++) {
		struct process_cost now;
		struct resident resident;
		char process[16];

		if (!read_process(proc, pids.items[i], buffer, &now) ||
		    !array_push(&processes, now))
			continue;
		cost->cpu_ns += (now.ticks - ticks_before(cost, &now)) * tick_ns;
		snprintf(process, sizeof(process), "%" PRIu32, now.pid);
		resident = read_resident(proc, process, buffer);
		cost->memory_bytes += resident.bytes - resident.of_files;
	}
	array_deinit(&pids);
	array_deinit(&cost->processes);
	cost->processes.items = processes.items;
	cost->processes.count = processes.count;
	cost->processes.room = processes.room;
}

void agent_cost_read(struct agent_cost *cost, int proc)
{
	const uint64_t own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct file_buffer buffer = { 0 };

	cost->cpu_ns = own_ns - cost->own_ns;
	cost->own_ns = own_ns;
	cost->memory_bytes = read_resident(proc, "self", &buffer).bytes;
	add_descendants(cost, proc, &buffer);
	file_buffer_deinit(&buffer);
}

void agent_cost_deinit(struct agent_cost *cost)
{
	array_deinit(&cost->processes);
}
