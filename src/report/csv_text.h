/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of CSV (RFC 4180).
 */
#ifndef REPORT_CSV_TEXT_H
#define REPORT_CSV_TEXT_H

#include <stdio.h>

#include "base/text.h"

/* Names are shown as on a terminal: what reads CSV may print it on one. */
void csv_text(FILE *out, struct text text);

void csv_u64(FILE *out, uint64_t value);

#endif
