/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit/unit.h"

/*
 * What was read, written down again as it was told: "(n=1 [..])". Reading is right when the
 * transcript is.
 */
struct transcript {
	struct sunk sunk;
};

static void say(struct json_reader *r, struct text text)
{
	struct transcript *transcript = json_user(r);

	expect_ok(sunk_write(&transcript->sunk, text.bytes, text.length));
}

static const struct json_shape list_shape, runs_shape, point_shape, map_shape;

static struct error *take_any(struct json_reader *r, void *target, const struct json_member *member,
			      struct text key, const struct json_value *value)
{
	static const struct text literals[] = { [JSON_NULL] = { "null", 4 } };

	(void)member;
	say(r, key);
	say(r, TEXT("="));
	switch (value->type) {
	case JSON_NULL:
		say(r, literals[JSON_NULL]);
		break;
	case JSON_BOOL:
		say(r, value->boolean ? TEXT("true") : TEXT("false"));
		break;
	case JSON_NUMBER:
		say(r, value->text);
		break;
	case JSON_STRING:
		say(r, TEXT("'"));
		say(r, value->text);
		say(r, TEXT("'"));
		break;
	case JSON_OBJECT:
		json_enter(r, member && member->more ? member->more : &map_shape, target);
		say(r, TEXT("{"));
		return NULL;
	case JSON_ARRAY:
		json_enter(r, &list_shape, target);
		say(r, TEXT("["));
		return NULL;
	}
	say(r, TEXT(" "));
	return NULL;
}

static size_t numbers_of_runs;

static struct error *say_run(struct json_reader *r, void *target, const uint64_t *numbers,
			     size_t count)
{
	char text[64];

	(void)target;
	numbers_of_runs += count;
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "array=%llu ", (unsigned long long)numbers[i]);
		say(r, text_of(text));
	}
	return count && numbers[count - 1] == 666 ? error_create("'array' was refused") : NULL;
}

static struct error *end_list(struct json_reader *r, void *target)
{
	(void)target;
	say(r, TEXT("] "));
	return NULL;
}

static struct error *end_object(struct json_reader *r, void *target)
{
	(void)target;
	say(r, TEXT("} "));
	return NULL;
}

static struct error *refuse(struct json_reader *r, void *target, const struct json_member *member,
			    struct text key, const struct json_value *value)
{
	(void)r, (void)target, (void)member, (void)value;
	return error_create("'%.*s' was refused", (int)key.length, key.bytes);
}

static struct error *take_runs(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	(void)member, (void)key, (void)value;
	json_enter(r, &runs_shape, target);
	say(r, TEXT("list=["));
	return NULL;
}

static struct error *ignore(struct json_reader *r, void *target, const struct json_member *member,
			    struct text key, const struct json_value *value)
{
	(void)r, (void)target, (void)member, (void)key, (void)value;
	return NULL;
}

static const struct json_member point_members[] = {
	{ TEXT("x"), take_any, 0, NULL },     { TEXT("y"), take_any, 0, NULL },
	{ TEXT("list"), take_any, 0, NULL },  { TEXT("point"), take_any, 0, &point_shape },
	{ TEXT("map"), take_any, 0, NULL },   { TEXT("bad"), refuse, 0, NULL },
	{ TEXT("ignored"), ignore, 0, NULL }, { TEXT("runs"), take_runs, 0, NULL },
};
static const struct json_shape point_shape = { .members = point_members,
					       .count = array_length(point_members),
					       .done = end_object };
static const struct json_shape list_shape = { .each = take_any, .done = end_list };
static const struct json_shape runs_shape = { .each = take_any, .run = say_run, .done = end_list };
static const struct json_shape map_shape = { .each = take_any, .done = end_object };

static struct error *take_root(struct json_reader *r, void *target,
			       const struct json_member *member, struct text key,
			       const struct json_value *value)
{
	if (value->type != JSON_OBJECT)
		return take_any(r, target, member, key, value);
	json_enter(r, &point_shape, target);
	say(r, TEXT("{"));
	return NULL;
}

