/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

const struct kstats_by_info kstats_bys[KSTATS_BY_COUNT] = {
#define BY_ROW(id, name, heading, prose) { name, heading, prose },
	KSTATS_BYS(BY_ROW)
#undef BY_ROW
};

const struct kstats_loss_info kstats_losses[KSTATS_LOSS_COUNT] = {
#define LOSS_ROW(name, prose) { #name, prose },
	KSTATS_LOSSES(LOSS_ROW)
#undef LOSS_ROW
};

struct error *kstats_table_create(const char *name, unsigned frac_bits, const char *unit,
				  struct kstats_table **ret)
{
	struct kstats_table *table = calloc(1, sizeof(*table));

	if (!table)
		return &error_no_memory;
	table->frac_bits = frac_bits;
	table->name = strdup(name);
	table->unit = strdup(unit);
	if (!table->name || !table->unit) {
		kstats_table_destroy(table);
		return &error_no_memory;
	}
	*ret = table;
	return NULL;
}

void kstats_table_destroy(struct kstats_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->rows.count; i++) {
		free(table->rows.items[i].label);
		free(table->rows.items[i].slots);
	}
	array_deinit(&table->rows);
	free(table->name);
	free(table->host);
	free(table->boot);
	free(table->labels);
	free(table->instance);
	free(table->unit);
	free(table->recorder);
	free(table->start);
	free(table->end);
	free(table->how);
	kstats_scope_clear(&table->scope);
	free(table);
}

char *kstats_table_title(const struct kstats_table *table)
{
	return table->instance ? text_print("%s:%s", table->instance, table->name)
			       : strdup(table->name);
}

/* --- rows --- */

static int compare_rows(const struct kstats_row *row, const struct kstats_row *with)
{
	if (row->id != with->id)
		return row->id < with->id ? -1 : 1;
	if (row->born != with->born)
		return row->born < with->born ? -1 : 1;
	return strcmp(row->label ? row->label : "", with->label ? with->label : "");
}

