/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/glob.h"

#include <stdlib.h>
#include <string.h>

/* --- one element: what stands for one byte --- */

struct element {
	size_t length;
	bool matches;
	const char *wrong; /* why it is invalid */
};

static struct element glob_error(const char *reason)
{
	return (struct element){ .wrong = reason };
}

static const char bare_backslash[] = "a backslash before nothing";
static const char unclosed[] = "a [ without its ]";

/* One byte of a class, which a backslash may escape. */
static const char *take_member(struct text glob, size_t *at, unsigned char *ret)
{
	*at += glob.bytes[*at] == '\\';
	if (*at == glob.length)
		return bare_backslash;
	*ret = (unsigned char)glob.bytes[(*at)++];
	return NULL;
}

/* A byte of a class, or a range of bytes. */
static const char *take_range(struct text glob, size_t *at, unsigned char *low, unsigned char *high)
{
	const char *reason = take_member(glob, at, low);

	*high = *low;
	if (reason || glob.length - *at < 2 || glob.bytes[*at] != '-' || glob.bytes[*at + 1] == ']')
		return reason;
	(*at)++;
	reason = take_member(glob, at, high);
	if (!reason && *high < *low)
		return "a range that runs backwards";
	return reason;
}

static struct element class_at(struct text glob, unsigned char byte)
{
	bool negated = glob.length > 1 && glob.bytes[1] == '!', found = false;
	size_t first = negated ? 2 : 1, at = first;

	while (at < glob.length && glob.bytes[at] != ']') {
		unsigned char low = 0, high = 0;
		const char *reason = take_range(glob, &at, &low, &high);

		if (reason)
			return glob_error(reason);
		found |= low <= byte && byte <= high;
	}
	if (at == glob.length)
		return glob_error(unclosed);
	if (at == first)
		return glob_error("a class of nothing");
	return (struct element){ .length = at + 1, .matches = found != negated };
}

/* The element at the front of `glob`, which is not empty, against a byte. */
static struct element element_at(struct text glob, unsigned char byte)
{
	switch (glob.bytes[0]) {
	case '?':
		return (struct element){ .length = 1, .matches = true };
	case '[':
		return class_at(glob, byte);
	case '\\':
		if (glob.length == 1)
			return glob_error(bare_backslash);
		return (struct element){ .length = 2,
					 .matches = (unsigned char)glob.bytes[1] == byte };
	default:
		return (struct element){ .length = 1,
					 .matches = (unsigned char)glob.bytes[0] == byte };
	}
}

/* --- one segment --- */

static struct text from(struct text text, size_t at)
{
	return (struct text){ text.bytes + at, text.length - at };
}

/*
 * A `*` takes as little as it can, and of several only the last is tried again: whatever a longer
 * match of an earlier one allows, the last one reaches too.
 */
static bool segment_matches(struct text glob, struct text segment)
{
	size_t g = 0, s = 0, after_star = 0, taken_up_to = 0;

	while (s < segment.length) {
		if (g < glob.length && glob.bytes[g] == '*') {
			after_star = ++g;
			taken_up_to = s;
			continue;
		}
		if (g < glob.length) {
			struct element element =
				element_at(from(glob, g), (unsigned char)segment.bytes[s]);

			if (element.matches) {
				g += element.length;
				s++;
				continue;
			}
		}
		if (!after_star)
			return false;
		g = after_star;
		s = ++taken_up_to;
	}
	while (g < glob.length && glob.bytes[g] == '*')
		g++;
	return g == glob.length;
}

/* --- whole paths --- */

static bool is_double_star(struct text segment)
{
	return text_equal(segment, TEXT("**"));
}

/* Cut the next segment off `rest`, which starts with a slash unless it is empty. "/" alone is the
 * root, which has none. False at the end. */
static bool take_segment(struct text *rest, struct text *ret)
{
	const char *slash;

	if (!rest->length)
		return false;
	*ret = from(*rest, 1);
	slash = ret->length ? memchr(ret->bytes, '/', ret->length) : NULL;
	if (slash)
		ret->length = (size_t)(slash - ret->bytes);
	*rest = from(*rest, 1 + ret->length);
	return true;
}

static struct text segments_of(struct text path)
{
	return path.length == 1 ? from(path, 1) : path;
}

/* As segment_matches, with segments for bytes and `**` for `*`. */
static bool segments_match(struct text glob, struct text path)
{
	struct text after_stars = { 0 }, untaken = { 0 }, wanted, segment;
	bool any_stars = false;

	while (path.length) {
		struct text rest = glob, path_rest = path;

		if (take_segment(&rest, &wanted) && is_double_star(wanted)) {
			any_stars = true;
			after_stars = glob = rest;
			untaken = path;
			continue;
		}
		take_segment(&path_rest, &segment);
		if (glob.length && segment_matches(wanted, segment)) {
			glob = rest;
			path = path_rest;
			continue;
		}
		if (!any_stars)
			return false;
		take_segment(&untaken, &segment);
		glob = after_stars;
		path = untaken;
	}
	while (take_segment(&glob, &wanted))
		if (!is_double_star(wanted))
			return false;
	return true;
}

bool glob_matches(const char *glob, struct text path)
{
	if (!path.length || path.bytes[0] != '/')
		return false;
	return segments_match(segments_of(text_of(glob)), segments_of(path));
}

/* --- what is no glob --- */

static const char *check_segment(struct text segment)
{
	size_t stars = 0;

	if (!segment.length)
		return "a segment of nothing";
	if (is_double_star(segment))
		return NULL;
	while (segment.length) {
		struct element element = { .length = 1 };

		stars = segment.bytes[0] == '*' ? stars + 1 : 0;
		if (stars == 2)
			return "** that is not a whole segment";
		if (!stars)
			element = element_at(segment, 0);
		if (element.wrong)
			return element.wrong;
		segment = from(segment, element.length);
	}
	return NULL;
}

struct error *glob_check(const char *glob)
{
	struct text rest, segment;

	if (!*glob)
		return error_create("the glob is empty");
	if (strlen(glob) > GLOB_MAX)
		return error_create("the glob is longer than %d bytes", GLOB_MAX);
	if (*glob != '/')
		return error_create("the glob does not start with '/'");
	rest = segments_of(text_of(glob));
	while (take_segment(&rest, &segment)) {
		const char *reason = check_segment(segment);

		if (reason)
			return error_create("the glob has %s", reason);
	}
	return NULL;
}

/* The end of a class that begins after its [, or NULL. A ] that comes first is itself. */
static const char *class_end(const char *p)
{
	p += *p == '!' || *p == '^';
	p += *p == ']';
	for (; *p && *p != ']'; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (p[0] == '[' && p[1] == ':')
			p = strstr(p + 2, ":]") ? strstr(p + 2, ":]") + 1 : p;
	}
	return *p ? p : NULL;
}

struct error *pattern_check(const char *pattern)
{
	for (const char *p = pattern; *p; p++) {
		if (*p == '\\') {
			if (!*++p)
				return error_create("'%.80s' ends in a backslash", pattern);
		} else if (*p == '[') {
			p = class_end(p + 1);
			if (!p)
				return error_create("'%.80s' has a [ without its ] (\\[ is itself)",
						    pattern);
		}
	}
	return NULL;
}

char *pattern_of_text(const char *text)
{
	char *pattern = malloc(2 * strlen(text) + 1), *to = pattern;

	for (; pattern && *text; text++) {
		if (strchr("*?[\\", *text))
			*to++ = '\\';
		*to++ = *text;
	}
	if (pattern)
		*to = '\0';
	return pattern;
}