/* Read `json` in pieces of at most `piece` bytes, each in memory of its own. */
static struct error *read_pieces(struct text json, size_t piece, struct transcript *ret)
{
	struct json_reader *r;
	struct error *err;

	ret->sunk.count = 0;
	expect_ok(json_reader_create(take_root, NULL, ret, &r));
	err = NULL;
	for (size_t at = 0; at < json.length && !err; at += piece) {
		struct text part = guarded(json.bytes + at,
					   json.length - at < piece ? json.length - at : piece);

		err = json_reader_feed(r, part);
		unguard(part);
	}
	if (!err)
		err = json_reader_finish(r);
	json_reader_destroy(r);
	return err;
}

static void check(const char *json, const char *expected)
{
	struct transcript transcript = { 0 };

	expect_ok(read_pieces(text_of(json), SIZE_MAX / 2, &transcript));
	expect_text(sunk_text(&transcript.sunk), expected);
	array_deinit(&transcript.sunk);
}

static void check_refused(struct text json, const char *message)
{
	struct transcript transcript = { 0 };

	expect_error(read_pieces(json, SIZE_MAX / 2, &transcript), message);
	expect_error(read_pieces(json, 1, &transcript), message);
	array_deinit(&transcript.sunk);
}

TEST(members_by_their_rows)
{
	check("{\"x\":1,\"y\":\"two\"}", "{x=1 y='two' } ");
	check("{\"y\":null,\"x\":true}", "{y=null x=true } ");
	check(" { } ", "{} ");
}

TEST(lists_and_maps)
{
	check("{\"list\":[1,[],[2,false],{\"k\":\"v\"}]}",
	      "{list=[array=1 array=[] array=[array=2 array=false ] array={k='v' } ] } ");
	check("{\"map\":{\"a\":{\"b\":1},\"c\":[]}}", "{map={a={b=1 } c=[] } } ");
	check("{\"point\":{\"x\":1,\"point\":{\"x\":2}}}", "{point={x=1 point={x=2 } } } ");
}

TEST(a_root_may_be_a_scalar)
{
	check("42", "the file=42 ");
	check("[1]", "the file=[array=1 ] ");
}

TEST(unknown_members_are_skipped)
{
	check("{\"unknown\":{\"x\":1,\"x\":2,\"y\":[{\"x\":[]}]},\"x\":3,\"other\":[1,[2]]}",
	      "{x=3 } ");
	check("{\"ignored\":{\"x\":{\"y\":[1]}},\"y\":3}", "{y=3 } ");
	check("{\"unknown\":\"s\",\"more\":null}", "{} ");
}

TEST(an_empty_name)
{
	check("{\"map\":{\"\":1}}", "{map={=1 } } ");
	check("{\"\":1,\"x\":2}", "{x=2 } ");
}

TEST(numbers_are_text)
{
	check("{\"x\":18446744073709551615,\"y\":-1.5e+300}",
	      "{x=18446744073709551615 y=-1.5e+300 } ");
	check("{\"x\":99999999999999999999999999999}", "{x=99999999999999999999999999999 } ");
}

TEST(strings_are_decoded)
{
	check("{\"x\":\"a\\n\\\"\\\\\\/\\u00e4\\ud83d\\ude00\"}",
	      "{x='a\n\"\\/\xc3\xa4\xf0\x9f\x98\x80' } ");
}

TEST(split_anywhere_reads_the_same)
{
	static const char json[] =
		"{\"x\":-12.5e1,\"unknown\":[{\"a\":\"b\\u00e4\"}],\"map\":{\"k\\n\":\"\xc3\xa4\","
		"\"l\":[true,null]},\"y\":\"\\ud83d\\ude00 end\"}";
	struct text text = TEXT("");
	struct transcript whole = { 0 }, split = { 0 };

	text = text_of(json);
	expect_ok(read_pieces(text, text.length, &whole));
	for (size_t piece = 1; piece < text.length; piece++) {
		expect_ok(read_pieces(text, piece, &split));
		expect_text(sunk_text(&split.sunk), whole.sunk.items);
	}
	array_deinit(&whole.sunk);
	array_deinit(&split.sunk);
}

