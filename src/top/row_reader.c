/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/row_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/units.h"
#include "os/pairs.h"
#include "os/process_user.h"
#include "os/stat.h"

/* Programs change their command lines rarely, and execve(2) keeps the start time. */
#define COMMAND_WINDOWS 5

/* A row as it was read last. */
struct kept_row {
	struct row_facts facts;
	uint64_t start_ticks;
	uint64_t window; /* in which it was asked for last */
	unsigned read;   /* what was read in that window: bits of the facts */
	uint64_t io[ROW_RATES];
	uint64_t io_at_ns, io_window; /* CLOCK_MONOTONIC; 0: none */
	uint64_t command_window;      /* 0: none */
};

void row_reader_deinit(struct row_reader *reader)
{
	word_map_deinit(&reader->places);
	array_deinit(&reader->rows);
}

/* --- files --- */

static bool small_number(struct text text, int32_t *ret)
{
	int64_t number;

	if (!text_i64(text, &number) || number < INT32_MIN || number > INT32_MAX)
		return false;
	*ret = (int32_t)number;
	return true;
}

bool row_files_parse_stat(struct text bytes, struct row_files *ret)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct stat_line line;
	uint64_t pages;
	int length;

	if (!stat_parse(bytes, &line) ||
	    !text_u64(line.columns[STAT_START_TIME], &ret->start_ticks) ||
	    !small_number(line.columns[STAT_PRIORITY], &ret->priority) ||
	    !small_number(line.columns[STAT_NICE], &ret->nice) ||
	    !text_u64(line.columns[STAT_RSS], &pages) || pages > UINT64_MAX / page)
		return false;
	ret->memory_bytes = pages * page;
	length = snprintf(ret->command, sizeof(ret->command), "[%.*s]",
			  (int)(line.comm.length < 64 ? line.comm.length : 64), line.comm.bytes);
	ret->command_length = (uint16_t)length;
	return ret->is_there = true;
}

void row_files_parse_io(struct text bytes, struct row_files *ret)
{
	static const struct text keys[ROW_RATES] = { TEXT("read_bytes"), TEXT("write_bytes"),
						     TEXT("rchar"), TEXT("wchar") };
	struct text key, value;
	unsigned found = 0;

	while (pairs_next(&bytes, ':', &key, &value))
		for (size_t i = 0; i < ROW_RATES; i++)
			if (text_equal(key, keys[i]) && text_u64(value, &ret->io[i]))
				found |= 1u << i;
	ret->has_io = found == (1u << ROW_RATES) - 1;
}

void row_files_take_command(struct text bytes, struct row_files *ret)
{
	size_t length = bytes.length < ROW_COMMAND_MAX ? bytes.length : ROW_COMMAND_MAX;

	ret->has_command = true;
	while (length && !bytes.bytes[length - 1])
		length--;
	if (!length)
		return;
	for (size_t i = 0; i < length; i++)
		ret->command[i] = bytes.bytes[i] ? bytes.bytes[i] : ' ';
	ret->command_length = (uint16_t)length;
}

/* --- reading, in the confined thread --- */

struct read_row {
	uint32_t place;
	struct row_subject subject;
	unsigned wanted;
	uint64_t at_ns;
	struct row_files files;
};

struct read_job {
	int directory, fd; /* -1: none */
	size_t count;
	struct read_row rows[];
};

