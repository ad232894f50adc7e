/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "profile/files.h"
#include "profile/json.h"
#include "state/reading.h"
#include "unit/profile_scene.h"

static struct profile *parsed(struct text json)
{
	struct text bytes = guarded(json.bytes, json.length);
	struct profile *profile = NULL;

	expect_ok(profile_parse_json(bytes, &profile));
	unguard(bytes);
	return profile;
}

static void expect_refused(const char *json, const char *message)
{
	struct text bytes = guarded(json, strlen(json));
	struct profile *profile = NULL;

	expect_error(profile_parse_json(bytes, &profile), message);
	assert_null(profile);
	unguard(bytes);
}

static void write_to(const struct profile *profile, struct sunk *sunk)
{
	*sunk = (struct sunk){ 0 };
	expect_ok(profile_write_json(profile, sunk_write, sunk));
}

TEST(everything_comes_back)
{
	for (uint64_t seed = 1; seed < 10; seed++) {
		struct profile *p = full_profile(seed), *back;
		struct sunk first, second;

		write_to(p, &first);
		back = parsed(sunk_text(&first));
		expect_same_profile(p, back);
		write_to(back, &second);
		assert_true(text_equal(sunk_text(&first), sunk_text(&second)));
		array_deinit(&first);
		array_deinit(&second);
		profile_destroy(p);
		profile_destroy(back);
	}
}

TEST(nothing_comes_back)
{
	struct profile *p = build_profile(), *back;
	struct sunk sunk;

	write_to(p, &sunk);
	back = parsed(sunk_text(&sunk));
	expect_same_profile(p, back);
	array_deinit(&sunk);
	profile_destroy(p);
	profile_destroy(back);
}

/* What the document says, as text: names and numbers as others read them. */
TEST(as_documented)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 10, 11, "db", "flush", "/db");
	char expected[2000], states[1000] = "";
	struct sunk sunk;

	for (enum state i = 0; i < STATE_COUNT; i++)
		snprintf(states + strlen(states), sizeof(states) - strlen(states), "%s\"%s\"",
			 i ? "," : "", state_rows[i].name);
	p->meta.duration_ns = UINT64_MAX;
	build_sample(p, thread, CLASS_IO_WAIT, "main;read_[k]", 5000000000, 2);
	build_sample(p, thread, CLASS_ON_CPU, "", 7, 1);
	write_to(p, &sunk);
	snprintf(expected, sizeof(expected),
		 "{\"ctprof_profile\":1,\"meta\":{\"duration_ns\":18446744073709551615},"
		 "\"losses\":{},\"classes\":[\"on-cpu\",\"runnable\",\"interruptible\","
		 "\"uninterruptible\",\"io-wait\",\"stopped\",\"traced\",\"parked\",\"idle\","
		 "\"event\"],\"states\":[%s],\"threads\":[{\"tid\":11,\"tgid\":10,\"name\":"
		 "\"flush\","
		 "\"process\":\"db\",\"cgroup\":\"/db\"}],\"frames\":[{\"name\":\"main\"},"
		 "{\"kind\":\"kernel\",\"name\":\"read\"}],"
		 "\"nodes\":{\"parent\":[null,0],\"frame\":[0,1]},"
		 "\"samples\":{\"thread\":[0,0],\"node\":[1,null],\"class\":[4,0],"
		 "\"state\":[%d,0],\"ns\":[5000000000,7],\"count\":[2,1]}}",
		 states, STATE_SLEEP_DISK);
	assert_string_equal(sunk.items, expected);
	array_deinit(&sunk);
	profile_destroy(p);
}

/* Files that were written before states were in them, and those of the future: the class says what
 * it can. States that threads of a class cannot have are passed over. */
TEST(states_that_are_not_known)
{
#define STATES_OF(states, column)                                                             \
	"{\"ctprof_profile\":1,\"classes\":[\"interruptible\",\"runnable\"]," states          \
	"\"threads\":[{\"tid\":1}],\"samples\":{\"thread\":[0,0,0],\"node\":[null,null,null]" \
	"," column "\"class\":[0,1,0],\"ns\":[1,2,4],\"count\":[1,1,1]}}"
	static const struct {
		const char *text;
		enum state states[3];
		size_t count;
	} cases[] = {
		{ STATES_OF("", ""), { STATE_SLEEP, STATE_RUNNABLE }, 2 },
		{ STATES_OF("\"states\":[\"of-the-future\",\"lock_futex\",\"exec\"],",
			    "\"state\":[1,1,0],"),
		  { STATE_LOCK_FUTEX, STATE_RUNNABLE, STATE_SLEEP },
		  3 },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct profile *p = parsed(text_of(cases[i].text));

		assert_int_equal(p->samples.count, cases[i].count);
		for (size_t j = 0; j < cases[i].count; j++)
			assert_int_equal(p->samples.items[j].state, cases[i].states[j]);
		profile_destroy(p);
	}
	expect_refused(STATES_OF("\"states\":[\"lock\"],", "\"state\":[0,0,1],"),
		       "'samples', item 2: its 'state' is not in the file");
#undef STATES_OF
}

