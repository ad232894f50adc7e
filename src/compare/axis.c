/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/axis.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "compare/group.h"
#include "os/cgroup_place.h"
#include "state/filter.h"

const struct group_axis group_axes[GROUP_AXIS_COUNT] = {
#define AXIS(id, name, heading, prose, ...) [AXIS_##id] = { name, heading, prose, { __VA_ARGS__ } },
	AXES(AXIS)
#undef AXIS
};

/* Keys by what makes them are kept apart from keys by the text of their parts. */
#define BY_PARTS UINT64_MAX

/* --- the process of a thread --- */

static int by_tgid(const void *key, const void *item)
{
	uint32_t tgid = *(const uint32_t *)key, other = ((const struct process *)item)->tgid;

	return (tgid > other) - (tgid < other);
}

static const struct process *process_of_thread(const struct ctprof_snapshot *s,
					       const struct ctprof_thread *thread)
{
	return s->processes.count ? bsearch(&thread->tgid, s->processes.items, s->processes.count,
					    sizeof(*s->processes.items), by_tgid)
				  : NULL;
}

/* kthreadd is process 2 and has no parent; all other kernel threads are its children. */
static bool is_kernel_process(const struct ctprof_snapshot *s, const struct process *process)
{
	uint32_t two = 2;
	const struct process *kthreadd = bsearch(&two, s->processes.items, s->processes.count,
						 sizeof(*s->processes.items), by_tgid);

	return kthreadd && kthreadd->ppid.measured && !kthreadd->ppid.value && !kthreadd->exe &&
	       (process == kthreadd || (process->ppid.measured && process->ppid.value == 2));
}

bool is_kernel_thread(const struct ctprof_snapshot *s, const struct ctprof_thread *thread)
{
	const struct process *process = process_of_thread(s, thread);

	return process && is_kernel_process(s, process);
}

static struct text process_text(const struct ctprof_snapshot *s, const struct ctprof_thread *thread,
				enum key_part part)
{
	const struct process *process = process_of_thread(s, thread);
	const struct name *name = !process          ? NULL
				  : part == KEY_EXE ? process->exe
						    : process->cmdline;

	if (name && name->length)
		return name_text(name);
	return process && is_kernel_process(s, process) ? TEXT("(kernel threads)")
							: TEXT("(unknown)");
}

/* Index the names of users by uid: a host may have many. */
static bool index_users(struct keys *keys, const struct ctprof_snapshot *s)
{
	for (size_t i = 0; i < s->users.count; i++) {
		uint32_t *place;
		uint64_t uid;

		if (!text_u64(name_text(s->users.items[i].key), &uid))
			continue;
		place = word_map_at(&keys->users, (struct words){ { (uintptr_t)s, uid } });
		if (!place)
			return false;
		*place = (uint32_t)i;
	}
	return true;
}

static struct text user_text(const struct keys *keys, const struct ctprof_snapshot *s,
			     const struct ctprof_thread *thread, char buffer[32])
{
	const struct process *process = process_of_thread(s, thread);
	uint32_t found;

	if (!process || !process->uid.measured)
		return TEXT("(unknown)");
	found = word_map_find(&keys->users, (struct words){ { (uintptr_t)s, process->uid.value } });
	if (found != WORD_MAP_NEW)
		return name_text(s->users.items[found].value);
	snprintf(buffer, 32, "%" PRIu64, process->uid.value);
	return text_of(buffer);
}

/* --- the filter --- */

/* A state of a sampled letter: `R` is running or runnable, which a capture cannot tell apart. */
static unsigned states_of_letter(char letter)
{
	switch (letter) {
	case 'R':
		return 1u << STATE_EXEC | 1u << STATE_RUNNABLE;
	case 'S':
	case 'D':
		return 1u << STATE_SLEEP;
	case 'I':
	case 'P':
		return 1u << STATE_IDLE;
	case 'T':
	case 't':
		return 1u << STATE_STOPPED;
	default:
		return 0;
	}
}

_Static_assert(METRIC_state_stopped_ns - METRIC_state_exec_ns == STATE_STOPPED - STATE_EXEC,
	       "metrics.def has a row for each row of THREAD_STATES (state/state.h), in its order");

