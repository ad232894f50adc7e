/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "kstats/bpf_recorder.h"

static const struct kstats_recorder *const recorders[] = { &kstats_bpf, &kstats_module };

/* A metric that the last reading had. */
struct watched {
	const struct kstats_recorder *recorder;
	struct kstats_table *last; /* its values then, all rows merged into one */
	bool is_seen;              /* the current reading has it, too */
};

struct kstats_watch {
	const char *pattern;
	uint64_t created_unix_ns;
	uint64_t due_ns; /* CLOCK_MONOTONIC: no reading before this time */
	size_t omitted;  /* by the last reading */
	struct {
		ARRAY(struct watched);
	} all;
};

/* The reading in progress. */
struct watch_reading {
	struct kstats_watch *watch;
	struct kstats_changes *into;
	const struct kstats_recorder *recorder;
};

struct error *kstats_watch_create(const char *pattern, struct kstats_watch **ret)
{
	struct kstats_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return &error_no_memory;
	watch->pattern = pattern;
	watch->created_unix_ns = clock_ns(CLOCK_REALTIME);
	*ret = watch;
	return NULL;
}

void kstats_watch_destroy(struct kstats_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->all.count; i++)
		kstats_table_destroy(watch->all.items[i].last);
	array_deinit(&watch->all);
	free(watch);
}

void kstats_changes_clear(struct kstats_changes *changes)
{
	kstats_tables_clear(&changes->tables);
	changes->omitted = 0;
}

/* --- a metric --- */

static void free_rows(struct kstats_table *table)
{
	for (size_t i = 0; i < table->rows.count; i++) {
		free(table->rows.items[i].label);
		free(table->rows.items[i].slots);
	}
	table->rows.count = 0;
}

static struct error *put_rows_together(struct kstats_table *table)
{
	_cleanup_(kstats_distribution_clear) struct kstats_distribution all = { 0 };
	struct kstats_row *row;
	struct error *err = kstats_distribution_of(table, NULL, &all);

	if (err)
		return err;
	free_rows(table);
	table->by = KSTATS_BY_CPU;
	if (!all.count)
		return NULL;
	err = kstats_table_row(table, 0, NULL, &row);
	if (!err)
		memcpy(row->slots, all.slots,
		       BUCKET_SLOTS(all.frac_bits) * sizeof(struct kstats_slot));
	return err;
}

static struct watched *find(const struct watch_reading *r, const char *name)
{
	for (size_t i = 0; i < r->watch->all.count; i++) {
		struct watched *watched = &r->watch->all.items[i];

		if (watched->recorder == r->recorder && strcmp(watched->last->name, name) == 0)
			return watched;
	}
	return NULL;
}

/* If the metric was created again or reset since, the subtraction fails and leaves `now` as it is:
 * all its values are new. */
static void subtract(struct kstats_table *now, const struct kstats_table *before)
{
	error_destroy(kstats_table_subtract(now, before));
}

/* Reduce `table` to the values that are new since the last reading. A copy of all values is kept
 * for the next one. */
static struct error *take_change(const struct watch_reading *r, struct kstats_table *table)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *whole = NULL;
	struct watched *watched = find(r, table->name);
	struct error *err = put_rows_together(table);

	if (!err)
		err = kstats_table_copy_rows(table, &whole);
	if (err)
		return err;
	if (watched) {
		subtract(table, watched->last);
		kstats_table_destroy(watched->last);
	} else if (array_push(&r->watch->all, (struct watched){ .recorder = r->recorder })) {
		watched = &r->watch->all.items[r->watch->all.count - 1];
		if (table->began_ns < r->watch->created_unix_ns)
			subtract(table, whole);
	} else {
		return &error_no_memory;
	}
	watched->last = take_ptr(whole);
	watched->is_seen = true;
	return NULL;
}

/* Keep a metric that a command is changing: the next reading has its values. */
static void keep(const struct watch_reading *r, const char *name)
{
	struct watched *watched = find(r, name);

	if (watched)
		watched->is_seen = true;
}

/* --- all of them --- */

static struct error *read_metric(const struct watch_reading *r, const char *name)
{
	_cleanup_free_ char *gap = text_print(KSTATS_GAP "%s", name);
	struct kstats_tables *tables = &r->into->tables;
	const size_t before = tables->count;
	struct error *err = gap ? r->recorder->read_now(name, tables) : &error_no_memory;

	if (err == &error_no_memory)
		return err;
	if (err && err->errnum == EAGAIN) {
		keep(r, name);
		keep(r, gap);
	}
	/* After any other error, the metric was removed, or cannot be read by this version. */
	error_destroy(err);
	err = NULL;
	for (size_t i = before; !err && i < tables->count; i++)
		err = take_change(r, tables->items[i]);
	return err;
}

static bool is_wanted(const struct kstats_watch *watch, const char *name)
{
	return !watch->pattern || fnmatch(watch->pattern, name, 0) == 0;
}

static struct error *read_recorder(const struct watch_reading *r)
{
	struct kstats_names names = { 0 };
	struct error *err = r->recorder->names(&names);

	/* Without privileges, or without the recorder, there are no metrics. */
	if (err && err != &error_no_memory) {
		error_destroy(err);
		err = NULL;
	}
	for (size_t i = 0; !err && i < names.count; i++) {
		if (!is_wanted(r->watch, names.items[i]))
			continue;
		/* A metric may come with a second one, its GAP metric. */
		if (r->into->tables.count + 1 < KSTATS_WATCH_MOST)
			err = read_metric(r, names.items[i]);
		else
			r->watch->omitted++;
	}
	kstats_names_clear(&names);
	return err;
}

static void forget_removed(struct kstats_watch *watch)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->all.count; i++) {
		struct watched watched = watch->all.items[i];

		if (!watched.is_seen) {
			kstats_table_destroy(watched.last);
			continue;
		}
		watched.is_seen = false;
		watch->all.items[kept++] = watched;
	}
	watch->all.count = kept;
}

static struct error *read_all(struct watch_reading *r)
{
	struct error *err = NULL;

	r->watch->omitted = 0;
	for (size_t i = 0; !err && i < array_length(recorders); i++) {
		r->recorder = recorders[i];
		err = read_recorder(r);
	}
	if (!err)
		forget_removed(r->watch);
	return err;
}

struct error *kstats_watch_read(struct kstats_watch *watch, struct kstats_changes *ret)
{
	struct watch_reading reading = { .watch = watch, .into = ret };
	const uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct error *err = NULL;

	*ret = (struct kstats_changes){ 0 };
	if (clock_ns(CLOCK_MONOTONIC) >= watch->due_ns) {
		err = read_all(&reading);
		watch->due_ns = clock_ns(CLOCK_MONOTONIC) +
				(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun) * KSTATS_WATCH_SHARE;
	}
	ret->omitted = watch->omitted;
	return err;
}
