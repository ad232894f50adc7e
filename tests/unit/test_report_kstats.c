/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "report/bar.h"
#include "report/kstats_heat.h"
#include "report/kstats_shift_report.h"
#include "report/kstats_values.h"
#include "report/table.h"
#include "unit/kstats_scene.h"

/* --- what was printed --- */

struct output {
	char *text;
	size_t length;
	FILE *out;
};

static FILE *begin(struct output *o)
{
	o->out = open_memstream(&o->text, &o->length);
	assert_non_null(o->out);
	return o->out;
}

/* Nothing that a terminal would obey, nor what is no number. */
static void end_table(struct output *o)
{
	fclose(o->out);
	for (size_t i = 0; i < o->length; i++)
		assert_true(o->text[i] == '\n' ||
			    ((unsigned char)o->text[i] >= ' ' && o->text[i] != 0x7f));
	assert_null(strstr(o->text, "nan"));
	assert_null(strstr(o->text, "inf"));
}

/* Lines that are no rows of a table have no blanks at their end, either. */
static void end(struct output *o)
{
	end_table(o);
	assert_null(strstr(o->text, " \n"));
}

static void expect_output(struct output *o, const char *text)
{
	end(o);
	assert_string_equal(o->text, text);
	free(o->text);
}

static unsigned lines_with(const char *text, const char *word)
{
	unsigned lines = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		lines++;
	return lines;
}

/* 90 values from 480 to 511 on CPU 0 and 1, 9 from 1000 to 1080 on CPU 0, 20000 on CPU 7. */
static struct kstats_table *known(void)
{
	struct kstats_table *table = scene_kstats("vfs_read", 3);

	for (unsigned i = 0; i < 90; i++)
		scene_kstats_record(table, i % 2, NULL, 480 + i % 32);
	for (unsigned i = 0; i < 9; i++)
		scene_kstats_record(table, 0, NULL, 1000 + 10 * i);
	scene_kstats_record(table, 7, NULL, 20000);
	scene_kstats_word(&table->start, "vfs_read");
	scene_kstats_word(&table->recorder, "bpf");
	table->losses_known = (1u << KSTATS_LOSS_COUNT) - 1;
	return table;
}

/* --- text --- */

static void expect_heading(const struct kstats_table *table, const char *heading)
{
	const struct kstats_style style = { .lines = 10 };
	struct output o;

	expect_ok(kstats_report_text(begin(&o), table, &style));
	end(&o);
	if (strncmp(o.text, heading, strlen(heading)) != 0)
		fail_msg("%s", o.text);
	free(o.text);
}

/* Who reads it later knows of whom it is; what is usual is not said. */
TEST(the_scope_is_printed)
{
	struct kstats_table *table = scene_kstats("m", 3);

	table->is_active = true;
	scene_kstats_word(&table->start, "syscall:read");
	scene_kstats_word(&table->scope.key, "task");
	expect_heading(table, "m: syscall:read, 3 bits\n");
	table->by = KSTATS_BY_PROCESS;
	scene_kstats_word(&table->scope.key, "arg1,arg3");
	scene_kstats_word(&table->scope.only[KSTATS_FILTER_COMM], "\033[31m");
	scene_kstats_word(&table->scope.only[KSTATS_FILTER_CPUS], "0-3,7");
	expect_heading(table, "m: syscall:read, rows by process, key arg1,arg3, "
			      "only comm \\x1b[31m, only cpus 0-3,7, 3 bits\n");
	kstats_table_destroy(table);
}

