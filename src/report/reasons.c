/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reasons.h"

#include <string.h>

#include "snapshot/probe.h"

static struct text delay_state(const struct ctprof_snapshot *s)
{
	return name_text(s->capture ? s->capture->delay_accounting : NULL);
}

static bool delays_off(const struct ctprof_snapshot *s)
{
	return text_equal(delay_state(s), TEXT("off"));
}

static const char *delay_reason(const struct ctprof_snapshot *s)
{
	if (delays_off(s))
		return "delay accounting is off: sysctl kernel.task_delayacct=1 turns it on for "
		       "threads born after it, boot parameter delayacct for all";
	if (text_equal(delay_state(s), TEXT("runtime")))
		return "delay accounting was turned on after these threads were born; boot "
		       "parameter delayacct covers all";
	return "needs delay accounting: boot parameter delayacct";
}

static uint64_t denied(const struct ctprof_snapshot *s, const char *source)
{
	const struct count *found =
		s->capture ? counts_find(&s->capture->denied, text_of(source)) : NULL;

	return found ? found->value : 0;
}

/* Does the kernel have this field at all? */
static bool is_peak_of_old_kernel(const struct ctprof_snapshot *s, const struct metric_set *missing,
				  const struct metric *metric)
{
	/* Every thread has peaks of CPU delays. */
	if (snapshot_is_by_bpf(s))
		return metric->delay != DELAY_NONE && metric->kind == KIND_PEAK &&
		       metric_set_has(missing, METRIC_cpu_delay_max_ns);
	return metric->delay != DELAY_NONE && metric->kind == KIND_PEAK && s->capture &&
	       s->capture->taskstats_version.measured && s->capture->taskstats_version.value < 15;
}

/* Was it asked for where alone it can be seen, by BPF? */
static bool needs_bpf(const struct ctprof_snapshot *s, const struct metric *metric)
{
	return metric->sources[0].id == SOURCE_NONE && !snapshot_is_by_bpf(s);
}

/* The gate of the metric that nothing in the snapshot shows to be there; -1 for none. */
static int closed_gate(const struct metric_set *missing, const struct metric *metric)
{
	for (unsigned gate = 0; gate < GATE_COUNT; gate++) {
		bool open = false;

		if (!(metric->gates >> gate & 1))
			continue;
		for (size_t i = 0; i < METRIC_COUNT && !open; i++)
			open = metrics[i].gates >> gate & 1 &&
			       !metric_set_has(missing, (enum metric_id)i);
		if (!open)
			return (int)gate;
	}
	return -1;
}

/* `whole`: no thread at all has the counters of jemalloc. */
static const char *heap_reason(const struct ctprof_snapshot *s, bool whole)
{
	const struct probe_summary *probe = s->probe_summary;
	const char *prose;

	if (probe && probe->dominant_failure) {
		prose = probe_failure_prose(name_text(probe->dominant_failure));
		return prose ? prose : "the counters of jemalloc could not be read";
	}
	if (!whole)
		return "only processes that use jemalloc have it";
	if (!probe || !probe->tgids_walked.value)
		return "the counters of jemalloc were not looked for";
	return "no process uses jemalloc, as far as they can be looked into";
}

static const char *states_reason(const struct ctprof_snapshot *s)
{
	return s->capture && s->capture->states_engine
		       ? "the engine that recorded it did not measure it, or not for these threads"
		       : "only recordings of ctprof top have it";
}

/* Kernels of hosts cannot be asked, but agents store what they measure. */
static const char *query_reason(const struct ctprof_snapshot *s, const struct metric_set *missing,
				const struct metric *metric)
{
	const enum metric_id id = metric_id(metric);

	if (metric_set_has(&s->unknown, id))
		return "it is not stored";
	if (s->has_sums_only && (metric->kind != KIND_TOTAL || id == METRIC_thread_count))
		return "queries of more than two hours read sums, which have totals only";
	return metric_set_has(missing, id) ? "no agent measured it"
					   : "agents measured it for others only";
}

const char *metric_reason(const struct ctprof_snapshot *s, const struct metric_set *missing,
			  const struct metric *metric)
{
	const struct metric_source_info *source = &metric_source_infos[metric->sources[0].id];
	bool taskstats = metric->sources[0].id == SOURCE_TASKSTATS;
	int gate = closed_gate(missing, metric);

	if (s->observed_ns)
		return query_reason(s, missing, metric);
	if (metric->sources[0].id == SOURCE_STATES)
		return states_reason(s);
	/* Facts about this kernel say nothing about the kernels that other tools read. */
	if (s->origin != ORIGIN_CTPROF &&
	    (metric->sources[0].id != SOURCE_JEMALLOC || !s->probe_summary))
		return "the file does not say that it was measured";
	if (metric_set_has(&s->unknown, metric_id(metric)))
		return "the ctprof that wrote the file lacks it";
	if (needs_bpf(s, metric))
		return "only BPF measures waits in progress: capture --source bpf says why it is "
		       "not "
		       "used";
	if (metric->sources[0].id == SOURCE_JEMALLOC)
		return heap_reason(s, metric_set_has(missing, metric_id(metric)));
	if (denied(s, source->name))
		return source->denied;
	if (taskstats && s->capture && !snapshot_is_by_bpf(s) &&
	    !s->capture->taskstats_version.measured)
		return "taskstats did not answer: it needs CAP_NET_ADMIN, the /proc of this PID "
		       "namespace, and a kernel built with CONFIG_TASKSTATS";
	if (is_peak_of_old_kernel(s, missing, metric))
		return "needs a kernel with taskstats v15 or newer";
	if (metric->delay == DELAY_irq && s->capture && !s->capture->irq_accounting &&
	    !delays_off(s))
		return "the kernel does not account interrupt time "
		       "(CONFIG_IRQ_TIME_ACCOUNTING), or shows no pressure of it";
	if (metric->gates >> GATE_TASK_DELAY_ACCT & 1)
		return delay_reason(s);
	if (gate >= 0)
		return metric_gates[gate].remedy;
	if (metric->class == CLASS_FAIR_POLICY)
		return metric_classes[metric->class].prose;
	if (metric->counterpart && !metric_set_has(missing, metric->counterpart))
		return metric->owners == OWNERS_KERNEL
			       ? "only kernel threads have it"
			       : "kernel threads have it apart: metrics kthread_block_*";
	if (!metric_set_has(missing, metric_id(metric)))
		return "it could not be read for the others";
	return "the kernel does not show it";
}

