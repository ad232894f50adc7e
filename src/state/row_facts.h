/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc says of a row besides its states: the command line, memory, priority, and the bytes
 * that it reads and writes. These cost files for each row, so they are read only for rows that are
 * shown, and if they are asked for (top/row_reader.h).
 */
#ifndef STATE_ROW_FACTS_H
#define STATE_ROW_FACTS_H

#include "state/view.h"

/*
 * ROW_FACT(id, name for programs, heading for people)
 *
 * COMMAND and MEMORY are those of the process, of a thread's row too; the others are of the thread
 * or of the whole process, as the row is. READ and WRITE are bytes of storage (read_bytes and
 * write_bytes of /proc/PID/io), RCHAR and WCHAR those of all read(2) and write(2): also of the page
 * cache, pipes and sockets.
 */
#define ROW_FACTS_LIST(ROW_FACT)                        \
	ROW_FACT(MEMORY, "memory_bytes", "memory")      \
	ROW_FACT(PRIORITY, "priority", "pri")           \
	ROW_FACT(NICE, "nice", "nice")                  \
	ROW_FACT(READ, "read_bytes_per_s", "read/s")    \
	ROW_FACT(WRITE, "write_bytes_per_s", "write/s") \
	ROW_FACT(RCHAR, "rchar_per_s", "rchar/s")       \
	ROW_FACT(WCHAR, "wchar_per_s", "wchar/s")       \
	ROW_FACT(COMMAND, "command", "command")

enum row_fact {
#define ROW_FACT_ENUM(id, ...) ROW_FACT_##id,
	ROW_FACTS_LIST(ROW_FACT_ENUM)
#undef ROW_FACT_ENUM
		ROW_FACT_COUNT
};
#define ROW_FACT_BIT(id) (1u << ROW_FACT_##id)

/* The rates, of which each needs two readings. */
#define ROW_RATES      4
#define ROW_RATE_FACTS (0xfu << ROW_FACT_READ)

/* Of longer command lines the beginning. */
#define ROW_COMMAND_MAX 200

/* Whose facts these are. */
struct row_subject {
	uint32_t tid, tgid;
	bool is_process;  /* the whole, and not the thread */
	uint64_t seen_ns; /* CLOCK_MONOTONIC: it was there; a later one has its number by chance */
};

struct row_facts {
	struct row_subject subject;
	unsigned known; /* a bit for each fact */
	int32_t priority, nice;
	uint64_t memory_bytes;
	uint64_t rates[ROW_RATES]; /* bytes a second, from READ on */
	uint16_t command_length;
	char command[ROW_COMMAND_MAX]; /* any bytes, with spaces between the words */
};

/* Facts that rows of this grouping have. A pool is of one process, and a cgroup of many. */
static inline unsigned row_facts_by(enum state_grouping grouping)
{
	switch (grouping) {
	case STATE_BY_CGROUP:
		return 0;
	case STATE_BY_POOL:
		return ROW_FACT_BIT(COMMAND) | ROW_FACT_BIT(MEMORY);
	default:
		return (1u << ROW_FACT_COUNT) - 1;
	}
}

/* A group of processes stands for that of its thread. */
static inline struct row_subject row_subject_of(const struct state_line *line, bool is_thread)
{
	return (struct row_subject){
		.tid = line->thread->tid,
		.tgid = line->thread->tgid,
		.is_process = !is_thread,
		.seen_ns = line->thread->seen_ns,
	};
}

static inline bool row_subject_is(const struct row_subject *a, const struct row_subject *b)
{
	return a->is_process == b->is_process && a->tgid == b->tgid &&
	       (a->is_process || a->tid == b->tid);
}

static inline bool row_facts_have(const struct row_facts *facts, enum row_fact fact)
{
	return facts && facts->known >> fact & 1;
}

#endif
