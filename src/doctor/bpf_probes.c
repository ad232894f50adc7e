/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "doctor/examination.h"
#include "snapshot/probe.h"

/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON. */
#define ADMIN_CAPABILITIES (1ull << 21 | 1ull << 34)

/* The way that a capture takes here; why not this one it says itself. */
void look_bpf(struct examination *e, const struct probe *probe, struct finding *ret)
{
	const struct name *reason = e->snapshot->capture->source_reason;

	if (snapshot_is_by_bpf(e->snapshot)) {
		if (reason)
			find_lack(ret, PRESENCE_PARTLY, "%s", reason->bytes);
		else
			find_whole(ret);
		return;
	}
	if (access("/sys/kernel/btf/vmlinux", F_OK)) {
		find_not_built(e, ret, probe->config);
		return;
	}
	find_lack(ret, PRESENCE_NO, "captures read /proc instead: %s",
		  reason ? reason->bytes : "no reason was given");
	if (!has_capabilities(e, "CapEff:", BPF_CAPABILITIES) &&
	    !has_capabilities(e, "CapEff:", ADMIN_CAPABILITIES))
		find_privilege_remedy(e, ret);
}

void look_waits_in_progress(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (!kid_has(e, probe->metric)) {
		find_lack(ret, PRESENCE_NO,
			  snapshot_is_by_bpf(e->snapshot)
				  ? "this kernel does not keep when they began"
				  : "only BPF sees them");
	} else if (kid_has(e, METRIC_sleep_in_progress_ns)) {
		find_whole(ret);
	} else if (schedstats_are_off(e)) {
		find_lack(
			ret, PRESENCE_PARTLY,
			"of waits for a CPU and for block I/O only: kernel.sched_schedstats is 0");
		switch_schedstats_on(ret);
	} else {
		find_not_built(e, ret, probe->config);
		ret->presence = PRESENCE_PARTLY;
	}
}

void look_heap(struct examination *e, const struct probe *probe, struct finding *ret)
{
	const struct probe_summary *heaps = e->snapshot->probe_summary;
	const char *why;

	(void)probe;
	if (!snapshot_is_by_bpf(e->snapshot)) {
		find_lack(ret, PRESENCE_NO,
			  "only BPF tells where threads have their data without stopping them; "
			  "capture --allow-ptrace asks by ptrace");
	} else if (heaps->failed.value && heaps->dominant_failure) {
		why = probe_failure_prose(name_text(heaps->dominant_failure));
		find_lack(ret, PRESENCE_PARTLY, "not of %" PRIu64 " threads: %s",
			  heaps->failed.value, why ? why : heaps->dominant_failure->bytes);
	} else {
		find_whole(ret);
	}
}
