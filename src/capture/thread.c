/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/utf8.h"
#include "capture/session.h"
#include "proc/cgroup.h"
#include "proc/pairs.h"
#include "proc/stat.h"

#define CMDLINE_MAX ((size_t)4096)

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

/* Read a file of the thread; a failure is counted unless the thread is gone. Returns 0 or an errno;
 * ESRCH only when it is gone. */
static int read_file(struct capture *c, int dir, const char *name, enum file_kind kind,
		     struct text *ret)
{
	int failed = file_read_record(dir, name, &c->buffer, ret);

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

static enum thread_fate take_files(struct capture *c, int dir, struct ctprof_thread *thread)
{
	static const struct {
		enum metric_source_id source;
		enum file_kind kind;
		const char *name;
	} files[] = {
		{ SOURCE_STAT, FILE_STAT, "stat" },
		{ SOURCE_SCHEDSTAT, FILE_SCHEDSTAT, "schedstat" },
		{ SOURCE_STATUS, FILE_STATUS, "status" },
		{ SOURCE_SCHED, FILE_SCHED, "sched" },
		{ SOURCE_IO, FILE_IO, "io" },
	};

	for (size_t i = 0; i < array_length(files); i++) {
		struct text bytes;
		int failed;

		if (c->options->leave_out >> files[i].source & 1)
			continue;
		failed = read_file(c, dir, files[i].name, files[i].kind, &bytes);
		if (failed == ESRCH)
			return THREAD_GONE;
		if (failed)
			continue;
		if (!take_thread_file(&c->taker, files[i].source, bytes, thread))
			c->failed[files[i].kind]++;
		if (thread->tid == thread->tgid)
			take_leader_facts(c, files[i].kind, bytes);
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

static enum thread_fate take_cgroup(struct capture *c, int dir, struct ctprof_thread *thread)
{
	struct text bytes, path = TEXT("");
	int failed = read_file(c, dir, "cgroup", FILE_CGROUP, &bytes);

	if (failed == ESRCH)
		return THREAD_GONE;
	if (!failed)
		cgroup_path_parse(bytes, &path);
	if (c->cgroup_top && !cgroup_is_within(path, name_text(c->cgroup_top)))
		return THREAD_OUTSIDE;
	thread->cgroup = path_name(c->snapshot, path);
	return thread->cgroup ? THREAD_KEPT : no_memory(c);
}

/* Where stat did not give the name. */
static enum thread_fate take_comm(struct capture *c, int dir, struct ctprof_thread *thread)
{
	struct text bytes = TEXT("");

	if (!file_read_record(dir, "comm", &c->buffer, &bytes) && bytes.length &&
	    bytes.bytes[bytes.length - 1] == '\n')
		bytes.length--;
	thread->comm = snapshot_name(c->snapshot, bytes);
	return thread->comm ? THREAD_KEPT : no_memory(c);
}

static enum thread_fate take_smaps(struct capture *c, int dir, struct ctprof_thread *thread)
{
	struct text bytes;
	int failed = file_read(dir, "smaps_rollup", &c->buffer, &bytes);

	/* Without an address space (kernel threads, zombies) there is nothing to fail. */
	if (failed == ESRCH || failed == ENOENT)
		return is_gone(dir) ? THREAD_GONE : THREAD_KEPT;
	if (failed) {
		capture_count(c, FILE_SMAPS, failed);
		return THREAD_KEPT;
	}
	if (!take_smaps_rollup(&c->taker, bytes, thread))
		c->failed[FILE_SMAPS]++;
	return THREAD_KEPT;
}

enum thread_fate capture_thread(struct capture *c, int dir, struct ctprof_thread *thread)
{
	enum thread_fate fate = take_cgroup(c, dir, thread);

	if (thread->tid == thread->tgid)
		c->leader = (struct process){ .tgid = thread->tgid };
	thread->record.values.thread_count.v = 1;
	metric_set_add(&thread->record.measured, METRIC_thread_count);
	if (fate == THREAD_KEPT && c->ours)
		fate = take_affinity_call(c, thread);
	if (fate == THREAD_KEPT)
		fate = take_files(c, dir, thread);
	if (fate == THREAD_KEPT && !thread->comm)
		fate = take_comm(c, dir, thread);
	if (fate == THREAD_KEPT && thread->tid == thread->tgid)
		fate = take_smaps(c, dir, thread);
	return c->shortage ? THREAD_SHORTAGE : fate;
}

static struct error *take_exe(struct capture *c, int dir)
{
	struct text path;
	int failed = file_readlink(dir, "exe", &c->buffer, &path);

	/* Kernel threads and zombies have none. */
	if (failed == ENOENT || failed == ESRCH)
		return NULL;
	if (failed) {
		capture_count(c, FILE_EXE, failed);
		return NULL;
	}
	c->leader.exe = path_name(c->snapshot, path);
	return c->leader.exe ? NULL : &error_no_memory;
}

/* The arguments stand one after the other with a NUL after each: as ps does, a space between. */
static struct error *take_cmdline(struct capture *c, int dir)
{
	struct text line;
	int failed = file_read_head(dir, "cmdline", CMDLINE_MAX, &c->buffer, &line);

	if (failed == ENOENT || failed == ESRCH)
		return NULL;
	if (failed) {
		capture_count(c, FILE_CMDLINE, failed);
		return NULL;
	}
	while (line.length && line.bytes[line.length - 1] == '\0')
		line.length--;
	if (!line.length)
		return NULL;
	for (size_t i = 0; i < line.length; i++)
		if (!c->buffer.bytes[i])
			c->buffer.bytes[i] = ' ';
	c->leader.cmdline = path_name(c->snapshot, line);
	return c->leader.cmdline ? NULL : &error_no_memory;
}

struct error *capture_process(struct capture *c, int dir, uint32_t tgid)
{
	struct error *err = take_exe(c, dir);

	if (!err)
		err = take_cmdline(c, dir);
	if (err)
		return err;
	c->leader.tgid = tgid;
	return array_push(&c->snapshot->processes, c->leader) ? NULL : &error_no_memory;
}
