/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/user_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "unit/made_table.h"
#include "unwind/walk.h"

/* A process with a program, a library whose table is not made yet, and code that it made itself. */
#define BIAS    0x550000000000u
#define BASE    0x20000u /* of the program's table, in the file */
#define TEXT_AT (BIAS + BASE)
#define LATER   0x600000000000u
#define MADE    0x610000000000u
#define MAPPED  0x20000u
#define STACK   0x7ffe00000000u
#define WORDS   512
#define MOST    64

/* Functions of the program: 256 bytes of code each, all with a rule of their own. */
enum function {
	LEAF,     /* CFA is sp + 8 */
	SAVES,    /* sp + 24: bp is saved below the return address */
	FRAMED,   /* bp + 16, bp saved */
	SIGNAL,   /* what a signal interrupted: all registers lie in memory */
	ALIGNED,  /* CFA is in memory, where bp - 8 says */
	BY_BX,    /* bx + 16, bx saved */
	LOSES,    /* sp + 8, and bp and bx are lost */
	BY_TEN,   /* r10 + 8 */
	RA_IN_14, /* the return address is in r14 */
	STUB,     /* of a PLT: 8 bytes more from byte 11 of 16 on */
	START,    /* has no caller */
	STRANGE,  /* a rule that is not understood */
	POINTERS, /* frame pointers */
	SPINS,    /* its caller's stack pointer is its own */
	NOTHING,  /* no rule */
	FUNCTIONS
};

#define AT_CFA(name, words) .name = UNWIND_AT_CFA, .name##_offset = (words)
#define AT_SP(name, words)  .name = UNWIND_AT_SP, .name##_offset = (words)
#define FRAME(...)                                                     \
	{                                                              \
		.kind = UNWIND_RULE_FRAME, AT_CFA(ra, -1), __VA_ARGS__ \
	}

static const struct unwind_rule rules[FUNCTIONS] = {
	[LEAF] = FRAME(.cfa_offset = 8),
	[SAVES] = FRAME(.cfa_offset = 24, AT_CFA(bp, -2)),
	[FRAMED] = FRAME(.base = UNWIND_BASE_BP, .cfa_offset = 16, AT_CFA(bp, -2)),
	[SIGNAL] = { .kind = UNWIND_RULE_FRAME,
		     .flags = UNWIND_SIGNAL | UNWIND_DEREF,
		     .cfa_offset = 32,
		     AT_SP(ra, 3),
		     AT_SP(bp, 5),
		     AT_SP(bx, 6) },
	[ALIGNED] = FRAME(.base = UNWIND_BASE_BP, .flags = UNWIND_DEREF, .cfa_offset = -8,
			  .addend = 16, .bp = UNWIND_AT_BP),
	[BY_BX] = FRAME(.base = UNWIND_BASE_BX, .cfa_offset = 16, AT_CFA(bx, -2)),
	[LOSES] = FRAME(.cfa_offset = 8, .bp = UNWIND_UNKNOWN, .bx = UNWIND_UNKNOWN),
	[BY_TEN] = FRAME(.base = UNWIND_BASE_OTHER, .number = 10, .cfa_offset = 8),
	[RA_IN_14] = { .kind = UNWIND_RULE_FRAME, .ra = UNWIND_IN_REG, .number = 14 },
	[STUB] = FRAME(.flags = UNWIND_PLT, .number = 11, .cfa_offset = 8),
	[START] = { .kind = UNWIND_RULE_STOP },
	[STRANGE] = { .kind = UNWIND_RULE_OTHER },
	[POINTERS] = { .kind = UNWIND_RULE_POINTER },
	[SPINS] = { .kind = UNWIND_RULE_FRAME, AT_CFA(ra, 0) },
};

struct world {
	struct unwind_store *store;
	struct unwind_process process;
	struct unwind_registers registers;
	uint64_t stack[WORDS];
	size_t top; /* words that were pushed */
	uint64_t frames[MOST];
	size_t count;
	bool only_tables;
	uint64_t code; /* at MADE + 0x200 */
};

