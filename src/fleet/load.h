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

/*
 * Parts of hosts: the rows of a host are divided by what was true of it at their time (`facts` of
 * store/tables.h), so that a host has a value for each of two versions that it had. Returns the
 * part, which is a host of its own in the data, by the name of fleet_part_name(); FLEET_NO_PART:
 * the row counts for none.
 */
struct fleet_parts {
	uint8_t (*part_of)(const void *context, struct text host, uint64_t facts);
	const void *context;
};
#define FLEET_NO_PART 0

/* "web-1" and a part, to be freed; NULL: no memory. */
char *fleet_part_name(struct text host, uint8_t part);
uint8_t fleet_part_of_name(struct text name);

/* From url->from_s to url->to_s, into slices of the same length. `parts` NULL: hosts are whole.
 * `ret` must be deinitialised. */
struct error *fleet_load(struct store *store, const struct store_url *url, size_t slices,
			 const struct fleet_parts *parts, struct fleet_data *ret) MUST_CHECK;

/* A host as the store knows it: of its last boot within the time, or the last before. */
struct fleet_host {
	uint64_t facts; /* of store/tables.h */
	char *name, *kernel, *arch, *cpu_model, *version;
	uint64_t cpus, memory_bytes, seen_s;
	struct {
		ARRAY(char *);
	} label_names, label_values;
};

struct fleet_hosts {
	ARRAY(struct fleet_host); /* by name, and by facts */
};

/* Each host once, with what was last true of it. */
struct error *fleet_load_hosts(struct store *store, const struct store_url *url,
			       struct fleet_hosts *ret) MUST_CHECK;
/* Hosts with rows in the time, each as often as it had other facts. */
struct error *fleet_load_facts(struct store *store, const struct store_url *url,
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
