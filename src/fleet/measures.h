/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts are compared by, with the words for it.
 *
 * Words are "%s" for the value, as in "shopd waits 41 % of its busy time for locks".
 */
#ifndef FLEET_MEASURES_H
#define FLEET_MEASURES_H

#include "fleet/data.h"
#include "metric/metric.h"
#include "state/state.h"

#define OF(id) (1u << STATE_##id)

/* MEASURE(kind, name, states whose times are added, words) */
#define FLEET_STATES(MEASURE)                                                                      \
	MEASURE(STATE, "exec", OF(EXEC) | OF(EXEC_USER) | OF(EXEC_SYSTEM),                         \
		"runs for %s of its busy time")                                                    \
	MEASURE(STATE, "exec_system", OF(EXEC_SYSTEM), "is in the kernel for %s of its busy time") \
	MEASURE(STATE, "runnable", OF(RUNNABLE), "waits %s of its busy time for a CPU")            \
	MEASURE(STATE, "paging", OF(PAGING), "waits %s of its busy time for memory from swap")     \
	MEASURE(STATE, "sleep_disk", OF(SLEEP_DISK), "waits %s of its busy time for storage")      \
	MEASURE(STATE, "lock", OF(LOCK) | OF(LOCK_FUTEX) | OF(LOCK_KERNEL),                        \
		"waits %s of its busy time for locks")                                             \
	MEASURE(STATE, "lock_kernel", OF(LOCK_KERNEL),                                             \
		"waits %s of its busy time for locks of the kernel")                               \
	MEASURE(WAIT, "sleep_network", OF(SLEEP_NETWORK), "waits %s of its time at sockets")       \
	MEASURE(WAIT, "sleep_pipe", OF(SLEEP_PIPE), "waits %s of its time at pipes")               \
	MEASURE(WAIT, "stopped", OF(STOPPED), "is stopped for %s of its time")

/* WAIT(state, words): the waits of a program that is busy, as in "waits 66 % of its busy time in
 * find_price, 43 % for a lock of its program". */
#define FLEET_WAITS(WAIT)                             \
	WAIT(RUNNABLE, "for a CPU")                   \
	WAIT(PAGING, "for memory from swap")          \
	WAIT(SLEEP_DISK, "for storage")               \
	WAIT(LOCK, "for a lock")                      \
	WAIT(LOCK_FUTEX, "for a lock of its program") \
	WAIT(LOCK_KERNEL, "for a lock of the kernel")

#define FLEET_WAIT_BIT(state, words) | OF(state)
#define FLEET_BUSY                   (OF(EXEC) | OF(EXEC_USER) | OF(EXEC_SYSTEM) FLEET_WAITS(FLEET_WAIT_BIT))

/* MEASURE(metric, event: fleet_event(), words); by CPU second of the program. Bytes come by pages.
 */
#define FLEET_METRICS(MEASURE)                                     \
	MEASURE(nr_migrations, 1, "moves %s times to another CPU") \
	MEASURE(nonvoluntary_csw, 1, "is preempted %s times")      \
	MEASURE(voluntary_csw, 1, "blocks %s times")               \
	MEASURE(minflt, 1, "has %s minor page faults")             \
	MEASURE(majflt, 1, "has %s major page faults")             \
	MEASURE(syscr, 1, "makes %s read calls")                   \
	MEASURE(syscw, 1, "makes %s write calls")                  \
	MEASURE(rchar, 4096, "reads %s bytes")                     \
	MEASURE(wchar, 4096, "writes %s bytes")                    \
	MEASURE(read_bytes, 4096, "reads %s bytes from storage")   \
	MEASURE(write_bytes, 4096, "writes %s bytes to storage")   \
	MEASURE(allocated_bytes, 4096, "allocates %s bytes")

/* MEASURE(column of loads, name, words) */
#define FLEET_PRESSURES(MEASURE)                                                        \
	MEASURE(cpu_some_ns, "cpu", "threads wait for CPUs for %s of the time")         \
	MEASURE(memory_some_ns, "memory", "threads wait for memory for %s of the time") \
	MEASURE(io_some_ns, "io", "threads wait for storage for %s of the time")

struct fleet_state_row {
	enum fleet_kind kind;
	const char *name, *words;
	unsigned states;
};
struct fleet_metric_row {
	enum metric_id metric;
	double event;
	const char *name, *words;
};
struct fleet_pressure_row {
	unsigned column; /* LOADS_* of store/tables.h */
	const char *name, *words;
};

extern const struct fleet_state_row fleet_states[];
extern const size_t fleet_state_count;
extern const struct fleet_metric_row fleet_metrics[];
extern const size_t fleet_metric_count;
extern const struct fleet_pressure_row fleet_pressures[];
extern const size_t fleet_pressure_count;

/* The size of an event of a measure: see FLEET_KINDS. */
double fleet_event(const struct fleet_measure *measure);

/* "shopd waits 41 % of its busy time for locks", with the value; to be freed. NULL: no memory. */
char *fleet_sentence(const struct fleet_measure *measure, double value);

/* "for a lock of its program": what a thread in this state waits for; "" if the state is not in
 * FLEET_WAITS. */
const char *fleet_wait_words(enum state state);

/* "41 %", "1,234": a value, to be freed. */
char *fleet_value_text(enum fleet_kind kind, double value);

#undef OF
#endif
