/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_least nothing|stacks: attaches programs to context switches until it is ended, the least
 * that a tool can cost there: programs that do nothing, also at wake-ups (nothing.bpf.c), or that
 * read the stacks of the thread that leaves its CPU (stacks.bpf.c).
 */
#include <err.h>
#include <string.h>
#include <unistd.h>

#include <nothing.skel.h>
#include <stacks.skel.h>

static void attach_nothing(void)
{
	struct nothing_bpf *nothing = nothing_bpf__open_and_load();

	if (!nothing || nothing_bpf__attach(nothing))
		err(1, "programs that do nothing");
}

static void attach_stacks(void)
{
	struct stacks_bpf *stacks = stacks_bpf__open_and_load();

	if (!stacks || stacks_bpf__attach(stacks))
		err(1, "a program that reads stacks");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "nothing") == 0)
		attach_nothing();
	else if (argc == 2 && strcmp(argv[1], "stacks") == 0)
		attach_stacks();
	else
		errx(2, "usage: attach_least nothing|stacks");
	for (;;)
		pause();
}
