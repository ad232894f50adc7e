/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/files.h"
#include "profile/json.h"
#include "profile/schema.h"

static void write_object(struct json_writer *w, const char *key,
			 const struct profile_schema *schema, const void *object)
{
	json_key(w, key);
	json_object_begin(w);
	profile_schema_write(w, schema, object);
	json_object_end(w);
}

static void write_table(struct json_writer *w, const char *key, const struct profile_schema *schema,
			const void *items, size_t count, size_t size)
{
	if (!count)
		return;
	json_key(w, key);
	json_array_begin(w);
	for (size_t i = 0; i < count; i++) {
		json_object_begin(w);
		profile_schema_write(w, schema, (const char *)items + i * size);
		json_object_end(w);
	}
	json_array_end(w);
}

#define TABLE(w, key, schema, table) \
	write_table(w, key, schema, (table)->items, (table)->count, sizeof(*(table)->items))

/* --- columns --- */

/* A number, or null where it is none. */
static void put_or_null(struct json_writer *w, uint64_t value, uint64_t none)
{
	if (value == none)
		json_null(w);
	else
		json_u64(w, value);
}

#define COLUMN(w, key, table, member, none)                                \
	do {                                                               \
		json_key(w, key);                                          \
		json_array_begin(w);                                       \
		for (size_t i_ = 0; i_ < (table)->count; i_++)             \
			put_or_null(w, (table)->items[i_].member, (none)); \
		json_array_end(w);                                         \
	} while (0)

static void write_nodes(struct json_writer *w, const struct profile *p)
{
	json_key(w, "nodes");
	json_object_begin(w);
	COLUMN(w, "parent", &p->nodes, parent, NODE_NONE);
	COLUMN(w, "frame", &p->nodes, frame, NODE_NONE);
	json_object_end(w);
}

/* Times may be any number. */
static void write_times(struct json_writer *w, const struct profile *p)
{
	json_key(w, "ns");
	json_array_begin(w);
	for (size_t i = 0; i < p->samples.count; i++)
		json_u64(w, p->samples.items[i].ns);
	json_array_end(w);
	json_key(w, "count");
	json_array_begin(w);
	for (size_t i = 0; i < p->samples.count; i++)
		json_u64(w, p->samples.items[i].count);
	json_array_end(w);
}

static void write_samples(struct json_writer *w, const struct profile *p)
{
	bool cpus = false, events = false, in_progress = false;

	for (size_t i = 0; i < p->samples.count; i++) {
		const struct sample *sample = &p->samples.items[i];

		cpus |= sample->cpu != CPU_ANY;
		events |= sample->event != 0;
		in_progress |= sample->is_in_progress;
	}
	json_key(w, "samples");
	json_object_begin(w);
	COLUMN(w, "thread", &p->samples, thread, NODE_NONE);
	COLUMN(w, "node", &p->samples, node, NODE_NONE);
	COLUMN(w, "class", &p->samples, class, NODE_NONE);
	if (events)
		COLUMN(w, "event", &p->samples, event, NODE_NONE);
	if (cpus)
		COLUMN(w, "cpu", &p->samples, cpu, CPU_ANY);
	if (in_progress)
		COLUMN(w, "in_progress", &p->samples, is_in_progress, NODE_NONE);
	write_times(w, p);
	json_object_end(w);
}

/* --- the rest --- */

static void write_names(struct json_writer *w, const struct profile *p)
{
	json_key(w, "classes");
	json_array_begin(w);
	for (size_t c = 0; c < CLASS_COUNT; c++)
		json_text(w, text_of(profile_classes[c].name));
	json_array_end(w);
	if (!p->events.count)
		return;
	json_key(w, "events");
	json_array_begin(w);
	for (size_t i = 0; i < p->events.count; i++)
		json_text(w, name_text(p->events.items[i]));
	json_array_end(w);
}

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

static void write_histograms(struct json_writer *w, const struct profile *p)
{
	if (!p->histograms.count)
		return;
	json_key(w, "histograms");
	json_array_begin(w);
	for (size_t i = 0; i < p->histograms.count; i++) {
		const struct thread_histogram *of = &p->histograms.items[i];

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

static void write_profile(struct json_writer *w, const struct profile *p)
{
	json_object_begin(w);
	json_key(w, "ctprof_profile");
	json_u64(w, PROFILE_FORM);
	write_object(w, "meta", &profile_meta_schema, &p->meta);
	write_object(w, "losses", &profile_losses_schema, &p->meta.losses);
	write_names(w, p);
	TABLE(w, "images", &profile_image_schema, &p->images);
	TABLE(w, "mappings", &profile_mapping_schema, &p->mappings);
	TABLE(w, "threads", &profile_thread_schema, &p->threads);
	TABLE(w, "frames", &profile_frame_schema, &p->frames);
	write_nodes(w, p);
	write_samples(w, p);
	TABLE(w, "longest", &profile_block_schema, &p->longest);
	TABLE(w, "contenders", &profile_preemptor_schema, &p->preemptors);
	write_histograms(w, p);
	json_object_end(w);
}

struct error *profile_write_json(const struct profile *profile, json_sink sink, void *context)
{
	struct json_writer w;
	struct error *err = json_writer_init(&w, sink, context);

	if (!err) {
		write_profile(&w, profile);
		err = json_writer_finish(&w);
	}
	json_writer_deinit(&w);
	return err;
}
