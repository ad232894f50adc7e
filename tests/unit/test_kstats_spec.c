/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/kstats_scene.h"

#define WORDS_MAX 16

/* Words of one line, each in memory of its own. */
struct words {
	char *items[WORDS_MAX + 1];
};

static void split(struct words *words, const char *line)
{
	size_t count = 0;

	*words = (struct words){ 0 };
	for (const char *at = line + strspn(line, " "); *at; at += strspn(at, " ")) {
		assert_true(count < WORDS_MAX);
		words->items[count++] = strndup(at, strcspn(at, " "));
		at += strcspn(at, " ");
	}
}

static void forget(struct words *words)
{
	for (size_t i = 0; words->items[i]; i++)
		free(words->items[i]);
}

static struct error *parse(const char *line, struct kstats_spec *ret)
{
	struct words words;
	struct error *err;

	split(&words, line);
	*ret = (struct kstats_spec){ 0 };
	err = kstats_spec_parse(words.items, ret);
	forget(&words);
	return err;
}

/* --- what is understood --- */

static const struct {
	const char *line, *name, *start, *end;
	unsigned bits;
} lines[] = {
	{ "vfs_read", "vfs_read", "vfs_read", NULL, 3 },
	{ "a bits 0", "a", "a", NULL, 0 },
	{ "a bits 5", "a", "a", NULL, 5 },
	{ "x start vfs_read", "x", "vfs_read", NULL, 3 },
	{ "x start vfs_read end vfs_write", "x", "vfs_read", "vfs_write", 3 },
	{ "x end vfs_write start vfs_read bits 4", "x", "vfs_read", "vfs_write", 4 },
	{ "x BITS 1 Start vfs_read eNd vfs_write", "x", "vfs_read", "vfs_write", 1 },
	{ "x bits 1 bits 2 start a start b end c end d", "x", "b", "d", 2 },
	{ "net_rx-2 start tracepoint:net:netif_rx end __tracepoint_net_dev_queue", "net_rx-2",
	  "tracepoint:net:netif_rx", "__tracepoint_net_dev_queue", 3 },
	{ "malloc start uprobe:/lib/libc.so.6:malloc end uretprobe:/lib/libc.so.6:malloc", "malloc",
	  "uprobe:/lib/libc.so.6:malloc", "uretprobe:/lib/libc.so.6:malloc", 3 },
	/* Keywords are words like others where a value stands. */
	{ "a end b", "a", "a", "b", 3 },
	{ "a bits 0x2 end b", "a", "a", "b", 2 },
	{ "a bits 0X0", "a", "a", NULL, 0 },
	{ "a bits 05", "a", "a", NULL, 5 },
	{ "bits start end end start", "bits", "end", "start", 3 },
	{ "0", "0", "0", NULL, 3 },
	{ "_", "_", "_", NULL, 3 },
	{ "GAP", "GAP", "GAP", NULL, 3 },
	{ "control", "control", "control", NULL, 3 },
	{ "123456789012345678901234567890123456789012345678901234567890123",
	  "123456789012345678901234567890123456789012345678901234567890123",
	  "123456789012345678901234567890123456789012345678901234567890123", NULL, 3 },
};

TEST(valid_specifications)
{
	for (size_t i = 0; i < array_length(lines); i++) {
		struct kstats_spec spec;

		expect_ok(parse(lines[i].line, &spec));
		assert_string_equal(spec.name, lines[i].name);
		assert_string_equal(spec.start, lines[i].start);
		assert_int_equal(!spec.end, !lines[i].end);
		if (spec.end)
			assert_string_equal(spec.end, lines[i].end);
		assert_int_equal(spec.frac_bits, lines[i].bits);
		assert_int_equal(spec.key, KSTATS_KEY_TASK);
		assert_int_equal(spec.by, KSTATS_BY_CPU);
		kstats_spec_clear(&spec);
		assert_null(spec.name);
		kstats_spec_clear(&spec);
	}
}

/* --- what is refused --- */

