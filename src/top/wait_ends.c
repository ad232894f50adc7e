/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other ends of pipes and sockets, for wait_chain.h: found by looking through the descriptors
 * of processes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/units.h"
#include "os/pairs.h"
#include "os/socket_table.h"
#include "top/glance.h"

/* The time for all descriptors: a host may have a million. */
#define PATIENCE_NS (100 * NS_PER_S / 1000)

/* Processes that are named; of more only the number. */
#define NAMED_MOST 2

/* What is looked for, and who has it. */
struct end_search {
	char target[WAIT_OBJECT_MAX]; /* "pipe:[12]", or the path of a FIFO */
	bool any_access;              /* or only descriptors of the other direction */
	bool is_reader;               /* of the pipe: writers are looked for */
	struct {
		uint32_t pid;
		char name[32];
	} found[NAMED_MOST];
	size_t count;
	bool is_cut; /* the time was over */
};

/* --- descriptors --- */

static bool is_target(struct glance *glance, const char *path, const struct end_search *search)
{
	char target[WAIT_OBJECT_MAX];

	return glance_link(glance, path, target, sizeof(target)) &&
	       strcmp(target, search->target) == 0;
}

/* The access mode of a descriptor: O_RDONLY, O_WRONLY, O_RDWR; O_RDWR where it is not told. */
static int access_of(struct glance *glance, uint32_t pid, uint32_t number)
{
	const struct text file = glance_file(glance, "%" PRIu32 "/fdinfo/%" PRIu32, pid, number);
	struct text value;
	int mode = O_RDWR;

	/* In octal digits, of which the last has it. */
	if (pairs_find(file, ':', TEXT("flags"), &value) && value.length)
		mode = (value.bytes[value.length - 1] - '0') & O_ACCMODE;
	return mode;
}

static bool is_other_end(struct glance *glance, uint32_t pid, uint32_t number,
			 const struct end_search *search)
{
	char path[64];

	snprintf(path, sizeof(path), "%" PRIu32 "/fd/%" PRIu32, pid, number);
	if (!is_target(glance, path, search))
		return false;
	return search->any_access ||
	       access_of(glance, pid, number) != (search->is_reader ? O_RDONLY : O_WRONLY);
}

/* Has the process such a descriptor? tasks_list() has all numbers but 0. */
static bool has_end(struct glance *glance, uint32_t pid, const struct end_search *search,
		    uint64_t until_ns)
{
	char path[48];
	int failed;

	snprintf(path, sizeof(path), "%" PRIu32 "/fd", pid);
	if (!glance_open(glance, path, O_DIRECTORY))
		return false;
	failed = tasks_list(glance->fd, &glance->tids);
	glance_close(glance);
	if (failed)
		return false;
	if (is_other_end(glance, pid, 0, search))
		return true;
	for (size_t i = 0; i < glance->tids.count; i++) {
		if (i % 64 == 63 && clock_ns(CLOCK_MONOTONIC) > until_ns)
			return false;
		if (is_other_end(glance, pid, glance->tids.items[i], search))
			return true;
	}
	return false;
}

