/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places of waits, functions, and what trees leave out of a stack.
 */
#include <stdlib.h>

#include "profile/known_frames.h"
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

#define LOCKED                                                                         \
	"start_thread;worker;log_message;pthread_mutex_lock;__lll_lock_wait;"          \
	"entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];__x64_sys_futex_[k];"    \
	"do_futex_[k];futex_wait_[k];__futex_wait_[k];futex_do_wait_[k];schedule_[k];" \
	"__schedule_[k]"
#define SYNCED                                                                    \
	"start_thread;worker;write_log;fsync;entry_SYSCALL_64_after_hwframe_[k];" \
	"do_syscall_64_[k];__x64_sys_fsync_[k];folio_wait_writeback_[k];"         \
	"folio_wait_bit_[k];io_schedule_[k];schedule_[k];__schedule_[k]"

static void fill(void)
{
	uint32_t one = build_profile_thread(s.profile, 10, 11, "shopd", "worker", NULL);
	uint32_t two = build_profile_thread(s.profile, 10, 12, "shopd", "worker", NULL);

	build_sample(s.profile, one, CLASS_INTERRUPTIBLE, LOCKED, 6000, 3)->state =
		STATE_LOCK_FUTEX;
	build_sample(s.profile, two, CLASS_INTERRUPTIBLE, LOCKED, 4000, 1)->state =
		STATE_LOCK_FUTEX;
	build_sample(s.profile, two, CLASS_IO_WAIT, SYNCED, 300, 2);
	build_sample(s.profile, two, CLASS_RUNNABLE, SYNCED, 30, 0);
	build_sample(s.profile, one, CLASS_ON_CPU, LOCKED, 7, 1);
	build_sample(s.profile, one, CLASS_ON_CPU, "start_thread;worker", 50, 5);
}

/* --- well-known frames --- */

static enum known_frame known(const char *function, const char *file)
{
	const size_t length = strlen(function);
	const bool is_kernel = length > 4 && strcmp(function + length - 4, "_[k]") == 0;

	return known_frame(is_kernel ? FRAME_KERNEL : FRAME_USER,
			   profile_name(s.profile, function, length - (is_kernel ? 4 : 0)),
			   file ? profile_name(s.profile, file, strlen(file)) : NULL);
}

TEST(well_known_frames_are_told_by_name_and_file)
{
	assert_int_equal(known("__schedule_[k]", NULL), FRAME_SCHEDULER);
	assert_int_equal(known("futex_wait_queue.constprop.0_[k]", NULL), FRAME_SCHEDULER);
	assert_int_equal(known("do_syscall_64_[k]", NULL), FRAME_ENTRY);
	assert_int_equal(known("vfs_read_[k]", NULL), FRAME_OTHER);
	assert_int_equal(known("schedule", "/bin/cron"), FRAME_OTHER);
	assert_int_equal(known("read", "/lib/x86_64-linux-gnu/libc.so.6"), FRAME_LIBRARY);
	assert_int_equal(known("read", "/bin/mine"), FRAME_OTHER);
	assert_int_equal(known("_start", "/bin/mine"), FRAME_START);
	assert_int_equal(known("pthread_mutex_lock", NULL), FRAME_LIBRARY);
	assert_int_equal(known("os.(*File).Sync", "/bin/mine"), FRAME_LIBRARY);
	assert_int_equal(known("main.writeAudit", "/bin/mine"), FRAME_OTHER);
	assert_int_equal(known("WaitLatch", "/usr/lib/postgresql/15/bin/postgres"), FRAME_LIBRARY);
	assert_int_equal(known("ProcSleep", "/usr/lib/postgresql/15/bin/postgres"), FRAME_LIBRARY);
}

/* --- waits --- */

