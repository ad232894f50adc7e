/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/static.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/assets.h"

#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE  "text/css; charset=utf-8"

struct static_file {
	const char *name; /* below /page/ */
	enum asset asset;
	const char *type;
};

static const struct static_file page = { "", ASSET_SERVE, "text/html; charset=utf-8" };

/* /favicon.ico: browsers request it for documents that name no icon, such as pictures and JSON. */
static const struct static_file icon = { "", ASSET_SERVE_ICON, "image/svg+xml" };

static const struct static_file files[] = {
	{ "aggregate.js", ASSET_SERVE_AGGREGATE, SCRIPT },
	{ "answer.js", ASSET_SERVE_ANSWER, SCRIPT },
	{ "bars.js", ASSET_SERVE_BARS, SCRIPT },
	{ "compare.js", ASSET_SERVE_COMPARE, SCRIPT },
	{ "controls.js", ASSET_SERVE_CONTROLS, SCRIPT },
	{ "export.js", ASSET_SERVE_EXPORT, SCRIPT },
	{ "flame.js", ASSET_SERVE_FLAME, SCRIPT },
	{ "flame_words.js", ASSET_PAGE_WORDS, SCRIPT },
	{ "formats.js", ASSET_SERVE_FORMATS, SCRIPT },
	{ "hiding.js", ASSET_SERVE_HIDING, SCRIPT },
	{ "icon.svg", ASSET_SERVE_ICON, "image/svg+xml" },
	{ "inspect.js", ASSET_SERVE_INSPECT, SCRIPT },
	{ "kstats.js", ASSET_SERVE_KSTATS, SCRIPT },
	{ "main.js", ASSET_SERVE_MAIN, SCRIPT },
	{ "page.css", ASSET_SHARED_STYLE, STYLE },
	{ "sandwich.js", ASSET_SERVE_SANDWICH, SCRIPT },
	{ "serve.css", ASSET_SERVE_STYLE, STYLE },
	{ "states.js", ASSET_SERVE_STATES, SCRIPT },
	{ "stream.js", ASSET_SERVE_STREAM, SCRIPT },
	{ "table.js", ASSET_TABLE_SCRIPT, SCRIPT },
	{ "threads.js", ASSET_SERVE_THREADS, SCRIPT },
	{ "timeline.js", ASSET_SERVE_TIMELINE, SCRIPT },
	{ "tip.js", ASSET_SERVE_TIP, SCRIPT },
	{ "tree.js", ASSET_SERVE_TREE, SCRIPT },
	{ "url.js", ASSET_SERVE_URL, SCRIPT },
};

#define TAG_MAX 20

/* A hash of the bytes, so that a browser asks again what another version of the program has. */
static void print_tag(struct text bytes, char buffer[TAG_MAX])
{
	snprintf(buffer, TAG_MAX, "\"%016" PRIx64 "\"", text_hash(bytes, 0));
}

static struct error *answer(struct http_exchange *exchange, const struct static_file *file)
{
	const struct text bytes = asset_text(file->asset);
	const char *known = http_header(exchange, "If-None-Match");
	char tag[TAG_MAX];
	struct error *err;

	print_tag(bytes, tag);
	http_type(exchange, file->type);
	err = http_add_header(exchange, "ETag", tag);
	if (!err)
		err = http_add_header(exchange, "Cache-Control", "no-cache");
	if (err)
		return err;
	if (known && strstr(known, tag)) {
		http_status(exchange, 304);
		return NULL;
	}
	return http_write(exchange, bytes.bytes, bytes.length);
}

struct error *static_page(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	(void)context;
	*ret = HTTP_DONE;
	return answer(exchange, &page);
}

struct error *static_icon(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	(void)context;
	*ret = HTTP_DONE;
	return answer(exchange, &icon);
}

struct error *static_file(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const char *name = http_rest(exchange);

	(void)context;
	*ret = HTTP_DONE;
	for (size_t i = 0; i < array_length(files); i++)
		if (!strcmp(files[i].name, name))
			return answer(exchange, &files[i]);
	return error_coded(ENOENT, "no such file");
}
