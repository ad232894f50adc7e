/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/reading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <profile.skel.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/version.h"
#include "os/cpulist.h"
#include "profile/kept.h"
#include "profile/symbolise.h"
#include "sched/profile_limit.h"

/* --- how it was taken --- */

static struct error *read_counts(const struct profile_session *session, struct profile_counts *ret)
{
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	_cleanup_free_ struct profile_counts *all = NULL;
	struct error *err = cpus_list_possible(&cpus);
	__u64 *sums = (__u64 *)ret;
	uint32_t zero = 0;

	if (err)
		return err;
	all = calloc(cpus.count, sizeof(*all));
	if (!all)
		return &error_no_memory;
	if (bpf_map_lookup_elem(bpf_map__fd(session->program->maps.counters), &zero, all))
		return error_system(errno, "the counts");
	memset(ret, 0, sizeof(*ret));
	for (size_t cpu = 0; cpu < cpus.count; cpu++)
		for (size_t i = 0; i < sizeof(*ret) / sizeof(*sums); i++)
			sums[i] += ((const __u64 *)&all[cpu])[i];
	return NULL;
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * NS_PER_S +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

static void put_own_cost(struct profile_session *session, struct profile_losses *losses)
{
	const uint64_t cpu_ns = own_cpu_ns();
	uint64_t runs, run_ns;

	program_cost_read(&session->cost, session->program->obj, &runs, &run_ns);
	/* The cost of the first tenth of a second may be known, and subtracted, only now. */
	losses->runs = reading_less(runs, session->runs);
	losses->run_ns = reading_less(run_ns, session->run_ns);
	losses->own_cpu_ns = cpu_ns - session->own_cpu_ns;
	session->runs = runs;
	session->run_ns = run_ns;
	session->own_cpu_ns = cpu_ns;
}

/* The model has its own names, for files are read where no program is traced. */
static const enum walk_end ends[UNWIND_STOPS] = {
	[UNWIND_GOES_ON] = WALK_ENDS,
	[UNWIND_COMPLETE] = WALK_END_COMPLETE,
	[UNWIND_TRUNCATED] = WALK_END_TRUNCATED,
	[UNWIND_NO_PROCESS] = WALK_END_NO_PROCESS,
	[UNWIND_CHANGED] = WALK_END_CHANGED,
	[UNWIND_NO_MAPPING] = WALK_END_NO_MAPPING,
	[UNWIND_NO_TABLE] = WALK_END_NO_TABLE,
	[UNWIND_NO_RULE] = WALK_END_NO_RULE,
	[UNWIND_OTHER_RULE] = WALK_END_OTHER_RULE,
	[UNWIND_NO_REGISTER] = WALK_END_NO_REGISTER,
	[UNWIND_NO_MEMORY] = WALK_END_NO_MEMORY,
	[UNWIND_NO_SENSE] = WALK_END_NO_SENSE,
	[UNWIND_POINTER_END] = WALK_END_POINTER_END,
};
_Static_assert(WALK_ENDS == UNWIND_STOPS - 1, "each way that a walk ends has a name");

static void put_walks(const struct profile_counts *before, const struct profile_counts *now,
		      struct profile_losses *losses)
{
	for (size_t stop = UNWIND_GOES_ON + 1; stop < UNWIND_STOPS; stop++)
		losses->walks[ends[stop]] = now->stops[stop] - before->stops[stop];
	losses->user_truncated = losses->walks[WALK_END_TRUNCATED];
}

static void put_tables(struct profile_session *session, struct profile_losses *losses)
{
	const struct unwinder_use reported = session->reported;
	struct unwinder_use use;

	if (!session->unwinder)
		return;
	use = unwinder_use(session->unwinder);
	session->reported = use;
	losses->tables_failed = use.failed - reported.failed;
	losses->tables_lost = use.no_room - reported.no_room;
	losses->mappings_lost = use.too_many - reported.too_many;
}

/* Walks that were done again count as the later ones ended. If an earlier reading has reported them
 * as incomplete, as many of the next ones are not reported as that. */
static void put_deferred(const struct profile_session *session, const struct profile_counts *before,
			 struct profile_counts *counts)
{
	const struct deferred_stacks *deferred = &session->deferred_stacks;
	__u64 *incomplete = &counts->stops[UNWIND_NO_TABLE];

