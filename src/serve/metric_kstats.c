/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/metric_kstats.h"

#include <string.h>

#include "kstats/distribution.h"
#include "report/exposition.h"
#include "report/openmetrics_text.h"

#define READINGS_UNTIL_OVER 60

void metric_kstats_init(struct metric_kstats *kstats, size_t most)
{
	*kstats = (struct metric_kstats){ .most = most };
}

void metric_kstats_deinit(struct metric_kstats *kstats)
{
	kstats_tables_clear(&kstats->all);
	array_deinit(&kstats->seen);
}

/* --- adding up --- */

static struct error *begin(struct metric_kstats *k, const struct kstats_table *like)
{
	struct kstats_table *table;
	struct error *err = kstats_table_create(like->name, like->frac_bits, like->unit, &table);
	bool is_done;

	if (err)
		return err;
	is_done = array_reserve(&k->all, 1) && array_reserve(&k->seen, 1);
#define WORD_COPY(word, member)                        \
	if (is_done && like->member && !table->member) \
		is_done = (table->member = strdup(like->member));
	TICK_KSTATS_WORDS(WORD_COPY)
#undef WORD_COPY
	if (!is_done) {
		kstats_table_destroy(table);
		return &error_no_memory;
	}
	table->losses_known = like->losses_known;
	table->earlier_known = like->earlier_known;
	k->all.items[k->all.count++] = table;
	k->seen.items[k->seen.count++] = 0;
	return NULL;
}

/* Remove the metric that has been missing from readings for longest, if any is missing for
 * READINGS_UNTIL_OVER. */
static void make_room(struct metric_kstats *k)
{
	size_t oldest = 0;

	for (size_t i = 1; i < k->all.count; i++)
		if (k->seen.items[i] < k->seen.items[oldest])
			oldest = i;
	if (!k->all.count || k->seen.items[oldest] + READINGS_UNTIL_OVER > k->readings)
		return;
	kstats_table_destroy(k->all.items[oldest]);
	k->all.items[oldest] = k->all.items[--k->all.count];
	k->seen.items[oldest] = k->seen.items[--k->seen.count];
}

/* Metrics with the same name, unit and labels share their series. */
static bool is_same_metric(const struct kstats_table *a, const struct kstats_table *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 &&
	       strings_equal(a->host, b->host) && kstats_table_is_same(a, b);
}

/* `*ret` is the index in k->all; k->all.count: there is no room. */
static struct error *find(struct metric_kstats *k, const struct kstats_table *like, size_t *ret)
{
	for (*ret = 0; *ret < k->all.count; ++*ret)
		if (is_same_metric(k->all.items[*ret], like))
			return NULL;
	if (k->all.count >= k->most)
		make_room(k);
	*ret = k->all.count;
	return k->all.count < k->most ? begin(k, like) : NULL;
}

static struct error *add_metric(struct metric_kstats *k, const struct kstats_table *metric)
{
	size_t number;
	struct error *err = find(k, metric, &number);

	if (err)
		return err;
	if (number == k->all.count) {
		k->left_out++;
		return NULL;
	}
	k->seen.items[number] = k->readings;
	err = kstats_table_merge(k->all.items[number], metric);
	/* A sum would overflow: the metric keeps its values. */
	if (err && err != &error_no_memory) {
		error_destroy(err);
		err = NULL;
	}
	return err;
}

struct error *metric_kstats_take(struct metric_kstats *k, const struct tick_store *store)
{
	const struct store_tick *tick = &store->ticks.items[store->ticks.count - 1];
	const struct tick_value *value = tick->values.items;
	struct error *err = NULL;

	k->readings++;
	k->left_out = tick->kstats_omitted;
	for (size_t i = 0; !err && i < tick->kstats.count; i++) {
		const struct store_kstats *from = &tick->kstats.items[i];
		struct kstats_table metric = *store->metrics.items[from->metric];
		struct kstats_row row = { .slots = calloc(BUCKET_SLOTS(metric.frac_bits),
							  sizeof(*row.slots)) };

		if (!row.slots)
			return &error_no_memory;
		for (uint32_t v = 0; v < from->values; v++, value++)
			row.slots[value->slot] = (struct kstats_slot){ value->count, value->sum };
		metric.rows.items = &row;
		metric.rows.count = metric.rows.room = from->values ? 1 : 0;
		metric.losses_known = from->losses_known;
		metric.earlier_known = from->earlier_known;
		metric.earlier = from->earlier;
		memcpy(metric.losses, from->losses, sizeof(metric.losses));
		err = add_metric(k, &metric);
		free(row.slots);
	}
	return err;
}

/* --- families --- */

/* Families that are being made: `into` receives them, `owned` the memory that they refer to. */
struct kstats_families_making {
	struct metric_families *into;
	struct metric_kstats_families *owned;
};

static struct error *begin_family(struct kstats_families_making *m, const char *name,
				  enum metric_type type, char *help)
{
	const struct metric_family family = { .name = name, .help = help, .type = type };

	if (!help || !array_push(&m->owned->helps, help)) {
		free(help);
		return &error_no_memory;
	}
	return array_push(m->into, family) ? NULL : &error_no_memory;
}

static struct metric_family *last_family(struct kstats_families_making *m)
{
	return &m->into->items[m->into->count - 1];
}

