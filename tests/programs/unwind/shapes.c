/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes SHAPE ACT: a stack of that shape, and the act (acts.h) at its inner end. Prints "ready"
 * before. `shapes all nothing` makes one shape after the other, as long as it is let.
 *
 * It is built in many ways (build): what is asked of a walk is the same for all of them.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "acts.h"

/* --- five levels, and many --- */

LEVEL(five_5, 200, last())
LEVEL(five_4, 24, five_5(last))
LEVEL(five_3, 8, five_4(last))
LEVEL(five_2, 56, five_3(last))
LEVEL(five_1, 16, five_2(last))

NOT_INLINED void deep(act *last, unsigned level);

void deep(act *last, unsigned level)
{
	if (level > 1)
		deep(last, level - 1);
	else
		last();
	calls++;
}

static void deep_50(act *last)
{
	deep(last, 50);
	calls++;
}

static void deep_500(act *last)
{
	deep(last, 500);
	calls++;
}

/* --- stacks that are aligned, of a size known late, large --- */

struct wide {
	volatile char bytes[64];
} __attribute__((aligned(64)));

/* More than a page: it is touched while the stack pointer moves (-fstack-clash-protection). */
LEVEL(large, 70000, last())

NOT_INLINED void sized(act *last, size_t bytes);

void sized(act *last, size_t bytes)
{
	volatile char *room = alloca(bytes);

	room[bytes - 1] = 1;
	large(last);
	calls += room[bytes - 1];
}

/* Arguments behind an alignment are found by a pointer to them, which the stack keeps (DRAP). */
NOT_INLINED void aligned_variable(act *last, int count, ...);

void aligned_variable(act *last, int count, ...)
{
	struct wide wide;
	va_list list;
	volatile char *room = alloca((size_t)count);

	va_start(list, count);
	wide.bytes[0] = (char)va_arg(list, int);
	room[0] = wide.bytes[0];
	sized(last, (size_t)count + (size_t)va_arg(list, int));
	calls += (unsigned long)(room[0] + wide.bytes[0] + va_arg(list, int));
	va_end(list);
}

NOT_INLINED void aligned_many(act *last, long b, long c, long d, long e, long f, long g, long h);

void aligned_many(act *last, long b, long c, long d, long e, long f, long g, long h)
{
	struct wide wide;

	wide.bytes[0] = (char)g;
	aligned_variable(last, 100, 1, 2, 3);
	calls += (unsigned long)(wide.bytes[0] + b + c + d + e + f + g + h);
}

NOT_INLINED void aligned(act *last);

void aligned(act *last)
{
	struct wide wide;

	wide.bytes[0] = 1;
	aligned_many(last, 2, 3, 4, 5, 6, 7, 8);
	calls += (unsigned long)wide.bytes[0];
}

/* --- a call that is the last instruction of its function --- */

NOT_INLINED __attribute__((noreturn)) void never_returns(act *last);
NOT_INLINED void ends_with_call(act *last);

void never_returns(act *last)
{
	for (;;)
		last();
}

void ends_with_call(act *last)
{
	volatile char room[40];

	room[0] = 1;
	calls += room[0];
	never_returns(last);
}

static void noreturn_shape(act *last)
{
	ends_with_call(last);
}

/* --- a part of a function that the compiler has put elsewhere --- */

NOT_INLINED __attribute__((cold)) void in_the_cold(act *last);
NOT_INLINED void parted(act *last);

void in_the_cold(act *last)
{
	last();
	calls++;
}

void parted(act *last)
{
	volatile char room[100];

	room[0] = 1;
	if (goes_on) {
		room[1] = 2;
		in_the_cold(last);
		calls += room[1];
	}
	calls += room[0];
}

/* --- handlers of signals --- */

static act *in_handler;

LEVEL(handler_3, 8, last())
LEVEL(handler_2, 40, handler_3(last))
LEVEL(handler_1, 8, handler_2(last))

