/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "doctor/probe_run.h"
#include "snapshot/probe.h"

/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON. */
#define ADMIN_CAPABILITIES (1ull << 21 | 1ull << 34)

/* The capture says whether it used BPF, and why not. */
void look_bpf(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	const struct name *reason = run->snapshot->capture->source_reason;

	if (snapshot_is_by_bpf(run->snapshot)) {
		if (reason)
			result_set_lack(ret, PRESENCE_PARTLY, "%s", reason->bytes);
		else
			result_set_present(ret);
		return;
	}
	if (access("/sys/kernel/btf/vmlinux", F_OK)) {
		result_set_not_built(run, ret, probe->config);
		return;
	}
	result_set_lack(ret, PRESENCE_NO, "captures read /proc instead: %s",
			reason ? reason->bytes : "no reason was given");
	if (!has_capabilities(run, "CapEff:", BPF_CAPABILITIES) &&
	    !has_capabilities(run, "CapEff:", ADMIN_CAPABILITIES))
		result_set_privilege_remedy(run, ret);
}

void look_waits_in_progress(struct probe_run *run, const struct probe *probe,
			    struct probe_result *ret)
{
	if (!child_has(run, probe->metric)) {
		result_set_lack(ret, PRESENCE_NO,
				snapshot_is_by_bpf(run->snapshot)
					? "this kernel does not store when waits begin"
					: "needs BPF");
	} else if (child_has(run, METRIC_sleep_in_progress_ns)) {
		result_set_present(ret);
	} else if (schedstats_are_off(run)) {
		result_set_lack(
			ret, PRESENCE_PARTLY,
			"of waits for a CPU and for block I/O only: kernel.sched_schedstats is 0");
		switch_schedstats_on(ret);
	} else {
		result_set_not_built(run, ret, probe->config);
		ret->presence = PRESENCE_PARTLY;
	}
}

void look_heap(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	const struct probe_summary *heaps = run->snapshot->probe_summary;
	const char *why;

	(void)probe;
	if (!snapshot_is_by_bpf(run->snapshot)) {
		result_set_lack(
			ret, PRESENCE_NO,
			"only BPF tells where threads have their data without stopping them; "
			"capture --allow-ptrace asks by ptrace");
	} else if (heaps->failed.value && heaps->dominant_failure) {
		why = probe_failure_prose(name_text(heaps->dominant_failure));
		result_set_lack(ret, PRESENCE_PARTLY, "not of %" PRIu64 " threads: %s",
				heaps->failed.value, why ? why : heaps->dominant_failure->bytes);
	} else {
		result_set_present(ret);
	}
}
