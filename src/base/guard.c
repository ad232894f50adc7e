/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/time_share.h"

/* More threads than these are not left behind: calls about all processes are refused then. */
#define HANGING_MAX 32

/* Faster calls are not counted. */
#define SLOW_NS  (NS_PER_S / 200)

#define ALL_PART 2

/* Keys that are no subjects: the total, and work without a known subject. */
#define ALL     UINT64_MAX
#define UNKNOWN (UINT64_MAX - 1)

/* Work, within other work or alone. */
struct task {
	struct task *outer;
	void (*work)(void *job), (*release)(void *job);
	void *job;
};

struct guard_worker {
	LIST_ENTRY(guard_worker) hanging;
	struct guard *guard;
	struct task outermost;
	struct task *task; /* the innermost; NULL: it has nothing to do */
	uint32_t about;
	uint64_t subject;  /* of `about`, once a call was begun */
	uint64_t begun_ns; /* the call; 0: it is in none */
	bool has_subject, is_given_up;
	jmp_buf over; /* where the thread ends */
};

struct given_up {
	uint64_t subject;
	unsigned count;
};

struct guard {
	struct guard_options options;
	pthread_mutex_t lock;        /* held by the worker except during calls */
	pthread_cond_t work, done;   /* for the worker, for the caller */
	struct guard_worker *worker; /* waits or works; NULL: there is none */
	LIST_HEAD(, guard_worker) hanging;
	size_t hanging_count, without_thread;
	struct {
		ARRAY(struct given_up);
	} by_subject;
	struct time_shares shares;
	unsigned users;
	bool is_over;
};

/* Initial-exec TLS: access needs no __tls_get_addr(), which is in the dynamic linker. */
static _Thread_local struct guard_worker *self __attribute__((tls_model("initial-exec")));

/* --- shares of the time --- */

static void charge(struct guard *guard, uint64_t subject, uint64_t cost_ns)
{
	time_shares_charge(&guard->shares, subject, cost_ns, guard->options.part);
	time_shares_charge(&guard->shares, ALL, cost_ns, ALL_PART);
}

/* NULL: none was given up, or without memory to count it. */
static struct given_up *given_up_of(struct guard *guard, uint64_t subject)
{
	for (size_t i = 0; i < guard->by_subject.count; i++)
		if (guard->by_subject.items[i].subject == subject)
			return &guard->by_subject.items[i];
	return NULL;
}

static void count_given_up(struct guard *guard, uint64_t subject)
{
	struct given_up *of = given_up_of(guard, subject);

	if (!of && array_push(&guard->by_subject, (struct given_up){ .subject = subject }))
		of = given_up_of(guard, subject);
	if (of)
		of->count++;
}

static bool is_given_up_for_good(struct guard *guard, uint64_t subject)
{
	const struct given_up *of = given_up_of(guard, subject);

	return of && of->count >= GUARD_GIVEN_UP_MAX;
}

/* When the time for all is used up, those that took it are refused. */
static bool is_refused(struct guard *guard, uint64_t subject)
{
	const struct guard_worker *worker;

	LIST_FOREACH(worker, &guard->hanging, hanging)
	if (worker->subject == subject)
		return true;
	return guard->hanging_count >= HANGING_MAX || is_given_up_for_good(guard, subject) ||
	       time_shares_used_up(&guard->shares, subject) ||
	       (time_shares_used_up(&guard->shares, ALL) &&
		time_shares_owes(&guard->shares, subject));
}

/* --- the thread --- */

static void leave_guard(struct guard *guard)
{
	bool last;

	pthread_mutex_lock(&guard->lock);
	last = --guard->users == 0;
	pthread_mutex_unlock(&guard->lock);
	if (!last)
		return;
	array_deinit(&guard->by_subject);
	time_shares_deinit(&guard->shares);
	pthread_cond_destroy(&guard->work);
	pthread_cond_destroy(&guard->done);
	pthread_mutex_destroy(&guard->lock);
	free(guard);
}

static void *run_guarded(void *argument)
{
	struct guard_worker *worker = argument;
	struct guard *guard = worker->guard;

	self = worker;
	if (setjmp(worker->over)) {
		free(worker);
		leave_guard(guard);
		return NULL;
	}
	pthread_mutex_lock(&guard->lock);
	for (;;) {
		while (!worker->task && !guard->is_over)
			pthread_cond_wait(&guard->work, &guard->lock);
		if (!worker->task)
			break;
		worker->task->work(worker->task->job);
		worker->task = NULL;
		pthread_cond_signal(&guard->done);
	}
	pthread_mutex_unlock(&guard->lock);
	free(worker);
	leave_guard(guard);
	return NULL;
}

/* With the lock, after a call that was given up. */
_Noreturn static void end(struct guard_worker *worker)
{
	struct guard *guard = worker->guard;

	LIST_REMOVE(worker, hanging);
	guard->hanging_count--;
	pthread_mutex_unlock(&guard->lock);
	for (const struct task *task = worker->task; task; task = task->outer)
		if (task->release)
			task->release(task->job);
	/* pthread_exit() would load a library, and end the process if it cannot. */
	longjmp(worker->over, 1);
}

void guard_about(uint32_t pid)
{
	if (!self)
		return;
	self->about = pid;
	self->has_subject = false;
}

static void begin_call(struct guard_worker *worker)
{
	worker->begun_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&worker->guard->lock);
}

