/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/thread_files.h"

#include "base/utf8.h"
#include "os/pairs.h"
#include "os/stat.h"

const char *const delay_accounting_names[] = {
	[DELAYS_UNKNOWN] = "unknown",
	[DELAYS_OFF] = "off",
	[DELAYS_RUNTIME] = "runtime",
	[DELAYS_BOOT] = "boot",
};

/* --- one value --- */

static bool store_name(struct taker *taker, const struct metric *metric, struct text text,
		       struct thread_record *record)
{
	const struct name *name = snapshot_name(taker->snapshot, text);

	if (!name)
		return false;
	metric_store_name(&record->values, metric, name);
	return true;
}

/* Times in milliseconds with a fraction, as in /proc/<tid>/sched; false: not one, or negative. */
static bool take_ms_as_ns(struct taker *taker, struct text value, uint64_t *ret_ns)
{
	enum sched_ms read = sched_ms_as_ns(value, ret_ns);

	taker->negative_times += read == SCHED_MS_NEGATIVE;
	return read == SCHED_MS_OK;
}

static bool store_number(struct taker *taker, const struct binding *binding, struct text value,
			 struct thread_record *record)
{
	const struct metric *metric = binding->metric;
	uint64_t number;
	int64_t signed_number;

	switch (binding->source->form) {
	case FORM_MS_AS_NS:
		return take_ms_as_ns(taker, value, &number) &&
		       metric_store_u64(&record->values, metric, number);
	case FORM_KIB:
		if (!pairs_kib(value, &number) || __builtin_mul_overflow(number, 1024, &number))
			return false;
		return metric_store_u64(&record->values, metric, number);
	case FORM_LETTER:
		return value.length &&
		       metric_store_i64(&record->values, metric, (unsigned char)value.bytes[0]);
	case FORM_FLAG:
		return text_u64(value, &number) && number <= 1 &&
		       metric_store_u64(&record->values, metric, number);
	default:
		if (value.length && value.bytes[0] == '-')
			return text_i64(value, &signed_number) &&
			       metric_store_i64(&record->values, metric, signed_number);
		return text_u64(value, &number) &&
		       metric_store_u64(&record->values, metric, number);
	}
}

/* Returns false for a requested value that cannot be parsed; the record is then unchanged. */
static bool take_value(struct taker *taker, const struct binding *binding, struct text value,
		       struct ctprof_thread *thread)
{
	const struct metric *metric = binding->metric;
	struct thread_record *record = &thread->record;
	char policy[POLICY_NAME_MAX];
	uint64_t number;
	bool stored;

	if (!metric_is_of(metric, thread->tid == thread->tgid, thread->is_kernel) ||
	    ((taker->keep || binding->source != &metric->sources[0]) &&
	     metric_set_has(&record->measured, metric_id(metric))))
		return true;
	if (binding->source->form == FORM_POLICY)
		stored = text_u64(value, &number) &&
			 store_name(taker, metric, text_of(policy_name(policy, number)), record);
	else if (binding->source->form == FORM_CPU_LIST)
		stored = cpulist_parse(value, &taker->cpus) && taker->cpus.count &&
			 take_affinity(taker, thread);
	else
		stored = store_number(taker, binding, value, record);
	if (stored)
		metric_set_add(&record->measured, metric_id(metric));
	return stored;
}

bool take_affinity(struct taker *taker, struct ctprof_thread *thread)
{
	const struct name *set = names_intern(&taker->snapshot->names, taker->cpus.items,
					      taker->cpus.count * sizeof(*taker->cpus.items));

	if (!set)
		return false;
	thread->record.values.cpu_affinity.v = set;
	metric_set_add(&thread->record.measured, METRIC_cpu_affinity);
	return true;
}

/* --- files of columns --- */

static bool take_columns(struct taker *taker, enum metric_source_id source,
			 const struct text *columns, unsigned count, struct ctprof_thread *thread)
{
	bool understood = true;

	for (size_t i = 0; i < taker->plan->count; i++) {
		const struct binding *binding = &taker->plan->bindings[i];

		if (binding->source->id != source || binding->column > count)
			continue;
		if (columns[binding->column].length)
			understood &= take_value(taker, binding, columns[binding->column], thread);
		else
			understood = false;
	}
	return understood;
}

static bool take_stat(struct taker *taker, struct text bytes, struct ctprof_thread *thread)
{
	struct stat_line line;
	uint64_t ticks, flags;

	if (!stat_parse(bytes, &line))
		return false;
	thread->comm = snapshot_name(taker->snapshot, line.comm);
	if (text_u64(line.columns[STAT_FLAGS], &flags))
		thread->is_kernel = flags & PF_KTHREAD;
	if (text_u64(line.columns[STAT_START_TIME], &ticks))
		thread->start_time_clock_ticks = reading_of(ticks);
	return take_columns(taker, SOURCE_STAT, line.columns, STAT_COLUMNS, thread) &&
	       thread->start_time_clock_ticks.measured && thread->comm;
}

static bool take_schedstat(struct taker *taker, struct text bytes, struct ctprof_thread *thread)
{
	struct text columns[4] = { 0 };

	for (unsigned i = 1; i < array_length(columns); i++)
		if (!text_word(&bytes, &columns[i]))
			break;
	return take_columns(taker, SOURCE_SCHEDSTAT, columns, 3, thread);
}

