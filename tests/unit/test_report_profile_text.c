/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/units.h"
#include "unit/profile_report_scene.h"

static struct report_scene s;

static int setup(void **state)
{
	(void)state;
	report_scene_begin(&s);
	s.style.utf8 = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_scene_end(&s);
	return 0;
}

/* --- stacks --- */

TEST(stacks_are_a_tree_that_parts_where_they_part)
{
	report_scene_fill(&s);
	assert_string_equal(
		report_scene_text(&s, stack_report),
		"\n## Stacks\n"
		"   share       time  stack\n"
		" 100.00%   46.000µs  main  ← itself 1.000µs, on-cpu\n"
		"  86.96%   40.000µs  ├─ flush [i]\n"
		"                     │  fsync [k]  ← uninterruptible, 2 times, 20.000µs each\n"
		"  10.87%    5.000µs  └─ read\n"
		"                        vfs_read [k]  ← storage, 5 times, 1.000µs each\n");
}

/* Stacks at probes have no time. */
TEST(events_are_counted)
{
	report_scene_fill(&s);
	build_sample(s.profile, 0, CLASS_EVENT, "main;malloc", 0, 9);
	s.view.classes = FLAME_EVENTS;
	assert_non_null(strstr(report_scene_text(&s, stack_report),
			       "## Stacks\n   share      count  stack\n"));
}

TEST(stacks_can_be_ascii)
{
	report_scene_fill(&s);
	s.style.utf8 = false;
	s.view.classes = FLAME_OFF_CPU;
	assert_string_equal(
		report_scene_text(&s, stack_report),
		"\n## Stacks\n"
		"   share       time  stack\n"
		" 100.00%   45.000µs  main\n"
		"  88.89%   40.000µs  |- flush [i]\n"
		"                     |  fsync [k]  <- uninterruptible, 2 times, 20.000µs each\n"
		"  11.11%    5.000µs  `- read\n"
		"                        vfs_read [k]  <- storage, 5 times, 1.000µs each\n");
}

TEST(hidden_samples_are_counted_apart_from_the_rest)
{
	report_scene_fill(&s);
	s.style.limit = 1;
	assert_string_equal(
		report_scene_text(&s, stack_report),
		"\n## Stacks\n"
		"   share       time  stack\n"
		" 100.00%   46.000µs  main  ← itself 1.000µs, on-cpu\n"
		"  86.96%   40.000µs  └─ flush [i]\n"
		"                        fsync [k]  ← uninterruptible, 2 times, 20.000µs each\n"
		"\n… 1 more stack with 5.000µs (10.87%): --all\n");
	s.style.limit = 0;
	s.style.least_share = 0.1;
	assert_non_null(
		strstr(report_scene_text(&s, stack_report), "… 1 more stack with 1.000µs (2.17%)"));
}

/* It is in no leaf, and most of the time. */
TEST(a_function_whose_time_is_in_many_callees_is_shown)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	char stack[64];

	for (unsigned i = 0; i < 400; i++) {
		sprintf(stack, "main;parse;leaf%03u", i);
		build_sample(s.profile, thread, CLASS_ON_CPU, stack, 10, 1);
	}
	for (unsigned i = 0; i < 20; i++) {
		sprintf(stack, "main;other%03u", i);
		build_sample(s.profile, thread, CLASS_ON_CPU, stack, 100, 10);
	}
	s.style.limit = 3;
	assert_string_equal(report_scene_text(&s, stack_report),
			    "\n## Stacks\n"
			    "   share       time  stack\n"
			    " 100.00%    6.000µs  main\n"
			    "  66.67%    4.000µs  ├─ parse  ← on-cpu, 400 stacks, 400 samples\n"
			    "   1.67%      100ns  ├─ other000  ← on-cpu, 10 samples\n"
			    "   1.67%      100ns  └─ other001  ← on-cpu, 10 samples\n"
			    "\n… 18 more stacks with 1.800µs (30.00%): --all\n");
}

/* Far below the share of the whole from which stacks are shown. */
TEST(samples_beside_a_long_sleep_are_shown)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);

	build_sample(s.profile, thread, CLASS_INTERRUPTIBLE, "main;join", 1000000, 1);
	for (unsigned i = 0; i < 8; i++)
		build_sample(s.profile, thread, CLASS_INTERRUPTIBLE, "worker;lock", 100, 1);
	assert_string_equal(report_scene_text(&s, stack_report),
			    "\n## Stacks\n"
			    "   share       time  stack\n"
			    "  99.92%    1.000ms  main\n"
			    "                     join  ← interruptible, 1 time\n"
			    "\n"
			    "   0.08%      800ns  worker\n"
			    "                     lock  ← interruptible, 8 times, 100ns each\n");
}

