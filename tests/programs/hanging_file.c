/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of user 65534 that hangs whoever looks at it, by a file of a FUSE file system that does
 * not answer. Needs root and /dev/fuse, which any user has who may run fusermount3; without them
 * the status is 3. Prints "ready PID" of the process, and stays until it is killed:
 *
 *	hanging_file FILE memory	waits with a stack pointer that leads into the file
 *	hanging_file FILE maps		holds the lock of its memory map, and cannot let go of it
 *	hanging_file FILE exec		the same, and another process with that map is in execve(2),
 *					where it holds the lock that all need who may look at it
 *
 * FILE is an empty file, over which the file system is mounted where only these processes see it.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STRANGER 65534
#define SIZE     (1 << 20)

/* --- the file system --- */

static int mount_over(const char *path)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=%o,user_id=%d,group_id=%d,allow_other,max_read=4096", fd,
		 (unsigned)S_IFREG, STRANGER, STRANGER);
	if (fd < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("hanging_file", path, "fuse.hanging_file", MS_NOSUID | MS_NODEV, options)) {
		warn("%s", path);
		exit(3);
	}
	return fd;
}

static void answer(int fd, uint64_t unique, const void *body, size_t size)
{
	struct {
		struct fuse_out_header head;
		char body[256];
	} out = { .head = { .len = (uint32_t)(sizeof(out.head) + size), .unique = unique } };

	if (size > sizeof(out.body))
		abort();
	memcpy(out.body, body, size);
	if (write(fd, &out, out.head.len) < 0)
		warn("answer");
}

/* All is answered but for reads. The second file that is opened has no page cache: while the kernel
 * maps it, with the lock of the map, it waits for the pages of the first one. */
static void serve(int fd)
{
	static char request[1 << 20] __attribute__((aligned(8)));
	const struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	const struct fuse_attr_out attr = { .attr_valid = 1000,
					    .attr = { .ino = 1,
						      .size = SIZE,
						      .mode = S_IFREG | 0666,
						      .nlink = 1,
						      .uid = STRANGER } };
	struct fuse_open_out opened = { 0 };

	while (read(fd, request, sizeof(request)) > 0) {
		const struct fuse_in_header *in = (const void *)request;

		switch (in->opcode) {
		case FUSE_INIT:
			answer(fd, in->unique, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			answer(fd, in->unique, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			answer(fd, in->unique, &opened, sizeof(opened));
			opened.open_flags = FOPEN_DIRECT_IO;
			break;
		default:
			break;
		}
	}
}

/* --- the process --- */

/* The kernel asks for the size of the file once it is wanted. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) || stat.st_size != SIZE)
		err(1, "%s", path);
	return fd;
}

static char *map(int fd)
{
	char *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	if (pages == MAP_FAILED)
		err(1, "mmap");
	return pages;
}

static void *read_page(void *fd)
{
	return (void *)(uintptr_t) * (volatile char *)map(*(int *)fd);
}

static void *map_again(void *fd)
{
	return map(*(int *)fd);
}

static void start(void *(*work)(void *), int *fd)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, fd))
		err(1, "thread");
}

static void wait_with_stack(char *stack)
{
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp; mov %0, %%rbp; 1: mov %1, %%eax; syscall; jmp 1b"
			 :
			 : "r"(stack), "i"(SYS_pause));
#else
	(void)stack;
	exit(3);
#endif
	__builtin_unreachable();
}

/* The process with the same memory map: exec_mmap() in fs/exec.c takes its exec_update_lock, and
 * then waits for the lock of the map. */
static int run_program(void *is_held)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!*(volatile bool *)is_held)
		usleep(1000);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

/* Takes no memory, and so not the lock either. */
static void tell(void)
{
	char line[32];
	int length = snprintf(line, sizeof(line), "ready %d\n", getpid());

	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		err(1, "ready");
}

static void hang(const char *path, const char *how)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	static int cached, direct;
	static bool is_held;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cached = open_file(path);
	if (strcmp(how, "memory") == 0) {
		char *pages = map(cached);

		tell();
		wait_with_stack(pages + SIZE / 2);
	}
	direct = open_file(path);
	if (strcmp(how, "exec") == 0 &&
	    clone(run_program, stack + sizeof(stack), CLONE_VM | SIGCHLD, &is_held) < 0)
		err(1, "clone");
	start(read_page, &cached);
	/* By now its page is locked, and then the lock is held. */
	usleep(200000);
	start(map_again, &direct);
	usleep(200000);
	is_held = true;
	usleep(200000);
	tell();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pid_t child;
	int fd;

	if (argc != 3 || (strcmp(argv[2], "memory") != 0 && strcmp(argv[2], "maps") != 0 &&
			  strcmp(argv[2], "exec") != 0))
		errx(2, "usage: hanging_file FILE memory|maps|exec");
	fd = mount_over(argv[1]);
	if (setresgid(STRANGER, STRANGER, STRANGER) || setresuid(STRANGER, STRANGER, STRANGER))
		err(1, "user");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(fd);
		hang(argv[1], argv[2]);
	}
	serve(fd);
	return 1;
}
