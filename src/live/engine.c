/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/engine.h"

#include <stdlib.h>

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

static const struct engine_methods *const engines[ENGINE_COUNT] = {
	[ENGINE_EXACT] = &engine_exact,
	[ENGINE_COUNTERS] = &engine_counters,
	[ENGINE_TASKSTATS] = &engine_taskstats,
};

struct engine {
	const struct engine_methods *methods;
	void *self;
};

struct error *engine_open(const struct engine_options *options, struct engine **ret)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	struct error *err;

	if (!engine)
		return &error_no_memory;
	engine->methods = engines[options->kind];
	err = engine->methods->open(options, &engine->self);
	if (err) {
		free(engine);
		return error_prefix(err, "the engine '%s'", engine_names[options->kind]);
	}
	*ret = engine;
	return NULL;
}

struct error *engine_read(struct engine *engine, struct state_reading *reading)
{
	return engine->methods->read(engine->self, reading);
}

struct error *engine_tick(struct engine *engine)
{
	return engine->methods->tick ? engine->methods->tick(engine->self) : NULL;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	engine->methods->close(engine->self);
	free(engine);
}
