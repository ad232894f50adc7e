/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/kernel_code.h"

#include "unit/unit.h"

/* Beginnings and ends, 0 for what is not found. */
static const struct {
	const char *what, *bytes;
	uint64_t begin, end;
} cases[] = {
	{ "as it is",
	  "0000000000000000 A fixed_percpu_data\n"
	  "ffffffff81000000 T _text\n"
	  "ffffffff81400000 T do_swap_page\n"
	  "ffffffff81400b40 t other\n",
	  0xffffffff81400000, 0xffffffff81400b40 },
	{ "another name of the same place",
	  "ffffffff81400000 T do_swap_page\n"
	  "ffffffff81400000 t alias\n"
	  "ffffffff81400010 t other\n",
	  0xffffffff81400000, 0xffffffff81400010 },
	{ "hidden",
	  "0000000000000000 T _text\n"
	  "0000000000000000 T do_swap_page\n"
	  "0000000000000000 t other\n",
	  0, 0 },
	{ "not there", "ffffffff81000000 T _text\nffffffff81400000 T do_swap_pages\n", 0, 0 },
	{ "the last one, whose end is not known", "ffffffff81400000 T do_swap_page\n", 0, 0 },
	{ "nothing", "", 0, 0 },
};

TEST(it_is_found_or_not)
{
	struct scratch scratch;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(cases); i++) {
		uint64_t begin = 0, end = 0;
		bool found;

		scratch_write(&scratch, "kallsyms", text_of(cases[i].bytes));
		found = kernel_code_find(scratch_path(&scratch, "kallsyms"), "do_swap_page", &begin,
					 &end);
		if (begin != cases[i].begin || end != cases[i].end || found != (end > 0))
			fail_msg("%s: %lx to %lx", cases[i].what, (unsigned long)begin,
				 (unsigned long)end);
	}
	assert_false(kernel_code_find(scratch_path(&scratch, "none"), "do_swap_page",
				      &(uint64_t){ 0 }, &(uint64_t){ 0 }));
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(it_is_found_or_not))
