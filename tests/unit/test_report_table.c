/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table.h"

#include <stdlib.h>

#include "unit/unit.h"

static const struct table_column columns[] = {
	{ "name", .type = TABLE_TEXT, .field = 0 },
	{ "value", .type = TABLE_TEXT, .right = true, .field = 1 },
	{ "note", .type = TABLE_TEXT, .field = 2 },
};

/* A cell of a test; rows are arrays of them. */
struct made {
	struct text text;
	enum table_colour colour;
	bool bold;
};

static void get_made(const void *context, const void *row, const struct table_column *column,
		     struct table_cell *ret)
{
	const struct made *made = (const struct made *)row + column->field;

	(void)context;
	table_text(ret, made->text);
	ret->colour = made->colour;
	ret->bold = made->bold;
}

/* A text that is written where a table goes; the caller frees it. */
struct output {
	char *text;
	size_t length;
	FILE *out;
};

static FILE *output_begin(struct output *output)
{
	return output->out = open_memstream(&output->text, &output->length);
}

static char *output_end(struct output *output, struct table *table)
{
	expect_ok(table_end(table));
	fclose(output->out);
	return output->text;
}

static void begin(struct table *table, struct output *output, const struct table_column *of,
		  size_t count, size_t width, bool colour)
{
	table_begin(table, of, count,
		    (struct table_options){ .format = TABLE_AS_TEXT,
					    .out = output_begin(output),
					    .get = get_made,
					    .width = width,
					    .wrap = true,
					    .colour = colour });
}

static char *print_made(const struct made *cells, size_t count, size_t width, bool colour)
{
	struct output output;
	struct table table;

	begin(&table, &output, columns, array_length(columns), width, colour);
	for (size_t i = 0; i < count; i += array_length(columns))
		assert_true(table_row(&table, cells + i));
	return output_end(&output, &table);
}

static char *printed_within(const struct text *cells, size_t count, size_t width, bool colour)
{
	struct made made[32] = { 0 };

	assert_true(count <= array_length(made));
	for (size_t i = 0; i < count; i++)
		made[i].text = cells[i];
	return print_made(made, count, width, colour);
}

static char *printed(const struct text *cells, size_t count, bool colour)
{
	return printed_within(cells, count, 0, colour);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
	static const struct text cells[] = {
		{ "a", 1 },        { "1ns", 3 }, { "", 0 }, { "longer name", 11 },
		{ "12.345ms", 8 }, { "x", 1 },
	};
	_cleanup_free_ char *text = printed(cells, array_length(cells), false);

	assert_string_equal(text, " name            value  note \n"
				  " a                 1ns   \n"
				  " longer name  12.345ms  x \n");
}

TEST(a_character_is_one_column)
{
	static const struct text cells[] = {
		{ "\xc3\xa4\xe2\x82\xac", 5 },
		{ "1.500\xc2\xb5s", 8 },
		{ "", 0 },
		{ "abcd", 4 },
		{ "1.500ms", 7 },
		{ "", 0 },
	};
	_cleanup_free_ char *text = printed(cells, array_length(cells), false);

	assert_string_equal(text, " name    value  note \n"
				  " \xc3\xa4\xe2\x82\xac    1.500\xc2\xb5s   \n"
				  " abcd  1.500ms   \n");
}

TEST(no_rows)
{
	_cleanup_free_ char *text = printed(NULL, 0, false);

	assert_string_equal(text, " name  value  note \n");
}

TEST(plain_cells_have_no_colour)
{
	static const struct text cells[] = { { "a", 1 }, { "b", 1 }, { "c", 1 } };
	_cleanup_free_ char *plain = printed(cells, 3, false), *colour = printed(cells, 3, true);

	assert_null(strchr(plain, '\033'));
	assert_int_equal(strncmp(colour, " \033[36mname", 10), 0);
	assert_non_null(strstr(colour, "\n a         b  c \n"));
}

