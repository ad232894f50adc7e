/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/memory_chunks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

void memory_chunks_init(struct memory_chunks *chunks, int outer, uint32_t first, uint32_t entries,
			uint32_t entry_bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*chunks = (struct memory_chunks){
		.outer = outer,
		.first = first,
		.kept = -1,
		.entries = entries,
		.entry_bytes = entry_bytes,
		.bytes = ((size_t)entries * entry_bytes + page - 1) / page * page,
	};
}

struct error *memory_chunks_add(struct memory_chunks *chunks, const char *name)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	uint32_t at = chunks->first + (uint32_t)chunks->mapped.count;
	void *memory;
	_cleanup_close_ int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t),
						 chunks->entry_bytes, chunks->entries, &options);

	if (map < 0)
		return error_system(errno, "memory shared with the kernel");
	memory = mmap(NULL, chunks->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (memory == MAP_FAILED)
		return error_system(errno, "memory shared with the kernel");
	if (!array_push(&chunks->mapped, memory)) {
		munmap(memory, chunks->bytes);
		return &error_no_memory;
	}
	if (bpf_map_update_elem(chunks->outer, &at, &map, BPF_ANY))
		return error_system(errno, "memory shared with the kernel");
	if (chunks->kept < 0)
		chunks->kept = take_fd(map);
	return NULL;
}

void memory_chunks_drop(struct memory_chunks *chunks, size_t count)
{
	while (chunks->mapped.count > count) {
		const uint32_t at = chunks->first + (uint32_t)--chunks->mapped.count;

		bpf_map_delete_elem(chunks->outer, &at);
		munmap(chunks->mapped.items[chunks->mapped.count], chunks->bytes);
	}
	if (!count && chunks->kept >= 0) {
		close(chunks->kept);
		chunks->kept = -1;
	}
}

/* The kernel waits for its readers (RCU) when a map in a map is replaced, be it by itself
 * (maybe_wait_bpf_programs() in kernel/bpf/syscall.c). */
struct error *memory_chunks_wait(const struct memory_chunks *chunks)
{
	return bpf_map_update_elem(chunks->outer, &chunks->first, &chunks->kept, BPF_ANY)
		       ? error_system(errno, "memory shared with the kernel")
		       : NULL;
}

void memory_chunks_deinit(struct memory_chunks *chunks)
{
	for (size_t i = 0; i < chunks->mapped.count; i++)
		munmap(chunks->mapped.items[i], chunks->bytes);
	if (chunks->mapped.count && chunks->kept >= 0)
		close(chunks->kept);
	array_deinit(&chunks->mapped);
}
