/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/table_makers.h"

#include <pthread.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/names.h"
#include "base/thread.h"
#include "base/word_map.h"
#include "os/cpulist.h"
#include "os/process_user.h"
#include "profile/kept.h"

/* Two at least: one may hang. */
#define MAKERS_MIN  2
#define MAKERS_MAX  4
#define HANGING_MAX 32

/* Files of one user other than root that wait to be read. */
#define QUEUED_MAX 4096

/* Nothing takes as long as this but a file system that does not answer. */
#define PATIENCE_NS (20ull * NS_PER_S)

struct job {
	STAILQ_ENTRY(job) next;
	uint32_t pid;
	uint32_t user; /* of the process */
	struct profile_mapping mapping;
	struct words identity;
	struct name *path; /* of the mapping */
	struct made_table made;
};

STAILQ_HEAD(jobs, job);

struct maker {
	struct table_makers *makers;
	uint64_t busy_since_ns; /* 0: it waits for work */
	uint32_t user;          /* for whom it works */
	bool is_there, hangs;
};

struct table_makers {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct jobs asked, made;
	struct word_map queued; /* jobs in `asked`, by user */
	struct unwind_cache *cache;
	struct kept *kept;
	struct maker makers[MAKERS_MAX + HANGING_MAX];
	unsigned users, most;
	bool is_over;
};

/* --- jobs --- */

static void destroy_job(struct job *job)
{
	if (!job)
		return;
	mapped_file_deinit(&job->made.file);
	free(job->path);
	free(job);
}

void made_table_destroy(struct made_table *made)
{
	if (made)
		destroy_job((struct job *)((char *)made - offsetof(struct job, made)));
}

/* Of its own: who asks may be gone when a file answers. */
static struct name *copy_name(const struct name *name)
{
	size_t size = sizeof(*name) + name->length + 1;
	struct name *copy = malloc(size);

	return copy ? memcpy(copy, name, size) : NULL;
}

static struct job *create_job(uint32_t pid, const struct profile_mapping *mapping,
			      const struct words *identity, uint32_t number)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	*job = (struct job){
		.pid = pid,
		.user = process_user(pid),
		.mapping = *mapping,
		.identity = *identity,
		.path = copy_name(mapping->path),
		.made.number = number,
	};
	job->mapping.path = job->path;
	if (job->path)
		return job;
	destroy_job(job);
	return NULL;
}

static struct job *take_first(struct jobs *jobs)
{
	struct job *job = STAILQ_FIRST(jobs);

	if (job)
		STAILQ_REMOVE_HEAD(jobs, next);
	return job;
}

static void destroy_jobs(struct jobs *jobs)
{
	struct job *job;

	while ((job = take_first(jobs)))
		destroy_job(job);
}

/* --- threads --- */

static void leave(struct table_makers *makers)
{
	bool last;

	pthread_mutex_lock(&makers->lock);
	last = --makers->users == 0;
	pthread_mutex_unlock(&makers->lock);
	if (!last)
		return;
	destroy_jobs(&makers->asked);
	destroy_jobs(&makers->made);
	word_map_deinit(&makers->queued);
	unwind_cache_close(makers->cache);
	kept_release(makers->kept);
	pthread_cond_destroy(&makers->work);
	pthread_cond_destroy(&makers->done);
	pthread_mutex_destroy(&makers->lock);
	free(makers);
}

/* Half of the makers are left to others, and one that hangs is enough. With the lock. */
static bool may_work(const struct table_makers *makers, uint32_t user)
{
	unsigned busy = 0;

	for (size_t i = 0; process_user_is_stranger(user) && i < array_length(makers->makers);
	     i++) {
		const struct maker *maker = &makers->makers[i];

		if (!maker->is_there || !maker->busy_since_ns || maker->user != user)
			continue;
		if (maker->hangs)
			return false;
		busy++;
	}
	return busy < (makers->most + 1) / 2;
}

static void count_queued(struct table_makers *makers, uint32_t user, int change)
{
	uint32_t *queued = word_map_at(&makers->queued, (struct words){ { user } });

	if (queued)
		*queued = (*queued == WORD_MAP_NEW ? 0 : *queued) + (uint32_t)change;
}

/* The first one whose user has a maker left. With the lock. */
static struct job *take_job(struct table_makers *makers)
{
	struct job *job;
	uint32_t refused = 0; /* root, who never is */

	STAILQ_FOREACH(job, &makers->asked, next)
	{
		if (refused && job->user == refused)
			continue;
		if (may_work(makers, job->user)) {
			STAILQ_REMOVE(&makers->asked, job, job, next);
			count_queued(makers, job->user, -1);
			return job;
		}
		refused = job->user;
	}
	return NULL;
}

static struct job *wait_for_job(struct table_makers *makers)
{
	struct job *job = NULL;

	while (!makers->is_over && !(job = take_job(makers)))
		pthread_cond_wait(&makers->work, &makers->lock);
	return job;
}

