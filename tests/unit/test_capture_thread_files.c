/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/thread_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit/scene.h"

/* --- stat, schedstat, status, io --- */

#define STAT_AFTER_FLAGS                                                                           \
	" 210 220 230 240 250 260 270 280 -51 -20 1 0 123456 7000 800 18446744073709551615 1 1 0 " \
	"0 0 0 671173123 4096 1260 0 0 0 17 3 40 2 0 0 0 0 0 0 0 0 0 0 0\n"
#define STAT_TAIL " S 1 10 10 0 -1 4194560" STAT_AFTER_FLAGS

TEST(stat)
{
	assert_true(take(SOURCE_STAT, "10 (my (odd) name\n)" STAT_TAIL));
	assert_string_equal(scene->thread->comm->bytes, "my (odd) name\n");
	assert_true(scene->thread->start_time_clock_ticks.measured);
	assert_int_equal(scene->thread->start_time_clock_ticks.value, 123456);
	expect_number(METRIC_state, 'S');
	expect_number(METRIC_minflt, 210);
	expect_number(METRIC_majflt, 230);
	expect_number(METRIC_utime_clock_ticks, 250);
	expect_number(METRIC_stime_clock_ticks, 260);
	expect_number(METRIC_priority, -51);
	expect_number(METRIC_nice, -20);
	expect_number(METRIC_processor, 3);
	expect_number(METRIC_rt_priority, 40);
	assert_true(is_measured(scene->thread, METRIC_policy));
	assert_string_equal(scene->thread->record.values.policy.v->bytes, "SCHED_RR");
	assert_int_equal(measured_count(), 10);
}

TEST(a_name_that_is_not_utf8_is_kept)
{
	assert_true(take(SOURCE_STAT, "10 (Werkst\xc3\xa4tte-\xe2\x82)" STAT_TAIL));
	assert_string_equal(scene->thread->comm->bytes, "Werkst\xc3\xa4tte-\xe2\x82");
}

TEST(a_short_stat_has_what_it_has)
{
	assert_false(take(SOURCE_STAT, "10 (x) D 1 10 10 0 -1 4194560 7\n"));
	assert_string_equal(scene->thread->comm->bytes, "x");
	expect_number(METRIC_state, 'D');
	expect_number(METRIC_minflt, 7);
	assert_int_equal(measured_count(), 2);
	assert_false(scene->thread->start_time_clock_ticks.measured);
}

TEST(garbage_in_stat)
{
	static const char *const files[] = {
		"", "garbage", "10 x S 1", "\xff\xfe\n",
		"10 (x) \x01 a b c d e f g h i j k l m n o p q r s t"
	};

	for (size_t i = 0; i < array_length(files); i++)
		assert_false(take(SOURCE_STAT, files[i]));
	assert_int_equal(measured_count(), 0);
}

TEST(one_bad_column_is_one_unmeasured_row)
{
	assert_false(take(SOURCE_STAT,
			  "10 (x) S 1 10 10 0 -1 4194560 x 220 230 240 "
			  "99999999999999999999 260 270 280 20 0 1 0 5 7000 800 1 1 1 0 "
			  "0 0 0 6 4 1 0 0 0 17 3 0 0 0 0 0\n"));
	expect_unmeasured(METRIC_minflt);
	expect_unmeasured(METRIC_utime_clock_ticks);
	expect_number(METRIC_majflt, 230);
	expect_number(METRIC_stime_clock_ticks, 260);
	expect_number(METRIC_nice, 0);
}

TEST(schedstat)
{
	assert_true(take(SOURCE_SCHEDSTAT, "123456789 18446744073709551615 42\n"));
	expect_number(METRIC_run_time_ns, 123456789);
	expect_number(METRIC_wait_time_ns, -1);
	expect_number(METRIC_timeslices, 42);
	assert_int_equal(measured_count(), 3);
}

TEST(schedstat_short_long_and_bad)
{
	assert_false(take(SOURCE_SCHEDSTAT, "5 6\n"));
	expect_number(METRIC_wait_time_ns, 6);
	expect_unmeasured(METRIC_timeslices);
	assert_true(take(SOURCE_SCHEDSTAT, "7 8 9 10 11\n"));
	expect_number(METRIC_timeslices, 9);
	assert_false(take(SOURCE_SCHEDSTAT, ""));
	assert_false(take(SOURCE_SCHEDSTAT, "x -1 1.5\n"));
}

