/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/kept.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "base/word_map.h"
#include "os/process_user.h"
#include "profile/origin.h"

struct kept_file {
	TAILQ_ENTRY(kept_file) next;
	struct profile_mapping mapping;
	struct name *path; /* of the mapping */
	uint32_t pid, user;
	bool is_trusted;
	int fd;
};

struct root {
	uint64_t mount, inode;
	int fd;
};

/* A process that makes code. */
struct coder {
	uint32_t pid, number, user;
	uint64_t mount, inode; /* of its root */
};

struct kept {
	pthread_mutex_t lock;
	unsigned users;
	TAILQ_HEAD(, kept_file) files; /* the one that was added first is first */
	size_t file_count, most;
	/* The next ones take the places of the oldest, once all are taken. */
	struct root roots[KEPT_ROOTS_MAX];
	size_t root_count, next_root;
	struct word_map pids; /* to `coders` */
	struct {
		ARRAY(struct coder);
	} coders;
	uint32_t next_coder;
};

struct kept *kept_create(void)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	struct rlimit limit;

	if (!kept)
		return NULL;
	pthread_mutex_init(&kept->lock, NULL);
	TAILQ_INIT(&kept->files);
	kept->users = 1;
	kept->most = KEPT_FILES_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < kept->most)
		kept->most = (size_t)limit.rlim_cur / 4;
	return kept;
}

struct kept *kept_share(struct kept *kept)
{
	if (!kept)
		return NULL;
	pthread_mutex_lock(&kept->lock);
	kept->users++;
	pthread_mutex_unlock(&kept->lock);
	return kept;
}

static void destroy_file(struct kept_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

static void drop_file(struct kept *kept, struct kept_file *file)
{
	TAILQ_REMOVE(&kept->files, file, next);
	kept->file_count--;
	destroy_file(file);
}

void kept_release(struct kept *kept)
{
	bool is_last;

	if (!kept)
		return;
	pthread_mutex_lock(&kept->lock);
	is_last = --kept->users == 0;
	pthread_mutex_unlock(&kept->lock);
	if (!is_last)
		return;
	while (!TAILQ_EMPTY(&kept->files))
		drop_file(kept, TAILQ_FIRST(&kept->files));
	for (size_t i = 0; i < kept->root_count; i++)
		close(kept->roots[i].fd);
	array_deinit(&kept->coders);
	word_map_deinit(&kept->pids);
	pthread_mutex_destroy(&kept->lock);
	free(kept);
}

/* --- files --- */

/* Use O_PATH: closing a regular descriptor may wait for its file system (FUSE_FLUSH), closing an
 * O_PATH descriptor does not. */
static int hold(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return file_find(AT_FDCWD, path);
}

static struct kept_file *create_file(uint32_t pid, const struct profile_mapping *mapping, int fd)
{
	const size_t size = sizeof(*mapping->path) + mapping->path->length + 1;
	struct kept_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->mapping = *mapping;
	file->path = malloc(size);
	file->pid = pid;
	file->user = process_user(pid);
	file->is_trusted = origin_is_trusted_file(fd);
	file->fd = hold(fd);
	if (!file->path || file->fd < 0) {
		destroy_file(file);
		return NULL;
	}
	memcpy(file->path, mapping->path, size);
	file->mapping.path = file->path;
	return file;
}

/* Room for one more of that user. With the lock. */
static void make_room(struct kept *kept, uint32_t user)
{
	const bool is_stranger = process_user_is_stranger(user);
	struct kept_file *of_user = NULL, *of_strangers = NULL, *file;
	size_t users = 0, strangers = 0;

	TAILQ_FOREACH(file, &kept->files, next)
	{
		if (file->user == user && !users++)
			of_user = file;
		if (process_user_is_stranger(file->user) && !strangers++)
			of_strangers = file;
	}
	if (is_stranger && users >= (kept->most + 7) / 8)
		drop_file(kept, of_user);
	else if (is_stranger && strangers >= (kept->most + 1) / 2)
		drop_file(kept, of_strangers);
	else if (kept->file_count >= kept->most && kept->file_count)
		drop_file(kept, TAILQ_FIRST(&kept->files));
}

void kept_add_file(struct kept *kept, uint32_t pid, const struct profile_mapping *mapping, int fd)
{
	struct kept_file *file = kept && kept->most ? create_file(pid, mapping, fd) : NULL;

	if (!file)
		return;
	pthread_mutex_lock(&kept->lock);
	make_room(kept, file->user);
	TAILQ_INSERT_TAIL(&kept->files, file, next);
	kept->file_count++;
	pthread_mutex_unlock(&kept->lock);
}

static bool is_kept_mapping(const struct kept_file *file, uint32_t pid,
			    const struct profile_mapping *mapping)
{
	const struct profile_mapping *here = &file->mapping;

	if (mapping->build_id_length)
		return (file->is_trusted || file->pid == pid) &&
		       here->build_id_length == mapping->build_id_length &&
		       memcmp(here->build_id, mapping->build_id, mapping->build_id_length) == 0;
	return mapping->inode && here->inode == mapping->inode && here->major == mapping->major &&
	       here->minor == mapping->minor &&
	       text_equal(name_text(file->path), name_text(mapping->path));
}

int kept_open_file(struct kept *kept, uint32_t pid, const struct profile_mapping *mapping)
{
	_cleanup_close_ int held = -1;
	const struct kept_file *file;

	if (!kept || !mapping->path || mapping->build_id_length > sizeof(mapping->build_id))
		return -1;
	pthread_mutex_lock(&kept->lock);
	TAILQ_FOREACH(file, &kept->files, next)
	if (is_kept_mapping(file, pid, mapping))
		break;
	if (file)
		held = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&kept->lock);
	return held < 0 ? -1 : file_open_regular(held);
}