/* How walks ended, by names; ends of the future are passed over. */
TEST(ends_of_walks_have_names)
{
	struct profile *p = parsed(TEXT("{\"ctprof_profile\":1,\"losses\":{\"walks\":{"
					"\"no-sense\":7,\"of-the-future\":5,\"complete\":"
					"18446744073709551615}}}"));
	const uint64_t *walks = p->meta.losses.walks;
	struct sunk sunk;

	assert_true(walks[WALK_END_COMPLETE] == UINT64_MAX);
	assert_int_equal(walks[WALK_END_NO_SENSE], 7);
	for (size_t end = 0; end < WALK_ENDS; end++)
		if (end != WALK_END_COMPLETE && end != WALK_END_NO_SENSE)
			assert_int_equal(walks[end], 0);
	write_to(p, &sunk);
	assert_non_null(strstr(sunk.items, "\"losses\":{\"walks\":{\"complete\":"
					   "18446744073709551615,\"no-sense\":7}}"));
	array_deinit(&sunk);
	profile_destroy(p);
}

/* Members in any order, as after `jq -S`; unknown ones; classes by their names. */
TEST(order_does_not_matter)
{
	struct profile *p = parsed(TEXT(
		"{\"samples\":{\"count\":[2],\"ns\":[9],\"class\":[1],\"node\":[1],\"thread\":[0],"
		"\"colour\":[3]},\"nodes\":{\"frame\":[1,0],\"parent\":[null,0]},"
		"\"frames\":[{\"name\":\"leaf\",\"x\":{\"y\":[]}},{\"name\":\"main\"}],"
		"\"classes\":[\"of-the-future\",\"stopped\"],\"threads\":[{\"tid\":5,"
		"\"ns\":{\"of-the-future\":5,\"stopped\":6}}],\"else\":[1,2],"
		"\"ctprof_profile\":1}"));
	const struct sample *sample = &p->samples.items[0];

	assert_int_equal(p->samples.count, 1);
	assert_int_equal(sample->class, CLASS_STOPPED);
	assert_int_equal(sample->cpu, CPU_ANY);
	assert_int_equal(sample->ns, 9);
	assert_int_equal(stack_depth(p, sample->node), 2);
	assert_string_equal(p->frames.items[p->nodes.items[sample->node].frame].name->bytes,
			    "leaf");
	assert_int_equal(p->threads.items[0].ns[CLASS_STOPPED], 6);
	assert_string_equal(p->threads.items[0].name->bytes, "");
	profile_destroy(p);
}

/* Equal frames, nodes and samples of a file are one in a profile. */
TEST(repetitions_become_one)
{
	struct profile *p = parsed(
		TEXT("{\"ctprof_profile\":1,\"classes\":[\"on-cpu\"],\"threads\":[{}],"
		     "\"frames\":[{\"name\":\"a\"},{\"name\":\"a\"}],"
		     "\"nodes\":{\"parent\":[null,null,1],\"frame\":[0,1,1]},"
		     "\"longest\":[{\"node\":2,\"class\":\"runnable\"}],"
		     "\"samples\":{\"thread\":[0,0],\"node\":[0,1],\"class\":[0,0],\"ns\":[1,2],"
		     "\"count\":[1,1]}}"));

	assert_int_equal(p->frames.count, 1);
	assert_int_equal(p->nodes.count, 2);
	assert_int_equal(p->samples.count, 1);
	assert_int_equal(p->samples.items[0].ns, 3);
	assert_int_equal(p->longest.items[0].node, 1);
	profile_destroy(p);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	while ((text = strstr(text, part))) {
		count++;
		text += strlen(part);
	}
	return count;
}

#define MAPPING_AT(start) "{\"start\":" start ",\"end\":900,\"path\":\"/a\"}"

