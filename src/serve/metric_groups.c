/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/metric_groups.h"

#include <string.h>

#include "base/pattern.h"

/* A group is over when it had no time in so many readings. */
#define READINGS_UNTIL_OVER 5

/* Room for states that groups which are shown have not been in yet: the eighth part. */
#define ROOM_FOR_GROUPS(most) ((most) - (most) / 8)

void metric_groups_init(struct metric_groups *groups, size_t series_most)
{
	*groups = (struct metric_groups){ .series_most = series_most };
	arena_init(&groups->arena, SIZE_MAX);
	names_init(&groups->names, &groups->arena);
}

static void forget_names(struct metric_groups *g)
{
	names_deinit(&g->names);
	arena_deinit(&g->arena);
	word_map_deinit(&g->numbers);
}

void metric_groups_deinit(struct metric_groups *groups)
{
	forget_names(groups);
	array_deinit(&groups->all);
	array_deinit(&groups->shown);
	array_deinit(&groups->of_thread);
}

/* --- which group a thread is in --- */

static const struct name *intern(struct metric_groups *g, const struct name *name)
{
	return names_intern(&g->names, name->bytes, name->length);
}

static const struct name *intern_pattern(struct metric_groups *g, const struct name *name)
{
	char *pattern = malloc(PATTERN_ROOM(name->length));
	const struct name *found = NULL;

	if (pattern)
		found = names_intern(&g->names, pattern, pattern_of_name(name_text(name), pattern));
	free(pattern);
	return found;
}

/* The number of the group with these names, which are those of `g`. */
static struct error *number_group(struct metric_groups *g, const struct name *cgroup,
				  const struct name *threads, uint32_t *ret)
{
	uint32_t *number = word_map_at(&g->numbers,
				       (struct words){ { (uintptr_t)cgroup, (uintptr_t)threads } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&g->all, (struct metric_group){ .cgroup = cgroup,
								.threads = threads,
								.shown = TICK_NONE }))
			return &error_no_memory;
		*number = (uint32_t)g->all.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *number_thread(struct metric_groups *g, const struct profile_thread *thread)
{
	const struct name *cgroup = thread->cgroup ? intern(g, thread->cgroup) : NULL;
	const struct name *threads = intern_pattern(g, thread->name);
	uint32_t number;
	struct error *err;

	if (!threads || (thread->cgroup && !cgroup))
		return &error_no_memory;
	err = number_group(g, cgroup, threads, &number);
	if (err)
		return err;
	return array_push(&g->of_thread, number) ? NULL : &error_no_memory;
}

/* Of another dictionary all threads have other numbers. Then groups that are not shown are
 * forgotten, and so are the names of those that were. */
static struct error *begin_anew(struct metric_groups *g)
{
	struct metric_groups old = *g;
	struct error *err = NULL;

	arena_init(&g->arena, SIZE_MAX);
	names_init(&g->names, &g->arena);
	g->numbers = (struct word_map){ 0 };
	memset(&g->all, 0, sizeof(g->all));
	g->of_thread.count = 0;
	for (size_t i = 0; !err && i < g->shown.count; i++) {
		struct metric_group_time *time = &g->shown.items[i];
		const struct metric_group *before = &old.all.items[time->group];

		if (time->cgroup)
			time->cgroup = intern(g, time->cgroup);
		time->threads = intern(g, time->threads);
		if (!time->threads || (before->cgroup && !time->cgroup))
			err = &error_no_memory;
		if (!err)
			err = number_group(g, time->cgroup, time->threads, &time->group);
		if (!err) {
			g->all.items[time->group].shown = (uint32_t)i;
			g->all.items[time->group].seen = before->seen;
		}
	}
	forget_names(&old);
	array_deinit(&old.all);
	return err;
}

static struct error *number_threads(struct metric_groups *g, const struct tick_store *store)
{
	struct error *err = NULL;

	if (g->generation != store->generation)
		err = begin_anew(g);
	g->generation = store->generation;
	while (!err && g->of_thread.count < store->book->threads.count)
		err = number_thread(g, &store->book->threads.items[g->of_thread.count]);
	return err;
}

/* --- the times of a reading --- */

typedef void time_function(struct metric_groups *g, struct metric_group *group, enum state state,
			   uint64_t ns);

static void for_each_time(struct metric_groups *g, const struct tick_store *store,
			  time_function *function)
{
	const struct store_tick *tick = &store->ticks.items[store->ticks.count - 1];
	struct lasting_map lasting = store->lasting;

	for (size_t i = 0; i < tick->samples.count; i++) {
		const struct sample *sample = &tick->samples.items[i];

		if (profile_classes[sample->class].is_off_cpu)
			function(g, &g->all.items[g->of_thread.items[sample->thread]],
				 sample->state, sample->ns);
	}
	for (size_t i = 0; i < tick->cpu.count; i++)
		function(g, &g->all.items[g->of_thread.items[tick->cpu.items[i].thread]],
			 STATE_EXEC, tick->cpu.items[i].ns);
	map_for_each(&lasting, slot)
	{
		function(g, &g->all.items[g->of_thread.items[slot->key]], slot->value.state,
			 tick->ns);
	}
}

static void look(struct metric_groups *g, struct metric_group *group, enum state state, uint64_t ns)
{
	if (group->seen != g->readings)
		group->run_ns = group->ns = group->states = 0;
	group->seen = g->readings;
	group->run_ns += state == STATE_EXEC ? ns : 0;
	group->ns += ns;
	group->states |= ns ? 1u << state : 0;
}

static void add(struct metric_groups *g, struct metric_group *group, enum state state, uint64_t ns)
{
	uint64_t *to = &g->special[GROUPS_OTHER][state];

	if (group->shown != TICK_NONE) {
		uint64_t *own = &g->shown.items[group->shown].ns[state];

		if (!*own && ns && g->series < g->series_most)
			g->series++;
		else if (!*own)
			own = to;
		to = own;
	}
	*to += ns;
	g->last[state] += ns;
}

/* --- which groups are shown --- */

static bool is_over(const struct metric_groups *g, const struct metric_group *group)
{
	return group->seen + READINGS_UNTIL_OVER <= g->readings;
}

static void fold(struct metric_groups *g, const struct metric_group_time *time)
{
	g->all.items[time->group].shown = TICK_NONE;
	for (unsigned s = 0; s < STATE_COUNT; s++) {
		g->special[GROUPS_ENDED][s] += time->ns[s];
		g->series -= time->ns[s] != 0;
	}
}

/* Put the times of groups that are over together. */
static void fold_ended(struct metric_groups *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->shown.count; i++) {
		const struct metric_group_time *time = &g->shown.items[i];
		struct metric_group *group = &g->all.items[time->group];

		if (is_over(g, group)) {
			fold(g, time);
			continue;
		}
		group->shown = (uint32_t)kept;
		g->shown.items[kept++] = *time;
	}
	g->shown.count = kept;
}

