/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: keeping metrics in files, and making one of several.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/kstats.h"
#include "report/visible.h"

struct error *kstats_save(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables tables = { 0 };
	struct error *err = *words ? NULL : kstats_gather_all(&search, &tables, ret_status);

	for (; !err && *words; words++)
		err = kstats_gather(&search, *words, &tables);
	if (!err && !tables.count)
		err = error_create("no metrics to save");
	if (!err)
		err = kstats_file_save(arguments->output, &tables);
	kstats_tables_clear(&tables);
	return err;
}

/* Is it the same reading: of the same host and time? */
static bool is_same_reading(const struct kstats_table *a, const struct kstats_table *b)
{
	return a->taken_ns && a->taken_ns == b->taken_ns && strcmp(a->name, b->name) == 0 &&
	       strings_equal(a->instance, b->instance) && strings_equal(a->host, b->host);
}

/* This may be intended; more often a file was named twice. */
static void warn_of_same(const struct kstats_tables *tables)
{
	for (size_t i = 1; i < tables->count; i++)
		for (size_t k = 0; k < i; k++) {
			_cleanup_free_ char *name = NULL;

			if (!is_same_reading(tables->items[k], tables->items[i]))
				continue;
			name = text_visible(text_of(tables->items[i]->name));
			fprintf(stderr,
				"ctprof: %s: both files contain the same reading of the same host; "
				"its values count twice\n",
				name ? name : "?");
			break;
		}
}

static void warn_of_filters(const struct kstats_table *a, const struct kstats_table *b)
{
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++) {
		const char *one = a->scope.only[i], *other = b->scope.only[i];
		_cleanup_free_ char *said = NULL;

		if (strings_equal(one, other) || strings_equal(one, KSTATS_SEVERAL))
			continue;
		said = text_print("%s: adding values recorded with different --%s: %s and %s",
				  a->name, kstats_filters[i], one ? one : "any",
				  other ? other : "any");
		if (said)
			text_make_safe(said);
		fprintf(stderr, "ctprof: %s\n", said ? said : "?");
	}
}

/* Metrics of the same name become one. */
static struct error *merge_same_names(struct kstats_tables *tables)
{
	size_t kept = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < tables->count; i++) {
		struct kstats_table *table = tables->items[i], *same = NULL;

		for (size_t k = 0; k < kept && !same; k++)
			if (strcmp(tables->items[k]->name, table->name) == 0)
				same = tables->items[k];
		if (!same || err) {
			tables->items[kept++] = table;
			continue;
		}
		warn_of_filters(same, table);
		err = kstats_table_merge(same, table);
		kstats_table_destroy(table);
	}
	tables->count = kept;
	return err;
}

struct error *kstats_merge(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables tables = { 0 };
	struct error *err = NULL;

	(void)ret_status;
	for (; !err && *words; words++)
		err = kstats_gather(&search, *words, &tables);
	if (!err) {
		warn_of_same(&tables);
		err = merge_same_names(&tables);
	}
	if (!err)
		err = kstats_file_save(arguments->output, &tables);
	kstats_tables_clear(&tables);
	return err;
}
