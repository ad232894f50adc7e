/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the output of `ctprof show-host`.
 */
#ifndef REPORT_HOST_REPORT_H
#define REPORT_HOST_REPORT_H

#include <stdio.h>

#include "snapshot/model.h"

/* Print the host context, "key: value" a line and "(unknown)" for what is not; NULL: there is none.
 */
void report_host(FILE *out, const struct host_context *host);

#endif
