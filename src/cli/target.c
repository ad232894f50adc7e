/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/target.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "os/cgroup.h"
#include "os/cgroup_path.h"
#include "os/cgroup_tree.h"
#include "os/tasks.h"

static struct error *take_pid(void *context, const char *piece)
{
	struct target *target = context;
	uint32_t pid;

	if (!text_u32(text_of(piece), &pid) || !pid || pid > INT32_MAX)
		return error_create("'%s' is not a process ID", piece);
	return array_push(&target->pids, pid) ? NULL : &error_no_memory;
}

/* Could it be the name of a program, and needs no quotes? */
static bool is_like_a_name(const char *piece)
{
	return ((*piece | 0x20) >= 'a' && (*piece | 0x20) <= 'z') &&
	       !piece[strspn(piece, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_.-")];
}

static struct error *take_pid_by_comm(void *context, const char *piece)
{
	struct error *err = take_pid(context, piece);

	if (!err || !is_like_a_name(piece))
		return err;
	error_destroy(err);
	return error_create("'%.40s' is not a process ID; did you mean --comm %.40s?", piece,
			    piece);
}

struct error *parse_pids_by_comm(const char *argument, void *at)
{
	return each_piece(argument, "process number", take_pid_by_comm, at);
}

struct error *parse_pids(const char *argument, void *at)
{
	return each_piece(argument, "process number", take_pid, at);
}

struct error *parse_cgroup(const char *argument, void *at)
{
	struct target *target = at;
	struct error *err = parse_string(argument, &target->cgroup);

	if (err)
		return err;
	free(target->cgroup_text);
	/* As printed by systemd-cgls and others, or as a directory. */
	target->cgroup_text = text_print("%s%s", argument[0] == '/' ? "" : "/", argument);
	target->cgroup = target->cgroup_text;
	return target->cgroup ? NULL : &error_no_memory;
}

bool target_is_cgroup_removed(const char *path, uint64_t number)
{
	uint64_t now = 0;
	struct error *err = target_find_cgroup(&path, &now);
	const bool is_removed = err || now != number;

	error_destroy(err);
	return is_removed;
}

void target_deinit(struct target *target)
{
	array_deinit(&target->pids);
	free(target->cgroup_text);
}

static struct error *take_tid(void *context, const char *piece)
{
	struct thread_numbers *numbers = context;
	uint32_t tid;

	if (!text_u32(text_of(piece), &tid) || !tid || tid > INT32_MAX)
		return error_create("'%.40s' is not a thread ID", piece);
	return array_push(numbers, tid) ? NULL : &error_no_memory;
}

struct error *parse_tids(const char *argument, void *at)
{
	return each_piece(argument, "thread number", take_tid, at);
}

static bool is_there(uint32_t number)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, number);
	return access(path, F_OK) == 0;
}

struct error *target_check(const struct target *target, const struct thread_numbers *tids)
{
	for (size_t i = 0; i < target->pids.count; i++)
		if (!is_there(target->pids.items[i]))
			return error_create("no process %" PRIu32, target->pids.items[i]);
	for (size_t i = 0; i < tids->count; i++)
		if (!is_there(tids->items[i]))
			return error_create("no thread %" PRIu32, tids->items[i]);
	return NULL;
}

/* Processes of one name that an error lists. */
#define NAMED_MOST 16

static bool has_name(int proc, uint32_t pid, struct text name)
{
	struct file_buffer buffer = { 0 };
	struct text bytes = { 0 };
	char path[32];
	bool is_it;

	snprintf(path, sizeof(path), "%" PRIu32 "/comm", pid);
	is_it = !file_read(proc, path, &buffer, &bytes) && bytes.length > 1 &&
		text_equal((struct text){ bytes.bytes, bytes.length - 1 }, name);
	file_buffer_deinit(&buffer);
	return is_it;
}

/* "3 processes are named sh: 12, 99, 4242". */
static struct error *too_many(const char *name, const uint32_t *pids, size_t count)
{
	_cleanup_free_ char *list = NULL;

	for (size_t i = 0; i < count && i < NAMED_MOST; i++) {
		char *longer = text_print("%s%s%" PRIu32, list ? list : "", i ? ", " : "", pids[i]);

		free(list);
		list = longer;
	}
	return error_create("%zu processes are named %.40s: %s%s", count, name, list ? list : "",
			    count > NAMED_MOST ? ", ..." : "");
}

/* The name without what the kernel cuts off (TASK_COMM_LEN). */
static struct text kept_name(const char *name)
{
	struct text kept = text_of(name);

	kept.length = kept.length < 15 ? kept.length : 15;
	return kept;
}

struct error *target_find_process(const char *name, uint32_t *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t pids[NAMED_MOST] = { 0 };
	struct tids all = { 0 };
	size_t count = 0;

	if (proc < 0 || tasks_list(proc, &all))
		return error_create("/proc");
	for (size_t i = 0; i < all.count; i++) {
		if (all.items[i] == (uint32_t)getpid() ||
		    !has_name(proc, all.items[i], kept_name(name)))
			continue;
		if (count < NAMED_MOST)
			pids[count] = all.items[i];
		count++;
	}
	array_deinit(&all);
	if (!count)
		return error_create("no process is named %.40s", name);
	if (count > 1)
		return too_many(name, pids, count);
	*ret = pids[0];
	return NULL;
}

uint32_t target_alive(const struct target *target, const struct thread_numbers *tids)
{
	for (size_t i = 0; i < target->pids.count; i++)
		if (task_is_alive(target->pids.items[i]))
			return target->pids.items[i];
	for (size_t i = 0; i < tids->count; i++)
		if (task_is_alive(tids->items[i]))
			return tids->items[i];
	return 0;
}

struct error *target_hidden(const struct target *target, const struct thread_numbers *tids)
{
	const uint32_t number = target_alive(target, tids);

	return number ? target_hidden_number(target->pids.count, number) : NULL;
}

struct error *target_hidden_number(bool is_process, uint32_t number)
{
	return error_create("%s %" PRIu32 " is alive, but this kernel shows none of its threads to "
			    "BPF programs; try: ctprof top --engine procfs %" PRIu32,
			    is_process ? "process" : "thread", number, number);
}

struct error *target_find_cgroup(const char **path, uint64_t *ret)
{
	_cleanup_free_ char *name = NULL;
	struct cgroup_tree tree;
	struct text below;
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error *err = proc < 0 ? error_create("/proc") : cgroup_tree_open(proc, &tree);

	if (err)
		return err;
	/* A path in the file system is accepted, too. */
	below = cgroup_of_directory(text_of(*path), tree.point);
	name = strndup(below.bytes, below.length);
	if (!name)
		err = &error_no_memory;
	else if (!cgroup_id(tree.dir, name, ret))
		err = error_create("no cgroup %s (version 2)", name);
	else
		*path = below.bytes;
	cgroup_tree_close(&tree);
	return err;
}
