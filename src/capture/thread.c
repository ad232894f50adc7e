/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/utf8.h"
#include "capture/session.h"
#include "os/cgroup.h"
#include "os/pairs.h"
#include "os/stat.h"

static enum thread_fate no_memory(struct capture *c)
{
	c->shortage = ENOMEM;
	return THREAD_SHORTAGE;
}

/* A live thread always has a stat. */
static bool is_gone(int dir)
{
	return faccessat(dir, "stat", F_OK, 0) && (errno == ENOENT || errno == ESRCH);
}

/* NULL without memory. */
static struct leader_guard *guard_of(struct capture *c)
{
	if (!c->capturer->guard)
		c->capturer->guard = leader_guard_create();
	return c->capturer->guard;
}

/* stat and io of a first thread may hang. */
static int read_bytes(struct capture *c, int dir, const struct ctprof_thread *thread,
		      const char *name, enum file_kind kind, struct text *ret)
{
	const bool may_hang = kind == FILE_STAT || kind == FILE_IO;
	struct leader_guard *guard;

	if (!may_hang || thread->tid != thread->tgid)
		return file_read_record(dir, name, &c->buffer, ret);
	guard = guard_of(c);
	return guard ? leader_guard_read(guard, dir, thread->tgid, name, ret) : ENOMEM;
}

/* Read a file of the thread; a failure is counted unless the thread is gone. Returns 0 or an errno;
 * ESRCH only when it is gone. */
static int read_thread_file(struct capture *c, int dir, const struct ctprof_thread *thread,
			    const char *name, enum file_kind kind, struct text *ret)
{
	int failed = read_bytes(c, dir, thread, name, kind, ret);

	if (!failed)
		return 0;
	if ((failed == ENOENT || failed == ESRCH) && is_gone(dir))
		return ESRCH;
	capture_count(c, kind, failed);
	return failed == ESRCH ? ENOENT : failed;
}

/* The kernel refuses a mask smaller than its own with EINVAL, so the mask grows. */
static enum thread_fate take_affinity_call(struct capture *c, struct ctprof_thread *thread)
{
	unsigned long mask[CPU_MAX / 8 / sizeof(unsigned long)];

	for (size_t bytes = 1024; bytes <= sizeof(mask); bytes *= 2) {
		long filled = syscall(SYS_sched_getaffinity, thread->tid, bytes, mask);

		if (filled < 0 && errno == EINVAL)
			continue;
		if (filled < 0)
			return errno == ESRCH ? THREAD_GONE : THREAD_KEPT;
		if (cpus_from_mask(mask, (size_t)filled, &c->taker.cpus) && c->taker.cpus.count)
			take_affinity(&c->taker, thread);
		break;
	}
	return THREAD_KEPT;
}

/* Facts of the process that stand in files of its leader. */
static void take_leader_facts(struct capture *c, enum file_kind kind, struct text bytes)
{
	struct stat_line line;
	struct text value, real, effective;
	uint64_t number;

	if (kind == FILE_STAT && stat_parse(bytes, &line) &&
	    text_u64(line.columns[STAT_PPID], &number))
		c->leader.ppid = reading_of(number);
	if (kind == FILE_STATUS && pairs_find(bytes, ':', TEXT("Uid"), &value) &&
	    text_word(&value, &real) && text_word(&value, &effective) &&
	    text_u64(effective, &number))
		c->leader.uid = reading_of(number);
}

enum thread_fate capture_thread_files(struct capture *c, int dir, struct ctprof_thread *thread)
{
	for (enum file_kind kind = 0; kind < FILE_KIND_COUNT; kind++) {
		const struct file_kind_info *file = &file_kinds[kind];
		struct text bytes;
		int failed;

		if (!(c->sources & CAPTURE_FILES & 1u << file->source))
			continue;
		failed = read_thread_file(c, dir, thread, file->name, kind, &bytes);
		if (failed == ESRCH)
			return THREAD_GONE;
		if (failed)
			continue;
		if (!take_thread_file(&c->taker, file->source, bytes, thread))
			c->counts.failed[kind]++;
		if (thread->tid == thread->tgid)
			take_leader_facts(c, kind, bytes);
	}
	return THREAD_KEPT;
}

/* A path with bytes that no JSON can hold is kept as the file will show it, so that two readings
 * of it agree. */
static const struct name *path_name(struct ctprof_snapshot *s, struct text path)
{
	_cleanup_free_ char *clean = NULL;
	size_t length;

	if (utf8_is_valid(path))
		return snapshot_name(s, path);
	clean = malloc(path.length * UTF8_REPLACEMENT_LENGTH);
	if (!clean)
		return NULL;
	length = utf8_clean(path, clean);
	return snapshot_name(s, (struct text){ clean, length });
}

