/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/wanted.h"

#include <stdlib.h>
#include <string.h>

static bool copy(struct tids *ret, const uint32_t *items, size_t count)
{
	if (!count)
		return true;
	if (!array_reserve(ret, count))
		return false;
	memcpy(ret->items, items, count * sizeof(*items));
	ret->count = sort_unique_u32(ret->items, count);
	return true;
}

bool wanted_init(struct wanted *wanted, const struct engine_options *options)
{
	*wanted = (struct wanted){ 0 };
	return copy(&wanted->pids, options->pids, options->pid_count) &&
	       copy(&wanted->tids, options->tids, options->tid_count);
}

static bool has(const struct tids *tids, uint32_t tid)
{
	return tids->count &&
	       bsearch(&tid, tids->items, tids->count, sizeof(*tids->items), compare_u32);
}

bool wanted_is_all(const struct wanted *wanted)
{
	return !wanted->pids.count && !wanted->tids.count;
}

bool wanted_has(const struct wanted *wanted, uint32_t tid, uint32_t tgid)
{
	return wanted_is_all(wanted) || has(&wanted->pids, tgid) || has(&wanted->tids, tid);
}

void wanted_deinit(struct wanted *wanted)
{
	array_deinit(&wanted->pids);
	array_deinit(&wanted->tids);
}
