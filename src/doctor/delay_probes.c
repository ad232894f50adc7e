/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "doctor/probe_run.h"

#define ALL_DELAYS \
	"threads born from then on until the next boot; boot parameter delayacct: all threads"

/* Are there no taskstats? Then set the reason. */
static bool taskstats_are_missing(struct probe_run *run, struct probe_result *ret)
{
	if (child_has(run, METRIC_cpu_delay_count))
		return false;
	if (refused(run, "taskstats")) {
		result_set_lack(ret, PRESENCE_NO, "taskstats is denied: it needs CAP_NET_ADMIN");
		result_set_privilege_remedy(run, ret);
	} else {
		result_set_not_built(run, ret, "TASKSTATS");
	}
	return true;
}

void look_taskstats(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	(void)probe;
	if (!taskstats_are_missing(run, ret))
		result_set_present(ret);
}

/* The child copied a page, so its count is not zero. Older taskstats lack this count; then a
 * measured block I/O delay must do. */
static bool counts_delays(struct probe_run *run)
{
	if (child_has(run, METRIC_wpcopy_delay_count))
		return child_value(run, METRIC_wpcopy_delay_count);
	return child_has(run, METRIC_blkio_delay_count);
}

static bool delay_accounting_is(const struct probe_run *run, const char *state)
{
	return text_equal(name_text(run->snapshot->capture->delay_accounting), text_of(state));
}

void look_delays(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	if (taskstats_are_missing(run, ret))
		return;
	if (counts_delays(run) && delay_accounting_is(run, "runtime")) {
		result_set_lack(ret, PRESENCE_PARTLY,
				"it was turned on after the boot: threads born before have none");
		result_set_boot_remedy(ret,
				       "all threads; programs that are restarted are covered now",
				       "delayacct");
	} else if (counts_delays(run)) {
		result_set_present(ret);
	} else if (delay_accounting_is(run, "off")) {
		result_set_lack(ret, PRESENCE_NO, "kernel.task_delayacct is 0");
		result_set_remedy(ret, ALL_DELAYS, "sysctl -w kernel.task_delayacct=1");
	} else {
		result_set_not_built(run, ret, probe->config);
	}
}

void look_peaks(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	if (taskstats_are_missing(run, ret))
		return;
	if (child_has(run, probe->metric)) {
		/* Peaks of delays other than the CPU's are available where these delays are. */
		look_delays(run, probe, ret);
		if (ret->presence == PRESENCE_NO)
			ret->presence = PRESENCE_PARTLY;
		return;
	}
	result_set_lack(ret, PRESENCE_NO,
			"this kernel's taskstats are of version %" PRIu64 "; they came with 15",
			run->snapshot->capture->taskstats_version.value);
}

void look_irq_delays(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	if (taskstats_are_missing(run, ret))
		return;
	if (child_has(run, probe->metric)) {
		result_set_present(ret);
	} else if (!run->snapshot->psi.cpu.some.total_usec.measured) {
		result_set_lack(
			ret, PRESENCE_NO,
			"without /proc/pressure it cannot be told whether the kernel counts them");
		result_set_boot_remedy(ret, "all threads, if it does", "psi=1");
	} else if (!run->snapshot->capture->irq_accounting) {
		result_set_not_built(run, ret, probe->config);
	} else if (delay_accounting_is(run, "off")) {
		result_set_lack(ret, PRESENCE_NO, "kernel.task_delayacct is 0");
		result_set_remedy(ret, ALL_DELAYS, "sysctl -w kernel.task_delayacct=1");
	} else {
		result_set_lack(ret, PRESENCE_NO,
				"this kernel's taskstats are of version %" PRIu64
				"; they came with 14",
				run->snapshot->capture->taskstats_version.value);
	}
}