struct metric_set metrics_missing(const struct ctprof_snapshot *s)
{
	struct metric_set seen = { 0 }, missing = { 0 };
	bool recorded;

	for (size_t t = 0; t < s->threads.count; t++)
		for (size_t i = 0; i < array_length(seen.words); i++)
			seen.words[i] |= snapshot_thread(s, t)->record.measured.words[i];
	recorded = metric_set_has(&seen, METRIC_state_watched_ns);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (!metric_set_has(&seen, (enum metric_id)i) &&
		    !(metrics[i].counterpart && metric_set_has(&seen, metrics[i].counterpart)) &&
		    (metrics[i].sources[0].id != SOURCE_STATES || recorded))
			metric_set_add(&missing, (enum metric_id)i);
	return missing;
}

/* The first names are enough to recognise the family. */
#define NAMES_SHOWN 3

void reasons_print(FILE *out, const char *what, const struct ctprof_snapshot *s,
		   const struct metric_set *which)
{
	const struct metric_set missing = metrics_missing(s);
	struct metric_set left = *which;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const char *reason = metric_reason(s, &missing, &metrics[i]);
		size_t shown = 0, more = 0;

		if (!metric_set_has(&left, (enum metric_id)i))
			continue;
		fprintf(out, "%s: ", what);
		for (size_t j = i; j < METRIC_COUNT; j++) {
			if (!metric_set_has(&left, (enum metric_id)j) ||
			    strcmp(metric_reason(s, &missing, &metrics[j]), reason) != 0)
				continue;
			metric_set_remove(&left, (enum metric_id)j);
			if (shown < NAMES_SHOWN)
				fprintf(out, "%s%s", shown++ ? ", " : "", metrics[j].name);
			else
				more++;
		}
		if (more)
			fprintf(out, " and %zu more", more);
		fprintf(out, " (%s)\n", reason);
	}
}

/* The reason as one word. */
static const char *short_reason(const struct ctprof_snapshot *s, const struct metric_set *missing,
				const struct metric *metric)
{
	int gate = closed_gate(missing, metric);

	if (needs_bpf(s, metric))
		return "BPF";
	if (metric->sources[0].id == SOURCE_JEMALLOC)
		return "jemalloc";
	if (denied(s, metric_source_infos[metric->sources[0].id].name))
		return metric_source_infos[metric->sources[0].id].name;
	if (metric->sources[0].id == SOURCE_TASKSTATS && s->capture && !snapshot_is_by_bpf(s) &&
	    !s->capture->taskstats_version.measured)
		return "taskstats";
	if (metric->gates >> GATE_TASK_DELAY_ACCT & 1)
		return "delay accounting";
	if (gate >= 0)
		return metric_gates[gate].name;
	return metric_source_infos[metric->sources[0].id].name;
}

/* If no process uses jemalloc, no heap metric is missing. */
static void drop_heap_of_nobody(const struct ctprof_snapshot *s, struct metric_set *missing)
{
	const struct probe_summary *heaps = s->probe_summary;

	if (!heaps || !heaps->tgids_walked.value || heaps->jemalloc_detected.value ||
	    heaps->failed.value)
		return;
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].sources[0].id == SOURCE_JEMALLOC)
			metric_set_remove(missing, i);
}

size_t reasons_count(const struct ctprof_snapshot *s)
{
	struct metric_set missing = metrics_missing(s);

	drop_heap_of_nobody(s, &missing);
	return metric_set_count(&missing);
}

void reasons_summary(char *buffer, size_t size, const struct ctprof_snapshot *s)
{
	const struct metric_set all_missing = metrics_missing(s);
	struct metric_set missing = all_missing;
	size_t used = 0;

	drop_heap_of_nobody(s, &missing);
	snprintf(buffer, size, "nothing");
	for (size_t i = 0; i < METRIC_COUNT && used < size; i++) {
		const char *reason = short_reason(s, &all_missing, &metrics[i]);
		size_t count = 0;

		if (!metric_set_has(&missing, (enum metric_id)i))
			continue;
		for (size_t j = i; j < METRIC_COUNT; j++)
			if (metric_set_has(&missing, (enum metric_id)j) &&
			    strcmp(short_reason(s, &all_missing, &metrics[j]), reason) == 0) {
				metric_set_remove(&missing, (enum metric_id)j);
				count++;
			}
		used += (size_t)snprintf(buffer + used, size - used, "%s%zu metric%s of %s",
					 used ? ", " : "", count, plural(count), reason);
	}
}
