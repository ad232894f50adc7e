/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/table_builders.h"

#include <fcntl.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/names.h"
#include "base/thread.h"
#include "base/word_map.h"
#include "base/worker_pool.h"
#include "os/process_user.h"
#include "profile/kept.h"

/* Two at least: one may hang. */
#define BUILDERS_MIN 2
#define BUILDERS_MAX 4
#define HANGING_MAX  32

/* Files of one user other than root that wait to be read. */
#define QUEUED_MAX 4096

/* Only a file system that does not answer takes longer than this. */
#define PATIENCE_NS (20ull * NS_PER_S)

struct build_job {
	STAILQ_ENTRY(build_job) next;
	uint32_t pid;
	uint32_t user; /* of the process */
	struct profile_mapping mapping;
	struct words identity;
	struct name *path; /* of the mapping */
	bool may_outline;
	int fd;        /* of the file, of whose table `made.parts` are wanted; -1: all of it is */
	bool is_close; /* nothing is, only that `fd` is closed */
	uint64_t base; /* address of that table */
	struct built_table made;
};

STAILQ_HEAD(build_jobs, build_job);

struct table_builder {
	struct table_builders *builders;
	uint64_t busy_since_ns; /* 0: it waits for work */
	uint32_t user;          /* for whom it works */
	bool is_there, hangs;
};

struct table_builders {
	struct worker_pool workers;
	pthread_cond_t work, done;
	struct build_jobs asked, made;
	struct word_map queued; /* jobs in `asked`, by user */
	struct unwind_cache *cache;
	struct kept *kept;
	struct memory_limit *limit;
	struct table_builder builders[BUILDERS_MAX + HANGING_MAX];
	unsigned most;
	bool is_over;
};

/* --- jobs --- */

static void destroy_job(struct build_job *job)
{
	if (!job)
		return;
	mapped_file_deinit(&job->made.file);
	for (size_t i = 0; i < job->made.parts.count; i++)
		unwind_table_deinit(&job->made.parts.items[i].table);
	array_deinit(&job->made.parts);
	if (job->fd >= 0)
		close(job->fd);
	free(job->path);
	free(job);
}

void built_table_destroy(struct built_table *made)
{
	if (made)
		destroy_job((struct build_job *)((char *)made - offsetof(struct build_job, made)));
}

/* A copy, because the requester may have been destroyed when the file has been read. */
static struct name *duplicate_name(const struct name *name)
{
	size_t size = sizeof(*name) + name->length + 1;
	struct name *copy = malloc(size);

	return copy ? memcpy(copy, name, size) : NULL;
}

static struct build_job *create_job(uint32_t pid, uint32_t user, const struct words *identity,
				    void *owner)
{
	struct build_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	*job = (struct build_job){
		.pid = pid,
		.user = user,
		.identity = *identity,
		.fd = -1,
		.made = { .owner = owner, .file.fd = -1 },
	};
	return job;
}

static struct build_job *create_file_job(uint32_t pid, const struct profile_mapping *mapping,
					 const struct words *identity, void *owner)
{
	struct build_job *job = create_job(pid, process_user(pid), identity, owner);

	if (!job)
		return NULL;
	job->mapping = *mapping;
	job->mapping.path = job->path = duplicate_name(mapping->path);
	if (job->path)
		return job;
	destroy_job(job);
	return NULL;
}

