/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pattern.h"

#include <regex.h>
#include <stdio.h>

#include "base/utf8.h"
#include "unit/unit.h"

typedef size_t maker(struct text, char *);

/* The pattern in memory of just the room it may take. */
static struct text make(maker *pattern, struct text name)
{
	struct text in = guarded(name.bytes, name.length);
	char *out = malloc(PATTERN_ROOM(name.length));
	struct text made;

	assert_non_null(out);
	made = (struct text){ out, pattern(in, out) };
	assert_true(made.length <= PATTERN_ROOM(name.length));
	unguard(in);
	return made;
}

static void release(struct text made)
{
	free((char *)(uintptr_t)made.bytes);
}

#define check(pattern, name, expected) check_(pattern, name, expected, __FILE__, __LINE__)

/* The pattern, and the pattern of the pattern. */
static void check_(maker *pattern, struct text name, const char *expected, const char *file,
		   int line)
{
	struct text once = make(pattern, name), twice = make(pattern, once);

	expect_text_(once, expected, file, line);
	expect_text_(twice, expected, file, line);
	release(twice);
	release(once);
}

TEST(names_of_threads)
{
	static const char *const names[][2] = {
		{ "", "" },
		{ "bash", "bash" },
		{ "7", "{N}" },
		{ "0", "{N}" },
		{ "20261231235959", "{N}" },
		{ "1a", "{H}" },
		{ "a1", "{H}" },
		{ "0f", "{H}" },
		{ "deadbeef0", "{H}" },
		{ "deadbeef", "deadbeef" },
		{ "abc", "abc" },
		{ "f", "f" },
		{ "w1", "w{N}" },
		{ "A1", "A{N}" },
		{ "1A", "{N}A" },
		{ "cpu0", "cpu{N}" },
		{ "Ab12", "Ab{N}" },
		{ "12xY", "{N}xY" },
		{ "1a2g", "1a2g" },
		{ "a1B2", "a1B2" },
		{ "1DEADBEEF2", "1DEADBEEF2" },
		{ "k8s", "k8s" },
		{ "kworker/u8:7", "kworker/u{N}:{N}" },
		{ "kworker/0:1H-events", "kworker/{N}:{N}H-events" },
		{ "kworker/u16:2-events_unbound", "kworker/u{N}:{N}-events_unbound" },
		{ "ksoftirqd/12", "ksoftirqd/{N}" },
		{ "irq/9-acpi", "irq/{N}-acpi" },
		{ "jbd2/nvme0n1p2-8", "jbd{N}/nvme0n1p2-{N}" },
		{ "x86_64", "x{N}_{N}" },
		{ "tokio-worker-12", "tokio-worker-{N}" },
		{ "GC Thread#3", "GC Thread#3" },
		{ "C2 CompilerThre", "C{N} CompilerThre" },
		{ "worker [3]", "worker [{N}]" },
		{ "scsi_eh_2", "scsi_eh_{N}" },
		{ "python3.11", "python{N}.{N}" },
		{ "docker-3f2a90bc.scope", "docker-{H}.scope" },
		{ "{N}", "{N}" },
		{ "a{H}", "a{H}" },
		{ "a{N}1", "a{N}1" },
	};

	for (size_t i = 0; i < array_length(names); i++)
		check(pattern_of_name, text_of(names[i][0]), names[i][1]);
}

/* Parts of a UUID may have digits alone, or letters alone: they are one identifier. */
TEST(identifiers_of_pods_and_runs)
{
	static const char *const names[][2] = {
		{ "2f3c1c88-1111-4aaa-beef-012345678901", "{UUID}" },
		{ "/kubepods/burstable/pod11111111-2222-4333-8444-555555555555/c1",
		  "/kubepods/burstable/pod{UUID}/{H}" },
		{ "/kubepods/pod2f3c1c88-abcd-4aaa-beef-aaaaaaaaaaaa", "/kubepods/pod{UUID}" },
		{ "/kubepods.slice/kubepods-pod2f3c1c88_1111_4aaa_beef_012345678901.slice",
		  "/kubepods.slice/kubepods-pod{UUID}.slice" },
		{ "kubepods-besteffort-pod11111111_2222_4333_8444_555555555555.slice",
		  "kubepods-besteffort-pod{UUID}.slice" },
		{ "/kubepods/pod0123456789abcdef0123456789abcdef", "/kubepods/pod{H}" },
		{ "run-r0123456789abcdef0123456789abcdef.scope", "run-r{H}.scope" },
		{ "run-r01234567890123456789012345678901.service", "run-r{H}.service" },
		/* None of them. */
		{ "2f3c1c88-1111-4aaa-beef-0123456789012", "{H}-{N}-{H}-beef-{N}" },
		{ "2f3c1c88-1111-4aaa-beef-01234567890", "{H}-{N}-{H}-beef-{N}" },
		{ "2f3c1c88-1111-4aaa-beef", "{H}-{N}-{H}-beef" },
		{ "xpod11111111-2222-4333-8444-555555555555", "xpod{N}-{N}-{N}-{N}-{N}" },
		{ "r7", "r{N}" },
		{ "pod", "pod" },
		{ "r", "r" },
		{ "{UUID}", "{UUID}" },
		{ "pod{UUID}", "pod{UUID}" },
	};

	for (size_t i = 0; i < array_length(names); i++)
		check(pattern_of_name, text_of(names[i][0]), names[i][1]);
}

