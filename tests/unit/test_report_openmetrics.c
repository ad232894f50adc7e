/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/openmetrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "unit/kstats_scene.h"

#define NS_PER_SECOND 1000000000u

/* --- a table and the values in it --- */

#define VALUES 700

struct sample {
	struct kstats_tables tables;
	struct kstats_table *table;
	uint64_t values[VALUES];
};

static void take_sample(struct sample *s, unsigned frac_bits, const char *unit, uint64_t seed)
{
	*s = (struct sample){ .table = scene_kstats("read", frac_bits) };
	scene_kstats_word(&s->table->unit, unit);
	for (unsigned i = 0; i < VALUES; i++) {
		s->values[i] = i % 9 ? scene_kstats_value(&seed) >> (i % 20) : i % 2;
		scene_kstats_record(s->table, i % 3, NULL, s->values[i]);
	}
	assert_true(array_push(&s->tables, s->table));
}

static char *printed(const struct kstats_tables *tables, bool rows)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	expect_ok(openmetrics_print(out, tables, rows));
	fclose(out);
	assert_int_equal(strlen(text), length);
	return text;
}

/* The rest of the line, behind what it begins with. */
static char *expect_begin(char **at, const char *begin)
{
	size_t length = strlen(begin);
	char *line = *at, *end = strchr(line, '\n');

	assert_non_null(end);
	*end = '\0';
	*at = end + 1;
	if (strncmp(line, begin, length) != 0)
		fail_msg("'%s' is no '%s...'", line, begin);
	return line + length;
}

/* --- buckets with bounds --- */

/* "0.000000511" of seconds in ns, or "511.0": exactly, or not at all. */
static uint64_t read_bound(const char *text, bool is_time)
{
	char *end;
	uint64_t whole = strtoull(text, &end, 10), fraction;
	const char *digits = end + 1;

	assert_int_equal(*end, '.');
	fraction = strtoull(digits, &end, 10);
	assert_int_equal(*end, '"');
	assert_int_equal(end - digits, is_time ? 9 : 1);
	if (!is_time) {
		assert_int_equal(fraction, 0);
		return whole;
	}
	return whole * NS_PER_SECOND + fraction;
}

static uint64_t count_up_to(const struct sample *s, uint64_t bound)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < VALUES; i++)
		count += s->values[i] <= bound;
	return count;
}

static void expect_sum(const struct sample *s, const char *text, bool is_time)
{
	long double sum = 0;
	char *end;
	double said = strtod(text, &end);

	assert_true(!*end && end > text);
	for (unsigned i = 0; i < VALUES; i++)
		sum += s->values[i];
	if (is_time)
		sum /= NS_PER_SECOND;
	/* Large values are added without their last bits. */
	assert_true(said <= sum * (1 + 1e-15L) && said >= sum * (1 - 0x1p-19L));
}

/* Each octave in four, from and to powers of two. */
static uint64_t bound_behind(uint64_t bound)
{
	uint64_t next = bound + 1, octave = 1;

	while (octave * 2 <= next)
		octave *= 2;
	return next < 4 ? next : bound + octave / 4;
}

/* Slots of a coarser histogram that end with one of these bounds; the others count later. */
static bool is_end_of_slot(uint64_t bound, unsigned bits)
{
	return bucket_high(bucket_slot(bound, bits), bits) == bound;
}

static void check_buckets(const struct sample *s, char *at, const char *name, bool is_time)
{
	const uint64_t last = is_time ? (1ull << 36) - 1 : (1ull << 32) - 1;
	uint64_t bound = is_time ? 63 : 0, last_count = 0;
	char begin[100];

	for (;; bound = bound_behind(bound)) {
		uint64_t count;
		char *rest;

		snprintf(begin, sizeof(begin), "%s_bucket{le=\"", name);
		rest = expect_begin(&at, begin);
		if (bound > last) {
			assert_string_equal(rest, "+Inf\"} 700");
			break;
		}
		assert_int_equal(read_bound(rest, is_time), bound);
		count = strtoull(strchr(rest, ' ') + 1, NULL, 10);
		if (is_end_of_slot(bound, s->table->frac_bits))
			assert_int_equal(count, count_up_to(s, bound));
		else
			assert_in_range(count, last_count, count_up_to(s, bound));
		last_count = count;
	}
	snprintf(begin, sizeof(begin), "%s_sum ", name);
	expect_sum(s, expect_begin(&at, begin), is_time);
	snprintf(begin, sizeof(begin), "%s_count ", name);
	assert_string_equal(expect_begin(&at, begin), "700");
	assert_string_equal(at, "# EOF\n");
}

