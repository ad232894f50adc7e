/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/sink.h"

#include <string.h>

#include "base/array.h"

static const struct sink_type *const types[] = { &sink_clickhouse, &sink_pyroscope, &sink_otlp,
						 &sink_parca };

const struct sink_type *sink_type_named(const char *name)
{
	for (size_t i = 0; i < array_length(types); i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}