TEST(waits_are_by_program_reason_and_place)
{
	fill();
	assert_string_equal(
		report_scene_text(&s, waits_report),
		"\n## Waits that matter most, by place (CPU, lock and storage count most)\n"
		"     time  threads  times     mean  reason    where \n"
		" 10.000µs        2      4  2.500µs  lock      "
		"log_message -> pthread_mutex_lock \n"
		"    300ns        1      2    150ns  storage   write_log -> fsync \n"
		"     30ns        1      -        -  cpu-wait  write_log -> fsync \n"
		" (cpu-wait: from the wake-up there until the thread ran)\n");
	s.style.limit = 1;
	assert_non_null(strstr(report_scene_text(&s, waits_report),
			       " ... 2 more places with 330ns (--all)\n"));
	s.style.all = true;
	assert_null(strstr(report_scene_text(&s, waits_report), "more places"));
}

TEST(the_longest_wait_of_a_place_is_that_of_the_longest_waits)
{
	struct block block = {
		.class = CLASS_IO_WAIT,
		.state = STATE_SLEEP_DISK,
		.ns = 200,
		.waker_tid = 44,
	};

	fill();
	block.thread = s.profile->samples.items[2].thread;
	block.node = s.profile->samples.items[2].node;
	block.waker = profile_name(s.profile, "kworker", 7);
	assert_true(array_push(&s.profile->longest, block));
	assert_non_null(strstr(report_scene_text(&s, waits_report),
			       "  200ns  storage   write_log -> fsync "));
	assert_non_null(strstr(report_scene_text(&s, waits_report), "kworker (44)"));
}

/* The kernel keeps one for each sum; where one has none, that of the place is unknown. */
TEST(the_longest_wait_of_a_place_is_that_of_its_sums)
{
	struct block block = { .class = CLASS_INTERRUPTIBLE,
			       .state = STATE_LOCK_FUTEX,
			       .ns = 3495 };

	fill();
	/* Of a wait for a CPU that has none there are some without a number. */
	s.profile->samples.items[3].count = 3;
	s.profile->samples.items[0].longest_ns = 3500;
	s.profile->samples.items[2].longest_ns = 200;
	assert_string_equal(
		report_scene_text(&s, waits_report),
		"\n## Waits that matter most, by place (CPU, lock and storage count most)\n"
		"     time  threads  times     mean  longest  reason    where \n"
		" 10.000µs        2      4  2.500µs        -  lock      "
		"log_message -> pthread_mutex_lock \n"
		"    300ns        1      2    150ns    200ns  storage   write_log -> fsync \n"
		"     30ns        1      -        -        -  cpu-wait  write_log -> fsync \n"
		" (cpu-wait: from the wake-up there until the thread ran)\n");
	s.profile->samples.items[1].longest_ns = 4000;
	assert_non_null(strstr(report_scene_text(&s, waits_report), " 2.500µs  4.000µs  lock "));
	/* --longest has it exactly. */
	block.thread = s.profile->samples.items[0].thread;
	block.node = s.profile->samples.items[0].node;
	assert_true(array_push(&s.profile->longest, block));
	assert_non_null(strstr(report_scene_text(&s, waits_report), " 2.500µs  3.495µs  lock "));
}

/* It is told where the longest wait is. */
TEST(what_ended_the_longest_wait_of_a_place_is_named)
{
	struct sample *samples;

	fill();
	samples = s.profile->samples.items;
	assert_true(array_push(&s.profile->wakers,
			       (struct waker){ profile_name(s.profile, "logger", 6), 44 }));
	assert_true(array_push(&s.profile->wakers,
			       (struct waker){ profile_name(s.profile, "[not ended]", 11), 0 }));
	assert_true(array_push(&s.profile->wakers,
			       (struct waker){ profile_name(s.profile, "", 0), 45 }));
	samples[0].longest_ns = 3500;
	samples[0].waker = 1;
	samples[1].longest_ns = 4000;
	samples[1].waker = 2;
	samples[2].longest_ns = 200;
	samples[2].waker = 3;
	assert_string_equal(
		report_scene_text(&s, waits_report),
		"\n## Waits that matter most, by place (CPU, lock and storage count most)\n"
		"     time  threads  times     mean  longest  reason    where          "
		"                    "
		"ended by \n"
		" 10.000µs        2      4  2.500µs  4.000µs  lock      "
		"log_message -> pthread_mutex_lock  [not ended] \n"
		"    300ns        1      2    150ns    200ns  storage   "
		"write_log -> fsync                 tid 45 \n"
		"     30ns        1      -        -        -  cpu-wait  "
		"write_log -> fsync                 - \n"
		" (cpu-wait: from the wake-up there until the thread ran)\n");
	samples[1].longest_ns = 3000;
	assert_non_null(strstr(report_scene_text(&s, waits_report), " 3.500µs  lock "));
	assert_non_null(strstr(report_scene_text(&s, waits_report), "  logger (44) "));
	samples[1].longest_ns = 0;
	assert_null(strstr(report_scene_text(&s, waits_report), "logger"));
}

