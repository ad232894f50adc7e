/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each probe concludes from a capture: a row has the facts, and what follows.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/probe_run.h"
#include "unit/build.h"

static struct scratch scratch;
static struct probe_run run;
static struct capture_info capture;
static struct sched_ext sched_ext;
static struct ctprof_thread *child;
static struct probe_result result;

static int setup(void **state)
{
	(void)state;
	scratch_init(&scratch);
	capture = (struct capture_info){ 0 };
	sched_ext = (struct sched_ext){ 0 };
	result = (struct probe_result){ 0 };
	run = (struct probe_run){ .proc = scratch.dir, .snapshot = build_snapshot() };
	child = build_thread(run.snapshot, 7, 7, "child", "child", "/x");
	run.child = child;
	run.snapshot->capture = &capture;
	capture.delay_accounting = snapshot_name(run.snapshot, TEXT("unknown"));
	run.cgroups.point = scratch.path;
	return 0;
}

static void forget(void)
{
	free(result.why);
	free(result.command);
	free(result.boot);
	free(result.covers);
	result = (struct probe_result){ 0 };
}

static int teardown(void **state)
{
	(void)state;
	forget();
	run.snapshot->capture = NULL;
	run.snapshot->sched_ext = NULL;
	snapshot_destroy(run.snapshot);
	file_buffer_deinit(&run.buffer);
	scratch_deinit(&scratch);
	return 0;
}

static void make_dirs(const char *path)
{
	char part[128];

	for (size_t i = 1; i <= strlen(path); i++)
		if (path[i] == '/' || !path[i]) {
			snprintf(part, sizeof(part), "%.*s", (int)i, path);
			if (mkdirat(scratch.dir, part, 0755))
				assert_int_equal(faccessat(scratch.dir, part, F_OK, 0), 0);
		}
}

static const struct probe *probe_of(const char *name)
{
	for (size_t i = 0; i < probe_count; i++)
		if (strcmp(probes[i].name, name) == 0)
			return &probes[i];
	fail_msg("there is no probe %s", name);
	return NULL;
}

/* Look, and compare; a text that is NULL must not be there, "" may be anything. */
static void expect(const char *name, enum presence presence, const char *why, const char *command)
{
	const struct probe *probe = probe_of(name);

	forget();
	probe->look(&run, probe, &result);
	if (result.presence != presence)
		fail_msg("%s: %s, not %s: %s", name, presence_names[result.presence],
			 presence_names[presence], result.why ? result.why : "");
	if (!why ? result.why != NULL : !result.why || !strstr(result.why, why))
		fail_msg("%s: why is '%s', not '%s'", name, result.why, why);
	if (!command ? result.command != NULL
		     : *command && (!result.command || !strstr(result.command, command)))
		fail_msg("%s: command is '%s', not '%s'", name, result.command, command);
}

static void delay_accounting(const char *how)
{
	capture.delay_accounting = snapshot_name(run.snapshot, text_of(how));
}

/* --- the table --- */

TEST(probes_have_names_of_their_own)
{
	for (size_t i = 0; i < probe_count; i++) {
		assert_string_equal(probe_name(i), probes[i].name);
		assert_non_null(probes[i].look);
		assert_true(strlen(probes[i].gives) > 5);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(probes[i].name, probes[k].name);
	}
	assert_null(probe_name(probe_count));
}

/* --- threads --- */

TEST(a_metric_that_the_child_has_is_there)
{
	expect("stat", PRESENCE_NO, "CONFIG_PROC_FS", NULL);
	build_number(child, METRIC_minflt, 0);
	expect("stat", PRESENCE_YES, NULL, NULL);
	expect("time-slice", PRESENCE_NO, "does not show it", NULL);
}

/* It has slept and was woken: a count of 0 is that of a kernel that does not count. */
TEST(wake_ups_are_counted_when_the_child_has_some)
{
	expect("schedstats", PRESENCE_NO, "CONFIG_SCHEDSTATS", NULL);
	make_dirs("sys/kernel");
	scratch_write(&scratch, "sys/kernel/sched_schedstats", TEXT("0\n"));
	build_number(child, METRIC_nr_wakeups, 0);
	expect("schedstats", PRESENCE_NO, "kernel.sched_schedstats is 0",
	       "sysctl -w kernel.sched_schedstats=1");
	build_number(child, METRIC_nr_wakeups, 1);
	expect("schedstats", PRESENCE_YES, NULL, NULL);
}

