/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctprof fleet: what its verbs share.
 */
#ifndef CMD_FLEET_H
#define CMD_FLEET_H

#include "fleet/findings_report.h"
#include "fleet/hosts.h"
#include "fleet/load.h"

struct fleet_arguments {
	const char *by, *since;
	bool all;
	size_t limit;
	enum table_format format;
};

/* A host, or what it was while it had these facts (store/tables.h). */
struct fleet_member {
	char *host;
	uint64_t facts; /* 0 where groups are of whole hosts */
	uint8_t group;  /* enum fleet_group */
};

/*
 * Two groups by a label. One of the configuration or a fact, as the kernel, may change: a host is
 * then in both groups, each time with its intervals of that time. Of labels of cgroups a host may
 * have several at once, so it is in a group as a whole, or in none.
 */
struct fleet_groups {
	char *label, *first, *second; /* NULL for `first`: all others */
	bool by_facts;
	struct {
		ARRAY(struct fleet_member);
	} members; /* by host and facts */
};

/* All zero before a verb runs. */
struct fleet_run {
	const struct fleet_arguments *arguments;
	const char *url;
	uint64_t from_s, since_s, to_s; /* of regressions */
	struct fleet_groups groups;
	struct fleet_hosts hosts;
	struct fleet_silent_hosts silent;
	struct fleet_data data;
	bool has_data;
	struct fleet_findings findings;
};
void fleet_run_deinit(struct fleet_run *run);

/* --- groups --- */

/* By "LABEL=A,B", "LABEL=B" or "LABEL" of which there are two values. */
struct error *fleet_find_groups(struct store *store, const struct store_url *url, const char *by,
				struct fleet_groups *ret) MUST_CHECK;
/* The parts of hosts that are in groups, for fleet_load(); NULL: hosts are whole. `ret` lives as
 * long as the groups. */
const struct fleet_parts *fleet_groups_parts(const struct fleet_groups *groups,
					     struct fleet_parts *ret);
/* The group of each host of `data`, to be freed. */
struct error *fleet_groups_of(const struct fleet_groups *groups, const struct fleet_data *data,
			      uint8_t **ret) MUST_CHECK;
/* Queries of as many hosts of each group, for totals are compared; `ret_most` is how many. The
 * texts are to be freed. */
struct error *fleet_group_urls(const struct fleet_groups *groups, const char *url, size_t *ret_most,
			       char **ret_first, char **ret_second) MUST_CHECK;
/* "version 1.5", to be freed; NULL: no memory. */
char *fleet_group_name(const struct fleet_groups *groups, bool second);
/* How many hosts. */
size_t fleet_group_size(const struct fleet_groups *groups, bool second);
void fleet_groups_deinit(struct fleet_groups *groups);

/* --- output --- */

struct error *fleet_show(struct fleet_run *run, enum fleet_comparison comparison) MUST_CHECK;
struct error *fleet_show_hosts(struct fleet_run *run) MUST_CHECK;

#endif
