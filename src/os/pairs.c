/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/pairs.h"

bool pairs_next(struct text *rest, char separator, struct text *key, struct text *value)
{
	struct text line;

	while (text_cut(rest, '\n', &line)) {
		const char *at = memchr(line.bytes, separator, line.length);

		if (!at)
			continue;
		*key = text_trim((struct text){ line.bytes, (size_t)(at - line.bytes) });
		*value = text_trim(
			(struct text){ at + 1, (size_t)(line.bytes + line.length - at - 1) });
		return true;
	}
	return false;
}

bool pairs_find(struct text bytes, char separator, struct text key, struct text *ret)
{
	struct text found, value;

	while (pairs_next(&bytes, separator, &found, &value)) {
		if (text_equal(found, key)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

bool pairs_kib(struct text value, uint64_t *ret)
{
	struct text number, unit;

	return text_word(&value, &number) && text_u64(number, ret) &&
	       (!text_word(&value, &unit) || text_equal(unit, TEXT("kB")));
}

struct text sched_body(struct text bytes)
{
	/* The kernel prints 67; no name, of at most 63 bytes, can hold as many. */
	static const char ruler[] =
		"\n-----------------------------------------------------------------";
	const char *at = memmem(bytes.bytes, bytes.length, ruler, sizeof(ruler) - 1);
	struct text line, rest;

	if (!at)
		return bytes;
	rest = (struct text){ at + 1, (size_t)(bytes.bytes + bytes.length - at - 1) };
	text_cut(&rest, '\n', &line);
	return rest;
}

struct text sched_key(struct text key)
{
	const char *dot;

	if (text_equal(key, TEXT("ext.enabled")))
		return key;
	dot = memrchr(key.bytes, '.', key.length);
	if (!dot)
		return key;
	return (struct text){ dot + 1, (size_t)(key.bytes + key.length - dot - 1) };
}

enum sched_ms sched_ms_as_ns(struct text value, uint64_t *ret)
{
	const char *dot = memchr(value.bytes, '.', value.length);
	struct text whole = value, fraction = { 0 };
	uint64_t ms, ns = 0;

	if (dot) {
		whole.length = (size_t)(dot - value.bytes);
		fraction = (struct text){ dot + 1, value.length - whole.length - 1 };
	}
	if ((whole.length && whole.bytes[0] == '-') ||
	    (fraction.length && fraction.bytes[0] == '-'))
		return SCHED_MS_NEGATIVE;
	if (!text_u64(whole, &ms))
		return SCHED_MS_BAD;
	if (!dot) {
		*ret = ms;
		return SCHED_MS_OK;
	}
	for (unsigned i = 0; i < 6; i++) {
		unsigned digit =
			i < fraction.length ? (unsigned char)fraction.bytes[i] - (unsigned)'0' : 0u;

		if (digit > 9)
			return SCHED_MS_BAD;
		ns = ns * 10 + digit;
	}
	if (__builtin_mul_overflow(ms, 1000000, &ms) || __builtin_add_overflow(ms, ns, &ns))
		return SCHED_MS_BAD;
	*ret = ns;
	return SCHED_MS_OK;
}
