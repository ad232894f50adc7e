/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/sink.h"

#include <string.h>

#include "base/array.h"

static const struct sink_type *const types[] = { &sink_clickhouse, &sink_pyroscope, &sink_otlp,
						 &sink_parca };

/* The same request would be refused again. */
static bool is_refused(long status)
{
	return status == 400 || status == 413 || status == 415 || status == 422;
}

/* An error of the server, or of a proxy that waited for one, in the middle of it; or a path that is
 * not there. */
static bool is_failure(long status)
{
	return status == 404 || status == 408 || status == 500 || status == 502 || status == 504;
}

void sink_judge_status(const struct sink_answer *answer, struct sink_judgement *ret)
{
	*ret = (struct sink_judgement){
		.verdict = answer->status / 100 == 2    ? SINK_TAKEN
			   : is_refused(answer->status) ? SINK_REFUSED
			   : is_failure(answer->status) ? SINK_FAILED
							: SINK_WAITS,
	};
}

const struct sink_type *sink_type_named(const char *name)
{
	for (size_t i = 0; i < array_length(types); i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}