TEST(stacks_that_changed_come_by_their_change)
{
	report_scene_fill(&s);
	report_scene_baseline(&s);
	assert_string_equal(report_scene_text(&s, stack_report),
			    "\n## Stacks\n"
			    "     before      after       change  stack\n"
			    "    8.700µs   46.000µs    +37.300µs  main\n"
			    "        0ns   40.000µs    +40.000µs  ├─ flush [i]\n"
			    "                                     │  fsync [k]\n"
			    "      700ns        0ns       -700ns  └─ gone\n");
}

TEST(lines_are_cut_to_the_terminal)
{
	static const char name[] = "a_function_with_a_name_that_is_longer_than_the_terminal";
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);

	build_sample(s.profile, thread, CLASS_ON_CPU, name, 5, 1);
	s.style.width = 40;
	assert_non_null(
		strstr(report_scene_text(&s, stack_report), "        5ns  a_function_with_a_…\n"));
}

TEST(the_middle_of_long_chains_is_cut_out)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	char stack[2000], *end = stack;
	const char *text;

	for (unsigned i = 0; i < 100; i++)
		end += sprintf(end, "%sframe%02u", i ? ";" : "", i);
	build_sample(s.profile, thread, CLASS_ON_CPU, stack, 5, 1);
	text = report_scene_text(&s, stack_report);
	assert_non_null(strstr(text, "frame03\n                     … 90 frames …\n"
				     "                     frame94\n"));
	s.style.all = true;
	assert_non_null(strstr(report_scene_text(&s, stack_report),
			       "frame04\n                     frame05\n"));
}

/* --- threads --- */

static struct profile_thread *account(uint32_t number, uint64_t wall)
{
	struct profile_thread *thread = &s.profile->threads.items[number];

	thread->is_accounted = true;
	thread->begun_ns = 1000;
	thread->ended_ns = 1000 + wall;
	return thread;
}

TEST(threads_have_columns_for_occurring_classes_and_their_sum)
{
	struct profile_thread *thread;

	report_scene_fill(&s);
	thread = account(0, 10000);
	thread->ns[CLASS_ON_CPU] = 4000;
	thread->ns[CLASS_RUNNABLE] = 1000;
	thread->ns[CLASS_IO_WAIT] = 5000;
	s.style.all = true;
	assert_string_equal(report_scene_text(&s, thread_report),
			    "\n## Threads\n"
			    " thread  tid  process   on-cpu  runnable  uninterruptible  io-wait    "
			    "   sum      wall  "
			    "sum/wall \n"
			    " writer   11  db             -         -         40.000µs        -  "
			    "40.000µs         -  "
			    "       - \n"
			    " db       10  db       4.000µs   1.000µs              0ns  5.000µs  "
			    "10.000µs  10.000µs  "
			    " 100.00% \n");
}

TEST(threads_are_ordered_by_the_reported_classes)
{
	const char *text;

	report_scene_fill(&s);
	account(0, 1)->ns[CLASS_ON_CPU] = 9;
	account(1, 1)->ns[CLASS_UNINTERRUPTIBLE] = 90;
	s.view.classes = FLAME_ON_CPU;
	assert_null(strstr(report_scene_text(&s, thread_report), " writer "));
	s.style.all = true;
	text = report_scene_text(&s, thread_report);
	assert_true(strstr(text, " db ") < strstr(text, " writer "));
	s.view.classes = FLAME_OFF_CPU;
	text = report_scene_text(&s, thread_report);
	assert_true(strstr(text, " db       10") > strstr(text, " writer "));
	s.style.all = false;
	s.style.limit = 1;
	account(0, 1)->ns[CLASS_IO_WAIT] = 5000;
	assert_non_null(strstr(report_scene_text(&s, thread_report),
			       " ... 1 more thread with 90ns (--all)\n"));
}

/* --- blocks, preemptors --- */

