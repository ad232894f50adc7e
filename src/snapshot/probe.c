/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/probe.h"

const struct probe_failure_info probe_failures[PROBE_FAILURE_COUNT] = {
#define FAILURE(id, tag, counts, prose) [PROBE_##id] = { tag, prose, counts },
	PROBE_FAILURES(FAILURE)
#undef FAILURE
};

const char *probe_failure_prose(struct text tag)
{
	for (enum probe_failure i = PROBE_DONE + 1; i < PROBE_FAILURE_COUNT; i++)
		if (text_equal(tag, text_of(probe_failures[i].tag)))
			return probe_failures[i].prose;
	return NULL;
}
