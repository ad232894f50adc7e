/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process is looked at when image_watch says that it changed: its mappings become a space, which
 * names the tables that there are, and then its entry in the map of processes is written. Programs
 * in the kernel write there, too: a fork copies the parent's entry, an exec removes it. A record of
 * an exec is in its ring before the entry is removed; so who writes an entry looks at the rings
 * once more, and what was written too late is wrong for no longer than that takes.
 *
 * Processes are strangers'. What a tick does for them is bounded in time, and goes on in the next
 * tick where it stopped; what is read of them has a part of the time for each user.
 *
 * Records do not say what is unmapped, so that what is made of them does not know how many pages
 * may be executed. A process that has been quiet for a while is read from /proc, which does.
 */
#include "process/unwinder.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "base/clock.h"
#include "base/word_map.h"
#include "os/process_user.h"
#include "process/space_shelf.h"
#include "process/unwind_chunks.h"

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

/* For each of the kinds of work of a tick: time of a CPU, which a busy host does not lengthen. */
#define WORK_NS (NS_PER_S / 20)
/* Processes of a user are read for a fifth of the time, over a second; each of them, for a
 * twentieth. */
#define USER_PART      5
#define USER_DEBT_NS   NS_PER_S
#define PROCESS_PAUSES 19

/* Keys of the kernel's map that a tick looks at after a loss. */
#define FORGET_A_TICK 4096
/* Passes over the map after a loss, at most: until one has found nothing. */
#define FORGET_PASSES 64
/* Processes that a tick takes from the map of those that are asked for: all of them. */
#define ASKED_MAX 1024

struct process {
	LIST_ENTRY(process) same; /* with the same hash */
	TAILQ_ENTRY(process) restless, waiting, late, asked;
	uint32_t pid;
	bool is_restless; /* what it has is not read yet, only told */
	bool is_waiting;  /* for tables */
	bool is_late;     /* it changed too soon after its last space */
	bool is_asked;    /* a walk found that what is known is wrong */
	struct shelf_space *space;
	uint64_t exec_pages;
	uint64_t begun_ns, changed_ns, built_ns, read_ns;
	uint64_t cost_ns;          /* of the last reading */
	uint64_t asked_generation; /* 0: nothing was known */
	uint32_t in_vain;          /* consecutive re-reads that found no change */
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
	struct processes waiting, late, asked;
	size_t wanted_read;     /* of `pids`, at the start */
	uint64_t started_by_ns; /* the start follows changes until then */
	size_t no_room, failed;
	bool has_news;
	bool has_tables; /* for those who wait, since they were looked at last */
	uint64_t missed; /* records of image_watch, as of the last look */
	struct {
		bool goes_on, has_key;
		uint32_t key; /* the next one */
		unsigned passes;
		size_t count; /* of keys in this pass */
		bool has_found;
	} forgetting;
	struct word_map users; /* to the index of their time */
	struct {
		ARRAY(uint64_t);
	} free_ns; /* by user */
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
		err = table_makers_create(open_cache(&unwinder->options), unwinder->options.kept,
					  &unwinder->makers);
	if (!err)
		err = table_shelf_create(unwinder->store, unwinder->makers, bytes,
					 &unwinder->tables);
	if (err)
		return err;
	table_shelf_limit_users(unwinder->tables, process_user_limited);
	return space_shelf_create(unwinder->store, unwinder->tables, &unwinder->spaces);
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
	TAILQ_INIT(&unwinder->asked);
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
	set_listed(unwinder, process, asked, false);
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
	array_deinit(&unwinder->free_ns);
	word_map_deinit(&unwinder->users);
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

static uint64_t end_of_work(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;
}

static bool is_over(uint64_t end_ns)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end_ns;
}

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
	struct shelf_space *before = process->space, *space = NULL;
	uint64_t pages_before = process->exec_pages;

	guard_about(process->pid);
	if (now->space && now->space->count) {
		space = space_shelf_put(unwinder->spaces, process->pid, now->space);
		unwinder->no_room += !space;
	}
	process->space = space;
	process->begun_ns = now->begun_ns;
	process->built_ns = time_ns;
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

static uint64_t pause_of_building(const struct process *process)
{
	return process->space ? process->space->count * (uint64_t)PAUSE_NS : 0;
}

static bool is_too_soon(const struct process *process, const struct image_now *now,
			uint64_t time_ns)
{
	return process->begun_ns == now->begun_ns &&
	       time_ns - process->built_ns < pause_of_building(process);
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
	const uint64_t end_ns = end_of_work();
	size_t count = 0;
	uint32_t pid;

	while (count < CHANGES_A_TICK && !is_over(end_ns) &&
	       image_watch_changed(unwinder->options.images, &pid)) {
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
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC), end_ns = end_of_work();
	struct process *last = TAILQ_LAST(&unwinder->waiting, processes), *process, *next;

	/* Who waits on goes to the end. */
	for (process = TAILQ_FIRST(&unwinder->waiting); process && !is_over(end_ns);
	     process = next) {
		next = process == last ? NULL : TAILQ_NEXT(process, waiting);
		build_again(unwinder, process, time_ns);
	}
	unwinder->has_tables = process != NULL;
}

