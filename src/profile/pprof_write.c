/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of protobuf may be written in pieces: repeated fields of all pieces are one. So a
 * profile is written sample by sample, and never stands in memory as messages.
 */
#include <profile.pb-c.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "base/sum.h"
#include "base/utf8.h"
#include "profile/files.h"
#include "profile/gzip.h"
#include "profile/pprof.h"
#include "state/reading.h"

/* The last one is what some tools show when they are not told, so times come behind counts. */
enum { COUNT, ON_CPU, OFF_CPU, WALL, COLUMN_COUNT };

struct writer {
	const struct profile *profile;
	struct gzip_writer gzip;
	struct arena arena; /* of strings as they are written */
	struct names strings;
	struct word_map string_numbers, functions, mappings, locations;
	struct word_map file_numbers; /* of modules, to `files` */
	struct {
		ARRAY(struct module_file {
			uint64_t limit; /* behind the last address in it */
			const struct profile_mapping
				*piece;    /* which has its build-id; may be NULL */
			bool is_ambiguous; /* there are several of this name */
			bool has_unnamed;  /* functions */
		});
	} files;
	uint32_t string_count, function_count, mapping_count, location_count;
	/* For each node, the number of its frame's location, which includes the functions that it
	 * is inlined into; 0: none yet. */
	uint32_t *locations_of;
	bool *is_written;              /* of each location */
	int64_t columns[COLUMN_COUNT]; /* which value of a sample has it; -1: none */
	size_t column_count;
	struct {
		ARRAY(uint64_t);
	} stack;
	struct {
		ARRAY(unsigned char);
	} packed;
	struct error *error; /* the first one; nothing is written after it */
};

static void fail(struct writer *w, struct error *err)
{
	if (w->error)
		error_destroy(err);
	else
		w->error = err;
}

static void emit(struct writer *w, const Pprof__Profile *piece)
{
	size_t length = pprof__profile__get_packed_size(piece);

	w->packed.count = 0;
	if (!w->error && !array_reserve(&w->packed, length + 1))
		fail(w, &error_no_memory);
	if (w->error)
		return;
	pprof__profile__pack(piece, w->packed.items);
	fail(w, gzip_write(&w->gzip, w->packed.items, length));
}

