/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child that has done, just now, what each kernel should have counted: it slept, and it copied a
 * page that it shared.
 */
#ifndef DOCTOR_KID_H
#define DOCTOR_KID_H

#include <sys/types.h>

#include "base/error.h"

struct kid {
	pid_t pid;
	int hold; /* it lives until this is closed */
};

/* Returns when it has done its things and blocks. */
struct error *kid_start(struct kid *ret) MUST_CHECK;

void kid_stop(struct kid *kid);

#endif
