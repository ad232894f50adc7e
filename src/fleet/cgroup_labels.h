/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of cgroups, by which hosts are divided into groups: a host has all values of a label that
 * its cgroups have.
 */
#ifndef FLEET_CGROUP_LABELS_H
#define FLEET_CGROUP_LABELS_H

#include "store/query.h"

/* The hosts that have cgroups with this "container", "pod", "namespace", "image" or "unit": adds a
 * row (host, value) for each. */
typedef struct error *fleet_cgroup_label_taker(void *context, struct text host, struct text value);
bool fleet_is_cgroup_label(const char *name);
struct error *fleet_load_cgroup_labels(struct store *store, const struct store_url *url,
				       const char *name, fleet_cgroup_label_taker *take,
				       void *context) MUST_CHECK;

#endif
