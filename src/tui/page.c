/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/page.h"

void page_deinit(struct page *page)
{
	free(take_ptr(page->bytes));
	array_deinit(&page->lines);
	page->top = 0;
}

struct error *page_set(struct page *page, char *bytes)
{
	struct text rest = text_of(bytes), line;

	free(page->bytes);
	page->bytes = bytes;
	page->lines.count = 0;
	while (text_cut(&rest, '\n', &line))
		if (!array_push(&page->lines, line))
			return &error_no_memory;
	return NULL;
}

void page_scroll(struct page *page, long by, int height)
{
	long last = (long)page->lines.count - height, top = (long)page->top;

	top = by < -top ? 0 : top + by;
	page->top = (size_t)(top < last ? top : last > 0 ? last : 0);
}

void page_draw(const struct page *page, const struct terminal *terminal, int y, int height,
	       int columns)
{
	for (int i = 0; i < height && page->top + (size_t)i < page->lines.count; i++) {
		struct text line = page->lines.items[page->top + (size_t)i];
		struct pen pen = pen_at(terminal, y + i, 1, columns);
		bool is_head = text_starts(line, TEXT("# "));

		if (is_head)
			line = (struct text){ line.bytes + 2, line.length - 2 };
		pen_text(&pen, is_head ? STYLE_STRONG : STYLE_PLAIN, line);
	}
}
