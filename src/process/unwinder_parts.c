/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of large tables that walks need (unwind/pool.h). A walk ends at the first frame in code
 * whose part is not made, and would do so again for each frame further up. So the stack of such a
 * walk is read, and each of its words that may be a return address requests its part.
 */
#include "process/unwinder_internal.h"

#include "base/user_space.h"
#include "process/process_memory.h"

/* Of a stack, what is read at most: deep recursion takes some hundred KiB. */
#define STACK_WINDOW ((size_t)16 << 10)
#define STACK_BYTES  ((size_t)256 << 10)

/* Stacks that wait to be read. */
#define STACKS_MAX 1024

/* How often to look: while parts are made, and for a while after the last one was needed, since a
 * program that does something new needs more of them. */
#define AWAITING_NS   (NS_PER_S / 1000)
#define NEEDING_NS    (NS_PER_S / 50)
#define NEEDS_MORE_NS (NS_PER_S / 5)

void unwinder_note_stack(struct unwinder *unwinder, uint32_t pid, uint64_t sp)
{
	/* Without memory the walk itself requests what it met. */
	if (unwinder->stacks.count < STACKS_MAX)
		(void)array_push(&unwinder->stacks, (struct short_stack){ sp, pid });
}

/* The last mapping that begins at or before the address; there is one. */
static const struct unwind_mapping *find_mapping(const struct unwind_mapping *mappings,
						 uint32_t count, uint64_t address)
{
	uint32_t low = 0, high = count;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (mappings[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	return &mappings[low];
}

/* The mappings must be there: what is at a location that was given back may be anything. */
static void want_words(struct unwinder *unwinder, uint32_t location, uint32_t mapping_count,
		       const __u64 *words, size_t count)
{
	const struct unwind_mapping *mappings =
		(const void *)unwind_store_at(unwinder->store, location);
	const uint64_t lowest = mappings[0].start, highest = mappings[mapping_count - 1].end;

	for (size_t i = 0; i < count; i++) {
		const uint64_t called_from = words[i] - 1;
		const struct unwind_mapping *mapping;

		if (called_from < lowest || called_from >= highest)
			continue;
		mapping = find_mapping(mappings, mapping_count, called_from);
		if (called_from < mapping->end && mapping->kind == UNWIND_MAPPING_TABLE)
			unwind_store_want(unwinder->store, mapping->table,
					  called_from - mapping->delta);
	}
}

void unwinder_want_words(struct unwinder *unwinder, uint32_t pid,
			 const struct unwind_process *walked, const __u64 *words, size_t count)
{
	const struct process_entry *process = process_table_find(unwinder->processes, pid);
	const struct cached_mappings *space =
		process && process->unwinding ? process->unwinding->mappings : NULL;

	/* A slot has mappings of known files, of whichever process. */
	if (recorded_mappings_has(unwinder->recorded, walked)) {
		want_words(unwinder, walked->space, walked->count, words, count);
	} else if (space) {
		process->unwinding->needs_parts = true;
		want_words(unwinder, space->location, space->count, words, count);
	}
}

static void read_stack(struct unwinder *unwinder, const struct short_stack *stack)
{
	const uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct process_entry *process = process_table_find(unwinder->processes, stack->pid);
	const struct cached_mappings *space =
		process && process->unwinding ? process->unwinding->mappings : NULL;
	__u64 words[STACK_WINDOW / sizeof(__u64)];
	uint64_t at = stack->sp & ~(uint64_t)7;
	size_t got = array_length(words);

	/* One that waits for whole tables is walked again when it has them. */
	if (!space || space->waits || !unwinder_is_user_free(unwinder, process->unwinding))
		return;
	process->unwinding->needs_parts = true;
	guard_about(stack->pid);
	for (size_t done = 0; done < STACK_BYTES && got == array_length(words) &&
			      at < USER_SPACE_LIMIT - sizeof(words);
	     done += sizeof(words), at += sizeof(words)) {
		got = process_memory_read(stack->pid, at, words, sizeof(words)) / sizeof(*words);
		want_words(unwinder, space->location, space->count, words, got);
	}
	unwinder_charge(unwinder, process->unwinding, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
}

void unwinder_request_parts(struct unwinder *unwinder)
{
	const uint64_t end_ns = unwinder_end_of_work();
	bool awaited;

	while (unwinder->stacks.count && !unwinder_is_over(end_ns)) {
		const struct short_stack stack = unwinder->stacks.items[unwinder->stacks.count - 1];

		unwinder->stacks.count--;
		read_stack(unwinder, &stack);
	}
	awaited = unwind_table_cache_request_parts(unwinder->tables);
	unwinder->parts_ns = clock_ns(CLOCK_MONOTONIC);
	if (awaited)
		unwinder->needed_ns = unwinder->parts_ns;
	unwinder->awaits_parts = awaited;
}

bool unwinder_wait_for_parts(struct unwinder *unwinder, uint64_t until_ns)
{
	bool had = false;

	for (;;) {
		unwinder_tick(unwinder);
		if (!unwinder->awaits_parts && !unwinder->stacks.count)
			return had;
		had = true;
		if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return false;
		unwind_table_cache_wait(unwinder->tables, until_ns);
	}
}

uint64_t unwinder_parts_due_ns(const struct unwinder *unwinder)
{
	if (unwinder->awaits_parts)
		return unwinder->parts_ns + AWAITING_NS;
	if (unwinder->needed_ns && unwinder->parts_ns - unwinder->needed_ns < NEEDS_MORE_NS)
		return unwinder->parts_ns + NEEDING_NS;
	return UINT64_MAX;
}
