/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/huge_pages.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

/* Fewer are left to others. */
#define FREE_LEAST 64

static uint64_t free_in_zone(struct text line, size_t page_bytes)
{
	struct text word;
	uint64_t blocks, pages = 0;

	/* "Node 0, zone   Normal", and the numbers. */
	for (unsigned i = 0; i < 4; i++)
		if (!text_word(&line, &word))
			return 0;
	for (size_t bytes = page_bytes; text_word(&line, &word); bytes *= 2) {
		if (!text_u64(word, &blocks) || !bytes)
			return 0;
		if (bytes >= HUGE_PAGE_BYTES && blocks < UINT32_MAX)
			pages += blocks * (bytes / HUGE_PAGE_BYTES);
	}
	return pages;
}

uint64_t huge_pages_free(struct text buddyinfo, size_t page_bytes)
{
	struct text line;
	uint64_t pages = 0;

	while (text_cut(&buddyinfo, '\n', &line))
		pages += free_in_zone(line, page_bytes);
	return pages;
}

static bool some_are_free;

static void look(void)
{
	struct file_buffer buffer = { 0 };
	struct text text;

	some_are_free = !file_read(AT_FDCWD, "/proc/buddyinfo", &buffer, &text) &&
			huge_pages_free(text, (size_t)sysconf(_SC_PAGESIZE)) >= FREE_LEAST;
	file_buffer_deinit(&buffer);
}

/* Seen once: enough for a capture, and the next ones have what the first gave back. */
static bool are_some_free(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
	return some_are_free;
}

/* More of them in a process are not worth it: those that a host has not backed yet, as after free
 * page reporting of a virtual machine, cost more than pages that were used before. */
#define HUGE_MOST 16

static bool is_worth_it(void)
{
	static unsigned mapped;

	return __atomic_load_n(&mapped, __ATOMIC_RELAXED) < HUGE_MOST && are_some_free() &&
	       __atomic_fetch_add(&mapped, 1, __ATOMIC_RELAXED) < HUGE_MOST;
}

void *huge_page_map(void)
{
	const bool is_huge = is_worth_it();
	void *memory = mmap(NULL, HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | (is_huge ? 0 : MAP_POPULATE), -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* A kernel that cannot fills them one by one, as they are used. */
	if (is_huge && !madvise(memory, HUGE_PAGE_BYTES, MADV_HUGEPAGE))
		madvise(memory, HUGE_PAGE_BYTES, MADV_POPULATE_WRITE);
	return memory;
}
