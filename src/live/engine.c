/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/engine.h"

#include <stdlib.h>
#include <string.h>

struct engine {
	const struct engine_methods *methods;
	void *self;
	struct engine_options options;
};

const char *const engine_names[ENGINE_COUNT] = {
#define ENGINE_NAME(id, name, prose) [ENGINE_##id] = name,
	ENGINES(ENGINE_NAME)
#undef ENGINE_NAME
};

const char *const engine_proses[ENGINE_COUNT] = {
#define ENGINE_PROSE(id, name, prose) [ENGINE_##id] = prose,
	ENGINES(ENGINE_PROSE)
#undef ENGINE_PROSE
};

static const struct engine_methods *const all_methods[ENGINE_COUNT] = {
	[ENGINE_EXACT] = &engine_exact,
	[ENGINE_COUNTERS] = &engine_counters,
	[ENGINE_TASKSTATS] = &engine_taskstats,
};

struct error *engine_open(const struct engine_options *options, struct engine **ret)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	struct error *err;

	if (!engine)
		return &error_no_memory;
	engine->methods = all_methods[options->kind];
	engine->options = *options;
	err = engine->methods->open(options, &engine->self);
	if (err) {
		free(engine);
		return err;
	}
	*ret = engine;
	return NULL;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	engine->methods->close(engine->self);
	free(engine);
}

/* --- targets --- */

static bool has_number(const uint32_t *numbers, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static bool is_in_cgroup(const struct state_thread *thread, const char *cgroup)
{
	const size_t length = strlen(cgroup);

	return thread->cgroup && strncmp(thread->cgroup->bytes, cgroup, length) == 0 &&
	       (!thread->cgroup->bytes[length] || thread->cgroup->bytes[length] == '/' ||
		cgroup[length - 1] == '/');
}

static bool is_wanted(const struct engine_options *options, const struct state_thread *thread)
{
	if ((options->pid_count || options->tid_count) &&
	    !has_number(options->pids, options->pid_count, thread->tgid) &&
	    !has_number(options->tids, options->tid_count, thread->tid))
		return false;
	return !options->cgroup || !*options->cgroup || is_in_cgroup(thread, options->cgroup);
}

struct error *engine_read(struct engine *engine, struct state_reading *reading)
{
	struct error *err = engine->methods->read(engine->self, reading);
	size_t kept = 0;

	for (size_t i = 0; !err && i < reading->threads.count; i++)
		if (is_wanted(&engine->options, &reading->threads.items[i]))
			reading->threads.items[kept++] = reading->threads.items[i];
	reading->threads.count = kept;
	return err;
}

struct error *engine_tick(struct engine *engine)
{
	return engine->methods->tick ? engine->methods->tick(engine->self) : NULL;
}
