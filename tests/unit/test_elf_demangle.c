/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/demangle.h"

#include <string.h>

#include "unit/unit.h"

static void expect_shown(const char *symbol, const char *wanted)
{
	char shown[FUNCTION_NAME_MAX];
	size_t length = demangle(symbol, shown);

	assert_string_equal(shown, wanted);
	assert_int_equal(length, strlen(wanted));
}

/* As c++filt and rustfilt have them, without parameters. */
TEST(names_are_those_that_people_write)
{
	expect_shown("main", "main");
	expect_shown("_start", "_start");
	expect_shown("_Z3fooi", "foo");
	expect_shown("_ZN3one3two5threeEPKcd", "one::two::three");
	expect_shown("_ZNSt6vectorIiSaIiEE9push_backERKi",
		     "std::vector<int, std::allocator<int> >::push_back");
	expect_shown("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place");
	expect_shown("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function");
	expect_shown("_ZTv0_n24_N1C1fEv", "virtual thunk to C::f()");
}

TEST(other_names_are_unchanged)
{
	expect_shown("_Z", "_Z");
	expect_shown("_Znonsense!", "_Znonsense!");
	expect_shown("_R", "_R");
	expect_shown("", "");
	expect_shown("a\nb\x1b[m", "a?b?[m");
}

TEST(long_names_are_cut)
{
	char symbol[MANGLED_NAME_MAX * 2], wanted[FUNCTION_NAME_MAX], shown[FUNCTION_NAME_MAX];

	memset(symbol, 'a', sizeof(symbol));
	symbol[FUNCTION_NAME_MAX - 1] = 0;
	expect_shown(symbol, symbol);
	symbol[FUNCTION_NAME_MAX - 1] = 'a';
	symbol[sizeof(symbol) - 1] = 0;
	memset(wanted, 'a', sizeof(wanted));
	strcpy(wanted + sizeof(wanted) - 4, "...");
	expect_shown(symbol, wanted);
	memcpy(symbol, "_Z", 2);
	memcpy(wanted, "_Z", 2);
	expect_shown(symbol, wanted);
	assert_int_equal(demangle(symbol, shown), FUNCTION_NAME_MAX - 1);
}

/* Each parameter of the template is a pair of the one before: 2^60 names, if all were written. */
TEST(a_name_that_would_fill_the_memory_is_cut)
{
	char symbol[MANGLED_NAME_MAX] = "_Z1fI1AIiiE", shown[FUNCTION_NAME_MAX];
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (unsigned i = 0; i < 30; i++) {
		char number[] = { 'S', digits[i], '_', 0 };

		strcat(symbol, "S_I");
		strcat(symbol, number);
		strcat(symbol, number);
		strcat(symbol, "E");
	}
	strcat(symbol, "Evv");
	assert_int_equal(demangle(symbol, shown), FUNCTION_NAME_MAX - 1);
	assert_string_equal(shown + FUNCTION_NAME_MAX - 4, "...");
	assert_memory_equal(shown, "f<A<int, int>", 13);
}

TEST(deep_names_do_not_fill_the_stack)
{
	char symbol[MANGLED_NAME_MAX] = "_Z1f", shown[FUNCTION_NAME_MAX];

	memset(symbol + 4, 'P', sizeof(symbol) - 6);
	symbol[sizeof(symbol) - 2] = 'i';
	assert_true(demangle(symbol, shown) > 0);
	memset(symbol + 2, 'N', sizeof(symbol) - 3);
	assert_true(demangle(symbol, shown) > 0);
	memset(symbol + 1, 'R', sizeof(symbol) - 2);
	assert_true(demangle(symbol, shown) > 0);
}

UNIT_TESTS(cmocka_unit_test(names_are_those_that_people_write),
	   cmocka_unit_test(other_names_are_unchanged), cmocka_unit_test(long_names_are_cut),
	   cmocka_unit_test(a_name_that_would_fill_the_memory_is_cut),
	   cmocka_unit_test(deep_names_do_not_fill_the_stack))
