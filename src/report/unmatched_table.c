/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/unmatched_table.h"

#include <stdlib.h>

#include "report/group_table.h"

struct error *unmatched_table_print(const struct report *report, bool before,
				    struct table_options options)
{
	const struct unmatched *unmatched = before ? &report->only_before : &report->only_after;
	_cleanup_free_ const struct group **groups =
		calloc(unmatched->count + 1, sizeof(struct group *));
	_cleanup_free_ uint32_t *keys = calloc(unmatched->count + 1, sizeof(*keys));

	if (!groups || !keys)
		return &error_no_memory;
	for (size_t i = 0; i < unmatched->count; i++) {
		groups[i] = unmatched->items[i].group;
		keys[i] = unmatched->items[i].key;
	}
	return group_table_print(report, groups, keys, unmatched->count, unmatched->left_out,
				 options);
}
