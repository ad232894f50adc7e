/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of processes by kind, from smaps_rollup: that of a process counts in the group of its
 * leader.
 */
#include "compare/merge.h"
#include "compare/report_fill.h"

#define KIB 1024

static bool add_process(struct report *report, struct merges *merges, const struct counts *sizes,
			const struct name *label, enum merge_side side)
{
	if (!view_matches(report->view, label))
		return true;
	if (!merges_member(merges, label, side))
		return false;
	for (size_t i = 0; i < sizes->count; i++) {
		struct measure *measure = report_measure(report, SECTION_SMAPS_ROLLUP,
							 name_text(sizes->items[i].key));
		struct reading bytes = reading_of(sizes->items[i].value);

		if (!measure)
			return false;
		measure->unit = UNIT_BYTES;
		if (__builtin_mul_overflow(bytes.value, KIB, &bytes.value))
			bytes.value = UINT64_MAX;
		if (!merges_add(merges, label, measure, side, MERGE_SUM, bytes))
			return false;
	}
	return true;
}

static bool add_side(struct report *report, struct merges *merges, const struct ctprof_snapshot *s,
		     const uint32_t *keys, enum merge_side side)
{
	for (size_t i = 0; s && i < s->threads.count; i++) {
		const struct counts *sizes = snapshot_thread(s, i)->smaps_rollup_kib;

		if (sizes && keys[i] != NO_KEY &&
		    !add_process(report, merges, sizes, report->sides->keys.items[keys[i]].label,
				 side))
			return false;
	}
	return true;
}

struct error *report_fill_processes(struct report *report)
{
	struct merges merges = { 0 };
	struct measure *resident;
	bool done;

	if (!report_has(report, SECTION_SMAPS_ROLLUP))
		return NULL;
	resident = report_measure(report, SECTION_SMAPS_ROLLUP, TEXT("Rss"));
	done = resident &&
	       add_side(report, &merges, report->baseline, report->baseline_keys, MERGE_BEFORE) &&
	       add_side(report, &merges, report->candidate, report->candidate_keys, MERGE_AFTER) &&
	       merges_rows(&merges, report, resident);
	merges_deinit(&merges);
	return done ? NULL : &error_no_memory;
}
