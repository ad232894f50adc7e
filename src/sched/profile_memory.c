/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_memory.h"

#include <inttypes.h>

#include "base/clock.h"

/* The length of a usual stack, to estimate how many fit. */
#define WORDS_A_STACK 24

static unsigned pool_now(const struct profile_chunks *chunks)
{
	return chunks->state->stack_epoch & (STACK_POOLS - 1);
}

static uint64_t pool_begin(unsigned pool)
{
	return (uint64_t)pool << STACK_POOL_BITS;
}

static void set_end(struct profile_chunks *chunks, unsigned pool)
{
	const uint64_t room = (uint64_t)chunks->stacks[pool].mapped.count * STACK_CHUNK;

	chunks->state->stack_rooms[pool].end =
		pool_begin(pool) + (room < chunks->most_words ? room : chunks->most_words);
}

static struct error *add_stacks(struct profile_chunks *chunks, unsigned pool, uint32_t count)
{
	struct error *err = memory_chunks_add(&chunks->stacks[pool], "ctprof_stacks", count);

	set_end(chunks, pool);
	return err;
}

/* How many chunks have room for so many words. */
static uint64_t chunks_for(uint64_t words)
{
	return (words + STACK_CHUNK - 1) / STACK_CHUNK;
}

static void begin_pool(struct profile_chunks *chunks, unsigned pool)
{
	/* The first numbers are STACK_NONE and STACK_LOST, in either. */
	chunks->state->stack_rooms[pool] = (struct stack_room){
		.next = pool_begin(pool) + STACK_LOST + 1,
		.end = pool_begin(pool),
	};
}

/* A pool without a chunk is never left, and all its stacks would be lost. */
static struct error *add_first_stacks(struct profile_chunks *chunks, uint64_t count,
				      const struct memory_limit *limit)
{
	struct error *err = add_stacks(chunks, 0, (uint32_t)count);

	if (err || !limit || !limit->bytes)
		return err;
	/* An epoch must find room when there is none left. */
	err = add_stacks(chunks, 1, 1);
	if (!err && !(chunks->stacks[0].mapped.count && chunks->stacks[1].mapped.count))
		err = error_create("the limit of --memory, %" PRIu64
				   " MiB, leaves no room for stacks",
				   limit->bytes >> 20);
	return err;
}

struct error *profile_chunks_init(struct profile_chunks *chunks, struct profile_state *state,
				  struct track_state *track, int records_map, int stack_map,
				  size_t stacks, size_t bytes, struct memory_limit *limit)
{
	const uint64_t pool_words = UINT64_C(1) << STACK_POOL_BITS;
	const uint64_t most = bytes / 4 * 3 / sizeof(struct profile_record) + 2;
	struct error *err;
	uint64_t first;

	*chunks = (struct profile_chunks){
		.state = state,
		.budget = bytes / 4 * 3,
		.most_words = bytes / 4 * 3 / sizeof(uint64_t) + 2,
	};
	if (chunks->most_words > pool_words)
		chunks->most_words = pool_words;
	for (unsigned pool = 0; pool < STACK_POOLS; pool++) {
		memory_chunks_init(&chunks->stacks[pool], stack_map,
				   (uint32_t)(pool_begin(pool) >> STACK_CHUNK_BITS), 1,
				   sizeof(struct stack_chunk));
		chunks->stacks[pool].limit = limit;
		begin_pool(chunks, pool);
	}
	first = chunks_for(stacks < chunks->most_words / WORDS_A_STACK ? stacks * WORDS_A_STACK
								       : chunks->most_words);
	err = add_first_stacks(chunks, first ? first : 1, limit);
	return err ? err
		   : tracker_init(&chunks->tracker, track, records_map,
				  sizeof(struct profile_record), most, limit);
}

/* Records and stacks share the budget: builds need records, and servers stacks. */
static size_t stack_bytes(const struct profile_chunks *chunks)
{
	return (chunks->stacks[0].mapped.count + chunks->stacks[1].mapped.count) *
	       chunks->stacks[0].bytes;
}