/* Recordings of top have the time in each state; other captures have the state of the moment. */
static unsigned states_of(const struct thread_record *record)
{
	unsigned states = 0;

	if (metric_set_has(&record->measured, METRIC_state_watched_ns)) {
		for (enum state state = 0; state < STATE_COUNT; state++) {
			const enum metric_id id = METRIC_state_exec_ns + state;

			if (metric_set_has(&record->measured, id) &&
			    metric_load_u64(&record->values, &metrics[id]))
				states |= 1u << state;
		}
		return states;
	}
	return metric_set_has(&record->measured, METRIC_state)
		       ? states_of_letter(record->values.state.v)
		       : 0;
}

/* Fill in the times of a thread's states, from a recording of top, and return the time since
 * tracking began; 0: not recorded. The metric of a main state includes its parts, which are
 * subtracted. */
static uint64_t times_of(const struct thread_record *record, struct state_times *ret)
{
	if (!metric_set_has(&record->measured, METRIC_state_watched_ns))
		return 0;
	for (enum state state = 0; state < STATE_COUNT; state++) {
		const enum metric_id id = METRIC_state_exec_ns + state;
		const uint64_t ns = metric_set_has(&record->measured, id)
					    ? metric_load_u64(&record->values, &metrics[id])
					    : 0;
		const enum state main = state_rows[state].main;

		ret->ns[state] = ns;
		if (main != state)
			ret->ns[main] -= ns < ret->ns[main] ? ns : ret->ns[main];
	}
	return metric_load_u64(&record->values, &metrics[METRIC_state_watched_ns]);
}

struct user_names {
	const struct keys *keys;
	const struct ctprof_snapshot *snapshot;
};

static const char *find_user_name(void *context, uint32_t uid)
{
	const struct user_names *names = context;
	const uint32_t found = word_map_find(&names->keys->users,
					     (struct words){ { (uintptr_t)names->snapshot, uid } });

	return found == WORD_MAP_NEW ? NULL : names->snapshot->users.items[found].value->bytes;
}

static bool is_selected(const struct keys *keys, const struct ctprof_snapshot *s,
			const struct ctprof_thread *thread)
{
	struct user_names names = { keys, s };
	const struct process *process;
	struct state_times times = { { 0 } };

	if (!keys->rules->filter.count)
		return true;
	process = process_of_thread(s, thread);
	return state_filter_matches(&keys->rules->filter,
				    &(struct thread_facts){
					    .tid = thread->tid,
					    .tgid = thread->tgid,
					    .uid = process ? (uint32_t)process->uid.value : 0,
					    .has_uid = process && process->uid.measured,
					    .states = states_of(&thread->record),
					    .whole_ns = times_of(&thread->record, &times),
					    .times = &times,
					    .name = thread->comm,
					    .process = thread->pcomm,
					    .cgroup = thread->cgroup,
					    .user_name = find_user_name,
					    .context = &names,
				    });
}

/* --- what makes a key --- */

/* A word for each part, equal where the part is: within one snapshot, addresses do. */
static uint64_t part_word(const struct ctprof_snapshot *s, const struct ctprof_thread *thread,
			  enum key_part part)
{
	switch (part) {
	case KEY_NOTHING:
		return 0;
	case KEY_CGROUP:
	case KEY_UNIT:
	case KEY_CONTAINER:
		return (uintptr_t)thread->cgroup;
	case KEY_PROCESS_NAME:
	case KEY_PROCESS_PATTERN:
		return (uintptr_t)thread->pcomm;
	case KEY_THREAD_NAME:
	case KEY_THREAD_PATTERN:
		return (uintptr_t)thread->comm;
	case KEY_EXE:
	case KEY_CMDLINE:
	case KEY_USER:
		/* Threads of one process follow each other: a look-up for each is cheap. */
		return (uintptr_t)process_of_thread(s, thread);
	case KEY_THREAD:
		return (uint64_t)thread->tid;
	}
	return 0;
}

static struct words thread_words(const struct keys *keys, const struct ctprof_snapshot *s,
				 const struct ctprof_thread *thread)
{
	const struct reading *start = &thread->start_time_clock_ticks;
	struct words words;

	for (size_t i = 0; i < KEY_PARTS; i++)
		words.w[i] = part_word(s, thread, keys->axis->parts[i]);
	/* The very same thread of every snapshot; without a start time, of this one alone. */
	if (keys->axis->parts[0] == KEY_THREAD) {
		words.w[1] = start->value;
		words.w[2] = start->measured ? 0 : (uintptr_t)thread;
	}
	return words;
}

