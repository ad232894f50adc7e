/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose entry in the process table changed is built: its mappings become words that
 * walkers read, and its entry in the map of processes is published. A record of an exec is in its
 * ring before the program in the kernel removes the entry. So events are polled again after entries
 * were published, and a stale entry is short-lived.
 *
 * Processes may be hostile: the work that a tick does for them is bounded in time, and goes on in
 * the next tick. Reading them is charged to their users.
 */
#include "process/unwinder_internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/process_user.h"

/* Bounds of a tick, which must not delay its caller. */
#define CHANGES_A_TICK 1024
#define ROUNDS         4
#define WORK_NS        (NS_PER_S / 20)

/* A process that maps again and again is built again after so long for each of its mappings. What
 * it had before is kept for a while (process/mapping_cache.h). */
#define PAUSE_NS 20000

/* How many chunks of memory are added at once. */
#define CHUNKS_AHEAD      4
#define CHUNKS_AHEAD_MOST 64

/* The interval at which the start checks for progress. */
#define LOOK_NS (NS_PER_S / 50)

/* The time by which a user's reading may exceed its share. */
#define USER_DEBT_NS NS_PER_S

/* --- opening --- */

static size_t rules_bytes(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (UNWIND_RULES_MAX * sizeof(struct unwind_rule) + page - 1) / page * page;
}

/* The store needs one chunk, so this one may exceed the limit. Tables that do not fit are left
 * out. */
static struct error *add_first_chunk(struct memory_chunks *chunks)
{
	struct memory_limit *limit = chunks->limit;
	struct error *err;

	chunks->limit = NULL;
	err = memory_chunks_add(chunks, "ctprof_unwind", 1);
	chunks->limit = limit;
	return err;
}

/* For unwind_store_create(). Adds more chunks than needed now, in proportion to their number. */
static struct error *add_chunk(void *context, uint32_t number, uint32_t **ret)
{
	struct memory_chunks *chunks = context;
	const uint32_t count = (uint32_t)chunks->mapped.count;
	uint32_t ahead = CHUNKS_AHEAD + count / 4;
	struct error *err = NULL;

	if (number >= count) {
		if (ahead > CHUNKS_AHEAD_MOST)
			ahead = CHUNKS_AHEAD_MOST;
		if (ahead > UNWIND_CHUNKS_MAX - count)
			ahead = UNWIND_CHUNKS_MAX - count;
		err = ahead ? memory_chunks_add(chunks, "ctprof_unwind", ahead)
			    : error_system(ENOSPC, "memory of unwind tables");
	}
	if (!err && !number && !chunks->mapped.count)
		err = add_first_chunk(chunks);
	if (!err && number >= chunks->mapped.count)
		err = error_system(ENOSPC, "memory of unwind tables");
	if (!err)
		*ret = chunks->mapped.items[number];
	return err;
}

static struct error *open_store(struct unwinder *unwinder)
{
	const struct unwinder_options *options = &unwinder->options;
	void *rules =
		mmap(NULL, rules_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, options->rules, 0);