TEST(a_known_table)
{
	const struct kstats_style style = { .lines = 10 };
	struct kstats_table *table = known();
	struct output o;

	scene_kstats_word(&table->end, "vfs_write");
	table->is_active = true;
	table->losses[KSTATS_LOSS_unmatched] = 3;
	table->losses[KSTATS_LOSS_missed] = 1;
	table->overhead_ns = 90;
	table->earlier = 2;
	table->earlier_known = true;
	expect_ok(kstats_report_text(begin(&o), table, &style));
	expect_output(
		&o, "vfs_read: vfs_read to vfs_write, by bpf, 3 bits\n"
		    "  count 100, mean 739ns\n"
		    "\n"
		    "  p50          480ns ..      511ns  bucket mean 495ns\n"
		    "  p90          480ns ..      511ns  bucket mean 495ns\n"
		    "  p95        1.024µs ..    1.151µs  bucket mean 1.055µs\n"
		    "  p99        1.024µs ..    1.151µs  bucket mean 1.055µs\n"
		    "  max       18.432µs ..   20.479µs  bucket mean 20.000µs\n"
		    "  p99.9  needs 1,000 values\n"
		    "  missed    1: the kernel did not call the probe\n"
		    "  unmatched 3: an end without a recorded start\n"
		    "  earlier   2: in progress when recording began, so its duration is unknown\n"
		    "  overhead  about 90ns, included in every value\n"
		    "\n"
		    "       480ns ..      511ns           90  90.0%  "
		    "########################################\n"
		    "         ...\n"
		    "       960ns ..    1.023µs            3   3.0%  #\n"
		    "     1.024µs ..    1.151µs            6   6.0%  ##\n"
		    "         ...\n"
		    "    18.432µs ..   20.479µs            1   1.0%  #\n");
	table->earlier_known = false;
	table->earlier = 0;
	expect_ok(kstats_report_text(begin(&o), table, &style));
	end(&o);
	assert_non_null(strstr(o.text, "  unmatched 3: an end without a recorded start\n"
				       "  earlier   unknown: some of the unmatched may have begun "
				       "before recording\n"));
	free(o.text);
	kstats_table_destroy(table);
}

TEST(all_buckets_and_rows)
{
	const struct kstats_style style = { .rows = true, .utf8 = true };
	struct kstats_table *table = scene_kstats("x", 1);
	struct output o;

	table->by = KSTATS_BY_PROCESS;
	table->losses_known = ((1u << KSTATS_LOSS_COUNT) - 1) & ~(1u << KSTATS_LOSS_missed);
	scene_kstats_word(&table->unit, "");
	scene_kstats_record(table, 3, "one", 1);
	scene_kstats_record(table, 3, "one", 1);
	scene_kstats_record(table, 3, "one", 2);
	scene_kstats_record(table, 4, "two", 1000);
	expect_ok(kstats_report_text(begin(&o), table, &style));
	expect_output(&o, "x, rows by process, 1 bit, stopped\n"
			  "  count 4, mean 251\n"
			  "\n"
			  "  p50              1\n"
			  "  max            768 ..      1,023  bucket mean 1,000\n"
			  "  p90    needs 10 values\n"
			  "  lost      0\n"
			  "  unknown   not counted here: missed\n"
			  "\n"
			  "           1 ..          1            2  50.0%  "
			  "████████████████████████████████████████\n"
			  "           2 ..          2            1  25.0%  ████████████████████\n"
			  "         768 ..      1,023            1  25.0%  ████████████████████\n"
			  "\nPID 3 one\n"
			  "  count 3, mean 1\n"
			  "\n"
			  "  p50              1\n"
			  "  max              2\n"
			  "  p90    needs 10 values\n"
			  "\n"
			  "           1 ..          1            2  66.7%  "
			  "████████████████████████████████████████\n"
			  "           2 ..          2            1  33.3%  ████████████████████\n"
			  "\nPID 4 two\n"
			  "  count 1, mean 1,000\n"
			  "\n"
			  "  max            768 ..      1,023  bucket mean 1,000\n"
			  "  p50    needs 2 values\n"
			  "\n"
			  "         768 ..      1,023            1 100.0%  "
			  "████████████████████████████████████████\n");
	kstats_table_destroy(table);
}

/* The ten with most values, unless all are asked for; those without any are no rows. */
TEST(many_rows)
{
	struct kstats_style style = { .rows = true, .lines = 10 };
	struct kstats_table *table = scene_kstats("x", 3);
	struct kstats_row *row;
	struct output o;

	table->by = KSTATS_BY_PROCESS;
	for (unsigned id = 1; id <= 12; id++)
		for (unsigned i = 0; i < id; i++)
			scene_kstats_record(table, id, "name", 5);
	expect_ok(kstats_table_row(table, 99, "empty", &row));
	expect_ok(kstats_report_text(begin(&o), table, &style));
	end(&o);
	assert_non_null(strstr(o.text, " 12 name\n"));
	assert_non_null(strstr(o.text, " 3 name\n  ... 2 more rows (--all)\n"));
	assert_null(strstr(o.text, " 2 name\n"));
	free(o.text);
	style.all_rows = true;
	expect_ok(kstats_report_text(begin(&o), table, &style));
	end(&o);
	assert_int_equal(lines_with(o.text, " name\n"), 12);
	assert_null(strstr(o.text, "more row"));
	free(o.text);
	kstats_table_destroy(table);
}