TEST(waits_for_work_are_left_out_beside_others)
{
	uint32_t thread = build_profile_thread(s.profile, 2, 2, "kworker", "kworker", NULL);

	s.profile->threads.items[thread].is_kernel = true;
	build_sample(s.profile, thread, CLASS_IDLE, "worker_thread_[k]", 9000, 1);
	assert_non_null(strstr(report_scene_text(&s, waits_report), "work    worker_thread \n"));
	build_sample(s.profile, thread, CLASS_UNINTERRUPTIBLE,
		     "kthread_[k];wb_workfn_[k];io_schedule_[k];schedule_[k]", 70, 1);
	assert_null(strstr(report_scene_text(&s, waits_report), "worker_thread"));
	assert_non_null(strstr(report_scene_text(&s, waits_report),
			       "70ns        1      1  70ns  unknown  wb_workfn \n"));
	s.style.all = true;
	assert_non_null(strstr(report_scene_text(&s, waits_report), "worker_thread"));
}

TEST(the_next_question_is_about_a_wait_that_is_not_by_design)
{
	uint32_t shell = build_profile_thread(s.profile, 5, 5, "bash", "bash", NULL), thread;
	enum reason reason;

	build_sample(s.profile, shell, CLASS_INTERRUPTIBLE, "main;wait_for;wait4", 90000, 1);
	report_scene_flame(&s);
	expect_ok(waits_heaviest(&s.report, &thread, &reason));
	assert_int_equal(thread, shell);
	fill();
	report_scene_flame(&s);
	expect_ok(waits_heaviest(&s.report, &thread, &reason));
	assert_int_equal(reason, REASON_LOCK);
	assert_int_equal(s.profile->threads.items[thread].tid, 11);
}

/* A wait for a CPU of milliseconds beside a wait of seconds explains nothing. */
TEST(a_small_reason_is_neither_first_nor_asked_about)
{
	uint32_t one = build_profile_thread(s.profile, 5, 5, "web", "web", NULL), thread;
	enum reason reason;
	const char *text, *first;

	s.profile->threads.items[one].begun_ns = 1;
	s.profile->threads.items[one].ended_ns = 100001;
	build_sample(s.profile, one, CLASS_INTERRUPTIBLE, "main;serve;recv", 95100, 1)->state =
		STATE_SLEEP_NETWORK;
	build_sample(s.profile, one, CLASS_RUNNABLE, "main;serve;recv", 4900, 3);
	text = report_scene_text(&s, waits_report);
	first = strstr(text, "  network  ");
	assert_non_null(first);
	assert_non_null(strstr(first, "  cpu-wait  "));
	expect_ok(waits_heaviest(&s.report, &thread, &reason));
	assert_int_equal(reason, REASON_NETWORK);
	/* Two places have a twentieth together, and neither has it alone. */
	build_sample(s.profile, one, CLASS_RUNNABLE, "main;work", 4700, 3);
	text = report_scene_text(&s, waits_report);
	first = strstr(text, "  cpu-wait  ");
	assert_non_null(first);
	assert_non_null(strstr(first, "  network  "));
	expect_ok(waits_heaviest(&s.report, &thread, &reason));
	/* The longest is asked about all the same. */
	assert_int_equal(reason, REASON_NETWORK);
}

