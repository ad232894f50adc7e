/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is compared between hosts, read from ClickHouse: sums by host, program and slice of time,
 * which the server makes.
 *
 *	states		shares of busy time, for each program
 *	threads		counters by CPU second, for each program
 *	samples, stacks	functions by time on and off CPUs: those with most time of each program
 *	loads		pressure
 *
 * Rows are sums by minute and hour where there are such (store/spans.h).
 */
#ifndef FLEET_LOAD_H
#define FLEET_LOAD_H

#include "fleet/data.h"
#include "store/query.h"

/* From url->from_s to url->to_s, into slices of the same length. `ret` must be deinitialised. */
struct error *fleet_load(struct store *store, const struct store_url *url, size_t slices,
			 struct fleet_data *ret) MUST_CHECK;

/* A host as the store knows it: of its last boot within the time, or the last before. */
struct fleet_host {
	char *name, *kernel, *arch, *cpu_model, *version;
	uint64_t cpus, memory_bytes, seen_s;
	struct {
		ARRAY(char *);
	} label_names, label_values;
};

struct fleet_hosts {
	ARRAY(struct fleet_host); /* by name */
};

struct error *fleet_load_hosts(struct store *store, const struct store_url *url,
			       struct fleet_hosts *ret) MUST_CHECK;
void fleet_hosts_deinit(struct fleet_hosts *hosts);

/* The value of "kernel", "arch", "cpu_model", "agent" (its version) or of a label; NULL: none. */
const char *fleet_host_label(const struct fleet_host *host, const char *name);

/* The hosts that have cgroups with this "container", "pod", "namespace", "image" or "unit": adds a
 * row (host, value) for each. */
typedef struct error *fleet_place_taker(void *context, struct text host, struct text value);
bool fleet_is_place(const char *name);
struct error *fleet_load_places(struct store *store, const struct store_url *url, const char *name,
				fleet_place_taker *take, void *context) MUST_CHECK;

#endif
