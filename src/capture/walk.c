/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/session.h"
#include "os/tasks.h"

/* PID_MAX_LIMIT of the kernel (include/linux/threads.h). */
#define PIDS_MOST (4U << 20)

/* The thread group that a number of the user's belongs to. */
static struct error *find_group(struct capture *c, uint32_t pid, uint32_t *ret)
{
	const int failed = task_leader(c->proc, pid, &c->buffer, ret);

	if (failed == ENOENT || failed == ESRCH)
		return error_create("no process %" PRIu32, pid);
	if (failed == EBADMSG)
		return error_create("process %" PRIu32 ": no Tgid in its status", pid);
	return failed ? error_system(failed, "process %" PRIu32, pid) : NULL;
}

int capture_list_processes(struct capture *c)
{
	const uint32_t skipped = c->options->skip_pid;
	int failed = tasks_list(c->proc, &c->pids);
	size_t kept = 0;

	if (failed || !skipped)
		return failed;
	for (size_t i = 0; i < c->pids.count; i++)
		if (c->pids.items[i] != skipped)
			c->pids.items[kept++] = c->pids.items[i];
	c->pids.count = kept;
	return 0;
}

static bool has_name(struct capture *c, uint32_t pid)
{
	struct text name;
	char path[24], copy[64];

	snprintf(path, sizeof(path), "%" PRIu32 "/comm", pid);
	if (file_read(c->proc, path, &c->buffer, &name))
		return false;
	name = text_trim(name);
	snprintf(copy, sizeof(copy), "%.*s", (int)name.length, name.bytes);
	return fnmatch(c->options->comm, copy, 0) == 0;
}

/* Keep those of all processes that have the name. */
static struct error *find_named(struct capture *c)
{
	const int failed = capture_list_processes(c);
	size_t kept = 0;

	if (failed)
		return error_system(failed, "/proc");
	for (size_t i = 0; i < c->pids.count; i++)
		if (has_name(c, c->pids.items[i]))
			c->pids.items[kept++] = c->pids.items[i];
	c->pids.count = kept;
	return kept || c->options->pid_count || c->options->may_be_gone
		       ? NULL
		       : error_create("no process is named '%s'", c->options->comm);
}

static struct error *find_all(struct capture *c)
{
	const char *root = c->options->proc_root ? c->options->proc_root : "/proc";
	const int failed = capture_list_processes(c);

	if (failed)
		return error_system(failed, "%s", root);
	return c->pids.count ? NULL : error_create("%s: contains no processes", root);
}

struct error *capture_find_targets(struct capture *c)
{
	const struct capture_options *o = c->options;
	struct error *err;

	if (!capture_is_of_some(c))
		return find_all(c);
	err = o->comm ? find_named(c) : NULL;
	for (size_t i = 0; !err && i < o->pid_count; i++) {
		uint32_t group;

		err = find_group(c, o->pids[i], &group);
		if (err && o->may_be_gone) {
			error_destroy(err);
			err = NULL;
		} else if (!err && !array_push(&c->pids, group)) {
			err = &error_no_memory;
		}
	}
	if (!err && o->has_children && tasks_add_children(c->proc, PIDS_MOST, &c->pids))
		err = &error_no_memory;
	c->pids.count = sort_unique_u32(c->pids.items, c->pids.count);
	return err;
}

/* Its files show whether it has memory. */
static struct error *keep_leader(struct capture *c, struct ctprof_thread *thread)
{
	const struct leader leader = {
		.thread = thread,
		.process = c->leader,
		.has_memory = true,
	};

	return array_push(&c->leaders, leader) ? NULL : &error_no_memory;
}