static struct world *world;

/* An address in the middle of a function. */
static uint64_t in(enum function function)
{
	return TEXT_AT + function * 256u + 0x40;
}

/* The first byte of one: as a return address, it is behind a call that ends the one before. */
static uint64_t start_of(enum function function)
{
	return TEXT_AT + function * 256u;
}

static uint64_t address_of(size_t word)
{
	return STACK + word * 8;
}

static size_t push(uint64_t word)
{
	assert_true(world->top < WORDS);
	world->stack[world->top] = word;
	return world->top++;
}

static bool read_stack(void *context, uint64_t address, uint64_t *ret)
{
	const struct world *w = context;

	if (w->code && address == MADE + 0x200) {
		*ret = w->code;
		return true;
	}
	if (address < STACK || address - STACK >= sizeof(w->stack) || address % 8)
		return false;
	*ret = w->stack[(address - STACK) / 8];
	return true;
}

static struct unwind_table program(void)
{
	struct unwind_table table = { .base = BASE };
	struct made_row rows[FUNCTIONS];

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		rows[i] = (struct made_row){ i * 256, rules[i].kind == UNWIND_RULE_FRAME
							      ? made_rule(&table, rules[i])
							      : rules[i].kind };
	made_block(&table, rows, FUNCTIONS);
	return table;
}

static int set(void **state)
{
	struct unwind_table table = program();
	struct unwind_mapping *mappings;
	uint32_t place;

	(void)state;
	world = calloc(1, sizeof(*world));
	expect_ok(unwind_store_create(&(struct unwind_store_options){ .max_bytes = 0 },
				      &world->store));
	expect_ok(unwind_store_put(world->store, &table, &place));
	unwind_table_deinit(&table);
	world->process.count = 3;
	expect_ok(unwind_store_take(world->store, 3 * UNWIND_MAPPING_WORDS, &world->process.space));
	mappings = (struct unwind_mapping *)unwind_store_at(world->store, world->process.space);
	mappings[0] = (struct unwind_mapping){
		.start = TEXT_AT, .end = TEXT_AT + MAPPED, .delta = TEXT_AT, .table = place
	};
	mappings[1] =
		(struct unwind_mapping){ LATER, LATER + MAPPED, LATER, 0, UNWIND_MAPPING_PENDING };
	mappings[2] =
		(struct unwind_mapping){ MADE, MADE + MAPPED, MADE, 0, UNWIND_MAPPING_POINTER };
	world->registers.sp = STACK;
	return 0;
}

static int clear(void **state)
{
	(void)state;
	unwind_store_destroy(world->store);
	free(world);
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set, clear)

static enum unwind_stop walk(size_t most)
{
	const struct unwind_reader reader = { .word = read_stack,
					      .context = world,
					      .only_tables = world->only_tables };
	enum unwind_stop stop = UNWIND_GOES_ON;

	world->count = user_unwind(world->store, &world->process, &world->registers, &reader,
				   world->frames, most, &stop);
	return stop;
}

