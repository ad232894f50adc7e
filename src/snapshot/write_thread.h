/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads as JSON: nine tenths of a file, and of the time that writing takes.
 *
 *	thread_writer_init(&t);
 *	for (size_t i = 0; i < s->threads.count; i++)
 *		thread_write(&t, w, snapshot_thread(s, i));
 *
 * Most members of most threads are nothing: not measured, or 0. So the text of a thread with
 * nothing measured is made once, and a thread is pieces of that with its own values between them.
 * What many threads in a row have alike is made once, too: names, and what was measured.
 */
#ifndef SNAPSHOT_WRITE_THREAD_H
#define SNAPSHOT_WRITE_THREAD_H

#include "base/json_writer.h"
#include "snapshot/fields.h"

#define METRIC(type, name, ...) +sizeof(",\"" #name "\":false")
enum {
	THREAD_BLANK_MAX = 0
#include "metric/metrics.def"
};
#undef METRIC

#define THREAD_TAIL_MAX (256 + BITS_TEXT_MAX)

/* So many bytes are copied at least, which is faster than to count. */
#define THREAD_PIECE_LEAST 64

/* A name or a set of CPUs as JSON, if it is short. */
#define THREAD_NAME_MAX 512
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

/* A row that was measured: where its value is in a thread, and where in the blank text. */
struct measured_row {
	const struct metric *metric;
	uint16_t offset, value, end;
	bool is_wide; /* a number of 64 bits */
};

struct thread_writer {
	/* `,"policy":"","nice":0,...`: of each row where it begins, and where its value does. */
	char blank[THREAD_BLANK_MAX + THREAD_PIECE_LEAST];
	uint16_t begin[METRIC_COUNT + 1], value[METRIC_COUNT];
	struct metric_set rows; /* that stand in a file */
	struct metric_set
		seldom; /* that stand in a file where they were measured, and nowhere else */
	/* The measured rows of the previous thread, and the end of its text. */
	struct bits measured;
	struct measured_row measured_rows[METRIC_COUNT];
	size_t row_count;
	char tail[THREAD_TAIL_MAX];
	size_t tail_length; /* 0: there was no thread yet */
	struct written_name names[THREAD_NAME_COUNT];
};

void thread_writer_init(struct thread_writer *t);

void thread_write(struct thread_writer *t, struct json_writer *w,
		  const struct ctprof_thread *thread);

#endif
