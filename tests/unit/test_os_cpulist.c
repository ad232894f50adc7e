/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cpulist.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "unit/unit.h"

/* "1 2 5 ", to compare with. */
static const char *spelled(const struct cpus *cpus)
{
	static char text[512];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < cpus->count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%" PRIu32 " ",
					 cpus->items[i]);
	return text;
}

TEST(lists)
{
	static const char *const lists[][2] = {
		{ "0-3,8", "0 1 2 3 8 " },
		{ "5", "5 " },
		{ "7-7", "7 " },
		{ "0-1,3,6-7", "0 1 3 6 7 " },
		{ "3,1,2,1-2", "1 2 3 " },
		{ "0-2,", "0 1 2 " },
		{ ",4,,5", "4 5 " },
		{ " 0-1\n", "0 1 " },
		{ "", "" },
		{ "262143", "262143 " },
		{ "1, 3", "1 3 " },
	};
	struct cpus cpus = { 0 };

	for (size_t i = 0; i < array_length(lists); i++) {
		struct text list = guarded(lists[i][0], strlen(lists[i][0]));

		assert_true(cpulist_parse(list, &cpus));
		assert_string_equal(spelled(&cpus), lists[i][1]);
		unguard(list);
	}
	array_deinit(&cpus);
}

TEST(not_lists)
{
	static const char *const bad[] = { "3-1",   "x",          "1-",           "-1",
					   "1-2-3", "0-262145",   "262145",       "1;2",
					   "0x3",   "4294967296", "0-4294967295", "1 2" };
	struct cpus cpus = { 0 };

	for (size_t i = 0; i < array_length(bad); i++)
		assert_false(cpulist_parse(text_of(bad[i]), &cpus));
	array_deinit(&cpus);
}

TEST(a_huge_range_and_its_repetition)
{
	enum { TIMES = 1000 };
	char *list = malloc(TIMES * 9 + 1), *at = list;
	struct cpus cpus = { 0 };

	assert_true(cpulist_parse(TEXT("0-262143"), &cpus));
	assert_int_equal(cpus.count, CPU_MAX);
	assert_int_equal(cpus.items[CPU_MAX - 1], CPU_MAX - 1);
	/* Repeating it may be refused or understood, but must not fill the memory. */
	for (int i = 0; i < TIMES; i++)
		at = stpcpy(at, "0-262143,");
	if (cpulist_parse(text_of(list), &cpus))
		assert_int_equal(cpus.count, CPU_MAX);
	assert_true(cpus.room <= 8 * CPU_MAX);
	free(list);
	array_deinit(&cpus);
}

TEST(lists_as_they_were)
{
	static const char *const lists[] = {
		"", "0", "0-1", "7", "0-3,8", "0,2,4-5,262143", "262142-262143"
	};
	struct cpus cpus = { 0 };

	for (size_t i = 0; i < array_length(lists); i++) {
		char *text;

		assert_true(cpulist_parse(text_of(lists[i]), &cpus));
		text = cpulist_text(&cpus);
		assert_string_equal(text, lists[i]);
		free(text);
	}
	array_deinit(&cpus);
}

/* No CPU has a larger number than the host may have. */
TEST(cpus_of_this_host)
{
	assert_true(cpus_possible() > (uint32_t)sched_getcpu());
	assert_true(cpus_possible() >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(cpus_possible() <= CPU_MAX);
}

TEST(masks)
{
	const size_t word = sizeof(unsigned long), bits = 8 * word;
	unsigned long mask[4] = { 0 };
	struct cpus cpus = { 0 };
	char expected[64];

	assert_true(cpus_from_mask(mask, sizeof(mask), &cpus));
	assert_int_equal(cpus.count, 0);
	mask[0] = 5;
	mask[2] = 1;
	mask[3] = 1ul << (bits - 1);
	snprintf(expected, sizeof(expected), "0 2 %zu %zu ", 2 * bits, 4 * bits - 1);
	assert_true(cpus_from_mask(mask, sizeof(mask), &cpus));
	assert_string_equal(spelled(&cpus), expected);
	/* Only as many bytes as the call filled. */
	assert_true(cpus_from_mask(mask, 2 * word, &cpus));
	assert_string_equal(spelled(&cpus), "0 2 ");
	assert_true(cpus_from_mask(mask, 0, &cpus));
	assert_int_equal(cpus.count, 0);
	array_deinit(&cpus);
}

TEST(our_own_mask_as_the_c_library_counts_it)
{
	struct cpus cpus = { 0 };
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true(cpus_from_mask((const unsigned long *)&set, sizeof(set), &cpus));
	assert_true(cpus.count >= 1);
	assert_int_equal(cpus.count, CPU_COUNT(&set));
	for (size_t i = 0; i < cpus.count; i++)
		assert_true(CPU_ISSET(cpus.items[i], &set));
	array_deinit(&cpus);
}

UNIT_TESTS(cmocka_unit_test(lists), cmocka_unit_test(not_lists),
	   cmocka_unit_test(a_huge_range_and_its_repetition), cmocka_unit_test(masks),
	   cmocka_unit_test(lists_as_they_were), cmocka_unit_test(cpus_of_this_host),
	   cmocka_unit_test(our_own_mask_as_the_c_library_counts_it))
