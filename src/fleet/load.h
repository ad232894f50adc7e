/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is compared between hosts, read from ClickHouse: sums by host, program and slice of time,
 * which the server makes.
 *
 *	states		shares of busy time, for each program
 *	threads		counters by CPU second, for each program
 *	samples, stacks	functions by time on and off CPUs: those with most time of each program
 *	loads		pressure, unless the query selects programs
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

/* Slices of the same length. A single one has all minutes that the time touches. */
struct fleet_slices {
	size_t count;
	bool by_rows; /* of rows, not of sums by minute: a minute may be in two slices */
};

/* From url->from_s to url->to_s. `parts` NULL: hosts are whole. `ret` must be deinitialised. */
struct error *fleet_load(struct store *store, const struct store_url *url,
			 struct fleet_slices slices, const struct fleet_parts *parts,
			 struct fleet_data *ret) MUST_CHECK;

#endif
