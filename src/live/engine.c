/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/engine.h"

#include <stdlib.h>
#include <string.h>

#include "live/wanted.h"

struct engine {
	const struct engine_methods *methods;
	void *self;
	struct engine_options options;
	struct wanted wanted;
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
	err = wanted_init(&engine->wanted, options) ? engine->methods->open(options, &engine->self)
						    : &error_no_memory;
	if (err) {
		wanted_deinit(&engine->wanted);
		free(engine);
		return error_prefix(err, "the engine '%s'", engine_names[options->kind]);
	}
	*ret = engine;
	return NULL;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	engine->methods->close(engine->self);
	wanted_deinit(&engine->wanted);
	free(engine);
}

/* --- targets --- */

static bool is_in_cgroup(const struct state_thread *thread, const char *cgroup)
{
	const size_t length = strlen(cgroup);

	return thread->cgroup && strncmp(thread->cgroup->bytes, cgroup, length) == 0 &&
	       (!thread->cgroup->bytes[length] || thread->cgroup->bytes[length] == '/' ||
		cgroup[length - 1] == '/');
}

static bool is_wanted(const struct engine *engine, const struct state_thread *thread)
{
	const char *cgroup = engine->options.cgroup;

	return (wanted_is_all(&engine->wanted) ||
		wanted_has(&engine->wanted, thread->tid, thread->tgid)) &&
	       (!cgroup || is_in_cgroup(thread, cgroup));
}

struct error *engine_read(struct engine *engine, struct state_reading *reading)
{
	struct error *err = engine->methods->read(engine->self, reading);
	size_t kept = 0;

	for (size_t i = 0; !err && i < reading->threads.count; i++)
		if (is_wanted(engine, &reading->threads.items[i]))
			reading->threads.items[kept++] = reading->threads.items[i];
	reading->threads.count = kept;
	return err;
}

struct error *engine_tick(struct engine *engine)
{
	return engine->methods->tick ? engine->methods->tick(engine->self) : NULL;
}
