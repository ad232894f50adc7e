/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile_fuzz.h"

#include <string.h>

#include "profile/flame.h"

struct bytes {
	ARRAY(char);
};

static struct error *append(void *context, const void *bytes, size_t length)
{
	struct bytes *text = context;

	must(array_reserve(text, length));
	if (length)
		memcpy(text->items + text->count, bytes, length);
	text->count += length;
	return NULL;
}

static bool is_node(const struct profile *p, uint32_t node)
{
	return node == NODE_NONE || node < p->nodes.count;
}

static void check_samples(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct sample *sample = &p->samples.items[i];

		must(sample->thread < p->threads.count);
		must(is_node(p, sample->node));
		must(sample->class < CLASS_COUNT);
		must(sample->class != CLASS_EVENT || sample->event < p->events.count);
	}
	for (size_t i = 0; i < p->longest.count; i++) {
		must(p->longest.items[i].thread < p->threads.count);
		must(p->longest.items[i].class < CLASS_COUNT);
		must(is_node(p, p->longest.items[i].node));
	}
	for (size_t i = 0; i < p->preemptors.count; i++) {
		must(p->preemptors.items[i].thread < p->threads.count);
		must(p->preemptors.items[i].name);
	}
	for (size_t i = 0; i < p->histograms.count; i++) {
		must(p->histograms.items[i].thread < p->threads.count);
		must(p->histograms.items[i].class < CLASS_COUNT);
		histogram_percentile(p->histograms.items[i].histogram, 0.99);
	}
}

static void check_profile(const struct profile *p)
{
	for (size_t i = 0; i < p->frames.count; i++)
		must(p->frames.items[i].image <= p->images.count);
	for (size_t i = 0; i < p->nodes.count; i++) {
		const struct node *node = &p->nodes.items[i];

		must(node->parent == NODE_NONE || node->parent < i);
		must(node->frame < p->frames.count);
	}
	for (size_t i = 0; i < p->images.count; i++)
		must((uint64_t)p->images.items[i].first_mapping +
			     p->images.items[i].mapping_count <=
		     p->mappings.count);
	for (size_t i = 0; i < p->mappings.count; i++)
		must(p->mappings.items[i].path);
	for (size_t i = 0; i < p->threads.count; i++) {
		must(p->threads.items[i].name && p->threads.items[i].process);
		must(p->threads.items[i].image <= p->images.count);
	}
	check_samples(p);
}

static struct bytes write_json(const struct profile *p)
{
	struct bytes bytes = { 0 };

	must(!profile_write_json(p, append, &bytes));
	return bytes;
}

/* Written and read back, it is written the same. */
static void check_round_trip(const struct profile *p)
{
	struct bytes first = write_json(p), second;
	struct profile *back = NULL;

	must(!profile_parse_json((struct text){ first.items, first.count }, &back));
	check_profile(back);
	second = write_json(back);
	/* What is no UTF-8 becomes so, and may make equal what was not. */
	must(second.count <= first.count);
	array_deinit(&first);
	array_deinit(&second);
	profile_destroy(back);
}

static bool count_line(void *context, const struct flame_line *line)
{
	*(size_t *)context += line->depth;
	return true;
}

static void check_flame(const struct profile *p, const struct profile *baseline)
{
	for (enum flame_group group = 0; group < FLAME_GROUP_COUNT; group++) {
		const struct flame_view view = { .group_by = group, .offsets = group % 2 };
		struct flame *flame = NULL;
		size_t depth = 0;

		must(!flame_create(p, baseline, &view, &flame));
		for (size_t i = 1; i < flame->nodes.count; i++)
			must(flame->nodes.items[i].parent < i);
		must(!flame_each_line(flame, count_line, &depth));
		flame_destroy(flame);
	}
}

/* More than this is written far longer than it is read: each stack in full. */
#define PPROF_NODES_MAX 2000

static void check_pprof(const struct profile *p)
{
	struct bytes bytes = { 0 };
	struct profile *back = NULL;

	if (p->nodes.count > PPROF_NODES_MAX || p->samples.count > PPROF_NODES_MAX)
		return;
	must(!profile_write_pprof(p, append, &bytes));
	must(!profile_parse_pprof((struct text){ bytes.items, bytes.count }, &back));
	check_profile(back);
	profile_destroy(back);
	array_deinit(&bytes);
}

void fuzz_check_profile(const struct profile *profile)
{
	check_profile(profile);
	check_round_trip(profile);
	check_flame(profile, NULL);
	check_pprof(profile);
}

int fuzz_profile(profile_parse *parse, const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct profile *p = NULL, *into = NULL;
	struct error *err = parse(bytes, &p);

	if (err) {
		fuzz_check_error(err);
		must(!p);
		fuzz_release(bytes);
		return 0;
	}
	fuzz_check_profile(p);
	must(!profile_create(&into));
	must(!profile_merge(into, p));
	must(!profile_merge(into, p));
	check_profile(into);
	check_flame(p, into);
	profile_destroy(into);
	profile_destroy(p);
	fuzz_release(bytes);
	return 0;
}
