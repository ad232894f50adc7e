/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame_tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/units.h"
#include "statistics/statistics.h"

/* Of threads with one name, fewer do not tell how much they differ. */
#define THREADS_LEAST 4
/* Samples, waits or hits that are taken to come together where nothing tells how many do. */
#define TOGETHER 10

/* Values of the profile or the thread that is added up, and which subjects have one. */
struct tally_addition {
	struct flame_tallies *tallies;
	double *values;
	struct {
		ARRAY(uint32_t);
	} touched;
};

/* --- which subjects a node adds to --- */

/* Levels below the root that are groups. */
static unsigned group_levels(enum flame_group group_by)
{
	return group_by == FLAME_BY_NONE ? 0 : group_by == FLAME_BY_THREAD ? 2 : 1;
}

static uint32_t subject_of(const struct flame_tallies *t, const struct flame_builder *b,
			   const struct flame_node *node)
{
	const struct flame_face *face = flame_face(t->flame, node);
	const uint32_t label = b->labels.items[node->face];

	if (face->kind == FRAME_USER || face->kind == FRAME_KERNEL)
		return label;
	if (node->depth && node->depth <= group_levels(b->view->group_by))
		return (uint32_t)t->label_count + label;
	return NODE_NONE;
}

/* A function that calls itself has its time once: of the outermost node. */
static struct error *find_subjects(struct flame_tallies *t, const struct flame_builder *b)
{
	const struct flame_node *nodes = t->flame->nodes.items;
	_cleanup_free_ uint32_t *open = calloc(flame_subject_count(t) + 1, sizeof(*open));
	uint32_t i = 0;

	if (!open)
		return &error_no_memory;
	while (i != NODE_NONE) {
		const uint32_t subject = subject_of(t, b, &nodes[i]);

		t->subject_of[i] = subject != NODE_NONE && !open[subject] ? subject : NODE_NONE;
		if (subject != NODE_NONE)
			open[subject]++;
		if (nodes[i].first_child != NODE_NONE) {
			i = nodes[i].first_child;
			continue;
		}
		for (;;) {
			const uint32_t ended = subject_of(t, b, &nodes[i]);

			if (ended != NODE_NONE)
				open[ended]--;
			if (!i || nodes[i].next != NODE_NONE)
				break;
			i = nodes[i].parent;
		}
		i = i ? nodes[i].next : NODE_NONE;
	}
	return NULL;
}

/* --- adding --- */

static bool add_value(struct tally_addition *a, size_t subject, double value)
{
	if (a->values[subject] == 0 && !array_push(&a->touched, (uint32_t)subject))
		return false;
	a->values[subject] += value;
	return true;
}

static enum flame_time time_of(const struct sample *sample)
{
	return sample->class == CLASS_ON_CPU ? FLAME_TIME_CPU : FLAME_TIME_OFF;
}

/* Add a value of the sample to its node and all callers, and to their functions and groups. */
static bool add_sample(struct tally_addition *a, uint32_t node, enum flame_time time, double value)
{
	const struct flame_tallies *t = a->tallies;

	for (; node != NODE_NONE; node = t->flame->nodes.items[node].parent) {
		const uint32_t subject = t->subject_of[node];
		const size_t first = t->flame->nodes.count + (size_t)subject * t->times;

		if (!add_value(a, node, value))
			return false;
		if (subject == NODE_NONE)
			continue;
		if (!add_value(a, first + FLAME_TIME_ALL, value) ||
		    (t->times > 1 && !add_value(a, first + time, value)))
			return false;
	}
	return true;
}

static bool is_counted(const struct flame_tallies *t, const struct sample *sample)
{
	return (sample->class == CLASS_EVENT) == t->flame->is_events;
}

static double value_of(const struct flame_tallies *t, const struct sample *sample)
{
	return (double)(t->flame->is_events ? sample->count : sample->ns);
}

static struct error *add_profile(struct tally_addition *a, const struct flame_side *side)
{
	struct flame_tallies *t = a->tallies;
	const size_t which = !side->is_baseline;

