/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/user_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/worker_pool.h"
#include "os/process_user.h"
#include "os/tasks.h"

/*
 * The state that the thread shares with its caller. The thread reads a process without the lock,
 * then takes the lock to publish the result, which it drops if the caller has given up.
 */
struct process_search {
	struct worker_pool workers;
	const struct user_kind *kind;
	struct tids pids;
	size_t next;    /* the next of these; the one before is being searched */
	uint32_t user;  /* of that one */
	bool has_begun; /* this thread: with one */
	struct user_limits limits;
	struct word_map seen; /* device and inode of what is there */
	struct user_made made;
	struct error *err;
};

/* The search of one process. */
struct turn {
	struct process_search *search;
	size_t metrics; /* of it so far */
};

static void lock(struct process_search *search)
{
	pthread_mutex_lock(&search->workers.lock);
}

static void unlock(struct process_search *search)
{
	pthread_mutex_unlock(&search->workers.lock);
}

static bool is_left(const struct process_search *search)
{
	return atomic_load(&search->workers.stop);
}

static void leave_search(struct process_search *search)
{
	if (!worker_pool_leave(&search->workers))
		return;
	for (size_t i = 0; i < search->made.count; i++)
		search->kind->destroy(search->made.items[i]);
	array_deinit(&search->made);
	array_deinit(&search->pids);
	user_limits_deinit(&search->limits);
	word_map_deinit(&search->seen);
	error_destroy(search->err);
	free(search);
}

/* --- a metric; with the lock --- */

static struct words metric_key(const struct user_found *found)
{
	return (struct words){ { found->inode, found->device } };
}

static void omit(struct process_search *search, uint32_t user, uint32_t pid, const char *name,
		 enum user_omission why)
{
	struct user_omitted omitted = {
		.user = user, .pid = pid, .why = why, .is_of_one = true, .count = 1
	};

	snprintf(omitted.name, sizeof(omitted.name), "%s", name);
	if (!user_limits_omit(&search->limits, &omitted) && !search->err)
		search->err = &error_no_memory;
}

/* Processes that forked have the same one: it is there once, by the lowest number. */
static bool is_metric_wanted(struct process_search *search, const struct turn *turn,
			     const struct user_found *found, size_t *ret_slots)
{
	struct user_share *share = user_limits_share(&search->limits, search->user);
	enum user_omission why;

	if (word_map_find(&search->seen, metric_key(found)) != WORD_MAP_NEW)
		return false;
	if (!share) {
		search->err = &error_no_memory;
		return false;
	}
	if (user_limits_refuse_metric(&search->limits, share, turn->metrics, &why)) {
		omit(search, share->user, found->pid, found->name, why);
		return false;
	}
	*ret_slots = search->kind->rows ? user_limits_slots(&search->limits, share, &why) : 0;
	return true;
}

static const struct {
	int failed;
	enum user_omission why;
} omissions[] = {
	{ EAGAIN, USER_OMITTED_RESETS },
	{ EBUSY, USER_OMITTED_LEASE },
	{ E2BIG, USER_OMITTED_CPUS },
};

/* Note the reason why a metric was refused. One that is inaccessible, invalid or gone is left out
 * silently. */
static void take_refusal(struct process_search *search, const struct user_found *found, int failed)
{
	enum user_omission why;

	if (failed == ENOSPC) {
		user_limits_slots(&search->limits, user_limits_share(&search->limits, search->user),
				  &why);
		omit(search, search->user, found->pid, found->name, why);
		return;
	}
	for (size_t i = 0; i < array_length(omissions); i++)
		if (omissions[i].failed == failed)
			omit(search, search->user, found->pid, found->name, omissions[i].why);
}

static bool take_made(struct process_search *search, const struct user_found *found,
		      struct user_share *share, void *made, size_t slots)
{
	uint32_t *place;

	if (!array_push(&search->made, made))
		return false;
	place = word_map_at(&search->seen, metric_key(found));
	if (place)
		*place = 0;
	share->metrics++;
	search->limits.all.metrics++;
	share->slots += slots;
	search->limits.all.slots += slots;
	return place != NULL;
}

/* --- a process; in the thread --- */

