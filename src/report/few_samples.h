/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be known of few samples: profiles of a side, hosts of a group.
 */
#ifndef REPORT_FEW_SAMPLES_H
#define REPORT_FEW_SAMPLES_H

#include <stdio.h>

/* "From fewer than 4 hosts of a group, only large differences are known.", with `end` after it.
 * Nothing if both sides have as many. */
void few_samples_print(FILE *out, size_t before, size_t after, const char *what, const char *end);

#endif
