/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/build.h"

#include "os/cpulist.h"
#include "snapshot/file.h"

struct ctprof_snapshot *build_snapshot(void)
{
	struct ctprof_snapshot *s = NULL;

	expect_ok(snapshot_create(&s));
	return s;
}

struct ctprof_thread *build_thread(struct ctprof_snapshot *s, uint32_t tgid, uint32_t tid,
				   const char *pcomm, const char *comm, const char *cgroup)
{
	struct ctprof_thread *thread = snapshot_add_thread(s);

	assert_non_null(thread);
	thread->tgid = tgid;
	thread->tid = tid;
	thread->pcomm = snapshot_name(s, text_of(pcomm));
	thread->comm = snapshot_name(s, text_of(comm));
	thread->cgroup = snapshot_name(s, text_of(cgroup));
	build_number(thread, METRIC_thread_count, 1);
	return thread;
}

void build_number(struct ctprof_thread *thread, enum metric_id id, uint64_t value)
{
	assert_true(metric_store_u64(&thread->record.values, &metrics[id], value));
	metric_set_add(&thread->record.measured, id);
}

void build_signed(struct ctprof_thread *thread, enum metric_id id, int64_t value)
{
	assert_true(metric_store_i64(&thread->record.values, &metrics[id], value));
	metric_set_add(&thread->record.measured, id);
}

void build_label(struct ctprof_snapshot *s, struct ctprof_thread *thread, enum metric_id id,
		 const char *label)
{
	metric_store_name(&thread->record.values, &metrics[id], snapshot_name(s, text_of(label)));
	metric_set_add(&thread->record.measured, id);
}

void build_cpus(struct ctprof_snapshot *s, struct ctprof_thread *thread, const char *list)
{
	struct cpus cpus = { 0 };

	assert_true(cpulist_parse(text_of(list), &cpus));
	thread->record.values.cpu_affinity.v =
		names_intern(&s->names, cpus.items ? (const void *)cpus.items : "",
			     cpus.count * sizeof(*cpus.items));
	assert_non_null(thread->record.values.cpu_affinity.v);
	metric_set_add(&thread->record.measured, METRIC_cpu_affinity);
	array_deinit(&cpus);
}

struct error *parse_snapshot(struct text json, struct ctprof_snapshot **ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *s = build_snapshot();
	_cleanup_(snapshot_parser_destroy) struct snapshot_parser *parser = NULL;
	struct error *err = snapshot_parser_create(s, &parser);

	if (!err)
		err = snapshot_parser_feed(parser, json);
	if (!err)
		err = snapshot_parser_finish(parser);
	if (!err)
		*ret = take_ptr(s);
	return err;
}

struct ctprof_snapshot *parsed(const char *json)
{
	struct ctprof_snapshot *s = NULL;

	expect_ok(parse_snapshot(text_of(json), &s));
	return s;
}
