/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of kstats as people read them.
 *
 * Times have units of time. Other values are numbers of whatever the program counts, so all of
 * their digits are shown, in groups of three: "1,234,567" and not "1.235M".
 */
#ifndef REPORT_KSTATS_VALUES_H
#define REPORT_KSTATS_VALUES_H

#include "base/units.h"
#include "kstats/shift.h"

/* A value of this table's unit: "1.235ms", "1,235". Room for UNITS_TEXT_MAX. */
char *kstats_format(char *buffer, const struct kstats_table *table, double value);
char *kstats_format_exact(char *buffer, const struct kstats_table *table, uint64_t value);
/* Not negative; what is beyond the largest number becomes it. */
uint64_t kstats_rounded(double value);
/* A difference, with its sign. */
char *kstats_format_signed(char *buffer, const struct kstats_table *table, double value);
/* The upper bound of a percentile, or "-" if there are too few values for it
 * (percentile_is_known). */
char *kstats_format_percentile(char *buffer, const struct kstats_table *table,
			       const struct kstats_distribution *of, double fraction);

/* A change with its bounds: "+95%..+120%", "-3.1%..+4.2%", "> 1000x"; "new" of none before. */
char *kstats_format_shares(char *buffer, struct kstats_shares shares);

/* Values per second: "12,345/s", "0.25/s". */
char *kstats_format_rate(char *buffer, double rate);

#endif
