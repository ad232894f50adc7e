/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/write_thread.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "snapshot/schema.h"

/* --- what is made once --- */

/* Values that were not measured are written as ktstr writes those that it could not read. */
static struct text blank_value(enum value_type type)
{
	switch (type) {
	case VALUE_label:
		return TEXT("\"\"");
	case VALUE_cpu_set:
		return TEXT("[]");
	case VALUE_letter:
		return TEXT("\"~\"");
	case VALUE_flag:
		return TEXT("false");
	default:
		return TEXT("0");
	}
}

/* Is it a number of 64 bits, as totals, peaks and gauges are? */
static bool is_wide(enum value_type type)
{
	switch (type) {
#define WIDTH(type, repr, ...) \
	case VALUE_##type:     \
		return __builtin_types_compatible_p(repr, uint64_t);
		VALUE_TYPES(WIDTH)
#undef WIDTH
	}
	return false;
}

static char *copy_text(char *at, struct text text)
{
	return (char *)memcpy(at, text.bytes, text.length) + text.length;
}

void thread_writer_init(struct thread_writer *t)
{
	char *at = t->blank;

	t->rows = t->seldom = (struct metric_set){ 0 };
	t->tail_length = 0;
	for (enum thread_name i = 0; i < THREAD_NAME_COUNT; i++)
		t->names[i].name = NULL;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		t->begin[i] = (uint16_t)(at - t->blank);
		if (metrics[i].sources[0].id == SOURCE_ONE)
			continue;
		if (metrics[i].sources[0].id == SOURCE_STATES) {
			metric_set_add(&t->seldom, i);
			continue;
		}
		metric_set_add(&t->rows, i);
		at = copy_text(at, TEXT(",\""));
		at = copy_text(at, text_of(metrics[i].name));
		at = copy_text(at, TEXT("\":"));
		t->value[i] = (uint16_t)(at - t->blank);
		at = copy_text(at, blank_value(metrics[i].type));
	}
	t->begin[METRIC_COUNT] = (uint16_t)(at - t->blank);
	memset(at, 0, THREAD_PIECE_LEAST);
}

/* --- what many threads in a row have alike --- */

static const char *bool_text(bool value)
{
	return value ? "true" : "false";
}

/* The later age of the original marks whole families of a thread by some of these. */
static void make_tail(struct thread_writer *t, const struct metric_set *measured)
{
	bool cpu = metric_set_has(measured, METRIC_cpu_delay_total_ns);
	bool others = metric_set_has(measured, METRIC_blkio_delay_total_ns);
	bool watermarks = metric_set_has(measured, METRIC_hiwater_rss_bytes);
	bool heap = metric_set_has(measured, METRIC_allocated_bytes);
	char digits[BITS_TEXT_MAX];

	t->tail_length = (size_t)snprintf(
		t->tail, sizeof(t->tail),
		",\"taskstats_measured\":%s,\"cpu_delay_active\":%s,\"delay_block_active\":%s,"
		"\"xacct_active\":%s,\"jemalloc_measured\":%s,\"measured\":\"%s\"",
		bool_text(cpu || others || watermarks), bool_text(cpu), bool_text(others),
		bool_text(watermarks), bool_text(heap),
		bits_format(digits, &t->measured, THREAD_FIELD_COUNT));
}

static void list_measured_rows(struct thread_writer *t, const struct metric_set *measured)
{
	t->row_count = 0;
	for (size_t word = 0; word < array_length(measured->words); word++) {
		uint64_t left = measured->words[word] & t->rows.words[word];

		for (; left; left &= left - 1) {
			size_t row = word * 64 + (size_t)__builtin_ctzll(left);

			t->measured_rows[t->row_count++] = (struct measured_row){
				.metric = &metrics[row],
				.offset = (uint16_t)metrics[row].offset,
				.value = t->value[row],
				.end = t->begin[row + 1],
				.is_wide = is_wide(metrics[row].type),
			};
		}
	}
}

static void note_measured(struct thread_writer *t, const struct ctprof_thread *thread)
{
	struct bits bits;

	thread_measured_bits(thread, &bits);
	if (t->tail_length && memcmp(&bits, &t->measured, sizeof(bits)) == 0)
		return;
	t->measured = bits;
	make_tail(t, &thread->record.measured);
	list_measured_rows(t, &thread->record.measured);
}

/* --- pieces of text --- */

/* There is room for a piece more behind each. */
static inline char *put(char *at, const char *from, size_t length)
{
	memcpy(at, from, THREAD_PIECE_LEAST);
	if (length > THREAD_PIECE_LEAST)
		memcpy(at + THREAD_PIECE_LEAST, from + THREAD_PIECE_LEAST,
		       length - THREAD_PIECE_LEAST);
	return at + length;
}

#define PUT(at, literal) ((char *)memcpy(at, literal, sizeof(literal) - 1) + sizeof(literal) - 1)

static void write_cpus(struct json_writer *w, const struct name *set)
{
	json_array_begin(w);
	for (size_t i = 0; i < cpu_set_count(set); i++)
		json_u64(w, cpu_set_cpus(set)[i]);
	json_array_end(w);
}

static void write_unknown_name(struct json_writer *w, enum thread_name which,
			       const struct name *name)
{
	if (which == THREAD_CPUS)
		write_cpus(w, name);
	else
		json_text(w, name_text(name));
}

