/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cmd/profile_options.h"
#include "cmd/record.h"
#include "unit/unit.h"

/* The program's help, which this is not. */
void help_print(FILE *out, const struct command *command)
{
	(void)out, (void)command;
}

void help_print_short(FILE *out, const struct command *command)
{
	help_print(out, command);
}

#define BIT(class) (1u << CLASS_##class)

/* --- profiles --- */

TEST(states_have_names_letters_and_bits)
{
	static const struct {
		const char *text;
		unsigned classes;
	} cases[] = {
		{ "on-cpu", BIT(ON_CPU) },
		{ "runnable,io-wait", BIT(RUNNABLE) | BIT(IO_WAIT) },
		{ "exec", BIT(ON_CPU) },
		{ "sleep", BIT(INTERRUPTIBLE) | BIT(UNINTERRUPTIBLE) | BIT(IO_WAIT) },
		/* A name of a class comes before that of a state. */
		{ "stopped", BIT(STOPPED) },
		{ "idle", BIT(IDLE) },
		{ "cpu-wait", BIT(RUNNABLE) },
		{ "S", BIT(INTERRUPTIBLE) },
		{ "D", BIT(UNINTERRUPTIBLE) | BIT(IO_WAIT) },
		{ "B", BIT(IO_WAIT) },
		{ "0", BIT(RUNNABLE) },
		{ "2", BIT(UNINTERRUPTIBLE) | BIT(IO_WAIT) },
		{ "1025", BIT(INTERRUPTIBLE) | BIT(IDLE) },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct profile_arguments arguments = { 0 };

		expect_ok(parse_states(cases[i].text, &arguments.states));
		assert_int_equal(reason_selected_classes(&arguments.states), cases[i].classes);
		assert_string_equal(arguments.state_words.items[0], cases[i].text);
		profile_arguments_deinit(&arguments);
	}
}

TEST(reasons_select_parts_of_classes)
{
	struct profile_arguments arguments = { 0 };

	expect_ok(parse_states("lock,io-wait", &arguments.states));
	assert_true(reason_selects(&arguments.states, CLASS_INTERRUPTIBLE, STATE_LOCK_FUTEX));
	assert_true(reason_selects(&arguments.states, CLASS_UNINTERRUPTIBLE, STATE_LOCK_KERNEL));
	assert_true(reason_selects(&arguments.states, CLASS_IO_WAIT, STATE_SLEEP_DISK));
	assert_false(reason_selects(&arguments.states, CLASS_INTERRUPTIBLE, STATE_SLEEP_PIPE));
	assert_false(reason_selects(&arguments.states, CLASS_RUNNABLE, STATE_RUNNABLE));
	assert_false(reason_selects(&arguments.states, CLASS_ON_CPU, STATE_EXEC));
	profile_arguments_deinit(&arguments);
}

TEST(what_is_no_state)
{
	struct profile_arguments arguments = { 0 };

	expect_error(parse_states("slep", &arguments.states), "unknown state 'slep'");
	expect_error(parse_states("event", &arguments.states), "unknown state 'event'");
	expect_error(parse_states("E", &arguments.states), "unknown state 'E'");
	expect_error(parse_states("locks", &arguments.states), "unknown state 'locks'");
	expect_error(parse_states("16", &arguments.states), "unknown state bit");
	expect_error(parse_states("4294967296", &arguments.states), "unknown state '4294967296'");
	profile_arguments_deinit(&arguments);
}

TEST(lengths_of_waits_are_microseconds)
{
	uint64_t ns = 0;

	expect_ok(parse_block_time("10", &ns));
	assert_int_equal(ns, 10000);
	expect_ok(parse_block_time("2ms", &ns));
	assert_int_equal(ns, 2000000);
	expect_error(parse_block_time("18446744073709551615", &ns), "invalid duration");
	expect_error(parse_block_time("-1", &ns), "invalid duration '-1'");
	/* And those of a run are seconds. */
	expect_ok(parse_profile_time("10", &ns));
	assert_int_equal(ns, UINT64_C(10000000000));
	expect_error(parse_profile_time("999us", &ns), "'999us' is too short: at least 1ms");
}

TEST(numbers_have_bounds)
{
	size_t number = 0;
	uint64_t bytes = 0;

	expect_ok(parse_frequency("20000", &number));
	assert_int_equal(number, 20000);
	expect_error(parse_frequency("20001", &number), "invalid frequency '20001': expected 1 to");
	expect_error(parse_frequency("0", &number), "expected 1 to 20000");
	expect_error(parse_threshold("1001", &number), "expected 1 to 1000");
	expect_error(parse_depth("1025", &number), "expected 1 to 1024");
	expect_error(parse_longest("65", &number), "expected 1 to 64");
	assert_int_equal(number, 20000);
	expect_ok(parse_memory("64KiB", &bytes));
	assert_int_equal(bytes, 65536);
	expect_error(parse_memory("63KiB", &bytes), "expected 64KiB to 64GiB");
	expect_error(parse_memory("10%", &bytes), "expected 64KiB to 64GiB");
	expect_error(parse_memory("10ms", &bytes), "expected 64KiB to 64GiB");
}