#define expect_walk(stop, ...)                                \
	expect_walk_(stop, (const uint64_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void expect_walk_(enum unwind_stop stop, const uint64_t *frames, size_t count)
{
	assert_int_equal(walk(MOST), stop);
	assert_int_equal(world->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(world->frames[i], frames[i]);
}

/* --- ways from a frame to the next --- */

TEST(frames_by_the_stack_pointer)
{
	world->registers.ip = in(LEAF);
	push(in(SAVES));
	push(0);
	push(0x1234);
	push(in(LEAF));
	push(in(START));
	expect_walk(UNWIND_COMPLETE, in(LEAF), in(SAVES), in(LEAF), in(START));
}

/* One that saves bp, between two that need it. */
TEST(the_frame_pointer_comes_back)
{
	world->registers.ip = in(FRAMED);
	push(0);
	world->registers.bp = address_of(push(address_of(9)));
	push(in(SAVES));
	push(7);
	push(address_of(6));
	push(in(FRAMED));
	push(address_of(9));
	push(in(SAVES));
	push(7);
	push(0x77);
	push(0);
	expect_walk(UNWIND_COMPLETE, in(FRAMED), in(SAVES), in(FRAMED), in(SAVES));
}

/* The interrupted one is at its first byte: looked up a byte before, it would be another. */
TEST(an_interrupted_address_is_looked_up_as_it_is)
{
	world->registers.ip = in(LEAF);
	push(in(SIGNAL));
	for (int i = 0; i < 3; i++)
		push(0);
	push(start_of(FRAMED));
	push(address_of(20)); /* sp, where the CFA comes from */
	push(address_of(22)); /* bp */
	push(0x99);
	world->stack[22] = 0;
	world->stack[23] = start_of(STRANGE); /* called by the last byte of START */
	expect_walk(UNWIND_COMPLETE, in(LEAF), in(SIGNAL), start_of(FRAMED), start_of(STRANGE));
}

TEST(a_return_address_behind_a_function_belongs_to_it)
{
	world->registers.ip = in(LEAF);
	push(start_of(SAVES)); /* LEAF ended with a call */
	push(start_of(STRANGE));
	expect_walk(UNWIND_COMPLETE, in(LEAF), start_of(SAVES), start_of(STRANGE));
	/* The innermost is where it is. */
	world->registers.ip = start_of(START);
	expect_walk(UNWIND_COMPLETE, start_of(START));
}

TEST(a_stack_that_was_aligned_anew)
{
	world->registers.ip = in(ALIGNED);
	push(0);
	push(address_of(8)); /* bp - 8; and 16 more */
	world->registers.bp = address_of(push(0x4321));
	world->stack[9] = in(START);
	expect_walk(UNWIND_COMPLETE, in(ALIGNED), in(START));
}

TEST(by_the_other_register_that_lasts)
{
	world->registers.ip = in(BY_BX);
	world->registers.bx = address_of(4);
	world->stack[4] = address_of(8);
	world->stack[5] = in(BY_BX);
	world->stack[8] = 0;
	world->stack[9] = in(START);
	expect_walk(UNWIND_COMPLETE, in(BY_BX), in(BY_BX), in(START));
}

TEST(other_registers_are_known_in_the_innermost_frame)
{
	world->registers.has_others = true;
	world->registers.others[10] = address_of(0);
	world->registers.others[14] = in(LEAF);
	push(in(START));
	world->registers.ip = in(BY_TEN);
	expect_walk(UNWIND_COMPLETE, in(BY_TEN), in(START));
	world->registers.ip = in(RA_IN_14);
	expect_walk(UNWIND_COMPLETE, in(RA_IN_14), in(LEAF), in(START));
	world->registers.ip = in(LEAF);
	world->stack[0] = in(BY_TEN);
	expect_walk(UNWIND_NO_REGISTER, in(LEAF), in(BY_TEN));
	world->stack[0] = in(RA_IN_14);
	expect_walk(UNWIND_NO_REGISTER, in(LEAF), in(RA_IN_14));
	world->registers.has_others = false;
	world->registers.ip = in(BY_TEN);
	expect_walk(UNWIND_NO_REGISTER, in(BY_TEN));
}

TEST(stubs_push_on_their_way)
{
	push(in(LEAF));
	push(in(START));
	for (uint64_t byte = 0; byte < 16; byte++) {
		world->registers.ip = in(STUB) + byte;
		if (byte < 11)
			expect_walk(UNWIND_COMPLETE, in(STUB) + byte, in(LEAF), in(START));
		else
			expect_walk(UNWIND_COMPLETE, in(STUB) + byte, in(START));
	}
}

TEST(frame_pointers_where_nothing_else_is_said)
{
	static const uint64_t keepers[] = { TEXT_AT + POINTERS * 256 + 0x40, MADE + 0x123 };

	world->registers.bp = address_of(2);
	world->stack[2] = address_of(6);
	world->stack[3] = MADE + 0x77;
	world->stack[6] = 0;
	world->stack[7] = in(LEAF);
	world->stack[8] = in(START);
	for (size_t i = 0; i < array_length(keepers); i++) {
		world->registers.ip = keepers[i];
		expect_walk(UNWIND_COMPLETE, keepers[i], MADE + 0x77, in(LEAF), in(START));
	}
}

static void needs_x86(void)
{
#ifndef __x86_64__
	skip();
#endif
}

/* As the trampolines of Python, behind their call; what is in rbp is no frame pointer. */
TEST(code_that_removes_its_frame_and_returns)
{
	static const struct {
		uint64_t code;
		size_t words;
	} frames[] = {
		{ 0xcccccc0008c48348 | 0xc3ull << 32, 1 },
		{ 0xcccccc0078c48348 | 0xc3ull << 32, 15 },
		{ 0xccccccccccccccc3, 0 },
	};

	needs_x86();
	for (size_t i = 0; i < array_length(frames); i++) {
		world->registers.ip = in(LEAF);
		world->registers.bp = 0x1234;
		memset(world->stack, 0, sizeof(world->stack));
		world->code = frames[i].code;
		world->stack[0] = MADE + 0x200;
		world->stack[1 + frames[i].words] = in(LEAF);
		world->stack[2 + frames[i].words] = in(START);
		expect_walk(UNWIND_COMPLETE, in(LEAF), MADE + 0x200, in(LEAF), in(START));
	}
}

TEST(code_that_does_something_else_has_frame_pointers)
{
	static const uint64_t codes[] = {
		0xcccccc0008c48348 | 0xc2ull << 32, /* ret $N */
		0xcccccc0009c48348 | 0xc3ull << 32, /* no words */
		0xcccccc0088c48348 | 0xc3ull << 32, /* less than nothing */
		0xcccccc0008c38348 | 0xc3ull << 32, /* rbx */
	};

	needs_x86();
	world->registers.ip = in(LEAF);
	world->registers.bp = address_of(4);
	world->stack[0] = MADE + 0x200;
	world->stack[5] = in(START);
	for (size_t i = 0; i < array_length(codes); i++) {
		world->code = codes[i];
		expect_walk(UNWIND_COMPLETE, in(LEAF), MADE + 0x200, in(START));
	}
	/* Who was interrupted may not be behind a call. */
	world->registers.ip = MADE + 0x200;
	world->code = 0xccccccccccccccc3;
	world->stack[0] = in(LEAF);
	expect_walk(UNWIND_COMPLETE, MADE + 0x200, in(START));
}

TEST(never_by_frame_pointers)
{
	world->registers.bp = address_of(2);
	world->stack[2] = 0;
	world->stack[3] = in(LEAF);
	world->stack[4] = in(START);
	world->registers.ip = MADE + 0x123;
	expect_walk(UNWIND_COMPLETE, MADE + 0x123, in(LEAF), in(START));
	world->only_tables = true;
	expect_walk(UNWIND_NO_RULE, MADE + 0x123);
	world->registers.ip = in(POINTERS);
	expect_walk(UNWIND_NO_RULE, in(POINTERS));
	world->process = (struct unwind_process){ .space = 0 };
	expect_walk(UNWIND_NO_PROCESS, in(POINTERS));
}

/* --- how it ends; UNWIND_CHANGED is for those who look at a process that runs --- */

TEST(at_a_return_address_of_0)
{
	world->registers.ip = in(LEAF);
	push(0);
	expect_walk(UNWIND_COMPLETE, in(LEAF));
}

TEST(truncated_if_there_is_one_more)
{
	world->registers.ip = in(LEAF);
	for (int i = 0; i < 9; i++)
		push(in(LEAF));
	push(0);
	for (size_t most = 1; most <= 12; most++) {
		assert_int_equal(walk(most), most < 10 ? UNWIND_TRUNCATED : UNWIND_COMPLETE);
		assert_int_equal(world->count, most < 10 ? most : 10);
	}
	/* Not when the next one cannot be found. */
	world->stack[9] = 17;
	assert_int_equal(walk(10), UNWIND_NO_SENSE);
	assert_int_equal(walk(9), UNWIND_TRUNCATED);
}

TEST(nothing_known_of_the_process)
{
	world->process = (struct unwind_process){ .space = 0 };
	world->registers.ip = in(LEAF);
	world->registers.bp = address_of(0);
	push(address_of(4));
	push(0x1000);
	world->stack[4] = 0;
	world->stack[5] = 0x2000;
	expect_walk(UNWIND_NO_PROCESS, in(LEAF), 0x1000, 0x2000);
	world->registers.bp = 1;
	expect_walk(UNWIND_NO_PROCESS, in(LEAF));
}

TEST(nothing_mapped)
{
	static const uint64_t nowhere[] = { TEXT_AT - 1,    TEXT_AT + MAPPED, LATER - 1,
					    LATER + MAPPED, MADE + MAPPED,    4096 };

	for (size_t i = 0; i < array_length(nowhere); i++) {
		world->registers.ip = nowhere[i];
		expect_walk(UNWIND_NO_MAPPING, nowhere[i]);
		/* As a caller, which is looked up a byte before. */
		world->registers.ip = in(LEAF);
		world->stack[0] = nowhere[i] + 1;
		expect_walk(UNWIND_NO_MAPPING, in(LEAF), nowhere[i] + 1);
	}
}

TEST(a_table_that_is_not_made_yet)
{
	world->registers.ip = LATER;
	expect_walk(UNWIND_NO_TABLE, LATER);
	world->registers.ip = in(LEAF);
	push(LATER + 8);
	expect_walk(UNWIND_NO_TABLE, in(LEAF), LATER + 8);
}

TEST(no_rule)
{
	/* Where the file says nothing, and behind its last block. */
	const uint64_t silent[] = { in(NOTHING), TEXT_AT + 0xffff, TEXT_AT + 0x10000 };

	for (size_t i = 0; i < array_length(silent); i++) {
		world->registers.ip = silent[i];
		expect_walk(UNWIND_NO_RULE, silent[i]);
	}
}

TEST(a_rule_that_is_not_understood)
{
	world->registers.ip = in(STRANGE);
	expect_walk(UNWIND_OTHER_RULE, in(STRANGE));
}

TEST(a_register_that_was_lost)
{
	static const enum function needy[] = { FRAMED, BY_BX, ALIGNED };

	for (size_t i = 0; i < array_length(needy); i++) {
		world->registers.ip = in(LOSES);
		world->registers.bp = world->registers.bx = address_of(8);
		world->stack[0] = in(needy[i]);
		expect_walk(UNWIND_NO_REGISTER, in(LOSES), in(needy[i]));
	}
	world->stack[0] = in(POINTERS);
	expect_walk(UNWIND_POINTER_END, in(LOSES), in(POINTERS));
}

TEST(memory_that_cannot_be_read)
{
	static const enum function readers[] = { LEAF, SAVES, FRAMED, SIGNAL, ALIGNED, BY_BX };

	for (size_t i = 0; i < array_length(readers); i++) {
		world->registers.ip = in(readers[i]);
		world->registers.sp = world->registers.bp = world->registers.bx =
			address_of(WORDS + 1000);
		expect_walk(UNWIND_NO_MEMORY, in(readers[i]));
	}
	/* The return address is there, and a saved register is not: that matters to who counts from
	 * it. */
	world->registers.ip = in(BY_BX);
	world->registers.bx = STACK - 8;
	push(in(START));
	expect_walk(UNWIND_COMPLETE, in(BY_BX), in(START));
	world->stack[0] = in(BY_BX);
	expect_walk(UNWIND_NO_REGISTER, in(BY_BX), in(BY_BX));
}

TEST(addresses_without_sense)
{
	static const uint64_t wrong[] = { 1, 4095, 1ull << 56, UINT64_MAX, 0xffffffff81000000u };

	for (size_t i = 0; i < array_length(wrong); i++) {
		world->registers.ip = in(LEAF);
		world->stack[0] = wrong[i];
		expect_walk(UNWIND_NO_SENSE, in(LEAF));
	}
	/* A stack pointer that is none: what the signal's frame says it was. */
	world->registers.ip = in(SIGNAL);
	world->stack[3] = in(LEAF);
	world->stack[4] = address_of(20) + 4;
	expect_walk(UNWIND_NO_SENSE, in(SIGNAL));
	world->stack[4] = 1ull << 60;
	expect_walk(UNWIND_NO_SENSE, in(SIGNAL));
}

TEST(frame_pointers_end)
{
	static const uint64_t ends[] = { 0, STACK - 8, STACK + 4, 1ull << 60,
					 STACK + (WORDS + 8) * 8 };

	world->registers.ip = MADE + 1;
	world->registers.sp = STACK;
	for (size_t i = 0; i < array_length(ends); i++) {
		world->registers.bp = ends[i];
		expect_walk(UNWIND_POINTER_END, MADE + 1);
	}
	world->registers.bp = address_of(1);
	world->stack[1] = 0;
	world->stack[2] = 100;
	expect_walk(UNWIND_POINTER_END, MADE + 1);
}

/* --- stacks that are broken --- */

TEST(circles_end)
{
	uint64_t frames[1000];
	const struct unwind_reader reader = { .word = read_stack, .context = world };
	enum unwind_stop stop;
	size_t count;

	/* The stack pointer stands still. */
	world->registers.ip = in(SPINS);
	push(in(SPINS));
	count = user_unwind(world->store, &world->process, &world->registers, &reader, frames,
			    array_length(frames), &stop);
	assert_int_equal(stop, UNWIND_NO_SENSE);
	assert_int_equal(count, 1 + UNWIND_TURNS_MAX);
	/* bp leads back to itself. */
	world->registers.ip = in(FRAMED);
	world->registers.bp = address_of(3);
	world->stack[3] = address_of(3);
	world->stack[4] = in(FRAMED);
	count = user_unwind(world->store, &world->process, &world->registers, &reader, frames,
			    array_length(frames), &stop);
	assert_int_equal(stop, UNWIND_NO_SENSE);
	assert_true(count <= 2 + UNWIND_TURNS_MAX);
}

/* Words as they could stand on a stack, in no order. */
static uint64_t any_word(uint64_t *seed)
{
	switch (next_random(seed) % 8) {
	case 0:
		return next_random(seed);
	case 1:
		return (next_random(seed) % 4 ? MADE : LATER) + next_random(seed) % MAPPED;
	case 2:
	case 3:
		return address_of(next_random(seed) % WORDS);
	default:
		return start_of((enum function)(next_random(seed) % FUNCTIONS)) +
		       next_random(seed) % 256;
	}
}

TEST(a_walk_over_anything_ends)
{
	enum { MANY = WORDS * (UNWIND_TURNS_MAX + 2) };
	static uint64_t frames[MANY];
	const struct unwind_reader reader = { .word = read_stack, .context = world };
	unsigned ends[UNWIND_STOPS] = { 0 };
	uint64_t seed = 3;

	for (int i = 0; i < 20000; i++) {
		enum unwind_stop stop = UNWIND_STOPS;
		size_t count;

		for (int change = i ? 8 : WORDS; change; change--)
			world->stack[next_random(&seed) % WORDS] = any_word(&seed);
		world->registers.ip = any_word(&seed);
		world->registers.sp = address_of(next_random(&seed) % WORDS);
		world->registers.bp = any_word(&seed);
		world->registers.bx = any_word(&seed);
		world->registers.has_others = i % 2;
		for (size_t r = 0; r < UNWIND_REGISTERS; r++)
			world->registers.others[r] = any_word(&seed);
		count = user_unwind(world->store, &world->process, &world->registers, &reader,
				    frames, MANY, &stop);
		assert_true(count >= 1 && count < MANY);
		assert_int_equal(frames[0], world->registers.ip);
		assert_true(stop > UNWIND_GOES_ON && stop < UNWIND_STOPS);
		ends[stop]++;
	}
	/* So the random ones were of all kinds. */
	for (unsigned stop = UNWIND_COMPLETE; stop < UNWIND_STOPS; stop++)
		assert_int_equal(ends[stop] != 0, stop != UNWIND_TRUNCATED &&
							  stop != UNWIND_NO_PROCESS &&
							  stop != UNWIND_CHANGED);
}

static const uint64_t hostile[] = {
	0,
	1,
	7,
	8,
	-1ull,
	-7ull,
	-8ull,
	-9ull,
	-15ull,
	-16ull,
	-17ull,
	-24ull,
	-32ull,
	-40ull,
	1ull << 63,
	(1ull << 63) - 8,
	USER_SPACE_LIMIT - 16,
	USER_SPACE_LIMIT - 8,
	USER_SPACE_LIMIT - 1,
	USER_SPACE_LIMIT,
	USER_SPACE_LIMIT + 8,
	(1ull << 47) - 8,
	1ull << 47,
	0x8000000000000000,
	0xffffffff81000000,
	0xffffffffff600000,
};

/* All memory there is, and each word of it a hostile one. */
static bool read_anything(void *context, uint64_t address, uint64_t *ret)
{
	uint64_t *seed = context;

	assert_true(address < USER_SPACE_LIMIT);
	*ret = next_random(seed) % 2 ? hostile[next_random(seed) % array_length(hostile)]
				     : in((enum function)(next_random(seed) % FUNCTIONS));
	return true;
}

/* So no reader is asked for an address that plus 8 wraps around. */
TEST(nothing_is_read_beyond_the_limit)
{
	uint64_t seed = 9;
	const struct unwind_reader reader = { .word = read_anything, .context = &seed };

	for (uint32_t i = 0; i < FUNCTIONS * array_length(hostile) * 30; i++) {
		const uint64_t value = hostile[i / FUNCTIONS % array_length(hostile)];
		enum unwind_stop stop = UNWIND_STOPS;
		size_t count;

		world->registers.ip = in((enum function)(i % FUNCTIONS));
		world->registers.sp = i % 3 ? value : STACK;
		world->registers.bp = i % 3 == 1 ? STACK : value;
		world->registers.bx = value;
		world->registers.has_others = true;
		for (size_t r = 0; r < UNWIND_REGISTERS; r++)
			world->registers.others[r] = value;
		count = user_unwind(world->store, &world->process, &world->registers, &reader,
				    world->frames, MOST, &stop);
		assert_true(count >= 1 && stop > UNWIND_GOES_ON && stop < UNWIND_STOPS);
		for (size_t frame = 0; frame < count; frame++)
			assert_true(world->frames[frame] < USER_SPACE_LIMIT);
	}
}

/* --- many rows, many mappings: the searches against looking at all --- */

/* The rule that counts from the stack's first word says which it was: by the word it takes. */
static uint32_t rule_at(uint64_t address)
{
	world->registers.ip = address;
	switch (walk(2)) {
	case UNWIND_TRUNCATED:
	case UNWIND_NO_MAPPING:
		return 4 + (uint32_t)((world->frames[1] - 0x10000) >> 8);
	case UNWIND_OTHER_RULE:
		return UNWIND_NUMBER_OTHER;
	case UNWIND_COMPLETE:
		return UNWIND_NUMBER_STOP;
	case UNWIND_POINTER_END:
		return UNWIND_NUMBER_POINTER;
	default:
		return UNWIND_NUMBER_NONE;
	}
}

static uint32_t expected_rule(const struct made_rows *rows, uint32_t at)
{
	uint32_t rule = UNWIND_NUMBER_NONE;

	for (size_t i = 0; i < rows->count && rows->items[i].at <= at; i++)
		rule = rows->items[i].rule;
	return rule;
}

TEST(the_row_in_force_is_found)
{
	enum { BLOCKS = 12 };
	struct made_rows rows[BLOCKS];
	uint64_t seed = 11;
	struct unwind_table table = made_random(&seed, BLOCKS, rows);
	struct unwind_mapping *mapping =
		(struct unwind_mapping *)unwind_store_at(world->store, world->process.space);
	uint32_t place;

	for (size_t i = 0; i < 30; i++)
		world->stack[i] = 0x10000 + i * 256;
	expect_ok(unwind_store_put(world->store, &table, &place));
	*mapping = (struct unwind_mapping){
		.start = TEXT_AT, .end = TEXT_AT + (BLOCKS << 16), .delta = TEXT_AT, .table = place
	};
	for (uint32_t block = 0; block < BLOCKS; block++)
		for (uint32_t at = 0; at < 65536; at += 1 + (uint32_t)(next_random(&seed) % 40))
			assert_int_equal(rule_at(TEXT_AT + (block << 16) + at),
					 expected_rule(&rows[block], at));
	for (size_t i = 0; i < BLOCKS; i++)
		array_deinit(&rows[i]);
	unwind_table_deinit(&table);
}

TEST(the_mapping_of_an_address_is_found)
{
	static const uint32_t counts[] = { 1, 2, 3, 7, 8, 1000, UNWIND_MAPPINGS_MAX };
	uint64_t seed = 5;

	for (size_t c = 0; c < array_length(counts); c++) {
		uint32_t count = counts[c], place;
		struct unwind_mapping *mappings;

		expect_ok(unwind_store_take(world->store, count * UNWIND_MAPPING_WORDS, &place));
		mappings = (struct unwind_mapping *)unwind_store_at(world->store, place);
		/* Every second 64 KiB. */
		for (uint32_t i = 0; i < count; i++)
			mappings[i] = (struct unwind_mapping){ .start = (i + 1ull) << 17,
							       .end = ((i + 1ull) << 17) + 65536,
							       .kind = UNWIND_MAPPING_PENDING };
		world->process.space = place;
		world->process.count = count;
		for (int i = 0; i < 5000; i++) {
			uint64_t address = 65536 + next_random(&seed) % ((count + 2ull) << 17);
			uint64_t number = address >> 17;
			bool is_in = number >= 1 && number <= count && !(address >> 16 & 1);

			world->registers.ip = address;
			assert_int_equal(walk(2), is_in ? UNWIND_NO_TABLE : UNWIND_NO_MAPPING);
		}
		for (uint32_t i = 0; i < count; i++) {
			world->registers.ip = mappings[i].start;
			assert_int_equal(walk(2), UNWIND_NO_TABLE);
			world->registers.ip = mappings[i].end;
			assert_int_equal(walk(2), UNWIND_NO_MAPPING);
		}
		unwind_store_give_back(world->store, place, count * UNWIND_MAPPING_WORDS);
	}
}

UNIT_TESTS(CASE(frames_by_the_stack_pointer), CASE(the_frame_pointer_comes_back),
	   CASE(an_interrupted_address_is_looked_up_as_it_is),
	   CASE(a_return_address_behind_a_function_belongs_to_it),
	   CASE(a_stack_that_was_aligned_anew), CASE(by_the_other_register_that_lasts),
	   CASE(other_registers_are_known_in_the_innermost_frame), CASE(stubs_push_on_their_way),
	   CASE(frame_pointers_where_nothing_else_is_said), CASE(never_by_frame_pointers),
	   CASE(code_that_removes_its_frame_and_returns),
	   CASE(code_that_does_something_else_has_frame_pointers), CASE(at_a_return_address_of_0),
	   CASE(truncated_if_there_is_one_more), CASE(nothing_known_of_the_process),
	   CASE(nothing_mapped), CASE(a_table_that_is_not_made_yet), CASE(no_rule),
	   CASE(a_rule_that_is_not_understood), CASE(a_register_that_was_lost),
	   CASE(memory_that_cannot_be_read), CASE(addresses_without_sense),
	   CASE(frame_pointers_end), CASE(circles_end), CASE(a_walk_over_anything_ends),
	   CASE(nothing_is_read_beyond_the_limit), CASE(the_row_in_force_is_found),
	   CASE(the_mapping_of_an_address_is_found))
