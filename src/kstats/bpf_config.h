/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translate the specification of a metric into the configuration of its programs.
 */
#ifndef KSTATS_BPF_CONFIG_H
#define KSTATS_BPF_CONFIG_H

#include "kstats/bpf_location.h"

/* Everything but how places are reached. An error has a code: EINVAL, ENOENT. */
struct error *kstats_config_make(const struct kstats_spec *spec,
				 const struct kstats_locations *places,
				 struct kstats_config *ret) MUST_CHECK;

/* The reverse, for readers of a metric: the options that it was created with, except its locations.
 * The caller clears the scope, also after an error. */
struct error *kstats_config_scope(const struct kstats_config *config,
				  struct kstats_scope *ret) MUST_CHECK;

/* Cells and groups have a value for gaps too? */
static inline unsigned kstats_config_histograms(const struct kstats_config *config)
{
	return config->has_gaps ? KSTATS_WHICH_COUNT : 1;
}

static inline size_t kstats_config_cell_bytes(const struct kstats_config *config)
{
	return sizeof(struct kstats_cell) + config->slots * sizeof(struct kstats_pair);
}

/* From that of one CPU to the next, when all are read at once. */
static inline size_t kstats_config_cell_stride(const struct kstats_config *config)
{
	return (kstats_config_cell_bytes(config) + 7) / 8 * 8;
}

static inline size_t kstats_config_group_bytes(const struct kstats_config *config)
{
	return sizeof(struct kstats_group) + config->slots * sizeof(struct kstats_pair);
}

#endif
