/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synthetic programs with a long tail of stacks, work in bursts, threads that differ, and waits of
 * which few are long: two draws of one program hardly ever differ, and a function that takes 5 %
 * more is found.
 */
#include "profile/flame_change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "unit/profile_scene.h"
#include "unit/unit.h"

/* --- chance --- */

static double uniform(uint64_t *seed)
{
	return ((double)(next_random(seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

static double exponential(uint64_t *seed, double mean)
{
	return -mean * log(uniform(seed));
}

static unsigned poisson(uint64_t *seed, double mean)
{
	double product = 1, least = exp(-mean);
	unsigned count = 0;

	if (mean > 30)
		return (unsigned)fmax(0, lrint(mean + sqrt(mean) * normal(seed)));
	while ((product *= uniform(seed)) > least)
		count++;
	return count;
}

/* The sum of so many exponential times. */
static double sum_of(uint64_t *seed, unsigned count, double mean)
{
	double sum = 0;

	if (count > 50)
		return fmax(0, mean * (count + sqrt(count) * normal(seed)));
	for (unsigned i = 0; i < count; i++)
		sum += exponential(seed, mean);
	return sum;
}

/* --- programs --- */

#define THREADS 6
#define STACKS  200
#define WAITS   60
#define SECONDS 10

struct program {
	double hertz;                 /* of samples on the CPU */
	double burst, rest;           /* seconds that a request runs, and between two: means */
	double skew[THREADS][STACKS]; /* how threads differ */
	double weights[STACKS];       /* of stacks on the CPU; they add up to 1 */
	double wait_weights[WAITS];
	char names[STACKS + WAITS][200]; /* of stacks, as build_stack() has them */
	double load_spread;              /* of runs as wholes */
	double parse_share;              /* of CPU time in parse_json */
	double parse_more;               /* 0.05: it takes 5 % longer */
};

/* Stacks are paths in a tree of few functions near its root and many at its leaves. */
static void name_stack(uint64_t *seed, char *out, size_t size, const char *first)
{
	size_t at = (size_t)snprintf(out, size, "main;%s", first);
	const unsigned depth = 2 + (unsigned)(next_random(seed) % 9);

	for (unsigned i = 0; i < depth; i++)
		at += (size_t)snprintf(out + at, size - at, ";f%u_%u", i,
				       (unsigned)(next_random(seed) % (2 + 3 * i)));
}

static void make_program(struct program *p, uint64_t *seed, double hertz)
{
	double sum = 0;

	*p = (struct program){ .hertz = hertz, .burst = 0.004, .rest = 0.01 };
	for (size_t i = 0; i < STACKS; i++) {
		p->weights[i] = pow((double)i + 1, -1.1);
		sum += p->weights[i];
		name_stack(seed, p->names[i], sizeof(p->names[i]), "serve");
	}
	for (size_t i = 0; i < STACKS; i++)
		p->weights[i] /= sum;
	for (size_t i = 0; i < WAITS; i++) {
		p->wait_weights[i] = pow((double)i + 1, -1.3);
		name_stack(seed, p->names[STACKS + i], sizeof(p->names[0]), "wait");
	}
	for (size_t t = 0; t < THREADS; t++)
		for (size_t i = 0; i < STACKS; i++)
			p->skew[t][i] = exp(0.5 * normal(seed));
}

/* Requests of one kind: each has its samples in one stack. */
static void run_stack(uint64_t *seed, const struct program *program, struct profile *p,
		      uint32_t thread, uint32_t node, double bursts, double length)
{
	const uint64_t period = (uint64_t)(1e9 / program->hertz);
	const unsigned count = poisson(seed, bursts);
	struct profile_thread *t = &p->threads.items[thread];
	const double seconds = sum_of(seed, count, length);
	const uint64_t samples = poisson(seed, seconds * program->hertz);

	t->ns[CLASS_ON_CPU] += (uint64_t)(1e9 * seconds);
	t->counts[CLASS_ON_CPU] += count;
	t->voluntary += count;
	if (samples)
		expect_ok(profile_add(p, &(struct sample){ .thread = thread,
							   .node = node,
							   .class = CLASS_ON_CPU,
							   .cpu = CPU_ANY,
							   .ns = samples * period,
							   .count = samples }));
}

/* Waits whose lengths are lognormal: few of them have most of the time. */
static void wait_in_stack(uint64_t *seed, struct profile *p, uint32_t thread, uint32_t node,
			  double waits)
{
	const unsigned count = poisson(seed, waits);
	double sum = 0, longest = 0;

	for (unsigned i = 0; i < count; i++) {
		const double seconds = 0.001 * exp(1.5 * normal(seed));

		sum += seconds;
		longest = fmax(longest, seconds);
	}
	if (count)
		expect_ok(profile_add(p,
				      &(struct sample){ .thread = thread,
							.node = node,
							.class = CLASS_INTERRUPTIBLE,
							.cpu = CPU_ANY,
							.ns = (uint64_t)(1e9 * sum),
							.count = count,
							.longest_ns = (uint64_t)(1e9 * longest) }));
}

static struct profile *draw(uint64_t *seed, const struct program *program)
{
	struct profile *p = build_profile();
	const double load = exp(program->load_spread * normal(seed));
	uint32_t nodes[STACKS + WAITS], parse, mark;
	const double bursts = load * SECONDS / (program->burst + program->rest);

	for (size_t i = 0; i < STACKS + WAITS; i++)
		nodes[i] = build_stack(p, program->names[i]);
	parse = build_stack(p, "main;serve;parse_json;lex");
	mark = build_stack(p, "main;gc;mark");
	p->meta.on_cpu_period_ns = (uint64_t)(1e9 / program->hertz);
	for (uint32_t t = 0; t < THREADS; t++) {
		char name[20];
		uint32_t thread;

		snprintf(name, sizeof(name), "worker-%u", t);
		thread = build_profile_thread(p, 10, 10 + t, "server", name, NULL);
		p->threads.items[thread].is_accounted = true;
		for (size_t i = 0; i < STACKS; i++)
			run_stack(seed, program, p, thread, nodes[i],
				  bursts * (1 - program->parse_share) * program->weights[i] *
					  program->skew[t][i],
				  program->burst);
		run_stack(seed, program, p, thread, parse, bursts * program->parse_share,
			  program->burst * (1 + program->parse_more));
		for (size_t i = 0; i < WAITS; i++)
			wait_in_stack(seed, p, thread, nodes[STACKS + i],
				      bursts * program->wait_weights[i]);
	}
	/* A collector runs rarely, and then for long. */
	build_profile_thread(p, 10, 100, "server", "gc", NULL);
	p->threads.items[THREADS].is_accounted = true;
	run_stack(seed, program, p, THREADS, mark, SECONDS / 2.0, 0.04);
	return p;
}

/* --- comparisons --- */

#define RUNS_MOST 10

/* `view` selects times on the CPU, off it, or both. */
static struct flame *compare(uint64_t *seed, const struct program *before,
			     const struct program *after, size_t runs, unsigned classes)
{
	const struct flame_view view = { .group_by = FLAME_BY_PROGRAM, .classes = classes };
	struct profile *profiles[2][RUNS_MOST];
	const struct profile *sides[2][RUNS_MOST];
	struct flame *flame;

	for (size_t i = 0; i < runs; i++) {
		sides[0][i] = profiles[0][i] = draw(seed, before);
		sides[1][i] = profiles[1][i] = draw(seed, after);
	}
	assert_null(flame_create_diff(&(struct flame_runs){ sides[1], runs },
				      &(struct flame_runs){ sides[0], runs }, &view, &flame));
	for (size_t i = 0; i < runs; i++) {
		profile_destroy(profiles[0][i]);
		profile_destroy(profiles[1][i]);
	}
	return flame;
}

static bool has_any_colour(const struct flame *flame)
{
	const struct flame_changes *c = flame->changes;
	bool any = c->known_nodes || c->findings.count;

	for (size_t i = 0; i < c->subjects.count; i++)
		for (unsigned time = 0; time < FLAME_TIMES; time++)
			any |= c->subjects.items[i].changes[time].is_known;
	return any;
}

static const struct flame_subject *subject_named(const struct flame *flame, const char *name)
{
	const struct flame_changes *c = flame->changes;

	for (size_t i = 0; i < c->subjects.count; i++)
		if (text_equal(name_text(c->subjects.items[i].face->name), text_of(name)))
			return &c->subjects.items[i];
	return NULL;
}

static bool finds_parse(const struct flame *flame)
{
	const struct flame_changes *c = flame->changes;
	const struct flame_subject *first;

	if (!c->findings.count)
		return false;
	first = &c->subjects.items[c->findings.items[0].subject];
	return first == subject_named(flame, "parse_json") || first == subject_named(flame, "lex");
}

/* Comparisons of two draws of the same program that know of any difference. */
static unsigned count_false_alarms(uint64_t seed, unsigned rounds, size_t runs, double hertz,
				   double load_spread, unsigned classes)
{
	unsigned alarms = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct program program;
		struct flame *flame;

		make_program(&program, &seed, hertz);
		program.load_spread = load_spread;
		program.parse_share = 0.3;
		flame = compare(&seed, &program, &program, runs, classes);
		alarms += has_any_colour(flame);
		flame_destroy(flame);
	}
	return alarms;
}

/* Comparisons whose first finding is parse_json, or what it calls, with that much more time. */
static unsigned count_found(uint64_t seed, unsigned rounds, size_t runs, double hertz, double share,
			    double more, unsigned classes)
{
	unsigned found = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct program before, after;
		struct flame *flame;

		make_program(&before, &seed, hertz);
		before.burst = before.rest = 0.00025;
		before.load_spread = 0.003;
		before.parse_share = share;
		after = before;
		after.parse_more = more;
		flame = compare(&seed, &before, &after, runs, classes);
		found += finds_parse(flame);
		flame_destroy(flame);
	}
	return found;
}

/* At most 5 % of comparisons, of which there are 1000 in all; seeds make the counts what they are.
 */
TEST(profiles_of_one_program_do_not_differ)
{
	assert_true(count_false_alarms(1, 200, 1, 99, 0, FLAME_ON_CPU) <= 10);
	assert_true(count_false_alarms(2, 200, 1, 999, 0, FLAME_OFF_CPU) <= 10);
	assert_true(count_false_alarms(3, 200, 1, 99, 0, 0) <= 10);
}

TEST(runs_of_one_program_do_not_differ)
{
	assert_true(count_false_alarms(4, 100, 2, 999, 0.03, 0) <= 5);
	assert_true(count_false_alarms(5, 200, 3, 99, 0.03, FLAME_ON_CPU) <= 10);
	assert_true(count_false_alarms(6, 100, 5, 999, 0.03, 0) <= 5);
}

TEST(a_function_that_takes_5_percent_more_is_found)
{
	assert_true(count_found(8, 40, 10, 999, 0.3, 0.05, FLAME_ON_CPU) >= 38);
	assert_true(count_found(9, 20, 10, 999, 0.3, 0.05, 0) >= 18);
}

TEST(a_single_profile_finds_what_is_large)
{
	assert_true(count_found(10, 20, 1, 999, 0.3, 0.5, FLAME_ON_CPU) >= 19);
}

UNIT_TESTS(cmocka_unit_test(profiles_of_one_program_do_not_differ),
	   cmocka_unit_test(runs_of_one_program_do_not_differ),
	   cmocka_unit_test(a_function_that_takes_5_percent_more_is_found),
	   cmocka_unit_test(a_single_profile_finds_what_is_large))
