/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads facts of rows (state/row_facts.h) from /proc/PID/{stat,cmdline,io}, in a confined thread
 * with a limit of time (base/guard.h): reading a command line reads memory of the process, and io
 * waits for its execve(2).
 *
 *	struct row_reader reader = { 0 };
 *	row_reader_begin(&reader);                                  a new window
 *	row_reader_read(&reader, wanted, subjects, count, facts);   the rows that are shown
 *	row_reader_deinit(&reader);
 *
 * Within a window, no file is read twice. A process is known by its number and its start time, so
 * rates are never of two processes of one number.
 */
#ifndef TOP_ROW_READER_H
#define TOP_ROW_READER_H

#include "base/array.h"
#include "base/word_map.h"
#include "state/row_facts.h"

/* Of so many rows files are read in a window; facts of the rest are not known. Three files each. */
#define ROW_READER_ROWS_MAX 4096

/* All zero is an empty one. */
struct row_reader {
	struct word_map places;
	struct {
		ARRAY(struct kept_row);
	} rows;
	uint64_t window;
	size_t read; /* rows of which files were read in it */
};

void row_reader_deinit(struct row_reader *reader);

void row_reader_begin(struct row_reader *reader);

/* `wanted` has a bit for each fact. Fills `ret`, of `count`. What cannot be read, for lack of
 * rights too, is not known; nor are rates of rows that were not read in the window before. */
void row_reader_read(struct row_reader *reader, unsigned wanted, const struct row_subject *subjects,
		     size_t count, struct row_facts *ret);

/* --- the files, for tests --- */

/* What the files say. */
struct row_files {
	bool is_there;
	uint64_t start_ticks; /* of the start, as CLOCK_BOOTTIME */
	int32_t priority, nice;
	uint64_t memory_bytes;
	bool has_io;
	uint64_t io[ROW_RATES];
	bool has_command;
	uint16_t command_length;
	char command[ROW_COMMAND_MAX];
};

/* /proc/PID/stat. False: it is none. The name goes to `command` in brackets. */
bool row_files_parse_stat(struct text bytes, struct row_files *ret);
/* /proc/PID/io. */
void row_files_parse_io(struct text bytes, struct row_files *ret);
/* The beginning of /proc/PID/cmdline; an empty one, as of threads of the kernel, leaves the name.
 */
void row_files_take_command(struct text bytes, struct row_files *ret);

#endif