/* Add a thread to the snapshot. `pcomm` is NULL for a leader, whose name is not known yet. */
static struct error *visit_thread(struct capture *c, int tasks, uint32_t tgid, uint32_t tid,
				  const struct name *pcomm, const struct name **ret_comm)
{
	struct ctprof_snapshot *s = c->snapshot;
	_cleanup_close_ int dir = -1;
	struct ctprof_thread *thread;
	enum thread_fate fate;
	char path[16];

	c->counts.walked++;
	snprintf(path, sizeof(path), "%" PRIu32, tid);
	dir = openat(tasks, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		if (file_is_shortage(errno))
			return error_system(errno, "thread %" PRIu32, tid);
		c->counts.lost++;
		return NULL;
	}
	thread = snapshot_add_thread(s);
	if (!thread)
		return &error_no_memory;
	thread->tid = tid;
	thread->tgid = tgid;
	thread->pcomm = pcomm;
	fate = capture_thread(c, dir, thread);
	if (fate != THREAD_KEPT) {
		snapshot_truncate_threads(s, s->threads.count - 1);
		c->counts.lost += fate == THREAD_GONE;
		return fate == THREAD_SHORTAGE ? error_system(c->shortage, "thread %" PRIu32, tid)
					       : NULL;
	}
	if (!thread->pcomm)
		thread->pcomm = thread->comm;
	*ret_comm = thread->comm;
	capture_queue_delays(c, thread);
	return tid == tgid ? keep_leader(c, thread) : NULL;
}

const struct name *capture_process_name(struct capture *c, uint32_t tgid)
{
	char path[32];
	struct text bytes;

	snprintf(path, sizeof(path), "%" PRIu32 "/comm", tgid);
	if (file_read_record(c->proc, path, &c->buffer, &bytes))
		return snapshot_name(c->snapshot, TEXT(""));
	if (bytes.length && bytes.bytes[bytes.length - 1] == '\n')
		bytes.length--;
	return snapshot_name(c->snapshot, bytes);
}

static bool contains(const struct tids *tids, uint32_t tid)
{
	return tids->count &&
	       bsearch(&tid, tids->items, tids->count, sizeof(tid), compare_u32) != NULL;
}

static struct error *visit_threads(struct capture *c, int tasks, uint32_t tgid,
				   const struct tids *tids)
{
	const struct name *pcomm = NULL, *comm;
	struct error *err = NULL;

	/* The leader first, since its name is the name of all. */
	if (contains(tids, tgid))
		err = visit_thread(c, tasks, tgid, tgid, NULL, &pcomm);
	if (!err && !pcomm && tids->count > 1)
		pcomm = capture_process_name(c, tgid);
	for (size_t i = 0; i < tids->count && !err; i++) {
		if (capture_is_late(c)) {
			c->counts.not_reached += tids->count - i;
			break;
		}
		if (tids->items[i] != tgid)
			err = visit_thread(c, tasks, tgid, tids->items[i], pcomm, &comm);
	}
	return err;
}

struct error *capture_visit_process(struct capture *c, uint32_t tgid, struct tids *tids)
{
	_cleanup_close_ int tasks = -1;
	char path[32];
	int failed;

	snprintf(path, sizeof(path), "%" PRIu32 "/task", tgid);
	tasks = openat(c->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	failed = tasks < 0 ? errno : tasks_list(tasks, tids);
	if (failed == EACCES || failed == EPERM) {
		c->counts.processes_denied++;
		return NULL;
	}
	if (file_is_shortage(failed))
		return error_system(failed, "process %" PRIu32, tgid);
	if (failed) {
		/* At least its leader was there when the processes were listed. */
		c->counts.lost++;
		return NULL;
	}
	return visit_threads(c, tasks, tgid, tids);
}

struct error *capture_walk(struct capture *c)
{
	const struct capture_options *o = c->options;
	struct tids tids = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < c->pids.count && !err; i++) {
		if (o->progress)
			o->progress(o->progress_context, i, c->pids.count);
		if (capture_is_late(c)) {
			c->counts.not_reached += c->pids.count - i;
			break;
		}
		err = capture_visit_process(c, c->pids.items[i], &tids);
	}
	array_deinit(&tids);
	return err;
}