/* Of other programs too, and where the half lasts as long as the profile. */
TEST(a_hundredth_of_the_time_does_not_stand_above_a_half)
{
	uint32_t shell = build_profile_thread(s.profile, 5, 5, "bash", "bash", NULL);
	uint32_t mail = build_profile_thread(s.profile, 6, 6, "mailq", "mailq", NULL);
	uint32_t others = build_profile_thread(s.profile, 7, 7, "sleep", "sleep", NULL);
	const char *text, *child;

	s.profile->threads.items[shell].begun_ns = 1;
	s.profile->threads.items[shell].ended_ns = 51001;
	build_sample(s.profile, shell, CLASS_INTERRUPTIBLE, "main;wait_for;wait4", 51000, 1)
		->state = STATE_SLEEP_CHILD;
	build_sample(s.profile, others, CLASS_INTERRUPTIBLE, "main;nap", 48050, 9)->state =
		STATE_SLEEP_TIMER;
	build_sample(s.profile, mail, CLASS_IO_WAIT, SYNCED, 950, 2);
	text = report_scene_text(&s, waits_report);
	child = strstr(text, "  child  ");
	assert_non_null(child);
	assert_non_null(strstr(child, "  storage  "));
}

/* --- functions --- */

TEST(functions_have_what_the_scheduler_has)
{
	fill();
	assert_string_equal(
		report_scene_text(&s, function_report),
		"\n## Functions\n"
		"     self  self %     total  total %  function              in \n"
		" 10.000µs   96.3%  10.007µs    96.3%  __lll_lock_wait       - \n"
		"    330ns    3.2%     330ns     3.2%  folio_wait_writeback  [kernel] \n"
		"     50ns    0.5%  10.387µs   100.0%  worker                - \n"
		"      7ns    0.1%  10.337µs    99.5%  __schedule            [kernel] \n");
}

/* A tree of some thousand stacks of a few functions, which call themselves too. */
TEST(time_of_functions_is_that_of_the_tree)
{
	static const char *const names[] = {
		"a",    "b",           "schedule_[k]", "__schedule_[k]", "do_syscall_64_[k]",
		"read", "vfs_read_[k]"
	};
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	uint64_t whole = 0, sum = 0;
	const char *line;
	unsigned random = 1;

	for (unsigned i = 0; i < 3000; i++) {
		char stack[400] = "main";

		for (unsigned depth = (random >> 8) % 9; depth; depth--) {
			random = random * 1103515245 + 12345;
			strcat(strcat(stack, ";"), names[(random >> 16) % array_length(names)]);
		}
		random = random * 1103515245 + 12345;
		build_sample(s.profile, thread, (random >> 20) % 2 ? CLASS_ON_CPU : CLASS_IO_WAIT,
			     stack, i % 900, 1);
		whole += i % 900;
	}
	s.style.all = true;
	line = strstr(report_scene_text(&s, function_report), "function");
	while ((line = strchr(line, '\n')) && line[1]) {
		char unit[8];
		double value;

		assert_int_equal(sscanf(++line, " %lf%7[^ ]", &value, unit), 2);
		sum += (uint64_t)(value * (strcmp(unit, "ms") == 0   ? 1000000
					   : strcmp(unit, "ns") == 0 ? 1
								     : 1000) +
				  0.5);
	}
	assert_true(sum + 10000 > whole && sum < whole + 10000);
}

TEST(a_function_that_calls_itself_has_its_time_once)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);

	build_sample(s.profile, thread, CLASS_ON_CPU, "main;f;f;f;f", 100, 1);
	assert_non_null(strstr(report_scene_text(&s, function_report),
			       " 100ns  100.0%  100ns   100.0%  f "));
}

/* --- trees --- */