static const struct {
	const char *line, *message;
	int errnum;
} refused[] = {
	{ "", "NAME [bits B] [start X] [end Y]", EINVAL },
	{ "a bits", "missing value after 'bits'", EINVAL },
	{ "a start", "missing value after 'start'", EINVAL },
	{ "a start b end", "missing value after 'end'", EINVAL },
	{ "a bits 6", "invalid bits '6': expected 0 to 5", EINVAL },
	{ "a bits -1", "invalid bits '-1': expected 0 to 5", EINVAL },
	{ "a bits 0x", "invalid bits '0x': expected 0 to 5", EINVAL },
	{ "a bits 0x6", "invalid bits '0x6': expected 0 to 5", EINVAL },
	{ "a bits 0x12", "invalid bits '0x12': expected 0 to 5", EINVAL },
	{ "a bits 00x2", "invalid bits '00x2': expected 0 to 5", EINVAL },
	{ "a bits 3x", "invalid bits '3x': expected 0 to 5", EINVAL },
	{ "a bits +", "invalid bits '+': expected 0 to 5", EINVAL },
	{ "a bits 99999999999999999999", "expected 0 to 5", EINVAL },
	{ "a begin b", "unexpected 'begin': expected bits B, start X or end Y", EINVAL },
	{ "a b", "unexpected 'b'", EINVAL },
	{ "a bits 3 4", "unexpected '4'", EINVAL },
	{ "a start x buckets 64", "unexpected 'buckets'", EINVAL },
	{ "a/b", "letters, digits, '_' and '-'", EINVAL },
	{ "../x", "letters, digits", EINVAL },
	{ "..", "letters, digits", EINVAL },
	{ "a.b", "letters, digits", EINVAL },
	{ "a:b", "letters, digits", EINVAL },
	{ "a\nb", "letters, digits", EINVAL },
	{ "a\tb", "letters, digits", EINVAL },
	{ "\033[2J", "letters, digits", EINVAL },
	{ "a\177", "letters, digits", EINVAL },
	{ "r\xc3\xa9"
	  "ad",
	  "letters, digits", EINVAL },
	{ "\xff", "letters, digits", EINVAL },
	{ "pcpu:vfs_read", "letters, digits", EINVAL },
	{ "GAP-x", "GAP-NAME is created with NAME", EINVAL },
	{ "gap-x", "GAP-NAME is created with NAME", EINVAL },
	{ "GAP-", "GAP-NAME is created with NAME", EINVAL },
	{ "_control", "the name '_control' is reserved", EINVAL },
	{ "-", "must not start with '-'", EINVAL },
	{ "--help", "must not start with '-'", EINVAL },
	{ "1234567890123456789012345678901234567890123456789012345678901234",
	  "64 bytes, at most 63", ENAMETOOLONG },
};

static void expect_refused(struct error *err, int errnum, const char *message)
{
	assert_non_null(err);
	assert_int_equal(err->errnum, errnum);
	expect_error(err, message);
}

TEST(invalid_specifications)
{
	for (size_t i = 0; i < array_length(refused); i++) {
		struct kstats_spec spec;

		expect_refused(parse(refused[i].line, &spec), refused[i].errnum,
			       refused[i].message);
		kstats_spec_clear(&spec);
	}
}

/* Words that are empty, which no line has. */
TEST(empty_words)
{
	static char name[] = "a", start[] = "start", none[] = "";
	char *const nameless[] = { none, NULL }, *const valueless[] = { name, start, none, NULL };
	struct kstats_spec spec = { 0 };

	expect_refused(kstats_spec_parse(nameless, &spec), EINVAL, "missing metric name");
	kstats_spec_clear(&spec);
	expect_refused(kstats_spec_parse(valueless, &spec), EINVAL, "missing value after 'start'");
	kstats_spec_clear(&spec);
}

/* 10 KB of each word: refused with a line that can be read, or kept whole. */
TEST(very_long_words)
{
	static char longest[10241], name[] = "a", bits[] = "bits", start[] = "start";
	char *const names[] = { longest, NULL }, *const keywords[] = { name, longest, name, NULL };
	char *const values[] = { name, bits, longest, NULL };
	char *const places[] = { name, start, longest, NULL };
	struct kstats_spec spec = { 0 };
	struct error *err;

	memset(longest, 'x', sizeof(longest) - 1);
	expect_refused(kstats_spec_parse(names, &spec), ENAMETOOLONG, "10240 bytes");
	kstats_spec_clear(&spec);
	err = kstats_spec_parse(keywords, &spec);
	assert_true(err && strlen(err->message) < 200);
	expect_refused(err, EINVAL, "expected bits B, start X or end Y");
	kstats_spec_clear(&spec);
	err = kstats_spec_parse(values, &spec);
	assert_true(err && strlen(err->message) < 200);
	expect_refused(err, EINVAL, "expected 0 to 5");
	kstats_spec_clear(&spec);
	expect_ok(kstats_spec_parse(places, &spec));
	assert_string_equal(spec.start, longest);
	kstats_spec_clear(&spec);
}

UNIT_TESTS(cmocka_unit_test(valid_specifications), cmocka_unit_test(invalid_specifications),
	   cmocka_unit_test(empty_words), cmocka_unit_test(very_long_words))
