/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that cost as much as possible to whoever reads them:
 *
 *	kstats_hostile large NUMBER CPUS     tables for so many CPUs, with counts in every slot
 *	kstats_hostile many NUMBER           metrics with one value each
 *	kstats_hostile spin CPUS             one whose number of resets changes all the time
 *	kstats_hostile last                  one that counts in the slot that no value reaches
 *	kstats_hostile lease                 one whose file is leased
 *
 * "ready" when they are there; then it waits.
 *
 *	kstats_hostile measure COMMAND...    the peak of a command's memory in KiB, after its output
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kstats/shared_memory.h"

#define BITS 5

static struct kstats_shared_header *make(const char *name, unsigned cpus, int *ret_fd)
{
	const size_t size = kstats_shared_size(BITS, cpus);
	struct kstats_shared_header *header;
	char label[128];
	int fd;

	snprintf(label, sizeof(label), KSTATS_SHARED_PREFIX "%s", name);
	fd = memfd_create(label, MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		err(1, "%s", name);
	header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		err(1, "%s", name);
	header->version = KSTATS_SHARED_VERSION;
	header->frac_bits = BITS;
	header->cpus = cpus;
	snprintf(header->name, sizeof(header->name), "%s", name);
	memcpy(header->magic, KSTATS_SHARED_MAGIC, sizeof(header->magic));
	if (ret_fd)
		*ret_fd = fd;
	else
		close(fd);
	return header;
}

static void set(struct kstats_shared_header *header, unsigned cpu, unsigned slot)
{
	const size_t table = kstats_shared_table(BITS, header->cpus, KSTATS_PART_OWN, cpu);
	struct kstats_shared_slot *slots = (void *)((char *)header + table);

	slots[slot] = (struct kstats_shared_slot){ 1, 1 };
}

static void fill(struct kstats_shared_header *header)
{
	for (unsigned cpu = 0; cpu < header->cpus; cpu++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(BITS) - 1; slot++)
			set(header, cpu, slot);
}

static void make_many(const char *how, unsigned number, unsigned cpus)
{
	for (unsigned i = 0; i < number; i++) {
		struct kstats_shared_header *header;
		char name[32];

		snprintf(name, sizeof(name), "%s%u", how, i);
		header = make(name, cpus, NULL);
		set(header, 0, 1);
		if (strcmp(how, "large") == 0)
			fill(header);
	}
}

/* A write lease is given only where nobody else has the file open for writing. */
static void lease(int fd)
{
	char path[64];
	int leased;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	leased = open(path, O_RDWR);
	signal(SIGIO, SIG_IGN);
	if (leased < 0 || fcntl(leased, F_SETLEASE, F_WRLCK) < 0)
		err(1, "lease");
}

static int measure(char **command)
{
	pid_t child = fork();
	struct rusage use;
	int status;

	if (!child) {
		execvp(command[0], command);
		_exit(127);
	}
	if (wait4(child, &status, 0, &use) < 0)
		err(1, "wait4");
	printf("peak %ld\n", use.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned number = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
	unsigned cpus = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
	struct kstats_shared_header *header = NULL;
	int fd;

	if (strcmp(how, "measure") == 0 && argc > 2)
		return measure(argv + 2);
	if (strcmp(how, "large") == 0 || strcmp(how, "many") == 0) {
		make_many(how, number, cpus);
	} else {
		header = make(how, strcmp(how, "spin") == 0 ? number : cpus, &fd);
		if (strcmp(how, "spin") == 0)
			fill(header);
		set(header, 0, strcmp(how, "last") == 0 ? BUCKET_SLOTS(BITS) - 1 : 1);
		if (strcmp(how, "lease") == 0)
			lease(fd);
	}
	puts("ready");
	fflush(stdout);
	while (strcmp(how, "spin") == 0)
		__atomic_fetch_add(&header->resets, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}
