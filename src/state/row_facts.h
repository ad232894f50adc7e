/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc says of a row besides its states: the command line, memory, priority, and the bytes
 * that it reads and writes. These cost files for each row, so they are read only for rows that are
 * shown, and if they are asked for (top/row_reader.h).
 */
#ifndef STATE_ROW_FACTS_H
#define STATE_ROW_FACTS_H

#include "base/array.h"
#include "base/word_map.h"
#include "state/view.h"

/*
 * The columns of TOP_COLUMNS that are from PROC.
 *
 * COMMAND and MEMORY are those of the process, of a thread's row too; the others are of the thread
 * or of the whole process, as the row is. READ and WRITE are bytes of storage (read_bytes and
 * write_bytes of /proc/PID/io), RCHAR and WCHAR those of all read(2) and write(2): also of the page
 * cache, pipes and sockets.
 */
enum row_fact {
#define ROW_FACT_PROC(id) ROW_FACT_##id,
#define ROW_FACT_WINDOW(id)
#define ROW_FACT_EXITS(id)
#define ROW_FACT_ENUM(id, head, source, ...) ROW_FACT_##source(id)
	TOP_COLUMNS(ROW_FACT_ENUM)
#undef ROW_FACT_ENUM
#undef ROW_FACT_PROC
#undef ROW_FACT_WINDOW
#undef ROW_FACT_EXITS
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

/* Facts that rows of this grouping have: a bit for each. */
unsigned row_facts_by(enum state_grouping grouping);

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

/* The fact that a column shows; ROW_FACT_COUNT: none. */
enum row_fact column_fact(enum top_column column);

/* Its bit, or 0. */
static inline unsigned column_facts(enum top_column column)
{
	const enum row_fact fact = column_fact(column);

	return fact < ROW_FACT_COUNT ? 1u << fact : 0;
}

/* That of the fact that rows are sorted by, or 0. */
static inline unsigned state_sort_facts(struct state_sort sort)
{
	return column_facts(column_of_key(sort.key, sort.state));
}

/* Of a fact in numbers or bytes, which is known. */
int64_t row_facts_number(const struct row_facts *facts, enum row_fact fact);

static inline struct text row_facts_command(const struct row_facts *facts)
{
	return (struct text){ facts->command, facts->command_length };
}

/* What a row of this view is about. */
static inline struct row_subject view_subject(const struct state_view *view,
					      const struct state_line *line)
{
	return row_subject_of(line,
			      line->depth || (view->grouping == STATE_BY_THREAD && !view->is_tree));
}

/* Facts of many rows. All zero is an empty one. */
struct row_fact_set {
	struct {
		ARRAY(struct row_facts);
	} rows;
	struct word_map places;
};

void row_fact_set_deinit(struct row_fact_set *set);

/* Replace the facts by those in `items`, which the set frees. What there is no memory for is not
 * found. */
void row_fact_set_take(struct row_fact_set *set, struct row_facts *items, size_t count);

/* NULL: none. Takes an empty set, and NULL. */
const struct row_facts *row_fact_set_find(const struct row_fact_set *set,
					  const struct row_subject *subject);

#endif
