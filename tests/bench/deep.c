/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deep [FRAMES]: two processes on one CPU that give it to each other, each so many functions deep
 * (19). Prints their numbers once they do. Built with frame pointers and without.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink, goes_on = 1;

__attribute__((noinline)) static void descend(int frames)
{
	char room[16];

	room[frames & 15] = (char)frames;
	if (frames > 1)
		descend(frames - 1);
	else
		while (goes_on)
			sched_yield();
	sink += room[frames & 15];
}

int main(int argc, char **argv)
{
	cpu_set_t one;
	pid_t other;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	other = fork();
	if (other) {
		printf("%d,%d\n", getpid(), other);
		fflush(stdout);
	}
	descend(argc > 1 ? atoi(argv[1]) : 19);
	return 0;
}