	*incomplete = reading_less(*incomplete, deferred->done);
	if (*incomplete < before->stops[UNWIND_NO_TABLE])
		*incomplete = before->stops[UNWIND_NO_TABLE];
	for (size_t stop = 0; stop < UNWIND_STOPS; stop++)
		counts->stops[stop] += deferred->ends[stop];
}

static uint64_t limits_refused(const struct profile_session *session)
{
	return session->limit.refused + session->table_limit.refused;
}

static struct error *put_losses(struct profile_reading *r)
{
	struct profile_session *session = r->session;
	struct profile_losses *losses = &r->profile->meta.losses;
	const struct profile_counts before = session->counts;
	const uint32_t threads_lost = session->chunks.tracker.state->lost;
	struct profile_counts now;
	uint64_t lost = 0, lost_ns = 0;
	struct error *err = read_counts(session, &now);

	if (err)
		return err;
	put_deferred(session, &before, &now);
	session->counts = now;
	/* A wait in progress that lost its stack counts when it ends, or in the last reading. */
	if (session->stopped) {
		lost = r->lost;
		lost_ns = r->lost_ns;
	}
	*losses = (struct profile_losses){
		.switches = now.switches - before.switches,
		.events = now.events - before.events + lost,
		.kept = reading_less(now.kept - before.kept, r->left_out),
		.in_progress = r->in_progress,
		.filtered = now.filtered - before.filtered,
		.filtered_ns = now.filtered_ns - before.filtered_ns,
		.lost = now.lost - before.lost + lost + r->left_out,
		.lost_ns = now.lost_ns - before.lost_ns + lost_ns + r->left_out_ns,
		.kernel_truncated = now.kernel_truncated - before.kernel_truncated,
		.stacks_recognised = now.recognised - before.recognised,
		.stacks_checked = now.checked - before.checked,
		.stacks_wrong = now.wrong - before.wrong,
		.user_stacks_recognised = now.user_recognised - before.user_recognised,
		.user_stacks_checked = now.user_checked - before.user_checked,
		.user_stacks_wrong = now.user_wrong - before.user_wrong,
		.threads_lost = threads_lost - session->threads_lost,
		.missed = now.missed - before.missed,
		.threads_torn = r->torn,
		.maps_lost = session->images ? process_watch_lost(session->images) : 0,
		.memory_refused = limits_refused(session) - session->refused,
	};
	session->threads_lost = threads_lost;
	session->refused = limits_refused(session);
	put_walks(&before, &now, losses);
	put_tables(session, losses);
	put_own_cost(session, losses);
	return NULL;
}

static void put_limit(const struct profile_session *session, struct profile *profile)
{
	const char *names = session->unwinder ? unwinder_without_room(session->unwinder) : NULL;

	profile->meta.memory_limit = session->limit.bytes;
	if (names)
		profile->meta.without_table = profile_name(profile, names, strlen(names));
}

static bool is_whole_host(const struct profile_options *options)
{
	return !options->pid_count && !options->tid_count && !options->command &&
	       !options->cgroup && !options->comm && !options->cpus && !options->selection;
}

static struct error *put_meta(struct profile_reading *r)
{
	const struct profile_options *options = &r->session->options;
	struct profile_meta *meta = &r->profile->meta;
	const char *mode = options->on_cpu && options->off_cpu ? "both"
			   : options->off_cpu                  ? "off"
			   : options->on_cpu                   ? "on"
							       : "events";
	struct utsname host;

