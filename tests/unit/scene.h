/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread, and what takes files into it: for the tests of capture/thread_files.h.
 *
 *	CASE(test) sets the scene before a test and clears it after.
 */
#ifndef UNIT_SCENE_H
#define UNIT_SCENE_H

#include "capture/thread_files.h"
#include "unit/build.h"

struct scene {
	struct plan plan;
	struct taker taker;
	struct ctprof_thread *thread; /* 10, the leader of its process */
};

extern struct scene *scene;

int scene_set(void **state);
int scene_clear(void **state);

#define CASE(test) cmocka_unit_test_setup_teardown(test, scene_set, scene_clear)

/* Take a file in memory of its own. */
bool take(enum metric_source_id source, const char *file);

void expect_number(enum metric_id id, int64_t value);
void expect_unmeasured(enum metric_id id);
size_t measured_count(void);

#endif
