/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/scene.h"

#include <stdlib.h>

struct scene *scene;

int scene_set(void **state)
{
	(void)state;
	scene = calloc(1, sizeof(*scene));
	plan_init(&scene->plan);
	scene->taker = (struct taker){ .plan = &scene->plan, .snapshot = build_snapshot() };
	scene->thread = snapshot_add_thread(scene->taker.snapshot);
	scene->thread->tid = scene->thread->tgid = 10;
	return 0;
}

int scene_clear(void **state)
{
	(void)state;
	array_deinit(&scene->taker.cpus);
	snapshot_destroy(scene->taker.snapshot);
	free(scene);
	return 0;
}

bool take(enum metric_source_id source, const char *file)
{
	struct text bytes = guarded(file, strlen(file));
	bool understood = take_thread_file(&scene->taker, source, bytes, scene->thread);

	unguard(bytes);
	return understood;
}

void expect_number(enum metric_id id, int64_t value)
{
	if (!is_measured(scene->thread, id))
		fail_msg("%s was not measured", metrics[id].name);
	if ((int64_t)metric_load_u64(&scene->thread->record.values, &metrics[id]) != value)
		fail_msg("%s is %lld", metrics[id].name,
			 (long long)metric_load_u64(&scene->thread->record.values, &metrics[id]));
}

void expect_unmeasured(enum metric_id id)
{
	if (is_measured(scene->thread, id))
		fail_msg("%s counts as measured", metrics[id].name);
}

size_t measured_count(void)
{
	size_t count = 0;

	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		count += is_measured(scene->thread, id);
	return count;
}
