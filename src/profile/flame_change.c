/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/flame_tally.h"
#include "statistics/statistics.h"

/* Of both sides together: fewer pieces show no difference that would stand among many tests. */
#define PIECES_LEAST 10
/* The share of all time below which runs are not compared: a long tail would hide the rest. */
#define SHARE_LEAST 0.001
/* A finding has at least so much of the largest difference that is still unexplained. */
#define FINDING_SHARE 0.5

/* --- one test --- */

static double mean_of(const struct flame_tallies *t, const struct flame_tally *tally, size_t side)
{
	return tally->sums[side] / (double)t->profiles[side];
}

/* Variance of single profiles of a side, with what is known to be in it. */
static double variance_of(const struct flame_tallies *t, const struct flame_tally *tally,
			  unsigned time, size_t side)
{
	const double n = (double)t->profiles[side], mean = mean_of(t, tally, side);
	const double whole = t->wholes[time][side] / n;
	/* Of a whole that does not vary, shares are drawn: binomial. */
	const double sampling = tally->noise[side] / n * fmax(0, 1 - mean / fmax(whole, mean));
	const double least = FLAME_SPREAD_LEAST * mean;
	double seen = 0;

	if (mean <= 0)
		return 0;
	if (n > 1)
		seen = fmax(0, tally->squares[side] - tally->sums[side] * mean) / (n - 1);
	return fmax(seen, fmax(sampling, least * least));
}

static void test_runs(const struct flame_tallies *t, const struct flame_tally *tally, unsigned time,
		      struct flame_change *change)
{
	struct statistics_mean sides[2];
	double pieces = 0;

	for (size_t side = 0; side < 2; side++) {
		/* A side of one profile varies as the other's. */
		const size_t from = t->profiles[side] > 1 ? side : !side;

		sides[side] = (struct statistics_mean){
			.mean = mean_of(t, tally, side),
			.error = variance_of(t, tally, time, from) / (double)t->profiles[side],
			.df = (double)t->profiles[from] - 1,
		};
		if (tally->noise[side] > 0)
			pieces += tally->sums[side] * tally->sums[side] / tally->noise[side];
	}
	change->is_tested = sides[0].mean + sides[1].mean >
				    SHARE_LEAST * (t->wholes[time][0] / (double)t->profiles[0] +
						   t->wholes[time][1] / (double)t->profiles[1]) &&
			    (tally->noise[0] + tally->noise[1] == 0 || pieces >= PIECES_LEAST);
	if (!change->is_tested)
		return;
	change->p = welch_of_means(&sides[0], &sides[1]);
	ratio_interval(&sides[0], &sides[1], FLAME_LEVEL, &change->low, &change->high);
}

static void test_pieces(const struct flame_tally *tally, struct flame_change *change)
{
	double piece = 0;

	for (size_t side = 0; side < 2; side++)
		if (tally->sums[side] > 0)
			piece = fmax(piece, tally->noise[side] / tally->sums[side]);
	change->is_tested = piece > 0 && tally->sums[0] + tally->sums[1] >= PIECES_LEAST * piece;
	if (!change->is_tested)
		return;
	change->p = counts_p(tally->sums[0] / piece, tally->sums[1] / piece);
	counts_interval(tally->sums[0] / piece, tally->sums[1] / piece, FLAME_LEVEL, &change->low,
			&change->high);
}

static struct flame_change test(const struct flame_tallies *t, const struct flame_tally *tally,
				unsigned time)
{
	struct flame_change change = {
		.before = mean_of(t, tally, 0),
		.after = mean_of(t, tally, 1),
		.high = INFINITY,
		.p = 1,
		.q = 1,
	};

	if (t->is_approximate)
		test_pieces(tally, &change);
	else
		test_runs(t, tally, time, &change);
	return change;
}

double flame_change_percent(const struct flame_change *change)
{
	if (change->before > 0)
		return 100 * (change->after / change->before - 1);
	return change->after > 0 ? INFINITY : 0;
}

/* --- all tests --- */

/* The changes that have tests, each with the number of its test: those with the same times share
 * one. */