TEST(a_member_twice)
{
	check_refused(TEXT("{\"x\":1,\"y\":2,\"x\":1}"), "duplicate key 'x' in an object");
	check_refused(TEXT("{\"point\":{\"y\":1,\"y\":1}}"), "duplicate key 'y' in an object");
	/* Each object starts anew. */
	check("{\"x\":1,\"point\":{\"x\":2}}", "{x=1 point={x=2 } } ");
}

TEST(not_json)
{
	static const char *const bad[] = {
		"{\"x\":1,}", "{\"x\" 1}",  "[1 2]",         "nul",      "{\"x\":01}",  "{'x':1}",
		"[1]]",       "{\"x\":+1}", "{\"x\":.5}",    "{x:1}",    "\"\\q\"",     "[\"\n\"]",
		"[1,]",       "{} {}",      "[\"\\u12g4\"]", "// hi\n1", "{\"x\":NaN}",
	};

	for (size_t i = 0; i < array_length(bad); i++)
		check_refused(text_of(bad[i]), "not valid JSON");
}

TEST(not_utf8)
{
	check_refused(TEXT("{\"x\":\"\xff\"}"), "not valid JSON");
	check_refused(TEXT("{\"x\":\"\xc3(\"}"), "not valid JSON");
}

TEST(overlong_forms_and_surrogates)
{
	check_refused(TEXT("{\"x\":\"\xed\xa0\x80\"}"), "not valid JSON");
	check_refused(TEXT("{\"x\":\"\xc0\xaf\"}"), "not valid JSON");
	check_refused(TEXT("{\"\xf4\x90\x80\x80\":1}"), "not valid JSON");
}

TEST(incomplete)
{
	static const char json[] = "{\"x\":[1,{\"y\":\"z\"}]}";
	struct transcript transcript = { 0 };

	for (size_t length = 0; length < sizeof(json) - 1; length++)
		expect_error(read_pieces((struct text){ json, length }, 1000, &transcript), "");
	array_deinit(&transcript.sunk);
}

static char *repeated(const char *open, unsigned times, const char *close)
{
	size_t each = strlen(open) + strlen(close);
	char *json = malloc(times * each + 1), *at = json;

	for (unsigned i = 0; i < times; i++)
		at = stpcpy(at, open);
	for (unsigned i = 0; i < times; i++)
		at = stpcpy(at, close);
	*at = '\0';
	return json;
}

TEST(depth_32_and_no_more)
{
	static const char *const kinds[][2] = { { "[", "]" }, { "[{\"unknown\":", "0}]" } };
	struct transcript transcript = { 0 };

	for (unsigned depth = 31; depth <= 34; depth++) {
		_cleanup_free_ char *json = repeated("[", depth, "]");
		struct error *err = read_pieces(text_of(json), 1000, &transcript);

		if (depth <= JSON_DEPTH_MAX)
			expect_ok(err);
		else
			expect_error(err, "nested deeper than 32");
	}
	{
		_cleanup_free_ char *json = repeated(kinds[0][0], 1000000, kinds[0][1]);

		expect_error(read_pieces(text_of(json), 100000, &transcript),
			     "nested deeper than 32");
	}
	array_deinit(&transcript.sunk);
}

/* What is skipped is inside what was entered: the root, "ignored" and then the rest. */
TEST(depth_counts_skipped_members)
{
	struct transcript transcript = { 0 };

	for (unsigned inner = 30; inner <= 33; inner++) {
		_cleanup_free_ char *lists = repeated("[", inner, "]");
		char json[200];
		struct error *err;

		snprintf(json, sizeof(json), "{\"unknown\":%s}", lists);
		err = read_pieces(text_of(json), 1000, &transcript);
		if (inner < JSON_DEPTH_MAX)
			expect_ok(err);
		else
			expect_error(err, "nested deeper than 32");
	}
	array_deinit(&transcript.sunk);
}

