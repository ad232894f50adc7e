/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outfile.h"
#include "base/version.h"
#include "snapshot/fields.h"
#include "snapshot/file.h"
#include "snapshot/schema.h"

/* The members' names with quotes and colon, ready to copy: most of a file is these. */
static const struct text ready_keys[METRIC_COUNT] = {
#define METRIC(type, name, ...) [METRIC_##name] = { "\"" #name "\":", sizeof(#name) + 2 },
#include "metric/metrics.def"
#undef METRIC
};

static void write_cpus(struct json_writer *w, const struct name *set)
{
	json_array_begin(w);
	for (size_t i = 0; i < cpu_set_count(set); i++)
		json_u64(w, cpu_set_cpus(set)[i]);
	json_array_end(w);
}

/* What was not measured is written as the original writes what it could not read. */
static void write_value(struct json_writer *w, const struct thread_record *record,
			const struct metric *metric)
{
	const struct thread_values *values = &record->values;
	bool measured = metric_set_has(&record->measured, metric_id(metric));

	switch (metric->type) {
	case VALUE_label:
		json_text(w, measured ? name_text(metric_load_name(values, metric)) : TEXT(""));
		return;
	case VALUE_cpu_set:
		write_cpus(w, measured ? metric_load_name(values, metric) : NULL);
		return;
	case VALUE_letter: {
		char letter = measured ? (char)metric_load_i64(values, metric) : '~';

		json_text(w, (struct text){ &letter, 1 });
		return;
	}
	case VALUE_flag:
		json_bool(w, measured && metric_load_i64(values, metric));
		return;
	case VALUE_ordinal_i32:
		json_i64(w, measured ? metric_load_i64(values, metric) : 0);
		return;
	default:
		json_u64(w, measured ? metric_load_u64(values, metric) : 0);
	}
}

/* The later age of the original marks whole families of a thread by these. */
static void write_families(struct json_writer *w, const struct metric_set *measured)
{
	bool cpu = metric_set_has(measured, METRIC_cpu_delay_total_ns);
	bool others = metric_set_has(measured, METRIC_blkio_delay_total_ns);
	bool watermarks = metric_set_has(measured, METRIC_hiwater_rss_bytes);

	json_key_ready(w, TEXT("\"taskstats_measured\":"));
	json_bool(w, cpu || others || watermarks);
	json_key_ready(w, TEXT("\"cpu_delay_active\":"));
	json_bool(w, cpu);
	json_key_ready(w, TEXT("\"delay_block_active\":"));
	json_bool(w, others);
	json_key_ready(w, TEXT("\"xacct_active\":"));
	json_bool(w, watermarks);
	json_key_ready(w, TEXT("\"jemalloc_measured\":"));
	json_bool(w, metric_set_has(measured, METRIC_allocated_bytes));
}

static void write_thread(struct json_writer *w, const struct ctprof_thread *thread)
{
	static const struct counts empty;
	const struct counts *smaps = thread->smaps_rollup_kib ? thread->smaps_rollup_kib : &empty;
	char digits[BITS_TEXT_MAX];
	struct bits bits;

	json_object_begin(w);
	json_key_ready(w, TEXT("\"tid\":"));
	json_u64(w, thread->tid);
	json_key_ready(w, TEXT("\"tgid\":"));
	json_u64(w, thread->tgid);
	json_key_ready(w, TEXT("\"pcomm\":"));
	json_text(w, name_text(thread->pcomm));
	json_key_ready(w, TEXT("\"comm\":"));
	json_text(w, name_text(thread->comm));
	json_key_ready(w, TEXT("\"cgroup\":"));
	json_text(w, name_text(thread->cgroup));
	json_key_ready(w, TEXT("\"start_time_clock_ticks\":"));
	json_u64(w, thread->start_time_clock_ticks.value);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (metrics[i].sources[0].id == SOURCE_ONE)
			continue;
		json_key_ready(w, ready_keys[i]);
		write_value(w, &thread->record, &metrics[i]);
	}
	json_key_ready(w, TEXT("\"smaps_rollup_kb\":"));
	counts_write(w, smaps);
	json_key_ready(w, TEXT("\"smaps_rollup_kib\":"));
	counts_write(w, smaps);
	write_families(w, &thread->record.measured);
	json_key_ready(w, TEXT("\"measured\":"));
	thread_measured_bits(thread, &bits);
	json_text(w, text_of(bits_format(digits, &bits, THREAD_FIELD_COUNT)));
	json_object_end(w);
}

/* Our own head: what wrote the file, and the names that the measured bits stand for. */
static void write_head(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_key(w, "ctprof");
	json_object_begin(w);
	json_key(w, "form");
	json_u64(w, SNAPSHOT_FORM);
	json_key(w, "version");
	json_text(w, s->version ? name_text(s->version) : TEXT(CTPROF_VERSION));
	json_key(w, "fields");
	json_object_begin(w);
	for (enum field_list list = 0; list < LIST_COUNT; list++) {
		json_key(w, field_list_names[list]);
		json_array_begin(w);
		for (size_t i = 0; i < fields_count(list); i++)
			json_text(w, text_of(fields_name(list, i)));
		json_array_end(w);
	}
	json_object_end(w);
	if (s->note) {
		json_key(w, "note");
		json_text(w, name_text(s->note));
	}
	json_object_end(w);
}

