/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/deferred_stacks.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "process/process_memory.h"
#include "process/recorded_mappings.h"
#include "unwind/user_unwind.h"

/* What a process that ended had mapped can be walked through for 2 s (process/mapping_cache.c), if
 * it was recorded in the kernel, for RECORDED_KEPT_NS. */
#define KEPT_NS      (NS_PER_S * 3 / 2)
#define SLOT_KEPT_NS (RECORDED_KEPT_NS * 4 / 5)

struct pending_stack {
	struct deferred_stack *stack;  /* without what was not copied */
	struct unwind_process process; /* as it was then; count 0: unknown */
	uint64_t came_ns, walked_ns;
	bool is_over;
};

static size_t size_of(const struct deferred_stack *stack)
{
	return offsetof(struct deferred_stack, words) + stack->count * sizeof(*stack->words);
}

static uint64_t end_of(const struct deferred_stack *stack)
{
	return stack->sp + stack->count * sizeof(*stack->words);
}

/* Is more of the stack behind the copy? */
static bool goes_on(const struct deferred_stack *stack)
{
	return stack->count > array_length(stack->words) - DEFERRED_PAGE / sizeof(*stack->words);
}

/* Of one process, whose part of a table may never come. */
#define OF_PROCESS_MAX (DEFERRED_MAX / 4)

static size_t count_of_process(const struct deferred_stacks *stacks, uint32_t pid)
{
	size_t count = 0;

	for (size_t i = 0; i < stacks->pending.count; i++)
		count += stacks->pending.items[i].stack->pid == pid;
	return count;
}

static int take_stack(void *context, void *data, size_t size)
{
	struct deferred_stacks *stacks = context;
	const struct deferred_stack *stack = data;
	struct pending_stack pending = { .came_ns = clock_ns(CLOCK_MONOTONIC) };

	if (size < sizeof(*stack) || stack->count > array_length(stack->words))
		return 0;
	unwinder_want_words(stacks->unwinder, stack->pid, &stack->process, stack->words,
			    stack->count);
	if (goes_on(stack))
		unwinder_note_stack(stacks->unwinder, stack->pid, end_of(stack));
	if (stack->process.slot)
		pending.process = stack->process;
	else
		(void)unwinder_process(stacks->unwinder, stack->pid, &pending.process);
	pending.stack = malloc(size_of(stack));
	if (!pending.stack)
		return 0;
	memcpy(pending.stack, stack, size_of(stack));
	if (count_of_process(stacks, stack->pid) >= OF_PROCESS_MAX ||
	    !array_push(&stacks->pending, pending))
		free(pending.stack);
	return 0;
}

/* Programs may send as many more. */
static void set_room(struct deferred_stacks *stacks)
{
	const size_t count = stacks->pending.count;

	__atomic_store_n(&stacks->chunks->state->deferred_left,
			 count < DEFERRED_MAX ? (int32_t)(DEFERRED_MAX - count) : 0,
			 __ATOMIC_RELEASE);
}

struct error *deferred_stacks_open(struct deferred_stacks *stacks, int ring)
{
	stacks->ring = ring_buffer__new(ring, take_stack, stacks, NULL);
	if (!stacks->ring)
		return error_system(errno, "ring of stacks");
	set_room(stacks);
	return NULL;
}

void deferred_stacks_collect(struct deferred_stacks *stacks)
{
	if (!stacks->ring)
		return;
	(void)ring_buffer__consume(stacks->ring);
	set_room(stacks);
}

/* --- walking --- */

/* Words at the end of the copy that are compared with what is there now. */
#define COMPARED_WORDS 128

struct copy_reading {
	const struct deferred_stack *stack;
	struct unwind_window *window;
	bool was_compared, is_there; /* the end of the copy, now */
};

static bool is_still_there(const struct copy_reading *r)
{
	const struct deferred_stack *stack = r->stack;
	__u64 words[COMPARED_WORDS];
	const uint64_t at = end_of(stack) - sizeof(words);

	return goes_on(stack) &&
	       r->window->read(r->window->context, at, words, sizeof(words)) == sizeof(words) &&
	       memcmp(words, stack->words + stack->count - COMPARED_WORDS, sizeof(words)) == 0;
}

static bool read_copy(void *context, uint64_t address, uint64_t *ret)
{
	struct copy_reading *r = context;
	const struct deferred_stack *stack = r->stack;
	const uint64_t distance = address - stack->sp;

	if (distance % sizeof(*stack->words) == 0 &&
	    distance / sizeof(*stack->words) < stack->count) {
		*ret = stack->words[distance / sizeof(*stack->words)];
		return true;
	}
	/* Another stack, as that of a coroutine, may have changed in any way. */
	if (address < end_of(stack))
		return false;
	if (!r->was_compared) {
		r->is_there = is_still_there(r);
		r->was_compared = true;
	}
	return r->is_there && unwind_window_word(r->window, address, ret);
}

