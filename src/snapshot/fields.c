/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/fields.h"

#include <pthread.h>
#include <stdio.h>

#include "snapshot/schema.h"

const char *const field_list_names[LIST_COUNT] = {
	[LIST_THREADS] = "threads",
	[LIST_CGROUPS] = "cgroup_stats",
	[LIST_PSI] = "psi",
	[LIST_SCHED_EXT] = "sched_ext",
};

static const struct json_fields *const schemas[LIST_COUNT] = {
	[LIST_CGROUPS] = &snapshot_cgroup_fields,
	[LIST_PSI] = &snapshot_psi_fields,
	[LIST_SCHED_EXT] = &snapshot_sched_ext_fields,
};

const struct json_fields *fields_schema(enum field_list list)
{
	return schemas[list];
}

/* Names of schema leaves are made from their rows once. */
static struct {
	char names[SCHEMA_LEAVES_MAX][48];
	size_t count;
} leaves[LIST_COUNT];

static void keep_name(void *context, size_t number, const char *name, struct reading *reading)
{
	enum field_list list = *(enum field_list *)context;

	(void)reading;
	if (number >= SCHEMA_LEAVES_MAX)
		return;
	snprintf(leaves[list].names[number], sizeof(leaves[list].names[number]), "%s", name);
	leaves[list].count = number + 1;
}

static void name_leaves(void)
{
	static union {
		struct cgroup_counters cgroup;
		struct psi psi;
		struct sched_ext sched_ext;
	} scratch;

	for (enum field_list list = LIST_CGROUPS; list < LIST_COUNT; list++)
		schema_leaves(schemas[list], &scratch, keep_name, &list);
}

static void need_names(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, name_leaves);
}

size_t fields_count(enum field_list list)
{
	if (list == LIST_THREADS)
		return THREAD_FIELD_COUNT;
	need_names();
	return leaves[list].count;
}

const char *fields_name(enum field_list list, size_t number)
{
	if (list != LIST_THREADS) {
		need_names();
		return leaves[list].names[number];
	}
	if (number == THREAD_FIELD_START_TIME)
		return "start_time_clock_ticks";
	if (number == THREAD_FIELD_SMAPS)
		return "smaps_rollup_kib";
	return metrics[number].name;
}

int fields_find(enum field_list list, struct text name)
{
	for (size_t i = 0; i < fields_count(list); i++)
		if (text_equal(text_of(fields_name(list, i)), name))
			return (int)i;
	return -1;
}

void thread_measured_bits(const struct ctprof_thread *thread, struct bits *ret)
{
	*ret = (struct bits){ 0 };
	memcpy(ret->words, thread->record.measured.words, sizeof(thread->record.measured.words));
	if (thread->start_time_clock_ticks.measured)
		bits_add(ret, THREAD_FIELD_START_TIME);
	if (thread->smaps_rollup_kib)
		bits_add(ret, THREAD_FIELD_SMAPS);
}

void thread_apply_bits(struct ctprof_thread *thread, const struct bits *bits)
{
	struct metric_set *measured = &thread->record.measured;

	for (size_t i = 0; i < array_length(measured->words); i++)
		measured->words[i] &= bits->words[i];
	thread->start_time_clock_ticks.measured &= bits_has(bits, THREAD_FIELD_START_TIME);
	if (!bits_has(bits, THREAD_FIELD_SMAPS))
		thread->smaps_rollup_kib = NULL;
}

static void collect_reading(void *context, size_t number, const char *name, struct reading *reading)
{
	(void)name;
	if (reading->measured && number < BITS_MAX)
		bits_add(context, number);
}

void object_measured_bits(enum field_list list, void *object, struct bits *ret)
{
	*ret = (struct bits){ 0 };
	schema_leaves(schemas[list], object, collect_reading, ret);
}

static void apply(void *context, size_t number, const char *name, struct reading *reading)
{
	(void)name;
	if (number >= BITS_MAX || !bits_has(context, number))
		*reading = (struct reading){ 0 };
}

void object_apply_bits(enum field_list list, void *object, const struct bits *bits)
{
	schema_leaves(schemas[list], object, apply, (void *)(uintptr_t)bits);
}
