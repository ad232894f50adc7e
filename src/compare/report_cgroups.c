/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of cgroups: statistics, limits, memory.stat, memory.events, pressure. They are in the
 * report if threads are grouped by cgroup, under the same names.
 */
#include "compare/merge.h"
#include "compare/psi_rows.h"
#include "compare/report_fill.h"

/* The values of a cgroup. The merge rules depend on whether limits and protections can be unset
 * (Documentation/admin-guide/cgroup-v2.rst). */
static const struct {
	enum section section;
	const char *name;
	enum unit unit;
	bool is_total, is_signed;
	enum merge merge;
	size_t offset;
} numbers[] = {
#define AT(member) offsetof(struct cgroup_counters, member)
	{ SECTION_CGROUP_STATS, "cpu.usage", UNIT_US, true, false, MERGE_SUM, AT(cpu.usage_usec) },
	{ SECTION_CGROUP_STATS, "cpu.nr_throttled", UNIT_COUNT, true, false, MERGE_SUM,
	  AT(cpu.nr_throttled) },
	{ SECTION_CGROUP_STATS, "cpu.throttled", UNIT_US, true, false, MERGE_SUM,
	  AT(cpu.throttled_usec) },
	{ SECTION_CGROUP_STATS, "memory.current", UNIT_BYTES, false, false, MERGE_MAX,
	  AT(memory.current) },
	{ SECTION_CGROUP_STATS, "memory.peak", UNIT_BYTES, false, false, MERGE_MAX,
	  AT(memory.peak) },
	{ SECTION_CGROUP_STATS, "memory.swap.current", UNIT_BYTES, false, false, MERGE_MAX,
	  AT(memory.swap.current) },
	{ SECTION_CGROUP_STATS, "memory.swap.peak", UNIT_BYTES, false, false, MERGE_MAX,
	  AT(memory.swap.peak) },
	{ SECTION_CGROUP_STATS, "pids.current", UNIT_COUNT, false, false, MERGE_SUM,
	  AT(pids.current) },
	{ SECTION_CGROUP_STATS, "io.rbytes", UNIT_BYTES, true, false, MERGE_SUM, AT(io.rbytes) },
	{ SECTION_CGROUP_STATS, "io.wbytes", UNIT_BYTES, true, false, MERGE_SUM, AT(io.wbytes) },
	{ SECTION_CGROUP_STATS, "io.rios", UNIT_COUNT, true, false, MERGE_SUM, AT(io.rios) },
	{ SECTION_CGROUP_STATS, "io.wios", UNIT_COUNT, true, false, MERGE_SUM, AT(io.wios) },
	{ SECTION_CGROUP_STATS, "io.dbytes", UNIT_BYTES, true, false, MERGE_SUM, AT(io.dbytes) },
	{ SECTION_CGROUP_STATS, "io.dios", UNIT_COUNT, true, false, MERGE_SUM, AT(io.dios) },
	{ SECTION_CGROUP_LIMITS, "cpu.max.quota", UNIT_US, false, false, MERGE_LIMIT,
	  AT(cpu.max_quota_us) },
	{ SECTION_CGROUP_LIMITS, "cpu.max.period", UNIT_US, false, false, MERGE_MAX,
	  AT(cpu.max_period_us) },
	{ SECTION_CGROUP_LIMITS, "cpu.weight", UNIT_COUNT, false, false, MERGE_LIMIT,
	  AT(cpu.weight) },
	{ SECTION_CGROUP_LIMITS, "cpu.weight.nice", UNIT_NONE, false, true, MERGE_LIMIT,
	  AT(cpu.weight_nice) },
	{ SECTION_CGROUP_LIMITS, "memory.max", UNIT_BYTES, false, false, MERGE_LIMIT,
	  AT(memory.max) },
	{ SECTION_CGROUP_LIMITS, "memory.high", UNIT_BYTES, false, false, MERGE_LIMIT,
	  AT(memory.high) },
	{ SECTION_CGROUP_LIMITS, "memory.low", UNIT_BYTES, false, false, MERGE_FLOOR,
	  AT(memory.low) },
	{ SECTION_CGROUP_LIMITS, "memory.min", UNIT_BYTES, false, false, MERGE_FLOOR,
	  AT(memory.min) },
	{ SECTION_CGROUP_LIMITS, "memory.swap.max", UNIT_BYTES, false, false, MERGE_LIMIT,
	  AT(memory.swap.max) },
	{ SECTION_CGROUP_LIMITS, "pids.max", UNIT_COUNT, false, false, MERGE_LIMIT, AT(pids.max) },
#undef AT
};

struct fill {
	struct report *report;
	struct merges merges[SECTION_COUNT];
	const struct name *label; /* of the cgroup being taken */
	enum merge_side side;
};

static bool add_measure(struct fill *fill, const struct measure *measure, enum merge merge,
			struct reading reading)
{
	return merges_add(&fill->merges[measure->section], fill->label, measure, fill->side, merge,
			  reading);
}

