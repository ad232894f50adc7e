/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a profile by the rows of schema.c; here are those that are no plain objects.
 */
#include "profile/files.h"
#include "profile/schema.h"

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

struct error *profile_write_json(const struct profile *profile, json_sink sink, void *context)
{
	struct json_writer w;
	struct error *err = json_writer_init(&w, sink, context);

	if (!err) {
		json_object_write(&w, &profile_root_fields, profile);
		err = json_writer_finish(&w);
	}
	json_writer_deinit(&w);
	return err;
}
