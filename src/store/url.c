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

#define HOUR_S UINT64_C(3600)
#define DAY_S  (24 * HOUR_S)

const char *const store_selector_names[STORE_SELECTORS] = {
	[STORE_SELECT_HOST] = "host",
	[STORE_SELECT_PROCESS] = "process",
	[STORE_SELECT_COMM] = "comm",
	[STORE_SELECT_CGROUP] = "cgroup",
};

static const struct {
	struct text scheme;
	const char *http;
	unsigned port;
} schemes[] = {
	{ TEXT("ch://"), "http", 8123 },
	{ TEXT("chs://"), "https", 8443 },
};

static const char *scheme_of(const char *text, size_t *ret)
{
	for (size_t i = 0; i < array_length(schemes); i++)
		if (text_starts(text_of(text), schemes[i].scheme)) {
			*ret = i;
			return text + schemes[i].scheme.length;
		}
	return NULL;
}

bool store_is_url(const char *text)
{
	size_t scheme;

	return scheme_of(text, &scheme) != NULL;
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

/* --- the server --- */

static struct error *parse_port(struct text text, unsigned *ret)
{
	uint32_t port;

	if (!text_u32(text, &port) || !port || port > UINT16_MAX)
		return error_create("invalid port '%.*s'",
				    (int)(text.length > 20 ? 20 : text.length), text.bytes);
	*ret = port;
	return NULL;
}

/* The host, or an address in brackets. */
static bool is_host(struct text host)
{
	const bool is_address =
		host.length > 2 && host.bytes[0] == '[' && host.bytes[host.length - 1] == ']';

	if (!host.length || host.length > 255)
		return false;
	for (size_t i = is_address; i < host.length - is_address; i++)
		if (!percent_is_unreserved(host.bytes[i]) && !(is_address && host.bytes[i] == ':'))
			return false;
	return true;
}

/* Where the port begins: behind the last colon, unless it is of an address. */
static const char *port_of(struct text host)
{
	const char *colon = memrchr(host.bytes, ':', host.length);

	return colon && memchr(colon, ']', (size_t)(host.bytes + host.length - colon)) ? NULL
										       : colon;
}

static struct error *check_user(struct text user)
{
	if (memchr(user.bytes, ':', user.length))
		return error_create("a password on the command line is visible to all users of "
				    "this host: write it into ~/.netrc, or into the file that "
				    "CTPROF_NETRC names");
	for (size_t i = 0; i < user.length; i++)
		if (!percent_is_unreserved(user.bytes[i]))
			return error_create("invalid user: expected letters, digits and -._~");
	return user.length ? NULL : error_create("the user before @ is empty");
}

static struct error *parse_server(struct text written, size_t scheme, struct store_url *ret)
{
	const char *at = memrchr(written.bytes, '@', written.length), *colon;
	struct text user = { written.bytes, at ? (size_t)(at - written.bytes) : 0 };
	struct text host = written;
	unsigned port = schemes[scheme].port;
	struct error *err = at ? check_user(user) : NULL;

	if (err)
		return err;
	if (at)
		host = (struct text){ at + 1, written.length - user.length - 1 };
	colon = port_of(host);
	if (colon) {
		struct text digits = { colon + 1, (size_t)(host.bytes + host.length - colon) - 1 };

		err = parse_port(digits, &port);
		host.length = (size_t)(colon - host.bytes);
	}
	if (err)
		return err;
	if (!is_host(host))
		return error_create("invalid host '%.*s': expected ch://HOST[:PORT]/DATABASE",
				    (int)(host.length > 60 ? 60 : host.length), host.bytes);
	ret->server = text_print("%s://%.*s:%u/", schemes[scheme].http, (int)host.length,
				 host.bytes, port);
	ret->user = at ? strndup(user.bytes, user.length) : NULL;
	return ret->server && (ret->user || !at) ? NULL : &error_no_memory;
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
		return error_create("invalid time '%.60s': expected e.g. -1h, -30m, now, "
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

static struct error *parse(struct parsing *parsing, const char *text, size_t scheme)
{
	struct store_url *url = parsing->url;
	const char *query = strchrnul(text, '?'), *slash = strchrnul(text, '/');
	struct text database = { 0 };
	struct error *err;

	if (slash > query)
		slash = query;
	err = parse_server((struct text){ text, (size_t)(slash - text) }, scheme, url);
	if (err)
		return err;
	if (slash < query)
		database = (struct text){ slash + 1, (size_t)(query - slash) - 1 };
	if (database.length && database.bytes[database.length - 1] == '/')
		database.length--;
	if (!database.length || memchr(database.bytes, '/', database.length))
		return error_create("expected ch://HOST[:PORT]/DATABASE");
	err = decode(database, "database", &url->database);
	return err ? err : parse_parameters(parsing, text_of(*query ? query + 1 : query));
}

struct error *store_url_parse(const char *text, uint64_t now_s, struct store_url *ret)
{
	struct store_url url = { 0 };
	struct parsing parsing = { .url = &url, .now_s = now_s };
	struct error *err = NULL;
	size_t scheme;
	const char *rest = scheme_of(text, &scheme);

	if (!rest)
		return error_create("expected ch://HOST[:PORT]/DATABASE");
	err = parse(&parsing, rest, scheme);
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