static enum thread_fate set_cgroup(struct capture *c, int dir, struct ctprof_thread *thread)
{
	struct text bytes, path = TEXT("");
	int failed = read_thread_file(c, dir, thread, "cgroup", FILE_CGROUP, &bytes);

	if (failed == ESRCH)
		return THREAD_GONE;
	if (!failed)
		cgroup_path_parse(bytes, &path);
	if (c->cgroup_top && !cgroup_is_within(path, name_text(c->cgroup_top)))
		return THREAD_OUTSIDE;
	thread->cgroup = path_name(c->snapshot, path);
	return thread->cgroup ? THREAD_KEPT : no_memory(c);
}

const struct name *capture_cgroup_path(struct capture *c, uint32_t tid)
{
	struct text bytes, path = TEXT("");
	char file[32];

	snprintf(file, sizeof(file), "%" PRIu32 "/cgroup", tid);
	if (!file_read_record(c->proc, file, &c->buffer, &bytes))
		cgroup_path_parse(bytes, &path);
	return path_name(c->snapshot, path);
}

/* Read the name, if stat did not have it. */
static enum thread_fate take_comm(struct capture *c, int dir, struct ctprof_thread *thread)
{
	struct text bytes = TEXT("");

	if (!file_read_record(dir, "comm", &c->buffer, &bytes) && bytes.length &&
	    bytes.bytes[bytes.length - 1] == '\n')
		bytes.length--;
	thread->comm = snapshot_name(c->snapshot, bytes);
	return thread->comm ? THREAD_KEPT : no_memory(c);
}

void capture_take_smaps(struct capture *c, struct leader_file_bytes file,
			struct ctprof_thread *thread)
{
	/* Without an address space (kernel threads, zombies) there is nothing to fail. */
	if (file.failed == ESRCH || file.failed == ENOENT)
		return;
	if (file.failed)
		capture_count(c, FILE_SMAPS, file.failed);
	else if (!take_smaps_rollup(&c->taker, file.bytes, thread))
		c->counts.failed[FILE_SMAPS]++;
}

enum thread_fate capture_thread(struct capture *c, int dir, struct ctprof_thread *thread)
{
	enum thread_fate fate = set_cgroup(c, dir, thread);

	if (thread->tid == thread->tgid)
		c->leader = (struct process){ .tgid = thread->tgid };
	thread->record.values.thread_count.v = 1;
	metric_set_add(&thread->record.measured, METRIC_thread_count);
	if (fate == THREAD_KEPT && c->ours)
		fate = take_affinity_call(c, thread);
	if (fate == THREAD_KEPT)
		fate = capture_thread_files(c, dir, thread);
	if (fate == THREAD_KEPT && !thread->comm)
		fate = take_comm(c, dir, thread);
	return c->shortage ? THREAD_SHORTAGE : fate;
}

static struct error *take_exe(struct capture *c, struct leader_file_bytes file)
{
	/* Kernel threads and zombies have none. */
	if (file.failed == ENOENT || file.failed == ESRCH)
		return NULL;
	if (file.failed) {
		capture_count(c, FILE_EXE, file.failed);
		return NULL;
	}
	c->leader.exe = path_name(c->snapshot, file.bytes);
	return c->leader.exe ? NULL : &error_no_memory;
}

/* The arguments stand one after the other with a NUL after each: as ps does, a space between. */
static struct error *take_cmdline(struct capture *c, struct leader_file_bytes file)
{
	char spaced[LEADER_CMDLINE_MAX];
	struct text line = file.bytes;

	if (file.failed == ENOENT || file.failed == ESRCH)
		return NULL;
	if (file.failed) {
		capture_count(c, FILE_CMDLINE, file.failed);
		return NULL;
	}
	while (line.length && line.bytes[line.length - 1] == '\0')
		line.length--;
	if (!line.length)
		return NULL;
	for (size_t i = 0; i < line.length; i++)
		spaced[i] = line.bytes[i] ? line.bytes[i] : ' ';
	c->leader.cmdline = path_name(c->snapshot, (struct text){ spaced, line.length });
	return c->leader.cmdline ? NULL : &error_no_memory;
}

struct error *capture_take_process(struct capture *c, struct leader_file_bytes exe,
				   struct leader_file_bytes cmdline)
{
	struct error *err = take_exe(c, exe);

	if (!err)
		err = take_cmdline(c, cmdline);
	if (err)
		return err;
	return array_push(&c->snapshot->processes, c->leader) ? NULL : &error_no_memory;
}
