/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "base/own_dir.h"

#define WRITABLE_BY_OTHER 022
#define BLOCK             UINT64_C(4096)
#define NEW_NAME          "new"
#define NEW_ID            0 /* of no request */
#define SUFFIX            ".request"
#define ID_DIGITS         20
#define NAME_SIZE         (ID_DIGITS + sizeof(SUFFIX))
/* Files that could not be removed are tried again, so many at each removal. */
#define TRIES_MOST 8
/* Names in a folder that are looked at. */
#define NAMES_MOST (4 * SPOOL_FILES_MOST)

struct entry {
	uint64_t id, bytes;
};

struct folder {
	const char *name; /* its own, by which files in it are known */
	const char *sink; /* that of its sink, in losses */
	int dir;
	size_t held; /* so many of the first entries are not dropped */
	struct {
		ARRAY(struct entry); /* by id */
	} entries;
};

/* A file that could not be removed: of a request that has arrived or was counted. */
struct left_file {
	const struct folder *folder;
	uint64_t id, bytes;
};

struct spool {
	char *path;
	int dir;
	uint64_t most, bytes, next_id;
	size_t files, strange_folders;
	struct losses losses;
	bool is_dirty; /* the losses have to be written */
	struct {
		ARRAY(struct left_file);
	} left;           /* also named by the file of losses */
	size_t next_left; /* to be tried */
	int left_errnum;  /* why the last one could not be removed; 0: none since it was taken */
	size_t folder_count;
	char start[REQUEST_HEADER_MOST]; /* of a file */
	struct folder folders[];
};

/* --- names --- */

static void name_of(uint64_t id, char ret[NAME_SIZE])
{
	if (id == NEW_ID)
		strcpy(ret, NEW_NAME);
	else
		snprintf(ret, NAME_SIZE, "%0*" PRIu64 SUFFIX, ID_DIGITS, id);
}

static bool id_of(const char *name, uint64_t *ret)
{
	const struct text text = text_of(name);

	return text.length == NAME_SIZE - 1 && text_ends(text, TEXT(SUFFIX)) &&
	       text_u64((struct text){ name, ID_DIGITS }, ret) && *ret && *ret < UINT64_MAX;
}

static uint64_t blocks_of(uint64_t length)
{
	return (length + BLOCK - 1) / BLOCK * BLOCK;
}

/* A regular file of this user with one name, as only this process makes them. Opening it has no
 * effect and does not wait. */
static int open_file(const struct folder *folder, const char *name, struct stat *ret)
{
	const int fd = openat(folder->dir, name,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstat(fd, ret) && S_ISREG(ret->st_mode) && ret->st_uid == geteuid())
		return fd;
	close(fd);
	errno = EBADMSG;
	return -1;
}

/* --- losses --- */

static void count_loss(struct spool *spool, const struct folder *folder, struct text what,
		       const char *why, uint64_t count)
{
	/* Without memory the number is lost. */
	if (count && losses_add(&spool->losses, folder->sink, what, why, count))
		spool->is_dirty = true;
}

/* Count what the header of an open file says is in it, but at most `most`. */
static void count_file(struct spool *spool, const struct folder *folder, int fd, const char *why,
		       uint64_t most)
{
	struct request_header header;

	if (fd >= 0 && request_header_read(fd, spool->start, &header))
		count_loss(spool, folder, header.what, why,
			   header.count < most ? header.count : most);
	else
		count_loss(spool, folder, TEXT("requests"), "damaged", 1);
}

/* Write the losses and the files that are left, and one that is removed next (NULL: none). On a
 * disk that is full this fails until something has been removed. */
static void write_losses_before(struct spool *spool, const struct folder *folder, uint64_t id)
{
	struct error *err;

	if (folder)
		spool->is_dirty |= losses_add_removal(&spool->losses, folder->name, id);
	for (size_t i = 0; spool->is_dirty && i < spool->left.count; i++)
		if (!losses_add_removal(&spool->losses, spool->left.items[i].folder->name,
					spool->left.items[i].id))
			break;
	err = spool->is_dirty ? losses_write(&spool->losses, spool->dir) : NULL;
	losses_forget_removals(&spool->losses);
	if (!err)
		spool->is_dirty = false;
	error_destroy(err);
}

