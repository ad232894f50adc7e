/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of assets/, in the program: rows of name and file.
 */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include "base/text.h"

#define ASSETS(ASSET)                                 \
	ASSET(SVG_STYLE, "assets/flame_svg.css")      \
	ASSET(SVG_SCRIPT, "assets/flame_svg.js")      \
	ASSET(PAGE_WORDS, "assets/flame_words.js")    \
	ASSET(PAGE, "assets/flame_page.html")         \
	ASSET(PAGE_STYLE, "assets/flame_page.css")    \
	ASSET(PAGE_MODEL, "assets/flame_model.js")    \
	ASSET(PAGE_SCRIPT, "assets/flame_page.js")    \
	ASSET(SHARED_STYLE, "assets/page.css")        \
	ASSET(TABLE_SCRIPT, "assets/table.js")        \
	ASSET(REPORT, "assets/report_page.html")      \
	ASSET(REPORT_STYLE, "assets/report_page.css") \
	ASSET(REPORT_SCRIPT, "assets/report_page.js")

enum asset {
#define ASSET(id, file) ASSET_##id,
	ASSETS(ASSET)
#undef ASSET
		ASSET_COUNT
};

struct text asset_text(enum asset asset);

#endif
