/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A query of ClickHouse, written where commands take a file:
 *
 *	ch[s]://[USER@]HOST[:PORT]/DATABASE[?NAME=VALUE[&NAME=VALUE]...]
 *
 * What precedes the question mark is an address (store/address.h); the password of the user is that
 * of netrc(5). Parameters:
 *
 *	host process comm cgroup	names or globs (* ? [...]); any of several may match
 *	label.NAME			the same of a label of the agent's configuration
 *	from to				-1h, -30m, now, 2026-11-20T12:30:05, 12:30, 1795177805 (UTC)
 *	by=host				hosts apart, rather than summed
 *
 * By default the hour before `to`, which is now. Bytes of values may be written as %XX.
 */
#ifndef STORE_URL_H
#define STORE_URL_H

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

/* Parameters that select rows. Each is also the name of a column. */
enum store_selector {
	STORE_SELECT_HOST,
	STORE_SELECT_PROCESS,
	STORE_SELECT_COMM,
	STORE_SELECT_CGROUP,
	STORE_SELECTORS
};
extern const char *const store_selector_names[STORE_SELECTORS];

struct store_label {
	char *name, *glob;
};

struct store_url {
	char *written;  /* as the user wrote it, safe to print: it has no password */
	char *server;   /* "http://HOST:PORT/" */
	char *user;     /* NULL: none was given */
	char *database; /* bytes, not encoded; never empty */
	struct {
		ARRAY(char *);
	} globs[STORE_SELECTORS]; /* empty: all */
	struct {
		ARRAY(struct store_label);
	} labels;              /* for each name, one of its globs must match */
	uint64_t from_s, to_s; /* Unix seconds: from_s <= t < to_s */
	bool has_from;         /* the user gave `from` */
	bool by_host;
};

/* The most values of all parameters together. */
#define STORE_URL_VALUES_MAX 256

/* Does the text begin with ch:// or chs://? */
bool store_is_url(const char *text);

/* Relative times are subtracted from `now_s`. Errors name the parameter. */
struct error *store_url_parse(const char *text, uint64_t now_s, struct store_url *ret) MUST_CHECK;

/* Does it select by what only programs have, so that values of whole hosts do not fit it? */
bool store_url_selects_programs(const struct store_url *url);

/* Takes one that is all zero. */
void store_url_deinit(struct store_url *url);

#endif