static void build_late(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC), end_ns = end_of_work();
	struct process *process, *next;

	/* One that is built leaves the list, and the next tick begins with the others. */
	for (process = TAILQ_FIRST(&unwinder->late); process && !is_over(end_ns); process = next) {
		struct image_now now;

		next = TAILQ_NEXT(process, late);
		if (!image_watch_now(unwinder->options.images, process->pid, &now) || now.is_over)
			set_listed(unwinder, process, late, false);
		else if (!is_too_soon(process, &now, time_ns))
			build(unwinder, process, &now, time_ns, false);
	}
}

/* --- reading them --- */

/* Until when the time for the user of a process is used up; NULL: always, as root and without
 * memory. */
static uint64_t *time_of_user(struct unwinder *unwinder, uint32_t pid)
{
	const uint32_t user = process_user(pid);
	uint32_t *index;

	if (user == UINT32_MAX || !process_user_is_stranger(user))
		return NULL;
	index = word_map_at(&unwinder->users, (struct words){ { user } });
	if (!index)
		return NULL;
	if (*index == WORD_MAP_NEW) {
		if (!array_push(&unwinder->free_ns, 0))
			return NULL;
		*index = (uint32_t)unwinder->free_ns.count - 1;
	}
	return &unwinder->free_ns.items[*index];
}

static bool is_user_free(struct unwinder *unwinder, const struct process *process)
{
	const uint64_t *free_ns = time_of_user(unwinder, process->pid);

	return !free_ns || *free_ns <= clock_ns(CLOCK_MONOTONIC) + USER_DEBT_NS;
}

static void charge(struct unwinder *unwinder, struct process *process, uint64_t cost_ns)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t *free_ns = time_of_user(unwinder, process->pid);

	process->cost_ns = cost_ns;
	if (free_ns)
		*free_ns = (*free_ns > time_ns ? *free_ns : time_ns) + USER_PART * cost_ns;
}

static bool read_process(struct unwinder *unwinder, struct process *process)
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

static bool read_again(struct unwinder *unwinder, struct process *process)
{
	const uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool is_read = read_process(unwinder, process);

	charge(unwinder, process, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
	return is_read;
}

static void read_quiet(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC), end_ns = end_of_work();
	struct process *process;

	for (size_t i = 0; i < READS_A_TICK && !is_over(end_ns); i++) {
		process = TAILQ_FIRST(&unwinder->restless);
		if (!process || time_ns - process->changed_ns < QUIET_NS ||
		    time_ns < process->changed_ns)
			break;
		if (is_user_free(unwinder, process)) {
			read_again(unwinder, process);
		} else {
			/* As if it had changed now: the list is ordered by that. */
			process->changed_ns = time_ns;
			set_listed(unwinder, process, restless, true);
		}
	}
}

/* Nothing was known of it; of one that is gone or may not be read nothing will be. */
static void read_unknown(struct unwinder *unwinder, struct process *process)
{
	const uint32_t pid = process->pid;

	if (!read_again(unwinder, process))
		remove_process(unwinder, process);
	else
		image_watch_mark(unwinder->options.images, pid);
}

static uint64_t pause_of(const struct process *process)
{
	const uint64_t pause_ns = PROCESS_PAUSES * process->cost_ns;

	return (pause_ns > READ_AGAIN_NS ? pause_ns : READ_AGAIN_NS) << process->in_vain;
}

/* Look at one that is asked for. It stays in the list, at its end, when it is too soon. False:
 * nothing was read. */
static bool answer(struct unwinder *unwinder, struct process *process)
{
	const uint64_t generation = process->asked_generation;
	const bool is_known = process->space != NULL;

	/* A better one is there by now. 0: nothing is there, as after an exec. */
	if (is_known && generation && process->space->generation != generation) {
		set_listed(unwinder, process, asked, false);
		return false;
	}
	if (clock_ns(CLOCK_MONOTONIC) - process->read_ns < (is_known ? pause_of(process) : 0) ||
	    !is_user_free(unwinder, process)) {
		set_listed(unwinder, process, asked, true);
		return false;
	}
	set_listed(unwinder, process, asked, false);
	if (!is_known)
		read_unknown(unwinder, process);
	else if (read_again(unwinder, process) && process->space &&
		 process->space->generation == generation && process->in_vain < IN_VAIN_MAX)
		process->in_vain++;
	return true;
}

/* Empty the map: programs in the kernel can ask for nobody while it is full, and of a map that is
 * read from its start the first keys alone are seen. */