/* {"x":"aaa..."} or {"map":{"aaa...":0}} with `length` letters. */
static struct text long_one(bool name, size_t length)
{
	const char *before = name ? "{\"map\":{\"" : "{\"x\":\"", *after = name ? "\":0}}" : "\"}";
	char *json = malloc(length + 20), *at = stpcpy(json, before);

	memset(at, 'a', length);
	at = stpcpy(at + length, after);
	return (struct text){ json, (size_t)(at - json) };
}

TEST(strings_and_names_up_to_1_mib)
{
	static const size_t pieces[] = { SIZE_MAX / 2, 131072, 65536, 50001 };
	struct transcript transcript = { 0 };

	for (int name = 0; name <= 1; name++) {
		struct text most = long_one(name, JSON_STRING_MAX);
		struct text more = long_one(name, JSON_STRING_MAX + 1);

		for (size_t i = 0; i < array_length(pieces); i++) {
			expect_ok(read_pieces(most, pieces[i], &transcript));
			expect_error(read_pieces(more, pieces[i], &transcript), "1 MiB");
		}
		unguard(most);
		unguard(more);
	}
	array_deinit(&transcript.sunk);
}

/* A string without end must not be collected without end. */
/* Where the pieces end is not the writer's doing: it must not decide what is too long. */
TEST(a_long_string_may_be_split_anywhere)
{
	struct text most = long_one(false, JSON_STRING_MAX);
	const size_t splits[] = { 1, 5, 6, 7, 100000, most.length - 3 };
	struct transcript transcript = { 0 };

	for (size_t i = 0; i < array_length(splits); i++) {
		struct json_reader *r;

		expect_ok(json_reader_create(take_root, NULL, &transcript, &r));
		expect_ok(json_reader_feed(r, (struct text){ most.bytes, splits[i] }));
		expect_ok(json_reader_feed(
			r, (struct text){ most.bytes + splits[i], most.length - splits[i] - 2 }));
		expect_ok(json_reader_feed(r, TEXT("\"}")));
		expect_ok(json_reader_finish(r));
		json_reader_destroy(r);
	}
	unguard(most);
	array_deinit(&transcript.sunk);
}

TEST(an_endless_string_is_stopped)
{
	struct transcript transcript = { 0 };
	char block[4096];
	struct json_reader *r;
	struct error *err;
	size_t fed = 1;

	memset(block, 'a', sizeof(block));
	expect_ok(json_reader_create(take_root, NULL, &transcript, &r));
	err = json_reader_feed(r, TEXT("\""));
	while (!err && fed < 64 * JSON_STRING_MAX) {
		err = json_reader_feed(r, (struct text){ block, sizeof(block) });
		fed += sizeof(block);
	}
	expect_error(err, "more than 2 MiB without a value");
	assert_true(fed < 16 * JSON_STRING_MAX);
	json_reader_destroy(r);
	array_deinit(&transcript.sunk);
}

TEST(an_error_of_a_take_is_the_result)
{
	struct transcript transcript = { 0 };

	check_refused(TEXT("{\"x\":1,\"bad\":2,\"y\":3}"), "'bad' was refused");
	expect_error(read_pieces(TEXT("{\"x\":1,\"bad\":{\"x\":2},\"y\":3}"), 100, &transcript),
		     "'bad' was refused");
	expect_text(sunk_text(&transcript.sunk), "{x=1 ");
	array_deinit(&transcript.sunk);
}

TEST(destroying_one_that_failed_midway)
{
	struct transcript transcript = { 0 };
	struct json_reader *r;

	expect_ok(json_reader_create(take_root, NULL, &transcript, &r));
	assert_ptr_equal(json_user(r), &transcript);
	expect_ok(json_reader_feed(r, TEXT("{\"map\":{\"key\":[1,")));
	json_reader_destroy(r);
	json_reader_destroy(NULL);
	array_deinit(&transcript.sunk);
}

static uint64_t offset_seen;

