/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/task_call.h"

#include "base/hex.h"

/* "0x1f" */
static bool parse_address(struct text word, uint64_t *ret)
{
	uint64_t value = 0;

	if (!text_starts(word, TEXT("0x")) || word.length < 3 || word.length > 2 + 16)
		return false;
	for (size_t i = 2; i < word.length; i++) {
		const int digit = hex_digit(word.bytes[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return true;
}

struct task_call task_call_parse(struct text line)
{
	static const struct task_call unknown = { .number = -1 };
	struct task_call call = unknown;
	struct text word;
	int64_t number;

	if (!text_word(&line, &word))
		return unknown;
	if (text_equal(word, TEXT("running"))) {
		call.kind = TASK_CALL_RUNNING;
		return call;
	}
	if (!text_i64(word, &number) || number < -1 || number > INT32_MAX)
		return unknown;
	call.number = (int32_t)number;
	call.kind = number < 0 ? TASK_CALL_OUTSIDE : TASK_CALL_IN;
	for (size_t i = 0; number >= 0 && i < TASK_CALL_ARGUMENTS; i++)
		if (!text_word(&line, &word) || !parse_address(word, &call.arguments[i]))
			return unknown;
	return text_word(&line, &word) && parse_address(word, &call.stack) ? call : unknown;
}
