/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/thread_watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "profile/flame.h"
#include "profile/known_frames.h"
#include "profile/lock_frames.h"
#include "profile/symbolise.h"
#include "report/profile_text.h"
#include "sched/profile_record.h"
#include "sched/profile_session.h"
#include "security/privileges.h"

#define READ_NS (3 * NS_PER_S)
/* The least for a reading that is asked for, and how long that is waited for: tables of many files
 * take a while. */
#define LEAST_NS  NS_PER_S
#define FINISH_S  20
#define MEMORY    ((size_t)16 << 20)
#define STACKS    1024
#define FRAMES    64
#define ROWS      3
#define FREQUENCY 99
/* The single waits that are shown, of those that are kept for the sums of wakers. */
#define LONGEST 3

/* The number of running threads. They use libraries, which must stay until the process ends. */
static atomic_int working;

/* The wait for a lock that functions tell. */
struct leading_lock {
	char place[128];
	double share; /* of all waits; 0: there is none */
};

struct thread_watch {
	pthread_mutex_t lock;
	pthread_cond_t ending; /* or a reading is asked for */
	pthread_cond_t told;
	struct watch_target target;
	unsigned users; /* its starter and its thread; the last one frees it */
	bool is_over, is_asked;
	bool has_failed;                    /* there will be no more texts */
	uint64_t texts;                     /* that were told */
	struct leading_preemptor preemptor; /* of the last reading */
	struct leading_lock leading_lock;   /* the same */
	char *text; /* of the last reading, or why there is none; NULL: not yet */
};

