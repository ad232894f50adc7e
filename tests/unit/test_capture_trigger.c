/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trigger.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit/unit.h"

TEST(valid_triggers)
{
	static const struct {
		const char *text;
		double limit;
		bool for_each_cpu;
		int number;
	} good[] = {
		{ "psi.cpu.some>20", 20, false, 0 },
		{ "psi.cpu.some.avg60>0.5%", 0.5, false, 0 },
		{ " psi.irq.full.avg300 > 20% ", 20, false, 0 },
		{ "psi.memory.full > 1%", 1, false, 0 },
		{ "runnable>2*cpus", 2, true, 0 },
		{ "runnable > 1.5 * cpus", 1.5, true, 0 },
		{ "load1>8", 8, false, 0 },
		{ "load15>1*cpus", 1, true, 0 },
		{ "threads>10K", 10000, false, 0 },
		{ "lost>0", 0, false, 0 },
		{ "SIGUSR1", 0, false, SIGUSR1 },
		{ " SIGUSR2", 0, false, SIGUSR2 },
	};

	for (size_t i = 0; i < array_length(good); i++) {
		struct trigger trigger = { 0 };

		expect_ok(trigger_parse(good[i].text, &trigger));
		assert_ptr_equal(trigger.text, good[i].text);
		assert_int_equal(trigger.signal, good[i].number);
		assert_int_equal(!trigger.fact, good[i].number != 0);
		assert_true(trigger.limit == good[i].limit);
		assert_int_equal(trigger.for_each_cpu, good[i].for_each_cpu);
	}
}

TEST(invalid_triggers)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "psi.cpu.som>20", "unknown fact 'psi.cpu.som'; did you mean 'psi.cpu.some'?" },
		{ "runable>20", "did you mean 'runnable'?" },
		{ "xyzzy>20", "unknown fact 'xyzzy'; expected one of: psi.cpu.some," },
		{ ">20", "unknown fact ''" },
		{ "", "invalid trigger ''" },
		{ "runnable", "'runnable' has no limit; expected e.g. 'runnable>20'" },
		{ "SIGUSR3", "unknown signal 'SIGUSR3'; did you mean 'SIGUSR1'?" },
		{ "SIGKILL", "invalid trigger 'SIGKILL'" },
		{ "runnable>", "invalid limit for 'runnable>': expected a number, e.g." },
		{ "runnable>-1", "invalid limit" },
		{ "runnable>+1", "invalid limit" },
		{ "runnable>20%", "invalid limit" },
		{ "runnable>2*cpu", "invalid limit" },
		{ "runnable>*cpus", "invalid limit" },
		{ "runnable>2*", "invalid limit" },
		{ "runnable>>2", "invalid limit" },
		{ "runnable>=2", "invalid limit" },
		{ "runnable>2s", "invalid limit" },
		{ "psi.io.some>2*cpus", "expected a percentage" },
		{ "psi.io.some>5 %", "expected a percentage" },
		{ "psi.io.some>5MiB", "expected a percentage" },
		{ "run\033[31m>5", "unknown fact 'run?[31m'" },
	};
	struct trigger trigger = { .limit = 42 };

	for (size_t i = 0; i < array_length(bad); i++)
		expect_error(trigger_parse(bad[i].text, &trigger), bad[i].message);
	assert_true(trigger.limit == 42);
}

/* A small /proc. */
static void scratch_proc(struct scratch *proc)
{
	scratch_init(proc);
	assert_int_equal(mkdirat(proc->dir, "pressure", 0700), 0);
	scratch_write(proc, "loadavg", TEXT("1.50 2.25 30.00 7/1234 4321\n"));
	scratch_write(proc, "pressure/cpu",
		      TEXT("some avg10=12.34 avg60=5.00 avg300=0.01 total=1\n"
			   "full avg10=99.00 avg60=99.00 avg300=99.00 total=1\n"));
	scratch_write(proc, "pressure/memory",
		      TEXT("some avg10=1.00 avg60=2.00 avg300=3.00 total=1\n"
			   "full avg10=4.00 avg60=5.00 avg300=6.00 total=1\n"));
	scratch_write(proc, "pressure/io", TEXT("some avg10=1.00\n"));
}