TEST(hidden_processes_are_missed)
{
	expect("threads", PRESENCE_PARTLY, "hidepid): 1 threads", "mount -o remount,hidepid=0");
	make_dirs("1");
	scratch_write(&scratch, "1/stat", TEXT("1 (init) S\n"));
	capture.processes_denied = (struct reading){ .value = 3, .measured = true };
	expect("threads", PRESENCE_PARTLY, "hidepid", "mount");
}

/* CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE are bits 2 and 19. */
TEST(files_of_others_are_denied_for_some)
{
	make_dirs("self");
	scratch_write(&scratch, "self/status",
		      TEXT("CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n"));
	expect("exe", PRESENCE_YES, NULL, NULL);
	expect("io", PRESENCE_NO, "CONFIG_TASK_IO_ACCOUNTING", NULL);
	build_number(child, METRIC_rchar, 1);
	expect("io", PRESENCE_YES, NULL, NULL);
	assert_true(counts_add(run.snapshot, &capture.denied, TEXT("io"), 1));
	expect("io", PRESENCE_PARTLY, "denied for 1 of 1 threads", "setcap");
	expect("exe", PRESENCE_YES, NULL, NULL);
	scratch_write(&scratch, "self/status", TEXT("CapEff:\t0000000000080004\n"));
	expect("io", PRESENCE_PARTLY, "although CAP_SYS_PTRACE is held", NULL);
}

/* --- delays --- */

TEST(taskstats_are_denied_or_not_built)
{
	static const char *const all[] = { "taskstats", "delays", "delay-peaks", "irq-delays" };

	for (size_t i = 0; i < array_length(all); i++)
		expect(all[i], PRESENCE_NO, "CONFIG_TASKSTATS", NULL);
	make_dirs("self");
	scratch_write(&scratch, "self/status", TEXT("CapBnd:\t000001ffffffffff\n"));
	assert_true(counts_add(run.snapshot, &capture.denied, TEXT("taskstats"), 1));
	for (size_t i = 0; i < array_length(all); i++)
		expect(all[i], PRESENCE_NO, "CAP_NET_ADMIN", "setcap");
	build_number(child, METRIC_cpu_delay_count, 1);
	expect("taskstats", PRESENCE_YES, NULL, NULL);
}

/* The child copied a page. */
TEST(delays_follow_the_switch)
{
	static const struct {
		const char *accounting;
		int copies; /* -1: not measured */
		enum presence presence;
		const char *why, *command;
	} rows[] = {
		{ "off", 0, PRESENCE_NO, "kernel.task_delayacct is 0",
		  "sysctl -w kernel.task_delayacct=1" },
		{ "off", -1, PRESENCE_NO, "kernel.task_delayacct is 0",
		  "sysctl -w kernel.task_delayacct=1" },
		{ "unknown", 0, PRESENCE_NO, "CONFIG_TASK_DELAY_ACCT", NULL },
		{ "runtime", 1, PRESENCE_PARTLY, "turned on after the boot", "" },
		{ "boot", 1, PRESENCE_YES, NULL, NULL },
		{ "unknown", 1, PRESENCE_YES, NULL, NULL },
	};

	build_number(child, METRIC_cpu_delay_count, 1);
	for (size_t i = 0; i < array_length(rows); i++) {
		delay_accounting(rows[i].accounting);
		metric_set_remove(&child->record.measured, METRIC_wpcopy_delay_count);
		if (rows[i].copies >= 0)
			build_number(child, METRIC_wpcopy_delay_count, (uint64_t)rows[i].copies);
		expect("delays", rows[i].presence, rows[i].why, rows[i].command);
	}
	/* Taskstats that are too old to say so. */
	metric_set_remove(&child->record.measured, METRIC_wpcopy_delay_count);
	build_number(child, METRIC_blkio_delay_count, 0);
	expect("delays", PRESENCE_YES, NULL, NULL);
}