static void write_losses(struct spool *spool)
{
	write_losses_before(spool, NULL, 0);
}

/* --- removing --- */

/* False: the file is still there. */
static bool unlink_file(const struct folder *folder, uint64_t id)
{
	char name[NAME_SIZE];

	name_of(id, name);
	return !unlinkat(folder->dir, name, 0) || errno == ENOENT;
}

/* Keep in mind that a file is left. Its bytes go on counting. */
static void keep_left(struct spool *spool, const struct folder *folder, uint64_t id, uint64_t bytes)
{
	const int errnum = errno;

	/* Without memory it is forgotten, and read again at the next start. */
	if (!array_push(&spool->left, ((struct left_file){ folder, id, bytes })))
		return;
	spool->left_errnum = errnum;
	spool->bytes += bytes;
	spool->files++;
	spool->is_dirty = true;
}

/* Try again to remove the file with this index among those that are left. */
static bool try_left(struct spool *spool, size_t index)
{
	struct left_file *left = &spool->left.items[index];

	if (!unlink_file(left->folder, left->id)) {
		spool->left_errnum = errno;
		return false;
	}
	spool->bytes -= left->bytes;
	spool->files--;
	spool->is_dirty = true;
	*left = spool->left.items[--spool->left.count];
	return true;
}

/* Try some of the files that are left. */
static void remove_left(struct spool *spool)
{
	size_t tries = spool->left.count < TRIES_MOST ? spool->left.count : TRIES_MOST;

	for (; tries; tries--) {
		if (spool->next_left >= spool->left.count)
			spool->next_left = 0;
		if (!try_left(spool, spool->next_left))
			spool->next_left++;
	}
}

/* A file NEW_NAME that is left must no longer be named by the file of losses when there is another
 * one. */
static void remove_left_new(struct spool *spool, const struct folder *folder)
{
	for (size_t i = 0; i < spool->left.count; i++)
		if (spool->left.items[i].folder == folder && spool->left.items[i].id == NEW_ID) {
			if (try_left(spool, i))
				write_losses(spool);
			return;
		}
}

static void forget(struct spool *spool, struct folder *folder, size_t index)
{
	spool->bytes -= folder->entries.items[index].bytes;
	spool->files--;
	folder->entries.count--;
	memmove(&folder->entries.items[index], &folder->entries.items[index + 1],
		(folder->entries.count - index) * sizeof(struct entry));
	folder->held -= index < folder->held;
}

/* There is room for it in the array. */
static void append(struct spool *spool, struct folder *folder, struct entry entry)
{
	folder->entries.items[folder->entries.count++] = entry;
	spool->bytes += entry.bytes;
	spool->files++;
}

/* Remove a file and its entry. False: the file is left. */
static bool remove_entry(struct spool *spool, struct folder *folder, size_t index)
{
	const struct entry entry = folder->entries.items[index];
	bool is_removed;

	remove_left(spool);
	forget(spool, folder, index);
	is_removed = unlink_file(folder, entry.id);
	if (!is_removed)
		keep_left(spool, folder, entry.id, entry.bytes);
	return is_removed;
}

/* Count a request, then remove its file. False: the file is left. */
static bool drop(struct spool *spool, struct folder *folder, size_t index, const char *why,
		 uint64_t most)
{
	const uint64_t id = folder->entries.items[index].id;
	char name[NAME_SIZE];
	struct stat st;
	int fd;

	name_of(id, name);
	fd = open_file(folder, name, &st);
	count_file(spool, folder, fd, why, most);
	if (fd >= 0)
		close(fd);
	write_losses_before(spool, folder, id);
	return remove_entry(spool, folder, index);
}