static int64_t whole(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* The number of a new thing in a map, which counts from `first`; `is_new` says so. 0: an error. */
static uint32_t intern_number(struct writer *w, struct word_map *map, struct words key,
			      uint32_t *count, uint32_t first, bool *is_new)
{
	uint32_t *number = w->error ? NULL : word_map_at(map, key);

	*is_new = number && *number == WORD_MAP_NEW;
	if (!number) {
		fail(w, &error_no_memory);
		return 0;
	}
	if (*is_new)
		*number = first + (*count)++;
	return *number;
}

/* --- strings --- */

static int64_t string(struct writer *w, const char *bytes, size_t length)
{
	_cleanup_free_ char *clean = malloc(length * UTF8_REPLACEMENT_LENGTH + 1);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	const struct name *name = NULL;
	bool is_new;
	uint32_t number;
	char *item;

	if (clean)
		name = names_intern(&w->strings, clean,
				    utf8_clean((struct text){ bytes, length }, clean));
	if (!name) {
		fail(w, &error_no_memory);
		return 0;
	}
	number = intern_number(w, &w->string_numbers, (struct words){ { (uintptr_t)name } },
			       &w->string_count, 0, &is_new);
	if (is_new) {
		item = (char *)(uintptr_t)name->bytes;
		piece.n_string_table = 1;
		piece.string_table = &item;
		emit(w, &piece);
	}
	return number;
}

static int64_t text(struct writer *w, const char *text)
{
	return string(w, text, strlen(text));
}

static int64_t intern_name(struct writer *w, const struct name *name)
{
	return name ? string(w, name->bytes, name->length) : 0;
}

/* --- functions, files, locations --- */

static uint32_t function_of(struct writer *w, const struct frame *frame)
{
	const struct words key = { { (uintptr_t)frame->name, (uintptr_t)frame->source,
				     (uintptr_t)frame->module } };
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *item = &function;
	bool is_new;

	function.id = intern_number(w, &w->functions, key, &w->function_count, 1, &is_new);
	if (!is_new)
		return (uint32_t)function.id;
	function.name = function.system_name = intern_name(w, frame->name);
	function.filename = intern_name(w, frame->source);
	piece.n_function = 1;
	piece.function = &item;
	emit(w, &piece);
	return (uint32_t)function.id;
}

static int64_t build_id(struct writer *w, const struct profile_mapping *mapping)
{
	char digits[2 * BUILD_ID_MAX + 1];

	hex_write(digits, mapping->build_id, mapping->build_id_length);
	return string(w, digits, (size_t)2 * mapping->build_id_length);
}

/* The piece of a file that a raw frame is in; NULL: unknown. */
static const struct profile_mapping *raw_mapping(const struct profile *p, const struct frame *frame)
{
	const struct profile_image *image;

	if (!frame->image || frame->name)
		return NULL;
	image = &p->images.items[frame->image - 1];
	for (uint32_t i = 0; i < image->mapping_count; i++) {
		const struct profile_mapping *mapping =
			&p->mappings.items[image->first_mapping + i];

		if (mapping->start <= frame->address && frame->address < mapping->end)
			return mapping;
	}
	return NULL;
}

static int64_t module_name(struct writer *w, const struct frame *frame)
{
	_cleanup_free_ char *bracketed = NULL;

	if (frame->kind != FRAME_KERNEL)
		return intern_name(w, frame->module);
	if (!frame->module || !frame->module->length)
		return text(w, PPROF_KERNEL);
	if (*frame->module->bytes == '[')
		return intern_name(w, frame->module);
	if (asprintf(&bracketed, "[%s]", frame->module->bytes) < 0) {
		bracketed = NULL;
		fail(w, &error_no_memory);
		return 0;
	}
	return text(w, bracketed);
}

/* --- files that named frames are in --- */

static struct words file_key(const struct frame *frame)
{
	return (struct words){ { (uintptr_t)frame->module } };
}

/* Find which parts of the files frames need. */
static void find_files(struct writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->frames.count && !w->error; i++) {
		const struct frame *frame = &p->frames.items[i];
		uint32_t *number = word_map_at(&w->file_numbers, file_key(frame));
		struct module_file *file;

		if (frame->image && !frame->name)
			continue;
		if (number && *number == WORD_MAP_NEW &&
		    array_push(&w->files, (struct module_file){ 0 }))
			*number = (uint32_t)w->files.count - 1;
		if (!number || *number == WORD_MAP_NEW) {
			fail(w, &error_no_memory);
			return;
		}
		file = &w->files.items[*number];
		file->has_unnamed |= !frame->name;
		if (frame->address >= file->limit && frame->address < UINT64_MAX)
			file->limit = frame->address + 1;
	}
	for (size_t i = 0; i < p->mappings.count && !w->error; i++) {
		const struct profile_mapping *piece = &p->mappings.items[i];
		const uint32_t number = word_map_find(&w->file_numbers,
						      (struct words){ { (uintptr_t)piece->path } });
		struct module_file *file = number == WORD_MAP_NEW ? NULL : &w->files.items[number];

		if (!file || !piece->build_id_length)
			continue;
		if (!file->piece)
			file->piece = piece;
		else if (file->piece->build_id_length != piece->build_id_length ||
			 memcmp(file->piece->build_id, piece->build_id, piece->build_id_length) !=
				 0)
			file->is_ambiguous = true;
	}
}

static void fill_named(struct writer *w, const struct module_file *file, Pprof__Mapping *mapping)
{
	const bool has_functions = !file || !file->has_unnamed;

	/* Addresses of frames are those in the file. */
	if (file)
		mapping->memory_limit = file->limit;
	if (file && file->piece && !file->is_ambiguous)
		mapping->build_id = build_id(w, file->piece);
	mapping->has_functions = mapping->has_filenames = has_functions;
	mapping->has_line_numbers = mapping->has_inline_frames = has_functions;
}

/* Mark mappings whose functions all have names, so that pprof does not symbolise them. */
static uint32_t mapping_of(struct writer *w, const struct frame *frame)
{
	const struct profile_mapping *raw = raw_mapping(w->profile, frame);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *item = &mapping;
	int64_t filename = raw ? intern_name(w, raw->path) : module_name(w, frame);
	uint32_t number;
	bool is_new;

	if (!filename)
		return 0;
	mapping.id = intern_number(w, &w->mappings,
				   (struct words){ { (uint64_t)filename, (uintptr_t)raw } },
				   &w->mapping_count, 1, &is_new);
	if (!is_new)
		return (uint32_t)mapping.id;
	mapping.filename = filename;
	if (raw) {
		mapping.memory_start = raw->start;
		mapping.memory_limit = raw->end;
		mapping.file_offset = raw->file_offset;
		mapping.build_id = build_id(w, raw);
	} else {
		number = word_map_find(&w->file_numbers, file_key(frame));
		fill_named(w, number == WORD_MAP_NEW ? NULL : &w->files.items[number], &mapping);
	}
	piece.n_mapping = 1;
	piece.mapping = &item;
	emit(w, &piece);
	return (uint32_t)mapping.id;
}

