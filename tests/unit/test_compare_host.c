/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host as a whole: pressure, sched_ext, its context, its counters; and the notes.
 */
#include "compare/report.h"

#include "unit/compare_scene.h"

/* --- pressure --- */

TEST(pressure_of_the_host)
{
	struct comparison c;

	comparison_begin(&c);
	c.before[0]->psi.cpu.some.avg10 = reading_of(125);
	c.after[0]->psi.cpu.some.avg10 = reading_of(100);
	c.before[0]->psi.io.full.total_usec = reading_of(5);
	c.after[0]->psi.io.full.total_usec = reading_of(50);
	c.after[0]->psi.irq.full.total_usec = reading_of(3);
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_HOST_PRESSURE),
			    "io.full.total | cpu.some.avg10 | irq.full.total");
	expect_delta(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.avg10", -25);
	expect_delta(&c, SECTION_HOST_PRESSURE, NULL, "io.full.total", 45);
	expect_no_delta(&c, SECTION_HOST_PRESSURE, NULL, "irq.full.total");
	assert_true(row_of(&c, SECTION_HOST_PRESSURE, NULL, "io.full.total")->measure->is_total);
	comparison_end(&c);
}

/* Every number of it, each under its own name. */
TEST(every_number_of_pressure)
{
	struct comparison c;
	struct psi *psi;
	size_t rows = 0;

	comparison_begin(&c);
	psi = &c.after[0]->psi;
	psi->cpu.some =
		(struct psi_half){ reading_of(1), reading_of(2), reading_of(3), reading_of(4) };
	psi->cpu.full =
		(struct psi_half){ reading_of(5), reading_of(6), reading_of(7), reading_of(8) };
	psi->memory.some.avg60 = reading_of(9);
	psi->io.some.avg300 = reading_of(10);
	psi->irq.full.avg10 = reading_of(11);
	comparison_alone(&c);
	comparison_run(&c);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.avg10")->after, 1);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.avg60")->after, 2);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.avg300")->after, 3);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.total")->after, 4);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.full.avg10")->after, 5);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.full.total")->after, 8);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "memory.some.avg60")->after, 9);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "io.some.avg300")->after, 10);
	expect_whole(&row_of(&c, SECTION_HOST_PRESSURE, NULL, "irq.full.avg10")->after, 11);
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++)
		rows += c.report->sections[SECTION_HOST_PRESSURE].row_groups[b].count;
	assert_int_equal(rows, 11);
	comparison_end(&c);
}

/* --- sched_ext --- */

static struct sched_ext *build_ext(struct ctprof_snapshot *s, const char *state)
{
	s->sched_ext = arena_alloc(&s->arena, sizeof(*s->sched_ext));
	*s->sched_ext = (struct sched_ext){ .state = snapshot_name(s, text_of(state)) };
	return s->sched_ext;
}

TEST(sched_ext)
{
	struct comparison c;
	struct sched_ext *ext;

	comparison_begin(&c);
	ext = build_ext(c.before[0], "disabled");
	ext->enable_seq = reading_of(1);
	ext->nr_rejected = reading_of(0);
	ext->switch_all = reading_of(0);
	ext = build_ext(c.after[0], "enabled");
	ext->enable_seq = reading_of(3);
	ext->nr_rejected = reading_of(0);
	ext->switch_all = reading_of(1);
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_SCHED_EXT), "enable_seq switch_all | state");
	expect_delta(&c, SECTION_SCHED_EXT, NULL, "enable_seq", 2);
	assert_string_equal(row_of(&c, SECTION_SCHED_EXT, NULL, "state")->before.category.text,
			    "disabled");
	/* The same says nothing; a kernel without it neither. */
	build_ext(c.after[0], "disabled")->enable_seq = reading_of(1);
	c.after[0]->sched_ext->nr_rejected = reading_of(0);
	c.after[0]->sched_ext->switch_all = reading_of(0);
	c.view.changed = true;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_SCHED_EXT), "");
	c.view.changed = false;
	c.before[0]->sched_ext = c.after[0]->sched_ext = NULL;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_SCHED_EXT), "");
	/* One that only the candidate's kernel has is a change. */
	build_ext(c.after[0], "disabled");
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_SCHED_EXT), "state");
	comparison_end(&c);
}

/* --- the context --- */

