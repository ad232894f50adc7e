/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctprof fleet: what its verbs share.
 */
#ifndef CMD_FLEET_H
#define CMD_FLEET_H

#include "fleet/findings_report.h"
#include "fleet/hosts.h"
#include "fleet/label_groups.h"

#define LIMIT_UNSET SIZE_MAX

struct fleet_arguments {
	const char *by, *since;
	bool all;
	size_t limit;
	enum table_format format;
};

/* All zero before a verb runs. */
struct fleet_run {
	const struct fleet_arguments *arguments;
	const char *url;
	uint64_t from_s, since_s, to_s; /* of regressions; `to_s` also of hosts */
	struct fleet_groups groups;
	struct fleet_hosts hosts;
	struct fleet_silent_hosts silent;
	struct fleet_partial_hosts partial; /* of outliers */
	struct fleet_data data;
	bool has_data;
	struct fleet_findings findings;
	struct fleet_wait_states waits;
};
void fleet_run_deinit(struct fleet_run *run);

struct error *fleet_show(struct fleet_run *run, enum fleet_comparison comparison) MUST_CHECK;
struct error *fleet_show_hosts(struct fleet_run *run) MUST_CHECK;

#endif
