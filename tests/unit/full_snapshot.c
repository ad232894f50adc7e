/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/full_snapshot.h"

#include <stdio.h>

#include "unit/build.h"

/* --- a snapshot in which everything has a value of its own --- */

static const struct name *name_in(struct ctprof_snapshot *s, const char *text)
{
	const struct name *name = snapshot_name(s, text_of(text));

	assert_non_null(name);
	return name;
}

/* A structure of readings and nothing else, as an array of them. */
#define fill_readings(object, seed)                        \
	fill_readings_((struct reading *)(void *)(object), \
		       sizeof(*(object)) / sizeof(struct reading), seed)

static void fill_readings_(struct reading *readings, size_t count, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		readings[i] = (struct reading){ 0 };
		if (next_random(seed) & 1)
			readings[i] =
				reading_of(next_random(seed) & 7 ? next_random(seed) : UINT64_MAX);
	}
}

/* Summaries are all measured or not there. */
#define fill_measured(object, seed)                                                        \
	do {                                                                               \
		fill_readings(object, seed);                                               \
		for (size_t i_ = 0; i_ < sizeof(*(object)) / sizeof(struct reading); i_++) \
			((struct reading *)(void *)(object))[i_].measured = true;          \
	} while (0)

static void fill_value(struct ctprof_snapshot *s, struct ctprof_thread *t, enum metric_id id,
		       uint64_t *seed)
{
	static const char *const labels[] = { "SCHED_OTHER", "SCHED_RR", "with \"quotes\"\n\x01" };
	static const char *const lists[] = { "0-3", "1,5,262143", "7" };
	uint64_t random = next_random(seed);

	switch (metrics[id].type) {
	case VALUE_label:
		build_label(s, t, id, labels[random % 3]);
		break;
	case VALUE_cpu_set:
		build_cpus(s, t, lists[random % 3]);
		break;
	case VALUE_letter:
		build_number(t, id, 'A' + random % 26);
		break;
	case VALUE_flag:
		build_number(t, id, random & 1);
		break;
	case VALUE_ordinal_i32:
		build_signed(t, id, (int32_t)random);
		break;
	case VALUE_ordinal_u32:
		build_number(t, id, (uint32_t)random);
		break;
	default:
		build_number(t, id, random & 7 ? random : UINT64_MAX);
	}
}

/* Every measured bit on or off by chance. */
static void fill_thread(struct ctprof_snapshot *s, struct ctprof_thread *t, uint64_t *seed)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		if (id != METRIC_thread_count && next_random(seed) & 1)
			fill_value(s, t, id, seed);
	}
	if (next_random(seed) & 1)
		metric_set_remove(&t->record.measured, METRIC_thread_count);
	if (next_random(seed) & 1)
		t->start_time_clock_ticks = reading_of(next_random(seed));
	if (next_random(seed) & 1) {
		t->smaps_rollup_kib = arena_alloc(&s->arena, sizeof(*t->smaps_rollup_kib));
		assert_true(counts_add(s, t->smaps_rollup_kib, TEXT("Rss"), next_random(seed)));
		assert_true(counts_add(s, t->smaps_rollup_kib, TEXT("Pss_Dirty"), 0));
	}
}

static void fill_cgroup(struct ctprof_snapshot *s, struct cgroup_counters *c, uint64_t *seed)
{
	fill_readings(&c->cpu, seed);
	fill_readings_(&c->memory.current, 9, seed);
	fill_readings(&c->pids, seed);
	fill_readings(&c->io, seed);
	fill_readings(&c->psi, seed);
	if (c->cpu.weight_nice.measured)
		c->cpu.weight_nice = reading_of((uint64_t)-20);
	if (next_random(seed) & 1)
		c->memory.max = c->memory.swap.max = c->pids.max = c->cpu.max_quota_us =
			(struct reading){ .measured = true, .unlimited = true };
	assert_true(counts_add(s, &c->memory.stat, TEXT("anon"), next_random(seed)));
	assert_true(counts_add(s, &c->memory.stat, TEXT("file"), UINT64_MAX));
	assert_true(counts_add(s, &c->memory.events, TEXT("oom"), 0));
}

static void *room(struct ctprof_snapshot *s, size_t size)
{
	void *memory = arena_alloc(&s->arena, size);

	assert_non_null(memory);
	return memory;
}