static struct error *note_offset(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	(void)target, (void)member, (void)key, (void)value;
	offset_seen = json_offset(r);
	return error_create("here");
}

TEST(the_offset_is_where_the_value_stands)
{
	/* Inside the value's bytes, however the input is split before it. */
	static const char json[] = "   \"a value\"   ";

	for (size_t split = 0; split <= 3; split++) {
		struct json_reader *r;
		struct error *err = NULL;

		offset_seen = 0;
		expect_ok(json_reader_create(note_offset, NULL, NULL, &r));
		if (split)
			err = json_reader_feed(r, (struct text){ json, split });
		expect_ok(err);
		expect_error(json_reader_feed(r, text_of(json + split)), "here");
		assert_in_range(offset_seen, 3, 12);
		assert_in_range(json_offset(r), 3, 12);
		json_reader_destroy(r);
	}
}

static struct json_value number(const char *text)
{
	return (struct json_value){ .type = JSON_NUMBER, .text = text_of(text) };
}

TEST(integers_are_exact_or_refused)
{
	static const char *const bad[] = { "1.0", "1e3", "-1", "18446744073709551616" };
	struct json_value value = number("18446744073709551615");
	uint64_t u64 = 5;
	uint32_t u32 = 5;
	int64_t i64 = 5;

	expect_ok(json_get_u64(&value, TEXT("k"), &u64));
	assert_int_equal(u64, UINT64_MAX);
	u64 = 5;
	for (size_t i = 0; i < array_length(bad); i++) {
		value = number(bad[i]);
		expect_error(json_get_u64(&value, TEXT("k"), &u64), "'k': expected an integer");
		expect_error(json_get_u32(&value, TEXT("k"), &u32), "'k': expected an integer");
	}
	value = (struct json_value){ .type = JSON_STRING, .text = TEXT("1") };
	expect_error(json_get_u64(&value, TEXT("k"), &u64), "expected an integer");
	expect_error(json_get_i64(&value, TEXT("k"), &i64), "expected a 64-bit integer");
	assert_int_equal(u64, 5);

	value = number("4294967295");
	expect_ok(json_get_u32(&value, TEXT("k"), &u32));
	assert_int_equal(u32, UINT32_MAX);
	value = number("4294967296");
	expect_error(json_get_u32(&value, TEXT("k"), &u32), "4294967295");
	value = number("-9223372036854775808");
	expect_ok(json_get_i64(&value, TEXT("k"), &i64));
	assert_true(i64 == INT64_MIN);
	value = number("9223372036854775808");
	expect_error(json_get_i64(&value, TEXT("k"), &i64), "64-bit");
}

TEST(booleans_and_texts)
{
	struct json_value value = { .type = JSON_BOOL, .boolean = true };
	struct text text = TEXT("untouched");
	bool boolean = false;

	expect_ok(json_get_bool(&value, TEXT("k"), &boolean));
	assert_true(boolean);
	expect_error(json_get_text(&value, TEXT("k"), &text), "expected a string");
	value = (struct json_value){ .type = JSON_STRING, .text = TEXT("a\0b") };
	expect_error(json_get_text(&value, TEXT("k"), &text), "without NUL");
	expect_error(json_get_bool(&value, TEXT("k"), &boolean), "true or false");
	expect_text(text, "untouched");
	value.text = TEXT("fine");
	expect_ok(json_get_text(&value, TEXT("k"), &text));
	expect_text(text, "fine");
}

TEST(a_hostile_name_in_a_message_is_cut)
{
	char key[5000];
	struct error *err;

	memset(key, 'k', sizeof(key));
	err = json_unexpected((struct text){ key, sizeof(key) }, "something else");
	assert_true(strlen(err->message) < 300);
	expect_error(err, "expected something else");
}

/* The linker gives us every malloc() and realloc() of the reader (--wrap in rules.mk): compilers
 * make the one of the other. */
static size_t allocations, refused_from = SIZE_MAX;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	return ++allocations >= refused_from ? NULL : __real_realloc(old, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return ++allocations >= refused_from ? NULL : __real_malloc(size);
}

