/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader must know before the numbers: what of two snapshots does not compare.
 */
#include "compare/sheet.h"

static const char *const origins[] = {
	[ORIGIN_CTPROF] = "ctprof",
	[ORIGIN_KTSTR] = "ktstr ctprof",
	[ORIGIN_HOST_STATE] = "ktstr host-state",
};

static bool differ(const struct name *x, const struct name *y)
{
	return x && y && name_compare(x, y) != 0;
}

static bool note_hosts(struct sheet *sheet)
{
	const struct host_context *x = sheet->baseline->host, *y = sheet->candidate->host;

	if (!x || !y)
		return true;
	if (differ(x->kernel_release, y->kernel_release) &&
	    !sheet_note(sheet,
			"different kernels (%s, %s): a counter that only one of them has is '-', "
			"and what moved may have moved in the kernel",
			x->kernel_release->bytes, y->kernel_release->bytes))
		return false;
	if (differ(x->arch, y->arch) &&
	    !sheet_note(sheet,
			"different architectures (%s, %s): CPU numbers and sizes of pages do not "
			"compare",
			x->arch->bytes, y->arch->bytes))
		return false;
	return !sheet->ticks_differ ||
	       sheet_note(sheet, "ticks are of different lengths: rows in ticks have no delta");
}

static bool note_files(struct sheet *sheet)
{
	const struct ctprof_snapshot *x = sheet->baseline, *y = sheet->candidate;

	if (x->origin != y->origin &&
	    !sheet_note(sheet,
			"files of different tools (%s, %s): only those of ctprof say what was "
			"measured, and zeros of the other may mean nothing",
			origins[x->origin], origins[y->origin]))
		return false;
	return !x->capture || !y->capture || x->capture->redacted == y->capture->redacted ||
	       sheet_note(sheet, "one of them is redacted: names differ");
}

static bool note_boots(struct sheet *sheet)
{
	const char *what = view_needs_one_boot(sheet->view);

	return !what || sheet->boots != BOOTS_UNKNOWN ||
	       sheet_note(sheet, "a file does not say of which boot it is: %s takes both for one",
			  what);
}

static bool note_renamed(struct sheet *sheet)
{
	return !sheet->sides->renamed.not_looked_at ||
	       sheet_note(sheet, "renamed cgroups were sought among the %d with most in them only",
			  RENAMED_CGROUPS_MOST);
}

static bool note_normalize(struct sheet *sheet)
{
	const struct host_context *x = sheet->baseline ? sheet->baseline->host : NULL;
	const struct host_context *y = sheet->candidate->host;

	if (sheet->view->normalize != NORMALIZE_AGE)
		return true;
	return (y && y->uptime_clock_ticks.measured &&
		(!sheet->comparing || (x && x->uptime_clock_ticks.measured))) ||
	       sheet_note(sheet, "a file does not say how long its host was up: ages are counted "
				 "to the birth of its youngest thread");
}

struct error *sheet_fill_notes(struct sheet *sheet)
{
	bool done = note_normalize(sheet);

	if (sheet->comparing)
		done = done && note_boots(sheet) && note_hosts(sheet) && note_files(sheet) &&
		       note_renamed(sheet);
	return done ? NULL : &error_no_memory;
}