void metric_groups_limit(struct metric_groups *groups, size_t series_most)
{
	groups->series_most = series_most;
	if (groups->series > series_most)
		fold_ended(groups);
	while (groups->series > series_most)
		fold(groups, &groups->shown.items[--groups->shown.count]);
}

/* The group that ran most first, then the one with more threads or time. */
static int by_work(const void *left, const void *right)
{
	const struct metric_group *const *a = left, *const *b = right;

	if ((*a)->run_ns != (*b)->run_ns)
		return (*a)->run_ns < (*b)->run_ns ? 1 : -1;
	return (*a)->ns < (*b)->ns ? 1 : (*a)->ns > (*b)->ns ? -1 : 0;
}

struct candidates {
	ARRAY(struct metric_group *);
};

static struct error *find_candidates(struct metric_groups *g, struct candidates *ret)
{
	for (size_t i = 0; i < g->all.count; i++) {
		struct metric_group *group = &g->all.items[i];

		if (group->shown == TICK_NONE && group->seen == g->readings &&
		    !array_push(ret, group))
			return &error_no_memory;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_work);
	return NULL;
}

static struct error *show(struct metric_groups *g, const struct candidates *candidates)
{
	size_t series = g->series;

	for (size_t i = 0; i < candidates->count; i++) {
		struct metric_group *group = candidates->items[i];

		series += (size_t)__builtin_popcount(group->states);
		if (series > ROOM_FOR_GROUPS(g->series_most))
			break;
		if (!array_push(&g->shown, (struct metric_group_time){
						   .cgroup = group->cgroup,
						   .threads = group->threads,
						   .group = (uint32_t)(group - g->all.items) }))
			return &error_no_memory;
		group->shown = (uint32_t)g->shown.count - 1;
	}
	return NULL;
}

static struct error *show_more(struct metric_groups *g)
{
	struct candidates candidates = { 0 };
	struct error *err = find_candidates(g, &candidates);
	size_t wanted = g->series;

	for (size_t i = 0; i < candidates.count; i++)
		wanted += (size_t)__builtin_popcount(candidates.items[i]->states);
	if (!err && wanted > ROOM_FOR_GROUPS(g->series_most))
		fold_ended(g);
	if (!err)
		err = show(g, &candidates);
	array_deinit(&candidates);
	return err;
}

/* --- all of it --- */

struct error *metric_groups_take(struct metric_groups *g, const struct tick_store *store)
{
	struct error *err = number_threads(g, store);

	if (err)
		return err;
	g->readings++;
	g->last_ns = store->ticks.items[store->ticks.count - 1].ns;
	memset(g->last, 0, sizeof(g->last));
	for_each_time(g, store, look);
	err = show_more(g);
	if (!err)
		for_each_time(g, store, add);
	return err;
}

size_t metric_groups_in_other(const struct metric_groups *groups)
{
	size_t count = 0;

	for (size_t i = 0; i < groups->all.count; i++)
		count += groups->all.items[i].seen == groups->readings &&
			 groups->all.items[i].shown == TICK_NONE;
	return count;
}
