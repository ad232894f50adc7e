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

UNIT_TESTS(cmocka_unit_test(a_limit_without_room_for_stacks))
