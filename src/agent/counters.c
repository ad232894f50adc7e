/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "base/word_map.h"
#include "profile/thread_states.h"
#include "top/state_rows.h"

/* The totals of a thread: one bit for each metric that was measured, and the values of these as
 * varints (base/varint.h). */
#define PACKED_MAX (sizeof(struct metric_set) + METRIC_COUNT * VARINT_MAX)

struct packed_thread {
	uint64_t id;           /* state_rows_id(): its number and its start */
	uint32_t from, length; /* in `bytes` */
};

/* A capture. */
struct kept_totals {
	struct {
		ARRAY(struct packed_thread);
	} threads; /* ascending by id */
	struct {
		ARRAY(char);
	} bytes;
};

/* A cgroup, or the host: its numbers without `path`, and memory.stat and events empty. */
struct kept_cgroup {
	char *path;
	struct cgroup_counters counters;
};

struct agent_counters {
	enum metric_id totals[METRIC_COUNT];
	size_t total_count;
	bool has_previous;
	char boot[64];
	uint64_t uptime_ticks; /* of the previous capture */
	struct kept_totals kept;
	struct kept_totals next; /* of the capture that is being made: its idle threads */
	struct {
		ARRAY(struct kept_cgroup);
	} cgroups; /* ascending by path */
	struct psi psi;
};

/* --- packing --- */

static bool is_difference(const struct metric *metric)
{
	return metric->kind == KIND_TOTAL && metric->sources[0].id != SOURCE_STATES &&
	       metric->sources[0].id != SOURCE_ONE;
}

struct thread_totals {
	struct metric_set measured;
	uint64_t values[METRIC_COUNT]; /* by metric; only those that were measured */
};

static void read_totals(const struct agent_counters *c, const struct thread_record *record,
			struct thread_totals *ret)
{
	ret->measured = (struct metric_set){ 0 };
	for (size_t i = 0; i < c->total_count; i++) {
		const enum metric_id id = c->totals[i];

		if (!metric_set_has(&record->measured, id))
			continue;
		metric_set_add(&ret->measured, id);
		ret->values[id] = metric_load_u64(&record->values, &metrics[id]);
	}
}

static size_t pack_totals(const struct agent_counters *c, const struct thread_totals *totals,
			  char bytes[PACKED_MAX])
{
	char *at = bytes + sizeof(totals->measured);

	memcpy(bytes, &totals->measured, sizeof(totals->measured));
	for (size_t i = 0; i < c->total_count; i++)
		if (metric_set_has(&totals->measured, c->totals[i]))
			at = varint_write(at, totals->values[c->totals[i]]);
	return (size_t)(at - bytes);
}

static void unpack_totals(const struct agent_counters *c, struct text bytes,
			  struct thread_totals *ret)
{
	struct text at = { bytes.bytes + sizeof(ret->measured),
			   bytes.length - sizeof(ret->measured) };

	memcpy(&ret->measured, bytes.bytes, sizeof(ret->measured));
	for (size_t i = 0; i < c->total_count; i++)
		if (metric_set_has(&ret->measured, c->totals[i]) &&
		    !varint_cut(&at, VARINT_MAX, &ret->values[c->totals[i]]))
			ret->values[c->totals[i]] = 0;
}

/* --- what was kept --- */

static void kept_totals_deinit(struct kept_totals *kept)
{
	array_deinit(&kept->threads);
	array_deinit(&kept->bytes);
}

