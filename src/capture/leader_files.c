/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/leader_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/worker_pool.h"
#include "os/process_user.h"

/* Fewer processes are not worth a thread each. */
#define PROCESSES_PER_READER 8

/* Faster readings are not charged. */
#define SLOW_NS (NS_PER_S / 20)

/* A longer read may hang. Reading the memory map of a database takes a second. */
#define HANGS_NS (3 * NS_PER_S)

/* Slow readings of a user's processes may take half a minute, and a tenth of the time from then on:
 * a hundred databases are read, a thousand processes that all answer late are not. */
#define USER_PART       10
#define USER_ADVANCE_NS (USER_PART * 30 * NS_PER_S)

struct one_file {
	int failed;
	char *bytes;
	size_t length;
};

enum reading {
	READING_WAITS,
	READING_RUNS,    /* or hangs */
	READING_DONE,    /* its files may be read */
	READING_SKIPPED, /* a reader hangs in one of the same user, or its share is used up */
};

struct one_process {
	uint32_t tgid;
	_Atomic enum reading state;
	_Atomic uint64_t begun_ns;
	uint64_t cost_ns;         /* of READING_DONE */
	bool is_slow, is_charged; /* seen by the waiting thread */
	struct one_file files[LEADER_FILE_COUNT];
};

struct leader_files {
	struct worker_pool workers;
	struct leader_hangs *hangs; /* used by the waiting thread only */
	int proc;
	unsigned wanted;
	_Atomic size_t next;
	size_t count;
	bool has_spare; /* a reader that is started when the caller waits */
	bool late;      /* the time was over before all had read */
	struct one_process processes[];
};

/* --- reading --- */

static int read_one(int dir, enum leader_file which, struct file_buffer *buffer, struct text *ret)
{
	switch (which) {
	case LEADER_SMAPS:
		return file_read_record(dir, "smaps_rollup", buffer, ret);
	case LEADER_EXE:
		return file_readlink(dir, "exe", buffer, ret);
	default:
		return file_read_head(dir, "cmdline", LEADER_CMDLINE_MAX, buffer, ret);
	}
}

static void read_files(const struct leader_files *files, struct file_buffer *buffer,
		       struct one_process *process)
{
	char path[16];
	int dir, failed;

	snprintf(path, sizeof(path), "%" PRIu32, process->tgid);
	dir = openat(files->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	failed = dir >= 0 ? 0 : errno == ENOENT ? ESRCH : errno;
	for (enum leader_file which = 0; which < LEADER_FILE_COUNT; which++) {
		struct one_file *file = &process->files[which];
		struct text bytes = TEXT("");

		file->failed = failed;
		if (failed || !(files->wanted >> which & 1))
			continue;
		file->failed = read_one(dir, which, buffer, &bytes);
		if (file->failed || !bytes.length)
			continue;
		file->bytes = malloc(bytes.length);
		if (!file->bytes) {
			file->failed = ENOMEM;
			continue;
		}
		memcpy(file->bytes, bytes.bytes, bytes.length);
		file->length = bytes.length;
	}
	if (dir >= 0)
		close(dir);
}

static void leave_files(struct leader_files *files)
{
	if (!worker_pool_leave(&files->workers))
		return;
	for (size_t i = 0; i < files->count; i++)
		for (enum leader_file which = 0; which < LEADER_FILE_COUNT; which++)
			free(files->processes[i].files[which].bytes);
	if (files->proc >= 0)
		close(files->proc);
	free(files);
}

/* False: it is skipped. */
static bool begin_reading(struct one_process *process)
{
	enum reading waits = READING_WAITS;

	atomic_store(&process->begun_ns, clock_ns(CLOCK_MONOTONIC));
	return atomic_compare_exchange_strong(&process->state, &waits, READING_RUNS);
}

static void read_some(struct leader_files *files)
{
	struct file_buffer buffer = { 0 };
	size_t i;

	while (!atomic_load(&files->workers.stop) &&
	       (i = atomic_fetch_add(&files->next, 1)) < files->count) {
		struct one_process *process = &files->processes[i];

		if (!begin_reading(process))
			continue;
		read_files(files, &buffer, process);
		process->cost_ns = clock_ns(CLOCK_MONOTONIC) - process->begun_ns;
		atomic_store(&process->state, READING_DONE);
		worker_pool_step(&files->workers);
	}
	file_buffer_deinit(&buffer);
}

static void *reader(void *argument)
{
	struct leader_files *files = argument;

	read_some(files);
	worker_pool_finish(&files->workers);
	leave_files(files);
	return NULL;
}

/* --- starting --- */

static unsigned readers_for(size_t count)
{
	const unsigned cpus = cpus_allowed();
	const unsigned most = cpus < LEADER_READERS_MAX ? cpus : LEADER_READERS_MAX;

	return count / PROCESSES_PER_READER < most ? (unsigned)(count / PROCESSES_PER_READER) + 1
						   : most;
}

static struct error *start_readers(struct leader_files *files, unsigned most)
{
	unsigned started = 0, wanted = readers_for(files->count);

