/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "os/cgroup_place.h"
#include "report/exposition.h"
#include "serve/http_request.h"
#include "serve/metrics.h"
#include "serve/web.h"
#include "state/reading.h"

/* --- families --- */

/* Families that are being made. NULL or false: no memory. */
struct metrics_answering {
	struct metric_families *families;
	const struct web *web;
	bool has_failed;
};

static struct metric_family *begin(struct metrics_answering *m, const char *name,
				   enum metric_type type, const char *unit, unsigned decimals,
				   const char *help)
{
	const struct metric_family family = {
		.name = name, .help = help, .unit = unit, .type = type, .decimals = decimals
	};

	m->has_failed |= !array_push(m->families, family);
	return m->has_failed ? NULL : &m->families->items[m->families->count - 1];
}

static void put(struct metrics_answering *m, struct metric_family *family,
		struct metric_series series)
{
	m->has_failed = m->has_failed || !array_push(&family->series, series);
}

/* A family of one series without labels. */
static void put_one(struct metrics_answering *m, const char *name, enum metric_type type,
		    const char *unit, unsigned decimals, const char *help, uint64_t number)
{
	put(m, begin(m, name, type, unit, decimals, help),
	    (struct metric_series){ .number = number });
}

static struct metric_label label(const char *name, const char *value)
{
	return (struct metric_label){ name, text_of(value) };
}

/* --- threads --- */

/* Where a cgroup is: its path, and the unit and container that the path tells. */
static void put_place(struct metric_label ret[3], struct text cgroup)
{
	struct text unit = { 0 }, container = { 0 };

	if (!place_unit(cgroup, &unit))
		unit = (struct text){ 0 };
	if (!place_container_shown(cgroup, &container))
		container = (struct text){ 0 };
	ret[0] = (struct metric_label){ "cgroup", cgroup };
	ret[1] = (struct metric_label){ "unit", unit };
	ret[2] = (struct metric_label){ "container", container };
}

static void put_states(struct metrics_answering *m, struct metric_family *family,
		       const struct metric_label group[4], const uint64_t ns[STATE_COUNT])
{
	for (size_t s = 0; s < STATE_COUNT; s++) {
		struct metric_series series = { .number = ns[s] };

		if (!ns[s])
			continue;
		memcpy(series.labels, group, 4 * sizeof(*group));
		series.labels[4] = label("state", state_rows[s].name);
		put(m, family, series);
	}
}

static void put_groups(struct metrics_answering *m)
{
	static const char *const special[] = { [GROUPS_OTHER] = "other", [GROUPS_ENDED] = "ended" };
	const struct metric_groups *groups = &m->web->metrics.groups;
	struct metric_family *family =
		begin(m, "ctprof_thread_state_seconds", METRIC_COUNTER, "seconds", 9,
		      "Time of threads by state, since the start of ctprof serve.");

	for (size_t i = 0; i < groups->shown.count; i++) {
		const struct metric_group_time *time = &groups->shown.items[i];
		struct metric_label labels[4];

		put_place(labels, name_text(time->cgroup));
		labels[3] = (struct metric_label){ "threads", name_text(time->threads) };
		put_states(m, family, labels, time->ns);
	}
	for (size_t i = 0; i < GROUPS_SPECIAL; i++) {
		const struct metric_label labels[4] = { label("cgroup", "other"), label("unit", ""),
							label("container", ""),
							label("threads", special[i]) };

		put_states(m, family, labels, groups->special[i]);
	}
}

/* Of a mean that is at most the number of threads there can be. */
static uint64_t thousandths(double mean)
{
	return mean < UINT32_MAX ? (uint64_t)(mean * 1000 + 0.5) : (uint64_t)UINT32_MAX * 1000;
}

static void put_threads(struct metrics_answering *m)
{
	const struct metric_groups *groups = &m->web->metrics.groups;
	struct metric_family *family =
		begin(m, "ctprof_threads", METRIC_GAUGE, NULL, 3,
		      "Threads in each main state: the mean over the last reading.");

	for (size_t i = 0; i < STATE_MAIN_COUNT && groups->last_ns; i++) {
		struct metric_series series = {
			.labels = { label("state", state_rows[state_mains[i]].name) }
		};
		uint64_t ns = 0;

		for (size_t s = 0; s < STATE_COUNT; s++)
			ns += state_rows[s].main == state_mains[i] ? groups->last[s] : 0;
		series.number = thousandths((double)ns / (double)groups->last_ns);
		put(m, family, series);
	}
}

/* --- latencies --- */

