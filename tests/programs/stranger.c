/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an unprivileged user may do to somebody who measures. Prints "ready", and stays until it is
 * killed:
 *
 *	stranger lease FILE...     holds write leases on its files, and takes them again when they
 *	                           are broken: who opens a file waits (F_SETLEASE in fcntl(2))
 *	stranger metrics COUNT     the same with metrics as libkstats has them
 *	stranger code LINK         runs in anonymous memory; its map of names is a link to LINK
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kstats/shared_memory.h"

#define FILES_MAX 64

static void hold(const int *fds, int count)
{
	signal(SIGIO, SIG_IGN);
	for (int i = 0; i < count; i++)
		if (fcntl(fds[i], F_SETLEASE, F_WRLCK))
			err(1, "lease");
	puts("ready");
	fflush(stdout);
	for (;;) {
		usleep(100000);
		for (int i = 0; i < count; i++)
			fcntl(fds[i], F_SETLEASE, F_WRLCK);
	}
}

static void lease(int count, char **paths)
{
	int fds[FILES_MAX];

	for (int i = 0; i < count; i++) {
		fds[i] = open(paths[i], O_RDWR | O_CLOEXEC);
		if (fds[i] < 0)
			err(1, "%s", paths[i]);
	}
	hold(fds, count);
}

/* A lease is given only where nothing else has the file open: it is opened again. */
static int make_metric(int number)
{
	struct kstats_shared_header header = { .version = 1, .frac_bits = 2, .cpus = 1 };
	size_t size = kstats_shared_size(header.frac_bits, header.cpus);
	char name[32], path[64];
	int made, fd;

	snprintf(name, sizeof(name), "kstats:leased%d", number);
	memcpy(header.magic, KSTATS_SHARED_MAGIC, 8);
	strcpy(header.name, strchr(name, ':') + 1);
	made = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
	if (made < 0 || ftruncate(made, (off_t)size) ||
	    pwrite(made, &header, sizeof(header), 0) != sizeof(header) ||
	    fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK))
		err(1, "%s", name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	close(made);
	if (fd < 0 || mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		err(1, "%s", name);
	return fd;
}

static void metrics(int count)
{
	int fds[FILES_MAX];

	for (int i = 0; i < count; i++)
		fds[i] = make_metric(i);
	hold(fds, count);
}

static void run_code(const char *target)
{
#if defined(__x86_64__)
	/* mov $0x10000000,%rcx; 1: dec %rcx; jne 1b; ret */
	static const unsigned char code[] = { 0x48, 0xc7, 0xc1, 0,    0,    0,   0x10,
					      0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
#else
	/* mov x0, #0x10000000; 1: subs x0, x0, #1; b.ne 1b; ret */
	static const unsigned int code[] = { 0xd2a20000, 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif
	char *memory = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	char map[64];

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	if (memory == MAP_FAILED || symlink(target, map))
		err(1, "%s", map);
	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache(memory, memory + sizeof(code));
	puts("ready");
	fflush(stdout);
	for (;;)
		((void (*)(void))memory)();
}

int main(int argc, char **argv)
{
	const char *act = argc > 2 ? argv[1] : "";

	if (strcmp(act, "lease") == 0 && argc - 2 <= FILES_MAX)
		lease(argc - 2, argv + 2);
	else if (strcmp(act, "metrics") == 0 && atoi(argv[2]) <= FILES_MAX)
		metrics(atoi(argv[2]));
	else if (strcmp(act, "code") == 0)
		run_code(argv[2]);
	errx(2, "stranger lease FILE... | metrics COUNT | code LINK");
}
