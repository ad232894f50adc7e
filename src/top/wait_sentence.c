/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wait_sentence.h"

#include <inttypes.h>

#include "report/visible.h"
#include "state/wait.h"

/* Below this, a state is not worth a word. */
#define SHARE_LEAST 0.05

/* --- which state --- */

/* What a state asks for an explanation: neither waits for work nor sleeps for a time do. */
static double weight(const struct state_line *line, enum state state)
{
	const double share = state_line_share(line, state);

	if (state == STATE_SLEEP)
		return share - state_line_share(line, STATE_SLEEP_TIMER);
	return state == STATE_IDLE ? 0 : share;
}

/* Of shares that are about the same the later one leads: a lock rather than a sleep. */
#define SHARE_SAME 0.005

enum state wait_sentence_lead(const struct state_line *line, unsigned measured)
{
	enum state lead = STATE_COUNT;
	double most = 0;
	const double idle = state_line_share(line, STATE_IDLE),
		     timer = state_line_share(line, STATE_SLEEP_TIMER);

	for (size_t i = 0; i < STATE_MAIN_COUNT; i++) {
		const enum state state = state_mains[i];
		const double share = weight(line, state);

		if (share <= 0 || share + SHARE_SAME < most ||
		    !state_is_measured_in_part(measured, state))
			continue;
		most = share;
		lead = state;
	}
	if (most >= SHARE_LEAST || (idle <= most && timer <= most))
		return lead;
	return idle >= timer ? STATE_IDLE : STATE_SLEEP;
}

bool wait_sentence_fits(enum state lead, const struct wait_chain *chain)
{
	/* By enum wait_link_kind: the main states, a bit each. */
	static const unsigned states[] = {
		[LINK_UNKNOWN] = 1u << STATE_SLEEP | 1u << STATE_IDLE | 1u << STATE_LOCK,
		[LINK_RUNS] = 1u << STATE_EXEC | 1u << STATE_RUNNABLE,
		[LINK_STOPPED] = 1u << STATE_STOPPED,
		[LINK_CALL] = 1u << STATE_SLEEP | 1u << STATE_IDLE | 1u << STATE_LOCK,
		[LINK_OUTSIDE] = 1u << STATE_SLEEP | 1u << STATE_IDLE | 1u << STATE_LOCK |
				 1u << STATE_PAGING,
		[LINK_LOCK] = 1u << STATE_LOCK | 1u << STATE_SLEEP,
		[LINK_JOIN] = 1u << STATE_IDLE | 1u << STATE_SLEEP,
		[LINK_CHILD] = 1u << STATE_SLEEP | 1u << STATE_IDLE,
		[LINK_FILE_LOCK] = 1u << STATE_LOCK | 1u << STATE_SLEEP,
	};
	const enum wait_link_kind kind = chain->links[0].kind;

	return lead < STATE_COUNT && chain->count && kind < array_length(states) &&
	       states[kind] >> lead & 1;
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
	[STATE_IDLE] = "idle",
	[STATE_IDLE_POLL] = "idle, waiting for any of its files",
	[STATE_IDLE_COND] = "idle at a condition variable, semaphore or join",
	[STATE_IDLE_ACCEPT] = "idle, waiting for a connection",
	[STATE_IDLE_WORKER] = "idle",
	[STATE_STOPPED] = "stopped",
};

/* States that were added since are called by their name. */
static const char *phrase_of(enum state state)
{
	return phrases[state] ? phrases[state] : state_rows[state].name;
}

/* The part that is at least nine tenths of a state; or the state. */
static enum state main_part(const struct state_line *line, enum state state)
{
	const double whole = state_line_share(line, state);

	for (enum state part = 0; part < STATE_COUNT; part++)
		if (state_rows[part].main == state && part != state &&
		    state_line_share(line, part) >= whole * 0.9)
			return part;
	return state;
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
	fputs(kind == WAIT_NETWORK || link->inode ? " at " : " of ", out);
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
		fputs("stopped by a signal or a debugger", out);
		return;
	case LINK_ENDED:
		fputs("dead, and not reaped by its parent", out);
		return;
	case LINK_CALL:
		print_call(out, link);
		return;
	case LINK_OUTSIDE:
		fprintf(out, *link->wchan ? "waiting in the kernel (%s)" : "waiting in the kernel",
			link->wchan);
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
		fputs(next ? "waiting for its child " : "waiting for a child", out);
		if (next)
			print_name(out, next);
		return;
	case LINK_FILE_LOCK:
		print_file_lock(out, link, next);
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

	for (size_t i = 0; i < STATE_MAIN_COUNT; i++) {
		const enum state state = state_mains[i];
		const double share = state_line_share(sentence->line, state);

		if (told >> state & 1 || share < most || (found < STATE_COUNT && share == most) ||
		    !state_is_measured_in_part(sentence->measured, state))
			continue;
		most = share;
		found = state;
	}
	return found;
}

static void print_rest(FILE *out, const struct wait_sentence *sentence)
{
	unsigned told = 1u << sentence->lead;
	const char *before = "; also ";
	enum state state;

	while ((state = next_of_rest(sentence, told)) < STATE_COUNT) {
		told |= 1u << state;
		fprintf(out, "%s%.0f %% %s", before, 100 * state_line_share(sentence->line, state),
			phrase_of(main_part(sentence->line, state)));
		before = ", ";
	}
}

void wait_sentence_print(FILE *out, const struct wait_sentence *sentence)
{
	const struct state_line *line = sentence->line;
	const bool is_told = sentence->chain && !sentence->has_ended;

	if (sentence->lead >= STATE_COUNT) {
		fputs(sentence->has_ended ? "ended" : "nothing measured in this window", out);
		return;
	}
	fprintf(out, "%.0f %%", 100 * state_line_share(line, sentence->lead));
	if (sentence->threads)
		fprintf(out, " of the time of %" PRIu32 " threads", sentence->threads);
	if (!is_told || sentence->threads || sentence->lead == STATE_IDLE ||
	    sentence->lead == STATE_EXEC || sentence->lead == STATE_RUNNABLE)
		fprintf(out, " %s",
			phrase_of(is_told && sentence->lead == STATE_IDLE
					  ? STATE_IDLE
					  : main_part(line, sentence->lead)));
	if (is_told && sentence->chain->links[0].kind != LINK_RUNS &&
	    sentence->chain->links[0].kind != LINK_STOPPED) {
		if (sentence->threads)
			fprintf(out, ": %" PRIu32 " now ", sentence->alike);
		else
			fputs(sentence->lead == STATE_IDLE ? ", " : " ", out);
		print_chain(out, sentence->chain);
	}
	print_rest(out, sentence);
	if (!sentence->remark)
		return;
	/* It has names of cgroups in it. */
	fputs("; ", out);
	text_print_visible(out, text_of(sentence->remark), 0);
}
