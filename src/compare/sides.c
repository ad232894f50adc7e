/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/sides.h"

#include <math.h>
#include <stdlib.h>

enum boots boots_of(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b)
{
	const struct host_context *x = a->host, *y = b->host;

	/* Totals of a query do not grow from one to the next, as those of a boot do. */
	if (a->observed_ns || b->observed_ns)
		return BOOTS_DIFFERENT;
	if (!x || !y || !x->boot_id || !y->boot_id)
		return BOOTS_UNKNOWN;
	return name_compare(x->boot_id, y->boot_id) == 0 ? BOOTS_SAME : BOOTS_DIFFERENT;
}

/* The time of day has a finer resolution than the time since boot, but may have been set. */
#define CLOCK_SET_S 0.05

static int by_time(const struct side *x, const struct side *y)
{
	double seconds;

	if (!seconds_between(x->snapshot, y->snapshot, &seconds) || seconds == 0)
		return 0;
	return seconds > 0 ? -1 : 1;
}

void sides_sort(struct side *items, size_t count)
{
	/* A few, and stable: files without a time stay where they are. */
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && by_time(&items[k - 1], &items[k]) > 0; k--) {
			struct side other = items[k];

			items[k] = items[k - 1];
			items[k - 1] = other;
		}
}

bool seconds_between(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b, double *ret)
{
	const struct host_context *x = a->host, *y = b->host;
	bool has_day = a->captured_at_unix_ns.value && b->captured_at_unix_ns.value;
	/* Times since 1970 as doubles would be off by some hundred ns. */
	double day =
		(double)(int64_t)(b->captured_at_unix_ns.value - a->captured_at_unix_ns.value) /
		NS_PER_S;
	double up;

	if (boots_of(a, b) == BOOTS_SAME && x->uptime_clock_ticks.measured &&
	    y->uptime_clock_ticks.measured) {
		up = ((double)y->uptime_clock_ticks.value - (double)x->uptime_clock_ticks.value) /
		     TICKS_PER_S;
		*ret = has_day && fabs(day - up) < CLOCK_SET_S ? day : up;
		return true;
	}
	if (has_day)
		*ret = day;
	return has_day;
}

/* --- what cannot be compared --- */

static bool is_query(const struct sides *sides)
{
	return sides->items[0].snapshot->observed_ns;
}

const char *sides_need_one_boot(const struct sides *sides)
{
	const struct view *view = sides->view;

	if (view->axis == &group_axes[AXIS_THREAD])
		return "--group-by thread";
	if (view->window)
		return "--window";
	return view->rate && !is_query(sides) ? "--rate" : NULL;
}

/* The same threads, also where the totals of one side are no part of those of the other. */
static bool have_one_boot(const struct ctprof_snapshot *a, const struct ctprof_snapshot *b)
{
	const struct host_context *x = a->host, *y = b->host;

	if (!a->observed_ns || !b->observed_ns)
		return boots_of(a, b) != BOOTS_DIFFERENT;
	return x && y && x->boot_id && y->boot_id && name_compare(x->boot_id, y->boot_id) == 0;
}

static struct error *check_boots(const struct sides *sides)
{
	const char *what = sides_need_one_boot(sides);

	for (size_t i = 1; what && i < sides->count; i++)
		if (!have_one_boot(sides->items[0].snapshot, sides->items[i].snapshot))
			return error_create("%s: %s and %s are of different boots, which share no "
					    "thread and no clock; %s compares them",
					    what, sides->items[0].name, sides->items[i].name,
					    sides->view->axis == &group_axes[AXIS_THREAD]
						    ? "--group-by pcomm"
						    : "--normalize age or cpu");
	return NULL;
}

static struct error *check_time(const struct sides *sides)
{
	double seconds;

	if (!sides->view->rate || sides->count != 2 || is_query(sides))
		return NULL;
	if (!seconds_between(sides->items[0].snapshot, sides->items[1].snapshot, &seconds))
		return error_create("--rate: a snapshot does not say when it was made");
	if (seconds == 0)
		return error_create("--rate: no time passed between %s and %s",
				    sides->items[0].name, sides->items[1].name);
	return NULL;
}

/* --- the order of keys --- */

static int by_label(const void *a, const void *b, void *context)
{
	const struct keys *keys = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = name_compare(keys->items[x].label, keys->items[y].label);

	return order ? order : (x > y) - (x < y);
}

static bool order_keys(struct sides *sides)
{
	sides->by_name = malloc(sides->keys.count * sizeof(*sides->by_name) + 1);
	if (!sides->by_name)
		return false;
	for (size_t i = 0; i < sides->keys.count; i++)
		sides->by_name[i] = (uint32_t)i;
	if (sides->keys.count)
		qsort_r(sides->by_name, sides->keys.count, sizeof(*sides->by_name), by_label,
			&sides->keys);
	return true;
}

static struct error *assign_keys(struct sides *sides)
{
	struct error *err = NULL;

	if (sides->view->axis == &group_axes[AXIS_ALL] && sides->baselines)
		err = renamed_find(&sides->renamed, &sides->keys, sides->baselines);
	for (size_t i = 0; i < sides->count && !err; i++)
		err = keys_assign(&sides->keys, i, &sides->key_of[i]);
	if (err)
		return err;
	keys_finish(&sides->keys);
	return order_keys(sides) ? NULL : &error_no_memory;
}

struct error *sides_init(struct sides *sides, const struct view *view, const struct side *items,
			 size_t baselines, size_t count)
{
	struct error *err;

	*sides = (struct sides){
		.view = view,
		.items = items,
		.baselines = baselines,
		.count = count,
		.snapshots = calloc(count, sizeof(const struct ctprof_snapshot *)),
		.key_of = calloc(count, sizeof(*sides->key_of)),
	};
	if (!sides->snapshots || !sides->key_of) {
		sides_deinit(sides);
		return &error_no_memory;
	}
	for (size_t i = 0; i < count; i++)
		sides->snapshots[i] = items[i].snapshot;
	waits_find(&sides->waits, sides->snapshots, count, view->completed_only);
	err = check_boots(sides);
	if (!err)
		err = check_time(sides);
	if (!err)
		err = keys_init(&sides->keys, view->axis, &view->keys, sides->snapshots, count);
	if (!err)
		err = assign_keys(sides);
	if (err)
		sides_deinit(sides);
	return err;
}

void sides_deinit(struct sides *sides)
{
	for (size_t i = 0; sides->key_of && i < sides->count; i++)
		free(sides->key_of[i]);
	free(sides->key_of);
	free(sides->by_name);
	free(sides->snapshots);
	renamed_deinit(&sides->renamed);
	keys_deinit(&sides->keys);
	*sides = (struct sides){ 0 };
}
