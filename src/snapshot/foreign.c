/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/foreign.h"

#include "snapshot/schema.h"

enum { NS_PER_MS = 1000000 };

static const enum metric_id block_delays[] = {
#define DELAYS(category) METRIC_##category##_delay_count, METRIC_##category##_delay_total_ns
	DELAYS(blkio),   DELAYS(swapin), DELAYS(freepages), DELAYS(thrashing),
	DELAYS(compact), DELAYS(wpcopy), DELAYS(irq),
#undef DELAYS
};

static bool is_cpu_delay(const struct metric *metric)
{
	return metric->delay == DELAY_cpu;
}

static bool is_irq_delay(const struct metric *metric)
{
	return metric->delay == DELAY_irq;
}

static bool is_delay(const struct metric *metric)
{
	return metric->delay != DELAY_NONE;
}

static bool is_peak_delay(const struct metric *metric)
{
	return is_delay(metric) && metric->kind == KIND_PEAK;
}

/* Does the boolean speak for this metric? */
static bool boolean_covers(enum family_boolean which, const struct metric *metric)
{
	enum metric_source_id source = metric->sources[0].id;

	switch (which) {
	case BOOLEAN_TASKSTATS:
		return source == SOURCE_TASKSTATS;
	case BOOLEAN_CPU_DELAY:
		return is_cpu_delay(metric);
	case BOOLEAN_BLOCK_DELAY:
		return is_delay(metric) && !is_cpu_delay(metric);
	case BOOLEAN_XACCT:
		return source == SOURCE_TASKSTATS && !is_delay(metric);
	case BOOLEAN_JEMALLOC:
		return source == SOURCE_JEMALLOC;
	case BOOLEAN_COUNT:
		break;
	}
	return false;
}

void foreign_apply_boolean(struct ctprof_thread *thread, enum family_boolean which)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (boolean_covers(which, &metrics[i]))
			metric_set_remove(&thread->record.measured, (enum metric_id)i);
}

/* Rows of one family are seen or not seen together. */
static bool same_family(const struct metric *a, const struct metric *b)
{
	return a->sources[0].id == b->sources[0].id && a->gates == b->gates &&
	       is_cpu_delay(a) == is_cpu_delay(b) && is_irq_delay(a) == is_irq_delay(b) &&
	       is_peak_delay(a) == is_peak_delay(b) &&
	       (a->family == FAMILY_MODE || a->family == FAMILY_AFFINITY ? a == b : true);
}

static bool has_value(const struct ctprof_thread *thread, const struct metric *metric)
{
	const struct name *name = metric_load_name(&thread->record.values, metric);

	if (!metric_set_has(&thread->record.measured, metric_id(metric)))
		return false;
	if (metric->type == VALUE_label || metric->type == VALUE_cpu_set)
		return name && name->length;
	if (metric->type == VALUE_letter)
		return metric_load_i64(&thread->record.values, metric) != '~';
	return metric_load_u64(&thread->record.values, metric) != 0;
}

/* The metrics with a value other than zero in some thread. */
static struct metric_set seen_anywhere(const struct ctprof_snapshot *s)
{
	struct metric_set seen = { 0 };

	for (size_t t = 0; t < s->threads.count; t++)
		for (size_t i = 0; i < METRIC_COUNT; i++)
			if (has_value(snapshot_thread(s, t), &metrics[i]))
				metric_set_add(&seen, (enum metric_id)i);
	return seen;
}

/* The rows whose family was seen, or that a boolean vouches for. */
static struct metric_set families_seen(const struct metric_set *seen,
				       const struct foreign_marks *marks)
{
	struct metric_set whole = { 0 };

	for (size_t i = 0; i < METRIC_COUNT; i++)
		for (size_t j = 0; j < METRIC_COUNT; j++)
			if (metric_set_has(seen, (enum metric_id)j) &&
			    same_family(&metrics[i], &metrics[j]))
				metric_set_add(&whole, (enum metric_id)i);
	/* A boolean for all of taskstats does not apply to single families. */
	for (enum family_boolean b = BOOLEAN_CPU_DELAY; b < BOOLEAN_COUNT; b++)
		for (size_t i = 0; i < METRIC_COUNT; i++)
			if (marks->true_booleans >> b & 1 && boolean_covers(b, &metrics[i]) &&
			    !is_peak_delay(&metrics[i]))
				metric_set_add(&whole, (enum metric_id)i);
	metric_set_add(&whole, METRIC_thread_count);
	return whole;
}

static bool delays_all_zero(const struct thread_values *values)
{
	for (size_t i = 0; i < array_length(block_delays); i++)
		if (metric_load_u64(values, &metrics[block_delays[i]]))
			return false;
	return true;
}

static bool delays_from_boot(const struct ctprof_snapshot *s)
{
	return text_has_word(name_text(s->host ? s->host->kernel_cmdline : NULL),
			     TEXT("delayacct"));
}

