/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/sum.h"
#include "profile/files.h"
#include "profile/kept.h"

/* The numbers that what is in `from` has in `into`. */
struct merge {
	struct profile *into;
	const struct profile *from;
	uint32_t *frames, *nodes, *threads, *events, *wakers;
	uint32_t images, mappings; /* how many `into` had */
};

/* Into `ret`; NULL stays NULL. */
static struct error *name_in_merged(const struct merge *m, const struct name *name,
				    const struct name **ret)
{
	*ret = name ? profile_name(m->into, name->bytes, name->length) : NULL;
	return *ret || !name ? NULL : &error_no_memory;
}

/* --- where and how --- */

/* Two of them together have what both say. */
static struct error *merge_name(const struct merge *m, const struct name **into,
				const struct name *from, bool is_first)
{
	const struct name *copy;
	struct error *err = name_in_merged(m, from, &copy);

	if (err)
		return err;
	if (is_first)
		*into = copy;
	else if (*into != copy)
		*into = NULL;
	return NULL;
}

static struct error *merge_meta(const struct merge *m)
{
	struct profile_meta *into = &m->into->meta;
	const struct profile_meta *from = &m->from->meta;
	bool is_first = !m->into->threads.count;
	const struct {
		const struct name **into, *from;
	} names[] = {
		{ &into->host, from->host },       { &into->kernel, from->kernel },
		{ &into->command, from->command }, { &into->version, from->version },
		{ &into->mode, from->mode },       { &into->target, from->target },
	};

	for (size_t i = 0; i < array_length(names); i++) {
		struct error *err = merge_name(m, names[i].into, names[i].from, is_first);

		if (err)
			return err;
	}
	if (!into->captured_at_unix_ns ||
	    (from->captured_at_unix_ns && from->captured_at_unix_ns < into->captured_at_unix_ns))
		into->captured_at_unix_ns = from->captured_at_unix_ns;
	if (into->end_unix_ns < from->end_unix_ns)
		into->end_unix_ns = from->end_unix_ns;
	sum_add(&into->duration_ns, from->duration_ns);
	sum_add(&into->observed_ns, from->observed_ns);
	if (!into->on_cpu_period_ns)
		into->on_cpu_period_ns = from->on_cpu_period_ns;
	if (!into->off_cpu_period_ns)
		into->off_cpu_period_ns = from->off_cpu_period_ns;
	into->is_whole_host = from->is_whole_host && (is_first || into->is_whole_host);
	into->lacks_states |= from->lacks_states;
	if (into->cpus < from->cpus)
		into->cpus = from->cpus;
	profile_losses_add(&into->losses, &from->losses);
	return NULL;
}

/* --- processes and threads --- */

static struct error *merge_images(const struct merge *m)
{
	if (!m->into->kept)
		m->into->kept = kept_share(m->from->kept);
	for (size_t i = 0; i < m->from->mappings.count; i++) {
		struct profile_mapping mapping = m->from->mappings.items[i];
		struct error *err = name_in_merged(m, mapping.path, &mapping.path);

		if (err)
			return err;
		if (!array_push(&m->into->mappings, mapping))
			return &error_no_memory;
	}
	for (size_t i = 0; i < m->from->images.count; i++) {
		struct profile_image image = m->from->images.items[i];
		struct error *err = name_in_merged(m, image.exe, &image.exe);

		if (err)
			return err;
		image.first_mapping += m->mappings;
		if (!array_push(&m->into->images, image))
			return &error_no_memory;
	}
	return NULL;
}

/* An end before its start, in a hostile file, counts as no time. */
static uint64_t wall_of(const struct profile_thread *thread)
{
	return thread->is_accounted && thread->ended_ns > thread->begun_ns
		       ? thread->ended_ns - thread->begun_ns
		       : 0;
}

/* A thread in both profiles was observed for both times, and the classes still add up to their sum.
 * Without measured times, it was observed from the first to the last. */
