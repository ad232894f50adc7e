/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/schema.h"

#include <stdio.h>

static struct ctprof_snapshot *snapshot_of(const struct json_reader *r)
{
	return ((const struct schema_context *)json_user(r))->snapshot;
}

static void *at_of(void *target, const struct json_member *member)
{
	const struct field *field = (const struct field *)(const void *)member;

	return (char *)target + field->offset;
}

/* --- numbers --- */

static struct error *take_number(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	const struct field *field = (const struct field *)(const void *)member;
	struct reading *reading = at_of(target, member), got = { .measured = true };
	struct error *err;
	int64_t number;

	(void)r;
	if (value->type == JSON_NULL && field->flags & (FIELD_NULLABLE | FIELD_OMIT)) {
		*reading = (struct reading){ .measured = true, .unlimited = true };
		return NULL;
	}
	if (field->flags & FIELD_SIGNED) {
		err = json_get_i64(value, key, &number);
		got.value = (uint64_t)number;
	} else {
		err = json_get_u64(value, key, &got.value);
	}
	if (!err)
		*reading = got;
	return err;
}

static void write_number(struct json_writer *w, const struct field *field, const void *at)
{
	const struct reading *reading = at;
	uint64_t value = reading->measured ? reading->value : field->absent;

	if (field->flags & FIELD_NULLABLE && (!reading->measured || reading->unlimited))
		json_null(w);
	else if (field->flags & FIELD_SIGNED)
		json_i64(w, (int64_t)value);
	else
		json_u64(w, value);
}

/* --- the rest: texts, booleans, maps, objects --- */

static struct error *take_label(struct json_reader *r, void *target,
				const struct json_member *member, struct text key,
				const struct json_value *value)
{
	const struct name **name = at_of(target, member);
	struct text text;
	struct error *err;

	if (value->type == JSON_NULL)
		return NULL;
	err = json_get_text(value, key, &text);
	if (err)
		return err;
	*name = snapshot_name(snapshot_of(r), text);
	return *name ? NULL : &error_no_memory;
}

static void write_label(struct json_writer *w, const struct field *field, const void *at)
{
	const struct name *const *name = at;

	if (!*name && field->flags & FIELD_NULLABLE)
		json_null(w);
	else
		json_text(w, name_text(*name));
}

static struct error *take_bool(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)r;
	return json_get_bool(value, key, at_of(target, member));
}

static void write_bool(struct json_writer *w, const struct field *field, const void *at)
{
	(void)field;
	json_bool(w, *(const bool *)at);
}

static struct error *take_count(struct json_reader *r, void *target,
				const struct json_member *member, struct text key,
				const struct json_value *value)
{
	uint64_t number;
	struct error *err = json_get_u64(value, key, &number);

	(void)member;
	if (err)
		return err;
	return counts_add(snapshot_of(r), target, key, number) ? NULL : &error_no_memory;
}

static struct error *finish_counts(struct json_reader *r, void *target)
{
	counts_trim(snapshot_of(r), target);
	return counts_check(target);
}

const struct json_shape snapshot_counts_shape = { .each = take_count, .done = finish_counts };

static struct error *take_counts(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	struct counts *counts = at_of(target, member);

	if (value->type == JSON_NULL)
		return NULL;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	counts->measured = true;
	json_enter(r, &snapshot_counts_shape, counts);
	return NULL;
}

void counts_write(struct json_writer *w, const struct counts *counts)
{
	json_object_begin(w);
	for (size_t i = 0; i < counts->count; i++) {
		json_key_text(w, name_text(counts->items[i].key));
		json_u64(w, counts->items[i].value);
	}
	json_object_end(w);
}

static void write_counts(struct json_writer *w, const struct field *field, const void *at)
{
	(void)field;
	counts_write(w, at);
}

static struct error *take_pair(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	(void)member;
	if (err)
		return err;
	return label_pairs_add(snapshot_of(r), target, key, text) ? NULL : &error_no_memory;
}

static struct error *finish_pairs(struct json_reader *r, void *target)
{
	(void)r;
	return label_pairs_check(target);
}

const struct json_shape snapshot_pairs_shape = { .each = take_pair, .done = finish_pairs };

