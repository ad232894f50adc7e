/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two groups of hosts, as those of two versions of a program; and the same hosts before and after a
 * point in time.
 *
 * A host is one value: its threads and intervals depend on each other, so more of them make nothing
 * surer. Groups are compared by Welch's test, the same hosts by the paired t test, both of
 * differences beyond SCALE_LEAST on the scale of fleet/scale.h; all measures together have a rate
 * of false discoveries of at most FLEET_Q_MOST.
 */
#ifndef FLEET_GROUPS_H
#define FLEET_GROUPS_H

#include "fleet/finding.h"

/* How many hosts each group needs; of the same hosts before and after, how many there must be. */
#define GROUP_HOSTS_LEAST  2
#define PAIRED_HOSTS_LEAST 3

enum fleet_group { FLEET_NO_GROUP, FLEET_FIRST, FLEET_SECOND };

/* `groups` has a group for each host. Findings are of the second group: `other` is the first one's.
 * `ret` must be deinitialised. */
struct error *fleet_compare_groups(const struct fleet_data *data, const uint8_t *groups,
				   struct fleet_findings *ret) MUST_CHECK;

/*
 * The slices before `cut` and those from there on, of each host. Findings have no host: `value` is
 * after, `other` before, of the hosts that do not change unlike the others. For hosts that do, see
 * fleet_outlier_changes().
 */
struct error *fleet_compare_times(const struct fleet_data *data, size_t cut,
				  struct fleet_findings *ret) MUST_CHECK;

/*
 * The same for few hosts, each for itself: its slices before and after are compared by Welch's
 * test. Slices should be long enough to depend little on each other. A load that changes looks the
 * same as a regression here.
 */
struct error *fleet_compare_slices(const struct fleet_data *data, size_t cut,
				   struct fleet_findings *ret) MUST_CHECK;

#endif
