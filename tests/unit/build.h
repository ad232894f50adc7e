/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots by hand, for tests.
 *
 *	struct ctprof_thread *t = build_thread(s, 10, 11, "bash", "bash", "/user");
 *	build_number(t, METRIC_run_time_ns, 5);
 *	build_cpus(s, t, "0-3,8");
 */
#ifndef UNIT_BUILD_H
#define UNIT_BUILD_H

#include "metric/aggregate.h"
#include "snapshot/model.h"
#include "unit/unit.h"

struct ctprof_snapshot *build_snapshot(void);

struct ctprof_thread *build_thread(struct ctprof_snapshot *s, uint32_t tgid, uint32_t tid,
				   const char *pcomm, const char *comm, const char *cgroup);

/* A measured value: of any number, letter or flag; of a label; of a cpu_set. */
void build_number(struct ctprof_thread *thread, enum metric_id id, uint64_t value);
void build_signed(struct ctprof_thread *thread, enum metric_id id, int64_t value);
void build_label(struct ctprof_snapshot *s, struct ctprof_thread *thread, enum metric_id id,
		 const char *label);
void build_cpus(struct ctprof_snapshot *s, struct ctprof_thread *thread, const char *list);

/* One more thread into an aggregate, measured or not. False when out of memory. */
static inline bool build_aggregate(struct aggregate *a, const struct metric *metric,
				   const struct thread_record *thread)
{
	a->threads++;
	return !metric_set_has(&thread->measured, metric_id(metric)) ||
	       aggregate_take(a, metric, &thread->values, false);
}

static inline bool is_measured(const struct ctprof_thread *thread, enum metric_id id)
{
	return metric_set_has(&thread->record.measured, id);
}

/* The snapshot in JSON text, as the reader sees it after decompression. */
struct error *parse_snapshot(struct text json, struct ctprof_snapshot **ret);

/* The same, where it is right; the caller destroys it. */
struct ctprof_snapshot *parsed(const char *json);

#endif