TEST(hostile_names_do_not_reach_the_terminal)
{
	static const struct {
		struct text raw;
		const char *visible;
	} names[] = {
		{ { "plain", 5 }, "plain" },
		{ { "\033[2J", 4 }, "\\x1b[2J" },
		{ { "a\nb\tc\r", 6 }, "a\\x0ab\\x09c\\x0d" },
		{ { "nul\0", 4 }, "nul\\x00" },
		{ { "\x7f", 1 }, "\\x7f" },
		{ { "\xe2\x80\xae"
		    "exe",
		    6 },
		  "\\u{202e}exe" },                     /* turns the line around */
		{ { "\xe2\x80\xa8", 3 }, "\\u{2028}" }, /* ends it */
		{ { "\xc2\x9b[31m", 6 }, "\\x9b[31m" }, /* CSI in one character */
		{ { "\xc2\xa0", 2 }, "\xc2\xa0" },
		{ { "\xff", 1 }, "\xef\xbf\xbd" },
		{ { "\xe2\x82", 2 }, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ { "", 0 }, "" },
	};

	for (size_t i = 0; i < array_length(names); i++) {
		_cleanup_free_ char *visible = text_visible(names[i].raw);

		assert_string_equal(visible, names[i].visible);
	}
}

TEST(cells_are_made_visible)
{
	static const struct text cells[] = { { "a\nb", 3 }, { "1", 1 }, { "", 0 } };
	_cleanup_free_ char *text = printed(cells, 3, false);

	assert_non_null(strstr(text, " a\\x0ab "));
}

/* --- widths --- */

TEST(widths_of_a_terminal)
{
	static const struct {
		const char *text;
		size_t width;
	} texts[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "\xc3\xa4", 1 },                 /* a with two dots, one character */
		{ "a\xcc\x88", 1 },                /* the same of two */
		{ "\xcc\x88", 0 },                 /* a mark alone */
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4 }, /* two Han characters */
		{ "\xe3\x81\x8b\xe3\x82\x99", 2 }, /* kana and its mark */
		{ "\xef\xbc\xa1", 2 },             /* a full-width A */
		{ "\xef\xbd\xb1", 1 },             /* a half-width kana */
		{ "\xf0\x9f\x98\x80", 2 },         /* a face */
		{ "\xe2\x80\x8b", 0 },             /* a space without width */
		{ "1.500\xc2\xb5s \xc2\xb1"
		  "2\xe2\x86\x92"
		  "3",
		  12 },
		{ "\xef\xbf\xbd", 1 },
	};

	for (size_t i = 0; i < array_length(texts); i++)
		if (text_width(texts[i].text) != texts[i].width)
			fail_msg("\"%s\" is %zu wide", texts[i].text, text_width(texts[i].text));
}

TEST(wide_and_combining_names_keep_columns_in_line)
{
	static const struct text cells[] = {
		{ "\xe6\xbc\xa2\xe5\xad\x97", 6 },
		{ "1", 1 },
		{ "x", 1 },
		{ "a\xcc\x88o\xcc\x88", 6 },
		{ "2", 1 },
		{ "x", 1 },
		{ "abcde", 5 },
		{ "3", 1 },
		{ "x", 1 },
	};
	_cleanup_free_ char *text = printed(cells, array_length(cells), false);

	assert_string_equal(text, " name   value  note \n"
				  " \xe6\xbc\xa2\xe5\xad\x97       1  x \n"
				  " a\xcc\x88o\xcc\x88         2  x \n"
				  " abcde      3  x \n");
}

/* --- within a width --- */

/* No line is wider than it may be. */
static void expect_within(const char *text, size_t width)
{
	struct text rest = text_of(text), line;

	while (text_cut(&rest, '\n', &line)) {
		char *copy = strndup(line.bytes, line.length);

		if (text_width(copy) > width)
			fail_msg("\"%s\" is wider than %zu", copy, width);
		free(copy);
	}
}

static const struct text long_cells[] = {
	{ "abcdefghijklmnopqrstuvwxyz", 26 },
	{ "123456", 6 },
	{ "n", 1 },
};

TEST(cells_go_on_in_the_next_line)
{
	_cleanup_free_ char *text = printed_within(long_cells, 3, 30, false);

	/* 6 blanks beside columns, 6 for the value, 4 for the note: 14 for the name */
	assert_string_equal(text, " name             value  note \n"
				  " abcdefghijklmn  123456  n \n"
				  " opqrstuvwxyz             \n");
	expect_within(text, 30);
}

TEST(fitting_tables_are_unchanged)
{
	_cleanup_free_ char *wide = printed_within(long_cells, 3, 0, false);
	_cleanup_free_ char *just = printed_within(long_cells, 3, 42, false);
	_cleanup_free_ char *less = printed_within(long_cells, 3, 41, false);

	assert_string_equal(wide, just);
	assert_string_not_equal(wide, less);
	expect_within(less, 41);
}

