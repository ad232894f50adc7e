/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/spec.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hex.h"

const struct probe_kind_row probe_kinds[PROBE_KIND_COUNT] = {
#define PROBE_ROW(id, word, prose) [PROBE_##id] = { word, prose },
	PROBE_KINDS(PROBE_ROW)
#undef PROBE_ROW
};

/* --- pieces --- */

static struct error *spec_error(struct text text, const char *why)
{
	return error_create("'%.*s': %s", text.length < 200 ? (int)text.length : 200, text.bytes,
			    why);
}

static struct text from(struct text text, size_t at)
{
	return (struct text){ text.bytes + at, text.length - at };
}

static bool is_expression(struct text text)
{
	return text.length > 2 && text.bytes[0] == '/' && text.bytes[text.length - 1] == '/';
}

/* Cut the piece before the first ':' that is none of "::". False: there is no such. */
static bool cut_colon(struct text *rest, struct text *ret)
{
	for (size_t i = 0; i < rest->length; i++) {
		if (rest->bytes[i] != ':')
			continue;
		if (i + 1 < rest->length && rest->bytes[i + 1] == ':') {
			i++;
			continue;
		}
		*ret = (struct text){ rest->bytes, i };
		*rest = from(*rest, i + 1);
		return true;
	}
	return false;
}

/* The digits at the end behind the last `mark`. */
static bool cut_digits(struct text *text, char mark, struct text *ret)
{
	const char *at = text->length ? memrchr(text->bytes, mark, text->length) : NULL;

	if (!at)
		return false;
	*ret = from(*text, (size_t)(at - text->bytes) + 1);
	if (!ret->length || ret->bytes[0] < '0' || ret->bytes[0] > '9')
		return false;
	text->length = (size_t)(at - text->bytes);
	return true;
}

static bool parse_offset(struct text digits, uint64_t *ret)
{
	uint64_t value;

	if (!text_starts(digits, TEXT("0x")))
		return text_u64(digits, ret);
	if (!hex_cut(&digits, &value) || digits.length)
		return false;
	*ret = value;
	return true;
}

/* --- kinds --- */

bool probe_kind_is_in_file(enum probe_kind kind)
{
	return kind == PROBE_UPROBE || kind == PROBE_URETPROBE || kind == PROBE_URET ||
	       kind == PROBE_USDT;
}

static bool may_have_offset(const struct probe_spec *spec)
{
	return spec->kind == PROBE_KPROBE || spec->kind == PROBE_UPROBE;
}

static struct error *parse_function(struct text rest, struct text whole, struct probe_spec *spec)
{
	struct text digits;

	if (!is_expression(rest) && cut_digits(&rest, '+', &digits)) {
		if (!may_have_offset(spec))
			return spec_error(whole, "only kprobe and uprobe can have an offset");
		if (!parse_offset(digits, &spec->offset))
			return spec_error(whole, "the offset is not a number");
		if (probe_pattern_form(rest) != PATTERN_NAME)
			return spec_error(whole,
					  "an offset requires a single function, not a pattern");
	}
	if (!rest.length)
		return spec_error(whole, "the function is missing");
	spec->name = rest;
	return NULL;
}

/* "server.c:120". False: it is no line. */
static bool parse_source_line(struct text rest, struct probe_spec *spec)
{
	struct text digits;

	if (is_expression(rest) || !cut_digits(&rest, ':', &digits) || !rest.length ||
	    !memchr(rest.bytes, '.', rest.length) || !text_u32(digits, &spec->line) || !spec->line)
		return false;
	spec->source = rest;
	return true;
}

/* "/path:/expression/" begins and ends as an expression does. */
static bool is_path_and_more(struct text text)
{
	return text.length && text.bytes[0] == '/' &&
	       (!is_expression(text) || memmem(text.bytes, text.length, ":/", 2));
}

/* A path is before the first ':'. The same for a library, but of a line it is before the first of
 * two. */
static struct error *take_user(struct text rest, struct text whole, struct probe_spec *spec)
{
	struct text after = rest, file;
	struct probe_spec line = *spec;
	const bool is_path = is_path_and_more(rest);

	if (spec->kind == PROBE_UPROBE && parse_source_line(rest, &line) &&
	    !memchr(line.source.bytes, ':', line.source.length)) {
		*spec = line;
		return NULL;
	}
	if ((is_path || !is_expression(rest)) && cut_colon(&after, &file)) {
		if (!file.length)
			return spec_error(whole, "the file before ':' is missing");
		spec->file = file;
		rest = after;
	} else if (is_path) {
		return spec_error(whole, "the function after the path is missing: expected e.g. "
					 "uprobe:/PATH:FUNCTION");
	}
	if (spec->kind == PROBE_UPROBE && parse_source_line(rest, spec))
		return NULL;
	return parse_function(rest, whole, spec);
}

static struct error *take_tracepoint(struct text rest, struct text whole, struct probe_spec *spec)
{
	if (!cut_colon(&rest, &spec->group) || !spec->group.length || !rest.length)
		return spec_error(whole, "expected tracepoint:CATEGORY:NAME");
	spec->name = rest;
	return NULL;
}