/* A protection of "max" is the largest number there is; it must not look like a size. */
static struct reading with_limit(struct reading reading, enum section section)
{
	if (section == SECTION_CGROUP_LIMITS && reading.value == UINT64_MAX)
		reading.unlimited = true;
	return reading;
}

static bool add_numbers(struct fill *fill, const struct cgroup_counters *cgroup)
{
	for (size_t i = 0; i < array_length(numbers); i++) {
		struct reading reading =
			*(const struct reading *)(const void *)((const char *)cgroup +
								numbers[i].offset);
		struct measure *measure;

		if (!report_has(fill->report, numbers[i].section))
			continue;
		measure =
			report_measure(fill->report, numbers[i].section, text_of(numbers[i].name));
		if (!measure)
			return false;
		measure->unit = numbers[i].unit;
		measure->is_total = numbers[i].is_total;
		measure->is_signed = numbers[i].is_signed;
		if (!add_measure(fill, measure, numbers[i].merge,
				 with_limit(reading, numbers[i].section)))
			return false;
	}
	return true;
}

/* Values of memory.stat in bytes, as of now; all else in it counts events since the cgroup was made
 * (mm/memcontrol.c, memory_stats[]). */
static bool is_size(struct text key)
{
	static const char *const names[] = {
		"anon",
		"file",
		"kernel",
		"kernel_stack",
		"pagetables",
		"sec_pagetables",
		"percpu",
		"sock",
		"vmalloc",
		"shmem",
		"zswap",
		"zswapped",
		"file_mapped",
		"file_dirty",
		"file_writeback",
		"swapcached",
		"unevictable",
		"slab",
		"slab_reclaimable",
		"slab_unreclaimable",
		"hugetlb",
	};

	for (size_t i = 0; i < array_length(names); i++)
		if (text_equal(key, text_of(names[i])))
			return true;
	return text_ends(key, TEXT("_thp")) || text_starts(key, TEXT("inactive_")) ||
	       text_starts(key, TEXT("active_"));
}

static bool take_counts(struct fill *fill, enum section section, const struct counts *counts)
{
	for (size_t i = 0; report_has(fill->report, section) && i < counts->count; i++) {
		struct text key = name_text(counts->items[i].key);
		struct measure *measure = report_measure(fill->report, section, key);
		bool size = section == SECTION_MEMORY_STAT && is_size(key);

		if (!measure)
			return false;
		measure->unit = size ? UNIT_BYTES : UNIT_COUNT;
		measure->is_total = !size;
		if (!add_measure(fill, measure, size ? MERGE_MAX : MERGE_SUM,
				 reading_of(counts->items[i].value)))
			return false;
	}
	return true;
}

static bool take_pressure(void *context, const struct measure *measure, bool is_total,
			  struct reading reading)
{
	return add_measure(context, measure, is_total ? MERGE_SUM : MERGE_MAX, reading);
}

static bool add_cgroup(struct fill *fill, const struct cgroup_counters *cgroup)
{
	for (enum section i = SECTION_CGROUP_STATS; i <= SECTION_PRESSURE; i++)
		if (!merges_member(&fill->merges[i], fill->label, fill->side))
			return false;
	return add_numbers(fill, cgroup) &&
	       take_counts(fill, SECTION_MEMORY_STAT, &cgroup->memory.stat) &&
	       take_counts(fill, SECTION_MEMORY_EVENTS, &cgroup->memory.events) &&
	       (!report_has(fill->report, SECTION_PRESSURE) ||
		psi_each(fill->report, SECTION_PRESSURE, &cgroup->psi, take_pressure, fill));
}

static bool add_side(struct fill *fill, const struct ctprof_snapshot *s, enum merge_side side)
{
	fill->side = side;
	for (size_t i = 0; s && i < s->cgroups.count; i++) {
		const struct cgroup_counters *cgroup = &s->cgroups.items[i];

		fill->label = cgroup_names_of(&fill->report->sides->keys.cgroups, cgroup->path);
		if (view_matches(fill->report->view, fill->label) && !add_cgroup(fill, cgroup))
			return false;
	}
	return true;
}

static bool is_any_section_wanted(const struct report *report)
{
	bool any = false;

	for (enum section i = SECTION_CGROUP_STATS; i <= SECTION_PRESSURE; i++)
		any |= report_has(report, i);
	return any;
}

struct error *report_fill_cgroups(struct report *report)
{
	struct fill fill = { .report = report };
	bool done;

	if (!is_any_section_wanted(report))
		return NULL;
	done = add_side(&fill, report->baseline, MERGE_BEFORE) &&
	       add_side(&fill, report->candidate, MERGE_AFTER);
	for (enum section i = SECTION_CGROUP_STATS; i <= SECTION_PRESSURE; i++) {
		done = done && merges_rows(&fill.merges[i], report, NULL);
		merges_deinit(&fill.merges[i]);
	}
	return done ? NULL : &error_no_memory;
}