struct tests {
	struct {
		ARRAY(struct flame_change *);
	} changes;
	struct {
		ARRAY(uint32_t);
	} numbers;
	struct {
		ARRAY(double);
	} p;
	struct word_map known;
};

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static bool add_test(struct tests *tests, const struct flame_tally *tally,
		     struct flame_change *change)
{
	const struct words times = { { bits_of(tally->sums[0]), bits_of(tally->sums[1]),
				       bits_of(change->p) } };
	uint32_t *number;

	if (!change->is_tested)
		return true;
	number = word_map_at(&tests->known, times);
	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)tests->p.count;
		if (!array_push(&tests->p, change->p))
			return false;
	}
	return array_push(&tests->changes, change) && array_push(&tests->numbers, *number);
}

static bool adjust(struct tests *tests)
{
	if (!benjamini_hochberg(tests->p.items, tests->p.count))
		return false;
	for (size_t i = 0; i < tests->changes.count; i++) {
		tests->changes.items[i]->q = tests->p.items[tests->numbers.items[i]];
		tests->changes.items[i]->is_known = tests->changes.items[i]->q <= FLAME_RATE;
	}
	return true;
}

static void tests_deinit(struct tests *tests)
{
	array_deinit(&tests->changes);
	array_deinit(&tests->numbers);
	array_deinit(&tests->p);
	word_map_deinit(&tests->known);
}

/* --- nodes and subjects --- */

static bool add_subject(struct flame_changes *changes, const struct flame_tallies *t, uint32_t node,
			size_t number)
{
	struct flame_subject subject = {
		.face = flame_face(t->flame, &t->flame->nodes.items[node]),
		.node = node,
		.is_group = number >= t->label_count,
	};

	for (unsigned time = 0; time < t->times; time++) {
		const struct flame_tally *tally = flame_tally_of(t, number, time);

		subject.has[time] = tally->sums[0] + tally->sums[1] > 0;
		subject.changes[time] = test(t, tally, time);
	}
	return !subject.has[FLAME_TIME_ALL] || array_push(&changes->subjects, subject);
}

/* `numbers` has, for each label as a function and as a group, its place in `subjects`. */
static bool make_changes(struct flame_changes *changes, const struct flame_tallies *t,
			 uint32_t *numbers)
{
	for (uint32_t i = 0; i < t->flame->nodes.count; i++) {
		const uint32_t subject = t->subject_of[i];
		const size_t before = changes->subjects.count;

		changes->nodes[i] = test(t, &t->items[i], FLAME_TIME_ALL);
		if (subject == NODE_NONE || numbers[subject] != NODE_NONE)
			continue;
		if (!add_subject(changes, t, i, subject))
			return false;
		if (changes->subjects.count > before)
			numbers[subject] = (uint32_t)before;
	}
	return true;
}

/* When no change moves any more. */
static bool run_tests(struct flame_changes *changes, const struct flame_tallies *t,
		      const uint32_t *numbers)
{
	struct tests tests = { 0 };
	bool done = true;

	for (size_t i = 0; i < t->flame->nodes.count && done; i++)
		done = add_test(&tests, &t->items[i], &changes->nodes[i]);
	for (size_t i = 0; i < flame_subject_count(t) && done; i++)
		for (unsigned time = 0; numbers[i] != NODE_NONE && time < t->times && done; time++)
			done = add_test(&tests, flame_tally_of(t, i, time),
					&changes->subjects.items[numbers[i]].changes[time]);
	done = done && adjust(&tests);
	changes->test_count = tests.p.count;
	tests_deinit(&tests);
	for (size_t i = 0; i < t->flame->nodes.count; i++)
		changes->known_nodes += changes->nodes[i].is_known;
	return done;
}

/* --- findings --- */

/* Where the nodes of a function or group are: above, in or below. */
enum { APART, ABOVE, WITHIN };

struct finding_search {
	struct flame_changes *changes;
	const struct flame_tallies *t;
	const uint32_t *numbers;
	unsigned char *where; /* enum above, of each node */
	bool *explained;      /* of each subject */
	double *within;       /* of each subject: its time within the finding */
	double *difference;   /* of each subject: of its time within the finding */
	bool *above;          /* of each subject: a node of it is above */
};