static int by_id(const void *a, const void *b)
{
	const struct packed_thread *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* NULL: it was not there. */
static const struct packed_thread *find_kept(const struct kept_totals *kept, uint64_t id)
{
	const struct packed_thread wanted = { .id = id };

	return kept->threads.count ? bsearch(&wanted, kept->threads.items, kept->threads.count,
					     sizeof(wanted), by_id)
				   : NULL;
}

static bool is_same(const struct kept_totals *kept, const struct packed_thread *thread,
		    const char *bytes, size_t length)
{
	return thread->length == length &&
	       memcmp(kept->bytes.items + thread->from, bytes, length) == 0;
}

static struct error *keep(struct kept_totals *kept, uint64_t id, const char *bytes, size_t length)
{
	const struct packed_thread thread = { id, (uint32_t)kept->bytes.count, (uint32_t)length };

	if (kept->bytes.count > UINT32_MAX - PACKED_MAX)
		return error_create("more threads than an agent can compare");
	/* The bytes first: a thread without them must not be found. */
	if (!array_reserve(&kept->bytes, length) || !array_push(&kept->threads, thread))
		return &error_no_memory;
	memcpy(kept->bytes.items + kept->bytes.count, bytes, length);
	kept->bytes.count += length;
	return NULL;
}

/* --- threads --- */

static void set_total(struct thread_record *record, enum metric_id id, uint64_t value)
{
	metric_place_u64(&record->values, &metrics[id], value);
}

/* Replace totals by what they grew by since `before`, and have `now` not fall behind that. */
static void subtract(const struct agent_counters *c, const struct thread_totals *before,
		     struct thread_totals *now, struct thread_record *record)
{
	for (size_t i = 0; i < c->total_count; i++) {
		const enum metric_id id = c->totals[i];

		if (!metric_set_has(&now->measured, id))
			continue;
		if (!metric_set_has(&before->measured, id)) {
			metric_set_remove(&record->measured, id);
			continue;
		}
		if (now->values[id] < before->values[id])
			now->values[id] = before->values[id];
		set_total(record, id, now->values[id] - before->values[id]);
	}
}

static bool is_new(const struct agent_counters *c, const struct ctprof_thread *thread)
{
	return thread->start_time_clock_ticks.measured &&
	       thread->start_time_clock_ticks.value >= c->uptime_ticks;
}

/* Did it do something? Then its totals are changes. */
static struct error *take_thread(struct agent_counters *c, const struct packed_thread *old,
				 struct ctprof_thread *thread, struct counters_outcome *outcome,
				 bool *ret)
{
	char bytes[PACKED_MAX];
	struct thread_totals now, before;
	size_t length;

	read_totals(c, &thread->record, &now);
	length = pack_totals(c, &now, bytes);
	*ret = true;
	if (old && is_same(&c->kept, old, bytes, length)) {
		*ret = false;
	} else if (old) {
		unpack_totals(c, (struct text){ c->kept.bytes.items + old->from, old->length },
			      &before);
		subtract(c, &before, &now, &thread->record);
		length = pack_totals(c, &now, bytes);
		*ret = !is_same(&c->kept, old, bytes, length);
	} else if (!c->has_previous || !is_new(c, thread)) {
		outcome->without_past += c->has_previous;
		*ret = false;
	}
	return keep(&c->next, state_rows_id(thread), bytes, length);
}

/* Most of it is as large as before. */
static struct error *reserve_next(struct agent_counters *c, size_t more)
{
	if (!array_reserve(&c->next.threads, more))
		return &error_no_memory;
	return c->next.bytes.room || array_reserve(&c->next.bytes, c->kept.bytes.count)
		       ? NULL
		       : &error_no_memory;
}

bool counters_is_idle(struct agent_counters *c, const struct ctprof_thread *thread)
{
	const uint64_t id = state_rows_id(thread);
	const struct packed_thread *old = find_kept(&c->kept, id);
	_cleanup_error_ struct error *err = NULL;
	char bytes[PACKED_MAX];
	struct thread_totals now;
	size_t length;

	if (!old)
		return false;
	read_totals(c, &thread->record, &now);
	length = pack_totals(c, &now, bytes);
	if (!is_same(&c->kept, old, bytes, length))
		return false;
	if (!c->next.threads.room)
		err = reserve_next(c, c->kept.threads.count);
	if (!err)
		err = keep(&c->next, id, bytes, length);
	return !err;
}

void counters_forget_idle(struct agent_counters *c)
{
	kept_totals_deinit(&c->next);
}

static struct error *take_threads(struct agent_counters *c, struct ctprof_snapshot *s,
				  struct counters_outcome *outcome)
{
	const size_t idle = c->next.threads.count;
	size_t active = 0, met = idle;
	struct error *err = reserve_next(c, s->threads.count);

	for (size_t i = 0; !err && i < s->threads.count; i++) {
		struct ctprof_thread *thread = snapshot_thread(s, i);
		const struct packed_thread *old = find_kept(&c->kept, state_rows_id(thread));
		bool is_active;

		met += old != NULL;
		err = take_thread(c, old, thread, outcome, &is_active);
		if (err || !is_active)
			continue;
		/* The first ones, so that the memory of the rest can be released. */
		if (i != active)
			*snapshot_thread(s, active) = *thread;
		active++;
	}
	if (err)
		return err;
	outcome->threads = idle + s->threads.count;
	outcome->ended = c->kept.threads.count - met;
	snapshot_release_threads(s, active);
	if (c->next.threads.count)
		qsort(c->next.threads.items, c->next.threads.count, sizeof(*c->next.threads.items),
		      by_id);
	kept_totals_deinit(&c->kept);
	c->kept = c->next;
	c->next = (struct kept_totals){ 0 };
	(void)array_fit(&c->kept.threads);
	(void)array_fit(&c->kept.bytes);
	return NULL;
}

/* --- cgroups and pressure --- */

/* Totals of pressure and of cgroups, as offsets of struct reading. */
#define PSI_TOTALS(type, prefix)                                                                \
	offsetof(type, prefix cpu.some.total_usec), offsetof(type, prefix cpu.full.total_usec), \
		offsetof(type, prefix memory.some.total_usec),                                  \
		offsetof(type, prefix memory.full.total_usec),                                  \
		offsetof(type, prefix io.some.total_usec),                                      \
		offsetof(type, prefix io.full.total_usec),                                      \
		offsetof(type, prefix irq.some.total_usec),                                     \
		offsetof(type, prefix irq.full.total_usec)

static const size_t psi_totals[] = { PSI_TOTALS(struct psi, ) };
static const size_t cgroup_totals[] = {
	offsetof(struct cgroup_counters, cpu.usage_usec),
	offsetof(struct cgroup_counters, cpu.nr_throttled),
	offsetof(struct cgroup_counters, cpu.throttled_usec),
	offsetof(struct cgroup_counters, io.rbytes),
	offsetof(struct cgroup_counters, io.wbytes),
	offsetof(struct cgroup_counters, io.rios),
	offsetof(struct cgroup_counters, io.wios),
	offsetof(struct cgroup_counters, io.dbytes),
	offsetof(struct cgroup_counters, io.dios),
	PSI_TOTALS(struct cgroup_counters, psi.),
};

static struct reading *reading_at(void *base, size_t offset)
{
	return (struct reading *)(void *)((char *)base + offset);
}

/* Replace the totals of `now` by what they grew by since `*kept`, which gets those of `now`.
 * Returns whether any grew. */
static bool subtract_readings(const size_t *offsets, size_t count, void *kept, void *now)
{
	bool has_grown = false;

	for (size_t i = 0; i < count; i++) {
		struct reading *before = reading_at(kept, offsets[i]);
		struct reading *after = reading_at(now, offsets[i]);
		const struct reading total = *after;

		if (!after->measured || !before->measured) {
			after->measured = false;
			*before = total;
			continue;
		}
		after->value = total.value > before->value ? total.value - before->value : 0;
		has_grown |= after->value > 0;
		if (total.value > before->value)
			*before = total;
	}
	return has_grown;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, ((const struct kept_cgroup *)b)->path);
}

