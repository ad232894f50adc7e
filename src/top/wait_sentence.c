/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wait_sentence.h"

#include <inttypes.h>

#include "report/visible.h"
#include "state/call_state.h"
#include "state/wait.h"

/* Below this, a state is not worth a word. */
#define SHARE_LEAST 0.05

/* Below this, time on a CPU and waits for one do not explain a row that sleeps otherwise. */
#define SHARE_CPU_LEAST 0.2

/* --- which state --- */

/* States that a sentence explains: the main ones, of sleep its parts, for a socket and a disk have
 * different reasons. */
static bool is_subject(enum state state)
{
	return state_rows[state].main == state || state_rows[state].main == STATE_SLEEP;
}

/* Of STATE_SLEEP the time that is in no part. */
static double subject_share(const struct state_line *line, enum state state)
{
	double share = state_line_share(line, state);

	for (enum state part = STATE_SLEEP + 1; state == STATE_SLEEP && part < STATE_COUNT; part++)
		if (state_rows[part].main == STATE_SLEEP)
			share -= state_line_share(line, part);
	return share;
}

static bool is_subject_measured(unsigned measured, enum state state)
{
	return state_is_measured(measured, state) ||
	       (state_rows[state].main == state && state_is_measured_in_part(measured, state));
}

/* Waits for work and sleeps for a time ask for no explanation. */
static bool asks(enum state state)
{
	return state != STATE_IDLE && state != STATE_SLEEP_TIMER;
}

static bool is_wait(enum state state)
{
	return state != STATE_EXEC && state != STATE_RUNNABLE && state != STATE_STOPPED;
}

static double least_share(enum state state)
{
	return state == STATE_EXEC || state == STATE_RUNNABLE ? SHARE_CPU_LEAST : SHARE_LEAST;
}

/* Of shares that are about the same the later one leads: a lock rather than a sleep. */
#define SHARE_SAME 0.005

/* The largest but `other`, of those that ask for an explanation and are long enough for one, or of
 * all. */
static enum state largest(const struct state_line *line, unsigned measured, bool is_any,
			  enum state other)
{
	enum state found = STATE_COUNT;
	double most = 0;

	for (enum state state = 0; state < STATE_COUNT; state++) {
		const double share = subject_share(line, state);

		if (state == other || !is_subject(state) || share <= 0 ||
		    share + SHARE_SAME < most || !is_subject_measured(measured, state) ||
		    (!is_any && (!asks(state) || share < least_share(state))))
			continue;
		most = share;
		found = state;
	}
	return found;
}

enum state wait_sentence_lead(const struct state_line *line, unsigned measured)
{
	const enum state lead = largest(line, measured, false, STATE_COUNT);

	return lead < STATE_COUNT ? lead : largest(line, measured, true, STATE_COUNT);
}

enum state wait_sentence_second(const struct state_line *line, unsigned measured, enum state lead)
{
	const enum state second = largest(line, measured, false, lead);

	return second < STATE_COUNT && is_wait(second) ? second : STATE_COUNT;
}

/* --- is a thread that was seen in that state? --- */

/* What the first argument of its call is open at. */
static enum call_file file_of(const struct wait_link *link)
{
	if (!link->inode)
		return CALL_FILE_UNKNOWN;
	return text_starts(text_of(link->object), TEXT("a pipe")) ? CALL_FILE_PIPE
								  : CALL_FILE_SOCKET;
}

/* STATE_COUNT: it may be in any that waits. */
static enum state state_of_call(const struct wait_link *link)
{
	const enum state state =
		call_state(link->call.number, link->call.arguments, true, file_of(link));

	return state == STATE_SLEEP ? STATE_COUNT : state;
}

static enum state state_of_link(const struct wait_link *link)
{
	switch (link->kind) {
	case LINK_RUNS:
		return STATE_EXEC;
	case LINK_STOPPED:
		return STATE_STOPPED;
	case LINK_LOCK:
		return STATE_LOCK_FUTEX;
	case LINK_FILE_LOCK:
	case LINK_KERNEL_LOCK:
		return STATE_LOCK_KERNEL;
	case LINK_JOIN:
		return STATE_IDLE_COND;
	case LINK_CHILD:
		return STATE_SLEEP_CHILD;
	case LINK_CALL:
		return state_of_call(link);
	case LINK_UNKNOWN:
	case LINK_OUTSIDE:
	case LINK_ENDED:
		break;
	}
	return STATE_COUNT;
}