static double size_of(const struct flame_change *change)
{
	return fabs(change->after - change->before);
}

/* How many times as much, or as little, it is at least: by the end of the interval that is nearest
 * to 1. Callers dilute a difference, and what is called from many places shares it, so the function
 * of which this is most is nearest to the cause. */
static double least_factor(const struct flame_change *change)
{
	return fmax(change->low, change->high > 0 ? 1 / change->high : INFINITY);
}

static bool is_nearer(const struct flame_change *a, const struct flame_change *b)
{
	const double x = least_factor(a), y = least_factor(b);

	return x != y ? x > y : a->p < b->p;
}

/* Each kind of time by itself, if there is more than one; functions before groups. */
static bool is_candidate(const struct finding_search *f, uint32_t subject, unsigned time,
			 bool groups)
{
	const struct flame_subject *s = &f->changes->subjects.items[subject];

	return !f->explained[subject] && s->is_group == groups && s->has[time] &&
	       s->changes[time].is_known && (f->t->times == 1 || time != FLAME_TIME_ALL);
}

/* Of what is left, the nearest to a cause among those that changed most. */
static bool next_finding(const struct finding_search *f, bool groups, struct flame_finding *ret)
{
	const size_t count = f->changes->subjects.count;
	const struct flame_change *nearest = NULL;
	double most = 0;

	for (uint32_t i = 0; i < count; i++)
		for (unsigned time = 0; time < f->t->times; time++)
			if (is_candidate(f, i, time, groups))
				most = fmax(most,
					    size_of(&f->changes->subjects.items[i].changes[time]));
	for (uint32_t i = 0; i < count; i++)
		for (unsigned time = 0; time < f->t->times; time++) {
			const struct flame_change *change =
				&f->changes->subjects.items[i].changes[time];

			if (!is_candidate(f, i, time, groups) ||
			    size_of(change) < FINDING_SHARE * most ||
			    (nearest && !is_nearer(change, nearest)))
				continue;
			nearest = change;
			*ret = (struct flame_finding){ .subject = i,
						       .time = (enum flame_time)time };
		}
	return nearest;
}

static uint32_t number_at(const struct finding_search *f, uint32_t node)
{
	const uint32_t subject = f->t->subject_of[node];

	return subject == NODE_NONE ? NODE_NONE : f->numbers[subject];
}

/* A function that is known to differ is coloured where most of its difference is, though stacks
 * that were walked in part may hide in how many places. */
static void colour_places(const struct finding_search *f)
{
	struct flame_changes *changes = f->changes;

	for (uint32_t i = 0; i < f->t->flame->nodes.count; i++) {
		struct flame_change *node = &changes->nodes[i];
		const uint32_t subject = number_at(f, i);
		const struct flame_change *whole =
			subject == NODE_NONE
				? node
				: &changes->subjects.items[subject].changes[FLAME_TIME_ALL];

		node->is_coloured = node->is_known ||
				    (whole->is_known &&
				     (node->after - node->before) / (whole->after - whole->before) >
					     FINDING_SHARE);
	}
}

static void mark_nodes(struct finding_search *f, uint32_t subject)
{
	const struct flame_node *nodes = f->t->flame->nodes.items;
	const size_t count = f->t->flame->nodes.count;

	memset(f->where, APART, count);
	for (uint32_t i = 0; i < count; i++)
		if (number_at(f, i) == subject || (i && f->where[nodes[i].parent] == WITHIN))
			f->where[i] = WITHIN;
	for (uint32_t i = (uint32_t)count; i-- > 1;)
		if (f->where[i] != APART && f->where[nodes[i].parent] == APART)
			f->where[nodes[i].parent] = ABOVE;
}

/* Callers of the function have its difference, and so has what has most of its time, or of its
 * difference, within. */
