/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/clickhouse.h"
#include "os/cpulist.h"
#include "store/left_out.h"

/* The effective users of processes, by number. */
struct process_uids {
	MAP(uint32_t, uint32_t);
};

static struct error *take_users(const struct ctprof_snapshot *snapshot, struct process_uids *users)
{
	for (size_t i = 0; i < snapshot->processes.count; i++) {
		const struct process *process = &snapshot->processes.items[i];
		uint32_t *uid = map_add(users, process->tgid, NULL);

		if (!uid)
			return &error_no_memory;
		*uid = process->uid.measured ? (uint32_t)process->uid.value : UID_UNKNOWN;
	}
	return NULL;
}

/* Texts of a row that are not in memory otherwise. */
struct row_texts {
	char *cpus;
	char letter;
};

static struct error *text_of_metric(const struct thread_record *record, const struct metric *metric,
				    struct row_texts *texts, struct text *ret)
{
	const struct name *name;
	struct cpus cpus;

	if (metric->type == VALUE_letter) {
		texts->letter = (char)metric_load_u64(&record->values, metric);
		*ret = (struct text){ &texts->letter, texts->letter != '\0' };
		return NULL;
	}
	name = metric_load_name(&record->values, metric);
	if (metric->type == VALUE_label) {
		*ret = name_text(name);
		return NULL;
	}
	cpus = (struct cpus){ { (uint32_t *)(uintptr_t)(name ? cpu_set_cpus(name) : NULL),
				cpu_set_count(name), 0 } };
	free(texts->cpus);
	texts->cpus = cpulist_text(&cpus);
	if (!texts->cpus)
		return &error_no_memory;
	*ret = text_of(texts->cpus);
	return NULL;
}

/* A metric that was not measured is 0 or "", and its bit is not set. */
static struct error *put_metric(const struct thread_record *record, size_t id,
				union store_value *row, struct row_texts *texts)
{
	const struct metric *metric = &metrics[id];
	union store_value *value = &row[THREADS_COUNT + id];
	unsigned bit = store_metric_bit((unsigned)id);

	if (!metric_set_has(&record->measured, (enum metric_id)id) ||
	    store_is_left_out((unsigned)id))
		return NULL;
	row[bit < 64 ? THREADS_measured0 : THREADS_measured1].number |= (uint64_t)1 << bit % 64;
	switch (metric->type) {
	case VALUE_label:
	case VALUE_letter:
	case VALUE_cpu_set:
		return text_of_metric(record, metric, texts, &value->text);
	case VALUE_ordinal_i32:
		value->number = (uint64_t)metric_load_i64(&record->values, metric);
		return NULL;
	default:
		value->number = metric_load_u64(&record->values, metric);
		if (store_is_rounded((unsigned)id))
			value->number = store_round(value->number);
		return NULL;
	}
}

static struct error *put_thread(struct clickhouse *sink, const struct agent_interval *interval,
				const struct process_uids *users,
				const struct ctprof_thread *thread)
{
	const uint32_t *uid = map_find(users, thread->tgid);
	struct row_texts texts = { 0 };
	union store_value row[THREADS_COUNT + METRIC_COUNT] = {
		[THREADS_host] = { .text = text_of(interval->identity->host) },
		[THREADS_t] = { sink->insert.t },
		[THREADS_ms] = { clickhouse_ms(interval) },
		[THREADS_process] = { .text = name_text(thread->pcomm) },
		[THREADS_comm] = { .text = name_text(thread->comm) },
		[THREADS_cgroup] = { .text = name_text(thread->cgroup) },
		[THREADS_tgid] = { thread->tgid },
		[THREADS_tid] = { thread->tid },
		[THREADS_uid] = { uid ? *uid : UID_UNKNOWN },
		[THREADS_facts] = { sink->facts },
		[THREADS_started] = { thread->start_time_clock_ticks.value },
	};
	struct error *err = NULL;

	for (size_t id = 0; id < METRIC_COUNT && !err; id++)
		err = put_metric(&thread->record, id, row, &texts);
	if (!err)
		err = insert_row(&sink->insert, row);
	free(texts.cpus);
	return err;
}

struct error *clickhouse_threads(struct clickhouse *sink, const struct agent_interval *interval)
{
	const struct ctprof_snapshot *changes = interval->changes;
	struct process_uids users = { 0 };
	struct error *err = take_users(changes, &users);

	if (!err)
		err = insert_begin(&sink->insert, STORE_TABLE_threads);
	for (size_t i = 0; i < changes->threads.count && !err; i++)
		err = put_thread(sink, interval, &users, snapshot_thread(changes, i));
	map_deinit(&users);
	return err ? err : insert_end(&sink->insert);
}