	if (rules == MAP_FAILED)
		return error_system(errno, "memory of unwind rules");
	unwinder->rules = rules;
	memory_chunks_init(&unwinder->chunks, options->chunks, 0, 1, UNWIND_CHUNK_BYTES);
	unwinder->chunks.limit = options->limit;
	return unwind_store_create(
		&(struct unwind_store_options){
			.max_bytes = options->max_bytes,
			.add_chunk = add_chunk,
			.rules = unwinder->rules,
			.context = &unwinder->chunks,
		},
		&unwinder->store);
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
		err = unwind_table_cache_create(
			&(struct unwind_table_cache_options){
				.store = unwinder->store,
				.max_bytes = bytes,
				.kept = unwinder->options.kept,
				.no_disk = unwinder->options.no_cache,
				.limit = unwinder->options.limit,
			},
			&unwinder->tables);
	if (err)
		return err;
	unwind_table_cache_limit_users(unwinder->tables, process_user_limited);
	err = mapping_cache_create(unwinder->store, unwinder->tables, &unwinder->mappings);
	if (!err && unwinder->options.recording)
		err = recorded_mappings_create(
			&(struct recorded_mappings_options){
				.slots = unwinder->options.slots,
				.files = unwinder->options.files,
				.requests = unwinder->options.requests,
				.recording = unwinder->options.recording,
				.store = unwinder->store,
				.tables = unwinder->tables,
			},
			&unwinder->recorded);
	if (unwinder->recorded)
		(void)process_watch_add_fd(unwinder->options.images, unwinder->options.requests);
	mapping_cache_tell(unwinder->mappings, unwinder->recorded);
	unwinder->published.recorded = unwinder->recorded;
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
	unwinder->processes = process_watch_table(options->images);
	unwinder->published.map = options->processes;
	unwinder->reading.advance_ns = USER_DEBT_NS;
	TAILQ_INIT(&unwinder->unread);
	TAILQ_INIT(&unwinder->waiting);
	TAILQ_INIT(&unwinder->late);
	TAILQ_INIT(&unwinder->asked);
	err = open_unwinder(unwinder, options->pids, options->pid_count);
	if (err) {
		unwinder_close(unwinder);
		return err;
	}
	process_table_record_changes(unwinder->processes);
	*ret = unwinder;
	return NULL;
}

/* --- processes --- */

static struct unwinding *find_process(const struct unwinder *unwinder, uint32_t pid)
{
	const struct process_entry *process = process_table_find(unwinder->processes, pid);

	return process ? process->unwinding : NULL;
}

struct unwinding *unwinder_add(struct unwinder *unwinder, uint32_t pid)
{
	struct process_entry *process = process_table_at(unwinder->processes, pid);

	if (process && !process->unwinding) {
		process->unwinding = calloc(1, sizeof(*process->unwinding));
		if (process->unwinding)
			process->unwinding->pid = pid;
	}
	if (process && process->unwinding)
		return process->unwinding;
	unwinder->no_room++;
	return NULL;
}

void unwinder_remove(struct unwinder *unwinder, struct unwinding *process)
{
	unwinding_list(unwinder, process, unread, false);
	unwinding_list(unwinder, process, waiting, false);
	unwinding_list(unwinder, process, late, false);
	unwinding_list(unwinder, process, asked, false);
	mapping_cache_release(unwinder->mappings, process->mappings);
	process_table_find(unwinder->processes, process->pid)->unwinding = NULL;
	free(process);
}

static void remove_all(struct unwinder *unwinder)
{
	for (size_t i = 0; i < process_table_count(unwinder->processes); i++) {
		struct unwinding *process = process_table_entry(unwinder->processes, i)->unwinding;

		if (process)
			unwinder_remove(unwinder, process);
	}
}

void unwinder_close(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	remove_all(unwinder);
	mapping_cache_destroy(unwinder->mappings);
	recorded_mappings_destroy(unwinder->recorded);
	unwind_table_cache_destroy(unwinder->tables);
	unwind_store_destroy(unwinder->store);
	memory_chunks_deinit(&unwinder->chunks);
	if (unwinder->rules)
		munmap(unwinder->rules, rules_bytes());
	array_deinit(&unwinder->pids);
	array_deinit(&unwinder->stacks);
	time_shares_deinit(&unwinder->reading);
	free(unwinder);
}

static struct unwind_process published_of(const struct unwinding *process)
{
	return (struct unwind_process){
		.space = process->mappings->location,
		.count = process->mappings->count,
		.generation = process->mappings->generation,
		.exec_pages = process->exec_pages,
	};
}

/* --- following them --- */

uint64_t unwinder_end_of_work(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;
}

bool unwinder_is_over(uint64_t end_ns)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end_ns;
}

/* An event may report a mapping that is smaller by now, which leads to no file. */
static void read_soon(struct unwinder *unwinder, struct unwinding *process, uint64_t time_ns)
{
	if (time_ns - process->read_ns < READ_AGAIN_NS)
		return;
	unwinding_list(unwinder, process, unread, false);
	process->changed_ns = 0;
	process->is_unread = true;
	TAILQ_INSERT_HEAD(&unwinder->unread, process, unread);
}

