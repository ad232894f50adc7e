/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/openmetrics.h"

#include <inttypes.h>
#include <math.h>
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

static char *printed(const struct kstats_tables *tables, bool native)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	expect_ok(openmetrics_print(out, tables, native));
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

static void check_buckets(const struct sample *s, char *at, const char *name, bool is_time)
{
	uint64_t last_bound = 0, last_count = 0;
	unsigned buckets = 0;
	char begin[100];

	for (;; buckets++) {
		uint64_t bound, count;
		char *rest;

		snprintf(begin, sizeof(begin), "%s_bucket{le=\"", name);
		rest = expect_begin(&at, begin);
		if (strncmp(rest, "+Inf", 4) == 0) {
			assert_string_equal(rest, "+Inf\"} 700");
			break;
		}
		bound = read_bound(rest, is_time);
		count = strtoull(strchr(rest, ' ') + 1, NULL, 10);
		assert_int_equal(count, count_up_to(s, bound));
		assert_true(!buckets || bound > last_bound);
		assert_true(count > last_count);
		last_bound = bound;
		last_count = count;
	}
	assert_int_equal(last_count, VALUES);
	snprintf(begin, sizeof(begin), "%s_sum ", name);
	expect_sum(s, expect_begin(&at, begin), is_time);
	snprintf(begin, sizeof(begin), "%s_count ", name);
	assert_string_equal(expect_begin(&at, begin), "700");
	assert_string_equal(at, "# EOF\n");
}

TEST(bounds_are_exact)
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
		assert_string_equal(expect_begin(&at, "# HELP "),
				    "ctprof_kstats_read_seconds read");
		check_buckets(&s, at, "ctprof_kstats_read_seconds", true);
		free(text);
		kstats_tables_clear(&s.tables);
		take_sample(&s, bits, "", bits);
		at = text = printed(&s.tables, false);
		assert_string_equal(expect_begin(&at, "# TYPE "), "ctprof_kstats_read histogram");
		assert_string_equal(expect_begin(&at, "# HELP "), "ctprof_kstats_read read");
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
	assert_string_equal(text, "# TYPE ctprof_kstats_a histogram\n"
				  "# HELP ctprof_kstats_a a\n"
				  "ctprof_kstats_a_bucket{le=\"3.0\"} 2\n"
				  "ctprof_kstats_a_bucket{le=\"4.0\"} 3\n"
				  "ctprof_kstats_a_bucket{le=\"+Inf\"} 3\n"
				  "ctprof_kstats_a_sum 10\n"
				  "ctprof_kstats_a_count 3\n"
				  "# EOF\n");
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
	assert_string_equal(text, "# TYPE ctprof_kstats_x_seconds histogram\n"
				  "# UNIT ctprof_kstats_x_seconds seconds\n"
				  "# HELP ctprof_kstats_x_seconds x\n"
				  "ctprof_kstats_x_seconds_bucket{le=\"+Inf\"} 0\n"
				  "ctprof_kstats_x_seconds_sum 0\n"
				  "ctprof_kstats_x_seconds_count 0\n"
				  "# EOF\n");
	free(text);
	kstats_tables_clear(&tables);
}