static void infer_thread(struct ctprof_thread *thread, const struct metric_set *families,
			 bool decide_delays)
{
	struct thread_record *record = &thread->record;

	for (size_t i = 0; i < array_length(record->measured.words); i++)
		record->measured.words[i] &= families->words[i];
	metric_set_add(&record->measured, METRIC_thread_count);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *metric = &metrics[i];
		bool text = metric->type == VALUE_label || metric->type == VALUE_cpu_set ||
			    metric->type == VALUE_letter;

		if ((text && !has_value(thread, metric)) ||
		    !metric_is_of(metric, thread->tid == thread->tgid, false))
			metric_set_remove(&record->measured, (enum metric_id)i);
	}
	if (decide_delays && delays_all_zero(&record->values))
		foreign_apply_boolean(thread, BOOLEAN_BLOCK_DELAY);
}

/* The flat form: units, and what it never filled. */
static void infer_flat(struct thread_record *record)
{
	static const enum metric_id in_ms[] = { METRIC_wait_sum, METRIC_iowait_sum };
	static const enum metric_id never[] = { METRIC_block_sum, METRIC_allocated_bytes,
						METRIC_deallocated_bytes };

	for (size_t i = 0; i < array_length(in_ms); i++) {
		const struct metric *metric = &metrics[in_ms[i]];
		uint64_t value = metric_load_u64(&record->values, metric);

		if (__builtin_mul_overflow(value, NS_PER_MS, &value))
			value = UINT64_MAX;
		metric_store_u64(&record->values, metric, value);
	}
	for (size_t i = 0; i < array_length(never); i++)
		metric_set_remove(&record->measured, never[i]);
}

/* --- cgroups and pressure --- */

/* A pressure line was read when any of its four numbers is not zero. */
static void infer_psi_half(struct psi_half *half)
{
	bool any = half->avg10.value || half->avg60.value || half->avg300.value ||
		   half->total_usec.value;

	if (!any)
		*half = (struct psi_half){ 0 };
}

static void infer_psi(struct psi *psi)
{
	struct psi_resource *all[] = { &psi->cpu, &psi->memory, &psi->io, &psi->irq };

	for (size_t i = 0; i < array_length(all); i++) {
		infer_psi_half(&all[i]->some);
		infer_psi_half(&all[i]->full);
	}
}

/*
 * A number is known to have been read when it is not zero. cpu.stat always has a usage when it can
 * be read, so its other zeros are zeros then. Pressure is inferred by lines.
 */
static void infer_leaf(void *context, size_t number, const char *name, struct reading *reading)
{
	const struct cgroup_counters *cgroup = context;
	bool of_cpu_stat =
		reading == &cgroup->cpu.nr_throttled || reading == &cgroup->cpu.throttled_usec;
	const void *at = reading;

	(void)number, (void)name;
	if (at >= (const void *)&cgroup->psi && at < (const void *)(&cgroup->psi + 1))
		return;
	if (reading->unlimited ||
	    (!reading->value && !(of_cpu_stat && cgroup->cpu.usage_usec.measured)))
		*reading = (struct reading){ 0 };
}

static void infer_cgroup(struct cgroup_counters *cgroup)
{
	/* The usage is the first of its file, so it is decided when the others are. */
	schema_leaves(&snapshot_cgroup_fields, cgroup, infer_leaf, cgroup);
	infer_psi(&cgroup->psi);
	cgroup->memory.stat.measured = cgroup->memory.stat.count > 0;
	cgroup->memory.events.measured = cgroup->memory.events.count > 0;
}

struct error *snapshot_adopt_foreign(struct ctprof_snapshot *s, const struct foreign_marks *marks)
{
	struct metric_set seen, families;
	bool decide_delays = !marks->booleans && !delays_from_boot(s);

	s->origin = marks->flat ? ORIGIN_HOST_STATE : ORIGIN_KTSTR;
	if (marks->flat)
		for (size_t t = 0; t < s->threads.count; t++)
			infer_flat(&snapshot_thread(s, t)->record);
	seen = seen_anywhere(s);
	families = families_seen(&seen, marks);
	for (size_t t = 0; t < s->threads.count; t++)
		infer_thread(snapshot_thread(s, t), &families, decide_delays);
	infer_psi(&s->psi);
	for (size_t i = 0; i < s->cgroups.count; i++)
		infer_cgroup(&s->cgroups.items[i]);
	if (marks->flat)
		return snapshot_remark(s,
				       "written by ktstr host-state: its wait_sum and iowait_sum "
				       "are exact to 1 ms only; what was measured is inferred "
				       "(ctprof-show(1) says how)");
	return snapshot_remark(s,
			       "written by ktstr ctprof, which marks %s: what was measured is "
			       "inferred (ctprof-show(1) says how)",
			       marks->booleans ? "only some families as measured"
					       : "nothing as measured");
}
