/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of jemalloc in the memory of another process (here our own): thread pointers and offsets
 * as a hostile process and its file have them, and whatever stands in memory. Bytes: offset of the
 * first counter, words from it to the second, distance of the storage, number of threads; a thread
 * pointer for each, in parts of the memory; the memory, which ends before a page that cannot be
 * read.
 */
#include <string.h>
#include <sys/mman.h>

#include "capture/heap_process.h"
#include "fuzz.h"

#define PAGE        4096u
#define WORDS_MAX   9
#define THREADS_MAX 1200

static struct heap_counters threads[THREADS_MAX];

static char *memory(void)
{
	static char *page;

	if (!page) {
		page = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		must(page != MAP_FAILED);
		page += PAGE;
		must(!mprotect(page, PAGE, PROT_READ | PROT_WRITE));
	}
	return page;
}

/* At a place in the page or around it, where its counters begin. One in 16 is anywhere. */
static uint64_t pointer_of(uint64_t number, uint64_t start)
{
	if (number >> 60 == 0xf)
		return number << 4;
	return (uint64_t)(uintptr_t)memory() - PAGE + number % (3 * PAGE) - start;
}

static void check(const struct heap_counters *thread, uint64_t start, size_t count)
{
	const uint64_t first = (uint64_t)(uintptr_t)memory(), at = thread->thread_pointer + start;
	uint64_t words[WORDS_MAX];

	if (at < first || at - first > PAGE - count * 8) {
		/* Anywhere there may be something. */
		must(thread->failure == PROBE_PROCESS_VM_READV || at < first - PAGE ||
		     at - first >= 2 * PAGE);
		return;
	}
	memcpy(words, (void *)(uintptr_t)at, count * 8);
	must(thread->allocated == words[0] && thread->deallocated == words[count - 1]);
	must(thread->failure == (heap_is_sound(words, count) ? PROBE_DONE : PROBE_CROSS_CHECK));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heap_location location;
	uint64_t start, number;
	size_t count, words;

	if (size < 16)
		return 0;
	words = data[0] % WORDS_MAX + 1;
	location.allocated = data[1] * 8u;
	location.deallocated = location.allocated + (words - 1) * 8;
	count = (data[2] | (size_t)data[3] << 8) % (THREADS_MAX + 1);
	memcpy(&location.block, data + 8, sizeof(location.block));
	data += 16;
	size -= 16;
	start = (uint64_t)location.block + location.allocated;
	memset(threads, 0, sizeof(threads));
	for (size_t i = 0; i < count; i++) {
		number = i * 0x9e3779b97f4a7c15;
		if (size >= sizeof(number)) {
			memcpy(&number, data, sizeof(number));
			data += sizeof(number);
			size -= sizeof(number);
		}
		threads[i].thread_pointer = pointer_of(number, start);
	}
	memset(memory(), 0, PAGE);
	memcpy(memory(), data, size < PAGE ? size : PAGE);
	heap_read(getpid(), &location, threads, count);
	for (size_t i = 0; i < count; i++)
		check(&threads[i], start, words);
	heap_adds_up(&location, threads, count);
	return 0;
}
