/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "base/text.h"

#define ELLIPSIS "..."

/*
 * A name that refers to its own parts can be made exponentially long, and libiberty does not ask
 * whether to go on. It is left by a jump, then: what it works with is on the stack.
 */
struct output {
	char *bytes;
	size_t used;
	jmp_buf full;
};

static void append_demangled(const char *bytes, size_t length, void *context)
{
	struct output *out = context;
	size_t room = FUNCTION_NAME_MAX - 1 - out->used;

	/* libiberty has no bytes to an empty part. */
	if (!length)
		return;
	memcpy(out->bytes + out->used, bytes, length < room ? length : room);
	out->used += length < room ? length : room;
	if (length > room)
		longjmp(out->full, 1);
}

static void cut_off(struct output *out)
{
	out->used = FUNCTION_NAME_MAX - sizeof(ELLIPSIS);
	memcpy(out->bytes + out->used, ELLIPSIS, sizeof(ELLIPSIS) - 1);
	out->used += sizeof(ELLIPSIS) - 1;
}

static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R') &&
	       strnlen(symbol, MANGLED_NAME_MAX) < MANGLED_NAME_MAX;
}

/* Rust's older names are names of C++ with a hash at the end, so Rust is asked first. */
static bool demangle_any(const char *symbol, struct output *out)
{
	if (rust_demangle_callback(symbol, DMGL_RUST, append_demangled, out))
		return true;
	out->used = 0;
	return cplus_demangle_v3_callback(symbol, DMGL_ANSI, append_demangled, out) != 0;
}

size_t demangle(const char *symbol, char ret[FUNCTION_NAME_MAX])
{
	struct output out = { .bytes = ret };

	if (setjmp(out.full)) {
		cut_off(&out);
	} else if (!is_mangled(symbol) || !demangle_any(symbol, &out) || !out.used) {
		out.used = 0;
		append_demangled(symbol, strnlen(symbol, FUNCTION_NAME_MAX), &out);
	}
	ret[out.used] = 0;
	/* A zero in what was made ends it. */
	out.used = strlen(ret);
	text_make_safe(ret);
	return out.used;
}