static const char *const coarse[] = {
	"; 0 bits: values count at the end of their bucket",
	"; 1 bits: values count at the end of their bucket",
};

static void expect_help(char **at, const char *name, unsigned bits)
{
	char wanted[200];

	snprintf(wanted, sizeof(wanted), "%s read%s", name, bits < 2 ? coarse[bits] : "");
	assert_string_equal(expect_begin(at, "# HELP "), wanted);
}

TEST(bounds_are_the_same_and_exact)
{
	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++) {
		struct sample s;
		char *text, *at;

		take_sample(&s, bits, "ns", bits);
		at = text = printed(&s.tables, false);
		assert_string_equal(expect_begin(&at, "# TYPE "),
				    "ctprof_kstats_read_seconds histogram");
		assert_string_equal(expect_begin(&at, "# UNIT "),
				    "ctprof_kstats_read_seconds seconds");
		expect_help(&at, "ctprof_kstats_read_seconds", bits);
		check_buckets(&s, at, "ctprof_kstats_read_seconds", true);
		free(text);
		kstats_tables_clear(&s.tables);
		take_sample(&s, bits, "", bits);
		at = text = printed(&s.tables, false);
		assert_string_equal(expect_begin(&at, "# TYPE "), "ctprof_kstats_read histogram");
		expect_help(&at, "ctprof_kstats_read", bits);
		check_buckets(&s, at, "ctprof_kstats_read", false);
		free(text);
		kstats_tables_clear(&s.tables);
	}
}

TEST(sums_of_small_values_are_whole)
{
	struct kstats_tables tables = { 0 };
	char *text;

	assert_true(array_push(&tables, scene_kstats("a", 3)));
	scene_kstats_record(tables.items[0], 0, NULL, 3);
	scene_kstats_record(tables.items[0], 0, NULL, 3);
	scene_kstats_record(tables.items[0], 0, NULL, 4);
	scene_kstats_word(&tables.items[0]->unit, "");
	text = printed(&tables, false);
	assert_non_null(strstr(text, "# TYPE ctprof_kstats_a histogram\n"
				     "# HELP ctprof_kstats_a a\n"
				     "ctprof_kstats_a_bucket{le=\"0.0\"} 0\n"
				     "ctprof_kstats_a_bucket{le=\"1.0\"} 0\n"
				     "ctprof_kstats_a_bucket{le=\"2.0\"} 0\n"
				     "ctprof_kstats_a_bucket{le=\"3.0\"} 2\n"
				     "ctprof_kstats_a_bucket{le=\"4.0\"} 3\n"
				     "ctprof_kstats_a_bucket{le=\"5.0\"} 3\n"));
	assert_non_null(strstr(text, "ctprof_kstats_a_bucket{le=\"4294967295.0\"} 3\n"
				     "ctprof_kstats_a_bucket{le=\"+Inf\"} 3\n"
				     "ctprof_kstats_a_sum 10\n"
				     "ctprof_kstats_a_count 3\n"
				     "# EOF\n"));
	free(text);
	kstats_tables_clear(&tables);
}

/* --- names and words --- */

static void add(struct kstats_tables *tables, const char *name, const char *host, const char *unit)
{
	struct kstats_table *table = scene_kstats(name, 0);

	scene_kstats_word(&table->host, host);
	scene_kstats_word(&table->unit, unit);
	assert_true(array_push(tables, table));
}

TEST(nothing)
{
	struct kstats_tables tables = { 0 };
	char *text = printed(&tables, false);

	assert_string_equal(text, "# EOF\n");
	free(text);
	add(&tables, "x", NULL, "ns");
	text = printed(&tables, false);
	assert_non_null(strstr(text, "ctprof_kstats_x_seconds_bucket{le=\"0.000000063\"} 0\n"));
	assert_non_null(strstr(text, "ctprof_kstats_x_seconds_bucket{le=\"+Inf\"} 0\n"
				     "ctprof_kstats_x_seconds_sum 0\n"
				     "ctprof_kstats_x_seconds_count 0\n"
				     "# EOF\n"));
	free(text);
	kstats_tables_clear(&tables);
}