/* Programs in the kernel may have removed the entry of a process that changed, so it is published
 * again although it is the same, unless `quietly`. */
void unwinder_build(struct unwinder *unwinder, struct unwinding *process,
		    const struct process_image *now, uint64_t time_ns, bool quietly)
{
	const struct address_space *mapped = process_image_now(now);
	struct cached_mappings *before = process->mappings, *mappings = NULL;
	const uint64_t pages_before = process->exec_pages;

	guard_about(process->pid);
	if (mapped && mapped->count) {
		mappings = mapping_cache_put(unwinder->mappings, process->pid, mapped);
		unwinder->no_room += !mappings;
	}
	process->mappings = mappings;
	process->begun_ns = now->begun_ns;
	process->built_ns = time_ns;
	if (mappings) {
		/* A process that makes code changes the number all the time. */
		process->exec_pages = mappings->has_pointers ? 0 : now->exec_pages;
		if (!quietly || mappings != before || process->exec_pages != pages_before) {
			const struct unwind_process made = published_of(process);

			unwinder->has_changes = true;
			unwinder->no_room += !publish(&unwinder->published, process->pid, &made);
			process->published_ns = clock_ns(CLOCK_MONOTONIC);
		}
	} else {
		unpublish(&unwinder->published, process->pid);
	}
	unwinding_list(unwinder, process, waiting, mappings && mappings->waits);
	unwinding_list(unwinder, process, late, false);
	if (mappings && mappings->has_unknown)
		read_soon(unwinder, process, time_ns);
	mapping_cache_release(unwinder->mappings, before);
}

static uint64_t pause_of_building(const struct unwinding *process)
{
	return process->mappings ? process->mappings->count * (uint64_t)PAUSE_NS : 0;
}

static bool is_too_soon(const struct unwinding *process, const struct process_image *now,
			uint64_t time_ns)
{
	return process->begun_ns == now->begun_ns &&
	       time_ns - process->built_ns < pause_of_building(process);
}

static bool is_image_unwound(const struct unwinder *unwinder, const struct process_image *now)
{
	return !now->is_over && (now->is_marked || !unwinder->pids.count);
}

/* Build nothing: the kernel's record of the mappings is newer than the events. Like every process
 * that is known from events alone, this one is read from /proc when it has been quiet for a while.
 */
static void leave_to_recording(struct unwinder *unwinder, struct unwinding *process,
			       const struct process_image *now)
{
	mapping_cache_release(unwinder->mappings, process->mappings);
	process->mappings = NULL;
	process->begun_ns = now->begun_ns;
	unwinding_list(unwinder, process, waiting, false);
	unwinding_list(unwinder, process, late, false);
}

static void follow_process(struct unwinder *unwinder, uint32_t pid)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	const struct process_image *now = process_table_now(unwinder->processes, pid);
	struct unwinding *process = find_process(unwinder, pid);
	struct unwind_process recorded;

	if (!now || !is_image_unwound(unwinder, now)) {
		unpublish(&unwinder->published, pid);
		if (process)
			unwinder_remove(unwinder, process);
		return;
	}
	process = process ? process : unwinder_add(unwinder, pid);
	if (!process)
		return;
	process->changed_ns = time_ns;
	process->in_vain = 0;
	unwinding_list(unwinder, process, unread, !now->exec_pages);
	if (published_is_recorded(&unwinder->published, pid, &recorded))
		leave_to_recording(unwinder, process, now);
	else if (is_too_soon(process, now, time_ns))
		unwinding_list(unwinder, process, late, true);
	else
		unwinder_build(unwinder, process, now, time_ns, false);
}

static size_t follow_changed(struct unwinder *unwinder)
{
	const uint64_t end_ns = unwinder_end_of_work();
	size_t count = 0;
	uint32_t pid;

	while (count < CHANGES_A_TICK && !unwinder_is_over(end_ns) &&
	       process_table_next_changed(unwinder->processes, &pid)) {
		follow_process(unwinder, pid);
		count++;
	}
	return count;
}

