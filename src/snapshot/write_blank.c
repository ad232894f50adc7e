/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/write_copy.h"

#include <stdio.h>

#include "snapshot/schema.h"

const struct text write_head_keys[THREAD_HEAD_COUNT] = {
	[HEAD_TID] = TEXT("{\"tid\":"),       [HEAD_TGID] = TEXT(",\"tgid\":"),
	[HEAD_PCOMM] = TEXT(",\"pcomm\":"),   [HEAD_COMM] = TEXT(",\"comm\":"),
	[HEAD_CGROUP] = TEXT(",\"cgroup\":"), [HEAD_START] = TEXT(",\"start_time_clock_ticks\":"),
};

/* --- the text of a thread with nothing measured --- */

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

/* The bytes of a value, and whether it is a number of 64 bits, as totals, peaks and gauges are. */
static size_t bytes_of(enum value_type type, bool *ret_is_wide)
{
	switch (type) {
#define WIDTH(type, repr, ...)                                               \
	case VALUE_##type:                                                   \
		*ret_is_wide = __builtin_types_compatible_p(repr, uint64_t); \
		return sizeof(repr);
		VALUE_TYPES(WIDTH)
#undef WIDTH
	}
	return 0;
}

static char *copy_text(char *at, struct text text)
{
	return (char *)memcpy(at, text.bytes, text.length) + text.length;
}

/* See row_value(). */
_Static_assert(offsetof(struct thread_record, values) == 0 &&
		       sizeof(struct thread_record) >= sizeof(struct thread_values) + 8,
	       "8 bytes can be read from the begin of each value");

static void add_row(struct json_rows *rows, const struct metric *metric, size_t gap, size_t at)
{
	struct json_row *row = &rows->items[rows->count++];

	*row = (struct json_row){
		.metric = metric,
		.offset = (uint16_t)metric->offset,
		.number = (uint16_t)metric_id(metric),
		.gap = (uint16_t)gap,
		.blank = (uint16_t)blank_value(metric->type).length,
		.at = (uint16_t)at,
	};
	row->mask = UINT64_MAX >> (64 - 8 * bytes_of(metric->type, &row->is_wide));
}

static char *put_key(char *at, const struct metric *metric)
{
	at = copy_text(at, TEXT(",\""));
	at = copy_text(at, text_of(metric->name));
	return copy_text(at, TEXT("\":"));
}

static char *make_metrics(struct thread_writer *t, char *at)
{
	for (const struct metric *metric = metrics; metric < metrics + METRIC_COUNT; metric++) {
		char *key = at;

		if (metric->sources[0].id == SOURCE_ONE)
			continue;
		at = put_key(at, metric);
		if (metric->sources[0].id == SOURCE_STATES) {
			add_row(&t->seldom, metric, (size_t)(at - key), 0);
			at = key;
			continue;
		}
		add_row(&t->rows, metric, (size_t)(at - key), (size_t)(at - t->blank_text));
		at = copy_text(at, blank_value(metric->type));
	}
	return at;
}

static const char *bool_text(bool value)
{
	return value ? "true" : "false";
}

/* The later age of the original marks whole families of a thread by some of these. */
static size_t make_tail(char tail[THREAD_TAIL_MAX], const struct metric_set *measured,
			const struct bits *bits)
{
	bool cpu = metric_set_has(measured, METRIC_cpu_delay_total_ns);
	bool others = metric_set_has(measured, METRIC_blkio_delay_total_ns);
	bool watermarks = metric_set_has(measured, METRIC_hiwater_rss_bytes);
	bool heap = metric_set_has(measured, METRIC_allocated_bytes);
	char digits[BITS_TEXT_MAX];

	return (size_t)snprintf(
		tail, THREAD_TAIL_MAX,
		",\"taskstats_measured\":%s,\"cpu_delay_active\":%s,\"delay_block_active\":%s,"
		"\"xacct_active\":%s,\"jemalloc_measured\":%s,\"measured\":\"%s\"",
		bool_text(cpu || others || watermarks), bool_text(cpu), bool_text(others),
		bool_text(watermarks), bool_text(heap),
		bits_format(digits, bits, THREAD_FIELD_COUNT));
}

void write_blank(struct thread_writer *t)
{
	struct written_thread *blank = &t->blank;
	char *at = t->blank_text;

	*blank = (struct written_thread){ .thread = &t->blank_thread,
					  .text = t->blank_text,
					  .is_blank = true };
	for (enum thread_head i = 0; i < THREAD_HEAD_COUNT; i++) {
		const bool is_name = i >= HEAD_PCOMM && i <= HEAD_CGROUP;

		at = copy_text(at, write_head_keys[i]);
		at = copy_text(at, is_name ? TEXT("\"\"") : TEXT("0"));
		blank->head[i] = is_name ? 2 : 1;
	}
	at = make_metrics(t, at);
	at = copy_text(at, TEXT(SMAPS_KEY "{}" SMAPS_AGAIN "{}"));
	blank->smaps = 2;
	blank->tail = (uint16_t)make_tail(at, &t->blank_thread.record.measured, &blank->measured);
	at += blank->tail;
	*at++ = '}';
	blank->length = (size_t)(at - t->blank_text);
}

/* --- what threads of a kind have alike --- */

/* The gap before each has the text of the rows that were not measured. */
static void list_measured_rows(const struct thread_writer *t, const struct metric_set *measured,
			       struct json_rows *ret)
{
	size_t gap = 0;

	ret->count = 0;
	for (size_t i = 0; i < t->rows.count + t->seldom.count; i++) {
		const bool is_seldom = i >= t->rows.count;
		struct json_row row =
			is_seldom ? t->seldom.items[i - t->rows.count] : t->rows.items[i];

		if (!metric_set_has(measured, row.number)) {
			gap += is_seldom ? 0 : (size_t)row.gap + row.blank;
			continue;
		}
		row.gap = (uint16_t)(row.gap + gap);
		ret->items[ret->count++] = row;
		gap = 0;
	}
	ret->behind = gap;
}

void write_note_measured(const struct thread_writer *t, struct thread_likeness *kind,
			 const struct ctprof_thread *thread)
{
	const struct metric_set *measured = &thread->record.measured;
	struct bits bits;

	thread_measured_bits(thread, &bits);
	if (kind->tail_length && memcmp(&bits, &kind->measured, sizeof(bits)) == 0)
		return;
	kind->measured = bits;
	kind->tail_length = make_tail(kind->tail, measured, &bits);
	list_measured_rows(t, measured, &kind->rows);
}
