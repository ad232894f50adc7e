/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the spool: the header of a request, and the file of losses.
 */
#include "agent/request_file.h"
#include "agent/losses.h"

#include <string.h>

#include "fuzz.h"

static void check_text(struct text text, struct text bytes)
{
	must(!text.length || fuzz_is_inside(text, bytes));
	for (size_t i = 0; i < text.length; i++)
		must((unsigned char)text.bytes[i] >= 0x20 && text.bytes[i] != 0x7f);
}

static char *string_of(struct text text)
{
	char *string = text.length ? strndup(text.bytes, text.length) : NULL;

	must(string || !text.length);
	return string;
}

/* A header is what its request is written as. A NUL ends what a request says. */
static void check_again(const struct request_header *header, struct text bytes)
{
	_cleanup_free_ char *what = string_of(header->what), *target = string_of(header->target),
			    *type = string_of(header->content_type),
			    *encoding = string_of(header->content_encoding),
			    *line = string_of(header->header), *check = string_of(header->check);
	const struct sink_request request = {
		.what = what,
		.target = target,
		.content_type = type,
		.content_encoding = encoding,
		.header = line,
		.check = check,
		.count = header->count,
		.body = { "", header->body_length },
	};
	struct text written;

	must(!request_header_write(&request, &written));
	/* Numbers may have come with zeros in front. */
	must(written.length <= header->length);
	must(written.length < header->length ||
	     memcmp(written.bytes, bytes.bytes, written.length) == 0);
	free((void *)(uintptr_t)written.bytes);
}

static void check_request(struct text bytes)
{
	struct request_header header;

	if (bytes.length > REQUEST_HEADER_MOST)
		bytes.length = REQUEST_HEADER_MOST;
	if (!request_header_parse(bytes, &header))
		return;
	must(header.length && header.length <= bytes.length);
	must(bytes.bytes[header.length - 1] == '\n');
	must(header.what.length);
	check_text(header.what, bytes);
	check_text(header.target, bytes);
	check_text(header.content_type, bytes);
	check_text(header.content_encoding, bytes);
	check_text(header.header, bytes);
	check_text(header.check, bytes);
	check_again(&header, bytes);
}

static void check_losses(struct text bytes)
{
	struct losses losses = { 0 };
	struct error *err = losses_parse(&losses, bytes);

	must(losses.count <= LOSSES_MOST);
	must(!err || (!losses.count && !losses.removals.count));
	for (size_t i = 0; i < losses.count; i++)
		must(losses.items[i].count && losses.items[i].sink && losses.items[i].what &&
		     losses.items[i].why);
	error_destroy(err);
	losses_deinit(&losses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);

	check_request(bytes);
	check_losses(bytes);
	fuzz_release(bytes);
	return 0;
}
