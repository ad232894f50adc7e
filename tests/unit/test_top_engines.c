/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "top/delay_switch.h"
#include "top/delay_times.h"
#include "top/engine.h"
#include "top/wanted.h"
#include "unit/unit.h"

#define MS ((uint64_t)1000000)

/* --- the delays of taskstats --- */

static struct taskstats_values stats_of(uint64_t lived_ms, uint64_t run_ms, uint64_t blkio_ms)
{
	struct taskstats_values stats = { .version = 16, .uid = 33 };

	stats.values[TASKSTATS_ETIME] = lived_ms * 1000;
	stats.values[TASKSTATS_RUN_VIRTUAL] = run_ms * MS;
	stats.values[taskstats_field(TASKSTATS_cpu, TASKSTATS_TOTAL)] = 2 * run_ms * MS;
	stats.values[taskstats_field(TASKSTATS_blkio, TASKSTATS_TOTAL)] = blkio_ms * MS;
	stats.values[taskstats_field(TASKSTATS_swapin, TASKSTATS_TOTAL)] = 3 * MS;
	stats.values[TASKSTATS_NVCSW] = 5;
	stats.values[TASKSTATS_NIVCSW] = 6;
	return stats;
}

/* Four states, as they were accounted: a long wait is more than its window. */
TEST(delays_are_those_of_the_kernel)
{
	struct taskstats_values stats = stats_of(60000, 10, 20);
	struct state_thread thread = { 0 };
	struct counter_memory memory = { 0 };

	delay_times_begin(&thread, &memory, &stats, 99900 * MS, 100000 * MS);
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100000 * MS), 0);
	for (unsigned i = 0; i < STATE_COUNT; i++)
		assert_int_equal(thread.times.ns[i], 0);
	stats = stats_of(60100, 15, 4020);
	assert_false(delay_times_are_anothers(&thread, &memory, &stats, 100100 * MS));
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100100 * MS), 0);
	assert_int_equal(thread.times.ns[STATE_EXEC], 5 * MS);
	assert_int_equal(thread.times.ns[STATE_RUNNABLE], 10 * MS);
	assert_int_equal(thread.times.ns[STATE_SLEEP_DISK], 4000 * MS);
	assert_int_equal(thread.times.ns[STATE_PAGING], 0);
	assert_int_equal(thread.seen_ns - thread.begun_ns, 100 * MS);
	assert_int_equal(thread.switches, 11);
	assert_int_equal(thread.uid, 33);
	assert_int_equal(thread.state, STATE_COUNT);
}

TEST(delays_of_a_new_thread_are_all_ours)
{
	const struct taskstats_values stats = stats_of(40, 10, 20);
	struct state_thread thread = { 0 };
	struct counter_memory memory = { 0 };

	delay_times_begin(&thread, &memory, &stats, 99900 * MS, 100000 * MS);
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100000 * MS), 0);
	assert_int_equal(thread.begun_ns, (100000 - 40) * MS);
	assert_int_equal(thread.times.ns[STATE_EXEC], 10 * MS);
	assert_int_equal(thread.times.ns[STATE_PAGING], 3 * MS);
}

/* From the boot, as Linux 6.12 may count it: what comes after is right again. */
TEST(delays_longer_than_a_life_are_left_out)
{
	struct taskstats_values stats = stats_of(4000, 10, 20);
	struct state_thread thread = { 0 };
	struct counter_memory memory = { 0 };

	delay_times_begin(&thread, &memory, &stats, 99900 * MS, 100000 * MS);
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100000 * MS), 0);
	stats = stats_of(4100, 15, 99020);
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100100 * MS), 1);
	assert_int_equal(thread.times.ns[STATE_SLEEP_DISK], 0);
	assert_int_equal(thread.times.ns[STATE_EXEC], 5 * MS);
	stats = stats_of(4200, 15, 99050);
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100200 * MS), 0);
	assert_int_equal(thread.times.ns[STATE_SLEEP_DISK], 30 * MS);
}

/* A number that is used again: younger than the look before, or it has run less. */
TEST(delays_detect_a_reused_number)
{
	struct taskstats_values stats = stats_of(60000, 10, 20);
	struct state_thread thread = { 0 };
	struct counter_memory memory = { 0 };

	delay_times_begin(&thread, &memory, &stats, 99900 * MS, 100000 * MS);
	assert_int_equal(delay_times_add(&thread, &memory, &stats, 100000 * MS), 0);
	stats = stats_of(99, 500, 500);
	assert_true(delay_times_are_anothers(&thread, &memory, &stats, 100100 * MS));
	stats = stats_of(101, 500, 500);
	assert_false(delay_times_are_anothers(&thread, &memory, &stats, 100100 * MS));
	stats = stats_of(101, 9, 500);
	assert_true(delay_times_are_anothers(&thread, &memory, &stats, 100100 * MS));
	stats.values[TASKSTATS_ETIME] = UINT64_MAX;
	stats.values[TASKSTATS_RUN_VIRTUAL] = UINT64_MAX;
	assert_false(delay_times_are_anothers(&thread, &memory, &stats, 100100 * MS));
}