	if (wanted > most)
		wanted = most;
	/* One CPU is left to the caller, until it waits. */
	files->has_spare = wanted > 1;
	wanted -= files->has_spare;
	while (started < wanted && worker_pool_start(&files->workers, reader, files))
		started++;
	return started ? NULL : thread_missing("read processes");
}

/* --- hanging readers --- */

/* Forget those that came back, and count the others. */
static unsigned count_hanging(struct leader_hangs *hangs)
{
	unsigned hanging = 0;
	size_t kept = 0;

	for (size_t i = 0; i < hangs->count; i++) {
		unsigned readers = worker_pool_workers(&hangs->items[i]->workers);

		if (readers)
			hangs->items[kept++] = hangs->items[i];
		else
			leave_files(hangs->items[i]);
		hanging += readers;
	}
	hangs->count = kept;
	return hanging;
}

static uint64_t subject_of(const struct leader_hangs *hangs, uint32_t tgid)
{
	return hangs->subject_of ? hangs->subject_of(tgid) : process_user_subject(tgid);
}

static void skip_one(struct one_process *process)
{
	enum reading waits = READING_WAITS;

	atomic_compare_exchange_strong(&process->state, &waits, READING_SKIPPED);
}

/* Skip the user's processes that are not begun. */
static void skip_user(struct leader_files *files, const struct leader_hangs *hangs,
		      uint64_t subject)
{
	for (size_t i = 0; i < files->count; i++) {
		struct one_process *process = &files->processes[i];

		if (atomic_load(&process->state) == READING_WAITS &&
		    subject_of(hangs, process->tgid) == subject)
			skip_one(process);
	}
}

/* Skip a process on which another reader hangs: this reader would hang, too. */
static void skip_hanging(struct leader_files *files, const struct leader_hangs *hangs)
{
	for (size_t i = 0; i < hangs->count; i++) {
		struct leader_files *earlier = hangs->items[i];

		for (size_t k = 0; k < earlier->count; k++)
			if (atomic_load(&earlier->processes[k].state) == READING_RUNS)
				skip_user(files, hangs,
					  subject_of(hangs, earlier->processes[k].tgid));
	}
}

static void skip_slow(struct leader_files *files, const struct leader_hangs *hangs)
{
	if (!time_shares_any_used_up(&hangs->shares))
		return;
	for (size_t i = 0; i < files->count; i++)
		if (time_shares_used_up(&hangs->shares,
					subject_of(hangs, files->processes[i].tgid)))
			skip_one(&files->processes[i]);
}

static void remember_hanging(struct leader_files *files, struct leader_hangs *hangs)
{
	if (worker_pool_workers(&files->workers) && array_push(hangs, files))
		worker_pool_join(&files->workers);
}

void leader_hangs_deinit(struct leader_hangs *hangs)
{
	for (size_t i = 0; i < hangs->count; i++)
		leave_files(hangs->items[i]);
	array_deinit(hangs);
	time_shares_deinit(&hangs->shares);
}

/* --- all of it --- */

struct error *leader_files_start(int proc, const uint32_t *tgids, size_t count, unsigned wanted,
				 struct leader_hangs *hangs, struct leader_files **ret)
{
	struct leader_files *files =
		calloc(1, sizeof(*files) + count * sizeof(files->processes[0]));
	unsigned hanging = count_hanging(hangs);
	struct error *err;

