/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs with known stacks have in common: functions that are what their names say on the
 * stack, and what the innermost one does (`act`).
 *
 *	LEVEL(five_5, 24, last())
 *	LEVEL(five_4, 8, five_5(last))
 *	...
 *	five_4(act_of("read"))
 */
#ifndef PROGRAMS_UNWIND_ACTS_H
#define PROGRAMS_UNWIND_ACTS_H

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Nor cloned, split, or known to its callers. */
#ifdef __clang__
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED __attribute__((noipa))
#endif

typedef void act(void);

/* So that a call is not the last thing that a function does, and that loops may end. */
extern volatile unsigned long calls;
extern volatile int goes_on;

/* A function that keeps some of the stack and makes one call. */
#define LEVEL(name, bytes, call)           \
	NOT_INLINED void name(act *last);  \
	NOT_INLINED void name(act *last)   \
	{                                  \
		volatile char room[bytes]; \
                                           \
		room[0] = 1;               \
		(void)last;                \
		call;                      \
		calls += room[0];          \
	}

/* Blocked in a system call, 50 times a second anew. */
NOT_INLINED void by_read(void);
NOT_INLINED void by_nap(void);
/* Once and for all. */
NOT_INLINED void by_pause(void);
/* On the CPU, in this very function. */
NOT_INLINED void by_spin(void);
/* Not at all. */
NOT_INLINED void by_nothing(void);

act *act_of(const char *name);

/* What is waited for by those who start it. From then on its first two arguments are its name. */
void say_ready(char **argv);

#endif
