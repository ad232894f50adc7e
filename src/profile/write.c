/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a profile by the rows of schema.c; here are those that are no plain objects.
 */
#include <string.h>

#include "base/zstream.h"
#include "profile/files.h"
#include "profile/schema.h"
#include "state/reading.h"

#define WRITE(name)                                                                       \
	void profile_write_##name(struct json_writer *w,                                  \
				  const struct json_field *field __attribute__((unused)), \
				  const void *at __attribute__((unused)))

WRITE(form)
{
	json_u64(w, PROFILE_FORM);
}

WRITE(classes)
{
	json_array_begin(w);
	for (size_t c = 0; c < CLASS_COUNT; c++)
		json_text(w, text_of(profile_classes[c].name));
	json_array_end(w);
}

WRITE(states)
{
	json_array_begin(w);
	for (size_t state = 0; state < STATE_COUNT; state++)
		json_text(w, text_of(state_rows[state].name));
	json_array_end(w);
}

WRITE(events)
{
	const __typeof__(((struct profile *)0)->events) *events = at;

	json_array_begin(w);
	for (size_t i = 0; i < events->count; i++)
		json_text(w, name_text(events->items[i]));
	json_array_end(w);
}

WRITE(frames)
{
	json_list_write(w, field, at);
}

/* --- columns --- */

struct id_table {
	ARRAY(char);
};

static uint64_t number_at(const struct profile_column *column, const char *item)
{
	uint64_t number = 0;

	/* The machines that ctprof runs on are little-endian. */
	memcpy(&number, item + column->offset, column->bytes);
	return number;
}

static bool is_absent(const struct profile_column *column, const struct id_table *table,
		      size_t item_bytes)
{
	for (size_t i = 0; column->is_optional && i < table->count; i++)
		if (number_at(column, table->items + i * item_bytes) != column->absent)
			return false;
	return column->is_optional;
}

static void write_column(struct json_writer *w, const struct profile_column *column,
			 const struct id_table *table, size_t item_bytes)
{
	json_key_text(w, column->json.name);
	json_array_begin(w);
	for (size_t i = 0; i < table->count; i++) {
		const uint64_t number = number_at(column, table->items + i * item_bytes);

		if (column->has_null && number == column->none)
			json_null(w);
		else
			json_u64(w, number);
	}
	json_array_end(w);
}

static void write_columns(struct json_writer *w, const struct profile_column *columns, size_t count,
			  const struct id_table *table, size_t item_bytes)
{
	json_object_begin(w);
	for (size_t i = 0; i < count; i++)
		if (!is_absent(&columns[i], table, item_bytes))
			write_column(w, &columns[i], table, item_bytes);
	json_object_end(w);
}

WRITE(nodes)
{
	write_columns(w, profile_node_columns, PROFILE_NODE_COLUMNS, at, sizeof(struct node));
}

WRITE(samples)
{
	write_columns(w, profile_sample_columns, PROFILE_SAMPLE_COLUMNS, at, sizeof(struct sample));
}

/* --- histograms --- */

static void write_slots(struct json_writer *w, const struct histogram *histogram)
{
	unsigned slots = BUCKET_SLOTS(histogram->frac_bits);

	json_key(w, "slots");
	json_array_begin(w);
	for (unsigned slot = 0; slot < slots; slot++)
		if (histogram->slots[slot])
			json_u64(w, slot);
	json_array_end(w);
	json_key(w, "counts");
	json_array_begin(w);
	for (unsigned slot = 0; slot < slots; slot++)
		if (histogram->slots[slot])
			json_u64(w, histogram->slots[slot]);
	json_array_end(w);
}

WRITE(histograms)
{
	const __typeof__(((struct profile *)0)->histograms) *histograms = at;

	json_array_begin(w);
	for (size_t i = 0; i < histograms->count; i++) {
		const struct thread_histogram *of = &histograms->items[i];

		json_object_begin(w);
		json_key(w, "thread");
		json_u64(w, of->thread);
		json_key(w, "class");
		json_text(w, text_of(profile_classes[of->class].name));
		json_key(w, "frac_bits");
		json_u64(w, of->histogram->frac_bits);
		json_key(w, "sum");
		json_u64(w, of->histogram->sum);
		write_slots(w, of->histogram);
		json_object_end(w);
	}
	json_array_end(w);
}

/* --- mappings --- */

static bool is_same_mapping(const struct profile_mapping *a, const struct profile_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->file_offset == b->file_offset &&
	       a->path == b->path && a->major == b->major && a->minor == b->minor &&
	       a->inode == b->inode && a->build_id_length == b->build_id_length &&
	       memcmp(a->build_id, b->build_id, a->build_id_length) == 0;
}