static void leave_watch(struct thread_watch *watch)
{
	bool is_last;

	pthread_mutex_lock(&watch->lock);
	is_last = --watch->users == 0;
	pthread_mutex_unlock(&watch->lock);
	if (!is_last)
		return;
	free(watch->text);
	free((void *)(uintptr_t)watch->target.tids);
	pthread_cond_destroy(&watch->ending);
	pthread_cond_destroy(&watch->told);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

/* Takes the text. */
static void tell(struct thread_watch *watch, char *text)
{
	pthread_mutex_lock(&watch->lock);
	free(watch->text);
	watch->text = text;
	watch->texts++;
	watch->is_asked = false;
	pthread_cond_broadcast(&watch->told);
	pthread_mutex_unlock(&watch->lock);
}

/* Sleep until the next tick. False: the watch is to end. */
static bool wait_for_tick(struct thread_watch *watch, const struct profile_session *session,
			  bool *ret_is_asked)
{
	const struct timespec until =
		clock_timespec(profile_session_next_tick(session, clock_ns(CLOCK_MONOTONIC)));
	bool goes_on;

	pthread_mutex_lock(&watch->lock);
	if (!watch->is_over)
		pthread_cond_timedwait(&watch->ending, &watch->lock, &until);
	goes_on = !watch->is_over;
	*ret_is_asked = watch->is_asked;
	pthread_mutex_unlock(&watch->lock);
	return goes_on;
}

/* --- its text --- */

/* The heading of texts in place of a report. */
#define HEAD "\n## Stacks\n"

static struct error *print_report(FILE *out, struct profile *profile)
{
	_cleanup_(flame_destroy) struct flame *flame = NULL;
	const struct flame_view view = { 0 };
	struct profile_report report = { .profile = profile, .view = &view };
	const struct profile_style style = {
		.utf8 = utf8_is_locale(),
		.limit = ROWS,
	};
	struct error *err = flame_create(profile, NULL, &view, &flame);

	report.flame = flame;
	if (!err)
		err = stack_report(out, &report, &style);
	if (!err)
		err = waker_report(out, &report, &style);
	if (profile->longest.count > LONGEST)
		profile->longest.count = LONGEST;
	if (!err)
		err = longest_report(out, &report, &style);
	if (!err)
		err = preemptor_report(out, &report, &style);
	return err;
}

static int by_name_and_thread(const void *a, const void *b)
{
	const struct preemptor *left = a, *right = b;

	if (left->name != right->name)
		return left->name < right->name ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Of the pairs from `first` on those of its name; returns how many these are. */
static size_t sum_name(const struct preemptor *first, size_t count, uint64_t *ret_ns,
		       struct leading_preemptor *ret)
{
	uint64_t of_thread = 0, most = 0;
	size_t i = 0;

	*ret = (struct leading_preemptor){ .share = 0 };
	*ret_ns = 0;
	for (; i < count && first[i].name == first->name; i++) {
		const bool is_next = i && first[i].tid == first[i - 1].tid;

		of_thread = (is_next ? of_thread : 0) + first[i].ns;
		ret->threads += !is_next;
		*ret_ns += first[i].ns;
		if (of_thread < most)
			continue;
		most = of_thread;
		ret->tid = first[i].tid;
	}
	return i;
}

/* The threads of each name, which the profile has once. */
static struct leading_preemptor lead_of(const struct profile *profile)
{
	const size_t count = profile->preemptors.count;
	struct leading_preemptor lead = { .share = 0 }, one;
	_cleanup_free_ struct preemptor *all = calloc(count + 1, sizeof(*all));
	uint64_t most = 0, whole = 0, ns;

	if (!all || !count)
		return lead;
	memcpy(all, profile->preemptors.items, count * sizeof(*all));
	qsort(all, count, sizeof(*all), by_name_and_thread);
	for (size_t i = 0; i < count;) {
		const struct name *name = all[i].name;

		i += sum_name(&all[i], count - i, &ns, &one);
		whole += ns;
		/* Without a number, it is an idle CPU, or this process. */
		if (ns <= most || !one.tid || !name->length)
			continue;
		most = ns;
		lead = one;
		snprintf(lead.name, sizeof(lead.name), "%s", name->bytes);
	}
	text_make_safe(lead.name);
	lead.share = whole ? (double)most / (double)whole : 0;
	return lead;
}

static void tell_preemptor(struct thread_watch *watch, const struct profile *profile)
{
	const struct leading_preemptor lead = lead_of(profile);

	pthread_mutex_lock(&watch->lock);
	watch->preemptor = lead;
	pthread_mutex_unlock(&watch->lock);
}

static const struct name *name_at(const struct profile *profile, uint32_t node)
{
	return node == NODE_NONE ? NULL
				 : profile->frames.items[profile->nodes.items[node].frame].name;
}

static void print_place(const struct profile *profile, uint32_t node, char *ret, size_t room)
{
	_cleanup_free_ unsigned char *known = known_frames_of(profile);
	struct stack_place place;
	struct text own, call;

	*ret = '\0';
	if (!known)
		return;
	place = stack_place(profile, known, node);
	own = frame_shown_name(name_at(profile, place.own));
	call = frame_shown_name(name_at(profile, place.call));
	snprintf(ret, room, "%.*s%s%.*s", (int)own.length, own.bytes,
		 !call.length       ? ""
		 : utf8_is_locale() ? " → "
				    : " -> ",
		 (int)call.length, call.bytes);
	text_make_safe(ret);
}

static struct error *tell_lock(struct thread_watch *watch, const struct profile *profile)
{
	struct leading_lock leading = { .share = 0 };
	struct lock_lead lead;
	struct error *err = lock_frames_lead(profile, &lead);

	if (err)
		return err;
	if (lead.node != NODE_NONE) {
		leading.share = (double)lead.ns / (double)lead.all_ns;
		print_place(profile, lead.node, leading.place, sizeof(leading.place));
	}
	pthread_mutex_lock(&watch->lock);
	watch->leading_lock = leading;
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static struct error *read_text(struct thread_watch *watch, struct profile_session *session,
			       const struct symbolise_options *names, char **ret)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct error *err = profile_session_read(session, &profile);
	size_t length;
	FILE *out;

	if (!err)
		err = symbolise_kernel_cached(profile, names->cache);
	if (!err)
		err = symbolise_user(profile, names);
	if (!err)
		err = lock_frames_apply(profile);
	if (!err)
		err = tell_lock(watch, profile);
	if (err)
		return err;
	tell_preemptor(watch, profile);
	out = open_memstream(ret, &length);
	if (!out)
		return &error_no_memory;
	if (!profile->samples.count)
		fputs(HEAD "the thread did not leave its CPU\n", out);
	else
		err = print_report(out, profile);
	if (!file_close_memory(out, ret) && !err)
		err = &error_no_memory;
	return err;
}

/* --- the thread --- */

static struct error *watch_until_over(struct thread_watch *watch, struct profile_session *session,
				      const struct symbolise_options *names)
{
	const uint64_t started = clock_ns(CLOCK_MONOTONIC);
	uint64_t next = started + READ_NS;
	struct error *err = profile_session_start(session);
	bool is_asked;

	while (!err && wait_for_tick(watch, session, &is_asked)) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		err = profile_session_tick(session);
		if (!err && (now >= next || (is_asked && now >= started + LEAST_NS))) {
			char *text = NULL;

			err = read_text(watch, session, names, &text);
			if (err)
				free(text);
			else
				tell(watch, text);
			next = clock_ns(CLOCK_MONOTONIC) + READ_NS;
		}
	}
	return err;
}

static void *watch_thread(void *argument)
{
	struct thread_watch *watch = argument;
	/* Wakers come from the longest waits: the other table would leave out waits in progress. */
	const struct profile_options options = {
		.on_cpu = true,
		.frequency = FREQUENCY,
		.off_cpu = true,
		.runners = true,
		.longest = PROFILE_LONGEST_MAX,
		.pids = &watch->target.pid,
		.pid_count = watch->target.pid != 0,
		.cgroup = watch->target.cgroup,
		.tids = watch->target.tids,
		.tid_count = watch->target.tid_count,
		.user_frames = FRAMES,
		.kernel_frames = FRAMES,
		.stacks = STACKS,
		.memory_bytes = MEMORY,
	};
	PRIVILEGES_RAISED;
	struct profile_session *session = NULL;
	/* A file that does not answer is waited for once. */
	const struct symbolise_options names = { .guard = symbolise_guard(),
						 .cache = symbol_cache_create() };
	struct error *err = names.guard && names.cache ? profile_session_open(&options, &session)
						       : &error_no_memory;

	if (!err)
		err = watch_until_over(watch, session, &names);
	if (err) {
		pthread_mutex_lock(&watch->lock);
		watch->has_failed = true;
		pthread_mutex_unlock(&watch->lock);
		tell(watch, text_print(HEAD "%s\n", err->message));
	}
	error_destroy(err);
	profile_session_close(session);
	guard_destroy(names.guard);
	symbol_cache_destroy(names.cache);
	leave_watch(watch);
	atomic_fetch_sub(&working, 1);
	return NULL;
}

struct thread_watch *thread_watch_start(const struct watch_target *target)
{
	struct thread_watch *watch = calloc(1, sizeof(*watch));
	uint32_t *tids = calloc(target->tid_count + 1, sizeof(*tids));
	pthread_condattr_t clock;

	if (!watch || !tids) {
		free(watch);
		free(tids);
		return NULL;
	}
	if (target->tid_count)
		memcpy(tids, target->tids, target->tid_count * sizeof(*tids));
	watch->target = *target;
	watch->target.tids = tids;
	watch->users = 2;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->ending, &clock);
	pthread_cond_init(&watch->told, &clock);
	pthread_condattr_destroy(&clock);
	atomic_fetch_add(&working, 1);
	if (thread_start(watch_thread, watch))
		return watch;
	atomic_fetch_sub(&working, 1);
	watch->users = 1;
	leave_watch(watch);
	return NULL;
}

