/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/open_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "os/pairs.h"
#include "os/socket_table.h"
#include "state/wait.h"
#include "top/glance.h"

/* Threads whose calls are looked at, files of one poll(2), and Unix sockets that the kernel is
 * asked for. */
#define THREADS_MOST 32
#define POLLED_MOST  64
#define UNIX_MOST    256
#define ROWS         10

/* --- descriptors --- */

static int by_number(const void *a, const void *b)
{
	const struct open_file *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static void sort_files(struct open_files *files, int (*order)(const void *, const void *))
{
	if (files->count)
		qsort(files->items, files->count, sizeof(*files->items), order);
}

static struct open_file *find_file(struct open_files *files, uint32_t number)
{
	const struct open_file key = { .number = number };

	return files->count ? bsearch(&key, files->items, files->count, sizeof(key), by_number)
			    : NULL;
}

/* A descriptor that is waited at. Its number may be beyond those that are read. */
static void add_awaited(struct open_files *files, uint32_t number, bool is_polled)
{
	struct open_file *file = find_file(files, number);

	if (!file) {
		if (!array_push(files, (struct open_file){ .number = number }))
			return;
		sort_files(files, by_number);
		file = find_file(files, number);
	}
	file->is_awaited |= !is_polled;
	file->is_polled |= is_polled;
}

static void add_polled(struct glance *glance, struct open_files *files, uint32_t tid,
		       const struct task_call *call)
{
	struct {
		int32_t number;
		int16_t events, returned;
	} polled[POLLED_MOST];
	const uint64_t count =
		call->arguments[1] < POLLED_MOST ? call->arguments[1] : (uint64_t)POLLED_MOST;
	const size_t size = count * sizeof(*polled);

	if (!count || glance_memory(glance, tid, call->arguments[0], polled, size) != size)
		return;
	for (size_t i = 0; i < count; i++)
		if (polled[i].number >= 0)
			add_awaited(files, (uint32_t)polled[i].number, count > 1);
}

/* The sets of select(2) that wait for something to read or room to write. */
static void add_selected(struct glance *glance, struct open_files *files, uint32_t tid,
			 const struct task_call *call)
{
	uint64_t words[FD_SETSIZE / 64];
	const uint64_t bits = call->arguments[0] < FD_SETSIZE ? call->arguments[0] : FD_SETSIZE;
	const size_t size = (bits + 63) / 64 * sizeof(*words);

	for (size_t set = 1; set <= 2 && bits; set++) {
		size_t added = 0;

		if (!call->arguments[set] ||
		    glance_memory(glance, tid, call->arguments[set], words, size) != size)
			continue;
		for (uint32_t i = 0; i < bits && added < POLLED_MOST; i++)
			if (words[i / 64] >> i % 64 & 1) {
				add_awaited(files, i, true);
				added++;
			}
	}
}

/* "tfd:        5 events:       19 data: ..." lines of an epoll file. */
static void add_watched(struct glance *glance, struct open_files *files, uint32_t tid,
			uint32_t number)
{
	struct text rest = glance_file(glance, "%" PRIu32 "/fdinfo/%" PRIu32, tid, number);
	struct text key, value, word;
	size_t added = 0;
	uint32_t watched;

	while (added < POLLED_MOST && pairs_next(&rest, ':', &key, &value)) {
		if (!text_equal(key, TEXT("tfd")) || !text_word(&value, &word) ||
		    !text_u32(word, &watched))
			continue;
		add_awaited(files, watched, true);
		added++;
	}
}

static void add_files_of_call(struct glance *glance, struct open_files *files, uint32_t tid)
{
	const struct task_call call =
		task_call_parse(glance_file(glance, "%" PRIu32 "/syscall", tid));
	uint32_t number;

	if (call.kind != TASK_CALL_IN || call.number < 0)
		return;
	switch (call.number < WAIT_SYSCALLS ? wait_kinds[call.number] : WAIT_OTHER) {
	case WAIT_POLL:
		add_polled(glance, files, tid, &call);
		return;
	case WAIT_SELECT:
		add_selected(glance, files, tid, &call);
		return;
	case WAIT_EPOLL:
		add_watched(glance, files, tid, (uint32_t)call.arguments[0]);
		add_awaited(files, (uint32_t)call.arguments[0], false);
		return;
	default:
		if (glance_call_file(&call, &number))
			add_awaited(files, number, false);
	}
}

/* The numbers of a directory of descriptors, which the kernel lists in their order: the first. */
static void list_descriptors(struct glance *glance, uint32_t tid, struct open_files *files)
{
	const size_t awaited = files->count;
	struct stat status;
	struct dirent *entry;
	char path[48];
	DIR *dir;
	uint32_t number;

	snprintf(path, sizeof(path), "%" PRIu32 "/fd", tid);
	errno = EAGAIN;
	if (!glance_open(glance, path, O_DIRECTORY)) {
		files->failed = errno;
		return;
	}
	/* Kernels from 6.2 on tell how many there are (proc_fd_getattr() in fs/proc/fd.c). */
	if (!fstat(glance->fd, &status) && status.st_size > 0)
		files->total = (size_t)status.st_size;
	dir = fdopendir(glance->fd);
	if (!dir) {
		files->failed = errno;
		return;
	}
	glance->fd = -1;
	while ((entry = readdir(dir))) {
		const struct open_file key = { 0 };

		if (!text_u32(text_of(entry->d_name), &number))
			continue;
		if (files->count >= OPEN_FILES_MOST) {
			files->is_cut = true;
			break;
		}
		/* Those that are waited at are at the begin, and in order. */
		if (awaited && bsearch(&(struct open_file){ .number = number }, files->items,
				       awaited, sizeof(key), by_number))
			continue;
		if (!array_push(files, (struct open_file){ .number = number }))
			break;
	}
	closedir(dir);
	if (!files->is_cut)
		files->total = files->count;
	sort_files(files, by_number);
}

static void name_file(struct glance *glance, uint32_t tid, struct open_file *file)
{
	file->kind = OPEN_OTHER;
	glance_descriptor(glance, tid, file->number, file->what, sizeof(file->what), &file->kind,
			  &file->inode);
}

/* --- sockets --- */

static int by_inode(const void *a, const void *b)
{
	const struct open_file *left = a, *right = b;

	return (left->inode > right->inode) - (left->inode < right->inode);
}

static void describe_socket(struct open_file *file, const char *protocol,
			    const struct socket_line *line)
{
	char local[SOCKET_ADDRESS_MAX], peer[SOCKET_ADDRESS_MAX];

	file->is_known = true;
	file->is_listener = line->state == SOCKET_LISTENS;
	file->bytes_out = file->is_listener ? 0 : line->bytes_out;
	file->bytes_in = line->bytes_in;
	socket_address_print(&line->local, local);
	socket_address_print(&line->peer, peer);
	if (line->peer.port)
		snprintf(file->what, sizeof(file->what), "%s %s to %s", protocol, local, peer);
	else
		snprintf(file->what, sizeof(file->what), "%s %s", protocol, local);
}

/* Several descriptors may be one socket. */
static void take_socket(struct open_files *files, const char *protocol,
			const struct socket_line *line)
{
	const struct open_file key = { .inode = line->inode };
	struct open_file *file, *end = files->items + files->count;

	file = line->inode ? bsearch(&key, files->items, files->count, sizeof(key), by_inode)
			   : NULL;
	while (file && file > files->items && file[-1].inode == line->inode)
		file--;
	for (; file && file < end && file->inode == line->inode; file++)
		if (file->kind == OPEN_SOCKET)
			describe_socket(file, protocol, line);
}

static void find_sockets(struct glance *glance, uint32_t tid, struct open_files *files)
{
	static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6" };
	struct socket_line line;
	bool has_sockets = false;

	for (size_t i = 0; i < files->count; i++)
		has_sockets |= files->items[i].kind == OPEN_SOCKET;
	if (!has_sockets)
		return;
	sort_files(files, by_inode);
	for (size_t i = 0; i < array_length(tables); i++) {
		struct text rest = glance_file(glance, "%" PRIu32 "/net/%s", tid, tables[i]);
		const char protocol[] = { tables[i][0], tables[i][1], tables[i][2], '\0' };

		while (socket_table_next(&rest, &line))
			take_socket(files, protocol, &line);
	}
}

/* Not in the confined thread, which may not ask the kernel. */
static void find_unix_sockets(const struct wait_look *look, struct open_files *files)
{
	struct unix_socket socket, peer;
	size_t asked = 0;

	for (size_t i = 0; i < files->count && asked < UNIX_MOST; i++) {
		struct open_file *file = &files->items[i];
		const char *name;

		if (file->kind != OPEN_SOCKET || file->is_known)
			continue;
		if (clock_ns(CLOCK_MONOTONIC) >= look->until_ns)
			return;
		asked++;
		if (!unix_socket_find(file->inode, &socket))
			continue;
		name = socket.name;
		/* The side that connected has no name; that of the other says what it is. */
		if (!*name && socket.peer && unix_socket_find(socket.peer, &peer))
			name = peer.name;
		file->is_known = true;
		file->is_listener = socket.is_listener;
		file->bytes_in = socket.bytes_in;
		snprintf(file->what, sizeof(file->what), *name ? "unix %.120s" : "a Unix socket",
			 name);
		text_make_safe(file->what);
	}
}

/* --- their order --- */

static unsigned rank_of(const struct open_file *file)
{
	static const unsigned ranks[] = {
		[OPEN_PATH] = 3,
		[OPEN_SOCKET] = 4,
		[OPEN_PIPE] = 5,
		[OPEN_OTHER] = 6,
	};

	if (file->is_awaited)
		return 0;
	if (file->bytes_in || file->bytes_out)
		return 1;
	return file->is_polled ? 2 : ranks[file->kind];
}

static int by_importance(const void *a, const void *b)
{
	const struct open_file *left = a, *right = b;
	const unsigned ranks[] = { rank_of(left), rank_of(right) };
	const uint64_t queued[] = { left->bytes_in + left->bytes_out,
				    right->bytes_in + right->bytes_out };

	if (ranks[0] != ranks[1])
		return ranks[0] < ranks[1] ? -1 : 1;
	if (queued[0] != queued[1])
		return queued[0] > queued[1] ? -1 : 1;
	return by_number(left, right);
}

/* --- all of it --- */

static void read_files(void *context)
{
	struct glance *glance = context;
	struct open_files *files = &glance->files;
	const uint32_t tid = glance->tid;
	size_t named = 0;

	guard_about(tid);
	for (size_t i = 0; i < glance->tids.count; i++)
		add_files_of_call(glance, files, glance->tids.items[i]);
	list_descriptors(glance, tid, files);
	/* Those that were closed meanwhile, or not read in time, have no name. */
	for (size_t i = 0; i < files->count; i++) {
		name_file(glance, tid, &files->items[i]);
		if (files->items[i].what[0])
			files->items[named++] = files->items[i];
	}
	files->count = named;
	if (!files->is_cut && !glance->is_late)
		files->total = named;
	find_sockets(glance, tid, files);
	files->is_cut |= glance->is_late;
	glance->found = true;
}

static void read_infos(void *context)
{
	struct glance *glance = context;
	struct open_files *files = &glance->files;
	struct text bytes, value, digits;
	uint64_t number;

	guard_about(glance->tid);
	for (size_t i = 0; i < files->count && i < ROWS; i++) {
		struct open_file *file = &files->items[i];

		bytes = glance_file(glance, "%" PRIu32 "/fdinfo/%" PRIu32, glance->tid,
				    file->number);
		if (!pairs_find(bytes, ':', TEXT("pos"), &value) || !text_u64(value, &file->offset))
			continue;
		if (!pairs_find(bytes, ':', TEXT("flags"), &value))
			continue;
		digits = value;
		for (number = 0; digits.length && digits.bytes[0] >= '0' && digits.bytes[0] <= '7';
		     digits.bytes++, digits.length--)
			number = number << 3 | (unsigned)(digits.bytes[0] - '0');
		file->flags = (int)number;
		file->has_info = true;
	}
	glance->found = true;
}

bool open_files_read(struct wait_look *look, const uint32_t *tids, size_t count,
		     struct open_files *ret)
{
	struct glance *glance = count ? glance_create(look, tids[0]) : NULL;

	*ret = (struct open_files){ 0 };
	if (!glance)
		return false;
	for (size_t i = 0; i < count && i < THREADS_MOST; i++)
		if (!array_push(&glance->tids, tids[i]))
			break;
	if (!glance_do(glance, read_files))
		return false;
	find_unix_sockets(look, &glance->files);
	sort_files(&glance->files, by_importance);
	if (!glance_do(glance, read_infos))
		return false;
	*ret = glance->files;
	glance->files = (struct open_files){ 0 };
	glance_destroy(glance);
	return true;
}

void open_files_deinit(struct open_files *files)
{
	array_deinit(files);
}

/* --- in words --- */

static const char *mode_of(const struct open_file *file)
{
	static const char *const modes[] = { "r", "w", "rw", "-" };

	return file->has_info ? modes[file->flags & O_ACCMODE] : "-";
}

static void print_flags(const struct open_file *file, FILE *out)
{
	static const struct {
		int flag;
		const char *word;
	} words[] = {
		{ O_APPEND, "append" },
		{ O_NONBLOCK, "nonblock" },
		{ O_DIRECT, "direct" },
		{ O_SYNC & ~O_DSYNC, "sync" },
	};

	for (size_t i = 0; i < array_length(words) && file->has_info; i++)
		if (file->flags & words[i].flag)
			fprintf(out, ", %s", words[i].word);
}

static void print_file(const struct open_file *file, FILE *out)
{
	char text[UNITS_TEXT_MAX];
	const bool has_offset = file->has_info && file->kind == OPEN_PATH;

	fprintf(out, "%c%7" PRIu32 "  %-4s  %10s  %s",
		file->is_awaited || file->is_polled ? '*' : ' ', file->number, mode_of(file),
		has_offset ? units_format(text, UNIT_BYTES, (__int128)file->offset) : "-",
		file->what);
	if (file->is_listener)
		fprintf(out, ", listening, %" PRIu64 " to accept", file->bytes_in);
	else if (file->bytes_in)
		fprintf(out, ", %s to read",
			units_format(text, UNIT_BYTES, (__int128)file->bytes_in));
	if (file->bytes_out)
		fprintf(out, ", %s to send",
			units_format(text, UNIT_BYTES, (__int128)file->bytes_out));
	print_flags(file, out);
	fputc('\n', out);
}

void open_files_print(const struct open_files *files, FILE *out)
{
	const size_t shown = files->count < ROWS ? files->count : ROWS;

	if (files->failed && files->failed != ENOENT) {
		fprintf(out, "\n## Open files\nnot read: %s\n",
			files->failed == EAGAIN ? "no answer in time" : strerror(files->failed));
		return;
	}
	if (!files->count)
		return;
	fputs("\n## Open files (*: a thread waits at it)\n", out);
	fprintf(out, " %7s  %-4s  %10s  %s\n", "FD", "MODE", "OFFSET", "FILE");
	for (size_t i = 0; i < shown; i++)
		print_file(&files->items[i], out);
	if (files->total > shown)
		fprintf(out, "... %zu more%s\n", files->total - shown,
			files->is_cut ? ", not all of which were looked at" : "");
	else if (files->is_cut)
		fputs("... and more\n", out);
}
