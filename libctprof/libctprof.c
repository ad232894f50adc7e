/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "ctprof/snapshot.h"
#include "snapshot/file.h"

int ctprof_snapshot_open(const char *path, struct ctprof_snapshot **ret, struct ctprof_error *error)
{
	_cleanup_error_ struct error *err = snapshot_load(path, ret);

	if (err && error) {
		error->errnum = err->errnum;
		snprintf(error->message, sizeof(error->message), "%s", err->message);
	}
	return err ? -1 : 0;
}

void ctprof_snapshot_close(struct ctprof_snapshot *snapshot)
{
	snapshot_destroy(snapshot);
}

uint64_t ctprof_snapshot_captured_at_unix_ns(const struct ctprof_snapshot *snapshot)
{
	return snapshot->captured_at_unix_ns.value;
}

const char *ctprof_snapshot_note(const struct ctprof_snapshot *snapshot)
{
	return snapshot->note ? snapshot->note->bytes : NULL;
}

bool ctprof_snapshot_is_whole(const struct ctprof_snapshot *snapshot)
{
	return !snapshot->capture || !snapshot->capture->cut_short;
}

size_t ctprof_snapshot_remark_count(const struct ctprof_snapshot *snapshot)
{
	return snapshot->remarks.count;
}

const char *ctprof_snapshot_remark(const struct ctprof_snapshot *snapshot, size_t i)
{
	return snapshot->remarks.items[i];
}

size_t ctprof_snapshot_thread_count(const struct ctprof_snapshot *snapshot)
{
	return snapshot->threads.count;
}

const struct ctprof_thread *ctprof_snapshot_thread(const struct ctprof_snapshot *snapshot, size_t i)
{
	return snapshot_thread(snapshot, i);
}

uint32_t ctprof_thread_tid(const struct ctprof_thread *thread)
{
	return thread->tid;
}

uint32_t ctprof_thread_tgid(const struct ctprof_thread *thread)
{
	return thread->tgid;
}

const char *ctprof_thread_comm(const struct ctprof_thread *thread)
{
	return thread->comm->bytes;
}

const char *ctprof_thread_pcomm(const struct ctprof_thread *thread)
{
	return thread->pcomm->bytes;
}

const char *ctprof_thread_cgroup(const struct ctprof_thread *thread)
{
	return thread->cgroup->bytes;
}

size_t ctprof_metric_count(void)
{
	return METRIC_COUNT;
}

size_t ctprof_metric_find(const char *name)
{
	const struct metric *metric = metric_find(text_of(name));

	return metric ? metric_id(metric) : CTPROF_METRIC_NONE;
}

const char *ctprof_metric_name(size_t metric)
{
	return metric < METRIC_COUNT ? metrics[metric].name : NULL;
}

const char *ctprof_metric_unit(size_t metric)
{
	static const char *const names[] = { [UNIT_NONE] = "",
					     [UNIT_COUNT] = "",
					     [UNIT_NS] = "ns",
					     [UNIT_BYTES] = "B",
					     [UNIT_TICKS] = "ticks" };

	return metric < METRIC_COUNT ? names[metrics[metric].unit] : "";
}

enum ctprof_value_kind ctprof_metric_kind(size_t metric)
{
	if (metric >= METRIC_COUNT)
		return CTPROF_VALUE_U64;
	switch (metrics[metric].kind) {
	case KIND_ORDINAL:
		return CTPROF_VALUE_I64;
	case KIND_CATEGORY:
		return CTPROF_VALUE_TEXT;
	case KIND_SET:
		return CTPROF_VALUE_CPUS;
	default:
		return CTPROF_VALUE_U64;
	}
}

size_t ctprof_metric_in_progress(size_t metric)
{
	if (metric >= METRIC_COUNT || !metrics[metric].in_progress)
		return CTPROF_METRIC_NONE;
	return metrics[metric].in_progress;
}

bool ctprof_thread_measured(const struct ctprof_thread *thread, size_t metric)
{
	return metric < METRIC_COUNT &&
	       metric_set_has(&thread->record.measured, (enum metric_id)metric);
}

static bool has(const struct ctprof_thread *thread, size_t metric, enum ctprof_value_kind kind)
{
	return ctprof_thread_measured(thread, metric) && ctprof_metric_kind(metric) == kind;
}

bool ctprof_thread_u64(const struct ctprof_thread *thread, size_t metric, uint64_t *ret)
{
	if (!has(thread, metric, CTPROF_VALUE_U64))
		return false;
	*ret = metric_load_u64(&thread->record.values, &metrics[metric]);
	return true;
}

bool ctprof_thread_i64(const struct ctprof_thread *thread, size_t metric, int64_t *ret)
{
	if (!has(thread, metric, CTPROF_VALUE_I64))
		return false;
	*ret = metric_load_i64(&thread->record.values, &metrics[metric]);
	return true;
}

bool ctprof_thread_text(const struct ctprof_thread *thread, size_t metric, char buffer[2],
			const char **ret)
{
	int64_t code;

	if (!has(thread, metric, CTPROF_VALUE_TEXT))
		return false;
	code = metric_load_i64(&thread->record.values, &metrics[metric]);
	if (metrics[metric].type == VALUE_label) {
		*ret = metric_load_name(&thread->record.values, &metrics[metric])->bytes;
	} else if (metrics[metric].type == VALUE_flag) {
		*ret = code ? "true" : "false";
	} else {
		buffer[0] = (char)code;
		buffer[1] = '\0';
		*ret = buffer;
	}
	return true;
}

bool ctprof_thread_cpus(const struct ctprof_thread *thread, size_t metric, const uint32_t **ret,
			size_t *ret_count)
{
	const struct name *set;

	if (!has(thread, metric, CTPROF_VALUE_CPUS))
		return false;
	set = metric_load_name(&thread->record.values, &metrics[metric]);
	*ret = cpu_set_cpus(set);
	*ret_count = cpu_set_count(set);
	return true;
}