	for (size_t i = 0; i < side->wanted; i++) {
		const uint32_t number = side->order[i];
		const struct sample *sample = &side->profile->samples.items[number];
		const double value = value_of(t, sample);

		if (!is_counted(t, sample) || !(value > 0))
			continue;
		if (!add_sample(a, side->drafts[number], time_of(sample), value))
			return &error_no_memory;
		t->wholes[FLAME_TIME_ALL][which] += value;
		t->wholes[time_of(sample)][which] += value;
	}
	while (a->touched.count) {
		const uint32_t subject = a->touched.items[--a->touched.count];
		struct flame_tally *tally = &t->items[subject];

		tally->sums[which] += a->values[subject];
		tally->squares[which] += a->values[subject] * a->values[subject];
		a->values[subject] = 0;
	}
	return NULL;
}

/* --- the pieces that time comes in --- */

/* How long a thread runs between two sleeps. */
static double burst_of(const struct profile_thread *thread)
{
	const uint64_t sleeps =
		thread->voluntary ? thread->voluntary : thread->counts[CLASS_ON_CPU];

	if (!thread->is_accounted)
		return (double)FLAME_BURST_MOST;
	return (double)thread->ns[CLASS_ON_CPU] / (sleeps ? (double)sleeps : 1);
}

static double piece_on_cpu(const struct profile *p, const struct sample *sample)
{
	const double period = (double)p->meta.on_cpu_period_ns;
	const double piece =
		fmin(2 * burst_of(&p->threads.items[sample->thread]), (double)FLAME_BURST_MOST);

	return fmax(piece, period);
}

static double piece_off_cpu(const struct profile *p, const struct sample *sample)
{
	const double waits = sample->count > TOGETHER ? (double)sample->count / TOGETHER : 1;
	const double piece =
		sample->longest_ns ? (double)sample->longest_ns : (double)sample->ns / waits;

	return fmax(piece, (double)p->meta.off_cpu_period_ns);
}

/* The size of pieces of a sample's time: by sampling alone, or by all that varies in the profile.
 */
static double piece_of(const struct flame_tallies *t, const struct profile *p,
		       const struct sample *sample)
{
	if (t->flame->is_events)
		return t->is_approximate ? TOGETHER : 0;
	if (!t->is_approximate)
		return (double)(sample->class == CLASS_ON_CPU ? p->meta.on_cpu_period_ns
							      : p->meta.off_cpu_period_ns);
	return sample->class == CLASS_ON_CPU ? piece_on_cpu(p, sample) : piece_off_cpu(p, sample);
}

static struct error *add_noise(struct tally_addition *a, const struct flame_side *side)
{
	struct flame_tallies *t = a->tallies;
	const size_t which = !side->is_baseline;

	for (size_t i = 0; i < side->wanted; i++) {
		const uint32_t number = side->order[i];
		const struct sample *sample = &side->profile->samples.items[number];
		const double variance = piece_of(t, side->profile, sample) * value_of(t, sample);

		if (is_counted(t, sample) && variance > 0 &&
		    !add_sample(a, side->drafts[number], time_of(sample), variance))
			return &error_no_memory;
	}
	while (a->touched.count) {
		const uint32_t subject = a->touched.items[--a->touched.count];

		t->items[subject].noise[which] += a->values[subject];
		a->values[subject] = 0;
	}
	return NULL;
}

/* --- threads of one name --- */

/* Threads by group: those of one program whose names differ in numbers only. */
struct thread_groups {
	uint32_t *of; /* of each thread */
	struct {
		ARRAY(size_t);
	} sizes;
	double *sums, *squares; /* of the values of one group's threads, by subject */
	struct {
		ARRAY(uint32_t);
	} touched;
};

#define THREAD_NAME_MAX 256
#define NAME_BYTES_MAX  ((size_t)1 << 30)