static void explain(struct finding_search *f, struct flame_finding *finding)
{
	struct flame_changes *changes = f->changes;

	mark_nodes(f, finding->subject);
	memset(f->within, 0, (changes->subjects.count + 1) * sizeof(*f->within));
	memset(f->difference, 0, (changes->subjects.count + 1) * sizeof(*f->difference));
	memset(f->above, 0, (changes->subjects.count + 1) * sizeof(*f->above));
	for (uint32_t i = 0; i < f->t->flame->nodes.count; i++) {
		const uint32_t subject = number_at(f, i);

		if (subject == NODE_NONE)
			continue;
		if (f->where[i] == WITHIN) {
			f->within[subject] += changes->nodes[i].before + changes->nodes[i].after;
			f->difference[subject] +=
				changes->nodes[i].after - changes->nodes[i].before;
		}
		f->above[subject] |= f->where[i] == ABOVE;
	}
	for (uint32_t i = 0; i < changes->subjects.count; i++) {
		const struct flame_subject *s = &changes->subjects.items[i];
		const struct flame_change *all = &s->changes[FLAME_TIME_ALL];
		bool is_known = false;

		if (f->explained[i] ||
		    (!f->above[i] && f->within[i] < (all->before + all->after) / 2 &&
		     !(f->difference[i] / (all->after - all->before) > FINDING_SHARE)))
			continue;
		f->explained[i] = true;
		for (unsigned time = 0; time < f->t->times; time++)
			is_known |= s->changes[time].is_known;
		finding->related += is_known && i != finding->subject;
	}
}

static struct error *search(struct finding_search *f)
{
	struct flame_finding finding;

	for (int groups = 0; groups < 2; groups++)
		while (next_finding(f, groups, &finding)) {
			explain(f, &finding);
			f->explained[finding.subject] = true;
			if (!array_push(&f->changes->findings, finding))
				return &error_no_memory;
		}
	return NULL;
}

static struct error *find_causes(struct flame_changes *changes, const struct flame_tallies *t,
				 const uint32_t *numbers)
{
	const size_t count = changes->subjects.count + 1;
	struct finding_search f = { .changes = changes, .t = t, .numbers = numbers };
	struct error *err = &error_no_memory;

	f.where = calloc(t->flame->nodes.count, 1);
	f.explained = calloc(count, sizeof(*f.explained));
	f.within = calloc(count, sizeof(*f.within));
	f.difference = calloc(count, sizeof(*f.difference));
	f.above = calloc(count, sizeof(*f.above));
	if (f.where && f.explained && f.within && f.difference && f.above) {
		colour_places(&f);
		err = search(&f);
	}
	free(f.where);
	free(f.explained);
	free(f.within);
	free(f.difference);
	free(f.above);
	return err;
}

/* --- the whole --- */

static struct error *find_changes(struct flame_changes *changes, const struct flame_tallies *t)
{
	const size_t labels = flame_subject_count(t);
	_cleanup_free_ uint32_t *numbers = malloc((labels + 1) * sizeof(*numbers));

	changes->before_count = t->profiles[0];
	changes->after_count = t->profiles[1];
	changes->is_approximate = t->is_approximate;
	changes->has_cpu = t->has_cpu;
	changes->has_off = t->has_off;
	changes->nodes = calloc(t->flame->nodes.count, sizeof(*changes->nodes));
	if (!numbers || !changes->nodes)
		return &error_no_memory;
	memset(numbers, 0xff, (labels + 1) * sizeof(*numbers));
	if (!make_changes(changes, t, numbers) || !run_tests(changes, t, numbers))
		return &error_no_memory;
	return find_causes(changes, t, numbers);
}

struct error *flame_find_changes(struct flame_builder *b)
{
	struct flame_tallies tallies;
	struct error *err = flame_tallies_init(&tallies, b);

	b->flame->changes = err ? NULL : calloc(1, sizeof(*b->flame->changes));
	if (!err)
		err = b->flame->changes ? find_changes(b->flame->changes, &tallies)
					: &error_no_memory;
	flame_tallies_deinit(&tallies);
	return err;
}

void flame_changes_destroy(struct flame_changes *changes)
{
	if (!changes)
		return;
	free(changes->nodes);
	array_deinit(&changes->subjects);
	array_deinit(&changes->findings);
	free(changes);
}