TEST(values_of_facts)
{
	static const struct {
		const char *text;
		double value;
	} facts[] = {
		{ "psi.cpu.some>0", 12.34 },
		{ "psi.cpu.some.avg10>0", 12.34 },
		{ "psi.cpu.some.avg60>0", 5 },
		{ "psi.cpu.some.avg300>0", 0.01 },
		{ "psi.memory.some.avg300>0", 3 },
		{ "psi.memory.full>0", 4 },
		{ "psi.memory.full.avg60>0", 5 },
		{ "runnable>0", 7 },
		{ "load1>0", 1.5 },
		{ "load5>0", 2.25 },
		{ "load15>0", 30 },
		{ "threads>0", 1234 },
		{ "lost>0", 3 },
	};
	const struct trigger_seen seen = { .lost = 3 };
	struct trigger trigger;
	struct scratch proc;
	double value = 0;

	scratch_proc(&proc);
	for (size_t i = 0; i < array_length(facts); i++) {
		expect_ok(trigger_parse(facts[i].text, &trigger));
		expect_ok(trigger_read(&trigger, proc.dir, &seen, &value));
		if (value != facts[i].value)
			fail_msg("%s is %g", facts[i].text, value);
	}
	/* What the kernel does not say is an error, and not zero. */
	value = 42;
	expect_ok(trigger_parse("psi.io.some>0", &trigger));
	expect_error(trigger_read(&trigger, proc.dir, &seen, &value),
		     "psi.io.some: not in /proc/pressure/io");
	expect_ok(trigger_parse("psi.irq.full>0", &trigger));
	expect_error(trigger_read(&trigger, proc.dir, &seen, &value),
		     "psi.irq.full: /proc/pressure/irq: No such file");
	scratch_write(&proc, "loadavg", TEXT("1.50 2.25 30.00 71234 4321\n"));
	expect_ok(trigger_parse("runnable>0", &trigger));
	expect_error(trigger_read(&trigger, proc.dir, &seen, &value), ": not in /proc/");
	assert_true(value == 42);
	scratch_deinit(&proc);
}

/* Every fact that errors name can be written. */
TEST(all_names_are_good)
{
	static const char *const pressures[] = { "cpu.some", "memory.some", "memory.full",
						 "io.some",  "io.full",     "irq.full" };
	static const char *const averages[] = { "", ".avg10", ".avg60", ".avg300" };
	static const char *const others[] = { "runnable", "load1",   "load5",
					      "load15",   "threads", "lost" };
	char text[80];

	for (size_t i = 0; i < array_length(pressures); i++)
		for (size_t j = 0; j < array_length(averages); j++) {
			snprintf(text, sizeof(text), "psi.%s%s>1", pressures[i], averages[j]);
			expect_ok(trigger_parse(text, &(struct trigger){ 0 }));
		}
	for (size_t i = 0; i < array_length(others); i++) {
		snprintf(text, sizeof(text), "%s>1", others[i]);
		expect_ok(trigger_parse(text, &(struct trigger){ 0 }));
	}
}

TEST(one_trouble_fires_once)
{
	static const struct {
		double value;
		bool wait, fires;
	} steps[] = {
		{ 4, false, false },
		{ 8, false, false },
		{ 8.01, false, true },
		{ 100, false, false },
		{ 9, false, false },
		{ 8, false, false },
		{ 9, false, true },
		{ 1, true, false },
		/* It came again too soon, and is still there when that is over ... */
		{ 9, true, false },
		{ 9, true, false },
		{ 9, false, true },
		/* ... or not. */
		{ 1, true, false },
		{ 9, true, false },
		{ 1, false, false },
		/* It never went. */
		{ 9, false, true },
		{ 9, true, false },
		{ 9, false, false },
	};
	struct trigger trigger;

	expect_ok(trigger_parse("runnable>2*cpus", &trigger));
	for (size_t i = 0; i < array_length(steps); i++)
		if (trigger_judge(&trigger, steps[i].value, 4, steps[i].wait) != steps[i].fires)
			fail_msg("step %zu", i);
	expect_ok(trigger_parse("runnable>2", &trigger));
	assert_true(trigger_judge(&trigger, 3, 4, false));
}

UNIT_TESTS(cmocka_unit_test(valid_triggers), cmocka_unit_test(invalid_triggers),
	   cmocka_unit_test(values_of_facts), cmocka_unit_test(all_names_are_good),
	   cmocka_unit_test(one_trouble_fires_once))
