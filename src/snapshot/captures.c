/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/captures.h"

#include <string.h>

bool captures_add(struct captures *captures, struct capture_kept capture)
{
	if (!array_push(captures, capture))
		return false;
	captures->size += capture.size;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct capture_kept *x = a, *y = b;

	return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

void captures_sort(struct captures *captures)
{
	if (captures->count)
		qsort(captures->items, captures->count, sizeof(*captures->items), by_time);
}

size_t captures_surplus(const struct captures *captures, const struct keep *keep, uint64_t now_ms)
{
	uint64_t size = captures->size;
	size_t surplus = 0;

	for (; surplus + 1 < captures->count; surplus++) {
		const struct capture_kept *oldest = &captures->items[surplus];
		bool old = keep->age_ms && oldest->at_ms < now_ms &&
			   now_ms - oldest->at_ms > keep->age_ms;

		if (!old && !(keep->bytes && size > keep->bytes))
			break;
		size -= oldest->size;
	}
	return surplus;
}

void captures_drop(struct captures *captures, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		captures->size -= captures->items[i].size;
		free(captures->items[i].packed);
	}
	captures->count -= count;
	memmove(captures->items, captures->items + count,
		captures->count * sizeof(*captures->items));
}

void captures_range(const struct captures *captures, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = UINT64_MAX;
	*ret_last = 0;
	for (size_t i = 0; i < captures->count; i++) {
		const uint64_t at_ms = captures->items[i].at_ms;

		if (at_ms < *ret_first)
			*ret_first = at_ms;
		if (at_ms > *ret_last)
			*ret_last = at_ms;
	}
}

bool captures_at(const struct captures *captures, uint64_t at_ms, size_t *ret)
{
	bool is_found = false;

	for (size_t i = 0; i < captures->count; i++) {
		const uint64_t ms = captures->items[i].at_ms;

		if (ms > at_ms || (is_found && ms < captures->items[*ret].at_ms))
			continue;
		*ret = i;
		is_found = true;
	}
	return is_found;
}

bool captures_back_to(const struct captures *captures, uint64_t at_ms, size_t *ret)
{
	for (size_t i = captures->count; i > 0; i--)
		if (captures->items[i - 1].at_ms <= at_ms) {
			*ret = i - 1;
			return true;
		}
	return false;
}

void captures_deinit(struct captures *captures)
{
	captures_drop(captures, captures->count);
	array_deinit(captures);
	captures->size = 0;
}