TEST(peaks_came_with_a_version)
{
	build_number(child, METRIC_cpu_delay_count, 1);
	capture.taskstats_version = (struct reading){ .value = 13, .measured = true };
	expect("delay-peaks", PRESENCE_NO, "version 13; they came with 15", NULL);
	build_number(child, METRIC_cpu_delay_max_ns, 5);
	delay_accounting("off");
	/* Those of waiting for a CPU are there all the same. */
	expect("delay-peaks", PRESENCE_PARTLY, "kernel.task_delayacct is 0", "sysctl");
	build_number(child, METRIC_wpcopy_delay_count, 1);
	delay_accounting("boot");
	expect("delay-peaks", PRESENCE_YES, NULL, NULL);
}

TEST(delays_by_interrupts_need_most)
{
	build_number(child, METRIC_cpu_delay_count, 1);
	capture.taskstats_version = (struct reading){ .value = 13, .measured = true };
	expect("irq-delays", PRESENCE_NO, "without /proc/pressure", "");
	assert_string_equal(result.boot, "psi=1");
	run.snapshot->psi.cpu.some.total_usec.measured = true;
	expect("irq-delays", PRESENCE_NO, "CONFIG_IRQ_TIME_ACCOUNTING", NULL);
	capture.irq_accounting = true;
	delay_accounting("off");
	expect("irq-delays", PRESENCE_NO, "kernel.task_delayacct is 0", "sysctl");
	delay_accounting("boot");
	expect("irq-delays", PRESENCE_NO, "version 13; they came with 14", NULL);
	build_number(child, METRIC_irq_delay_total_ns, 0);
	expect("irq-delays", PRESENCE_YES, NULL, NULL);
}

/* --- cgroups --- */

static struct cgroup_counters *add_cgroup(const char *path)
{
	const struct cgroup_counters cgroup = { .path = snapshot_name(run.snapshot,
								      text_of(path)) };

	assert_true(array_push(&run.snapshot->cgroups, cgroup));
	return &run.snapshot->cgroups.items[run.snapshot->cgroups.count - 1];
}

TEST(cgroups_are_not_mounted)
{
	run.cgroups.point = NULL;
	make_dirs("self");
	scratch_write(&scratch, "self/cgroup", TEXT("0::/x\n"));
	expect("cgroups", PRESENCE_NO, "not mounted", "mount -t cgroup2");
	expect("cgroup-memory", PRESENCE_NO, "not mounted", "mount -t cgroup2");
	scratch_write(&scratch, "self/cgroup", TEXT("1:cpu:/x\n"));
	expect("cgroups", PRESENCE_NO, "CONFIG_CGROUPS", NULL);
}

/* /a gives the controller to its children, /a/b does not: the command is for /a/b. */
TEST(the_first_that_keeps_a_controller_is_named)
{
	struct reading measured = { .measured = true };
	char command[160];

	make_dirs("a/b/c");
	scratch_write(&scratch, "cgroup.controllers", TEXT("cpu memory\n"));
	scratch_write(&scratch, "cgroup.subtree_control", TEXT("cpu memory\n"));
	scratch_write(&scratch, "a/cgroup.subtree_control", TEXT("cpu memory\n"));
	scratch_write(&scratch, "a/b/cgroup.controllers", TEXT("cpu memory\n"));
	scratch_write(&scratch, "a/b/cgroup.subtree_control", TEXT("cpu\n"));
	add_cgroup("/a/b")->memory.current = measured;
	expect("cgroup-memory", PRESENCE_YES, NULL, NULL);
	add_cgroup("/a/b/c");
	snprintf(command, sizeof(command), "echo +memory > '%s/a/b/cgroup.subtree_control'",
		 scratch.path);
	expect("cgroup-memory", PRESENCE_PARTLY, "/a/b does not give the memory controller",
	       command);
	run.snapshot->cgroups.items[0].memory.current.measured = false;
	scratch_write(&scratch, "a/cgroup.subtree_control", TEXT("\n"));
	scratch_write(&scratch, "a/cgroup.controllers", TEXT("cpu memory\n"));
	expect("cgroup-memory", PRESENCE_NO, "/a does not give the memory controller",
	       "/a/cgroup.subtree_control'");
}

