/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/radix.h"

/* The memory of a snapshot: enough for any host, and in proportion to its threads, so that a file
 * of few threads cannot ask for much. The reader's own buffers come on top. */
#define ARENA_BASE       ((size_t)32 << 20)
#define ARENA_PER_THREAD ((size_t)1792)

const char *const counter_kind_names[COUNTER_KIND_COUNT] = {
	[COUNTERS_KERNEL] = "kernel", [COUNTERS_CPU] = "cpu", [COUNTERS_VMSTAT] = "vmstat",
	[COUNTERS_BLOCK] = "block",   [COUNTERS_NET] = "net",
};

struct error *snapshot_create(struct ctprof_snapshot **ret)
{
	struct ctprof_snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return &error_no_memory;
	arena_init(&snapshot->arena, ARENA_BASE);
	names_init(&snapshot->names, &snapshot->arena);
	*ret = snapshot;
	return NULL;
}

void snapshot_trust(struct ctprof_snapshot *snapshot)
{
	snapshot->arena.limit = SIZE_MAX / 2;
}

void snapshot_destroy(struct ctprof_snapshot *snapshot)
{
	if (!snapshot)
		return;
	lines_deinit(&snapshot->remarks);
	array_deinit(&snapshot->processes);
	array_deinit(&snapshot->cgroups);
	array_deinit(&snapshot->counters);
	array_deinit(&snapshot->threads);
	names_deinit(&snapshot->names);
	arena_deinit(&snapshot->arena);
	free(snapshot);
}

/* They stay where they are. */
bool snapshot_expect_threads(struct ctprof_snapshot *s)
{
	struct ctprof_thread *chunk;

	if (!array_reserve(&s->threads, s->threads.made - s->threads.count + THREADS_PER_CHUNK))
		return false;
	s->arena.limit += THREADS_PER_CHUNK * sizeof(*chunk);
	chunk = arena_alloc(&s->arena, THREADS_PER_CHUNK * sizeof(*chunk));
	if (!chunk)
		return false;
	for (size_t i = 0; i < THREADS_PER_CHUNK; i++)
		s->threads.items[s->threads.made++] = &chunk[i];
	return true;
}

struct reading snapshot_age_ticks(const struct ctprof_snapshot *snapshot)
{
	if (snapshot->observed_ns)
		return reading_of(snapshot->longest_observed_ns / NS_PER_TICK);
	return snapshot->host ? snapshot->host->uptime_clock_ticks : (struct reading){ 0 };
}

struct ctprof_thread *snapshot_add_thread(struct ctprof_snapshot *s)
{
	if (s->threads.count >= SNAPSHOT_THREADS_MAX)
		return NULL;
	if (s->threads.count == s->threads.made && !snapshot_expect_threads(s))
		return NULL;
	s->arena.limit += ARENA_PER_THREAD;
	return s->threads.items[s->threads.count++];
}

void snapshot_truncate_threads(struct ctprof_snapshot *s, size_t count)
{
	while (s->threads.count > count)
		*snapshot_thread(s, --s->threads.count) = (struct ctprof_thread){ 0 };
}

/* Zero memory of the arena. Whole pages are returned: the kernel fills them with zeroes when they
 * are used again. */
static void release(char *begin, char *end)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t from = ((uintptr_t)begin + page - 1) & ~(page - 1);
	const uintptr_t to = (uintptr_t)end & ~(page - 1);

	if (from >= to || madvise((char *)from, to - from, MADV_DONTNEED)) {
		memset(begin, 0, (size_t)(end - begin));
		return;
	}
	memset(begin, 0, from - (uintptr_t)begin);
	memset((char *)to, 0, (uintptr_t)end - to);
}

void snapshot_release_threads(struct ctprof_snapshot *s, size_t count)
{
	for (size_t first = count; first < s->threads.count;) {
		size_t next = first + 1;

		/* Mostly one behind the other. */
		while (next < s->threads.count &&
		       snapshot_thread(s, next) == snapshot_thread(s, next - 1) + 1)
			next++;
		release((char *)snapshot_thread(s, first),
			(char *)(snapshot_thread(s, next - 1) + 1));
		first = next;
	}
	if (count < s->threads.count)
		s->threads.count = count;
}

/* The sort key within a process: the leader has 0, and comes first. */
static uint32_t number_of(const struct ctprof_thread *thread)
{
	return thread->tid == thread->tgid ? 0 : thread->tid;
}

static bool are_in_order(const struct ctprof_thread *a, const struct ctprof_thread *b)
{
	return a->tgid != b->tgid ? a->tgid < b->tgid : number_of(a) < number_of(b);
}

static bool is_sorted(const struct ctprof_snapshot *s)
{
	for (size_t i = 1; i < s->threads.count; i++)
		if (!are_in_order(snapshot_thread(s, i - 1), snapshot_thread(s, i)))
			return false;
	return true;
}

/* By number, and then by process: the sort keeps the order of equal ones. */
struct error *snapshot_sort_threads(struct ctprof_snapshot *s)
{
	const size_t count = s->threads.count;
	_cleanup_free_ struct radix_key *keys = NULL;
	_cleanup_free_ struct ctprof_thread **threads = NULL;
	struct radix_key *sorted;

