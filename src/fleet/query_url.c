/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/query_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "base/percent.h"

struct parameter {
	const char *name, *value;
	bool is_pattern;
};

/* A name may be written with %XX. False: no memory. */
static bool look_up(struct text word, const struct parameter *parameters, size_t count,
		    bool *ret_replaced)
{
	const char *equals = memchr(word.bytes, '=', word.length);
	_cleanup_free_ char *name =
		strndup(word.bytes, equals ? (size_t)(equals - word.bytes) : word.length);

	*ret_replaced = false;
	if (!name)
		return false;
	if (!percent_decode(name, false))
		return true;
	for (size_t i = 0; i < count && !*ret_replaced; i++)
		*ret_replaced = parameters[i].value && strcmp(name, parameters[i].name) == 0;
	return true;
}

/* False: no memory. */
static bool write_parameter(FILE *out, const struct parameter *parameter)
{
	_cleanup_free_ char *name = percent_encode(text_of(parameter->name));
	_cleanup_free_ char *pattern = parameter->is_pattern ? pattern_of_text(parameter->value)
							     : strdup(parameter->value);
	_cleanup_free_ char *value = pattern ? percent_encode(text_of(pattern)) : NULL;

	if (!name || !value)
		return false;
	fprintf(out, "%s=%s", name, value);
	return true;
}

static bool write_url(FILE *out, const char *url, const struct parameter *parameters, size_t count)
{
	const char *question = strchr(url, '?');
	struct text rest = question ? text_of(question + 1) : TEXT(""), word;
	char separator = '?';

	fprintf(out, "%.*s", (int)(question ? (size_t)(question - url) : strlen(url)), url);
	while (text_cut(&rest, '&', &word)) {
		bool is_replaced;

		if (!look_up(word, parameters, count, &is_replaced))
			return false;
		if (!word.length || is_replaced)
			continue;
		fprintf(out, "%c%.*s", separator, (int)word.length, word.bytes);
		separator = '&';
	}
	for (size_t i = 0; i < count; i++) {
		if (!parameters[i].value)
			continue;
		fputc(separator, out);
		if (!write_parameter(out, &parameters[i]))
			return false;
		separator = '&';
	}
	return true;
}

char *fleet_url_with(const char *url, const struct fleet_parameters *with)
{
	const struct parameter parameters[] = { { "host", with->host, true },
						{ "process", with->process, true },
						{ "from", with->from, false },
						{ "to", with->to, false },
						{ with->label_name, with->label, true } };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool is_whole;

	if (!out)
		return NULL;
	is_whole = write_url(out, url, parameters, array_length(parameters));
	if (fclose(out) == 0 && is_whole)
		return text;
	free(text);
	return NULL;
}
