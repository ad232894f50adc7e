/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the spool: the header of a request, and the file of losses.
 */
#include "agent/request_file.h"
#include "agent/losses.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Is `again` the header that was parsed, with this mark? */
static void check_same(const struct request_header *header, const struct request_header *again,
		       uint64_t interrupted)
{
	must(again->interrupted == interrupted);
	must(again->count == header->count && again->time == header->time);
	must(again->body_length == header->body_length);
	must(text_equal(again->what, header->what) && text_equal(again->target, header->target));
	must(text_equal(again->content_type, header->content_type));
	must(text_equal(again->content_encoding, header->content_encoding));
	must(text_equal(again->header, header->header) && text_equal(again->check, header->check));
	must(text_equal(again->lifetime, header->lifetime));
	must(text_equal(again->sums, header->sums));
}

/* A file that begins like this can be marked in its place, and says so then. */
static void check_mark(const struct request_header *header, struct text written)
{
	_cleanup_close_ int fd = memfd_create("request", MFD_CLOEXEC);
	_cleanup_free_ char *bytes = malloc(written.length);
	struct request_header again;

	must(fd >= 0 && bytes);
	must(write(fd, written.bytes, written.length) == (ssize_t)written.length);
	for (int times = 0; times < 2; times++) {
		must(request_file_mark(fd));
		must(pread(fd, bytes, written.length, 0) == (ssize_t)written.length);
		must(request_header_parse((struct text){ bytes, written.length }, &again));
		check_same(header, &again, 1);
	}
}

/* A request with what a header says is written as a header that says the same. A new one is not
 * interrupted. */
static void check_again(const struct request_header *header)
{
	_cleanup_free_ char *what = string_of(header->what), *target = string_of(header->target),
			    *type = string_of(header->content_type),
			    *encoding = string_of(header->content_encoding),
			    *line = string_of(header->header), *check = string_of(header->check),
			    *lifetime = string_of(header->lifetime),
			    *sums = string_of(header->sums);
	const struct sink_request request = {
		.what = what,
		.target = target,
		.content_type = type,
		.content_encoding = encoding,
		.header = line,
		.check = check,
		.lifetime = lifetime,
		.time = header->time,
		.sums = sums,
		.count = header->count,
		.body = { "", header->body_length },
	};
	struct request_header again;
	struct text written;
	struct error *err = request_header_write(&request, &written);

	/* Lines with numbers are always written, also if they were not there. */
	must(!err || header->length + strlen("interrupted: 0\ntime: 0\n") > REQUEST_HEADER_MOST);
	error_destroy(err);
	if (err)
		return;
	must(written.length <= REQUEST_HEADER_MOST);
	must(request_header_parse(written, &again));
	must(again.length == written.length);
	check_same(header, &again, 0);
	check_mark(header, written);
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
	check_text(header.lifetime, bytes);
	check_text(header.sums, bytes);
	check_again(&header);
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
