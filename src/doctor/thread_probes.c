/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <sys/prctl.h>

#include "doctor/examination.h"

/* PROC_PID_INIT_INO (include/linux/proc_ns.h): the kernel numbers its first namespaces by hand. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCul

/* Process 1 is there in every namespace, and is nearly always somebody else's. */
static bool sees_process_1(struct examination *e)
{
	struct text bytes;

	return proc_text(e, "1/stat", &bytes);
}

void look_threads(struct examination *e, const struct probe *probe, struct finding *ret)
{
	const struct ctprof_snapshot *s = e->snapshot;

	(void)probe;
	if (!sees_process_1(e) || s->capture->processes_denied.value) {
		find_lack(ret, PRESENCE_PARTLY,
			  "/proc hides the processes of others (hidepid): %zu threads are seen",
			  s->threads.count);
		find_remedy(ret, "every process, for every user; root sees them anyway",
			    "mount -o remount,hidepid=0 /proc");
	} else if (!is_first_namespace("pid", FIRST_PID_NAMESPACE)) {
		find_lack(ret, PRESENCE_PARTLY,
			  "in a PID namespace: %zu threads are seen, and none outside of the "
			  "container",
			  s->threads.count);
	} else {
		find_whole(ret);
	}
}

void look_metric(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (kid_has(e, probe->metric)) {
		find_whole(ret);
	} else if (probe->config) {
		find_not_built(e, ret, probe->config);
	} else {
		find_lack(ret, PRESENCE_NO, "this kernel does not show it");
	}
}

/* Without the switch nothing is counted, and the kernel prints none of the keys. */
bool schedstats_are_off(struct examination *e)
{
	struct text value;

	return proc_text(e, "sys/kernel/sched_schedstats", &value) && text_equal(value, TEXT("0"));
}

void switch_schedstats_on(struct finding *ret)
{
	find_remedy(ret,
		    "every thread, from then on until the next boot; boot parameter "
		    "schedstats=enable: always",
		    "sysctl -w kernel.sched_schedstats=1");
}

void look_schedstats(struct examination *e, const struct probe *probe, struct finding *ret)
{
	/* The child has slept, and somebody woke it. */
	if (kid_has(e, probe->metric) && kid_value(e, probe->metric)) {
		find_whole(ret);
	} else if (schedstats_are_off(e)) {
		find_lack(ret, PRESENCE_NO, "kernel.sched_schedstats is 0");
		switch_schedstats_on(ret);
	} else {
		find_not_built(e, ret, probe->config);
	}
}

/* PR_SCHED_CORE (include/uapi/linux/prctl.h), which this C library may not name. */
#define CORE_SCHEDULING     62
#define CORE_SCHEDULING_GET 0

/* EINVAL is for a kernel without it, ENODEV for CPUs whose cores have one thread each
 * (kernel/sched/core_sched.c). */
static bool knows_core_scheduling(void)
{
	unsigned long cookie;

	return prctl(CORE_SCHEDULING, CORE_SCHEDULING_GET, 0, 0, &cookie) == 0 || errno == ENODEV;
}

void look_core_scheduling(struct examination *e, const struct probe *probe, struct finding *ret)
{
	if (kid_has(e, probe->metric)) {
		find_whole(ret);
	} else if (!knows_core_scheduling()) {
		find_not_built(e, ret, probe->config);
	} else if (schedstats_are_off(e)) {
		find_lack(ret, PRESENCE_NO, "kernel.sched_schedstats is 0");
		switch_schedstats_on(ret);
	} else {
		find_lack(ret, PRESENCE_NO, "/proc/<tid>/sched does not show it");
	}
}

/* CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE (include/uapi/linux/capability.h). */
#define READING_CAPABILITIES (1u << 2 | 1u << 19)

/* Facts about others' processes that the kernel shows to the privileged only. */
void look_access(struct examination *e, const struct probe *probe, struct finding *ret)
{
	const struct ctprof_snapshot *s = e->snapshot;
	const char *things = probe->per_process ? "processes" : "threads";
	uint64_t denied = refused(e, probe->source);
	size_t all = probe->per_process ? s->processes.count : s->threads.count;

	if (probe->config && !kid_has(e, probe->metric)) {
		find_not_built(e, ret, probe->config);
	} else if (!denied) {
		find_whole(ret);
	} else if (has_capabilities(e, "CapEff:", READING_CAPABILITIES)) {
		find_lack(ret, PRESENCE_PARTLY,
			  "denied for %" PRIu64 " of %zu %s although CAP_SYS_PTRACE is held: by "
			  "another user namespace or a security module",
			  denied, all, things);
	} else {
		find_lack(ret, PRESENCE_PARTLY, "denied for %" PRIu64 " of %zu %s", denied, all,
			  things);
		find_privilege_remedy(e, ret);
	}
}