static struct error *accept_root(struct json_reader *r, void *target,
				 const struct json_member *member, struct text key,
				 const struct json_value *value)
{
	(void)r, (void)target, (void)member, (void)key, (void)value;
	return NULL;
}

static struct error *read_all(struct text json)
{
	struct json_reader *r = NULL;
	struct error *err = json_reader_create(accept_root, NULL, NULL, &r);

	if (!err)
		err = json_reader_feed(r, (struct text){ json.bytes, json.length / 2 });
	if (!err)
		err = json_reader_feed(r, (struct text){ json.bytes + json.length / 2,
							 json.length - json.length / 2 });
	if (!err)
		err = json_reader_finish(r);
	json_reader_destroy(r);
	return err;
}

/* Wherever memory ends, it is said, and nothing is left behind. */
/* --- runs of integers --- */

/* An array as `list` and as `runs`, in pieces of any length: both are the same. */
static void check_runs(const char *array)
{
	struct transcript as_list = { 0 }, as_runs = { 0 };
	char list[512], runs[512];

	snprintf(list, sizeof(list), "{\"list\":%s,\"x\":1}", array);
	snprintf(runs, sizeof(runs), "{\"runs\":%s,\"x\":1}", array);
	for (size_t piece = 1; piece <= strlen(runs); piece++) {
		_cleanup_(error_destroy) struct error *one =
			read_pieces(text_of(list), piece, &as_list);
		_cleanup_(error_destroy) struct error *other =
			read_pieces(text_of(runs), piece, &as_runs);

		assert_int_equal(!one, !other);
		if (one)
			assert_string_equal(one->message, other->message);
		else
			expect_text(sunk_text(&as_runs.sunk), sunk_text(&as_list.sunk).bytes);
	}
	array_deinit(&as_list.sunk);
	array_deinit(&as_runs.sunk);
}

TEST(runs_of_integers_are_as_single_ones)
{
	numbers_of_runs = 0;
	check_runs("[1,2,33,444,5555,0,18446744073709551615,9999999999999999999,7]");
	assert_true(numbers_of_runs > 50);
	check_runs("[]");
	check_runs("[1]");
	check_runs("[ 1 , 2,\n3,\t4 , 5,6 ]");
	check_runs("[1,2,null,3,4,true,5,6,false,7,8,-9,10,11,1.5,12,13,1e3,14,15]");
	check_runs("[1,2,\"3,4,5\",6,7,[8,9,[10],11,12],13,14,{\"a\":15,\"b\":[16,17]},18,19]");
	check_runs("[\"1,2,3\",4,5,\"\\\"6,7,\",8,9]");
	check_runs("[99999999999999999999999,1,2,18446744073709551616,3]");
}

TEST(what_is_no_json_is_none_in_runs)
{
	static const char *const wrong[] = {
		"[1,2,3,]",   "[1,2,,3]",           "[1,2,01,3]",   "[1,2,3 4,5]", "[1,2,-,3]",
		"[1,2,3:4]",  "[1,2,\"3,4]",        "[1,2,3\"4,5]", "[1,2,3,4}",   "[1,2,+3,4]",
		"[1,2,x,3]",  "[1,2,0x3,4]",        "[1,2,nul,3]",  "[,1,2]",      "[1,2,3",
		"[1,2,3.,4]", "[1,2,\"\xff\",3,4]",
	};

	for (size_t i = 0; i < array_length(wrong); i++)
		check_runs(wrong[i]);
}

TEST(an_error_of_a_run_is_the_result)
{
	struct transcript transcript = { 0 };

	expect_error(read_pieces(TEXT("{\"runs\":[1,2,3,4,5,666,x"), 12, &transcript),
		     "'array' was refused");
	array_deinit(&transcript.sunk);
}

