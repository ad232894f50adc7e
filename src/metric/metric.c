/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/metric.h"

#include <stdio.h>
#include <string.h>

#define member(name) (((struct thread_values *)0)->name)

/* The rule of a row must be the one that keeps the meaning of its type. */
#define METRIC(type, name, rule, ...)                        \
	_Static_assert(rule_of(member(name)) == RULE_##rule, \
		       "metric '" #name "': rule " #rule " has no meaning for a " #type);
#include "base/array.h"
#include "metric/metrics.def"
#undef METRIC

const struct metric_gate_info metric_gates[GATE_COUNT] = {
#define GATE(id, remedy) [GATE_##id] = { #id, remedy },
	GATES(GATE)
#undef GATE
};

const struct metric_class_info metric_classes[METRIC_CLASS_COUNT] = {
#define CLASS(id, tag, prose) [CLASS_##id] = { tag, prose },
	CLASSES(CLASS)
#undef CLASS
};

const struct metric_source_info metric_source_infos[SOURCE_COUNT] = {
#define SOURCE(id, name, what, denied) [SOURCE_##id] = { name, what, denied },
	SOURCES(SOURCE)
#undef SOURCE
};

/* The vocabulary of a row of metrics.def. */
#define FROM(...) .sources = { __VA_ARGS__ }
#define ONE                      \
	{                        \
		.id = SOURCE_ONE \
	}
#define STAT(n)                                  \
	{                                        \
		.id = SOURCE_STAT, .column = (n) \
	}
#define STAT_AS(n, as)                                              \
	{                                                           \
		.id = SOURCE_STAT, .column = (n), .form = FORM_##as \
	}
#define SCHEDSTAT(n)                                  \
	{                                             \
		.id = SOURCE_SCHEDSTAT, .column = (n) \
	}
#define STATUS(k)                               \
	{                                       \
		.id = SOURCE_STATUS, .key = (k) \
	}
#define STATUS_AS(k, as)                                           \
	{                                                          \
		.id = SOURCE_STATUS, .key = (k), .form = FORM_##as \
	}
#define SCHED(k)                               \
	{                                      \
		.id = SOURCE_SCHED, .key = (k) \
	}
#define SCHED_AS(k, as)                                           \
	{                                                         \
		.id = SOURCE_SCHED, .key = (k), .form = FORM_##as \
	}
#define SCHED_LESS(k, l)                                                           \
	{                                                                          \
		.id = SOURCE_SCHED, .key = (k), .less = (l), .form = FORM_MS_AS_NS \
	}
#define IO(k)                               \
	{                                   \
		.id = SOURCE_IO, .key = (k) \
	}
#define AFFINITY_CALL                 \
	{                             \
		.id = SOURCE_AFFINITY \
	}
#define TASKSTATS(k)                               \
	{                                          \
		.id = SOURCE_TASKSTATS, .key = (k) \
	}
#define TASKSTATS_AS(k, as)                                           \
	{                                                             \
		.id = SOURCE_TASKSTATS, .key = (k), .form = FORM_##as \
	}
#define JEMALLOC(k)                               \
	{                                         \
		.id = SOURCE_JEMALLOC, .key = (k) \
	}
#define STATES                      \
	{                           \
		.id = SOURCE_STATES \
	}
#define TASK(k)            .task = { .id = SOURCE_TASK, .key = #k }
#define TASK_LESS(k, l)    .task = { .id = SOURCE_TASK, .key = #k, .less = #l }
#define NEEDS(gates_)      .gates = (gates_)
#define FOR(class_)        .class = CLASS_##class_
#define CAVEAT(text)       .caveat = (text)
#define ZERO_IS_NO_EVENTS  .zero_is_no_events = true
#define DELAY_OF(category) .delay = DELAY_##category
#define LEADER_ONLY        .owners = OWNERS_LEADERS
#define USER_ONLY(other)   .owners = OWNERS_USER, .counterpart = METRIC_##other
#define KERNEL_ONLY(other) .owners = OWNERS_KERNEL, .counterpart = METRIC_##other
#define IDLE               .is_idle = true
#define LABEL              .is_label = true
#define MAY_EXCEED_LIFE    .may_exceed_life = true
#define IN_PROGRESS(name)  .in_progress = METRIC_##name

/* In NEEDS a gate is written by its bare name. */
enum {
#define GATE(id, remedy) id = 1 << GATE_##id,
	GATES(GATE)
#undef GATE
};

enum {
#define RULE(name, family, prose) FAMILY_OF_##name = FAMILY_##family,
	RULES(RULE)
#undef RULE
};

#define METRIC(type_, name_, rule_, section_, prose_, ...)       \
	[METRIC_##name_] = {                                     \
		.name = #name_,                                  \
		.type = VALUE_##type_,                           \
		.kind = kind_of(member(name_)),                  \
		.unit = unit_of(member(name_)),                  \
		.rule = RULE_##rule_,                            \
		.family = (enum metric_family)FAMILY_OF_##rule_, \
		.section = SECTION_##section_,                   \
		.prose = (prose_),                               \
		.offset = offsetof(struct thread_values, name_), \
		__VA_ARGS__,                                     \
	},
const struct metric metrics[METRIC_COUNT] = {
#include "metric/metrics.def"
};
#undef METRIC

const struct metric *metric_find(struct text name)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (text_equal(text_of(metrics[i].name), name))
			return &metrics[i];
	return NULL;
}

