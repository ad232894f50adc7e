/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of sleeping threads, by hostile registers and from memory of any place and length that
 * comes in pieces: the same as without a window.
 */
#include <string.h>

#include "base/user_space.h"
#include "sched/first_stacks.h"
#include "walk_fuzz.h"

static size_t piece_of(const struct walk_input *input)
{
	return input->head.flags & WALK_CUTS_READS ? input->head.other % 16 : SIZE_MAX;
}

static size_t read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct walk_input *input = context;
	const uint64_t start = input->head.memory_start;
	size_t there;

	must(size && size <= UNWIND_WINDOW_BYTES);
	must(address < USER_SPACE_LIMIT && size <= USER_SPACE_LIMIT - address);
	if (address < start || address - start >= input->bytes)
		return 0;
	there = input->bytes - (size_t)(address - start);
	there = there < size ? there : size;
	there = there < piece_of(input) ? there : piece_of(input);
	memcpy(into, input->memory + (address - start), there);
	return there;
}

/* The same without a window. */
static bool read_word(void *context, uint64_t address, uint64_t *ret)
{
	const struct walk_input *input = context;

	return piece_of(input) >= 8 && address <= USER_SPACE_LIMIT - 8 &&
	       walk_input_word(input, address, ret);
}

static void check_words(struct walk_input *input, const uint8_t *data, size_t size)
{
	struct unwind_window window = { .read = read_memory, .context = input };
	uint64_t address, word, expected;

	for (; size >= sizeof(address); data += sizeof(address), size -= sizeof(address)) {
		bool is_there;

		memcpy(&address, data, sizeof(address));
		is_there = read_word(input, address, &expected);
		must(unwind_window_word(&window, address, &word) == is_there);
		must(!is_there || word == expected);
		must(window.bytes <= sizeof(window.memory));
	}
}

static void check_walk(struct walk_input *input)
{
	struct unwind_window window = { .read = read_memory, .context = input };
	const struct unwind_reader reader = { .word = read_word,
					      .context = input,
					      .only_tables = input->only_tables };
	const struct profile_record record = {
		.left_ip = input->registers.ip,
		.left_sp = input->registers.sp,
		.left_bp = input->registers.bp,
		.left_bx = input->registers.bx,
	};
	uint64_t frames[WALK_MOST], expected[WALK_MOST];
	enum unwind_stop stop, end;
	size_t count;

	count = first_stacks_walk(&record, input->store, &input->process, &window,
				  input->only_tables, WALK_MOST, frames, &end);
	walk_check(input, frames, count, WALK_MOST);
	input->registers.has_others = false;
	must(user_unwind(input->store, &input->process, &input->registers, &reader, expected,
			 WALK_MOST, &stop) == count);
	must(memcmp(frames, expected, count * sizeof(*frames)) == 0);
	if (!input->store && stop == UNWIND_NO_PROCESS)
		stop = UNWIND_POINTER_END;
	must(end == stop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk_input input = walk_input_of(data, size);

	check_words(&input, data, size);
	check_walk(&input);
	return 0;
}
