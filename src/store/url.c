/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/glob.h"
#include "base/percent.h"
#include "snapshot/timestamp.h"
#include "store/address.h"

#define HOUR_S UINT64_C(3600)
#define DAY_S  (24 * HOUR_S)

const char *const store_selector_names[STORE_SELECTORS] = {
	[STORE_SELECT_HOST] = "host",
	[STORE_SELECT_PROCESS] = "process",
	[STORE_SELECT_COMM] = "comm",
	[STORE_SELECT_CGROUP] = "cgroup",
};

bool store_is_url(const char *text)
{
	return store_address_has_form(text, STORE_ADDRESS_QUERY);
}

/* Decode %XX into bytes, as a string: %00 is an error. */
static struct error *decode(struct text written, const char *what, char **ret)
{
	_cleanup_free_ char *bytes = strndup(written.bytes, written.length);

	if (!bytes)
		return &error_no_memory;
	if (!percent_decode(bytes, false))
		return error_create("%s: expected two hexadecimal digits after %%", what);
	*ret = take_ptr(bytes);
	return NULL;
}

/* --- times --- */

/* The last time of day that is not in the future. */
static uint64_t before_now(uint64_t second_of_day, uint64_t now_s)
{
	uint64_t at = now_s - now_s % DAY_S + second_of_day;

	return at > now_s && at >= DAY_S ? at - DAY_S : at;
}

/* DateTime of ClickHouse ends in 2106. */
static struct error *parse_time(const char *value, uint64_t now_s, uint64_t *ret)
{
	struct timestamp time = { .kind = TIMESTAMP_BEFORE_LAST };
	uint64_t at = UINT64_MAX;

	if (strcmp(value, "now") == 0 || timestamp_parse(text_of(value), &time)) {
		if (time.kind == TIMESTAMP_BEFORE_LAST)
			at = time.ms / 1000 <= now_s ? now_s - time.ms / 1000 : 0;
		else if (time.kind == TIMESTAMP_OF_DAY)
			at = before_now(time.ms / 1000, now_s);
		else if (time.kind == TIMESTAMP_AT)
			at = time.ms / 1000;
	}
	if (at > UINT32_MAX)
		return error_create("invalid time '%.60s': expected e.g. -1h, 12:30, now, "
				    "2026-11-20T12:30:05 (UTC) or seconds since 1970",
				    value);
	*ret = at;
	return NULL;
}

/* --- parameters --- */

struct parsing {
	struct store_url *url;
	uint64_t now_s;
	bool has_to;
	size_t values;
};

static struct error *check_glob(const char *glob)
{
	if (!*glob)
		return error_create("the value is empty");
	if (strlen(glob) > GLOB_MAX)
		return error_create("the value is longer than %d bytes", GLOB_MAX);
	return pattern_check(glob);
}

static struct error *take_selector(struct parsing *parsing, size_t selector, char **value)
{
	struct error *err = check_glob(*value);

	if (err)
		return err;
	if (!array_push(&parsing->url->globs[selector], *value))
		return &error_no_memory;
	*value = NULL;
	return NULL;
}

static struct error *take_label(struct parsing *parsing, const char *name, char **value)
{
	struct store_label label = { .name = strdup(name) };
	struct error *err = label.name ? check_glob(*value) : &error_no_memory;

	if (!err && !*name)
		err = error_create("expected label.NAME=VALUE");
	if (!err && !array_push(&parsing->url->labels, label))
		err = &error_no_memory;
	if (err) {
		free(label.name);
		return err;
	}
	parsing->url->labels.items[parsing->url->labels.count - 1].glob = take_ptr(*value);
	return NULL;
}

static struct error *take_time(struct parsing *parsing, const char *value, bool *has, uint64_t *ret)
{
	if (*has)
		return error_create("given twice");
	*has = true;
	return parse_time(value, parsing->now_s, ret);
}