/* The index of a row, or the index at which it would be inserted. */
static size_t place_of(const struct kstats_table *table, const struct kstats_row *like)
{
	size_t first = 0, end = table->rows.count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare_rows(&table->rows.items[middle], like) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static struct kstats_row *row_at(const struct kstats_table *table, size_t place,
				 const struct kstats_row *like)
{
	if (place == table->rows.count || compare_rows(&table->rows.items[place], like))
		return NULL;
	return &table->rows.items[place];
}

struct error *kstats_table_row(struct kstats_table *table, uint64_t id, const char *label,
			       struct kstats_row **ret)
{
	return kstats_table_row_born(table, id, 0, label, ret);
}

struct error *kstats_table_row_born(struct kstats_table *table, uint64_t id, uint64_t born,
				    const char *label, struct kstats_row **ret)
{
	const struct kstats_row like = { .id = id,
					 .born = born,
					 .label = (char *)(uintptr_t)label };
	size_t place = place_of(table, &like);
	struct kstats_row *row = row_at(table, place, &like);
	struct kstats_row made = { .id = id, .born = born };

	if (row) {
		*ret = row;
		return NULL;
	}
	made.slots = calloc(BUCKET_SLOTS(table->frac_bits), sizeof(*made.slots));
	made.label = label ? strdup(label) : NULL;
	if (!made.slots || (label && !made.label) || !array_reserve(&table->rows, 1)) {
		free(made.slots);
		free(made.label);
		return &error_no_memory;
	}
	row = &table->rows.items[place];
	memmove(row + 1, row, (table->rows.count - place) * sizeof(*row));
	table->rows.count++;
	*row = made;
	*ret = row;
	return NULL;
}

/* --- several tables --- */

/* A slot's sum and count go to where its values belong among fewer slots. */
static void add_slot(struct kstats_slot *into, unsigned into_bits, const struct kstats_slot *from,
		     unsigned slot, unsigned from_bits)
{
	unsigned place =
		into_bits == from_bits ? slot : bucket_slot(bucket_low(slot, from_bits), into_bits);

	/* An octave of a coarser scale begins later, so it drops no fewer bits. */
	into[place].count += from->count;
	into[place].sum +=
		from->sum >> (bucket_shift(place, into_bits) - bucket_shift(slot, from_bits));
}

struct error *kstats_table_coarsen(struct kstats_table *table, unsigned frac_bits)
{
	if (frac_bits >= table->frac_bits)
		return NULL;
	for (size_t i = 0; i < table->rows.count; i++) {
		struct kstats_row *row = &table->rows.items[i];
		struct kstats_slot *fewer = calloc(BUCKET_SLOTS(frac_bits), sizeof(*fewer));

		if (!fewer)
			return &error_no_memory;
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
			add_slot(fewer, frac_bits, &row->slots[slot], slot, table->frac_bits);
		free(row->slots);
		row->slots = fewer;
	}
	table->frac_bits = frac_bits;
	return NULL;
}

uint64_t kstats_recorded_until_now(const struct kstats_recorded_time *time)
{
	const struct kstats_now now = { .monotonic_ns = clock_ns(CLOCK_MONOTONIC) };

	return time->began_ns ? kstats_recorded_ns(time, now) : 0;
}

void kstats_table_recorded(struct kstats_table *table, const struct kstats_recorded_time *time)
{
	table->began_ns = time->began_ns;
	table->recorded_ns = kstats_recorded_until_now(time);
}

double kstats_table_rate(const struct kstats_table *table)
{
	const uint64_t ns = table->window_ns ? table->window_ns : table->recorded_ns;

	return ns ? (double)kstats_table_count(table) / ((double)ns / 1e9) : (double)NAN;
}

uint64_t kstats_table_count(const struct kstats_table *table)
{
	uint64_t count = 0;

	for (size_t i = 0; i < table->rows.count; i++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
			if (__builtin_add_overflow(count, table->rows.items[i].slots[slot].count,
						   &count))
				return UINT64_MAX;
	return count;
}

static struct error *add_table_rows(struct kstats_table *into, const struct kstats_table *from)
{
	for (size_t i = 0; i < from->rows.count; i++) {
		const struct kstats_row *other = &from->rows.items[i];
		struct kstats_row *row;
		struct error *err =
			kstats_table_row_born(into, other->id, other->born, other->label, &row);

		if (err)
			return err;
		for (unsigned slot = 0; slot < BUCKET_SLOTS(from->frac_bits); slot++)
			if (other->slots[slot].count)
				add_slot(row->slots, into->frac_bits, &other->slots[slot], slot,
					 from->frac_bits);
	}
	return NULL;
}

struct error *kstats_table_copy_rows(const struct kstats_table *table, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *copy = NULL;
	struct error *err = kstats_table_create(table->name, table->frac_bits, table->unit, &copy);

	if (err)
		return err;
	copy->by = table->by;
	copy->host = table->host ? strdup(table->host) : NULL;
	copy->instance = table->instance ? strdup(table->instance) : NULL;
	if ((table->host && !copy->host) || (table->instance && !copy->instance))
		return &error_no_memory;
	memcpy(copy->losses, table->losses, sizeof(copy->losses));
	copy->earlier = table->earlier;
	copy->earlier_known = table->earlier_known;
	copy->began_ns = table->began_ns;
	copy->recorded_ns = table->recorded_ns;
	err = add_table_rows(copy, table);
	if (!err)
		*ret = take_ptr(copy);
	return err;
}

static bool is_same_place(const struct kstats_table *a, const struct kstats_table *b)
{
	return strings_equal(a->start, b->start) && strings_equal(a->end, b->end);
}

bool kstats_table_is_same(const struct kstats_table *a, const struct kstats_table *b)
{
	return is_same_place(a, b) &&
	       (!a->scope.key || !b->scope.key || strings_equal(a->scope.key, b->scope.key));
}

static struct error *check_same(const struct kstats_table *a, const struct kstats_table *b)
{
	if (!is_same_place(a, b))
		return error_create("cannot merge: %s is %s%s%s in one table and %s%s%s in the "
				    "other",
				    a->name, a->start ? a->start : "a program's own",
				    a->end ? " to " : "", a->end ? a->end : "",
				    b->start ? b->start : "a program's own", b->end ? " to " : "",
				    b->end ? b->end : "");
	if (!kstats_table_is_same(a, b))
		return error_create("cannot merge: %s has key %s in one table and %s in the other",
				    a->name, a->scope.key, b->scope.key);
	return NULL;
}

struct error *kstats_table_merge(struct kstats_table *into, const struct kstats_table *from)
{
	struct error *err = check_same(into, from);

	if (err)
		return err;

	if (strcmp(into->unit, from->unit) != 0)
		return error_create("cannot merge: values of %s are in %s, of %s in %s", into->name,
				    into->unit, from->name, from->unit);
	if (into->by != from->by)
		return error_create("cannot merge: %s is grouped by %s, %s by %s", into->name,
				    kstats_bys[into->by].name, from->name,
				    kstats_bys[from->by].name);
	if (kstats_table_count(from) > UINT64_MAX - kstats_table_count(into))
		return error_create("%s has too many values: counter overflow", into->name);
	err = kstats_table_coarsen(into, from->frac_bits);
	if (!err)
		err = add_table_rows(into, from);
	if (err)
		return err;
	kstats_agree(&into->host, from->host);
	kstats_agree(&into->boot, from->boot);
	kstats_agree(&into->labels, from->labels);
	kstats_agree(&into->instance, from->instance);
	kstats_agree(&into->recorder, from->recorder);
	kstats_agree(&into->how, from->how);
	kstats_scope_agree(&into->scope, &from->scope);
	into->losses_known &= from->losses_known;
	into->earlier_known &= from->earlier_known;
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (__builtin_add_overflow(into->losses[loss], from->losses[loss],
					   &into->losses[loss]))
			into->losses[loss] = UINT64_MAX;
	if (__builtin_add_overflow(into->earlier, from->earlier, &into->earlier))
		into->earlier = UINT64_MAX;
	/* No two trials are alike. */
	if (!from->overhead_ns || (into->overhead_ns && into->overhead_ns < from->overhead_ns))
		into->overhead_ns = from->overhead_ns;
	if (into->cpus < from->cpus)
		into->cpus = from->cpus;
	if (into->taken_ns < from->taken_ns)
		into->taken_ns = from->taken_ns;
	into->is_active |= from->is_active;
	/* Readings of several hosts or runs have no common time. */
	into->began_ns = into->recorded_ns = 0;
	return NULL;
}

/* --- what was recorded between two readings --- */

/* The row of the same number and start, if there is one only. */
static struct kstats_row *find_only_row(const struct kstats_table *table,
					const struct kstats_row *like)
{
	const struct kstats_row unnamed = { .id = like->id, .born = like->born };
	const size_t place = place_of(table, &unnamed);
	struct kstats_row *row, *end;

	if (place == table->rows.count)
		return NULL;
	row = &table->rows.items[place];
	end = &table->rows.items[table->rows.count];
	if (row->id != like->id || row->born != like->born)
		return NULL;
	return row + 1 == end || row[1].id != like->id || row[1].born != like->born ? row : NULL;
}

/* The row that an earlier row has become. Its name may have changed: processes execute programs,
 * and cgroups are renamed. In what was merged, several names have one number. */
static struct kstats_row *find_later_row(const struct kstats_table *now,
					 const struct kstats_table *before,
					 const struct kstats_row *old)
{
	struct kstats_row *row = row_at(now, place_of(now, old), old);

	if (row || !find_only_row(before, old))
		return row;
	return find_only_row(now, old);
}

static bool has_all(const struct kstats_table *now, const struct kstats_table *before)
{
	for (size_t i = 0; i < before->rows.count; i++) {
		const struct kstats_row *old = &before->rows.items[i];
		const struct kstats_row *row = find_later_row(now, before, old);

		for (unsigned slot = 0; slot < BUCKET_SLOTS(now->frac_bits); slot++)
			if ((row ? row->slots[slot].count : 0) < old->slots[slot].count)
				return false;
	}
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (now->losses[loss] < before->losses[loss])
			return false;
	return now->earlier >= before->earlier;
}

/* Of the same values, times only grow. */
static bool has_begun_again(const struct kstats_table *now, const struct kstats_table *before)
{
	if (now->began_ns && before->began_ns && now->began_ns != before->began_ns)
		return true;
	return now->recorded_ns && now->recorded_ns < before->recorded_ns;
}

static void subtract_row(struct kstats_row *now, const struct kstats_row *before, unsigned slots)
{
	for (unsigned slot = 0; slot < slots; slot++) {
		now->slots[slot].count -= before->slots[slot].count;
		/* Sums may wrap (bucket.h), and so does their difference. */
		now->slots[slot].sum -= before->slots[slot].sum;
	}
}

static bool is_empty(const struct kstats_row *row, unsigned slots)
{
	for (unsigned slot = 0; slot < slots; slot++)
		if (row->slots[slot].count)
			return false;
	return true;
}

static void subtract_rows(struct kstats_table *now, const struct kstats_table *before)
{
	const unsigned slots = BUCKET_SLOTS(now->frac_bits);
	size_t kept = 0;

	for (size_t i = 0; i < before->rows.count; i++) {
		const struct kstats_row *old = &before->rows.items[i];
		struct kstats_row *row = find_later_row(now, before, old);

		/* It may be missing if it was empty. */
		if (row)
			subtract_row(row, old, slots);
	}
	for (size_t i = 0; i < now->rows.count; i++) {
		struct kstats_row row = now->rows.items[i];

		if (!is_empty(&row, slots)) {
			now->rows.items[kept++] = row;
		} else {
			free(row.label);
			free(row.slots);
		}
	}
	now->rows.count = kept;
}

struct error *kstats_table_subtract(struct kstats_table *now, const struct kstats_table *before)
{
	if (now->frac_bits != before->frac_bits || now->by != before->by)
		return error_create("%s was recreated meanwhile", now->name);
	if (!has_all(now, before) || has_begun_again(now, before))
		return error_create("%s was reset meanwhile", now->name);
	subtract_rows(now, before);
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		now->losses[loss] -= before->losses[loss];
	now->earlier -= before->earlier;
	now->recorded_ns = now->recorded_ns && before->recorded_ns
				   ? now->recorded_ns - before->recorded_ns
				   : 0;
	return NULL;
}
