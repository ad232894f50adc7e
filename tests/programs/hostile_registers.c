/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile_registers: threads that wait with registers that no honest program has, so that whoever
 * walks their stacks is asked to read at addresses near both ends of 64 bits and of user space.
 *
 * There is a thread for each value in each of rbp, rbx and rsp, and for each way that call frame
 * information may count a frame from it. Half of them wait in pause(2), as hostile threads do that
 * are there before a profile starts; half sleep a few milliseconds again and again. They wait for
 * ever. Prints "ready THREADS"; started by root, it becomes user 65534 first. Exits with 77 where
 * it is for another machine.
 */
#include <err.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__

struct hostile {
	uint64_t bp, bx, sp;
	long call; /* of the kernel */
	const void *argument;
};

/*
 * Functions that wait for ever with the registers of a struct hostile. They differ in what their
 * call frame information says: where the CFA is counted from, as
 *
 *	bp, bx, sp  the register + 16
 *	far         rbp - 2^31 + 8
 *	behind      rbp + 2^31 - 8
 *	deref       the word at rbp, which is the value of rbx, + 16
 *	saved       rsp + 16, with rbp and rbx saved where rbp says
 */
#define WAITS(name, rules)                             \
	asm(".text\n"                                  \
	    ".type " #name ", @function\n" #name ":\n" \
	    ".cfi_startproc\n" rules "\n"              \
	    "mov 0(%rdi), %rbp\n"                      \
	    "mov 8(%rdi), %rbx\n"                      \
	    "mov 16(%rdi), %rsp\n"                     \
	    "mov 24(%rdi), %r12\n"                     \
	    "mov 32(%rdi), %r13\n"                     \
	    "1: mov %r12, %rax\n"                      \
	    "mov %r13, %rdi\n"                         \
	    "xor %esi, %esi\n"                         \
	    "syscall\n"                                \
	    "jmp 1b\n"                                 \
	    ".cfi_endproc\n"                           \
	    ".size " #name ", . - " #name "\n");       \
	void name(const struct hostile *registers)

WAITS(by_bp, ".cfi_def_cfa %rbp, 16\n.cfi_offset %rbp, -16\n");
WAITS(by_bx, ".cfi_def_cfa %rbx, 16\n.cfi_offset %rbx, -16\n");
WAITS(by_sp, ".cfi_def_cfa %rsp, 16\n.cfi_offset %rbp, -16\n");
WAITS(by_far, ".cfi_def_cfa %rbp, -2147483640\n.cfi_offset %rbp, -16\n");
WAITS(by_behind, ".cfi_def_cfa %rbp, 2147483640\n.cfi_offset %rbp, -16\n");
/* DW_CFA_def_cfa_expression: breg6 0, deref, plus_uconst 16 */
WAITS(by_deref, ".cfi_escape 0x0f, 0x05, 0x76, 0x00, 0x06, 0x23, 0x10\n");
/* DW_CFA_expression of rbp and rbx: breg6 0, breg6 8 */
WAITS(by_saved, ".cfi_def_cfa %rsp, 16\n.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00\n"
		".cfi_escape 0x10, 0x03, 0x02, 0x76, 0x08\n");

static const struct {
	const char *name;
	void (*wait)(const struct hostile *registers);
} ways[] = {
	{ "bp", by_bp },         { "bx", by_bx },       { "sp", by_sp },       { "far", by_far },
	{ "behind", by_behind }, { "deref", by_deref }, { "saved", by_saved },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const uint64_t values[] = {
	0,
	8,
	-1ull,
	-2ull,
	-3ull,
	-4ull,
	-5ull,
	-6ull,
	-7ull,
	-8ull,
	-9ull,
	-10ull,
	-11ull,
	-12ull,
	-13ull,
	-14ull,
	-15ull,
	-16ull,
	-24ull,
	-32ull,
	-4096ull,
	(1ull << 47) - 4096,
	(1ull << 47) - 16,
	(1ull << 47) - 8,
	1ull << 47, /* not canonical from here on */
	(1ull << 56) - 16,
	(1ull << 56) - 8,
	1ull << 56,
	(1ull << 63) - 8,
	1ull << 63,
	0xffff800000000000ull, /* of the kernel */
	0xffffffffff600000ull, /* vsyscall */
	(1ull << 31) - 16,     /* where the distances of `far` and `behind` lead to 0 */
	-(1ull << 31),
};

#define VALUES (sizeof(values) / sizeof(values[0]))

struct waiter {
	size_t way, value;
	struct hostile registers;
};

static const struct timespec nap = { .tv_nsec = 20000000 };

static void *wait_for_ever(void *argument)
{
	const struct waiter *w = argument;
	char name[16];

	snprintf(name, sizeof(name), "%s-%zu", ways[w->way].name, w->value);
	prctl(PR_SET_NAME, name);
	ways[w->way].wait(&w->registers);
	return NULL;
}

static void start(struct waiter *w, size_t way, size_t value, size_t number)
{
	/* Callers of all ways that count from rsp. */
	static uint64_t honest[64];
	pthread_attr_t attributes;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(honest) / sizeof(honest[0]); i++)
		honest[i] = (uint64_t)by_bp + 8;
	*w = (struct waiter){ .way = way, .value = value };
	w->registers = (struct hostile){
		.bp = ways[way].wait == by_deref ? (uint64_t)&w->registers.bx : values[value],
		.bx = values[value],
		.sp = ways[way].wait == by_sp ? values[value] : (uint64_t)honest,
		.call = number % 2 ? SYS_nanosleep : SYS_pause,
		.argument = number % 2 ? &nap : NULL,
	};
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	if (pthread_create(&thread, &attributes, wait_for_ever, w))
		errx(1, "no thread");
	pthread_attr_destroy(&attributes);
}

int main(void)
{
	static struct waiter waiters[2 * WAYS * VALUES];
	size_t count = 0;

	if (getuid() == 0 && (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
			      setresuid(65534, 65534, 65534)))
		err(1, "user 65534");
	for (size_t way = 0; way < WAYS; way++)
		for (size_t value = 0; value < VALUES; value++)
			for (int twice = 0; twice < 2; twice++, count++)
				start(&waiters[count], way, value, count);
	/* Each of them is in its wait soon, and nobody waits for that. */
	printf("ready %zu\n", count);
	fflush(stdout);
	for (;;)
		pause();
}

#else

int main(void)
{
	return 77;
}

#endif