static void fill_host(struct ctprof_snapshot *s, uint64_t *seed)
{
	struct host_context *h = s->host = room(s, sizeof(*h));

	h->cpu_model = name_in(s, "Some CPU @ 2.00GHz");
	h->cpu_vendor = name_in(s, "GenuineSomething");
	fill_readings_(&h->total_memory_kib, 4, seed);
	h->thp_enabled = name_in(s, "always [madvise] never");
	h->thp_defrag = NULL;
	assert_true(
		label_pairs_add(s, &h->sched_tunables, TEXT("sched_rr_timeslice_ms"), TEXT("100")));
	fill_readings_(&h->online_cpus, 2, seed);
	assert_true(label_pairs_add(s, &h->cpufreq_governor, TEXT("0"), TEXT("performance")));
	assert_true(label_pairs_add(s, &h->cpufreq_governor, TEXT("10"), TEXT("powersave")));
	h->kernel_name = name_in(s, "Linux");
	h->kernel_release = name_in(s, "6.1.0");
	h->arch = name_in(s, "x86_64");
	h->kernel_cmdline = name_in(s, "quiet ro");
	h->boot_id = name_in(s, "0-1-2");
	h->boot_time_unix_s = reading_of(1700000000);
	h->uptime_clock_ticks = reading_of(UINT64_MAX);
	h->clock_ticks_per_s = (struct reading){ 0 };
}

static void fill_counters(struct ctprof_snapshot *s, uint64_t *seed)
{
	static const struct {
		enum counter_kind kind;
		const char *name;
	} sets[] = {
		{ COUNTERS_KERNEL, "" },  { COUNTERS_CPU, "cpu2" }, { COUNTERS_CPU, "cpu10" },
		{ COUNTERS_VMSTAT, "" },  { COUNTERS_NET, "lo" },   { COUNTERS_NET, "a \"b\"\n" },
		{ COUNTERS_NET, "cpu2" },
	};

	for (size_t i = 0; i < array_length(sets); i++) {
		struct counter_set *set =
			snapshot_add_counters(s, sets[i].kind, text_of(sets[i].name));

		assert_non_null(set);
		/* one that is empty is there all the same */
		for (size_t n = i; n; n--) {
			char key[16];

			snprintf(key, sizeof(key), "key%zu", n);
			assert_true(counts_add(s, &set->counts, text_of(key),
					       n & 1 ? next_random(seed) : UINT64_MAX));
		}
	}
	assert_true(label_pairs_add(s, &s->users, TEXT("0"), TEXT("root")));
	assert_true(label_pairs_add(s, &s->users, TEXT("1000"), TEXT("with \"quotes\"")));
}

static void fill_summaries(struct ctprof_snapshot *s, uint64_t *seed)
{
	s->probe_summary = room(s, sizeof(*s->probe_summary));
	s->parse_summary = room(s, sizeof(*s->parse_summary));
	s->taskstats_summary = room(s, sizeof(*s->taskstats_summary));
	s->capture = room(s, sizeof(*s->capture));
	fill_measured((struct reading(*)[4])(void *)s->probe_summary, seed);
	s->probe_summary->dominant_failure = name_in(s, "ptrace-seize");
	s->probe_summary->privilege_dominant = true;
	s->parse_summary->tids_walked = reading_of(5);
	s->parse_summary->read_failures = reading_of(6);
	s->parse_summary->negative_dotted_values = reading_of(7);
	assert_true(counts_add(s, &s->parse_summary->read_failures_by_file, TEXT("io"), 6));
	fill_measured(s->taskstats_summary, seed);
	fill_readings_(&s->capture->duration_ns, 4, seed);
	assert_true(counts_add(s, &s->capture->denied, TEXT("exe"), 3));
	assert_true(counts_add(s, &s->capture->failed, TEXT("host"), 1));
	assert_true(counts_add(s, &s->capture->failed, TEXT("sched"), 7));
	s->capture->delay_accounting = name_in(s, "runtime");
	s->capture->irq_accounting = true;
	s->capture->cut_short = true;
	s->capture->taskstats_version = reading_of(16);
	s->capture->states_engine = name_in(s, "exact");
	s->capture->states_begun_ns = reading_of(1);
	s->capture->states_at_ns = reading_of(UINT64_MAX);
	s->capture->states_at_unix_ns = reading_of(2);
}

struct ctprof_snapshot *full_snapshot(uint64_t seed, size_t threads)
{
	struct ctprof_snapshot *s = build_snapshot();

