/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/whole_stacks.h"

#include "sched/profile_record.h"

void whole_stacks_init(struct whole_stacks *stacks, const struct kallsyms *symbols)
{
	*stacks = (struct whole_stacks){ .symbols = symbols };
	arena_init(&stacks->arena, SIZE_MAX);
	names_init(&stacks->outlines, &stacks->arena);
}

void whole_stacks_deinit(struct whole_stacks *stacks)
{
	word_map_deinit(&stacks->by_outline);
	array_deinit(&stacks->found);
	names_deinit(&stacks->outlines);
	arena_deinit(&stacks->arena);
}

/* The innermost frames of a whole stack are of the scheduler. */
static bool is_whole(const struct whole_stacks *stacks, const __u64 *frames, size_t count)
{
	return count && count <= PROFILE_KERNEL_FRAMES_MAX &&
	       kallsyms_is_scheduler(stacks->symbols, frames[0]);
}

struct error *whole_stacks_add(struct whole_stacks *stacks, const __u64 *frames, size_t count,
			       uint32_t number, uint64_t ns)
{
	__u64 outline[PROFILE_KERNEL_FRAMES_MAX];
	const struct name *name;
	size_t kept = 0;
	uint32_t *place;

	if (!stacks->symbols || !is_whole(stacks, frames, count))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (!kallsyms_is_scheduler(stacks->symbols, frames[i]))
			outline[kept++] = frames[i];
	name = names_intern(&stacks->outlines, outline, kept * sizeof(*outline));
	place = name ? word_map_at(&stacks->by_outline, (struct words){ { (uintptr_t)name } })
		     : NULL;
	if (!place)
		return &error_no_memory;
	if (*place == WORD_MAP_NEW) {
		if (!array_push(&stacks->found, (struct whole_stack){ .number = number }))
			return &error_no_memory;
		*place = (uint32_t)stacks->found.count - 1;
	}
	if (stacks->found.items[*place].ns < ns)
		stacks->found.items[*place] = (struct whole_stack){ number, ns };
	return NULL;
}

uint32_t whole_stacks_find(const struct whole_stacks *stacks, const __u64 *frames, size_t count,
			   uint32_t number)
{
	const struct name *name;

	if (!stacks->symbols || !count || is_whole(stacks, frames, count))
		return number;
	name = names_find(&stacks->outlines, frames, count * sizeof(*frames));
	if (!name)
		return number;
	return stacks->found
		.items[word_map_find(&stacks->by_outline, (struct words){ { (uintptr_t)name } })]
		.number;
}
