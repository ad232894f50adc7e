/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text for people, one after another.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdarg.h>

#include "base/array.h"

/* All zero is none. */
struct lines {
	ARRAY(char *);
};

/* Add what printf would print. False without memory. */
bool lines_add(struct lines *lines, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

void lines_deinit(struct lines *lines);

#endif
