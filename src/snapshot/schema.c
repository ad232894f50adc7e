/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/schema.h"

#include <stdio.h>

static struct ctprof_snapshot *snapshot_of(const struct json_reader *r)
{
	return ((const struct schema_context *)json_user(r))->snapshot;
}

/* --- numbers, with whether they were measured --- */

typedef struct reading field_number;

static JSON_TAKE(json_take_number)
{
	const struct json_field *field = (const struct json_field *)(const void *)member;
	struct reading *reading = (void *)((char *)target + member->detail);
	struct reading got = { .measured = true };
	struct error *err;
	int64_t number;

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

static void write_number(struct json_writer *w, const struct json_field *field, const void *at)
{
	const struct reading *reading = at;
	uint64_t value = reading->measured ? reading->value : field->none;

	if (field->flags & FIELD_NULLABLE && (!reading->measured || reading->unlimited))
		json_null(w);
	else if (field->flags & FIELD_SIGNED)
		json_i64(w, (int64_t)value);
	else
		json_u64(w, value);
}

static bool has_number(JSON_UNUSED_ const struct json_field *field, const void *at)
{
	const struct reading *reading = at;

	return reading->measured && !reading->unlimited;
}

static const struct json_field_type json_type_number = { json_take_number, write_number,
							 has_number };

/* --- objects with members of any name --- */

static JSON_TAKE(take_count)
{
	uint64_t number;
	struct error *err = json_get_u64(value, key, &number);

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

typedef struct counts field_counts;

static JSON_TAKE(json_take_counts)
{
	struct counts *counts = (void *)((char *)target + member->detail);

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

static void write_counts(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			 const void *at)
{
	counts_write(w, at);
}

static const struct json_field_type json_type_counts = { json_take_counts, write_counts, NULL };

static JSON_TAKE(take_pair)
{
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	if (err)
		return err;
	return label_pairs_add(snapshot_of(r), target, key, text) ? NULL : &error_no_memory;
}

static struct error *finish_pairs(JSON_UNUSED_ struct json_reader *r, void *target)
{
	return label_pairs_check(target);
}

const struct json_shape snapshot_pairs_shape = { .each = take_pair, .done = finish_pairs };

typedef struct label_pairs field_pairs;

static JSON_TAKE(json_take_pairs)
{
	struct label_pairs *pairs = (void *)((char *)target + member->detail);

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

static void write_pairs(struct json_writer *w, JSON_UNUSED_ const struct json_field *field,
			const void *at)
{
	pairs_write(w, at);
}

static bool has_pairs(JSON_UNUSED_ const struct json_field *field, const void *at)
{
	return ((const struct label_pairs *)at)->measured;
}

static const struct json_field_type json_type_pairs = { json_take_pairs, write_pairs, has_pairs };

/* --- measured bits --- */

JSON_TAKE(json_take_measured)
{
	struct schema_context *context = json_user(r);
	struct text text;
	struct error *err = json_get_text(value, key, &text);

	if (err)
		return err;
	if (!bits_parse(text, &context->measured))
		return json_unexpected(key, "hexadecimal digits");
	context->has_measured = true;
	return NULL;
}

/* Written by those that count the bits (write.c). */
#define MEASURED_BITS                                                      \
	{                                                                  \
		.json = { TEXT("measured"), json_take_measured, 0, NULL }, \
		.flags = FIELD_READ_ONLY                                   \
	}

/* --- the rows --- */

#define NUMBER(key, of, at)         JSON_FIELD(number, key, of, at)
#define NUMBER_AS(key, of, at, ...) JSON_FIELD(number, key, of, at, __VA_ARGS__)
#define LABEL(key, of, at, f)       JSON_FIELD(name, key, of, at, .flags = (f) | FIELD_TAKES_NULL)
#define COUNTS(key, of, at)         JSON_FIELD(counts, key, of, at)
#define PAIRS(key, of, at, f)       JSON_FIELD(pairs, key, of, at, .flags = (f))

static const struct json_field psi_half_rows[] = {
	NUMBER("avg10", psi_half, avg10),
	NUMBER("avg60", psi_half, avg60),
	NUMBER("avg300", psi_half, avg300),
	NUMBER("total_usec", psi_half, total_usec),
};
static const struct json_fields psi_half_fields = JSON_FIELDS(psi_half_rows);

static const struct json_field psi_resource_rows[] = {
	JSON_FIELD_OF(object, "some", psi_resource, some, &psi_half_fields),
	JSON_FIELD_OF(object, "full", psi_resource, full, &psi_half_fields),
};
static const struct json_fields psi_resource_fields = JSON_FIELDS(psi_resource_rows);

static const struct json_field psi_rows[] = {
	JSON_FIELD_OF(object, "cpu", psi, cpu, &psi_resource_fields),
	JSON_FIELD_OF(object, "memory", psi, memory, &psi_resource_fields),
	JSON_FIELD_OF(object, "io", psi, io, &psi_resource_fields),
	JSON_FIELD_OF(object, "irq", psi, irq, &psi_resource_fields),
	MEASURED_BITS,
};
const struct json_fields snapshot_psi_fields = JSON_FIELDS(psi_rows);

static const struct json_field cgroup_cpu_rows[] = {
	NUMBER("usage_usec", cgroup_cpu, usage_usec),
	NUMBER("nr_throttled", cgroup_cpu, nr_throttled),
	NUMBER("throttled_usec", cgroup_cpu, throttled_usec),
	NUMBER_AS("max_quota_us", cgroup_cpu, max_quota_us, .flags = FIELD_NULLABLE),
	NUMBER_AS("max_period_us", cgroup_cpu, max_period_us, .none = 100000),
	NUMBER_AS("weight", cgroup_cpu, weight, .flags = FIELD_NULLABLE),
	NUMBER_AS("weight_nice", cgroup_cpu, weight_nice, .flags = FIELD_NULLABLE | FIELD_SIGNED),
};
static const struct json_fields cgroup_cpu_fields = JSON_FIELDS(cgroup_cpu_rows);

static const struct json_field cgroup_swap_rows[] = {
	NUMBER_AS("current", cgroup_swap, current, .flags = FIELD_NULLABLE),
	NUMBER_AS("max", cgroup_swap, max, .flags = FIELD_NULLABLE),
	NUMBER_AS("peak", cgroup_swap, peak, .flags = FIELD_NULLABLE),
};
static const struct json_fields cgroup_swap_fields = JSON_FIELDS(cgroup_swap_rows);

static const struct json_field cgroup_memory_rows[] = {
	NUMBER("current", cgroup_memory, current),
	NUMBER_AS("peak", cgroup_memory, peak, .flags = FIELD_NULLABLE),
	NUMBER_AS("max", cgroup_memory, max, .flags = FIELD_NULLABLE),
	NUMBER_AS("high", cgroup_memory, high, .flags = FIELD_NULLABLE),
	NUMBER_AS("low", cgroup_memory, low, .flags = FIELD_NULLABLE),
	NUMBER_AS("min", cgroup_memory, min, .flags = FIELD_NULLABLE),
	JSON_FIELD_OF(object, "swap", cgroup_memory, swap, &cgroup_swap_fields),
	COUNTS("stat", cgroup_memory, stat),
	COUNTS("events", cgroup_memory, events),
};
static const struct json_fields cgroup_memory_fields = JSON_FIELDS(cgroup_memory_rows);

static const struct json_field cgroup_pids_rows[] = {
	NUMBER_AS("current", cgroup_pids, current, .flags = FIELD_NULLABLE),
	NUMBER_AS("max", cgroup_pids, max, .flags = FIELD_NULLABLE),
};
static const struct json_fields cgroup_pids_fields = JSON_FIELDS(cgroup_pids_rows);

static const struct json_field cgroup_io_rows[] = {
	NUMBER_AS("rbytes", cgroup_io, rbytes, .flags = FIELD_NULLABLE),
	NUMBER_AS("wbytes", cgroup_io, wbytes, .flags = FIELD_NULLABLE),
	NUMBER_AS("rios", cgroup_io, rios, .flags = FIELD_NULLABLE),
	NUMBER_AS("wios", cgroup_io, wios, .flags = FIELD_NULLABLE),
	NUMBER_AS("dbytes", cgroup_io, dbytes, .flags = FIELD_NULLABLE),
	NUMBER_AS("dios", cgroup_io, dios, .flags = FIELD_NULLABLE),
};
static const struct json_fields cgroup_io_fields = JSON_FIELDS(cgroup_io_rows);

static const struct json_field cgroup_rows[] = {
	JSON_FIELD_OF(object, "cpu", cgroup_counters, cpu, &cgroup_cpu_fields),
	JSON_FIELD_OF(object, "memory", cgroup_counters, memory, &cgroup_memory_fields),
	JSON_FIELD_OF(object, "pids", cgroup_counters, pids, &cgroup_pids_fields),
	JSON_FIELD_OF(object, "io", cgroup_counters, io, &cgroup_io_fields),
	JSON_FIELD_OF(object, "psi", cgroup_counters, psi, &snapshot_psi_fields),
	MEASURED_BITS,
	/* The flat form of .hst.zst. */
	NUMBER_AS("cpu_usage_usec", cgroup_counters, cpu.usage_usec, .flags = FIELD_READ_ONLY),
	NUMBER_AS("nr_throttled", cgroup_counters, cpu.nr_throttled, .flags = FIELD_READ_ONLY),
	NUMBER_AS("throttled_usec", cgroup_counters, cpu.throttled_usec, .flags = FIELD_READ_ONLY),
	NUMBER_AS("memory_current", cgroup_counters, memory.current, .flags = FIELD_READ_ONLY),
};
const struct json_fields snapshot_cgroup_fields = JSON_FIELDS(cgroup_rows);

static const struct json_field sched_ext_rows[] = {
	LABEL("state", sched_ext, state, 0),
	NUMBER("switch_all", sched_ext, switch_all),
	NUMBER("nr_rejected", sched_ext, nr_rejected),
	NUMBER("hotplug_seq", sched_ext, hotplug_seq),
	NUMBER("enable_seq", sched_ext, enable_seq),
	MEASURED_BITS,
};
const struct json_fields snapshot_sched_ext_fields = JSON_FIELDS(sched_ext_rows);

/* Sizes have two spellings, one for each age of the reader that the format came with. */
static const struct json_field host_rows[] = {
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
const struct json_fields snapshot_host_fields = JSON_FIELDS(host_rows);

static const struct json_field probe_rows[] = {
	NUMBER("tgids_walked", probe_summary, tgids_walked),
	NUMBER("jemalloc_detected", probe_summary, jemalloc_detected),
	NUMBER("probed_ok", probe_summary, probed_ok),
	NUMBER("failed", probe_summary, failed),
	LABEL("dominant_failure", probe_summary, dominant_failure, FIELD_NULLABLE),
	JSON_FIELD(flag, "privilege_dominant", probe_summary, privilege_dominant),
};
const struct json_fields snapshot_probe_fields = JSON_FIELDS(probe_rows);

static const struct json_field parse_rows[] = {
	NUMBER("tids_walked", parse_summary, tids_walked),
	NUMBER("read_failures", parse_summary, read_failures),
	COUNTS("read_failures_by_file", parse_summary, read_failures_by_file),
	LABEL("dominant_read_failure", parse_summary, dominant_read_failure, FIELD_NULLABLE),
	JSON_FIELD(flag, "kernel_config_dominant", parse_summary, kernel_config_dominant),
	NUMBER("negative_dotted_values", parse_summary, negative_dotted_values),
};
const struct json_fields snapshot_parse_fields = JSON_FIELDS(parse_rows);

static const struct json_field taskstats_rows[] = {
	NUMBER("ok_count", taskstats_summary, ok_count),
	NUMBER("eperm_count", taskstats_summary, eperm_count),
	NUMBER("esrch_count", taskstats_summary, esrch_count),
	NUMBER("other_err_count", taskstats_summary, other_err_count),
};
const struct json_fields snapshot_taskstats_fields = JSON_FIELDS(taskstats_rows);

static const struct json_field capture_rows[] = {
	NUMBER_AS("duration_ns", capture_info, duration_ns, .flags = FIELD_OMIT),
	NUMBER_AS("cpu_ns", capture_info, cpu_ns, .flags = FIELD_OMIT),
	NUMBER_AS("threads_lost", capture_info, threads_lost, .flags = FIELD_OMIT),
	NUMBER_AS("processes_denied", capture_info, processes_denied, .flags = FIELD_OMIT),
	COUNTS("denied", capture_info, denied),
	COUNTS("failed", capture_info, failed),
	LABEL("delay_accounting", capture_info, delay_accounting, FIELD_OMIT),
	JSON_FIELD(flag, "irq_accounting", capture_info, irq_accounting),
	NUMBER_AS("taskstats_version", capture_info, taskstats_version, .flags = FIELD_OMIT),
	NUMBER_AS("taskstats_overflows", capture_info, taskstats_overflows, .flags = FIELD_OMIT),
	JSON_FIELD(flag, "redacted", capture_info, redacted),
	LABEL("source", capture_info, source, FIELD_OMIT),
	LABEL("source_reason", capture_info, source_reason, FIELD_OMIT),
	NUMBER_AS("clock_error_ns", capture_info, clock_error_ns, .flags = FIELD_OMIT),
	JSON_FIELD(flag, "cut_short", capture_info, cut_short),
	LABEL("states_engine", capture_info, states_engine, FIELD_OMIT),
	NUMBER_AS("states_begun_ns", capture_info, states_begun_ns, .flags = FIELD_OMIT),
	NUMBER_AS("states_at_ns", capture_info, states_at_ns, .flags = FIELD_OMIT),
	NUMBER_AS("states_at_unix_ns", capture_info, states_at_unix_ns, .flags = FIELD_OMIT),
};
const struct json_fields snapshot_capture_fields = JSON_FIELDS(capture_rows);

static const struct json_field process_rows[] = {
	JSON_FIELD(u32, "tgid", process, tgid),
	NUMBER_AS("ppid", process, ppid, .flags = FIELD_OMIT),
	NUMBER_AS("uid", process, uid, .flags = FIELD_OMIT),
	LABEL("exe", process, exe, FIELD_OMIT),
	LABEL("cmdline", process, cmdline, FIELD_OMIT),
};
const struct json_fields snapshot_process_fields = JSON_FIELDS(process_rows);

/* --- leaves --- */

struct walk {
	schema_visit visit;
	void *context;
	size_t number;
	char name[128];
};

static void walk_leaves(struct walk *walk, const struct json_fields *fields, char *object,
			size_t prefix)
{
	for (const struct json_field *field = fields->rows; field < fields->rows + fields->count;
	     field++) {
		int length = snprintf(walk->name + prefix, sizeof(walk->name) - prefix, "%s%.*s",
				      prefix ? "." : "", (int)field->json.name.length,
				      field->json.name.bytes);

		if (field->type == &json_type_object)
			walk_leaves(walk, field->json.more, object + field->json.detail,
				    prefix + (size_t)length);
		else if (field->type == &json_type_number && !(field->flags & FIELD_READ_ONLY))
			walk->visit(walk->context, walk->number++, walk->name,
				    (struct reading *)(void *)(object + field->json.detail));
	}
}

void schema_leaves(const struct json_fields *fields, void *object, schema_visit visit,
		   void *context)
{
	struct walk walk = { .visit = visit, .context = context };

	walk_leaves(&walk, fields, object, 0);
}