/* How often it is looked whether a signal came. */
#define FINISH_STEP_NS (NS_PER_S / 20)

void thread_watch_finish(struct thread_watch *watch, bool (*is_over)(void))
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + FINISH_S * NS_PER_S;
	uint64_t before, now = 0;

	pthread_mutex_lock(&watch->lock);
	before = watch->texts;
	watch->is_asked = true;
	while (watch->texts == before && !watch->has_failed && now < until_ns && !is_over()) {
		struct timespec until;

		now = clock_ns(CLOCK_MONOTONIC);
		until = clock_timespec(now + FINISH_STEP_NS);
		pthread_cond_timedwait(&watch->told, &watch->lock, &until);
	}
	pthread_mutex_unlock(&watch->lock);
}

void thread_watch_print(struct thread_watch *watch, bool is_over, FILE *out)
{
	pthread_mutex_lock(&watch->lock);
	if (watch->text)
		fputs(watch->text, out);
	else if (is_over)
		fputs(HEAD "none: the end came before a profile was read\n", out);
	else
		fprintf(out, HEAD "collecting for %d s\n", (int)(READ_NS / NS_PER_S));
	pthread_mutex_unlock(&watch->lock);
}

/* Less says nothing. */
#define PREEMPTOR_LEAST 0.1

bool thread_watch_preemptor(struct thread_watch *watch, struct leading_preemptor *ret)
{
	pthread_mutex_lock(&watch->lock);
	*ret = watch->preemptor;
	pthread_mutex_unlock(&watch->lock);
	return ret->share >= PREEMPTOR_LEAST;
}

char *thread_watch_lock(struct thread_watch *watch, double *ret_share)
{
	struct leading_lock lead;

	pthread_mutex_lock(&watch->lock);
	lead = watch->leading_lock;
	pthread_mutex_unlock(&watch->lock);
	if (!*lead.place)
		return NULL;
	*ret_share = lead.share;
	return strdup(lead.place);
}

void thread_watch_stop(struct thread_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->is_over = true;
	pthread_cond_signal(&watch->ending);
	pthread_mutex_unlock(&watch->lock);
	leave_watch(watch);
}

#define WAIT_STEPS   100
#define WAIT_STEP_US 10000

void thread_watches_wait(void)
{
	for (int i = 0; i < WAIT_STEPS && atomic_load(&working); i++)
		usleep(WAIT_STEP_US);
}
