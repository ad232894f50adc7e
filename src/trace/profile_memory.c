/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/profile_memory.h"

#include "proc/tasks.h"

/* Records are used again only once they were read, and a build makes thousands in a second: so many
 * beside those of the threads that are there. */
#define FIRST_THREADS 8192

static uint64_t first_threads(void)
{
	return FIRST_THREADS + tasks_count(TASKS_LOADAVG);
}

/* Of a usual stack, for what fits into so much room; the walk itself may be longer. */
#define WORDS_A_STACK 24

static struct error *add_threads(struct profile_chunks *chunks)
{
	struct error *err = memory_chunks_add(&chunks->threads, "ctprof_threads");
	uint64_t room = (uint64_t)chunks->threads.mapped.count * THREAD_CHUNK;

	if (!err)
		chunks->state->thread_room =
			(uint32_t)(room < chunks->most_threads ? room : chunks->most_threads);
	return err;
}

static struct error *add_stacks(struct profile_chunks *chunks)
{
	struct error *err = memory_chunks_add(&chunks->stacks, "ctprof_stacks");
	uint64_t room = (uint64_t)chunks->stacks.mapped.count * STACK_CHUNK;

	if (!err)
		chunks->state->word_room = room < chunks->most_words ? room : chunks->most_words;
	return err;
}

struct error *profile_chunks_init(struct profile_chunks *chunks, struct profile_state *state,
				  int thread_map, int stack_map, size_t stacks, size_t bytes)
{
	struct error *err;

	*chunks = (struct profile_chunks){
		.state = state,
		.budget = bytes / 4 * 3,
		.most_threads = bytes / 4 * 3 / sizeof(struct thread_record) + 2,
		.most_words = bytes / 4 * 3 / sizeof(uint64_t) + 2,
	};
	memory_chunks_init(&chunks->threads, thread_map, THREAD_CHUNK,
			   sizeof(struct thread_record));
	memory_chunks_init(&chunks->stacks, stack_map, 1, sizeof(struct stack_chunk));
	if (chunks->most_words > UINT32_MAX)
		chunks->most_words = UINT32_MAX;
	/* Number 0 of either is none; STACK_LOST is another. */
	state->next_thread = 1;
	state->next_word = STACK_LOST + 1;
	do
		err = add_threads(chunks);
	while (!err && state->thread_room < first_threads() &&
	       state->thread_room < chunks->most_threads);
	while (!err &&
	       (chunks->stacks.mapped.count == 0 || (state->word_room < stacks * WORDS_A_STACK &&
						     state->word_room < chunks->most_words)))
		err = add_stacks(chunks);
	return err;
}

/* What one kind leaves the other may have: builds need records, and servers stacks. */
static bool has_budget(const struct profile_chunks *chunks, const struct memory_chunks *more)
{
	return chunks->threads.mapped.count * chunks->threads.bytes +
		       chunks->stacks.mapped.count * chunks->stacks.bytes + more->bytes <=
	       chunks->budget;
}

/* Twice as many each time, so that many new ones at once find room. */
struct error *profile_chunks_grow(struct profile_chunks *chunks)
{
	const struct profile_state *state = chunks->state;
	struct error *err = NULL;
	size_t more;

	more = chunks->threads.mapped.count;
	if (state->next_thread > state->thread_room / 2)
		while (!err && more-- && has_budget(chunks, &chunks->threads) &&
		       state->thread_room < chunks->most_threads &&
		       chunks->threads.mapped.count < THREAD_CHUNKS_MAX)
			err = add_threads(chunks);
	more = chunks->stacks.mapped.count;
	if (state->next_word > state->word_room / 2)
		while (!err && more-- && has_budget(chunks, &chunks->stacks) &&
		       state->word_room < chunks->most_words &&
		       chunks->stacks.mapped.count < STACK_CHUNKS_MAX)
			err = add_stacks(chunks);
	return err;
}

struct thread_record *profile_chunks_thread(const struct profile_chunks *chunks, uint32_t number)
{
	size_t chunk = number >> THREAD_CHUNK_BITS;

	if (!number || chunk >= chunks->threads.mapped.count)
		return NULL;
	return (struct thread_record *)chunks->threads.mapped.items[chunk] +
	       (number & (THREAD_CHUNK - 1));
}

size_t profile_chunks_stack(const struct profile_chunks *chunks, uint32_t number,
			    const __u64 **ret_frames, enum stack_end *ret_end)
{
	size_t chunk = number >> STACK_CHUNK_BITS;
	const __u64 *words;
	size_t count;

	if (number <= STACK_LOST || chunk >= chunks->stacks.mapped.count)
		return 0;
	words = (const __u64 *)chunks->stacks.mapped.items[chunk] + (number & (STACK_CHUNK - 1));
	count = STACK_HEADER_COUNT(words[0]);
	if (count > PROFILE_USER_FRAMES_MAX)
		return 0;
	*ret_frames = words + 1;
	*ret_end = STACK_HEADER_END(words[0]);
	return count;
}

uint32_t profile_chunks_put(struct profile_chunks *chunks, const uint64_t *frames, size_t count,
			    enum stack_end end)
{
	struct profile_state *state = chunks->state;
	__u64 *words, at;

	if (count > PROFILE_USER_FRAMES_MAX || state->next_word + count + 1 > state->word_room)
		return STACK_LOST;
	at = __atomic_fetch_add(&state->next_word, count + 1, __ATOMIC_SEQ_CST);
	if (at + count + 1 > state->word_room)
		return STACK_LOST;
	words = (__u64 *)chunks->stacks.mapped.items[at >> STACK_CHUNK_BITS] +
		(at & (STACK_CHUNK - 1));
	for (size_t i = 0; i < count; i++)
		words[1 + i] = frames[i];
	words[0] = STACK_HEADER(count, end);
	return (uint32_t)at;
}

void profile_chunks_deinit(struct profile_chunks *chunks)
{
	memory_chunks_deinit(&chunks->threads);
	memory_chunks_deinit(&chunks->stacks);
}