static struct error *take_usdt(struct text rest, struct text whole, struct probe_spec *spec)
{
	if (!cut_colon(&rest, &spec->file) || !spec->file.length || !rest.length)
		return spec_error(whole, "expected usdt:FILE:[PROVIDER:]NAME");
	if (cut_colon(&rest, &spec->group) && (!spec->group.length || !rest.length))
		return spec_error(whole, "expected usdt:FILE:[PROVIDER:]NAME");
	spec->name = rest;
	return NULL;
}

static bool find_kind(struct text word, enum probe_kind *ret)
{
	for (size_t i = 0; i < PROBE_KIND_COUNT; i++)
		if (text_equal(word, text_of(probe_kinds[i].word))) {
			*ret = (enum probe_kind)i;
			return true;
		}
	return false;
}

static struct error *unknown_kind(struct text word)
{
	_cleanup_free_ char *said = strndup(word.bytes, word.length < 60 ? word.length : 60);
	const char *near = said ? text_nearest(said, &probe_kinds[0].word, PROBE_KIND_COUNT,
					       sizeof(probe_kinds[0]))
				: NULL;

	if (!said)
		return &error_no_memory;
	return error_create("unknown kind of probe '%s' (kprobe, kretprobe, uprobe, uretprobe, "
			    "uret, tracepoint, usdt)%s%s%s",
			    said, near ? "; did you mean '" : "", near ? near : "",
			    near ? "'?" : "");
}

struct error *probe_spec_parse(struct text text, struct probe_spec *ret)
{
	struct probe_spec spec = { 0 };
	struct text rest = text, word;
	struct error *err = NULL;

	if (text.length > PROBE_SPEC_MAX || (text.length && memchr(text.bytes, 0, text.length)))
		return error_create("a probe must have at most %d bytes, and no NUL",
				    PROBE_SPEC_MAX);
	if (!text_cut(&rest, ':', &word) || word.length == text.length)
		return spec_error(text, "expected KIND:LOCATION, e.g. kprobe:vfs_read");
	if (!find_kind(word, &spec.kind))
		return unknown_kind(word);
	switch (spec.kind) {
	case PROBE_KPROBE:
	case PROBE_KRETPROBE:
		err = parse_function(rest, text, &spec);
		break;
	case PROBE_UPROBE:
	case PROBE_URETPROBE:
	case PROBE_URET:
		err = take_user(rest, text, &spec);
		break;
	case PROBE_TRACEPOINT:
		err = take_tracepoint(rest, text, &spec);
		break;
	case PROBE_USDT:
		err = take_usdt(rest, text, &spec);
		break;
	case PROBE_KIND_COUNT:
		break;
	}
	if (!err)
		*ret = spec;
	return err;
}

/* --- patterns --- */

struct probe_pattern {
	enum pattern_form form;
	regex_t expression;
	char text[];
};

enum pattern_form probe_pattern_form(struct text pattern)
{
	if (is_expression(pattern))
		return PATTERN_EXPRESSION;
	/* "operator[]" is a name: its brackets are a class of nothing. So is "(*Server)" of Go. */
	for (size_t i = 0; i < pattern.length; i++) {
		char c = pattern.bytes[i];

		if (c == '*' && i && pattern.bytes[i - 1] == '(' && i + 1 < pattern.length &&
		    pattern.bytes[i + 1] != ')')
			continue;
		if (c == '*' || c == '?' ||
		    (c == '[' && i + 1 < pattern.length && pattern.bytes[i + 1] != ']'))
			return PATTERN_GLOB;
	}
	return PATTERN_NAME;
}

struct error *probe_pattern_create(struct text text, struct probe_pattern **ret)
{
	struct probe_pattern *pattern = calloc(1, sizeof(*pattern) + text.length + 2);
	char why[128];
	int failed;

	if (!pattern)
		return &error_no_memory;
	pattern->form = text.length ? probe_pattern_form(text) : PATTERN_GLOB;
	if (!text.length)
		text = TEXT("*");
	if (pattern->form == PATTERN_EXPRESSION)
		text = (struct text){ text.bytes + 1, text.length - 2 };
	memcpy(pattern->text, text.bytes, text.length);
	if (pattern->form == PATTERN_EXPRESSION) {
		failed = regcomp(&pattern->expression, pattern->text, REG_EXTENDED | REG_NOSUB);
		if (failed) {
			struct error *err;

			regerror(failed, &pattern->expression, why, sizeof(why));
			err = error_create("'/%.200s/': %s", pattern->text, why);
			pattern->form = PATTERN_NAME;
			probe_pattern_destroy(pattern);
			return err;
		}
	}
	*ret = pattern;
	return NULL;
}

void probe_pattern_destroy(struct probe_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->form == PATTERN_EXPRESSION)
		regfree(&pattern->expression);
	free(pattern);
}

bool probe_pattern_matches(const struct probe_pattern *pattern, const char *name)
{
	switch (pattern->form) {
	case PATTERN_NAME:
		return strcmp(pattern->text, name) == 0;
	case PATTERN_GLOB:
		return fnmatch(pattern->text, name, 0) == 0;
	case PATTERN_EXPRESSION:
		return regexec(&pattern->expression, name, 0, NULL, 0) == 0;
	}
	return false;
}
