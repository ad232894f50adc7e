/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/view.h"

#include "base/cleanup.h"
#include "base/pattern.h"
#include "base/word_map.h"
#include "state/filter.h"
#include "state/order.h"

const char *const state_grouping_names[STATE_GROUPINGS] = {
	[STATE_BY_THREAD] = "thread",
	[STATE_BY_PROCESS] = "process",
	[STATE_BY_CGROUP] = "cgroup",
	[STATE_BY_POOL] = "pool",
};

struct view_lines {
	ARRAY(struct state_line);
};

/* A list that is being made. */
struct making {
	struct state_list *list;
	const struct state_window *window;
	const struct state_view *view;
	bool has_groups, has_threads; /* a tree has both */
	bool folds;                   /* processes of one thread are one line */
	enum state_grouping grouping;
	struct word_map numbers; /* of groups */
	struct view_lines groups, threads;
	struct {
		ARRAY(uint32_t);
	} group_of; /* each of the threads, in a tree */
};

static void making_deinit(struct making *m)
{
	word_map_deinit(&m->numbers);
	array_deinit(&m->groups);
	array_deinit(&m->threads);
	array_deinit(&m->group_of);
}

/* --- lines --- */

static bool is_leader(const struct state_thread *thread)
{
	return thread->tid == thread->tgid;
}

static bool stands_for(const struct state_thread *thread, const struct state_thread *other)
{
	if (!other || thread->has_ended != other->has_ended)
		return !other || other->has_ended;
	if (is_leader(thread) != is_leader(other))
		return is_leader(thread);
	return thread->tid < other->tid;
}

/* The own window of a thread that existed from beginning to end may be a bit longer or shorter than
 * the interval, since threads are read one after the other. */
static void add_window(struct state_line *line, const struct state_window *window,
		       const struct state_delta *delta)
{
	const bool is_whole = !delta->is_new && !delta->thread->has_ended;
	const bool had_one = line->whole_ns && line->whole_ns == line->window_ns;

	line->interval_ns = window->ended_ns - window->begun_ns;
	line->window_ns += delta->window_ns;
	line->whole_ns = line->window_ns;
	if (!is_whole && !had_one && line->whole_ns < line->interval_ns)
		line->whole_ns = line->interval_ns;
}

static void add_delta(struct state_line *line, const struct state_window *window,
		      const struct state_delta *delta)
{
	const struct state_thread *thread = delta->thread;

	line->threads += !thread->has_ended;
	line->ended += thread->has_ended;
	add_window(line, window, delta);
	state_times_add(&line->times, &delta->times);
	line->switches += delta->switches;
	if (state_wait_is_worse(thread->state, delta->in_progress_ns, line->in_progress,
				line->in_progress_ns)) {
		line->in_progress = thread->state;
		line->in_progress_ns = delta->in_progress_ns;
		line->in_progress_at_least = thread->since_is_least;
	}
}

double state_line_share(const struct state_line *line, enum state state)
{
	uint64_t ns = state_times_of(&line->times, state);

	if (!line->whole_ns)
		return 0;
	return ns < line->whole_ns ? (double)ns / (double)line->whole_ns : 1;
}

static double threads_in(const struct state_line *line, const enum state *states, size_t count)
{
	double share = 0;

	for (size_t i = 0; i < count; i++)
		share += state_line_share(line, states[i]);
	if (share > 1)
		share = 1;
	/* For a single thread the whole is the interval, however long its own window was. */
	if (state_line_is_one(line) || !line->interval_ns)
		return share;
	return share * (double)line->whole_ns / (double)line->interval_ns;
}

/* `busy` comes first: `active` has storage in addition. */
static const enum state active[] = { STATE_EXEC, STATE_RUNNABLE, STATE_PAGING, STATE_LOCK,
				     STATE_SLEEP_DISK };

double state_line_active(const struct state_line *line)
{
	return threads_in(line, active, array_length(active));
}

double state_line_busy(const struct state_line *line)
{
	return threads_in(line, active, array_length(active) - 1);
}

/* --- groups: their keys, labels and ids --- */

/* Groups are those of a host: part of their keys, beside another word of 32 bits. */
static uint64_t of_host(const struct state_thread *thread, uint64_t word)
{
	return (uint64_t)thread->host << 32 | word;
}

/* Mixed, so that similar names differ in all bits. It is the same in every window and every run.
 */
