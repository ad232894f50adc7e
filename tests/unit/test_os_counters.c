/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/counters.h"

#include <stdio.h>

#include "unit/unit.h"

typedef enum row_found (*next_row)(struct text *rest, struct counter_row *ret);

/* The value of a row's key; fails when it is not there just once. */
static uint64_t value_of(const struct counter_row *row, const char *key)
{
	uint64_t value = 0;
	size_t found = 0;

	for (size_t i = 0; i < row->count; i++) {
		if (text_equal(row->items[i].key, text_of(key))) {
			value = row->items[i].value;
			found++;
		}
	}
	if (found != 1)
		fail_msg("%s is there %zu times", key, found);
	return value;
}

static bool has(const struct counter_row *row, const char *key)
{
	for (size_t i = 0; i < row->count; i++)
		if (text_equal(row->items[i].key, text_of(key)))
			return true;
	return false;
}

/* The first row of a file in memory of its own. */
static enum row_found first_row(next_row next, const char *file, struct counter_row *ret)
{
	struct text bytes = guarded(file, strlen(file)), rest = bytes;
	enum row_found found = next(&rest, ret);

	/* nobody may look at the name any more */
	ret->name = (struct text){ 0 };
	unguard(bytes);
	return found;
}

/* --- CPUs --- */

TEST(cpus_of_stat)
{
	static const char file[] = "cpu  9 9 9 9 9 9 9 9 9 9\n"
				   "cpu0 1 2 4 8 16 32 64 128 256 512\n"
				   "cpu12 10 20 30 40\n"
				   "intr 5 6\n"
				   "cpufreq 1 2 3 4\n"
				   "cpu 1 2 3 4\n"
				   "cpu3 1 2 3 4 5 6 7 8 9 10 11 x";
	struct text bytes = guarded(file, strlen(file)), rest = bytes;
	struct counter_row row;

	assert_int_equal(counters_next_cpu(&rest, &row), ROW_GOOD);
	expect_text(row.name, "cpu0");
	assert_int_equal(row.count, 11);
	assert_int_equal(value_of(&row, "user_ticks"), 1);
	assert_int_equal(value_of(&row, "nice_ticks"), 2);
	assert_int_equal(value_of(&row, "system_ticks"), 4);
	assert_int_equal(value_of(&row, "idle_ticks"), 8);
	assert_int_equal(value_of(&row, "iowait_ticks"), 16);
	assert_int_equal(value_of(&row, "irq_ticks"), 32);
	assert_int_equal(value_of(&row, "softirq_ticks"), 64);
	assert_int_equal(value_of(&row, "steal_ticks"), 128);
	assert_int_equal(value_of(&row, "guest_ticks"), 256);
	assert_int_equal(value_of(&row, "guest_nice_ticks"), 512);
	/* every value is a bit of its own: neither idle time nor guests are in it */
	assert_int_equal(value_of(&row, "busy_ticks"), 1 + 2 + 4 + 32 + 64 + 128);
	/* an old kernel prints four */
	assert_int_equal(counters_next_cpu(&rest, &row), ROW_GOOD);
	expect_text(row.name, "cpu12");
	assert_int_equal(row.count, 5);
	assert_int_equal(value_of(&row, "busy_ticks"), 60);
	/* a new one may print more, whatever it is */
	assert_int_equal(counters_next_cpu(&rest, &row), ROW_GOOD);
	expect_text(row.name, "cpu3");
	assert_int_equal(row.count, 11);
	assert_int_equal(counters_next_cpu(&rest, &row), ROW_NONE);
	unguard(bytes);
}

