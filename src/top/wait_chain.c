/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/wait_chain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guard.h"
#include "os/file_locks.h"
#include "os/maps.h"
#include "os/pairs.h"
#include "process/process_memory.h"
#include "sched/kernel_lock.h"
#include "state/call_state.h"
#include "state/wait.h"
#include "top/glance.h"

/* Threads of a process in another PID namespace whose numbers there are compared. */
#define TRANSLATED_MOST 1024

const struct wait_host *wait_host(void)
{
	static struct wait_host host = { -1, process_memory_read, kernel_lock_of };

	if (host.proc < 0)
		host.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return host.proc >= 0 && tasks_are_ours(host.proc) ? &host : NULL;
}

/* --- who it is --- */

static void copy_safe(char *ret, size_t room, struct text text)
{
	const size_t length = text.length < room - 1 ? text.length : room - 1;

	memcpy(ret, text.bytes, length);
	ret[length] = '\0';
	text_make_safe(ret);
}

struct task_identity {
	char letter;
	uint32_t inner;  /* its number in its own PID namespace */
	uint32_t tracer; /* the process that traces it; 0: none */
};

/* Read the status of a thread: names, numbers, switches. False: it is gone. */
static bool read_identity(struct glance *glance, uint32_t tid, struct wait_link *link,
			  struct task_identity *ret)
{
	struct text rest, key, value, word;
	uint64_t switches;

	*link = (struct wait_link){ .tid = tid, .call = { .number = -1 } };
	*ret = (struct task_identity){ .inner = tid };
	rest = glance_file(glance, "%" PRIu32 "/status", tid);
	while (pairs_next(&rest, ':', &key, &value)) {
		if (text_equal(key, TEXT("Name")))
			copy_safe(link->name, sizeof(link->name), value);
		else if (text_equal(key, TEXT("State")) && value.length)
			ret->letter = value.bytes[0];
		else if (text_equal(key, TEXT("Tgid")))
			text_u32(value, &link->tgid);
		else if (text_equal(key, TEXT("Threads")))
			text_u32(value, &link->threads);
		else if (text_equal(key, TEXT("VmSize")))
			link->has_memory = true;
		else if (text_equal(key, TEXT("TracerPid")))
			text_u32(value, &ret->tracer);
		else if (text_ends(key, TEXT("voluntary_ctxt_switches")) &&
			 text_u64(value, &switches))
			link->switches += switches;
		else if (text_equal(key, TEXT("NSpid")))
			for (unsigned i = 0; text_word(&value, &word); i++) {
				text_u32(word, &ret->inner);
				link->is_namespaced = i > 0;
			}
	}
	link->is_deep = ret->letter == 'D';
	return link->tgid && ret->letter;
}

/* --- threads by the numbers that programs have --- */

/* Does another process map the same part of memory that a thread has at this address? */
static bool find_mapping(struct glance *glance, uint32_t tid, const struct mapping *same,
			 uint64_t address, struct mapping *ret)
{
	struct text rest = glance_file(glance, "%" PRIu32 "/maps", tid);

	while (maps_next(&rest, ret)) {
		if (!ret->inode)
			continue;
		if (same ? ret->inode == same->inode && ret->major == same->major &&
				    ret->minor == same->minor
			 : address >= ret->start && address < ret->end)
			return true;
	}
	return false;
}

static bool is_in_process(struct glance *glance, uint32_t tgid, uint32_t tid)
{
	return glance_file(glance, "%" PRIu32 "/task/%" PRIu32 "/comm", tgid, tid).length;
}

/* In glance->tids. False: the process is gone. */
static bool list_threads(struct glance *glance, uint32_t tgid)
{
	char path[48];
	int failed;

	snprintf(path, sizeof(path), "%" PRIu32 "/task", tgid);
	failed =
		glance_open(glance, path, O_DIRECTORY) ? tasks_list(glance->fd, &glance->tids) : -1;
	glance_close(glance);
	return !failed;
}

/* The thread of a process that has this number in its own namespace. */
static uint32_t translate(struct glance *glance, uint32_t tgid, uint32_t inner)
{
	const bool is_listed = list_threads(glance, tgid);

	for (size_t i = 0; is_listed && i < glance->tids.count && i < TRANSLATED_MOST; i++) {
		struct wait_link link;
		struct task_identity identity;

		if (read_identity(glance, glance->tids.items[i], &link, &identity) &&
		    link.tgid == tgid && identity.inner == inner)
			return link.tid;
	}
	return 0;
}

