/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that run, each time with other stacks: `many_stacks PROCESSES`.
 *
 * Sixteen functions call each other, in an order by chance, DEPTH deep: two samples hardly ever see
 * the same stack. It says "ready" when all are there, which begin then, and leave the CPUs to
 * whoever else wants them. They end with this process.
 */
#include <err.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DEPTH 14
#define SPINS 20000

/* Call the next function, whose number is in the lowest four bits; the innermost spins for some
 * microseconds. */
static void call_next(uint64_t order, unsigned depth);

/* clang-format off */
#define NAMES(WORD)                                                                        \
	WORD(accept) WORD(bind) WORD(copy) WORD(decode) WORD(encode) WORD(find) WORD(grow) \
	WORD(hash) WORD(insert) WORD(join) WORD(keep) WORD(look) WORD(merge) WORD(note)    \
	WORD(open) WORD(parse)
/* clang-format on */

/* The empty statement behind the call keeps the caller's frame. */
#define FUNCTION(NAME)                                                                    \
	__attribute__((noinline)) static void NAME##_some(uint64_t order, unsigned depth) \
	{                                                                                 \
		call_next(order, depth);                                                  \
		__asm__ volatile("# " #NAME);                                             \
	}

NAMES(FUNCTION)

#define ENTRY(NAME) NAME##_some,

static void (*const functions[])(uint64_t order, unsigned depth) = { NAMES(ENTRY) };

static void call_next(uint64_t order, unsigned depth)
{
	if (!depth) {
		for (volatile unsigned i = 0; i < SPINS; i++)
			;
		return;
	}
	functions[order & 15](order >> 4, depth - 1);
	__asm__ volatile("");
}

/* Marsaglia's xorshift. */
static uint64_t next_number(uint64_t number)
{
	number ^= number << 13;
	number ^= number >> 7;
	return number ^ number << 17;
}

static void run(uint64_t number)
{
	for (;;) {
		number = next_number(number);
		call_next(number, DEPTH);
	}
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before prctl(2). */
	if (getppid() != parent)
		_exit(1);
}

/* The process runs when the write end of `gate` is closed. */
static void start_process(uint64_t number, const int gate[2])
{
	pid_t parent = getpid(), child = fork();
	char byte;

	if (child < 0)
		err(1, "fork");
	if (child)
		return;
	die_with(parent);
	close(gate[1]);
	if (nice(19) < 0 || read(gate[0], &byte, 1))
		_exit(1);
	run(number);
}

int main(int argc, char **argv)
{
	unsigned processes = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
	int gate[2];

	if (!processes || processes > 10000)
		errx(2, "usage: many_stacks PROCESSES");
	die_with(getppid());
	if (pipe(gate))
		err(1, "pipe");
	for (unsigned i = 0; i < processes; i++)
		start_process(i + 1, gate);
	close(gate[1]);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