bool wait_sentence_fits(enum state lead, const struct wait_chain *chain)
{
	const struct wait_link *link = &chain->links[0];
	enum state state;

	if (lead >= STATE_COUNT || !chain->count || link->kind == LINK_ENDED)
		return false;
	state = state_of_link(link);
	if (state == STATE_EXEC)
		return lead == STATE_EXEC || lead == STATE_RUNNABLE;
	if (!is_wait(lead) || state == STATE_STOPPED)
		return state == lead;
	/* Where sleep is not divided, it has all waits in it. */
	if (state == STATE_COUNT || lead == STATE_SLEEP)
		return true;
	/* Any call may come to a lock of the kernel, to storage, or to a page that is not there. */
	if (link->is_deep &&
	    (lead == STATE_LOCK || lead == STATE_SLEEP_DISK || lead == STATE_PAGING))
		return true;
	return state == lead || state_rows[state].main == lead;
}

/* --- states in words --- */

static const char *const phrases[STATE_COUNT] = {
	[STATE_EXEC] = "running",
	[STATE_EXEC_USER] = "running its own code",
	[STATE_EXEC_SYSTEM] = "running kernel code",
	[STATE_RUNNABLE] = "waiting for a CPU",
	[STATE_PAGING] = "waiting for its memory to come back from swap",
	[STATE_SLEEP] = "waiting",
	[STATE_SLEEP_DISK] = "waiting for storage",
	[STATE_SLEEP_NETWORK] = "waiting at a socket",
	[STATE_SLEEP_PIPE] = "waiting at a pipe",
	[STATE_SLEEP_TIMER] = "sleeping for a time",
	[STATE_SLEEP_CHILD] = "waiting for a child process",
	[STATE_SLEEP_OTHER] = "waiting for something else",
	[STATE_LOCK] = "waiting for a lock",
	[STATE_LOCK_FUTEX] = "waiting for a lock of its program",
	[STATE_LOCK_KERNEL] = "waiting for a lock of the kernel",
	[STATE_IDLE] = "waiting for work or for another thread",
	[STATE_IDLE_POLL] = "waiting for any of its files",
	[STATE_IDLE_COND] = "waiting at a condition variable, semaphore or join",
	[STATE_IDLE_ACCEPT] = "waiting for a connection",
	[STATE_IDLE_WORKER] = "idle",
	[STATE_STOPPED] = "stopped",
};

/* States that were added since are called by their name. */
static const char *phrase_of(enum state state)
{
	return phrases[state] ? phrases[state] : state_rows[state].name;
}

/* The part that is at least nine tenths of a state; or the state. Sleep is explained by parts. */
static enum state main_part(const struct state_line *line, enum state state)
{
	const double whole = state_line_share(line, state);

	for (enum state part = 0; part < STATE_COUNT && state != STATE_SLEEP; part++)
		if (state_rows[part].main == state && part != state &&
		    state_line_share(line, part) >= whole * 0.9)
			return part;
	return state;
}

/* "waiting for CPU 1, to which it is pinned". */
static void print_state(FILE *out, const struct wait_sentence *sentence, enum state state)
{
	const struct cpu_pinning *pinning = sentence->remarks.pinning;

	if (state != STATE_RUNNABLE || !pinning)
		fputs(phrase_of(main_part(sentence->line, state)), out);
	else
		fprintf(out, "waiting for CPU%s %s, to which %s pinned", pinning->is_one ? "" : "s",
			pinning->cpus, sentence->threads ? "they are" : "it is");
}

/* --- links in words --- */

static void print_name(FILE *out, const struct wait_link *link)
{
	text_print_visible(out, text_of(link->name), 0);
	fprintf(out, " (%" PRIu32 ")", link->tid);
}

static void print_lock(FILE *out, const struct wait_link *link, const struct wait_link *next)
{
	fprintf(out, "waiting for %s 0x%" PRIx64,
		link->lock.kind == LOCK_RWLOCK ? "read-write lock" : "lock", link->lock.address);
	fputs(next             ? " held by "
	      : link->has_next ? " held by another thread"
			       : ", whose holder is not recorded in it",
	      out);
	if (next)
		print_name(out, next);
}

/* Calls whose kind says more than their name; the name stands in parentheses. */
static const char *const call_phrases[] = {
	[WAIT_TIMER] = "sleeping for a time",
	[WAIT_SIGNAL] = "waiting for a signal",
	[WAIT_EPOLL] = "waiting for any of its files",
	[WAIT_POLL] = "waiting for any of its files",
	[WAIT_SELECT] = "waiting for any of its files",
	[WAIT_ACCEPT] = "waiting for a connection",
	[WAIT_FUTEX] = "waiting to be woken by another thread",
	[WAIT_FUTEX_WAIT] = "waiting to be woken by another thread",
	[WAIT_FUTEX_WAITV] = "waiting to be woken by another thread",
};