/* Of two, the wider one gives first. */
TEST(the_widest_column_gives_way)
{
	static const struct text cells[] = { { "aaaaaaaaaaaaaaaaaaaa", 20 },
					     { "bbbbbbbbbb", 10 },
					     { "cccccccccccccccccccc", 20 } };

	for (size_t width = 36; width <= 56; width++) {
		_cleanup_free_ char *text = printed_within(cells, 3, width, false);

		expect_within(text, width);
		assert_non_null(strstr(text, " bbbbbbbbbb "));
	}
}

/* Every byte of every cell is there once, in its order. */
TEST(nothing_is_lost_in_wrapping)
{
	static const struct text cells[] = {
		{ "漢字漢字漢字", 18 },
		{ "1", 1 },
		{ "zz\xcc\x88zz\xcc\x88zz\xcc\x88zz\xcc\x88zz\xcc\x88", 20 },
	};

	for (size_t width = 1; width < 50; width++) {
		_cleanup_free_ char *text = printed_within(cells, 3, width, false);
		size_t han = 0, letters = 0, marks = 0;

		for (const char *p = text; *p; p++) {
			han += strncmp(p, "漢", 3) == 0 || strncmp(p, "字", 3) == 0;
			letters += *p == 'z';
			marks += strncmp(p, "\xcc\x88", 2) == 0;
			/* a mark stays with its letter */
			assert_false(strncmp(p, " \xcc\x88", 3) == 0);
		}
		assert_int_equal(han, 6);
		assert_int_equal(letters, 10);
		assert_int_equal(marks, 5);
		if (width >= 30)
			expect_within(text, width);
	}
}

/* However narrow it is: one that is cut in two reads as two. */
TEST(numbers_are_not_cut)
{
	static const struct text cells[] = {
		{ "abcdefghijklmnopqrstuvwxyz", 26 },
		{ "1234567.890ms (12 of 34 delays)", 31 },
		{ "nnnnnnnnnnnnnnnnnnnnnnnn", 24 },
	};

	for (size_t width = 1; width < 90; width++) {
		_cleanup_free_ char *text = printed_within(cells, 3, width, false);

		assert_non_null(strstr(text, " 1234567.890ms "));
		assert_non_null(strstr(text, "(12"));
		assert_non_null(strstr(text, "delays) "));
		if (width >= 35)
			expect_within(text, width);
	}
}

/* A name that a file gives to a number is no reason to be wider. */
TEST(only_texts_are_cut)
{
	static char large[1000];
	const struct text cells[] = { { "a", 1 }, { large, sizeof(large) }, { "n", 1 } };
	_cleanup_free_ char *text = NULL;

	memset(large, 'x', sizeof(large));
	text = printed_within(cells, 3, 80, false);
	expect_within(text, 80);
}

/* A heading is no reason to be wider than the terminal, nor to stand out of line. */
TEST(long_headings_wrap_too)
{
	static const struct table_column axis[] = {
		{ "cgroup > process > thread", .type = TABLE_TEXT, .field = 0 },
		{ "value", .type = TABLE_COUNT, .field = 1 },
	};
	const struct made row[] = { { .text = TEXT("/a > b > c") }, { .text = TEXT("1") } };
	struct output output;
	struct table table;
	_cleanup_free_ char *text = NULL;

	begin(&table, &output, axis, 2, 24, false);
	assert_true(table_row(&table, row));
	text = output_end(&output, &table);
	expect_within(text, 24);
}

/* --- lines between rows, colours --- */

TEST(lines_of_their_own)
{
	const struct made a = { .text = TEXT("a") }, b = { .text = TEXT("b") };
	struct output output;
	struct table table;
	_cleanup_free_ char *text = NULL;

	begin(&table, &output, columns, 1, 0, false);
	assert_true(table_line(&table, "first"));
	assert_true(table_row(&table, &a));
	assert_true(table_line(&table, ""));
	assert_true(table_row(&table, &b));
	assert_true(table_line(&table, "... 1 more row"));
	assert_true(table_line(&table, "last"));
	text = output_end(&output, &table);
	assert_string_equal(text, " name \nfirst\n a \n\n b \n... 1 more row\nlast\n");
}