/* How many more chunks of stacks there may be. */
static uint64_t stacks_possible(const struct profile_chunks *chunks, unsigned pool)
{
	const struct memory_chunks *records = &chunks->tracker.records;
	const size_t used = records->mapped.count * records->bytes + stack_bytes(chunks);
	const uint64_t count = chunks->stacks[pool].mapped.count;
	const uint64_t most = chunks_for(chunks->most_words);
	uint64_t more =
		used < chunks->budget ? (chunks->budget - used) / chunks->stacks[pool].bytes : 0;

	if (count >= most || count >= STACK_CHUNKS_MAX / STACK_POOLS)
		return 0;
	if (more > most - count)
		more = most - count;
	if (more > STACK_CHUNKS_MAX / STACK_POOLS - count)
		more = STACK_CHUNKS_MAX / STACK_POOLS - count;
	return more;
}

static uint64_t words_used(const struct profile_chunks *chunks)
{
	const unsigned pool = pool_now(chunks);
	const struct stack_room *room = &chunks->state->stack_rooms[pool];

	return (room->next < room->end ? room->next : room->end) - pool_begin(pool);
}

/* How much should be free, for user space, which adds chunks, may not run for a while. */
#define FREE_CHUNKS_LEAST 4

static uint64_t wanted_free(uint64_t used)
{
	const uint64_t least = (uint64_t)FREE_CHUNKS_LEAST * STACK_CHUNK;

	return used / 4 > least ? used / 4 : least;
}

static bool is_half_full(const struct profile_chunks *chunks)
{
	const unsigned pool = pool_now(chunks);

	return words_used(chunks) > (chunks->state->stack_rooms[pool].end - pool_begin(pool)) / 2;
}

/* After a refusal by the limit of memory: each request reads what is resident. */
#define REFUSED_NS (NS_PER_S / 2)

static struct error *grow_stacks(struct profile_chunks *chunks)
{
	const unsigned pool = pool_now(chunks);
	const uint64_t used = words_used(chunks), count = chunks->stacks[pool].mapped.count;
	const uint64_t wanted = chunks_for(used + wanted_free(used) * 3 / 2);
	const uint64_t most = count + stacks_possible(chunks, pool);
	struct error *err;

	if (used + wanted_free(used) <= count * STACK_CHUNK || most == count ||
	    clock_ns(CLOCK_MONOTONIC) - chunks->refused_ns < REFUSED_NS)
		return NULL;
	err = add_stacks(chunks, pool, (uint32_t)((wanted < most ? wanted : most) - count));
	chunks->refused_ns =
		chunks->stacks[pool].mapped.count > count ? 0 : clock_ns(CLOCK_MONOTONIC);
	return err;
}

struct error *profile_chunks_grow(struct profile_chunks *chunks)
{
	const size_t used = stack_bytes(chunks);
	struct error *err = NULL;

	if (used < chunks->budget)
		err = tracker_grow(&chunks->tracker,
				   (chunks->budget - used) / chunks->tracker.records.bytes);
	return err ? err : grow_stacks(chunks);
}

/* A sixteenth of the room that was free. Sets `seen` to `used`. */
static bool fills(uint64_t room, uint64_t used, uint64_t *seen)
{
	const uint64_t more = used > *seen ? used - *seen : 0;

	*seen = used;
	return more > (room > used ? room - used : 0) / 16;
}

bool profile_chunks_fills(struct profile_chunks *chunks)
{
	const unsigned pool = pool_now(chunks);
	const uint64_t words = chunks->state->stack_rooms[pool].end - pool_begin(pool);
	const bool by_stacks = fills(words, words_used(chunks), &chunks->words_seen);
	const struct tracker *tracker = &chunks->tracker;

	return fills(tracker->state->room, tracker_used(tracker), &chunks->records_seen) ||
	       by_stacks;
}

/* --- epochs --- */

/* Less is not worth walking all stacks again. */
#define GROWN_WORDS (UINT64_C(8) * STACK_CHUNK)

bool profile_chunks_has_grown(const struct profile_chunks *chunks)
{
	const unsigned pool = pool_now(chunks);

	return words_used(chunks) > GROWN_WORDS + 2 * chunks->first_words ||
	       chunks->state->stack_rooms[pool].count > chunks->most_stacks / 2 ||
	       (is_half_full(chunks) && !stacks_possible(chunks, pool));
}

struct error *profile_chunks_begin_epoch(struct profile_chunks *chunks)
{
	const unsigned pool = !pool_now(chunks);
	const uint64_t wanted = words_used(chunks) / 2 / STACK_CHUNK;
	const uint64_t count = chunks->stacks[pool].mapped.count;
	uint64_t more = stacks_possible(chunks, pool);
	struct error *err;

