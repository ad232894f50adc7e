/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "unit/profile_report_scene.h"

static struct report_scene s;

static int setup(void **state)
{
	(void)state;
	report_scene_begin(&s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_scene_end(&s);
	return 0;
}

static void wait_for(const char *program, uint32_t pid, enum profile_class class, enum state what,
		     uint64_t ns)
{
	uint32_t thread = build_profile_thread(s.profile, pid, pid, program, program, NULL);

	build_sample(s.profile, thread, class, "main", ns, 1)->state = (uint8_t)what;
	s.profile->threads.items[thread].begun_ns = 1;
	s.profile->threads.items[thread].ended_ns = 1 + ns;
}

/* Waits for others that last all of the time count least: a lock comes before pipes and children.
 */
TEST(programs_are_ordered_by_what_matters)
{
	const uint64_t second = 1000000000;

	wait_for("shell", 1, CLASS_INTERRUPTIBLE, STATE_SLEEP_CHILD, 60 * second);
	wait_for("reader", 2, CLASS_INTERRUPTIBLE, STATE_SLEEP_PIPE, 50 * second);
	wait_for("reader", 3, CLASS_RUNNABLE, STATE_RUNNABLE, 10000000);
	wait_for("stuck", 4, CLASS_INTERRUPTIBLE, STATE_LOCK_FUTEX, 10 * second);
	wait_for("logger", 5, CLASS_IO_WAIT, STATE_SLEEP_DISK, 1234567890);
	wait_for("running", 6, CLASS_ON_CPU, STATE_EXEC, 900000);
	assert_string_equal(
		report_scene_text(&s, reason_report),
		"\n## Programs, by reason\n"
		" program  threads    all  on CPU   lock  storage   pipe  child    rest \n"
		" stuck          1  10.0s       -  10.0s        -      -      -       - \n"
		" logger         1  1.23s       -      -    1.23s      -      -       - \n"
		" shell          1  60.0s       -      -        -      -  60.0s       - \n"
		" reader         2  50.0s       -      -        -  50.0s      -  10.0ms \n"
		" running        1  900µs   900µs      -        -      -      -       - \n");
}

TEST(rows_are_limited_and_the_rest_is_counted)
{
	char name[20];

	for (uint32_t i = 0; i < 15; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		wait_for(name, i + 1, CLASS_IO_WAIT, STATE_SLEEP_DISK, 1000000 * (i + 1));
	}
	s.style.limit = 2;
	assert_string_equal(report_scene_text(&s, reason_report),
			    "\n## Programs, by reason\n"
			    " program  threads     all  storage \n"
			    " p14            1  15.0ms   15.0ms \n"
			    " p13            1  14.0ms   14.0ms \n"
			    " ... 13 more programs with 91.000ms (--all)\n");
}

/* The line, the table without what it says, and that both are all. */
TEST(idle_waits_are_one_line)
{
	struct idle idle;

	wait_for("server", 1, CLASS_INTERRUPTIBLE, STATE_IDLE_POLL, 4000000000);
	wait_for("sleeper", 2, CLASS_INTERRUPTIBLE, STATE_SLEEP_TIMER, 4000000000);
	wait_for("stuck", 3, CLASS_INTERRUPTIBLE, STATE_LOCK_FUTEX, 4000000000);
	expect_ok(idle_find(s.profile, &idle));
	s.view.idle = &idle;
	assert_string_equal(report_scene_text(&s, idle_report),
			    "2 threads idle all the time: 8.00s of 12.0s not shown (--idle)\n");
	assert_string_equal(report_scene_text(&s, reason_report),
			    "\n## Programs, by reason\n"
			    " program  threads  not idle   lock \n"
			    " stuck          1     4.00s  4.00s \n");
	s.view.idle = NULL;
	assert_string_equal(report_scene_text(&s, idle_report), "");
	idle_deinit(&idle);
}

/* No table of what has no waits. */
TEST(time_on_the_cpu_has_no_reasons)
{
	wait_for("busy", 1, CLASS_ON_CPU, STATE_EXEC, 1000);
	assert_string_equal(report_scene_text(&s, reason_report), "");
}

/* --- programs of time on the CPU --- */

#define END 1000000000

/* A process of one thread that runs from `begun` to `ended`, with so much of it sampled. */
static void run_for(const char *program, uint32_t pid, uint64_t begun, uint64_t ended, uint64_t ns)
{
	uint32_t number = build_profile_thread(s.profile, pid, pid, program, program, NULL);
	struct profile_thread *thread = &s.profile->threads.items[number];

	thread->begun_ns = begun;
	thread->ended_ns = ended;
	if (ns)
		build_sample(s.profile, number, CLASS_ON_CPU, "main", ns, 1);
}

/* Each of them is too short to be sampled but now and then: all count. */
static void fill_with_short_processes(void)
{
	for (uint32_t i = 0; i < 30; i++)
		run_for("cc1", 100 + i, 1 + i, 100 + i, i % 10 ? 0 : 30000000);
	run_for("cc1", 200, 500, END, 0);
	run_for("server", 2, 1, END, 60000000);
	build_profile_thread(s.profile, 2, 3, "server", "worker", NULL);
	s.profile->threads.items[s.profile->threads.count - 1].ended_ns = 900;
	s.profile->threads.items[s.profile->threads.count - 1].begun_ns = 1;
	run_for("sleeper", 4, 1, END, 0);
	run_for("kworker/0", 5, 1, END, 10000000);
	s.profile->threads.items[s.profile->threads.count - 1].is_kernel = true;
	s.profile->meta.duration_ns = END - 1;
}

TEST(programs_have_their_processes_also_those_without_samples)
{
	fill_with_short_processes();
	assert_string_equal(report_scene_text(&s, program_report),
			    "\n## Programs\n"
			    " program           processes  ended  threads  CPU time  share \n"
			    " cc1                      31     30       31  90.000ms  56.2% \n"
			    " server                    1      0        2  60.000ms  37.5% \n"
			    " [kernel threads]          -      -        1  10.000ms   6.2% \n");
	s.style.limit = 1;
	assert_non_null(strstr(report_scene_text(&s, program_report),
			       " ... 2 more programs with 70.000ms (--all)\n"));
}

/* In profiles that were merged with time between them, all threads of the first seem to end. */
TEST(ends_are_not_known_of_merged_profiles)
{
	fill_with_short_processes();
	s.profile->meta.duration_ns = END / 2;
	assert_non_null(strstr(report_scene_text(&s, program_report),
			       " program           processes  threads  CPU time  share \n"
			       " cc1                      31       31  90.000ms  56.2% \n"));
}

TEST(profiles_without_names_or_with_waits_have_no_programs)
{
	uint32_t thread = build_profile_thread(s.profile, 0, 0, "", "", NULL);

	build_sample(s.profile, thread, CLASS_ON_CPU, "main", 1000, 1);
	assert_string_equal(report_scene_text(&s, program_report), "");
	wait_for("stuck", 4, CLASS_INTERRUPTIBLE, STATE_LOCK_FUTEX, 1000);
	assert_string_equal(report_scene_text(&s, program_report), "");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
/* --- quotas --- */

static void run_out(const char *cgroup, uint64_t throttled, uint64_t throttled_ns,
		    uint64_t waits_ns)
{
	const struct profile_quota quota = { .cgroup = profile_name(s.profile, cgroup,
								    strlen(cgroup)),
					     .cpus = 0.5,
					     .periods = 30,
					     .throttled = throttled,
					     .throttled_ns = throttled_ns,
					     .waits_ns = waits_ns };

	assert_true(array_push(&s.profile->quotas, quota));
}

TEST(quotas_that_ran_out_are_told)
{
	run_out("/batch", 28, 6500, 10000);
	run_out("/other", 30, 6000, 3000);
	run_out("/none", 30, 6000, 0);
	run_out("/little", 1, 40, 1000);
	s.profile->meta.is_whole_host = true;
	assert_string_equal(report_scene_text(&s, quota_report),
			    "CPU wait: 65 % or more of 10.000µs in cgroup /batch was for its quota "
			    "(0.50 CPUs), which ran out in 28 of 30 periods\n"
			    "CPU wait: 100 % of 3.000µs in cgroup /other was for its quota "
			    "(0.50 CPUs), which ran out in 30 of 30 periods\n");
	/* Some of the threads: how much of the time is theirs is not known. */
	s.profile->meta.is_whole_host = false;
	assert_string_equal(report_scene_text(&s, quota_report),
			    "CPU wait: cgroup /batch ran out of its quota (0.50 CPUs) in 28 of 30 "
			    "periods\n"
			    "CPU wait: cgroup /other ran out of its quota (0.50 CPUs) in 30 of 30 "
			    "periods\n");
	assert_true(quota_report_has_any(&s.report));
}

TEST(no_quota_is_told_that_explains_nothing)
{
	run_out("/little", 1, 40, 1000);
	assert_string_equal(report_scene_text(&s, quota_report), "");
	assert_false(quota_report_has_any(&s.report));
}

UNIT_TESTS(SCENE(programs_are_ordered_by_what_matters), SCENE(quotas_that_ran_out_are_told),
	   SCENE(no_quota_is_told_that_explains_nothing),
	   SCENE(rows_are_limited_and_the_rest_is_counted), SCENE(idle_waits_are_one_line),
	   SCENE(time_on_the_cpu_has_no_reasons),
	   SCENE(programs_have_their_processes_also_those_without_samples),
	   SCENE(ends_are_not_known_of_merged_profiles),
	   SCENE(profiles_without_names_or_with_waits_have_no_programs))
