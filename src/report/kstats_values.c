/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "histogram/histogram.h"

static bool is_time(const struct kstats_table *table)
{
	return strcmp(table->unit, unit_name(UNIT_NS)) == 0;
}

char *kstats_format_exact(char *buffer, const struct kstats_table *table, uint64_t value)
{
	return is_time(table) ? units_format(buffer, UNIT_NS, value)
			      : units_grouped(buffer, value, "");
}

uint64_t kstats_rounded(double value)
{
	/* Doubles have no more digits than these. */
	if (value >= 0x1p64)
		value = 0x1p64 - 2048;
	return (uint64_t)(value + 0.5);
}

char *kstats_format(char *buffer, const struct kstats_table *table, double value)
{
	return kstats_format_exact(buffer, table, kstats_rounded(value));
}

char *kstats_format_signed(char *buffer, const struct kstats_table *table, double value)
{
	const __int128 rounded = (__int128)nearbyint(value);

	return is_time(table) ? units_format_delta(buffer, UNIT_NS, rounded)
			      : units_grouped(buffer, rounded, "+");
}

char *kstats_format_percentile(char *buffer, const struct kstats_table *table,
			       const struct kstats_distribution *of, double fraction)
{
	if (percentile_is_known(of->count, fraction))
		return kstats_format_exact(buffer, table, kstats_percentile(of, fraction).high);
	return strcpy(buffer, "-");
}

/* Beyond this many times what was before, digits say no more. */
#define TIMES_MOST 1000

static void format_share(char buffer[16], double share)
{
	if (isinf(share))
		strcpy(buffer, "new");
	else if (share > TIMES_MOST)
		snprintf(buffer, 16, ">%dx", TIMES_MOST);
	else
		snprintf(buffer, 16, "%+.*f%%", fabs(share) < 0.0995, 100 * share);
}

char *kstats_format_shares(char *buffer, struct kstats_shares shares)
{
	char least[16], most[16];

	format_share(least, shares.least);
	format_share(most, shares.most);
	if (strcmp(least, most) == 0)
		strcpy(buffer, least);
	else
		snprintf(buffer, UNITS_TEXT_MAX, "%s..%s", least, most);
	return buffer;
}

char *kstats_format_rate(char *buffer, double rate)
{
	char digits[UNITS_TEXT_MAX];

	if (rate < 100)
		snprintf(buffer, UNITS_TEXT_MAX, "%.3g/s", rate);
	else
		snprintf(buffer, UNITS_TEXT_MAX, "%s/s",
			 units_grouped(digits, rate < 0x1p64 ? (__int128)rate : UINT64_MAX, ""));
	return buffer;
}
