/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/condition_text.h"

#include <string.h>

static const struct {
	const char *text;
	enum condition_operator operator;
} operators[] = {
	/* The longer ones first. */
	{ ">=", CONDITION_AT_LEAST },
	{ "<=", CONDITION_AT_MOST },
	{ ">", CONDITION_ABOVE },
	{ "<", CONDITION_BELOW },
};

struct error *condition_text_parse(const char *text, struct condition_text *ret)
{
	struct condition_text parsed = { 0 };
	const char *at = strpbrk(text, "<>"), *colon;
	size_t which = 0;

	for (const char *next = at; next; next = strpbrk(next + 1, "<>"))
		at = next;
	if (!at)
		return error_create("missing operator in '%s': expected >, >=, < or <=", text);
	while (strncmp(at, operators[which].text, strlen(operators[which].text)) != 0)
		which++;
	parsed.operator= operators[which].operator;
	parsed.bound = text_trim(text_of(at + strlen(operators[which].text)));
	parsed.name = (struct text){ text, (size_t)(at - text) };
	colon = memrchr(text, ':', parsed.name.length);
	if (colon) {
		parsed.group = text_trim((struct text){ text, (size_t)(colon - text) });
		parsed.name = (struct text){ colon + 1, (size_t)(at - colon) - 1 };
	}
	parsed.name = text_trim(parsed.name);
	*ret = parsed;
	return NULL;
}

bool condition_holds(enum condition_operator operator, double value, double bound)
{
	switch (operator) {
	case CONDITION_ABOVE:
		return value > bound;
	case CONDITION_AT_LEAST:
		return value >= bound;
	case CONDITION_BELOW:
		return value < bound;
	case CONDITION_AT_MOST:
		return value <= bound;
	}
	return false;
}
