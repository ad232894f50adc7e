/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/profile_memory.h"

#include "unit/unit.h"

TEST(a_limit_without_room_for_stacks)
{
	static struct profile_state shared;
	static struct track_state track;
	struct memory_limit limit = { .bytes = 64 << 20, .beside = 64 << 20 };
	struct profile_chunks chunks;

	expect_error(profile_chunks_init(&chunks, &shared, &track, -1, -1, 1000, (size_t)16 << 20,
					 &limit),
		     "the limit of --memory, 64 MiB, leaves no room for stacks");
	assert_true(limit.refused > 0);
	profile_chunks_deinit(&chunks);
}

/* What stands where a header should be may be anything: an address of the kernel seems to be that
 * of a stack that was moved to a pool that there is not. */
TEST(words_that_are_no_header)
{
	static struct stack_chunk words[STACK_POOLS];
	void *mapped[STACK_POOLS] = { &words[0], &words[1] };
	struct profile_chunks chunks = { 0 };
	const uint32_t number = (1u << STACK_POOL_BITS) + 10;
	const __u64 addresses[] = { 0xffffffff81012345, 0xffffffffc0401000, 0xffffffff3fffffff,
				    0x7fffffffffff, UINT64_MAX };
	const __u64 *frames = NULL;
	enum stack_end end;

	for (unsigned pool = 0; pool < STACK_POOLS; pool++) {
		chunks.stacks[pool].mapped.items = &mapped[pool];
		chunks.stacks[pool].mapped.count = 1;
	}
	words[1].words[10] = STACK_HEADER(2, STACK_TRUNCATED);
	words[1].words[11] = 5;
	words[0].words[7] = STACK_HEADER(number, STACK_MOVED);
	assert_int_equal(profile_chunks_stack(&chunks, 7, &frames, &end), 2);
	assert_int_equal(frames[0], 5);
	assert_int_equal(end, STACK_TRUNCATED);
	for (size_t i = 0; i < array_length(addresses); i++) {
		words[0].words[7] = addresses[i];
		assert_int_equal(profile_chunks_stack(&chunks, 7, &frames, &end), 0);
	}
	assert_int_equal(profile_chunks_stack(&chunks, UINT32_MAX, &frames, &end), 0);
	assert_int_equal(profile_chunks_stack(&chunks, STACK_CHUNK + 1, &frames, &end), 0);
}

UNIT_TESTS(cmocka_unit_test(a_limit_without_room_for_stacks),
	   cmocka_unit_test(words_that_are_no_header))