/* Lines of /proc/cgroups: name, hierarchy of version 1, cgroups, enabled. */
TEST(a_controller_that_is_not_there_is_explained)
{
	static const struct {
		const char *cgroups, *why, *boot;
	} rows[] = {
		{ "cpu\t0\t9\t1\n", "CONFIG_CGROUP_PIDS", NULL },
		{ "pids\t0\t9\t0\n", "cgroup_disable=pids", NULL },
		{ "#x\ncpu\t0\t9\t1\npids\t4\t9\t1\n", "version 1 has the pids controller",
		  "cgroup_no_v1=pids" },
		{ "pids\t0\t9\t1\n", "outside of this namespace", NULL },
	};

	scratch_write(&scratch, "cgroup.controllers", TEXT("cpu\n"));
	scratch_write(&scratch, "cgroup.subtree_control", TEXT("cpu\n"));
	for (size_t i = 0; i < array_length(rows); i++) {
		scratch_write(&scratch, "cgroups", text_of(rows[i].cgroups));
		expect("cgroup-pids", PRESENCE_NO, rows[i].why, rows[i].boot ? "" : NULL);
		if (rows[i].boot)
			assert_string_equal(result.boot, rows[i].boot);
		else
			assert_null(result.boot);
	}
}

TEST(pressure_of_a_cgroup_can_be_turned_off)
{
	make_dirs("a");
	add_cgroup("/a");
	expect("cgroup-pressure", PRESENCE_NO, "PSI", "");
	run.snapshot->psi.cpu.some.total_usec.measured = true;
	scratch_write(&scratch, "a/cgroup.pressure", TEXT("0\n"));
	expect("cgroup-pressure", PRESENCE_NO, "1 of 1 cgroups have none", "echo 1 > '");
	add_cgroup("/b")->psi.cpu.some.total_usec.measured = true;
	expect("cgroup-pressure", PRESENCE_PARTLY, "1 of 2", "/a/cgroup.pressure'");
	run.snapshot->cgroups.items[0].psi.cpu.some.total_usec.measured = true;
	expect("cgroup-pressure", PRESENCE_YES, NULL, NULL);
}

/* --- the host --- */

TEST(facts_of_the_host)
{
	expect("pressure", PRESENCE_NO, "PSI", "");
	run.snapshot->psi.cpu.some.total_usec.measured = true;
	expect("pressure", PRESENCE_YES, NULL, NULL);
	run.snapshot->sched_ext = &sched_ext;
	expect("sched_ext", PRESENCE_NO, "CONFIG_SCHED_CLASS_EXT", NULL);
	sched_ext.state = snapshot_name(run.snapshot, TEXT("disabled"));
	expect("sched_ext", PRESENCE_YES, NULL, NULL);
}

TEST(counters_of_each_kind)
{
	for (enum counter_kind kind = 0; kind < COUNTER_KIND_COUNT; kind++) {
		if (kind != COUNTERS_NET)
			assert_non_null(snapshot_add_counters(run.snapshot, kind, TEXT("x")));
	}
	expect("host-counters", PRESENCE_PARTLY, "none of: net", NULL);
	assert_non_null(snapshot_add_counters(run.snapshot, COUNTERS_NET, TEXT("eth0")));
	expect("host-counters", PRESENCE_YES, NULL, NULL);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(probes_have_names_of_their_own), CASE(a_metric_that_the_child_has_is_there),
	   CASE(wake_ups_are_counted_when_the_child_has_some), CASE(hidden_processes_are_missed),
	   CASE(files_of_others_are_denied_for_some), CASE(taskstats_are_denied_or_not_built),
	   CASE(delays_follow_the_switch), CASE(peaks_came_with_a_version),
	   CASE(delays_by_interrupts_need_most), CASE(cgroups_are_not_mounted),
	   CASE(the_first_that_keeps_a_controller_is_named),
	   CASE(a_controller_that_is_not_there_is_explained),
	   CASE(pressure_of_a_cgroup_can_be_turned_off), CASE(facts_of_the_host),
	   CASE(counters_of_each_kind))
