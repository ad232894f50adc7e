/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration file of an agent: a line for each option, as "key = value". Empty lines, and
 * lines that begin with '#', are comments. Keys may repeat. A value is the rest of the line,
 * without spaces around it; quotation marks mean nothing. A byte order mark at the start of the
 * file is skipped.
 *
 *	struct config config = { 0 };
 *	err = config_load("/etc/ctprof/agent.conf", &config);
 *	for (size_t i = 0; !err && i < config.count; i++)
 *		err = config_error(&config, &config.items[i], take(config.items[i].key, ...));
 *	config_deinit(&config);
 */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include "base/array.h"
#include "base/error.h"

#define CONFIG_BYTES_MAX ((size_t)1 << 20)

/* Texts are the configuration's. */
struct config_row {
	const char *key, *value; /* neither is empty */
	unsigned line;           /* from 1 */
};

struct config {
	ARRAY(struct config_row);
	const char *path; /* as it was given, for messages; not owned */
	char *bytes;
};

/* errnum is ENOENT if there is no such file. Other errors name the file and the line. */
struct error *config_load(const char *path, struct config *ret) MUST_CHECK;

/* The same for bytes in memory, which end in a NUL and belong to the configuration from then on,
 * after an error too. */
struct error *config_parse(const char *path, char *bytes, size_t length,
			   struct config *ret) MUST_CHECK;

/* The error with the file and the line in front; NULL for NULL. */
struct error *config_error(const struct config *config, const struct config_row *row,
			   struct error *err) MUST_CHECK;

void config_deinit(struct config *config);

#endif
