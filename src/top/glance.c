/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/glance.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/units.h"
#include "os/process_user.h"

static void release_glance(void *context)
{
	struct glance *glance = context;

	if (glance->fd >= 0)
		close(glance->fd);
	array_deinit(&glance->tids);
	open_files_deinit(&glance->files);
	array_deinit(&glance->pids);
	free(glance);
}

static struct guard *glance_guard(void)
{
	static struct guard *guard;

	return process_user_guard(&guard, NS_PER_S / 5);
}

struct glance *glance_create(struct wait_look *look, uint32_t tid)
{
	struct glance *glance = malloc(sizeof(*glance));

	if (!glance)
		return NULL;
	/* The bytes need no zeros. */
	memset(glance, 0, offsetof(struct glance, bytes));
	glance->look = look;
	glance->tid = tid;
	glance->fd = -1;
	return glance;
}

void glance_destroy(struct glance *glance)
{
	release_glance(glance);
}

static void do_timed(void *context)
{
	struct glance *glance = context;
	const uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	glance->work(glance);
	glance->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
}

bool glance_do(struct glance *glance, void (*work)(void *))
{
	struct guard *guard = glance_guard();

	glance->found = false;
	glance->work = work;
	if (!guard) {
		release_glance(glance);
		return false;
	}
	if (!guard_run(guard, do_timed, glance, release_glance))
		return false;
	glance->look->cpu_ns += glance->cpu_ns;
	if (glance->found)
		return true;
	release_glance(glance);
	return false;
}

bool glance_run(void (*work)(void *), struct wait_look *look, uint32_t tid,
		struct wait_chain *chain)
{
	struct glance *glance = glance_create(look, tid);

	if (!glance)
		return false;
	glance->chain = *chain;
	if (!glance_do(glance, work))
		return false;
	*chain = glance->chain;
	release_glance(glance);
	return true;
}

/* Before each call: false when the time is over, or looking at this process hung before. */
static bool enter(struct glance *glance)
{
	if (clock_ns(CLOCK_MONOTONIC) >= glance->look->until_ns)
		glance->is_late = true;
	return !glance->is_late && guard_enter();
}

bool glance_open(struct glance *glance, const char *path, int flags)
{
	/* While the call is in progress, the caller may be gone. */
	const int proc = glance->look->host->proc;

	if (!enter(glance))
		return false;
	glance->fd = openat(proc, path, O_RDONLY | O_CLOEXEC | flags);
	guard_leave();
	return glance->fd >= 0;
}

void glance_close(struct glance *glance)
{
	if (glance->fd >= 0)
		close(glance->fd);
	glance->fd = -1;
}

struct text glance_file(struct glance *glance, const char *format, ...)
{
	size_t length = 0;
	char path[96];
	va_list values;
	ssize_t got;

	va_start(values, format);
	vsnprintf(path, sizeof(path), format, values);
	va_end(values);
	if (!glance_open(glance, path, 0))
		return (struct text){ glance->bytes, 0 };
	while (length < GLANCE_BYTES) {
		if (!enter(glance))
			break;
		got = read(glance->fd, glance->bytes + length, GLANCE_BYTES - length);
		guard_leave();
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	glance_close(glance);
	return (struct text){ glance->bytes, length };
}

size_t glance_memory(struct glance *glance, uint32_t tid, uint64_t address, void *into, size_t size)
{
	if (clock_ns(CLOCK_MONOTONIC) >= glance->look->until_ns)
		glance->is_late = true;
	return glance->is_late ? 0 : glance->look->host->read_memory(tid, address, into, size);
}

bool glance_link(struct glance *glance, const char *path, char *ret, size_t room)
{
	const int proc = glance->look->host->proc;
	ssize_t got;

	if (!enter(glance))
		return false;
	got = readlinkat(proc, path, glance->bytes, room - 1);
	guard_leave();
	if (got <= 0)
		return false;
	memcpy(ret, glance->bytes, (size_t)got);
	ret[got] = '\0';
	return true;
}

/* "socket:[123]" or "pipe:[123]", with the kind as "socket:[". */
static bool parse_numbered(const char *target, const char *kind, uint64_t *ret)
{
	struct text text = text_of(target);
	const struct text prefix = text_of(kind);

	if (!text_starts(text, prefix) || !text_ends(text, TEXT("]")))
		return false;
	return text_u64(
		(struct text){ text.bytes + prefix.length, text.length - prefix.length - 1 }, ret);
}

bool glance_descriptor(struct glance *glance, uint32_t tid, uint32_t number, char *ret, size_t room,
		       enum open_file_kind *ret_kind, uint64_t *ret_inode)
{
	static const char anonymous[] = "anon_inode:";
	char path[64], target[WAIT_OBJECT_MAX];
	const char *what = target;

	*ret_inode = 0;
	snprintf(path, sizeof(path), "%" PRIu32 "/fd/%" PRIu32, tid, number);
	if (!glance_link(glance, path, target, sizeof(target)))
		return false;
	*ret_kind = OPEN_OTHER;
	if (parse_numbered(target, "socket:[", ret_inode)) {
		*ret_kind = OPEN_SOCKET;
		what = "a socket";
	} else if (parse_numbered(target, "pipe:[", ret_inode)) {
		*ret_kind = OPEN_PIPE;
		what = "a pipe";
	} else if (text_starts(text_of(target), text_of(anonymous))) {
		what = target + sizeof(anonymous) - 1;
	} else if (target[0] == '/' && !text_starts(text_of(target), TEXT("/dev/"))) {
		*ret_kind = OPEN_PATH;
	}
	snprintf(ret, room, "%s", what);
	text_make_safe(ret);
	return true;
}
