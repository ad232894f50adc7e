/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/pprof_writer.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "base/protobuf.h"
#include "base/sum.h"
#include "base/utf8.h"
#include "profile/pprof.h"

void pprof_fail(struct pprof_writer *w, struct error *err)
{
	if (w->error)
		error_destroy(err);
	else
		w->error = err;
}

/* deflate() takes as long for some bytes as for some thousand. */
#define PACKED_ENOUGH ((size_t)32 * 1024)

static void flush(struct pprof_writer *w)
{
	if (!w->error)
		pprof_fail(w, gzip_write(&w->gzip, w->packed.items, w->packed.count));
	w->packed.count = 0;
}

void pprof_emit(struct pprof_writer *w, const Pprof__Profile *piece)
{
	const size_t before = w->packed.count;

	if (!w->error && !protobuf_append(&w->packed, piece))
		pprof_fail(w, &error_no_memory);
	if (w->error)
		return;
	w->bytes += w->packed.count - before;
	if (w->packed.count >= PACKED_ENOUGH)
		flush(w);
}

void pprof_finish(struct pprof_writer *w)
{
	flush(w);
	if (!w->error)
		pprof_fail(w, gzip_finish(&w->gzip));
}

/* The number of a new thing in a map, which counts from `first`; `is_new` says so. 0: an error. */
static uint32_t intern_number(struct pprof_writer *w, struct word_map *map, struct words key,
			      uint32_t *count, uint32_t first, bool *is_new)
{
	uint32_t *number = w->error ? NULL : word_map_at(map, key);

	*is_new = number && *number == WORD_MAP_NEW;
	if (!number) {
		pprof_fail(w, &error_no_memory);
		return 0;
	}
	if (*is_new)
		*number = first + (*count)++;
	return *number;
}

/* --- strings --- */

static int64_t string(struct pprof_writer *w, const char *bytes, size_t length)
{
	const struct text raw = { bytes, length };
	_cleanup_free_ char *clean = NULL;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	const struct name *name = NULL;
	bool is_new;
	uint32_t number;
	char *item;

	if (utf8_is_valid(raw)) {
		name = names_intern(&w->strings, bytes, length);
	} else {
		clean = malloc(length * UTF8_REPLACEMENT_LENGTH + 1);
		if (clean)
			name = names_intern(&w->strings, clean, utf8_clean(raw, clean));
	}
	if (!name) {
		pprof_fail(w, &error_no_memory);
		return 0;
	}
	number = intern_number(w, &w->string_numbers, (struct words){ { (uintptr_t)name } },
			       &w->string_count, 0, &is_new);
	if (is_new) {
		item = (char *)(uintptr_t)name->bytes;
		piece.n_string_table = 1;
		piece.string_table = &item;
		pprof_emit(w, &piece);
	}
	return number;
}

int64_t pprof_text(struct pprof_writer *w, const char *text)
{
	return string(w, text, strlen(text));
}

int64_t pprof_name(struct pprof_writer *w, const struct name *name)
{
	return name ? string(w, name->bytes, name->length) : 0;
}

/* --- functions, files, locations --- */

static uint32_t function_of(struct pprof_writer *w, const struct frame *frame)
{
	const struct words key = { { (uintptr_t)frame->name, (uintptr_t)frame->source,
				     (uintptr_t)frame->module } };
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *item = &function;
	bool is_new;

	function.id = intern_number(w, &w->functions, key, &w->function_count, 1, &is_new);
	if (!is_new)
		return (uint32_t)function.id;
	function.name = function.system_name = pprof_name(w, frame->name);
	function.filename = pprof_name(w, frame->source);
	piece.n_function = 1;
	piece.function = &item;
	pprof_emit(w, &piece);
	return (uint32_t)function.id;
}

static int64_t build_id(struct pprof_writer *w, const struct profile_mapping *mapping)
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

static int64_t module_name(struct pprof_writer *w, const struct frame *frame)
{
	_cleanup_free_ char *bracketed = NULL;

	if (frame->kind != FRAME_KERNEL)
		return pprof_name(w, frame->module);
	if (!frame->module || !frame->module->length)
		return pprof_text(w, PPROF_KERNEL);
	if (*frame->module->bytes == '[')
		return pprof_name(w, frame->module);
	if (asprintf(&bracketed, "[%s]", frame->module->bytes) < 0) {
		bracketed = NULL;
		pprof_fail(w, &error_no_memory);
		return 0;
	}
	return pprof_text(w, bracketed);
}