/* --- processes that make code --- */

static const struct root *find_root(const struct kept *kept, uint64_t mount, uint64_t inode)
{
	for (size_t i = 0; i < kept->root_count; i++)
		if (kept->roots[i].mount == mount && kept->roots[i].inode == inode)
			return &kept->roots[i];
	return NULL;
}

/* NULL: it cannot be held. With the lock. */
static const struct root *hold_root(struct kept *kept, int fd)
{
	struct root *place = &kept->roots[kept->next_root];
	const struct root *known;
	struct statx found;
	int held;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &found))
		return NULL;
	known = find_root(kept, found.stx_mnt_id, found.stx_ino);
	held = known ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (held < 0)
		return known;
	if (kept->root_count == KEPT_ROOTS_MAX)
		close(place->fd);
	else
		kept->root_count++;
	*place = (struct root){ found.stx_mnt_id, found.stx_ino, held };
	kept->next_root = (kept->next_root + 1) % KEPT_ROOTS_MAX;
	return place;
}

static struct coder *find_coder(struct kept *kept, uint32_t pid)
{
	const uint32_t place = word_map_find(&kept->pids, (struct words){ { pid } });

	/* Another one may be there by now. */
	return place != WORD_MAP_NEW && kept->coders.items[place].pid == pid
		       ? &kept->coders.items[place]
		       : NULL;
}

/* Forget numbers whose slot was reused. With the lock. */
static void forget_others(struct kept *kept)
{
	struct word_map pids = { 0 };

	for (size_t i = 0; i < kept->coders.count; i++) {
		const struct words key = { { kept->coders.items[i].pid } };
		uint32_t *place;

		if (word_map_find(&kept->pids, key) != i)
			continue;
		place = word_map_at(&pids, key);
		if (!place) {
			word_map_deinit(&pids);
			return;
		}
		*place = (uint32_t)i;
	}
	word_map_deinit(&kept->pids);
	kept->pids = pids;
}

/* The place of the process; NULL without memory. With the lock. */
static struct coder *add_coder(struct kept *kept, uint32_t pid)
{
	struct coder *known = find_coder(kept, pid);
	uint32_t *place;

	if (known)
		return known;
	if (kept->coders.count < KEPT_PROCESSES_MAX && !array_reserve(&kept->coders, 1))
		return NULL;
	if (kept->pids.count >= 2 * KEPT_PROCESSES_MAX)
		forget_others(kept);
	place = word_map_at(&kept->pids, (struct words){ { pid } });
	if (!place)
		return NULL;
	*place = kept->next_coder;
	kept->next_coder = (kept->next_coder + 1) % KEPT_PROCESSES_MAX;
	if (kept->coders.count < KEPT_PROCESSES_MAX)
		kept->coders.count++;
	return &kept->coders.items[*place];
}

void kept_add_process(struct kept *kept, uint32_t pid, const struct kept_process *process)
{
	const struct root *root;
	struct coder *coder;

	pthread_mutex_lock(&kept->lock);
	root = hold_root(kept, process->root);
	coder = root ? add_coder(kept, pid) : NULL;
	if (coder)
		*coder = (struct coder){ .pid = pid,
					 .number = process->number,
					 .user = process->user,
					 .mount = root->mount,
					 .inode = root->inode };
	pthread_mutex_unlock(&kept->lock);
}

bool kept_find_process(struct kept *kept, uint32_t pid, struct kept_process *ret)
{
	const struct root *root = NULL;
	const struct coder *coder;
	int fd = -1;

	if (!kept)
		return false;
	pthread_mutex_lock(&kept->lock);
	coder = find_coder(kept, pid);
	if (coder)
		root = find_root(kept, coder->mount, coder->inode);
	if (root)
		fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		*ret = (struct kept_process){ coder->number, coder->user, fd };
	pthread_mutex_unlock(&kept->lock);
	return fd >= 0;
}

size_t kept_count(struct kept *kept)
{
	size_t count;

	pthread_mutex_lock(&kept->lock);
	count = kept->file_count + kept->root_count;
	pthread_mutex_unlock(&kept->lock);
	return count;
}
