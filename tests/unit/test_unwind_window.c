/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/window.h"

#include <string.h>

#include "base/user_space.h"
#include "unit/unit.h"

/* Memory of `size` bytes from `start` on, of which a read gets at most `most`. */
struct memory {
	uint64_t start;
	const unsigned char *bytes;
	size_t size, most;
	unsigned reads;
};

static size_t read_memory(void *context, uint64_t address, void *into, size_t size)
{
	struct memory *m = context;
	size_t there;

	m->reads++;
	assert_true(size && size <= UNWIND_WINDOW_BYTES);
	assert_true(address < USER_SPACE_LIMIT && size <= USER_SPACE_LIMIT - address);
	if (address < m->start || address - m->start >= m->size)
		return 0;
	there = m->size - (size_t)(address - m->start);
	there = there < size ? there : size;
	there = there < m->most ? there : m->most;
	memcpy(into, m->bytes + (address - m->start), there);
	return there;
}

static unsigned char content[3 * UNWIND_WINDOW_BYTES];

static struct memory memory_at(uint64_t start)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (unsigned char)(i * 7 + i / 251);
	return (struct memory){ start, content, sizeof(content), SIZE_MAX, 0 };
}

static uint64_t word_of(const struct memory *m, uint64_t address)
{
	uint64_t word;

	memcpy(&word, m->bytes + (address - m->start), sizeof(word));
	return word;
}

TEST(words_are_those_of_the_memory)
{
	struct memory memory = memory_at(0x10000);
	struct unwind_window window = { .read = read_memory, .context = &memory };
	uint64_t seed = 5, word;

	for (int i = 0; i < 5000; i++) {
		uint64_t at = memory.start - 16 + next_random(&seed) % (memory.size + 32);
		bool is_there = at >= memory.start && at - memory.start <= memory.size - 8;

		memory.most = 1 + next_random(&seed) % 64;
		assert_int_equal(unwind_window_word(&window, at, &word),
				 is_there && memory.most >= 8);
		if (is_there && memory.most >= 8)
			assert_int_equal(word, word_of(&memory, at));
		window.bytes = 0;
	}
}

TEST(neighbours_are_read_at_once)
{
	struct memory memory = memory_at(0x10000);
	struct unwind_window window = { .read = read_memory, .context = &memory };
	uint64_t word;

	for (uint64_t at = 0; at < UNWIND_WINDOW_BYTES; at += 8)
		assert_true(unwind_window_word(&window, memory.start + at, &word));
	assert_int_equal(memory.reads, 1);
	assert_true(unwind_window_word(&window, memory.start + UNWIND_WINDOW_BYTES - 7, &word));
	assert_int_equal(memory.reads, 2);
}

/* A partial read leaves words that are not there, however long the window was before. */
TEST(the_end_of_a_partial_read_is_no_word)
{
	struct memory memory = memory_at(0x10000);
	struct unwind_window window = { .read = read_memory, .context = &memory };
	uint64_t word;

	assert_true(unwind_window_word(&window, memory.start, &word));
	memory.size = 12;
	window.bytes = 0;
	assert_true(unwind_window_word(&window, memory.start, &word));
	assert_true(unwind_window_word(&window, memory.start + 4, &word));
	assert_int_equal(word, word_of(&memory, memory.start + 4));
	for (uint64_t at = 5; at < 24; at++)
		assert_false(unwind_window_word(&window, memory.start + at, &word));
}

/* An address plus 8 wraps around here: such a word is never read, nor found in a window. */
TEST(addresses_beyond_the_limit_are_no_words)
{
	static const uint64_t starts[] = { 0, 1, 8, USER_SPACE_LIMIT - 4096, USER_SPACE_LIMIT - 8 };
	struct memory memory = memory_at(0);
	uint64_t word;

	for (size_t i = 0; i < array_length(starts); i++) {
		struct unwind_window window = { .read = read_memory, .context = &memory };

		memory.start = starts[i];
		for (int before = 0; before < 2; before++) {
			for (uint64_t below = 1; below <= 32; below++)
				assert_false(unwind_window_word(&window, -below, &word));
			for (uint64_t beyond = 0; beyond < 16; beyond++)
				assert_false(unwind_window_word(
					&window, USER_SPACE_LIMIT - 7 + beyond, &word));
			assert_false(unwind_window_word(&window, 1ull << 63, &word));
			assert_int_equal(memory.reads, before);
			/* The same with a window that has bytes. */
			if (!before)
				assert_true(unwind_window_word(&window, starts[i], &word));
		}
		memory.reads = 0;
	}
}

UNIT_TESTS(cmocka_unit_test(words_are_those_of_the_memory),
	   cmocka_unit_test(neighbours_are_read_at_once),
	   cmocka_unit_test(the_end_of_a_partial_read_is_no_word),
	   cmocka_unit_test(addresses_beyond_the_limit_are_no_words))
