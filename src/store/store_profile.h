/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles from ClickHouse: the sums over the hosts and the time that a URL selects.
 *
 * A thread of such a profile is a program: all threads with one name in one process and cgroup
 * name, of all hosts. Hosts are apart only with by=host, which puts their name before that of the
 * process. Threads have no numbers, so profiles of several URLs can be merged and compared.
 */
#ifndef STORE_STORE_PROFILE_H
#define STORE_STORE_PROFILE_H

#include "profile/profile.h"
#include "store/query.h"

/* Samples with most time are taken; those beyond this number count as lost. */
#define STORE_SAMPLES_MOST UINT64_C(1000000)

/* Fails if there are no samples of what the URL selects (errnum ENODATA), and says what there is.
 */
struct error *store_profile_load(struct store *store, const struct store_url *url,
				 struct profile **ret) MUST_CHECK;

/* Multiply times and counts by `times` / `parts` (not 0), as if hosts had been observed for so much
 * of the time. The longest waits stay, as do what the agents cost. */
void store_profile_scale(struct profile *profile, uint64_t times, uint64_t parts);

#endif