TEST(cells_are_coloured_where_there_are_colours)
{
	const struct made row[] = { { TEXT("a"), TABLE_DERIVED, false },
				    { TEXT("+1"), TABLE_RISE, true },
				    { TEXT("-1"), TABLE_FALL, false } };
	_cleanup_free_ char *plain = print_made(row, 3, 0, false);
	_cleanup_free_ char *colour = print_made(row, 3, 0, true);

	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(colour, "\033[34ma\033[0m"));
	assert_non_null(strstr(colour, "\033[33m\033[1m+1\033[0m"));
	assert_non_null(strstr(colour, "\033[35m-1\033[0m"));
}

/* Without its escapes the coloured table is the plain one. */
TEST(colours_take_no_room)
{
	_cleanup_free_ char *plain = NULL, *colour = NULL;
	struct made made[9];
	char *end;

	for (int i = 0; i < 9; i++)
		made[i] = (struct made){ i % 2 ? TEXT("ab") : TEXT("abcdefghijklmnopq"),
					 (enum table_colour)(i % 4), i % 3 == 0 };
	plain = print_made(made, 9, 40, false);
	colour = print_made(made, 9, 40, true);
	end = colour;
	for (const char *p = colour; *p; p++) {
		if (*p == '\033')
			p = strchr(p, 'm');
		else
			*end++ = *p;
	}
	*end = '\0';
	assert_string_equal(plain, colour);
}

/* --- the same table in each format --- */

static const struct table_column typed[] = {
	{ "text", .type = TABLE_TEXT, .field = TABLE_TEXT },
	{ "count", .heading = "how many", .type = TABLE_COUNT, .field = TABLE_COUNT },
	{ "signed", .type = TABLE_SIGNED, .field = TABLE_SIGNED },
	{ "ns", .type = TABLE_NS, .field = TABLE_NS },
	{ "bytes", .type = TABLE_BYTES, .field = TABLE_BYTES },
	{ "pct", .type = TABLE_PERCENT, .decimals = 1, .field = TABLE_PERCENT },
	{ "real", .type = TABLE_REAL, .decimals = 2, .field = TABLE_REAL },
	{ "digits", .type = TABLE_DIGITS, .field = TABLE_DIGITS },
	{ "bool", .type = TABLE_BOOL, .left = true, .field = TABLE_BOOL },
	{ "range", .type = TABLE_RANGE, .field = TABLE_RANGE },
	{ "cpus", .type = TABLE_CPUS, .field = TABLE_CPUS },
	{ "object", .type = TABLE_OBJECT, .formats = TABLE_FOR_JSON, .field = TABLE_OBJECT },
	{ "rare", .type = TABLE_COUNT, .rare = true, .field = TABLE_UNKNOWN },
	{ "people", .type = TABLE_COUNT, .formats = TABLE_FOR_PEOPLE, .field = TABLE_COUNT },
	{ "sometimes", .type = TABLE_COUNT, .when = 2, .field = TABLE_COUNT },
};

/* Its row is a flag: whether anything is known. */
static void get_typed(const void *context, const void *row, const struct table_column *column,
		      struct table_cell *ret)
{
	(void)context;
	if (!*(const bool *)row)
		return;
	switch ((enum table_type)column->field) {
	case TABLE_UNKNOWN:
		return;
	case TABLE_TEXT:
		table_text(ret, TEXT("a|b,\"<c\n"));
		return;
	case TABLE_COUNT:
		table_count(ret, 1234567890123);
		return;
	case TABLE_SIGNED:
		ret->value = (struct table_value){ TABLE_SIGNED, .integer = -5 };
		return;
	case TABLE_NS:
		table_ns(ret, 1234567);
		return;
	case TABLE_BYTES:
		ret->value = (struct table_value){ TABLE_BYTES, .count = 1536 };
		return;
	case TABLE_PERCENT:
	case TABLE_REAL:
		table_real(ret, column->field, 12.25);
		return;
	case TABLE_DIGITS:
		ret->value = (struct table_value){ TABLE_DIGITS, .text = TEXT("-0.5") };
		return;
	case TABLE_BOOL:
		table_bool(ret, true);
		return;
	case TABLE_RANGE:
		ret->value = (struct table_value){ TABLE_RANGE, .range = { -3, 19 } };
		return;
	case TABLE_CPUS:
		ret->value = (struct table_value){ TABLE_CPUS, .cpus = { .fewest = 2, .most = 4 } };
		return;
	case TABLE_OBJECT:
		table_member(ret, "x")->value = (struct table_value){ TABLE_COUNT, .count = 1 };
		table_member(ret, "y");
		return;
	}
}

