/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which cgroups throttled threads of a profile, because their quota of CPU time had run out.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sum.h"
#include "os/cgroup.h"
#include "sched/reading.h"

/* How long each thread waited for a CPU, in ns. */
static uint64_t *waits_of_threads(const struct profile *profile)
{
	uint64_t *waits = calloc(profile->threads.count + 1, sizeof(*waits));

	for (size_t i = 0; waits && i < profile->samples.count; i++)
		if (profile->samples.items[i].class == CLASS_RUNNABLE)
			sum_add(&waits[profile->samples.items[i].thread],
				profile->samples.items[i].ns);
	return waits;
}

/* The path of a thread's cgroup that has the quota; NULL: unknown. Version 1 needs a thread that
 * still exists: the process's leader stands in for one that has ended, since both are usually in
 * the same cgroup. */
static const char *cgroup_of(int proc, bool is_v1, const struct profile_thread *thread,
			     char room[THROTTLE_PATH])
{
	if (!is_v1)
		return thread->cgroup ? thread->cgroup->bytes : NULL;
	return throttle_path_v1(proc, thread->tid, room) ||
			       throttle_path_v1(proc, thread->tgid, room)
		       ? room
		       : NULL;
}

/* Add the waits of a thread to the quotas of its cgroup and of the cgroups above. */
static void add_waits(struct profile *profile, const char *path, uint64_t ns)
{
	for (size_t i = 0; i < profile->quotas.count; i++) {
		struct profile_quota *quota = &profile->quotas.items[i];

		if (cgroup_is_within(text_of(path), name_text(quota->cgroup)))
			sum_add(&quota->waits_ns, ns);
	}
}

static struct error *add_all_waits(struct profile *profile, bool is_v1)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ uint64_t *waits = waits_of_threads(profile);
	char room[THROTTLE_PATH];

	if (!waits)
		return &error_no_memory;
	for (size_t i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];
		const char *path = waits[i] && !thread->is_kernel
					   ? cgroup_of(proc, is_v1, thread, room)
					   : NULL;

		if (path)
			add_waits(profile, path, waits[i]);
	}
	return NULL;
}

static struct error *put_quota(struct profile *profile, const struct quota *quota,
			       const struct throttle_level *grown)
{
	const struct profile_quota row = {
		.cgroup = profile_name(profile, quota->path, strlen(quota->path)),
		.cpus = (double)grown->quota_us / (double)grown->period_us,
		.periods = grown->periods,
		.throttled = grown->throttled,
		.throttled_ns = grown->wait_us * 1000,
	};

	return row.cgroup && array_push(&profile->quotas, row) ? NULL : &error_no_memory;
}

static int longest_first(const void *a, const void *b)
{
	const struct profile_quota *x = a, *y = b;

	return (x->throttled_ns < y->throttled_ns) - (x->throttled_ns > y->throttled_ns);
}

static struct error *compare_quotas(struct profile *profile, const struct quotas *before,
				    const struct quotas *now)
{
	struct error *err = NULL;

	for (size_t i = 0; i < now->count && !err; i++) {
		const struct throttle_level grown = quotas_growth(before, &now->items[i]);

		if (grown.throttled)
			err = put_quota(profile, &now->items[i], &grown);
	}
	if (err || !profile->quotas.count)
		return err;
	qsort(profile->quotas.items, profile->quotas.count, sizeof(*profile->quotas.items),
	      longest_first);
	return add_all_waits(profile, now->is_v1);
}

void profile_begin_quotas(struct profile_session *session)
{
	if (session->options.quotas)
		quotas_read(&session->quotas);
}

struct error *reading_quotas(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	struct quotas now;
	struct error *err;

	if (!session->options.quotas)
		return NULL;
	quotas_read(&now);
	err = compare_quotas(r->profile, &session->quotas, &now);
	quotas_deinit(&session->quotas);
	session->quotas = now;
	return err;
}