TEST(frames_that_say_nothing_are_left_out)
{
	fill();
	s.view.classes = FLAME_OFF_CPU;
	assert_string_equal(
		report_scene_text(&s, stack_report),
		"\n## Stacks\n"
		"   share       time  stack\n"
		" 100.00%   10.330µs  worker\n"
		"  96.81%   10.000µs  |- log_message\n"
		"                     |  pthread_mutex_lock\n"
		"                     |  __lll_lock_wait  <- lock, 4 times, 2.500µs each\n"
		"   3.19%      330ns  `- write_log\n"
		"                        fsync\n"
		"                        __x64_sys_fsync [k]\n"
		"                        folio_wait_writeback [k]  <- storage 91%, 2 times, 150ns "
		"each\n");
	s.style.all = true;
	assert_non_null(strstr(report_scene_text(&s, stack_report),
			       "io_schedule [k]\n                        schedule [k]\n"));
}

TEST(frames_that_repeat_are_one_line)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);

	build_sample(s.profile, thread, CLASS_ON_CPU,
		     "[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];[unknown];"
		     "[unknown];[unknown];work;work",
		     100, 1);
	assert_string_equal(report_scene_text(&s, stack_report),
			    "\n## Stacks\n"
			    "   share       time  stack\n"
			    " 100.00%      100ns  [unknown] x9\n"
			    "                     work x2  <- on-cpu, 1 sample\n");
}

/* --- names --- */

static uint32_t runtime_thread(uint32_t pid, const char *process, const char *exe)
{
	uint32_t thread = build_profile_thread(s.profile, pid, pid, process, process, NULL);
	struct profile_image image = { .pid = pid,
				       .exe = profile_name(s.profile, exe, strlen(exe)) };

	assert_true(array_push(&s.profile->images, image));
	s.profile->threads.items[thread].image = (uint32_t)s.profile->images.count;
	return thread;
}

static uint32_t frame_in(const char *name, const char *module, uint32_t parent)
{
	const struct frame frame = { .name = profile_name(s.profile, name, strlen(name)),
				     .module = profile_name(s.profile, module, strlen(module)) };
	uint32_t number, node;

	expect_ok(profile_frame(s.profile, &frame, &number));
	expect_ok(profile_node(s.profile, parent, number, &node));
	return node;
}

TEST(runtimes_that_hide_functions_are_named_once)
{
	uint32_t one = runtime_thread(10, "web", "/usr/bin/node");
	uint32_t two = runtime_thread(11, "web", "/usr/bin/node");
	uint32_t java = runtime_thread(12, "Main", "/usr/lib/jvm/bin/java");
	uint32_t other = runtime_thread(13, "shop", "/usr/bin/shop");

	build_sample(s.profile, one, CLASS_ON_CPU, "main;[unknown];[unknown]", 100, 1);
	build_sample(s.profile, two, CLASS_ON_CPU, "main;[unknown]", 300, 1);
	build_sample(s.profile, java, CLASS_ON_CPU, "[unknown]", 100, 1);
	build_sample(s.profile, other, CLASS_ON_CPU, "[unknown]", 500, 1);
	assert_string_equal(report_scene_text(&s, names_report),
			    "\n## Functions without names\n"
			    " web 11 and 1 more (40.0% of the time) have no perf map. Start it "
			    "with:\n"
			    "   node --perf-basic-prof --interpreted-frames-native-stack\n"
			    " Main 12 (10.0% of the time) has no perf map. Start it with:\n"
			    "   java -XX:+PreserveFramePointer\n"
			    "   and before the profile ends: jcmd 12 Compiler.perfmap\n");
}

TEST(a_runtime_with_a_perf_map_hides_nothing)
{
	uint32_t thread = runtime_thread(10, "web", "/usr/bin/node");
	struct sample *sample = build_sample(s.profile, thread, CLASS_ON_CPU, "main", 100, 1);
	uint32_t node = sample->node;

	build_sample(s.profile, thread, CLASS_ON_CPU, "main;[unknown]", 300, 1);
	sample = build_sample(s.profile, thread, CLASS_ON_CPU, "main;handle", 5, 1);
	sample->node = frame_in("JS:*handle", "/tmp/perf-10.map", node);
	assert_string_equal(report_scene_text(&s, names_report), "");
}

