/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_request.h"

#include <errno.h>
#include <strings.h>

#include "base/percent.h"

static struct error *decode(char *text, bool plus_is_space)
{
	return percent_decode(text, plus_is_space)
		       ? NULL
		       : error_coded(EINVAL, "invalid percent-encoding");
}

static bool is_dots(struct text segment)
{
	return text_equal(segment, TEXT(".")) || text_equal(segment, TEXT(".."));
}

static bool has_one_spelling(const char *path)
{
	struct text rest = text_of(path + 1), segment;

	for (const char *at = path; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\x7f' || *at == '\\' ||
		    (at[0] == '/' && at[1] == '/'))
			return false;
	while (text_cut(&rest, '/', &segment))
		if (is_dots(segment))
			return false;
	return true;
}

static struct error *parse_path(char *path)
{
	struct error *err;

	if (*path != '/')
		return error_coded(EINVAL, "the address does not begin with /");
	err = decode(path, false);
	if (!err && !has_one_spelling(path))
		err = error_coded(EINVAL, "a path with \"//\", \"..\" or control characters");
	return err;
}

static struct error *parse_pair(struct http_target *target, char *pair)
{
	char *value = strchr(pair, '=');
	struct error *err;

	if (!*pair)
		return NULL;
	if (target->query.count == HTTP_PAIRS_MOST)
		return error_coded(EINVAL, "more than %d names in the query", HTTP_PAIRS_MOST);
	if (value)
		*value++ = '\0';
	err = decode(pair, true);
	if (!err && value)
		err = decode(value, true);
	if (!err && !array_push(&target->query,
				(struct http_pair){ .name = pair, .value = value ? value : "" }))
		err = &error_no_memory;
	return err;
}

static struct error *parse_target(struct http_target *target)
{
	char *query = strchr(target->bytes, '?');
	struct error *err;

	if (query)
		*query++ = '\0';
	target->path = target->bytes;
	err = parse_path(target->bytes);
	while (!err && query) {
		char *pair = strsep(&query, "&");

		err = parse_pair(target, pair);
	}
	return err;
}

struct error *http_target_parse(const char *uri, struct http_target *ret)
{
	struct http_target target = { .bytes = strdup(uri) };
	struct error *err = target.bytes ? parse_target(&target) : &error_no_memory;

	if (err)
		http_target_deinit(&target);
	else
		*ret = target;
	return err;
}

void http_target_deinit(struct http_target *target)
{
	array_deinit(&target->query);
	free(target->bytes);
	*target = (struct http_target){ 0 };
}

const char *http_target_value(const struct http_target *target, const char *name)
{
	for (size_t i = 0; i < target->query.count; i++)
		if (!strcmp(target->query.items[i].name, name))
			return target->query.items[i].value;
	return NULL;
}

static bool is_among(struct text name, const char *words)
{
	struct text rest = text_of(words), word;

	while (text_cut(&rest, ' ', &word))
		if (text_equal(word, name))
			return true;
	return false;
}

const char *http_target_unknown(const struct http_target *target, const char *known)
{
	for (size_t i = 0; i < target->query.count; i++)
		if (!is_among(text_of(target->query.items[i].name), known) &&
		    strcmp(target->query.items[i].name, "token"))
			return target->query.items[i].name;
	return NULL;
}

/* "0.5" and "1" are weights (RFC 9110, 12.4.2); anything else counts as 0, for what cannot be read
 * cannot be wanted. */
static unsigned weight_of(struct text text)
{
	unsigned weight = 0, unit = 1000;

	for (size_t i = 0; i < text.length; i++) {
		if (i == 1 && text.bytes[i] == '.')
			continue;
		if (text.bytes[i] < '0' || text.bytes[i] > '9' || i > 4)
			return 0;
		weight += (unsigned)(text.bytes[i] - '0') * unit;
		unit /= 10;
	}
	return weight < 1000 ? weight : 1000;
}

static bool equal_names(struct text a, struct text b)
{
	return a.length == b.length && !strncasecmp(a.bytes, b.bytes, a.length);
}

/* The piece before a separator that is not within quotes. False: `rest` is empty. */
static bool cut_unquoted(struct text *rest, char separator, struct text *ret)
{
	bool is_quoted = false;
	size_t i;

	if (!rest->length)
		return false;
	for (i = 0; i < rest->length; i++) {
		if (rest->bytes[i] == '"')
			is_quoted = !is_quoted;
		else if (rest->bytes[i] == '\\' && is_quoted && i + 1 < rest->length)
			i++;
		else if (rest->bytes[i] == separator && !is_quoted)
			break;
	}
	*ret = (struct text){ rest->bytes, i };
	i += i < rest->length;
	*rest = (struct text){ rest->bytes + i, rest->length - i };
	return true;
}

static struct text without_quotes(struct text text)
{
	if (text.length >= 2 && text.bytes[0] == '"' && text.bytes[text.length - 1] == '"')
		return (struct text){ text.bytes + 1, text.length - 2 };
	return text;
}

bool http_choice_parameter(const struct http_choice *choice, struct text name, struct text *ret)
{
	struct text rest = choice->parameters, parameter;

	while (cut_unquoted(&rest, ';', &parameter)) {
		struct text key;

		if (!text_cut(&parameter, '=', &key) || !equal_names(text_trim(key), name))
			continue;
		*ret = without_quotes(text_trim(parameter));
		return true;
	}
	return false;
}

bool http_choice_next(struct text *header, struct http_choice *ret)
{
	struct text item, weight;

	do {
		if (!cut_unquoted(header, ',', &item))
			return false;
		item = text_trim(item);
	} while (!item.length);
	*ret = (struct http_choice){ .weight = 1000 };
	if (!cut_unquoted(&item, ';', &ret->name))
		return false;
	ret->name = text_trim(ret->name);
	ret->parameters = item;
	if (http_choice_parameter(ret, TEXT("q"), &weight))
		ret->weight = weight_of(weight);
	return true;
}

bool http_accepts_encoding(const char *header, struct text encoding)
{
	struct text rest = text_of(header ? header : "");
	struct http_choice choice;
	bool any = false;

	while (http_choice_next(&rest, &choice)) {
		if (equal_names(choice.name, encoding))
			return choice.weight > 0;
		if (text_equal(choice.name, TEXT("*")))
			any = choice.weight > 0;
	}
	return any;
}