TEST(differences_of_hosts)
{
	struct comparison c;
	struct host_context *x, *y;

	comparison_begin(&c);
	x = c.before[0]->host;
	y = c.after[0]->host;
	x->cpu_model = snapshot_name(c.before[0], TEXT("Xeon"));
	y->cpu_model = snapshot_name(c.after[0], TEXT("Xeon"));
	x->thp_enabled = snapshot_name(c.before[0], TEXT("always"));
	y->thp_enabled = snapshot_name(c.after[0], TEXT("never"));
	x->total_memory_kib = reading_of(1000);
	y->total_memory_kib = reading_of(1500);
	x->online_cpus = y->online_cpus = reading_of(4);
	y->numa_nodes = reading_of(2);
	x->boot_time_unix_s = reading_of(5);
	y->boot_time_unix_s = reading_of(6);
	assert_true(
		label_pairs_add(c.before[0], &x->sched_tunables, TEXT("base_slice"), TEXT("3")));
	assert_true(label_pairs_add(c.after[0], &y->sched_tunables, TEXT("base_slice"), TEXT("4")));
	assert_true(label_pairs_add(c.after[0], &y->sched_tunables, TEXT("features"), TEXT("A B")));
	assert_true(label_pairs_add(c.before[0], &x->sched_tunables, TEXT("gone"), TEXT("1")));
	assert_true(
		label_pairs_add(c.before[0], &x->cpufreq_governor, TEXT("0"), TEXT("powersave")));
	assert_true(
		label_pairs_add(c.after[0], &y->cpufreq_governor, TEXT("0"), TEXT("performance")));
	assert_true(
		label_pairs_add(c.before[0], &x->cpufreq_governor, TEXT("1"), TEXT("powersave")));
	assert_true(
		label_pairs_add(c.after[0], &y->cpufreq_governor, TEXT("1"), TEXT("powersave")));
	c.view.changed = true;
	comparison_run(&c);
	/* Uptimes and times of boot differ between any two captures, and are left out. */
	assert_string_equal(rows_text(&c, SECTION_HOST),
			    "total_memory_kib | numa_nodes thp_enabled cpufreq_governor.cpu0 "
			    "sched_tunables.base_slice sched_tunables.features "
			    "sched_tunables.gone");
	expect_delta(&c, SECTION_HOST, NULL, "total_memory_kib", 500);
	assert_int_equal(row_of(&c, SECTION_HOST, NULL, "total_memory_kib")->measure->unit,
			 UNIT_KIB);
	assert_string_equal(
		row_of(&c, SECTION_HOST, NULL, "sched_tunables.base_slice")->after.category.text,
		"4");
	assert_int_equal(row_of(&c, SECTION_HOST, NULL, "sched_tunables.gone")->after.kind,
			 DATUM_NONE);
	assert_int_equal(row_of(&c, SECTION_HOST, NULL, "sched_tunables.features")->before.kind,
			 DATUM_NONE);
	comparison_end(&c);
}

TEST(hosts_without_a_context)
{
	struct comparison c;

	comparison_begin(&c);
	c.before[0]->host = c.after[0]->host = NULL;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_HOST), "");
	build_host(c.after[0], "boot", 5)->online_cpus = reading_of(4);
	comparison_run(&c);
	/* Every fact would differ, and none did. */
	assert_string_equal(rows_text(&c, SECTION_HOST), "");
	comparison_end(&c);
}

TEST(the_context_of_one_snapshot)
{
	struct comparison c;

	comparison_begin(&c);
	c.after[0]->host->online_cpus = reading_of(4);
	comparison_alone(&c);
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_HOST), "online_cpus boot_id uptime_clock_ticks");
	comparison_end(&c);
}

/* --- counters --- */

static void count(struct ctprof_snapshot *s, enum counter_kind kind, const char *name,
		  const char *key, uint64_t value)
{
	struct counter_set *set = NULL;

	for (size_t i = 0; i < s->counters.count; i++)
		if (s->counters.items[i].kind == kind &&
		    strcmp(s->counters.items[i].name->bytes, name) == 0)
			set = &s->counters.items[i];
	if (!set)
		set = build_counters(s, kind, name);
	build_count(s, &set->counts, key, value);
}

