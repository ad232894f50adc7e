/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks with hostile registers, rules, tables, mappings and stacks: they end, leave no table, read
 * nothing beyond user space, and go the same way twice.
 */
#include <string.h>

#include "base/user_space.h"
#include "walk_fuzz.h"

struct reads {
	const struct walk_input *input;
	size_t count;
};

static bool read_word(void *context, uint64_t address, uint64_t *ret)
{
	struct reads *reads = context;

	must(address < USER_SPACE_LIMIT);
	reads->count++;
	return walk_input_word(reads->input, address, ret);
}

static size_t walk(const struct walk_input *input, uint64_t *frames, size_t most,
		   enum unwind_stop *ret_stop)
{
	struct reads reads = { .input = input };
	const struct unwind_reader reader = { .word = read_word,
					      .context = &reads,
					      .only_tables = input->only_tables };
	size_t count = user_unwind(input->store, &input->process, &input->registers, &reader,
				   frames, most, ret_stop);

	must(*ret_stop > UNWIND_GOES_ON && *ret_stop < UNWIND_STOPS);
	walk_check(input, frames, count, most);
	/* Of a frame: what its CFA is counted from, the return address and two registers. */
	must(reads.count <= count * 4);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct walk_input input = walk_input_of(data, size);
	const size_t most = 1 + input.head.other % WALK_MOST;
	uint64_t frames[WALK_MOST], again[WALK_MOST];
	enum unwind_stop stop, stop_again;
	size_t count = walk(&input, frames, most, &stop);

	must(walk(&input, again, most, &stop_again) == count && stop == stop_again);
	must(memcmp(frames, again, count * sizeof(*frames)) == 0);
	return 0;
}