TEST(longest_blocks_have_time_stack_and_waker)
{
	struct block block = { .class = CLASS_IO_WAIT,
			       .begun_ns = 2500,
			       .ns = 5000,
			       .runnable_ns = 70,
			       .waker_tid = 44 };

	report_scene_fill(&s);
	account(0, 10000);
	block.node = build_stack(s.profile, "main;read;vfs_read_[k]");
	block.waker = profile_name(s.profile, "kworker", 7);
	assert_true(array_push(&s.profile->longest, block));
	block = (struct block){ .thread = 1,
				.node = NODE_NONE,
				.class = CLASS_INTERRUPTIBLE,
				.begun_ns = 1000,
				.ns = 9,
				.is_in_progress = true };
	assert_true(array_push(&s.profile->longest, block));
	assert_string_equal(
		report_scene_text(&s, longest_report),
		"\n## Longest blocks\n"
		"       at  blocked  then runnable  class          thread       woken by      "
		"stack, innermost first \n"
		" +1.500µs  5.000µs           70ns  io-wait        db (10)      kworker (44)  "
		"vfs_read < read < main \n"
		"     +0ns     9ns+              -  interruptible  writer (11)  -              \n");
}

TEST(preemptors_are_added_up)
{
	report_scene_fill(&s);
	account(0, 10000)->ns[CLASS_RUNNABLE] = 400;
	for (uint32_t i = 0; i < 2; i++) {
		struct preemptor c = { .thread = i,
				       .name = profile_name(s.profile, "hog", 3),
				       .tid = 99,
				       .ns = 100 + 200 * i };

		assert_true(array_push(&s.profile->preemptors, c));
	}
	assert_string_equal(report_scene_text(&s, preemptor_report),
			    "\n## Who ran instead\n"
			    " who ran   threads  cgroup  threads waited   time   share \n"
			    " hog (99)        1  -                    2  400ns  100.0% \n"
			    "\n## Who ran instead of whom\n"
			    " who waited   who ran   cgroup   time  of its wait \n"
			    " writer (11)  hog (99)  -       300ns            - \n"
			    " db (10)      hog (99)  -       100ns        25.0% \n");
}

/* A thread that ran two programs is two of the profile, and one here. */
TEST(a_thread_waits_for_a_preemptor_once)
{
	report_scene_fill(&s);
	account(0, 10000)->ns[CLASS_RUNNABLE] = 400;
	account(1, 10000)->ns[CLASS_RUNNABLE] = 100;
	s.profile->threads.items[1].tid = s.profile->threads.items[0].tid;
	s.profile->threads.items[1].name = s.profile->threads.items[0].name;
	for (uint32_t i = 0; i < 2; i++) {
		struct preemptor c = {
			.thread = i, .name = profile_name(s.profile, "hog", 3), .tid = 99, .ns = 100
		};

		assert_true(array_push(&s.profile->preemptors, c));
	}
	assert_non_null(strstr(report_scene_text(&s, preemptor_report),
			       "\n## Who ran instead of whom\n"
			       " who waited  who ran   cgroup   time  of its wait \n"
			       " db (10)     hog (99)  -       200ns        40.0% \n"));
}

/* Many processes, each of which ran little, are together what ran most. */
TEST(programs_that_are_started_over_and_over_are_one_row)
{
	const char *text;

	report_scene_fill(&s);
	s.profile->threads.items[1].name = s.profile->threads.items[0].name;
	account(0, 10000)->ns[CLASS_RUNNABLE] = 400;
	account(1, 10000)->ns[CLASS_RUNNABLE] = 800;
	for (uint32_t i = 0; i < 40; i++) {
		struct preemptor c = { .thread = i % 2,
				       .name = profile_name(s.profile, "cc1", 3),
				       .cgroup = profile_name(s.profile, i % 4 ? "/a" : "/b", 2),
				       .tid = 1000 + i / 2,
				       .ns = 10 };

		assert_true(array_push(&s.profile->preemptors, c));
	}
	assert_true(array_push(&s.profile->preemptors,
			       (struct preemptor){ .name = profile_name(s.profile, "sh", 2),
						   .tid = 7,
						   .ns = 100 }));
	assert_string_equal(report_scene_text(&s, preemptor_report),
			    "\n## Who ran instead\n"
			    " who ran  threads  cgroup     threads waited   time  share \n"
			    " cc1           20  2 cgroups               2  400ns  80.0% \n"
			    " sh (7)         1  -                       1  100ns  20.0% \n"
			    "\n## Who ran instead of whom\n"
			    " who waited  who ran  cgroup      time  of its wait \n"
			    " db          cc1      2 cgroups  400ns        33.3% \n"
			    " db          sh (7)   -          100ns         8.3% \n");
	s.style.all = true;
	text = report_scene_text(&s, preemptor_report);
	assert_non_null(strstr(text, "\n## Who ran instead, by thread\n"
				     " who ran     cgroup  threads waited   time  share \n"
				     " sh (7)      -                    1  100ns  20.0% \n"));
	assert_non_null(strstr(text, " db (10)     sh (7)      -       100ns        25.0% \n"));
}

