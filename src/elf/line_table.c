/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/line_table.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"

/* --- bytes --- */

/* The remaining bytes. After a read beyond their end, they stay empty and `is_broken` is set. */
struct line_reader {
	struct text rest;
	bool is_broken;
};

static struct text take_bytes(struct line_reader *reader, uint64_t size)
{
	struct text taken = { reader->rest.bytes, size };

	if (size > reader->rest.length) {
		reader->is_broken = true;
		reader->rest.length = 0;
		return (struct text){ 0 };
	}
	reader->rest.bytes += size;
	reader->rest.length -= size;
	return taken;
}

/* Both machines are little-endian. */
static uint64_t take_fixed(struct line_reader *reader, size_t size)
{
	struct text bytes = take_bytes(reader, size);
	uint64_t value = 0;

	if (bytes.bytes && size <= sizeof(value))
		memcpy(&value, bytes.bytes, size);
	return value;
}

static uint64_t take_leb(struct line_reader *reader, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take_fixed(reader, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !reader->is_broken);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return value;
}

static uint64_t take_unsigned(struct line_reader *reader)
{
	return take_leb(reader, false);
}

/* Longer names are ignored: many entries may refer to one endless string. */
#define NAME_BYTES_MAX 4096

static struct text string_at(struct text strings, uint64_t offset)
{
	const char *end;

	if (offset >= strings.length)
		return (struct text){ 0 };
	strings.bytes += offset;
	strings.length -= offset;
	if (strings.length > NAME_BYTES_MAX)
		strings.length = NAME_BYTES_MAX;
	end = memchr(strings.bytes, 0, strings.length);
	return end ? (struct text){ strings.bytes, (size_t)(end - strings.bytes) }
		   : (struct text){ 0 };
}

static struct text take_string(struct line_reader *reader)
{
	struct text string = string_at(reader->rest, 0);

	if (!string.bytes)
		reader->is_broken = true;
	take_bytes(reader, string.bytes ? string.length + 1 : reader->rest.length);
	return string;
}

/* --- the names of files --- */

struct line_unit {
	const struct line_sections *sections;
	struct text source;
	bool is_wide; /* 64-bit DWARF */
	uint16_t version;
	uint8_t step, line_range, opcode_base;
	int8_t line_base;
	bool default_is_statement;
	struct text opcode_lengths;
	struct {
		ARRAY(struct text);
	} directories;
	struct {
		ARRAY(bool); /* is it one that was asked for? */
	} files;
	bool is_asked;
};

/* Does `path` end with the whole parts of `tail`? */
static bool ends_with_parts(struct text path, struct text tail)
{
	return text_ends(path, tail) &&
	       (path.length == tail.length || path.bytes[path.length - tail.length - 1] == '/');
}

/* The name may have directories in it, and those of the source may go beyond into its directory. */
static bool is_source(struct text source, struct text directory, struct text name)
{
	if (source.length <= name.length)
		return ends_with_parts(name, source);
	if (!name.length || name.bytes[0] == '/' || !ends_with_parts(source, name))
		return false;
	source.length -= name.length + 1;
	while (directory.length && directory.bytes[directory.length - 1] == '/')
		directory.length--;
	return source.length ? ends_with_parts(directory, source) : true;
}

static bool add_file(struct line_unit *unit, struct text name, uint64_t directory)
{
	/* Before version 5, 0 is where the compiler ran, which is not in the table. */
	uint64_t place = unit->version < 5 ? directory - 1 : directory;
	struct text in = place < unit->directories.count ? unit->directories.items[place]
							 : (struct text){ 0 };
	bool is_asked = is_source(unit->source, in, name);

	unit->is_asked |= is_asked;
	return array_push(&unit->files, is_asked);
}

static bool read_old_names(struct line_unit *unit, struct line_reader *reader)
{
	struct text name;

	while ((name = take_string(reader)).length)
		if (!array_push(&unit->directories, name))
			return false;
	/* Files count from 1. */
	if (!array_push(&unit->files, false))
		return false;
	while ((name = take_string(reader)).length) {
		uint64_t directory = take_unsigned(reader);

		take_unsigned(reader); /* when it was changed */
		take_unsigned(reader); /* how long it is */
		if (!add_file(unit, name, directory))
			return false;
	}
	return !reader->is_broken;
}

