/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/query_url.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/percent.h"

struct parameter {
	const char *name, *value;
};

static bool is_replaced(struct text word, const struct parameter *parameters, size_t count)
{
	const char *equals = memchr(word.bytes, '=', word.length);
	const struct text name = { word.bytes,
				   equals ? (size_t)(equals - word.bytes) : word.length };

	for (size_t i = 0; i < count; i++)
		if (parameters[i].value && text_equal(name, text_of(parameters[i].name)))
			return true;
	return false;
}

static bool write_url(FILE *out, const char *url, const struct parameter *parameters, size_t count)
{
	const char *question = strchr(url, '?');
	struct text rest = question ? text_of(question + 1) : TEXT(""), word;
	char separator = '?';

	fprintf(out, "%.*s", (int)(question ? (size_t)(question - url) : strlen(url)), url);
	while (text_cut(&rest, '&', &word))
		if (word.length && !is_replaced(word, parameters, count)) {
			fprintf(out, "%c%.*s", separator, (int)word.length, word.bytes);
			separator = '&';
		}
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *value = NULL;

		if (!parameters[i].value)
			continue;
		value = percent_encode(text_of(parameters[i].value));
		if (!value)
			return false;
		fprintf(out, "%c%s=%s", separator, parameters[i].name, value);
		separator = '&';
	}
	return true;
}

char *fleet_url_with(const char *url, const struct fleet_parameters *with)
{
	const struct parameter parameters[] = { { "host", with->host },
						{ "process", with->process },
						{ "from", with->from },
						{ "to", with->to } };
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
