/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of the stream: an array for each column (doc/serve.md).
 */
#ifndef SERVE_STREAM_COLUMNS_H
#define SERVE_STREAM_COLUMNS_H

#include "base/json_writer.h"

/* Write the member `name`: an array of `value` for each `i` below `count`, written by `put`. */
#define COLUMN_BY(put, w, name, i, count, value)     \
	do {                                         \
		json_key(w, name);                   \
		json_array_begin(w);                 \
		for (size_t i = 0; i < (count); i++) \
			put(w, value);               \
		json_array_end(w);                   \
	} while (0)
#define COLUMN(...) COLUMN_BY(json_u64, __VA_ARGS__)

#endif
