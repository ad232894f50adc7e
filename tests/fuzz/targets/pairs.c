/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "os/pairs.h"

/* A time is exact: what was read as "ms.frac" is at least ms whole milliseconds, and less than one
 * more. */
static void check_time(struct text value)
{
	struct text whole;
	uint64_t ns, ms;

	if (sched_ms_as_ns(value, &ns) != SCHED_MS_OK)
		return;
	must(text_cut(&value, '.', &whole) && text_u64(whole, &ms));
	must(ns == ms || ns / 1000000 == ms);
}

/* Numbers of processes and users (NSpid, Uid, Tgid) are words of a value. */
static void check_words(struct text value)
{
	struct text rest = value, word;
	uint32_t small;
	uint64_t large;

	while (text_word(&rest, &word)) {
		must(word.length && fuzz_is_inside(word, value) && fuzz_is_inside(rest, value));
		if (text_u32(word, &small))
			must(text_u64(word, &large) && large == small);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, key, value, found;
	uint64_t kib;

	while (pairs_next(&rest, ':', &key, &value)) {
		must(fuzz_is_inside(key, bytes) && fuzz_is_inside(value, bytes));
		must(fuzz_is_inside(sched_key(key), key));
		must(pairs_find(bytes, ':', key, &found));
		check_time(value);
		check_words(value);
		if (pairs_kib(value, &kib))
			must(value.bytes[0] >= '0' && value.bytes[0] <= '9');
	}
	fuzz_release(bytes);
	return 0;
}
