/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the users of the processes.
 */
#ifndef CAPTURE_USERS_H
#define CAPTURE_USERS_H

#include <stdio.h>

#include "snapshot/model.h"

/* Longer lines of passwd(5) are passed over. */
#define USERS_LINE_MAX 4096

/*
 * Name the effective uids of the snapshot's processes by a file of passwd(5): its first line of a
 * uid counts, and a name that is not UTF-8 does not. Ascending by uid. By the file alone, since
 * NSS needs libraries that a static program has not, and may ask the network.
 */
struct error *users_take(struct ctprof_snapshot *snapshot, FILE *passwd) MUST_CHECK;

#endif