/* Those of forked processes are in a file once. */
TEST(equal_mappings_are_written_once)
{
	struct profile *p = parsed(TEXT(
		"{\"ctprof_profile\":1,\"mappings\":[" MAPPING_AT("100") "," MAPPING_AT("200") "," MAPPING_AT("100") "," MAPPING_AT(
			"200") "," MAPPING_AT("100") "," MAPPING_AT("300") "],\"images\":[{\"pid\":"
									   "1,\"first_mapping\":0,"
									   "\"mapping_count\":2},"
									   "{\"pid\":2,\"first_"
									   "mapping\":2,\"mapping_"
									   "count\":2},{\"pid\":3},"
									   "{\"pid\":4,\"first_"
									   "mapping\":4,\"mapping_"
									   "count\":2}]}"));
	struct sunk sunk = { 0 };
	struct profile *again;

	write_to(p, &sunk);
	assert_int_equal(count_of(sunk.items, "\"start\":"), 4);
	again = parsed((struct text){ sunk.items, sunk.count });
	assert_int_equal(again->images.items[1].first_mapping, 0);
	assert_int_equal(again->images.items[3].first_mapping, 2);
	assert_int_equal(again->mappings.items[3].start, 300);
	array_deinit(&sunk);
	profile_destroy(again);
	profile_destroy(p);
}

/* Images that overlap would take more room than they have. */
TEST(mappings_that_overlap_stay)
{
	struct profile *p =
		parsed(TEXT("{\"ctprof_profile\":1,\"mappings\":[" MAPPING_AT("100") "," MAPPING_AT(
			"200") "],\"images\":[{\"pid\":1,\"first_mapping\":0,\"mapping_count\":2},"
			       "{\"pid\":2,\"first_mapping\":1,\"mapping_count\":1}]}"));
	struct sunk sunk = { 0 };

	write_to(p, &sunk);
	assert_int_equal(count_of(sunk.items, "\"start\":"), 2);
	assert_int_equal(count_of(sunk.items, "\"first_mapping\":1"), 1);
	array_deinit(&sunk);
	profile_destroy(p);
}

#define HEAD "{\"ctprof_profile\":1,\"classes\":[\"on-cpu\",\"event\",\"strange\"],"
#define ONE_SAMPLE(thread, node, class, more)                                             \
	HEAD "\"threads\":[{}],\"samples\":{\"thread\":[" thread "],\"node\":[" node "]," \
	     "\"class\":[" class "],\"ns\":[1],\"count\":[1]" more "}}"

