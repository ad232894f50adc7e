/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads as JSON: nine tenths of a file, and of the time that writing takes.
 *
 *	thread_writer_init(&t, NULL);
 *	for (size_t i = 0; i < s->threads.count; i++)
 *		thread_write(&t, w, snapshot_thread(s, i));
 *
 * Most members of a thread are those of a thread before it: not measured, 0, or the same name. So a
 * thread is copied from the text of the last one of its kind (the first of its process, or
 * another), with its own values where they differ; and the first one from the text of a thread with
 * nothing measured. The same copies tell a compressor where the text repeats itself, so that it
 * need not search (base/zstream.h).
 */
#ifndef SNAPSHOT_WRITE_THREAD_H
#define SNAPSHOT_WRITE_THREAD_H

#include "base/json_writer.h"
#include "base/zstream.h"
#include "snapshot/fields.h"

#define METRIC(type, name, ...) +sizeof(",\"" #name "\":false")
enum {
	THREAD_METRICS_MAX = 0
#include "metric/metrics.def"
};
#undef METRIC

#define THREAD_TAIL_MAX  (256 + BITS_TEXT_MAX)
#define THREAD_BLANK_MAX (512 + THREAD_METRICS_MAX + THREAD_TAIL_MAX)

/* So many bytes are copied at least, which is faster than to count. */
#define THREAD_PIECE_LEAST 64

/* A name or a set of CPUs as JSON, if it is short. */
#define THREAD_NAME_MAX 256
struct written_name {
	const struct name *name; /* NULL: none yet */
	size_t length;
	char bytes[THREAD_NAME_MAX + THREAD_PIECE_LEAST];
};

enum thread_name {
	THREAD_PCOMM,
	THREAD_COMM,
	THREAD_CGROUP,
	THREAD_LABEL,
	THREAD_CPUS,
	THREAD_NAME_COUNT
};

/* The members before the metrics. */
enum thread_head {
	HEAD_TID,
	HEAD_TGID,
	HEAD_PCOMM,
	HEAD_COMM,
	HEAD_CGROUP,
	HEAD_START,
	THREAD_HEAD_COUNT
};

/* A metric in the text of a thread. */
struct json_row {
	const struct metric *metric;
	uint64_t mask;   /* of the bytes of its value, as a number */
	uint16_t offset; /* of the value in struct thread_values */
	uint16_t number; /* of the metric */
	uint16_t gap;    /* bytes of text between the value of the row before and this one */
	uint16_t blank;  /* bytes of the value if it was not measured */
	uint16_t at;     /* where that is in the blank text */
	bool is_wide;    /* a number of 64 bits */
};

struct json_rows {
	struct json_row items[METRIC_COUNT];
	size_t count;
	size_t behind; /* bytes of text behind the last value, up to the end of the metrics */
};

/* The kinds of memory of a process that have room in the text of a thread to copy from. */
#define THREAD_SMAPS_MAX 32

/* A thread whose text is in memory; all zero is none. Lengths are those of values as JSON. */
struct written_thread {
	const struct ctprof_thread *thread;
	const char *text; /* from its { to its } */
	size_t length;
	bool is_blank; /* prepared text, which is in no output */
	struct bits measured;
	uint16_t head[THREAD_HEAD_COUNT];
	uint16_t values[METRIC_COUNT]; /* of measured rows */
	uint16_t smaps, smaps_keys[THREAD_SMAPS_MAX], smaps_values[THREAD_SMAPS_MAX];
	uint16_t tail;
};

/* What threads of a kind have alike. */
struct thread_likeness {
	struct bits measured;
	struct json_rows rows; /* the measured ones */
	char tail[THREAD_TAIL_MAX + THREAD_PIECE_LEAST];
	size_t tail_length; /* 0: there was no thread yet */
	struct written_thread last;
};

/* Where the text that a writer holds repeats itself; the sink that gets the text clears both. */
struct thread_repeats {
	ARRAY(struct zstream_repeat);
	size_t end; /* of the last one */
};

struct thread_writer {
	struct json_rows rows;   /* all that stand in a file */
	struct json_rows seldom; /* that stand behind them where they were measured only */
	char blank_text[THREAD_BLANK_MAX + THREAD_PIECE_LEAST];
	struct ctprof_thread blank_thread;
	struct written_thread blank;
	struct thread_likeness kinds[2]; /* first threads of processes, others */
	struct written_name names[THREAD_NAME_COUNT];
	struct thread_repeats *repeats; /* NULL: not wanted */
	size_t end;                     /* of the last thread's text in the buffer */
};

/* `repeats` gets what the text of each thread repeats, with places in the buffer of the writer. */
void thread_writer_init(struct thread_writer *t, struct thread_repeats *repeats);

void thread_write(struct thread_writer *t, struct json_writer *w,
		  const struct ctprof_thread *thread);

#endif
