/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/whole_stacks.h"

#include "unit/unit.h"

/* The first function of a section has the address of its mark. */
#define SYMBOLS                                   \
	"0000000000001000 T do_poll\n"            \
	"0000000000002000 T do_read\n"            \
	"0000000000005000 T __sched_text_start\n" \
	"0000000000005000 T __schedule\n"         \
	"0000000000005100 T schedule\n"           \
	"0000000000005200 T schedule_timeout\n"   \
	"0000000000005300 T __sched_text_end\n"   \
	"0000000000006000 T __lock_text_start\n"  \
	"0000000000006000 T _raw_spin_lock\n"     \
	"0000000000006100 T __lock_text_end\n"    \
	"0000000000007000 t __sched_text_end\t[mod]\n"

static struct kallsyms *symbols;
static struct whole_stacks stacks;

static int setup(void **state)
{
	(void)state;
	expect_ok(kallsyms_parse(text_of(SYMBOLS), &symbols));
	whole_stacks_init(&stacks, symbols);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	whole_stacks_deinit(&stacks);
	kallsyms_destroy(symbols);
	return 0;
}

TEST(sections_of_the_scheduler)
{
	assert_false(kallsyms_is_scheduler(symbols, 0x4fff));
	assert_true(kallsyms_is_scheduler(symbols, 0x5000));
	assert_true(kallsyms_is_scheduler(symbols, 0x52ff));
	assert_false(kallsyms_is_scheduler(symbols, 0x5300));
	assert_true(kallsyms_is_scheduler(symbols, 0x6010));
	assert_false(kallsyms_is_scheduler(symbols, 0x6100));
}

static const __u64 whole[] = { 0x5010, 0x5110, 0x1010, 0x1f00 };
static const __u64 longer[] = { 0x5010, 0x5110, 0x5210, 0x1010, 0x1f00 };
static const __u64 outline[] = { 0x1010, 0x1f00 };
static const __u64 elsewhere[] = { 0x1014, 0x1f00 };

TEST(the_same_wait_without_the_scheduler_is_the_whole_one)
{
	assert_int_equal(whole_stacks_find(&stacks, outline, 2, 9), 9);
	expect_ok(whole_stacks_add(&stacks, whole, array_length(whole), 3, 10));
	assert_int_equal(whole_stacks_find(&stacks, outline, 2, 9), 3);
	/* Another call in the same function is another place. */
	assert_int_equal(whole_stacks_find(&stacks, elsewhere, 2, 9), 9);
	assert_int_equal(whole_stacks_find(&stacks, outline, 1, 9), 9);
	assert_int_equal(whole_stacks_find(&stacks, NULL, 0, 9), 9);
	assert_int_equal(whole_stacks_find(&stacks, whole, array_length(whole), 3), 3);
}

TEST(of_two_ways_through_the_scheduler_the_longer_time_counts)
{
	expect_ok(whole_stacks_add(&stacks, whole, array_length(whole), 3, 10));
	expect_ok(whole_stacks_add(&stacks, longer, array_length(longer), 4, 30));
	expect_ok(whole_stacks_add(&stacks, whole, array_length(whole), 3, 20));
	assert_int_equal(whole_stacks_find(&stacks, outline, 2, 9), 4);
}

TEST(stacks_outside_the_scheduler_are_not_recognised)
{
	expect_ok(whole_stacks_add(&stacks, outline, 2, 3, 10));
	expect_ok(whole_stacks_add(&stacks, NULL, 0, 4, 10));
	assert_int_equal(whole_stacks_find(&stacks, outline, 2, 9), 9);
}

TEST(without_symbols_nothing_is_known)
{
	stacks.symbols = NULL;
	expect_ok(whole_stacks_add(&stacks, whole, array_length(whole), 3, 10));
	assert_int_equal(whole_stacks_find(&stacks, outline, 2, 9), 9);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(sections_of_the_scheduler),
	   CASE(the_same_wait_without_the_scheduler_is_the_whole_one),
	   CASE(of_two_ways_through_the_scheduler_the_longer_time_counts),
	   CASE(stacks_outside_the_scheduler_are_not_recognised),
	   CASE(without_symbols_nothing_is_known))