static struct build_job *create_parts_job(uint32_t pid, int fd, const struct words *identity,
					  const struct table_part *parts, size_t count, void *owner)
{
	struct build_job *job = create_job(pid, process_user(pid), identity, owner);
	bool done = job;

	for (size_t i = 0; i < count && done; i++)
		done = array_push(&job->made.parts, parts[i]);
	/* At last: this thread may not close it. */
	if (done && (job->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
		return job;
	destroy_job(job);
	return NULL;
}

static struct build_job *create_close_job(uint32_t user, int fd)
{
	struct build_job *job = create_job(0, user, &(struct words){ 0 }, NULL);

	if (job) {
		job->fd = fd;
		job->is_close = true;
	}
	return job;
}

static struct build_job *take_first(struct build_jobs *jobs)
{
	struct build_job *job = STAILQ_FIRST(jobs);

	if (job)
		STAILQ_REMOVE_HEAD(jobs, next);
	return job;
}

static void destroy_jobs(struct build_jobs *jobs)
{
	struct build_job *job;

	while ((job = take_first(jobs)))
		destroy_job(job);
}

/* --- threads --- */

static void leave_builders(struct table_builders *builders)
{
	if (!worker_pool_leave(&builders->workers))
		return;
	destroy_jobs(&builders->asked);
	destroy_jobs(&builders->made);
	word_map_deinit(&builders->queued);
	unwind_cache_close(builders->cache);
	kept_release(builders->kept);
	pthread_cond_destroy(&builders->work);
	pthread_cond_destroy(&builders->done);
	free(builders);
}

/* Half of the builders are left to others, and one that hangs is enough. With the lock. */
static bool may_work(const struct table_builders *builders, uint32_t user)
{
	unsigned busy = 0;

	for (size_t i = 0; process_user_is_stranger(user) && i < array_length(builders->builders);
	     i++) {
		const struct table_builder *builder = &builders->builders[i];

		if (!builder->is_there || !builder->busy_since_ns || builder->user != user)
			continue;
		if (builder->hangs)
			return false;
		busy++;
	}
	return busy < (builders->most + 1) / 2;
}

static void count_queued(struct table_builders *builders, uint32_t user, int change)
{
	uint32_t *queued = word_map_at(&builders->queued, (struct words){ { user } });

	if (queued)
		*queued = (*queued == WORD_MAP_NEW ? 0 : *queued) + (uint32_t)change;
}

/* The first job of a user who may have another builder; when all is over, only files are closed.
 * Called with the lock. */
static struct build_job *take_job(struct table_builders *builders)
{
	struct build_job *job;
	uint32_t refused = 0; /* root, who never is */

	STAILQ_FOREACH(job, &builders->asked, next)
	{
		if ((refused && job->user == refused) || (builders->is_over && !job->is_close))
			continue;
		if (may_work(builders, job->user)) {
			STAILQ_REMOVE(&builders->asked, job, build_job, next);
			count_queued(builders, job->user, -1);
			return job;
		}
		refused = job->user;
	}
	return NULL;
}

static struct build_job *wait_for_job(struct table_builders *builders)
{
	struct build_job *job = NULL;

	while (!(job = take_job(builders)) && !builders->is_over)
		pthread_cond_wait(&builders->work, &builders->workers.lock);
	return job;
}

/* Reading a file takes about as much as it has code, and the others may have begun to read one as
 * large. */
static bool has_room(const struct table_builders *builders, const struct profile_mapping *mapping)
{
	return memory_limit_allow(builders->limit, builders->most, mapping->end - mapping->start) ==
	       builders->most;
}

/* Closing a file may hang, too. */
static void close_file(struct build_job *job)
{
	close(job->fd);
	job->fd = -1;
}

static void do_job(const struct table_builders *builders, struct build_job *job)
{
	struct built_table *made = &job->made;

	if (job->is_close) {
		close_file(job);
	} else if (job->fd >= 0) {
		made->file.outcome = mapped_file_make_parts(job->fd, &job->identity, job->base,
							    builders->limit, builders->most,
							    made->parts.items, made->parts.count);
		close_file(job);
	} else {
		mapped_file_make(
			job->pid, &job->mapping, &job->identity,
			(job->may_outline ? TABLE_MAY_BE_OUTLINED : 0) |
				(has_room(builders, &job->mapping) ? TABLE_MAY_BE_WHOLE : 0),
			builders->cache, builders->kept, &made->file);
	}
}

/* With the lock, which is not held while a file is closed. */
static void put_made(struct table_builders *builders, struct build_job *job)
{
	if (!job->is_close && !builders->is_over) {
		STAILQ_INSERT_TAIL(&builders->made, job, next);
		pthread_cond_signal(&builders->done);
		return;
	}
	pthread_mutex_unlock(&builders->workers.lock);
	destroy_job(job);
	pthread_mutex_lock(&builders->workers.lock);
}

static void *run_builder(void *argument)
{
	struct table_builder *builder = argument;
	struct table_builders *builders = builder->builders;
	struct build_job *job;

	pthread_mutex_lock(&builders->workers.lock);
	while (!builder->hangs && (job = wait_for_job(builders))) {
		builder->busy_since_ns = clock_ns(CLOCK_MONOTONIC);
		builder->user = job->user;
		pthread_mutex_unlock(&builders->workers.lock);
		do_job(builders, job);
		pthread_mutex_lock(&builders->workers.lock);
		put_made(builders, job);
		builder->busy_since_ns = 0;
		/* The user's next one may have waited for this one. */
		pthread_cond_signal(&builders->work);
	}
	/* A builder that returned after it was given up has been replaced. */
	builder->is_there = builder->hangs = false;
	pthread_mutex_unlock(&builders->workers.lock);
	worker_pool_finish(&builders->workers);
	leave_builders(builders);
	return NULL;
}

/* Start another thread, up to `most` beside those that hang. Without the lock. */
static void start_builder(struct table_builders *builders)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct table_builder *vacant = NULL;
	unsigned working = 0;

	pthread_mutex_lock(&builders->workers.lock);
	for (size_t i = 0; i < array_length(builders->builders); i++) {
		struct table_builder *builder = &builders->builders[i];

		if (!builder->is_there) {
			vacant = builder;
			continue;
		}
		if (builder->busy_since_ns && now - builder->busy_since_ns > PATIENCE_NS)
			builder->hangs = true;
		working += !builder->hangs;
	}
	if (working == builders->most)
		vacant = NULL;
	if (vacant)
		*vacant = (struct table_builder){ .builders = builders, .is_there = true };
	pthread_mutex_unlock(&builders->workers.lock);
	if (!vacant || worker_pool_start(&builders->workers, run_builder, vacant))
		return;
	pthread_mutex_lock(&builders->workers.lock);
	vacant->is_there = false;
	pthread_mutex_unlock(&builders->workers.lock);
}

/* --- the interface --- */

/* With the lock. */
static bool is_crowded(const struct table_builders *builders, uint32_t user)
{
	uint32_t queued = word_map_find(&builders->queued, (struct words){ { user } });

	return process_user_is_stranger(user) && queued != WORD_MAP_NEW && queued >= QUEUED_MAX;
}

struct error *table_builders_create(struct unwind_cache *cache, struct kept *kept,
				    struct memory_limit *limit, struct table_builders **ret)
{
	struct table_builders *builders = calloc(1, sizeof(*builders));
	const unsigned cpus = cpus_online();
	pthread_condattr_t clock;

	if (!builders) {
		unwind_cache_close(cache);
		return &error_no_memory;
	}
	builders->cache = cache;
	builders->kept = kept_share(kept);
	builders->limit = limit;
	builders->most = cpus < BUILDERS_MIN   ? BUILDERS_MIN
			 : cpus < BUILDERS_MAX ? cpus
					       : BUILDERS_MAX;
	STAILQ_INIT(&builders->asked);
	STAILQ_INIT(&builders->made);
	worker_pool_init(&builders->workers);
	pthread_cond_init(&builders->work, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&builders->done, &clock);
	pthread_condattr_destroy(&clock);
	*ret = builders;
	return NULL;
}

/* Takes the job over; NULL is refused. */
static bool queue_job(struct table_builders *builders, struct build_job *job)
{
	if (!job)
		return false;
	pthread_mutex_lock(&builders->workers.lock);
	if (job->fd < 0 && is_crowded(builders, job->user)) {
		pthread_mutex_unlock(&builders->workers.lock);
		destroy_job(job);
		return false;
	}
	if (job->fd >= 0)
		STAILQ_INSERT_HEAD(&builders->asked, job, next);
	else
		STAILQ_INSERT_TAIL(&builders->asked, job, next);
	count_queued(builders, job->user, 1);
	pthread_cond_signal(&builders->work);
	pthread_mutex_unlock(&builders->workers.lock);
	start_builder(builders);
	return true;
}

bool table_builders_ask(struct table_builders *builders, uint32_t pid,
			const struct profile_mapping *mapping, const struct words *identity,
			bool may_outline, void *owner)
{
	struct build_job *job = create_file_job(pid, mapping, identity, owner);

	if (job)
		job->may_outline = may_outline;
	return queue_job(builders, job);
}

bool table_builders_ask_parts(struct table_builders *builders, uint32_t pid, int fd,
			      const struct words *identity, uint64_t base,
			      const struct table_part *parts, size_t count, void *owner)
{
	struct build_job *job = create_parts_job(pid, fd, identity, parts, count, owner);

	if (job)
		job->base = base;
	return queue_job(builders, job);
}

void table_builders_close(struct table_builders *builders, uint32_t user, int fd)
{
	if (!queue_job(builders, create_close_job(user, fd)))
		close(fd);
}

struct built_table *table_builders_take(struct table_builders *builders)
{
	struct build_job *job;
	bool is_idle;

	pthread_mutex_lock(&builders->workers.lock);
	is_idle = STAILQ_EMPTY(&builders->asked);
	job = take_first(&builders->made);
	pthread_mutex_unlock(&builders->workers.lock);
	/* A thread may have begun to hang since. */
	if (!is_idle)
		start_builder(builders);
	return job ? &job->made : NULL;
}

void table_builders_wait(struct table_builders *builders, uint64_t until_ns)
{
	const struct timespec until = clock_timespec(until_ns);

	pthread_mutex_lock(&builders->workers.lock);
	while (STAILQ_EMPTY(&builders->made) &&
	       !pthread_cond_timedwait(&builders->done, &builders->workers.lock, &until))
		;
	pthread_mutex_unlock(&builders->workers.lock);
}

/* Nothing is made any more; the threads close what is open. With the lock. */
static void close_rest(struct table_builders *builders)
{
	struct build_job *job;

	while ((job = take_first(&builders->made))) {
		job->fd = take_fd(job->made.file.fd);
		STAILQ_INSERT_TAIL(&builders->asked, job, next);
		count_queued(builders, job->user, 1);
	}
	STAILQ_FOREACH(job, &builders->asked, next)
	job->is_close = job->fd >= 0;
}

void table_builders_destroy(struct table_builders *builders)
{
	if (!builders)
		return;
	pthread_mutex_lock(&builders->workers.lock);
	builders->is_over = true;
	close_rest(builders);
	pthread_cond_broadcast(&builders->work);
	pthread_mutex_unlock(&builders->workers.lock);
	leave_builders(builders);
}
