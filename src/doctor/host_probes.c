/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/examination.h"

void look_pressure(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (e->snapshot->psi.cpu.some.total_usec.measured) {
		find_whole(ret);
	} else if (kernel_config(e, probe->config) == 0) {
		find_not_built(e, ret, probe->config);
	} else {
		find_lack(ret, PRESENCE_NO,
			  "there is no /proc/pressure: PSI was not turned on at boot");
		find_boot_remedy(ret, "the host and every cgroup", "psi=1");
	}
}

void look_sched_ext(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (e->snapshot->sched_ext && e->snapshot->sched_ext->state)
		find_whole(ret);
	else
		find_not_built(e, ret, probe->config);
}

void look_counters(struct examination *e, const struct probe *probe, struct finding *ret)
{
	bool seen[COUNTER_KIND_COUNT] = { false };

	(void)probe;
	for (size_t i = 0; i < e->snapshot->counters.count; i++)
		seen[e->snapshot->counters.items[i].kind] = true;
	find_whole(ret);
	for (enum counter_kind kind = 0; kind < COUNTER_KIND_COUNT; kind++)
		if (!seen[kind])
			find_lack(ret, PRESENCE_PARTLY, "there is none of: %s",
				  counter_kind_names[kind]);
}