/* The thread of this number according to the memory of a process: of that process, or, of a lock in
 * shared memory, of one that shares it. 0: there is none, so it is no thread's number. */
static uint32_t find_owner(struct glance *glance, const struct wait_link *link, uint32_t number)
{
	struct mapping ours, theirs;

	if (!number)
		return 0;
	if (link->is_namespaced)
		return translate(glance, link->tgid, number);
	if (is_in_process(glance, link->tgid, number))
		return number;
	if (link->lock.is_private || link->lock.kind == LOCK_JOIN ||
	    !find_mapping(glance, link->tid, NULL, link->lock.address, &ours))
		return 0;
	ours.path = (struct text){ 0 };
	return find_mapping(glance, number, &ours, 0, &theirs) ? number : 0;
}

/* --- what it waits at --- */

/* How the call names a file. */
enum file_argument { NO_FILE, FIRST_FILE, POLLED_FILE, FIRST_PATH, SECOND_PATH };

static enum file_argument file_argument_of(const struct task_call *call)
{
	const int number = call->number;

	switch (number) {
	case SYS_sync:
	case SYS_msync:
		return NO_FILE;
	case SYS_ioctl:
	case SYS_getdents64:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_accept:
	case SYS_accept4:
		return FIRST_FILE;
	case SYS_openat:
	case SYS_openat2:
		return SECOND_PATH;
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
		return FIRST_PATH;
#endif
	}
	switch (number < WAIT_SYSCALLS ? wait_kinds[number] : WAIT_OTHER) {
	case WAIT_NETWORK:
	case WAIT_FILE:
	case WAIT_DISK:
	case WAIT_LOCK:
	case WAIT_FCNTL:
		return FIRST_FILE;
	case WAIT_POLL:
		return call->arguments[1] == 1 ? POLLED_FILE : NO_FILE;
	default:
		return NO_FILE;
	}
}

bool glance_call_file(const struct task_call *call, uint32_t *ret)
{
	*ret = (uint32_t)call->arguments[0];
	return file_argument_of(call) == FIRST_FILE;
}

#define PAGE_LEAST 4096

/* A path in memory, up to the end of its page: a read is all or nothing. */
static void read_path(struct glance *glance, struct wait_link *link, uint64_t address)
{
	char path[WAIT_OBJECT_MAX - 8];
	size_t room = PAGE_LEAST - address % PAGE_LEAST, got;

	if (room > sizeof(path))
		room = sizeof(path);
	got = glance_memory(glance, link->tid, address, path, room);
	copy_safe(link->object, sizeof(link->object), (struct text){ path, strnlen(path, got) });
}

static void name_descriptor(struct glance *glance, struct wait_link *link, uint64_t number)
{
	enum open_file_kind kind;

	if (glance_descriptor(glance, link->tid, (uint32_t)number, link->object,
			      sizeof(link->object), &kind, &link->inode))
		link->descriptor = (uint32_t)number;
}

static void name_object(struct glance *glance, struct wait_link *link)
{
	const uint64_t *arguments = link->call.arguments;
	int32_t polled;

	switch (file_argument_of(&link->call)) {
	case NO_FILE:
		return;
	case FIRST_FILE:
		name_descriptor(glance, link, arguments[0]);
		return;
	case POLLED_FILE:
		/* struct pollfd begins with the descriptor. */
		if (glance_memory(glance, link->tid, arguments[0], &polled, sizeof(polled)) ==
		    sizeof(polled))
			name_descriptor(glance, link, (uint32_t)polled);
		return;
	case FIRST_PATH:
		read_path(glance, link, arguments[0]);
		return;
	case SECOND_PATH:
		read_path(glance, link, arguments[1]);
		return;
	}
}

/* --- whom it waits for --- */

static uint32_t lock_owner(struct glance *glance, struct wait_link *link)
{
	char bytes[LOCK_WAIT_BYTES];
	const size_t got =
		glance_memory(glance, link->tid, link->lock.address, bytes, sizeof(bytes));

	return find_owner(glance, link, lock_wait_owner(&link->lock, bytes, got));
}

