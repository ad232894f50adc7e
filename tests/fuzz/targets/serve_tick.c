/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings that the collector sends to the web process, one behind another: what is taken can be
 * summed up, and is counted in metrics that can be printed.
 */
#include "fuzz_target.h"
#include "report/exposition.h"
#include "serve/metrics.h"

/* A tick is aligned in memory, as it is in the buffer of the web process. */
static struct error *take(struct tick_store *store, struct metrics *metrics, const uint8_t *data,
			  size_t length)
{
	uint64_t *aligned = malloc(length + 1);
	struct tick tick;
	struct error *err;

	must(aligned);
	memcpy(aligned, data, length);
	err = tick_unpack(aligned, length, &tick);
	if (!err)
		err = store_take(store, &tick);
	if (!err)
		err = metrics_take(metrics, store, &tick);
	free(aligned);
	return err;
}

static void sum_up(const struct tick_store *store)
{
	struct profile *profile = NULL;
	struct error *err = store_profile(store, 0, store->ticks.count, &profile);

	must(!err);
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];

		must(sample->thread < profile->threads.count);
		must(sample->node == NODE_NONE || sample->node < profile->nodes.count);
		must(sample->waker <= profile->wakers.count);
	}
	profile_destroy(profile);
}

/* Metrics of kstats can be printed, and are no more than may be. */
static void export_kstats(const struct metric_kstats *kstats)
{
	struct metric_kstats_families owned = { 0 };
	struct metric_families families = { 0 };
	struct error *err = metric_kstats_families(kstats, &families, &owned);
	size_t series = 0;

	must(!err);
	for (size_t i = 0; i < families.count; i++)
		series += families.items[i].series.count *
			  (families.items[i].ladder
				   ? METRIC_LADDER_SERIES(families.items[i].ladder->buckets)
				   : 1);
	must(series <= kstats->most * METRIC_KSTATS_SERIES);
	metric_families_deinit(&families);
	metric_kstats_families_clear(&owned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tick_store_options options = { .kept_ns = 1000, .bytes_most = 1 << 16 };
	struct tick_store *store = NULL;
	struct metrics metrics;
	struct error *err = store_create(&options, &store);

	must(!err);
	metrics_init(&metrics, METRICS_SERIES_LEAST);
	for (size_t at = 0; !err && size - at >= sizeof(struct tick_header);) {
		struct tick_header header;
		size_t length;

		memcpy(&header, data + at, sizeof(header));
		err = tick_length(&header, &length);
		if (err || length > size - at)
			break;
		err = take(store, &metrics, data + at, length);
		at += length;
	}
	if (!err && store->ticks.count)
		sum_up(store);
	must(metrics.groups.series <= metrics.groups.series_most);
	export_kstats(&metrics.kstats);
	error_destroy(err);
	metrics_deinit(&metrics);
	store_destroy(store);
	return 0;
}
