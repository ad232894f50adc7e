/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/memory_chunks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

void memory_chunks_init(struct memory_chunks *chunks, int outer, uint32_t entries,
			uint32_t entry_bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*chunks = (struct memory_chunks){
		.outer = outer,
		.entries = entries,
		.entry_bytes = entry_bytes,
		.bytes = ((size_t)entries * entry_bytes + page - 1) / page * page,
	};
}

struct error *memory_chunks_add(struct memory_chunks *chunks, const char *name)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	uint32_t at = (uint32_t)chunks->mapped.count;
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
	return NULL;
}

void memory_chunks_deinit(struct memory_chunks *chunks)
{
	for (size_t i = 0; i < chunks->mapped.count; i++)
		munmap(chunks->mapped.items[i], chunks->bytes);
	array_deinit(&chunks->mapped);
}
