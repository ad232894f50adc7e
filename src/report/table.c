/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void table_init(struct table *table, const struct table_column *columns, size_t count)
{
	*table = (struct table){ .columns = columns, .column_count = count };
}

/* Also the second half of the control characters, U+0080 to U+009F. */
static bool is_control(const char *bytes, size_t wide)
{
	unsigned char first = (unsigned char)bytes[0];

	if (wide == 1)
		return first < 0x20 || first == 0x7f;
	return wide == 2 && first == 0xc2 && (unsigned char)bytes[1] < 0xa0;
}

char *text_visible(struct text text)
{
	static const char hex[] = "0123456789abcdef";
	char *out = malloc(text.length * 4 + 1);
	size_t used = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < text.length;) {
		size_t wide = utf8_sequence(text.bytes + i, text.length - i);

		if (!wide) {
			memcpy(out + used, UTF8_REPLACEMENT, UTF8_REPLACEMENT_LENGTH);
			used += UTF8_REPLACEMENT_LENGTH;
			i++;
			continue;
		}
		if (is_control(text.bytes + i, wide)) {
			unsigned char code = (unsigned char)text.bytes[i + wide - 1];

			memcpy(out + used, "\\x", 2);
			out[used + 2] = hex[code >> 4];
			out[used + 3] = hex[code & 15];
			used += 4;
		} else {
			memcpy(out + used, text.bytes + i, wide);
			used += wide;
		}
		i += wide;
	}
	out[used] = '\0';
	return out;
}

bool table_add(struct table *table, struct text text)
{
	char *cell = text_visible(text);

	if (cell && array_push(&table->cells, cell))
		return true;
	free(cell);
	return false;
}

/* Columns on the screen, one for each character. */
static size_t width_of(const char *text)
{
	size_t width = 0, length = strlen(text);

	for (size_t i = 0; i < length; width++)
		i += utf8_sequence(text + i, length - i);
	return width;
}

static void print_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
	size_t own = width_of(text);
	int padding = own < width ? (int)(width - own) : 0;

	if (right)
		fprintf(out, " %*s%s ", padding, "", text);
	else if (last)
		fprintf(out, " %s ", text);
	else
		fprintf(out, " %s%*s ", text, padding, "");
}

struct error *table_print(const struct table *table, FILE *out, bool colour)
{
	size_t count = table->column_count, *widths = calloc(count, sizeof(*widths));

	if (!widths)
		return &error_no_memory;
	for (size_t c = 0; c < count; c++)
		widths[c] = width_of(table->columns[c].heading);
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t width = width_of(table->cells.items[i]);

		if (width > widths[i % count])
			widths[i % count] = width;
	}
	if (colour)
		fputs("\033[36m", out);
	for (size_t c = 0; c < count; c++)
		print_cell(out, table->columns[c].heading, widths[c], table->columns[c].right,
			   c + 1 == count);
	fputs(colour ? "\033[0m\n" : "\n", out);
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t c = i % count;

		print_cell(out, table->cells.items[i], widths[c], table->columns[c].right,
			   c + 1 == count);
		if (c + 1 == count)
			fputc('\n', out);
	}
	free(widths);
	return NULL;
}

void table_deinit(struct table *table)
{
	for (size_t i = 0; i < table->cells.count; i++)
		free(table->cells.items[i]);
	array_deinit(&table->cells);
}
