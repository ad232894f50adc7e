/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that do things, and readings of them.
 *
 *	struct state_scene scene;
 *	state_scene_init(&scene);
 *	struct state_thread *t = scene_thread(&scene, &scene.now, 7, 7, "main", "nginx");
 *	t->times.ns[STATE_EXEC] = 10;
 *	scene_window(&scene);
 *	...
 *	state_scene_deinit(&scene);
 */
#ifndef UNIT_STATE_SCENE_H
#define UNIT_STATE_SCENE_H

#include "state/view.h"
#include "unit/unit.h"

/* The window of a scene, unless it says otherwise. */
#define SCENE_BEGUN_NS 1000000
#define SCENE_ENDED_NS 2000000

struct state_scene {
	struct arena arena;
	struct names names;
	struct state_reading before, now;
	struct state_window window;
	struct state_list list;
};

void state_scene_init(struct state_scene *scene);
void state_scene_deinit(struct state_scene *scene);

const struct name *scene_name(struct state_scene *scene, const char *bytes);

/* A thread that began before the window, its id 1000 * tid; good until the next one is made. */
struct state_thread *scene_thread(struct state_scene *scene, struct state_reading *reading,
				  uint32_t tgid, uint32_t tid, const char *name,
				  const char *process);

/* One in `now` that began with the window, and has all of it. */
struct state_thread *scene_new(struct state_scene *scene, uint32_t tgid, uint32_t tid,
			       const char *name, const char *process);

/* The time in all states. */
uint64_t times_sum(const struct state_times *times);

/* The window between the two readings. */
void scene_window(struct state_scene *scene);

/* Its lines; `filter` may be NULL. */
void scene_list(struct state_scene *scene, const struct state_view *view, const char *filter);

/* --- five threads, a to e: who is in a list is seen at once --- */

/* A scene of its own, with its window. */
void scene_of_letters(struct state_scene *scene);

/* The first letters of its lines, until the next call. */
const char *scene_letters(const struct state_list *list);

/* In this order: abced. Users have names: root, www-data. */
extern const struct state_view scene_by_tid;

/* --- a world of threads, of which everything is known: all of it by chance, but reproducible ---
 */

#define WORLD_THREADS 200

struct world_thread {
	bool lives, is_over; /* it has ended since the last reading */
	struct state_thread thread;
};

struct state_world {
	uint64_t seed, next_id, now_ns;
	struct world_thread threads[WORLD_THREADS];
};

/* Let time pass: threads begin, do one thing after the other, and end; numbers are used again. */
void world_pass(struct state_scene *scene, struct state_world *world, uint64_t ns);

/* `before` is what `now` was, and `now` what the world is. */
void world_read(struct state_scene *scene, struct state_world *world);

#endif