TEST(no_cpus_of_stat)
{
	static const char *const bad[] = {
		"cpu0 1 2 3",
		"cpu0",
		"cpu0 1 2 3 x",
		"cpu0 1 2 3 -4",
		"cpu0 1 2 3 18446744073709551616",
		"cpu0 18446744073709551615 1 0 0",
	};
	static const char *const none[] = {
		"",     "cpu 1 2 3 4",  "cpu-1 1 2 3 4", "cpu0x 1 2 3 4",
		"\n\n", "CPU0 1 2 3 4", "xcpu0 1 2 3 4", "cpu4294967296 1 2 3 4"
	};
	struct counter_row row;

	for (size_t i = 0; i < array_length(bad); i++)
		assert_int_equal(first_row(counters_next_cpu, bad[i], &row), ROW_BAD);
	for (size_t i = 0; i < array_length(none); i++)
		assert_int_equal(first_row(counters_next_cpu, none[i], &row), ROW_NONE);
}

/* A bad row does not take the next with it. */
TEST(after_a_bad_cpu)
{
	struct text rest = TEXT("cpu0 x\ncpu1 1 2 3 4\n");
	struct counter_row row;

	assert_int_equal(counters_next_cpu(&rest, &row), ROW_BAD);
	assert_int_equal(counters_next_cpu(&rest, &row), ROW_GOOD);
	expect_text(row.name, "cpu1");
}

TEST(the_largest_time_is_exact)
{
	struct counter_row row;

	assert_int_equal(first_row(counters_next_cpu, "cpu0 18446744073709551614 1 0 0", &row),
			 ROW_GOOD);
	assert_true(value_of(&row, "busy_ticks") == UINT64_MAX);
}

TEST(cpus_of_schedstat)
{
	static const char file[] = "version 15\n"
				   "timestamp 4294967296\n"
				   "cpu0 1 2 3 4 5 6 700 800 900\n"
				   "domain0 03 0 0 0 0 0 0 0 0 0 0\n"
				   "cpu1 0 0 0 0 0 0 1 2\n"
				   "cpu2 0 0 0 0 0 0 0 0 18446744073709551615\n";
	struct text bytes = guarded(file, strlen(file)), rest = bytes;
	struct counter_row row;

	assert_true(counters_schedstat_begin(&rest));
	assert_int_equal(counters_next_schedstat(&rest, &row), ROW_GOOD);
	expect_text(row.name, "cpu0");
	assert_int_equal(row.count, 3);
	assert_int_equal(value_of(&row, "run_ns"), 700);
	assert_int_equal(value_of(&row, "wait_ns"), 800);
	assert_int_equal(value_of(&row, "timeslices"), 900);
	assert_int_equal(counters_next_schedstat(&rest, &row), ROW_BAD);
	assert_int_equal(counters_next_schedstat(&rest, &row), ROW_GOOD);
	assert_true(value_of(&row, "timeslices") == UINT64_MAX);
	assert_int_equal(counters_next_schedstat(&rest, &row), ROW_NONE);
	unguard(bytes);
}

TEST(versions_of_schedstat)
{
	static const char *const good[] = { "version 15\n", "version 16", "version 17\ncpu0" };
	static const char *const bad[] = {
		"",           "version 14\n",   "version\n15\n",     "version x",
		"cpu0 1 2 3", "\nversion 15\n", "version 4294967311"
	};

	for (size_t i = 0; i < array_length(good); i++) {
		struct text rest = text_of(good[i]);

		assert_true(counters_schedstat_begin(&rest));
	}
	for (size_t i = 0; i < array_length(bad); i++) {
		struct text rest = text_of(bad[i]);

		assert_false(counters_schedstat_begin(&rest));
	}
}

/* --- the kernel --- */