TEST(nothing_recorded)
{
	const struct kstats_style style = { .rows = true, .lines = 20 };
	struct kstats_table *table = scene_kstats("x", 3), *other = scene_kstats("x", 3);
	struct kstats_row *row;
	struct output o;

	table->losses_known = (1u << KSTATS_LOSS_COUNT) - 1;
	expect_ok(kstats_table_row(table, 0, NULL, &row));
	expect_ok(kstats_report_text(begin(&o), table, &style));
	expect_output(&o, "x, 3 bits, stopped\n  count 0: nothing was recorded yet\n"
			  "  lost      0\n");
	expect_ok(kstats_report_csv(begin(&o), table));
	expect_output(&o, "");
	scene_kstats_record(other, 0, NULL, 1);
	expect_ok(kstats_shift_text(begin(&o), table, other, 0));
	expect_output(&o, "x: 0 values before, 1 after\n"
			  "  one side recorded nothing: there is nothing to compare\n");
	kstats_table_destroy(table);
	kstats_table_destroy(other);
}

/* The smallest and the largest: as many lines as wanted, and percentiles beside their names. */
TEST(widest)
{
	const struct kstats_style style = { .lines = 20 };
	struct output o;

	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++) {
		struct kstats_table *table = scene_kstats("x", bits);

		for (unsigned i = 0; i < 50; i++)
			scene_kstats_record(table, 0, NULL, i % 3 * 1000);
		scene_kstats_record(table, 0, NULL, UINT64_MAX);
		expect_ok(kstats_report_text(begin(&o), table, &style));
		end(&o);
		/* A few empty slots between two are lines, many are one. */
		assert_in_range(lines_with(o.text, "%"), 4, 4 + 3);
		assert_in_range(lines_with(o.text, "         ...\n"), 2, 3);
		assert_non_null(strstr(o.text, "\n  p99    needs 100 values\n"));
		/* Its bucket, and the maximum. */
		assert_int_equal(lines_with(o.text, " .. 18446744073.710s"), 2);
		free(o.text);
		kstats_table_destroy(table);
	}
}

/* Never more lines than wanted, whatever was recorded. No value is left out. */
TEST(as_many_lines_as_wanted)
{
	uint64_t stream = 31;

	for (unsigned i = 0; i < 300; i++) {
		const struct kstats_style style = { .lines = 3 + i % 60 };
		struct kstats_table *table = scene_kstats("x", i % 6);
		uint64_t total = 0;
		char *at, *line;
		struct output o;

		for (unsigned k = 0; k < 1 + i; k++)
			scene_kstats_record(table, 0, NULL, scene_kstats_value(&stream));
		expect_ok(kstats_report_text(begin(&o), table, &style));
		end(&o);
		assert_in_range(lines_with(o.text, "%") + lines_with(o.text, "...\n"), 1,
				style.lines);
		for (at = o.text; (line = strchr(at, '%')); at = line + 1) {
			while (line[-1] != ' ')
				line--;
			while (line[-1] == ' ')
				line--;
			while (line[-1] != ' ')
				line--;
			total += strtoull(line, NULL, 10);
			line = strchr(line, '%');
		}
		assert_int_equal(total, 1 + i);
		free(o.text);
		kstats_table_destroy(table);
	}
}

/* Names of any length and of any bytes. */
TEST(hostile_words)
{
	const struct kstats_style style = { .rows = true, .lines = 20 };
	struct kstats_table *table = known();
	char longest[5001];
	struct output o;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	scene_kstats_word(&table->name, longest);
	scene_kstats_word(&table->start, "\033[2J\r\n\t\x7f");
	scene_kstats_word(&table->end, "\xff\xfe");
	scene_kstats_word(&table->recorder, "a\nb");
	scene_kstats_record(table, 9, "\033]0;x\a, \"quoted\"\n", 5);
	expect_ok(kstats_report_text(begin(&o), table, &style));
	end(&o);
	assert_non_null(strstr(o.text, longest));
	assert_non_null(strstr(o.text, "\\x1b[2J"));
	free(o.text);
	expect_ok(kstats_report_csv(begin(&o), table));
	end(&o);
	assert_non_null(strstr(o.text, ",cpu,9,\"\\x1b]0;x"));
	assert_int_equal(lines_with(o.text, "\n"), 6);
	free(o.text);
	expect_ok(kstats_shift_text(begin(&o), table, table, 0));
	end_table(&o);
	free(o.text);
	kstats_table_destroy(table);
}