static void print_call(FILE *out, const struct wait_link *link)
{
	const int number = link->call.number;
	const char *name = wait_syscall_name(number);
	const unsigned kind =
		number >= 0 && number < WAIT_SYSCALLS ? wait_kinds[number] : WAIT_OTHER;
	const char *phrase = kind < array_length(call_phrases) && name ? call_phrases[kind] : NULL;

	if (phrase && *link->object && kind == WAIT_POLL)
		phrase = NULL; /* it is one file, which is known */
	if (phrase)
		fprintf(out, "%s (%s)", phrase, name);
	else if (name)
		fprintf(out, "in %s", name);
	else
		fprintf(out, "in system call %d", number);
	if (!*link->object)
		return;
	fputs(kind == WAIT_NETWORK || link->inode || link->is_fifo ? " at " : " of ", out);
	text_print_visible(out, text_of(link->object), 0);
}

static void print_file_lock(FILE *out, const struct wait_link *link, const struct wait_link *next)
{
	fputs("waiting for a lock of file ", out);
	text_print_visible(out, text_of(*link->object ? link->object : "?"), 0);
	if (!next)
		return;
	fputs(" held by ", out);
	print_name(out, next);
}

/* "in munmap, waiting for the kernel's lock of its memory (mmap_lock) held by ..." */
static void print_kernel_lock(FILE *out, const struct wait_link *link, const struct wait_link *next)
{
	static const char *const names[] = {
		[KERNEL_LOCK_MUTEX] = "a mutex of the kernel",
		[KERNEL_LOCK_SEMAPHORE] = "a semaphore of the kernel",
		[KERNEL_LOCK_READ] = "a read-write lock of the kernel",
		[KERNEL_LOCK_WRITE] = "a read-write lock of the kernel",
	};
	const struct kernel_lock *lock = &link->kernel;

	if (link->call.kind == TASK_CALL_IN)
		print_call(out, link);
	else if (lock->is_memory)
		fputs("at a page fault", out);
	else
		fputs("in the kernel", out);
	fprintf(out, ", waiting for %s",
		lock->is_memory                    ? "the kernel's lock of its memory (mmap_lock)"
		: lock->kind < array_length(names) ? names[lock->kind]
						   : "a lock of the kernel");
	if (lock->has_readers) {
		fputs(" held by readers", out);
	} else if (next) {
		fputs(" held by ", out);
		print_name(out, next);
	} else if (link->has_next) {
		fputs(" held by another thread", out);
	}
}

void wait_link_print(FILE *out, const struct wait_link *link, const struct wait_link *next)
{
	switch (link->kind) {
	case LINK_UNKNOWN:
		fputs("in a system call that may not be read (needs CAP_SYS_PTRACE)", out);
		return;
	case LINK_RUNS:
		fputs("running or waiting for a CPU", out);
		return;
	case LINK_STOPPED:
		fprintf(out, "stopped by %s", link->object);
		return;
	case LINK_ENDED:
		fputs("dead, and not reaped by its parent", out);
		return;
	case LINK_CALL:
		print_call(out, link);
		return;
	case LINK_OUTSIDE:
		fputs(link->has_memory
			      ? "waiting in the kernel, at a page that is not in memory or "
				"outside of system calls"
			      : "waiting in the kernel",
		      out);
		if (*link->wchan)
			fprintf(out, " (%s)", link->wchan);
		return;
	case LINK_LOCK:
		print_lock(out, link, next);
		return;
	case LINK_JOIN:
		/* That thread may be gone by now. */
		fputs(next ? "waiting for the end of thread " : "waiting for the end of a thread",
		      out);
		if (next)
			print_name(out, next);
		return;
	case LINK_CHILD:
		if (next && link->children > 1)
			fprintf(out, "waiting for one of its %" PRIu32 " children, such as ",
				link->children);
		else
			fputs(next ? "waiting for its child " : "waiting for a child", out);
		if (next)
			print_name(out, next);
		return;
	case LINK_FILE_LOCK:
		print_file_lock(out, link, next);
		return;
	case LINK_KERNEL_LOCK:
		print_kernel_lock(out, link, next);
		return;
	}
}

static const struct wait_link *next_of(const struct wait_chain *chain, size_t i)
{
	if (i + 1 < chain->count)
		return &chain->links[i + 1];
	return chain->cycle < chain->count ? &chain->links[chain->cycle] : NULL;
}