TEST(without_memory)
{
	char bytes[20000];
	struct text json = { bytes, 0 };
	size_t needed;

	/* a long string with escapes outgrows the buffers of libyajl */
	json.length =
		(size_t)snprintf(bytes, sizeof(bytes), "{\"a\\nname\":[[[\"%09999d\\n\"]]]}", 0);
	allocations = 0;
	expect_ok(read_all(json));
	needed = allocations;
	assert_true(needed > 5);
	for (size_t n = 1; n <= needed; n++) {
		struct error *err;

		allocations = 0;
		refused_from = n;
		err = read_all(json);
		refused_from = SIZE_MAX;
		assert_ptr_equal(err, &error_no_memory);
		assert_int_equal(allocations, n);
	}
}

/* --- a preferred shape --- */

static struct error *take_counted(struct json_reader *r, void *target,
				  const struct json_member *member, struct text key,
				  const struct json_value *value)
{
	if (value->type == JSON_NUMBER && text_equal(value->text, TEXT("666")))
		return json_unexpected(key, "another number");
	return take_any(r, target, member, key, value);
}

static const struct json_member counted_members[] = {
	{ TEXT("tid"), take_counted, 0, NULL },
	{ TEXT("comm"), take_counted, 0, NULL },
	{ TEXT("run_time_ns"), take_counted, 0, NULL },
	{ TEXT("cpus"), take_counted, 0, NULL },
};
static const struct json_shape counted_shape = { .members = counted_members,
						 .count = array_length(counted_members),
						 .done = end_object };

static struct error *take_counted_object(struct json_reader *r, void *target,
					 const struct json_member *member, struct text key,
					 const struct json_value *value)
{
	if (value->type != JSON_OBJECT)
		return take_any(r, target, member, key, value);
	json_enter(r, &counted_shape, target);
	say(r, TEXT("{"));
	return NULL;
}

static struct error *take_counted_list(struct json_reader *r, void *target,
				       const struct json_member *member, struct text key,
				       const struct json_value *value)
{
	static const struct json_shape list = { .each = take_counted_object, .done = end_list };

	if (value->type != JSON_ARRAY)
		return take_any(r, target, member, key, value);
	json_enter(r, &list, target);
	return NULL;
}

/* The transcript, and the error and its offset if there is one. */
static char *read_counted(struct text json, size_t piece, bool prefers)
{
	struct transcript transcript = { 0 };
	struct json_reader *r;
	struct error *err = NULL;
	char text[64], *copy;

	expect_ok(json_reader_create(take_counted_list, NULL, &transcript, &r));
	if (prefers)
		json_reader_prefer(r, &counted_shape);
	for (size_t at = 0; at < json.length && !err; at += piece) {
		const size_t left = json.length - at;

		err = json_reader_feed(
			r, (struct text){ json.bytes + at, left < piece ? left : piece });
	}
	if (!err)
		err = json_reader_finish(r);
	if (err) {
		snprintf(text, sizeof(text), " at %llu: ", (unsigned long long)json_offset(r));
		say(r, text_of(text));
		say(r, text_of(err->message));
		error_destroy(err);
	}
	copy = strndup(sunk_text(&transcript.sunk).bytes, sunk_text(&transcript.sunk).length);
	assert_non_null(copy);
	array_deinit(&transcript.sunk);
	json_reader_destroy(r);
	return copy;
}