/* Where its first instruction is at fault, the one before it belongs to another function. */
#ifdef __x86_64__
NOT_INLINED void at_fault(void);
__asm__(".pushsection .text\n"
	".type before_fault, @function\n"
	"before_fault:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 4096\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size before_fault, . - before_fault\n"
	".globl at_fault\n"
	".type at_fault, @function\n"
	"at_fault:\n"
	"	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size at_fault, . - at_fault\n"
	".popsection\n");
#define SKIP_FAULT(context) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP] += 2)
#else
#define SKIP_FAULT(context) ((void)(context))
static void at_fault(void)
{
	raise(SIGILL);
}
#endif

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)info;
	handler_1(in_handler);
	if (number == SIGILL)
		SKIP_FAULT(context);
}

NOT_INLINED void by_kill(void);

void by_kill(void)
{
	calls += syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1) == 0;
}

static void handle_signals(act *last, int flags)
{
	const struct sigaction action = { .sa_sigaction = on_signal,
					  .sa_flags = SA_SIGINFO | flags };

	in_handler = last;
	if (sigaction(SIGUSR1, &action, NULL) || sigaction(SIGILL, &action, NULL))
		err(1, "sigaction");
}

static void signal_shape(act *last)
{
	handle_signals(last, 0);
	five_1(by_kill);
}

static void fault_shape(act *last)
{
	handle_signals(last, 0);
	five_1(at_fault);
}

static void altstack_shape(act *last)
{
	static char room[1 << 17];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };

	if (sigaltstack(&stack, NULL))
		err(1, "sigaltstack");
	handle_signals(last, SA_ONSTACK);
	five_1(by_kill);
}

/* --- processes, threads, stacks of their own --- */

static act *in_child;

NOT_INLINED void by_vfork(void);

/* The parent waits there until the child is gone, which has the same stack. */
void by_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		in_child();
		_exit(0);
	}
	calls += child > 0;
}

static void vfork_shape(act *last)
{
	in_child = last;
	five_1(by_vfork);
}

static void *thread_main(void *last)
{
	five_1((act *)last);
	return NULL;
}

static void thread_shape(act *last)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main, (void *)last))
		err(1, "pthread_create");
	pthread_join(thread, NULL);
}

#ifdef __GLIBC__ /* musl has none of these */
static ucontext_t context_inside, context_outside;

NOT_INLINED void context_main(void);

void context_main(void)
{
	five_1(in_child);
	calls++;
}

static void context_shape(act *last)
{
	static char room[1 << 18];

	in_child = last;
	if (getcontext(&context_inside))
		err(1, "getcontext");
	context_inside.uc_stack.ss_sp = room;
	context_inside.uc_stack.ss_size = sizeof(room);
	context_inside.uc_link = &context_outside;
	makecontext(&context_inside, context_main, 0);
	swapcontext(&context_outside, &context_inside);
}
#endif

/* --- which there are --- */

static void all_shape(act *last);

static const struct shape {
	const char *name;
	void (*make)(act *last);
	int is_of_all; /* returns soon, and all of its code is described */
} shapes[] = {
	{ "five", five_1, 1 },
	{ "deep-50", deep_50, 1 },
	{ "deep-500", deep_500, 0 },
	{ "aligned", aligned, 1 },
	{ "noreturn", noreturn_shape, 0 },
	{ "cold", parted, 1 },
	{ "signal", signal_shape, 1 },
	{ "fault", fault_shape, 1 },
	{ "altstack", altstack_shape, 1 },
	{ "vfork", vfork_shape, 0 },
	{ "thread", thread_shape, 0 },
#ifdef __GLIBC__
	{ "context", context_shape, 0 },
#endif
	{ "all", all_shape, 0 },
};

static void all_shape(act *last)
{
	while (goes_on)
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			if (shapes[i].is_of_all)
				shapes[i].make(last);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: shapes SHAPE ACT");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].name, argv[1]) == 0) {
			say_ready(argv);
			shapes[i].make(act_of(argv[2]));
			return 0;
		}
	errx(2, "no shape '%s'", argv[1]);
}