	if (is_sorted(s))
		return NULL;
	keys = calloc(2 * count, sizeof(*keys));
	threads = calloc(count, sizeof(struct ctprof_thread *));
	if (!keys || !threads)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct radix_key){ number_of(snapshot_thread(s, i)), (uint32_t)i };
	sorted = radix_sort(keys, keys + count, count);
	for (size_t i = 0; i < count; i++)
		sorted[i].key = snapshot_thread(s, sorted[i].index)->tgid;
	sorted = radix_sort(sorted, sorted == keys ? keys + count : keys, count);
	for (size_t i = 0; i < count; i++)
		threads[i] = snapshot_thread(s, sorted[i].index);
	memcpy(s->threads.items, threads, count * sizeof(struct ctprof_thread *));
	return NULL;
}

const struct name *snapshot_name(struct ctprof_snapshot *s, struct text text)
{
	return names_intern(&s->names, text.bytes, strnlen(text.bytes, text.length));
}

/* Room for one more in an array of the arena; what it outgrows stays behind there, so the steps are
 * those of the arrays there are: smaps_rollup has some 20 lines, memory.stat some 60. */
static void *grow(struct ctprof_snapshot *s, void *items, size_t count, size_t *room, size_t size)
{
	size_t want = *room < 24 ? 24 : *room < 64 ? 64 : *room * 2;
	void *moved;

	if (count < *room)
		return items;
	moved = arena_alloc(&s->arena, want * size);
	if (!moved)
		return NULL;
	if (count)
		memcpy(moved, items, count * size);
	*room = want;
	return moved;
}

void counts_trim(struct ctprof_snapshot *s, struct counts *counts)
{
	const size_t size = sizeof(*counts->items);

	if (counts->room)
		arena_trim(&s->arena, counts->items, counts->room * size, counts->count * size);
	counts->room = counts->count;
}

bool counts_add(struct ctprof_snapshot *s, struct counts *counts, struct text key, uint64_t value)
{
	const struct name *name = snapshot_name(s, key);
	struct count *items;

	if (!name)
		return false;
	items = grow(s, counts->items, counts->count, &counts->room, sizeof(*items));
	if (!items)
		return false;
	counts->items = items;
	counts->items[counts->count++] = (struct count){ name, value };
	counts->measured = true;
	return true;
}

const struct count *counts_find(const struct counts *counts, struct text key)
{
	for (size_t i = 0; i < counts->count; i++)
		if (text_equal(name_text(counts->items[i].key), key))
			return &counts->items[i];
	return NULL;
}

bool label_pairs_add(struct ctprof_snapshot *s, struct label_pairs *pairs, struct text key,
		     struct text value)
{
	const struct name *name = snapshot_name(s, key), *text = snapshot_name(s, value);
	struct label_pair *items;

	if (!name || !text)
		return false;
	items = grow(s, pairs->items, pairs->count, &pairs->room, sizeof(*items));
	if (!items)
		return false;
	pairs->items = items;
	pairs->items[pairs->count++] = (struct label_pair){ name, text };
	pairs->measured = true;
	return true;
}

struct counter_set *snapshot_add_counters(struct ctprof_snapshot *s, enum counter_kind kind,
					  struct text name)
{
	struct counter_set set = { .kind = kind, .name = snapshot_name(s, name) };

	set.counts.measured = true;
	if (!set.name || s->counters.count >= SNAPSHOT_COUNTER_SETS_MAX ||
	    !array_push(&s->counters, set))
		return NULL;
	return &s->counters.items[s->counters.count - 1];
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* The keys, from the first on, a stride apart; equal keys are one name. */
static struct error *check_keys(const void *items, size_t count, size_t stride)
{
	_cleanup_free_ uintptr_t *keys = calloc(count, sizeof(*keys));

	if (!keys)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		memcpy(&keys[i], (const char *)items + i * stride, sizeof(keys[i]));
	qsort(keys, count, sizeof(*keys), by_address);
	for (size_t i = 1; i < count; i++)
		if (keys[i] == keys[i - 1])
			return error_create("duplicate key in an object");
	return NULL;
}

struct error *counts_check(const struct counts *counts)
{
	return counts->count
		       ? check_keys(&counts->items->key, counts->count, sizeof(*counts->items))
		       : NULL;
}

struct error *label_pairs_check(const struct label_pairs *pairs)
{
	return pairs->count ? check_keys(&pairs->items->key, pairs->count, sizeof(*pairs->items))
			    : NULL;
}

struct error *counter_sets_check(const struct counter_set *sets, size_t count)
{
	return count ? check_keys(&sets->name, count, sizeof(*sets)) : NULL;
}

static int by_tgid(const void *a, const void *b)
{
	uint32_t x = ((const struct process *)a)->tgid, y = ((const struct process *)b)->tgid;

	return (x > y) - (x < y);
}

static int by_path(const void *a, const void *b)
{
	return name_compare(((const struct cgroup_counters *)a)->path,
			    ((const struct cgroup_counters *)b)->path);
}

void snapshot_sort(struct ctprof_snapshot *s)
{
	if (s->processes.count)
		qsort(s->processes.items, s->processes.count, sizeof(*s->processes.items), by_tgid);
	if (s->cgroups.count)
		qsort(s->cgroups.items, s->cgroups.count, sizeof(*s->cgroups.items), by_path);
}

struct error *snapshot_remark(struct ctprof_snapshot *s, const char *format, ...)
{
	va_list arguments;
	bool done;

	va_start(arguments, format);
	done = lines_add(&s->remarks, format, arguments);
	va_end(arguments);
	return done ? NULL : &error_no_memory;
}