TEST(members_of_a_preferred_shape_are_as_others)
{
	static const char *const texts[] = {
		"[{\"tid\":1,\"comm\":\"a b\",\"run_time_ns\":18446744073709551615,\"cpus\":[0,1]},"
		"{\"tid\":2,\"comm\":\"\",\"run_time_ns\":-3,\"cpus\":true}]",
		"[{\"tid\":1,\"tid\":2,\"comm\":3}]",
		"[{\"comm\":1,\"tid\":2,\"comm\":3,\"cpus\":0}]",
		"[{\"other\":1,\"cpus\":2,\"x\":{\"tid\":[1,{\"a\":2,\"b\":3}],\"q\":1},\"tid\":0}"
		"]",
		"[{\"tid\":1,\"comm\":\"a\\\",\\\\\",\"run_time_ns\":0,\"cpus\":\"},{\",\"z\":1}]",
		"[ { \"tid\" : 1 , \"comm\" : 2 , \"cpus\":3, \"run_time_ns\":4 } , {\"tid\":1} ]",
		"[{\"tid\":1,\"comm\":\"\xc3\xa9\",\"cpus\":1.5,\"run_time_ns\":1e3,\"z\":null}]",
		"[{\"tid\":1,\"comm\":01,\"cpus\":3}]",
		"[{\"tid\":1,\"comm\":2,\"cpus\":3,}]",
		"[{\"tid\":1,\"comm\":2,,\"cpus\":3}]",
		"[{\"tid\":1,\"comm\":-,\"cpus\":3}]",
		"[{\"tid\":1,\"comm\":truex,\"cpus\":3}]",
		"[{\"tid\":1,\"comm\":\"\n\",\"cpus\":3}]",
		"[{\"tid\":1,\"comm\":\"\xff\",\"cpus\":3}]",
		"[{\"tid\":1,\"comm\":2,\"cpus\":666,\"run_time_ns\":1}]",
		"[{\"tid\":1,\"comm\":2],\"cpus\":3}",
		"[{\"tid\":1,\"comm\":{\"tid\":1,\"comm\":2,\"cpus\":3},\"cpus\":{}}],[{\"tid\":1,"
		"\"a\":2}]",
		"[{\"tid\":1,\"comm\":2,\"cpus\":[{\"tid\":1,\"x\":2},{\"tid\":3,\"comm\":4}],"
		"\"x\":5}]",
		"[{\"tid\":1,\"comm\":2,\"run_time_ns\":3",
		"[}]}]},,\"",
	};

	for (size_t i = 0; i < array_length(texts); i++) {
		const struct text json = text_of(texts[i]);
		char *wanted = read_counted(json, json.length, false);
		const bool is_syntax = strstr(wanted, "not valid JSON");

		for (size_t piece = 1; piece <= json.length; piece++) {
			char *got = read_counted(json, piece, true);

			/* libyajl tells some errors earlier or later, by how its bytes are cut. */
			if (is_syntax)
				assert_non_null(strstr(got, "not valid JSON"));
			else
				assert_string_equal(got, wanted);
			free(got);
		}
		free(wanted);
	}
}

UNIT_TESTS(cmocka_unit_test(members_of_a_preferred_shape_are_as_others),
	   cmocka_unit_test(members_by_their_rows), cmocka_unit_test(lists_and_maps),
	   cmocka_unit_test(a_root_may_be_a_scalar), cmocka_unit_test(unknown_members_are_skipped),
	   cmocka_unit_test(numbers_are_text), cmocka_unit_test(strings_are_decoded),
	   cmocka_unit_test(split_anywhere_reads_the_same), cmocka_unit_test(a_member_twice),
	   cmocka_unit_test(not_json), cmocka_unit_test(not_utf8),
	   cmocka_unit_test(overlong_forms_and_surrogates), cmocka_unit_test(incomplete),
	   cmocka_unit_test(depth_32_and_no_more), cmocka_unit_test(depth_counts_skipped_members),
	   cmocka_unit_test(strings_and_names_up_to_1_mib),
	   cmocka_unit_test(a_long_string_may_be_split_anywhere),
	   cmocka_unit_test(an_endless_string_is_stopped),
	   cmocka_unit_test(an_error_of_a_take_is_the_result),
	   cmocka_unit_test(destroying_one_that_failed_midway),
	   cmocka_unit_test(the_offset_is_where_the_value_stands),
	   cmocka_unit_test(integers_are_exact_or_refused), cmocka_unit_test(booleans_and_texts),
	   cmocka_unit_test(a_hostile_name_in_a_message_is_cut), cmocka_unit_test(an_empty_name),
	   cmocka_unit_test(runs_of_integers_are_as_single_ones),
	   cmocka_unit_test(what_is_no_json_is_none_in_runs),
	   cmocka_unit_test(an_error_of_a_run_is_the_result), cmocka_unit_test(without_memory))
