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

#define CHUNKS_AT_ONCE 64

/* Chunks that are not in the outer map yet. */
struct chunk_batch {
	uint32_t count;
	uint32_t numbers[CHUNKS_AT_ONCE];
	int maps[CHUNKS_AT_ONCE];
	void *mapped[CHUNKS_AT_ONCE];
};

static int create_chunk(const struct memory_chunks *chunks, const char *name,
			struct chunk_batch *batch)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	_cleanup_close_ int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t),
						 chunks->entry_bytes, chunks->entries, &options);
	void *mapped;

	if (map < 0)
		return errno;
	mapped = mmap(NULL, chunks->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (mapped == MAP_FAILED)
		return errno;
	batch->numbers[batch->count] =
		chunks->first + (uint32_t)chunks->mapped.count + batch->count;
	batch->mapped[batch->count] = mapped;
	batch->maps[batch->count++] = take_fd(map);
	return 0;
}

/* Put them into the outer map: at once, or one by one, for older kernels do not take several. */
static int put_batch(const struct memory_chunks *chunks, struct chunk_batch *batch,
		     uint32_t *ret_put)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t count = batch->count;

	if (count > 1 &&
	    !bpf_map_update_batch(chunks->outer, batch->numbers, batch->maps, &count, &options)) {
		*ret_put = count;
		return 0;
	}
	for (*ret_put = 0; *ret_put < batch->count; ++*ret_put)
		if (bpf_map_update_elem(chunks->outer, &batch->numbers[*ret_put],
					&batch->maps[*ret_put], BPF_ANY))
			return errno;
	return 0;
}

static int add_batch(struct memory_chunks *chunks, const char *name, uint32_t count)
{
	struct chunk_batch batch = { 0 };
	uint32_t put = 0;
	int failed = 0;

	while (!failed && batch.count < count)
		failed = create_chunk(chunks, name, &batch);
	/* Use the chunks that were created even if others failed. */
	if (batch.count) {
		const int unput = put_batch(chunks, &batch, &put);

		failed = failed ? failed : unput;
	}
	for (uint32_t i = 0; i < batch.count; i++) {
		/* The outer map holds the others. */
		if (i == 0 && put && chunks->kept < 0)
			chunks->kept = batch.maps[i];
		else
			close(batch.maps[i]);
		if (i < put)
			chunks->mapped.items[chunks->mapped.count++] = batch.mapped[i];
		else
			munmap(batch.mapped[i], chunks->bytes);
	}
	return failed;
}

struct error *memory_chunks_add(struct memory_chunks *chunks, const char *name, uint32_t count)
{
	int failed = 0;

	count = (uint32_t)memory_limit_allow(chunks->limit, count, chunks->bytes);
	if (!array_reserve(&chunks->mapped, count))
		return &error_no_memory;
	while (!failed && count) {
		const uint32_t now = count < CHUNKS_AT_ONCE ? count : CHUNKS_AT_ONCE;

		failed = add_batch(chunks, name, now);
		count -= now;
	}
	return failed ? error_system(failed, "memory shared with the kernel") : NULL;
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
