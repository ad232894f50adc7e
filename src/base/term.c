/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/term.h"

#include <fnmatch.h>
#include <stdio.h>

/* --- parsing --- */

/* The word before the first colon, if it could be a kind. */
static struct text prefix_of(struct text text)
{
	size_t letters = 0;

	while (letters < text.length && text.bytes[letters] >= 'a' && text.bytes[letters] <= 'z')
		letters++;
	if (letters == text.length || text.bytes[letters] != ':' ||
	    (letters + 1 < text.length && text.bytes[letters + 1] == ':'))
		letters = 0;
	return (struct text){ text.bytes, letters };
}

static struct error *unknown_kind(struct text prefix, term_kinds kinds)
{
	char word[256], all[256] = "";
	size_t count = 0, used = 0;
	const char *nearest;

	for (; kinds[count]; count++)
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s:, ",
						 kinds[count]);
	snprintf(word, sizeof(word), "%.*s",
		 (int)(prefix.length < sizeof(word) ? prefix.length : sizeof(word) - 1),
		 prefix.bytes);
	nearest = text_nearest(word, kinds, count, sizeof(*kinds));
	if (nearest)
		return error_create("unknown '%s:'; did you mean '%s:'?", word, nearest);
	return error_create("unknown '%s:'; expected %sor a glob of names, as '*%s:*'", word, all,
			    word);
}

static struct text without_first(struct text text, size_t bytes)
{
	return (struct text){ text.bytes + bytes, text.length - bytes };
}

struct error *term_parse(struct text text, term_kinds kinds, struct term *ret)
{
	struct term term = { .kind = TERM_NAME };
	struct text prefix;

	term.is_negated = text_starts(text, TEXT("!"));
	if (term.is_negated)
		text = text_trim(without_first(text, 1));
	prefix = prefix_of(text);
	for (size_t i = 0; prefix.length && kinds[i]; i++)
		if (text_equal(prefix, text_of(kinds[i])))
			term.kind = i;
	if (term.kind != TERM_NAME)
		text = without_first(text, prefix.length + 1);
	else if (prefix.length && prefix.length + 1 < text.length)
		return unknown_kind(prefix, kinds);
	if (!text.length)
		return error_create(term.kind == TERM_NAME ? "empty term"
							   : "missing name after ':'");
	term.text = text;
	*ret = term;
	return NULL;
}

/* --- matching --- */

/* The last `*` alone is tried again: whatever a longer match of an earlier one allows, it reaches
 * too. */
bool term_glob_matches(const char *glob, struct text name)
{
	const char *after_star = NULL;
	size_t at = 0, taken = 0;

	while (at < name.length) {
		if (*glob == '*') {
			after_star = ++glob;
			taken = at;
		} else if (*glob && (*glob == '?' || *glob == name.bytes[at])) {
			glob++;
			at++;
		} else if (after_star) {
			glob = after_star;
			at = ++taken;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

bool term_is_glob(struct text text, enum term_style style)
{
	return style == TERM_WHOLE || memchr(text.bytes, '*', text.length) ||
	       memchr(text.bytes, '?', text.length) ||
	       (style == TERM_ANY_CASE && memchr(text.bytes, '[', text.length));
}

bool term_matches(const char *pattern, struct text name, enum term_style style)
{
	const struct text text = text_of(pattern);
	const bool is_glob = term_is_glob(text, style);

	switch (style) {
	case TERM_ANY_CASE:
		return is_glob ? fnmatch(pattern, name.bytes, FNM_CASEFOLD) == 0
			       : strcasestr(name.bytes, pattern) != NULL;
	case TERM_FUNCTION:
		return is_glob ? term_glob_matches(pattern, name)
			       : memmem(name.bytes, name.length, pattern, text.length) != NULL;
	case TERM_WHOLE:
		return fnmatch(pattern, name.bytes, 0) == 0;
	}
	return false;
}