/* --- histograms --- */

TEST(histograms_have_bars_and_percentiles)
{
	struct histogram *histogram = histogram_create(3);
	struct thread_histogram row = { .class = CLASS_IO_WAIT, .histogram = histogram };

	report_scene_fill(&s);
	histogram_record(histogram, 5, 30);
	histogram_record(histogram, 1000, 60);
	histogram_record(histogram, 5000, 10);
	assert_true(array_push(&s.profile->histograms, row));
	s.view.group_by = FLAME_BY_PROCESS;
	assert_string_equal(
		report_scene_text(&s, histogram_report),
		"\n## How long it took\n"
		"\ndb (10), io-wait: 100 times, 110.150µs in all, mean 1.101µs\n"
		"        4ns ..       7ns         30  ████████████████████\n"
		"        8ns ..      15ns          0  \n"
		"       16ns ..      31ns          0  \n"
		"       32ns ..      63ns          0  \n"
		"       64ns ..     127ns          0  \n"
		"      128ns ..     255ns          0  \n"
		"      256ns ..     511ns          0  \n"
		"      512ns ..   1.023µs         60  ████████████████████████████████████████\n"
		"    1.024µs ..   2.047µs          0  \n"
		"    2.048µs ..   4.095µs          0  \n"
		"    4.096µs ..   8.191µs         10  ██████▋\n"
		"  p50          960ns ..    1.023µs\n"
		"  p90          960ns ..    1.023µs\n"
		"  p95        4.608µs ..    5.119µs\n"
		"  p99        4.608µs ..    5.119µs\n"
		"  max        4.608µs ..    5.119µs\n"
		"  p99.9  needs 1,000 values\n");
	s.style.utf8 = false;
	assert_non_null(
		strstr(report_scene_text(&s, histogram_report), "  ####################\n"));
}

/* --- around --- */

TEST(the_footer_counts_losses)
{
	report_scene_fill(&s);
	s.style.all = true;
	s.profile->meta.duration_ns = 1000000;
	s.profile->meta.losses = (struct profile_losses){
		.switches = 12,
		.events = 10,
		.kept = 7,
		.filtered = 2,
		.filtered_ns = 5,
		.lost = 1,
		.lost_ns = 4000,
		.user_truncated = 1,
		.stacks_checked = 3,
		.runs = 24,
		.run_ns = 2400,
		.own_cpu_ns = 20000,
	};
	assert_string_equal(
		report_scene_text(&s, footer_report),
		"\n## Collection\n"
		" seen      12 switches\n"
		" events    10, of which 7 kept\n"
		" filtered  2 events, 5ns\n"
		" lost      1 event, 4.000µs (8.000% of the time)\n"
		" cut       1 user and 0 kernel stacks had more frames than were taken\n"
		" checked   3 recognised kernel stacks walked again, 0 wrong\n"
		" kernel    100ns for each run of our BPF programs (24 in the first second, "
		"2.400µs)\n"
		" ctprof    20.000µs of CPU time\n");
}

/* What a profile of milliseconds cost is that of starting: 20 CPUs of two. */
TEST(the_footer_has_no_share_of_a_moment)
{
	report_scene_fill(&s);
	s.profile->meta.duration_ns = NS_PER_S / 50;
	s.profile->meta.losses =
		(struct profile_losses){ .events = 1, .own_cpu_ns = 2 * NS_PER_S / 5 };
	assert_null(strstr(report_scene_text(&s, footer_report), "of a CPU"));
	s.profile->meta.duration_ns = 4 * NS_PER_S;
	assert_non_null(strstr(report_scene_text(&s, footer_report), "(10.00% of a CPU)"));
}

