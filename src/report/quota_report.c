/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "base/units.h"
#include "report/profile_text.h"
#include "report/visible.h"

#define QUOTAS_SHOWN 3

/* Quotas that ran out in a smaller share of periods, or caused a smaller share of the waits for a
 * CPU, are not reported. */
#define LEAST_SHARE 0.05

/* The least share of waits for a CPU that was due to the quota. The kernel counts throttled time
 * once per CPU, but several threads may have waited on it, so the share may be larger. */
static double share_of(const struct profile_quota *quota)
{
	const double share = (double)quota->throttled_ns / (double)quota->waits_ns;

	return share < 1 ? share : 1;
}

/* The kernel counts throttled time for the whole cgroup, so a share is known only if all of its
 * threads were profiled. */
static bool is_whole(const struct profile_report *report)
{
	return report->profile->meta.is_whole_host;
}

static bool matters(const struct profile_report *report, const struct profile_quota *quota)
{
	if (!quota->waits_ns || !quota->throttled)
		return false;
	return is_whole(report) ? share_of(quota) >= LEAST_SHARE
				: (double)quota->throttled >= LEAST_SHARE * (double)quota->periods;
}

bool quota_report_has_any(const struct profile_report *report)
{
	for (size_t i = 0; i < report->profile->quotas.count; i++)
		if (matters(report, &report->profile->quotas.items[i]))
			return true;
	return false;
}

static void print_quota(FILE *out, const struct profile_report *report,
			const struct profile_quota *quota)
{
	char waits[UNITS_TEXT_MAX];

	fputs("CPU wait: ", out);
	if (is_whole(report))
		fprintf(out, "%.0f %%%s of %s in ", 100 * share_of(quota),
			share_of(quota) < 1 ? " or more" : "",
			units_format(waits, UNIT_NS, (__int128)quota->waits_ns));
	fputs("cgroup ", out);
	text_print_visible(out, name_text(quota->cgroup), 0);
	fprintf(out,
		is_whole(report) ? " was for its quota (%.2f CPUs), which ran out"
				 : " ran out of its quota (%.2f CPUs)",
		quota->cpus);
	fprintf(out, " in %" PRIu64 " of %" PRIu64 " periods\n", quota->throttled, quota->periods);
}

struct error *quota_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style)
{
	size_t shown = 0;

	for (size_t i = 0; i < report->profile->quotas.count; i++) {
		const struct profile_quota *quota = &report->profile->quotas.items[i];

		if (!matters(report, quota) || (shown == QUOTAS_SHOWN && !style->all))
			continue;
		print_quota(out, report, quota);
		shown++;
	}
	return NULL;
}
