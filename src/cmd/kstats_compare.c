/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: what moved between two readings.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/kstats.h"
#include "report/kstats_shift_report.h"
#include "report/visible.h"

static struct error *compare_tables(struct kstats_table *before, struct kstats_table *after)
{
	struct error *err = NULL;

	if (strcmp(before->unit, after->unit) != 0)
		return error_create("%s: cannot compare values in different units", after->name);
	if (before->frac_bits > after->frac_bits)
		err = kstats_table_coarsen(before, after->frac_bits);
	else
		err = kstats_table_coarsen(after, before->frac_bits);
	return err ? err : kstats_shift_text(stdout, before, after);
}

/* Print metrics that only one side has, in one line; nothing if there are none. */
static void print_only(const char *where, const struct kstats_tables *in,
		       const struct kstats_tables *other)
{
	_cleanup_free_ char *place = text_visible(text_of(where));
	size_t count = 0;

	for (size_t i = 0; i < in->count; i++) {
		_cleanup_free_ char *title = kstats_table_title(in->items[i]);
		_cleanup_free_ char *name = title ? text_visible(text_of(title)) : NULL;

		if (kstats_tables_match(other, in, in->items[i]))
			continue;
		if (!count++)
			printf("\nonly in %s: ", place ? place : "?");
		else
			fputs(", ", stdout);
		fputs(name ? name : "?", stdout);
	}
	if (count)
		putchar('\n');
}

/* If each file has one metric, compare these, whatever their names; otherwise pair metrics by name.
 */
static struct error *compare_all(const struct kstats_tables *before,
				 const struct kstats_tables *after, char **words)
{
	bool is_first = true;
	struct error *err = NULL;

	if (before->count == 1 && after->count == 1)
		return compare_tables(before->items[0], after->items[0]);
	for (size_t i = 0; !err && i < after->count; i++) {
		struct kstats_table *old = kstats_tables_match(before, after, after->items[i]);

		if (!old)
			continue;
		if (!is_first)
			putchar('\n');
		is_first = false;
		err = compare_tables(old, after->items[i]);
	}
	if (!err && is_first)
		return error_create("no metric matches: none has the same name on both sides, or "
				    "several programs have it (combine these with kstats merge)");
	if (!err) {
		print_only(words[0], before, after);
		print_only(words[1], after, before);
	}
	return err;
}

struct error *kstats_compare(const struct kstats_arguments *arguments, char **words,
			     int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables before = { 0 }, after = { 0 };
	struct error *err = kstats_gather(&search, words[0], &before);

	(void)ret_status;
	if (!err)
		err = kstats_gather(&search, words[1], &after);
	if (!err)
		err = compare_all(&before, &after, words);
	kstats_tables_clear(&before);
	kstats_tables_clear(&after);
	return err;
}
