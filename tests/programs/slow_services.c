/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services that are slow, each for one reason that is known. The name of the program selects the
 * service, so tests link this file to the names in `services` below, and see the same names in
 * reports. Usage: NAME DIRECTORY. It prints "ready PID" and goes on until it is ended; its children
 * end with it. Programs that belong together lie in the same directory. Files are written to
 * DIRECTORY.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Keeps the caller's frame: a call in tail position would replace it. */
#define KEEP_FRAME() __asm__ volatile("")

static const char *directory;
static char program_directory[4000];

static void nap(unsigned ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Use `ms` milliseconds of CPU time. */
static void burn(unsigned ms)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * UINT64_C(1000000);

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile unsigned i = 0; i < 20000; i++)
			;
}

static void ready(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
}

static int open_in(const char *name, int flags)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void start_thread(void *(*run)(void *), const char *name)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		errx(1, "cannot create a thread");
	pthread_setname_np(thread, name);
}

/* Run the program `name` of this directory, with `input` as its standard input if it is not -1. */
static pid_t start_program(const char *name, int input)
{
	pid_t parent = getpid(), pid = fork();
	char path[4200];

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || (input >= 0 && dup2(input, 0) < 0))
		_exit(1);
	snprintf(path, sizeof(path), "%s/%s", program_directory, name);
	execl(path, name, directory, "child", (char *)NULL);
	err(1, "%s", path);
}

/* Tests choose the version of a service by a file beside the program. */
static bool is_version(const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", program_directory, name);
	return access(path, F_OK) == 0;
}

/* --- shopd: workers wait for a lock, whose holder flushes a log; not in the old version --- */

static pthread_mutex_t orders_lock = PTHREAD_MUTEX_INITIALIZER;
static int orders_log;
static bool flushes_unlocked;

static NOINLINE void flush_log(void)
{
	static char line[65536];

	if (pwrite(orders_log, line, sizeof(line), 0) < 0 || fsync(orders_log))
		err(1, "orders.log");
	KEEP_FRAME();
}

static void *run_logger(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&orders_lock);
		if (flushes_unlocked)
			pthread_mutex_unlock(&orders_lock);
		for (unsigned i = 0; i < 100; i++)
			flush_log();
		if (!flushes_unlocked)
			pthread_mutex_unlock(&orders_lock);
		sched_yield();
	}
	return NULL;
}

static NOINLINE void take_order(void)
{
	pthread_mutex_lock(&orders_lock);
	pthread_mutex_unlock(&orders_lock);
	burn(1);
}

static void *run_worker(void *unused)
{
	(void)unused;
	for (;;)
		take_order();
	return NULL;
}

static void be_shopd(void)
{
	orders_log = open_in("orders.log", O_RDWR | O_CREAT);
	flushes_unlocked = is_version("old");
	start_thread(run_logger, "logger");
	for (unsigned i = 0; i < 4; i++)
		start_thread(run_worker, "worker");
	ready();
	pause();
}

/* --- mailq: each message is flushed to disk --- */

static NOINLINE void store_message(int fd)
{
	static char message[16384];

	if (pwrite(fd, message, sizeof(message), 0) < 0 || fsync(fd))
		err(1, "mail");
	KEEP_FRAME();
}

static void be_mailq(void)
{
	int fd = open_in("mail", O_RDWR | O_CREAT);

	ready();
	for (;;)
		store_message(fd);
}

/* --- indexer: reads a file that is not in memory --- */

#define SEGMENT  (1u << 20)
#define SEGMENTS 48

static NOINLINE void read_segment(int fd, void *buffer, unsigned i)
{
	if (pread(fd, buffer, SEGMENT, (off_t)i * SEGMENT) < 0)
		err(1, "segments");
	KEEP_FRAME();
}

