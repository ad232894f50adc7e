/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every unit test uses: cmocka, checks on the types of src/base, a scratch directory.
 *
 *	TEST(adds_up)
 *	{
 *		assert_int_equal(1 + 1, 2);
 *	}
 *	UNIT_TESTS(cmocka_unit_test(adds_up))
 *
 * A test that is not listed does not compile: it is an unused function.
 */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

#define TEST(name) static void name(void **state __attribute__((unused)))

#define UNIT_TESTS(...)                                                        \
	int main(void)                                                         \
	{                                                                      \
		const struct CMUnitTest tests[] = { __VA_ARGS__ };             \
		int failed = cmocka_run_group_tests(tests, NULL, NULL);        \
                                                                               \
		/* A failed test leaves what it held: no leaks to look for. */ \
		if (failed)                                                    \
			_exit(1);                                              \
		return 0;                                                      \
	}

/* A text of `length` bytes in memory of its own, so that reading beyond it is seen. */
struct text guarded(const void *bytes, size_t length);
void unguard(struct text text);

#define expect_text(text, string)  expect_text_(text, string, __FILE__, __LINE__)
#define expect_ok(err)             expect_ok_(err, __FILE__, __LINE__)
#define expect_error(err, message) expect_error_(err, message, __FILE__, __LINE__)

void expect_text_(struct text text, const char *string, const char *file, int line);

/* No error. */
void expect_ok_(struct error *err, const char *file, int line);

/* An error whose message holds `message`; it is destroyed. */
void expect_error_(struct error *err, const char *message, const char *file, int line);

/* An emulator may have no openat2(2), without which no path of a process is followed. */
bool has_openat2(void);

/* Bytes that were written: a json_sink, a zstream_sink. A zero follows them. */
struct sunk {
	ARRAY(char);
	size_t refuse_after; /* fails from this many bytes on, unless 0 */
	unsigned calls;
};

struct error *sunk_write(void *context, const void *bytes, size_t length);

static inline struct text sunk_text(const struct sunk *sunk)
{
	return (struct text){ sunk->items ? sunk->items : "", sunk->count };
}

/* A directory for one test, and everything in it gone afterwards. */
struct scratch {
	char path[64];
	int dir;
};

void scratch_init(struct scratch *scratch);
void scratch_deinit(struct scratch *scratch);

/* The path of `name` in it; good until the next call. */
const char *scratch_path(const struct scratch *scratch, const char *name);
void scratch_write(const struct scratch *scratch, const char *name, struct text bytes);

/* Does the file hold just these bytes? */
bool scratch_holds(const struct scratch *scratch, const char *name, struct text bytes);

/* How many names are in it. */
size_t scratch_count(const struct scratch *scratch);

/* A reproducible stream of numbers (splitmix64). */
uint64_t next_random(uint64_t *state);

#endif
