/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for data, or for a time. */
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "states.h"

/* So much that the CPU time of a read is nothing to its wait: when a wake-up preempts somebody, the
 * kernel books the time until the switch as CPU time. */
#define READ_SIZE (4u << 20)

static void run_disk(struct life *life)
{
	static char block[READ_SIZE] __attribute__((aligned(PAGE)));
	const char *file = getenv("STATES_FILE");
	int fd = file ? open(file, O_RDONLY | O_DIRECT | O_CLOEXEC) : -1;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END) / READ_SIZE * READ_SIZE;

	if (size == 0)
		err(1, "$STATES_FILE");
	for (off_t at = 0;; at = (at + READ_SIZE) % size) {
		if (pread(fd, block, READ_SIZE, at) != READ_SIZE)
			err(1, "%s", file);
		note_thread(life);
	}
}

static void run_pipe(struct life *life)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		err(1, "pipe");
	begin(life);
	(void)!read(ends[0], &byte, 1);
}

/* Each opening of it is one of its own, and it has no name to be removed. */
static void make_fifo(char path[64])
{
	char name[] = "/tmp/states.XXXXXX/fifo";
	int fd;

	strrchr(name, '/')[0] = '\0';
	if (!mkdtemp(name))
		err(1, "%s", name);
	name[strlen(name)] = '/';
	if (mkfifo(name, 0600))
		err(1, "%s", name);
	fd = open(name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", name);
	snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
	unlink(name);
	strrchr(name, '/')[0] = '\0';
	rmdir(name);
}

static void run_fifo(struct life *life)
{
	char path[64];

	make_fifo(path);
	begin(life);
	open(path, O_RDONLY | O_CLOEXEC);
}

/* Somebody opens the other end at times. */
static void *open_fifo(void *path)
{
	for (;;) {
		nap(100 * NS_PER_MS);
		close(open(path, O_WRONLY | O_CLOEXEC));
	}
	return NULL;
}

static void run_fifo_opener(struct life *life)
{
	char path[64];
	pthread_t other;

	make_fifo(path);
	if (pthread_create(&other, NULL, open_fifo, path))
		errx(1, "no thread");
	for (begin(life);; note_thread(life))
		close(open(path, O_RDONLY | O_CLOEXEC));
}

static int listening(struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || listen(fd, 5) ||
	    getsockname(fd, (struct sockaddr *)address, &size))
		err(1, "listen");
	return fd;
}

static void run_socket(struct life *life)
{
	struct sockaddr_in address;
	int server = listening(&address), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    accept4(server, NULL, NULL, SOCK_CLOEXEC) < 0)
		err(1, "connect");
	begin(life);
	recv(fd, &byte, 1, 0);
}

static void run_unix_socket(struct life *life)
{
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		err(1, "socketpair");
	begin(life);
	recv(ends[0], &byte, 1, 0);
}

static void run_epoll(struct life *life)
{
	struct sockaddr_in address;
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listening(&address), &event))
		err(1, "epoll");
	begin(life);
	epoll_wait(epoll, &event, 1, -1);
}

static void run_accept(struct life *life)
{
	struct sockaddr_in address;
	int fd = listening(&address);

	begin(life);
	accept4(fd, NULL, NULL, SOCK_CLOEXEC);
}

/* When it is over they wait for a CPU, and know for how long. */
static void run_timer(struct life *life)
{
	for (;; note_thread(life))
		nap(100 * NS_PER_MS);
}

static void run_poll_timer(struct life *life)
{
	for (;; note_thread(life))
		poll(NULL, 0, 100);
}

static void run_poll_timeout(struct life *life)
{
	struct pollfd end = { .events = POLLIN };
	int ends[2];

	if (pipe(ends))
		err(1, "pipe");
	end.fd = ends[0];
	for (;; note_thread(life))
		poll(&end, 1, 100);
}

static void run_timerfd(struct life *life)
{
	const struct itimerspec each = { .it_value.tv_nsec = 100000000,
					 .it_interval.tv_nsec = 100000000 };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t times;

	if (timer < 0 || timerfd_settime(timer, 0, &each, NULL))
		err(1, "timerfd");
	for (begin(life);; note_thread(life))
		(void)!read(timer, &times, sizeof(times));
}

/* Two locks that somebody else has (Linux 5.16). */
static void run_waitv(struct life *life)
{
	uint32_t locks[2] = { 2, 2 };
	struct {
		uint64_t value, address;
		uint32_t flags, reserved;
	} waiters[2] = { { 2, (uintptr_t)&locks[0], 2, 0 }, { 2, (uintptr_t)&locks[1], 2, 0 } };

	begin(life);
	syscall(449, waiters, 2, 0, NULL, 0);
}

const struct behaviour wait_behaviours[] = {
	{ "timerfd", "timerfd", "mixed:sleep_timer", run_timerfd, false, 0 },
	{ "waitv", "waitv", "lock_futex", run_waitv, false, 0 },
	{ "disk", "disk", "mixed:sleep_disk", run_disk, false, 0 },
	{ "pipe", "pipe", "sleep_pipe", run_pipe, false, 0 },
	{ "fifo", "fifo", "sleep_pipe", run_fifo, false, 0 },
	{ "fifo_opener", "fifo_opener", "mixed:sleep_pipe", run_fifo_opener, false, 0 },
	{ "socket", "socket", "sleep_network", run_socket, false, 0 },
	{ "unix_socket", "unix_socket", "sleep_network", run_unix_socket, false, 0 },
	{ "timer", "timer", "mixed:sleep_timer", run_timer, false, 0 },
	{ "poll_timer", "poll_timer", "mixed:sleep_timer", run_poll_timer, false, 0 },
	{ "poll_timeout", "poll_timeout", "mixed:idle_poll", run_poll_timeout, false, 0 },
	{ "epoll", "epoll", "idle_poll", run_epoll, false, 0 },
	{ "accept", "accept", "idle_accept", run_accept, false, 0 },
	{ 0 },
};