static struct kept_cgroup *find_cgroup(const struct agent_counters *c, const char *path)
{
	return c->cgroups.count ? bsearch(&path, c->cgroups.items, c->cgroups.count,
					  sizeof(*c->cgroups.items), by_path)
				: NULL;
}

static void free_cgroups(struct agent_counters *c)
{
	for (size_t i = 0; i < c->cgroups.count; i++)
		free(c->cgroups.items[i].path);
	array_deinit(&c->cgroups);
}

static int by_both_paths(const void *a, const void *b)
{
	return strcmp(((const struct kept_cgroup *)a)->path, ((const struct kept_cgroup *)b)->path);
}

static struct error *take_cgroups(struct agent_counters *c, struct ctprof_snapshot *s)
{
	__typeof__(c->cgroups) next = { 0 };
	size_t active = 0;

	if (s->cgroups.count && !array_reserve(&next, s->cgroups.count))
		return &error_no_memory;
	for (size_t i = 0; i < s->cgroups.count; i++) {
		struct cgroup_counters *now = &s->cgroups.items[i];
		struct kept_cgroup *old = find_cgroup(c, now->path->bytes);
		struct kept_cgroup kept = { .counters = old ? old->counters : *now };
		const bool has_grown =
			old && subtract_readings(cgroup_totals, array_length(cgroup_totals),
						 &kept.counters, now);

		kept.path = old ? take_ptr(old->path) : strdup(now->path->bytes);
		if (old)
			old->path = strdup("");
		if (!kept.path || (old && !old->path)) {
			for (size_t k = 0; k < next.count; k++)
				free(next.items[k].path);
			free(kept.path);
			array_deinit(&next);
			return &error_no_memory;
		}
		next.items[next.count++] = kept;
		if (has_grown)
			s->cgroups.items[active++] = *now;
	}
	s->cgroups.count = active;
	free_cgroups(c);
	c->cgroups.items = next.items;
	c->cgroups.count = next.count;
	c->cgroups.room = next.room;
	if (next.count)
		qsort(next.items, next.count, sizeof(*next.items), by_both_paths);
	return NULL;
}

/* --- all of it --- */

struct error *counters_create(struct agent_counters **ret)
{
	struct agent_counters *c = calloc(1, sizeof(*c));

	if (!c)
		return &error_no_memory;
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		if (is_difference(&metrics[id]))
			c->totals[c->total_count++] = id;
	*ret = c;
	return NULL;
}