#define STATUS                                                                   \
	"Name:\tbash\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t10\nPid:\t10\n" \
	"Uid:\t1000\t1001\t1002\t1003\nThreads:\t20\nCpus_allowed:\tf\n"         \
	"Cpus_allowed_list:\t0-1,3\nvoluntary_ctxt_switches:\t150\n"             \
	"nonvoluntary_ctxt_switches:\t99\n"

TEST(status)
{
	const struct name *cpus;

	assert_true(take(SOURCE_STATUS, STATUS));
	expect_number(METRIC_nr_threads, 20);
	expect_number(METRIC_voluntary_csw, 150);
	expect_number(METRIC_nonvoluntary_csw, 99);
	expect_number(METRIC_state, 'S');
	cpus = scene->thread->record.values.cpu_affinity.v;
	assert_true(is_measured(scene->thread, METRIC_cpu_affinity));
	assert_int_equal(cpu_set_count(cpus), 3);
	assert_int_equal(cpu_set_cpus(cpus)[2], 3);
	assert_int_equal(measured_count(), 5);
}

TEST(facts_of_the_process_are_its_leaders)
{
	scene->thread->tid = 11;
	assert_true(take(SOURCE_STATUS, STATUS));
	expect_unmeasured(METRIC_nr_threads);
	expect_number(METRIC_voluntary_csw, 150);
}

TEST(the_better_source_wins_in_either_order)
{
	assert_true(cpulist_parse(TEXT("7"), &scene->taker.cpus));
	assert_true(take_affinity(&scene->taker, scene->thread));
	assert_true(take(SOURCE_STATUS, STATUS));
	assert_int_equal(cpu_set_count(scene->thread->record.values.cpu_affinity.v), 1);
	assert_int_equal(cpu_set_cpus(scene->thread->record.values.cpu_affinity.v)[0], 7);
	assert_true(take(SOURCE_STAT, "10 (x)" STAT_TAIL));
	expect_number(METRIC_state, 'S');
	take(SOURCE_STATUS, "State:\tR (running)\n");
	expect_number(METRIC_state, 'S');
}

TEST(partial_and_blank_status)
{
	assert_true(take(SOURCE_STATUS, "voluntary_ctxt_switches:\t5\n"));
	expect_number(METRIC_voluntary_csw, 5);
	expect_unmeasured(METRIC_nonvoluntary_csw);
	assert_false(take(SOURCE_STATUS, "State:\nThreads:\tmany\nCpus_allowed_list:\t3-1\n"));
	expect_unmeasured(METRIC_state);
	expect_unmeasured(METRIC_nr_threads);
	expect_unmeasured(METRIC_cpu_affinity);
	assert_false(take(SOURCE_STATUS, "Cpus_allowed_list:\t\n"));
	expect_unmeasured(METRIC_cpu_affinity);
}

TEST(io)
{
	static const enum metric_id ids[] = { METRIC_rchar,
					      METRIC_wchar,
					      METRIC_syscr,
					      METRIC_syscw,
					      METRIC_read_bytes,
					      METRIC_write_bytes,
					      METRIC_cancelled_write_bytes };

	assert_true(take(SOURCE_IO, "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
				    "write_bytes: 6\ncancelled_write_bytes: 7\n"));
	for (size_t i = 0; i < array_length(ids); i++)
		expect_number(ids[i], (int64_t)i + 1);
	assert_int_equal(measured_count(), 7);
}

TEST(io_with_a_malformed_line)
{
	assert_false(take(SOURCE_IO, "rchar: 1\nwchar: x\nsyscr 3\nsyscw: -4\nread_bytes: 5\n"));
	expect_number(METRIC_rchar, 1);
	expect_number(METRIC_read_bytes, 5);
	assert_int_equal(measured_count(), 2);
	assert_false(take(SOURCE_IO, ""));
	assert_false(take(SOURCE_IO, "no pair in it\n"));
}

/* --- sched --- */

#define RULE "-------------------------------------------------------------------\n"
#define HEAD "bash (10, #threads: 1)\n" RULE