/* By name, in whatever order each has them. */
TEST(counters_are_joined_by_name)
{
	struct comparison c;

	comparison_begin(&c);
	count(c.before[0], COUNTERS_CPU, "cpu0", "busy_ticks", 100);
	count(c.before[0], COUNTERS_CPU, "cpu0", "idle_ticks", 5);
	count(c.before[0], COUNTERS_CPU, "cpu1", "busy_ticks", 7);
	count(c.before[0], COUNTERS_BLOCK, "vda", "read_bytes", 512);
	count(c.before[0], COUNTERS_BLOCK, "old", "read_bytes", 512);
	count(c.before[0], COUNTERS_VMSTAT, "", "pgfault", 1);
	count(c.before[0], COUNTERS_NET, "vda", "sent_bytes", 9);
	count(c.after[0], COUNTERS_CPU, "cpu1", "busy_ticks", 8);
	count(c.after[0], COUNTERS_CPU, "cpu0", "idle_ticks", 9);
	count(c.after[0], COUNTERS_CPU, "cpu0", "busy_ticks", 130);
	count(c.after[0], COUNTERS_BLOCK, "new", "read_bytes", 4);
	count(c.after[0], COUNTERS_BLOCK, "vda", "read_bytes", 1024);
	count(c.after[0], COUNTERS_VMSTAT, "", "pgfault", 4);
	count(c.after[0], COUNTERS_NET, "vda", "sent_bytes", 10);
	comparison_run(&c);
	expect_delta(&c, SECTION_HOST_COUNTERS, "cpu0", "busy_ticks", 30);
	expect_delta(&c, SECTION_HOST_COUNTERS, "cpu0", "idle_ticks", 4);
	expect_delta(&c, SECTION_HOST_COUNTERS, "cpu1", "busy_ticks", 1);
	expect_delta(&c, SECTION_HOST_COUNTERS, "block vda", "read_bytes", 512);
	expect_delta(&c, SECTION_HOST_COUNTERS, "net vda", "sent_bytes", 1);
	expect_delta(&c, SECTION_HOST_COUNTERS, "vmstat", "pgfault", 3);
	/* A device that came or went has no change. */
	expect_no_delta(&c, SECTION_HOST_COUNTERS, "block old", "read_bytes");
	expect_no_delta(&c, SECTION_HOST_COUNTERS, "block new", "read_bytes");
	comparison_end(&c);
}

/* A counter that only the baseline's kernel has is no less a counter than the reverse. */
TEST(counters_of_one_side)
{
	struct comparison c;

	comparison_begin(&c);
	count(c.before[0], COUNTERS_VMSTAT, "", "pgfault", 1);
	count(c.before[0], COUNTERS_VMSTAT, "", "only_before", 5);
	count(c.after[0], COUNTERS_VMSTAT, "", "pgfault", 4);
	count(c.after[0], COUNTERS_VMSTAT, "", "only_after", 6);
	comparison_run(&c);
	expect_no_delta(&c, SECTION_HOST_COUNTERS, "vmstat", "only_after");
	expect_no_delta(&c, SECTION_HOST_COUNTERS, "vmstat", "only_before");
	comparison_end(&c);
}

static void check_counter(enum counter_kind kind, const char *key, enum unit unit, bool is_total)
{
	struct comparison c;
	const struct row_group *group;

	comparison_begin(&c);
	count(c.before[0], kind, "", key, 100);
	count(c.after[0], kind, "", key, 350);
	comparison_run(&c);
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
		group = &c.report->sections[SECTION_HOST_COUNTERS].row_groups[b];
		if (group->count)
			break;
	}
	assert_int_equal(group->count, 1);
	if (group->items[0].measure->unit != unit || group->items[0].measure->is_total != is_total)
		fail_msg("%s: unit %d, %stotal", key, group->items[0].measure->unit,
			 group->items[0].measure->is_total ? "" : "no ");
	comparison_end(&c);
}

TEST(units_of_counters)
{
	check_counter(COUNTERS_CPU, "idle_ticks", UNIT_TICKS, true);
	check_counter(COUNTERS_CPU, "run_ns", UNIT_NS, true);
	check_counter(COUNTERS_CPU, "timeslices", UNIT_COUNT, true);
	check_counter(COUNTERS_BLOCK, "read_bytes", UNIT_BYTES, true);
	check_counter(COUNTERS_BLOCK, "io_ms", UNIT_MS, true);
	check_counter(COUNTERS_BLOCK, "in_flight", UNIT_COUNT, false);
	check_counter(COUNTERS_KERNEL, "running", UNIT_COUNT, false);
	check_counter(COUNTERS_KERNEL, "blocked", UNIT_COUNT, false);
	check_counter(COUNTERS_KERNEL, "threads", UNIT_COUNT, false);
	check_counter(COUNTERS_KERNEL, "forks", UNIT_COUNT, true);
	check_counter(COUNTERS_VMSTAT, "nr_free_pages", UNIT_COUNT, false);
	check_counter(COUNTERS_VMSTAT, "nr_dirtied", UNIT_COUNT, true);
	check_counter(COUNTERS_VMSTAT, "nr_written", UNIT_COUNT, true);
	check_counter(COUNTERS_VMSTAT, "pgfault", UNIT_COUNT, true);
	check_counter(COUNTERS_VMSTAT, "numa_hint_faults", UNIT_COUNT, true);
}

