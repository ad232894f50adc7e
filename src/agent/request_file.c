/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/request_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"

#define FIRST_LINE TEXT("ctprof-request 1")

/* The lines, in this order. A text that is empty has none. */
static const struct {
	const char *name;
	bool is_number, is_needed;
	size_t at; /* in struct request_header: a struct text or a uint64_t */
} lines[] = {
	{ "interrupted", true, false, offsetof(struct request_header, interrupted) },
	{ "what", false, true, offsetof(struct request_header, what) },
	{ "count", true, true, offsetof(struct request_header, count) },
	{ "target", false, false, offsetof(struct request_header, target) },
	{ "type", false, false, offsetof(struct request_header, content_type) },
	{ "encoding", false, false, offsetof(struct request_header, content_encoding) },
	{ "header", false, false, offsetof(struct request_header, header) },
	{ "check", false, false, offsetof(struct request_header, check) },
	{ "lifetime", false, false, offsetof(struct request_header, lifetime) },
	{ "time", true, false, offsetof(struct request_header, time) },
	{ "sums", false, false, offsetof(struct request_header, sums) },
	{ "others", false, false, offsetof(struct request_header, others) },
	{ "body", true, true, offsetof(struct request_header, body_length) },
};

static struct text *text_at(struct request_header *header, size_t line)
{
	return (struct text *)((char *)header + lines[line].at);
}

static uint64_t *number_at(struct request_header *header, size_t line)
{
	return (uint64_t *)((char *)header + lines[line].at);
}

static bool has_controls(struct text text)
{
	for (size_t i = 0; i < text.length; i++)
		if ((unsigned char)text.bytes[i] < 0x20 || text.bytes[i] == 0x7f)
			return true;
	return false;
}

/* --- writing --- */

static struct text text_or_none(const char *string)
{
	return string ? text_of(string) : (struct text){ "", 0 };
}

static void print_lines(FILE *out, struct request_header *header)
{
	fprintf(out, "%s\n", FIRST_LINE.bytes);
	for (size_t i = 0; i < array_length(lines); i++) {
		const struct text text = lines[i].is_number ? TEXT("") : *text_at(header, i);

		if (lines[i].is_number)
			fprintf(out, "%s: %" PRIu64 "\n", lines[i].name, *number_at(header, i));
		else if (text.length)
			fprintf(out, "%s: %.*s\n", lines[i].name, (int)text.length, text.bytes);
	}
	fputc('\n', out);
}

static struct error *write_header(struct request_header *header, struct text *ret)
{
	struct request_header again;
	char *bytes = NULL;
	size_t length;
	FILE *out;

	for (size_t i = 0; i < array_length(lines); i++)
		if (!lines[i].is_number && text_at(header, i)->length > REQUEST_HEADER_MOST)
			return error_create("the %s of a request is too long", lines[i].name);
	out = open_memstream(&bytes, &length);
	if (!out)
		return &error_no_memory;
	print_lines(out, header);
	if (!file_close_memory(out, &bytes))
		return &error_no_memory;
	if (length <= REQUEST_HEADER_MOST &&
	    request_header_parse((struct text){ bytes, length }, &again)) {
		*ret = (struct text){ bytes, length };
		return NULL;
	}
	free(bytes);
	return error_create("a request has control characters, or is too long, before its body");
}

struct error *request_header_write_marked(const struct request_header *header, struct text *ret)
{
	struct request_header marked = *header;

	marked.interrupted = 1;
	return write_header(&marked, ret);
}

struct error *request_header_write(const struct sink_request *request, struct text *ret)
{
	struct request_header header = {
		.what = text_of(request->what),
		.target = text_or_none(request->target),
		.content_type = text_or_none(request->content_type),
		.content_encoding = text_or_none(request->content_encoding),
		.header = text_or_none(request->header),
		.check = text_or_none(request->check),
		.lifetime = text_or_none(request->lifetime),
		.time = request->time,
		.sums = text_or_none(request->sums),
		.others = text_or_none(request->others),
		.count = request->count,
		.body_length = request->body.length,
	};

	return write_header(&header, ret);
}

/* --- reading --- */

/* Take the line at the start of `rest`, with its newline. */
static bool take_line(struct text *rest, struct text *ret)
{
	const char *end = rest->length ? memchr(rest->bytes, '\n', rest->length) : NULL;

	if (!end)
		return false;
	*ret = (struct text){ rest->bytes, (size_t)(end - rest->bytes) };
	rest->length -= ret->length + 1;
	rest->bytes = end + 1;
	return !has_controls(*ret);
}

/* Is it the line with this name? Then take its value. */
static bool take_value(struct text line, size_t row, struct request_header *header)
{
	const struct text name = text_of(lines[row].name);

	if (!text_starts(line, name) || line.length < name.length + 3 ||
	    memcmp(line.bytes + name.length, ": ", 2) != 0)
		return false;
	line.bytes += name.length + 2;
	line.length -= name.length + 2;
	if (lines[row].is_number)
		return text_u64(line, number_at(header, row));
	*text_at(header, row) = line;
	return true;
}

bool request_header_parse(struct text start, struct request_header *ret)
{
	struct request_header header = { 0 };
	struct text rest = start, line;
	size_t row = 0;

	if (!take_line(&rest, &line) || !text_equal(line, FIRST_LINE))
		return false;
	while (take_line(&rest, &line)) {
		while (line.length && row < array_length(lines) && !take_value(line, row, &header))
			if (lines[row++].is_needed)
				return false;
		if (line.length && row++ < array_length(lines))
			continue;
		if (line.length || row < array_length(lines))
			return false;
		header.length = start.length - rest.length;
		*ret = header;
		return true;
	}
	return false;
}

bool request_file_mark(int fd)
{
	static const char start[] = "ctprof-request 1\ninterrupted: ";
	const size_t length = strlen(start);
	char bytes[sizeof(start)];

	errno = 0;
	return pread(fd, bytes, length + 1, 0) == (ssize_t)length + 1 &&
	       memcmp(bytes, start, length) == 0 &&
	       (bytes[length] == '0' || bytes[length] == '1') &&
	       pwrite(fd, "1", 1, (off_t)length) == 1;
}

bool request_header_read(int fd, char *bytes, struct request_header *ret)
{
	struct request_header header;
	struct stat st;
	ssize_t got;

	do
		got = pread(fd, bytes, REQUEST_HEADER_MOST, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0 || fstat(fd, &st) || st.st_size < 0 ||
	    !request_header_parse((struct text){ bytes, (size_t)got }, &header) ||
	    (uint64_t)st.st_size - header.length != header.body_length)
		return false;
	*ret = header;
	return true;
}