	s->captured_at_unix_ns = reading_of(UINT64_MAX);
	s->version = name_in(s, "0.0.0-test");
	s->note = name_in(s, "before \"the\" change");
	for (size_t i = 0; i < threads; i++)
		fill_thread(s,
			    build_thread(s, (uint32_t)(i / 3 + 1), (uint32_t)(i + 1),
					 "p \"q\"\\\x1b", "a) S\n\x7f",
					 "/user.slice/\xc3\xa4 (deleted)"),
			    &seed);
	for (uint32_t i = 0; i < 3; i++) {
		struct process p = { .tgid = i + 1, .exe = name_in(s, "/bin/p") };

		fill_readings_(&p.ppid, 2, &seed);
		p.cmdline = i ? name_in(s, "p --flag \"x\"") : NULL;
		assert_true(array_push(&s->processes, p));
		assert_true(array_push(
			&s->cgroups,
			(struct cgroup_counters){ .path = name_in(s, i == 0   ? "/"
								     : i == 1 ? "/a"
									      : "/a/b") }));
		fill_cgroup(s, &s->cgroups.items[i], &seed);
	}
	fill_host(s, &seed);
	fill_counters(s, &seed);
	fill_summaries(s, &seed);
	fill_readings(&s->psi, &seed);
	s->sched_ext = room(s, sizeof(*s->sched_ext));
	s->sched_ext->state = name_in(s, "enabled");
	fill_readings_(&s->sched_ext->switch_all, 4, &seed);
	return s;
}

/* --- are two the same? --- */

static void same_name(const struct name *a, const struct name *b)
{
	assert_int_equal(name_compare(a, b), 0);
}

#define same_readings(a, b)                                       \
	same_readings_((const struct reading *)(const void *)(a), \
		       (const struct reading *)(const void *)(b), \
		       sizeof(*(a)) / sizeof(struct reading))

static void same_readings_(const struct reading *a, const struct reading *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(a[i].measured, b[i].measured);
		assert_int_equal(a[i].unlimited, b[i].unlimited);
		if (a[i].measured)
			assert_int_equal(a[i].value, b[i].value);
	}
}

static void same_counts(const struct counts *a, const struct counts *b)
{
	assert_int_equal(a->measured, b->measured);
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		same_name(a->items[i].key, b->items[i].key);
		assert_int_equal(a->items[i].value, b->items[i].value);
	}
}

static void same_pairs(const struct label_pairs *a, const struct label_pairs *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		same_name(a->items[i].key, b->items[i].key);
		same_name(a->items[i].value, b->items[i].value);
	}
}

void expect_same_thread(const struct ctprof_thread *a, const struct ctprof_thread *b)
{
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->tgid, b->tgid);
	same_name(a->pcomm, b->pcomm);
	same_name(a->comm, b->comm);
	same_name(a->cgroup, b->cgroup);
	same_readings(&a->start_time_clock_ticks, &b->start_time_clock_ticks);
	assert_int_equal(!a->smaps_rollup_kib, !b->smaps_rollup_kib);
	if (a->smaps_rollup_kib)
		same_counts(a->smaps_rollup_kib, b->smaps_rollup_kib);
	assert_memory_equal(&a->record.measured, &b->record.measured, sizeof(a->record.measured));
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		if (!is_measured(a, id))
			continue;
		same_name(metric_load_name(&a->record.values, &metrics[id]),
			  metric_load_name(&b->record.values, &metrics[id]));
		assert_int_equal(metric_load_u64(&a->record.values, &metrics[id]),
				 metric_load_u64(&b->record.values, &metrics[id]));
	}
}

static void same_cgroup(const struct cgroup_counters *a, const struct cgroup_counters *b)
{
	same_name(a->path, b->path);
	same_readings(&a->cpu, &b->cpu);
	same_readings_(&a->memory.current, &b->memory.current, 9);
	same_counts(&a->memory.stat, &b->memory.stat);
	same_counts(&a->memory.events, &b->memory.events);
	same_readings(&a->pids, &b->pids);
	same_readings(&a->io, &b->io);
	same_readings(&a->psi, &b->psi);
}

