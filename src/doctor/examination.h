/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the probes share: the capture that is looked at, and how a finding is put together.
 */
#ifndef DOCTOR_EXAMINATION_H
#define DOCTOR_EXAMINATION_H

#include "base/file.h"
#include "capture/capture.h"
#include "doctor/doctor.h"
#include "os/cgroup.h"
#include "os/cgroup_tree.h"

struct examination {
	struct ctprof_snapshot *snapshot; /* of the whole host */
	const struct ctprof_thread *kid;  /* the child in it */
	int proc;                         /* /proc */
	struct file_buffer buffer;
	struct cgroup_tree cgroups;
};

/* --- findings (examination.c) --- */

void find_whole(struct finding *finding);

/* It is not there, or only partly, because ... */
void find_lack(struct finding *finding, enum presence presence, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* The command that mends it, and what is measured then. */
void find_remedy(struct finding *finding, const char *covers, const char *command, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a parameter of the kernel's command line; the command is the one that adds it here.
 */
void find_boot_remedy(struct finding *finding, const char *covers, const char *parameter);

/* The kernel was built without this option (if that can be told), and nothing else helps. */
void find_not_built(struct examination *e, struct finding *finding, const char *option);

/* File capabilities that this program's file may get at once; or why it may not. */
void find_privilege_remedy(struct examination *e, struct finding *finding);

/* One word for a shell, whatever the bytes. NULL without memory; the caller frees it. */
char *shell_quoted(struct text text);

/* --- facts (examination.c) --- */

/* Does the child have a value of this metric; and which? */
bool kid_has(const struct examination *e, enum metric_id metric);
uint64_t kid_value(const struct examination *e, enum metric_id metric);

/* How many were refused a source, by its name. */
uint64_t refused(const struct examination *e, const char *source);

/* The text of a file below /proc, without the newline at its end; false when it cannot be read. */
bool proc_text(struct examination *e, const char *path, struct text *ret);

/* Is an option set in the configuration that the kernel was built with? -1: unknown. */
int kernel_config(struct examination *e, const char *option);

/* Are all these capabilities (a bit each) in a set of ours, as /proc/self/status names it? */
bool has_capabilities(struct examination *e, const char *set, uint64_t wanted);

/* CAP_SYSLOG, CAP_PERFMON, CAP_BPF (include/uapi/linux/capability.h). */
#define BPF_CAPABILITIES (1ull << 34 | 1ull << 38 | 1ull << 39)
#define BPF_NAMES        "cap_syslog,cap_perfmon,cap_bpf"

/* Is a namespace of this process (as below /proc/self/ns) the one that the kernel began with? */
bool is_first_namespace(const char *name, unsigned long inode);

/* Nothing is counted while kernel.sched_schedstats is 0, and this turns it on (thread_probes.c). */
bool schedstats_are_off(struct examination *e);
void switch_schedstats_on(struct finding *ret);

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