static void take_asked(struct unwinder *unwinder)
{
	const int map = unwinder->options.asked;
	uint32_t pid;

	for (size_t i = 0; i < ASKED_MAX && !bpf_map_get_next_key(map, NULL, &pid); i++) {
		struct process *process;
		uint64_t generation = 0;

		bpf_map_lookup_elem(map, &pid, &generation);
		bpf_map_delete_elem(map, &pid);
		process = add_process(unwinder, pid);
		if (!process)
			continue;
		process->asked_generation = generation;
		if (!process->is_asked)
			set_listed(unwinder, process, asked, true);
	}
}

/* In the order in which they were asked for. */
static void answer_asked(struct unwinder *unwinder)
{
	const uint64_t end_ns = end_of_work();
	struct process *last, *process, *next;
	size_t count = 0;

	take_asked(unwinder);
	last = TAILQ_LAST(&unwinder->asked, processes);
	for (process = TAILQ_FIRST(&unwinder->asked);
	     process && count < READS_A_TICK && !is_over(end_ns); process = next) {
		next = process == last ? NULL : TAILQ_NEXT(process, asked);
		count += answer(unwinder, process);
	}
}

/* --- keeping on --- */

/* Not what we say of the process now: of before the loss, or inherited from that. */
static bool is_stale(const struct unwinder *unwinder, uint32_t pid)
{
	const struct process *process = find_process(unwinder, pid);
	struct unwind_process there;

	if (bpf_map_lookup_elem(unwinder->options.processes, &pid, &there))
		return false;
	return !process || !process->space || process->space->generation != there.generation;
}

/* One pass over the keys is as long as the map may be. Forks go on meanwhile, and a child inherits
 * what the map has of its parent: what was inherited behind a pass is met by the next one. */
static void forget_some(struct unwinder *unwinder)
{
	const int map = unwinder->options.processes;

	if (!unwinder->forgetting.has_key) {
		unwinder->forgetting.has_key =
			!bpf_map_get_next_key(map, NULL, &unwinder->forgetting.key);
		unwinder->forgetting.count = 0;
		unwinder->forgetting.has_found = false;
	}
	for (size_t i = 0; i < FORGET_A_TICK && unwinder->forgetting.has_key; i++) {
		const uint32_t pid = unwinder->forgetting.key;

		/* Before it goes: the kernel begins anew behind a key that is gone. */
		unwinder->forgetting.has_key =
			!bpf_map_get_next_key(map, &pid, &unwinder->forgetting.key) &&
			++unwinder->forgetting.count < UNWIND_PROCESSES_MAX;
		if (is_stale(unwinder, pid)) {
			bpf_map_delete_elem(map, &pid);
			unwinder->forgetting.has_found = true;
		}
	}
	if (!unwinder->forgetting.has_key)
		unwinder->forgetting.goes_on = unwinder->forgetting.has_found &&
					       ++unwinder->forgetting.passes < FORGET_PASSES;
}

/* What was missed may have been about anybody: an exec, a fork. So nobody is known any more, and
 * who is walked is asked for, and read. */
static void forget_after_loss(struct unwinder *unwinder)
{
	const uint64_t missed = image_watch_missed(unwinder->options.images);

	if (missed != unwinder->missed) {
		unwinder->missed = missed;
		for (size_t i = 0; i < BUCKETS; i++)
			while (!LIST_EMPTY(&unwinder->buckets[i]))
				remove_process(unwinder, LIST_FIRST(&unwinder->buckets[i]));
		unwinder->forgetting.passes = 0;
		/* From the first key: what was looked at before may be of the new loss. */
		unwinder->forgetting.has_key = false;
		unwinder->forgetting.goes_on = true;
	}
	if (unwinder->forgetting.goes_on)
		forget_some(unwinder);
}

static void tick(void *context)
{
	struct unwinder *unwinder = context;

	forget_after_loss(unwinder);
	unwinder->has_tables |= table_shelf_put_made(unwinder->tables) != 0;
	if (unwinder->has_tables)
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

void unwinder_tick(struct unwinder *unwinder)
{
	guard_run(unwinder->options.guard, tick, unwinder, NULL);
}

static void read_wanted(void *context)
{
	struct unwinder *unwinder = context;

	while (unwinder->wanted_read < unwinder->pids.count) {
		const uint32_t pid = unwinder->pids.items[unwinder->wanted_read++];

		image_watch_read_again(unwinder->options.images, pid);
		image_watch_mark(unwinder->options.images, pid);
		follow(unwinder, pid);
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
	struct table_shelf_use use;

	unwinder->started_by_ns = begun_ns + most_ns;
	image_watch_poll(unwinder->options.images);
	if (!guard_run_whole(unwinder->options.guard, read_wanted, unwinder) ||
	    !guard_run_whole(unwinder->options.guard, follow_for_a_while, unwinder))
		return thread_missing("read the unwind tables of processes");
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

uint64_t unwinder_due_ns(const struct unwinder *unwinder)
{
	uint64_t due_ns = image_watch_has_waiting(unwinder->options.images) ? 0 : UINT64_MAX;
	const struct process *process;

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