static struct error *take_pairs(struct json_reader *r, void *target,
				const struct json_member *member, struct text key,
				const struct json_value *value)
{
	struct label_pairs *pairs = at_of(target, member);

	if (value->type == JSON_NULL)
		return NULL;
	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	pairs->measured = true;
	json_enter(r, &snapshot_pairs_shape, pairs);
	return NULL;
}

void pairs_write(struct json_writer *w, const struct label_pairs *pairs)
{
	json_object_begin(w);
	for (size_t i = 0; i < pairs->count; i++) {
		json_key_text(w, name_text(pairs->items[i].key));
		json_text(w, name_text(pairs->items[i].value));
	}
	json_object_end(w);
}

static void write_pairs(struct json_writer *w, const struct field *field, const void *at)
{
	(void)field;
	pairs_write(w, at);
}

static struct error *take_object(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	const struct field *field = (const struct field *)(const void *)member;

	if (value->type != JSON_OBJECT)
		return json_unexpected(key, "an object");
	json_enter(r, &field->schema->shape, at_of(target, member));
	return NULL;
}

static void write_object(struct json_writer *w, const struct field *field, const void *at)
{
	json_object_begin(w);
	schema_write(w, field->schema, at);
	json_object_end(w);
}

struct error *take_measured(struct json_reader *r, void *target, const struct json_member *member,
			    struct text key, const struct json_value *value)
{
	struct schema_context *context = json_user(r);
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	(void)target, (void)member;
	if (err)
		return err;
	if (!bits_parse(text, &context->measured))
		return json_unexpected(key, "hexadecimal digits");
	context->has_measured = true;
	return NULL;
}

/* --- the rows --- */

#define MEASURED_BITS                                                                          \
	{                                                                                      \
		.json = { TEXT("measured"), take_measured, 0, NULL }, .flags = FIELD_READ_ONLY \
	}

#define AS(key, kind) .json = { TEXT(key), take_##kind, 0, NULL }, .write = write_##kind
#define NUMBER(key, of, at)                                        \
	{                                                          \
		AS(key, number), .offset = offsetof(struct of, at) \
	}
#define NUMBER_AS(key, of, at, ...)                                             \
	{                                                                       \
		AS(key, number), .offset = offsetof(struct of, at), __VA_ARGS__ \
	}
#define LABEL(key, of, at, f)                                                   \
	{                                                                       \
		AS(key, label), .offset = offsetof(struct of, at), .flags = (f) \
	}
#define BOOL(key, of, at)                                        \
	{                                                        \
		AS(key, bool), .offset = offsetof(struct of, at) \
	}
#define COUNTS(key, of, at)                                        \
	{                                                          \
		AS(key, counts), .offset = offsetof(struct of, at) \
	}
#define PAIRS(key, of, at, f)                                                   \
	{                                                                       \
		AS(key, pairs), .offset = offsetof(struct of, at), .flags = (f) \
	}
#define OBJECT(key, of, at, s)                                                     \
	{                                                                          \
		AS(key, object), .offset = offsetof(struct of, at), .schema = &(s) \
	}

#define SCHEMA(of, rows)                                                                 \
	{                                                                                \
		.shape = { .members = &(rows)[0].json,                                   \
			   .count = array_length(rows),                                  \
			   .stride = sizeof((rows)[0]) },                                \
		.fields = (rows), .count = array_length(rows), .size = sizeof(struct of) \
	}

static const struct field psi_half_fields[] = {
	NUMBER("avg10", psi_half, avg10),
	NUMBER("avg60", psi_half, avg60),
	NUMBER("avg300", psi_half, avg300),
	NUMBER("total_usec", psi_half, total_usec),
};
static const struct schema psi_half_schema = SCHEMA(psi_half, psi_half_fields);

static const struct field psi_resource_fields[] = {
	OBJECT("some", psi_resource, some, psi_half_schema),
	OBJECT("full", psi_resource, full, psi_half_schema),
};
static const struct schema psi_resource_schema = SCHEMA(psi_resource, psi_resource_fields);