TEST(separators_stay)
{
	check(pattern_of_name, TEXT(".-_/:@+[]"), ".-_/:@+[]");
	check(pattern_of_name, TEXT("..7--7__"), "..{N}--{N}__");
	check(pattern_of_name, TEXT("1.1-1_1/1:1@1+1[1]1"),
	      "{N}.{N}-{N}_{N}/{N}:{N}@{N}+{N}[{N}]{N}");
	check(pattern_of_name, TEXT("1 2\t3\n4\v5\f6\r7"), "{N} {N}\t{N}\n{N}\v{N}\f{N}\r{N}");
	/* What is no separator is part of the token. */
	check(pattern_of_name, TEXT("1,1"), "1,1");
	check(pattern_of_name, TEXT("1#1"), "1#1");
	check(pattern_of_name, TEXT("1(1)"), "1(1)");
}

static size_t encode(uint32_t code, char out[3])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* The list of PropList.txt, character by character. */
static bool is_white_space(uint32_t code)
{
	static const uint32_t spaces[] = {
		0x0009, 0x000a, 0x000b, 0x000c, 0x000d, 0x0020, 0x0085, 0x00a0, 0x1680,
		0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
		0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
	};

	for (size_t i = 0; i < array_length(spaces); i++)
		if (spaces[i] == code)
			return true;
	return false;
}

/* Between two digits, every character of the plane where all white space is. */
TEST(every_character_separates_or_does_not)
{
	for (uint32_t code = 1; code < 0x10000; code++) {
		char name[5] = "1", between[4] = "", out[PATTERN_ROOM(sizeof(name))];
		char expected[16];
		size_t wide, length;
		bool separates = is_white_space(code) || (code < 0x80 && strchr(".-_/:@+[]", code));

		if ((code >= 0xd800 && code <= 0xdfff) || (code < 0x80 && !separates))
			continue;
		wide = encode(code, between);
		memcpy(name + 1, between, wide);
		name[1 + wide] = '1';
		length = pattern_of_name((struct text){ name, 2 + wide }, out);
		snprintf(expected, sizeof(expected), separates ? "{N}%s{N}" : "1%s1", between);
		if (!text_equal((struct text){ out, length }, text_of(expected)))
			fail_msg("U+%04x", code);
	}
}

TEST(bytes_of_no_character)
{
	check(pattern_of_name, TEXT("\xff"), "\xff");
	check(pattern_of_name, TEXT("1\xff"), "1\xff");
	check(pattern_of_name, TEXT("1\xff-1"), "1\xff-{N}");
	/* White space that is cut short, or follows a byte that begins nothing. */
	check(pattern_of_name, TEXT("1\xe2\x80"), "1\xe2\x80");
	check(pattern_of_name, TEXT("1\xc2"), "1\xc2");
	check(pattern_of_name, TEXT("1\xf0\xe2\x80\x80\x31"), "1\xf0\xe2\x80\x80{N}");
	/* Surrogates and overlong forms are none. */
	check(pattern_of_name, TEXT("1\xc0\xa0\x31"), "1\xc0\xa0\x31");
	check(pattern_of_name, TEXT("1\xed\xa0\x80\x31"), "1\xed\xa0\x80\x31");
}

TEST(no_bytes_at_all)
{
	char out[PATTERN_ROOM(0)];

	assert_int_equal(pattern_of_name((struct text){ NULL, 0 }, out), 0);
	assert_int_equal(pattern_of_unit_instances((struct text){ NULL, 0 }, out), 0);
}

TEST(a_zero_is_a_byte)
{
	char out[PATTERN_ROOM(4)];

	assert_int_equal(pattern_of_name((struct text){ "1\0-1", 4 }, out), 6);
	assert_memory_equal(out, "1\0-{N}", 6);
}

/* --- against the rules as regular expressions --- */

static const struct {
	const char *rule, *pattern; /* & is what the group holds */
} rules[] = {
	{ "^[0-9]+$", "{N}" },
	{ "^([0-9a-f]+[0-9][0-9a-f]*|[0-9][0-9a-f]+)$", "{H}" },
	{ "^([A-Za-z]+)[0-9]+$", "&{N}" },
	{ "^[0-9]+([A-Za-z]+)$", "{N}&" },
};

