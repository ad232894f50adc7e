/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/write_thread.h"

#include <stdio.h>
#include <string.h>

#include "snapshot/schema.h"

/* A text of at most so many bytes is copied from; a thread that is short itself has so much room
 * then. */
#define TEXT_MAX  ((size_t)8192)
#define TEXT_ROOM (JSON_ROOM_LEAST / 2)

static const struct text head_keys[THREAD_HEAD_COUNT] = {
	[HEAD_TID] = TEXT("{\"tid\":"),       [HEAD_TGID] = TEXT(",\"tgid\":"),
	[HEAD_PCOMM] = TEXT(",\"pcomm\":"),   [HEAD_COMM] = TEXT(",\"comm\":"),
	[HEAD_CGROUP] = TEXT(",\"cgroup\":"), [HEAD_START] = TEXT(",\"start_time_clock_ticks\":"),
};

#define SMAPS_KEY_MAX 24
#define SMAPS_KEY     ",\"smaps_rollup_kb\":"
#define SMAPS_AGAIN   ",\"smaps_rollup_kib\":"

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

static void make_blank(struct thread_writer *t)
{
	struct written_thread *blank = &t->blank;
	char *at = t->blank_text;

	*blank = (struct written_thread){ .thread = &t->blank_thread,
					  .text = t->blank_text,
					  .is_blank = true };
	for (enum thread_head i = 0; i < THREAD_HEAD_COUNT; i++) {
		const bool is_name = i >= HEAD_PCOMM && i <= HEAD_CGROUP;

		at = copy_text(at, head_keys[i]);
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

void thread_writer_init(struct thread_writer *t, struct thread_repeats *repeats)
{
	memset(t, 0, sizeof(*t));
	t->repeats = repeats;
	make_blank(t);
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

static void note_measured(const struct thread_writer *t, struct thread_likeness *kind,
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

/* --- copying --- */

/* The text of a thread that is made from that of another one. */
struct copying {
	struct thread_writer *t;
	struct json_writer *w;
	const struct ctprof_thread *thread, *other;
	struct written_thread *last; /* what was written of the other one, and then of this one */
	bool is_short;               /* nothing is handed out before its end */
	bool is_repeated;            /* the other text is in the same output */
	char *at;                    /* where the text goes on */
	const char *from, *seen;     /* in the other text: what was not copied yet, and is to be */
};

/* There is room for a piece more behind each. */
static inline char *put(char *at, const char *from, size_t length)
{
	memcpy(at, from, THREAD_PIECE_LEAST);
	if (length > THREAD_PIECE_LEAST)
		memcpy(at + THREAD_PIECE_LEAST, from + THREAD_PIECE_LEAST,
		       length - THREAD_PIECE_LEAST);
	return at + length;
}

/* A repeat that directly follows another one with the same distance extends it. Without memory the
 * text counts as new. */
static void note_repeat(struct thread_repeats *repeats, size_t at, size_t length, size_t distance)
{
	struct zstream_repeat *before = repeats->count ? &repeats->items[repeats->count - 1] : NULL;

	if (before && repeats->end == at && before->distance == distance)
		before->length += (uint32_t)length;
	else if (length < ZSTREAM_REPEAT_MIN || distance > ZSTREAM_DISTANCE_MAX ||
		 !array_push(repeats, (struct zstream_repeat){ (uint32_t)at, (uint32_t)length,
							       (uint32_t)distance }))
		return;
	repeats->end = at + length;
}

static inline void copy_seen(struct copying *c)
{
	const size_t length = (size_t)(c->seen - c->from);

	if (c->is_repeated)
		note_repeat(c->t->repeats, (size_t)(c->at - c->w->bytes), length,
			    (size_t)(c->at - c->from));
	c->at = put(c->at, c->from, length);
	c->from = c->seen;
}

/* How many of the first 8 bytes are the same. */
static inline size_t alike(const char *a, const char *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x == y ? sizeof(x) : (size_t)__builtin_ctzll(x ^ y) / 8;
}

/* Write a number instead of the next `length` bytes of the other text; returns its length. Numbers
 * that grow mostly begin alike: that is a part of the repeat before. */
static inline size_t put_number(struct copying *c, uint64_t value, size_t length)
{
	const size_t digits = digits_u64(c->at, value);
	size_t same;

	if (c->is_repeated) {
		same = alike(c->at, c->seen);
		same = same < digits ? same : digits;
		if (same && same <= length)
			note_repeat(c->t->repeats, (size_t)(c->at - c->w->bytes), same,
				    (size_t)(c->at - c->seen));
	}
	c->at += digits;
	return digits;
}

/* Instead of the next `length` bytes of the other text stands what was written since copy_seen().
 */
static inline void replaced(struct copying *c, size_t length)
{
	c->seen += length;
	c->from = c->seen;
}

/* Write through the writer, which may hand out what it has, of a thread that is not short. */
static void begin_writing(struct copying *c)
{
	json_placed(c->w, c->at);
}

static void end_writing(struct copying *c)
{
	c->at = json_place(c->w, TEXT_ROOM);
}

/* --- names --- */

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

static const struct name *head_name(const struct ctprof_thread *thread, enum thread_name which)
{
	return which == THREAD_PCOMM  ? thread->pcomm
	       : which == THREAD_COMM ? thread->comm
				      : thread->cgroup;
}

/* --- the members before the metrics --- */

static inline void copy_number(struct copying *c, enum thread_head which, uint64_t value,
			       uint64_t other)
{
	const uint16_t length = c->last->head[which];

	c->seen += head_keys[which].length;
	if (value == other) {
		c->seen += length;
		return;
	}
	copy_seen(c);
	c->last->head[which] = (uint16_t)put_number(c, value, length);
	replaced(c, length);
}

static inline void copy_name(struct copying *c, enum thread_head head, enum thread_name which)
{
	const struct name *name = head_name(c->thread, which);
	const uint16_t length = c->last->head[head];
	const char *begin;

	c->seen += head_keys[head].length;
	if (name == head_name(c->other, which)) {
		c->seen += length;
		return;
	}
	copy_seen(c);
	begin = c->at;
	begin_writing(c);
	write_name(c->t, c->w, which, name);
	end_writing(c);
	c->last->head[head] = (uint16_t)(c->at - begin);
	replaced(c, length);
}

static void copy_head(struct copying *c)
{
	copy_number(c, HEAD_TID, c->thread->tid, c->other->tid);
	copy_number(c, HEAD_TGID, c->thread->tgid, c->other->tgid);
	copy_name(c, HEAD_PCOMM, THREAD_PCOMM);
	copy_name(c, HEAD_COMM, THREAD_COMM);
	copy_name(c, HEAD_CGROUP, THREAD_CGROUP);
	copy_number(c, HEAD_START, c->thread->start_time_clock_ticks.value,
		    c->other->start_time_clock_ticks.value);
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

/* The value of a row, to be compared with another one: numbers, and pointers to names. */
static inline uint64_t row_value(const struct ctprof_thread *thread, const struct json_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)&thread->record + row->offset, sizeof(value));
	return value & row->mask;
}

static void copy_value(struct copying *c, const struct json_row *row, bool is_measured,
		       uint64_t value, size_t length)
{
	const char *begin;

	copy_seen(c);
	begin = c->at;
	if (row->is_wide) {
		put_number(c, value, length);
	} else if (!is_measured) {
		c->at = put(c->at, c->t->blank_text + row->at, row->blank);
	} else {
		begin_writing(c);
		write_metric_value(c->t, c->w, &c->thread->record.values, row->metric);
		end_writing(c);
	}
	c->last->values[row->number] = (uint16_t)(c->at - begin);
	replaced(c, length);
}

/* The same rows were measured of both. */
static void copy_measured_rows(struct copying *c, const struct json_rows *rows)
{
	const struct ctprof_thread *thread = c->thread, *other = c->other;
	const uint16_t *lengths = c->last->values;

	for (size_t i = 0; i < rows->count; i++) {
		const struct json_row *row = &rows->items[i];
		const uint64_t value = row_value(thread, row);

		c->seen += row->gap;
		if (value == row_value(other, row))
			c->seen += lengths[row->number];
		else
			copy_value(c, row, true, value, lengths[row->number]);
	}
	c->seen += rows->behind;
}

static void copy_all_rows(struct copying *c)
{
	const struct metric_set *measured = &c->thread->record.measured,
				*other_measured = &c->other->record.measured;
	const struct json_rows *rows = &c->t->rows;

	for (size_t i = 0; i < rows->count; i++) {
		const struct json_row *row = &rows->items[i];
		const bool is_measured = metric_set_has(measured, row->number);
		const bool was_measured = metric_set_has(other_measured, row->number);
		const uint64_t value = is_measured ? row_value(c->thread, row) : 0;
		const uint64_t other = was_measured ? row_value(c->other, row) : 0;
		const uint16_t length = was_measured ? c->last->values[row->number] : row->blank;

		c->seen += row->gap;
		c->last->values[row->number] = length;
		if (value == other && (row->is_wide || is_measured == was_measured))
			c->seen += length;
		else
			copy_value(c, row, is_measured, value, length);
	}
}

/* Of both threads there may be none, and the rows of both may differ. */
static void replace_seldom(struct copying *c)
{
	const struct json_rows *rows = &c->t->seldom;
	size_t length = 0, count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct json_row *row = &rows->items[i];

		count += metric_set_has(&c->thread->record.measured, row->number);
		if (metric_set_has(&c->other->record.measured, row->number))
			length += (size_t)row->gap + c->last->values[row->number];
	}
	if (!length && !count)
		return;
	copy_seen(c);
	begin_writing(c);
	for (size_t i = 0; i < rows->count; i++) {
		const struct json_row *row = &rows->items[i];
		size_t begin;

		if (!metric_set_has(&c->thread->record.measured, row->number))
			continue;
		json_continue(c->w);
		json_key(c->w, row->metric->name);
		begin = c->w->used;
		write_metric_value(c->t, c->w, &c->thread->record.values, row->metric);
		c->last->values[row->number] = (uint16_t)(c->w->used - begin);
	}
	end_writing(c);
	replaced(c, length);
}

static void copy_metrics(struct copying *c, const struct thread_likeness *kind)
{
	if (memcmp(&c->last->measured, &kind->measured, sizeof(kind->measured)) == 0) {
		copy_measured_rows(c, &kind->rows);
		return;
	}
	copy_all_rows(c);
	replace_seldom(c);
}

/* --- the kinds of memory --- */

static bool has_same_keys(const struct counts *a, const struct counts *b)
{
	if (!a || !b || a->count != b->count || a->count > THREAD_SMAPS_MAX)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].key != b->items[i].key)
			return false;
	return true;
}

