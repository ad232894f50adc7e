/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/write_copy.h"

#include "snapshot/schema.h"

/* A text of at most so many bytes is copied from. */
#define TEXT_MAX ((size_t)8192)

/* The keys of the memory of a short thread are no longer. */
#define SMAPS_KEY_MAX 24

void thread_writer_init(struct thread_writer *t, struct thread_repeats *repeats)
{
	memset(t, 0, sizeof(*t));
	t->repeats = repeats;
	write_blank(t);
}

void write_note_repeat(struct thread_repeats *repeats, size_t at, size_t length, size_t distance)
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

	c->seen += write_head_keys[which].length;
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

	c->seen += write_head_keys[head].length;
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
			write_note_repeat(repeats, at, length, at - before);
		at += length >= ZSTREAM_REPEAT_MIN ? length : 1;
	}
}

static void copy_thread(struct copying *c, struct thread_likeness *kind)
{
	const char *text = c->at + c->w->comma;

	begin_text(c);
	copy_head(c);
	copy_metrics(c, kind);
	write_copy_smaps(c);
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
	write_note_measured(t, kind, thread);
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