/* --- labels --- */

static bool put_text(struct keys *keys, struct text text)
{
	if (!array_reserve(&keys->text, text.length))
		return false;
	if (text.length)
		memcpy(keys->text.items + keys->text.count, text.bytes, text.length);
	keys->text.count += text.length;
	return true;
}

const struct name *keys_pattern(struct keys *keys, const struct name *name)
{
	_cleanup_free_ char *out = NULL;
	const struct name *pattern;
	uint32_t *place;

	if (keys->rules->literal_threads)
		return names_intern(&keys->names, name->bytes, name->length);
	place = word_map_at(&keys->patterns, (struct words){ { (uintptr_t)name } });
	if (!place)
		return NULL;
	if (*place != WORD_MAP_NEW)
		return keys->pattern_names.items[*place];
	out = malloc(PATTERN_ROOM(name->length));
	pattern =
		out ? names_intern(&keys->names, out, pattern_of_name(name_text(name), out)) : NULL;
	if (!pattern || !array_push(&keys->pattern_names, pattern))
		return NULL;
	*place = (uint32_t)keys->pattern_names.count - 1;
	return pattern;
}

/*
 * A worker of the kernel's work queues has its pool in its name, "kworker/u8:3" or "kworker/0:1H",
 * and behind it the queue that it works for, "+", or worked for last, "-" (wq_worker_comm(),
 * kernel/workqueue.c). Which one takes work is chance, so they are one group; a rescuer,
 * "kworker/R-name", belongs to one queue.
 */
static struct text stable_name(const struct keys *keys, const struct name *name)
{
	const struct text text = name_text(name);

	return keys->rules->kworkers && !keys->rules->literal_threads &&
			       text_starts(text, TEXT("kworker/")) &&
			       !text_starts(text, TEXT("kworker/R-"))
		       ? TEXT("kworker")
		       : text;
}

static bool is_kworker(struct text name)
{
	return text_equal(name, TEXT("kworker"));
}

static bool put_name(struct keys *keys, const struct name *name)
{
	return put_text(keys, stable_name(keys, name));
}

static bool put_pattern(struct keys *keys, const struct name *name)
{
	const struct text stable = stable_name(keys, name);
	const struct name *pattern;

	if (is_kworker(stable))
		return put_text(keys, stable);
	pattern = keys_pattern(keys, name);
	return pattern && put_text(keys, name_text(pattern));
}

static bool put_part(struct keys *keys, const struct ctprof_snapshot *s,
		     const struct ctprof_thread *thread, enum key_part part)
{
	struct text found;
	char buffer[32];

	switch (part) {
	case KEY_NOTHING:
		return true;
	case KEY_CGROUP:
		return put_text(keys, name_text(cgroup_names_of(&keys->cgroups, thread->cgroup)));
	case KEY_PROCESS_NAME:
		return put_name(keys, thread->pcomm);
	case KEY_PROCESS_PATTERN:
		return put_pattern(keys, thread->pcomm);
	case KEY_THREAD_NAME:
		return put_text(keys, name_text(thread->comm));
	case KEY_THREAD_PATTERN:
		return put_pattern(keys, thread->comm);
	case KEY_EXE:
	case KEY_CMDLINE:
		return put_text(keys, process_text(s, thread, part));
	case KEY_USER:
		return put_text(keys, user_text(keys, s, thread, buffer));
	case KEY_UNIT:
		return put_text(keys, place_unit(name_text(thread->cgroup), &found)
					      ? found
					      : TEXT("(no unit)"));
	case KEY_CONTAINER:
		return put_text(keys, place_container_shown(name_text(thread->cgroup), &found)
					      ? found
					      : TEXT("(host)"));
	case KEY_THREAD:
		snprintf(buffer, sizeof(buffer), "[%" PRIu32 "]", thread->tid);
		return put_text(keys, name_text(thread->comm)) && put_text(keys, text_of(buffer));
	}
	return false;
}

