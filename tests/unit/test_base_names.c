/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/names.h"

#include <stdio.h>

#include "unit/unit.h"

struct table {
	struct arena arena;
	struct names names;
};

static void open_table(struct table *t, size_t limit)
{
	arena_init(&t->arena, limit);
	names_init(&t->names, &t->arena);
}

static void close_table(struct table *t)
{
	names_deinit(&t->names);
	arena_deinit(&t->arena);
}

static const struct name *intern(struct table *t, const char *string)
{
	return names_intern(&t->names, string, strlen(string));
}

TEST(equal_bytes_are_one_object)
{
	struct table t;
	char copy[] = "kworker";

	open_table(&t, 1 << 20);
	assert_ptr_equal(intern(&t, "kworker"), intern(&t, copy));
	assert_ptr_not_equal(intern(&t, "kworker"), intern(&t, "kworke"));
	close_table(&t);
}

TEST(thousands_are_found_again_after_growth)
{
	enum { COUNT = 5000 };
	static const struct name *names[COUNT];
	struct table t;
	char text[32];

	open_table(&t, 8 << 20);
	for (int i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "thread-%d", i);
		names[i] = intern(&t, text);
		assert_non_null(names[i]);
	}
	assert_int_equal(t.names.by_text.count, COUNT);
	for (int i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "thread-%d", i);
		assert_ptr_equal(intern(&t, text), names[i]);
		assert_string_equal(names[i]->bytes, text);
	}
	assert_int_equal(t.names.by_text.count, COUNT);
	close_table(&t);
}

TEST(any_byte_may_stand_in_a_name)
{
	static const char bytes[] = "\xff\0\xc3(\n)";
	struct table t;
	const struct name *name;

	open_table(&t, 1 << 20);
	name = names_intern(&t.names, bytes, sizeof(bytes) - 1);
	assert_int_equal(name->length, sizeof(bytes) - 1);
	assert_memory_equal(name->bytes, bytes, sizeof(bytes));
	/* A name that ends at the NUL is another one. */
	assert_ptr_not_equal(names_intern(&t.names, bytes, 1), name);
	close_table(&t);
}

TEST(names_end_in_nul_and_are_aligned)
{
	struct table t;
	uint32_t cpus[] = { 1, 2, 3 };
	const struct name *name;

	open_table(&t, 1 << 20);
	intern(&t, "odd");
	name = names_intern(&t.names, cpus, sizeof(cpus));
	assert_int_equal((uintptr_t)name->bytes % 8, 0);
	assert_int_equal(name->bytes[sizeof(cpus)], 0);
	name = names_intern(&t.names, "", 0);
	assert_int_equal(name->length, 0);
	assert_string_equal(name->bytes, "");
	close_table(&t);
}

TEST(the_limit_refuses_new_names_only)
{
	struct table t;
	const struct name *first;
	char text[1024];
	size_t before;

	open_table(&t, 80 << 10);
	first = intern(&t, "first");
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 1000; i++) {
		memcpy(text, &i, sizeof(i));
		before = t.names.by_text.count;
		if (!names_intern(&t.names, text, sizeof(text)))
			break;
	}
	assert_int_equal(t.names.by_text.count, before);
	assert_null(names_intern(&t.names, text, sizeof(text)));
	assert_ptr_equal(intern(&t, "first"), first);
	close_table(&t);
}

TEST(order_is_by_bytes_shorter_first)
{
	static const char *const ascending[] = { "",   "\x01", "B",    "a",   "aa",
						 "ab", "b",    "\xc3", "\xff" };
	struct table t;

	open_table(&t, 1 << 20);
	for (size_t i = 0; i < array_length(ascending); i++) {
		const struct name *a = intern(&t, ascending[i]);

		assert_int_equal(name_compare(a, a), 0);
		assert_true(name_compare(NULL, a) < 0);
		assert_true(name_compare(a, NULL) > 0);
		for (size_t j = i + 1; j < array_length(ascending); j++) {
			assert_true(name_compare(a, intern(&t, ascending[j])) < 0);
			assert_true(name_compare(intern(&t, ascending[j]), a) > 0);
		}
	}
	assert_int_equal(name_compare(NULL, NULL), 0);
	close_table(&t);
}

TEST(names_of_two_tables_compare_by_bytes)
{
	struct table a, b;

	open_table(&a, 1 << 20);
	open_table(&b, 1 << 20);
	assert_ptr_not_equal(intern(&a, "same"), intern(&b, "same"));
	assert_int_equal(name_compare(intern(&a, "same"), intern(&b, "same")), 0);
	close_table(&a);
	close_table(&b);
}

UNIT_TESTS(cmocka_unit_test(equal_bytes_are_one_object),
	   cmocka_unit_test(thousands_are_found_again_after_growth),
	   cmocka_unit_test(any_byte_may_stand_in_a_name),
	   cmocka_unit_test(names_end_in_nul_and_are_aligned),
	   cmocka_unit_test(the_limit_refuses_new_names_only),
	   cmocka_unit_test(order_is_by_bytes_shorter_first),
	   cmocka_unit_test(names_of_two_tables_compare_by_bytes))