static uint32_t *group_at(struct word_map *numbers, struct names *names,
			  const struct profile_thread *thread)
{
	char pattern[PATTERN_ROOM(THREAD_NAME_MAX)];
	struct text text = name_text(thread->name);
	const struct name *name;

	if (text.length > THREAD_NAME_MAX)
		text.length = THREAD_NAME_MAX;
	name = names_intern(names, pattern, pattern_of_name(text, pattern));
	return name ? word_map_at(numbers,
				  (struct words){ { (uintptr_t)thread->process, (uintptr_t)name } })
		    : NULL;
}

static struct error *number_groups(struct thread_groups *g, struct word_map *numbers,
				   struct names *names, const struct profile *p)
{
	for (size_t i = 0; i < p->threads.count; i++) {
		uint32_t *number = group_at(numbers, names, &p->threads.items[i]);

		if (!number)
			return &error_no_memory;
		if (*number == WORD_MAP_NEW) {
			*number = (uint32_t)g->sizes.count;
			if (!array_push(&g->sizes, 0))
				return &error_no_memory;
		}
		g->of[i] = *number;
		g->sizes.items[*number]++;
	}
	return NULL;
}

static struct error *thread_groups_init(struct thread_groups *g, const struct flame_tallies *t,
					const struct profile *p)
{
	struct word_map numbers = { 0 };
	struct arena arena;
	struct names names;
	struct error *err;

	*g = (struct thread_groups){ .of = calloc(p->threads.count + 1, sizeof(*g->of)),
				     .sums = calloc(t->count, sizeof(*g->sums)),
				     .squares = calloc(t->count, sizeof(*g->squares)) };
	if (!g->of || !g->sums || !g->squares)
		return &error_no_memory;
	arena_init(&arena, NAME_BYTES_MAX);
	names_init(&names, &arena);
	err = number_groups(g, &numbers, &names, p);
	word_map_deinit(&numbers);
	names_deinit(&names);
	arena_deinit(&arena);
	return err;
}

static void thread_groups_deinit(struct thread_groups *g)
{
	free(g->of);
	free(g->sums);
	free(g->squares);
	array_deinit(&g->sizes);
	array_deinit(&g->touched);
}

struct sample_order {
	const struct profile *profile;
	const uint32_t *group_of;
};

static int by_group_and_thread(const void *a, const void *b, void *context)
{
	const struct sample_order *order = context;
	const uint32_t x = order->profile->samples.items[*(const uint32_t *)a].thread;
	const uint32_t y = order->profile->samples.items[*(const uint32_t *)b].thread;

	if (order->group_of[x] != order->group_of[y])
		return order->group_of[x] < order->group_of[y] ? -1 : 1;
	return (x > y) - (x < y);
}

static bool end_thread(struct tally_addition *a, struct thread_groups *g)
{
	while (a->touched.count) {
		const uint32_t subject = a->touched.items[--a->touched.count];
		const double value = a->values[subject];

		if (g->squares[subject] == 0 && !array_push(&g->touched, subject))
			return false;
		g->sums[subject] += value;
		g->squares[subject] += value * value;
		a->values[subject] = 0;
	}
	return true;
}

/* The variance of the sum of that many threads, at the spread that they have, with what Student's
 * distribution adds for the few of them: both sides have as many. */
static double variance_of_threads(double sum, double square, size_t count)
{
	const double n = (double)count, normal = 1.96;
	const double wider = student_quantile(1 - FLAME_LEVEL, 2 * (n - 1)) / normal;

	return fmax(square - sum * sum / n, 0) * n / (n - 1) * wider * wider;
}

static void end_group(struct tally_addition *a, struct thread_groups *g, size_t threads,
		      double *between)
{
	(void)a;
	while (g->touched.count) {
		const uint32_t subject = g->touched.items[--g->touched.count];

		if (threads >= THREADS_LEAST)
			between[subject] +=
				variance_of_threads(g->sums[subject], g->squares[subject], threads);
		g->sums[subject] = g->squares[subject] = 0;
	}
}