/* Labels for which a series has no room are left out. Only metrics of programs have so many. */
static struct error *put_series(struct kstats_families_making *m,
				const struct openmetrics_metric *metric, bool is_named,
				struct metric_series series, const char *cause)
{
	struct openmetrics_labels labels;
	struct error *err = openmetrics_labels_of(metric, NULL, is_named, &labels);
	size_t count = 0;

	if (err)
		return err;
	for (; count < labels.count && count < METRIC_LABELS - 1; count++)
		series.labels[count] = (struct metric_label){ labels.items[count].name,
							      text_of(labels.items[count].value) };
	if (cause)
		series.labels[count] = (struct metric_label){ "cause", text_of(cause) };
	if (!array_push(&m->owned->labels, labels)) {
		openmetrics_labels_clear(&labels);
		return &error_no_memory;
	}
	return array_push(&last_family(m)->series, series) ? NULL : &error_no_memory;
}

static struct error *put_histogram(struct kstats_families_making *m,
				   const struct openmetrics_metric *metric)
{
	_cleanup_(kstats_distribution_clear) struct kstats_distribution all = { 0 };
	struct histogram *histogram;
	unsigned __int128 sum;
	struct error *err = kstats_distribution_of(metric->table, NULL, &all);

	if (err)
		return err;
	histogram = histogram_create(all.frac_bits);
	if (!histogram || !array_push(&m->owned->histograms, histogram)) {
		histogram_destroy(histogram);
		return &error_no_memory;
	}
	sum = kstats_sum(&all);
	histogram->sum = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
	histogram->count = all.count;
	for (unsigned slot = 0; slot < BUCKET_SLOTS(all.frac_bits); slot++)
		histogram->slots[slot] = all.slots[slot].count;
	return put_series(m, metric, false, (struct metric_series){ .histogram = histogram }, NULL);
}

/* Buckets of times from 64 ns to 69 s, and of other values up to 2^32. All bounds are also bounds
 * of openmetrics.c. */
static const struct metric_ladder time_ladder = { 6, 16 }, value_ladder = { 0, 17 };

static struct error *put_histograms(struct kstats_families_making *m)
{
	const struct openmetrics_metrics *metrics = &m->owned->metrics;
	const char *family = NULL;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < metrics->count; i++) {
		const struct openmetrics_metric *metric = &metrics->items[i];
		const bool is_time = openmetrics_is_time(metric->table);

		if (!family || strcmp(family, metric->family) != 0) {
			_cleanup_free_ char *help = openmetrics_help(metric);

			err = begin_family(m, metric->family, METRIC_HISTOGRAM,
					   help ? openmetrics_clean(text_of(help)) : NULL);
			if (err)
				return err;
			last_family(m)->unit = is_time ? "seconds" : NULL;
			last_family(m)->decimals = is_time ? 9 : 0;
			last_family(m)->ladder = is_time ? &time_ladder : &value_ladder;
		}
		family = metric->family;
		err = put_histogram(m, metric);
	}
	return err;
}

static struct error *put_losses(struct kstats_families_making *m)
{
	const struct openmetrics_metrics *metrics = &m->owned->metrics;
	struct error *err =
		begin_family(m, OPENMETRICS_LOST, METRIC_COUNTER, strdup(OPENMETRICS_LOST_HELP));

	for (size_t i = 0; !err && i < metrics->count; i++) {
		const struct kstats_table *table = metrics->items[i].table;

		for (unsigned loss = 0; !err && loss < KSTATS_LOSS_COUNT; loss++)
			if (table->losses_known & 1u << loss)
				err = put_series(
					m, &metrics->items[i], true,
					(struct metric_series){ .number = table->losses[loss] },
					kstats_losses[loss].name);
	}
	return err;
}

static struct error *put_earlier(struct kstats_families_making *m)
{
	const struct openmetrics_metrics *metrics = &m->owned->metrics;
	struct error *err = begin_family(m, OPENMETRICS_EARLIER, METRIC_COUNTER,
					 strdup(OPENMETRICS_EARLIER_HELP));

	for (size_t i = 0; !err && i < metrics->count; i++)
		if (metrics->items[i].table->earlier_known)
			err = put_series(m, &metrics->items[i], true,
					 (struct metric_series){
						 .number = metrics->items[i].table->earlier },
					 NULL);
	return err;
}

struct error *metric_kstats_families(const struct metric_kstats *kstats,
				     struct metric_families *families,
				     struct metric_kstats_families *ret)
{
	struct kstats_families_making making = { .into = families, .owned = ret };
	struct error *err = openmetrics_metrics_of(&kstats->all, &ret->metrics);

	if (!err)
		err = put_histograms(&making);
	if (!err)
		err = put_losses(&making);
	return err ? err : put_earlier(&making);
}

void metric_kstats_families_clear(struct metric_kstats_families *families)
{
	openmetrics_metrics_clear(&families->metrics);
	for (size_t i = 0; i < families->labels.count; i++)
		openmetrics_labels_clear(&families->labels.items[i]);
	array_deinit(&families->labels);
	for (size_t i = 0; i < families->histograms.count; i++)
		histogram_destroy(families->histograms.items[i]);
	array_deinit(&families->histograms);
	for (size_t i = 0; i < families->helps.count; i++)
		free(families->helps.items[i]);
	array_deinit(&families->helps);
}
