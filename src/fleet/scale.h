/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scale on which values of hosts are compared, where their spread is about the same for small
 * and large values.
 *
 * Shares x are taken as log((x + s) / (1 - x + s)), rates as log(x + s): logits and logarithms of
 * *started* counts (J. W. Tukey, "Exploratory Data Analysis", 1977, chapters 3 and 15). Far above s
 * a distance of 0.1 is a tenth of the value; below, the start s makes the scale linear, so shares
 * of 0 and 0.01 % differ by next to nothing.
 *
 * Hosts count as different by how much they differ beyond SCALE_LEAST: that and less is no
 * difference, however sure (D. J. McCarthy and G. K. Smyth, "Testing significance relative to a
 * fold-change threshold is a TREAT", Bioinformatics 25, 2009). A difference must also be of
 * `points_least` before it is reported.
 */
#ifndef FLEET_SCALE_H
#define FLEET_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "fleet/data.h"
#include "statistics/statistics.h"

/* On the scale: log(1.2). Of a value far above its start it is a fifth. */
#define SCALE_LEAST 0.18232155679395462

/* The start of shares, and the least difference that is reported, as a share of 1. */
#define SHARE_START  0.005
#define SHARE_POINTS 0.01

struct fleet_scale {
	bool is_share;
	double start;
	double points_least;
};

/* `values` (NaN: none) are those of all hosts: the start of a rate is a tenth of their median, and
 * at least RATE_START. */
#define RATE_START 1.0
struct fleet_scale fleet_scale_of(enum fleet_kind kind, const double *values, size_t count);

/* NaN stays NaN. */
double fleet_scale_to(const struct fleet_scale *scale, double value);
/* The inverse; at least 0, and of shares at most 1. */
double fleet_scale_from(const struct fleet_scale *scale, double scaled);

/* The standard error on the scale of the value amount / base, of an amount that is a sum of
 * independent events of this size: that of one more event, where there is none. */
double fleet_scale_error(const struct fleet_scale *scale, double amount, double base, double event);

/* How far two values are apart, to put the largest differences first: of shares as a share of 1; of
 * rates 0.05 for each doubling, and at most 0.5. 0 if it is too little to be reported. */
double fleet_scale_weight(const struct fleet_scale *scale, double value, double other);

/* A distance on the scale, as far as it is beyond SCALE_LEAST; with its sign. */
double fleet_scale_beyond(double distance);

#endif