TEST(sched_of_every_age)
{
	static const char *const prefixes[] = { "se.statistics.", "stats.", "" };

	for (size_t i = 0; i < array_length(prefixes); i++) {
		char file[1024];
		const char *p = prefixes[i];

		scene->thread->record = (struct thread_record){ 0 };
		snprintf(file, sizeof(file),
			 HEAD "se.exec_start    :  8123.456789\n%swait_sum   :   12.345678\n"
			      "%swait_max : 0.000001\n%snr_wakeups  :  77\n"
			      "%siowait_count : 3\nse.nr_migrations : 9\nse.slice : 2800000\n"
			      "ext.enabled  : 1\npolicy : 0\nprio : 120\n",
			 p, p, p, p);
		assert_true(take(SOURCE_SCHED, file));
		expect_number(METRIC_wait_sum, 12345678);
		expect_number(METRIC_wait_max, 1);
		expect_number(METRIC_nr_wakeups, 77);
		expect_number(METRIC_iowait_count, 3);
		expect_number(METRIC_nr_migrations, 9);
		expect_number(METRIC_fair_slice_ns, 2800000);
		expect_number(METRIC_ext_enabled, 1);
		assert_int_equal(measured_count(), 7);
	}
}

/* A kernel without SCHEDSTATS: the file is there, its keys are not. */
TEST(sched_without_schedstats)
{
	assert_true(take(SOURCE_SCHED,
			 HEAD "se.exec_start : 1.000000\nse.vruntime : 2.5\n"
			      "se.sum_exec_runtime : 3.25\nse.nr_migrations : 4\n"
			      "nr_switches : 5\nse.load.weight : 1048576\nse.slice : 700000\n"));
	expect_number(METRIC_nr_migrations, 4);
	expect_number(METRIC_fair_slice_ns, 700000);
	assert_int_equal(measured_count(), 2);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		if (metrics[id].gates >> GATE_SCHEDSTATS & 1)
			expect_unmeasured(id);
}

TEST(every_schedstat_key)
{
	static const struct {
		const char *line;
		enum metric_id id;
		int64_t value;
	} keys[] = {
		{ "nr_wakeups : 11", METRIC_nr_wakeups, 11 },
		{ "nr_wakeups_local : 12", METRIC_nr_wakeups_local, 12 },
		{ "nr_wakeups_remote : 13", METRIC_nr_wakeups_remote, 13 },
		{ "nr_wakeups_sync : 14", METRIC_nr_wakeups_sync, 14 },
		{ "nr_wakeups_migrate : 15", METRIC_nr_wakeups_migrate, 15 },
		{ "nr_wakeups_affine : 16", METRIC_nr_wakeups_affine, 16 },
		{ "nr_wakeups_affine_attempts : 17", METRIC_nr_wakeups_affine_attempts, 17 },
		{ "nr_forced_migrations : 18", METRIC_nr_forced_migrations, 18 },
		{ "nr_failed_migrations_affine : 19", METRIC_nr_failed_migrations_affine, 19 },
		{ "nr_failed_migrations_running : 20", METRIC_nr_failed_migrations_running, 20 },
		{ "nr_failed_migrations_hot : 21", METRIC_nr_failed_migrations_hot, 21 },
		{ "wait_sum : 0.000022", METRIC_wait_sum, 22 },
		{ "wait_count : 23", METRIC_wait_count, 23 },
		{ "wait_max : 0.000024", METRIC_wait_max, 24 },
		{ "sleep_max : 0.000025", METRIC_sleep_max, 25 },
		{ "block_max : 0.000026", METRIC_block_max, 26 },
		{ "sum_block_runtime : 0.000027", METRIC_block_sum, 27 },
		{ "iowait_sum : 0.000028", METRIC_iowait_sum, 28 },
		{ "iowait_count : 29", METRIC_iowait_count, 29 },
		{ "exec_max : 0.000030", METRIC_exec_max, 30 },
		{ "slice_max : 0.000031", METRIC_slice_max, 31 },
		{ "core_forceidle_sum : 0.000032", METRIC_core_forceidle_sum, 32 },
	};

	for (size_t i = 0; i < array_length(keys); i++) {
		char file[256];

		scene->thread->record = (struct thread_record){ 0 };
		snprintf(file, sizeof(file), HEAD "%s\n", keys[i].line);
		assert_true(take(SOURCE_SCHED, file));
		expect_number(keys[i].id, keys[i].value);
		assert_int_equal(measured_count(), 1);
	}
}

