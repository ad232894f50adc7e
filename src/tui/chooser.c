/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/tui.h"

/* On, but it had to leave. */
static bool has_no_room(const struct tui *tui, const struct column_layout *layout,
			enum top_column column)
{
	const struct column_choice choice = table_columns(tui);

	return column_is_wanted(&choice, table_grouping(tui), column) &&
	       !column_layout_has(layout, column);
}

/* HOST is there where rows need it, and nowhere else. */
static bool is_listed(const struct tui *tui, enum top_column column)
{
	return tui->mode == MODE_COLUMNS ? column != TOP_COLUMN_HOST : table_can_sort(tui, column);
}

size_t chooser_columns(const struct tui *tui, enum top_column ret[TOP_COLUMN_COUNT])
{
	size_t count = 0;

	for (enum top_column column = 0; column < TOP_COLUMN_COUNT; column++)
		if (is_listed(tui, column))
			ret[count++] = column;
	return count;
}

static void draw_row(const struct tui *tui, const struct column_layout *layout,
		     enum top_column column, bool is_chosen, int y, int columns)
{
	const struct column_row *row = &column_rows[column];
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);

	pen.is_selected = is_chosen;
	if (tui->mode == MODE_COLUMNS)
		pen_print(&pen, STYLE_PLAIN, " [%c] ", tui->columns.is_on[column] ? 'x' : ' ');
	else
		pen_print(&pen, STYLE_PLAIN, "     ");
	pen_field(&pen, STYLE_STRONG, text_of(row->head), 9, ALIGN_LEFT, FIT_START);
	if (tui->mode == MODE_COLUMNS && has_no_room(tui, layout, column))
		pen_text(&pen, STYLE_STRONG, TEXT("no room: "));
	pen_print(&pen, STYLE_PLAIN, "%s%s", row->prose,
		  column >= TOP_COLUMN_STATE_FIRST ? ", % of its time" : "");
	pen_skip(&pen, STYLE_PLAIN, columns);
}

void chooser_draw(struct tui *tui, int columns)
{
	int height = tui_body_lines() - 1;
	size_t top = tui->chosen >= (size_t)height ? tui->chosen - (size_t)height + 1 : 0;
	struct pen pen = pen_at(&tui->terminal, tui_head_lines(), 0, columns);
	enum top_column shown[TOP_COLUMN_COUNT];
	const size_t count = chooser_columns(tui, shown);
	struct column_layout layout;

	table_layout(tui, &layout, columns);
	pen_text(&pen, STYLE_HEAD,
		 tui->mode == MODE_COLUMNS ? TEXT(" Columns: space turns one on or off")
					   : TEXT(" Sort by: Enter sorts by the selected column"));
	pen_skip(&pen, STYLE_HEAD, columns);
	for (size_t i = 0; i < (size_t)height && top + i < count; i++)
		draw_row(tui, &layout, shown[top + i], top + i == tui->chosen,
			 tui_head_lines() + 1 + (int)i, columns);
}