size_t deferred_stack_walk(const struct deferred_stack *stack, const struct unwind_store *store,
			   const struct unwind_process *process, struct unwind_window *window,
			   bool only_tables, size_t most, const __u64 *found, size_t found_count,
			   uint64_t *frames, enum unwind_stop *ret_stop)
{
	struct copy_reading reading = { .stack = stack, .window = window };
	const struct unwind_reader reader = { .word = read_copy,
					      .context = &reading,
					      .only_tables = only_tables };
	const struct unwind_registers registers = {
		.ip = stack->ip,
		.sp = stack->sp,
		.bp = stack->bp,
		.bx = stack->bx,
	};
	size_t count;

	if (found_count > most)
		return 0;
	count = user_unwind(store, process, &registers, &reader, frames, most, ret_stop);
	for (size_t i = 0; i < found_count; i++)
		if (count < found_count || frames[i] != found[i])
			return 0;
	return count;
}

/* The whole stack stands for the record from now on. */
static void move_record(struct deferred_stacks *stacks, const struct deferred_stack *stack,
			const uint64_t *frames, size_t count, enum unwind_stop stop)
{
	const uint32_t whole =
		profile_chunks_put(stacks->chunks, frames, count, stack_end_of(stop));

	if (whole <= STACK_LOST)
		return;
	profile_chunks_move(stacks->chunks, stack->number, whole);
	stacks->done++;
	stacks->ends[stop]++;
}

/* `context` points to the number of the process. */
static size_t read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const uint32_t *pid = context;

	return process_memory_read(*pid, address, into, size);
}

/* False: it is to be walked again when more is made. */
static bool walk_pending(struct deferred_stacks *stacks, const struct pending_stack *pending)
{
	const struct deferred_stack *stack = pending->stack;
	struct unwind_process process = pending->process;
	uint32_t pid = stack->pid;
	struct unwind_window window = { .read = read_memory, .context = &pid };
	uint64_t frames[PROFILE_USER_FRAMES_MAX];
	const __u64 *found;
	enum unwind_stop stop = UNWIND_NO_TABLE;
	enum stack_end end;
	size_t count;

	/* What is recorded has tables, which get parts in place. */
	if (!process.slot)
		(void)unwinder_process(stacks->unwinder, stack->pid, &process);
	/* In another epoch its number may be that of another stack. */
	if (stack->epoch != stacks->chunks->state->stack_epoch)
		return true;
	count = profile_chunks_stack(stacks->chunks, stack->number, &found, &end);
	if (!count || end != STACK_INCOMPLETE || !process.count)
		return !count;
	guard_about(pid);
	count = deferred_stack_walk(stack, unwinder_store(stacks->unwinder), &process, &window,
				    stacks->only_tables, stacks->most_frames, found, count, frames,
				    &stop);
	if (!count || stop == UNWIND_NO_TABLE)
		return !count;
	move_record(stacks, stack, frames, count, stop);
	return true;
}

static bool is_due(const struct deferred_stacks *stacks, const struct pending_stack *pending)
{
	const uint64_t changed_ns =
		pending->process.slot
			? unwinder_parts_made_ns(stacks->unwinder)
			: unwinder_published_ns(stacks->unwinder, pending->stack->pid);

	return !pending->walked_ns || changed_ns > pending->walked_ns;
}

static void walk_rest(void *context)
{
	struct deferred_stacks *stacks = context;

	while (stacks->next < stacks->pending.count) {
		struct pending_stack *pending = &stacks->pending.items[stacks->next++];

		/* A walk that is given up is over. */
		if (is_due(stacks, pending)) {
			pending->is_over = true;
			pending->walked_ns = clock_ns(CLOCK_MONOTONIC);
			pending->is_over = walk_pending(stacks, pending);
		}
	}
}

static uint64_t kept_ns(const struct pending_stack *pending)
{
	return pending->process.slot ? SLOT_KEPT_NS : KEPT_NS;
}

void deferred_stacks_walk(struct deferred_stacks *stacks)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	size_t kept = 0;

	if (!stacks->pending.count)
		return;
	stacks->next = 0;
	(void)guard_run_whole(stacks->guard, walk_rest, stacks);
	for (size_t i = 0; i < stacks->pending.count; i++) {
		struct pending_stack *pending = &stacks->pending.items[i];

		if (pending->is_over || now_ns - pending->came_ns > kept_ns(pending))
			free(pending->stack);
		else
			stacks->pending.items[kept++] = *pending;
	}
	stacks->pending.count = kept;
	set_room(stacks);
}

void deferred_stacks_close(struct deferred_stacks *stacks)
{
	ring_buffer__free(stacks->ring);
	for (size_t i = 0; i < stacks->pending.count; i++)
		free(stacks->pending.items[i].stack);
	array_deinit(&stacks->pending);
	stacks->ring = NULL;
}
