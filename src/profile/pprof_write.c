/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/files.h"
#include "profile/pprof.h"
#include "profile/pprof_writer.h"
#include "state/reading.h"

/* The last one is what some tools show when they are not told, so times come behind counts. */
enum { COUNT, ON_CPU, OFF_CPU, WALL, COLUMN_COUNT };

struct file_writer {
	struct pprof_writer w;
	int64_t columns[COLUMN_COUNT]; /* which value of a sample has it; -1: none */
	size_t column_count;
};

#define LABELS_MAX 8

struct pprof_label_writer {
	Pprof__Label labels[LABELS_MAX], *items[LABELS_MAX];
	size_t count;
};

static void add_label(struct pprof_label_writer *labels, int64_t key, int64_t str, int64_t num)
{
	Pprof__Label *label = &labels->labels[labels->count];

	pprof__label__init(label);
	label->key = key;
	label->str = str;
	label->num = num;
	labels->items[labels->count++] = label;
}

static void add_text(struct pprof_writer *w, struct pprof_label_writer *labels, const char *key,
		     const struct name *value)
{
	if (value && value->length)
		add_label(labels, pprof_text(w, key), pprof_name(w, value), 0);
}

static void put_labels(struct pprof_writer *w, const struct sample *sample,
		       struct pprof_label_writer *labels)
{
	const struct profile_thread *thread = &w->profile->threads.items[sample->thread];

	if (thread->tid)
		add_label(labels, pprof_text(w, PPROF_TID), 0, thread->tid);
	if (thread->tgid)
		add_label(labels, pprof_text(w, PPROF_TGID), 0, thread->tgid);
	if (sample->cpu != CPU_ANY)
		add_label(labels, pprof_text(w, PPROF_CPU), 0, sample->cpu);
	add_text(w, labels, PPROF_THREAD, thread->name);
	add_text(w, labels, PPROF_PROCESS, thread->process);
	add_text(w, labels, PPROF_CGROUP, thread->cgroup);
	add_label(labels, pprof_text(w, PPROF_STATE),
		  pprof_text(w, profile_classes[sample->class].name), 0);
	if (profile_classes[sample->class].is_off_cpu)
		add_label(labels, pprof_text(w, PPROF_REASON),
			  pprof_text(w, state_rows[sample->state].name), 0);
	if (sample->class == CLASS_EVENT && sample->event < w->profile->events.count)
		add_text(w, labels, PPROF_EVENT, w->profile->events.items[sample->event]);
}

static void put_sample(struct file_writer *f, const struct sample *from)
{
	struct pprof_writer *w = &f->w;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *item = &sample;
	struct pprof_label_writer labels = { .count = 0 };
	int64_t values[COLUMN_COUNT] = { 0 };
	int time = from->class == CLASS_ON_CPU               ? ON_CPU
		   : profile_classes[from->class].is_off_cpu ? OFF_CPU
							     : -1;

	if (time >= 0)
		values[f->columns[time]] = pprof_whole(from->ns);
	if (time >= 0 && f->columns[WALL] >= 0)
		values[f->columns[WALL]] = pprof_whole(from->ns);
	values[f->columns[COUNT]] = pprof_whole(from->count);
	pprof_put_stack(w, from->node);
	put_labels(w, from, &labels);
	sample.n_location_id = w->stack.count;
	sample.location_id = w->stack.items;
	sample.n_value = f->column_count;
	sample.value = values;
	sample.n_label = labels.count;
	sample.label = labels.items;
	piece.n_sample = 1;
	piece.sample = &item;
	pprof_emit(w, &piece);
}

/* --- the head --- */

static void put_type(struct file_writer *f, int column, const char *type, const char *unit)
{
	struct pprof_writer *w = &f->w;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT, *item = &value;

	f->columns[column] = (int64_t)f->column_count++;
	value.type = pprof_text(w, type);
	value.unit = pprof_text(w, unit);
	piece.n_sample_type = 1;
	piece.sample_type = &item;
	pprof_emit(w, &piece);
}

static void put_types(struct file_writer *f)
{
	bool on = false, off = false;

	for (size_t i = 0; i < f->w.profile->samples.count; i++) {
		uint16_t class = f->w.profile->samples.items[i].class;

		on |= class == CLASS_ON_CPU;
		off |= profile_classes[class].is_off_cpu;
	}
	put_type(f, COUNT, PPROF_SAMPLES, "count");
	if (on)
		put_type(f, ON_CPU, PPROF_ON_CPU, "nanoseconds");
	if (off)
		put_type(f, OFF_CPU, PPROF_OFF_CPU, "nanoseconds");
	if (on && off)
		put_type(f, WALL, PPROF_WALL, "nanoseconds");
}

static void put_head(struct file_writer *f)
{
	struct pprof_writer *w = &f->w;
	const struct profile_meta *meta = &w->profile->meta;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	int64_t comment;

	pprof_text(w, "");
	put_types(f);
	piece.default_sample_type = pprof_text(w, f->columns[WALL] >= 0      ? PPROF_WALL
						  : f->columns[OFF_CPU] >= 0 ? PPROF_OFF_CPU
						  : f->columns[ON_CPU] >= 0  ? PPROF_ON_CPU
									     : PPROF_SAMPLES);
	if (f->columns[OFF_CPU] >= 0) {
		_cleanup_free_ char *pattern = NULL;

		pprof_fail(w, pprof_frames_to_drop(w->profile, &pattern));
		piece.drop_frames = pattern ? pprof_text(w, pattern) : 0;
	}
	piece.time_nanos = pprof_whole(meta->captured_at_unix_ns);
	piece.duration_nanos = pprof_whole(meta->duration_ns);
	if (meta->on_cpu_period_ns) {
		period.type = pprof_text(w, PPROF_ON_CPU);
		period.unit = pprof_text(w, "nanoseconds");
		piece.period_type = &period;
		piece.period = pprof_whole(meta->on_cpu_period_ns);
	}
	if (meta->command) {
		comment = pprof_name(w, meta->command);
		piece.n_comment = 1;
		piece.comment = &comment;
	}
	pprof_emit(w, &piece);
}

static void write_messages(struct file_writer *f)
{
	struct pprof_writer *w = &f->w;

	put_head(f);
	pprof_find_files(w);
	pprof_put_program(w);
	for (size_t i = 0; i < w->profile->samples.count && !w->error; i++)
		put_sample(f, &w->profile->samples.items[i]);
	pprof_finish(w);
}

struct error *profile_write_pprof(const struct profile *profile, json_sink sink, void *context)
{
	struct file_writer f = { .columns = { -1, -1, -1, -1 } };
	struct locations locations = { 0 };
	_cleanup_free_ uint32_t *ids = NULL;
	struct error *err = locations_find(profile, &locations);

	if (err)
		return err;
	ids = calloc((size_t)locations.count + 1, sizeof(*ids));
	pprof_writer_init(&f.w, profile, &locations, ids);
	pprof_fail(&f.w, ids ? gzip_writer_init(&f.w.gzip, sink, context) : &error_no_memory);
	if (!f.w.error)
		write_messages(&f);
	pprof_writer_deinit(&f.w);
	locations_deinit(&locations);
	return f.w.error;
}