static bool is_writable(const struct folder *folder)
{
	return !faccessat(folder->dir, ".", W_OK | X_OK, AT_EACCESS);
}

/* The folder with the oldest request that may be dropped, and whose files can be removed; NULL:
 * there is none. */
static struct folder *find_oldest(struct spool *spool)
{
	struct folder *oldest = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < spool->folder_count; i++) {
		struct folder *folder = &spool->folders[i];

		if (folder->entries.count <= folder->held ||
		    folder->entries.items[folder->held].id >= least || !is_writable(folder))
			continue;
		least = folder->entries.items[folder->held].id;
		oldest = folder;
	}
	return oldest;
}

static bool drop_oldest(struct spool *spool, const char *why)
{
	struct folder *folder = find_oldest(spool);

	/* One that cannot be removed makes no room: others are not dropped in vain. */
	return folder && drop(spool, folder, folder->held, why, SPOOL_ALL);
}

/* Drop the oldest requests until so many bytes are free within the limits. */
static bool make_room(struct spool *spool, uint64_t bytes)
{
	remove_left(spool);
	if (bytes > spool->most)
		return false;
	while (spool->bytes > spool->most - bytes || spool->files >= SPOOL_FILES_MOST)
		if (!drop_oldest(spool, "spool full"))
			return false;
	return true;
}

/* The disk is full: make room for so many bytes on it. */
static bool make_room_on_disk(struct spool *spool, uint64_t bytes)
{
	uint64_t freed = 0;

	while (freed < bytes) {
		const uint64_t before = spool->bytes;

		if (!drop_oldest(spool, "disk full"))
			return freed > 0;
		freed += before - spool->bytes;
	}
	return true;
}

/* --- adding --- */

