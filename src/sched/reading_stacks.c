/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sched/tracer_frames.h"

static struct error *push_note(struct profile_reading *r, const char *note, uint32_t *node)
{
	struct frame frame = { .kind = FRAME_NOTE,
			       .name = profile_name(r->profile, note, strlen(note)) };
	uint32_t number;
	struct error *err =
		frame.name ? profile_frame(r->profile, &frame, &number) : &error_no_memory;

	return err ? err : profile_node(r->profile, *node, number, node);
}

static struct error *push_address(struct profile_reading *r, uint64_t address, uint32_t image,
				  uint32_t *node)
{
	/* Frames are many and addresses are few: what a frame is called is found once. */
	uint32_t *known = word_map_at(&r->frames, (struct words){ { address, image } });
	struct frame frame = {
		.kind = image == UINT32_MAX ? FRAME_KERNEL : FRAME_USER,
		.address = address,
		.image = image == UINT32_MAX ? 0 : image,
	};

	if (!known)
		return &error_no_memory;
	if (*known == WORD_MAP_NEW) {
		uint32_t number;
		struct error *err = profile_frame(r->profile, &frame, &number);

		if (err)
			return err;
		*known = number;
	}
	return profile_node(r->profile, *node, *known, node);
}

/* How many innermost frames of a kernel stack are of tracing programs. The search compares names of
 * functions, so its result is kept by stack: thousands of threads may wait with the same one. */
static size_t own_frames(struct profile_reading *r, uint32_t stack, const __u64 *frames,
			 size_t count)
{
	uint32_t *known = word_map_at(&r->own_frames, (struct words){ { stack } });
	size_t own;

	if (known && *known != WORD_MAP_NEW)
		return *known < count ? *known : count;
	own = tracer_frames(r->session->symbols, frames, count);
	if (known)
		*known = (uint32_t)own;
	return own;
}

/* The frames of a kernel stack, innermost first, without those of the tracing programs. */
static size_t kernel_frames(struct profile_reading *r, uint32_t stack, const __u64 **ret_frames,
			    enum stack_end *ret_end)
{
	size_t count = profile_chunks_stack(&r->session->chunks, stack, ret_frames, ret_end);
	size_t own = own_frames(r, stack, *ret_frames, count);

	*ret_frames += own;
	return count - own;
}

struct error *reading_stack_of_wait(struct profile_reading *r, uint32_t stack, uint64_t ns)
{
	const __u64 *frames = NULL;
	enum stack_end end;
	size_t count = kernel_frames(r, stack, &frames, &end);

	return whole_stacks_add(&r->wholes, frames, count, stack, ns);
}

/* The stack that stands for it (sched/whole_stacks.h). */
static uint32_t whole_stack(struct profile_reading *r, uint32_t stack)
{
	const __u64 *frames = NULL;
	enum stack_end end;
	size_t count = kernel_frames(r, stack, &frames, &end);

	return whole_stacks_find(&r->wholes, frames, count, stack);
}

/* From the outermost frame to the innermost. */
static struct error *push_stack(struct profile_reading *r, uint32_t stack, uint32_t image,
				uint32_t *node)
{
	static const char *const notes[4] = {
		[STACK_TRUNCATED] = "[truncated]", [STACK_INCOMPLETE] = "[incomplete]"
	};
	const __u64 *frames;
	enum stack_end end;
	size_t count = profile_chunks_stack(&r->session->chunks, stack, &frames, &end);
	size_t own = image == UINT32_MAX ? own_frames(r, stack, frames, count) : 0;
	struct error *err = NULL;

	if (!count && stack > STACK_LOST)
		err = push_note(r, "[stack lost]", node);
	if (count && notes[end])
		err = push_note(r, notes[end], node);
	for (size_t i = count; !err && i-- > own;)
		err = push_address(r, frames[i], image, node);
	return err;
}

/* The same from the innermost to the outermost frame: a waker's stack is drawn above the stack that
 * it woke. */
static struct error *push_inverted(struct profile_reading *r, const __u64 *frames, size_t count,
				   uint32_t image, uint32_t *node)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++)
		err = push_address(r, frames[i], image, node);
	return err;
}

static uint32_t image_number(const struct profile_reading *r, uint32_t number)
{
	uint32_t thread = number < r->record_count ? r->threads[number] : UINT32_MAX;

	return thread == UINT32_MAX ? 0 : r->profile->threads.items[thread].image;
}

static struct error *push_waker(struct profile_reading *r, const struct count_key *key,
				uint32_t *node)
{
	const struct profile_record *waker = profile_chunks_thread(&r->session->chunks, key->waker);
	uint32_t image = waker && r->session->images
				 ? process_table_find_image(process_watch_table(r->session->images),
							    waker->task.tgid, waker->task.begun)
				 : 0;
	char name[PROFILE_COMM_MAX + 32] = "[interrupt]";
	const __u64 *frames = NULL;
	enum stack_end end;
	size_t count = kernel_frames(r, key->waker_kernel_stack, &frames, &end);
	/* The code that an interrupt interrupted did not wake the thread. */
	size_t own = interrupt_frames(r->session->symbols, frames, count);
	struct error *err = push_note(r, "--", node);

	if (!err)
		err = push_inverted(r, frames, own, UINT32_MAX, node);
	if (!err && own == count) {
		count = profile_chunks_stack(&r->session->chunks, key->waker_user_stack, &frames,
					     &end);
		err = push_inverted(r, frames, count, image, node);
	}
	if (waker)
		snprintf(name, sizeof(name), "waker: %.*s (%" PRIu32 ")", PROFILE_COMM_MAX,
			 waker->task.name, waker->task.tid);
	return err ? err : push_note(r, name, node);
}

struct error *reading_node(struct profile_reading *r, const struct count_key *key, uint32_t *ret)
{
	const uint32_t image = image_number(r, key->thread);
	const struct words stacks = { {
		(uint64_t)key->user_stack << 32 | key->kernel_stack,
		(uint64_t)image << 32 | key->waker,
		(uint64_t)key->waker_user_stack << 32 | key->waker_kernel_stack,
	} };
	uint32_t *known = word_map_at(&r->stacks, stacks), node = NODE_NONE;
	struct error *err;

	if (!known)
		return &error_no_memory;
	if (*known != WORD_MAP_NEW) {
		/* An empty stack is stored as the largest number that may be. */
		*ret = *known == WORD_MAP_NEW - 1 ? NODE_NONE : *known;
		return NULL;
	}
	err = push_stack(r, key->user_stack, image, &node);
	if (!err)
		err = push_stack(r, whole_stack(r, key->kernel_stack), UINT32_MAX, &node);
	if (!err && r->session->options.wakers && (key->waker || key->waker_kernel_stack))
		err = push_waker(r, key, &node);
	if (err)
		return err;
	known = word_map_at(&r->stacks, stacks);
	*known = node == NODE_NONE ? WORD_MAP_NEW - 1 : node;
	*ret = node;
	return NULL;
}
