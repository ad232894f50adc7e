/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/engine.h"

#include <stdlib.h>

#include "top/wanted.h"

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
	[ENGINE_PROCFS] = &engine_procfs,
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

struct error *engine_read(struct engine *engine, struct state_reading *reading)
{
	struct error *err = engine->methods->read(engine->self, reading);

	if (!err)
		wanted_keep(&engine->wanted, engine->options.cgroup, reading);
	return err;
}

struct error *engine_tick(struct engine *engine)
{
	return engine->methods->tick ? engine->methods->tick(engine->self) : NULL;
}