/* One of each family, under one head. */
TEST(hosts_and_names_are_told_apart)
{
	struct kstats_tables tables = { 0 };
	char *text;

	add(&tables, "b", "two", "");
	add(&tables, "a-b", "one", "");
	add(&tables, "b", "a \"b\\c\nd", "");
	add(&tables, "a_b", "one", "");
	add(&tables, "b", NULL, "");
	add(&tables, "7:served", NULL, "");
	add(&tables, "12:served", NULL, "");
	scene_kstats_word(&tables.items[2]->start, "f\\\n\"");
	scene_kstats_word(&tables.items[4]->start, "f\\\n\"");
	scene_kstats_word(&tables.items[4]->end, "g");
	text = printed(&tables, true);
	assert_string_equal(
		text, "# TYPE ctprof_kstats_a_b histogram\n"
		      "# HELP ctprof_kstats_a_b a-b; by the middle of slots: at most one bucket "
		      "from where "
		      "it belongs\n"
		      "ctprof_kstats_a_b{metric=\"a-b\",host=\"one\"} "
		      "{count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "ctprof_kstats_a_b{host=\"one\"} "
		      "{count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "# TYPE ctprof_kstats_b histogram\n"
		      "# HELP ctprof_kstats_b f\\\\\\n\\\" to g; by the middle of slots: at most "
		      "one bucket "
		      "from where it belongs\n"
		      "ctprof_kstats_b {count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "ctprof_kstats_b{host=\"a \\\"b\\\\c\\nd\"} "
		      "{count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "ctprof_kstats_b{host=\"two\"} "
		      "{count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "# TYPE ctprof_kstats_served histogram\n"
		      "# HELP ctprof_kstats_served served; by the middle of slots: at most one "
		      "bucket from where it belongs\n"
		      "ctprof_kstats_served{pid=\"12\"} "
		      "{count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "ctprof_kstats_served{pid=\"7\"} "
		      "{count:0,sum:0,schema:0,zero_threshold:0,zero_count:0}\n"
		      "# EOF\n");
	free(text);
	kstats_tables_clear(&tables);
}

/* No family is named as another one's samples are, nor as its unit. */
TEST(names_do_not_clash)
{
	static const char *const names[] = { "x",         "x_count", "x_sum",  "x_bucket",
					     "x_seconds", "x_total", "x_info", "x_created" };
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
	assert_non_null(strstr(text, "# HELP ctprof_kstats_a f\xef\xbf\xbd\xef\xbf\xbd\n"));
	for (const char *at = text; *at; at++)
		assert_true(*at == '\n' || (unsigned char)*at >= ' ');
	assert_true(utf8_is_valid(text_of(text)));
	free(text);
	add(&tables, "a", "y\001", "");
	add(&tables, "a", "y\002", "");
	out = open_memstream(&text, &length);
	assert_non_null(out);
	expect_error(openmetrics_print(out, &tables, false), "a stands twice for host");
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
	expect_error(openmetrics_print(out, &tables, false), "a stands twice for host one");
	scene_kstats_word(&tables.items[2]->host, "two");
	add(&tables, "b", NULL, "ns");
	expect_error(openmetrics_print(out, &tables, true), "b stands twice: merge them first");
	fclose(out);
	assert_int_equal(length, 0);
	free(text);
	kstats_tables_clear(&tables);
}

/* --- native histograms --- */

struct natives {
	unsigned count;
	struct {
		int at;
		uint64_t values, own;
	} buckets[2000];
};

/* "OFFSET:LENGTH,...": the buckets that counts are given for. */
static char *read_spans(char *at, struct natives *n)
{
	int next = 0;

	for (char *end = at; *end != ']'; at = end + 1) {
		long offset = strtol(at, &end, 10), length;

		assert_true(end > at && *end == ':' && (!n->count || offset > 0));
		at = end + 1;
		length = strtol(at, &end, 10);
		assert_true(end > at && length > 0 && (*end == ',' || *end == ']'));
		for (next += (int)offset; length; length--)
			n->buckets[n->count++].at = next++;
		if (*end == ']')
			return end + 1;
	}
	fail();
	return NULL;
}

static char *read_counts(char *at, struct natives *n)
{
	for (unsigned i = 0; i < n->count; i++) {
		n->buckets[i].values = strtoull(at, &at, 10);
		assert_int_equal(*at, i + 1 < n->count ? ',' : ']');
		assert_true(n->buckets[i].values > 0);
		at++;
	}
	return at;
}

static char *skip_word(char *at, const char *word)
{
	if (strncmp(at, word, strlen(word)) != 0)
		fail_msg("'%.40s' is no '%s'", at, word);
	return at + strlen(word);
}

/* Of buckets from 2^((i - 1) / 2^schema), exclusive, to 2^(i / 2^schema). */
static int bucket_of(uint64_t value, unsigned schema, bool is_time)
{
	long double amount = is_time ? (long double)value / NS_PER_SECOND : (long double)value;

	return (int)ceill(log2l(amount) * (1u << schema));
}

/* As many values up to each bucket as there may be when none is further than to the next. */
static void expect_near(const struct sample *s, const struct natives *n, unsigned schema,
			bool is_time)
{
	for (unsigned i = 0; i < n->count; i++) {
		uint64_t passed = 0, least = 0, most = 0;

		for (unsigned k = 0; k <= i; k++)
			passed += n->buckets[k].values;
		for (unsigned k = 0; k < VALUES; k++) {
			int own;

			if (!s->values[k])
				continue;
			own = bucket_of(s->values[k], schema, is_time);
			least += own < n->buckets[i].at;
			most += own <= n->buckets[i].at + 1;
		}
		assert_true(least <= passed && passed <= most);
	}
}

static void check_native(const struct sample *s, unsigned bits, bool is_time)
{
	static struct natives n;
	char *text = printed(&s->tables, true), *at = text, line[100], *end;
	uint64_t total = 0;

	n = (struct natives){ 0 };
	expect_begin(&at, "# TYPE ");
	if (is_time)
		expect_begin(&at, "# UNIT ");
	expect_begin(&at, "# HELP ");
	at = skip_word(at, is_time ? "ctprof_kstats_read_seconds {count:700,sum:"
				   : "ctprof_kstats_read {count:700,sum:");
	end = strchr(at, ',');
	*end = '\0';
	expect_sum(s, at, is_time);
	snprintf(line, sizeof(line), "schema:%u,zero_threshold:0,zero_count:%" PRIu64, bits,
		 count_up_to(s, 0));
	at = skip_word(end + 1, line);
	at = read_spans(skip_word(at, ",positive_spans:["), &n);
	at = read_counts(skip_word(at, ",positive_buckets:["), &n);
	assert_string_equal(at, "}\n# EOF\n");
	for (unsigned i = 0; i < n.count; i++)
		total += n.buckets[i].values;
	assert_int_equal(total, VALUES - count_up_to(s, 0));
	expect_near(s, &n, bits, is_time);
	free(text);
}

TEST(native_buckets)
{
	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct sample s;

			take_sample(&s, bits, "ns", seed);
			check_native(&s, bits, true);
			kstats_tables_clear(&s.tables);
			take_sample(&s, bits, "", seed);
			check_native(&s, bits, false);
			kstats_tables_clear(&s.tables);
		}
}

/* Each value alone, at both ends of every slot. */
TEST(native_buckets_of_all_slots)
{
	for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++)
		for (unsigned i = 2; i < 2 * (BUCKET_SLOTS(bits) - 1); i++) {
			uint64_t value = i % 2 ? bucket_high(i / 2, bits) : bucket_low(i / 2, bits);
			struct kstats_tables tables = { 0 };
			bool is_time = i % 4 < 2;
			char *text, *span;
			int at;

			add(&tables, "x", NULL, is_time ? "ns" : "");
			tables.items[0]->frac_bits = bits;
			scene_kstats_record(tables.items[0], 0, NULL, value);
			text = printed(&tables, true);
			span = strstr(text, "positive_spans:[");
			assert_non_null(span);
			at = atoi(span + strlen("positive_spans:["));
			assert_in_range(at - bucket_of(value, bits, is_time) + 1, 0, 2);
			/* Where a slot is one value, it is where it belongs. */
			if (bucket_low(i / 2, bits) == bucket_high(i / 2, bits))
				assert_int_equal(at, bucket_of(value, bits, is_time));
			free(text);
			kstats_tables_clear(&tables);
		}
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

UNIT_TESTS(cmocka_unit_test(bounds_are_exact), cmocka_unit_test(sums_of_small_values_are_whole),
	   cmocka_unit_test(nothing), cmocka_unit_test(hosts_and_names_are_told_apart),
	   cmocka_unit_test(names_do_not_clash), cmocka_unit_test(the_same_twice),
	   cmocka_unit_test(words_of_any_bytes), cmocka_unit_test(native_buckets),
	   cmocka_unit_test(native_buckets_of_all_slots), cmocka_unit_test(another_parser_takes_it))
