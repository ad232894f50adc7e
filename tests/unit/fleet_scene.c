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

void fleet_scene_add(struct fleet_data *data, uint32_t measure, uint32_t host, size_t slice,
		     double amount, double base)
{
	const struct fleet_measure of = data->measures.items[measure];
	const uint32_t number = fleet_data_base(data, of.kind, name_text(of.program), 0);

	assert_true(fleet_data_use_base(data, measure, number));
	assert_true(fleet_data_add(data, measure, host, slice, amount));
	assert_true(fleet_data_add_base(data, number, host, slice, base));
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

static const struct {
	const char *name;
	double share; /* at the usual load */
} states[] = { { "lock", 0.03 }, { "runnable", 0.01 }, { "sleep_disk", 0.004 } };

/* The measures and bases of a program. */
struct program {
	uint32_t exec, states[array_length(states)], functions[64], faults;
	uint32_t busy, cpu, run;
};

static uint32_t measure_of(struct fleet_data *data, enum fleet_kind kind, const char *program,
			   const char *name, uint32_t base)
{
	const uint32_t measure = fleet_data_measure(data, kind, text_of(program), text_of(name));

	assert_true(fleet_data_use_base(data, measure, base));
	return measure;
}

static void name_program(const struct fleet_scene *scene, struct fleet_data *data, const char *name,
			 struct program *ret)
{
	ret->busy = fleet_data_base(data, FLEET_STATE, text_of(name), 0);
	ret->cpu = fleet_data_base(data, FLEET_CPU_OWN, text_of(name), 0);
	ret->run = fleet_data_base(data, FLEET_METRIC, text_of(name), 0);
	ret->exec = measure_of(data, FLEET_STATE, name, "exec", ret->busy);
	for (size_t i = 0; i < array_length(states); i++)
		ret->states[i] = measure_of(data, FLEET_STATE, name, states[i].name, ret->busy);
	for (size_t i = 0; i < scene->functions; i++) {
		char function[32];

		snprintf(function, sizeof(function), "f%zu", i);
		ret->functions[i] = measure_of(data, FLEET_CPU_OWN, name, function, ret->cpu);
	}
	ret->faults = measure_of(data, FLEET_METRIC, name, "majflt", ret->run);
}

static void draw_slice(struct fleet_scene *scene, struct fleet_data *data,
		       const struct program *program, const struct factors *factors, uint32_t host,
		       size_t slice)
{
	const double of_day = (double)slice / (double)scene->slices;
	const double load = factors->load * (1 + scene->drift * of_day) * noise(scene);
	const double cpu = fmin(CPU_SHARE * load, 0.7) * SLICE_S * THREADS;
	double busy = cpu, waits[array_length(states)], in_functions = 0, parts[64];
	bool is_done = true;

	for (size_t i = 0; i < array_length(states); i++) {
		waits[i] = states[i].share * load * factors->states[i] * noise(scene) * SLICE_S *
			   THREADS;
		busy += waits[i];
		is_done &= fleet_data_add(data, program->states[i], host, slice, waits[i]);
	}
	is_done &= fleet_data_add(data, program->exec, host, slice, cpu) &&
		   fleet_data_add_base(data, program->busy, host, slice, busy);
	for (size_t i = 0; i < scene->functions; i++) {
		parts[i] = factors->functions[i] * noise(scene) / (double)(i + 1);
		in_functions += parts[i];
	}
	for (size_t i = 0; i < scene->functions; i++)
		is_done &= fleet_data_add(data, program->functions[i], host, slice,
					  parts[i] / in_functions * cpu);
	is_done &= fleet_data_add_base(data, program->cpu, host, slice, cpu) &&
		   fleet_data_add(data, program->faults, host, slice,
				  3 * factors->states[2] * noise(scene) * cpu) &&
		   fleet_data_add_base(data, program->run, host, slice, cpu);
	assert_true(is_done);
}

void fleet_scene_draw(struct fleet_scene *scene, struct fleet_data *ret)
{
	struct program *programs = calloc(scene->programs + 1, sizeof(*programs));
	char name[32];

	assert_non_null(programs);
	assert_true(fleet_data_init(ret, scene->slices));
	for (size_t i = 0; i < scene->programs; i++) {
		snprintf(name, sizeof(name), "p%zu", i);
		name_program(scene, ret, name, &programs[i]);
	}
	for (size_t host = 0; host < scene->hosts; host++) {
		snprintf(name, sizeof(name), "web-%zu", host);
		assert_int_equal(fleet_data_host(ret, text_of(name)), host);
		for (size_t program = 0; program < scene->programs; program++) {
			struct factors factors;

			if (scene->roles && host % scene->roles != program % scene->roles)
				continue;
			draw_factors(scene, &factors);
			for (size_t slice = 0; slice < scene->slices; slice++)
				draw_slice(scene, ret, &programs[program], &factors, (uint32_t)host,
					   slice);
		}
	}
	free(programs);
}

void fleet_scene_add_time(struct fleet_data *data, const char *program, const char *state,
			  size_t host, double share, size_t from)
{
	const uint32_t measure =
		fleet_data_measure(data, FLEET_STATE, text_of(program), text_of(state));
	const double more = share * SLICE_S * THREADS;

	for (size_t slice = from; slice < data->slices; slice++)
		fleet_scene_add(data, measure, (uint32_t)host, slice, more, more);
}

void fleet_scene_slow_down(struct fleet_data *data, const char *program, const char *function,
			   size_t host, double times, size_t from)
{
	const uint32_t slow =
		fleet_data_measure(data, FLEET_CPU_OWN, text_of(program), text_of(function));

	for (size_t slice = from; slice < data->slices; slice++) {
		const double more =
			(times - 1) * fleet_data_sum(data, slow, host, slice, slice + 1).amount;

		fleet_scene_add(data, slow, (uint32_t)host, slice, more, more);
	}
}