/* The child that it waits for by number, or the first of those that it has. */
static uint32_t awaited_child(struct glance *glance, struct wait_link *link)
{
	const uint64_t *arguments = link->call.arguments;
	const uint32_t number = link->call.number == SYS_wait4 ? (uint32_t)arguments[0]
				: (uint32_t)arguments[0] == 1  ? (uint32_t)arguments[1] /* P_PID */
							       : 0;
	struct text rest, word;
	uint32_t child = 0, first = 0;

	link->children = 0;
	rest = glance_file(glance, "%" PRIu32 "/task/%" PRIu32 "/children", link->tgid, link->tid);
	while (text_word(&rest, &word)) {
		if (!text_u32(word, &child))
			continue;
		if (child == number && !link->is_namespaced) {
			link->children = 1;
			return child;
		}
		first = first ? first : child;
		link->children++;
	}
	return first;
}

/* flock(2) and commands of fcntl(2) that wait: the only calls that wait for a lock of the kernel.
 */
static bool is_file_lock(const struct task_call *call)
{
	return call_state(call->number, call->arguments, false, CALL_FILE_UNKNOWN) ==
	       STATE_LOCK_KERNEL;
}

/* The bytes of /proc/locks. Without memory to keep them, they are read again. */
static struct text locks_of(struct glance *glance)
{
	struct wait_look *look = glance->look;
	struct text bytes;

	if (look->locks)
		return (struct text){ look->locks, look->locks_length };
	bytes = glance_file(glance, "locks");
	look->locks = glance->is_late ? NULL : malloc(bytes.length + 1);
	if (!look->locks)
		return bytes;
	memcpy(look->locks, bytes.bytes, bytes.length);
	look->locks_length = bytes.length;
	return (struct text){ look->locks, look->locks_length };
}

void wait_look_deinit(struct wait_look *look)
{
	free(look->locks);
	look->locks = NULL;
}

/* What a blocked thread waits for, by its system call. Returns the thread that it waits for; 0: it
 * is none, or not known. */
static uint32_t decide_call(struct glance *glance, struct wait_link *link)
{
	if (lock_wait_of(link->call.number, link->call.arguments, &link->lock)) {
		const uint32_t owner = lock_owner(glance, link);

		/* A number that is no thread's is that of something else. */
		link->kind = link->lock.kind != LOCK_JOIN ? LINK_LOCK
			     : owner                      ? LINK_JOIN
							  : LINK_CALL;
		return owner;
	}
	if (link->call.number == SYS_wait4 || link->call.number == SYS_waitid) {
		link->kind = LINK_CHILD;
		return awaited_child(glance, link);
	}
	link->kind = LINK_CALL;
	name_object(glance, link);
	if (!is_file_lock(&link->call))
		return 0;
	link->kind = LINK_FILE_LOCK;
	return file_locks_holder(locks_of(glance), link->tgid);
}

/* If it is stopped, name the reason. The freezers of both versions of cgroups wait in functions of
 * their own: __refrigerator() in kernel/freezer.c, do_freezer_trap() in kernel/signal.c. */
static bool is_stopped(struct glance *glance, struct wait_link *link,
		       const struct task_identity *identity)
{
	char name[32];

	if (strcmp(link->wchan, "__refrigerator") == 0 ||
	    strcmp(link->wchan, "do_freezer_trap") == 0) {
		snprintf(link->object, sizeof(link->object), "the freezer of its cgroup");
		return true;
	}
	if (identity->letter != 'T' && identity->letter != 't')
		return false;
	if (identity->letter == 'T') {
		snprintf(link->object, sizeof(link->object), "a signal");
		return true;
	}
	copy_safe(name, sizeof(name),
		  text_trim(glance_file(glance, "%" PRIu32 "/comm", identity->tracer)));
	if (*name)
		snprintf(link->object, sizeof(link->object), "%s (%" PRIu32 "), which traces it",
			 name, identity->tracer);
	else
		snprintf(link->object, sizeof(link->object), "the process that traces it");
	return true;
}

/* Read a thread. *ret_next is the one that it waits for, or 0. False: it is gone. */
static bool read_link_of(struct glance *glance, uint32_t tid, struct wait_link *link,
			 uint32_t *ret_next)
{
	struct task_identity identity;

	guard_about(tid);
	*ret_next = 0;
	if (!read_identity(glance, tid, link, &identity))
		return false;
	if (identity.letter == 'Z' || identity.letter == 'X') {
		link->kind = LINK_ENDED;
		return true;
	}
	copy_safe(link->wchan, sizeof(link->wchan), glance_file(glance, "%" PRIu32 "/wchan", tid));
	if (strcmp(link->wchan, "0") == 0)
		link->wchan[0] = '\0';
	if (is_stopped(glance, link, &identity)) {
		link->kind = LINK_STOPPED;
		return true;
	}
	link->call = task_call_parse(glance_file(glance, "%" PRIu32 "/syscall", tid));
	if (identity.letter == 'R' || link->call.kind == TASK_CALL_RUNNING)
		link->kind = LINK_RUNS;
	else if (!link->has_memory || link->call.kind == TASK_CALL_OUTSIDE)
		link->kind = LINK_OUTSIDE;
	else if (link->call.kind == TASK_CALL_IN)
		*ret_next = decide_call(glance, link);
	link->has_next = *ret_next;
	return true;
}

