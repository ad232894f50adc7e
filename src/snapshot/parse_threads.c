/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/parser.h"

static JSON_TAKE(take_start_time)
{
	struct ctprof_thread *thread = target;

	thread->start_time_clock_ticks.measured = true;
	return json_get_u64(value, key, &thread->start_time_clock_ticks.value);
}

static JSON_TAKE(take_smaps)
{
	struct ctprof_thread *thread = target;
	struct ctprof_snapshot *s = snapshot_of(r);

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	/* Both spellings of one map: the first is kept. */
	if (thread->smaps_rollup_kib)
		return NULL;
	thread->smaps_rollup_kib = arena_alloc(&s->arena, sizeof(*thread->smaps_rollup_kib));
	if (!thread->smaps_rollup_kib)
		return &error_no_memory;
	json_enter(r, &snapshot_counts_shape, thread->smaps_rollup_kib);
	return NULL;
}

static JSON_TAKE(take_cpu)
{
	struct snapshot_parser *p = parser_of(r);
	uint32_t cpu;
	struct error *err = json_get_u32(value, key, &cpu);

	if (err)
		return err;
	if (p->cpus.count && p->cpus.items[p->cpus.count - 1] >= cpu)
		return json_unexpected(key, "CPUs in ascending order");
	return array_push(&p->cpus, cpu) ? NULL : &error_no_memory;
}

static struct error *finish_cpus(struct json_reader *r, void *target)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_thread *thread = target;
	const struct name *set = names_intern(&p->context.snapshot->names,
					      p->cpus.items ? (void *)p->cpus.items : "",
					      p->cpus.count * sizeof(*p->cpus.items));

	thread->record.values.cpu_affinity.v = set;
	return set ? NULL : &error_no_memory;
}

static struct error *take_affinity(struct json_reader *r, struct text key,
				   const struct json_value *value, struct ctprof_thread *thread)
{
	static const struct json_shape cpus = { .each = take_cpu, .done = finish_cpus };

	if (value->type != JSON_ARRAY)
		return json_unexpected(key, "an array of CPUs");
	parser_of(r)->cpus.count = 0;
	json_enter(r, &cpus, thread);
	return NULL;
}

static struct error *take_metric_number(struct thread_values *values, const struct metric *metric,
					struct text key, const struct json_value *value)
{
	uint64_t number;
	int64_t signed_number;
	struct error *err;

	if (metric->type == VALUE_ordinal_i32) {
		err = json_get_i64(value, key, &signed_number);
		if (!err && !metric_store_i64(values, metric, signed_number))
			err = json_unexpected(key, "a 32-bit integer");
		return err;
	}
	err = json_get_u64(value, key, &number);
	if (!err && !metric_store_u64(values, metric, number))
		err = json_unexpected(key, "a smaller integer");
	return err;
}

static JSON_TAKE(take_metric)
{
	struct ctprof_thread *thread = target;
	const struct metric *metric = &metrics[member->detail];
	struct thread_values *values = &thread->record.values;
	struct text text;
	uint64_t number;
	bool boolean;
	struct error *err;

	metric_set_add(&thread->record.measured, (enum metric_id)member->detail);
	switch (metric->type) {
	case VALUE_label:
		err = json_get_text(value, key, &text);
		if (!err)
			metric_store_name(values, metric, snapshot_name(snapshot_of(r), text));
		return err ? err : metric_load_name(values, metric) ? NULL : &error_no_memory;
	case VALUE_letter:
		err = json_get_text(value, key, &text);
		if (!err && (text.length != 1 ||
			     !metric_store_i64(values, metric, (unsigned char)text.bytes[0])))
			err = json_unexpected(key, "one printable character");
		return err;
	case VALUE_flag:
		err = json_get_bool(value, key, &boolean);
		if (!err)
			metric_store_i64(values, metric, boolean);
		return err;
	case VALUE_cpu_set:
		return take_affinity(r, key, value, thread);
	case VALUE_ordinal_i32:
	case VALUE_ordinal_u32:
		return take_metric_number(values, metric, key, value);
	default:
		/* Nearly all values of a file. */
		if (value->type == JSON_NUMBER && text_u64(value->text, &number)) {
			metric_place_u64(values, metric, number);
			return NULL;
		}
		return take_metric_number(values, metric, key, value);
	}
}

