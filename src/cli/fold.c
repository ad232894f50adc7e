/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/fold.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/array.h"
#include "report/visible.h"

#define INDENT_MORE 2

struct fold {
	FILE *out;
	size_t width;
	struct {
		ARRAY(char);
	} line; /* that has no end yet */
};

/* The bytes of an escape sequence of colours at `text`; 0: there is none. */
static size_t sequence_length(const char *text)
{
	size_t length;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	length = 2 + strspn(text + 2, "0123456789;");
	return text[length] ? length + 1 : length;
}

/* The width of the next word with the blanks before it, and its length in bytes. */
static size_t word_width(const char *text, size_t *ret_length)
{
	const size_t blanks = strspn(text, " ");
	size_t length = blanks, width = blanks;
	char *plain, *end;

	while (text[length] && text[length] != ' ') {
		const size_t sequence = sequence_length(text + length);

		length += sequence ? sequence : 1;
	}
	plain = end = malloc(length - blanks + 1);
	for (size_t at = blanks; plain && at < length;) {
		const size_t sequence = sequence_length(text + at);

		if (sequence)
			at += sequence;
		else
			*end++ = text[at++];
	}
	if (plain) {
		*end = '\0';
		width += text_width(plain);
	}
	free(plain);
	*ret_length = length;
	return width;
}

/* No unit is longer: "ms", "MiB", "%". */
#define UNIT_LONGEST 3

/* The same, with the unit of a number: "343 ms" stays in one line. */
static size_t piece_width(const char *text, size_t *ret_length)
{
	const size_t width = word_width(text, ret_length);
	const char *word = text + strspn(text, " "), *next = text + *ret_length;
	size_t length, more;

	if (!isdigit((unsigned char)word[word[0] == '+' || word[0] == '-']) || next[0] != ' ')
		return width;
	more = word_width(next, &length);
	if (more > 1 + UNIT_LONGEST)
		return width;
	*ret_length += length;
	return width + more;
}

/* A suggested command begins with this; its words stay on one line. */
#define COMMAND "ctprof "

/* The length of the command with the blanks and the bracket before it; 0: none is here. It ends
 * with the line, or before a mark of the sentence. */
static size_t command_length(const char *text)
{
	const size_t before = strspn(text, " (");
	size_t length = before;

	if (strncmp(text + before, COMMAND, strlen(COMMAND)) != 0)
		return 0;
	while (text[length] && !strchr(");,", text[length]))
		length++;
	/* The mark stays with the last word. */
	return length + strspn(text + length, ");,");
}

/* So that the command can be copied: does it fit in a line of its own, but not in the rest of this
 * one? */
static bool parts_command(const struct fold *fold, const char *text, size_t used, size_t indent)
{
	const size_t length = command_length(text), blanks = strspn(text, " ");

	return length && used + length > fold->width && indent + length - blanks <= fold->width;
}

/* Where the next lines begin: below the last column of a list, or behind the first word. */
static size_t hanging_indent(const struct fold *fold, const char *line)
{
	size_t found = strspn(line, " ") + INDENT_MORE, used = 0, length;

	for (const char *at = line; *at && used < fold->width / 2; at += length) {
		const size_t blanks = strspn(at, " ");

		if (blanks >= 2 && at > line)
			found = used + blanks;
		used += word_width(at, &length);
	}
	return found;
}

static void print_folded(const struct fold *fold, const char *line)
{
	const size_t indent = hanging_indent(fold, line);
	size_t used = 0, length;

	while (*line) {
		const size_t width = piece_width(line, &length);
		const size_t blanks = strspn(line, " ");

		/* Blanks at the end are of no use. */
		if (blanks == length && used)
			break;
		if (used > indent &&
		    (used + width > fold->width || parts_command(fold, line, used, indent))) {
			fprintf(fold->out, "\n%*s", (int)indent, "");
			used = indent + width - blanks;
			line += blanks;
			length -= blanks;
		} else {
			used += width;
		}
		fwrite(line, 1, length, fold->out);
		line += length;
	}
}

static size_t line_width(const char *line)
{
	size_t width = 0, length;

	while (*line) {
		const size_t next = word_width(line, &length);

		if (strspn(line, " ") < length)
			width += next;
		line += length;
	}
	return width;
}

/* The line is complete, with a zero byte behind it. */
static void print_line(struct fold *fold)
{
	const char *line = fold->line.items;

	/* Bytes are no less than columns. */
	if (fold->line.count - 1 <= fold->width || line_width(line) <= fold->width)
		fputs(line, fold->out);
	else
		print_folded(fold, line);
	array_clear(&fold->line);
}

static ssize_t write_on(void *cookie, const char *bytes, size_t length)
{
	struct fold *fold = cookie;

	for (size_t i = 0; i < length; i++) {
		const bool is_end = bytes[i] == '\n';

		if (!array_push(&fold->line, is_end ? '\0' : bytes[i]))
			return 0;
		if (is_end) {
			print_line(fold);
			fputc('\n', fold->out);
		}
	}
	/* A flush of the fold is one of what it prints to: messages on standard error follow it. */
	fflush(fold->out);
	return (ssize_t)length;
}

static int close_fold(void *cookie)
{
	struct fold *fold = cookie;

	if (fold->line.count && array_push(&fold->line, '\0'))
		print_line(fold);
	array_deinit(&fold->line);
	free(fold);
	return 0;
}

FILE *fold_open(FILE *out, size_t width)
{
	struct fold *fold = calloc(1, sizeof(*fold));
	FILE *ret;

	if (!fold)
		return NULL;
	*fold = (struct fold){ .out = out, .width = width };
	ret = fopencookie(fold, "w",
			  (cookie_io_functions_t){ .write = write_on, .close = close_fold });
	if (!ret)
		free(fold);
	return ret;
}
