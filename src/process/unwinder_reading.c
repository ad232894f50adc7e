/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/unwinder_internal.h"

#include <bpf/bpf.h>

#include "os/process_user.h"

/* A process that has not changed for so long is quiet. */
#define QUIET_NS NS_PER_S

/* Processes of a user are read for a fifth of the time, over a second; each of them, for a
 * twentieth. */
#define USER_PART      5
#define PROCESS_PAUSES 19
#define IN_VAIN_MAX    5

/* The size of the map of processes that walks ask for. */
#define ASKED_MAX 1024

/* The user who is charged for reading a process; 0: none, as when it is gone. */
static uint32_t charged_user(const struct unwinding *process)
{
	const uint32_t user = process_user_limited(process->pid);

	return user == UINT32_MAX ? 0 : user;
}

bool unwinder_is_user_free(const struct unwinder *unwinder, const struct unwinding *process)
{
	const uint32_t user = charged_user(process);

	return !user || !time_shares_used_up(&unwinder->reading, user);
}

void unwinder_charge(struct unwinder *unwinder, const struct unwinding *process, uint64_t cost_ns)
{
	const uint32_t user = charged_user(process);

	if (user)
		time_shares_charge(&unwinder->reading, user, cost_ns, USER_PART);
}

/* False: it is gone, or may not be read. */
static bool read_unwound(struct unwinder *unwinder, struct unwinding *process)
{
	const uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct process_image *now = NULL;

	process->read_ns = clock_ns(CLOCK_MONOTONIC);
	unwinding_list(unwinder, process, unread, false);
	if (process_watch_read_again(unwinder->options.images, process->pid))
		now = process_table_now(unwinder->processes, process->pid);
	if (now && !now->is_over) {
		unwinder_build(unwinder, process, now, process->read_ns, false);
		unwinder->failed += process->mappings && process->mappings->has_unknown;
	}
	process->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
	unwinder_charge(unwinder, process, process->cost_ns);
	return now && !now->is_over;
}

static bool is_quiet(const struct unwinding *process, uint64_t time_ns)
{
	return time_ns >= process->changed_ns && time_ns - process->changed_ns >= QUIET_NS;
}

bool unwinder_has_quiet(const struct unwinder *unwinder, uint64_t time_ns)
{
	const struct unwinding *process = TAILQ_FIRST(&unwinder->unread);

	return process && is_quiet(process, time_ns);
}

void unwinder_read_quiet(struct unwinder *unwinder)
{
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC), end_ns = unwinder_end_of_work();
	struct unwinding *process;

	for (size_t i = 0; i < READS_A_TICK && !unwinder_is_over(end_ns); i++) {
		process = TAILQ_FIRST(&unwinder->unread);
		if (!process || !is_quiet(process, time_ns))
			break;
		if (unwinder_is_user_free(unwinder, process)) {
			read_unwound(unwinder, process);
		} else {
			/* Set the time of change to now, by which the list is ordered. */
			process->changed_ns = time_ns;
			unwinding_list(unwinder, process, unread, true);
		}
	}
}

static uint64_t pause_of(const struct unwinding *process)
{
	const uint64_t pause_ns = PROCESS_PAUSES * process->cost_ns;

	return (pause_ns > READ_AGAIN_NS ? pause_ns : READ_AGAIN_NS) << process->in_vain;
}

/* Read a process that is asked for. When it is too soon, it goes to the end of the list. False:
 * nothing was read. */
static bool answer(struct unwinder *unwinder, struct unwinding *process)
{
	const uint64_t generation = process->asked_generation;
	const bool is_known = process->mappings != NULL;
	const uint32_t pid = process->pid;
	bool is_read;

	/* A newer one is published by now. Generation 0: nothing was, as after an exec. */
	if (is_known && generation && process->mappings->generation != generation) {
		unwinding_list(unwinder, process, asked, false);
		return false;
	}
	if (clock_ns(CLOCK_MONOTONIC) - process->read_ns < (is_known ? pause_of(process) : 0) ||
	    !unwinder_is_user_free(unwinder, process)) {
		unwinding_list(unwinder, process, asked, true);
		return false;
	}
	unwinding_list(unwinder, process, asked, false);
	is_read = read_unwound(unwinder, process);
	if (!is_known && is_read)
		process_table_mark(unwinder->processes, pid);
	else if (!is_known)
		unwinder_remove(unwinder, process);
	else if (is_read && process->mappings && process->mappings->generation == generation &&
		 process->in_vain < IN_VAIN_MAX)
		process->in_vain++;
	return true;
}

/* Empty the map: programs in the kernel cannot ask while it is full, and iteration from the start
 * of a map only ever shows its first keys. */
static void take_asked(struct unwinder *unwinder)
{
	const int map = unwinder->options.asked;
	uint32_t pid;

	for (size_t i = 0; i < ASKED_MAX && !bpf_map_get_next_key(map, NULL, &pid); i++) {
		struct unwinding *process;
		uint64_t generation = 0;

		bpf_map_lookup_elem(map, &pid, &generation);
		bpf_map_delete_elem(map, &pid);
		process = unwinder_add(unwinder, pid);
		if (!process)
			continue;
		process->asked_generation = generation;
		if (!process->is_asked)
			unwinding_list(unwinder, process, asked, true);
	}
}

void unwinder_read_asked(struct unwinder *unwinder)
{
	const uint64_t end_ns = unwinder_end_of_work();
	struct unwinding *last, *process, *next;
	size_t count = 0;

	take_asked(unwinder);
	/* In the order of asking. Processes that go to the end are not met again. */
	last = TAILQ_LAST(&unwinder->asked, unwindings);
	for (process = TAILQ_FIRST(&unwinder->asked);
	     process && count < READS_A_TICK && !unwinder_is_over(end_ns); process = next) {
		next = process == last ? NULL : TAILQ_NEXT(process, asked);
		count += answer(unwinder, process);
	}
}