/* Beside how many there were, what they are worth, and of those that are not whole why. */
TEST(the_footer_counts_the_ends_of_walks)
{
	report_scene_fill(&s);
	s.style.all = true;
	s.profile->meta.losses = (struct profile_losses){
		.events = 10,
		.kept = 10,
		.walks = { [WALK_END_COMPLETE] = 12290,
			   [WALK_END_TRUNCATED] = 3,
			   [WALK_END_NO_RULE] = 40,
			   [WALK_END_NO_MEMORY] = 12 },
		.stacks_recognised = 800,
		.stacks_checked = 3,
		.user_stacks_recognised = 500,
		.user_stacks_checked = 2,
		.user_stacks_wrong = 1,
	};
	assert_string_equal(
		report_scene_text(&s, footer_report),
		"\n## Collection\n"
		" events    10, of which 10 kept\n"
		" lost      nothing\n"
		" walks     12345 user stacks: 12290 complete, 3 truncated, 52 ended early "
		"(no rule 40, memory not there 12)\n"
		" checked   3 of 800 recognised kernel stacks walked again, 0 wrong\n"
		"           2 of 500 recognised user stacks walked again, 1 wrong\n");
	s.profile->meta.losses = (struct profile_losses){
		.events = 10,
		.kept = 10,
		.walks = { [WALK_END_POINTER_END] = 1 },
		.user_stacks_checked = 2,
	};
	assert_string_equal(report_scene_text(&s, footer_report),
			    "\n## Collection\n"
			    " events    10, of which 10 kept\n"
			    " lost      nothing\n"
			    " walks     1 user stack: 1 by frame pointers\n"
			    " checked   2 recognised user stacks walked again, 0 wrong\n");
	s.profile->meta.losses = (struct profile_losses){ .switches = 3, .in_progress = 1 };
	assert_non_null(strstr(report_scene_text(&s, footer_report),
			       " events    0, of which 0 kept; and 1 wait that had not ended\n"));
	for (size_t end = 0; end < WALK_ENDS; end++)
		s.profile->meta.losses.walks[end] = 1;
	assert_non_null(strstr(
		report_scene_text(&s, footer_report),
		" walks     12 user stacks: 1 complete, 3 by frame pointers (process not "
		"known yet 1, mappings have changed 1), 1 truncated, 7 ended early (no "
		"mapping 1, table not made yet 1, no rule 1, rule not understood 1, register "
		"not known 1, memory not there 1, broken stack 1)\n"));
}

TEST(the_head_names_kind_and_origin)
{
	report_scene_fill(&s);
	s.profile->meta.host = profile_name(s.profile, "host\x1b", 5);
	s.profile->meta.duration_ns = 1500000000;
	s.profile->meta.cpus = 1;
	s.profile->meta.captured_at_unix_ns = 86400000000000;
	assert_string_equal(report_scene_text(&s, head_report),
			    "Time on and off the CPU: "
			    "host\\x1b, 1.500s on 1 CPU, 1970-01-02 00:00:00 UTC\n");
	s.view.classes = FLAME_OFF_CPU;
	assert_int_equal(strncmp(report_scene_text(&s, head_report), "Off-CPU time: ", 14), 0);
	s.view.classes = FLAME_ON_CPU;
	assert_int_equal(strncmp(report_scene_text(&s, head_report), "On-CPU time: ", 13), 0);
}

TEST(nothing_is_said_about_nothing)
{
	static profile_text *const texts[] = {
		waits_report,     stack_report,     function_report, thread_report,  longest_report,
		preemptor_report, histogram_report, footer_report,   program_report,
	};

	for (size_t i = 0; i < array_length(texts); i++)
		assert_string_equal(report_scene_text(&s, texts[i]), "");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(stacks_are_a_tree_that_parts_where_they_part), CASE(events_are_counted),
	   CASE(stacks_can_be_ascii), CASE(hidden_samples_are_counted_apart_from_the_rest),
	   CASE(a_function_whose_time_is_in_many_callees_is_shown),
	   CASE(samples_beside_a_long_sleep_are_shown),
	   CASE(stacks_that_changed_come_by_their_change), CASE(lines_are_cut_to_the_terminal),
	   CASE(the_middle_of_long_chains_is_cut_out),
	   CASE(threads_have_columns_for_occurring_classes_and_their_sum),
	   CASE(threads_are_ordered_by_the_reported_classes),
	   CASE(longest_blocks_have_time_stack_and_waker), CASE(preemptors_are_added_up),
	   CASE(a_thread_waits_for_a_preemptor_once),
	   CASE(programs_that_are_started_over_and_over_are_one_row),
	   CASE(histograms_have_bars_and_percentiles), CASE(the_footer_counts_losses),
	   CASE(the_footer_has_no_share_of_a_moment), CASE(the_footer_counts_the_ends_of_walks),
	   CASE(the_head_names_kind_and_origin), CASE(nothing_is_said_about_nothing))
