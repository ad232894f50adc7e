/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder top/: live thread states. engine.h is the interface of the sources of states:
 * exact_engine (sched/), counters_engine and taskstats_engine (counters of the kernel),
 * procfs_engine (files, without privileges), replay_engine (recordings). All give the same reading,
 * with bits for the states that were measured. windows.c runs an engine; screen, batch, record,
 * inspect and past are the user interface.
 */

/*
 * An engine measures state times; several engines share this interface.
 *
 *	struct engine *engine;
 *	struct error *err = engine_open(&options, &engine);
 *	err = engine_read(engine, &reading);
 *	engine_close(engine);
 *
 * Between rare readings, call engine_tick() now and then: it takes ended threads from the kernel,
 * which has limited room for them.
 */
#ifndef TOP_ENGINE_H
#define TOP_ENGINE_H

#include "base/error.h"
#include "state/reading.h"

/* ENGINE(id, name, what it does) */
#define ENGINES(ENGINE)                                                                        \
	ENGINE(EXACT, "exact", "every switch and wake-up, accounted in the kernel by BPF")     \
	ENGINE(COUNTERS, "counters", "the kernel's own counters, read by a BPF task iterator") \
	ENGINE(TASKSTATS, "taskstats",                                                         \
	       "four delays by netlink, accounted when they end; other time has no state")     \
	ENGINE(PROCFS, "procfs",                                                               \
	       "files of /proc, without privileges; waits of threads that switch are undivided")

enum engine_kind {
#define ENGINE_ENUM(id, ...) ENGINE_##id,
	ENGINES(ENGINE_ENUM)
#undef ENGINE_ENUM
		ENGINE_COUNT
};
extern const char *const engine_names[ENGINE_COUNT];
extern const char *const engine_proses[ENGINE_COUNT];

struct engine_options {
	enum engine_kind kind;
	/* Only threads of these processes, and these threads. If both are empty: all threads. */
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
	const char *cgroup; /* only threads in it or below; NULL: all */
};

struct engine;

/* Fails if the kernel or the privileges do not suffice; the error names what is missing. */
struct error *engine_open(const struct engine_options *options, struct engine **ret) MUST_CHECK;

/* Read all threads. `reading` is {0}, or an earlier one to reuse; its names live as long as the
 * engine. */
struct error *engine_read(struct engine *engine, struct state_reading *reading) MUST_CHECK;
struct error *engine_tick(struct engine *engine) MUST_CHECK;

/* Takes NULL. */
void engine_close(struct engine *engine);
DEFINE_CLEANUP(engine_close, struct engine *)

/* The methods of an engine; each engine has its own file. */
struct engine_methods {
	struct error *(*open)(const struct engine_options *options, void **ret);
	struct error *(*read)(void *self, struct state_reading *reading);
	struct error *(*tick)(void *self); /* may be NULL */
	void (*close)(void *self);
	unsigned measured; /* a bit for each state that it measures */
};
extern const struct engine_methods engine_exact, engine_counters, engine_taskstats, engine_procfs;

#endif
