/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exposition.h"

#include <math.h>
#include <metrics.pb-c.h>
#include <stdlib.h>

#include "base/file.h"
#include "report/native_histogram.h"
#include "unit/unit.h"

#define PARSE(module)                                                                 \
	"from prometheus_client." module " import text_string_to_metric_families as " \
	"parse; import sys; "

static int python(const char *program, const char *path)
{
	char command[900];

	snprintf(command, sizeof(command), "/usr/bin/python3 -c '%s' %s >&2", program, path);
	return system(command);
}

struct scene {
	struct metric_families families;
	struct histogram *histogram;
};

static void begin(struct scene *s, const char *name, enum metric_type type, const char *unit,
		  unsigned decimals)
{
	const struct metric_family family = { .name = name,
					      .help = "What it is.",
					      .unit = unit,
					      .type = type,
					      .decimals = decimals };

	assert_true(array_push(&s->families, family));
}

static void put(struct scene *s, const char *a, const char *b, uint64_t number)
{
	struct metric_family *family = &s->families.items[s->families.count - 1];

	assert_true(array_push(&family->series,
			       (struct metric_series){
				       .labels = { { "a", text_of(a) }, { "b", text_of(b) } },
				       .number = number,
				       .histogram = s->histogram,
			       }));
}

static void open_scene(struct scene *s)
{
	*s = (struct scene){ .histogram = histogram_create(4) };
	histogram_record(s->histogram, 0, 1);
	histogram_record(s->histogram, 1023, 2);
	histogram_record(s->histogram, 1024, 4);
	histogram_record(s->histogram, 5000000, 8);
	histogram_record(s->histogram, 50000000000, 16);
	begin(s, "x_seconds", METRIC_COUNTER, "seconds", 9);
	put(s, "one", "", 1500000001);
	put(s, "q\"b\\c\nd\033\xff", "two", UINT64_MAX);
	begin(s, "none", METRIC_COUNTER, NULL, 0);
	begin(s, "y", METRIC_GAUGE, NULL, 3);
	put(s, "", "", 2500);
	begin(s, "z_seconds", METRIC_HISTOGRAM, "seconds", 9);
	put(s, "one", "", 0);
	put(s, "", "", 0);
}

static void close_scene(struct scene *s)
{
	metric_families_deinit(&s->families);
	histogram_destroy(s->histogram);
}

static char *printed(const struct scene *s, enum exposition format, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	assert_non_null(out);
	expect_ok(expositions[format].print(out, &s->families));
	assert_true(file_close_memory(out, &text));
	return text;
}

TEST(text_has_all_digits)
{
	struct scene s;
	size_t length;
	char *text;

	open_scene(&s);
	text = printed(&s, EXPOSITION_TEXT, &length);
	assert_true(text_starts(text_of(text),
				TEXT("# HELP x_seconds_total What it is.\n"
				     "# TYPE x_seconds_total counter\n"
				     "x_seconds_total{a=\"one\"} 1.500000001\n"
				     "x_seconds_total{a=\"q\\\"b\\\\c\\nd\uFFFD\uFFFD\",b=\"two\"} "
				     "18446744073.709551615\n"
				     "# HELP y What it is.\n# TYPE y gauge\ny 2.500\n"
				     "# HELP z_seconds What it is.\n# TYPE z_seconds histogram\n"
				     "z_seconds_bucket{a=\"one\",le=\"1.023e-06\"} 3\n"
				     "z_seconds_bucket{a=\"one\",le=\"4.095e-06\"} 7\n")));
	assert_non_null(strstr(text, "z_seconds_bucket{le=\"17.179869183\"} 15\n"
				     "z_seconds_bucket{le=\"+Inf\"} 31\n"));
	free(text);
	close_scene(&s);
}