TEST(the_kernel)
{
	static const char file[] = "cpu  1 2 3 4\ncpu0 1 2 3 4\n"
				   "intr 14598316 0 9 0\nctxt 71811237\nbtime 7\n"
				   "processes 4207158\nprocs_running 2\nprocs_blocked 0\n"
				   "softirq 18446744073709551615 1 2\n";
	struct text bytes = guarded(file, strlen(file));
	struct counter_row row;

	assert_true(counters_parse_stat(bytes, &row));
	assert_int_equal(row.count, 6);
	assert_int_equal(value_of(&row, "interrupts"), 14598316);
	assert_int_equal(value_of(&row, "context_switches"), 71811237);
	assert_int_equal(value_of(&row, "forks"), 4207158);
	assert_int_equal(value_of(&row, "running"), 2);
	assert_int_equal(value_of(&row, "blocked"), 0);
	assert_true(value_of(&row, "softirqs") == UINT64_MAX);
	unguard(bytes);
}

TEST(the_kernel_in_part)
{
	struct counter_row row;

	/* not every kernel has all of them */
	assert_true(counters_parse_stat(TEXT("cpu 1 2 3 4\nctxt 5\n"), &row));
	assert_int_equal(row.count, 1);
	/* what is not understood does not take the rest with it */
	assert_false(
		counters_parse_stat(TEXT("cpu 1\nintr x\nctxt -5\nprocesses 6\nsoftirq\n"), &row));
	assert_int_equal(row.count, 1);
	assert_int_equal(value_of(&row, "forks"), 6);
	/* twice: the first */
	assert_false(counters_parse_stat(TEXT("cpu 1\nctxt 5\nctxt 6\n"), &row));
	assert_int_equal(value_of(&row, "context_switches"), 5);
	assert_false(counters_parse_stat(TEXT("cpu 1\nctxt x\nctxt 6\n"), &row));
	assert_false(has(&row, "context_switches"));
	/* something else altogether */
	assert_false(counters_parse_stat(TEXT("noise\n\n"), &row));
	assert_false(counters_parse_stat(TEXT(""), &row));
	assert_int_equal(row.count, 0);
}

TEST(loads)
{
	static const char *const bad[] = {
		"",
		"0.20 0.18 0.12",
		"0.20 0.18 0.12 180 11206",
		"0.20 0.18 0.12 1/ 11206",
		"0.20 0.18 0.12 1/x 11206",
		"0.2 0.18 0.12 1/80 11206",
		"0.20 0.18 -0.12 1/80 11206",
		"a b c d e",
	};
	struct counter_row row;

	assert_true(counters_parse_loadavg(TEXT("0.07 12.30 70000.05 3/412 9999\n"), &row));
	assert_int_equal(row.count, 4);
	assert_int_equal(value_of(&row, "load1_x100"), 7);
	assert_int_equal(value_of(&row, "load5_x100"), 1230);
	assert_int_equal(value_of(&row, "load15_x100"), 7000005);
	assert_int_equal(value_of(&row, "threads"), 412);
	for (size_t i = 0; i < array_length(bad); i++) {
		assert_false(counters_parse_loadavg(text_of(bad[i]), &row));
		assert_int_equal(row.count, 0);
	}
}

TEST(runnable_threads)
{
	static const char *const bad[] = { "",
					   "0.20 0.18 0.12",
					   "0.20 0.18 0.12 180 11206",
					   "0.20 0.18 0.12 /80 11206",
					   "0.20 0.18 0.12 x/80 11206",
					   "0.20 0.18 0.12 -1/80 11206",
					   "0.20 0.18 0.12 1/x 11206" };
	uint64_t value = 7, all = 8;

	for (size_t i = 0; i < array_length(bad); i++) {
		struct text text = guarded(bad[i], strlen(bad[i]));

		assert_false(counters_parse_threads(text, &value, &all));
		unguard(text);
	}
	assert_int_equal(value, 7);
	assert_int_equal(all, 8);
	assert_true(counters_parse_threads(TEXT("0.07 12.30 70000.05 3/412 9999\n"), &value, &all));
	assert_int_equal(value, 3);
	assert_int_equal(all, 412);
}