/* Lines of the text without those that are buckets. */
static void drop_buckets(char *text)
{
	char *into = text;

	for (char *line = text, *next; *line; line = next) {
		char *name_end = strpbrk(line, "{ \n");

		next = strchr(line, '\n') + 1;
		if (name_end - line > 7 && strncmp(name_end - 7, "_bucket", 7) == 0)
			continue;
		memmove(into, line, (size_t)(next - line));
		into += next - line;
	}
	*into = '\0';
}

/* One of each family, under one head. Of one name and several places labels say which, and the head
 * has none of them. */
TEST(hosts_and_names_are_distinguished)
{
	struct kstats_tables tables = { 0 };
	char *text;

	add(&tables, "b", "two", "");
	add(&tables, "a-b", "one", "");
	add(&tables, "b", "a \"b\\c\nd", "");
	add(&tables, "a_b", "one", "");
	add(&tables, "b", NULL, "");
	add(&tables, "served", NULL, "");
	scene_kstats_word(&tables.items[5]->instance, "7");
	add(&tables, "served", NULL, "");
	scene_kstats_word(&tables.items[6]->instance, "12");
	scene_kstats_word(&tables.items[2]->start, "f\\\n\"");
	scene_kstats_word(&tables.items[4]->start, "f\\\n\"");
	scene_kstats_word(&tables.items[4]->end, "g");
	text = printed(&tables, false);
	drop_buckets(text);
	assert_string_equal(
		text, "# TYPE ctprof_kstats_a_b histogram\n"
		      "# HELP ctprof_kstats_a_b a_b; 0 bits: values count at the end of their "
		      "bucket\n"
		      "ctprof_kstats_a_b_sum{host=\"one\"} 0\n"
		      "ctprof_kstats_a_b_count{host=\"one\"} 0\n"
		      "ctprof_kstats_a_b_sum{metric=\"a-b\",host=\"one\"} 0\n"
		      "ctprof_kstats_a_b_count{metric=\"a-b\",host=\"one\"} 0\n"
		      "# TYPE ctprof_kstats_b histogram\n"
		      "# HELP ctprof_kstats_b b; 0 bits: values count at the end of their bucket\n"
		      "ctprof_kstats_b_sum{host=\"a \\\"b\\\\c\\nd\",start=\"f\\\\\\n\\\"\"} 0\n"
		      "ctprof_kstats_b_count{host=\"a \\\"b\\\\c\\nd\",start=\"f\\\\\\n\\\"\"} 0\n"
		      "ctprof_kstats_b_sum{host=\"two\"} 0\n"
		      "ctprof_kstats_b_count{host=\"two\"} 0\n"
		      "ctprof_kstats_b_sum{start=\"f\\\\\\n\\\"\",end=\"g\"} 0\n"
		      "ctprof_kstats_b_count{start=\"f\\\\\\n\\\"\",end=\"g\"} 0\n"
		      "# TYPE ctprof_kstats_served histogram\n"
		      "# HELP ctprof_kstats_served served; 0 bits: values count at the end of "
		      "their bucket\n"
		      "ctprof_kstats_served_sum{pid=\"12\"} 0\n"
		      "ctprof_kstats_served_count{pid=\"12\"} 0\n"
		      "ctprof_kstats_served_sum{pid=\"7\"} 0\n"
		      "ctprof_kstats_served_count{pid=\"7\"} 0\n"
		      "# EOF\n");
	free(text);
	kstats_tables_clear(&tables);
}