/* The parts of a key, with a text between them. */
static const struct name *join_parts(struct keys *keys, const struct ctprof_snapshot *s,
				     const struct ctprof_thread *thread, struct text between)
{
	keys->text.count = 0;
	if (!array_reserve(&keys->text, 1))
		return NULL;
	for (size_t i = 0; i < KEY_PARTS && keys->axis->parts[i]; i++)
		if ((i && !put_text(keys, between)) ||
		    !put_part(keys, s, thread, keys->axis->parts[i]))
			return NULL;
	return names_intern(&keys->names, keys->text.items, keys->text.count);
}

/* --- numbers --- */

static bool add_key(struct keys *keys, const struct name *label, const struct name *literal,
		    uint32_t *ret)
{
	*ret = (uint32_t)keys->count;
	return array_push(keys, (struct key){ .label = label, .literal = literal });
}

/* The number of the key with these parts: joined by what no name has in it. */
static bool number_by_parts(struct keys *keys, const struct name *parts, const struct name *label,
			    const struct name *literal, uint32_t *ret)
{
	uint32_t *place = word_map_at(&keys->numbers,
				      (struct words){ { (uintptr_t)parts, BY_PARTS, BY_PARTS } });

	if (!place)
		return false;
	if (*place == WORD_MAP_NEW && !add_key(keys, label, literal, place))
		return false;
	*ret = *place;
	return true;
}

static bool number_thread(struct keys *keys, const struct ctprof_snapshot *s,
			  const struct ctprof_thread *thread, uint32_t *ret)
{
	struct words words = thread_words(keys, s, thread);
	uint32_t number = word_map_find(&keys->numbers, words), *place;
	const struct name *label, *parts;

	if (number == WORD_MAP_NEW) {
		label = join_parts(keys, s, thread, TEXT(" > "));
		parts = label ? join_parts(keys, s, thread, TEXT("\0")) : NULL;
		if (!parts)
			return false;
		if (keys->axis->parts[0] == KEY_THREAD
			    ? !add_key(keys, label, thread->comm, &number)
			    : !number_by_parts(keys, parts, label, thread->comm, &number))
			return false;
		place = word_map_at(&keys->numbers, words);
		if (!place)
			return false;
		*place = number;
	}
	keys->items[number].threads++;
	*ret = number;
	return true;
}

struct error *keys_init(struct keys *keys, const struct group_axis *axis,
			const struct key_rules *rules,
			const struct ctprof_snapshot *const *snapshots, size_t count)
{
	struct error *err;

	*keys = (struct keys){
		.axis = axis, .rules = rules, .snapshots = snapshots, .snapshot_count = count
	};
	arena_init(&keys->arena, SIZE_MAX / 2);
	names_init(&keys->names, &keys->arena);
	err = cgroup_names_init(&keys->cgroups, &rules->cgroups, snapshots, count);
	for (size_t i = 0; i < count && !err; i++)
		if ((axis->parts[0] == KEY_USER || rules->filter.count) &&
		    !index_users(keys, snapshots[i]))
			err = &error_no_memory;
	if (err)
		keys_deinit(keys);
	return err;
}

struct error *keys_assign(struct keys *keys, size_t i, uint32_t **ret)
{
	const struct ctprof_snapshot *s = keys->snapshots[i];
	uint32_t *numbers = malloc(s->threads.count * sizeof(*numbers) + 1);

	if (!numbers)
		return &error_no_memory;
	for (size_t t = 0; t < s->threads.count; t++) {
		const struct ctprof_thread *thread = snapshot_thread(s, t);

		if (!is_selected(keys, s, thread)) {
			numbers[t] = NO_KEY;
			continue;
		}
		if (!number_thread(keys, s, thread, &numbers[t])) {
			free(numbers);
			return &error_no_memory;
		}
	}
	*ret = numbers;
	return NULL;
}

void keys_finish(struct keys *keys)
{
	if (keys->axis != &group_axes[AXIS_COMM])
		return;
	for (size_t i = 0; i < keys->count; i++)
		if (keys->items[i].threads == 1)
			keys->items[i].label = keys->items[i].literal;
}

void keys_deinit(struct keys *keys)
{
	array_deinit(keys);
	array_deinit(&keys->text);
	array_deinit(&keys->pattern_names);
	word_map_deinit(&keys->patterns);
	word_map_deinit(&keys->users);
	word_map_deinit(&keys->numbers);
	names_deinit(&keys->names);
	arena_deinit(&keys->arena);
	cgroup_names_deinit(&keys->cgroups);
}
