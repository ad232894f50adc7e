/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/debug_file.h"
#include "symbol/dwarf_file.h"
#include "symbol/functions.h"
#include "symbol/line_table.h"
#include "symbol/packed_symbols.h"
#include "symbol/rooted.h"
#include "symbol/usdt_notes.h"
#include "trace/probe_search.h"

/* A file that may be the debug file of another, or packed into it. */
struct part {
	int fd;
	struct image image;
	struct elf elf;
};

static void part_close(struct part *part)
{
	elf_close(&part->elf);
	image_close(&part->image);
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
}

/* Takes the descriptor; -1: of what is no regular file, or errno says why. */
static int part_open(int fd, struct part *ret)
{
	int failed;

	*ret = (struct part){ .fd = fd };
	if (fd < 0)
		return errno ? errno : EINVAL;
	failed = image_open(fd, &ret->image);
	if (!failed && !elf_open(&ret->image, &ret->elf))
		failed = ENOEXEC;
	return failed;
}

struct probed_file {
	const struct probe_search *search;
	const char *path;
	struct part main, debug;
	char *packed;
	struct part unpacked;
	struct functions functions;
	struct word_map choosers; /* addresses */
	/* While lines are looked for. */
	struct word_map taken;
	uint32_t next_line;
	bool is_over;
	struct error *err;
};

static int open_debug(void *context, const char *path)
{
	(void)context;
	return rooted_open_link(AT_FDCWD, path);
}

static struct error *open_file_of(struct probed_file *file)
{
	int failed, fd;

	errno = 0;
	failed = part_open(rooted_open_link(AT_FDCWD, file->path), &file->main);
	if (failed == ENOEXEC)
		return error_create("%s is no program or library for 64 bits", file->path);
	if (failed)
		return error_system(failed, "%s", file->path);
	fd = debug_file_open(&file->main.elf, file->path, open_debug, NULL);
	if (fd >= 0 && part_open(fd, &file->debug))
		part_close(&file->debug);
	return NULL;
}

static void close_file(struct probed_file *file)
{
	word_map_deinit(&file->taken);
	word_map_deinit(&file->choosers);
	functions_deinit(&file->functions);
	part_close(&file->unpacked);
	free(file->packed);
	part_close(&file->debug);
	part_close(&file->main);
}

static bool show(struct probed_file *file, uint64_t address, uint64_t semaphore,
		 const char *function, uint64_t from_start)
{
	struct probe_place place = {
		.kind = file->search->spec->kind,
		.where = file->path,
		.function = function,
		.from_start = from_start,
	};

	/* A file that was cut, or has addresses that it does not load. */
	if (!elf_code_offset(&file->main.elf, address, &place.offset))
		return true;
	if (semaphore && !elf_offset(&file->main.elf, semaphore, &place.semaphore))
		return true;
	return file->search->found(file->search->context, &place);
}

/* --- functions --- */

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static bool add_functions(struct probed_file *file)
{
	struct text packed;

	if (!functions_add(&file->functions, &file->main.elf) ||
	    (file->debug.elf.image && !functions_add(&file->functions, &file->debug.elf)))
		return false;
	if (!packed_symbols(&file->main.elf, &packed))
		return true;
	file->packed = (char *)(uintptr_t)packed.bytes;
	file->unpacked.image = image_of(packed);
	return !elf_open(&file->unpacked.image, &file->unpacked.elf) ||
	       functions_add(&file->functions, &file->unpacked.elf);
}

/* The name of a symbol without its version ("memcpy@@GLIBC_2.14"). */
static bool symbol_name(const struct probed_file *file, const struct function *function,
			char ret[FUNCTION_NAME_MAX])
{
	const char *name = image_string(file->functions.tables[function->table], function->name,
					MANGLED_NAME_MAX);
	size_t length = name ? strcspn(name, "@") : 0;

	if (!length || length >= FUNCTION_NAME_MAX)
		return false;
	memcpy(ret, name, length);
	ret[length] = 0;
	return true;
}

/* The name by which it is wanted, of the two that it has. */
static bool is_wanted(const struct probed_file *file, const struct function *function,
		      char ret[FUNCTION_NAME_MAX])
{
	char symbol[FUNCTION_NAME_MAX];

	if (!symbol_name(file, function, symbol))
		return false;
	if (demangle(symbol, ret) && probe_wants(file->search, ret))
		return true;
	if (strcmp(symbol, ret) == 0 || !probe_pattern_matches(file->search->name, symbol))
		return false;
	memcpy(ret, symbol, sizeof(symbol));
	return true;
}

/* Labels of assembly are no functions, but may be asked for by name. */
static bool is_function(const struct probed_file *file, const struct function *function)
{
	return function->is_sized || probe_pattern_form(file->search->spec->name) == PATTERN_NAME;
}

/* Not the function but what chooses it when a program starts, and is not called after that. */
static bool take_chooser(void *context, const char *name, const Elf64_Sym *symbol)
{
	struct probed_file *file = context;
	uint32_t *place;

	(void)name;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
		return true;
	place = word_map_at(&file->choosers, (struct words){ { symbol->st_value } });
	if (place)
		*place = 1;
	return place;
}

static bool is_chooser(const struct probed_file *file, const struct function *function)
{
	return word_map_find(&file->choosers, (struct words){ { function->start } }) !=
	       WORD_MAP_NEW;
}

