/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/units.h"
#include "base/utf8.h"

#define ROOM ((size_t)128 * 1024)

struct error *json_writer_init(struct json_writer *w, json_sink sink, void *context)
{
	return json_writer_init_room(w, ROOM, sink, context);
}

struct error *json_writer_init_room(struct json_writer *w, size_t room, json_sink sink,
				    void *context)
{
	*w = (struct json_writer){
		.sink = sink, .context = context, .bytes = malloc(room), .room = room
	};
	return w->bytes ? NULL : &error_no_memory;
}

void json_continue(struct json_writer *w)
{
	w->comma = true;
}

static void flush(struct json_writer *w)
{
	if (!w->error && w->used)
		w->error = w->sink(w->context, w->bytes, w->used);
	w->used = 0;
}

char *json_place_more(struct json_writer *w)
{
	flush(w);
	return w->bytes;
}

static void put_pieces(struct json_writer *w, const char *bytes, size_t length)
{
	while (length) {
		size_t piece = length < JSON_ROOM_LEAST ? length : JSON_ROOM_LEAST;

		memcpy(json_place(w, piece), bytes, piece);
		w->used += piece;
		bytes += piece;
		length -= piece;
	}
}

static inline void write_bytes(struct json_writer *w, const char *bytes, size_t length)
{
	if (length > w->room - w->used) {
		put_pieces(w, bytes, length);
		return;
	}
	memcpy(w->bytes + w->used, bytes, length);
	w->used += length;
}

static void put_char(struct json_writer *w, char c)
{
	*json_place(w, 1) = c;
	w->used++;
}

static void separate(struct json_writer *w)
{
	if (w->comma)
		put_char(w, ',');
	w->comma = true;
}

static void begin_container(struct json_writer *w, char c)
{
	separate(w);
	put_char(w, c);
	w->comma = false;
}

static void end_container(struct json_writer *w, char c)
{
	put_char(w, c);
	w->comma = true;
}

void json_line(struct json_writer *w)
{
	separate(w);
	put_char(w, '\n');
	w->comma = false;
}

void json_document_end(struct json_writer *w)
{
	put_char(w, '\n');
	w->comma = false;
}

void json_object_begin(struct json_writer *w)
{
	begin_container(w, '{');
}

void json_object_end(struct json_writer *w)
{
	end_container(w, '}');
}

void json_array_begin(struct json_writer *w)
{
	begin_container(w, '[');
}

void json_array_end(struct json_writer *w)
{
	end_container(w, ']');
}

static void put_escaped(struct json_writer *w, unsigned char c)
{
	char escape[6] = { '\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 15] };

	switch (c) {
	case '"':
		write_bytes(w, "\\\"", 2);
		return;
	case '\\':
		write_bytes(w, "\\\\", 2);
		return;
	case '\n':
		write_bytes(w, "\\n", 2);
		return;
	case '\t':
		write_bytes(w, "\\t", 2);
		return;
	default:
		write_bytes(w, escape, sizeof(escape));
	}
}

/* Line separators, and characters with Unicode's property Bidi_Control, which change the direction
 * of text: a terminal would show something else than the file contains. */
static bool misleads(unsigned code)
{
	return code == 0x61c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* The code point of a UTF-8 sequence of two or three bytes. */
static unsigned code_of(const char *bytes, size_t wide)
{
	const unsigned char *b = (const unsigned char *)bytes;

	return wide == 2 ? (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu)
			 : (b[0] & 0xfu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
}

static void put_code(struct json_writer *w, unsigned code)
{
	char escape[8];

	write_bytes(w, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", code & 0xffff));
}

static void put_string(struct json_writer *w, struct text text)
{
	const char *p = text.bytes, *end = p + text.length;

	put_char(w, '"');
	while (p < end) {
		const char *plain = p;
		size_t wide;

		while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f &&
		       *p != '"' && *p != '\\')
			p++;
		write_bytes(w, plain, (size_t)(p - plain));
		if (p == end)
			break;
		wide = utf8_sequence(p, (size_t)(end - p));
		/* U+0080 to U+009F are control characters, too (C1). */
		if (wide == 2 && p[0] == '\xc2' && (unsigned char)p[1] < 0xa0) {
			put_escaped(w, (unsigned char)p[1]);
		} else if ((wide == 2 || wide == 3) && misleads(code_of(p, wide))) {
			put_code(w, code_of(p, wide));
		} else if (wide == 1) {
			put_escaped(w, (unsigned char)*p);
		} else if (wide) {
			write_bytes(w, p, wide);
		} else {
			write_bytes(w, UTF8_REPLACEMENT, sizeof(UTF8_REPLACEMENT) - 1);
			wide = 1;
		}
		p += wide;
	}
	put_char(w, '"');
}

void json_key_text(struct json_writer *w, struct text key)
{
	separate(w);
	put_string(w, key);
	put_char(w, ':');
	w->comma = false;
}

void json_key(struct json_writer *w, const char *key)
{
	json_key_text(w, text_of(key));
}

void json_u64(struct json_writer *w, uint64_t value)
{
	separate(w);
	w->used += digits_u64(json_place(w, DIGITS_MAX), value);
}

void json_i64(struct json_writer *w, int64_t value)
{
	if (value < 0) {
		separate(w);
		put_char(w, '-');
		w->comma = false;
	}
	json_u64(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_literal(struct json_writer *w, const char *literal)
{
	separate(w);
	write_bytes(w, literal, strlen(literal));
}

void json_digits(struct json_writer *w, const char *digits)
{
	put_literal(w, digits);
}

void json_real(struct json_writer *w, double value)
{
	char digits[UNITS_TEXT_MAX];

	if (isfinite(value))
		json_digits(w, units_real_digits(digits, value));
	else
		json_null(w);
}

void json_bool(struct json_writer *w, bool value)
{
	put_literal(w, value ? "true" : "false");
}

void json_null(struct json_writer *w)
{
	put_literal(w, "null");
}

void json_text(struct json_writer *w, struct text text)
{
	separate(w);
	put_string(w, text);
}

struct error *json_writer_finish(struct json_writer *w)
{
	flush(w);
	return take_ptr(w->error);
}

void json_writer_deinit(struct json_writer *w)
{
	error_destroy(w->error);
	free(w->bytes);
	*w = (struct json_writer){ 0 };
}

void json_name(struct json_writer *w, const struct name *name)
{
	if (name)
		json_text(w, name_text(name));
	else
		json_null(w);
}

void json_string(struct json_writer *w, const char *string)
{
	if (string)
		json_text(w, text_of(string));
	else
		json_null(w);
}
