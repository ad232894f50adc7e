/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/memory_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

/* The part of a limit for what does not ask, such as lists in the heap, and files that are read. */
#define UNASKED_PART 8

/* In bytes; UINT64_MAX: not known. */
static uint64_t resident(void)
{
	_cleanup_close_ int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char buffer[128];
	const ssize_t got = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer));
	struct text rest = { buffer, got > 0 ? (size_t)got : 0 }, word;
	uint64_t pages;

	/* "SIZE RESIDENT ...", in pages (proc_pid_statm() in fs/proc/array.c). */
	if (!text_word(&rest, &word) || !text_word(&rest, &word) || !text_u64(word, &pages))
		return UINT64_MAX;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Below `most`, by what is resident. */
static uint64_t room_below(const struct memory_limit *limit, uint64_t most)
{
	const uint64_t used = resident();
	const uint64_t beside = __atomic_load_n(&limit->beside, __ATOMIC_RELAXED);
	const uint64_t room = most > beside ? most - beside : 0;

	return room > used ? room - used : 0;
}

uint64_t memory_limit_allow(struct memory_limit *limit, uint64_t count, uint64_t bytes)
{
	uint64_t room;

	if (!limit || !limit->bytes || !bytes || !count)
		return count;
	room = room_below(limit, limit->bytes - limit->bytes / UNASKED_PART) / bytes;
	if (count <= room)
		return count;
	__atomic_add_fetch(&limit->refused, 1, __ATOMIC_RELAXED);
	return room;
}

uint64_t memory_limit_left(const struct memory_limit *limit)
{
	return limit && limit->bytes ? room_below(limit, limit->bytes) : UINT64_MAX;
}
