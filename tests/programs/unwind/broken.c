/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broken HOW ACT: a stack that has been written over, behind five levels that are right. A walk
 * must end, and show nothing beyond that looks right and is not.
 *
 *	circle     a frame that is its own caller
 *	two        two frames that call each other
 *	garbage    addresses where nothing is
 *	kernel     addresses of the kernel
 *	zero       a return address of 0, as at an outer end
 *	text       return addresses in the middle of nowhere in the program, without end
 *	lost       a stack pointer to nowhere; always on the CPU
 */
#include <sys/mman.h>

#include "acts.h"

LEVEL(right_5, 40, last())
LEVEL(right_4, 8, right_5(last))
LEVEL(right_3, 24, right_4(last))
LEVEL(right_2, 8, right_3(last))
LEVEL(right_1, 16, right_2(last))

/* The two words of a function that has a frame pointer: that of its caller, and where to return. */
struct frame {
	uintptr_t pointer, address;
};

static void (*damage)(struct frame *own);

/* The address of a frame is asked for, so these have frame pointers, however they are built. */
#define BROKEN(name, call)                                               \
	NOT_INLINED void name(act *last);                                \
	NOT_INLINED void name(act *last)                                 \
	{                                                                \
		struct frame *volatile own = __builtin_frame_address(0); \
                                                                         \
		call;                                                    \
		/* It cannot return. */                                  \
		for (;;)                                                 \
			calls += own->address;                           \
	}

BROKEN(damaged, (damage(own), right_1(last)))

/* --- the ways --- */

static void circle(struct frame *own)
{
	own->pointer = (uintptr_t)own;
	own->address = (uintptr_t)damaged + 32;
}

static struct frame elsewhere;

static void two(struct frame *own)
{
	elsewhere = (struct frame){ (uintptr_t)own, (uintptr_t)damaged + 32 };
	own->pointer = (uintptr_t)&elsewhere;
	own->address = (uintptr_t)damaged + 33;
}

static void garbage(struct frame *own)
{
	own->pointer = 0x1234567;
	own->address = 0x0badbadbadbad;
}

static void kernel(struct frame *own)
{
	own->pointer = 0xffff888000000000;
	own->address = 0xffffffff81000000;
}

static void zero(struct frame *own)
{
	own->pointer = 0;
	own->address = 0;
}

/* As far as the stack goes. */
static void text(struct frame *own)
{
	for (uintptr_t *at = (uintptr_t *)own; at < (uintptr_t *)own + 20; at++)
		*at = (uintptr_t)right_1 + (uintptr_t)(at - (uintptr_t *)own) % 16 + 1;
}

NOT_INLINED void lost(void);
#ifdef __x86_64__
__asm__(".pushsection .text\n"
	".globl lost\n"
	".type lost, @function\n"
	"lost:\n"
	"	.cfi_startproc\n"
	"	mov $0x12340, %eax\n"
	"	mov %rax, %rsp\n"
	"0:	pause\n"
	"	jmp 0b\n"
	"	.cfi_endproc\n"
	".size lost, . - lost\n"
	".popsection\n");
#else
void lost(void)
{
	by_spin();
}
#endif

static void nothing(struct frame *own)
{
	(void)own;
}

static const struct {
	const char *name;
	void (*damage)(struct frame *own);
} ways[] = {
	{ "circle", circle }, { "two", two },   { "garbage", garbage }, { "kernel", kernel },
	{ "zero", zero },     { "text", text }, { "lost", nothing },
};

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: broken HOW ACT");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]) != 0)
			continue;
		damage = ways[i].damage;
		say_ready(argv);
		damaged(damage == nothing ? lost : act_of(argv[2]));
	}
	errx(2, "no way '%s'", argv[1]);
}