static void close_in_job(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void release_job(void *context)
{
	struct read_job *job = context;

	close_in_job(&job->fd);
	close_in_job(&job->directory);
	free(job);
}

static struct guard *row_guard(void)
{
	static struct guard *guard;

	return process_user_guard(&guard, NS_PER_S / 10);
}

/* False: it cannot be read. */
static bool read_file(struct read_job *job, const char *name, char *bytes, size_t room,
		      struct text *ret)
{
	ssize_t got;

	if (!guard_enter())
		return false;
	job->fd = openat(job->directory, name, O_RDONLY | O_CLOEXEC);
	got = job->fd < 0 ? -1 : read(job->fd, bytes, room);
	guard_leave();
	close_in_job(&job->fd);
	if (got < 0)
		return false;
	*ret = (struct text){ bytes, (size_t)got };
	return true;
}

/* All files are of one process: those of a directory that is open fail when it has ended, whatever
 * has its number then. */
static void read_row(struct read_job *job, struct read_row *row)
{
	char path[64], bytes[1024];
	struct text text;

	if (row->subject.is_process)
		snprintf(path, sizeof(path), "/proc/%" PRIu32, row->subject.tgid);
	else
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32, row->subject.tgid,
			 row->subject.tid);
	if (!guard_enter())
		return;
	job->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	guard_leave();
	if (job->directory < 0)
		return;
	row->at_ns = clock_ns(CLOCK_MONOTONIC);
	if (!read_file(job, "stat", bytes, sizeof(bytes), &text) ||
	    !row_files_parse_stat(text, &row->files))
		row->wanted = 0;
	if (row->wanted & ROW_RATE_FACTS && read_file(job, "io", bytes, sizeof(bytes), &text))
		row_files_parse_io(text, &row->files);
	if (row->wanted & ROW_FACT_BIT(COMMAND) &&
	    read_file(job, "cmdline", bytes, ROW_COMMAND_MAX, &text))
		row_files_take_command(text, &row->files);
	close_in_job(&job->directory);
}

static void read_rows(void *context)
{
	struct read_job *job = context;

	for (size_t i = 0; i < job->count; i++) {
		guard_about(job->rows[i].subject.tgid);
		read_row(job, &job->rows[i]);
	}
}

/* --- what is kept --- */

static struct words key_of(const struct row_subject *subject)
{
	return (struct words){ { subject->is_process ? subject->tgid : subject->tid,
				 subject->is_process } };
}

/* Keep the rows of the last two windows, and rebuild the map. */
static void forget(struct row_reader *reader)
{
	struct word_map places = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < reader->rows.count; i++) {
		struct kept_row *row = &reader->rows.items[i];
		uint32_t *place;

		if (row->window + 1 < reader->window)
			continue;
		place = word_map_at(&places, key_of(&row->facts.subject));
		if (!place)
			break;
		*place = (uint32_t)kept;
		reader->rows.items[kept++] = *row;
	}
	reader->rows.count = kept;
	word_map_deinit(&reader->places);
	reader->places = places;
}

void row_reader_begin(struct row_reader *reader)
{
	reader->window++;
	reader->read = 0;
	if (reader->window % 16 == 0 || reader->rows.count > ROW_READER_ROWS_MAX)
		forget(reader);
}

/* The place of the row; WORD_MAP_NEW without memory. */
static uint32_t place_of(struct row_reader *reader, const struct row_subject *subject)
{
	uint32_t *place = word_map_at(&reader->places, key_of(subject));

	if (!place)
		return WORD_MAP_NEW;
	if (*place == WORD_MAP_NEW) {
		if (!array_push(&reader->rows, (struct kept_row){ .facts.subject = *subject }))
			return WORD_MAP_NEW;
		*place = (uint32_t)reader->rows.count - 1;
	}
	return *place;
}

static void take_io(struct row_reader *reader, struct kept_row *row, const struct read_row *read)
{
	const uint64_t passed = read->at_ns - row->io_at_ns;
	/* One that was not in sight for some windows has no rate of this one. */
	const bool continues = row->io_window && row->io_window + 1 >= reader->window && passed;

	row->facts.known &= ~ROW_RATE_FACTS;
	for (size_t i = 0; i < ROW_RATES; i++) {
		if (continues && read->files.io[i] >= row->io[i]) {
			row->facts.rates[i] = (uint64_t)((double)(read->files.io[i] - row->io[i]) *
							 NS_PER_S / (double)passed);
			row->facts.known |= ROW_FACT_BIT(READ) << i;
		}
		row->io[i] = read->files.io[i];
	}
	row->io_at_ns = read->at_ns;
	row->io_window = reader->window;
}

