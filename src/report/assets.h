/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of assets/, in the program: rows of name and file.
 */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include "base/text.h"

#define ASSETS(ASSET)                                       \
	ASSET(SVG_STYLE, "assets/flame_svg.css")            \
	ASSET(SVG_SCRIPT, "assets/flame_svg.js")            \
	ASSET(PAGE_WORDS, "assets/flame_words.js")          \
	ASSET(PAGE, "assets/flame_page.html")               \
	ASSET(PAGE_BODY, "assets/flame_body.html")          \
	ASSET(PAGE_STYLE, "assets/flame_page.css")          \
	ASSET(PAGE_MODEL, "assets/flame_model.js")          \
	ASSET(PAGE_SCRIPT, "assets/flame_page.js")          \
	ASSET(FLAME_PARTS, "assets/flame_parts.js")         \
	ASSET(SHARED_STYLE, "assets/page.css")              \
	ASSET(TABLE_SCRIPT, "assets/table.js")              \
	ASSET(REPORT, "assets/report_page.html")            \
	ASSET(REPORT_STYLE, "assets/report_page.css")       \
	ASSET(REPORT_SCRIPT, "assets/report_page.js")       \
	ASSET(SERVE, "assets/serve/index.html")             \
	ASSET(SERVE_STYLE, "assets/serve/serve.css")        \
	ASSET(SERVE_ICON, "assets/serve/icon.svg")          \
	ASSET(SERVE_AGGREGATE, "assets/serve/aggregate.js") \
	ASSET(SERVE_ANSWER, "assets/serve/answer.js")       \
	ASSET(SERVE_BARS, "assets/serve/bars.js")           \
	ASSET(SERVE_COMPARE, "assets/serve/compare.js")     \
	ASSET(SERVE_CONTROLS, "assets/serve/controls.js")   \
	ASSET(SERVE_EXPORT, "assets/serve/export.js")       \
	ASSET(SERVE_FLAME, "assets/serve/flame.js")         \
	ASSET(SERVE_FORMATS, "assets/serve/formats.js")     \
	ASSET(SERVE_HIDING, "assets/serve/hiding.js")       \
	ASSET(SERVE_INSPECT, "assets/serve/inspect.js")     \
	ASSET(SERVE_KSTATS, "assets/serve/kstats.js")       \
	ASSET(SERVE_MAIN, "assets/serve/main.js")           \
	ASSET(SERVE_SANDWICH, "assets/serve/sandwich.js")   \
	ASSET(SERVE_STATES, "assets/serve/states.js")       \
	ASSET(SERVE_STREAM, "assets/serve/stream.js")       \
	ASSET(SERVE_THREADS, "assets/serve/threads.js")     \
	ASSET(SERVE_TIMELINE, "assets/serve/timeline.js")   \
	ASSET(SERVE_TIP, "assets/serve/tip.js")             \
	ASSET(SERVE_TREE, "assets/serve/tree.js")           \
	ASSET(SERVE_URL, "assets/serve/url.js")

enum asset {
#define ASSET(id, file) ASSET_##id,
	ASSETS(ASSET)
#undef ASSET
		ASSET_COUNT
};

struct text asset_text(enum asset asset);

#endif
