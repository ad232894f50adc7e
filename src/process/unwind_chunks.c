/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/unwind_chunks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define RULES_BYTES (UNWIND_RULES_MAX * sizeof(struct unwind_rule))

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

struct error *unwind_chunks_init(struct unwind_chunks *chunks, int outer, int rules)
{
	void *mapped =
		mmap(NULL, whole_pages(RULES_BYTES), PROT_READ | PROT_WRITE, MAP_SHARED, rules, 0);

	if (mapped == MAP_FAILED)
		return error_system(errno, "memory of unwind rules");
	*chunks = (struct unwind_chunks){ .outer = outer, .rules = mapped };
	return NULL;
}

/* Each change of the outer map waits until no program is in the old one, some 20 ms: so several are
 * put in at once, the more the more there are. */
#define AHEAD_MIN 4
#define AHEAD_MAX 64

struct batch {
	uint32_t count;
	uint32_t numbers[AHEAD_MAX];
	int maps[AHEAD_MAX];
	void *mapped[AHEAD_MAX];
};

static int add_map(struct batch *batch, uint32_t number)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	_cleanup_close_ int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ctprof_unwind",
						 sizeof(uint32_t), UNWIND_CHUNK_BYTES, 1, &options);
	void *mapped;

	if (map < 0)
		return errno;
	mapped = mmap(NULL, whole_pages(UNWIND_CHUNK_BYTES), PROT_READ | PROT_WRITE, MAP_SHARED,
		      map, 0);
	if (mapped == MAP_FAILED)
		return errno;
	batch->numbers[batch->count] = number;
	batch->mapped[batch->count] = mapped;
	batch->maps[batch->count++] = take_fd(map);
	return 0;
}

/* Puts all of it into the outer map, or the first at least, for not every kernel takes several. */
static int put_batch(const struct unwind_chunks *chunks, struct batch *batch, uint32_t *ret_put)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t count = batch->count;

	if (bpf_map_update_batch(chunks->outer, batch->numbers, batch->maps, &count, &options)) {
		count = 1;
		if (bpf_map_update_elem(chunks->outer, batch->numbers, batch->maps, BPF_ANY))
			return errno;
	}
	*ret_put = count;
	return 0;
}

static int add_chunks(struct unwind_chunks *chunks)
{
	uint32_t there = (uint32_t)chunks->mapped.count, ahead = AHEAD_MIN + there / 4, put = 0;
	struct batch batch = { 0 };
	int failed = 0;

	if (ahead > AHEAD_MAX)
		ahead = AHEAD_MAX;
	if (!array_reserve(&chunks->mapped, ahead))
		return ENOMEM;
	while (!failed && batch.count < ahead && there + batch.count < UNWIND_CHUNKS_MAX)
		failed = add_map(&batch, there + batch.count);
	if (batch.count)
		failed = put_batch(chunks, &batch, &put);
	for (uint32_t i = 0; i < batch.count; i++) {
		/* The outer map has it now. */
		close(batch.maps[i]);
		if (i < put)
			chunks->mapped.items[chunks->mapped.count++] = batch.mapped[i];
		else
			munmap(batch.mapped[i], whole_pages(UNWIND_CHUNK_BYTES));
	}
	return failed;
}

struct error *unwind_chunks_add(void *context, uint32_t number, uint32_t **ret)
{
	struct unwind_chunks *chunks = context;
	int failed = number < chunks->mapped.count ? 0 : add_chunks(chunks);

	if (!failed && number >= chunks->mapped.count)
		failed = ENOSPC;
	if (failed)
		return error_system(failed, "memory of unwind tables");
	*ret = chunks->mapped.items[number];
	return NULL;
}

void unwind_chunks_deinit(struct unwind_chunks *chunks)
{
	for (size_t i = 0; i < chunks->mapped.count; i++)
		munmap(chunks->mapped.items[i], whole_pages(UNWIND_CHUNK_BYTES));
	array_deinit(&chunks->mapped);
	if (chunks->rules)
		munmap(chunks->rules, whole_pages(RULES_BYTES));
	chunks->rules = NULL;
}
