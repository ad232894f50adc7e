/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /tmp/perf-PID.map: the functions that a process compiled for itself, as it says; a line
 * "START SIZE name" each, numbers in hexadecimal (tools/perf/Documentation/jit-interface.txt).
 *
 * Code is thrown away and its place used again: of functions that overlap the later line counts.
 */
#ifndef ELF_PERF_MAP_H
#define ELF_PERF_MAP_H

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

/* Larger files are not read; of more lines, only the first are. */
#define PERF_MAP_SIZE_MAX  ((uint64_t)128 << 20)
#define PERF_MAP_LINES_MAX ((size_t)4 << 20)

struct perf_map_entry {
	uint64_t start, end;
	struct text name; /* never empty */
	uint32_t line;    /* later ones have larger numbers */
};

/* The next line that is one of a function; others are passed over. False at the end, with `ret`
 * untouched; `line` is left alone. The name points into `rest`. */
bool perf_map_next(struct text *rest, struct perf_map_entry *ret);

struct perf_map {
	ARRAY(struct perf_map_entry);
};

/* All lines, by address; the names point into `bytes`. */
struct error *perf_map_parse(struct text bytes, struct perf_map *ret) MUST_CHECK;
void perf_map_deinit(struct perf_map *map);

/* The function that has this address; NULL: none. */
const struct perf_map_entry *perf_map_find(const struct perf_map *map, uint64_t address);

#endif
