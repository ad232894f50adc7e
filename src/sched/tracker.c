/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/tracker.h"

#include <bpf/libbpf.h>
#include <string.h>
#include <unistd.h>

#include "bpf/programs.h"
#include "os/tasks.h"

/* A record is used again only once it was read, and user space, which makes room, may not run for a
 * twentieth of a second. Room for the tasks that may begin in that time, for each CPU, and at
 * least. */
#define FREE_OF_CPU 1024
#define FREE_LEAST  4096

void tracker_configure(struct track_config *config, const struct btf *kernel)
{
#ifndef __x86_64__
	config->is_weakly_ordered = true;
#endif
	config->has_previous_state = kernel && bpf_switch_has_state(kernel);
}

/* --- room --- */

static uint64_t chunks_for(uint64_t records)
{
	return (records + RECORD_CHUNK - 1) / RECORD_CHUNK;
}

/* Have `wanted` chunks of records, or as many as `most` records need. */
static struct error *have_chunks(struct tracker *tracker, uint64_t wanted)
{
	const uint64_t most = chunks_for(tracker->most);
	const size_t count = tracker->records.mapped.count;
	struct error *err = NULL;
	uint64_t room;

	if (wanted > most)
		wanted = most;
	if (wanted > count)
		err = memory_chunks_add(&tracker->records, "ctprof_records",
					(uint32_t)(wanted - count));
	room = (uint64_t)tracker->records.mapped.count * RECORD_CHUNK;
	tracker->state->room = (uint32_t)(room < tracker->most ? room : tracker->most);
	return err;
}

/* Until user space, which some 150 threads that begin on a CPU wake (WAKE_BYTES), has run. Within a
 * limit of memory a quarter: more than a thousand threads in a twentieth of a second are rare, and
 * the room for all of them would be that of five thousand stacks. */
static uint64_t least_free(const struct memory_limit *limit)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t of_cpus = cpus > 0 ? (uint64_t)cpus * FREE_OF_CPU : 0;
	const uint64_t least = of_cpus > FREE_LEAST ? of_cpus : FREE_LEAST;

	return limit && limit->bytes ? least / 4 : least;
}

/* How many records should be free, beside so many that are used. */
static uint64_t wanted_free(const struct tracker *tracker, uint64_t used)
{
	return used / 4 > tracker->least_free ? used / 4 : tracker->least_free;
}

/* Half as much beyond that, for adding chunks takes some time. */
static uint64_t chunks_beside(const struct tracker *tracker, uint64_t used)
{
	return chunks_for(used + wanted_free(tracker, used) * 3 / 2);
}

struct error *tracker_init(struct tracker *tracker, struct track_state *state, int records_map,
			   size_t record_bytes, uint64_t most, struct memory_limit *limit)
{
	const uint64_t numbers = UINT64_C(1) << RECORD_NUMBER_BITS;

	*tracker = (struct tracker){
		.state = state,
		.least_free = least_free(limit),
		/* The last number has a meaning of its own (NUMBER_IGNORED in track.bpf.h). */
		.most = most < numbers - 1 ? most : numbers - 1,
	};
	memory_chunks_init(&tracker->records, records_map, 0, RECORD_CHUNK, (uint32_t)record_bytes);
	tracker->records.limit = limit;
	/* Number 0 is none. */
	state->next = 1;
	return have_chunks(tracker, chunks_beside(tracker, tasks_count(TASKS_LOADAVG)));
}

void tracker_deinit(struct tracker *tracker)
{
	memory_chunks_deinit(&tracker->records);
}

uint64_t tracker_used(const struct tracker *tracker)
{
	const struct track_state *state = tracker->state;
	const uint32_t head = __atomic_load_n(&state->free_head, __ATOMIC_RELAXED);

	return __atomic_load_n(&state->next, __ATOMIC_RELAXED) - (state->free_tail - head);
}

struct error *tracker_grow(struct tracker *tracker, size_t chunks_most)
{
	const uint64_t used = tracker_used(tracker), wanted = chunks_beside(tracker, used);

	if (chunks_most > RECORD_CHUNKS_MAX)
		chunks_most = RECORD_CHUNKS_MAX;
	if (used + wanted_free(tracker, used) <= tracker->state->room)
		return NULL;
	return have_chunks(tracker, wanted < chunks_most ? wanted : chunks_most);
}

/* --- running --- */

struct error *tracker_start(struct tracker *tracker, const struct tracker_program *programs,
			    size_t count)
{
	const struct tracker_program *scan = &programs[count - 1];
	struct error *err = NULL;

	for (const struct tracker_program *p = programs; !err && p < scan; p++)
		err = bpf_programs_attach(p->program, p->link);
	tracker->state->follows = 1;
	if (!err)
		err = bpf_programs_attach(scan->program, scan->link);
	if (!err)
		err = bpf_programs_iterate(*scan->link);
	tracker->scan = *scan->link;
	tracker->state->has_scanned = 1;
	return err;
}

void tracker_scan_again(struct tracker *tracker)
{
	if (tracker->scan)
		bpf_programs_iterate_again(tracker->scan, &tracker->state->unplaced,
					   &tracker->scanned_ns);
}

/* --- records --- */

uint32_t tracker_count(const struct tracker *tracker)
{
	const uint32_t next = __atomic_load_n(&tracker->state->next, __ATOMIC_RELAXED);

	return next < tracker->state->room ? next : tracker->state->room;
}

struct task_record *tracker_record(const struct tracker *tracker, uint32_t number)
{
	const struct memory_chunks *records = &tracker->records;
	const size_t chunk = number >> RECORD_CHUNK_BITS;

	if (!number || chunk >= records->mapped.count)
		return NULL;
	return (struct task_record *)((char *)records->mapped.items[chunk] +
				      (size_t)(number & (RECORD_CHUNK - 1)) * records->entry_bytes);
}

#define TRIES 1000

/* Other CPUs write `entered` and `woken` without the sequence number. */
static bool is_record_unchanged(const struct task_record *t, uint32_t sequence,
				const struct task_record *copy)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&t->sequence, __ATOMIC_RELAXED) == sequence &&
	       __atomic_load_n(&t->entered, __ATOMIC_RELAXED) == copy->entered &&
	       __atomic_load_n(&t->woken, __ATOMIC_RELAXED) == copy->woken;
}

bool tracker_copy(const struct task_record *t, void *ret, size_t bytes)
{
	for (int i = 0; i < TRIES; i++) {
		const uint32_t sequence = __atomic_load_n(&t->sequence, __ATOMIC_ACQUIRE);

		memcpy(ret, t, bytes);
		if (!(sequence & 1) && is_record_unchanged(t, sequence, ret))
			return true;
	}
	return false;
}

bool tracker_give_back(struct tracker *tracker, uint32_t number)
{
	struct track_state *state = tracker->state;
	struct task_record *t = tracker_record(tracker, number);
	const uint32_t tail = state->free_tail;

	if (!t || tail - __atomic_load_n(&state->free_head, __ATOMIC_ACQUIRE) == RECORDS_FREE)
		return false;
	memset(t, 0, tracker->records.entry_bytes);
	state->free_numbers[tail & (RECORDS_FREE - 1)] = number;
	__atomic_store_n(&state->free_tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}
