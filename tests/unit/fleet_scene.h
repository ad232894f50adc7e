/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts that were never there: states and functions of programs on many hosts, drawn at random from
 * a seed, as hosts of one fleet have them. They differ from each other for good, in load and in
 * how they spend their time; load changes over the day; slices differ by chance; and all of this is
 * skewed.
 */
#ifndef UNIT_FLEET_SCENE_H
#define UNIT_FLEET_SCENE_H

#include "fleet/data.h"

/* How a quantity differs between hosts. */
enum fleet_scene_tails {
	FLEET_SCENE_NORMAL, /* of logarithms: values are skewed to the right */
	FLEET_SCENE_HEAVY,  /* the logistic distribution, of logarithms */
	FLEET_SCENE_GAMMA,  /* of shape 4: skewed, and its tail is longer than the other */
};

struct fleet_scene {
	uint64_t random;
	size_t hosts, programs, functions; /* functions of each program */
	size_t slices;
	size_t roles; /* a host has the programs of one of so many; 0: all */
	enum fleet_scene_tails tails;
	double spread;      /* between hosts, of logarithms of times in states: 0.1 is 10 % */
	double mix_spread;  /* the same of functions */
	double load_spread; /* the same of load */
	double noise;       /* between slices of a host */
	double drift;       /* by how much load changes over the slices */
};

/* As a fleet is. */
struct fleet_scene fleet_scene_usual(uint64_t seed);

/* Draw all. Programs are "p0", ...; states "lock", "runnable", "sleep_disk", "exec"; functions
 * "f0", ...; the metric "majflt". */
void fleet_scene_draw(struct fleet_scene *scene, struct fleet_data *ret);

/* Add to a measure and its base. */
void fleet_scene_add(struct fleet_data *data, uint32_t measure, uint32_t host, size_t slice,
		     double amount, double base);

/* Of one host: that much more time in a state, as a share of its time; a function takes so many
 * times as long as it did. In the slices from `from` on. */
void fleet_scene_add_time(struct fleet_data *data, const char *program, const char *state,
			  size_t host, double share, size_t from);
void fleet_scene_slow_down(struct fleet_data *data, const char *program, const char *function,
			   size_t host, double times, size_t from);

double fleet_scene_uniform(uint64_t *random); /* in (0, 1) */
double fleet_scene_normal(uint64_t *random);

#endif
