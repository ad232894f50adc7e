/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "profile/files.h"
#include "unit/profile_scene.h"

static struct profile *parsed(const char *folded)
{
	struct text bytes = guarded(folded, strlen(folded));
	struct profile *profile = NULL;

	expect_ok(profile_parse_folded_in(bytes, FOLDED_NS, &profile));
	unguard(bytes);
	return profile;
}

static void expect_tree(const char *folded, const char *expected)
{
	struct profile *p = parsed(folded);
	struct flame_view view = { .classes = FLAME_ON_CPU };
	struct flame *flame = NULL;

	expect_ok(flame_create(p, NULL, &view, &flame));
	assert_string_equal(flame_text(flame), expected);
	flame_destroy(flame);
	profile_destroy(p);
}

TEST(lines)
{
	expect_tree("", "");
	expect_tree("main 5\n", "main 5");
	expect_tree("main;read;vfs_read_[k] 5\nmain;work 7", "main;read;vfs_read 5 main;work 7");
	expect_tree("main 5\nmain 6\r\n\n# main 7\n", "main 11");
	expect_tree("a b;operator new (x, y) 18446744073709551615\n",
		    "a b;operator new (x, y) 18446744073709551615");
	expect_tree("a;;b 1", "a;;b 1");
	expect_tree("a  1", "a 1");
	expect_tree("main 0", "");
}

static struct frame frame_of(const char *folded)
{
	struct profile *p = parsed(folded);
	struct frame frame = p->frames.items[0];

	assert_int_equal(p->frames.count, 1);
	assert_int_equal(p->samples.items[0].count, 1);
	assert_null(p->meta.mode);
	/* Only the name is looked at below, and by its length. */
	frame.line = frame.name->length;
	frame.name = NULL;
	profile_destroy(p);
	return frame;
}

TEST(annotations_after_names)
{
	assert_int_equal(frame_of("read 1").kind, FRAME_USER);
	assert_int_equal(frame_of("read_[k] 1").kind, FRAME_KERNEL);
	assert_int_equal(frame_of("read_[k] 1").line, 4);
	assert_true(frame_of("read_[i] 1").inlined);
	assert_int_equal(frame_of("read_[i] 1").line, 4);
	assert_true(frame_of("read_[i]_[k] 1").inlined);
	assert_int_equal(frame_of("read_[k]_[i] 1").kind, FRAME_KERNEL);
	assert_int_equal(frame_of("[truncated] 1").kind, FRAME_NOTE);
	assert_int_equal(frame_of("-- 1").kind, FRAME_NOTE);
	assert_int_equal(frame_of("[ext4+0x10]_[k] 1").kind, FRAME_KERNEL);
	assert_int_equal(frame_of("read[ 1").kind, FRAME_USER);
}

static void expect_refused(struct text folded, const char *message)
{
	struct text bytes = guarded(folded.bytes, folded.length);
	struct profile *profile = NULL;

	expect_error(profile_parse_folded(bytes, &profile), message);
	assert_null(profile);
	unguard(bytes);
}

TEST(bad_lines)
{
	static char large[70000];

	memset(large, 'a', sizeof(large));
	memcpy(large + sizeof(large) - 2, " 1", 2);
	expect_refused(TEXT("main"), "line 1: expected 'FRAME;FRAME NUMBER'");
	expect_refused(TEXT("main 1\n\nmain x\n"), "line 3: expected");
	expect_refused(TEXT("main 1.5"), "line 1: expected");
	expect_refused(TEXT("main -1"), "line 1: expected");
	expect_refused(TEXT("main 18446744073709551616"), "line 1: expected");
	expect_refused(TEXT("5"), "line 1: expected");
	expect_refused(TEXT("ma\0in 5"), "line 1: a name contains a NUL");
	expect_refused((struct text){ large, sizeof(large) }, "line 1: name too long: 69998 bytes");
}

static void expect_unit(enum folded_unit unit, uint16_t class, uint64_t ns, uint64_t count)
{
	static const char folded[] = "main;read 5\nmain;read 2\n";
	struct text bytes = guarded(folded, strlen(folded));
	struct profile *profile = NULL;

	expect_ok(profile_parse_folded_in(bytes, unit, &profile));
	assert_int_equal(profile->samples.count, 1);
	assert_int_equal(profile->samples.items[0].class, class);
	assert_int_equal(profile->samples.items[0].ns, ns);
	assert_int_equal(profile->samples.items[0].count, count);
	profile_destroy(profile);
	unguard(bytes);
}

/* What is not said to be a time is none. */
TEST(units)
{
	expect_unit(FOLDED_SAMPLES, CLASS_EVENT, 0, 7);
	expect_unit(FOLDED_NS, CLASS_ON_CPU, 7, 2);
	expect_unit(FOLDED_US, CLASS_ON_CPU, 7000, 2);
	expect_unit(FOLDED_MS, CLASS_ON_CPU, 7000000, 2);
	expect_unit(FOLDED_S, CLASS_ON_CPU, 7000000000, 2);
}

/* As deep as a file can say. */
TEST(deep)
{
	enum { DEEP = 100000 };
	char *line = malloc(2 * DEEP + 3);
	struct text bytes;
	struct profile *profile = NULL;

	assert_non_null(line);
	for (size_t i = 0; i < DEEP; i++)
		memcpy(line + 2 * i, "f;", 2);
	memcpy(line + 2 * DEEP - 1, " 1", 2);
	bytes = guarded(line, 2 * DEEP + 1);
	expect_ok(profile_parse_folded(bytes, &profile));
	assert_int_equal(profile->nodes.count, DEEP);
	profile_destroy(profile);
	unguard(bytes);
	free(line);
}

UNIT_TESTS(cmocka_unit_test(lines), cmocka_unit_test(annotations_after_names),
	   cmocka_unit_test(bad_lines), cmocka_unit_test(units), cmocka_unit_test(deep))
