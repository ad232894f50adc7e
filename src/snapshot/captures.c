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

bool captures_at(const struct captures *captures, uint64_t at_ms, size_t *ret)
{
	size_t low = 0, high = captures->count;

	/* The first one that is later. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (captures->items[middle].at_ms <= at_ms)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	*ret = low - 1;
	return true;
}

void captures_deinit(struct captures *captures)
{
	captures_drop(captures, captures->count);
	array_deinit(captures);
	captures->size = 0;
}
