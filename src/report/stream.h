/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A FILE whose bytes go to a sink: what prints, prints anywhere.
 *
 *	struct stream stream;
 *	struct error *err = stream_open(&stream, sink, context);
 *	if (err)
 *		return err;
 *	fprintf(stream.out, ...);
 *	return stream_close(&stream);
 *
 * The first error of the sink is kept, and what is printed after it is dropped.
 */
#ifndef REPORT_STREAM_H
#define REPORT_STREAM_H

#include <stdio.h>

#include "base/json_writer.h"

struct stream {
	FILE *out;
	json_sink sink;
	void *context;
	struct error *error;
};

/* The stream must stay where it is until it is closed. */
struct error *stream_open(struct stream *stream, json_sink sink, void *context) MUST_CHECK;

/* Hands out what is left; returns the first error there was. */
struct error *stream_close(struct stream *stream) MUST_CHECK;

/* The other way around, a sink: `context` is a FILE. */
struct error *stream_to_file(void *context, const void *bytes, size_t length) MUST_CHECK;

/* The first of two things that happened: the second is destroyed where there is a first. */
struct error *error_first(struct error *first, struct error *second) MUST_CHECK;

#endif
