/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shop KIND DIRECTORY: programs of a host whose load varies by chance, until it is ended.
 *
 *	shop-web     six workers serve requests at random times, at a rate that drifts. A request
 *	             takes CPU time in parse_cart, find_price (which holds a lock) and render_page;
 *	             some are orders, which shop-orders must confirm. Sizes of requests vary, a few
 *	             are large
 *	shop-orders  appends orders to DIRECTORY/orders, and flushes that file after some
 *	shop-images  takes new memory for images, and computes
 *	shop-stock   counts its stock from time to time, for a moment or for long; and seldom reads
 *	             DIRECTORY/stock from storage
 *
 * KIND is what this host has that others do not:
 *
 *	normal   nothing
 *	parse    parse_cart takes four times as long
 *	lock     find_price waits for something while it holds the lock
 *	storage  shop-orders flushes after each order
 *	busy     all programs have one CPU, and three shop-backup, of higher priority, too
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* Keeps the caller's frame: a call in tail position would replace it. */
#define KEEP_FRAME() __asm__ volatile("")

#define WORKERS      6
#define STEPS_MS     250000 /* of work(): about a millisecond */
#define PAUSE_MS     35     /* of a worker between requests, in the mean */
#define DRIFT_MS     500    /* between changes of the rate */
#define ORDERS_IN    6      /* one request of so many is an order */
#define FLUSH_IN     8      /* orders */
#define READ_IN      50     /* counts of shop-stock */
#define BACKUPS      3
#define NICER        7

enum kind { NORMAL, PARSE, LOCK, STORAGE, BUSY };
static const char *const kinds[] = { "normal", "parse", "lock", "storage", "busy" };
static enum kind kind;

static pthread_mutex_t price_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic double rate = 1;
static int orders_socket;

/* --- chance --- */

static _Thread_local uint64_t chance_state;

static double uniform(void)
{
	if (!chance_state && getrandom(&chance_state, sizeof(chance_state), 0) < 0)
		err(1, "getrandom");
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (double)(chance_state >> 11) / 9007199254740992.0;
}

static double exponential(void)
{
	return -log(1 - uniform());
}

/* 1 in the mean of most; one of a hundred is above 5. */
static double size_of_request(void)
{
	return fmin(0.5 / sqrt(1 - uniform()), 20);
}

static void nap(double ms)
{
	usleep((useconds_t)(ms * 1000));
}

static inline __attribute__((always_inline)) void work(double ms)
{
	uint32_t x = (uint32_t)chance_state | 1;

	for (uint64_t i = 0; i < (uint64_t)(ms * STEPS_MS); i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	__asm__ volatile("" : : "r"(x));
}

/* --- shop-web --- */

static NOINLINE void parse_cart(double size)
{
	work(size * (kind == PARSE ? 1.6 : 0.4));
}

static NOINLINE void find_price(double size)
{
	pthread_mutex_lock(&price_lock);
	work(size * 0.3);
	if (kind == LOCK)
		nap(2);
	pthread_mutex_unlock(&price_lock);
	KEEP_FRAME();
}

static NOINLINE void render_page(double size)
{
	work(size * 1.0);
}

static NOINLINE void place_order(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char byte = 'o';

	pthread_mutex_lock(&lock);
	if (send(orders_socket, &byte, 1, 0) != 1 || recv(orders_socket, &byte, 1, 0) != 1)
		err(1, "shop-orders");
	pthread_mutex_unlock(&lock);
	KEEP_FRAME();
}

static void *serve_requests(void *unused)
{
	(void)unused;
	for (;;) {
		const double size = size_of_request();

		nap(PAUSE_MS * exponential() / rate);
		parse_cart(size);
		find_price(size);
		render_page(size);
		if (uniform() * ORDERS_IN < 1)
			place_order();
	}
	return NULL;
}

/* The logarithm of the rate goes up and down, and back to 0. */
static void be_web(void)
{
	double drift = 0;

	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, serve_requests, NULL))
			errx(1, "cannot create a thread");
	}
	for (;;) {
		drift = 0.95 * drift + 0.25 * (uniform() + uniform() + uniform() - 1.5);
		rate = exp(drift);
		nap(DRIFT_MS);
	}
}

/* --- the others --- */

static int orders_file;

static NOINLINE void write_order(void)
{
	static char order[4096];

	if (pwrite(orders_file, order, sizeof(order), (off_t)(uniform() * 1000) * 4096) < 0)
		err(1, "orders");
	KEEP_FRAME();
}

static NOINLINE void flush_orders(void)
{
	if (fsync(orders_file))
		err(1, "orders");
	KEEP_FRAME();
}

static void be_orders(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		work(2 * size_of_request());
		write_order();
		if (kind == STORAGE || uniform() * FLUSH_IN < 1)
			flush_orders();
		if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
			break;
	}
}

static NOINLINE void load_image(double size)
{
	const size_t bytes = (size_t)(size * 256) * 4096;
	char *image = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (image == MAP_FAILED)
		err(1, "mmap");
	for (size_t i = 0; i < bytes; i += 4096)
		image[i] = 1;
	munmap(image, bytes);
}

static NOINLINE void scale_image(double size)
{
	work(size * 3);
}

static void be_images(int unused)
{
	(void)unused;
	for (;;) {
		const double size = size_of_request();

		load_image(size);
		scale_image(size);
		nap(60 * exponential());
	}
}

static NOINLINE void count_stock(void)
{
	work(150 * exponential());
}

static NOINLINE void read_stock(int file)
{
	static char bytes[1 << 20];

	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	if (pread(file, bytes, sizeof(bytes), 0) < 0)
		err(1, "stock");
	KEEP_FRAME();
}

static int open_stock(void)
{
	static char bytes[1 << 20];
	const int file = open("stock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (file < 0 || pwrite(file, bytes, sizeof(bytes), 0) < 0 || fsync(file))
		err(1, "stock");
	return file;
}

static void be_stock(int unused)
{
	const int file = open_stock();

	(void)unused;
	for (;;) {
		count_stock();
		if (uniform() * READ_IN < 1)
			read_stock(file);
		nap(1500 * exponential());
	}
}

static NOINLINE void copy_files(void)
{
	work(100);
}

static void be_backup(int unused)
{
	(void)unused;
	if (setpriority(PRIO_PROCESS, 0, 0))
		err(1, "priority");
	for (;;)
		copy_files();
}

static void start_program(const char *name, void (*run)(int fd), int fd)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	if (getppid() == parent)
		run(fd);
	_exit(1);
}

static void use_one_cpu(void)
{
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	if (sched_setaffinity(0, sizeof(last), &last) || setpriority(PRIO_PROCESS, 0, NICER))
		err(1, "CPU");
}

static void read_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i], name) == 0) {
			kind = (enum kind)i;
			return;
		}
	errx(2, "'%s' is no kind", name);
}

int main(int argc, char **argv)
{
	int fds[2];

	if (argc != 3)
		errx(2, "usage: shop KIND DIRECTORY");
	read_kind(argv[1]);
	if (chdir(argv[2]) || socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		err(1, "%s", argv[2]);
	orders_file = open("orders", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (orders_file < 0)
		err(1, "orders");
	if (kind == BUSY)
		use_one_cpu();
	start_program("shop-orders", be_orders, fds[1]);
	start_program("shop-images", be_images, -1);
	start_program("shop-stock", be_stock, -1);
	for (unsigned i = 0; kind == BUSY && i < BACKUPS; i++)
		start_program("shop-backup", be_backup, -1);
	close(fds[1]);
	orders_socket = fds[0];
	prctl(PR_SET_NAME, "shop-web");
	be_web();
}
