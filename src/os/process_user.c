/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/process_user.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "os/pairs.h"
#include "os/subuid.h"

/* Read the user from /proc/PID/status: the kernel shows it without taking locks that the process
 * can hold as long as it wants (exec_update_lock and the lock of its memory map). */
static uint32_t real_user(int dir)
{
	struct file_buffer buffer = { 0 };
	struct text bytes, numbers, word;
	uint32_t user = UINT32_MAX;

	if (file_read_record(dir, "status", &buffer, &bytes) == 0 &&
	    pairs_find(bytes, ':', TEXT("Uid"), &numbers) && text_word(&numbers, &word) &&
	    !text_u32(word, &user))
		user = UINT32_MAX;
	file_buffer_deinit(&buffer);
	return user;
}

/* --- user IDs of namespaces --- */

static struct subuid_ranges ranges;
static pthread_once_t are_read = PTHREAD_ONCE_INIT;

static void read_ranges(void)
{
	struct file_buffer subuid = { 0 }, passwd = { 0 };
	struct text ids, names;

	if (file_read(AT_FDCWD, "/etc/subuid", &subuid, &ids) == 0) {
		if (file_read(AT_FDCWD, "/etc/passwd", &passwd, &names))
			names = TEXT("");
		subuid_read(ids, names, &ranges);
	}
	file_buffer_deinit(&subuid);
	file_buffer_deinit(&passwd);
}

uint32_t process_user(uint32_t pid)
{
	_cleanup_close_ int dir = -1;
	char path[32];
	uint32_t user;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return UINT32_MAX;
	user = real_user(dir);
	if (user == UINT32_MAX)
		return user;
	pthread_once(&are_read, read_ranges);
	return subuid_owner(&ranges, user);
}

bool process_user_is_stranger(uint32_t user)
{
	return user != 0 && user != getuid();
}

/* Callers ask several times about each file that a process has mapped. */
#define RECENT_NS (NS_PER_S / 1000)

/* The user, at most a millisecond old. Sufficient to charge time and memory; not to trust a file,
 * since the process may have changed its user since. */
static uint32_t recent_user(uint32_t pid)
{
	static _Thread_local struct {
		uint64_t read_ns;
		uint32_t pid, user;
	} last = { .user = UINT32_MAX };
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (last.pid != pid || now - last.read_ns > RECENT_NS || last.user == UINT32_MAX) {
		last.user = process_user(pid);
		last.pid = pid;
		last.read_ns = now;
	}
	return last.user;
}

uint32_t process_user_limited(uint32_t pid)
{
	const uint32_t user = recent_user(pid);

	return process_user_is_stranger(user) ? user : 0;
}

uint64_t process_user_subject(uint32_t pid)
{
	const uint32_t user = process_user_limited(pid);

	return user ? (uint64_t)1 << 32 | user : pid;
}

struct guard *process_user_guard(struct guard **kept, uint64_t patience_ns)
{
	if (!*kept)
		*kept = guard_create(&(struct guard_options){
			.subject_of = process_user_subject,
			.patience_ns = patience_ns,
			.part = 5,
			.advance_ns = NS_PER_S,
			.kind = THREAD_PARSER,
		});
	return *kept;
}
