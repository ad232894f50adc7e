/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: keeping metrics in files, adding and subtracting them.
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

/* --- what was recorded between two readings --- */

static bool are_known_and_differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* Why the one is no earlier reading of the other. */
static struct error *check_readings(const struct kstats_table *before,
				    const struct kstats_table *after)
{
	if (!kstats_table_is_same(before, after) || strcmp(before->name, after->name) != 0 ||
	    strcmp(before->unit, after->unit) != 0 || before->by != after->by ||
	    before->frac_bits != after->frac_bits)
		return error_create("%s: the two readings are of different metrics", after->name);
	if (are_known_and_differ(before->host, after->host) ||
	    are_known_and_differ(before->boot, after->boot))
		return error_create("%s: the two readings are of different hosts or boots",
				    after->name);
	if (are_known_and_differ(before->instance, after->instance))
		return error_create("%s: the two readings are of different processes (%s and %s)",
				    after->name, before->instance, after->instance);
	return NULL;
}

static struct error *subtract_reading(struct kstats_table *after, const struct kstats_table *before)
{
	struct error *err = check_readings(before, after);

	if (err)
		return err;
	err = kstats_table_subtract(after, before);
	if (err) {
		error_destroy(err);
		return error_create("%s: the second reading lacks values of the first: it was "
				    "reset or created again meanwhile, or the two are in the "
				    "wrong order",
				    after->name);
	}
	/* It is no reading of all values any more, from which another could be subtracted. */
	after->began_ns = 0;
	return NULL;
}

/* It was made since, so all of its values are between the two. */
static bool is_since(const struct kstats_table *table, const struct kstats_tables *before)
{
	for (size_t i = 0; i < before->count; i++)
		if (table->began_ns < before->items[i]->taken_ns)
			return false;
	return true;
}

static void print_left_out(const struct kstats_table *table, const char *where)
{
	_cleanup_free_ char *title = kstats_table_title(table);
	_cleanup_free_ char *name = title ? text_visible(text_of(title)) : NULL;
	_cleanup_free_ char *place = text_visible(text_of(where));

	fprintf(stderr, "ctprof: note: %s is only in %s, and is left out\n", name ? name : "?",
		place ? place : "?");
}

/* Subtract what `before` has of it. `*ret_is_kept`: it was recorded since then. */
static struct error *take_since(struct kstats_table *table, const struct kstats_table *old,
				const struct kstats_tables *before, bool *ret_is_kept)
{
	*ret_is_kept = old || is_since(table, before);
	return old ? subtract_reading(table, old) : NULL;
}

static void keep_only(struct kstats_tables *tables, const bool *is_kept)
{
	size_t kept = 0;

	for (size_t i = 0; i < tables->count; i++)
		if (is_kept[i])
			tables->items[kept++] = tables->items[i];
		else
			kstats_table_destroy(tables->items[i]);
	tables->count = kept;
}

/* Leave in `after` what was recorded since `before`. `words` name the two. */
static struct error *subtract_all(const struct kstats_tables *before, struct kstats_tables *after,
				  char **words)
{
	_cleanup_free_ bool *is_kept = calloc(after->count + 1, sizeof(*is_kept));
	const bool are_single = before->count == 1 && after->count == 1;
	struct error *err = is_kept ? NULL : &error_no_memory;

	for (size_t i = 0; !err && i < after->count; i++) {
		struct kstats_table *table = after->items[i];

		err = take_since(table,
				 are_single ? before->items[0]
					    : kstats_tables_match(before, after, table),
				 before, &is_kept[i]);
		if (!err && !is_kept[i])
			print_left_out(table, words[1]);
	}
	if (err)
		return err;
	for (size_t i = 0; !are_single && i < before->count; i++)
		if (!kstats_tables_match(after, before, before->items[i]))
			print_left_out(before->items[i], words[0]);
	keep_only(after, is_kept);
	return after->count ? NULL : error_create("no metric is in both");
}

struct error *kstats_diff(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables before = { 0 }, after = { 0 };
	struct error *err = kstats_gather(&search, words[0], &before);

	(void)ret_status;
	if (!err)
		err = kstats_gather(&search, words[1], &after);
	if (!err)
		err = subtract_all(&before, &after, words);
	if (!err)
		err = kstats_file_save(arguments->output, &after);
	kstats_tables_clear(&before);
	kstats_tables_clear(&after);
	return err;
}