static struct error *take_by(struct parsing *parsing, const char *value)
{
	if (strcmp(value, "host") != 0)
		return error_create("expected 'host', not '%.40s'", value);
	parsing->url->by_host = true;
	return NULL;
}

static struct error *take(struct parsing *parsing, const char *name, char **value)
{
	static const struct text label = TEXT("label.");

	for (size_t i = 0; i < STORE_SELECTORS; i++)
		if (strcmp(name, store_selector_names[i]) == 0)
			return take_selector(parsing, i, value);
	if (text_starts(text_of(name), label))
		return take_label(parsing, name + label.length, value);
	if (strcmp(name, "from") == 0)
		return take_time(parsing, *value, &parsing->url->has_from, &parsing->url->from_s);
	if (strcmp(name, "to") == 0)
		return take_time(parsing, *value, &parsing->has_to, &parsing->url->to_s);
	if (strcmp(name, "by") == 0)
		return take_by(parsing, *value);
	return error_create(
		"unknown parameter; expected host, process, comm, cgroup, label.NAME, from, "
		"to or by");
}

static struct error *take_pair(struct parsing *parsing, struct text pair)
{
	_cleanup_free_ char *name = NULL, *value = NULL;
	struct text written_name;
	struct error *err;

	if (!text_cut(&pair, '=', &written_name))
		return NULL;
	err = decode(written_name, "a name of a parameter", &name);
	if (err)
		return err;
	text_make_safe(name);
	err = decode(pair, "value", &value);
	if (!err && ++parsing->values > STORE_URL_VALUES_MAX)
		err = error_create("more than %d values", STORE_URL_VALUES_MAX);
	if (!err)
		err = take(parsing, name, &value);
	return err && err != &error_no_memory ? error_prefix(err, "parameter '%.60s'", name) : err;
}

static struct error *parse_parameters(struct parsing *parsing, struct text rest)
{
	struct store_url *url = parsing->url;
	struct error *err = NULL;
	struct text pair;

	while (!err && text_cut(&rest, '&', &pair))
		err = take_pair(parsing, pair);
	if (err)
		return err;
	if (!parsing->has_to)
		url->to_s = parsing->now_s;
	if (!url->has_from)
		url->from_s = url->to_s > HOUR_S ? url->to_s - HOUR_S : 0;
	if (url->from_s >= url->to_s)
		return error_create("parameter 'from': the time is not before 'to'");
	return NULL;
}

/* --- the whole --- */

struct error *store_url_parse(const char *text, uint64_t now_s, struct store_url *ret)
{
	struct store_address address = { 0 };
	struct store_url url = { 0 };
	struct parsing parsing = { .url = &url, .now_s = now_s };
	const char *question = strchr(text, '?');
	struct error *err = store_address_parse(text, STORE_ADDRESS_QUERY, &address);

	if (err)
		return err;
	url.server = address.server;
	url.user = address.user;
	url.database = address.database;
	err = parse_parameters(&parsing, text_of(question ? question + 1 : ""));
	if (!err) {
		url.written = strdup(text);
		err = url.written ? NULL : &error_no_memory;
	}
	if (err) {
		store_url_deinit(&url);
		return err;
	}
	text_make_safe(url.written);
	*ret = url;
	return NULL;
}

bool store_url_selects_programs(const struct store_url *url)
{
	return url->globs[STORE_SELECT_PROCESS].count || url->globs[STORE_SELECT_COMM].count ||
	       url->globs[STORE_SELECT_CGROUP].count;
}

void store_url_deinit(struct store_url *url)
{
	for (size_t i = 0; i < STORE_SELECTORS; i++) {
		for (size_t k = 0; k < url->globs[i].count; k++)
			free(url->globs[i].items[k]);
		array_deinit(&url->globs[i]);
	}
	for (size_t i = 0; i < url->labels.count; i++) {
		free(url->labels.items[i].name);
		free(url->labels.items[i].glob);
	}
	array_deinit(&url->labels);
	free(url->written);
	free(url->server);
	free(url->user);
	free(url->database);
	*url = (struct store_url){ 0 };
}
