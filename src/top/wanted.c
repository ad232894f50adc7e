/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wanted.h"

#include <stdlib.h>
#include <string.h>

static bool copy_tids(struct tids *ret, const uint32_t *items, size_t count)
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
	return copy_tids(&wanted->pids, options->pids, options->pid_count) &&
	       copy_tids(&wanted->tids, options->tids, options->tid_count);
}

static bool has_tid(const struct tids *tids, uint32_t tid)
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
	return wanted_is_all(wanted) || has_tid(&wanted->pids, tgid) || has_tid(&wanted->tids, tid);
}

static bool is_in_cgroup(const struct state_thread *thread, const char *cgroup)
{
	size_t length = strlen(cgroup);

	/* "/a/" is "/a", and "/" is above all. */
	while (length && cgroup[length - 1] == '/')
		length--;
	return thread->cgroup && strncmp(thread->cgroup->bytes, cgroup, length) == 0 &&
	       (!thread->cgroup->bytes[length] || thread->cgroup->bytes[length] == '/');
}

void wanted_keep(const struct wanted *wanted, const char *cgroup, struct state_reading *reading)
{
	size_t kept = 0;

	for (size_t i = 0; i < reading->threads.count; i++) {
		const struct state_thread *t = &reading->threads.items[i];

		if (wanted_has(wanted, t->tid, t->tgid) && (!cgroup || is_in_cgroup(t, cgroup)))
			reading->threads.items[kept++] = *t;
	}
	reading->threads.count = kept;
}

void wanted_deinit(struct wanted *wanted)
{
	array_deinit(&wanted->pids);
	array_deinit(&wanted->tids);
}
