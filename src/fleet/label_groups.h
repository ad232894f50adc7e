/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which hosts are in which of two groups, by a label: `--by version=1.4,1.5`.
 *
 *	struct fleet_groups groups = { 0 };
 *	err = fleet_groups_parse("version=1.4,1.5", &groups);
 *	err = fleet_find_groups(store, &url, &groups);
 *	err = fleet_load(store, &url, 1, fleet_groups_parts(&groups, &parts), &data);
 *	err = fleet_groups_of(&groups, &data, &of);
 *	err = fleet_compare_groups(&data, of, &findings);
 *	fleet_groups_deinit(&groups);
 */
#ifndef FLEET_LABEL_GROUPS_H
#define FLEET_LABEL_GROUPS_H

#include "fleet/groups.h"
#include "fleet/load.h"

/* A host, or what it was while it had these facts (store/tables.h). */
struct fleet_member {
	char *host;
	char *value;    /* of the label */
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

/* "LABEL=A,B", "LABEL=B", or "LABEL" if it has two values. Bytes may be written as %XX, and a comma
 * in a value must be. `ret` is all zero before, and must be deinitialised, also after an error. */
struct error *fleet_groups_parse(const char *by, struct fleet_groups *ret) MUST_CHECK;
/* Find the hosts of groups that were parsed. */
struct error *fleet_find_groups(struct store *store, const struct store_url *url,
				struct fleet_groups *groups) MUST_CHECK;
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

#endif
