/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/pprof_parts.h"

#include "base/sum.h"
#include "profile/pprof.h"
#include "profile/pprof_writer.h"

struct error *pprof_parts_init(struct pprof_parts *parts, const struct profile *profile)
{
	struct error *err;

	*parts = (struct pprof_parts){ .profile = profile };
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];

		parts->has_on_cpu |= sample->class == CLASS_ON_CPU;
		parts->has_off_cpu |= profile_classes[sample->class].is_off_cpu;
	}
	err = locations_find(profile, &parts->locations);
	if (err)
		return err;
	parts->ids = calloc((size_t)parts->locations.count + 1, sizeof(*parts->ids));
	if (parts->ids)
		return NULL;
	pprof_parts_deinit(parts);
	return &error_no_memory;
}

void pprof_parts_deinit(struct pprof_parts *parts)
{
	locations_deinit(&parts->locations);
	free(parts->ids);
	*parts = (struct pprof_parts){ 0 };
}

static void put_type(struct pprof_writer *w, const char *type)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT, *item = &value;

	value.type = pprof_text(w, type);
	value.unit = pprof_text(w, "nanoseconds");
	piece.n_sample_type = 1;
	piece.sample_type = &item;
	pprof_emit(w, &piece);
}

/* On-CPU time is exact unless it was sampled; readers want a period all the same. */
static void put_head(struct pprof_writer *w, const struct pprof_parts *parts,
		     const struct pprof_part_head *head)
{
	const uint64_t period = parts->profile->meta.on_cpu_period_ns;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;

	pprof_text(w, "");
	if (parts->has_on_cpu)
		put_type(w, PPROF_PART_ON_CPU);
	if (parts->has_off_cpu)
		put_type(w, PPROF_PART_OFF_CPU);
	if (parts->has_on_cpu && parts->has_off_cpu)
		put_type(w, PPROF_WALL);
	piece.default_sample_type =
		pprof_text(w, parts->has_on_cpu ? PPROF_PART_ON_CPU : PPROF_PART_OFF_CPU);
	piece.time_nanos = pprof_whole(head->begun_unix_ns);
	piece.duration_nanos = pprof_whole(head->ns);
	type.type = pprof_text(w, PPROF_PART_ON_CPU);
	type.unit = pprof_text(w, "nanoseconds");
	piece.period_type = &type;
	piece.period = period ? pprof_whole(period) : 1;
	pprof_emit(w, &piece);
}

/* The numbers of the label of the previous sample, which is mostly that of the next. */
struct comm_numbers {
	const struct name *comm;
	int64_t key, value;
};

static void put_sample(struct pprof_writer *w, const struct pprof_parts *parts,
		       const struct pprof_part_sample *from, struct comm_numbers *last)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *item = &sample;
	Pprof__Label label = PPROF__LABEL__INIT, *labels = &label;
	int64_t values[3];
	uint64_t wall = from->on_cpu_ns;

	sum_add(&wall, from->off_cpu_ns);
	if (parts->has_on_cpu)
		values[sample.n_value++] = pprof_whole(from->on_cpu_ns);
	if (parts->has_off_cpu)
		values[sample.n_value++] = pprof_whole(from->off_cpu_ns);
	if (parts->has_on_cpu && parts->has_off_cpu)
		values[sample.n_value++] = pprof_whole(wall);
	sample.value = values;
	pprof_put_stack(w, from->node);
	sample.n_location_id = w->stack.count;
	sample.location_id = w->stack.items;
	if (from->comm && from->comm->length) {
		if (from->comm != last->comm)
			*last = (struct comm_numbers){ from->comm, pprof_text(w, PPROF_PART_COMM),
						       pprof_name(w, from->comm) };
		label.key = last->key;
		label.str = last->value;
		sample.n_label = 1;
		sample.label = &labels;
	}
	piece.n_sample = 1;
	piece.sample = &item;
	pprof_emit(w, &piece);
}

struct error *pprof_part_write(struct pprof_parts *parts, const struct pprof_part_head *head,
			       const struct pprof_part_sample *samples, size_t count,
			       json_sink sink, void *context, size_t *ret_taken)
{
	struct pprof_writer w;
	struct comm_numbers last = { 0 };
	size_t taken = 0;

	pprof_writer_init(&w, parts->profile, &parts->locations, parts->ids);
	pprof_fail(&w, gzip_writer_init_fast(&w.gzip, sink, context));
	if (!w.error)
		put_head(&w, parts, head);
	while (taken < count && taken < PPROF_PART_SAMPLES_MOST && w.bytes < PPROF_PART_BYTES_MOST)
		put_sample(&w, parts, &samples[taken++], &last);
	pprof_finish(&w);
	pprof_writer_deinit(&w);
	if (!w.error)
		*ret_taken = taken;
	return w.error;
}
