/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries with other parameters, which are suggested to users as parts of commands. An input is
 * "URL\n" and a value, such as the name of a host in the store.
 */
#include "fleet/query_url.h"

#include <string.h>

#include "base/glob.h"
#include "fuzz.h"
#include "store/url.h"

#define NOW UINT64_C(1795177800)

/* The query means the same but for its host, which is no more than one value. */
static void check_host(const char *url, const struct store_url *before, const char *host)
{
	const struct fleet_parameters parameters = { .host = host };
	char *changed = fleet_url_with(url, &parameters), *pattern = pattern_of_text(host), *twice;
	struct store_url after;
	struct error *err;

	must(changed && pattern);
	err = store_url_parse(changed, NOW, &after);
	if (err) {
		must(strlen(pattern) > GLOB_MAX || before->globs[STORE_SELECT_HOST].count == 0);
		fuzz_check_error(err);
		free(pattern);
		free(changed);
		return;
	}
	must(after.globs[STORE_SELECT_HOST].count == 1);
	must(strcmp(after.globs[STORE_SELECT_HOST].items[0], pattern) == 0);
	must(after.from_s == before->from_s && after.to_s == before->to_s);
	must(after.by_host == before->by_host && after.labels.count == before->labels.count);
	must(strcmp(after.database, before->database) == 0);
	for (int i = STORE_SELECT_PROCESS; i < STORE_SELECTORS; i++)
		must(after.globs[i].count == before->globs[i].count);
	twice = fleet_url_with(changed, &parameters);
	must(twice && strcmp(twice, changed) == 0);
	free(twice);
	store_url_deinit(&after);
	free(pattern);
	free(changed);
}

static void check_unchanged(const char *url, const struct store_url *before)
{
	char *same = fleet_url_with(url, &(struct fleet_parameters){ 0 });
	struct store_url after;

	must(same && !store_url_parse(same, NOW, &after));
	must(after.from_s == before->from_s && after.to_s == before->to_s);
	for (int i = 0; i < STORE_SELECTORS; i++)
		must(after.globs[i].count == before->globs[i].count);
	store_url_deinit(&after);
	free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, line = TEXT("");
	struct store_url parsed;
	struct error *err;
	char *url, *host;

	text_cut(&rest, '\n', &line);
	url = strndup(line.length ? line.bytes : "", line.length);
	host = strndup(rest.length ? rest.bytes : "", rest.length);
	must(url && host);
	err = store_url_parse(url, NOW, &parsed);
	if (err) {
		fuzz_check_error(err);
	} else {
		check_unchanged(url, &parsed);
		if (*host)
			check_host(url, &parsed, host);
		store_url_deinit(&parsed);
	}
	free(host);
	free(url);
	fuzz_release(bytes);
	return 0;
}
