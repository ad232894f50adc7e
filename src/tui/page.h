/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text that are longer than the screen.
 */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include "tui/paint.h"

struct page {
	char *bytes; /* owned */
	struct {
		ARRAY(struct text);
	} lines;
	size_t top;
};

void page_deinit(struct page *page);

/* Takes over `bytes`, allocated; what is at the top stays there as far as there are lines. */
struct error *page_set(struct page *page, char *bytes) MUST_CHECK;

/* Scroll by a number of lines, but not beyond the end; `height` lines are visible. */
void page_scroll(struct page *page, long by, int height);

/* From line `y` on, `height` lines. A line that begins with "# " is a head. */
void page_draw(const struct page *page, const struct terminal *terminal, int y, int height,
	       int columns);

#endif