static void merge_thread_times(struct profile_thread *into, const struct profile_thread *from)
{
	uint64_t wall = wall_of(into);

	if (!from->is_accounted && !into->is_accounted) {
		if (from->begun_ns && (!into->begun_ns || from->begun_ns < into->begun_ns))
			into->begun_ns = from->begun_ns;
		if (from->ended_ns > into->ended_ns)
			into->ended_ns = from->ended_ns;
	}
	if (!from->is_accounted)
		return;
	sum_add(&wall, wall_of(from));
	if (!into->is_accounted || from->begun_ns < into->begun_ns)
		into->begun_ns = from->begun_ns;
	into->ended_ns = into->begun_ns;
	sum_add(&into->ended_ns, wall);
	if (!into->is_accounted) {
		memset(into->ns, 0, sizeof(into->ns));
		memset(into->counts, 0, sizeof(into->counts));
		into->voluntary = into->involuntary = 0;
	}
	into->is_accounted = true;
	for (size_t c = 0; c < CLASS_COUNT; c++) {
		sum_add(&into->ns[c], from->ns[c]);
		sum_add(&into->counts[c], from->counts[c]);
	}
	sum_add(&into->voluntary, from->voluntary);
	sum_add(&into->involuntary, from->involuntary);
}

static struct error *new_thread(const struct merge *m, struct profile_thread thread)
{
	struct error *err = name_in_merged(m, thread.cgroup, &thread.cgroup);

	if (err)
		return err;
	if (thread.image)
		thread.image += m->images;
	return array_push(&m->into->threads, thread) ? NULL : &error_no_memory;
}

/* Start times are not part of the key, as they differ between intervals. Imported threads may have
 * only names. */
static struct words thread_key(const struct profile_thread *thread)
{
	return (struct words){ { (uint64_t)thread->tgid << 32 | thread->tid,
				 (uintptr_t)thread->process, (uintptr_t)thread->name } };
}

static struct error *merge_threads_by(const struct merge *m, struct word_map *known)
{
	for (size_t i = 0; i < m->into->threads.count; i++) {
		uint32_t *number = word_map_at(known, thread_key(&m->into->threads.items[i]));

		if (!number)
			return &error_no_memory;
		*number = (uint32_t)i;
	}
	for (size_t i = 0; i < m->from->threads.count; i++) {
		struct profile_thread thread = m->from->threads.items[i];
		struct error *err = name_in_merged(m, thread.name, &thread.name);
		uint32_t *number = NULL;

		if (!err)
			err = name_in_merged(m, thread.process, &thread.process);
		if (!err)
			number = word_map_at(known, thread_key(&thread));
		if (!number)
			return err ? err : &error_no_memory;
		if (*number == WORD_MAP_NEW) {
			*number = (uint32_t)m->into->threads.count;
			err = new_thread(m, thread);
		} else {
			merge_thread_times(&m->into->threads.items[*number], &thread);
		}
		if (err)
			return err;
		m->threads[i] = *number;
	}
	return NULL;
}

static struct error *merge_threads(const struct merge *m)
{
	struct word_map known = { 0 };
	struct error *err = merge_threads_by(m, &known);

	word_map_deinit(&known);
	return err;
}

/* --- what --- */

static struct error *merge_events(const struct merge *m)
{
	for (size_t i = 0; i < m->from->events.count; i++) {
		const struct name *name;
		struct error *err = name_in_merged(m, m->from->events.items[i], &name);
		size_t number = 0;

		if (err)
			return err;
		while (number < m->into->events.count && m->into->events.items[number] != name)
			number++;
		if (number > UINT16_MAX)
			return error_create("more than %d events", UINT16_MAX + 1);
		if (number == m->into->events.count && !array_push(&m->into->events, name))
			return &error_no_memory;
		m->events[i] = (uint32_t)number;
	}
	return NULL;
}

static struct words waker_key(const struct waker *waker)
{
	return (struct words){ { (uintptr_t)waker->name, waker->tid } };
}

/* Numbers of wakers are counted from 1, in `wakers` too. */
static struct error *merge_waker(const struct merge *m, size_t i, struct word_map *known)
{
	struct waker waker = m->from->wakers.items[i];
	struct error *err = name_in_merged(m, waker.name, &waker.name);
	uint32_t *number = err ? NULL : word_map_at(known, waker_key(&waker));

