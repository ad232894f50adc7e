/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/state_scene.h"

#include <stdio.h>

void state_scene_init(struct state_scene *scene)
{
	*scene = (struct state_scene){
		.before = { .at_ns = SCENE_BEGUN_NS },
		.now = { .at_ns = SCENE_ENDED_NS, .measured = (1u << STATE_COUNT) - 1 },
	};
	arena_init(&scene->arena, SIZE_MAX);
	names_init(&scene->names, &scene->arena);
	state_list_init(&scene->list);
}

void state_scene_deinit(struct state_scene *scene)
{
	state_list_deinit(&scene->list);
	state_window_deinit(&scene->window);
	state_reading_deinit(&scene->before);
	state_reading_deinit(&scene->now);
	names_deinit(&scene->names);
	arena_deinit(&scene->arena);
}

const struct name *scene_name(struct state_scene *scene, const char *bytes)
{
	const struct name *name = names_intern(&scene->names, bytes, strlen(bytes));

	assert_non_null(name);
	return name;
}

struct state_thread *scene_thread(struct state_scene *scene, struct state_reading *reading,
				  uint32_t tgid, uint32_t tid, const char *name,
				  const char *process)
{
	struct state_thread thread = {
		.tid = tid,
		.tgid = tgid,
		.id = 1000 * (uint64_t)tid,
		.name = scene_name(scene, name),
		.process = scene_name(scene, process),
		.begun_ns = SCENE_BEGUN_NS / 2,
		.seen_ns = reading->at_ns,
		.syscall = -1,
	};

	assert_true(array_push(&reading->threads, thread));
	return &reading->threads.items[reading->threads.count - 1];
}

struct state_thread *scene_new(struct state_scene *scene, uint32_t tgid, uint32_t tid,
			       const char *name, const char *process)
{
	struct state_thread *thread = scene_thread(scene, &scene->now, tgid, tid, name, process);

	thread->begun_ns = scene->before.at_ns;
	return thread;
}

void scene_window(struct state_scene *scene)
{
	expect_ok(state_window_make(&scene->window, &scene->before, &scene->now));
}

void scene_list(struct state_scene *scene, const struct state_view *view, const char *filter)
{
	struct state_view filtered = *view;
	struct state_filter parsed;

	if (filter) {
		expect_ok(state_filter_parse(text_of(filter), &parsed));
		filtered.filter = &parsed;
	}
	expect_ok(state_list_make(&scene->list, &scene->window, &filtered));
}

/* --- letters --- */

static const char *user_name(void *context, uint32_t uid)
{
	static const char *const names[] = { "root", "www-data" };

	assert_string_equal(context, "users");
	return uid < array_length(names) ? names[uid] : NULL;
}

void scene_of_letters(struct state_scene *s)
{
	static const struct {
		const char *name, *process, *cgroup;
		uint32_t tgid, tid, uid;
		enum state did, does;
		bool is_kernel, has_ended;
	} rows[] = {
		{ "a", "nginx", "/web.slice/NGINX.service", 10, 10, 1, STATE_EXEC, STATE_EXEC,
		  false, false },
		{ "b-Worker-1", "nginx", "/web.slice/NGINX.service", 10, 11, 1, STATE_LOCK_FUTEX,
		  STATE_SLEEP_NETWORK, false, false },
		{ "c-worker-2", "java", "/db.slice", 20, 21, 1000, STATE_IDLE, STATE_LOCK_KERNEL,
		  false, false },
		{ "d/0:1", "d/0:1", NULL, 30, 30, 0, STATE_RUNNABLE, STATE_IDLE, true, false },
		{ "e*[x]", "java", "/", 20, 22, 1000, STATE_SLEEP, STATE_LOCK, false, true },
	};

	state_scene_init(s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_thread *t =
			scene_new(s, rows[i].tgid, rows[i].tid, rows[i].name, rows[i].process);

		t->cgroup = rows[i].cgroup ? scene_name(s, rows[i].cgroup) : NULL;
		t->uid = rows[i].uid;
		t->times.ns[rows[i].did] = 1000000;
		t->state = rows[i].does;
		t->is_kernel = rows[i].is_kernel;
		t->has_ended = rows[i].has_ended;
	}
	scene_window(s);
}