/* Without the lock: all of it may hang. */
static struct error *read_found(const struct process_search *search, const struct user_found *found,
				size_t slots_left, uint64_t *ret_bytes, size_t *ret_slots,
				void **ret)
{
	const struct user_kind *kind = search->kind;
	struct kstats_region region;
	struct error *err = user_found_open(found, false, &region);
	size_t slots;

	*ret_bytes = *ret_slots = 0;
	if (err)
		return err;
	slots = BUCKET_SLOTS(region.header.frac_bits);
	err = kind->make(found, &region, slots_left / slots, ret);
	*ret_bytes = region.looked_at;
	if (!err && kind->rows)
		*ret_slots = kind->rows(*ret) * slots;
	kstats_region_unmap(&region);
	return err;
}

static bool take_metric(void *context, const struct user_found *found)
{
	struct turn *turn = context;
	struct process_search *search = turn->search;
	_cleanup_error_ struct error *err = NULL;
	struct user_share *share;
	size_t slots_left, slots;
	void *made = NULL;
	uint64_t bytes;
	bool goes_on;

	lock(search);
	goes_on = !is_left(search);
	if (!goes_on || !is_metric_wanted(search, turn, found, &slots_left)) {
		goes_on &= !search->err;
		unlock(search);
		return goes_on;
	}
	unlock(search);
	err = read_found(search, found, slots_left, &bytes, &slots, &made);
	worker_pool_step(&search->workers);
	lock(search);
	goes_on = !is_left(search);
	if (goes_on) {
		share = user_limits_share(&search->limits, search->user);
		share->bytes += bytes;
		turn->metrics++;
		if (err == &error_no_memory)
			search->err = &error_no_memory;
		else if (err)
			take_refusal(search, found, err->errnum);
		else if (take_made(search, found, share, made, slots))
			made = NULL;
		else
			search->err = &error_no_memory;
		goes_on = !search->err;
	}
	unlock(search);
	if (made)
		search->kind->destroy(made);
	return goes_on;
}

/* False: it is left out. With the lock. */
static bool begin_process(struct process_search *search, uint32_t pid, uint32_t user)
{
	struct user_share *share = user_limits_share(&search->limits, user);
	enum user_omission why;

	search->user = user;
	if (!share)
		search->err = &error_no_memory;
	else if (user_limits_refuse_process(&search->limits, share, &why))
		omit(search, user, pid, "", why);
	else
		return true;
	return false;
}

static uint64_t process_time_limit(uint32_t user)
{
	return user ? USER_PROCESS_TIME_NS : 0;
}

static void search_process(struct process_search *search, uint32_t pid)
{
	const uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct turn turn = { .search = search };
	uint32_t user = process_user(pid);
	bool is_wanted;
	int failed;

	lock(search);
	is_wanted = user != UINT32_MAX && !is_left(search) && begin_process(search, pid, user);
	unlock(search);
	if (!is_wanted)
		return;
	failed = user_found_each(pid, process_time_limit(user), take_metric, &turn);
	lock(search);
	if (!is_left(search)) {
		struct user_share *share = user_limits_share(&search->limits, user);

		share->time_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
		if (failed == ETIME)
			omit(search, user, pid, "", USER_OMITTED_PROCESS_TIME);
	}
	unlock(search);
}

static void *search_processes(void *context)
{
	struct process_search *search = context;

	for (;;) {
		uint32_t pid = 0;

		lock(search);
		if (!is_left(search) && !search->err && search->next < search->pids.count)
			pid = search->pids.items[search->next++];
		search->has_begun |= pid != 0;
		unlock(search);
		if (!pid)
			break;
		search_process(search, pid);
		worker_pool_step(&search->workers);
	}
	worker_pool_finish(&search->workers);
	leave_search(search);
	return NULL;
}

/* --- all of it --- */

static struct error *create_search(const struct user_kind *kind, struct process_search **ret)
{
	struct process_search *search = calloc(1, sizeof(*search));

	if (!search)
		return &error_no_memory;
	worker_pool_init(&search->workers);
	search->workers.patience_ns = USER_PATIENCE_NS;
	search->kind = kind;
	*ret = search;
	return NULL;
}

/* Make a search that continues after the process at which another one hangs, with its results. */
static struct error *search_behind(struct process_search *hanging, struct process_search **ret)
{
	struct user_share *share;
	struct process_search *search;
	struct error *err = create_search(hanging->kind, &search);