	if (err)
		return err;
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&m->into->wakers, waker))
			return &error_no_memory;
		*number = (uint32_t)m->into->wakers.count;
	}
	m->wakers[i + 1] = *number;
	return NULL;
}

static struct error *merge_wakers(const struct merge *m)
{
	struct word_map known = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < m->into->wakers.count && !err; i++) {
		uint32_t *number = word_map_at(&known, waker_key(&m->into->wakers.items[i]));

		if (number)
			*number = (uint32_t)i + 1;
		else
			err = &error_no_memory;
	}
	for (size_t i = 0; i < m->from->wakers.count && !err; i++)
		err = merge_waker(m, i, &known);
	word_map_deinit(&known);
	return err;
}

static struct error *merge_frames(const struct merge *m)
{
	for (size_t i = 0; i < m->from->frames.count; i++) {
		struct frame frame = m->from->frames.items[i];
		struct error *err = name_in_merged(m, frame.name, &frame.name);

		if (!err)
			err = name_in_merged(m, frame.module, &frame.module);
		if (!err)
			err = name_in_merged(m, frame.source, &frame.source);
		if (frame.image)
			frame.image += m->images;
		if (!err)
			err = profile_frame(m->into, &frame, &m->frames[i]);
		if (err)
			return err;
	}
	return NULL;
}

static uint32_t node_of(const struct merge *m, uint32_t node)
{
	return node == NODE_NONE ? NODE_NONE : m->nodes[node];
}

static struct error *merge_stacks(const struct merge *m)
{
	struct error *err = merge_frames(m);

	for (size_t i = 0; i < m->from->nodes.count && !err; i++) {
		const struct node *node = &m->from->nodes.items[i];

		err = profile_node(m->into, node_of(m, node->parent), m->frames[node->frame],
				   &m->nodes[i]);
	}
	return err;
}

static struct error *merge_samples(const struct merge *m)
{
	for (size_t i = 0; i < m->from->samples.count; i++) {
		struct sample sample = m->from->samples.items[i];
		struct error *err;

		sample.thread = m->threads[sample.thread];
		sample.node = node_of(m, sample.node);
		if (sample.class == CLASS_EVENT && sample.event < m->from->events.count)
			sample.event = (uint16_t)m->events[sample.event];
		sample.waker = sample.waker <= m->from->wakers.count ? m->wakers[sample.waker] : 0;
		err = profile_add(m->into, &sample);
		if (err)
			return err;
	}
	return NULL;
}

static int longest_first(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static struct error *merge_longest(const struct merge *m)
{
	for (size_t i = 0; i < m->from->longest.count; i++) {
		struct block block = m->from->longest.items[i];
		struct error *err = name_in_merged(m, block.waker, &block.waker);

		if (err)
			return err;
		block.thread = m->threads[block.thread];
		block.node = node_of(m, block.node);
		if (!array_push(&m->into->longest, block))
			return &error_no_memory;
	}
	if (m->from->longest.count)
		qsort(m->into->longest.items, m->into->longest.count, sizeof(struct block),
		      longest_first);
	return NULL;
}

static struct words preemptor_key(const struct preemptor *preemptor)
{
	return (struct words){ { (uint64_t)preemptor->thread << 32 | preemptor->tid,
				 (uintptr_t)preemptor->name, (uintptr_t)preemptor->cgroup } };
}

static struct error *merge_preemptor(const struct merge *m, struct preemptor preemptor,
				     struct word_map *known)
{
	struct error *err = name_in_merged(m, preemptor.name, &preemptor.name);
	uint32_t *number = NULL;

	if (!err)
		err = name_in_merged(m, preemptor.cgroup, &preemptor.cgroup);
	preemptor.thread = m->threads[preemptor.thread];
	if (!err)
		number = word_map_at(known, preemptor_key(&preemptor));
	if (!number)
		return err ? err : &error_no_memory;
	if (*number != WORD_MAP_NEW) {
		sum_add(&m->into->preemptors.items[*number].ns, preemptor.ns);
		return NULL;
	}
	*number = (uint32_t)m->into->preemptors.count;
	return array_push(&m->into->preemptors, preemptor) ? NULL : &error_no_memory;
}

static struct error *merge_preemptors(const struct merge *m)
{
	struct word_map known = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < m->into->preemptors.count && !err; i++) {
		uint32_t *number =
			word_map_at(&known, preemptor_key(&m->into->preemptors.items[i]));

		if (number)
			*number = (uint32_t)i;
		else
			err = &error_no_memory;
	}
	for (size_t i = 0; i < m->from->preemptors.count && !err; i++)
		err = merge_preemptor(m, m->from->preemptors.items[i], &known);
	word_map_deinit(&known);
	return err;
}

