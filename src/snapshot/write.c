/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/version.h"
#include "snapshot/fields.h"
#include "snapshot/file.h"
#include "snapshot/schema.h"
#include "snapshot/write_parts.h"
#include "snapshot/write_thread.h"

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

static void write_member(struct json_writer *w, const char *key, const struct json_fields *fields,
			 const void *object)
{
	json_key(w, key);
	if (!object) {
		json_null(w);
		return;
	}
	json_object_write(w, fields, object);
}

/* The members of an object, and which of them were measured. */
static void write_measured(struct json_writer *w, enum field_list list,
			   const struct json_fields *fields, const void *object)
{
	char digits[BITS_TEXT_MAX];
	struct bits bits;

	json_fields_write(w, fields, object);
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
		write_measured(w, LIST_CGROUPS, &snapshot_cgroup_fields, &s->cgroups.items[i]);
		json_object_end(w);
	}
	json_object_end(w);
}

static void write_processes(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_key(w, "processes");
	json_array_begin(w);
	for (size_t i = 0; i < s->processes.count; i++) {
		json_object_write(w, &snapshot_process_fields, &s->processes.items[i]);
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

void snapshot_write_before(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_object_begin(w);
	json_key(w, "captured_at_unix_ns");
	json_u64(w, s->captured_at_unix_ns.value);
	write_head(w, s);
	write_member(w, "host", &snapshot_host_fields, s->host);
	json_key(w, "threads");
	json_array_begin(w);
}

void snapshot_write_behind(struct json_writer *w, const struct ctprof_snapshot *s)
{
	json_array_end(w);
	write_cgroups(w, s);
	write_member(w, "probe_summary", &snapshot_probe_fields, s->probe_summary);
	write_member(w, "parse_summary", &snapshot_parse_fields, s->parse_summary);
	write_member(w, "taskstats_summary", &snapshot_taskstats_fields, s->taskstats_summary);
	json_key(w, "psi");
	json_object_begin(w);
	write_measured(w, LIST_PSI, &snapshot_psi_fields, &s->psi);
	json_object_end(w);
	json_key(w, "sched_ext");
	if (s->sched_ext) {
		json_object_begin(w);
		write_measured(w, LIST_SCHED_EXT, &snapshot_sched_ext_fields, s->sched_ext);
		json_object_end(w);
	} else {
		json_null(w);
	}
	write_processes(w, s);
	write_users(w, s);
	write_counters(w, s);
	write_member(w, "capture", &snapshot_capture_fields, s->capture);
	json_object_end(w);
}

static void write_snapshot(struct json_writer *w, const struct ctprof_snapshot *s)
{
	struct thread_writer t;

	thread_writer_init(&t, NULL);
	snapshot_write_before(w, s);
	for (size_t i = 0; i < s->threads.count; i++)
		thread_write(&t, w, snapshot_thread(s, i));
	snapshot_write_behind(w, s);
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
