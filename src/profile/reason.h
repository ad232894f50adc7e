/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why threads waited, in the words of reports; and which samples are wanted, by class, state or
 * reason.
 *
 * A sample has a class, what the kernel's scheduler called it (class.h), and a state, what `top`
 * calls it (state/state.h): the kernel's side decides both by the same rules
 * (sched/wait_rules.bpf.h). A reason is one or several states under the word that people use.
 */
#ifndef PROFILE_REASON_H
#define PROFILE_REASON_H

#include "base/text.h"
#include "profile/class.h"

/* REASON(id, name, heading of a column, what it is), in the order of outputs. */
#define REASONS(REASON)                                                               \
	REASON(ON_CPU, "on-cpu", "on CPU", "it ran")                                  \
	REASON(CPU_WAIT, "cpu-wait", "CPU wait", "it could run and waited for a CPU") \
	REASON(LOCK, "lock", "lock", "a lock of its program or of the kernel")        \
	REASON(STORAGE, "storage", "storage", "block I/O")                            \
	REASON(PAGING, "paging", "paging", "its memory to come back from swap")       \
	REASON(NETWORK, "network", "network", "a socket")                             \
	REASON(PIPE, "pipe", "pipe", "a pipe")                                        \
	REASON(CHILD, "child", "child", "a child process")                            \
	REASON(TIMER, "timer", "timer", "a time")                                     \
	REASON(OTHER, "other", "other", "something else")                             \
	REASON(UNKNOWN, "unknown", "unknown", "what is not known")                    \
	REASON(STOPPED, "stopped", "stopped", "stopped, traced or frozen")            \
	REASON(POLL, "poll", "poll", "any of several files")                          \
	REASON(COND, "cond", "cond", "a condition variable, semaphore or join")       \
	REASON(ACCEPT, "accept", "accept", "a connection")                            \
	REASON(IDLE, "work", "idle", "work")

enum reason {
#define REASON_ENUM(id, ...) REASON_##id,
	REASONS(REASON_ENUM)
#undef REASON_ENUM
		REASON_COUNT
};

struct reason_row {
	const char *name, *heading, *prose;
};
extern const struct reason_row reason_rows[REASON_COUNT];

/* Takes any number; what is no state is REASON_UNKNOWN. */
enum reason reason_of_state(unsigned state);

/*
 * What a nanosecond of a reason weighs in orders by what matters, in hundredths. Waits for what a
 * host has too little of (CPUs, storage, memory, locks) count whole, waits for other programs by a
 * quarter, those for a time or any of several events by a tenth.
 * A wait that lasts as long as the profile says little: a shell stands at its child, a reader at
 * its pipe, where all is well. It counts by a fiftieth, if it is not for one of the former: so that
 * waits of less than 1 % of all time never outweigh those of a half.
 */
unsigned reason_weight(enum reason reason, bool lasts_all_the_time);

/* A reason with a smaller share of the time of a program explains nothing about it, */
#define REASON_LEAST_SHARE 0.05
/* and a nanosecond of it weighs at most so much. */
#define REASON_SMALL_WEIGHT 10

/* Has the reason, with `ns` of a program's time, less than that share? */
static inline bool reason_is_small(uint64_t ns, uint64_t whole)
{
	return (double)ns < REASON_LEAST_SHARE * (double)whole;
}

/* The state of a sample about which no more is known than its class. */
enum state reason_default_state(unsigned class);

/* The samples that are wanted: for each class, a bit for each enum state. */
struct reason_selection {
	uint32_t states[CLASS_COUNT];
};

/* Samples of these classes (a bit each), whatever their state. */
void reason_select_classes(struct reason_selection *selection, unsigned classes);

/*
 * Samples of the class of that name, "io-wait"; else of the classes of "exec" and "sleep"; else of
 * each reason, state and main state: "storage", "lock_futex", "lock". False: it is no name of
 * these, and nothing has changed.
 */
bool reason_select_named(struct reason_selection *selection, struct text name);

/* The same of all names that match a glob (base/term.h). */
bool reason_select_glob(struct reason_selection *selection, const char *glob);

static inline bool reason_selects(const struct reason_selection *selection, unsigned class,
				  unsigned state)
{
	return class < CLASS_COUNT && state < 32 && selection->states[class] >> state & 1;
}

/* The classes of which anything is wanted, a bit each. */
unsigned reason_selected_classes(const struct reason_selection *selection);

/* The names that help lists: reasons first, then classes that have another name, but for events.
 * NULL beyond the last. */
const char *reason_selection_name(size_t number);

#endif
