/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "doctor/examination.h"

#define ALL_DELAYS \
	"threads born from then on until the next boot; boot parameter delayacct: all threads"

/* Nothing of taskstats came: why? False when some did. */
static bool taskstats_are_missing(struct examination *e, struct finding *ret)
{
	if (kid_has(e, METRIC_cpu_delay_count))
		return false;
	if (refused(e, "taskstats")) {
		find_lack(ret, PRESENCE_NO, "taskstats is denied: it needs CAP_NET_ADMIN");
		find_privilege_remedy(e, ret);
	} else {
		find_not_built(e, ret, "TASKSTATS");
	}
	return true;
}

void look_taskstats(struct examination *e, const struct probe *probe, struct finding *ret)
{
	(void)probe;
	if (!taskstats_are_missing(e, ret))
		find_whole(ret);
}

/* The child copied a page; kernels whose taskstats are too old to say so only promise it. */
static bool counts_delays(struct examination *e)
{
	if (kid_has(e, METRIC_wpcopy_delay_count))
		return kid_value(e, METRIC_wpcopy_delay_count);
	return kid_has(e, METRIC_blkio_delay_count);
}

static bool delay_accounting_is(const struct examination *e, const char *state)
{
	return text_equal(name_text(e->snapshot->capture->delay_accounting), text_of(state));
}

void look_delays(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (taskstats_are_missing(e, ret))
		return;
	if (counts_delays(e) && delay_accounting_is(e, "runtime")) {
		find_lack(ret, PRESENCE_PARTLY,
			  "it was turned on after the boot: threads born before have none");
		find_boot_remedy(ret, "all threads; what is started anew is covered now",
				 "delayacct");
	} else if (counts_delays(e)) {
		find_whole(ret);
	} else if (delay_accounting_is(e, "off")) {
		find_lack(ret, PRESENCE_NO, "kernel.task_delayacct is 0");
		find_remedy(ret, ALL_DELAYS, "sysctl -w kernel.task_delayacct=1");
	} else {
		find_not_built(e, ret, probe->config);
	}
}

void look_peaks(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (taskstats_are_missing(e, ret))
		return;
	if (kid_has(e, probe->metric)) {
		/* Those of the other delays than the CPU's are there as far as these are. */
		look_delays(e, probe, ret);
		if (ret->presence == PRESENCE_NO)
			ret->presence = PRESENCE_PARTLY;
		return;
	}
	find_lack(ret, PRESENCE_NO,
		  "this kernel's taskstats are of version %" PRIu64 "; they came with 15",
		  e->snapshot->capture->taskstats_version.value);
}

void look_irq_delays(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (taskstats_are_missing(e, ret))
		return;
	if (kid_has(e, probe->metric)) {
		find_whole(ret);
	} else if (!e->snapshot->psi.cpu.some.total_usec.measured) {
		find_lack(
			ret, PRESENCE_NO,
			"without /proc/pressure it cannot be told whether the kernel counts them");
		find_boot_remedy(ret, "all threads, if it does", "psi=1");
	} else if (!e->snapshot->capture->irq_accounting) {
		find_not_built(e, ret, probe->config);
	} else if (delay_accounting_is(e, "off")) {
		find_lack(ret, PRESENCE_NO, "kernel.task_delayacct is 0");
		find_remedy(ret, ALL_DELAYS, "sysctl -w kernel.task_delayacct=1");
	} else {
		find_lack(ret, PRESENCE_NO,
			  "this kernel's taskstats are of version %" PRIu64 "; they came with 14",
			  e->snapshot->capture->taskstats_version.value);
	}
}
