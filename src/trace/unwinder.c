/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process is looked at when image_watch says that it changed: its mappings become a space, which
 * names the tables that there are, and then its entry in the map of processes is written. Programs
 * in the kernel write there, too: a fork copies the parent's entry, an exec removes it. A record of
 * an exec is in its ring before the entry is removed; so who writes an entry looks at the rings
 * once more, and what was written too late is wrong for no longer than that takes.
 *
 * Records do not say what is unmapped, so that what is made of them does not know how many pages
 * may be executed. A process that has been quiet for a while is read from /proc, which does.
 */
#include "trace/unwinder.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "base/clock.h"
#include "trace/space_shelf.h"
#include "trace/unwind_chunks.h"

#define BUCKETS 4096

/* Not all at once: nobody is to wait for a tick. */
#define CHANGES_A_TICK 1024
#define READS_A_TICK   64
#define ROUNDS         4

#define QUIET_NS       NS_PER_S
#define READ_AGAIN_NS  (NS_PER_S / 10)
#define IN_VAIN_MAX    5

/* Of a process that maps again and again: for each of its mappings, until its next space. They are
 * kept for a while. */
#define PAUSE_NS 20000

#define LOOK_NS  (NS_PER_S / 50)

struct process {
	LIST_ENTRY(process) same; /* with the same hash */
	TAILQ_ENTRY(process) restless, waiting, late;
	uint32_t pid;
	bool is_restless; /* what it has is not read yet, only told */
	bool is_waiting;  /* for tables */
	bool is_late;     /* it changed too soon after its last space */
	struct shelf_space *space;
	uint64_t exec_pages;
	uint64_t begun_ns, changed_ns, built_ns, read_ns;
	uint32_t in_vain; /* times that it was read for a walk, and nothing was new */
};

LIST_HEAD(process_bucket, process);
TAILQ_HEAD(processes, process);

struct unwinder {
	struct unwinder_options options; /* without `pids` */
	struct {
		ARRAY(uint32_t);
	} pids;
	struct unwind_chunks chunks;
	struct unwind_store *store;
	struct table_makers *makers;
	struct table_shelf *tables;
	struct space_shelf *spaces;
	struct process_bucket buckets[BUCKETS];
	struct processes restless; /* the one that has been quiet longest first */
	struct processes waiting, late;
	size_t no_room, failed;
	bool has_news;
	uint64_t lost; /* records of image_watch, as of the last look */
};

/* --- opening --- */

static struct error *open_store(struct unwinder *unwinder)
{
	const struct unwinder_options *options = &unwinder->options;
	struct error *err = unwind_chunks_init(&unwinder->chunks, options->chunks, options->rules);

	if (err)
		return err;
	return unwind_store_create(
		&(struct unwind_store_options){
			.max_bytes = options->max_bytes,
			.add_chunk = unwind_chunks_add,
			.rules = unwinder->chunks.rules,
			.context = &unwinder->chunks,
		},
		&unwinder->store);
}

/* Without a cache all is made again, and no stack is worse. */
static struct unwind_cache *open_cache(const struct unwinder_options *options)
{
	struct unwind_cache *cache = NULL;

	if (!options->no_cache)
		error_destroy(unwind_cache_open(&cache));
	return cache;
}

static struct error *open_unwinder(struct unwinder *unwinder, const uint32_t *pids, size_t count)
{
	size_t bytes = unwinder->options.max_bytes;
	struct error *err;

	for (size_t i = 0; i < count; i++)
		if (!array_push(&unwinder->pids, pids[i]))
			return &error_no_memory;
	if (!bytes)
		bytes = (size_t)UNWIND_CHUNKS_MAX * UNWIND_CHUNK * 4;
	err = open_store(unwinder);
	if (!err)
		err = table_makers_create(open_cache(&unwinder->options), &unwinder->makers);
	if (!err)
		err = table_shelf_create(unwinder->store, unwinder->makers, bytes,
					 &unwinder->tables);
	if (!err)
		err = space_shelf_create(unwinder->store, unwinder->tables, &unwinder->spaces);
	return err;
}

struct error *unwinder_open(const struct unwinder_options *options, struct unwinder **ret)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	struct error *err;

	if (!unwinder)
		return &error_no_memory;
	unwinder->options = *options;
	unwinder->options.pids = NULL;
	TAILQ_INIT(&unwinder->restless);
	TAILQ_INIT(&unwinder->waiting);
	TAILQ_INIT(&unwinder->late);
	err = open_unwinder(unwinder, options->pids, options->pid_count);
	if (err) {
		unwinder_close(unwinder);
		return err;
	}
	*ret = unwinder;
	return NULL;
}