/* Build the processes that wait for tables again, for tables have come. */
static void build_waiting(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC), end_ns = unwinder_end_of_work();
	struct unwinding *last = TAILQ_LAST(&unwinder->waiting, unwindings), *process, *next;

	/* A process that still waits goes to the end. */
	for (process = TAILQ_FIRST(&unwinder->waiting); process && !unwinder_is_over(end_ns);
	     process = next) {
		const struct process_image *now =
			process_table_now(unwinder->processes, process->pid);

		next = process == last ? NULL : TAILQ_NEXT(process, waiting);
		/* Another image is on the list of changes. */
		if (now && !now->is_over && now->begun_ns == process->begun_ns)
			unwinder_build(unwinder, process, now, time_ns, true);
		else
			unwinding_list(unwinder, process, waiting, false);
	}
	unwinder->has_tables = process != NULL;
}

static void build_late(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC), end_ns = unwinder_end_of_work();
	struct unwinding *process, *next;

	/* A process that is built leaves the list, and the next tick begins with the others. */
	for (process = TAILQ_FIRST(&unwinder->late); process && !unwinder_is_over(end_ns);
	     process = next) {
		const struct process_image *now =
			process_table_now(unwinder->processes, process->pid);

		next = TAILQ_NEXT(process, late);
		if (!now || now->is_over)
			unwinding_list(unwinder, process, late, false);
		else if (!is_too_soon(process, now, time_ns))
			unwinder_build(unwinder, process, now, time_ns, false);
	}
}

static bool is_stale(void *context, uint32_t pid, const struct unwind_process *there)
{
	const struct unwinding *process = find_process(context, pid);

	return !process || !process->mappings || process->mappings->generation != there->generation;
}

/* A lost event may have been an exec or fork of any process. So all are forgotten; a walk in one of
 * them asks for it, and it is read. */
static void forget_after_loss(struct unwinder *unwinder)
{
	const uint64_t missed = process_watch_missed(unwinder->options.images);

	if (missed != unwinder->missed) {
		unwinder->missed = missed;
		remove_all(unwinder);
		published_sweep_begin(&unwinder->published);
	}
	published_sweep(&unwinder->published, is_stale, unwinder);
}

static void follow_parts(struct unwinder *unwinder)
{
	const size_t parts = unwind_table_cache_usage(unwinder->tables).parts;

	if (parts != unwinder->parts) {
		unwinder->has_changes = true;
		unwinder->made_ns = clock_ns(CLOCK_MONOTONIC);
	}
	unwinder->parts = parts;
	unwinder_request_parts(unwinder);
}

static void tick_unwinder(void *context)
{
	struct unwinder *unwinder = context;

	forget_after_loss(unwinder);
	unwinder->has_tables |= unwind_table_cache_collect(unwinder->tables) != 0;
	follow_parts(unwinder);
	if (unwinder->has_tables)
		build_waiting(unwinder);
	unwinder_read_asked(unwinder);
	build_late(unwinder);
	unwinder_read_quiet(unwinder);
	for (size_t i = 0; i < ROUNDS; i++) {
		process_watch_poll(unwinder->options.images);
		if (!follow_changed(unwinder))
			break;
	}
	recorded_mappings_tick(unwinder->recorded, unwinder->processes, clock_ns(CLOCK_MONOTONIC));
	mapping_cache_give_back(unwinder->mappings, clock_ns(CLOCK_MONOTONIC));
}

void unwinder_tick(struct unwinder *unwinder)
{
	guard_run(unwinder->options.guard, tick_unwinder, unwinder, NULL);
}

static void read_wanted(void *context)
{
	struct unwinder *unwinder = context;

	while (unwinder->wanted_read < unwinder->pids.count) {
		const uint32_t pid = unwinder->pids.items[unwinder->wanted_read++];

		process_watch_read_again(unwinder->options.images, pid);
		process_table_mark(unwinder->processes, pid);
		follow_process(unwinder, pid);
	}
}

static void follow_for_a_while(void *context)
{
	struct unwinder *unwinder = context;

	while (follow_changed(unwinder) && clock_ns(CLOCK_MONOTONIC) < unwinder->started_by_ns)
		;
}