/* Write everything. Returns 0 or an errno. */
static int write_all(int fd, struct text bytes)
{
	while (bytes.length) {
		const ssize_t written = write(fd, bytes.bytes, bytes.length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? errno : ENOSPC;
		bytes.bytes += written;
		bytes.length -= (size_t)written;
	}
	return 0;
}

/* Returns 0 or an errno. */
static int write_file(const struct folder *folder, const char *name, struct text header,
		      struct text body)
{
	int fd, failed;

	unlinkat(folder->dir, NEW_NAME, 0);
	fd = openat(folder->dir, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return errno;
	failed = write_all(fd, header);
	if (!failed)
		failed = write_all(fd, body);
	if (close(fd) && !failed)
		failed = errno;
	if (!failed && renameat(folder->dir, NEW_NAME, folder->dir, name))
		failed = errno;
	if (failed)
		unlinkat(folder->dir, NEW_NAME, 0);
	return failed;
}

static bool is_full(int failed)
{
	return failed == ENOSPC || failed == EDQUOT;
}

/* Write the file and, while the disk is full, make room for it. Returns 0 or an errno. */
static int write_with_room(struct spool *spool, const struct folder *folder, const char *name,
			   struct text header, struct text body)
{
	int failed;

	do
		failed = write_file(folder, name, header, body);
	while (is_full(failed) && make_room_on_disk(spool, blocks_of(header.length + body.length)));
	return failed;
}

static struct error *add_file(struct spool *spool, struct folder *folder, struct text header,
			      struct text body)
{
	const struct entry entry = { spool->next_id, blocks_of(header.length + body.length) };
	char name[NAME_SIZE];
	int failed;

	if (!array_reserve(&folder->entries, 1))
		return &error_no_memory;
	remove_left_new(spool, folder);
	name_of(entry.id, name);
	failed = write_with_room(spool, folder, name, header, body);
	if (failed)
		return error_system(failed, "%s", spool->path);
	spool->next_id++;
	append(spool, folder, entry);
	return NULL;
}

struct error *spool_add(struct spool *spool, size_t sink, const struct sink_request *request)
{
	struct folder *folder = &spool->folders[sink];
	struct text header = { NULL, 0 };
	struct error *err = request_header_write(request, &header);
	const uint64_t bytes = blocks_of(header.length + request->body.length);
	const char *why = NULL; /* it is lost */
	bool has_room = false;

	if (!err) {
		has_room = make_room(spool, bytes);
		if (has_room)
			err = add_file(spool, folder, header, request->body);
	}
	if (err)
		why = is_full(err->errnum) ? "disk full" : "not written";
	else if (!has_room)
		why = bytes > spool->most ? "spool too small" : "spool full";
	if (why)
		count_loss(spool, folder, text_of(request->what), why, request->count);
	write_losses(spool);
	free((void *)(uintptr_t)header.bytes);
	return err;
}

/* --- requests of a sink --- */

size_t spool_count(const struct spool *spool, size_t sink)
{
	return spool->folders[sink].entries.count;
}

uint64_t spool_bytes(const struct spool *spool)
{
	return spool->bytes;
}

bool spool_open_request(struct spool *spool, size_t sink, size_t index, int *ret_fd)
{
	struct folder *folder = &spool->folders[sink];

	while (index < folder->entries.count) {
		struct request_header header;
		char name[NAME_SIZE];
		struct stat st;
		int fd;

		name_of(folder->entries.items[index].id, name);
		fd = open_file(folder, name, &st);
		if (fd < 0 && file_is_shortage(errno))
			return false;
		if (fd >= 0 && request_header_read(fd, spool->start, &header)) {
			*ret_fd = fd;
			return true;
		}
		if (fd >= 0)
			close(fd);
		drop(spool, folder, index, "damaged", SPOOL_ALL);
	}
	return false;
}

void spool_hold(struct spool *spool, size_t sink, size_t count)
{
	struct folder *folder = &spool->folders[sink];

	folder->held = count < folder->entries.count ? count : folder->entries.count;
}

void spool_remove(struct spool *spool, size_t sink, size_t index)
{
	struct folder *folder = &spool->folders[sink];

	if (index >= folder->entries.count)
		return;
	remove_entry(spool, folder, index);
	/* A later agent must not send what is left. */
	if (spool->left.count)
		write_losses(spool);
}

void spool_drop(struct spool *spool, size_t sink, size_t index, const char *why, uint64_t count)
{
	if (index < spool->folders[sink].entries.count)
		drop(spool, &spool->folders[sink], index, why, count);
}

void spool_move_last(struct spool *spool, size_t sink)
{
	struct folder *folder = &spool->folders[sink];
	char from[NAME_SIZE], to[NAME_SIZE];
	struct entry entry;

	if (folder->entries.count < 2)
		return;
	entry = folder->entries.items[0];
	name_of(entry.id, from);
	name_of(spool->next_id, to);
	if (renameat(folder->dir, from, folder->dir, to))
		return;
	forget(spool, folder, 0);
	entry.id = spool->next_id++;
	append(spool, folder, entry);
}

size_t spool_left(struct spool *spool, int *ret_errnum)
{
	*ret_errnum = spool->left_errnum;
	spool->left_errnum = 0;
	return spool->left.count;
}

const struct losses *spool_losses(const struct spool *spool)
{
	return &spool->losses;
}

void spool_subtract_losses(struct spool *spool, const uint64_t *numbers, size_t count)
{
	if (!count)
		return;
	losses_subtract(&spool->losses, numbers, count);
	spool->is_dirty = true;
	write_losses(spool);
}

size_t spool_strange_folders(const struct spool *spool)
{
	return spool->strange_folders;
}

/* --- opening --- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool is_left(const struct spool *spool, const struct folder *folder, uint64_t id)
{
	for (size_t i = 0; i < spool->left.count; i++)
		if (spool->left.items[i].folder == folder && spool->left.items[i].id == id)
			return true;
	return false;
}

/* A request that was being written when the agent was killed. */
static void drop_new(struct spool *spool, struct folder *folder)
{
	struct stat st;
	int fd;

	if (is_left(spool, folder, NEW_ID))
		return;
	fd = open_file(folder, NEW_NAME, &st);
	if (fd >= 0) {
		count_file(spool, folder, fd, "damaged", SPOOL_ALL);
		write_losses_before(spool, folder, NEW_ID);
		close(fd);
	}
	if (!unlink_file(folder, NEW_ID))
		keep_left(spool, folder, NEW_ID, fd >= 0 ? blocks_of((uint64_t)st.st_size) : 0);
	/* The next file of that name must not be taken for this one. */
	spool->is_dirty |= fd >= 0;
}

static bool add_name(struct spool *spool, struct folder *folder, const char *name)
{
	struct entry entry;
	struct stat st;

	if (!id_of(name, &entry.id) || fstatat(folder->dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return true;
	entry.bytes = blocks_of((uint64_t)st.st_size);
	if (!array_push(&folder->entries, entry))
		return false;
	spool->bytes += entry.bytes;
	spool->files++;
	if (entry.id >= spool->next_id)
		spool->next_id = entry.id + 1;
	return true;
}

/* A list of the names in a directory, which is opened again. NULL: none, or an error. */
static DIR *list(int dir)
{
	const int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = again >= 0 ? fdopendir(again) : NULL;

	if (!names && again >= 0)
		close(again);
	return names;
}

/* Files that are left are no requests: they were counted. */
static void take_out_left(struct spool *spool, struct folder *folder)
{
	size_t kept = 0;

	for (size_t i = 0; spool->left.count && i < folder->entries.count; i++) {
		const struct entry entry = folder->entries.items[i];

		if (!is_left(spool, folder, entry.id)) {
			folder->entries.items[kept++] = entry;
			continue;
		}
		spool->bytes -= entry.bytes;
		spool->files--;
	}
	if (spool->left.count)
		folder->entries.count = kept;
}

static struct error *read_folder(struct spool *spool, struct folder *folder)
{
	struct error *err = NULL;
	const struct dirent *each;
	size_t seen = 0;
	DIR *names;

	drop_new(spool, folder);
	names = list(folder->dir);
	if (!names)
		return error_system(errno, "%s: %s", spool->path, folder->name);
	while (!err && seen++ < NAMES_MOST && (each = readdir(names)))
		if (!add_name(spool, folder, each->d_name))
			err = &error_no_memory;
	closedir(names);
	if (folder->entries.count)
		qsort(folder->entries.items, folder->entries.count, sizeof(struct entry),
		      compare_entries);
	take_out_left(spool, folder);
	return err;
}

static struct folder *find_folder(struct spool *spool, const char *name)
{
	for (size_t i = 0; i < spool->folder_count; i++)
		if (strings_equal(spool->folders[i].name, name))
			return &spool->folders[i];
	return NULL;
}

/* Remove a file that an earlier agent counted or delivered, and did not remove. */
static void finish_removal(struct spool *spool, const struct folder *folder, uint64_t id)
{
	char name[NAME_SIZE];
	struct stat st;

	if (unlink_file(folder, id))
		return;
	name_of(id, name);
	/* Directories and links that have its name are left alone. */
	if (!fstatat(folder->dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    !is_left(spool, folder, id))
		keep_left(spool, folder, id, blocks_of((uint64_t)st.st_size));
}

/* What was counted before a kill, and not removed. New requests get other numbers, for the file of
 * losses may name these for long. */
static void finish_removals(struct spool *spool)
{
	for (size_t i = 0; i < spool->losses.removals.count; i++) {
		const struct losses_removal *removal = &spool->losses.removals.items[i];
		const struct folder *folder = find_folder(spool, removal->sink);

		if (folder)
			finish_removal(spool, folder, removal->id);
		if (removal->id >= spool->next_id && removal->id < UINT64_MAX)
			spool->next_id = removal->id + 1;
	}
	losses_forget_removals(&spool->losses);
}

/* Does another folder have requests? */
static bool is_strange(struct spool *spool, const char *name)
{
	struct folder folder = { .name = name };
	const struct dirent *each;
	bool has_requests = false;
	uint64_t id;
	DIR *names;

	if (name[0] == '.' || find_folder(spool, name))
		return false;
	folder.dir = openat(spool->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	names = folder.dir >= 0 ? fdopendir(folder.dir) : NULL;
	if (!names) {
		if (folder.dir >= 0)
			close(folder.dir);
		return false;
	}
	for (size_t seen = 0; !has_requests && seen < NAMES_MOST && (each = readdir(names)); seen++)
		has_requests = id_of(each->d_name, &id);
	closedir(names);
	return has_requests;
}

static void count_strange_folders(struct spool *spool)
{
	DIR *names = list(spool->dir);
	const struct dirent *each;

	for (size_t seen = 0; names && seen < NAMES_MOST && (each = readdir(names)); seen++)
		spool->strange_folders += is_strange(spool, each->d_name);
	if (names)
		closedir(names);
}

/* Make the directory that the spool will be in, as /var/lib/ctprof, if its own is there. */
static struct error *make_parent(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int made = -1;
	const char *parent;

	if (!copy)
		return &error_no_memory;
	parent = dirname(copy);
	return access(parent, F_OK) && errno == ENOENT ? own_base_open(parent, OWN_LINKS, &made)
						       : NULL;
}

static struct error *open_dir(struct spool *spool)
{
	struct error *err = make_parent(spool->path);
	struct stat st;

	if (!err)
		err = own_base_open(spool->path, OWN_LINKS, &spool->dir);
	if (err)
		return err;
	if (fstat(spool->dir, &st) || st.st_mode & WRITABLE_BY_OTHER)
		return error_create("%s: other users may write to it", spool->path);
	if (flock(spool->dir, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? error_coded(errno, "%s: another agent uses this spool",
					     spool->path)
			       : error_system(errno, "%s", spool->path);
	return NULL;
}

static struct error *read_spool(struct spool *spool)
{
	struct error *err = open_dir(spool), *damaged;

	if (err)
		return err;
	damaged = losses_read(&spool->losses, spool->dir);
	if (damaged) {
		error_destroy(damaged);
		if (losses_add(&spool->losses, "", TEXT("files of losses"), "damaged", 1))
			spool->is_dirty = true;
	}
	for (size_t i = 0; !err && i < spool->folder_count; i++)
		err = own_dir_open(spool->dir, spool->folders[i].name, spool->path,
				   &spool->folders[i].dir);
	if (err)
		return err;
	finish_removals(spool);
	for (size_t i = 0; !err && i < spool->folder_count; i++)
		err = read_folder(spool, &spool->folders[i]);
	if (err)
		return err;
	count_strange_folders(spool);
	make_room(spool, 0);
	write_losses(spool);
	return NULL;
}

struct error *spool_open(const struct spool_options *options, struct spool **ret)
{
	struct spool *spool =
		calloc(1, sizeof(*spool) + options->sink_count * sizeof(spool->folders[0]));
	struct error *err;

	if (!spool)
		return &error_no_memory;
	spool->dir = -1;
	spool->most = options->most;
	spool->next_id = 1;
	spool->folder_count = options->sink_count;
	for (size_t i = 0; i < options->sink_count; i++)
		spool->folders[i] = (struct folder){ .name = options->sinks[i].folder,
						     .sink = options->sinks[i].name,
						     .dir = -1 };
	spool->path = strdup(options->path);
	err = spool->path ? read_spool(spool) : &error_no_memory;
	if (err)
		spool_close(spool);
	else
		*ret = spool;
	return err;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	for (size_t i = 0; i < spool->folder_count; i++) {
		array_deinit(&spool->folders[i].entries);
		if (spool->folders[i].dir >= 0)
			close(spool->folders[i].dir);
	}
	array_deinit(&spool->left);
	losses_deinit(&spool->losses);
	/* The lock goes with it. */
	if (spool->dir >= 0)
		close(spool->dir);
	free(spool->path);
	free(spool);
}