	if (more > (wanted > count ? wanted - count : 0))
		more = wanted > count ? wanted - count : 0;
	/* At least one chunk, even beyond the limit: without one no epoch could ever end. */
	if (!count && !more)
		more = 1;
	err = add_stacks(chunks, pool, (uint32_t)more);
	if (err)
		return err;
	__atomic_add_fetch(&chunks->state->stack_epoch, 1, __ATOMIC_SEQ_CST);
	return memory_chunks_wait(&chunks->tracker.records);
}

bool profile_chunks_is_before(const struct profile_chunks *chunks, uint32_t number)
{
	return (number & ((1u << STACK_POOL_BITS) - 1)) > STACK_LOST &&
	       number >> STACK_POOL_BITS != pool_now(chunks);
}

void profile_chunks_empty(struct profile_chunks *chunks)
{
	const unsigned pool = !pool_now(chunks);
	struct memory_chunks *stacks = &chunks->stacks[pool];
	const uint64_t wanted = 2 * words_used(chunks) / STACK_CHUNK + 1;

	chunks->first_words = words_used(chunks);
	begin_pool(chunks, pool);
	/* Creating a chunk is slow, so those that will be needed again are kept. */
	memory_chunks_drop(stacks, stacks->mapped.count < wanted ? stacks->mapped.count : wanted);
	set_end(chunks, pool);
}

struct profile_record *profile_chunks_thread(const struct profile_chunks *chunks, uint32_t number)
{
	return (struct profile_record *)tracker_record(&chunks->tracker, number);
}

/* The words of a stack. NULL: there is no such pool or chunk, as a number read from a header may be
 * wrong: BPF programs may be writing it. */
static __u64 *words_at(const struct profile_chunks *chunks, uint64_t number)
{
	const uint64_t pool = number >> STACK_POOL_BITS;
	const size_t chunk = (number & ((1u << STACK_POOL_BITS) - 1)) >> STACK_CHUNK_BITS;
	const struct memory_chunks *stacks;

	if (pool >= STACK_POOLS)
		return NULL;
	stacks = &chunks->stacks[pool];
	return chunk < stacks->mapped.count
		       ? (__u64 *)stacks->mapped.items[chunk] + (number & (STACK_CHUNK - 1))
		       : NULL;
}

size_t profile_chunks_stack(const struct profile_chunks *chunks, uint32_t number,
			    const __u64 **ret_frames, enum stack_end *ret_end)
{
	const __u64 *words;
	size_t count;

	if (number <= STACK_LOST)
		return 0;
	words = words_at(chunks, number);
	if (words && STACK_HEADER_END(words[0]) == STACK_MOVED)
		words = words_at(chunks, STACK_HEADER_COUNT(words[0]));
	count = words ? STACK_HEADER_COUNT(words[0]) : 0;
	if (!count || count > PROFILE_USER_FRAMES_MAX)
		return 0;
	*ret_frames = words + 1;
	*ret_end = STACK_HEADER_END(words[0]);
	return count;
}

uint32_t profile_chunks_put(struct profile_chunks *chunks, const uint64_t *frames, size_t count,
			    enum stack_end end)
{
	struct stack_room *room = &chunks->state->stack_rooms[pool_now(chunks)];
	__u64 *words, at;

	if (count > PROFILE_USER_FRAMES_MAX || room->next + count + 1 > room->end)
		return STACK_LOST;
	at = __atomic_fetch_add(&room->next, count + 1, __ATOMIC_SEQ_CST);
	words = at + count + 1 > room->end ? NULL : words_at(chunks, at);
	if (!words)
		return STACK_LOST;
	for (size_t i = 0; i < count; i++)
		words[1 + i] = frames[i];
	words[0] = STACK_HEADER(count, end);
	return (uint32_t)at;
}

void profile_chunks_move(struct profile_chunks *chunks, uint32_t number, uint32_t whole)
{
	__u64 *words = words_at(chunks, number);

	if (words)
		__atomic_store_n(&words[0], STACK_HEADER(whole, STACK_MOVED), __ATOMIC_RELEASE);
}

void profile_chunks_deinit(struct profile_chunks *chunks)
{
	tracker_deinit(&chunks->tracker);
	for (unsigned pool = 0; pool < STACK_POOLS; pool++)
		memory_chunks_deinit(&chunks->stacks[pool]);
}
