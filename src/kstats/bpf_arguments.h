/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the locations of USDT probes have the argument that is the key of a metric: each in a
 * register or memory of its own, so programs look it up by the number of the location, which is the
 * cookie of its probe.
 */
#ifndef KSTATS_BPF_ARGUMENTS_H
#define KSTATS_BPF_ARGUMENTS_H

#include "kstats/bpf_location.h"

/* Give each location a number, instead of that of its event; returns how many there are, 0 if no
 * argument of such a probe is the key. */
unsigned kstats_arguments_number(const struct kstats_locations *places);

/* Store the places in the map, which has room for so many. */
struct error *kstats_arguments_store(const struct kstats_locations *places, int map) MUST_CHECK;

#endif
