/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct error error_no_memory = { .errnum = ENOMEM, .message = (char *)"out of memory" };

static struct error *create(int errnum, char *message)
{
	struct error *err = message ? malloc(sizeof(*err)) : NULL;

	if (!err) {
		free(message);
		return &error_no_memory;
	}
	/* It may quote what others wrote. */
	text_make_safe(message);
	*err = (struct error){ .errnum = errnum, .message = message };
	return err;
}

static struct error *print(int errnum, const char *format, va_list args)
{
	char *message = NULL;

	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	return create(errnum, message);
}

struct error *error_create(const char *format, ...)
{
	struct error *err;
	va_list args;

	va_start(args, format);
	err = print(0, format, args);
	va_end(args);
	return err;
}

struct error *error_coded(int errnum, const char *format, ...)
{
	struct error *err;
	va_list args;

	va_start(args, format);
	err = print(errnum, format, args);
	va_end(args);
	return err;
}

struct error *error_system(int errnum, const char *format, ...)
{
	_cleanup_free_ char *what = NULL;
	char *message = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&what, format, args) < 0)
		what = NULL;
	va_end(args);
	if (!what || asprintf(&message, "%s: %s", what, strerror(errnum)) < 0)
		message = NULL;
	return create(errnum, message);
}

struct error *error_prefix(struct error *err, const char *format, ...)
{
	_cleanup_free_ char *prefix = NULL;
	char *message = NULL;
	va_list args;

	if (err == &error_no_memory)
		return err;
	va_start(args, format);
	if (vasprintf(&prefix, format, args) < 0)
		prefix = NULL;
	va_end(args);
	if (prefix && asprintf(&message, "%s: %s", prefix, err->message) >= 0) {
		text_make_safe(message);
		free(err->message);
		err->message = message;
	}
	return err;
}

void error_destroy(struct error *err)
{
	if (!err || err == &error_no_memory)
		return;
	free(err->message);
	free(err);
}
