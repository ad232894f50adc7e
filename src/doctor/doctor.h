/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder doctor/: what a capture gets on this host, and why not more. It captures the host
 * with a child in it that has just slept and copied a page; each row of the table of probes looks
 * whether its number came back, so doctor cannot disagree with a capture. Only the reason for a
 * missing number is searched elsewhere (a sysctl, a mount option, capabilities, the kernel's
 * configuration).
 */

/*
 * What a capture gets on this host, and what would give it more.
 *
 *	struct finding *findings;
 *	err = doctor_examine(NULL, NULL, &findings);
 *	for (size_t i = 0; !err && i < probe_count; i++)
 *		printf("%s: %s\n", probes[i].name, presence_names[findings[i].presence]);
 *	findings_destroy(findings);
 *
 * Nothing is looked up by the version of the kernel: a whole capture is made, with a child in it
 * that has just slept and copied a page, and each probe looks whether the number it stands for came
 * back. Only the reason for one that did not is searched for elsewhere.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/array.h"
#include "base/error.h"
#include "metric/metric.h"

enum presence {
	PRESENCE_NO,
	PRESENCE_PARTLY, /* of some threads, processes or cgroups only */
	PRESENCE_YES,
	PRESENCE_COUNT
};

/* By enum presence: "no", "partly", "yes". */
extern const char *const presence_names[PRESENCE_COUNT];

/* All texts are NULL where there is nothing to say; the owner is the finding. */
struct finding {
	enum presence presence;
	char *why;     /* it is not there, or not whole */
	char *command; /* turns it on, typed by root into a shell; NULL: no command does */
	char *boot;    /* the parameter that the kernel must be booted with; NULL: none */
	char *covers;  /* what is measured then; NULL where neither helps */
};

struct examination;
struct probe;

/* Fills a finding that is all zero. */
typedef void probe_look(struct examination *e, const struct probe *probe, struct finding *ret);

struct probe {
	const char *name;  /* of the source or capability */
	const char *gives; /* what one learns by it */
	probe_look *look;
	/* The subject of the probe; only some kinds have one. */
	enum metric_id metric;
	const char *config; /* without CONFIG_ */
	const char *source; /* by the name that refusals are counted under */
	bool per_process;   /* it is refused for processes, not for threads */
	size_t reading;     /* offset of a reading in struct cgroup */
};

extern const struct probe probes[];
extern const size_t probe_count;

/* The name of a probe; NULL after the last. */
const char *probe_name(size_t number);

/* Look at everything: probe_count findings, to be destroyed by the caller. `progress` (may be NULL)
 * is called as by capture_run. */
struct error *doctor_examine(void (*progress)(void *context, size_t done, size_t total),
			     void *progress_context, struct finding **ret) MUST_CHECK;

/* Takes NULL. */
void findings_destroy(struct finding *findings);
DEFINE_CLEANUP(findings_destroy, struct finding *)

#endif
