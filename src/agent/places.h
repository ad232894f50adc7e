/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of the cgroups of an interval (capture/cgroup_labels.h): read when a cgroup is first seen,
 * and again every hour, since a store keeps labels for a limited time.
 *
 *	err = agent_places_create(proc, &places);
 *	err = agent_places_take(places, profile, now, &rows, &count);      each interval
 *	agent_places_destroy(places);
 */
#ifndef AGENT_PLACES_H
#define AGENT_PLACES_H

#include "agent/interval.h"
#include "base/cleanup.h"

/* Cgroups that are looked up in one interval; others follow in the next ones. */
#define AGENT_PLACES_AT_ONCE 64

/* Cgroups that are remembered. A host with more reads some of them again. */
#define AGENT_PLACES_MAX      16384

#define AGENT_PLACES_AGAIN_NS (3600 * UINT64_C(1000000000))

struct agent_places;

/* `proc` is a descriptor of /proc, which stays the caller's. */
struct error *agent_places_create(int proc, struct agent_places **ret) MUST_CHECK;

/* Takes NULL. */
void agent_places_destroy(struct agent_places *places);
DEFINE_CLEANUP(agent_places_destroy, struct agent_places *)

/* The cgroups of the threads of a profile that are due at `now_ns`, by a clock that does not stop.
 * The rows are valid until the next call. */
struct error *agent_places_take(struct agent_places *places, const struct profile *profile,
				uint64_t now_ns, const struct agent_place **ret,
				size_t *count) MUST_CHECK;

#endif