/* --- the chain --- */

static size_t find_link(const struct wait_chain *chain, uint32_t tid)
{
	size_t i = 0;

	while (i < chain->count && chain->links[i].tid != tid)
		i++;
	return i;
}

/* Another thread of the process may unlock the file, or end the process, and another child may end.
 */
static bool may_others_end(const struct wait_link *link, const struct wait_link *next)
{
	return link->children > 1 ||
	       ((link->kind == LINK_FILE_LOCK || link->kind == LINK_CHILD) && next->threads > 1);
}

/* Is the whole circle as it was? Its links were read one after the other, so a circle of
 * threads that ran meanwhile is none. */
static bool is_standing(struct glance *glance, size_t from)
{
	struct wait_link again;
	const struct wait_chain *chain = &glance->chain;
	uint32_t next;

	for (size_t i = from; i < chain->count; i++) {
		const struct wait_link *link = &chain->links[i];
		const struct wait_link *then = &chain->links[i + 1 < chain->count ? i + 1 : from];

		if (may_others_end(link, then) || !read_link_of(glance, link->tid, &again, &next) ||
		    next != then->tid || again.switches != link->switches ||
		    again.call.stack != link->call.stack)
			return false;
	}
	return true;
}

/* From a thread on, behind the links that the chain has. */
static void follow(void *context)
{
	struct glance *glance = context;
	struct wait_chain *chain = &glance->chain;
	uint32_t tid = glance->tid, next;

	while (tid && chain->count < WAIT_CHAIN_MOST) {
		const size_t known = find_link(chain, tid);

		if (known < chain->count) {
			chain->cycle = is_standing(glance, known) ? known : chain->count;
			glance->found = !glance->is_late;
			return;
		}
		if (!read_link_of(glance, tid, &chain->links[chain->count], &next))
			break;
		chain->count++;
		tid = next;
	}
	chain->is_cut = tid && chain->count == WAIT_CHAIN_MOST;
	chain->cycle = chain->count;
	/* What was not read in time is not known, which differs from nothing. */
	glance->found = chain->count && !glance->is_late;
}

/* Does the last thread wait for a lock of the kernel? True if it is held by another, which is none
 * of the chain's: numbers that are read one after the other make no circle. */
static bool find_kernel_lock(const struct wait_look *look, struct wait_chain *chain,
			     uint32_t *ret_owner)
{
	struct wait_link *link = &chain->links[chain->count - 1];

	if (chain->is_cut || chain->cycle < chain->count || !link->is_deep || link->has_next ||
	    !look->host->kernel_lock || !look->host->kernel_lock(link->tid, &link->kernel))
		return false;
	link->kind = LINK_KERNEL_LOCK;
	*ret_owner = link->kernel.owner;
	link->has_next = *ret_owner;
	return *ret_owner && chain->count < WAIT_CHAIN_MOST &&
	       find_link(chain, *ret_owner) == chain->count;
}

bool wait_chain_follow(struct wait_look *look, uint32_t tid, struct wait_chain *ret)
{
	*ret = (struct wait_chain){ 0 };
	if (!glance_run(follow, look, tid, ret))
		return false;
	while (find_kernel_lock(look, ret, &tid) && glance_run(follow, look, tid, ret))
		;
	return true;
}

static void find_threads(void *context)
{
	struct glance *glance = context;

	guard_about(glance->tid);
	glance->found = list_threads(glance, glance->tid) && !glance->is_late;
}

bool wait_look_threads(struct wait_look *look, uint32_t tgid, struct tids *ret)
{
	struct glance *glance = glance_create(look, tgid);

	if (!glance || !glance_do(glance, find_threads))
		return false;
	array_deinit(ret);
	*ret = glance->tids;
	glance->tids = (struct tids){ 0 };
	glance_destroy(glance);
	return true;
}