	if (err)
		return err;
	lock(hanging);
	search->pids = hanging->pids;
	search->next = hanging->next;
	search->limits = hanging->limits;
	search->seen = hanging->seen;
	search->made = hanging->made;
	search->err = hanging->err;
	memset(&hanging->pids, 0, sizeof(hanging->pids));
	memset(&hanging->limits, 0, sizeof(hanging->limits));
	memset(&hanging->seen, 0, sizeof(hanging->seen));
	memset(&hanging->made, 0, sizeof(hanging->made));
	hanging->err = NULL;
	share = user_limits_share(&search->limits, hanging->user);
	if (!hanging->has_begun) {
		/* The thread got no CPU: this is not the fault of a process. */
	} else if (share) {
		share->hangs++;
		search->limits.all.hangs++;
		omit(search, hanging->user, search->pids.items[search->next - 1], "",
		     USER_OMITTED_HANGS);
	} else {
		search->err = &error_no_memory;
	}
	unlock(hanging);
	*ret = search;
	return NULL;
}

/* Search all processes. `*search` is replaced if the first one hangs. */
static struct error *run_search(struct process_search **search)
{
	for (;;) {
		struct process_search *next;
		struct error *err;

		if (!worker_pool_start(&(*search)->workers, search_processes, *search))
			return error_create("cannot create a thread to read processes");
		if (worker_pool_wait(&(*search)->workers, 0))
			break;
		err = search_behind(*search, &next);
		if (err)
			return err;
		leave_search(*search);
		*search = next;
	}
	return take_ptr((*search)->err);
}

struct error *user_search(const struct user_kind *kind, struct user_made *made,
			  struct kstats_notes *notes)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process_search *search;
	struct error *err = create_search(kind, &search);
	int failed;

	if (err)
		return err;
	failed = proc < 0 ? errno : tasks_list(proc, &search->pids);
	err = failed ? error_system(failed, "/proc") : run_search(&search);
	if (!err)
		err = user_limits_notes(&search->limits, notes);
	if (!err) {
		*made = search->made;
		memset(&search->made, 0, sizeof(search->made));
	}
	leave_search(search);
	return err;
}

/* --- by name --- */

struct named {
	struct worker_pool workers;
	struct user_found wanted;
	bool writable;
	struct kstats_region region; /* its bytes are NULL: there is none */
	struct error *err;
};

static void leave_named(struct named *named)
{
	if (!worker_pool_leave(&named->workers))
		return;
	if (named->region.bytes)
		kstats_region_unmap(&named->region);
	error_destroy(named->err);
	free(named);
}

static bool take_named(void *context, const struct user_found *found)
{
	struct user_found *wanted = context;

	if (strcmp(wanted->name, found->name) != 0)
		return true;
	*wanted = *found;
	return false;
}

static struct error *open_named(struct user_found *wanted, bool writable, struct kstats_region *ret)
{
	int failed = user_found_each(wanted->pid, 0, take_named, wanted);

	if (wanted->inode)
		return user_found_open(wanted, writable, ret);
	if (failed == ENOENT || failed == ESRCH)
		return error_coded(ENOENT, "metric %u:%s: no process %u", wanted->pid, wanted->name,
				   wanted->pid);
	if (failed)
		return user_found_refused(wanted, failed);
	return error_coded(ENOENT, "process %u has no metric '%s'", wanted->pid, wanted->name);
}

static void *look_for_named(void *context)
{
	struct named *named = context;

	named->err = open_named(&named->wanted, named->writable, &named->region);
	worker_pool_finish(&named->workers);
	leave_named(named);
	return NULL;
}

struct error *user_search_named(uint32_t pid, const char *name, bool writable,
				struct kstats_region *ret)
{
	struct named *named = calloc(1, sizeof(*named));
	struct error *err = NULL;

	if (!named)
		return &error_no_memory;
	worker_pool_init(&named->workers);
	named->workers.patience_ns = USER_PATIENCE_NS;
	named->wanted.pid = pid;
	named->writable = writable;
	snprintf(named->wanted.name, sizeof(named->wanted.name), "%s", name);
	if (!worker_pool_start(&named->workers, look_for_named, named)) {
		err = error_create("cannot create a thread to read process %u", pid);
	} else if (!worker_pool_wait(&named->workers, 0)) {
		err = error_coded(ETIMEDOUT,
				  "metric %u:%s: the kernel did not answer about its process for "
				  "5 s",
				  pid, name);
	} else {
		err = take_ptr(named->err);
		*ret = named->region;
		named->region = (struct kstats_region){ .fd = -1 };
	}
	leave_named(named);
	return err;
}
