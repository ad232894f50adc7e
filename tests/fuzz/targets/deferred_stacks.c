/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that are walked further in a copy, by hostile registers: what is in the copy, or behind it
 * and unchanged, is as if it were read from memory.
 */
#include <string.h>

#include "base/user_space.h"
#include "sched/deferred_stacks.h"
#include "walk_fuzz.h"

static size_t read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct walk_input *input = context;
	const uint64_t start = input->head.memory_start;
	size_t there;

	must(size && address < USER_SPACE_LIMIT && size <= USER_SPACE_LIMIT - address);
	if (address < start || address - start >= input->bytes)
		return 0;
	there = input->bytes - (size_t)(address - start);
	there = there < size ? there : size;
	memcpy(into, input->memory + (address - start), there);
	return there;
}

static void copy_words(const struct walk_input *input, struct deferred_stack *stack)
{
	const size_t most = input->head.flags & WALK_CUTS_READS ? input->head.other % 2049 : 2048;
	uint64_t word;

	for (; stack->count < most &&
	       walk_input_word(input, stack->sp + stack->count * sizeof(word), &word);
	     stack->count++)
		stack->words[stack->count] = word;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk_input input = walk_input_of(data, size);
	struct unwind_window window = { .read = read_memory, .context = &input };
	static struct deferred_stack stack;
	uint64_t frames[WALK_MOST], again[WALK_MOST];
	enum unwind_stop stop;
	size_t count;

	stack = (struct deferred_stack){
		.ip = input.registers.ip,
		.sp = input.registers.sp,
		.bp = input.registers.bp,
		.bx = input.registers.bx,
	};
	if (stack.sp < USER_SPACE_LIMIT - sizeof(stack.words))
		copy_words(&input, &stack);
	count = deferred_stack_walk(&stack, input.store, &input.process, &window, input.only_tables,
				    WALK_MOST, NULL, 0, frames, &stop);
	walk_check(&input, frames, count, WALK_MOST);
	must(stop > UNWIND_GOES_ON && stop < UNWIND_STOPS);
	/* What was found before are its first frames, or it is another stack. */
	must(deferred_stack_walk(&stack, input.store, &input.process, &window, input.only_tables,
				 WALK_MOST, (const __u64 *)frames, count, again, &stop) == count);
	must(memcmp(frames, again, count * sizeof(*frames)) == 0);
	frames[count - 1]++;
	must(!deferred_stack_walk(&stack, input.store, &input.process, &window, input.only_tables,
				  WALK_MOST, (const __u64 *)frames, count, again, &stop));
	return 0;
}
