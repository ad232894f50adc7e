/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The labels of a program for Pyroscope and Parca: names are unique and valid for Prometheus,
 * values are valid UTF-8 and never empty.
 *
 *	__name__       process_cpu
 *	service_name   the program
 *	host           the host
 *	process        the pattern of the name of the process
 *	cgroup         its path                                      where it is known
 *	container, pod of the path                                   where there are such
 *	...            those of the agent's configuration
 */
#ifndef AGENT_LABELS_H
#define AGENT_LABELS_H

#include "agent/interval.h"
#include "agent/programs.h"

/* Pyroscope takes 30 by default, with "comm" of samples. */
#define LABELS_MOST 29

/* The name of profiles: Pyroscope and Parca list the types of values below it. */
#define LABELS_PROFILE_NAME "process_cpu"

struct labels {
	struct agent_label all[LABELS_MOST];
	size_t count;
	struct arena arena; /* of names and values */
};

/* A label of the configuration whose name is reserved or used already gets the prefix "agent_". It
 * is left out if that name is used, too, or if there are LABELS_MOST. */
struct error *labels_make(struct labels *labels, const struct agent_identity *identity,
			  const struct push_program *program) MUST_CHECK;
void labels_deinit(struct labels *labels);

#endif
