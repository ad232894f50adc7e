/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder doctor/: what a capture can measure on this host, and what prevents the rest. It
 * captures the host, including a child process that has just slept and copied a page; each row of
 * the table of probes checks whether its value was captured, so doctor cannot disagree with a
 * capture. Only the reason for a missing value is searched elsewhere (a sysctl, a mount option,
 * capabilities, the kernel's configuration). No kernel version is compared.
 */

/*
 * Run all probes.
 *
 *	struct probe_result *results;
 *	err = doctor_run(NULL, NULL, &results);
 *	for (size_t i = 0; !err && i < probe_count; i++)
 *		printf("%s: %s\n", probes[i].name, presence_names[results[i].presence]);
 *	probe_results_destroy(results);
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/array.h"
#include "base/error.h"
#include "metric/metric.h"

enum presence {
	PRESENCE_NO,
	PRESENCE_PARTLY, /* for some threads, processes or cgroups only */
	PRESENCE_YES,
	PRESENCE_COUNT
};

/* By enum presence: "no", "partly", "yes". */
extern const char *const presence_names[PRESENCE_COUNT];

/* The result owns its texts, which may be NULL. */
struct probe_result {
	enum presence presence;
	char *why;     /* why it is missing or incomplete */
	char *command; /* the shell command by which root enables it, if there is one */
	char *boot;    /* the kernel parameter that enables it, if there is one */
	char *covers;  /* what the command or the parameter makes available */
};

struct probe_run;
struct probe;

/* Checks a source and fills in the result, which is all zero before. */
typedef void probe_look(struct probe_run *run, const struct probe *probe, struct probe_result *ret);

struct probe {
	const char *name;  /* of the source or capability */
	const char *gives; /* what it provides, for people */
	probe_look *look;
	/* The subject of `look`; each kind of check uses some of these members. */
	enum metric_id metric;
	const char *config; /* without CONFIG_ */
	const char *source; /* the name under which a capture counts refusals */
	bool per_process;   /* refusals are counted for processes, not for threads */
	size_t reading; /* offset of the member in struct cgroup_counters that this file fills */
};

extern const struct probe probes[];
extern const size_t probe_count;

/* The name of a probe; NULL after the last. */
const char *probe_name(size_t number);

/* Capture the host and run all probes. *ret has probe_count results; the caller destroys them.
 * `progress` may be NULL; it is called as by capture_run. */
struct error *doctor_run(void (*progress)(void *context, size_t done, size_t total),
			 void *progress_context, struct probe_result **ret) MUST_CHECK;

/* Takes NULL. */
void probe_results_destroy(struct probe_result *results);
DEFINE_CLEANUP(probe_results_destroy, struct probe_result *)

#endif
