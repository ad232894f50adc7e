/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/probe_run.h"

void look_pressure(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	if (run->snapshot->psi.cpu.some.total_usec.measured) {
		result_set_present(ret);
	} else if (kernel_config(run, probe->config) == 0) {
		result_set_not_built(run, ret, probe->config);
	} else {
		result_set_lack(ret, PRESENCE_NO,
				"/proc/pressure is missing: PSI was not enabled at boot");
		result_set_boot_remedy(ret, "the host and every cgroup", "psi=1");
	}
}

void look_sched_ext(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	if (run->snapshot->sched_ext && run->snapshot->sched_ext->state)
		result_set_present(ret);
	else
		result_set_not_built(run, ret, probe->config);
}

void look_counters(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	bool seen[COUNTER_KIND_COUNT] = { false };

	(void)probe;
	for (size_t i = 0; i < run->snapshot->counters.count; i++)
		seen[run->snapshot->counters.items[i].kind] = true;
	result_set_present(ret);
	for (enum counter_kind kind = 0; kind < COUNTER_KIND_COUNT; kind++)
		if (!seen[kind])
			result_set_lack(ret, PRESENCE_PARTLY, "there is none of: %s",
					counter_kind_names[kind]);
}