static void write_object(struct json_writer *w, const char *key, const struct schema *schema,
			 const void *object)
{
	json_key(w, key);
	if (!object) {
		json_null(w);
		return;
	}
	json_object_begin(w);
	schema_write(w, schema, object);
	json_object_end(w);
}

/* The members of an object, and which of them were measured. */
static void write_measured(struct json_writer *w, enum field_list list, const struct schema *schema,
			   const void *object)
{
	char digits[BITS_TEXT_MAX];
	struct bits bits;

	schema_write(w, schema, object);
	json_key(w, "measured");
	object_measured_bits(list, (void *)(uintptr_t)object, &bits);
	json_text(w, text_of(bits_format(digits, &bits, fields_count(list))));
}

static void write_cgroups(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_key(w, "cgroup_stats");
	json_object_begin(w);
	for (size_t i = 0; i < s->cgroups.count; i++) {
		json_key_text(w, name_text(s->cgroups.items[i].path));
		json_object_begin(w);
		write_measured(w, LIST_CGROUPS, &snapshot_cgroup_schema, &s->cgroups.items[i]);
		json_object_end(w);
	}
	json_object_end(w);
}

static void write_processes(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_key(w, "processes");
	json_array_begin(w);
	for (size_t i = 0; i < s->processes.count; i++) {
		json_object_begin(w);
		schema_write(w, &snapshot_process_schema, &s->processes.items[i]);
		json_object_end(w);
	}
	json_array_end(w);
}

/* An object for each kind there is, and in it one for each set: they are ascending by kind. */
static void write_counters(struct json_writer *w, const struct ctprof_snapshot *s)
{
	const struct counter_set *sets = s->counters.items;

	if (!s->counters.count)
		return;
	json_key(w, "host_counters");
	json_object_begin(w);
	for (size_t i = 0; i < s->counters.count; i++) {
		if (!i || sets[i].kind != sets[i - 1].kind) {
			json_key(w, counter_kind_names[sets[i].kind]);
			json_object_begin(w);
		}
		json_key_text(w, name_text(sets[i].name));
		counts_write(w, &sets[i].counts);
		if (i + 1 == s->counters.count || sets[i].kind != sets[i + 1].kind)
			json_object_end(w);
	}
	json_object_end(w);
}

static void write_users(struct json_writer *w, const struct ctprof_snapshot *s)
{
	if (!s->users.measured)
		return;
	json_key(w, "users");
	pairs_write(w, &s->users);
}

static void write_snapshot(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_object_begin(w);
	json_key(w, "captured_at_unix_ns");
	json_u64(w, s->captured_at_unix_ns.value);
	write_head(w, s);
	write_object(w, "host", &snapshot_host_schema, s->host);
	json_key(w, "threads");
	json_array_begin(w);
	for (size_t i = 0; i < s->threads.count; i++)
		write_thread(w, snapshot_thread(s, i));
	json_array_end(w);
	write_cgroups(w, s);
	write_object(w, "probe_summary", &snapshot_probe_schema, s->probe_summary);
	write_object(w, "parse_summary", &snapshot_parse_schema, s->parse_summary);
	write_object(w, "taskstats_summary", &snapshot_taskstats_schema, s->taskstats_summary);
	json_key(w, "psi");
	json_object_begin(w);
	write_measured(w, LIST_PSI, &snapshot_psi_schema, &s->psi);
	json_object_end(w);
	json_key(w, "sched_ext");
	if (s->sched_ext) {
		json_object_begin(w);
		write_measured(w, LIST_SCHED_EXT, &snapshot_sched_ext_schema, s->sched_ext);
		json_object_end(w);
	} else {
		json_null(w);
	}
	write_processes(w, s);
	write_users(w, s);
	write_counters(w, s);
	write_object(w, "capture", &snapshot_capture_schema, s->capture);
	json_object_end(w);
}

struct error *snapshot_write_json(const struct ctprof_snapshot *s, zstream_sink sink, void *context)
{
	struct json_writer w;
	struct error *err = json_writer_init(&w, sink, context);

	if (!err) {
		write_snapshot(&w, s);
		err = json_writer_finish(&w);
	}
	json_writer_deinit(&w);
	return err;
}

static struct error *compress_into(const struct ctprof_snapshot *s, struct outfile *file)
{
	struct zstream_writer zstd;
	struct error *err = zstream_writer_init(&zstd, outfile_write, file);

	if (!err)
		err = snapshot_write_json(s, zstream_write, &zstd);
	if (!err)
		err = zstream_finish(&zstd);
	zstream_writer_deinit(&zstd);
	return err;
}

struct error *snapshot_save(const struct ctprof_snapshot *s, const char *path)
{
	struct outfile file;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = compress_into(s, &file);
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}
