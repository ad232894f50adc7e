/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fuzz targets share. A target is one file in targets/: it defines
 * LLVMFuzzerTestOneInput, and aborts through `must` when a promise of the header it tests is
 * broken, so that the fuzzer looks for wrong answers and not for crashes alone.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "fuzz_target.h"
#include "metric/metric.h"
#include "snapshot/file.h"

/* A copy of the input that ends where its allocation ends, so that one byte too far is seen. */
struct text fuzz_copy(const uint8_t *data, size_t size);
void fuzz_release(struct text text);

/* Is `part` inside `whole`? Parsers may only point into what they were given. */
bool fuzz_is_inside(struct text part, struct text whole);

/* An empty snapshot; there is memory for it. */
struct ctprof_snapshot *fuzz_snapshot(void);

/* Give the bytes of a thread's file to a fresh record, and check what that may not do. */
int fuzz_thread_file(enum metric_source_id source, const uint8_t *data, size_t size);

/* A snapshot's JSON text, in memory the caller frees. */
struct text fuzz_write(const struct ctprof_snapshot *snapshot);

/* Parse JSON in pieces of `piece` bytes. NULL when it was refused, with one line of reason. */
struct ctprof_snapshot *fuzz_parse(struct text json, size_t piece);

/* An error is one line that names its place and can be shown on a terminal; consumes it. */
void fuzz_check_error(struct error *err);

/* Written and read back, a snapshot is the same. */
void fuzz_check_round_trip(const struct ctprof_snapshot *snapshot);

#endif