TEST(uncounted_delays_are_unmeasured)
{
	const unsigned delays = 1u << STATE_SLEEP_DISK | 1u << STATE_PAGING;

	assert_int_equal(delay_times_measured(true), DELAY_TIMES_MEASURED);
	assert_int_equal(delay_times_measured(true) & delays, delays);
	assert_int_equal(delay_times_measured(false), 1u << STATE_EXEC | 1u << STATE_RUNNABLE);
}

TEST(delay_accounting)
{
	struct file_buffer buffer = { 0 };
	struct scratch scratch;

	scratch_init(&scratch);
	assert_false(delay_switch_is_on(scratch.dir, &buffer));
	assert_int_equal(mkdirat(scratch.dir, "sys", 0755), 0);
	assert_int_equal(mkdirat(scratch.dir, "sys/kernel", 0755), 0);
	assert_false(delay_switch_is_on(scratch.dir, &buffer));
	scratch_write(&scratch, "sys/kernel/task_delayacct", TEXT("0\n"));
	assert_false(delay_switch_is_on(scratch.dir, &buffer));
	scratch_write(&scratch, "sys/kernel/task_delayacct", TEXT("1\n"));
	assert_true(delay_switch_is_on(scratch.dir, &buffer));
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

/* --- which threads are wanted --- */

/* How many of these are in a cgroup or below it, however that is written. */
TEST(a_cgroup_and_below_it)
{
	static const char *const paths[] = { "/", "/a", "/a/b", "/a/b/c", "/ab", NULL };
	static const struct {
		const char *cgroup;
		size_t count;
	} cases[] = {
		{ NULL, 6 },   { "/", 5 },    { "//", 5 },    { "/a", 3 },   { "/a/", 3 },
		{ "/a//", 3 }, { "/a/b", 2 }, { "/a/b/", 2 }, { "/ab/", 1 }, { "/b", 0 },
	};
	struct state_reading all = { 0 };
	struct wanted wanted = { 0 };
	struct arena arena;
	struct names names;

	arena_init(&arena, SIZE_MAX / 2);
	names_init(&names, &arena);
	for (size_t i = 0; i < array_length(cases); i++) {
		all.threads.count = 0;
		for (size_t k = 0; k < array_length(paths); k++) {
			struct state_thread thread = { .tid = 1 };

			if (paths[k])
				thread.cgroup = names_intern(&names, paths[k], strlen(paths[k]));
			assert_true(array_push(&all.threads, thread));
		}
		wanted_keep(&wanted, cases[i].cgroup, &all);
		if (all.threads.count != cases[i].count)
			fail_msg("%s: %zu", cases[i].cgroup, all.threads.count);
	}
	state_reading_deinit(&all);
	names_deinit(&names);
	arena_deinit(&arena);
}

/* --- on this host --- */

static struct state_reading reading;

static void *open_engine(const struct engine_methods *methods, uint32_t pid)
{
	const struct engine_options options = { .pids = &pid, .pid_count = 1 };
	struct error *err;
	void *self;

	err = methods->open(&options, &self);
	if (err) {
		print_message("%s\n", err->message);
		error_destroy(err);
		skip();
	}
	return self;
}

static const struct state_thread *find(uint32_t tid)
{
	for (size_t i = 0; i < reading.threads.count; i++)
		if (reading.threads.items[i].tid == tid)
			return &reading.threads.items[i];
	return NULL;
}

static void nap(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)(ms * MS) }, NULL);
}

static void spin(unsigned ms)
{
	struct timespec now, begun;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)(now.tv_sec - begun.tv_sec) * 1000 * MS + (uint64_t)now.tv_nsec <
	       (uint64_t)begun.tv_nsec + ms * MS);
}

struct guest {
	pthread_t thread;
	volatile uint32_t tid;
	volatile bool is_over;
};

static void *be_a_guest(void *context)
{
	struct guest *guest = context;

	guest->tid = (uint32_t)syscall(SYS_gettid);
	while (!guest->is_over)
		nap(1);
	return NULL;
}