static uint64_t hash_of(enum state_grouping grouping, const struct state_thread *thread,
			struct text key)
{
	const bool is_kernel = grouping == STATE_BY_POOL && thread->is_kernel;
	uint64_t hash = text_hash(key, of_host(thread, 2 * grouping + is_kernel));

	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

/* "java:GC Thread#{N}". What shares the name of its process has no other to show; and every thread
 * of the kernel is its own process. NULL without memory. */
static const struct name *label_of_pool(struct names *names, const struct state_thread *thread)
{
	struct text process = name_text(thread->process), name = name_text(thread->name);
	_cleanup_free_ char *label = malloc(process.length + 1 + PATTERN_ROOM(name.length));
	size_t length = 0;

	if (!label)
		return NULL;
	if (!thread->is_kernel) {
		memcpy(label, process.bytes, process.length);
		length = process.length;
	}
	if (thread->is_kernel || !text_equal(process, name)) {
		if (length)
			label[length++] = ':';
		length += pattern_of_name(name, label + length);
	}
	return names_intern(names, label, length);
}

/* The number of the group with this key, which is made if it is new. NULL without memory. */
static uint32_t *group_number(struct making *m, struct words key, struct state_line group)
{
	uint32_t *number = word_map_at(&m->numbers, key);

	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		if (m->groups.count == WORD_MAP_NEW || !array_push(&m->groups, group))
			return NULL;
		*number = (uint32_t)m->groups.count - 1;
	}
	return number;
}

static uint32_t *process_line(struct making *m, const struct state_thread *thread)
{
	struct text key = { (const char *)&thread->tgid, sizeof(thread->tgid) };

	return group_number(m, (struct words){ { thread->tgid, 0, of_host(thread, 0) } },
			    (struct state_line){ .id = hash_of(STATE_BY_PROCESS, thread, key) });
}

static uint32_t *cgroup_number(struct making *m, const struct state_thread *thread)
{
	const struct name *label =
		thread->cgroup ? thread->cgroup : names_intern(&m->list->names, "-", 1);

	if (!label)
		return NULL;
	return group_number(
		m, (struct words){ { (uintptr_t)label, 0, of_host(thread, 0) } },
		(struct state_line){ .id = hash_of(STATE_BY_CGROUP, thread, name_text(label)),
				     .label = label });
}

/* Names are interned, so a pattern is made once for each pair of them. */
static uint32_t *pool_of(struct making *m, const struct state_thread *thread)
{
	struct words names = { { (uintptr_t)thread->process, (uintptr_t)thread->name,
				 of_host(thread, 2 + thread->is_kernel) } };
	uint32_t known = word_map_find(&m->numbers, names), *number;
	const struct name *label;

	if (known != WORD_MAP_NEW)
		return word_map_at(&m->numbers, names);
	label = label_of_pool(&m->list->names, thread);
	if (!label)
		return NULL;
	number = group_number(
		m, (struct words){ { (uintptr_t)label, 0, of_host(thread, thread->is_kernel) } },
		(struct state_line){ .id = hash_of(STATE_BY_POOL, thread, name_text(label)),
				     .label = label });
	if (!number)
		return NULL;
	known = *number;
	number = word_map_at(&m->numbers, names);
	if (number)
		*number = known;
	return number;
}

static uint32_t *(*const groupings[STATE_GROUPINGS])(struct making *m,
						     const struct state_thread *thread) = {
	/* In a tree. */
	[STATE_BY_THREAD] = process_line,
	[STATE_BY_PROCESS] = process_line,
	[STATE_BY_CGROUP] = cgroup_number,
	[STATE_BY_POOL] = pool_of,
};

/* --- processes of one thread, in a tree --- */

/* Beside the numbers of processes, which have no second word. */
static struct words crowd_of(const struct state_thread *thread)
{
	return (struct words){ { thread->tgid, 1, of_host(thread, 0) } };
}

/* Filters are not asked: what they leave of a process is not all of it. */
static bool note_crowd(struct making *m, const struct state_thread *thread)
{
	uint32_t *place;

	if (!m->folds || is_leader(thread))
		return true;
	place = word_map_at(&m->numbers, crowd_of(thread));
	if (place)
		*place = 1;
	return place;
}

/* Does the line of the process say all that the line of its thread would? */
static bool is_folded(const struct making *m, const struct state_line *process,
		      const struct state_line *thread)
{
	return m->folds && is_leader(thread->thread) &&
	       text_equal(name_text(process->label), name_text(thread->label)) &&
	       word_map_find(&m->numbers, crowd_of(thread->thread)) == WORD_MAP_NEW;
}

/* --- adding threads up --- */

static bool add_to_group(struct making *m, const struct state_delta *delta)
{
	uint32_t *number = groupings[m->grouping](m, delta->thread);
	struct state_line *group;

	if (!number)
		return false;
	group = &m->groups.items[*number];
	if (stands_for(delta->thread, group->thread)) {
		group->thread = delta->thread;
		if (groupings[m->grouping] == process_line)
			group->label = delta->thread->process;
	}
	add_delta(group, m->window, delta);
	return !m->has_threads || array_push(&m->group_of, *number);
}

struct state_line state_line_of(const struct state_window *window, const struct state_delta *delta)
{
	struct state_line line = {
		.id = delta->thread->id,
		.thread = delta->thread,
		.label = delta->thread->name,
	};

	add_delta(&line, window, delta);
	return line;
}