TEST(files_without_symbols_have_their_build_id_once)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "tar", "tar", NULL);
	struct sample *sample = build_sample(s.profile, thread, CLASS_IO_WAIT, "main", 90, 1);
	struct profile_mapping mapping = { .start = 1, .end = 2, .build_id_length = 3 };

	memcpy(mapping.build_id, "\x01\xab\xff", 3);
	mapping.path = profile_name(s.profile, "/bin/tar", 8);
	assert_true(array_push(&s.profile->mappings, mapping));
	sample->node =
		frame_in("[tar+0x4e3]", "/bin/tar", frame_in("[tar+0x99]", "/bin/tar", NODE_NONE));
	build_sample(s.profile, thread, CLASS_IO_WAIT, "other", 10, 1);
	assert_string_equal(report_scene_text(&s, names_report),
			    "\n## Functions without names\n"
			    " tar (90.0% of the time) lacks symbols, build id 01abff\n"
			    "   packages with them, on Debian: find-dbgsym-packages /bin/tar\n");
	assert_non_null(strstr(report_scene_text(&s, stack_report), "tar+0x4e3  <- storage"));
	assert_non_null(strstr(report_scene_text(&s, function_report), " tar+0x4e3  tar "));
}

/* A package is named for files where packages install, and that are still there. */
TEST(only_files_of_packages_have_a_package)
{
	static const struct {
		const char *path;
		bool is_told;
	} files[] = {
		{ "/usr/lib/x86_64-linux-gnu/libssl.so.3", true },
		{ "/lib/ld-linux.so.2", true },
		{ "/sbin/init", true },
		{ "/tmp/worker", false },
		{ "/usr/bin/worker (deleted)", false },
		{ "/memfd:jit (deleted)", false },
		{ "/usr/local/bin/worker", false },
		{ "/home/me/usr/bin/worker", false },
		{ "/opt/shop/worker", false },
	};

	for (size_t i = 0; i < array_length(files); i++) {
		uint32_t thread = build_profile_thread(s.profile, 1, 1, "worker", "worker", NULL);
		struct sample *sample =
			build_sample(s.profile, thread, CLASS_IO_WAIT, "main", 90, 1);
		const char *text;

		sample->node = frame_in("[worker+0x4e3]", files[i].path, NODE_NONE);
		text = report_scene_text(&s, names_report);
		assert_non_null(strstr(text, "lacks symbols"));
		assert_int_equal(strstr(text, "find-dbgsym-packages") != NULL, files[i].is_told);
		teardown(NULL);
		setup(NULL);
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(well_known_frames_are_told_by_name_and_file),
	   CASE(waits_are_by_program_reason_and_place),
	   CASE(the_longest_wait_of_a_place_is_that_of_the_longest_waits),
	   CASE(the_longest_wait_of_a_place_is_that_of_its_sums),
	   CASE(what_ended_the_longest_wait_of_a_place_is_named),
	   CASE(waits_for_work_are_left_out_beside_others),
	   CASE(the_next_question_is_about_a_wait_that_is_not_by_design),
	   CASE(a_small_reason_is_neither_first_nor_asked_about),
	   CASE(a_hundredth_of_the_time_does_not_stand_above_a_half),
	   CASE(functions_have_what_the_scheduler_has), CASE(time_of_functions_is_that_of_the_tree),
	   CASE(a_function_that_calls_itself_has_its_time_once),
	   CASE(frames_that_say_nothing_are_left_out), CASE(frames_that_repeat_are_one_line),
	   CASE(runtimes_that_hide_functions_are_named_once),
	   CASE(a_runtime_with_a_perf_map_hides_nothing),
	   CASE(files_without_symbols_have_their_build_id_once),
	   CASE(only_files_of_packages_have_a_package))