/* What each row counted, by labels that say whose it is. */
TEST(rows_are_distinguished)
{
	static const struct {
		enum kstats_by by;
		const char *label, *wanted;
	} rows[] = {
		{ KSTATS_BY_CPU, NULL, "{cpu=\"7\"} 1\n" },
		{ KSTATS_BY_PROCESS, "a b", "{pid=\"7\",process=\"a b\"} 1\n" },
		{ KSTATS_BY_CGROUP, "/a/\"b\"", "{cgroup_id=\"7\",cgroup=\"/a/\\\"b\\\"\"} 1\n" },
		{ KSTATS_BY_CGROUP, NULL, "{cgroup_id=\"7\",cgroup=\"\"} 1\n" },
		{ KSTATS_BY_RETVAL, NULL, "{retval=\"7\"} 1\n" },
		{ KSTATS_BY_RETVAL, "-11", "{retval=\"-11\"} 1\n" },
		{ KSTATS_BY_THREAD, "t", "{tid=\"7\",thread=\"t\"} 1\n" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct kstats_tables tables = { 0 };
		char line[200], *text, *found;

		add(&tables, "x", NULL, "");
		tables.items[0]->by = rows[i].by;
		scene_kstats_record(tables.items[0], 7, rows[i].label, 1);
		scene_kstats_record(tables.items[0], 8, "other", 1);
		scene_kstats_record(tables.items[0], 8, "other", 1);
		text = printed(&tables, true);
		snprintf(line, sizeof(line), "\nctprof_kstats_x_count%s", rows[i].wanted);
		if (!strstr(text, line))
			fail_msg("no '%s' in %s", line, text);
		found = strstr(text, "\nctprof_kstats_x_count{");
		assert_non_null(strstr(found + 1, "\nctprof_kstats_x_count{"));
		assert_null(strstr(text, "\nctprof_kstats_x_count "));
		free(text);
		kstats_tables_clear(&tables);
	}
}

/* No family is named as another one's samples are, nor as its unit, nor as one of our own. */
TEST(names_do_not_clash)
{
	static const char *const names[] = { "x",         "x_count", "x_sum",  "x_bucket",
					     "x_seconds", "x_total", "x_info", "x_created",
					     "lost",      "earlier" };
	struct kstats_tables tables = { 0 };
	char *text;

	for (size_t i = 0; i < array_length(names); i++) {
		add(&tables, names[i], NULL, "");
		add(&tables, names[i], NULL, "ns");
		/* The same name with another unit is another metric to the one who reads, too. */
		scene_kstats_word(&tables.items[2 * i + 1]->host, "other");
	}
	text = printed(&tables, false);
	assert_non_null(strstr(text, "# TYPE ctprof_kstats_x histogram\n"));
	assert_non_null(strstr(text, "# TYPE ctprof_kstats_x_seconds histogram\n"));
	for (size_t i = 1; i < array_length(names); i++) {
		char line[100];

		snprintf(line, sizeof(line), "# TYPE ctprof_kstats_%s_values histogram\n",
			 names[i]);
		assert_non_null(strstr(text, line));
		if (strcmp(names[i], "x_seconds") != 0) {
			snprintf(line, sizeof(line), "# TYPE ctprof_kstats_%s histogram\n",
				 names[i]);
			assert_null(strstr(text, line));
		}
	}
	free(text);
	kstats_tables_clear(&tables);
}

/* There are escapes for three bytes; others that no text should have are replaced, and what cannot
 * be told apart then is the same. */
TEST(words_of_any_bytes)
{
	struct kstats_tables tables = { 0 };
	size_t length;
	FILE *out;
	char *text;

	add(&tables, "a", "x\033[31m\r\x7f\t\xff\xc2\x9b\xc2\xa0\xc3\xa9\n", "");
	scene_kstats_word(&tables.items[0]->start, "f\001\xc3");
	text = printed(&tables, false);
	assert_non_null(strstr(text,
			       "_count{host=\"x\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd"
			       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc2\xa0\xc3\xa9\\n\"} 0\n"));
	assert_non_null(strstr(text, "# HELP ctprof_kstats_a f\xef\xbf\xbd\xef\xbf\xbd; "));
	for (const char *at = text; *at; at++)
		assert_true(*at == '\n' || (unsigned char)*at >= ' ');
	assert_true(utf8_is_valid(text_of(text)));
	free(text);
	add(&tables, "a", "y\001", "");
	add(&tables, "a", "y\002", "");
	out = open_memstream(&text, &length);
	assert_non_null(out);
	expect_error(openmetrics_print(out, &tables, false), "duplicate metric a for host");
	fclose(out);
	free(text);
	kstats_tables_clear(&tables);
}

TEST(the_same_twice)
{
	struct kstats_tables tables = { 0 };
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	add(&tables, "a", "one", "ns");
	add(&tables, "b", NULL, "ns");
	add(&tables, "a", "one", "ns");
	expect_error(openmetrics_print(out, &tables, false), "duplicate metric a for host one");
	scene_kstats_word(&tables.items[2]->host, "two");
	add(&tables, "b", NULL, "ns");
	expect_error(openmetrics_print(out, &tables, false),
		     "duplicate metric b: merge the files first");
	/* Their rows are different ones, and what they lost is still told twice. */
	scene_kstats_record(tables.items[1], 1, NULL, 4);
	scene_kstats_record(tables.items[3], 2, NULL, 4);
	expect_error(openmetrics_print(out, &tables, true),
		     "duplicate metric b: merge the files first");
	fclose(out);
	assert_int_equal(length, 0);
	free(text);
	kstats_tables_clear(&tables);
}

/* --- by another parser --- */

/* Prometheus' own of Python refuses what clashes, is out of order, or does not add up. */
#define PARSER                                                                                \
	"from prometheus_client.openmetrics.parser import text_string_to_metric_families as " \
	"parse; import sys; "

static int python(const char *program, const char *path)
{
	char command[600];

	snprintf(command, sizeof(command), "/usr/bin/python3 -c '%s' %s 2>/dev/null", program,
		 path);
	return system(command);
}

TEST(another_parser_takes_it)
{
	struct kstats_tables tables = { 0 };
	struct scratch scratch;
	char *text;

	if (python(PARSER, "") != 0) {
		skip();
		return;
	}
	scratch_init(&scratch);
	add(&tables, "x", NULL, "");
	add(&tables, "x", "two", "ns");
	add(&tables, "x", "a \"b\\c\nd\033[2J\r\xff", "ns");
	add(&tables, "x_count", NULL, "");
	add(&tables, "x-count", NULL, "");
	add(&tables, "x_seconds", NULL, "");
	scene_kstats_word(&tables.items[2]->start, "f\\\n\"");
	for (size_t i = 0; i < tables.count; i++)
		for (unsigned bit = 0; bit < 64; bit += 1 + (unsigned)i)
			scene_kstats_record(tables.items[i], 0, NULL, ((uint64_t)1 << bit) - 1);
	text = printed(&tables, false);
	scratch_write(&scratch, "metrics", text_of(text));
	assert_int_equal(python(PARSER "n = [len(f.samples) for f in "
				       "parse(open(sys.argv[1]).read())]; sys.exit(len(n) != 4)",
				scratch_path(&scratch, "metrics")),
			 0);
	/* It does refuse. */
	scratch_write(&scratch, "metrics", (struct text){ text, strlen(text) - 2 });
	assert_int_not_equal(python(PARSER "list(parse(open(sys.argv[1]).read()))",
				    scratch_path(&scratch, "metrics")),
			     0);
	free(text);
	kstats_tables_clear(&tables);
	scratch_deinit(&scratch);
}

/* The older text format, which node_exporter reads, and how Prometheus wants metrics to be named.
 */
TEST(promtool_takes_it)
{
	static const char *const names[] = { "reads", "lost", "lost_total", "x_count",
					     "GAP-reads" };
	struct kstats_tables tables = { 0 };
	struct scratch scratch;
	char *text, command[300];

	if (system("command -v promtool >/dev/null")) {
		print_message("promtool is not installed (package prometheus)\n");
		skip();
		return;
	}
	scratch_init(&scratch);
	for (size_t i = 0; i < 2 * array_length(names); i++) {
		add(&tables, names[i / 2], "a \"b\\c\nd", i % 2 ? "ns" : "");
		scene_kstats_word(&tables.items[i]->start, "f\\\n\"");
		scene_kstats_record(tables.items[i], 0, NULL, i);
		tables.items[i]->losses_known = 1;
	}
	text = printed(&tables, true);
	scratch_write(&scratch, "metrics", text_of(text));
	snprintf(command, sizeof(command), "promtool check metrics < %s >&2",
		 scratch_path(&scratch, "metrics"));
	assert_int_equal(system(command), 0);
	/* It does refuse. */
	scratch_write(&scratch, "metrics", text_of("# TYPE a counter\na 1\n"));
	assert_int_not_equal(system(command), 0);
	free(text);
	kstats_tables_clear(&tables);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(bounds_are_the_same_and_exact),
	   cmocka_unit_test(sums_of_small_values_are_whole), cmocka_unit_test(nothing),
	   cmocka_unit_test(hosts_and_names_are_distinguished),
	   cmocka_unit_test(names_do_not_clash), cmocka_unit_test(the_same_twice),
	   cmocka_unit_test(words_of_any_bytes), cmocka_unit_test(rows_are_distinguished),
	   cmocka_unit_test(another_parser_takes_it), cmocka_unit_test(promtool_takes_it))