static void put_latencies(struct metrics_answering *m)
{
	static const struct {
		const char *name, *help;
	} rows[LATENCY_KINDS] = {
		[LATENCY_RUN_QUEUE] = { "ctprof_run_queue_latency_seconds",
					"How long threads that could run waited for a CPU." },
		[LATENCY_BLOCK_IO] = { "ctprof_block_io_latency_seconds",
				       "How long threads waited for storage." },
	};
	static const char *const special[] = {
		[LATENCIES_OTHER] = "other", [LATENCIES_ENDED] = "ended"
	};
	const struct metric_latencies *latencies = &m->web->metrics.latencies;

	for (size_t kind = 0; kind < LATENCY_KINDS; kind++) {
		struct metric_family *family =
			begin(m, rows[kind].name, METRIC_HISTOGRAM, "seconds", 9, rows[kind].help);

		for (size_t i = 0; i < latencies->all.count; i++) {
			const struct metric_latency *latency = &latencies->all.items[i];
			struct metric_series series = { .histogram = latency->kinds[kind] };

			if (!series.histogram->count)
				continue;
			put_place(series.labels,
				  text_of(latency->cgroup ? latency->cgroup : special[i]));
			put(m, family, series);
		}
	}
}

/* --- the host --- */

static void put_pressure(struct metrics_answering *m)
{
	static const struct {
		const char *resource;
		bool is_full;
	} rows[] = {
#define PRESSURE_ROW(id, name, resource, psi, full) [TICK_PRESSURE_##id] = { psi, full },
		TICK_PRESSURES(PRESSURE_ROW)
#undef PRESSURE_ROW
	};
	const struct metrics *metrics = &m->web->metrics;
	struct metric_family *family =
		begin(m, "ctprof_host_pressure_seconds", METRIC_COUNTER, "seconds", 9,
		      "Time for which some or all threads stalled for a resource (PSI).");

	for (size_t i = 0; i < TICK_PRESSURES_COUNT; i++) {
		struct metric_series series = { .number = metrics->pressure_ns[i] };

		if (metrics->pressure_ns[i] == TICK_UNMEASURED)
			continue;
		series.labels[0] = label("resource", rows[i].resource);
		series.labels[1] = label("kind", rows[i].is_full ? "full" : "some");
		put(m, family, series);
	}
}

static void put_host(struct metrics_answering *m)
{
	const struct metrics *metrics = &m->web->metrics;
	const struct tick_host *host = &metrics->host;

	put_one(m, "ctprof_host_cpu_busy_seconds", METRIC_COUNTER, "seconds", 9,
		"Time for which CPUs were busy, of all together.", metrics->cpu_ns);
	put_one(m, "ctprof_host_cpus", METRIC_GAUGE, NULL, 0, "CPUs of the host.",
		m->web->store->book->meta.cpus);
	put_one(m, "ctprof_host_memory_bytes", METRIC_GAUGE, "bytes", 0, "Memory of the host.",
		host->memory_total);
	put_one(m, "ctprof_host_memory_available_bytes", METRIC_GAUGE, "bytes", 0,
		"Memory that programs can get without swapping.", host->memory_available);
	put_pressure(m);
}

/* --- ctprof itself --- */

static void put_measurement(struct metrics_answering *m)
{
	const struct metrics *metrics = &m->web->metrics;

	put_one(m, "ctprof_readings", METRIC_COUNTER, NULL, 0, "Readings so far.",
		metrics->readings);
	put_one(m, "ctprof_measured_seconds", METRIC_COUNTER, "seconds", 9,
		"Time that the readings cover.", metrics->ns);
	put_one(m, "ctprof_lost_events", METRIC_COUNTER, NULL, 0,
		"Waits and samples that there was no room for.", metrics->lost);
	put_one(m, "ctprof_lost_seconds", METRIC_COUNTER, "seconds", 9,
		"Time of waits and samples that there was no room for.", metrics->lost_ns);
	put_one(m, "ctprof_missed_switches", METRIC_COUNTER, NULL, 0,
		"Switches that the kernel did not report.", metrics->missed);
	put_one(m, "ctprof_truncated_stacks", METRIC_COUNTER, NULL, 0,
		"Stacks with more frames than are taken.", metrics->truncated);
	put_one(m, "ctprof_kstats_without_series", METRIC_GAUGE, NULL, 0,
		"Metrics of kstats without series in the last reading.", metrics->kstats.left_out);
	put_one(m, "ctprof_groups_in_other", METRIC_GAUGE, NULL, 0,
		"Groups of threads that are part of threads=\"other\" in the last reading.",
		metric_groups_in_other(&metrics->groups));
}

static void put_cost(struct metrics_answering *m)
{
	const struct {
		const char *part;
		uint64_t ns;
	} rows[] = { { "programs", m->web->metrics.programs_ns },
		     { "collector", m->web->metrics.collector_ns },
		     { "web", clock_ns(CLOCK_PROCESS_CPUTIME_ID) } };
	struct metric_family *family =
		begin(m, "ctprof_own_cpu_seconds", METRIC_COUNTER, "seconds", 9,
		      "CPU time of ctprof: its BPF programs, and its two processes.");

	for (size_t i = 0; i < array_length(rows); i++)
		put(m, family,
		    (struct metric_series){ .labels = { label("part", rows[i].part) },
					    .number = rows[i].ns });
}