static void end_call(struct guard_worker *worker)
{
	uint64_t cost_ns;

	pthread_mutex_lock(&worker->guard->lock);
	if (worker->is_given_up)
		end(worker);
	cost_ns = clock_ns(CLOCK_MONOTONIC) - worker->begun_ns;
	worker->begun_ns = 0;
	if (cost_ns > SLOW_NS)
		charge(worker->guard, worker->subject, cost_ns);
}

/* Look up the user first: the process may exit during the call. The look-up may hang too. */
static void find_subject(struct guard_worker *worker)
{
	uint64_t subject;

	worker->subject = UNKNOWN;
	begin_call(worker);
	subject = worker->guard->options.subject_of(worker->about);
	end_call(worker);
	worker->subject = subject;
	worker->has_subject = true;
}

bool guard_enter(void)
{
	struct guard_worker *worker = self;

	if (!worker)
		return true;
	if (!worker->has_subject)
		find_subject(worker);
	if (is_refused(worker->guard, worker->subject)) {
		errno = EAGAIN;
		return false;
	}
	begin_call(worker);
	return true;
}

void guard_leave(void)
{
	const int error = errno;

	if (self)
		end_call(self);
	errno = error;
}

/* --- the caller --- */

struct guard *guard_create(const struct guard_options *options)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	pthread_mutexattr_t adaptive;
	pthread_condattr_t clock;

	if (!guard)
		return NULL;
	guard->options = *options;
	guard->shares.advance_ns = options->advance_ns;
	guard->users = 1;
	LIST_INIT(&guard->hanging);
	/* A thread that is woken finds the lock held for some nanoseconds more. If it waits for it
	 * in the kernel, that takes two switches, and each later unlock a system call. */
	pthread_mutexattr_init(&adaptive);
	pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&guard->lock, &adaptive);
	pthread_mutexattr_destroy(&adaptive);
	pthread_cond_init(&guard->work, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&guard->done, &clock);
	pthread_condattr_destroy(&clock);
	return guard;
}

void guard_destroy(struct guard *guard)
{
	if (!guard)
		return;
	pthread_mutex_lock(&guard->lock);
	guard->is_over = true;
	pthread_cond_signal(&guard->work);
	pthread_mutex_unlock(&guard->lock);
	leave_guard(guard);
}

/* With the lock. */
static bool start_worker(struct guard *guard)
{
	struct guard_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return false;
	worker->guard = guard;
	guard->users++;
	if (thread_start_confined(guard->options.kind, run_guarded, worker)) {
		guard->worker = worker;
		return true;
	}
	guard->users--;
	free(worker);
	return false;
}

/* With the lock. Its thread ends with the call. */
static void give_up(struct guard *guard, struct guard_worker *worker)
{
	worker->is_given_up = true;
	charge(guard, worker->subject, clock_ns(CLOCK_MONOTONIC) - worker->begun_ns);
	LIST_INSERT_HEAD(&guard->hanging, worker, hanging);
	guard->hanging_count++;
	count_given_up(guard, worker->subject);
	guard->worker = NULL;
}

/* With the lock, which the worker has while it works: so when the wait is over, the work is done
 * or in a call. */
static bool wait_for(struct guard *guard, struct guard_worker *worker)
{
	const uint64_t patience_ns = guard->options.patience_ns;

	while (worker->task) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t until_ns = worker->begun_ns ? worker->begun_ns : now_ns;
		struct timespec until;

		until_ns += patience_ns;
		if (worker->begun_ns && now_ns >= until_ns) {
			give_up(guard, worker);
			return false;
		}
		until = clock_timespec(until_ns);
		pthread_cond_timedwait(&guard->done, &guard->lock, &until);
	}
	return true;
}

/* Within other work of the guard: when it is given up, so is that. */
static void run_within(void (*work)(void *job), void *job, void (*release)(void *job))
{
	struct task task = { .outer = self->task, .work = work, .release = release, .job = job };

	self->task = &task;
	work(job);
	self->task = task.outer;
}

bool guard_run(struct guard *guard, void (*work)(void *job), void *job, void (*release)(void *job))
{
	struct guard_worker *worker;
	bool done;

	if (!guard) {
		work(job);
		return true;
	}
	if (self && self->guard == guard) {
		run_within(work, job, release);
		return true;
	}
	pthread_mutex_lock(&guard->lock);
	if (!guard->worker && !start_worker(guard)) {
		guard->without_thread++;
		pthread_mutex_unlock(&guard->lock);
		if (release)
			release(job);
		return false;
	}
	worker = guard->worker;
	worker->outermost = (struct task){ .work = work, .release = release, .job = job };
	worker->task = &worker->outermost;
	worker->about = 0;
	worker->has_subject = false;
	pthread_cond_signal(&guard->work);
	done = wait_for(guard, worker);
	pthread_mutex_unlock(&guard->lock);
	return done;
}

bool guard_run_whole(struct guard *guard, void (*work)(void *job), void *job)
{
	const size_t before = guard_without_thread(guard);

	while (!guard_run(guard, work, job, NULL))
		if (guard_without_thread(guard) != before)
			return false;
	return true;
}

struct error *guard_start(struct guard *guard, const char *purpose)
{
	bool is_there;

	pthread_mutex_lock(&guard->lock);
	is_there = guard->worker || start_worker(guard);
	pthread_mutex_unlock(&guard->lock);
	return is_there ? NULL : thread_missing(purpose);
}

size_t guard_without_thread(const struct guard *guard)
{
	return guard ? guard->without_thread : 0;
}