static void expect_typed(enum table_format format, const char *expected)
{
	static const bool known = true, unknown = false;
	_cleanup_free_ char *text = NULL;
	struct output output;
	struct table table;

	table_begin(&table, typed, array_length(typed),
		    (struct table_options){ .format = format,
					    .out = output_begin(&output),
					    .get = get_typed,
					    .when = 1 });
	assert_true(table_row(&table, &known));
	assert_true(table_line(&table, "a line"));
	assert_true(table_row(&table, &unknown));
	text = output_end(&output, &table);
	assert_string_equal(text, expected);
}

/* A set that has no CPU is a set: only sets that differ have no list. */
static void get_no_cpus(const void *context, const void *row, const struct table_column *column,
			struct table_cell *ret)
{
	(void)context;
	(void)row;
	(void)column;
	ret->value = (struct table_value){ TABLE_CPUS, .cpus = { .list = TEXT("") } };
}

TEST(a_set_without_cpus)
{
	static const struct table_column cpus = { "cpus", .type = TABLE_CPUS };
	static const char *const expected[] = {
		[TABLE_AS_CSV] = "cpus\n\n",
		[TABLE_AS_JSON_LINES] = "{\"cpus\":{\"cpus\":\"\",\"min\":0,\"max\":0}}\n",
	};

	for (size_t format = 0; format < array_length(expected); format++) {
		_cleanup_free_ char *text = NULL;
		struct output output;
		struct table table;

		if (!expected[format])
			continue;
		table_begin(&table, &cpus, 1,
			    (struct table_options){ .format = (enum table_format)format,
						    .out = output_begin(&output),
						    .get = get_no_cpus });
		assert_true(table_row(&table, &cpus));
		text = output_end(&output, &table);
		assert_string_equal(text, expected[format]);
	}
}

TEST(every_type_in_every_format)
{
	expect_typed(
		TABLE_AS_TEXT,
		" text              how many  signed       ns     bytes    pct   real  digits  "
		"bool   range      cpus  rare         people \n"
		" a|b,\"<c\\x0a  1234567890123      -5  1.235ms  1.500KiB  12.2%  12.25    -0.5  "
		"yes   -3..19  2-4 cpus     -  1234567890123 \n"
		"a line\n"
		" -                        -       -        -         -      -      -       -  "
		"-          -         -     -              - \n");
	expect_typed(
		TABLE_AS_MARKDOWN,
		"\n| text | how many | signed | ns | bytes | pct | real | digits | bool | range "
		"| cpus | rare | people |\n"
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: "
		"| ---: | ---: | ---: |\n"
		"| a\\|b,\"&lt;c\\\\x0a | 1234567890123 | -5 | 1.235ms | 1.500KiB | 12.2% | 12.25 "
		"| -0.5 | yes | -3..19 | 2-4 cpus | - | 1234567890123 |\n"
		"\na line\n"
		"\n| text | how many | signed | ns | bytes | pct | real | digits | bool | range "
		"| cpus | rare | people |\n"
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: "
		"| ---: | ---: | ---: |\n"
		"| - | - | - | - | - | - | - | - | - | - | - | - | - |\n");
	expect_typed(
		TABLE_AS_HTML,
		"<div class=\"wide\"><table class=\"data\">\n<thead><tr>"
		"<th scope=\"col\">text</th><th scope=\"col\" class=\"n\">how many</th>"
		"<th scope=\"col\" class=\"n\">signed</th><th scope=\"col\" class=\"n\">ns</th>"
		"<th scope=\"col\" class=\"n\">bytes</th><th scope=\"col\" class=\"n\">pct</th>"
		"<th scope=\"col\" class=\"n\">real</th><th scope=\"col\" class=\"n\">digits</th>"
		"<th scope=\"col\">bool</th><th scope=\"col\" class=\"n\">range</th>"
		"<th scope=\"col\" class=\"n\">cpus</th><th scope=\"col\" class=\"n\">rare</th>"
		"<th scope=\"col\" class=\"n\">people</th></tr></thead>\n<tbody>\n"
		"<tr><td>a|b,&quot;&lt;c\\x0a</td>"
		"<td class=\"n\" data-v=\"1234567890123\">1234567890123</td>"
		"<td class=\"n\" data-v=\"-5\">-5</td><td class=\"n\" "
		"data-v=\"1234567\">1.235ms</td>"
		"<td class=\"n\" data-v=\"1536\">1.500KiB</td>"
		"<td class=\"n\" data-v=\"12.25\">12.2%</td><td class=\"n\" "
		"data-v=\"12.25\">12.25</td>"
		"<td class=\"n\" data-v=\"-0.5\">-0.5</td><td>yes</td><td class=\"n\">-3..19</td>"
		"<td class=\"n\">2-4 cpus</td><td class=\"n\">-</td>"
		"<td class=\"n\" data-v=\"1234567890123\">1234567890123</td></tr>\n"
		"<tr class=\"line\"><td colspan=\"13\">a line</td></tr>\n"
		"<tr><td>-</td><td class=\"n\">-</td><td class=\"n\">-</td><td class=\"n\">-</td>"
		"<td class=\"n\">-</td><td class=\"n\">-</td><td class=\"n\">-</td><td "
		"class=\"n\">-</td>"
		"<td>-</td><td class=\"n\">-</td><td class=\"n\">-</td><td class=\"n\">-</td>"
		"<td class=\"n\">-</td></tr>\n</tbody></table></div>\n");
	expect_typed(
		TABLE_AS_CSV,
		"text,count,signed,ns,bytes,pct,real,digits,bool,range,cpus,rare\n"
		"\"a|b,\"\"<c\\x0a\",1234567890123,-5,1234567,1536,12.25,12.25,-0.5,true,-3..19,"
		"2-4 cpus,\n"
		",,,,,,,,,,,\n");
	expect_typed(
		TABLE_AS_JSON_LINES,
		"{\"text\":\"a|b,\\\"<c\\n\",\"count\":1234567890123,\"signed\":-5,\"ns\":1234567,"
		"\"bytes\":1536,\"pct\":12.25,\"real\":12.25,\"digits\":-0.5,\"bool\":true,"
		"\"range\":{\"min\":-3,\"max\":19},\"cpus\":{\"cpus\":null,\"min\":2,\"max\":4},"
		"\"object\":{\"x\":1,\"y\":null}}\n"
		"{\"text\":null,\"count\":null,\"signed\":null,\"ns\":null,\"bytes\":null,"
		"\"pct\":null,\"real\":null,\"digits\":null,\"bool\":null,\"range\":null,"
		"\"cpus\":null,\"object\":null}\n");
}

