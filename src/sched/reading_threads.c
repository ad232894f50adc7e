/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <profile.skel.h>
#include <string.h>

#include "os/cgroup_path.h"
#include "sched/interval.h"

/* The interval that a thread is in, as of `now`. */
struct reading_progress reading_progress(const struct profile_record *t, uint64_t now)
{
	struct interval parts;

	if (t->task.flags & RECORD_ENDED || now <= t->task.since)
		return (struct reading_progress){ 0 };
	if (t->task.state == CLASS_ON_CPU)
		return (struct reading_progress){ .on_ns = now - t->task.since };
	parts = interval_divide(t->task.state == CLASS_RUNNABLE, t->task.since, t->task.woken, now);
	return (struct reading_progress){ .blocked_ns = parts.blocked_ns,
					  .runnable_ns = parts.runnable_ns };
}

/* --- threads --- */

const struct name *reading_name(struct profile *profile, const char *bytes, size_t room)
{
	return profile_name(profile, bytes, strnlen(bytes, room));
}

/* The leader's name, if the leader is known: it may have got another since. */
static const struct name *leader_name(struct profile_reading *r, const struct profile_record *t)
{
	uint32_t number = word_map_find(&r->leaders, (struct words){ { t->task.tgid } });
	const struct profile_record *leader =
		number == WORD_MAP_NEW ? NULL : profile_chunks_thread(&r->session->chunks, number);

	if (leader && leader->task.begun <= t->task.begun)
		return reading_name(r->profile, leader->task.name, sizeof(leader->task.name));
	return reading_name(r->profile, t->task.process, sizeof(t->task.process));
}

static const struct name *cgroup_name(struct profile_reading *r, uint64_t id)
{
	char path[4096];
	uint32_t *known = word_map_at(&r->cgroups, (struct words){ { id } });
	const struct name *name;

	/* Names of profiles have addresses and no numbers: one thread with it stands for all, the
	 * one that is put next. */
	if (known && *known != WORD_MAP_NEW)
		return r->profile->threads.items[*known].cgroup;
	if (!cgroup_path(r->session->cgroups, id, path, sizeof(path)))
		return NULL;
	name = profile_name(r->profile, path, strlen(path));
	if (known && name)
		*known = (uint32_t)r->profile->threads.count;
	return name;
}

static void thread_total(const struct profile_record *t, uint64_t now, struct thread_totals *ret)
{
	struct reading_progress progress = reading_progress(t, now);

	memcpy(ret->ns, t->task.ns, sizeof(ret->ns));
	memcpy(ret->counts, t->counts, sizeof(ret->counts));
	ret->ns[CLASS_ON_CPU] += progress.on_ns;
	ret->ns[CLASS_RUNNABLE] += progress.runnable_ns;
	if (t->task.state < CLASS_COUNT)
		ret->ns[t->task.state] += progress.blocked_ns;
	ret->voluntary = t->voluntary;
	ret->involuntary = t->involuntary;
}

/*
 * A record that is written while it is read may show an interval both as ended and as in progress.
 * Then this reading has it twice, and the next one less: reported totals never decrease.
 */
static void subtract(struct thread_totals *from, struct thread_totals *what)
{
	for (int i = 0; i < CLASS_COUNT; i++) {
		const uint64_t now = from->ns[i];

		from->ns[i] = reading_less(now, what->ns[i]);
		from->counts[i] -= what->counts[i];
		if (now > what->ns[i])
			what->ns[i] = now;
	}
	from->voluntary -= what->voluntary;
	from->involuntary -= what->involuntary;
}

#define CPUS (UINT16_MAX + 1)

/* Find the last switch of each CPU, and the leader of each process. A record begins with no switch:
 * a new thread has the CPU of its parent, which goes on running, and one that sleeps its last. */
static struct error *index_records(struct profile_reading *r)
{
	for (uint32_t number = 1; number < r->record_count; number++) {
		const struct profile_record *t = profile_chunks_thread(&r->session->chunks, number);
		uint32_t *leader;

		if (!t || t->task.cpu >= CPUS)
			continue;
		if (t->task.since != t->task.begun && t->task.since > r->latest[t->task.cpu])
			r->latest[t->task.cpu] = t->task.since;
		if (t->task.tid != t->task.tgid)
			continue;
		leader = word_map_at(&r->leaders, (struct words){ { t->task.tgid } });
		if (!leader)
			return &error_no_memory;
		*leader = number;
	}
	return NULL;
}