static char users[] = "users";

const struct state_view scene_by_tid = {
	.sort = { .key = STATE_SORT_TID },
	.user_name = user_name,
	.context = users,
};

const char *scene_letters(const struct state_list *list)
{
	static char text[64];
	size_t count = list->lines.count;

	assert_true(count < sizeof(text));
	for (size_t i = 0; i < count; i++)
		text[i] = list->lines.items[i].label->bytes[0];
	text[count] = '\0';
	return text;
}

/* --- the world --- */

static unsigned pick(struct state_world *world, unsigned below)
{
	return (unsigned)(next_random(&world->seed) >> 33) % below;
}

/* Some of the names hold numbers, and processes share theirs. */
static void be_born(struct state_scene *scene, struct state_world *world, uint32_t number)
{
	static const char *const processes[] = { "nginx", "java", "postgres", "a" };
	static const char *const cgroups[] = { "/", "/system.slice/a.service", "/k/pod" };
	struct state_thread *t = &world->threads[number].thread;
	uint32_t tgid = number / 5 * 5;
	char name[16];

	snprintf(name, sizeof(name), pick(world, 2) ? "worker-%u" : "GC#%u", pick(world, 9));
	*t = (struct state_thread){
		.tid = number + 1,
		.tgid = tgid + 1,
		.id = ++world->next_id,
		.uid = pick(world, 3),
		.is_kernel = tgid % 4 == 0,
		.process = scene_name(scene, processes[tgid / 5 % array_length(processes)]),
		.begun_ns = world->now_ns,
		.seen_ns = world->now_ns,
		.since_ns = world->now_ns,
		.state = pick(world, STATE_COUNT),
		.syscall = -1,
	};
	t->name = pick(world, 4) ? scene_name(scene, name) : t->process;
	t->cgroup = pick(world, 4) ? scene_name(scene, cgroups[pick(world, array_length(cgroups))])
				   : NULL;
	world->threads[number].lives = true;
}

/* Until then it does what it does, or something else from some moment on. */
static void live(struct state_world *world, struct state_thread *t, uint64_t until_ns)
{
	while (pick(world, 3)) {
		uint64_t ns = pick(world, (unsigned)(until_ns - t->seen_ns) + 1);

		t->times.ns[t->state] += ns;
		t->seen_ns += ns;
		t->since_ns = t->seen_ns;
		t->state = pick(world, STATE_COUNT);
		t->switches++;
	}
	t->times.ns[t->state] += until_ns - t->seen_ns;
	t->seen_ns = until_ns;
}

void world_pass(struct state_scene *scene, struct state_world *world, uint64_t ns)
{
	world->now_ns += ns;
	for (uint32_t i = 0; i < WORLD_THREADS; i++) {
		struct world_thread *t = &world->threads[i];

		if (t->lives)
			live(world, &t->thread, world->now_ns);
		if (t->lives && !pick(world, 10)) {
			t->lives = false;
			t->is_over = t->thread.has_ended = true;
		} else if (!t->lives && !t->is_over && pick(world, 2)) {
			be_born(scene, world, i);
		}
	}
}

void world_read(struct state_scene *scene, struct state_world *world)
{
	struct state_reading older = scene->before;

	scene->before = scene->now;
	scene->now = older;
	scene->now.at_ns = world->now_ns;
	scene->now.threads.count = 0;
	for (uint32_t i = 0; i < WORLD_THREADS; i++) {
		struct world_thread *t = &world->threads[i];

		if (t->lives || t->is_over)
			assert_true(array_push(&scene->now.threads, t->thread));
		t->is_over = false;
	}
}

uint64_t times_sum(const struct state_times *times)
{
	uint64_t sum = 0;

	for (enum state state = 0; state < STATE_COUNT; state++)
		sum += times->ns[state];
	return sum;
}