/* It began after it was seen: another process has the number. */
static bool is_another(const struct read_row *read)
{
	const uint64_t slept = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);

	return read->files.start_ticks > (read->subject.seen_ns + slept) / NS_PER_TICK;
}

static void take_row(struct row_reader *reader, struct kept_row *row, const struct read_row *read)
{
	const struct row_files *files = &read->files;

	if (!files->is_there || is_another(read) || row->start_ticks != files->start_ticks)
		*row = (struct kept_row){ .facts.subject = read->subject,
					  .window = reader->window,
					  .read = row->read };
	if (!files->is_there || is_another(read))
		return;
	row->start_ticks = files->start_ticks;
	row->facts.priority = files->priority;
	row->facts.nice = files->nice;
	row->facts.memory_bytes = files->memory_bytes;
	row->facts.known |= ROW_FACT_BIT(PRIORITY) | ROW_FACT_BIT(NICE) | ROW_FACT_BIT(MEMORY);
	if (files->has_io)
		take_io(reader, row, read);
	else
		row->facts.known &= ~ROW_RATE_FACTS;
	if (!files->has_command)
		return;
	memcpy(row->facts.command, files->command, files->command_length);
	row->facts.command_length = files->command_length;
	row->facts.known |= ROW_FACT_BIT(COMMAND);
	row->command_window = reader->window;
}

/* --- asking --- */

/* What of it has to be read, as it was not in this window. */
static unsigned lacks(const struct row_reader *reader, const struct kept_row *row, unsigned wanted)
{
	if (row->command_window && row->command_window + COMMAND_WINDOWS > reader->window)
		wanted &= ~ROW_FACT_BIT(COMMAND);
	return row->window == reader->window ? wanted & ~row->read : wanted;
}

/* Rows that lack something go into the job. */
static void plan(struct row_reader *reader, struct read_job *job, unsigned wanted,
		 const struct row_subject *subjects, size_t count)
{
	for (size_t i = 0; i < count && reader->read < ROW_READER_ROWS_MAX; i++) {
		const uint32_t place = place_of(reader, &subjects[i]);
		struct kept_row *row;
		unsigned lacking;

		if (place == WORD_MAP_NEW)
			return;
		row = &reader->rows.items[place];
		lacking = lacks(reader, row, wanted);
		/* Also one with a command line that is known: it may be another process. */
		if (!lacking && row->window == reader->window)
			continue;
		if (row->window != reader->window)
			row->read = 0;
		row->window = reader->window;
		row->read |= wanted;
		job->rows[job->count++] = (struct read_row){ .place = place,
							     .subject = subjects[i],
							     .wanted = lacking };
		reader->read++;
	}
}

/* False: what was planned was not read, or not all of it. */
static bool run(struct read_job *job)
{
	struct guard *guard = row_guard();

	return guard && guard_run(guard, read_rows, job, release_job);
}

static void give(struct row_reader *reader, unsigned wanted, const struct row_subject *subject,
		 struct row_facts *ret)
{
	const uint32_t place = word_map_find(&reader->places, key_of(subject));
	const struct kept_row *row = place == WORD_MAP_NEW ? NULL : &reader->rows.items[place];

	if (row && row->window == reader->window)
		*ret = row->facts;
	else
		ret->known = 0;
	ret->subject = *subject;
	ret->known &= wanted;
}

void row_reader_read(struct row_reader *reader, unsigned wanted, const struct row_subject *subjects,
		     size_t count, struct row_facts *ret)
{
	const size_t left = ROW_READER_ROWS_MAX - reader->read, most = count < left ? count : left;
	struct read_job *job = malloc(sizeof(*job) + most * sizeof(*job->rows));

	if (job) {
		job->directory = job->fd = -1;
		job->count = 0;
		plan(reader, job, wanted, subjects, count);
	}
	if (job && (!job->count || run(job))) {
		for (size_t i = 0; i < job->count; i++)
			take_row(reader, &reader->rows.items[job->rows[i].place], &job->rows[i]);
		release_job(job);
	}
	for (size_t i = 0; i < count; i++)
		give(reader, wanted, &subjects[i], &ret[i]);
}