/* PF_KTHREAD in column 9 of stat. */
TEST(kernel_threads_have_a_total_of_their_own)
{
	assert_true(take(SOURCE_STAT, "10 (kworker/0:1) I 2 0 0 0 -1 69238880" STAT_AFTER_FLAGS));
	scene->thread->record = (struct thread_record){ 0 };
	assert_true(take(SOURCE_SCHED, HEAD "sum_block_runtime : 3.000000\n"
					    "block_max : 2.000000\n"));
	expect_number(METRIC_kthread_block_sum, 3000000);
	expect_number(METRIC_kthread_block_max, 2000000);
	assert_int_equal(measured_count(), 2);
}

TEST(pairs_without_a_known_key_are_not_understood)
{
	assert_false(take(SOURCE_SCHED, HEAD "prio : 120\n"));
	assert_false(take(SOURCE_STATUS, "Name:\tx\n"));
	assert_false(take(SOURCE_IO, "other: 1\n"));
	assert_int_equal(measured_count(), 0);
}

TEST(voluntary_sleep_needs_both_keys)
{
	assert_true(take(SOURCE_SCHED, HEAD "sum_sleep_runtime : 10.000000\n"));
	expect_unmeasured(METRIC_voluntary_sleep_ns);
	scene->thread->record = (struct thread_record){ 0 };
	assert_true(take(SOURCE_SCHED, HEAD "sum_block_runtime : 3.000000\n"));
	expect_unmeasured(METRIC_voluntary_sleep_ns);
	expect_number(METRIC_block_sum, 3000000);
	scene->thread->record = (struct thread_record){ 0 };
	assert_true(take(SOURCE_SCHED, HEAD "nr_wakeups : 1\n"));
	expect_unmeasured(METRIC_voluntary_sleep_ns);
	assert_true(take(SOURCE_SCHED, HEAD "sum_sleep_runtime : 10.000001\n"
					    "sum_block_runtime : 3.000000\n"));
	expect_number(METRIC_voluntary_sleep_ns, 7000001);
	expect_number(METRIC_block_sum, 3000000);
}

TEST(voluntary_sleep_in_the_other_order_and_prefixed)
{
	assert_true(take(SOURCE_SCHED, HEAD "se.statistics.sum_block_runtime : 3.0\n"
					    "se.statistics.sum_sleep_runtime : 10.5\n"));
	expect_number(METRIC_voluntary_sleep_ns, 7500000);
}

TEST(blocked_longer_than_asleep_is_no_sleep)
{
	assert_true(take(SOURCE_SCHED, HEAD "sum_sleep_runtime : 1.000000\n"
					    "sum_block_runtime : 3.000000\n"));
	expect_number(METRIC_voluntary_sleep_ns, 0);
}

TEST(times_that_ran_backwards_are_counted)
{
	assert_false(take(SOURCE_SCHED, HEAD "wait_sum : -3.000000\nwait_max : 0.-000500\n"
					     "sum_sleep_runtime : -1.5\nexec_max : 5.000000\n"));
	assert_int_equal(scene->taker.negative_times, 3);
	expect_unmeasured(METRIC_wait_sum);
	expect_unmeasured(METRIC_wait_max);
	expect_unmeasured(METRIC_voluntary_sleep_ns);
	expect_number(METRIC_exec_max, 5000000);
}

TEST(garbage_in_sched)
{
	static const char *const files[] = { "", "garbage\n", HEAD "nr_wakeups : many\n",
					     HEAD "ext.enabled : 2\n", HEAD "wait_sum : 1.x\n" };

	for (size_t i = 0; i < array_length(files); i++)
		assert_false(take(SOURCE_SCHED, files[i]));
	assert_int_equal(measured_count(), 0);
}

/* The first line holds the name as it is: fifteen bytes of the thread's own choosing. */
TEST(a_name_in_sched_is_not_a_key)
{
	static const char *const heads[] = {
		"nr_wakeups:7 (10, #threads: 1)\n" RULE,
		"\nnr_wakeups:7\n (10, #threads: 1)\n" RULE,
		"a\nwait_sum:9.9\n (10, #threads: 1)\n" RULE,
		"\n---\nslice:77\n (10, #threads: 1)\n" RULE,
	};

	for (size_t i = 0; i < array_length(heads); i++) {
		char file[256];

		scene->thread->record = (struct thread_record){ 0 };
		snprintf(file, sizeof(file), "%sse.nr_migrations : 4\n", heads[i]);
		assert_true(take(SOURCE_SCHED, file));
		expect_number(METRIC_nr_migrations, 4);
		assert_int_equal(measured_count(), 1);
	}
}