static bool has_same_mappings(const struct profile *p, const struct profile_image *a,
			      const struct profile_image *b)
{
	for (uint32_t i = 0; i < a->mapping_count; i++)
		if (!is_same_mapping(&p->mappings.items[a->first_mapping + i],
				     &p->mappings.items[b->first_mapping + i]))
			return false;
	return true;
}

/* Processes that were forked have equal mappings in the first one and everywhere. */
static struct words mappings_key(const struct profile *p, const struct profile_image *image)
{
	const struct profile_mapping *first = &p->mappings.items[image->first_mapping];

	return (struct words){ { first->start, (uintptr_t)first->path,
				 (uint64_t)image->mapping_count << 32 | first->minor } };
}

/* The image before whose mappings are equal, or this one. */
static struct error *find_shared(const struct profile *p, struct word_map *known, uint32_t image,
				 uint32_t *ret)
{
	const struct profile_image *images = p->images.items;
	uint32_t *number = word_map_at(known, mappings_key(p, &images[image]));

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW || !has_same_mappings(p, &images[*number], &images[image]))
		*number = image;
	*ret = *number;
	return NULL;
}

/* Add the mappings of an image that has others than all before. False: there are more than in the
 * profile, since those of images overlap. */
static bool put_mappings(const struct profile *p, struct profile_image *image,
			 struct profile *shared)
{
	if (image->mapping_count > p->mappings.count - shared->mappings.count)
		return false;
	if (image->mapping_count)
		memcpy(shared->mappings.items + shared->mappings.count,
		       p->mappings.items + image->first_mapping,
		       image->mapping_count * sizeof(*p->mappings.items));
	image->first_mapping = (uint32_t)shared->mappings.count;
	shared->mappings.count += image->mapping_count;
	return true;
}

/* Make `shared` a view of the profile in which equal mappings of several processes are there once:
 * `images` and `mappings` are its own. Where images overlap, it is the profile itself. */
static struct error *share_mappings(const struct profile *p, struct profile *shared,
				    bool *ret_is_shared)
{
	struct word_map known = { 0 };
	struct error *err = NULL;
	bool is_shared = true;

	memset(&shared->images, 0, sizeof(shared->images));
	memset(&shared->mappings, 0, sizeof(shared->mappings));
	if (!array_reserve(&shared->images, p->images.count) ||
	    !array_reserve(&shared->mappings, p->mappings.count))
		return &error_no_memory;
	for (uint32_t i = 0; i < p->images.count && !err && is_shared; i++) {
		struct profile_image image = p->images.items[i];
		uint32_t same = i;

		if (image.mapping_count)
			err = find_shared(p, &known, i, &same);
		if (same != i)
			image.first_mapping = shared->images.items[same].first_mapping;
		else
			is_shared = put_mappings(p, &image, shared);
		shared->images.items[shared->images.count++] = image;
	}
	word_map_deinit(&known);
	*ret_is_shared = is_shared;
	return err;
}

static struct error *write_profile(struct json_writer *w, const struct profile *profile,
				   profile_members *more, const void *context)
{
	struct profile shared = *profile;
	bool is_shared;
	struct error *err = share_mappings(profile, &shared, &is_shared);

	if (!err) {
		json_object_begin(w);
		json_fields_write(w, &profile_root_fields, is_shared ? &shared : profile);
		if (more)
			err = more(w, context);
		json_object_end(w);
	}
	array_deinit(&shared.images);
	array_deinit(&shared.mappings);
	return err;
}

struct error *profile_write_json_with(const struct profile *profile, profile_members *more,
				      const void *more_context, json_sink sink, void *context)
{
	struct json_writer w;
	struct error *err = json_writer_init(&w, sink, context);

	if (!err)
		err = write_profile(&w, profile, more, more_context);
	if (!err)
		err = json_writer_finish(&w);
	json_writer_deinit(&w);
	return err;
}

struct error *profile_write_json(const struct profile *profile, json_sink sink, void *context)
{
	return profile_write_json_with(profile, NULL, NULL, sink, context);
}

struct error *profile_write_raw(const struct profile *profile, json_sink sink, void *context)
{
	struct zstream_writer writer;
	struct error *err = zstream_writer_init(&writer, sink, context);

	if (err)
		return err;
	err = profile_write_json(profile, zstream_write, &writer);
	if (!err)
		err = zstream_finish(&writer);
	zstream_writer_deinit(&writer);
	return err;
}
