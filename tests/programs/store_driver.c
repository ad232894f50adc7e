/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent does with a ClickHouse server, without the agent:
 *
 *	store_driver schema URL DATABASE [DAYS]
 *
 * creates or upgrades the tables, with a lifetime of so many days for raw rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "net/http_client.h"
#include "store/schema.h"

static struct error *create_schema(int count, char **words)
{
	_cleanup_(http_client_close) struct http_client *client = NULL;
	struct schema_wanted wanted = { .program = "test" };
	struct schema_made made;
	struct error *err;

	if (count < 2)
		return error_create("usage: schema URL DATABASE [DAYS]");
	wanted.database = words[1];
	wanted.days[STORE_KEEP_RAW] = count > 2 ? (unsigned)atoi(words[2]) : 0;
	err = http_client_open(&(struct http_client_options){ 0 }, &client);
	if (!err)
		err = store_schema_create(client, words[0], &wanted, &made);
	if (err)
		return err;
	printf("%s %s %s: %zu tables, %zu columns\n", made.version,
	       made.is_current ? "current" : "old", made.was_empty ? "new" : "upgraded",
	       made.created, made.added);
	return NULL;
}

static const struct {
	const char *name;
	struct error *(*run)(int count, char **words);
} commands[] = {
	{ "schema", create_schema },
};

int main(int argc, char **argv)
{
	struct error *err = NULL;

	for (size_t i = 0; i < array_length(commands); i++) {
		if (argc < 2 || strcmp(argv[1], commands[i].name) != 0)
			continue;
		err = commands[i].run(argc - 2, argv + 2);
		if (err)
			fprintf(stderr, "store_driver: %s\n", err->message);
		error_destroy(err);
		return err ? 1 : 0;
	}
	fputs("store_driver: no such command\n", stderr);
	return 2;
}