static void *make(void *argument)
{
	struct maker *maker = argument;
	struct table_makers *makers = maker->makers;
	struct job *job;

	pthread_mutex_lock(&makers->lock);
	while (!maker->hangs && (job = wait_for_job(makers))) {
		maker->busy_since_ns = clock_ns(CLOCK_MONOTONIC);
		maker->user = job->user;
		pthread_mutex_unlock(&makers->lock);
		mapped_file_make(job->pid, &job->mapping, &job->identity, makers->cache,
				 makers->kept, &job->made.file);
		pthread_mutex_lock(&makers->lock);
		maker->busy_since_ns = 0;
		STAILQ_INSERT_TAIL(&makers->made, job, next);
		pthread_cond_signal(&makers->done);
		/* The user's next one may have waited for this one. */
		pthread_cond_signal(&makers->work);
	}
	/* One that did not hang for ever has a successor. */
	maker->is_there = maker->hangs = false;
	pthread_mutex_unlock(&makers->lock);
	leave(makers);
	return NULL;
}

/* Another one, up to as many as there may be beside those who hang. With the lock. */
static void start_maker(struct table_makers *makers)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct maker *vacant = NULL;
	unsigned working = 0;

	for (size_t i = 0; i < array_length(makers->makers); i++) {
		struct maker *maker = &makers->makers[i];

		if (!maker->is_there) {
			vacant = maker;
			continue;
		}
		if (maker->busy_since_ns && now - maker->busy_since_ns > PATIENCE_NS)
			maker->hangs = true;
		working += !maker->hangs;
	}
	if (!vacant || working == makers->most)
		return;
	*vacant = (struct maker){ .makers = makers, .is_there = true };
	makers->users++;
	if (thread_start_confined(THREAD_PARSER, make, vacant))
		return;
	makers->users--;
	vacant->is_there = false;
}

/* --- for who asks --- */

/* With the lock. */
static bool is_crowded(const struct table_makers *makers, uint32_t user)
{
	uint32_t queued = word_map_find(&makers->queued, (struct words){ { user } });

	return process_user_is_stranger(user) && queued != WORD_MAP_NEW && queued >= QUEUED_MAX;
}

struct error *table_makers_create(struct unwind_cache *cache, struct kept *kept,
				  struct table_makers **ret)
{
	struct table_makers *makers = calloc(1, sizeof(*makers));
	const unsigned cpus = cpus_online();
	pthread_condattr_t clock;

	if (!makers) {
		unwind_cache_close(cache);
		return &error_no_memory;
	}
	makers->cache = cache;
	makers->kept = kept_share(kept);
	makers->users = 1;
	makers->most = cpus < MAKERS_MIN ? MAKERS_MIN : cpus < MAKERS_MAX ? cpus : MAKERS_MAX;
	STAILQ_INIT(&makers->asked);
	STAILQ_INIT(&makers->made);
	pthread_mutex_init(&makers->lock, NULL);
	pthread_cond_init(&makers->work, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&makers->done, &clock);
	pthread_condattr_destroy(&clock);
	*ret = makers;
	return NULL;
}

bool table_makers_ask(struct table_makers *makers, uint32_t pid,
		      const struct profile_mapping *mapping, const struct words *identity,
		      uint32_t number)
{
	struct job *job = create_job(pid, mapping, identity, number);

	if (!job)
		return false;
	pthread_mutex_lock(&makers->lock);
	if (is_crowded(makers, job->user)) {
		pthread_mutex_unlock(&makers->lock);
		destroy_job(job);
		return false;
	}
	STAILQ_INSERT_TAIL(&makers->asked, job, next);
	count_queued(makers, job->user, 1);
	start_maker(makers);
	pthread_cond_signal(&makers->work);
	pthread_mutex_unlock(&makers->lock);
	return true;
}

struct made_table *table_makers_take(struct table_makers *makers)
{
	struct job *job;

	pthread_mutex_lock(&makers->lock);
	/* Somebody may have begun to hang since. */
	if (!STAILQ_EMPTY(&makers->asked))
		start_maker(makers);
	job = take_first(&makers->made);
	pthread_mutex_unlock(&makers->lock);
	return job ? &job->made : NULL;
}

void table_makers_wait(struct table_makers *makers, uint64_t until_ns)
{
	const struct timespec until = clock_moment(until_ns);

	pthread_mutex_lock(&makers->lock);
	while (STAILQ_EMPTY(&makers->made) &&
	       !pthread_cond_timedwait(&makers->done, &makers->lock, &until))
		;
	pthread_mutex_unlock(&makers->lock);
}

void table_makers_destroy(struct table_makers *makers)
{
	if (!makers)
		return;
	pthread_mutex_lock(&makers->lock);
	makers->is_over = true;
	pthread_cond_broadcast(&makers->work);
	pthread_mutex_unlock(&makers->lock);
	leave(makers);
}
