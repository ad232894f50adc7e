/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct error error_no_memory = { .errnum = ENOMEM, .message = (char *)"out of memory" };

static struct error *create_error(int errnum, char *message)
{
	struct error *err = message ? malloc(sizeof(*err)) : NULL;

	if (!err) {
		free(message);
		return &error_no_memory;
	}
	/* The message may quote untrusted text. */
	text_make_safe(message);
	*err = (struct error){ .errnum = errnum, .message = message };
	return err;
}

struct error *error_create(const char *format, ...)
{
	struct error *err;
	va_list args;

	va_start(args, format);
	err = create_error(0, text_print_v(format, args));
	va_end(args);
	return err;
}

struct error *error_coded(int errnum, const char *format, ...)
{
	struct error *err;
	va_list args;

	va_start(args, format);
	err = create_error(errnum, text_print_v(format, args));
	va_end(args);
	return err;
}

struct error *error_system(int errnum, const char *format, ...)
{
	_cleanup_free_ char *what = NULL;
	va_list args;

	va_start(args, format);
	what = text_print_v(format, args);
	va_end(args);
	return create_error(errnum, what ? text_print("%s: %s", what, strerror(errnum)) : NULL);
}

struct error *error_prefix(struct error *err, const char *format, ...)
{
	_cleanup_free_ char *prefix = NULL;
	char *message;
	va_list args;

	if (err == &error_no_memory)
		return err;
	va_start(args, format);
	prefix = text_print_v(format, args);
	va_end(args);
	message = prefix ? text_print("%s: %s", prefix, err->message) : NULL;
	if (message) {
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