const struct metric_twin *metric_twin_of(unsigned number)
{
	static const struct metric_twin twins[] = {
#define TWIN(metric, shown) { METRIC_##metric, METRIC_##shown },
		METRIC_TWINS(TWIN)
#undef TWIN
	};

	for (size_t i = 0; i < array_length(twins); i++)
		if (twins[i].metric == number)
			return &twins[i];
	return NULL;
}

static const void *place(const struct thread_values *values, const struct metric *metric)
{
	return (const char *)values + metric->offset;
}

int64_t metric_load_i64(const struct thread_values *values, const struct metric *metric)
{
	const void *at = place(values, metric);

	switch (metric->type) {
	case VALUE_ordinal_i32:
		return ((const struct ordinal_i32 *)at)->v;
	case VALUE_ordinal_u32:
		return ((const struct ordinal_u32 *)at)->v;
	case VALUE_letter:
		return (unsigned char)((const struct letter *)at)->v;
	case VALUE_flag:
		return ((const struct flag *)at)->v;
	default:
		return 0;
	}
}

uint64_t metric_load_u64(const struct thread_values *values, const struct metric *metric)
{
	switch (metric->type) {
	case VALUE_ordinal_i32:
	case VALUE_ordinal_u32:
	case VALUE_letter:
	case VALUE_flag:
		return (uint64_t)metric_load_i64(values, metric);
	case VALUE_label:
	case VALUE_cpu_set:
		return 0;
	default:
		return *(const uint64_t *)place(values, metric);
	}
}

const struct name *metric_load_name(const struct thread_values *values, const struct metric *metric)
{
	if (metric->type != VALUE_label && metric->type != VALUE_cpu_set)
		return NULL;
	return *(const struct name *const *)place(values, metric);
}

bool metric_store_i64(struct thread_values *values, const struct metric *metric, int64_t value)
{
	void *at = (char *)values + metric->offset;

	switch (metric->type) {
	case VALUE_ordinal_i32:
		if (value < INT32_MIN || value > INT32_MAX)
			return false;
		((struct ordinal_i32 *)at)->v = (int32_t)value;
		return true;
	case VALUE_ordinal_u32:
		if (value < 0 || value > UINT32_MAX)
			return false;
		((struct ordinal_u32 *)at)->v = (uint32_t)value;
		return true;
	case VALUE_letter:
		if (value < 0x21 || value > 0x7e)
			return false;
		((struct letter *)at)->v = (char)value;
		return true;
	case VALUE_flag:
		((struct flag *)at)->v = value != 0;
		return true;
	default:
		return value >= 0 && metric_store_u64(values, metric, (uint64_t)value);
	}
}

bool metric_store_u64(struct thread_values *values, const struct metric *metric, uint64_t value)
{
	void *at = (char *)values + metric->offset;

	switch (metric->type) {
	case VALUE_ordinal_i32:
	case VALUE_ordinal_u32:
	case VALUE_letter:
	case VALUE_flag:
		return value <= INT64_MAX && metric_store_i64(values, metric, (int64_t)value);
	case VALUE_label:
	case VALUE_cpu_set:
		return false;
	default:
		*(uint64_t *)at = value;
		return true;
	}
}

void metric_store_name(struct thread_values *values, const struct metric *metric,
		       const struct name *name)
{
	*(const struct name **)(void *)((char *)values + metric->offset) = name;
}

char *metric_tags(char *buffer, const struct metric *metric)
{
	size_t used = 0;

	buffer[0] = '\0';
	if (metric->class != CLASS_ANY)
		used += (size_t)snprintf(buffer, METRIC_TAGS_MAX, "[%s]",
					 metric_classes[metric->class].tag);
	if (metric_is_dead(metric) && used < METRIC_TAGS_MAX)
		used += (size_t)snprintf(buffer + used, METRIC_TAGS_MAX - used, "%s[dead]",
					 used ? " " : "");
	for (unsigned i = 0; i < GATE_COUNT && used < METRIC_TAGS_MAX; i++)
		if (metric->gates >> i & 1)
			used += (size_t)snprintf(buffer + used, METRIC_TAGS_MAX - used, "%s[%s]",
						 used ? " " : "", metric_gates[i].name);
	return buffer;
}