TEST(values_with_their_unit)
{
	struct kstats_table *table = scene_kstats("x", 3);
	char buffer[UNITS_TEXT_MAX];

	assert_string_equal(kstats_format(buffer, table, 0), "0ns");
	assert_string_equal(kstats_format(buffer, table, 999.4), "999ns");
	assert_string_equal(kstats_format(buffer, table, 1234567), "1.235ms");
	assert_string_equal(kstats_format(buffer, table, 0x1p64), "18446744073.710s");
	scene_kstats_word(&table->unit, "");
	assert_string_equal(kstats_format(buffer, table, 12), "12");
	assert_string_equal(kstats_format(buffer, table, 1000), "1,000");
	assert_string_equal(kstats_format(buffer, table, 1023), "1,023");
	assert_string_equal(kstats_format(buffer, table, 9999999999), "9,999,999,999");
	assert_string_equal(kstats_format(buffer, table, 10000000000), "10,000,000,000");
	assert_string_equal(kstats_format_exact(buffer, table, UINT64_MAX),
			    "18,446,744,073,709,551,615");
	assert_string_equal(kstats_format_signed(buffer, table, -1234.5), "-1,234");
	assert_string_equal(kstats_format_signed(buffer, table, 999), "+999");
	kstats_table_destroy(table);
}

/* --- CSV --- */

TEST(csv)
{
	struct kstats_table *table = known();
	struct output o;

	scene_kstats_record(table, 8, "a,b", UINT64_MAX);
	expect_ok(kstats_report_csv_heading(begin(&o), false));
	expect_ok(kstats_report_csv(o.out, table));
	expect_output(&o, "name,by,id,label,slot,low,high,count,mean\n"
			  "vfs_read,cpu,0,,55,480,511,45,494.13333333333333\n"
			  "vfs_read,cpu,0,,63,960,1023,3,1010\n"
			  "vfs_read,cpu,0,,64,1024,1151,6,1055\n"
			  "vfs_read,cpu,1,,55,480,511,45,495.13333333333333\n"
			  "vfs_read,cpu,7,,97,18432,20479,1,20000\n"
			  "vfs_read,cpu,8,\"a,b\",495,17293822569102704640,"
			  "18446744073709551615,1,1.8446741874686296e+19\n");
	kstats_table_destroy(table);
}

/* --- shifts --- */

/* Numbers of values without a unit are not rounded to thousands. */
TEST(changes_of_numbers)
{
	struct kstats_table *before = scene_kstats("sizes", 3), *after = scene_kstats("sizes", 3);
	struct output o;

	scene_kstats_word(&before->unit, "");
	scene_kstats_word(&after->unit, "");
	for (unsigned i = 0; i < 100; i++) {
		scene_kstats_record(before, 0, NULL, 1000);
		scene_kstats_record(after, 0, NULL, 2000);
	}
	expect_ok(kstats_shift_text(begin(&o), before, after, 0));
	end_table(&o);
	assert_non_null(strstr(o.text, " 960..1,023 "));
	assert_non_null(strstr(o.text, " 1,920..2,047 "));
	assert_non_null(strstr(o.text, " +897..+1,087 "));
	free(o.text);
	kstats_table_destroy(before);
	kstats_table_destroy(after);
}