/* Another thread has had its CPU since: it left the CPU unseen, and may have ended. */
static bool is_stale(const struct profile_reading *r, const struct profile_record *t)
{
	return t->task.state == CLASS_ON_CPU && !(t->task.flags & RECORD_ENDED) &&
	       t->task.cpu < CPUS && t->task.since < r->latest[t->task.cpu];
}

/* If switches are not traced, or some were missed, the intervals of a record are wrong: a thread
 * that was running when first seen would have run all the time. */
static void forget_times(struct profile_thread *thread)
{
	memset(thread->ns, 0, sizeof(thread->ns));
	memset(thread->counts, 0, sizeof(thread->counts));
	thread->voluntary = thread->involuntary = 0;
}

/* Where no program traces switches, a thread has the time of its end before its record ends, which
 * may be long after. */
static uint64_t end_of(const struct profile_reading *r, const struct profile_record *t,
		       bool has_ended)
{
	const uint64_t ended = __atomic_load_n(&t->task.ended, __ATOMIC_RELAXED);

	return ended && (has_ended || !r->session->options.off_cpu) ? ended : r->now;
}

static struct error *put_thread(struct profile_reading *r, uint32_t number,
				const struct profile_record *t, bool has_ended)
{
	struct profile_session *session = r->session;
	const uint64_t begun = t->task.begun > session->read_at ? t->task.begun : session->read_at;
	struct profile_thread thread = {
		.tid = t->task.tid,
		.tgid = t->task.tgid,
		.uid = t->task.uid,
		.name = reading_name(r->profile, t->task.name, sizeof(t->task.name)),
		.process = leader_name(r, t),
		.is_kernel = t->task.flags & RECORD_KERNEL,
		.is_accounted = session->options.off_cpu && !(t->task.flags & RECORD_UNSEEN) &&
				!is_stale(r, t),
		.begun_ns = begun,
		.ended_ns = end_of(r, t, has_ended),
	};
	struct thread_totals totals, all, *before = &session->totals.items[number];
	struct profile_record copy;

	if (!thread.name || !thread.process)
		return &error_no_memory;
	if (thread.ended_ns < begun)
		return NULL;
	thread.cgroup = cgroup_name(r, t->task.cgroup);
	if (session->images && !thread.is_kernel)
		thread.image = process_table_find_image(process_watch_table(session->images),
							t->task.tgid, t->task.begun);
	r->torn += !tracker_copy(&t->task, &copy, sizeof(copy));
	thread_total(&copy, r->now, &all);
	totals = all;
	subtract(&totals, before);
	memcpy(before->counts, all.counts, sizeof(before->counts));
	before->voluntary = all.voluntary;
	before->involuntary = all.involuntary;
	memcpy(thread.ns, totals.ns, sizeof(thread.ns));
	memcpy(thread.counts, totals.counts, sizeof(thread.counts));
	thread.voluntary = totals.voluntary;
	thread.involuntary = totals.involuntary;
	if (!array_push(&r->profile->threads, thread))
		return &error_no_memory;
	r->threads[number] = (uint32_t)r->profile->threads.count - 1;
	if (!thread.is_accounted)
		forget_times(&r->profile->threads.items[r->threads[number]]);
	return NULL;
}

struct error *reading_threads(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	struct error *err;

	if (r->record_count > session->totals.count) {
		size_t more = r->record_count - session->totals.count;

		if (!array_reserve(&session->totals, more))
			return &error_no_memory;
		memset(session->totals.items + session->totals.count, 0,
		       more * sizeof(session->totals.items[0]));
		session->totals.count = r->record_count;
	}
	r->latest = calloc(CPUS, sizeof(*r->latest));
	err = r->latest ? index_records(r) : &error_no_memory;
	for (uint32_t number = 1; !err && number < r->record_count; number++) {
		const struct profile_record *t = profile_chunks_thread(&session->chunks, number);
		uint32_t flags;

		if (!t || !t->task.begun)
			continue;
		/* Read the flags first: if it has ended, all that it did is visible. */
		flags = __atomic_load_n(&t->task.flags, __ATOMIC_ACQUIRE);
		/* A thread that ended while the previous reading was in progress is whole in that.
		 */
		if (flags & RECORD_WANTED && session->totals.items[number].end == RECORD_IN_USE)
			err = put_thread(r, number, t, flags & RECORD_ENDED);
		reading_note_end(r, number, flags & RECORD_ENDED);
	}
	return err;
}