static void put_http(struct metrics_answering *m)
{
	const struct http_counts counts = http_counts(m->web->server);

	put_one(m, "ctprof_http_requests", METRIC_COUNTER, NULL, 0, "Requests.", counts.requests);
	put_one(m, "ctprof_http_refused_requests", METRIC_COUNTER, NULL, 0,
		"Requests that were refused.", counts.refused);
	put_one(m, "ctprof_http_sent_bytes", METRIC_COUNTER, "bytes", 0,
		"Bytes of answers, before compression.", counts.bytes);
	put_one(m, "ctprof_http_clients", METRIC_GAUGE, NULL, 0, "Connections.", counts.clients);
	put_one(m, "ctprof_http_streams", METRIC_GAUGE, NULL, 0, "Clients that wait for readings.",
		counts.streams);
}

/* Some families refer to memory of `kstats`. */
static struct error *make_families(const struct web *web, struct metric_families *ret,
				   struct metric_kstats_families *kstats)
{
	struct metrics_answering m = { .families = ret, .web = web };
	struct error *err;

	put_groups(&m);
	put_threads(&m);
	put_latencies(&m);
	err = metric_kstats_families(&web->metrics.kstats, ret, kstats);
	if (err)
		return err;
	put_host(&m);
	put_measurement(&m);
	put_cost(&m);
	put_http(&m);
	return m.has_failed ? &error_no_memory : NULL;
}

/* --- the answer --- */

/* How specific an item of Accept is for a format. The weight of the most specific item counts
 * (RFC 9110, 12.5.1). */
enum accept_fit { FITS_NOT, FITS_ANY, FITS_MAIN_TYPE, FITS_TYPE };

static enum accept_fit fit_of(const struct http_choice *choice, const struct exposition_row *row)
{
	const struct text type = text_of(row->media_type);
	const size_t main_length = strcspn(row->media_type, "/") + 1;
	struct text value;

	if (text_equal(choice->name, TEXT("*/*")))
		return FITS_ANY;
	if (choice->name.length == main_length + 1 && choice->name.bytes[main_length] == '*' &&
	    !memcmp(choice->name.bytes, row->media_type, main_length))
		return FITS_MAIN_TYPE;
	if (!text_equal(choice->name, type) ||
	    (http_choice_parameter(choice, text_of(row->parameter), &value) &&
	     !text_equal(value, text_of(row->value))))
		return FITS_NOT;
	return FITS_TYPE;
}

/* The most specific item of Accept for a format, the first of equal ones; weight 0: the format is
 * not accepted. */
struct accepted {
	enum accept_fit fit;
	unsigned weight;
	size_t position;
};

static struct accepted accepted_as(const char *accept, const struct exposition_row *row)
{
	struct text rest = text_of(accept ? accept : "");
	struct accepted best = { .fit = FITS_NOT };
	struct http_choice choice;

	for (size_t i = 0; http_choice_next(&rest, &choice); i++) {
		const enum accept_fit fit = fit_of(&choice, row);

		if (fit > best.fit)
			best = (struct accepted){ fit, choice.weight, i };
	}
	return best;
}

static enum exposition format_of(const char *accept)
{
	enum exposition best = EXPOSITION_TEXT;
	struct accepted wanted = { .weight = 0 };

	for (size_t i = 0; i < EXPOSITION_COUNT; i++) {
		const struct accepted accepted = accepted_as(accept, &expositions[i]);

		if (accepted.weight > wanted.weight ||
		    (accepted.weight == wanted.weight && accepted.weight &&
		     accepted.position < wanted.position)) {
			best = (enum exposition)i;
			wanted = accepted;
		}
	}
	return best;
}

static struct error *print(enum exposition format, const struct web *web, char **ret,
			   size_t *ret_length)
{
	_cleanup_(metric_kstats_families_clear) struct metric_kstats_families kstats = { 0 };
	_cleanup_(metric_families_deinit) struct metric_families families = { 0 };
	struct error *err = make_families(web, &families, &kstats);
	FILE *out = err ? NULL : open_memstream(ret, ret_length);

	if (err || !out)
		return err ? err : &error_no_memory;
	err = expositions[format].print(out, &families);
	return file_close_memory(out, ret) || err ? err : &error_no_memory;
}

struct error *answer_metrics(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const enum exposition format = format_of(http_header(exchange, "Accept"));
	const struct web *web = context;
	_cleanup_free_ char *text = NULL;
	size_t length;
	struct error *err;

	*ret = web->metrics.readings ? HTTP_DONE : HTTP_LATER;
	if (*ret == HTTP_LATER)
		return NULL;
	err = print(format, web, &text, &length);
	if (err)
		return err;
	http_type(exchange, expositions[format].content_type);
	return http_write(exchange, text, length);
}