static JSON_TAKE(take_boolean)
{
	struct snapshot_parser *p = parser_of(r);
	bool boolean;
	struct error *err = json_get_bool(value, key, &boolean);

	if (err)
		return err;
	p->booleans_given |= (uint8_t)(1u << member->detail);
	if (boolean)
		p->booleans |= (uint8_t)(1u << member->detail);
	return NULL;
}

/* Members that only .hst.zst has, and that no row of ours can hold. */
static JSON_TAKE(take_flat)
{
	parser_of(r)->foreign.flat = true;
	return NULL;
}

#define ROW(name, take_, detail)                            \
	{                                                   \
		.json = { TEXT(name), take_, detail, NULL } \
	}

static const struct json_field thread_rows[] = {
	JSON_FIELD(u32, "tid", ctprof_thread, tid),
	JSON_FIELD(u32, "tgid", ctprof_thread, tgid),
	JSON_FIELD(name, "pcomm", ctprof_thread, pcomm),
	JSON_FIELD(name, "comm", ctprof_thread, comm),
	JSON_FIELD(name, "cgroup", ctprof_thread, cgroup),
	ROW("start_time_clock_ticks", take_start_time, 0),
#define METRIC(type, name, ...) ROW(#name, take_metric, METRIC_##name),
#include "metric/metrics.def"
#undef METRIC
	ROW("smaps_rollup_kb", take_smaps, 0),
	ROW("smaps_rollup_kib", take_smaps, 0),
	ROW("taskstats_measured", take_boolean, BOOLEAN_TASKSTATS),
	ROW("cpu_delay_active", take_boolean, BOOLEAN_CPU_DELAY),
	ROW("delay_block_active", take_boolean, BOOLEAN_BLOCK_DELAY),
	ROW("xacct_active", take_boolean, BOOLEAN_XACCT),
	ROW("jemalloc_measured", take_boolean, BOOLEAN_JEMALLOC),
	ROW("measured", json_take_measured, 0),
	ROW("nr_wakeups_idle", take_flat, 0),
	ROW("sleep_sum", take_flat, 0),
	ROW("block_count", take_flat, 0),
};

static struct error *finish_thread(struct json_reader *r, void *target)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_thread *thread = target;
	struct ctprof_snapshot *s = p->context.snapshot;

	if (!thread->tid || !thread->tgid)
		return error_create("a thread without tid and tgid");
	if (!thread->pcomm)
		thread->pcomm = snapshot_name(s, TEXT(""));
	if (!thread->comm)
		thread->comm = snapshot_name(s, TEXT(""));
	if (!thread->cgroup)
		thread->cgroup = snapshot_name(s, TEXT(""));
	if (!thread->pcomm || !thread->comm || !thread->cgroup)
		return &error_no_memory;
	thread->record.values.thread_count.v = 1;
	metric_set_add(&thread->record.measured, METRIC_thread_count);
	if (!p->ours && p->booleans_given) {
		p->foreign.booleans = true;
		p->foreign.true_booleans |= p->booleans;
		for (enum family_boolean b = 0; b < BOOLEAN_COUNT; b++)
			if (p->booleans_given >> b & 1 && !(p->booleans >> b & 1))
				foreign_apply_boolean(thread, b);
	}
	/* The original writes an empty map for what it could not read. */
	if (!p->ours && thread->smaps_rollup_kib && !thread->smaps_rollup_kib->count)
		thread->smaps_rollup_kib = NULL;
	parser_apply_bits(p, LIST_THREADS, thread);
	return NULL;
}

const struct json_fields thread_fields = JSON_FIELDS(thread_rows, .done = finish_thread);

JSON_TAKE(take_thread)
{
	struct snapshot_parser *p = parser_of(r);
	struct ctprof_thread *thread;

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object for each thread");
	thread = snapshot_add_thread(p->context.snapshot);
	if (!thread)
		return p->context.snapshot->threads.count < SNAPSHOT_THREADS_MAX
			       ? &error_no_memory
			       : error_create("more threads than Linux can have");
	p->body = true;
	p->booleans = p->booleans_given = 0;
	p->context.has_measured = false;
	json_enter(r, &thread_fields.shape, thread);
	return NULL;
}