/* Both text formats by Prometheus' own parsers of Python. */
TEST(other_parsers_take_it)
{
	static const struct {
		enum exposition format;
		const char *imports, *program;
	} rows[] = {
		{ EXPOSITION_TEXT, PARSE("parser"),
		  PARSE("parser") "n = [len(f.samples) for f in parse(open(sys.argv[1]).read())];"
				  "sys.exit(n != [2, 1, 32])" },
		{ EXPOSITION_OPENMETRICS, PARSE("openmetrics.parser"),
		  PARSE("openmetrics.parser") "n = [len(f.samples) for f in "
					      "parse(open(sys.argv[1]).read())];"
					      "sys.exit(n != [2, 1, 32])" },
	};
	struct scratch scratch;
	struct scene s;

	if (python(PARSE("parser"), "2>/dev/null") != 0) {
		skip();
		return;
	}
	scratch_init(&scratch);
	open_scene(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		size_t length;
		char *text = printed(&s, rows[i].format, &length);

		scratch_write(&scratch, "metrics", text_of(text));
		assert_int_equal(python(rows[i].program, scratch_path(&scratch, "metrics")), 0);
		free(text);
	}
	close_scene(&s);
	scratch_deinit(&scratch);
}

static size_t take_varint(const unsigned char **at)
{
	size_t number = 0;

	for (unsigned shift = 0;; shift += 7) {
		number |= (size_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return number;
	}
}

TEST(protobuf_has_classic_and_native_buckets)
{
	Prometheus__MetricFamily *families[4];
	const Prometheus__Histogram *histogram;
	const unsigned char *at;
	size_t length, count = 0;
	struct scene s;
	char *bytes;

	open_scene(&s);
	bytes = printed(&s, EXPOSITION_PROTOBUF, &length);
	for (at = (const unsigned char *)bytes; at < (const unsigned char *)bytes + length;
	     count++) {
		const size_t of_family = take_varint(&at);

		assert_true(count < array_length(families));
		families[count] = prometheus__metric_family__unpack(NULL, of_family, at);
		assert_non_null(families[count]);
		at += of_family;
	}
	assert_int_equal(count, 3);
	assert_string_equal(families[0]->name, "x_seconds_total");
	assert_int_equal(families[0]->n_metric, 2);
	assert_true(families[0]->metric[0]->counter->value == 1.500000001);
	assert_int_equal(families[0]->metric[0]->n_label, 1);
	assert_string_equal(families[0]->metric[1]->label[0]->value, "q\"b\\c\nd\uFFFD\uFFFD");
	assert_true(families[1]->metric[0]->gauge->value == 2.5);
	histogram = families[2]->metric[1]->histogram;
	assert_int_equal(histogram->n_bucket, METRIC_BUCKETS);
	assert_int_equal(histogram->bucket[1]->cumulative_count, 7);
	assert_true(histogram->bucket[1]->upper_bound == 4.095e-06);
	assert_int_equal(histogram->sample_count, 31);
	assert_int_equal(histogram->zero_count, 3);
	assert_int_equal(histogram->schema, 3);
	assert_int_equal(histogram->n_positive_span, 3);
	assert_int_equal(histogram->n_positive_delta, 3);
	assert_true(histogram->positive_delta[0] == 4 && histogram->positive_delta[1] == 4 &&
		    histogram->positive_delta[2] == 8);
	for (size_t i = 0; i < count; i++)
		prometheus__metric_family__free_unpacked(families[i], NULL);
	free(bytes);
	close_scene(&s);
}

/* Each value is in its native bucket, or by half a slot outside, and slots have the same order as
 * buckets, which follow each other without gaps. */
TEST(native_buckets_have_their_values)
{
	/* By how much of itself a value may be outside of its bucket. */
	static const struct {
		unsigned frac_bits;
		double least, most;
	} rows[] = { { 0, 0, 0.5 },  { 1, 0, 0.3 },       { 2, 0, 0.15 },
		     { 3, 0, 0.07 }, { 4, 0.017, 0.018 }, { 5, 0, 0.018 } };

	for (size_t i = 0; i < array_length(rows); i++) {
		const unsigned bits = rows[i].frac_bits, first = bucket_slot(1024, bits);
		const int schema = native_schema_of(bits);
		int last = native_bucket_of(first, bits, 1000000000);
		double worst = 0;

		for (unsigned slot = first; slot < BUCKET_SLOTS(bits) - 1; slot++) {
			const double low = (double)bucket_low(slot, bits) / 1e9;
			const double high = (double)bucket_high(slot, bits) / 1e9;
			const int bucket = native_bucket_of(slot, bits, 1000000000);

			assert_true(bucket == last || bucket == last + 1);
			last = bucket;
			worst = fmax(worst, (native_bucket_bound(bucket - 1, schema) - low) / low);
			worst = fmax(worst, (high - native_bucket_bound(bucket, schema)) / high);
		}
		assert_true(worst >= rows[i].least && worst < rows[i].most);
	}
}

/* Metrics of kstats have other bounds than latencies, and values that are no times. */
TEST(families_have_their_own_buckets)
{
	static const struct metric_ladder ladder = { 0, 17 };
	const struct native_scale scale = { 1, 1 };
	static struct native_histogram native;
	struct scene s;
	size_t length;
	char *text;

	open_scene(&s);
	begin(&s, "plain", METRIC_HISTOGRAM, NULL, 0);
	s.families.items[s.families.count - 1].ladder = &ladder;
	s.families.items[s.families.count - 1].help = "a\\b \"c\"\nd";
	put(&s, "", "", 0);
	text = printed(&s, EXPOSITION_TEXT, &length);
	assert_non_null(strstr(text, "# HELP plain a\\\\b \"c\"\\nd\n"));
	assert_non_null(strstr(text, "plain_bucket{le=\"0.0\"} 1\nplain_bucket{le=\"3.0\"} 1\n"));
	assert_non_null(strstr(text, "plain_bucket{le=\"1023.0\"} 3\n"
				     "plain_bucket{le=\"4095.0\"} 7\n"));
	assert_non_null(strstr(text, "plain_bucket{le=\"4294967295.0\"} 15\n"));
	assert_non_null(strstr(text, "plain_sum 800040006142\nplain_count 31\n"));
	free(text);
	native_histogram_of(s.histogram, &scale, &native);
	assert_true(native.zero_count == 1 && native.count == 31);
	close_scene(&s);
}

TEST(native_histograms_count_all)
{
	struct histogram *histogram = histogram_create(4);
	const struct native_scale scale = { 1000000000, 1024 };
	static struct native_histogram before, after;
	uint64_t seed = 9;

	native_histogram_of(histogram, &scale, &after);
	assert_int_equal(after.span_count + after.bucket_count, 0);
	for (int i = 0; i < 500; i++) {
		uint64_t count = 0;
		unsigned buckets = 0;

		histogram_record(histogram, next_random(&seed) >> next_random(&seed) % 64,
				 1 + next_random(&seed) % 3);
		before = after;
		native_histogram_of(histogram, &scale, &after);
		for (unsigned b = 0; b < after.bucket_count; b++)
			count += after.buckets[b];
		for (unsigned span = 0; span < after.span_count; span++) {
			buckets += after.spans[span].length;
			assert_true(span == 0 || after.spans[span].offset > 0);
		}
		assert_int_equal(buckets, after.bucket_count);
		assert_true(count + after.zero_count == after.count);
		assert_true(after.count == histogram->count &&
			    after.zero_count >= before.zero_count);
		assert_true(after.bucket_count >= before.bucket_count);
	}
	histogram_destroy(histogram);
}

UNIT_TESTS(cmocka_unit_test(text_has_all_digits), cmocka_unit_test(other_parsers_take_it),
	   cmocka_unit_test(protobuf_has_classic_and_native_buckets),
	   cmocka_unit_test(native_buckets_have_their_values),
	   cmocka_unit_test(families_have_their_own_buckets),
	   cmocka_unit_test(native_histograms_count_all))