/* --- files that named frames are in --- */

static struct words file_key(const struct frame *frame)
{
	return (struct words){ { (uintptr_t)frame->module } };
}

/* Find which parts of the files frames need. */
void pprof_find_files(struct pprof_writer *w)
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
			pprof_fail(w, &error_no_memory);
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

static void fill_named(struct pprof_writer *w, const struct module_file *file,
		       Pprof__Mapping *mapping)
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
static uint32_t mapping_of(struct pprof_writer *w, const struct frame *frame)
{
	const struct profile_mapping *raw = raw_mapping(w->profile, frame);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *item = &mapping;
	int64_t filename = raw ? pprof_name(w, raw->path) : module_name(w, frame);
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
	pprof_emit(w, &piece);
	return (uint32_t)mapping.id;
}

/* The first mapping is the program that the profile is about: that of the thread with most time. */
void pprof_put_program(struct pprof_writer *w)
{
	const struct profile *p = w->profile;
	_cleanup_free_ uint64_t *ns = calloc(p->images.count + 1, sizeof(*ns));
	size_t most = 0;

	if (!ns) {
		pprof_fail(w, &error_no_memory);
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

/* `node` and what it is inlined into. */
static void emit_location(struct pprof_writer *w, uint32_t node, uint32_t id)
{
	const struct profile *p = w->profile;
	uint32_t last = location_outermost(p, node);
	const struct frame *frame = &p->frames.items[p->nodes.items[last].frame];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *item = &location;
	struct {
		ARRAY(Pprof__Line);
	} lines = { 0 };
	_cleanup_free_ Pprof__Line **items = NULL;

	location.id = id;
	location.mapping_id = mapping_of(w, frame);
	location.address = frame->address;
	for (;; node = p->nodes.items[node].parent) {
		const struct frame *inner = &p->frames.items[p->nodes.items[node].frame];
		Pprof__Line line = PPROF__LINE__INIT;

		line.line = inner->line;
		if (inner->name) {
			line.function_id = function_of(w, inner);
			if (!array_push(&lines, line))
				pprof_fail(w, &error_no_memory);
		}
		if (node == last)
			break;
	}
	items = calloc(lines.count + 1, sizeof(*items));
	if (!items)
		pprof_fail(w, &error_no_memory);
	for (size_t i = 0; items && i < lines.count; i++)
		items[i] = &lines.items[i];
	location.n_line = items ? lines.count : 0;
	location.line = items;
	piece.n_location = 1;
	piece.location = &item;
	pprof_emit(w, &piece);
	array_deinit(&lines);
}

/* --- samples --- */

void pprof_put_stack(struct pprof_writer *w, uint32_t node)
{
	w->stack.count = 0;
	while (node != NODE_NONE) {
		const uint32_t location = w->locations->of_node[node];
		uint32_t *id = &w->ids[location];

		if (!*id) {
			*id = ++w->location_count;
			if (!array_push(&w->written, location))
				pprof_fail(w, &error_no_memory);
			emit_location(w, node, *id);
		}
		if (!array_push(&w->stack, *id))
			pprof_fail(w, &error_no_memory);
		node = location_caller(w->profile, node);
	}
}

void pprof_writer_init(struct pprof_writer *w, const struct profile *profile,
		       const struct locations *locations, uint32_t *ids)
{
	*w = (struct pprof_writer){ .profile = profile, .locations = locations, .ids = ids };
	arena_init(&w->arena, (size_t)2 << 30);
	names_init(&w->strings, &w->arena);
}

void pprof_writer_deinit(struct pprof_writer *w)
{
	for (size_t i = 0; i < w->written.count; i++)
		w->ids[w->written.items[i]] = 0;
	array_deinit(&w->written);
	word_map_deinit(&w->string_numbers);
	word_map_deinit(&w->functions);
	word_map_deinit(&w->mappings);
	word_map_deinit(&w->file_numbers);
	array_deinit(&w->files);
	array_deinit(&w->stack);
	array_deinit(&w->packed);
	names_deinit(&w->strings);
	arena_deinit(&w->arena);
	gzip_writer_deinit(&w->gzip);
}