/* --- smaps_rollup --- */

TEST(smaps_rollup)
{
	const struct counts *smaps;

	assert_true(take_smaps_rollup(&scene->taker,
				      TEXT("5580-7ffd ---p 00000000 00:00 0    [rollup]\n"
					   "Rss:    1234 kB\nPss:  0 kB\nPss_Anon: 7 kB\n"),
				      scene->thread));
	smaps = scene->thread->smaps_rollup_kib;
	assert_non_null(smaps);
	assert_int_equal(smaps->count, 3);
	assert_string_equal(smaps->items[0].key->bytes, "Rss");
	assert_int_equal(smaps->items[0].value, 1234);
	assert_int_equal(smaps->items[1].value, 0);
}

TEST(smaps_rollup_with_bad_lines)
{
	assert_false(
		take_smaps_rollup(&scene->taker, TEXT("Rss: 5 kB\nPss: x kB\n"), scene->thread));
	assert_int_equal(scene->thread->smaps_rollup_kib->count, 1);
	assert_int_equal(scene->thread->smaps_rollup_kib->items[0].value, 5);
}

TEST(smaps_rollup_with_a_key_twice_is_not_measured)
{
	assert_false(take_smaps_rollup(&scene->taker, TEXT("Rss: 5 kB\nPss: 1 kB\nRss: 6 kB\n"),
				       scene->thread));
	assert_null(scene->thread->smaps_rollup_kib);
}

TEST(smaps_rollup_of_no_memory)
{
	assert_true(take_smaps_rollup(&scene->taker, TEXT(""), scene->thread));
	assert_null(scene->thread->smaps_rollup_kib);
}

/* --- the plan --- */

TEST(every_source_is_bound)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		size_t wanted = 0, bound = 0;

		for (size_t k = 0; k < METRIC_SOURCES_MAX; k++)
			if (metrics[id].sources[k].id)
				wanted += metrics[id].sources[k].less ? 2 : 1;
		for (size_t i = 0; i < scene->plan.count; i++)
			bound += scene->plan.bindings[i].metric == &metrics[id];
		assert_int_equal(bound, wanted);
	}
}

TEST(every_key_is_in_its_chain)
{
	for (size_t i = 0; i < scene->plan.count; i++) {
		const struct binding *binding = &scene->plan.bindings[i], *found;

		if (!binding->key.length)
			continue;
		found = plan_chain(&scene->plan, binding->source->id, binding->key);
		while (found && found != binding)
			found = found->next;
		assert_ptr_equal(found, binding);
	}
}

UNIT_TESTS(CASE(stat), CASE(a_name_that_is_not_utf8_is_kept), CASE(a_short_stat_has_what_it_has),
	   CASE(garbage_in_stat), CASE(one_bad_column_is_one_unmeasured_row), CASE(schedstat),
	   CASE(schedstat_short_long_and_bad), CASE(status),
	   CASE(facts_of_the_process_are_its_leaders), CASE(the_better_source_wins_in_either_order),
	   CASE(partial_and_blank_status), CASE(io), CASE(io_with_a_malformed_line),
	   CASE(sched_of_every_age), CASE(sched_without_schedstats), CASE(every_schedstat_key),
	   CASE(kernel_threads_have_a_total_of_their_own),
	   CASE(pairs_without_a_known_key_are_not_understood),
	   CASE(voluntary_sleep_needs_both_keys),
	   CASE(voluntary_sleep_in_the_other_order_and_prefixed),
	   CASE(blocked_longer_than_asleep_is_no_sleep), CASE(times_that_ran_backwards_are_counted),
	   CASE(garbage_in_sched), CASE(a_name_in_sched_is_not_a_key), CASE(smaps_rollup),
	   CASE(smaps_rollup_with_bad_lines), CASE(smaps_rollup_with_a_key_twice_is_not_measured),
	   CASE(smaps_rollup_of_no_memory), CASE(every_source_is_bound),
	   CASE(every_key_is_in_its_chain))