/* An array of its own, and one that is open already. */
TEST(arrays_of_json)
{
	static const struct table_column one[] = { { "n", .type = TABLE_COUNT,
						     .field = TABLE_COUNT } };
	static const bool known = true;
	_cleanup_free_ char *text = NULL;
	struct output output;
	struct table table;

	table_begin(&table, one, 1,
		    (struct table_options){ .format = TABLE_AS_JSON,
					    .out = output_begin(&output),
					    .get = get_typed });
	assert_true(table_row(&table, &known));
	assert_true(table_row(&table, &known));
	text = output_end(&output, &table);
	assert_string_equal(text, "[\n{\"n\":1234567890123},\n{\"n\":1234567890123}]\n");
}

UNIT_TESTS(cmocka_unit_test(every_type_in_every_format), cmocka_unit_test(a_set_without_cpus),
	   cmocka_unit_test(arrays_of_json),
	   cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
	   cmocka_unit_test(a_character_is_one_column), cmocka_unit_test(no_rows),
	   cmocka_unit_test(plain_cells_have_no_colour),
	   cmocka_unit_test(hostile_names_do_not_reach_the_terminal),
	   cmocka_unit_test(cells_are_made_visible), cmocka_unit_test(widths_of_a_terminal),
	   cmocka_unit_test(wide_and_combining_names_keep_columns_in_line),
	   cmocka_unit_test(cells_go_on_in_the_next_line),
	   cmocka_unit_test(fitting_tables_are_unchanged),
	   cmocka_unit_test(the_widest_column_gives_way),
	   cmocka_unit_test(nothing_is_lost_in_wrapping), cmocka_unit_test(numbers_are_not_cut),
	   cmocka_unit_test(only_texts_are_cut), cmocka_unit_test(long_headings_wrap_too),
	   cmocka_unit_test(lines_of_their_own),
	   cmocka_unit_test(cells_are_coloured_where_there_are_colours),
	   cmocka_unit_test(colours_take_no_room))