static const struct field psi_fields[] = {
	OBJECT("cpu", psi, cpu, psi_resource_schema),
	OBJECT("memory", psi, memory, psi_resource_schema),
	OBJECT("io", psi, io, psi_resource_schema),
	OBJECT("irq", psi, irq, psi_resource_schema),
	MEASURED_BITS,
};
const struct schema snapshot_psi_schema = SCHEMA(psi, psi_fields);

static const struct field cgroup_cpu_fields[] = {
	NUMBER("usage_usec", cgroup_cpu, usage_usec),
	NUMBER("nr_throttled", cgroup_cpu, nr_throttled),
	NUMBER("throttled_usec", cgroup_cpu, throttled_usec),
	NUMBER_AS("max_quota_us", cgroup_cpu, max_quota_us, .flags = FIELD_NULLABLE),
	NUMBER_AS("max_period_us", cgroup_cpu, max_period_us, .absent = 100000),
	NUMBER_AS("weight", cgroup_cpu, weight, .flags = FIELD_NULLABLE),
	NUMBER_AS("weight_nice", cgroup_cpu, weight_nice, .flags = FIELD_NULLABLE | FIELD_SIGNED),
};
static const struct schema cgroup_cpu_schema = SCHEMA(cgroup_cpu, cgroup_cpu_fields);

static const struct field cgroup_memory_fields[] = {
	NUMBER("current", cgroup_memory, current),
	NUMBER_AS("max", cgroup_memory, max, .flags = FIELD_NULLABLE),
	NUMBER_AS("high", cgroup_memory, high, .flags = FIELD_NULLABLE),
	NUMBER_AS("low", cgroup_memory, low, .flags = FIELD_NULLABLE),
	NUMBER_AS("min", cgroup_memory, min, .flags = FIELD_NULLABLE),
	COUNTS("stat", cgroup_memory, stat),
	COUNTS("events", cgroup_memory, events),
};
static const struct schema cgroup_memory_schema = SCHEMA(cgroup_memory, cgroup_memory_fields);

static const struct field cgroup_pids_fields[] = {
	NUMBER_AS("current", cgroup_pids, current, .flags = FIELD_NULLABLE),
	NUMBER_AS("max", cgroup_pids, max, .flags = FIELD_NULLABLE),
};
static const struct schema cgroup_pids_schema = SCHEMA(cgroup_pids, cgroup_pids_fields);

static const struct field cgroup_fields[] = {
	OBJECT("cpu", cgroup, cpu, cgroup_cpu_schema),
	OBJECT("memory", cgroup, memory, cgroup_memory_schema),
	OBJECT("pids", cgroup, pids, cgroup_pids_schema),
	OBJECT("psi", cgroup, psi, snapshot_psi_schema),
	MEASURED_BITS,
	/* The flat form of .hst.zst. */
	NUMBER_AS("cpu_usage_usec", cgroup, cpu.usage_usec, .flags = FIELD_READ_ONLY),
	NUMBER_AS("nr_throttled", cgroup, cpu.nr_throttled, .flags = FIELD_READ_ONLY),
	NUMBER_AS("throttled_usec", cgroup, cpu.throttled_usec, .flags = FIELD_READ_ONLY),
	NUMBER_AS("memory_current", cgroup, memory.current, .flags = FIELD_READ_ONLY),
};
const struct schema snapshot_cgroup_schema = SCHEMA(cgroup, cgroup_fields);

static const struct field sched_ext_fields[] = {
	LABEL("state", sched_ext, state, 0),
	NUMBER("switch_all", sched_ext, switch_all),
	NUMBER("nr_rejected", sched_ext, nr_rejected),
	NUMBER("hotplug_seq", sched_ext, hotplug_seq),
	NUMBER("enable_seq", sched_ext, enable_seq),
	MEASURED_BITS,
};
const struct schema snapshot_sched_ext_schema = SCHEMA(sched_ext, sched_ext_fields);

