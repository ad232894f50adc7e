/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every fuzz target needs, and nothing of ctprof: fuzz.h is for targets of threads of
 * snapshots, and those of profiles have another struct thread_record.
 */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

#endif