static void be_indexer(void)
{
	int fd = open_in("segments", O_RDWR | O_CREAT);
	void *buffer = aligned_alloc(4096, SEGMENT);

	if (!buffer)
		errx(1, "no memory");
	memset(buffer, 'x', SEGMENT);
	for (unsigned i = 0; i < SEGMENTS; i++)
		if (pwrite(fd, buffer, SEGMENT, (off_t)i * SEGMENT) != SEGMENT)
			err(1, "segments");
	fsync(fd);
	ready();
	for (unsigned i = 0;; i = (i + 7) % SEGMENTS) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		read_segment(fd, buffer, i);
	}
}

/* --- exporter | packer: the reader of a pipe is slower than its writer --- */

static NOINLINE void write_rows(int fd)
{
	static char rows[65536];

	if (write(fd, rows, sizeof(rows)) < 0)
		err(1, "pipe");
	KEEP_FRAME();
}

static void be_exporter(void)
{
	int fds[2];

	if (pipe(fds))
		err(1, "pipe");
	start_program("packer", fds[0]);
	close(fds[0]);
	ready();
	for (;;)
		write_rows(fds[1]);
}

static NOINLINE void pack_rows(void)
{
	burn(20);
	KEEP_FRAME();
}

static void be_packer(void)
{
	static char rows[4096];

	while (read(0, rows, sizeof(rows)) > 0)
		pack_rows();
}

/* --- webfront: has work, but batchjob has the CPU --- */

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "affinity");
}

static NOINLINE void serve_page(void)
{
	burn(2);
	KEEP_FRAME();
}

static void be_webfront(void)
{
	pin();
	for (unsigned i = 0; i < 3; i++)
		start_program("batchjob", -1);
	ready();
	for (;;) {
		serve_page();
		nap(5);
	}
}

static NOINLINE void crunch_numbers(void)
{
	burn(50);
	KEEP_FRAME();
}

static void be_batchjob(void)
{
	pin();
	setpriority(PRIO_PROCESS, 0, -10);
	for (;;)
		crunch_numbers();
}

/* --- deployer: waits for a child that is slow --- */

static NOINLINE void run_step(void)
{
	pid_t pid = start_program("unpacker", -1);

	if (waitpid(pid, NULL, 0) < 0)
		err(1, "unpacker");
	KEEP_FRAME();
}

static void be_deployer(void)
{
	ready();
	for (;;)
		run_step();
}

static NOINLINE void unpack_archive(void)
{
	burn(150);
	KEEP_FRAME();
}

static void be_unpacker(void)
{
	unpack_archive();
}

/* --- frontend: waits for the answers of a server that is slow --- */

static NOINLINE void ask_price(int fd)
{
	char byte = 'p';

	if (send(fd, &byte, 1, 0) < 0 || recv(fd, &byte, 1, 0) != 1)
		err(1, "pricing");
	KEEP_FRAME();
}

static void be_frontend(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0 || fd < 0 || bind(listener, (void *)&address, sizeof(address)) ||
	    listen(listener, 1) || getsockname(listener, (void *)&address, &size))
		err(1, "listen");
	start_program("pricing", listener);
	close(listener);
	if (connect(fd, (void *)&address, sizeof(address)))
		err(1, "connect");
	ready();
	for (;;)
		ask_price(fd);
}

static NOINLINE void compute_price(void)
{
	nap(30);
	burn(20);
}

static void be_pricing(void)
{
	int fd = accept(0, NULL, NULL);
	char byte;

	while (fd >= 0 && recv(fd, &byte, 1, 0) == 1) {
		compute_price();
		if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
			break;
	}
}

/* --- crawler: its name server does not answer --- */

#define NAME_SERVER "127.0.0.77"

static NOINLINE void find_host(void)
{
	struct addrinfo *found = NULL;

	if (getaddrinfo("inventory.internal.", "80", NULL, &found) == 0)
		freeaddrinfo(found);
	KEEP_FRAME();
}

/* Its own resolv.conf, in a mount namespace, and a name server that receives and does not answer.
 */