/* Sizes have two spellings, one for each age of the reader that the format came with. */
static const struct field host_fields[] = {
	LABEL("cpu_model", host_context, cpu_model, FIELD_OMIT),
	LABEL("cpu_vendor", host_context, cpu_vendor, FIELD_OMIT),
	NUMBER_AS("total_memory_kb", host_context, total_memory_kib, .flags = FIELD_OMIT),
	NUMBER_AS("total_memory_kib", host_context, total_memory_kib, .flags = FIELD_OMIT),
	NUMBER_AS("hugepages_total", host_context, hugepages_total, .flags = FIELD_OMIT),
	NUMBER_AS("hugepages_free", host_context, hugepages_free, .flags = FIELD_OMIT),
	NUMBER_AS("hugepages_size_kb", host_context, hugepages_size_kib, .flags = FIELD_OMIT),
	NUMBER_AS("hugepages_size_kib", host_context, hugepages_size_kib, .flags = FIELD_OMIT),
	LABEL("thp_enabled", host_context, thp_enabled, FIELD_OMIT),
	LABEL("thp_defrag", host_context, thp_defrag, FIELD_OMIT),
	PAIRS("sched_tunables", host_context, sched_tunables, FIELD_OMIT),
	NUMBER_AS("online_cpus", host_context, online_cpus, .flags = FIELD_OMIT),
	NUMBER_AS("numa_nodes", host_context, numa_nodes, .flags = FIELD_OMIT),
	PAIRS("cpufreq_governor", host_context, cpufreq_governor, FIELD_OMIT),
	LABEL("kernel_name", host_context, kernel_name, FIELD_OMIT),
	LABEL("kernel_release", host_context, kernel_release, FIELD_OMIT),
	LABEL("arch", host_context, arch, FIELD_OMIT),
	LABEL("kernel_cmdline", host_context, kernel_cmdline, FIELD_OMIT),
	LABEL("boot_id", host_context, boot_id, FIELD_OMIT),
	NUMBER_AS("boot_time_unix_s", host_context, boot_time_unix_s, .flags = FIELD_OMIT),
	NUMBER_AS("uptime_clock_ticks", host_context, uptime_clock_ticks, .flags = FIELD_OMIT),
	NUMBER_AS("clock_ticks_per_s", host_context, clock_ticks_per_s, .flags = FIELD_OMIT),
};
const struct schema snapshot_host_schema = SCHEMA(host_context, host_fields);

static const struct field probe_fields[] = {
	NUMBER("tgids_walked", probe_summary, tgids_walked),
	NUMBER("jemalloc_detected", probe_summary, jemalloc_detected),
	NUMBER("probed_ok", probe_summary, probed_ok),
	NUMBER("failed", probe_summary, failed),
	LABEL("dominant_failure", probe_summary, dominant_failure, FIELD_NULLABLE),
	BOOL("privilege_dominant", probe_summary, privilege_dominant),
};
const struct schema snapshot_probe_schema = SCHEMA(probe_summary, probe_fields);

static const struct field parse_fields[] = {
	NUMBER("tids_walked", parse_summary, tids_walked),
	NUMBER("read_failures", parse_summary, read_failures),
	COUNTS("read_failures_by_file", parse_summary, read_failures_by_file),
	LABEL("dominant_read_failure", parse_summary, dominant_read_failure, FIELD_NULLABLE),
	BOOL("kernel_config_dominant", parse_summary, kernel_config_dominant),
	NUMBER("negative_dotted_values", parse_summary, negative_dotted_values),
};
const struct schema snapshot_parse_schema = SCHEMA(parse_summary, parse_fields);

static const struct field taskstats_fields[] = {
	NUMBER("ok_count", taskstats_summary, ok_count),
	NUMBER("eperm_count", taskstats_summary, eperm_count),
	NUMBER("esrch_count", taskstats_summary, esrch_count),
	NUMBER("other_err_count", taskstats_summary, other_err_count),
};
const struct schema snapshot_taskstats_schema = SCHEMA(taskstats_summary, taskstats_fields);