TEST(dangling_numbers_are_refused)
{
	static const struct {
		const char *json, *message;
	} cases[] = {
		{ ONE_SAMPLE("1", "null", "0", ""), "'samples', item 0: its 'thread'" },
		{ ONE_SAMPLE("null", "null", "0", ""), "its 'thread'" },
		{ ONE_SAMPLE("0", "0", "0", ""), "its 'node'" },
		{ ONE_SAMPLE("0", "null", "3", ""), "its 'class'" },
		{ ONE_SAMPLE("0", "null", "2", ""), "its 'class'" },
		{ ONE_SAMPLE("0", "null", "1", ""), "its 'event'" },
		{ ONE_SAMPLE("0", "null", "0", ",\"event\":[1]"), "its 'event'" },
		{ ONE_SAMPLE("0", "null", "0", ",\"cpu\":[65535]"), "the CPU is out of range" },
		{ ONE_SAMPLE("0", "null", "0", ",\"cpu\":[1,2]"), "different lengths" },
		{ ONE_SAMPLE("0", "null,null", "0", ""), "different lengths" },
		{ HEAD "\"nodes\":{\"parent\":[null],\"frame\":[]}}", "different lengths" },
		{ HEAD "\"nodes\":{\"parent\":[null],\"frame\":[0]}}", "its 'frame'" },
		{ HEAD "\"frames\":[{}],\"nodes\":{\"parent\":[0],\"frame\":[0]}}",
		  "does not come before" },
		{ HEAD "\"frames\":[{\"image\":1}]}", "'frames', item 0: its 'image'" },
		{ HEAD "\"threads\":[{\"image\":1}]}", "'threads', item 0: its 'image'" },
		{ HEAD "\"images\":[{\"first_mapping\":1}]}", "'images', item 0" },
		{ HEAD "\"images\":[{\"mapping_count\":4294967295}]}", "'images', item 0" },
		{ HEAD "\"mappings\":[{\"start\":2,\"end\":1}]}", "its end is before" },
		{ HEAD "\"longest\":[{}]}", "'longest', item 0: its 'thread'" },
		{ HEAD "\"threads\":[{}],\"longest\":[{\"node\":0}]}", "its 'node'" },
		{ HEAD "\"contenders\":[{}]}", "'contenders', item 0" },
		{ HEAD "\"histograms\":[{}]}", "'histograms', item 0" },
		{ HEAD "\"histograms\":[{\"frac_bits\":6}]}", "'frac_bits'" },
		{ HEAD "\"histograms\":[{\"slots\":[1]}]}", "slots and counts differ" },
		{ HEAD "\"histograms\":[{\"slots\":[65],\"counts\":[1]}]}",
		  "a slot is out of range" },
		{ HEAD "\"histograms\":[{\"slots\":[null],\"counts\":[1]}]}",
		  "a slot is out of range" },
		{ HEAD "\"histograms\":[{\"class\":\"strange\"}]}", "'class'" },
		{ HEAD "\"frames\":[{\"kind\":\"strange\"}]}", "'kind'" },
		{ HEAD "\"frames\":[{\"name\":5}]}", "'name'" },
		{ HEAD "\"frames\":[5]}", "an object" },
		{ HEAD "\"frames\":{}}", "an array" },
		{ HEAD "\"frames\":[{\"line\":4294967296}]}", "'line'" },
		{ HEAD "\"mappings\":[{\"build_id\":\"abc\"}]}", "hexadecimal" },
		{ HEAD "\"mappings\":[{\"build_id\":\"ag\"}]}", "hexadecimal" },
		{ HEAD "\"mappings\":[{\"build_id\":"
		       "\"000102030405060708090a0b0c0d0e0f1011121314\"}]}",
		  "hexadecimal" },
		{ HEAD "\"meta\":{\"duration_ns\":18446744073709551616}}", "'duration_ns'" },
		{ HEAD "\"meta\":{\"duration_ns\":1.5}}", "'duration_ns'" },
		{ HEAD "\"meta\":[]}", "an object" },
		{ HEAD "\"losses\":{\"walks\":5}}", "'walks'" },
		{ HEAD "\"losses\":{\"walks\":{\"no-rule\":-1}}}", "'no-rule'" },
	};

	for (size_t i = 0; i < array_length(cases); i++)
		expect_refused(cases[i].json, cases[i].message);
}

TEST(invalid_profiles)
{
	expect_refused("", "at offset 0");
	expect_refused("[]", "expected an object");
	expect_refused("{}", "not a profile");
	expect_refused("{\"threads\":[]}", "not a profile");
	expect_refused("{\"captured_at_unix_ns\":1,\"threads\":7}", "'ctprof show' prints it");
	expect_refused("{\"format\":\"ctprof-kstats\"}", "'ctprof kstats show' prints them");
	expect_refused("{\"format\":\"other\"}", "not a profile: ");
	expect_refused("{\"ctprof_profile\":2}", "format 2");
	expect_refused("{\"ctprof_profile\":1", "");
	expect_refused("{\"ctprof_profile\":1}}", "");
}

/* Any prefix is refused without harm. */
TEST(cut_off)
{
	struct profile *p = full_profile(3);
	struct sunk sunk;

	write_to(p, &sunk);
	for (size_t length = 0; length < sunk.count; length += 1 + length / 64) {
		struct text bytes = guarded(sunk.items, length);
		struct profile *back = NULL;

		expect_error(profile_parse_json(bytes, &back), "");
		unguard(bytes);
	}
	array_deinit(&sunk);
	profile_destroy(p);
}

TEST(a_sink_that_fails)
{
	struct profile *p = full_profile(3);
	struct sunk sunk = { .refuse_after = 10 };

	expect_error(profile_write_json(p, sunk_write, &sunk), "the sink is full");
	array_deinit(&sunk);
	profile_destroy(p);
}

UNIT_TESTS(cmocka_unit_test(everything_comes_back), cmocka_unit_test(nothing_comes_back),
	   cmocka_unit_test(as_documented), cmocka_unit_test(states_that_are_not_known),
	   cmocka_unit_test(ends_of_walks_have_names), cmocka_unit_test(order_does_not_matter),
	   cmocka_unit_test(repetitions_become_one),
	   cmocka_unit_test(equal_mappings_are_written_once),
	   cmocka_unit_test(mappings_that_overlap_stay),
	   cmocka_unit_test(dangling_numbers_are_refused), cmocka_unit_test(invalid_profiles),
	   cmocka_unit_test(cut_off), cmocka_unit_test(a_sink_that_fails))
