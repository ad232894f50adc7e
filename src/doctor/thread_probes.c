/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <sys/prctl.h>

#include "doctor/probe_run.h"

/* PROC_PID_INIT_INO (include/linux/proc_ns.h): the kernel numbers its first namespaces by hand. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCul

/* Process 1 exists in every PID namespace, and nearly always belongs to another user. */
static bool sees_process_1(struct probe_run *run)
{
	struct text bytes;

	return proc_text(run, "1/stat", &bytes);
}

void look_threads(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	const struct ctprof_snapshot *s = run->snapshot;

	(void)probe;
	if (!sees_process_1(run) || s->capture->processes_denied.value) {
		result_set_lack(
			ret, PRESENCE_PARTLY,
			"/proc hides the processes of others (hidepid): %zu threads are seen",
			s->threads.count);
		result_set_remedy(ret, "every process, for every user; root sees them anyway",
				  "mount -o remount,hidepid=0 /proc");
	} else if (!is_first_namespace("pid", FIRST_PID_NAMESPACE)) {
		result_set_lack(ret, PRESENCE_PARTLY,
				"in a PID namespace: %zu threads are seen, and none outside of the "
				"container",
				s->threads.count);
	} else {
		result_set_present(ret);
	}
}

void look_metric(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	if (child_has(run, probe->metric)) {
		result_set_present(ret);
	} else if (probe->config) {
		result_set_not_built(run, ret, probe->config);
	} else {
		result_set_lack(ret, PRESENCE_NO, "this kernel does not show it");
	}
}

/* At 0, the kernel counts nothing and prints none of the keys. */
bool schedstats_are_off(struct probe_run *run)
{
	struct text value;

	return proc_text(run, "sys/kernel/sched_schedstats", &value) &&
	       text_equal(value, TEXT("0"));
}

void switch_schedstats_on(struct probe_result *ret)
{
	result_set_remedy(ret,
			  "every thread, from then on until the next boot; boot parameter "
			  "schedstats=enable: always",
			  "sysctl -w kernel.sched_schedstats=1");
}

void look_schedstats(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	/* The child has slept, so it was woken. */
	if (child_has(run, probe->metric) && child_value(run, probe->metric)) {
		result_set_present(ret);
	} else if (schedstats_are_off(run)) {
		result_set_lack(ret, PRESENCE_NO, "kernel.sched_schedstats is 0");
		switch_schedstats_on(ret);
	} else {
		result_set_not_built(run, ret, probe->config);
	}
}

/* PR_SCHED_CORE (include/uapi/linux/prctl.h), which this C library may not name. */
#define CORE_SCHEDULING     62
#define CORE_SCHEDULING_GET 0

/* EINVAL: the kernel lacks it. ENODEV: the cores of this CPU have one thread each
 * (kernel/sched/core_sched.c). */
static bool knows_core_scheduling(void)
{
	unsigned long cookie;

	return prctl(CORE_SCHEDULING, CORE_SCHEDULING_GET, 0, 0, &cookie) == 0 || errno == ENODEV;
}

void look_core_scheduling(struct probe_run *run, const struct probe *probe,
			  struct probe_result *ret)
{
	if (child_has(run, probe->metric)) {
		result_set_present(ret);
	} else if (!knows_core_scheduling()) {
		result_set_not_built(run, ret, probe->config);
	} else if (schedstats_are_off(run)) {
		result_set_lack(ret, PRESENCE_NO, "kernel.sched_schedstats is 0");
		switch_schedstats_on(ret);
	} else {
		result_set_lack(ret, PRESENCE_NO, "/proc/<tid>/sched does not show it");
	}
}

/* CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE (include/uapi/linux/capability.h). */
#define READING_CAPABILITIES (1u << 2 | 1u << 19)

/* Sources that the kernel denies for processes of other users without privileges. */
void look_access(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	const struct ctprof_snapshot *s = run->snapshot;
	const char *things = probe->per_process ? "processes" : "threads";
	uint64_t denied = refused(run, probe->source);
	size_t all = probe->per_process ? s->processes.count : s->threads.count;

	if (probe->config && !child_has(run, probe->metric)) {
		result_set_not_built(run, ret, probe->config);
	} else if (!denied) {
		result_set_present(ret);
	} else if (has_capabilities(run, "CapEff:", READING_CAPABILITIES)) {
		result_set_lack(ret, PRESENCE_PARTLY,
				"denied for %" PRIu64
				" of %zu %s although CAP_SYS_PTRACE is held: by "
				"another user namespace or a security module",
				denied, all, things);
	} else {
		result_set_lack(ret, PRESENCE_PARTLY, "denied for %" PRIu64 " of %zu %s", denied,
				all, things);
		result_set_privilege_remedy(run, ret);
	}
}