#define FORMATS_MAX 16

struct entry_format {
	size_t count;
	struct {
		uint64_t content, form;
	} parts[FORMATS_MAX];
};

static bool read_format(struct line_reader *reader, struct entry_format *ret)
{
	ret->count = take_fixed(reader, 1);
	/* Entries of nothing could be counted for ever. */
	if (!ret->count || ret->count > FORMATS_MAX)
		return false;
	for (size_t i = 0; i < ret->count; i++) {
		ret->parts[i].content = take_unsigned(reader);
		ret->parts[i].form = take_unsigned(reader);
	}
	return !reader->is_broken;
}

/* Read a value: a string into `string`, a number into `number`. */
static bool read_form(const struct line_unit *unit, struct line_reader *reader, uint64_t form,
		      struct text *string, uint64_t *number)
{
	const size_t offset = unit->is_wide ? 8 : 4;

	switch (form) {
	case DW_FORM_string:
		*string = take_string(reader);
		break;
	case DW_FORM_line_strp:
		*string = string_at(unit->sections->line_strings, take_fixed(reader, offset));
		break;
	case DW_FORM_strp:
		*string = string_at(unit->sections->strings, take_fixed(reader, offset));
		break;
	case DW_FORM_udata:
		*number = take_unsigned(reader);
		break;
	case DW_FORM_data1:
		*number = take_fixed(reader, 1);
		break;
	case DW_FORM_data2:
		*number = take_fixed(reader, 2);
		break;
	case DW_FORM_data4:
		*number = take_fixed(reader, 4);
		break;
	case DW_FORM_data8:
		*number = take_fixed(reader, 8);
		break;
	case DW_FORM_data16:
		take_bytes(reader, 16);
		break;
	case DW_FORM_block:
		take_bytes(reader, take_unsigned(reader));
		break;
	default:
		return false;
	}
	return !reader->is_broken;
}

static bool read_entry(const struct line_unit *unit, struct line_reader *reader,
		       const struct entry_format *format, struct text *name, uint64_t *directory)
{
	*name = (struct text){ 0 };
	*directory = 0;
	for (size_t i = 0; i < format->count; i++) {
		struct text string = { 0 };
		uint64_t number = 0;

		if (!read_form(unit, reader, format->parts[i].form, &string, &number))
			return false;
		if (format->parts[i].content == DW_LNCT_path)
			*name = string;
		else if (format->parts[i].content == DW_LNCT_directory_index)
			*directory = number;
	}
	return true;
}

static bool read_new_names(struct line_unit *unit, struct line_reader *reader)
{
	struct entry_format format;
	struct text name;
	uint64_t count, directory;

	if (!read_format(reader, &format))
		return false;
	for (count = take_unsigned(reader); count; count--)
		if (!read_entry(unit, reader, &format, &name, &directory) ||
		    !array_push(&unit->directories, name))
			return false;
	if (!read_format(reader, &format))
		return false;
	for (count = take_unsigned(reader); count; count--)
		if (!read_entry(unit, reader, &format, &name, &directory) ||
		    !add_file(unit, name, directory))
			return false;
	return !reader->is_broken;
}

/* --- the rows --- */

struct state {
	uint64_t address, file, line;
	bool is_statement;
	/* Belongs to the previous row. */
	bool was_asked;
	uint64_t was_line;
};

static struct state first_state(const struct line_unit *unit)
{
	return (struct state){ .file = 1, .line = 1, .is_statement = unit->default_is_statement };
}

/* Returns whether to go on. */
static bool put_row(const struct line_unit *unit, struct state *state, line_visit *visit,
		    void *context)
{
	const bool is_asked = state->file < unit->files.count && unit->files.items[state->file];
	const bool is_new = !state->was_asked || state->was_line != state->line;

	if (!state->is_statement)
		return true;
	state->was_asked = is_asked;
	state->was_line = state->line;
	return !is_asked || !is_new || state->line > UINT32_MAX ||
	       visit(context, state->address, (uint32_t)state->line);
}

static void do_extended(const struct line_unit *unit, struct line_reader *reader,
			struct state *state)
{
	struct line_reader body = { take_bytes(reader, take_unsigned(reader)), false };
	const uint64_t opcode = take_fixed(&body, 1);

