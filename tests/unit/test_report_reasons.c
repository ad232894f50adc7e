/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reasons.h"

#include <string.h>

#include "unit/build.h"

static struct ctprof_snapshot *snapshot;
static struct ctprof_thread *thread;

static int setup(void **state)
{
	(void)state;
	snapshot = build_snapshot();
	thread = build_thread(snapshot, 1, 1, "p", "t", "/");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	snapshot_destroy(snapshot);
	return 0;
}

static const char *reason(enum metric_id id)
{
	const struct metric_set missing = metrics_missing(snapshot);

	return metric_reason(snapshot, &missing, &metrics[id]);
}

static void expect_gate(enum metric_id id, enum metric_gate gate)
{
	assert_string_equal(reason(id), metric_gates[gate].remedy);
}

/* The start of a capture by this ctprof, with taskstats. */
static void captured(const char *delays)
{
	snapshot->capture = arena_alloc(&snapshot->arena, sizeof(*snapshot->capture));
	assert_non_null(snapshot->capture);
	snapshot->capture->taskstats_version = reading_of(16);
	snapshot->capture->delay_accounting = snapshot_name(snapshot, text_of(delays));
}

TEST(metrics_of_no_thread_are_missing)
{
	struct metric_set missing;
	struct ctprof_thread *one = build_thread(snapshot, 1, 2, "p", "t", "/");

	build_number(one, METRIC_run_time_ns, 0);
	missing = metrics_missing(snapshot);
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		assert_int_equal(metric_set_has(&missing, id),
				 id != METRIC_run_time_ns && id != METRIC_thread_count &&
					 metrics[id].section != SECTION_THREAD_STATES);
	/* Of a recording of top, what its engine does not tell. */
	build_number(one, METRIC_state_watched_ns, 0);
	missing = metrics_missing(snapshot);
	assert_true(metric_set_has(&missing, METRIC_state_lock_ns));
	assert_false(metric_set_has(&missing, METRIC_state_watched_ns));
}

TEST(one_gate_is_named)
{
	expect_gate(METRIC_run_time_ns, GATE_SCHED_INFO);
	expect_gate(METRIC_wait_sum, GATE_SCHEDSTATS);
	expect_gate(METRIC_rchar, GATE_TASK_IO_ACCOUNTING);
	expect_gate(METRIC_ext_enabled, GATE_SCHED_CLASS_EXT);
	assert_string_equal(reason(METRIC_nice), "the kernel does not show it");
}

/* core_forceidle_sum needs SCHEDSTATS and SCHED_CORE, hiwater_rss_bytes TASKSTATS and TASK_XACCT.
 */
TEST(of_two_gates_the_closed_one_is_named)
{
	/* It names what turns on both. */
	expect_gate(METRIC_core_forceidle_sum, GATE_SCHED_CORE);
	build_number(thread, METRIC_wait_sum, 0);
	expect_gate(METRIC_core_forceidle_sum, GATE_SCHED_CORE);

	expect_gate(METRIC_hiwater_rss_bytes, GATE_TASKSTATS);
	build_number(thread, METRIC_cpu_delay_count, 0);
	expect_gate(METRIC_hiwater_rss_bytes, GATE_TASK_XACCT);
}

/* Other rows of SCHEDSTATS, or of taskstats, were measured: the option is there. */
TEST(an_open_gate_is_not_to_blame)
{
	build_number(thread, METRIC_wait_sum, 0);
	assert_string_equal(reason(METRIC_block_sum), "the kernel does not show it");
	build_number(thread, METRIC_kthread_block_sum, 0);
	assert_string_equal(reason(METRIC_block_sum),
			    "kernel threads have it apart: metrics kthread_block_*");
	build_number(thread, METRIC_hiwater_rss_bytes, 1);
	assert_string_equal(reason(METRIC_hiwater_vm_bytes), "the kernel does not show it");
}

TEST(the_summary_names_the_closed_gate_too)
{
	char summary[512];

	build_number(thread, METRIC_wait_sum, 0);
	reasons_summary(summary, sizeof(summary), snapshot);
	assert_non_null(strstr(summary, "1 metric of SCHED_CORE"));
}

TEST(a_denied_source_comes_first)
{
	captured("boot");
	assert_true(counts_add(snapshot, &snapshot->capture->denied, TEXT("io"), 3));
	assert_string_equal(reason(METRIC_rchar), metric_source_infos[SOURCE_IO].denied);
	assert_non_null(strstr(reason(METRIC_rchar), "denied: needs CAP_SYS_PTRACE"));
	expect_gate(METRIC_wait_sum, GATE_SCHEDSTATS);
}

