/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/metrics.h"

#include <string.h>

#include "report/exposition.h"

/* Series beside those of groups: all states of the special groups, and single ones. */
#define SERIES_OF_HOST 64

/* Histograms of latencies may be the fourth part of all series. */
static size_t histograms_for(size_t series_most)
{
	const size_t most = series_most / 4 / METRIC_HISTOGRAM_SERIES / LATENCY_KINDS;

	return most > LATENCIES_SPECIAL ? most : LATENCIES_SPECIAL;
}

/* The most metrics of kstats: they may have a quarter of the series. Groups get what these leave,
 * since few hosts have any. */
static size_t kstats_for(size_t series_most)
{
	return series_most / 4 / METRIC_KSTATS_SERIES;
}

void metrics_init(struct metrics *metrics, size_t series_most)
{
	const size_t histograms = histograms_for(series_most);

	*metrics = (struct metrics){
		.series_of_groups = series_most - SERIES_OF_HOST -
				    (size_t)GROUPS_SPECIAL * STATE_COUNT -
				    histograms * LATENCY_KINDS * METRIC_HISTOGRAM_SERIES,
	};
	memset(metrics->pressure_ns, 0xff, sizeof(metrics->pressure_ns));
	metric_latencies_init(&metrics->latencies, histograms);
	metric_kstats_init(&metrics->kstats, kstats_for(series_most));
	metric_groups_init(&metrics->groups, metrics->series_of_groups);
}

void metrics_deinit(struct metrics *metrics)
{
	metric_groups_deinit(&metrics->groups);
	metric_latencies_deinit(&metrics->latencies);
	metric_kstats_deinit(&metrics->kstats);
}

static void take_host(struct metrics *m, const struct tick_host *host)
{
	m->cpu_ns += host->cpu_ns;
	for (size_t i = 0; i < TICK_PRESSURES_COUNT; i++) {
		if (host->pressure_ns[i] == TICK_UNMEASURED)
			continue;
		if (m->pressure_ns[i] == TICK_UNMEASURED)
			m->pressure_ns[i] = 0;
		m->pressure_ns[i] += host->pressure_ns[i];
	}
	m->host = *host;
}

static void take_losses(struct metrics *m, const struct profile_losses *losses)
{
	m->lost += losses->lost;
	m->lost_ns += losses->lost_ns;
	m->missed += losses->missed;
	m->truncated += losses->user_truncated + losses->kernel_truncated;
	m->programs_ns += losses->run_ns;
	m->collector_ns += losses->own_cpu_ns;
}

struct error *metrics_take(struct metrics *metrics, const struct tick_store *store,
			   const struct tick *tick)
{
	struct error *err = metric_kstats_take(&metrics->kstats, store);

	if (err)
		return err;
	metric_groups_limit(&metrics->groups,
			    metrics->series_of_groups -
				    metrics->kstats.all.count * METRIC_KSTATS_SERIES);
	err = metric_groups_take(&metrics->groups, store);
	if (err)
		return err;
	metrics->readings++;
	metrics->ns += tick->header->ns;
	take_host(metrics, &tick->header->host);
	take_losses(metrics, &tick->header->losses);
	return metric_latencies_take(&metrics->latencies, tick);
}
