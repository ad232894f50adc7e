/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctprof fleet: what its verbs share.
 */
#ifndef CMD_FLEET_H
#define CMD_FLEET_H

#include "fleet/findings_report.h"
#include "fleet/load.h"

struct fleet_arguments {
	const char *by, *since;
	bool all;
	size_t limit;
	enum table_format format;
};

/* Two groups of hosts by a label, which a host may have several values of. */
struct fleet_groups {
	char *label, *first, *second; /* NULL for `first`: all others */
	struct {
		ARRAY(char *);
	} hosts; /* with `in`, by name of the store */
	struct {
		ARRAY(uint8_t);
	} in; /* enum fleet_group */
};

/* All zero before a verb runs. */
struct fleet_run {
	const struct fleet_arguments *arguments;
	const char *url;
	uint64_t from_s, since_s, to_s; /* of regressions */
	struct fleet_groups groups;
	struct fleet_hosts hosts;
	struct fleet_data data;
	bool has_data;
	struct fleet_findings findings;
};
void fleet_run_deinit(struct fleet_run *run);

/* --- groups --- */

/* By "LABEL=A,B", "LABEL=B" or "LABEL" of which there are two values. */
struct error *fleet_find_groups(struct store *store, const struct store_url *url, const char *by,
				struct fleet_groups *ret) MUST_CHECK;
/* The group of each host of `data`, to be freed. */
struct error *fleet_groups_of(const struct fleet_groups *groups, const struct fleet_data *data,
			      uint8_t **ret) MUST_CHECK;
/* Queries of as many hosts of each group, for totals are compared; `ret_most` is how many. The
 * texts are to be freed. */
struct error *fleet_group_urls(const struct fleet_groups *groups, const char *url, size_t *ret_most,
			       char **ret_first, char **ret_second) MUST_CHECK;
/* "version 1.5", to be freed; NULL: no memory. */
char *fleet_group_name(const struct fleet_groups *groups, bool second);
size_t fleet_group_size(const struct fleet_groups *groups, bool second);
void fleet_groups_deinit(struct fleet_groups *groups);

/* --- output --- */

struct error *fleet_show(struct fleet_run *run, enum fleet_comparison comparison) MUST_CHECK;
struct error *fleet_show_hosts(struct fleet_run *run) MUST_CHECK;

#endif
