/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/stat.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"

bool stat_parse(struct text bytes, struct stat_line *ret)
{
	const char *open = memchr(bytes.bytes, '(', bytes.length);
	const char *close = memrchr(bytes.bytes, ')', bytes.length);
	struct text rest;

	if (!open || !close || close < open)
		return false;
	*ret = (struct stat_line){ .comm = { open + 1, (size_t)(close - open - 1) } };
	rest = (struct text){ close + 1, (size_t)(bytes.bytes + bytes.length - close - 1) };
	for (unsigned column = STAT_STATE; column <= STAT_COLUMNS; column++)
		if (!text_word(&rest, &ret->columns[column]))
			break;
	return true;
}

const char *policy_name(char buffer[POLICY_NAME_MAX], uint64_t policy)
{
	static const char *const names[] = {
		[0] = "SCHED_OTHER", [1] = "SCHED_FIFO",     [2] = "SCHED_RR",  [3] = "SCHED_BATCH",
		[5] = "SCHED_IDLE",  [6] = "SCHED_DEADLINE", [7] = "SCHED_EXT",
	};

	if (policy < array_length(names) && names[policy])
		return names[policy];
	snprintf(buffer, POLICY_NAME_MAX, "SCHED_UNKNOWN(%" PRIu64 ")", policy);
	return buffer;
}