static void expect_by_rules(const char *token, char *expected)
{
	for (size_t i = 0; i < array_length(rules); i++) {
		regmatch_t groups[2];
		regex_t rule;
		bool fits;

		assert_int_equal(regcomp(&rule, rules[i].rule, REG_EXTENDED), 0);
		fits = regexec(&rule, token, 2, groups, 0) == 0;
		regfree(&rule);
		if (!fits)
			continue;
		for (const char *p = rules[i].pattern; *p; p++) {
			size_t length = (size_t)(groups[1].rm_eo - groups[1].rm_so);

			if (*p != '&') {
				*expected++ = *p;
				continue;
			}
			memcpy(expected, token + groups[1].rm_so, length);
			expected += length;
		}
		*expected = '\0';
		return;
	}
	strcpy(expected, token);
}

TEST(every_short_token_follows_the_rules)
{
	static const char bytes[] = "09afgzAFGZ#";
	const unsigned kinds = sizeof(bytes) - 1;

	for (unsigned n = 0; n < kinds * kinds * kinds * kinds; n++) {
		char token[5] = { bytes[n % kinds], bytes[n / kinds % kinds],
				  bytes[n / kinds / kinds % kinds],
				  bytes[n / kinds / kinds / kinds] };
		char expected[PATTERN_ROOM(sizeof(token))];

		/* '#' ends some of them early. */
		token[strcspn(token, "#")] = '\0';
		if (n % 7 && strlen(token) == 4)
			continue;
		expect_by_rules(token, expected);
		check(pattern_of_name, text_of(token), expected);
	}
}

TEST(any_bytes_give_a_pattern_that_stays)
{
	static const char bytes[] = "019afgzAZ.-_/:@+[] \t{}NHI\xff\xe2\x80\xa8\xc2\x85";
	uint64_t seed = 3;

	for (int round = 0; round < 20000; round++) {
		size_t length = next_random(&seed) % 40;
		struct text once, twice;
		char name[40];

		for (size_t i = 0; i < length; i++)
			name[i] = bytes[next_random(&seed) % (sizeof(bytes) - 1)];
		once = make(pattern_of_name, (struct text){ name, length });
		twice = make(pattern_of_name, once);
		assert_true(text_equal(once, twice));
		release(twice);
		release(once);
	}
}

TEST(the_longest_pattern_fits)
{
	check(pattern_of_name, TEXT("1"), "{N}");
	check(pattern_of_name, TEXT("1-1"), "{N}-{N}");
	assert_int_equal(PATTERN_ROOM(1), strlen("{N}"));
	assert_int_equal(PATTERN_ROOM(3), strlen("{N}-{N}"));
}

/* --- instances of units --- */

TEST(instances_of_services)
{
	static const char *const paths[][2] = {
		{ "", "" },
		{ "/", "/" },
		{ "/system.slice/cron.service", "/system.slice/cron.service" },
		{ "getty@tty1.service", "getty@{I}.service" },
		{ "user@1000.service", "user@{I}.service" },
		{ "foo@a-b.service", "foo@a-b.service" },
		{ "foo@a_b.service", "foo@a_b.service" },
		{ "foo@a.b.service", "foo@a.b.service" },
		{ "foo@.service", "foo@.service" },
		{ "foo@b.socket", "foo@b.socket" },
		{ "foo@b.service.d", "foo@b.service.d" },
		{ "foo@b.services", "foo@b.services" },
		{ "@b.service", "@{I}.service" },
		{ "foo@a:b.service", "foo@{I}.service" },
		/* An instance begins after the first '@'. */
		{ "foo@a@b.service", "foo@{I}.service" },
		{ "foo@a-@b.service", "foo@a-@b.service" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app@7.service/x",
		  "/user.slice/user-1000.slice/user@{I}.service/app.slice/app@{I}.service/x" },
		{ "/a@b.service//c@d.service/", "/a@{I}.service//c@{I}.service/" },
		{ "/a@b/.service", "/a@b/.service" },
		{ "/a@b\xff.service", "/a@{I}.service" },
	};

	for (size_t i = 0; i < array_length(paths); i++)
		check(pattern_of_unit_instances, text_of(paths[i][0]), paths[i][1]);
}

UNIT_TESTS(cmocka_unit_test(names_of_threads), cmocka_unit_test(identifiers_of_pods_and_runs),
	   cmocka_unit_test(separators_stay),
	   cmocka_unit_test(every_character_separates_or_does_not),
	   cmocka_unit_test(bytes_of_no_character), cmocka_unit_test(no_bytes_at_all),
	   cmocka_unit_test(a_zero_is_a_byte),
	   cmocka_unit_test(every_short_token_follows_the_rules),
	   cmocka_unit_test(any_bytes_give_a_pattern_that_stays),
	   cmocka_unit_test(the_longest_pattern_fits), cmocka_unit_test(instances_of_services))