TEST(hundredths)
{
	static const char *const bad[] = {
		"",     ".",     "1",    "1.",    "1.2",  "1.234", ".12",
		"1.2x", "-1.23", "1.-2", "1.2.3", "1,23", " 1.23", "184467440737095516.16"
	};
	uint64_t value = 7;

	for (size_t i = 0; i < array_length(bad); i++) {
		struct text text = guarded(bad[i], strlen(bad[i]));

		assert_false(counters_hundredths(text, &value));
		unguard(text);
	}
	assert_int_equal(value, 7);
	assert_true(counters_hundredths(TEXT("0.00"), &value));
	assert_int_equal(value, 0);
	assert_true(counters_hundredths(TEXT("350735.47"), &value));
	assert_int_equal(value, 35073547);
	assert_true(counters_hundredths(TEXT("184467440737095516.15"), &value));
	assert_true(value == UINT64_MAX);
}

/* --- devices --- */

TEST(devices)
{
	static const char file[] = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
				   " 254       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"
				   "\n"
				   " 259 1048575 nvme0n1p1 0 0 0 0 0 0 0 0 0 0 5\n"
				   "   8       0 sda 0 0 0 0 0 0 0 0 0 0 0 0 0 4 0\n";
	static const struct {
		const char *key;
		uint64_t value;
	} wanted[] = {
		{ "reads", 1 },
		{ "reads_merged", 2 },
		{ "read_bytes", 3 * 512 },
		{ "read_ms", 4 },
		{ "writes", 5 },
		{ "writes_merged", 6 },
		{ "written_bytes", 7 * 512 },
		{ "write_ms", 8 },
		{ "in_flight", 9 },
		{ "io_ms", 10 },
		{ "io_weighted_ms", 11 },
		{ "discards", 12 },
		{ "discards_merged", 13 },
		{ "discarded_bytes", 14 * 512 },
		{ "discard_ms", 15 },
		{ "flushes", 16 },
		{ "flush_ms", 17 },
	};
	struct text bytes = guarded(file, strlen(file)), rest = bytes;
	struct counter_row row;

	assert_int_equal(counters_next_block(&rest, &row), ROW_GOOD);
	expect_text(row.name, "vda");
	assert_int_equal(row.count, array_length(wanted));
	for (size_t i = 0; i < array_length(wanted); i++)
		assert_int_equal(value_of(&row, wanted[i].key), wanted[i].value);
	assert_int_equal(counters_next_block(&rest, &row), ROW_GOOD);
	expect_text(row.name, "nvme0n1p1");
	assert_int_equal(row.count, 11);
	assert_int_equal(value_of(&row, "io_weighted_ms"), 5);
	assert_int_equal(counters_next_block(&rest, &row), ROW_GOOD);
	expect_text(row.name, "sda");
	assert_int_equal(row.count, 15);
	assert_int_equal(value_of(&row, "discarded_bytes"), 2048);
	assert_int_equal(counters_next_block(&rest, &row), ROW_NONE);
	unguard(bytes);
}

TEST(no_devices)
{
	static const char *const bad[] = {
		"noise",
		"254",
		"254 0",
		"254 0 vda",
		"254 0 vda 1 2 3 4 5 6 7 8 9 10",
		"254 0 vda 1 2 3 4 5 6 7 8 9 10 x",
		"254 x vda 1 2 3 4 5 6 7 8 9 10 11",
		"254 0 vda 1 2 -3 4 5 6 7 8 9 10 11",
		/* sectors that are too many bytes */
		"254 0 vda 1 2 36028797018963968 4 5 6 7 8 9 10 11",
	};
	struct counter_row row;

	for (size_t i = 0; i < array_length(bad); i++)
		assert_int_equal(first_row(counters_next_block, bad[i], &row), ROW_BAD);
	assert_int_equal(first_row(counters_next_block, "", &row), ROW_NONE);
	assert_int_equal(first_row(counters_next_block, "\n \n", &row), ROW_NONE);
	assert_int_equal(first_row(counters_next_block,
				   "254 0 vda 0 0 36028797018963967 0 0 0 0 0 "
				   "0 0 0",
				   &row),
			 ROW_GOOD);
	assert_true(value_of(&row, "read_bytes") == UINT64_MAX - 511);
}