static void same_host(const struct host_context *a, const struct host_context *b)
{
	same_name(a->cpu_model, b->cpu_model);
	same_name(a->cpu_vendor, b->cpu_vendor);
	same_readings_(&a->total_memory_kib, &b->total_memory_kib, 4);
	same_name(a->thp_enabled, b->thp_enabled);
	same_name(a->thp_defrag, b->thp_defrag);
	same_pairs(&a->sched_tunables, &b->sched_tunables);
	same_readings_(&a->online_cpus, &b->online_cpus, 2);
	same_pairs(&a->cpufreq_governor, &b->cpufreq_governor);
	same_name(a->kernel_name, b->kernel_name);
	same_name(a->kernel_release, b->kernel_release);
	same_name(a->arch, b->arch);
	same_name(a->kernel_cmdline, b->kernel_cmdline);
	same_name(a->boot_id, b->boot_id);
	same_readings(&a->boot_time_unix_s, &b->boot_time_unix_s);
	same_readings(&a->uptime_clock_ticks, &b->uptime_clock_ticks);
	same_readings(&a->clock_ticks_per_s, &b->clock_ticks_per_s);
}

static void same_counters(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b)
{
	assert_int_equal(a->counters.count, b->counters.count);
	for (size_t i = 0; i < a->counters.count; i++) {
		assert_int_equal(a->counters.items[i].kind, b->counters.items[i].kind);
		same_name(a->counters.items[i].name, b->counters.items[i].name);
		same_counts(&a->counters.items[i].counts, &b->counters.items[i].counts);
	}
	assert_int_equal(a->users.measured, b->users.measured);
	same_pairs(&a->users, &b->users);
}

static void same_summaries(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b)
{
	same_readings_(&a->probe_summary->tgids_walked, &b->probe_summary->tgids_walked, 4);
	same_name(a->probe_summary->dominant_failure, b->probe_summary->dominant_failure);
	assert_true(b->probe_summary->privilege_dominant);
	same_readings_(&a->parse_summary->tids_walked, &b->parse_summary->tids_walked, 2);
	same_counts(&a->parse_summary->read_failures_by_file,
		    &b->parse_summary->read_failures_by_file);
	same_name(a->parse_summary->dominant_read_failure, b->parse_summary->dominant_read_failure);
	assert_false(b->parse_summary->kernel_config_dominant);
	same_readings(&a->parse_summary->negative_dotted_values,
		      &b->parse_summary->negative_dotted_values);
	same_readings(a->taskstats_summary, b->taskstats_summary);
	same_readings_(&a->capture->duration_ns, &b->capture->duration_ns, 4);
	same_counts(&a->capture->denied, &b->capture->denied);
	same_counts(&a->capture->failed, &b->capture->failed);
	same_name(a->capture->delay_accounting, b->capture->delay_accounting);
	assert_true(b->capture->irq_accounting);
	assert_true(b->capture->cut_short);
	assert_false(b->capture->redacted);
	same_readings_(&a->capture->taskstats_version, &b->capture->taskstats_version, 2);
	same_name(a->capture->states_engine, b->capture->states_engine);
	same_readings_(&a->capture->states_begun_ns, &b->capture->states_begun_ns, 3);
}

void expect_same_snapshot(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b)
{
	assert_int_equal(b->origin, ORIGIN_CTPROF);
	assert_int_equal(b->remarks.count, 0);
	same_readings(&a->captured_at_unix_ns, &b->captured_at_unix_ns);
	same_name(a->version, b->version);
	same_name(a->note, b->note);
	assert_int_equal(a->threads.count, b->threads.count);
	for (size_t i = 0; i < a->threads.count; i++)
		expect_same_thread(snapshot_thread(a, i), snapshot_thread(b, i));
	assert_int_equal(a->processes.count, b->processes.count);
	for (size_t i = 0; i < a->processes.count; i++) {
		assert_int_equal(a->processes.items[i].tgid, b->processes.items[i].tgid);
		same_readings_(&a->processes.items[i].ppid, &b->processes.items[i].ppid, 2);
		same_name(a->processes.items[i].exe, b->processes.items[i].exe);
		same_name(a->processes.items[i].cmdline, b->processes.items[i].cmdline);
	}
	assert_int_equal(a->cgroups.count, b->cgroups.count);
	for (size_t i = 0; i < a->cgroups.count; i++)
		same_cgroup(&a->cgroups.items[i], &b->cgroups.items[i]);
	same_host(a->host, b->host);
	same_counters(a, b);
	same_summaries(a, b);
	same_readings(&a->psi, &b->psi);
	same_name(a->sched_ext->state, b->sched_ext->state);
	same_readings_(&a->sched_ext->switch_all, &b->sched_ext->switch_all, 4);
}