TEST(changes)
{
	struct kstats_table *before = known(), *after = scene_kstats("vfs_read", 3);
	struct output o;

	for (unsigned i = 0; i < 100; i++)
		scene_kstats_record(after, 0, NULL, 580 + i % 32);
	expect_ok(kstats_shift_text(begin(&o), before, after, 0));
	end_table(&o);
	assert_string_equal(
		o.text,
		"vfs_read: 100 values before, 100 after\n"
		"                 before       after               shift      change   \n"
		" p50         480..511ns  576..639ns         +65..+159ns  +13%..+33%  larger \n"
		" p90         480..511ns  576..639ns         +65..+159ns  +13%..+33%  unsure \n"
		" p95     1.024..1.151µs  576..639ns        -575..-385ns  -50%..-38%  unsure \n"
		" p99     1.024..1.151µs  576..639ns        -575..-385ns  -50%..-38%  unsure \n"
		" max   18.432..20.479µs  576..639ns  -19.903..-17.793µs        -97%  unsure \n"
		" mean             739ns       595ns              -144ns        -19%    \n"
		"p99.9 needs 1,000 values on each side\n"
		"Kolmogorov-Smirnov distance 0.9000, p < 1e-06\n");
	free(o.text);
	kstats_table_destroy(after);
	after = known();
	expect_ok(kstats_shift_text(begin(&o), before, after, 0));
	end_table(&o);
	assert_int_equal(lines_with(o.text, "  same \n"), 5);
	assert_non_null(strstr(o.text, "Kolmogorov-Smirnov distance 0.0000, p = 1"));
	free(o.text);
	kstats_table_destroy(before);
	kstats_table_destroy(after);
}

/* --- over time --- */

static struct kstats_heat_line line_of(const struct kstats_table *table)
{
	return (struct kstats_heat_line){ .at_ns = 1234567890000000000,
					  .length_ns = 1500000000,
					  .values = scene_kstats_all(table) };
}

TEST(heat_lines)
{
	const struct kstats_heat_axis axis = { .low = 64, .high = 65535, .bits = KSTATS_HEAT_BITS };
	const struct kstats_heat_axis narrow = {
		.low = 1000, .high = 1001, .bits = KSTATS_HEAT_BITS, .utf8 = true
	};
	struct kstats_table *table = known(), *empty = scene_kstats("empty", 0);
	struct kstats_heat_line line = line_of(table), none = line_of(empty);
	struct output o;

	/* Times are of UTC, wherever that is. */
	setenv("TZ", "XYZ-2", 1);
	kstats_heat_heading(begin(&o), table, &axis);
	kstats_heat_line(o.out, table, &axis, &line);
	kstats_heat_line(o.out, table, &axis, &none);
	expect_output(&o, "time           count  p50 up to  p99 up to  64ns        65.535µs\n"
			  "23:31:30Z        100      511ns    1.151µs |     # .:       .   |\n"
			  "23:31:30Z          0          -          -\n");
	/* What is beyond the axis is in its last range. */
	kstats_heat_heading(begin(&o), table, &narrow);
	kstats_heat_line(o.out, table, &narrow, &line);
	expect_output(&o, "time           count  p50 up to  p99 up to  768ns 1.023µs\n"
			  "23:31:30Z        100      511ns    1.151µs |█|\n");
	kstats_distribution_clear(&line.values);
	kstats_distribution_clear(&none.values);
	kstats_table_destroy(table);
	kstats_table_destroy(empty);
}

/* Of any bits, of nothing, of the largest: each value is in one cell, and the picture is XML. */
/* An axis begins with nothing, and is as wide as what was seen, in as fine ranges as fit. */
TEST(axes_grow)
{
	struct kstats_heat_axis axis = { .low = UINT64_MAX, .columns = 20 };
	struct kstats_table *table = scene_kstats("x", 3);
	struct kstats_distribution all = scene_kstats_all(table);
	struct output o;

	assert_false(kstats_heat_see(&axis, &all));
	kstats_heat_heading(begin(&o), table, &axis);
	expect_output(&o, "time           count  p50 up to  p99 up to\n");
	kstats_distribution_clear(&all);
	for (unsigned i = 0; i < 16; i++)
		scene_kstats_record(table, 0, NULL, 1024 + 64 * i);
	all = scene_kstats_all(table);
	assert_true(kstats_heat_see(&axis, &all));
	assert_int_equal(axis.low, 1024);
	assert_int_equal(axis.high, 2047);
	assert_int_equal(axis.bits, 3);
	assert_false(kstats_heat_see(&axis, &all));
	kstats_distribution_clear(&all);
	/* Eleven octaves. */
	scene_kstats_record(table, 0, NULL, 1 << 20);
	all = scene_kstats_all(table);
	assert_true(kstats_heat_see(&axis, &all));
	assert_int_equal(axis.low, 1024);
	assert_int_equal(axis.bits, 0);
	kstats_heat_heading(begin(&o), table, &axis);
	expect_output(&o, "time           count  p50 up to  p99 up to  1.024µs 2.097ms\n");
	/* More than fit even then. */
	kstats_distribution_clear(&all);
	scene_kstats_record(table, 0, NULL, UINT64_MAX);
	all = scene_kstats_all(table);
	assert_true(kstats_heat_see(&axis, &all));
	assert_int_equal(axis.bits, 0);
	kstats_distribution_clear(&all);
	kstats_table_destroy(table);
}