TEST(lists_of_cpus_are_bits)
{
	struct profile_arguments arguments = { 0 };

	expect_ok(parse_cpu_list("0,63-64", &arguments.cpus));
	expect_ok(parse_cpu_list("130", &arguments.cpus));
	assert_int_equal(arguments.cpus.count, 3);
	assert_int_equal(arguments.cpus.items[0], UINT64_C(1) << 63 | 1);
	assert_int_equal(arguments.cpus.items[1], 1);
	assert_int_equal(arguments.cpus.items[2], 1 << 2);
	expect_error(parse_cpu_list("65536", &arguments.cpus), "no CPU 65536");
	expect_error(parse_cpu_list("3-1", &arguments.cpus), "invalid CPU list '3-1'");
	expect_error(parse_cpu_list("", &arguments.cpus), "invalid CPU list");
	array_deinit(&arguments.cpus);
}

TEST(options_of_profiles_that_exclude_each_other)
{
	static const struct {
		struct profile_arguments arguments;
		const char *message;
	} cases[] = {
		{ { .user_threads = true, .kernel_threads = true }, "-u and -k exclude" },
		{ { .user_stacks = true, .kernel_stacks = true }, "-U and -K exclude" },
		{ { .min_ns = 2, .max_ns = 1 }, "--max-block-time is less than" },
		{ { .period_ns = 1, .keep_per_mille = 1 }, "--off-cpu-threshold exclude" },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct profile_arguments arguments = cases[i].arguments;

		expect_error(profile_arguments_settle(&arguments), cases[i].message);
	}
}

TEST(probes_are_checked_before_anything_is_opened)
{
	struct profile_arguments arguments = { .min_ns = PROFILE_MIN_NS, .mode = PROFILE_ON };

	expect_ok(parse_event("kprobe:vfs_read", &arguments.events));
	expect_ok(profile_arguments_settle(&arguments));
	expect_ok(parse_event("kprobe", &arguments.events));
	expect_error(profile_arguments_settle(&arguments), "kprobe");
	array_deinit(&arguments.events);
}

/* --- recordings --- */

TEST(limits_of_recordings_are_times_or_sizes)
{
	struct keep keep = { 0 };

	expect_ok(parse_keep("1h,500MiB", &keep));
	assert_int_equal(keep.age_ms, 3600000);
	assert_int_equal(keep.bytes, (uint64_t)500 << 20);
	expect_error(parse_keep("5%", &keep), "invalid value '5%'");
	expect_error(parse_keep("0B", &keep), "invalid value '0B'");
	assert_int_equal(keep.age_ms, 3600000);
}

TEST(what_a_recording_requires)
{
	struct trigger trigger = { 0 };
	struct record_arguments ring = { .ring = { .age_ms = 60000 } };
	static const struct {
		struct record_arguments arguments;
		const char *message;
	} cases[] = {
		{ { .count = 2 }, "--count requires --interval" },
		{ { .duration_ns = 2 }, "--duration requires --interval" },
		{ { .keep = { .bytes = 1 } }, "--keep requires --interval" },
		{ { .ring = { .age_ms = 1 } }, "--ring requires --trigger" },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct record_arguments arguments = cases[i].arguments;

		expect_error(record_settle(&arguments), cases[i].message);
	}
	assert_true(array_push(&ring.triggers, trigger));
	expect_ok(record_settle(&ring));
	assert_true(record_wanted(&ring));
	assert_int_equal(ring.interval_ns, UINT64_C(5000000000));
	assert_int_equal(ring.ring.bytes, RECORD_RING_BYTES);
	ring.interval_ns = UINT64_C(61000000000);
	expect_error(record_settle(&ring), "--ring is shorter than --interval");
	ring.ring = (struct keep){ .bytes = 1 };
	expect_error(record_settle(&ring), "--ring requires a time");
	ring.ring = (struct keep){ 0 };
	expect_error(record_settle(&ring), "--trigger requires --ring");
	record_arguments_deinit(&ring);
}

UNIT_TESTS(cmocka_unit_test(states_have_names_letters_and_bits),
	   cmocka_unit_test(reasons_select_parts_of_classes), cmocka_unit_test(what_is_no_state),
	   cmocka_unit_test(lengths_of_waits_are_microseconds),
	   cmocka_unit_test(numbers_have_bounds), cmocka_unit_test(lists_of_cpus_are_bits),
	   cmocka_unit_test(options_of_profiles_that_exclude_each_other),
	   cmocka_unit_test(probes_are_checked_before_anything_is_opened),
	   cmocka_unit_test(limits_of_recordings_are_times_or_sizes),
	   cmocka_unit_test(what_a_recording_requires))
