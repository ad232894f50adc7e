/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/write_thread.h"

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

	t->rows = t->wide = t->seldom = (struct metric_set){ 0 };
	t->tail_length = 0;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		t->begin[i] = (uint16_t)(at - t->blank);
		if (metrics[i].sources[0].id == SOURCE_ONE)
			continue;
		if (metrics[i].sources[0].id == SOURCE_STATES) {
			metric_set_add(&t->seldom, i);
			continue;
		}
		metric_set_add(&t->rows, i);
		if (is_wide(metrics[i].type))
			metric_set_add(&t->wide, i);
		at = copy_text(at, TEXT(",\""));
		at = copy_text(at, text_of(metrics[i].name));
		at = copy_text(at, TEXT("\":"));
		t->value[i] = (uint16_t)(at - t->blank);
		at = copy_text(at, blank_value(metrics[i].type));
	}
	t->begin[METRIC_COUNT] = (uint16_t)(at - t->blank);
}

/* --- metrics --- */

static void write_cpus(struct json_writer *w, const struct name *set)
{
	json_array_begin(w);
	for (size_t i = 0; i < cpu_set_count(set); i++)
		json_u64(w, cpu_set_cpus(set)[i]);
	json_array_end(w);
}

/* The value of a row of 64 bits. */
static uint64_t wide_value(const struct thread_values *values, size_t row)
{
	uint64_t value;

	memcpy(&value, (const char *)values + metrics[row].offset, sizeof(value));
	return value;
}

/* Write a value of any other type. */
static void write_metric_value(struct json_writer *w, const struct thread_values *values,
			       const struct metric *metric)
{
	char letter;

	switch (metric->type) {
	case VALUE_label:
		json_text(w, name_text(metric_load_name(values, metric)));
		return;
	case VALUE_cpu_set:
		write_cpus(w, metric_load_name(values, metric));
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

/* The blank text between two places; what stands before it brings the first comma. */
static struct text piece(const struct thread_writer *t, size_t from, size_t to)
{
	return (struct text){ t->blank + from + 1, to - from - 1 };
}

static void write_thread_metrics(struct thread_writer *t, struct json_writer *w,
				 const struct thread_record *record)
{
	size_t done = 0;

	for (size_t word = 0; word < array_length(record->measured.words); word++) {
		uint64_t left = record->measured.words[word] & t->rows.words[word];

		for (; left; left &= left - 1) {
			size_t row = word * 64 + (size_t)__builtin_ctzll(left);
			bool wide = metric_set_has(&t->wide, row);
			uint64_t value = wide ? wide_value(&record->values, row) : 0;

			if (wide && !value)
				continue;
			json_key_ready(w, piece(t, t->begin[done], t->value[row]));
			if (wide)
				json_u64(w, value);
			else
				write_metric_value(w, &record->values, &metrics[row]);
			done = row + 1;
		}
	}
	if (t->begin[done] < t->begin[METRIC_COUNT])
		json_ready(w, piece(t, t->begin[done], t->begin[METRIC_COUNT]));
}

static void write_seldom(const struct thread_writer *t, struct json_writer *w,
			 const struct thread_record *record)
{
	for (size_t word = 0; word < array_length(record->measured.words); word++) {
		uint64_t left = record->measured.words[word] & t->seldom.words[word];

		for (; left; left &= left - 1) {
			const struct metric *metric =
				&metrics[word * 64 + (size_t)__builtin_ctzll(left)];

			json_key(w, metric->name);
			write_metric_value(w, &record->values, metric);
		}
	}
}

/* --- what surrounds them --- */

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
		"\"taskstats_measured\":%s,\"cpu_delay_active\":%s,\"delay_block_active\":%s,"
		"\"xacct_active\":%s,\"jemalloc_measured\":%s,\"measured\":\"%s\"",
		bool_text(cpu || others || watermarks), bool_text(cpu), bool_text(others),
		bool_text(watermarks), bool_text(heap),
		bits_format(digits, &t->tail_bits, THREAD_FIELD_COUNT));
}

static void write_tail(struct thread_writer *t, struct json_writer *w,
		       const struct ctprof_thread *thread)
{
	struct bits bits;

	thread_measured_bits(thread, &bits);
	if (!t->tail_length || memcmp(&bits, &t->tail_bits, sizeof(bits)) != 0) {
		t->tail_bits = bits;
		make_tail(t, &thread->record.measured);
	}
	json_ready(w, (struct text){ t->tail, t->tail_length });
}

static void write_smaps(struct json_writer *w, const struct counts *smaps)
{
	if (!smaps) {
		json_ready(w, TEXT("\"smaps_rollup_kb\":{},\"smaps_rollup_kib\":{}"));
		return;
	}
	json_key_ready(w, TEXT("\"smaps_rollup_kb\":"));
	counts_write(w, smaps);
	json_key_ready(w, TEXT("\"smaps_rollup_kib\":"));
	counts_write(w, smaps);
}

void thread_write(struct thread_writer *t, struct json_writer *w,
		  const struct ctprof_thread *thread)
{
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
	write_thread_metrics(t, w, &thread->record);
	write_seldom(t, w, &thread->record);
	write_smaps(w, thread->smaps_rollup_kib);
	write_tail(t, w, thread);
	json_object_end(w);
}