/* A thread comes, runs, and goes. */
static void watch_a_guest(const struct engine_methods *methods)
{
	const uint32_t self = (uint32_t)getpid();
	struct guest guest = { 0 };
	void *engine = open_engine(methods, self);
	uint64_t id, exec;

	expect_ok(methods->read(engine, &reading));
	assert_non_null(find(self));
	assert_int_equal(reading.threads.count, 1);
	exec = find(self)->times.ns[STATE_EXEC];
	assert_int_equal(pthread_create(&guest.thread, NULL, be_a_guest, &guest), 0);
	spin(50);
	expect_ok(methods->read(engine, &reading));
	assert_int_equal(reading.threads.count, 2);
	assert_string_equal(find(self)->name->bytes, "test_top_engine");
	assert_ptr_equal(find(guest.tid)->process, find(self)->name);
	assert_int_equal(find(self)->uid, getuid());
	exec = find(self)->times.ns[STATE_EXEC] + find(self)->times.ns[STATE_EXEC_USER] +
	       find(self)->times.ns[STATE_EXEC_SYSTEM] - exec;
	/* By the tick. */
	assert_in_range(exec, 39 * MS, find(self)->seen_ns - find(self)->begun_ns);
	assert_true(find(guest.tid)->begun_ns > find(self)->begun_ns);
	id = find(guest.tid)->id;
	guest.is_over = true;
	pthread_join(guest.thread, NULL);
	/* It may be there for a moment yet. */
	for (unsigned i = 0; i < 100; i++) {
		nap(5);
		expect_ok(methods->read(engine, &reading));
		if (find(guest.tid) && find(guest.tid)->has_ended)
			break;
	}
	assert_non_null(find(guest.tid));
	assert_int_equal(find(guest.tid)->id, id);
	assert_true(find(guest.tid)->has_ended);
	expect_ok(methods->read(engine, &reading));
	assert_null(find(guest.tid));
	assert_true(reading.cost.own_cpu_ns > 0);
	methods->close(engine);
}

TEST(counters_see_threads_come_and_go)
{
	watch_a_guest(&engine_counters);
}

TEST(taskstats_see_threads_come_and_go)
{
	watch_a_guest(&engine_taskstats);
}

/* A process that is stopped, and one that is dead and was not waited for. */
TEST(counters_see_the_stopped_and_the_dead)
{
	const pid_t kid = fork();
	const struct state_thread *thread;
	uint64_t stopped;
	void *engine;

	if (!kid)
		for (;;)
			pause();
	kill(kid, SIGSTOP);
	assert_int_equal(waitpid(kid, NULL, WUNTRACED), kid);
	engine = open_engine(&engine_counters, (uint32_t)kid);
	expect_ok(engine_counters.read(engine, &reading));
	nap(30);
	expect_ok(engine_counters.read(engine, &reading));
	thread = find((uint32_t)kid);
	assert_int_equal(thread->state, STATE_STOPPED);
	stopped = thread->times.ns[STATE_STOPPED];
	assert_int_equal(stopped, thread->seen_ns - thread->begun_ns);
	assert_true(stopped >= 29 * MS);
	kill(kid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)kid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	expect_ok(engine_counters.read(engine, &reading));
	assert_true(find((uint32_t)kid)->has_ended);
	expect_ok(engine_counters.read(engine, &reading));
	assert_int_equal(reading.threads.count, 0);
	waitpid(kid, NULL, 0);
	expect_ok(engine_counters.read(engine, &reading));
	assert_int_equal(reading.threads.count, 0);
	engine_counters.close(engine);
}

/* Of all threads of the host, times sum up, and only grow. */
TEST(counters_of_the_host_sum_up)
{
	struct state_reading before = { 0 };
	void *self;
	struct error *err = engine_counters.open(&(struct engine_options){ 0 }, &self);

	if (err) {
		error_destroy(err);
		skip();
	}
	for (unsigned round = 0; round < 5; round++) {
		struct state_reading last = before;

		expect_ok(engine_counters.read(self, &reading));
		for (size_t i = 0; i < reading.threads.count; i++) {
			const struct state_thread *now = &reading.threads.items[i];
			uint64_t sum = 0;

			for (unsigned s = 0; s < STATE_COUNT; s++)
				sum += now->times.ns[s];
			assert_int_equal(sum, now->seen_ns - now->begun_ns);
			assert_non_null(now->process);
			for (size_t j = 0; j < last.threads.count; j++)
				for (unsigned s = 0; s < STATE_COUNT; s++)
					if (last.threads.items[j].id == now->id)
						assert_true(last.threads.items[j].times.ns[s] <=
							    now->times.ns[s]);
		}
		before = reading;
		reading = last;
		spin(20);
	}
	array_deinit(&before.threads);
	engine_counters.close(self);
}

static int forget(void **state)
{
	(void)state;
	array_deinit(&reading.threads);
	return 0;
}

#define CASE(test) cmocka_unit_test_teardown(test, forget)

UNIT_TESTS(cmocka_unit_test(uncounted_delays_are_unmeasured), cmocka_unit_test(delay_accounting),
	   cmocka_unit_test(a_cgroup_and_below_it), CASE(delays_are_those_of_the_kernel),
	   CASE(delays_of_a_new_thread_are_all_ours), CASE(delays_longer_than_a_life_are_left_out),
	   CASE(delays_detect_a_reused_number), CASE(counters_see_threads_come_and_go),
	   CASE(taskstats_see_threads_come_and_go), CASE(counters_see_the_stopped_and_the_dead),
	   CASE(counters_of_the_host_sum_up))