static void be_crawler(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd = open_in("resolv.conf", O_RDWR | O_CREAT | O_TRUNC);
	int silent = socket(AF_INET, SOCK_DGRAM, 0);
	char path[4200];

	inet_pton(AF_INET, NAME_SERVER, &address.sin_addr);
	dprintf(fd, "nameserver " NAME_SERVER "\n");
	snprintf(path, sizeof(path), "%s/resolv.conf", directory);
	if (bind(silent, (void *)&address, sizeof(address)))
		err(1, NAME_SERVER);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL))
		err(1, "resolv.conf");
	ready();
	for (;;)
		find_host();
}

/* --- imagecache: takes new memory from the kernel again and again --- */

#define IMAGE (32u << 20)

static NOINLINE void load_image(void)
{
	char *image = mmap(NULL, IMAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (image == MAP_FAILED)
		err(1, "mmap");
	madvise(image, IMAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < IMAGE; i += 4096)
		image[i] = 1;
	munmap(image, IMAGE);
}

static void be_imagecache(void)
{
	ready();
	for (;;)
		load_image();
}

/* --- gateway: a function that uses too much CPU time --- */

static NOINLINE void parse_header(void)
{
	for (volatile unsigned i = 0; i < 20000000; i++)
		;
}

static void be_gateway(void)
{
	ready();
	for (;;) {
		parse_header();
		nap(1);
	}
}

/* --- retryd: sleeps between attempts --- */

static NOINLINE void wait_before_retry(void)
{
	nap(250);
	KEEP_FRAME();
}

static void be_retryd(void)
{
	ready();
	for (;;) {
		burn(1);
		wait_before_retry();
	}
}

/* --- spooler: threads that wait for a lock of the kernel, the one of a directory --- */

static NOINLINE void move_job(unsigned number)
{
	char from[4200], to[4200];
	int fd;

	snprintf(from, sizeof(from), "%s/job-%u", directory, number);
	snprintf(to, sizeof(to), "%s/done-%u", directory, number);
	fd = open(from, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	rename(from, to);
	KEEP_FRAME();
}

static void *run_spooler(void *unused)
{
	unsigned number = (unsigned)gettid();

	(void)unused;
	for (;;)
		move_job(number);
	return NULL;
}

static void be_spooler(void)
{
	for (unsigned i = 0; i < 6; i++)
		start_thread(run_spooler, "mover");
	ready();
	pause();
}

/* --- billing: its new version writes what its old version did not --- */

static NOINLINE void write_debug_log(int fd)
{
	static char line[65536];

	if (pwrite(fd, line, sizeof(line), 0) < 0)
		err(1, "debug.log");
	KEEP_FRAME();
}

static void bill(bool is_new)
{
	int fd = open_in("debug.log", O_RDWR | O_CREAT);

	ready();
	for (;;) {
		burn(1);
		if (is_new)
			for (unsigned i = 0; i < 20; i++)
				write_debug_log(fd);
		nap(5);
	}
}

static void be_billing(void)
{
	bill(is_version("new"));
}

static const struct service {
	const char *name;
	void (*run)(void);
} services[] = {
	{ "shopd", be_shopd },           { "mailq", be_mailq },       { "indexer", be_indexer },
	{ "exporter", be_exporter },     { "packer", be_packer },     { "webfront", be_webfront },
	{ "batchjob", be_batchjob },     { "deployer", be_deployer }, { "unpacker", be_unpacker },
	{ "frontend", be_frontend },     { "pricing", be_pricing },   { "crawler", be_crawler },
	{ "imagecache", be_imagecache }, { "gateway", be_gateway },   { "retryd", be_retryd },
	{ "spooler", be_spooler },       { "billing", be_billing },
};

int main(int argc, char **argv)
{
	const char *name = program_invocation_short_name;
	ssize_t length =
		readlink("/proc/self/exe", program_directory, sizeof(program_directory) - 1);
	char *slash;

	if (argc < 2 || length <= 0)
		errx(2, "usage: NAME DIRECTORY, where NAME is that of a service");
	program_directory[length] = 0;
	slash = strrchr(program_directory, '/');
	*slash = 0;
	directory = argv[1];
	for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++)
		if (!strcmp(services[i].name, name)) {
			services[i].run();
			return 0;
		}
	errx(2, "unknown service '%s'", name);
}
