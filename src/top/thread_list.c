/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/thread_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"

static bool add_thread(struct thread_list *list, uint32_t tid, uint32_t tgid)
{
	return array_push(&list->threads, (struct listed_thread){ tid, tgid });
}

/* A process that is gone has no threads. */
static struct error *list_process(struct thread_list *list, int proc, uint32_t pid)
{
	_cleanup_close_ int dir = -1;
	char path[32];
	int failed;

	snprintf(path, sizeof(path), "%" PRIu32 "/task", pid);
	dir = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	failed = dir < 0 ? errno : tasks_list(dir, &list->tids);
	if (failed)
		return file_is_shortage(failed) ? error_system(failed, "/proc/%s", path) : NULL;
	for (size_t i = 0; i < list->tids.count; i++)
		if (!add_thread(list, list->tids.items[i], pid))
			return &error_no_memory;
	return NULL;
}

/* 0: it is gone. */
static uint32_t tgid_of(struct thread_list *list, int proc, uint32_t tid)
{
	uint32_t tgid;

	return task_leader(proc, tid, &list->buffer, &tgid) ? 0 : tgid;
}

static bool is_listed(const struct thread_list *list, uint32_t tid)
{
	for (size_t i = 0; i < list->threads.count; i++)
		if (list->threads.items[i].tid == tid)
			return true;
	return false;
}

static struct error *list_thread(struct thread_list *list, int proc, const struct wanted *wanted,
				 uint32_t tid)
{
	const uint32_t tgid = tgid_of(list, proc, tid);

	if (!tgid)
		return NULL;
	for (size_t i = 0; i < wanted->pids.count; i++)
		if (wanted->pids.items[i] == tgid)
			return NULL;
	/* It may have been listed as the leader of another. */
	if (!is_listed(list, tid) && !add_thread(list, tid, tgid))
		return &error_no_memory;
	return is_listed(list, tgid) || add_thread(list, tgid, tgid) ? NULL : &error_no_memory;
}

struct error *thread_list_make(struct thread_list *list, int proc, const struct wanted *wanted)
{
	const struct tids *pids = wanted_is_all(wanted) ? &list->pids : &wanted->pids;
	struct error *err = NULL;
	int failed;

	list->threads.count = 0;
	if (pids == &list->pids) {
		failed = tasks_list(proc, &list->pids);
		if (failed)
			return error_system(failed, "/proc");
	}
	for (size_t i = 0; i < pids->count && !err; i++)
		err = list_process(list, proc, pids->items[i]);
	for (size_t i = 0; i < wanted->tids.count && !err; i++)
		err = list_thread(list, proc, wanted, wanted->tids.items[i]);
	return err;
}

void thread_list_deinit(struct thread_list *list)
{
	array_deinit(&list->threads);
	array_deinit(&list->pids);
	array_deinit(&list->tids);
	file_buffer_deinit(&list->buffer);
}
