/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child process that has just done what every kernel should count: it slept, and it copied a page
 * that it shared with its parent.
 */
#ifndef DOCTOR_PROBE_CHILD_H
#define DOCTOR_PROBE_CHILD_H

#include <sys/types.h>

#include "base/error.h"

struct probe_child {
	pid_t pid;
	int hold; /* the child exits when this is closed */
};

/* Start the child, and wait until it has done so and blocks. */
struct error *probe_child_start(struct probe_child *ret) MUST_CHECK;

void probe_child_stop(struct probe_child *child);

#endif
