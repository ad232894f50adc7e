/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/metric_latencies.h"

#include <string.h>

#define READINGS_UNTIL_OVER 60

void metric_latencies_init(struct metric_latencies *latencies, size_t most)
{
	*latencies = (struct metric_latencies){ .most = most };
}

static void forget(struct metric_latency *latency)
{
	free(latency->cgroup);
	for (size_t k = 0; k < LATENCY_KINDS; k++)
		histogram_destroy(latency->kinds[k]);
}

void metric_latencies_deinit(struct metric_latencies *latencies)
{
	for (size_t i = 0; i < latencies->all.count; i++)
		forget(&latencies->all.items[i]);
	array_deinit(&latencies->all);
}

static struct error *begin(struct metric_latencies *l, char *cgroup)
{
	struct metric_latency latency = { .cgroup = cgroup };
	bool is_done = true;

	for (size_t k = 0; k < LATENCY_KINDS; k++) {
		latency.kinds[k] = histogram_create(LATENCY_FRAC_BITS);
		is_done = is_done && latency.kinds[k];
	}
	if (is_done && array_push(&l->all, latency))
		return NULL;
	forget(&latency);
	return &error_no_memory;
}

/* The one that had no values for the longest time is added to those that ended. */
static void make_room(struct metric_latencies *l)
{
	struct metric_latency *all = l->all.items;
	size_t oldest = LATENCIES_SPECIAL;

	for (size_t i = oldest; i < l->all.count; i++)
		if (all[i].seen < all[oldest].seen)
			oldest = i;
	if (oldest == l->all.count || all[oldest].seen + READINGS_UNTIL_OVER > l->readings)
		return;
	for (size_t k = 0; k < LATENCY_KINDS; k++)
		histogram_merge(all[LATENCIES_ENDED].kinds[k], all[oldest].kinds[k]);
	forget(&all[oldest]);
	all[oldest] = all[--l->all.count];
}

static struct error *find(struct metric_latencies *l, struct text cgroup,
			  struct metric_latency **ret)
{
	struct error *err;
	char *copy;

	*ret = &l->all.items[LATENCIES_OTHER];
	if (!cgroup.length)
		return NULL;
	for (size_t i = LATENCIES_SPECIAL; i < l->all.count; i++)
		if (text_equal(text_of(l->all.items[i].cgroup), cgroup)) {
			*ret = &l->all.items[i];
			return NULL;
		}
	if (l->all.count >= l->most)
		make_room(l);
	if (l->all.count >= l->most)
		return NULL;
	copy = strndup(cgroup.bytes, cgroup.length);
	err = copy ? begin(l, copy) : &error_no_memory;
	if (!err)
		*ret = &l->all.items[l->all.count - 1];
	return err;
}

static struct text name_of(const struct tick *tick, uint32_t number)
{
	const char *at = tick->text;

	if (number == TICK_NONE)
		return (struct text){ 0 };
	for (uint32_t i = 0; i < number; i++)
		at += tick->names[i];
	return (struct text){ at, tick->names[number] };
}

struct error *metric_latencies_take(struct metric_latencies *l, const struct tick *tick)
{
	const struct tick_slot *slot = tick->slots;
	struct error *err = NULL;

	l->readings++;
	while (!err && l->all.count < LATENCIES_SPECIAL)
		err = begin(l, NULL);
	for (size_t i = 0; !err && i < tick->header->latencies_count; i++) {
		const struct tick_latency *latency = &tick->latencies[i];
		struct metric_latency *to;
		struct histogram *histogram;

		err = find(l, name_of(tick, latency->cgroup), &to);
		if (err)
			return err;
		to->seen = l->readings;
		histogram = to->kinds[latency->kind];
		histogram->sum += latency->sum;
		for (uint32_t s = 0; s < latency->slots; s++, slot++) {
			histogram->slots[slot->slot] += slot->count;
			histogram->count += slot->count;
		}
	}
	return err;
}
