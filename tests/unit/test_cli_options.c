/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "unit/unit.h"

/* Of the program, which this is not. */
void help_print(FILE *out, const struct command *command)
{
	fprintf(out, "%s\n", command->name);
}

#define COUNT 200

static char names[COUNT][16];
static struct option_row rows[COUNT];

struct arguments {
	bool flags[COUNT];
};

static struct command command_of_many(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "option-%zu", i);
		rows[i] = (struct option_row){ .name = names[i],
					       .letter = i < 26 ? (char)('A' + i) : '\0',
					       .parse = parse_flag,
					       .offset = i * sizeof(bool) };
	}
	return (struct command){
		.name = "many", .operands = "", .options = rows, .option_count = COUNT
	};
}

TEST(a_command_may_have_any_number_of_options)
{
	const struct command command = command_of_many();
	struct arguments arguments = { 0 };
	char words[][16] = { "ctprof", "--option-199", "-B", "--option-64" };
	char *argv[] = { words[0], words[1], words[2], words[3], NULL };
	int status = 0;

	assert_int_equal(options_parse(&command, 4, argv, &arguments, &status), 4);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(arguments.flags[i], i == 199 || i == 64 || i == 1);
}

#define VALUES 600

static const char *value(size_t number)
{
	static char shown[16];

	if (number >= VALUES)
		return NULL;
	if (number == VALUES - 1)
		return "the-last-of-all";
	snprintf(shown, sizeof(shown), "x");
	return shown;
}

TEST(the_nearest_of_any_number_of_values)
{
	struct error *err = unknown_value("value", "the-last-of-al", value);

	assert_string_equal(err->message,
			    "unknown value 'the-last-of-al'; did you mean 'the-last-of-all'?");
	error_destroy(err);
}

UNIT_TESTS(cmocka_unit_test(a_command_may_have_any_number_of_options),
	   cmocka_unit_test(the_nearest_of_any_number_of_values))