static bool add_thread(struct making *m, const struct state_delta *delta)
{
	struct state_line line = state_line_of(m->window, delta);

	line.depth = m->has_groups;
	return array_push(&m->threads, line);
}

static bool add_all(struct making *m)
{
	for (size_t i = 0; i < m->window->deltas.count; i++) {
		const struct state_delta *delta = &m->window->deltas.items[i];

		if (!note_crowd(m, delta->thread))
			return false;
		if (!state_view_shows(m->view, delta))
			continue;
		add_delta(&m->list->total, m->window, delta);
		if (m->has_groups && !add_to_group(m, delta))
			return false;
		if (m->has_threads && !add_thread(m, delta))
			return false;
	}
	return true;
}

/* --- their order --- */

/* Lines in the order of `numbers`; there is room in the list. */
static void append_lines(struct making *m, const struct view_lines *lines, const uint32_t *numbers,
			 size_t count)
{
	struct state_list *list = m->list;

	for (size_t i = 0; i < count; i++)
		if (lines->items[numbers[i]].threads || !m->view->no_ended)
			list->lines.items[list->lines.count++] = lines->items[numbers[i]];
}

static bool is_hidden(const struct state_view *view, const struct state_line *group)
{
	for (size_t i = 0; i < view->folded_count; i++)
		if (view->folded[i] == group->id)
			return true;
	return false;
}

/* Each group, and its threads behind it, which `group_of` says (by ranks of groups, of which there
 * are as many as groups). */
static void put_tree(struct making *m, const uint32_t *groups, const uint32_t *threads)
{
	size_t at = 0;

	for (size_t rank = 0; rank < m->groups.count; rank++) {
		size_t begin = at;

		while (at < m->threads.count && m->group_of.items[threads[at]] == rank)
			at++;
		append_lines(m, &m->groups, &groups[rank], 1);
		if (is_hidden(m->view, &m->groups.items[groups[rank]]))
			continue;
		if (at - begin == 1 &&
		    is_folded(m, &m->groups.items[groups[rank]], &m->threads.items[threads[begin]]))
			continue;
		append_lines(m, &m->threads, threads + begin, at - begin);
	}
}

/* Say of each thread what rank its group has, in place of its number. */
static bool rank_groups(struct making *m, const uint32_t *groups)
{
	_cleanup_free_ uint32_t *ranks = calloc(m->groups.count + 1, sizeof(*ranks));

	if (!ranks)
		return false;
	for (size_t i = 0; i < m->groups.count; i++)
		ranks[groups[i]] = (uint32_t)i;
	for (size_t i = 0; i < m->group_of.count; i++)
		m->group_of.items[i] = ranks[m->group_of.items[i]];
	return true;
}

static bool put_all(struct making *m)
{
	const uint64_t at_ns = m->window->ended_ns;
	_cleanup_free_ uint32_t *groups = calloc(m->groups.count + 1, sizeof(*groups));
	_cleanup_free_ uint32_t *threads = calloc(m->threads.count + 1, sizeof(*threads));

	if (!groups || !threads ||
	    !array_reserve(&m->list->lines, m->groups.count + m->threads.count) ||
	    !state_order(m->groups.items, m->groups.count, NULL, m->view, at_ns, groups))
		return false;
	if (m->has_groups && m->has_threads && !rank_groups(m, groups))
		return false;
	if (!state_order(m->threads.items, m->threads.count, m->group_of.items, m->view, at_ns,
			 threads))
		return false;
	if (m->has_groups && m->has_threads)
		put_tree(m, groups, threads);
	else if (m->has_groups)
		append_lines(m, &m->groups, groups, m->groups.count);
	else
		append_lines(m, &m->threads, threads, m->threads.count);
	return true;
}

/* --- the list --- */

void state_list_init(struct state_list *list)
{
	*list = (struct state_list){ .lines = { .count = 0 } };
	/* Labels are a few times as long as names that are in memory already. */
	arena_init(&list->arena, SIZE_MAX);
	names_init(&list->names, &list->arena);
}

static void clear(struct state_list *list)
{
	array_clear(&list->lines);
	list->total = (struct state_line){ .id = 0 };
	names_deinit(&list->names);
	arena_deinit(&list->arena);
}

void state_list_deinit(struct state_list *list)
{
	clear(list);
	array_deinit(&list->lines);
}

struct error *state_list_make(struct state_list *list, const struct state_window *window,
			      const struct state_view *view)
{
	struct making m = {
		.list = list,
		.window = window,
		.view = view,
		.has_groups = view->is_tree || view->grouping != STATE_BY_THREAD,
		.has_threads = view->is_tree || view->grouping == STATE_BY_THREAD,
		.grouping = view->grouping,
		.folds = view->is_tree && !view->no_folding &&
			 groupings[view->grouping] == process_line,
	};
	bool done;

	clear(list);
	done = add_all(&m) && put_all(&m);
	making_deinit(&m);
	if (done)
		return NULL;
	clear(list);
	return &error_no_memory;
}
