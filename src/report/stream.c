/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/stream.h"

#include <errno.h>
#include <stdio_ext.h>
#include <sys/types.h>

/* stdio takes a short write for an error; the sink's own is what counts, so all is taken. */
static ssize_t write_on(void *cookie, const char *bytes, size_t length)
{
	struct stream *stream = cookie;

	if (!stream->error)
		stream->error = stream->sink(stream->context, bytes, length);
	return (ssize_t)length;
}

struct error *stream_open(struct stream *stream, json_sink sink, void *context)
{
	*stream = (struct stream){ .sink = sink, .context = context };
	stream->out = fopencookie(stream, "w", (cookie_io_functions_t){ .write = write_on });
	return stream->out ? NULL : &error_no_memory;
}

struct error *stream_close(struct stream *stream)
{
	if (fclose(stream->out) != 0 && !stream->error)
		stream->error = error_system(errno, "cannot write");
	stream->out = NULL;
	return take_ptr(stream->error);
}

struct error *stream_to_file(void *context, const void *bytes, size_t length)
{
	/* EPIPE means a pager that its user has left; without one, SIGPIPE ends the program. */
	struct error *err = NULL;

	if (fwrite(bytes, 1, length, context) == length || errno == EPIPE)
		return NULL;
	err = error_system(errno, "cannot write");
	/* It is said once: the end of the program finds no error any more. */
	__fpurge(context);
	clearerr(context);
	return err;
}

struct error *error_first(struct error *first, struct error *second)
{
	if (!first)
		return second;
	error_destroy(second);
	return first;
}
