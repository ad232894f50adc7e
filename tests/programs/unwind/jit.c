/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit KIND ACT: through two functions that were made while it runs, and that no file describes:
 * `pointer`, which keep frame pointers, `bare`, which do not, or `trampoline`, which do not either
 * but remove their frames right behind their calls. They are called by jit_2, and call inner_1.
 */
#include <sys/mman.h>

#include "acts.h"

LEVEL(inner_2, 40, last())
LEVEL(inner_1, 8, inner_2(last))

static act *at_the_end;

static void called_back(void)
{
	inner_1(at_the_end);
	calls++;
}

typedef void made(void *first, void *second);

static made *code;
static void *second;

LEVEL(jit_2, 24, code((void *)called_back, second))
LEVEL(jit_1, 8, jit_2(last))

/* The first of the two calls its second argument, and hands on the first, which the other calls. */
static const unsigned char with_pointer[] = {
	0x55,                   /* push %rbp */
	0x48, 0x89, 0xe5,       /* mov %rsp,%rbp */
	0x48, 0x83, 0xec, 0x20, /* sub $32,%rsp */
	0xff, 0xd6,             /* call *%rsi */
	0xc9, 0xc3,             /* leave; ret */
};

/* Its frame pointer is a number. */
static const unsigned char bare[] = {
	0x55,                         /* push %rbp */
	0xbd, 0x34, 0x12, 0x00, 0x00, /* mov $0x1234,%ebp */
	0x48, 0x83, 0xec, 0x20,       /* sub $32,%rsp */
	0xff, 0xd6,                   /* call *%rsi */
	0x48, 0x83, 0xc4, 0x20,       /* add $32,%rsp */
	0x5d, 0xc3,                   /* pop %rbp; ret */
};

/* As in Python/asm_trampoline.S of CPython 3.12. */
static const unsigned char trampoline[] = {
	0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
	0xff, 0xd6,             /* call *%rsi */
	0x48, 0x83, 0xc4, 0x08, /* add $8,%rsp */
	0xc3,                   /* ret */
};

static const struct {
	const char *name;
	const unsigned char *bytes;
	size_t count, call; /* where its call is */
} kinds[] = {
	{ "pointer", with_pointer, sizeof(with_pointer), 8 },
	{ "bare", bare, sizeof(bare), 10 },
	{ "trampoline", trampoline, sizeof(trampoline), 4 },
};

#define ROOM   4096
#define SECOND 256

static void make(const unsigned char *bytes, size_t count, size_t call)
{
	unsigned char *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	memcpy(at, bytes, count);
	memcpy(at + SECOND, bytes, count);
	/* call *%rdi */
	at[SECOND + call + 1] = 0xd7;
	code = (made *)(void *)at;
	second = at + SECOND;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: jit KIND ACT");
	at_the_end = act_of(argv[2]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		make(kinds[i].bytes, kinds[i].count, kinds[i].call);
		say_ready(argv);
		jit_1(NULL);
	}
	errx(2, "no kind '%s'", argv[1]);
}