static struct error *search_functions(struct probed_file *file)
{
	const uint64_t offset = file->search->spec->offset;
	char name[FUNCTION_NAME_MAX];
	bool has_shown = false, has_chooser = false;

	if (!add_functions(file))
		return &error_no_memory;
	if (file->functions.count)
		qsort(file->functions.items, file->functions.count, sizeof(*file->functions.items),
		      by_address);
	elf_each_symbol(&file->main.elf, take_chooser, file);
	for (size_t i = 0; i < file->functions.count; i++) {
		const struct function *function = &file->functions.items[i];

		if (!is_function(file, function) || !is_wanted(file, function, name))
			continue;
		if (is_chooser(file, function)) {
			has_chooser = true;
			continue;
		}
		has_shown = true;
		if (offset >= function->end - function->start)
			return error_create("%s has %llu bytes, so there is no +%llu in it", name,
					    (unsigned long long)(function->end - function->start),
					    (unsigned long long)offset);
		if (!show(file, function->start + offset, 0, name, offset))
			return NULL;
	}
	if (has_chooser && !has_shown)
		return error_create("%s chooses among several functions when a program starts "
				    "(IFUNC); probe those, as *%.*s_*",
				    file->path, (int)file->search->spec->name.length,
				    file->search->spec->name.bytes);
	return NULL;
}

/* --- lines --- */

/* A line is in as many places as it was inlined, unrolled and cut in pieces; the first in each
 * function is where it begins. */
static bool is_first(struct probed_file *file, uint64_t address)
{
	uint64_t start = address, end;
	uint32_t *taken;

	if (!elf_function(&file->main.elf, address, &start, &end))
		start = address;
	taken = word_map_at(&file->taken, (struct words){ { start } });
	if (!taken)
		file->err = &error_no_memory;
	if (!taken || *taken != WORD_MAP_NEW)
		return false;
	*taken = 1;
	return true;
}

static bool take_line(void *context, uint64_t address, uint32_t line)
{
	struct probed_file *file = context;
	const struct probe_spec *spec = file->search->spec;
	char name[PROBE_SPEC_MAX + 16];

	if (line > spec->line && (!file->next_line || line < file->next_line))
		file->next_line = line;
	if (line != spec->line || !is_first(file, address))
		return !file->err;
	snprintf(name, sizeof(name), "%.*s:%u", (int)spec->source.length, spec->source.bytes, line);
	file->is_over = !show(file, address, 0, name, 0);
	return !file->is_over;
}

static struct error *no_line(const struct probed_file *file)
{
	const struct probe_spec *spec = file->search->spec;
	const int length = (int)spec->source.length;

	if (file->next_line)
		return error_create("%s has no code of line %u of %.*s; the next with code is %u",
				    file->path, spec->line, length, spec->source.bytes,
				    file->next_line);
	return error_create("%s has no code of %.*s from line %u on", file->path, length,
			    spec->source.bytes, spec->line);
}

static struct error *search_lines(struct probed_file *file)
{
	struct part *const parts[] = { &file->main, &file->debug };
	bool has_any = false;

	for (size_t i = 0; i < array_length(parts) && !file->is_over; i++) {
		struct line_sections sections;
		struct dwarf_file dwarf;

		if (!parts[i]->elf.image)
			continue;
		switch (dwarf_file_open(&parts[i]->image, &dwarf)) {
		case DWARF_FILE_NONE:
			continue;
		case DWARF_FILE_REFUSED:
			return error_create("the debug information of %s is too large, or broken",
					    file->path);
		case DWARF_FILE_OPEN:
			break;
		}
		has_any = true;
		sections = (struct line_sections){
			.lines = dwarf.lines,
			.line_strings = dwarf_file_section(&dwarf, TEXT("debug_line_str")),
			.strings = dwarf_file_section(&dwarf, TEXT("debug_str")),
		};
		line_table_find(&sections, file->search->spec->source, take_line, file);
		dwarf_file_close(&dwarf);
	}
	if (file->err)
		return file->err;
	if (!has_any)
		return error_create("%s has no debug information, so its lines are not known",
				    file->path);
	return file->taken.count ? NULL : no_line(file);
}

/* --- USDT --- */

static bool take_note(void *context, const struct usdt_note *note)
{
	struct probed_file *file = context;
	_cleanup_free_ char *name = NULL;

	if (!probe_pattern_matches(file->search->group, note->provider) ||
	    !probe_wants(file->search, note->name))
		return true;
	if (asprintf(&name, "%s:%s", note->provider, note->name) < 0) {
		name = NULL;
		file->err = &error_no_memory;
		return false;
	}
	return show(file, note->address, note->semaphore, name, 0);
}

/* --- all of it --- */

struct error *probe_search_file(const struct probe_search *search)
{
	struct probed_file file = { .search = search,
				    .main = { .fd = -1 },
				    .debug = { .fd = -1 },
				    .unpacked = { .fd = -1 } };
	_cleanup_free_ char *path = NULL;
	struct error *err = probe_find_file(search->host, search->spec->file, &path);

	if (err)
		return err;
	file.path = path;
	err = open_file_of(&file);
	if (!err && search->spec->kind == PROBE_USDT) {
		usdt_each(&file.main.elf, take_note, &file);
		err = file.err;
	} else if (!err) {
		err = search->spec->line ? search_lines(&file) : search_functions(&file);
	}
	close_file(&file);
	return err;
}
