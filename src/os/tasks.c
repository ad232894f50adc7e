/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/counters.h"
#include "os/pairs.h"
#include "os/stat.h"

/* glibc's readdir, over a descriptor that stays the caller's. */
int tasks_list(int dir, struct tids *ret)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!stream) {
		failed = errno;
		if (fd >= 0)
			close(fd);
		return failed;
	}
	ret->count = 0;
	while ((errno = 0, entry = readdir(stream))) {
		uint32_t tid;

		if (!text_u32(text_of(entry->d_name), &tid) || !tid || entry->d_name[0] == '0')
			continue;
		if (!array_push(ret, tid)) {
			errno = ENOMEM;
			break;
		}
	}
	failed = errno;
	closedir(stream);
	if (!failed && ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_u32);
	return failed;
}

static bool has_tid(const struct tids *tids, uint32_t tid)
{
	for (size_t i = 0; i < tids->count; i++)
		if (tids->items[i] == tid)
			return true;
	return false;
}

/* Each thread has a list of the children that it started itself. */
static int add_children_of(int proc, uint32_t pid, uint32_t tid, size_t most,
			   struct file_buffer *buffer, struct tids *ret)
{
	struct text bytes, word;
	uint32_t child;
	char path[64];

	snprintf(path, sizeof(path), "%" PRIu32 "/task/%" PRIu32 "/children", pid, tid);
	if (file_read(proc, path, buffer, &bytes))
		return 0;
	while (ret->count < most && text_word(&bytes, &word))
		if (text_u32(word, &child) && !has_tid(ret, child) && !array_push(ret, child))
			return ENOMEM;
	return 0;
}

int tasks_add_children(int proc, size_t most, struct tids *ret)
{
	struct file_buffer buffer = { 0 };
	struct tids threads = { 0 };
	int failed = 0;

	for (size_t i = 0; i < ret->count && ret->count < most && !failed; i++) {
		_cleanup_close_ int dir = -1;
		char path[32];

		snprintf(path, sizeof(path), "%" PRIu32 "/task", ret->items[i]);
		dir = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || tasks_list(dir, &threads))
			continue;
		for (size_t k = 0; k < threads.count && !failed; k++)
			failed = add_children_of(proc, ret->items[i], threads.items[k], most,
						 &buffer, ret);
	}
	file_buffer_deinit(&buffer);
	array_deinit(&threads);
	return failed;
}

int task_leader(int proc, uint32_t number, struct file_buffer *buffer, uint32_t *ret)
{
	struct text bytes, value;
	char path[32];
	int failed;

	snprintf(path, sizeof(path), "%" PRIu32 "/status", number);
	failed = file_read_record(proc, path, buffer, &bytes);
	if (failed)
		return failed;
	return pairs_find(bytes, ':', TEXT("Tgid"), &value) && text_u32(value, ret) ? 0 : EBADMSG;
}

/* Our own number in each PID namespace from that of this /proc down to ours (since Linux 4.1, where
 * the kernel has such namespaces): one when they are the same. Another's may happen to be equal. */
static bool has_one_number(int proc_dir)
{
	struct file_buffer buffer = { 0 };
	struct text bytes, numbers, word;
	unsigned count = 1;

	if (!file_read_record(proc_dir, "self/status", &buffer, &bytes) &&
	    pairs_find(bytes, ':', TEXT("NSpid"), &numbers))
		for (count = 0; text_word(&numbers, &word);)
			count++;
	file_buffer_deinit(&buffer);
	return count == 1;
}

uint32_t tasks_count(const char *loadavg)
{
	struct file_buffer buffer = { 0 };
	uint64_t runnable, all = 0;
	struct text bytes;

	if (file_read(AT_FDCWD, loadavg, &buffer, &bytes) ||
	    !counters_parse_threads(bytes, &runnable, &all))
		all = 0;
	file_buffer_deinit(&buffer);
	/* There are no more numbers for them: PID_MAX_LIMIT (include/linux/threads.h). */
	return (uint32_t)(all < 4u << 20 ? all : 4u << 20);
}

bool task_is_alive(uint32_t number)
{
	struct file_buffer buffer = { 0 };
	struct stat_line line;
	struct text bytes;
	char path[32];
	bool is_alive;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", number);
	is_alive = !file_read(AT_FDCWD, path, &buffer, &bytes) && stat_parse(bytes, &line) &&
		   !stat_is_dead(&line);
	file_buffer_deinit(&buffer);
	return is_alive;
}

bool tasks_are_ours(int proc_dir)
{
	struct statfs fs;
	char self[16];
	ssize_t length;
	uint32_t pid;

	if (fstatfs(proc_dir, &fs) || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	length = readlinkat(proc_dir, "self", self, sizeof(self));
	return length > 0 && text_u32((struct text){ self, (size_t)length }, &pid) &&
	       pid == (uint32_t)getpid() && has_one_number(proc_dir);
}