/* --- interfaces --- */

#define HEADING                                                                                   \
	"Inter-|   Receive                                                |  Transmit\n"          \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs" \
	" drop fifo colls carrier compressed\n"

TEST(interfaces)
{
	static const char file[] = HEADING "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
					   "eth0.5@x:0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17\n";
	static const char *const keys[] = {
		"received_bytes",      "received_packets",     "received_errors",
		"received_drops",      "received_fifo_errors", "received_frame_errors",
		"received_compressed", "received_multicast",   "sent_bytes",
		"sent_packets",        "sent_errors",          "sent_drops",
		"sent_fifo_errors",    "collisions",           "carrier_errors",
		"sent_compressed",
	};
	struct text bytes = guarded(file, strlen(file)), rest = bytes;
	struct counter_row row;

	assert_int_equal(counters_next_net(&rest, &row), ROW_GOOD);
	expect_text(row.name, "lo");
	assert_int_equal(row.count, array_length(keys));
	for (size_t i = 0; i < array_length(keys); i++)
		assert_int_equal(value_of(&row, keys[i]), i + 1);
	/* an idle one is there too, and no blank is needed before its numbers */
	assert_int_equal(counters_next_net(&rest, &row), ROW_GOOD);
	expect_text(row.name, "eth0.5@x");
	assert_int_equal(row.count, array_length(keys));
	assert_int_equal(counters_next_net(&rest, &row), ROW_NONE);
	unguard(bytes);
}

#define SIXTEEN "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"

TEST(odd_names_of_interfaces)
{
	static const char *const names[] = { "a:b", "a|b", "|", "::", "\xff\xfe", "7", "-", "{}" };

	for (size_t i = 0; i < array_length(names); i++) {
		char file[128];
		struct text rest;
		struct counter_row row;

		snprintf(file, sizeof(file), "%s: " SIXTEEN, names[i]);
		rest = text_of(file);
		assert_int_equal(counters_next_net(&rest, &row), ROW_GOOD);
		expect_text(row.name, names[i]);
		assert_int_equal(value_of(&row, "sent_compressed"), 16);
	}
}

TEST(no_interfaces)
{
	static const char *const bad[] = {
		"noise",
		"eth0:",
		"eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
		"eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x",
		"eth0: 1 2 3 4 5 6 7 -8 9 10 11 12 13 14 15 16",
		": " SIXTEEN,
		"  : " SIXTEEN,
		"a b: " SIXTEEN,
		"eth0 " SIXTEEN,
	};
	struct counter_row row;

	for (size_t i = 0; i < array_length(bad); i++)
		assert_int_equal(first_row(counters_next_net, bad[i], &row), ROW_BAD);
	assert_int_equal(first_row(counters_next_net, HEADING, &row), ROW_NONE);
	assert_int_equal(first_row(counters_next_net, "", &row), ROW_NONE);
}

UNIT_TESTS(cmocka_unit_test(cpus_of_stat), cmocka_unit_test(no_cpus_of_stat),
	   cmocka_unit_test(after_a_bad_cpu), cmocka_unit_test(the_largest_time_is_exact),
	   cmocka_unit_test(cpus_of_schedstat), cmocka_unit_test(versions_of_schedstat),
	   cmocka_unit_test(the_kernel), cmocka_unit_test(the_kernel_in_part),
	   cmocka_unit_test(loads), cmocka_unit_test(runnable_threads),
	   cmocka_unit_test(hundredths), cmocka_unit_test(devices), cmocka_unit_test(no_devices),
	   cmocka_unit_test(interfaces), cmocka_unit_test(odd_names_of_interfaces),
	   cmocka_unit_test(no_interfaces))
