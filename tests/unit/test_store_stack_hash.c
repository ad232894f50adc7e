/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/stack_hash.h"

#include "unit/profile_scene.h"

static const struct name *name(struct profile *p, const char *text)
{
	return profile_name(p, text, strlen(text));
}

static uint32_t node(struct profile *p, uint32_t parent, const struct frame *frame)
{
	uint32_t number, ret;

	expect_ok(profile_frame(p, frame, &number));
	expect_ok(profile_node(p, parent, number, &ret));
	return ret;
}

/* By hand, as the header says. */
static uint64_t hash_of(uint64_t caller, const char *bytes, size_t length)
{
	uint64_t frame = text_hash((struct text){ bytes, length }, 0);
	char word[8];

	for (size_t i = 0; i < sizeof(word); i++)
		word[i] = (char)(frame >> (8 * i));
	return text_hash((struct text){ word, sizeof(word) }, caller);
}

/* Stored hashes must not change with the program: these numbers stay as they are. */
TEST(hashes_are_those_of_the_header)
{
	struct profile *p = build_profile();
	struct stack_hashes hashes = { 0 };
	struct frame frame = { .kind = FRAME_USER,
			       .name = name(p, "main"),
			       .module = name(p, "/bin/a"),
			       .source = name(p, "a.c"),
			       .line = 258,
			       .address = 0x1234,
			       .offset = 4 };
	uint32_t outer = node(p, NODE_NONE, &frame), inner;
	uint64_t wanted;

	frame = (struct frame){ .kind = FRAME_KERNEL, .inlined = true, .name = name(p, "f") };
	inner = node(p, outer, &frame);
	expect_ok(stack_hashes_take(&hashes, p));
	wanted = hash_of(0, "\0main\0/bin/a\0a.c\0\2\1\0\0", 21);
	assert_int_equal(stack_hash(&hashes, outer), wanted);
	assert_int_equal(stack_hash(&hashes, inner), hash_of(wanted,
							     "\x81"
							     "f\0\0\0\0\0\0\0",
							     9));
	assert_int_equal(stack_hash(&hashes, inner), 0xff80262ae01c5c0au);
	assert_int_equal(stack_hash(&hashes, NODE_NONE), 0);
	stack_hashes_deinit(&hashes);
	profile_destroy(p);
}

/* Other addresses are the same stack, other orders another. */
TEST(hashes_tell_stacks_apart)
{
	struct profile *p = build_profile();
	struct stack_hashes hashes = { 0 };
	struct frame a = { .name = name(p, "a"), .address = 1 }, b = { .name = name(p, "b") };
	uint32_t ab = node(p, node(p, NODE_NONE, &a), &b);
	uint32_t ba = node(p, node(p, NODE_NONE, &b), &a);
	uint32_t same;

	a.address = 2;
	same = node(p, node(p, NODE_NONE, &a), &b);
	expect_ok(stack_hashes_take(&hashes, p));
	assert_int_not_equal(stack_hash(&hashes, ab), stack_hash(&hashes, ba));
	assert_true(ab != same);
	assert_int_equal(stack_hash(&hashes, ab), stack_hash(&hashes, same));
	stack_hashes_deinit(&hashes);
	profile_destroy(p);
}

UNIT_TESTS(cmocka_unit_test(hashes_are_those_of_the_header),
	   cmocka_unit_test(hashes_tell_stacks_apart))