/* The value of a key that was written last. */
static void write_name(struct thread_writer *t, struct json_writer *w, enum thread_name which,
		       const struct name *name)
{
	struct written_name *written = &t->names[which];
	char *at = json_place(w, sizeof(written->bytes));
	size_t begin = w->used;

	if (name && written->name == name) {
		json_placed(w, put(at, written->bytes, written->length));
		return;
	}
	write_unknown_name(w, which, name);
	/* A longer one may have been handed out meanwhile. */
	written->name = NULL;
	if (w->used < begin || w->used - begin > THREAD_NAME_MAX || !name ||
	    name->length > THREAD_NAME_MAX)
		return;
	written->name = name;
	written->length = w->used - begin;
	memcpy(written->bytes, w->bytes + begin, written->length);
}

/* --- metrics --- */

/* Write a value of any type but numbers of 64 bits. */
static void write_metric_value(struct thread_writer *t, struct json_writer *w,
			       const struct thread_values *values, const struct metric *metric)
{
	char letter;

	switch (metric->type) {
	case VALUE_label:
		write_name(t, w, THREAD_LABEL, metric_load_name(values, metric));
		return;
	case VALUE_cpu_set:
		write_name(t, w, THREAD_CPUS, metric_load_name(values, metric));
		return;
	case VALUE_letter:
		letter = (char)metric_load_i64(values, metric);
		json_text(w, (struct text){ &letter, 1 });
		return;
	case VALUE_flag:
		json_bool(w, metric_load_i64(values, metric));
		return;
	case VALUE_ordinal_i32:
	case VALUE_ordinal_u32:
		json_i64(w, metric_load_i64(values, metric));
		return;
	default:
		json_u64(w, metric_load_u64(values, metric));
	}
}

/* The blank text, and a number of 64 bits for each row. */
#define METRICS_ROOM (THREAD_BLANK_MAX + METRIC_COUNT * DIGITS_MAX + THREAD_PIECE_LEAST)
static_assert(METRICS_ROOM < JSON_ROOM_LEAST, "a thread's numbers have room");

static void write_thread_metrics(struct thread_writer *t, struct json_writer *w,
				 const struct thread_values *values)
{
	char *at = json_place(w, METRICS_ROOM);
	size_t done = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct measured_row *row = &t->measured_rows[i];
		uint64_t value = 0;

		if (row->is_wide) {
			memcpy(&value, (const char *)values + row->offset, sizeof(value));
			if (!value)
				continue;
		}
		at = put(at, t->blank + done, row->value - done);
		done = row->end;
		if (row->is_wide) {
			at += digits_u64(at, value);
			continue;
		}
		json_placed(w, at);
		write_metric_value(t, w, values, row->metric);
		at = json_place(w, METRICS_ROOM);
	}
	json_placed(w, put(at, t->blank + done, t->begin[METRIC_COUNT] - done));
}

static void write_seldom(struct thread_writer *t, struct json_writer *w,
			 const struct thread_record *record)
{
	for (size_t word = 0; word < array_length(record->measured.words); word++) {
		uint64_t left = record->measured.words[word] & t->seldom.words[word];

		for (; left; left &= left - 1) {
			const struct metric *metric =
				&metrics[word * 64 + (size_t)__builtin_ctzll(left)];

			json_continue(w);
			json_key(w, metric->name);
			write_metric_value(t, w, &record->values, metric);
		}
	}
}

/* --- what surrounds them --- */

static void write_smaps(struct json_writer *w, const struct counts *smaps)
{
	char *at = json_place(w, 2 * THREAD_PIECE_LEAST);

	if (!smaps) {
		json_placed(w, PUT(at, ",\"smaps_rollup_kb\":{},\"smaps_rollup_kib\":{}"));
		return;
	}
	json_placed(w, PUT(at, ",\"smaps_rollup_kb\":"));
	counts_write(w, smaps);
	at = json_place(w, THREAD_PIECE_LEAST);
	json_placed(w, PUT(at, ",\"smaps_rollup_kib\":"));
	counts_write(w, smaps);
}

void thread_write(struct thread_writer *t, struct json_writer *w,
		  const struct ctprof_thread *thread)
{
	char *at;

	note_measured(t, thread);
	json_object_begin(w);
	at = json_place(w, 2 * THREAD_PIECE_LEAST);
	at = PUT(at, "\"tid\":");
	at += digits_u64(at, thread->tid);
	at = PUT(at, ",\"tgid\":");
	at += digits_u64(at, thread->tgid);
	json_placed(w, PUT(at, ",\"pcomm\":"));
	write_name(t, w, THREAD_PCOMM, thread->pcomm);
	json_placed(w, PUT(json_place(w, THREAD_PIECE_LEAST), ",\"comm\":"));
	write_name(t, w, THREAD_COMM, thread->comm);
	json_placed(w, PUT(json_place(w, THREAD_PIECE_LEAST), ",\"cgroup\":"));
	write_name(t, w, THREAD_CGROUP, thread->cgroup);
	at = json_place(w, THREAD_PIECE_LEAST);
	at = PUT(at, ",\"start_time_clock_ticks\":");
	json_placed(w, at + digits_u64(at, thread->start_time_clock_ticks.value));
	write_thread_metrics(t, w, &thread->record.values);
	write_seldom(t, w, &thread->record);
	write_smaps(w, thread->smaps_rollup_kib);
	at = json_place(w, sizeof(t->tail));
	json_placed(w, (char *)memcpy(at, t->tail, t->tail_length) + t->tail_length);
	json_object_end(w);
}