TEST(heat_pictures)
{
	struct kstats_table *table = scene_kstats("<&>\033", 3);
	struct kstats_heat heat = { 0 };
	struct output o;

	scene_kstats_word(&table->host, "a<b");

	expect_ok(kstats_heat_svg(begin(&o), table, &heat));
	end(&o);
	assert_int_equal(lines_with(o.text, "<title>"), 0);
	free(o.text);
	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++) {
		struct kstats_table *now = scene_kstats("now", bits);

		if (bits != 2) {
			scene_kstats_record(now, 0, NULL, 0);
			scene_kstats_record(now, 0, NULL, 500);
			scene_kstats_record(now, 0, NULL, UINT64_MAX);
		}
		assert_true(array_push(&heat, line_of(now)));
		kstats_table_destroy(now);
	}
	expect_ok(kstats_heat_svg(begin(&o), table, &heat));
	end(&o);
	assert_int_equal(lines_with(o.text, "<title>1 value from 0ns to 0ns, interval "), 5);
	assert_int_equal(lines_with(o.text, "<title>1 value from 384ns to 511ns, interval "), 4);
	assert_int_equal(lines_with(o.text, "<title>1 value from 256ns to 383ns, interval "), 1);
	assert_int_equal(lines_with(o.text, "<title>"), 15);
	assert_int_equal(lines_with(o.text, "interval 3<"), 0);
	assert_non_null(strstr(o.text, "&lt;&amp;&gt;"));
	assert_non_null(strstr(o.text, ">9.0 s</text>"));
	assert_non_null(strstr(o.text, " viewBox=\"0 0 "));
	assert_non_null(strstr(o.text, ">values in a cell<"));
	assert_non_null(strstr(o.text,
			       ">on a&lt;b, 2009-02-13 23:31:28 to 2009-02-13 23:31:30 UTC, 6 "
			       "intervals, 15 values<"));
	assert_non_null(strstr(o.text, "</svg>\n"));
	free(o.text);
	kstats_heat_clear(&heat);
	kstats_table_destroy(table);
}

/* --- bars --- */

TEST(bars)
{
	struct output o;

	bar_print(begin(&o), 0.5, 4, true);
	fputc('|', o.out);
	bar_print(o.out, 0.28125, 4, true);
	fputc('|', o.out);
	bar_print(o.out, 0.0001, 4, true);
	fputc('|', o.out);
	bar_print(o.out, 1, 4, true);
	fputc('|', o.out);
	bar_print(o.out, 1, 4, false);
	fputc('|', o.out);
	bar_print(o.out, 0.0001, 4, false);
	fputc('|', o.out);
	bar_print(o.out, 0.45, 4, false);
	expect_output(&o, "██|█▏|▏|████|####|#|#");
	bar_label(begin(&o), "1µs", 5);
	bar_label(o.out, "12345", 5);
	bar_label(o.out, "123456", 5);
	expect_output(&o, "  1µs12345123456");
}

UNIT_TESTS(cmocka_unit_test(the_scope_is_printed), cmocka_unit_test(a_known_table),
	   cmocka_unit_test(all_buckets_and_rows), cmocka_unit_test(nothing_recorded),
	   cmocka_unit_test(many_rows), cmocka_unit_test(widest),
	   cmocka_unit_test(as_many_lines_as_wanted), cmocka_unit_test(hostile_words),
	   cmocka_unit_test(values_with_their_unit), cmocka_unit_test(csv),
	   cmocka_unit_test(changes), cmocka_unit_test(changes_of_numbers),
	   cmocka_unit_test(heat_lines), cmocka_unit_test(axes_grow),
	   cmocka_unit_test(heat_pictures), cmocka_unit_test(bars))