/* As counts_write() does, which does not tell lengths. */
static void write_smaps(struct copying *c, const struct counts *smaps)
{
	struct written_thread *last = c->last;

	json_object_begin(c->w);
	for (size_t i = 0; smaps && i < smaps->count; i++) {
		const size_t begin = c->w->used;
		size_t end;

		json_key_text(c->w, name_text(smaps->items[i].key));
		end = c->w->used;
		json_u64(c->w, smaps->items[i].value);
		if (i < THREAD_SMAPS_MAX) {
			last->smaps_keys[i] = (uint16_t)(end - begin);
			last->smaps_values[i] = (uint16_t)(c->w->used - end);
		}
	}
	json_object_end(c->w);
}

static void copy_smaps_values(struct copying *c, const struct counts *smaps,
			      const struct counts *other)
{
	c->seen += 1; /* { */
	for (size_t i = 0; i < smaps->count; i++) {
		const uint16_t length = c->last->smaps_values[i];

		c->seen += c->last->smaps_keys[i];
		if (smaps->items[i].value == other->items[i].value) {
			c->seen += length;
			continue;
		}
		copy_seen(c);
		c->last->smaps_values[i] = (uint16_t)put_number(c, smaps->items[i].value, length);
		replaced(c, length);
	}
	c->seen += 1; /* } */
}