/* Load averages are kept in hundredths and read as what they are. */
TEST(load_averages)
{
	struct comparison c;
	const struct row *row;

	comparison_begin(&c);
	count(c.before[0], COUNTERS_KERNEL, "", "load1_x100", 150);
	count(c.after[0], COUNTERS_KERNEL, "", "load1_x100", 75);
	comparison_run(&c);
	row = row_of(&c, SECTION_HOST_COUNTERS, "kernel", "load1");
	expect_real(row->before.real, 1.5);
	expect_real(row->after.real, 0.75);
	expect_real(row->change.delta, -0.75);
	assert_false(row->measure->is_total);
	comparison_end(&c);
}

/* Names of groups choose among what has names: of the host only what was asked for is left. */
TEST(the_host_and_chosen_groups)
{
	struct comparison c;

	comparison_begin(&c);
	count(c.before[0], COUNTERS_CPU, "cpu0", "busy_ticks", 1);
	count(c.after[0], COUNTERS_CPU, "cpu0", "busy_ticks", 2);
	count(c.before[0], COUNTERS_BLOCK, "vda", "reads", 1);
	count(c.after[0], COUNTERS_BLOCK, "vda", "reads", 3);
	c.after[0]->psi.cpu.some.avg10 = reading_of(1);
	assert_true(array_push(&c.view.match, "cpu*"));
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_HOST_COUNTERS), "");
	assert_string_equal(rows_text(&c, SECTION_HOST_PRESSURE), "");
	c.view.sections_named = true;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_HOST_COUNTERS), "cpu0.busy_ticks");
	assert_string_equal(rows_text(&c, SECTION_HOST_PRESSURE), "cpu.some.avg10");
	comparison_end(&c);
}

/* --- ticks of different lengths --- */

TEST(ticks_of_different_lengths)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 1, "a"), METRIC_utime_clock_ticks, 100);
	build_number(live(c.after[0], 1, 1, 1, "a"), METRIC_utime_clock_ticks, 1024);
	count(c.before[0], COUNTERS_CPU, "cpu0", "busy_ticks", 1);
	count(c.after[0], COUNTERS_CPU, "cpu0", "busy_ticks", 2);
	c.before[0]->host->clock_ticks_per_s = reading_of(100);
	c.after[0]->host->clock_ticks_per_s = reading_of(1024);
	comparison_run(&c);
	expect_no_delta(&c, SECTION_PRIMARY, "a", "utime_clock_ticks");
	expect_no_delta(&c, SECTION_HOST_COUNTERS, "cpu0", "busy_ticks");
	assert_int_equal(c.report->notes.count, 1);
	/* Of one length, but another than all of it is said in. */
	c.before[0]->host->clock_ticks_per_s = reading_of(1024);
	comparison_run(&c);
	assert_true(c.report->odd_ticks);
	expect_no_delta(&c, SECTION_PRIMARY, "a", "utime_clock_ticks");
	expect_no_delta(&c, SECTION_HOST_COUNTERS, "cpu0", "busy_ticks");
	assert_int_equal(c.report->notes.count, 1);
	assert_non_null(strstr(c.report->notes.items[0], "ticks"));
	c.before[0]->host->clock_ticks_per_s = c.after[0]->host->clock_ticks_per_s =
		reading_of(100);
	comparison_run(&c);
	assert_false(c.report->odd_ticks);
	expect_delta(&c, SECTION_PRIMARY, "a", "utime_clock_ticks", 924);
	assert_int_equal(c.report->notes.count, 0);
	comparison_end(&c);
}