/* The first mapping is the program that the profile is about: that of the thread with most time. */
static void put_program(struct writer *w)
{
	const struct profile *p = w->profile;
	_cleanup_free_ uint64_t *ns = calloc(p->images.count + 1, sizeof(*ns));
	size_t most = 0;

	if (!ns) {
		fail(w, &error_no_memory);
		return;
	}
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct sample *sample = &p->samples.items[i];
		const uint32_t image = p->threads.items[sample->thread].image;

		if (!image || image > p->images.count)
			continue;
		sum_add(&ns[image], sample->ns + sample->count);
		if (p->images.items[image - 1].exe && (!most || ns[image] > ns[most]))
			most = image;
	}
	if (most)
		mapping_of(w, &(struct frame){ .kind = FRAME_USER,
					       .module = p->images.items[most - 1].exe });
}

/* The frames of one location: `node` and what it is inlined into. */
static uint32_t outermost(const struct profile *p, uint32_t node)
{
	while (p->frames.items[p->nodes.items[node].frame].inlined &&
	       p->nodes.items[node].parent != NODE_NONE)
		node = p->nodes.items[node].parent;
	return node;
}

static void emit_location(struct writer *w, uint32_t node, uint32_t number)
{
	const struct profile *p = w->profile;
	uint32_t last = outermost(p, node);
	const struct frame *frame = &p->frames.items[p->nodes.items[last].frame];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *item = &location;
	struct {
		ARRAY(Pprof__Line);
	} lines = { 0 };
	_cleanup_free_ Pprof__Line **items = NULL;

	location.id = number;
	location.mapping_id = mapping_of(w, frame);
	location.address = frame->address;
	for (;; node = p->nodes.items[node].parent) {
		const struct frame *inner = &p->frames.items[p->nodes.items[node].frame];
		Pprof__Line line = PPROF__LINE__INIT;

		line.line = inner->line;
		if (inner->name) {
			line.function_id = function_of(w, inner);
			if (!array_push(&lines, line))
				fail(w, &error_no_memory);
		}
		if (node == last)
			break;
	}
	items = calloc(lines.count + 1, sizeof(*items));
	if (!items)
		fail(w, &error_no_memory);
	for (size_t i = 0; items && i < lines.count; i++)
		items[i] = &lines.items[i];
	location.n_line = items ? lines.count : 0;
	location.line = items;
	piece.n_location = 1;
	piece.location = &item;
	emit(w, &piece);
	array_deinit(&lines);
}

/* Equal frames that are inlined into the same are at one place: the key is the frame and the place
 * of what it is inlined into. Parents come before their children. */
static void find_locations(struct writer *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->nodes.count && !w->error; i++) {
		const struct node *node = &p->nodes.items[i];
		bool is_inlined = p->frames.items[node->frame].inlined, is_new;
		uint64_t into =
			is_inlined && node->parent != NODE_NONE ? w->locations_of[node->parent] : 0;

		w->locations_of[i] =
			intern_number(w, &w->locations, (struct words){ { into, node->frame } },
				      &w->location_count, 1, &is_new);
	}
}

/* --- samples --- */

static void put_stack(struct writer *w, uint32_t node)
{
	w->stack.count = 0;
	while (node != NODE_NONE) {
		uint32_t location = w->locations_of[node];

		if (!array_push(&w->stack, location))
			fail(w, &error_no_memory);
		if (!w->is_written[location])
			emit_location(w, node, location);
		w->is_written[location] = true;
		node = w->profile->nodes.items[outermost(w->profile, node)].parent;
	}
}

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

static void add_text(struct writer *w, struct pprof_label_writer *labels, const char *key,
		     const struct name *value)
{
	if (value && value->length)
		add_label(labels, text(w, key), intern_name(w, value), 0);
}

static void put_labels(struct writer *w, const struct sample *sample,
		       struct pprof_label_writer *labels)
{
	const struct profile_thread *thread = &w->profile->threads.items[sample->thread];

	if (thread->tid)
		add_label(labels, text(w, PPROF_TID), 0, thread->tid);
	if (thread->tgid)
		add_label(labels, text(w, PPROF_TGID), 0, thread->tgid);
	if (sample->cpu != CPU_ANY)
		add_label(labels, text(w, PPROF_CPU), 0, sample->cpu);
	add_text(w, labels, PPROF_THREAD, thread->name);
	add_text(w, labels, PPROF_PROCESS, thread->process);
	add_text(w, labels, PPROF_CGROUP, thread->cgroup);
	add_label(labels, text(w, PPROF_STATE), text(w, profile_classes[sample->class].name), 0);
	if (profile_classes[sample->class].is_off_cpu)
		add_label(labels, text(w, PPROF_REASON), text(w, state_rows[sample->state].name),
			  0);
	if (sample->class == CLASS_EVENT && sample->event < w->profile->events.count)
		add_text(w, labels, PPROF_EVENT, w->profile->events.items[sample->event]);
}