	if (!files)
		return &error_no_memory;
	worker_pool_init(&files->workers);
	files->count = count;
	files->wanted = wanted;
	for (size_t i = 0; i < count; i++)
		files->processes[i].tgid = tgids[i];
	files->hangs = hangs;
	if (!hangs->shares.advance_ns)
		hangs->shares.advance_ns = USER_ADVANCE_NS;
	skip_hanging(files, hangs);
	skip_slow(files, hangs);
	/* A descriptor of its own, since readers may outlive the caller's. */
	files->proc = fcntl(proc, F_DUPFD_CLOEXEC, 0);
	err = files->proc < 0 ? error_system(errno, "/proc") : NULL;
	if (!err && count && wanted && hanging < LEADER_HANGING_MAX)
		err = start_readers(files, LEADER_HANGING_MAX - hanging);
	if (err) {
		leave_files(files);
		return err;
	}
	*ret = files;
	return NULL;
}

/* --- slow processes --- */

static void charge(struct leader_files *files, struct one_process *process, uint64_t cost_ns)
{
	struct leader_hangs *hangs = files->hangs;
	const uint64_t subject = subject_of(hangs, process->tgid);

	process->is_charged = true;
	time_shares_charge(&hangs->shares, subject, cost_ns, USER_PART);
	if (time_shares_used_up(&hangs->shares, subject))
		skip_user(files, hangs, subject);
}

/* Returns whether its reader may hang, which was not known before. */
static bool look_at(struct leader_files *files, struct one_process *process, uint64_t now_ns)
{
	switch (atomic_load(&process->state)) {
	case READING_DONE:
		if (process->cost_ns > SLOW_NS && !process->is_charged)
			charge(files, process, process->cost_ns);
		return false;
	case READING_RUNS:
		if (process->is_slow || now_ns < atomic_load(&process->begun_ns) + HANGS_NS)
			return false;
		process->is_slow = true;
		skip_user(files, files->hangs, subject_of(files->hangs, process->tgid));
		return true;
	default:
		return false;
	}
}

/* Another reader for each that may hang. */
static void look_at_all(void *context)
{
	struct leader_files *files = context;
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	unsigned slow = 0;

	for (size_t i = 0; i < files->count; i++)
		slow += look_at(files, &files->processes[i], now_ns);
	while (slow-- && count_hanging(files->hangs) + worker_pool_workers(&files->workers) <
				 LEADER_HANGING_MAX + LEADER_READERS_MAX)
		worker_pool_start(&files->workers, reader, files);
}

/* Also charge processes whose readers were abandoned. */
static void settle_charges(struct leader_files *files)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < files->count; i++) {
		struct one_process *process = &files->processes[i];

		look_at(files, process, now_ns);
		if (process->is_slow && !process->is_charged)
			charge(files, process, now_ns - atomic_load(&process->begun_ns));
	}
}

void leader_files_wait(struct leader_files *files, uint64_t deadline_ns, struct leader_hangs *hangs)
{
	bool done;

	if (files->has_spare && atomic_load(&files->next) < files->count)
		worker_pool_start(&files->workers, reader, files);
	files->has_spare = false;
	files->workers.look = look_at_all;
	files->workers.look_context = files;
	done = worker_pool_wait(&files->workers, deadline_ns);
	settle_charges(files);
	files->late = !done && deadline_ns && clock_ns(CLOCK_MONOTONIC) >= deadline_ns;
	remember_hanging(files, hangs);
}

static const struct one_process *find_files(const struct leader_files *files, uint32_t tgid)
{
	return files && files->count ? bsearch(&tgid, files->processes, files->count,
					       sizeof(*files->processes), compare_u32)
				     : NULL;
}

bool leader_files_has(const struct leader_files *files, uint32_t tgid)
{
	return find_files(files, tgid) != NULL;
}

struct leader_file_bytes leader_file(const struct leader_files *files, uint32_t tgid,
				     enum leader_file which)
{
	const struct one_process *process = find_files(files, tgid);
	const struct one_file *file;

	if (!process || !(files->wanted >> which & 1))
		return (struct leader_file_bytes){ .failed = ENOENT };
	switch (atomic_load(&process->state)) {
	case READING_DONE:
		break;
	case READING_SKIPPED:
		return (struct leader_file_bytes){ .failed = ETIMEDOUT };
	default:
		return (struct leader_file_bytes){ .failed = files->late ? ECANCELED : ETIMEDOUT };
	}
	file = &process->files[which];
	return (struct leader_file_bytes){
		.failed = file->failed,
		.bytes = { file->bytes ? file->bytes : "", file->length },
	};
}

void leader_files_close(struct leader_files *files)
{
	if (!files)
		return;
	atomic_store(&files->workers.stop, true);
	leave_files(files);
}
