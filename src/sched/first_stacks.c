/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/first_stacks.h"

#include "base/clock.h"
#include "process/process_memory.h"

/* `context` points to the number of the process. */
static size_t read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const uint32_t *pid = context;

	return process_memory_read(*pid, address, into, size);
}

size_t first_stacks_walk(const struct profile_record *t, const struct unwind_store *store,
			 const struct unwind_process *process, struct unwind_window *window,
			 bool only_tables, size_t most, uint64_t *frames,
			 enum unwind_stop *ret_stop)
{
	const struct unwind_reader reader = { .word = unwind_window_word,
					      .context = window,
					      .only_tables = only_tables };
	const struct unwind_registers registers = {
		.ip = t->left_ip,
		.sp = t->left_sp,
		.bp = t->left_bp,
		.bx = t->left_bx,
	};
	size_t count = user_unwind(store, process, &registers, &reader, frames, most, ret_stop);

	/* Without tables, walks by frame pointers are what was asked for. */
	if (!store && *ret_stop == UNWIND_NO_PROCESS)
		*ret_stop = UNWIND_POINTER_END;
	return count;
}

static size_t walk_stack(const struct profile_record *t, struct unwinder *unwinder,
			 bool only_tables, size_t most, uint64_t *frames, enum stack_end *ret_end)
{
	uint32_t pid = t->task.tgid;
	struct unwind_window window = { .read = read_memory, .context = &pid };
	struct unwind_process process = { 0 };
	enum unwind_stop stop;
	size_t count;

	guard_about(t->task.tgid);
	if (unwinder)
		unwinder_process(unwinder, t->task.tgid, &process);
	count = first_stacks_walk(t, unwinder ? unwinder_store(unwinder) : NULL, &process, &window,
				  only_tables, most, frames, &stop);
	*ret_end = stack_end_of(stop);
	if (unwinder && stop == UNWIND_NO_TABLE)
		unwinder_note_stack(unwinder, t->task.tgid, t->left_sp);
	return count;
}

/* Is it still in the wait in which its registers were read? */
static bool is_where_it_was(const struct profile_record *t)
{
	return t->task.since == t->looked && t->task.state != CLASS_ON_CPU &&
	       !(t->task.flags & RECORD_ENDED);
}

/* Has it no stack yet, or one whose walk knew too little? */
static bool lacks_stack(const struct profile_chunks *chunks, uint32_t stack)
{
	const __u64 *frames;
	enum stack_end end;

	return stack == STACK_NONE ||
	       (profile_chunks_stack(chunks, stack, &frames, &end) && end == STACK_INCOMPLETE);
}