/* --- processes --- */

static struct process_bucket *bucket_of(const struct unwinder *unwinder, uint32_t pid)
{
	return (struct process_bucket *)&unwinder->buckets[pid % BUCKETS];
}

static struct process *find_process(const struct unwinder *unwinder, uint32_t pid)
{
	struct process *process;

	LIST_FOREACH(process, bucket_of(unwinder, pid), same)
	if (process->pid == pid)
		return process;
	return NULL;
}

static struct process *add_process(struct unwinder *unwinder, uint32_t pid)
{
	struct process *process = find_process(unwinder, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process) {
		unwinder->no_room++;
		return NULL;
	}
	process->pid = pid;
	LIST_INSERT_HEAD(bucket_of(unwinder, pid), process, same);
	return process;
}

/* Put it into a list, at the end, or take it out of it. */
#define set_listed(unwinder, process, name, is_listed)                       \
	do {                                                                 \
		if ((process)->is_##name)                                    \
			TAILQ_REMOVE(&(unwinder)->name, process, name);      \
		(process)->is_##name = (is_listed);                          \
		if ((process)->is_##name)                                    \
			TAILQ_INSERT_TAIL(&(unwinder)->name, process, name); \
	} while (0)

static void remove_process(struct unwinder *unwinder, struct process *process)
{
	set_listed(unwinder, process, restless, false);
	set_listed(unwinder, process, waiting, false);
	set_listed(unwinder, process, late, false);
	space_shelf_release(unwinder->spaces, process->space);
	LIST_REMOVE(process, same);
	free(process);
}

void unwinder_close(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (!LIST_EMPTY(&unwinder->buckets[i]))
			remove_process(unwinder, LIST_FIRST(&unwinder->buckets[i]));
	space_shelf_destroy(unwinder->spaces);
	table_shelf_destroy(unwinder->tables);
	table_makers_destroy(unwinder->makers);
	unwind_store_destroy(unwinder->store);
	unwind_chunks_deinit(&unwinder->chunks);
	array_deinit(&unwinder->pids);
	free(unwinder);
}

/* --- what the kernel's programs know of them --- */

static struct unwind_process said_of(const struct process *process)
{
	return (struct unwind_process){
		.space = process->space->place,
		.count = process->space->count,
		.generation = process->space->generation,
		.exec_pages = process->exec_pages,
	};
}

static void say_nothing(const struct unwinder *unwinder, uint32_t pid)
{
	/* That there is none is no failure. */
	bpf_map_delete_elem(unwinder->options.processes, &pid);
}

static void say(struct unwinder *unwinder, const struct process *process)
{
	const struct unwind_process said = said_of(process);

	unwinder->has_news = true;
	/* The words of the space are there before anybody knows of them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(unwinder->options.processes, &process->pid, &said, BPF_ANY)) {
		unwinder->no_room++;
		say_nothing(unwinder, process->pid);
	}
}

/* --- following them --- */

/* What was told of a mapping may be more than there is by now, and then leads to no file. */
static void read_soon(struct unwinder *unwinder, struct process *process, uint64_t time_ns)
{
	if (time_ns - process->read_ns < READ_AGAIN_NS)
		return;
	set_listed(unwinder, process, restless, false);
	process->changed_ns = 0;
	process->is_restless = true;
	TAILQ_INSERT_HEAD(&unwinder->restless, process, restless);
}

/* It is said once more unless it is `quietly` the same: programs in the kernel may have removed
 * what they knew of a process that changed. */
static void build(struct unwinder *unwinder, struct process *process, const struct image_now *now,
		  uint64_t time_ns, bool quietly)
{
	struct shelf_space *before = process->space;
	uint64_t pages_before = process->exec_pages;

	process->space = NULL;
	process->begun_ns = now->begun_ns;
	process->built_ns = time_ns;
	if (now->space && now->space->count) {
		process->space = space_shelf_put(unwinder->spaces, process->pid, now->space);
		unwinder->no_room += !process->space;
	}
	if (process->space) {
		/* Who makes code changes the number all the time. */
		process->exec_pages = process->space->has_pointers ? 0 : now->exec_pages;
		if (!quietly || process->space != before || process->exec_pages != pages_before)
			say(unwinder, process);
	} else {
		say_nothing(unwinder, process->pid);
	}
	set_listed(unwinder, process, waiting, process->space && process->space->waits);
	set_listed(unwinder, process, late, false);
	if (process->space && process->space->has_unknown)
		read_soon(unwinder, process, time_ns);
	space_shelf_release(unwinder->spaces, before);
}

static bool is_too_soon(const struct process *process, const struct image_now *now,
			uint64_t time_ns)
{
	return process->space && process->begun_ns == now->begun_ns &&
	       time_ns - process->built_ns < (uint64_t)process->space->count * PAUSE_NS;
}

static bool is_wanted(const struct unwinder *unwinder, const struct image_now *now)
{
	return !now->is_over && (now->is_marked || !unwinder->pids.count);
}

static void follow(struct unwinder *unwinder, uint32_t pid)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	struct process *process = find_process(unwinder, pid);
	struct image_now now;

	if (!image_watch_now(unwinder->options.images, pid, &now) || !is_wanted(unwinder, &now)) {
		say_nothing(unwinder, pid);
		if (process)
			remove_process(unwinder, process);
		return;
	}
	process = process ? process : add_process(unwinder, pid);
	if (!process)
		return;
	process->changed_ns = time_ns;
	process->in_vain = 0;
	set_listed(unwinder, process, restless, !now.exec_pages);
	if (is_too_soon(process, &now, time_ns))
		set_listed(unwinder, process, late, true);
	else
		build(unwinder, process, &now, time_ns, false);
}

static size_t follow_changed(struct unwinder *unwinder)
{
	size_t count = 0;
	uint32_t pid;

	while (count < CHANGES_A_TICK && image_watch_changed(unwinder->options.images, &pid)) {
		follow(unwinder, pid);
		count++;
	}
	return count;
}

/* As of what is known by now, for tables have come. */
static void build_again(struct unwinder *unwinder, struct process *process, uint64_t time_ns)
{
	struct image_now now;

	/* What changed since is on the list of changes. */
	if (image_watch_now(unwinder->options.images, process->pid, &now) && !now.is_over &&
	    now.begun_ns == process->begun_ns)
		build(unwinder, process, &now, time_ns, true);
	else
		set_listed(unwinder, process, waiting, false);
}

static void build_waiting(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	struct process *last = TAILQ_LAST(&unwinder->waiting, processes), *process, *next;

	/* Who waits on goes to the end. */
	for (process = TAILQ_FIRST(&unwinder->waiting); process; process = next) {
		next = process == last ? NULL : TAILQ_NEXT(process, waiting);
		build_again(unwinder, process, time_ns);
	}
}

static void build_late(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	struct process *process, *next;

	for (process = TAILQ_FIRST(&unwinder->late); process; process = next) {
		struct image_now now;

		next = TAILQ_NEXT(process, late);
		if (!image_watch_now(unwinder->options.images, process->pid, &now) || now.is_over)
			set_listed(unwinder, process, late, false);
		else if (!is_too_soon(process, &now, time_ns))
			build(unwinder, process, &now, time_ns, false);
	}
}

/* --- reading them --- */

static bool read_again(struct unwinder *unwinder, struct process *process)
{
	struct image_now now;

	process->read_ns = clock_ns(CLOCK_MONOTONIC);
	set_listed(unwinder, process, restless, false);
	if (!image_watch_read_again(unwinder->options.images, process->pid) ||
	    !image_watch_now(unwinder->options.images, process->pid, &now) || now.is_over)
		return false;
	build(unwinder, process, &now, process->read_ns, false);
	unwinder->failed += process->space && process->space->has_unknown;
	return true;
}

static void read_quiet(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	struct process *process;

	for (size_t i = 0; i < READS_A_TICK; i++) {
		process = TAILQ_FIRST(&unwinder->restless);
		if (!process || time_ns - process->changed_ns < QUIET_NS ||
		    time_ns < process->changed_ns)
			break;
		read_again(unwinder, process);
	}
}

/* Nothing was known of it; of one that is gone or may not be read nothing will be. */
static void read_unknown(struct unwinder *unwinder, uint32_t pid)
{
	struct process *process = add_process(unwinder, pid);

	if (!process)
		return;
	if (!read_again(unwinder, process))
		remove_process(unwinder, process);
	else
		image_watch_mark(unwinder->options.images, pid);
}

/* False: not yet. */
static bool answer(struct unwinder *unwinder, uint32_t pid, uint64_t generation)
{
	struct process *process = find_process(unwinder, pid);

	if (!process || !process->space) {
		read_unknown(unwinder, pid);
		return true;
	}
	/* A better one is there by now. 0: nothing is there, as after an exec. */
	if (generation && process->space->generation != generation)
		return true;
	if (clock_ns(CLOCK_MONOTONIC) - process->read_ns < READ_AGAIN_NS << process->in_vain)
		return false;
	if (read_again(unwinder, process) && process->space &&
	    process->space->generation == generation && process->in_vain < IN_VAIN_MAX)
		process->in_vain++;
	return true;
}

static void answer_asked(struct unwinder *unwinder)
{
	const int map = unwinder->options.asked;
	uint32_t pids[READS_A_TICK], *before = NULL;
	size_t count = 0;

	while (count < READS_A_TICK && !bpf_map_get_next_key(map, before, &pids[count]))
		before = &pids[count++];
	for (size_t i = 0; i < count; i++) {
		uint64_t generation;

		if (!bpf_map_lookup_elem(map, &pids[i], &generation) &&
		    answer(unwinder, pids[i], generation))
			bpf_map_delete_elem(map, &pids[i]);
	}
}

/* --- keeping on --- */

/* What was lost may have been about anybody: an exec, a fork. So nobody is known any more, and who
 * is walked is asked for, and read. */
static void forget_after_loss(struct unwinder *unwinder)
{
	const uint64_t lost = image_watch_lost(unwinder->options.images);
	uint32_t pid;

	if (lost == unwinder->lost)
		return;
	unwinder->lost = lost;
	while (!bpf_map_get_next_key(unwinder->options.processes, NULL, &pid) &&
	       !bpf_map_delete_elem(unwinder->options.processes, &pid))
		;
	for (size_t i = 0; i < BUCKETS; i++)
		while (!LIST_EMPTY(&unwinder->buckets[i]))
			remove_process(unwinder, LIST_FIRST(&unwinder->buckets[i]));
}

void unwinder_tick(struct unwinder *unwinder)
{
	forget_after_loss(unwinder);
	if (table_shelf_put_made(unwinder->tables))
		build_waiting(unwinder);
	answer_asked(unwinder);
	build_late(unwinder);
	read_quiet(unwinder);
	for (size_t i = 0; i < ROUNDS; i++) {
		image_watch_poll(unwinder->options.images);
		if (!follow_changed(unwinder))
			break;
	}
	space_shelf_give_back(unwinder->spaces, clock_ns(CLOCK_MONOTONIC));
}

static void read_wanted(struct unwinder *unwinder)
{
	for (size_t i = 0; i < unwinder->pids.count; i++) {
		const uint32_t pid = unwinder->pids.items[i];

		image_watch_read_again(unwinder->options.images, pid);
		image_watch_mark(unwinder->options.images, pid);
		follow(unwinder, pid);
	}
}

struct error *unwinder_start(struct unwinder *unwinder, uint64_t most_ns,
			     unwinder_progress *progress, void *context)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	struct table_shelf_use use;

	image_watch_poll(unwinder->options.images);
	read_wanted(unwinder);
	while (follow_changed(unwinder))
		;
	for (;;) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		unwinder_tick(unwinder);
		use = table_shelf_usage(unwinder->tables);
		if (progress && !progress(context, use.answered, use.asked))
			return NULL;
		if (use.answered == use.asked || now_ns - begun_ns >= most_ns)
			return NULL;
		table_makers_wait(unwinder->makers, now_ns + LOOK_NS);
	}
}

/* --- for others --- */

bool unwinder_had_news(struct unwinder *unwinder)
{
	const bool had = unwinder->has_news;

	unwinder->has_news = false;
	return had;
}

const struct unwind_store *unwinder_store(const struct unwinder *unwinder)
{
	return unwinder->store;
}

bool unwinder_process(const struct unwinder *unwinder, uint32_t pid, struct unwind_process *ret)
{
	const struct process *process = find_process(unwinder, pid);

	if (!process || !process->space)
		return false;
	*ret = said_of(process);
	return true;
}

struct unwinder_use unwinder_use(const struct unwinder *unwinder)
{
	const struct table_shelf_use tables = table_shelf_usage(unwinder->tables);

	return (struct unwinder_use){
		.tables = tables.tables,
		.from_cache = tables.from_cache,
		.made = tables.made,
		.failed = tables.failed + unwinder->failed,
		.no_room = tables.no_room + unwinder->no_room,
		.too_many = space_shelf_too_many(unwinder->spaces),
		.memory = unwind_store_use(unwinder->store),
	};
}