/* --- histograms --- */

/* `from` is added to `*into`, in the slots of the coarser one. */
static struct error *add_histogram(struct histogram **into, const struct histogram *from)
{
	struct histogram *coarse;

	if (*into && (*into)->frac_bits <= from->frac_bits) {
		histogram_merge(*into, from);
		return NULL;
	}
	coarse = histogram_create(from->frac_bits);
	if (!coarse)
		return &error_no_memory;
	if (*into)
		histogram_merge(coarse, *into);
	histogram_merge(coarse, from);
	histogram_destroy(*into);
	*into = coarse;
	return NULL;
}

static struct error *merge_histogram(const struct merge *m, const struct thread_histogram *from,
				     struct word_map *known)
{
	struct thread_histogram of = { m->threads[from->thread], from->class, NULL };
	uint32_t *number = word_map_at(known, (struct words){ { of.thread, of.class } });
	struct error *err;

	if (!number)
		return &error_no_memory;
	if (*number != WORD_MAP_NEW)
		return add_histogram(&m->into->histograms.items[*number].histogram,
				     from->histogram);
	err = add_histogram(&of.histogram, from->histogram);
	if (err)
		return err;
	*number = (uint32_t)m->into->histograms.count;
	if (array_push(&m->into->histograms, of))
		return NULL;
	histogram_destroy(of.histogram);
	return &error_no_memory;
}

static struct error *merge_histograms(const struct merge *m)
{
	struct word_map known = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < m->into->histograms.count && !err; i++) {
		const struct thread_histogram *of = &m->into->histograms.items[i];
		uint32_t *number = word_map_at(&known, (struct words){ { of->thread, of->class } });

		if (number)
			*number = (uint32_t)i;
		else
			err = &error_no_memory;
	}
	for (size_t i = 0; i < m->from->histograms.count && !err; i++)
		err = merge_histogram(m, &m->from->histograms.items[i], &known);
	word_map_deinit(&known);
	return err;
}

/* --- all of it --- */

static struct error *merge_all(const struct merge *m)
{
	struct error *(*const steps[])(const struct merge *) = {
		merge_meta,   merge_images,  merge_threads, merge_events,     merge_wakers,
		merge_stacks, merge_samples, merge_longest, merge_preemptors, merge_histograms,
	};
	struct error *err = NULL;

	for (size_t i = 0; i < array_length(steps) && !err; i++)
		err = steps[i](m);
	return err;
}

struct error *profile_merge(struct profile *into, const struct profile *from)
{
	struct merge m = {
		.into = into,
		.from = from,
		.frames = calloc(from->frames.count + 1, sizeof(*m.frames)),
		.nodes = calloc(from->nodes.count + 1, sizeof(*m.nodes)),
		.threads = calloc(from->threads.count + 1, sizeof(*m.threads)),
		.events = calloc(from->events.count + 1, sizeof(*m.events)),
		.wakers = calloc(from->wakers.count + 1, sizeof(*m.wakers)),
		.images = (uint32_t)into->images.count,
		.mappings = (uint32_t)into->mappings.count,
	};
	struct error *err = m.frames && m.nodes && m.threads && m.events && m.wakers
				    ? merge_all(&m)
				    : &error_no_memory;

	free(m.frames);
	free(m.nodes);
	free(m.threads);
	free(m.events);
	free(m.wakers);
	return err;
}
