/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of processes by kind, from smaps_rollup: processes of one name add up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/merge.h"
#include "compare/pattern.h"
#include "compare/sheet_fill.h"

#define KIB 1024

/* The pattern of the process's name, or with literal names each process by itself. */
static const struct name *label_of(struct sheet *sheet, const struct ctprof_thread *leader)
{
	struct text name = name_text(leader->pcomm);
	_cleanup_free_ char *out = malloc(PATTERN_ROOM(name.length) + 16);
	size_t length;

	if (!out)
		return NULL;
	if (sheet->view->keys.literal_threads)
		length = (size_t)sprintf(out, "%.*s[%" PRIu32 "]", (int)name.length, name.bytes,
					 leader->tgid);
	else
		length = pattern_of_name(name, out);
	return names_intern(&sheet->names, out, length);
}

static bool take_process(struct sheet *sheet, struct merges *merges,
			 const struct ctprof_thread *leader, enum merge_side side)
{
	const struct counts *sizes = leader->smaps_rollup_kib;
	const struct name *label = label_of(sheet, leader);

	if (!label)
		return false;
	if (!view_matches(sheet->view, label))
		return true;
	if (!merges_member(merges, label, side))
		return false;
	for (size_t i = 0; i < sizes->count; i++) {
		struct measure *measure =
			sheet_measure(sheet, SECTION_SMAPS_ROLLUP, name_text(sizes->items[i].key));
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

static bool take_side(struct sheet *sheet, struct merges *merges, const struct ctprof_snapshot *s,
		      enum merge_side side)
{
	for (size_t i = 0; s && i < s->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(s, i);

		if (thread->smaps_rollup_kib && !take_process(sheet, merges, thread, side))
			return false;
	}
	return true;
}

struct error *sheet_fill_processes(struct sheet *sheet)
{
	struct merges merges = { 0 };
	struct measure *resident;
	bool done;

	if (!sheet_has(sheet, SECTION_SMAPS_ROLLUP))
		return NULL;
	resident = sheet_measure(sheet, SECTION_SMAPS_ROLLUP, TEXT("Rss"));
	done = resident && take_side(sheet, &merges, sheet->baseline, MERGE_BEFORE) &&
	       take_side(sheet, &merges, sheet->candidate, MERGE_AFTER) &&
	       merges_rows(&merges, sheet, resident);
	merges_deinit(&merges);
	return done ? NULL : &error_no_memory;
}