static void put_sample(struct writer *w, const struct sample *from)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *item = &sample;
	struct pprof_label_writer labels = { .count = 0 };
	int64_t values[COLUMN_COUNT] = { 0 };
	int time = from->class == CLASS_ON_CPU               ? ON_CPU
		   : profile_classes[from->class].is_off_cpu ? OFF_CPU
							     : -1;

	if (time >= 0)
		values[w->columns[time]] = whole(from->ns);
	if (time >= 0 && w->columns[WALL] >= 0)
		values[w->columns[WALL]] = whole(from->ns);
	values[w->columns[COUNT]] = whole(from->count);
	put_stack(w, from->node);
	put_labels(w, from, &labels);
	sample.n_location_id = w->stack.count;
	sample.location_id = w->stack.items;
	sample.n_value = w->column_count;
	sample.value = values;
	sample.n_label = labels.count;
	sample.label = labels.items;
	piece.n_sample = 1;
	piece.sample = &item;
	emit(w, &piece);
}

/* --- the head --- */

static void put_type(struct writer *w, int column, const char *type, const char *unit)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT, *item = &value;

	w->columns[column] = (int64_t)w->column_count++;
	value.type = text(w, type);
	value.unit = text(w, unit);
	piece.n_sample_type = 1;
	piece.sample_type = &item;
	emit(w, &piece);
}

static void put_types(struct writer *w)
{
	bool on = false, off = false;

	for (size_t i = 0; i < w->profile->samples.count; i++) {
		uint16_t class = w->profile->samples.items[i].class;

		on |= class == CLASS_ON_CPU;
		off |= profile_classes[class].is_off_cpu;
	}
	put_type(w, COUNT, PPROF_SAMPLES, "count");
	if (on)
		put_type(w, ON_CPU, PPROF_ON_CPU, "nanoseconds");
	if (off)
		put_type(w, OFF_CPU, PPROF_OFF_CPU, "nanoseconds");
	if (on && off)
		put_type(w, WALL, PPROF_WALL, "nanoseconds");
}

static void put_head(struct writer *w)
{
	const struct profile_meta *meta = &w->profile->meta;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	int64_t comment;

	text(w, "");
	put_types(w);
	piece.default_sample_type = text(w, w->columns[WALL] >= 0      ? PPROF_WALL
					    : w->columns[OFF_CPU] >= 0 ? PPROF_OFF_CPU
					    : w->columns[ON_CPU] >= 0  ? PPROF_ON_CPU
								       : PPROF_SAMPLES);
	if (w->columns[OFF_CPU] >= 0) {
		_cleanup_free_ char *pattern = NULL;

		fail(w, pprof_frames_to_drop(w->profile, &pattern));
		piece.drop_frames = pattern ? text(w, pattern) : 0;
	}
	piece.time_nanos = whole(meta->captured_at_unix_ns);
	piece.duration_nanos = whole(meta->duration_ns);
	if (meta->on_cpu_period_ns) {
		period.type = text(w, PPROF_ON_CPU);
		period.unit = text(w, "nanoseconds");
		piece.period_type = &period;
		piece.period = whole(meta->on_cpu_period_ns);
	}
	if (meta->command) {
		comment = intern_name(w, meta->command);
		piece.n_comment = 1;
		piece.comment = &comment;
	}
	emit(w, &piece);
}

static void write_messages(struct writer *w)
{
	put_head(w);
	find_files(w);
	put_program(w);
	find_locations(w);
	for (size_t i = 0; i < w->profile->samples.count && !w->error; i++)
		put_sample(w, &w->profile->samples.items[i]);
	if (!w->error)
		fail(w, gzip_finish(&w->gzip));
}

static void free_writer(struct writer *w)
{
	word_map_deinit(&w->string_numbers);
	word_map_deinit(&w->functions);
	word_map_deinit(&w->mappings);
	word_map_deinit(&w->locations);
	word_map_deinit(&w->file_numbers);
	array_deinit(&w->files);
	array_deinit(&w->stack);
	array_deinit(&w->packed);
	free(w->locations_of);
	free(w->is_written);
	names_deinit(&w->strings);
	arena_deinit(&w->arena);
	gzip_writer_deinit(&w->gzip);
}

struct error *profile_write_pprof(const struct profile *profile, json_sink sink, void *context)
{
	struct writer w = { .profile = profile, .columns = { -1, -1, -1, -1 } };

	arena_init(&w.arena, (size_t)2 << 30);
	names_init(&w.strings, &w.arena);
	w.locations_of = calloc(profile->nodes.count + 1, sizeof(*w.locations_of));
	w.is_written = calloc(profile->nodes.count + 1, sizeof(*w.is_written));
	if (!w.locations_of || !w.is_written)
		fail(&w, &error_no_memory);
	if (!w.error)
		fail(&w, gzip_writer_init(&w.gzip, sink, context));
	if (!w.error)
		write_messages(&w);
	free_writer(&w);
	return w.error;
}