/* --- files of pairs --- */

/* Time that another key is taken off from: both must be there. */
struct difference {
	const struct metric *metric;
	uint64_t whole, less;
	bool has_whole, has_less;
};

static bool take_difference(struct taker *taker, const struct binding *binding, struct text value,
			    struct difference *difference)
{
	uint64_t ns;

	if (!take_ms_as_ns(taker, value, &ns))
		return false;
	difference->metric = binding->metric;
	if (binding->is_less) {
		difference->less = ns;
		difference->has_less = true;
	} else {
		difference->whole = ns;
		difference->has_whole = true;
	}
	return true;
}

/* The kernel's two clocks may be a moment apart: never below zero. */
static void store_difference(const struct difference *d, struct thread_record *record)
{
	if (!d->has_whole || !d->has_less)
		return;
	metric_store_u64(&record->values, d->metric, d->whole > d->less ? d->whole - d->less : 0);
	metric_set_add(&record->measured, metric_id(d->metric));
}

static bool take_pairs(struct taker *taker, enum metric_source_id source, struct text bytes,
		       struct ctprof_thread *thread)
{
	struct difference differences[PLAN_DIFFERENCES_MAX] = { 0 };
	struct text key, value;
	bool understood = true;
	unsigned known = 0;

	if (source == SOURCE_SCHED)
		bytes = sched_body(bytes);
	while (pairs_next(&bytes, ':', &key, &value)) {
		if (source == SOURCE_SCHED)
			key = sched_key(key);
		for (const struct binding *b = plan_chain(taker->plan, source, key); b;
		     b = b->next) {
			if (!text_equal(b->key, key))
				continue;
			known++;
			understood &= b->source->less ? take_difference(taker, b, value,
									&differences[b->difference])
						      : take_value(taker, b, value, thread);
		}
	}
	for (size_t i = 0; i < taker->plan->difference_count; i++)
		store_difference(&differences[i], &thread->record);
	return understood && known;
}

bool take_thread_file(struct taker *taker, enum metric_source_id source, struct text bytes,
		      struct ctprof_thread *thread)
{
	switch (source) {
	case SOURCE_STAT:
		return take_stat(taker, bytes, thread);
	case SOURCE_SCHEDSTAT:
		return take_schedstat(taker, bytes, thread);
	default:
		return take_pairs(taker, source, bytes, thread);
	}
}

/* --- memory --- */

bool take_smaps_rollup(struct taker *taker, struct text bytes, struct ctprof_thread *thread)
{
	struct ctprof_snapshot *s = taker->snapshot;
	_cleanup_error_ struct error *twice = NULL;
	struct counts *smaps = arena_alloc(&s->arena, sizeof(*smaps));
	struct text key, value;
	bool understood = smaps != NULL;

	while (smaps && pairs_next(&bytes, ':', &key, &value)) {
		uint64_t kib;

		if (memchr(key.bytes, ' ', key.length) || memchr(key.bytes, '-', key.length))
			continue;
		understood &= pairs_kib(value, &kib) && utf8_is_valid(key) &&
			      counts_add(s, smaps, key, kib);
	}
	twice = smaps ? counts_check(smaps) : NULL;
	if (!smaps || twice)
		return false;
	if (smaps->count)
		thread->smaps_rollup_kib = smaps;
	return understood;
}

/* --- taskstats --- */

static bool delays_recorded(const struct taskstats_values *stats)
{
	for (unsigned c = TASKSTATS_blkio; c < TASKSTATS_CATEGORY_COUNT; c++)
		if (stats->values[taskstats_field(c, TASKSTATS_COUNT)] ||
		    stats->values[taskstats_field(c, TASKSTATS_TOTAL)])
			return true;
	return false;
}

/* Do the delays of this category mean something for this thread? */
static bool category_counts(unsigned category, const struct taskstats_values *stats,
			    enum delay_accounting delays, bool irq_accounting)
{
	if (category == TASKSTATS_cpu)
		return true;
	if (delays == DELAYS_OFF || (delays != DELAYS_BOOT && !delays_recorded(stats)))
		return false;
	return category != TASKSTATS_irq || irq_accounting ||
	       stats->values[taskstats_field(TASKSTATS_irq, TASKSTATS_COUNT)];
}

void take_taskstats(struct taker *taker, const struct taskstats_values *stats,
		    enum delay_accounting delays, bool irq_accounting, struct ctprof_thread *thread)
{
	struct thread_record *record = &thread->record;

	for (size_t i = 0; i < taker->plan->count; i++) {
		const struct binding *binding = &taker->plan->bindings[i];
		unsigned field = binding->column;
		uint64_t value;

		if (binding->source->id != SOURCE_TASKSTATS)
			continue;
		if (field >= TASKSTATS_FIELD_COUNT || !(stats->present >> field & 1))
			continue;
		if (field < TASKSTATS_HIWATER_RSS &&
		    !category_counts(field / TASKSTATS_PART_COUNT, stats, delays, irq_accounting))
			continue;
		value = stats->values[field];
		if (binding->source->form == FORM_KIB &&
		    __builtin_mul_overflow(value, 1024, &value))
			value = UINT64_MAX;
		metric_store_u64(&record->values, binding->metric, value);
		metric_set_add(&record->measured, metric_id(binding->metric));
	}
}