	if (opcode == DW_LNE_set_address)
		state->address = take_fixed(&body, body.rest.length <= 8 ? body.rest.length : 8);
	else if (opcode == DW_LNE_end_sequence)
		*state = first_state(unit);
}

static void advance(const struct line_unit *unit, struct state *state, unsigned adjusted)
{
	state->address += (uint64_t)(adjusted / unit->line_range) * unit->step;
}

static void do_standard(const struct line_unit *unit, struct line_reader *reader,
			struct state *state, uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_advance_pc:
		state->address += take_unsigned(reader) * unit->step;
		break;
	case DW_LNS_advance_line:
		state->line += take_leb(reader, true);
		break;
	case DW_LNS_set_file:
		state->file = take_unsigned(reader);
		break;
	case DW_LNS_negate_stmt:
		state->is_statement = !state->is_statement;
		break;
	case DW_LNS_const_add_pc:
		advance(unit, state, 255u - unit->opcode_base);
		break;
	case DW_LNS_fixed_advance_pc:
		state->address += take_fixed(reader, 2);
		break;
	default:
		for (uint8_t i = (uint8_t)unit->opcode_lengths.bytes[opcode - 1]; i; i--)
			take_unsigned(reader);
	}
}

static bool run_line_program(const struct line_unit *unit, struct line_reader *reader,
			     line_visit *visit, void *context)
{
	struct state state = first_state(unit);

	while (reader->rest.length) {
		const uint8_t opcode = (uint8_t)take_fixed(reader, 1);

		if (opcode == 0) {
			do_extended(unit, reader, &state);
		} else if (opcode < unit->opcode_base && opcode != DW_LNS_copy) {
			do_standard(unit, reader, &state, opcode);
		} else {
			if (opcode >= unit->opcode_base) {
				const unsigned adjusted = (unsigned)opcode - unit->opcode_base;

				advance(unit, &state, adjusted);
				state.line +=
					(uint64_t)(int64_t)(unit->line_base +
							    (int)(adjusted % unit->line_range));
			}
			if (!put_row(unit, &state, visit, context))
				return false;
		}
	}
	return true;
}

/* --- units --- */

static bool read_header(struct line_unit *unit, struct line_reader *reader,
			struct line_reader *ret_program)
{
	struct line_reader names;

	unit->version = (uint16_t)take_fixed(reader, 2);
	if (unit->version < 2 || unit->version > 5)
		return false;
	/* Each opcode encodes the size of addresses and segments. */
	if (unit->version == 5)
		take_bytes(reader, 2);
	names = (struct line_reader){ take_bytes(reader, take_fixed(reader, unit->is_wide ? 8 : 4)),
				      false };
	*ret_program = *reader;
	unit->step = (uint8_t)take_fixed(&names, 1);
	if (unit->version >= 4)
		take_bytes(&names, 1);
	unit->default_is_statement = take_fixed(&names, 1);
	unit->line_base = (int8_t)take_fixed(&names, 1);
	unit->line_range = (uint8_t)take_fixed(&names, 1);
	unit->opcode_base = (uint8_t)take_fixed(&names, 1);
	if (names.is_broken || !unit->line_range || !unit->opcode_base)
		return false;
	unit->opcode_lengths = take_bytes(&names, unit->opcode_base - 1u);
	if (names.is_broken)
		return false;
	return unit->version < 5 ? read_old_names(unit, &names) : read_new_names(unit, &names);
}

static bool cut_unit(struct line_reader *all, struct line_unit *unit, struct line_reader *ret)
{
	uint64_t length = take_fixed(all, 4);

	unit->is_wide = length == UINT32_MAX;
	if (unit->is_wide)
		length = take_fixed(all, 8);
	*ret = (struct line_reader){ take_bytes(all, length), false };
	return !all->is_broken;
}

void line_table_find(const struct line_sections *sections, struct text source, line_visit *visit,
		     void *context)
{
	struct line_reader all = { sections->lines, false }, bytes, program;
	bool goes_on = true;

	while (goes_on && all.rest.length) {
		struct line_unit unit = { .sections = sections, .source = source };

		if (!cut_unit(&all, &unit, &bytes))
			return;
		if (read_header(&unit, &bytes, &program) && unit.is_asked)
			goes_on = run_line_program(&unit, &program, visit, context);
		array_deinit(&unit.directories);
		array_deinit(&unit.files);
	}
}