static void replace_smaps(struct copying *c, const struct counts *smaps, size_t length)
{
	begin_writing(c);
	write_smaps(c, smaps);
	end_writing(c);
	replaced(c, length);
}

/* The object is written twice, under two keys. */
static void copy_smaps(struct copying *c)
{
	const struct counts *smaps = c->thread->smaps_rollup_kib,
			    *other = c->other->smaps_rollup_kib;
	const uint16_t length = c->last->smaps;
	const char *begin;
	size_t distance;

	c->seen += sizeof(SMAPS_KEY) - 1;
	if (!smaps && !other) {
		c->seen += 2 * (size_t)length + sizeof(SMAPS_AGAIN) - 1;
		return;
	}
	copy_seen(c);
	begin = c->at;
	if (c->is_short && has_same_keys(smaps, other))
		copy_smaps_values(c, smaps, other);
	else
		replace_smaps(c, smaps, length);
	c->seen += sizeof(SMAPS_AGAIN) - 1;
	copy_seen(c);
	if (!c->is_short) {
		replace_smaps(c, smaps, length);
		return;
	}
	distance = (size_t)(c->at - begin);
	c->last->smaps = (uint16_t)(distance - (sizeof(SMAPS_AGAIN) - 1));
	if (c->is_repeated)
		note_repeat(c->t->repeats, (size_t)(c->at - c->w->bytes), c->last->smaps, distance);
	memcpy(c->at, begin, c->last->smaps);
	c->at += c->last->smaps;
	replaced(c, length);
}

/* --- a thread --- */

static bool is_short_name(const struct name *name)
{
	return !name || name->length <= THREAD_NAME_MAX;
}

static bool has_short_keys(const struct counts *smaps)
{
	for (size_t i = 0; smaps && i < smaps->count; i++)
		if (i == THREAD_SMAPS_MAX || smaps->items[i].key->length > SMAPS_KEY_MAX)
			return false;
	return true;
}