static const char *boot_of(const struct ctprof_snapshot *s)
{
	return s->host && s->host->boot_id ? s->host->boot_id->bytes : "";
}

static void forget(struct agent_counters *c)
{
	kept_totals_deinit(&c->kept);
	kept_totals_deinit(&c->next);
	free_cgroups(c);
	c->psi = (struct psi){ 0 };
	c->has_previous = false;
}

struct error *counters_take(struct agent_counters *c, struct ctprof_snapshot *s,
			    struct counters_outcome *ret)
{
	struct counters_outcome outcome = { 0 };
	struct error *err;

	if (strncmp(c->boot, boot_of(s), sizeof(c->boot) - 1) != 0)
		forget(c);
	snprintf(c->boot, sizeof(c->boot), "%s", boot_of(s));
	outcome.is_first = !c->has_previous;
	err = take_threads(c, s, &outcome);
	if (!err)
		err = take_cgroups(c, s);
	if (err) {
		forget(c);
		return err;
	}
	subtract_readings(psi_totals, array_length(psi_totals), &c->psi, &s->psi);
	c->has_previous = true;
	c->uptime_ticks = s->host ? s->host->uptime_clock_ticks.value : UINT64_MAX;
	*ret = outcome;
	return NULL;
}

size_t counters_memory(const struct agent_counters *c)
{
	return sizeof(*c) + c->kept.threads.room * sizeof(*c->kept.threads.items) +
	       c->kept.bytes.room + c->cgroups.room * sizeof(*c->cgroups.items);
}

void counters_destroy(struct agent_counters *c)
{
	if (!c)
		return;
	forget(c);
	free(c);
}

/* --- states --- */

/* When it was read. A thread may end while the others are read, so the latest end may be later; but
 * threads that were there at the beginning began with it. */
static uint64_t end_of_profile(const struct profile *profile)
{
	uint64_t begun = UINT64_MAX, end = 0;

	for (size_t i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		if (thread->begun_ns < begun)
			begun = thread->begun_ns;
		if (thread->ended_ns > end)
			end = thread->ended_ns;
	}
	return end > begun && end - begun > profile->meta.duration_ns
		       ? begun + profile->meta.duration_ns
		       : end;
}

/* The numbers of the threads of a capture. */
static struct error *index_threads(const struct ctprof_snapshot *snapshot, struct word_map *ret)
{
	if (!word_map_reserve(ret, snapshot->threads.count))
		return &error_no_memory;
	for (size_t i = 0; i < snapshot->threads.count; i++)
		if (!word_map_at(ret, (struct words){ { snapshot_thread(snapshot, i)->tid } }))
			return &error_no_memory;
	return NULL;
}

static struct state_thread state_thread_of(const struct profile_thread *thread,
					   const struct state_times *times, uint64_t at_ns)
{
	return (struct state_thread){
		.tid = thread->tid,
		.tgid = thread->tgid,
		.has_ended = thread->ended_ns < at_ns,
		.begun_ns = thread->begun_ns,
		.seen_ns = thread->ended_ns,
		.times = *times,
		.state = STATE_COUNT,
		.switches = thread->counts[CLASS_ON_CPU],
	};
}

/* Those threads that the capture has, too: few of a host's. */
static struct error *read_states(const struct profile *profile, const struct word_map *captured,
				 struct state_reading *ret)
{
	_cleanup_free_ struct state_times *times = NULL;
	struct error *err = profile_thread_states(profile, &times);

	ret->at_ns = end_of_profile(profile);
	ret->at_unix_ns = profile->meta.captured_at_unix_ns + profile->meta.duration_ns;
	ret->measured = PROFILE_STATES_MEASURED;
	for (size_t i = 0; !err && i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		if (!thread->is_accounted || !map_find(captured, (struct words){ { thread->tid } }))
			continue;
		if (!array_push(&ret->threads, state_thread_of(thread, &times[i], ret->at_ns)))
			err = &error_no_memory;
	}
	return err;
}

struct error *counters_put_states(const struct profile *profile, struct ctprof_snapshot *snapshot)
{
	struct state_reading reading = { 0 };
	struct word_map captured = { 0 };
	struct error *err = index_threads(snapshot, &captured);
	struct state_watch watch = { .engine = "profile" };

	if (!err)
		err = read_states(profile, &captured, &reading);
	word_map_deinit(&captured);
	watch.begun_ns = reading.at_ns - profile->meta.duration_ns;
	/* The capture was made right afterwards: no thread began between. */
	if (!err)
		err = state_rows_join(&reading, &watch, UINT64_MAX, snapshot);
	state_reading_deinit(&reading);
	return err;
}