/* Nobody has an age in them. */
TEST(ages_in_odd_ticks)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.after[0], 1, 1, SCENE_UPTIME, "a"), METRIC_wchar, 100);
	comparison_alone(&c);
	c.view.normalize = NORMALIZE_AGE;
	c.view.all_rows = true;
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_PRIMARY, "a", "wchar")->after.real, 10);
	assert_int_equal(c.report->notes.count, 0);
	c.after[0]->host->clock_ticks_per_s = reading_of(250);
	comparison_run(&c);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "a", "wchar")->after.kind, DATUM_NONE);
	assert_int_equal(c.report->notes.count, 1);
	comparison_end(&c);
}

/* Of the state of a host, only what changed. */
TEST(equal_values_of_hosts)
{
	struct comparison c;

	comparison_begin(&c);
	for (int i = 0; i < 2; i++) {
		struct ctprof_snapshot *s = i ? c.after[0] : c.before[0];

		s->sched_ext = arena_alloc(&s->arena, sizeof(*s->sched_ext));
		*s->sched_ext = (struct sched_ext){ .nr_rejected = reading_of(7),
						    .enable_seq = reading_of(i ? 4 : 3) };
		s->host->online_cpus = reading_of(8);
		s->host->numa_nodes = reading_of(i ? 2 : 1);
	}
	for (int all = 0; all < 2; all++) {
		c.view.all_rows = all;
		comparison_run(&c);
		expect_delta(&c, SECTION_SCHED_EXT, NULL, "enable_seq", 1);
		expect_delta(&c, SECTION_HOST, NULL, "numa_nodes", 1);
		assert_int_equal(!!find_row(&c, SECTION_SCHED_EXT, NULL, "nr_rejected"), all);
		assert_int_equal(!!find_row(&c, SECTION_HOST, NULL, "online_cpus"), all);
	}
	comparison_end(&c);
}

/* --- notes --- */

static void expect_notes(struct comparison *c, const char *word)
{
	comparison_run(c);
	if (!word) {
		assert_int_equal(c->report->notes.count, 0);
		return;
	}
	assert_int_equal(c->report->notes.count, 1);
	assert_non_null(strstr(c->report->notes.items[0], word));
}

TEST(notes)
{
	struct comparison c;
	struct host_context *x, *y;

	comparison_begin(&c);
	x = c.before[0]->host;
	y = c.after[0]->host;
	x->kernel_release = snapshot_name(c.before[0], TEXT("6.1"));
	expect_notes(&c, NULL); /* of the other it is not known */
	y->kernel_release = snapshot_name(c.after[0], TEXT("6.1"));
	expect_notes(&c, NULL);
	y->kernel_release = snapshot_name(c.after[0], TEXT("6.12"));
	expect_notes(&c, "different kernels (6.1, 6.12)");
	y->kernel_release = NULL;
	x->arch = snapshot_name(c.before[0], TEXT("x86_64"));
	y->arch = snapshot_name(c.after[0], TEXT("aarch64"));
	expect_notes(&c, "different architectures (x86_64, aarch64)");
	x->arch = NULL;
	c.before[0]->origin = ORIGIN_KTSTR;
	expect_notes(&c, "different tools (ktstr ctprof, ctprof)");
	c.before[0]->origin = ORIGIN_CTPROF;
	c.before[0]->capture = arena_alloc(&c.before[0]->arena, sizeof(struct capture_info));
	c.after[0]->capture = arena_alloc(&c.after[0]->arena, sizeof(struct capture_info));
	expect_notes(&c, NULL);
	c.after[0]->capture->redacted = true;
	expect_notes(&c, "redacted");
	c.after[0]->capture->redacted = false;
	c.before[0]->capture->cut_short = true;
	expect_notes(&c, "before is incomplete: timed out");
	c.before[0]->capture->cut_short = false;
	c.after[0]->capture->cut_short = true;
	expect_notes(&c, "after is incomplete");
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(pressure_of_the_host), cmocka_unit_test(every_number_of_pressure),
	   cmocka_unit_test(sched_ext), cmocka_unit_test(differences_of_hosts),
	   cmocka_unit_test(hosts_without_a_context), cmocka_unit_test(the_context_of_one_snapshot),
	   cmocka_unit_test(counters_are_joined_by_name), cmocka_unit_test(counters_of_one_side),
	   cmocka_unit_test(units_of_counters), cmocka_unit_test(load_averages),
	   cmocka_unit_test(the_host_and_chosen_groups),
	   cmocka_unit_test(ticks_of_different_lengths), cmocka_unit_test(ages_in_odd_ticks),
	   cmocka_unit_test(equal_values_of_hosts), cmocka_unit_test(notes))
