/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts that are unlike their peers.
 *
 * For each measure of each program, the value of each host is compared with those of the other
 * hosts that run this program, by fleet/outlier_score.h on the scale of fleet/scale.h. All these
 * tests together are meant to have a rate of false discoveries of at most FLEET_Q_MOST, by
 * Benjamini and Hochberg's procedure: where hosts do not differ, at most one run in twenty should
 * report anything. The procedure holds for tests that are independent, or depend on each other
 * positively (Y. Benjamini and D. Yekutieli, "The control of the false discovery rate in multiple
 * testing under dependency", Annals of Statistics 29, 2001). Shares of a program's time add up to
 * 1, so here this is no theorem: tests of drawn fleets measure the rate.
 */
#ifndef FLEET_OUTLIERS_H
#define FLEET_OUTLIERS_H

#include "fleet/finding.h"

/* Over the slices `from` to before `to`. `ret` must be deinitialised. */
struct error *fleet_outliers(const struct fleet_data *data, size_t from, size_t to,
			     struct fleet_findings *ret) MUST_CHECK;

/*
 * The same of changes: hosts whose value changed, from the slices before `cut` to those from there
 * on, unlike that of the other hosts. Of such a finding `other` is what the value would be if it
 * had changed as that of its peers.
 */
struct error *fleet_outlier_changes(const struct fleet_data *data, size_t cut,
				    struct fleet_findings *ret) MUST_CHECK;

/* How many hosts are needed. */
#define OUTLIER_HOSTS_LEAST 4

#endif