/* Does its text fit into the room that there is before it is begun? */
static bool is_short(const struct ctprof_thread *thread)
{
	const struct thread_values *values = &thread->record.values;

	return is_short_name(thread->pcomm) && is_short_name(thread->comm) &&
	       is_short_name(thread->cgroup) && is_short_name(values->policy.v) &&
	       is_short_name(values->cpu_affinity.v) && has_short_keys(thread->smaps_rollup_kib);
}

/* The text that is most like that of the thread. */
static const struct written_thread *find_other(const struct thread_writer *t,
					       const struct thread_likeness *kind,
					       bool is_short_one)
{
	const struct thread_likeness *another = &t->kinds[kind == t->kinds];

	if (!is_short_one)
		return &t->blank;
	return kind->last.thread ? &kind->last : another->last.thread ? &another->last : &t->blank;
}

/* The comma before it, which is also before most others. */
static void begin_text(struct copying *c)
{
	if (!c->w->comma)
		return;
	if (c->is_repeated && c->from > c->w->bytes && c->from[-1] == ',')
		c->from--;
	else
		*c->at++ = ',';
}

static void end_text(struct copying *c, const struct thread_likeness *kind)
{
	if (memcmp(&c->last->measured, &kind->measured, sizeof(kind->measured)) == 0) {
		c->seen += c->last->tail;
	} else {
		copy_seen(c);
		c->at = put(c->at, kind->tail, kind->tail_length);
		replaced(c, c->last->tail);
	}
	c->seen += 1; /* } */
	copy_seen(c);
}

static void note_written(struct copying *c, const struct thread_likeness *kind, const char *text)
{
	struct written_thread *last = c->last;

	last->text = text;
	last->length = (size_t)(c->at - text);
	last->is_blank = false;
	last->measured = kind->measured;
	last->tail = (uint16_t)kind->tail_length;
	last->thread = c->is_short && last->length <= TEXT_MAX ? c->thread : NULL;
}

/* Of the first text there is nothing before it, so it is searched for what it has twice. */
static void search_text(struct thread_repeats *repeats, const char *bytes, size_t begin, size_t end)
{
	uint16_t places[1024] = { 0 }; /* behind `begin`, by hash; 0: none */
	size_t at = begin;

	while (at + ZSTREAM_REPEAT_MIN <= end) {
		uint64_t next;
		uint16_t *place;
		size_t before, length = 0;

		memcpy(&next, bytes + at, sizeof(next));
		place = &places[next * 0x9e3779b97f4a7c15 >> 54];
		before = begin + *place;
		*place = (uint16_t)(at - begin);
		while (before > begin && at + length < end &&
		       bytes[at + length] == bytes[before + length])
			length++;
		if (length >= ZSTREAM_REPEAT_MIN)
			note_repeat(repeats, at, length, at - before);
		at += length >= ZSTREAM_REPEAT_MIN ? length : 1;
	}
}

static void copy_thread(struct copying *c, struct thread_likeness *kind)
{
	const char *text = c->at + c->w->comma;

	begin_text(c);
	copy_head(c);
	copy_metrics(c, kind);
	copy_smaps(c);
	end_text(c, kind);
	note_written(c, kind, text);
	if (c->t->repeats && !c->is_repeated && c->last->thread)
		search_text(c->t->repeats, c->w->bytes, (size_t)(text - c->w->bytes),
			    (size_t)(c->at - c->w->bytes));
	json_placed(c->w, c->at);
	json_continue(c->w);
}

static void forget_texts(struct thread_writer *t)
{
	t->kinds[0].last.thread = t->kinds[1].last.thread = NULL;
}

void thread_write(struct thread_writer *t, struct json_writer *w,
		  const struct ctprof_thread *thread)
{
	struct thread_likeness *kind = &t->kinds[thread->tid != thread->tgid];
	char *at = json_place(w, JSON_ROOM_LEAST);
	const bool is_short_one = is_short(thread);
	const struct written_thread *other;

	/* What was written before has been handed out. */
	if (w->used < t->end)
		forget_texts(t);
	note_measured(t, kind, thread);
	other = find_other(t, kind, is_short_one);
	if (other != &kind->last)
		kind->last = *other;
	copy_thread(&(struct copying){ .t = t,
				       .w = w,
				       .thread = thread,
				       .other = kind->last.thread,
				       .last = &kind->last,
				       .is_short = is_short_one,
				       .is_repeated = t->repeats && !kind->last.is_blank,
				       .at = at,
				       .from = kind->last.text,
				       .seen = kind->last.text },
		    kind);
	t->end = w->used;
	/* Some of it may have been handed out before its end. */
	if (!is_short_one)
		forget_texts(t);
}