static void add_stack_owner(struct first_stacks *stacks, struct profile_record *t)
{
	uint64_t frames[PROFILE_USER_FRAMES_MAX];
	uint32_t before = t->user_stack, stack;
	enum stack_end end;
	size_t depth;

	depth = walk_stack(t, stacks->unwinder, stacks->only_tables, stacks->most_frames, frames,
			   &end);
	if (!is_where_it_was(t) || (before && end == STACK_INCOMPLETE))
		return;
	stack = profile_chunks_put(stacks->chunks, frames, depth, end);
	if (stack > STACK_LOST && is_where_it_was(t))
		__atomic_compare_exchange_n(&t->user_stack, &before, stack, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
}

static bool is_lacking(const struct first_stacks *stacks, const struct profile_record *t)
{
	return t->left_ip && t->is_kept && is_where_it_was(t) &&
	       lacks_stack(stacks->chunks, t->user_stack);
}

/* --- those that lack one --- */

/* The program that lists the thread sets the flag after it has written what is read here, and this
 * clears it before: one of the two sees the other. False: it is not listed any more. */
static bool unlist(const struct first_stacks *stacks, struct profile_record *t)
{
	if (!t || !t->is_listed || !__atomic_exchange_n(&t->is_listed, 0, __ATOMIC_SEQ_CST) ||
	    !is_lacking(stacks, t))
		return false;
	return !__atomic_exchange_n(&t->is_listed, 1, __ATOMIC_SEQ_CST);
}

/* Without memory it keeps what it has. */
static void list(struct first_stacks *stacks, struct profile_record *t, uint32_t number)
{
	const struct lacking_stack lacking = { .thread = number,
					       .walked_ns = clock_ns(CLOCK_MONOTONIC) };

	t->is_listed = array_push(&stacks->lacking, lacking);
}

void first_stacks_collect(struct first_stacks *stacks)
{
	struct profile_state *state = stacks->chunks->state;
	const uint32_t count = __atomic_load_n(&state->lacking_count, __ATOMIC_ACQUIRE);

	stacks->is_overrun |= count - stacks->taken > LACKING_MAX;
	while (!stacks->is_overrun && stacks->taken != count) {
		uint32_t *slot = &state->lacking[stacks->taken & (LACKING_MAX - 1)];
		const uint32_t number = __atomic_exchange_n(slot, 0, __ATOMIC_ACQUIRE);

		/* It is being written. */
		if (!number)
			break;
		stacks->taken++;
		stacks->is_overrun =
			!array_push(&stacks->lacking, (struct lacking_stack){ .thread = number });
	}
}

bool first_stacks_has_new(const struct first_stacks *stacks)
{
	return stacks->taken !=
	       __atomic_load_n(&stacks->chunks->state->lacking_count, __ATOMIC_ACQUIRE);
}

static void drop_those_over(struct first_stacks *stacks)
{
	size_t kept = 0;

	for (size_t i = 0; i < stacks->lacking.count; i++)
		if (!stacks->lacking.items[i].is_over)
			stacks->lacking.items[kept++] = stacks->lacking.items[i];
	stacks->lacking.count = kept;
}

static void take_rest_of_lacking(void *context)
{
	struct first_stacks *stacks = context;

	while (stacks->next < stacks->lacking.count) {
		struct lacking_stack *lacking = &stacks->lacking.items[stacks->next++];
		struct profile_record *t = profile_chunks_thread(stacks->chunks, lacking->thread);
		const uint64_t walked_ns =
			t && t->looked > lacking->walked_ns ? t->looked : lacking->walked_ns;

		if (t && is_lacking(stacks, t) &&
		    unwinder_published_ns(stacks->unwinder, t->task.tgid) > walked_ns) {
			lacking->walked_ns = clock_ns(CLOCK_MONOTONIC);
			add_stack_owner(stacks, t);
		}
		lacking->is_over = (!t || !is_lacking(stacks, t)) && !unlist(stacks, t);
	}
}

void first_stacks_take_lacking(struct first_stacks *stacks)
{
	first_stacks_collect(stacks);
	if (stacks->is_overrun) {
		first_stacks_take(stacks);
		return;
	}
	stacks->next = 0;
	if (!stacks->lacking.count)
		return;
	(void)guard_run_whole(stacks->guard, take_rest_of_lacking, stacks);
	drop_those_over(stacks);
}

size_t first_stacks_lacking(const struct first_stacks *stacks)
{
	return stacks->is_overrun ? tracker_count(&stacks->chunks->tracker) : stacks->lacking.count;
}

void first_stacks_deinit(struct first_stacks *stacks)
{
	array_deinit(&stacks->lacking);
}

/* --- all --- */

static void take_rest(void *context)
{
	struct first_stacks *stacks = context;
	const uint32_t count = tracker_count(&stacks->chunks->tracker);

	while (stacks->next < count) {
		const uint32_t number = (uint32_t)stacks->next++;
		struct profile_record *t = profile_chunks_thread(stacks->chunks, number);

		if (t && is_lacking(stacks, t))
			add_stack_owner(stacks, t);
		if (t && (is_lacking(stacks, t) || unlist(stacks, t)))
			list(stacks, t, number);
	}
}

void first_stacks_take(struct first_stacks *stacks)
{
	struct profile_state *state = stacks->chunks->state;

	/* What is listed from here on is in the ring, and maybe twice. */
	stacks->taken = __atomic_load_n(&state->lacking_count, __ATOMIC_ACQUIRE);
	stacks->is_overrun = false;
	array_clear(&stacks->lacking);
	stacks->next = 1;
	/* Without a thread they have no stack of user space, as those that cannot be read. */
	(void)guard_run_whole(stacks->guard, take_rest, stacks);
}
