/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of all probes: the capture that they check, and functions that fill in results.
 */
#ifndef DOCTOR_PROBE_RUN_H
#define DOCTOR_PROBE_RUN_H

#include "base/file.h"
#include "capture/capture.h"
#include "doctor/doctor.h"
#include "os/cgroup.h"
#include "os/cgroup_tree.h"

struct probe_run {
	struct ctprof_snapshot *snapshot;  /* of the whole host */
	const struct ctprof_thread *child; /* the thread of the probe_child in it */
	int proc;                          /* /proc */
	struct file_buffer buffer;
	struct cgroup_tree cgroups;
};

/* --- results (probe_run.c) --- */

void result_set_present(struct probe_result *result);

/* It is missing or incomplete, for this reason. */
void result_set_lack(struct probe_result *result, enum presence presence, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* Set the command that enables it, and what that makes available. */
void result_set_remedy(struct probe_result *result, const char *covers, const char *command, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a kernel parameter. The command is the one that adds it to this host's boot loader,
 * if that is a known one. */
void result_set_boot_remedy(struct probe_result *result, const char *covers, const char *parameter);

/* The kernel lacks it, because it was built without this option (if its configuration is known). */
void result_set_not_built(struct probe_run *run, struct probe_result *result, const char *option);

/* Set the command that gives this program's file capabilities, or the reason why it may not have
 * them. */
void result_set_privilege_remedy(struct probe_run *run, struct probe_result *result);

/* --- facts (probe_run.c) --- */

/* Was this metric measured for the child? Its value. */
bool child_has(const struct probe_run *run, enum metric_id metric);
uint64_t child_value(const struct probe_run *run, enum metric_id metric);

/* The number of threads or processes for which the kernel denied a source. */
uint64_t refused(const struct probe_run *run, const char *source);

/* The text of a file in /proc, without the final newline; false if it cannot be read. */
bool proc_text(struct probe_run *run, const char *path, struct text *ret);

/* Was the kernel built with this option? -1: unknown. */
int kernel_config(struct probe_run *run, const char *option);

/* Does a capability set of this process, as named in /proc/self/status, have all these bits? */
bool has_capabilities(struct probe_run *run, const char *set, uint64_t wanted);

/* CAP_SYSLOG, CAP_PERFMON, CAP_BPF (include/uapi/linux/capability.h). */
#define BPF_CAPABILITIES (1ull << 34 | 1ull << 38 | 1ull << 39)
#define BPF_NAMES        "cap_syslog,cap_perfmon,cap_bpf"

/* Is this process in the initial namespace of a kind, as named in /proc/self/ns? */
bool is_first_namespace(const char *name, unsigned long inode);

/* Is kernel.sched_schedstats 0? Then the kernel counts nothing. Set the command that enables it
 * (thread_probes.c). */
bool schedstats_are_off(struct probe_run *run);
void switch_schedstats_on(struct probe_result *ret);

/* --- kinds of probe --- */

/* thread_probes.c */
probe_look look_threads, look_metric, look_schedstats, look_core_scheduling, look_access;

/* bpf_probes.c */
probe_look look_bpf, look_waits_in_progress, look_heap;

/* delay_probes.c */
probe_look look_taskstats, look_delays, look_peaks, look_irq_delays;

/* host_probes.c */
probe_look look_pressure, look_sched_ext, look_counters;

/* kstats_probes.c */
probe_look look_kernel_functions, look_kstats_bpf, look_kstats_module;

/* cgroup_probes.c */
probe_look look_cgroups, look_controller, look_cgroup_pressure;

#endif