static void print_chain(FILE *out, const struct wait_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++) {
		if (i)
			fputs(", which is ", out);
		wait_link_print(out, &chain->links[i], next_of(chain, i));
	}
	if (chain->is_cut)
		fputs(", and so on", out);
	if (chain->cycle >= chain->count)
		return;
	fputs("; deadlock: ", out);
	for (size_t i = chain->cycle; i < chain->count; i++) {
		print_name(out, &chain->links[i]);
		fputs(" -> ", out);
	}
	print_name(out, &chain->links[chain->cycle]);
}

/* --- the sentence --- */

/* The next state that is worth a word, of those whose bit is not set yet: the largest. */
static enum state next_of_rest(const struct wait_sentence *sentence, unsigned told)
{
	enum state found = STATE_COUNT;
	double most = SHARE_LEAST;

	for (enum state state = 0; state < STATE_COUNT; state++) {
		const double share = subject_share(sentence->line, state);

		if (!is_subject(state) || told >> state & 1 || share < most ||
		    (found < STATE_COUNT && share == most) ||
		    !is_subject_measured(sentence->measured, state))
			continue;
		most = share;
		found = state;
	}
	return found;
}

static void print_rest(FILE *out, const struct wait_sentence *sentence)
{
	const bool has_second = sentence->second_chain && !sentence->has_ended;
	unsigned told = 1u << sentence->lead;
	const char *before = "; also ";
	enum state state;

	while ((state = next_of_rest(sentence, told)) < STATE_COUNT) {
		told |= 1u << state;
		fprintf(out, "%s%.0f %% ", before, 100 * subject_share(sentence->line, state));
		print_state(out, sentence, state);
		before = ", ";
		if (state != sentence->second || !has_second)
			continue;
		fputs(" (", out);
		if (sentence->threads)
			fprintf(out, "%" PRIu32 " now ", sentence->second_alike);
		print_chain(out, sentence->second_chain);
		fputc(')', out);
	}
}

/* The least part of the waits that a lock is told of, and that from which on it is what they are
 * all for. */
#define LOCK_LEAST 0.1
#define LOCK_ALL   0.9

/* What the kernel takes for a wait of another kind. */
static bool is_lock(const struct wait_sentence *sentence)
{
	const enum state main = state_rows[sentence->lead].main;

	return sentence->remarks.lock && !sentence->has_ended &&
	       sentence->remarks.lock_share >= LOCK_ALL &&
	       (main == STATE_IDLE || sentence->lead == STATE_SLEEP_TIMER ||
		sentence->lead == STATE_SLEEP_OTHER);
}

static void print_lock_remark(FILE *out, const struct wait_sentence *sentence)
{
	if (!sentence->remarks.lock || sentence->remarks.lock_share < LOCK_LEAST)
		return;
	fprintf(out, "; %.0f %% of its waits are for a lock of its program: ",
		100 * sentence->remarks.lock_share);
	text_print_visible(out, text_of(sentence->remarks.lock), 0);
}

/* Does the chain say what the phrase of the state would? */
static bool says_state(const struct wait_sentence *sentence)
{
	const enum wait_link_kind kind = sentence->chain->links[0].kind;

	return !sentence->threads && kind != LINK_RUNS && kind != LINK_OUTSIDE;
}

void wait_sentence_print(FILE *out, const struct wait_sentence *sentence)
{
	const struct state_line *line = sentence->line;
	const enum state lead = sentence->lead;
	const bool is_told = sentence->chain && !sentence->has_ended;

	if (lead >= STATE_COUNT) {
		fputs(sentence->has_ended ? "ended" : "nothing measured in this window", out);
		return;
	}
	fprintf(out, "%.0f %%", 100 * subject_share(line, lead));
	if (sentence->threads)
		fprintf(out, " of the time of %" PRIu32 " threads", sentence->threads);
	if (is_lock(sentence)) {
		fprintf(out, " %s: ", phrase_of(STATE_LOCK_FUTEX));
		text_print_visible(out, text_of(sentence->remarks.lock), 0);
	} else if (!is_told || !says_state(sentence)) {
		fputc(' ', out);
		print_state(out, sentence, lead);
	}
	if (is_told && !is_lock(sentence) && sentence->chain->links[0].kind != LINK_RUNS) {
		if (sentence->threads)
			fprintf(out, ": %" PRIu32 " now ", sentence->alike);
		else
			fputs(says_state(sentence) ? " " : ": ", out);
		print_chain(out, sentence->chain);
	}
	print_rest(out, sentence);
	if (!is_lock(sentence))
		print_lock_remark(out, sentence);
	if (!sentence->remarks.remark)
		return;
	/* It has names of cgroups in it. */
	fputs("; ", out);
	text_print_visible(out, text_of(sentence->remarks.remark), 0);
}