TEST(a_class_or_another_file_may_be_the_reason)
{
	assert_string_equal(reason(METRIC_fair_slice_ns), metric_classes[CLASS_FAIR_POLICY].prose);
	assert_string_equal(reason(METRIC_nice), "the kernel does not show it");
	snapshot->origin = ORIGIN_KTSTR;
	assert_string_equal(reason(METRIC_nice), "the file does not say that it was measured");
	/* What its kernel was built and booted with is not known. */
	assert_string_equal(reason(METRIC_wait_sum), reason(METRIC_nice));
	assert_string_equal(reason(METRIC_cpu_delay_count), reason(METRIC_nice));
	assert_string_equal(reason(METRIC_blkio_delay_count), reason(METRIC_nice));
	assert_string_equal(reason(METRIC_sleep_in_progress_ns), reason(METRIC_nice));
	assert_string_equal(reason(METRIC_allocated_bytes), reason(METRIC_nice));
}

TEST(delays_name_their_switch)
{
	captured("off");
	assert_non_null(strstr(reason(METRIC_blkio_delay_count), "is off"));
	snapshot->capture->delay_accounting = snapshot_name(snapshot, TEXT("runtime"));
	assert_non_null(strstr(reason(METRIC_blkio_delay_count), "turned on after"));
	assert_non_null(strstr(reason(METRIC_irq_delay_count), "interrupt time"));
	snapshot->capture->taskstats_version = reading_of(14);
	assert_non_null(strstr(reason(METRIC_blkio_delay_max_ns), "v15"));
	snapshot->capture->taskstats_version.measured = false;
	assert_non_null(strstr(reason(METRIC_blkio_delay_max_ns), "did not answer"));
}

/* The reasons of these metrics as they are printed; the caller frees it. */
static char *printed(const struct metric_set *wanted)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	reasons_print(out, "> what", snapshot, wanted);
	fclose(out);
	return text;
}

TEST(a_line_for_each_reason)
{
	static const enum metric_id ids[] = { METRIC_rchar, METRIC_wchar,      METRIC_syscr,
					      METRIC_syscw, METRIC_read_bytes, METRIC_nice };
	struct metric_set wanted = { 0 };
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < array_length(ids); i++)
		metric_set_add(&wanted, ids[i]);
	build_number(thread, METRIC_run_time_ns, 0);
	text = printed(&wanted);
	assert_non_null(strstr(text, "> what: nice (the kernel does not show it)\n"));
	assert_non_null(strstr(text,
			       "> what: rchar, wchar, syscr and 2 more (needs a kernel built with "
			       "CONFIG_TASK_IO_ACCOUNTING)\n"));
	assert_null(strstr(text, "run_time_ns"));
}

TEST(no_reasons)
{
	char summary[64];

	memset(&thread->record.measured, 0xff, sizeof(thread->record.measured));
	reasons_summary(summary, sizeof(summary), snapshot);
	assert_string_equal(summary, "nothing");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void probed(uint64_t walked, uint64_t detected, const char *failure)
{
	snapshot->probe_summary = arena_alloc(&snapshot->arena, sizeof(*snapshot->probe_summary));
	assert_non_null(snapshot->probe_summary);
	snapshot->probe_summary->tgids_walked = reading_of(walked);
	snapshot->probe_summary->jemalloc_detected = reading_of(detected);
	if (failure)
		snapshot->probe_summary->dominant_failure =
			snapshot_name(snapshot, text_of(failure));
}

TEST(the_probe_gives_the_reason_for_a_missing_heap)
{
	assert_string_equal(reason(METRIC_allocated_bytes),
			    "the counters of jemalloc were not looked for");
	probed(5, 0, NULL);
	assert_string_equal(reason(METRIC_allocated_bytes),
			    "no process uses jemalloc, as far as they can be looked into");
	probed(5, 1, "no-thread-pointer");
	assert_non_null(strstr(reason(METRIC_deallocated_bytes), "--allow-ptrace"));
	probed(5, 1, "worker-panic");
	assert_string_equal(reason(METRIC_allocated_bytes),
			    "the counters of jemalloc could not be read");
	build_number(thread, METRIC_allocated_bytes, 1);
	probed(5, 1, NULL);
	assert_string_equal(reason(METRIC_allocated_bytes),
			    "only processes that use jemalloc have it");
}

UNIT_TESTS(CASE(metrics_of_no_thread_are_missing), CASE(one_gate_is_named),
	   CASE(of_two_gates_the_closed_one_is_named), CASE(an_open_gate_is_not_to_blame),
	   CASE(the_summary_names_the_closed_gate_too), CASE(a_denied_source_comes_first),
	   CASE(a_class_or_another_file_may_be_the_reason), CASE(delays_name_their_switch),
	   CASE(a_line_for_each_reason), CASE(the_probe_gives_the_reason_for_a_missing_heap),
	   CASE(no_reasons))