struct error *unwinder_start(struct unwinder *unwinder, uint64_t most_ns,
			     unwinder_progress *progress, void *context)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	struct unwind_table_cache_use use;

	unwinder->started_by_ns = begun_ns + most_ns;
	process_watch_poll(unwinder->options.images);
	if (!guard_run_whole(unwinder->options.guard, read_wanted, unwinder) ||
	    !guard_run_whole(unwinder->options.guard, follow_for_a_while, unwinder))
		return thread_missing("read the unwind tables of processes");
	for (;;) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		unwinder_tick(unwinder);
		use = unwind_table_cache_usage(unwinder->tables);
		if (progress && !progress(context, use.answered, use.asked))
			return NULL;
		if (use.answered == use.asked || now_ns - begun_ns >= most_ns)
			return NULL;
		unwind_table_cache_wait(unwinder->tables, now_ns + LOOK_NS);
	}
}

/* --- for others --- */

bool unwinder_had_changes(struct unwinder *unwinder)
{
	const bool had = unwinder->has_changes;

	unwinder->has_changes = false;
	return had;
}

bool unwinder_has_work(const struct unwinder *unwinder)
{
	const struct unwind_table_cache_use tables = unwind_table_cache_usage(unwinder->tables);
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return process_watch_has_waiting(unwinder->options.images) ||
	       process_table_has_changed(unwinder->processes) ||
	       process_watch_missed(unwinder->options.images) != unwinder->missed ||
	       process_watch_is_readable(unwinder->options.images) ||
	       unwinder_has_quiet(unwinder, now_ns) || !TAILQ_EMPTY(&unwinder->late) ||
	       !TAILQ_EMPTY(&unwinder->asked) || unwinder->has_tables || unwinder->stacks.count ||
	       unwinder_parts_due_ns(unwinder) != UINT64_MAX || tables.answered != tables.asked ||
	       tables.parts != unwinder->parts ||
	       recorded_mappings_has_work(unwinder->recorded, now_ns);
}

uint64_t unwinder_due_ns(const struct unwinder *unwinder)
{
	uint64_t due_ns = process_watch_has_waiting(unwinder->options.images)
				  ? 0
				  : unwinder_parts_due_ns(unwinder);
	const struct unwinding *process;

	TAILQ_FOREACH(process, &unwinder->late, late)
	{
		const uint64_t at_ns = process->built_ns + pause_of_building(process);

		due_ns = at_ns < due_ns ? at_ns : due_ns;
	}
	return due_ns;
}

const struct unwind_store *unwinder_store(const struct unwinder *unwinder)
{
	return unwinder->store;
}

bool unwinder_process(const struct unwinder *unwinder, uint32_t pid, struct unwind_process *ret)
{
	const struct unwinding *process = find_process(unwinder, pid);

	if (!process || !process->mappings)
		return published_is_recorded(&unwinder->published, pid, ret);
	*ret = published_of(process);
	return true;
}

uint64_t unwinder_published_ns(const struct unwinder *unwinder, uint32_t pid)
{
	const struct unwinding *process = find_process(unwinder, pid);

	if (!process)
		return 0;
	return process->needs_parts && unwinder->made_ns > process->published_ns
		       ? unwinder->made_ns
		       : process->published_ns;
}

uint64_t unwinder_parts_made_ns(const struct unwinder *unwinder)
{
	return unwinder->made_ns;
}

const char *unwinder_without_room(const struct unwinder *unwinder)
{
	return unwind_table_cache_without_room(unwinder->tables);
}

struct unwinder_use unwinder_use(const struct unwinder *unwinder)
{
	const struct unwind_table_cache_use tables = unwind_table_cache_usage(unwinder->tables);

	return (struct unwinder_use){
		.tables = tables.tables,
		.from_cache = tables.from_cache,
		.made = tables.made,
		.failed = tables.failed + unwinder->failed,
		.no_room = tables.no_room + unwinder->no_room,
		.too_many = mapping_cache_too_many(unwinder->mappings),
		.memory = unwind_store_use(unwinder->store),
	};
}