/* `order` has the side's samples by group and thread. */
static struct error *add_threads(struct tally_addition *a, const struct flame_side *side,
				 struct thread_groups *g, const uint32_t *order, double *between)
{
	for (size_t i = 0; i < side->wanted; i++) {
		const struct sample *samples = side->profile->samples.items;
		const struct sample *sample = &samples[order[i]];
		const uint32_t group = g->of[sample->thread];
		const bool is_last = i + 1 == side->wanted;

		if (is_counted(a->tallies, sample) &&
		    !add_sample(a, side->drafts[order[i]], time_of(sample),
				value_of(a->tallies, sample)))
			return &error_no_memory;
		if ((is_last || samples[order[i + 1]].thread != sample->thread) &&
		    !end_thread(a, g))
			return &error_no_memory;
		if (is_last || g->of[samples[order[i + 1]].thread] != group)
			end_group(a, g, g->sizes.items[group], between);
	}
	return NULL;
}

/* Where threads differ more than pieces do, that is the noise. */
static struct error *add_between_threads(struct tally_addition *a, const struct flame_side *side)
{
	struct flame_tallies *t = a->tallies;
	const size_t which = !side->is_baseline;
	_cleanup_free_ uint32_t *order = calloc(side->wanted + 1, sizeof(*order));
	_cleanup_free_ double *between = calloc(t->count, sizeof(*between));
	struct thread_groups groups;
	struct error *err = thread_groups_init(&groups, t, side->profile);

	if (!err && (!order || !between))
		err = &error_no_memory;
	if (!err) {
		if (side->wanted)
			memcpy(order, side->order, side->wanted * sizeof(*order));
		qsort_r(order, side->wanted, sizeof(*order), by_group_and_thread,
			&(struct sample_order){ side->profile, groups.of });
		err = add_threads(a, side, &groups, order, between);
	}
	for (size_t i = 0; !err && i < t->count; i++)
		t->items[i].noise[which] = fmax(t->items[i].noise[which], between[i]);
	thread_groups_deinit(&groups);
	return err;
}

/* --- all of it --- */

/* Which kinds of time occur. */
static void find_times(struct flame_tallies *t, const struct flame_builder *b)
{
	for (size_t s = 0; s < b->side_count; s++)
		for (size_t i = 0; i < b->sides[s].wanted; i++) {
			const struct sample *sample =
				&b->sides[s].profile->samples.items[b->sides[s].order[i]];

			if (!is_counted(t, sample) || t->flame->is_events)
				continue;
			t->has_cpu |= sample->class == CLASS_ON_CPU;
			t->has_off |= sample->class != CLASS_ON_CPU;
		}
	t->times = t->has_cpu && t->has_off ? FLAME_TIMES : 1;
}

static struct error *add_all(struct tally_addition *a, const struct flame_builder *b)
{
	struct error *err = NULL;

	for (size_t i = 0; i < b->side_count && !err; i++) {
		err = add_profile(a, &b->sides[i]);
		if (!err)
			err = add_noise(a, &b->sides[i]);
		if (!err && a->tallies->is_approximate)
			err = add_between_threads(a, &b->sides[i]);
	}
	return err;
}

struct error *flame_tallies_init(struct flame_tallies *t, const struct flame_builder *b)
{
	struct tally_addition adding = { .tallies = t };
	struct error *err;

	*t = (struct flame_tallies){ .flame = b->flame, .label_count = b->label_names.count };
	t->profiles[0] = flame_count_runs(b, true);
	t->profiles[1] = flame_count_runs(b, false);
	t->is_approximate = t->profiles[0] == 1 && t->profiles[1] == 1;
	find_times(t, b);
	t->count = b->flame->nodes.count + flame_subject_count(t) * t->times;
	t->items = calloc(t->count, sizeof(*t->items));
	t->subject_of = calloc(b->flame->nodes.count, sizeof(*t->subject_of));
	adding.values = calloc(t->count, sizeof(*adding.values));
	if (!t->items || !t->subject_of || !adding.values)
		err = &error_no_memory;
	else
		err = find_subjects(t, b);
	if (!err)
		err = add_all(&adding, b);
	free(adding.values);
	array_deinit(&adding.touched);
	return err;
}

void flame_tallies_deinit(struct flame_tallies *t)
{
	free(t->items);
	free(t->subject_of);
}
