/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the waits of findings are for. A function that waits more than elsewhere (FLEET_OFF) may
 * wait for a lock, for storage or for a CPU: of each such finding this is the state that makes most
 * of the difference. It is read from ClickHouse after the comparison, only for the functions that
 * have findings, and is not tested for significance.
 */
#ifndef FLEET_WAIT_STATES_H
#define FLEET_WAIT_STATES_H

#include "fleet/finding.h"
#include "fleet/load.h"
#include "state/state.h"

/* The two sides that findings compare: which hosts or slices belong to each. */
struct fleet_sides {
	enum fleet_comparison comparison;
	const uint8_t
		*groups; /* of FLEET_OF_GROUPS: enum fleet_group, of each host that was compared */
	size_t cut;      /* of FLEET_OF_TIMES: the first slice of the second side */
};

struct fleet_wait_state {
	enum state state;    /* STATE_COUNT: not known, or no wait */
	double value, other; /* its part of those of the finding */
};

struct fleet_wait_states {
	ARRAY(struct fleet_wait_state); /* of each finding, by number; none: not known of any */
};

/* With the time, slices and parts that `data` was loaded with. `ret` must be deinitialised. */
struct error *fleet_load_wait_states(struct store *store, const struct store_url *url,
				     struct fleet_slices slices, const struct fleet_parts *parts,
				     const struct fleet_sides *sides, const struct fleet_data *data,
				     const struct fleet_findings *findings,
				     struct fleet_wait_states *ret) MUST_CHECK;
struct fleet_wait_state fleet_wait_state_of(const struct fleet_wait_states *states, size_t finding);
void fleet_wait_states_deinit(struct fleet_wait_states *states);

#endif