static void add_found(struct glance *glance, struct end_search *search, uint32_t pid)
{
	const struct text name = text_trim(glance_file(glance, "%" PRIu32 "/comm", pid));
	const size_t at = search->count++;

	if (at >= NAMED_MOST)
		return;
	search->found[at].pid = pid;
	snprintf(search->found[at].name, sizeof(search->found[at].name), "%.*s", (int)name.length,
		 name.bytes);
	text_make_safe(search->found[at].name);
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static int by_distance(const void *a, const void *b, void *from)
{
	const uint32_t left = distance(*(const uint32_t *)a, *(const uint32_t *)from),
		       right = distance(*(const uint32_t *)b, *(const uint32_t *)from);

	return (left > right) - (left < right);
}

/* All processes, until the time is over: first those that were started about when this one was. */
static void search_processes(struct glance *glance, uint32_t from, struct end_search *search)
{
	const uint64_t own_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS,
		       until_ns = own_ns < glance->look->until_ns ? own_ns : glance->look->until_ns;
	struct tids *pids = &glance->pids;

	if (tasks_list(glance->look->host->proc, pids) || !pids->count)
		return;
	qsort_r(pids->items, pids->count, sizeof(*pids->items), by_distance, &from);
	for (size_t i = 0; i < pids->count && !search->is_cut; i++) {
		guard_about(pids->items[i]);
		if (has_end(glance, pids->items[i], search, until_ns))
			add_found(glance, search, pids->items[i]);
		search->is_cut = clock_ns(CLOCK_MONOTONIC) >= until_ns;
	}
}

/* --- in words --- */

__attribute__((format(printf, 2, 3))) static void append(struct wait_link *link, const char *format,
							 ...)
{
	const size_t used = strlen(link->object);
	va_list values;

	va_start(values, format);
	vsnprintf(link->object + used, sizeof(link->object) - used, format, values);
	va_end(values);
}

/* " to postgres (812) and 3 more" */
static void append_found(struct wait_link *link, const struct end_search *search, const char *word)
{
	for (size_t i = 0; i < search->count && i < NAMED_MOST; i++) {
		append(link, "%s%s (%" PRIu32 ")", i ? ", " : word, search->found[i].name,
		       search->found[i].pid);
	}
	if (search->count > NAMED_MOST)
		append(link, " and %zu more", search->count - NAMED_MOST);
}

static void name_pipe(struct glance *glance, struct wait_link *link)
{
	const bool is_reader = access_of(glance, link->tid, link->descriptor) == O_RDONLY;
	struct end_search search = { .is_reader = is_reader };

	if (link->inode)
		snprintf(search.target, sizeof(search.target), "pipe:[%" PRIu64 "]", link->inode);
	else
		snprintf(search.target, sizeof(search.target), "%s", link->object);
	if (link->is_fifo)
		snprintf(link->object, sizeof(link->object), "the FIFO %.*s",
			 (int)sizeof(link->object) - 64, search.target);
	search_processes(glance, link->tgid, &search);
	append_found(link, &search, is_reader ? " from " : " to ");
	if (!search.count && !search.is_cut)
		append(link, " whose other end no other process has open");
}

static void append_queues(struct wait_link *link, uint64_t out, uint64_t in)
{
	char text[UNITS_TEXT_MAX];

	if (out)
		append(link, ", %s not acknowledged",
		       units_format(text, UNIT_BYTES, (__int128)out));
	if (in)
		append(link, ", %s to read", units_format(text, UNIT_BYTES, (__int128)in));
}

static bool find_socket(struct glance *glance, uint32_t tid, const char *table, uint64_t inode,
			const struct socket_line *other, struct socket_line *ret)
{
	struct text rest = glance_file(glance, "%" PRIu32 "/net/%s", tid, table);

	while (socket_table_next(&rest, ret))
		if (other ? socket_addresses_equal(&ret->local, &other->peer) &&
				    socket_addresses_equal(&ret->peer, &other->local)
			  : ret->inode == inode)
			return true;
	return false;
}

static void search_peer(struct glance *glance, struct wait_link *link, uint64_t inode,
			const char *word)
{
	struct end_search search = { .any_access = true };

	if (!inode)
		return;
	snprintf(search.target, sizeof(search.target), "socket:[%" PRIu64 "]", inode);
	search_processes(glance, link->tgid, &search);
	append_found(link, &search, word);
}

/* Does a socket that listens take connections to this address? */
static bool is_listener_of(const struct socket_line *line, const struct socket_address *address)
{
	static const unsigned char zeros[16];

	return line->state == SOCKET_LISTENS && line->local.port == address->port &&
	       (socket_addresses_equal(&line->local, address) ||
		memcmp(line->local.bytes, zeros, line->local.length) == 0);
}

/* The socket that listens at an address; with the inode 0 if there is none. */
static struct socket_line find_listener(struct glance *glance, uint32_t tid,
					const struct socket_address *address)
{
	static const char *const tables[] = { "tcp", "tcp6" };
	struct socket_line line;

	for (size_t i = 0; i < array_length(tables); i++) {
		struct text rest = glance_file(glance, "%" PRIu32 "/net/%s", tid, tables[i]);

		while (socket_table_next(&rest, &line))
			if (is_listener_of(&line, address))
				return line;
	}
	return (struct socket_line){ 0 };
}

/* No process has accepted it yet. */
static void name_listener(struct glance *glance, struct wait_link *link,
			  const struct socket_line *line)
{
	const struct socket_line listener = find_listener(glance, link->tid, &line->peer);
	const size_t before = strlen(link->object);

	search_peer(glance, link, listener.inode, " of ");
	if (strlen(link->object) > before)
		append(link, ", which has %" PRIu64 " connections to accept", listener.bytes_in);
}

/* A connection, and the process at its other end where that is on this host. */
static bool name_internet_socket(struct glance *glance, struct wait_link *link)
{
	static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6" };
	char address[SOCKET_ADDRESS_MAX];
	struct socket_line line, other;
	bool found = false;

	for (size_t i = 0; i < array_length(tables); i++) {
		if (!find_socket(glance, link->tid, tables[i], link->inode, NULL, &line))
			continue;
		if (line.state == SOCKET_LISTENS) {
			socket_address_print(&line.local, address);
			snprintf(link->object, sizeof(link->object), "%s, %" PRIu64 " to accept",
				 address, line.bytes_in);
			return true;
		}
		socket_address_print(line.peer.port ? &line.peer : &line.local, address);
		snprintf(link->object, sizeof(link->object), "a %s %s",
			 !line.peer.port                                       ? "socket at"
			 : find_listener(glance, link->tid, &line.local).inode ? "connection from"
									       : "socket to",
			 address);
		for (size_t k = 0; k < array_length(tables) && line.peer.port; k++)
			if (find_socket(glance, link->tid, tables[k], 0, &line, &other)) {
				found = true;
				break;
			}
		if (found && other.inode)
			search_peer(glance, link, other.inode, " of ");
		else if (line.peer.port)
			name_listener(glance, link, &line);
		append_queues(link, line.bytes_out, line.bytes_in);
		return true;
	}
	return false;
}

static struct wait_link *last_link(struct glance *glance)
{
	return &glance->chain.links[glance->chain.count - 1];
}

static void name_ends(void *context)
{
	struct glance *glance = context;
	struct wait_link *link = last_link(glance);

	guard_about(link->tid);
	glance->found = true;
	if (link->is_fifo || strcmp(link->object, "a pipe") == 0)
		name_pipe(glance, link);
	else if (link->peer)
		search_peer(glance, link, link->peer, " to ");
	else
		name_internet_socket(glance, link);
}

void wait_chain_name_ends(struct wait_look *look, struct wait_chain *chain)
{
	struct wait_link *link = &chain->links[chain->count - 1];
	struct unix_socket socket;

	if (!chain->count || (!link->inode && !link->is_fifo))
		return;
	/* Here, for the confined thread may not ask. */
	if (strcmp(link->object, "a socket") == 0 && unix_socket_find(link->inode, &socket)) {
		link->peer = socket.peer;
		snprintf(link->object, sizeof(link->object), "a Unix socket");
		append_queues(link, 0, socket.bytes_in);
	}
	glance_run(name_ends, look, link->tid, chain);
}
