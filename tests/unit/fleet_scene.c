/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/fleet_scene.h"

#include <stdio.h>

#include "unit/unit.h"

/* Seconds of a slice, of which a program has so many threads; of the CPU at the usual load. */
#define SLICE_S   360.0
#define THREADS   16.0
#define CPU_SHARE 0.08

double fleet_scene_uniform(uint64_t *random)
{
	return ((double)(next_random(random) >> 11) + 0.5) / 9007199254740992.0;
}

double fleet_scene_normal(uint64_t *random)
{
	const double u = fleet_scene_uniform(random), v = fleet_scene_uniform(random);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Of variance 1 and mean 0. */
static double deviate(struct fleet_scene *scene)
{
	double sum = 0, u;

	if (scene->tails == FLEET_SCENE_NORMAL)
		return fleet_scene_normal(&scene->random);
	if (scene->tails == FLEET_SCENE_GAMMA) {
		for (int i = 0; i < 4; i++)
			sum -= log(fleet_scene_uniform(&scene->random));
		return (sum - 4) / 2;
	}
	u = fleet_scene_uniform(&scene->random);
	return log(u / (1 - u)) * sqrt(3) / M_PI;
}

struct fleet_scene fleet_scene_usual(uint64_t seed)
{
	return (struct fleet_scene){
		.random = seed,
		.hosts = 100,
		.programs = 5,
		.functions = 20,
		.slices = 4,
		.spread = 0.15,
		.mix_spread = 0.05,
		.load_spread = 0.3,
		.noise = 0.1,
		.drift = 0.5,
	};
}

static void add(struct fleet_data *data, enum fleet_kind kind, const char *program,
		const char *name, size_t host, size_t slice, double amount, double base)
{
	const uint32_t measure = fleet_data_measure(data, kind, text_of(program), text_of(name));

	assert_true(fleet_data_add(data, measure, (uint32_t)host, slice, amount, base));
}

static double noise(struct fleet_scene *scene)
{
	return exp(scene->noise * fleet_scene_normal(&scene->random));
}

/* A host's own factor of each quantity; that of load comes first. */
struct factors {
	double load, states[3], functions[64];
};

static void draw_factors(struct fleet_scene *scene, struct factors *ret)
{
	ret->load = exp(scene->load_spread * deviate(scene));
	for (size_t i = 0; i < array_length(ret->states); i++)
		ret->states[i] = exp(scene->spread * deviate(scene));
	for (size_t i = 0; i < scene->functions; i++)
		ret->functions[i] = exp(scene->mix_spread * deviate(scene));
}

static void draw_slice(struct fleet_scene *scene, struct fleet_data *data, const char *program,
		       const struct factors *factors, size_t host, size_t slice)
{
	static const struct {
		const char *name;
		double share; /* at the usual load */
	} states[] = { { "lock", 0.03 }, { "runnable", 0.01 }, { "sleep_disk", 0.004 } };
	const double of_day = (double)slice / (double)scene->slices;
	const double load = factors->load * (1 + scene->drift * of_day) * noise(scene);
	const double cpu = fmin(CPU_SHARE * load, 0.7) * SLICE_S * THREADS;
	double busy = cpu, waits[array_length(states)], in_functions = 0, parts[64];

	for (size_t i = 0; i < array_length(states); i++) {
		waits[i] = states[i].share * load * factors->states[i] * noise(scene) * SLICE_S *
			   THREADS;
		busy += waits[i];
	}
	add(data, FLEET_STATE, program, "exec", host, slice, cpu, busy);
	for (size_t i = 0; i < array_length(states); i++)
		add(data, FLEET_STATE, program, states[i].name, host, slice, waits[i], busy);
	for (size_t i = 0; i < scene->functions; i++) {
		parts[i] = factors->functions[i] * noise(scene) / (double)(i + 1);
		in_functions += parts[i];
	}
	for (size_t i = 0; i < scene->functions; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%zu", i);
		add(data, FLEET_CPU_OWN, program, name, host, slice, parts[i] / in_functions * cpu,
		    cpu);
	}
	add(data, FLEET_METRIC, program, "majflt", host, slice,
	    3 * factors->states[2] * noise(scene) * cpu, cpu);
}

void fleet_scene_draw(struct fleet_scene *scene, struct fleet_data *ret)
{
	assert_true(fleet_data_init(ret, scene->slices));
	for (size_t host = 0; host < scene->hosts; host++) {
		char name[32];

		snprintf(name, sizeof(name), "web-%zu", host);
		assert_int_equal(fleet_data_host(ret, text_of(name)), host);
		for (size_t program = 0; program < scene->programs; program++) {
			struct factors factors;

			snprintf(name, sizeof(name), "p%zu", program);
			draw_factors(scene, &factors);
			for (size_t slice = 0; slice < scene->slices; slice++)
				draw_slice(scene, ret, name, &factors, host, slice);
		}
	}
}

/* More base for all measures of a kind. */
static void add_base(struct fleet_data *data, enum fleet_kind kind, const char *program,
		     size_t host, size_t slice, double more)
{
	for (uint32_t i = 0; i < data->measures.count; i++)
		if (data->measures.items[i].kind == kind &&
		    text_equal(name_text(data->measures.items[i].program), text_of(program)))
			assert_true(fleet_data_add(data, i, (uint32_t)host, slice, 0, more));
}

void fleet_scene_add_time(struct fleet_data *data, const char *program, const char *state,
			  size_t host, double share, size_t from)
{
	const double more = share * SLICE_S * THREADS;

	for (size_t slice = from; slice < data->slices; slice++) {
		add(data, FLEET_STATE, program, state, host, slice, more, 0);
		add_base(data, FLEET_STATE, program, host, slice, more);
	}
}

void fleet_scene_slow_down(struct fleet_data *data, const char *program, const char *function,
			   size_t host, double times, size_t from)
{
	for (size_t slice = from; slice < data->slices; slice++) {
		const uint32_t slow = fleet_data_measure(data, FLEET_CPU_OWN, text_of(program),
							 text_of(function));
		const double more =
			(times - 1) * fleet_data_sum(data, slow, host, slice, slice + 1).amount;

		assert_true(fleet_data_add(data, slow, (uint32_t)host, slice, more, 0));
		add_base(data, FLEET_CPU_OWN, program, host, slice, more);
	}
}