	uname(&host);
	meta->host = profile_name(r->profile, host.nodename, strlen(host.nodename));
	meta->kernel = profile_name(r->profile, host.release, strlen(host.release));
	meta->version = profile_name(r->profile, CTPROF_VERSION, strlen(CTPROF_VERSION));
	meta->mode = profile_name(r->profile, mode, strlen(mode));
	meta->captured_at_unix_ns =
		r->session->started_unix_ns + (r->session->read_at - r->session->started);
	meta->duration_ns = r->now - r->session->read_at;
	if (options->on_cpu)
		meta->on_cpu_period_ns = r->session->program->rodata->config.on_cpu_period_ns;
	meta->off_cpu_period_ns = options->period_ns;
	meta->cpus = cpus_online();
	meta->is_whole_host = is_whole_host(options);
	put_limit(r->session, r->profile);
	for (size_t i = 0; options->probes && i < options->probes->events.count; i++) {
		const struct name *event = options->probes->events.items[i];
		const struct name *name = profile_name(r->profile, event->bytes, event->length);

		if (!name || !array_push(&r->profile->events, name))
			return &error_no_memory;
	}
	return meta->host && meta->kernel && meta->version && meta->mode ? NULL : &error_no_memory;
}

/* --- all of it --- */

static struct error *read_maps(struct profile_reading *r)
{
	struct error *err;

	if (r->session->images)
		process_watch_settle(r->session->images);
	err = put_meta(r);
	if (!err)
		err = reading_threads(r);
	if (!err)
		err = reading_samples(r);
	if (!err)
		err = reading_extras(r);
	if (!err)
		err = reading_quotas(r);
	if (!err && r->session->latencies)
		err = reading_latencies(r);
	if (!err)
		err = reading_target(r);
	if (!err && r->session->images)
		err = process_table_put(process_watch_table(r->session->images), r->profile);
	return err ? err : put_losses(r);
}

struct error *profile_session_read(struct profile_session *session, struct profile **ret)
{
	struct profile_reading r = {
		.session = session,
		.now = session->stopped ? session->stopped : clock_ns(CLOCK_MONOTONIC),
		.record_count = tracker_count(&session->chunks.tracker),
	};
	struct error *err;

	err = profile_create(&r.profile);
	if (err)
		return err;
	r.profile->kept = kept_share(session->kept);
	if (session->limit.bytes)
		session->kernel_bytes_now = profile_limit_kernel_now(session->program->obj);
	profile_session_find_symbols(session);
	whole_stacks_init(&r.wholes, session->symbols);
	r.threads = malloc(((size_t)r.record_count + 1) * sizeof(*r.threads));
	if (r.threads) {
		memset(r.threads, 0xff, ((size_t)r.record_count + 1) * sizeof(*r.threads));
		err = read_maps(&r);
	} else {
		err = &error_no_memory;
	}
	/* Symbols that were read earlier lack modules and programs that were loaded since. */
	if (!err && session->symbols && r.now < session->symbols_read + NS_PER_S)
		err = symbolise_kernel_by(r.profile, session->symbols);
	if (!err && !session->stopped) {
		reading_free_left(&r);
		err = reading_end_epoch(&r);
	}
	if (!err) {
		if (session->images)
			process_table_forget(process_watch_table(session->images),
					     session->read_at);
		session->read_at = r.now;
	}
	free(r.threads);
	free(r.latest);
	word_map_deinit(&r.stacks);
	word_map_deinit(&r.frames);
	word_map_deinit(&r.own_frames);
	word_map_deinit(&r.leaders);
	word_map_deinit(&r.cgroups);
	word_map_deinit(&r.wakers);
	word_map_deinit(&r.tids);
	whole_stacks_deinit(&r.wholes);
	array_deinit(&r.left_slots);
	array_deinit(&r.left_runners);
	if (err) {
		profile_destroy(r.profile);
		return err;
	}
	*ret = r.profile;
	return NULL;
}