static const struct field capture_fields[] = {
	NUMBER_AS("duration_ns", capture_info, duration_ns, .flags = FIELD_OMIT),
	NUMBER_AS("cpu_ns", capture_info, cpu_ns, .flags = FIELD_OMIT),
	NUMBER_AS("threads_lost", capture_info, threads_lost, .flags = FIELD_OMIT),
	NUMBER_AS("processes_denied", capture_info, processes_denied, .flags = FIELD_OMIT),
	COUNTS("denied", capture_info, denied),
	COUNTS("failed", capture_info, failed),
	LABEL("delay_accounting", capture_info, delay_accounting, FIELD_OMIT),
	BOOL("irq_accounting", capture_info, irq_accounting),
	NUMBER_AS("taskstats_version", capture_info, taskstats_version, .flags = FIELD_OMIT),
	NUMBER_AS("taskstats_overflows", capture_info, taskstats_overflows, .flags = FIELD_OMIT),
	BOOL("redacted", capture_info, redacted),
	LABEL("source", capture_info, source, FIELD_OMIT),
	LABEL("source_reason", capture_info, source_reason, FIELD_OMIT),
	NUMBER_AS("clock_error_ns", capture_info, clock_error_ns, .flags = FIELD_OMIT),
	BOOL("cut_short", capture_info, cut_short),
	LABEL("states_engine", capture_info, states_engine, FIELD_OMIT),
	NUMBER_AS("states_begun_ns", capture_info, states_begun_ns, .flags = FIELD_OMIT),
	NUMBER_AS("states_at_ns", capture_info, states_at_ns, .flags = FIELD_OMIT),
	NUMBER_AS("states_at_unix_ns", capture_info, states_at_unix_ns, .flags = FIELD_OMIT),
};
const struct schema snapshot_capture_schema = SCHEMA(capture_info, capture_fields);

static struct error *take_tgid(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)r;
	return json_get_u32(value, key, at_of(target, member));
}

static void write_tgid(struct json_writer *w, const struct field *field, const void *at)
{
	(void)field;
	json_u64(w, *(const uint32_t *)at);
}

static const struct field process_fields[] = {
	{ AS("tgid", tgid), .offset = offsetof(struct process, tgid) },
	NUMBER_AS("ppid", process, ppid, .flags = FIELD_OMIT),
	NUMBER_AS("uid", process, uid, .flags = FIELD_OMIT),
	LABEL("exe", process, exe, FIELD_OMIT),
	LABEL("cmdline", process, cmdline, FIELD_OMIT),
};
const struct schema snapshot_process_schema = SCHEMA(process, process_fields);

/* --- walking them --- */

static bool has_value(const struct field *field, const void *at)
{
	if (field->write == write_number)
		return ((const struct reading *)at)->measured &&
		       !((const struct reading *)at)->unlimited;
	if (field->write == write_label)
		return *(const struct name *const *)at != NULL;
	if (field->write == write_pairs)
		return ((const struct label_pairs *)at)->measured;
	return true;
}

void schema_write(struct json_writer *w, const struct schema *schema, const void *object)
{
	for (const struct field *field = schema->fields; field < schema->fields + schema->count;
	     field++) {
		const void *at = (const char *)object + field->offset;

		if (field->flags & FIELD_READ_ONLY ||
		    (field->flags & FIELD_OMIT && !has_value(field, at)))
			continue;
		json_key_text(w, field->json.name);
		field->write(w, field, at);
	}
}

struct walk {
	schema_visit visit;
	void *context;
	size_t number;
	char name[128];
};

static void walk_leaves(struct walk *walk, const struct schema *schema, char *object, size_t prefix)
{
	for (const struct field *field = schema->fields; field < schema->fields + schema->count;
	     field++) {
		int length = snprintf(walk->name + prefix, sizeof(walk->name) - prefix, "%s%.*s",
				      prefix ? "." : "", (int)field->json.name.length,
				      field->json.name.bytes);

		if (field->write == write_object)
			walk_leaves(walk, field->schema, object + field->offset,
				    prefix + (size_t)length);
		else if (field->write == write_number && !(field->flags & FIELD_READ_ONLY))
			walk->visit(walk->context, walk->number++, walk->name,
				    (struct reading *)(void *)(object + field->offset));
	}
}

void schema_leaves(const struct schema *schema, void *object, schema_visit visit, void *context)
{
	struct walk walk = { .visit = visit, .context = context };

	walk_leaves(&walk, schema, object, 0);
}
