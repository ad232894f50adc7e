/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "elf/debug_file.h"
#include "elf/dwarf_file.h"
#include "elf/functions.h"
#include "elf/go_build.h"
#include "elf/line_table.h"
#include "elf/packed_symbols.h"
#include "elf/returns.h"
#include "elf/rooted.h"
#include "elf/usdt_notes.h"
#include "probe/search.h"

/* A file that may be the debug file of another, or packed into it. */
struct probed_part {
	int fd;
	struct image image;
	struct elf elf;
};

static void part_close(struct probed_part *part)
{
	elf_close(&part->elf);
	image_close(&part->image);
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
}

/* Takes the descriptor; -1: of what is no regular file, or errno says why. */
static int part_open(int fd, struct probed_part *ret)
{
	int failed;

	*ret = (struct probed_part){ .fd = fd };
	if (fd < 0)
		return errno ? errno : EINVAL;
	failed = image_open(fd, &ret->image);
	if (!failed && !elf_open(&ret->image, &ret->elf))
		failed = ENOEXEC;
	return failed;
}

/* A variable that is an argument of a probe. */
struct variable {
	struct text name;
	uint64_t address;
	bool is_found, is_ambiguous; /* several are static, in different sources */
};

struct probed_file {
	const struct probe_search *search;
	const char *path;
	struct probed_part main, debug;
	char *packed;
	struct probed_part unpacked;
	struct functions functions;
	struct word_map choosers; /* addresses */
	struct go_build go;
	uint64_t go_start, go_end; /* addresses; 0: they are not known */
	/* While lines are looked for. */
	struct word_map taken;
	uint32_t next_line;
	/* While USDT probes are looked for. */
	struct variable variable; /* the last one that was looked for */
	unsigned variables;
	bool is_over, has_shown;
	struct error *err;
};

/* A wrong symbol would put a breakpoint into the middle of an instruction, of all processes that
 * have the file. */
static int open_debug(void *context, const char *path)
{
	const struct probed_part *program = context;

	return debug_file_check(rooted_open_link(AT_FDCWD, path), program->fd);
}

static struct error *open_file_of(struct probed_file *file)
{
	int failed, fd;

	errno = 0;
	failed = part_open(probe_open_file(file->path), &file->main);
	if (failed == ENOEXEC)
		return error_create("%s is not a 64-bit program or library", file->path);
	if (failed)
		return error_system(failed, "%s", file->path);
	fd = debug_file_open(&file->main.elf, file->path, open_debug, &file->main);
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

/* Go passes the goroutine in a register since 1.17 (src/cmd/compile/abi-internal.md). */
static enum probe_code code_at(const struct probed_file *file, uint64_t address)
{
	if (!file->go.is_go)
		return PROBE_CODE_USUAL;
	if (!file->go_end)
		return PROBE_CODE_GO_UNKNOWN;
	if (address < file->go_start || address >= file->go_end)
		return PROBE_CODE_BESIDE_GO;
	return file->main.elf.machine == EM_X86_64 && file->go.major == 1 && file->go.minor >= 17
		       ? PROBE_CODE_GO
		       : PROBE_CODE_GO_UNKNOWN;
}

static bool show_place(struct probed_file *file, uint64_t address, struct probe_place *place)
{
	place->kind = file->search->spec->kind;
	place->where = file->path;
	place->file = file->main.fd;
	place->code = code_at(file, address);
	/* A file that was cut, or has addresses that it does not load. */
	if (!elf_code_offset(&file->main.elf, address, &place->offset))
		return true;
	file->has_shown = true;
	return file->search->found(file->search->context, place);
}

static bool report_location(struct probed_file *file, uint64_t address, const char *function,
			    uint64_t from_start)
{
	struct probe_place place = { .function = function, .from_start = from_start };

	return show_place(file, address, &place);
}

/* --- Go --- */

/* Check for Go only if needed: files may be large. */
static void look_for_go(struct probed_file *file)
{
	const struct probe_search *search = file->search;

	if (search->spec->kind == PROBE_USDT ||
	    (search->spec->kind == PROBE_UPROBE && !search->host->measures_calls))
		return;
	go_build_find(&file->main.elf, &file->go);
	if (file->go.is_go && !go_build_code(&file->main.elf, &file->go_start, &file->go_end) &&
	    file->debug.elf.image)
		go_build_code(&file->debug.elf, &file->go_start, &file->go_end);
}

static struct error *refuse_return(const struct probe_spec *spec)
{
	return error_coded(EINVAL,
			   "refusing a return probe: Go moves stacks, and the program would crash; "
			   "use uret:%.*s%s%.*s (probes at RET instructions), or "
			   "--force-uretprobe",
			   (int)spec->file.length, spec->file.bytes, spec->file.length ? ":" : "",
			   (int)spec->name.length, spec->name.bytes);
}

/* --- functions --- */

static int probe_by_address(const void *a, const void *b)
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
static bool is_function_wanted(const struct probed_file *file, const struct function *function,
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
static bool is_probed_function(const struct probed_file *file, const struct function *function)
{
	return function->is_sized || probe_pattern_form(file->search->spec->name) == PATTERN_NAME;
}

/* Skip the resolver of an indirect function: it runs once, when a program starts. */
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

/* --- RET instructions --- */

static struct error *no_return(const struct function *function, const char *name,
			       enum returns_state state, uint64_t stop)
{
	switch (state) {
	case RETURNS_FOUND:
		return error_create("%s has no RET instruction: it does not return, or ends with a "
				    "jump to another function (probe that one instead)",
				    name);
	case RETURNS_NOT_DECODED:
		return error_create("cannot find the RET instructions of %s: unknown instruction "
				    "at +%llu",
				    name, (unsigned long long)stop);
	case RETURNS_NOT_FOLLOWED:
		return error_create("cannot find the RET instructions of %s: jump into the middle "
				    "of an instruction at +%llu",
				    name, (unsigned long long)stop);
	case RETURNS_TOO_LARGE:
		return error_create("cannot find the RET instructions of %s: %llu bytes are too "
				    "many",
				    name, (unsigned long long)(function->end - function->start));
	case RETURNS_NO_MEMORY:
		break;
	}
	return &error_no_memory;
}

/* The code of the function from its start to its end, as its symbol has them. */
static struct error *code_of(const struct probed_file *file, const struct function *function,
			     const char *name, struct text *ret)
{
	const uint64_t size = function->end - function->start;
	uint64_t offset;

	if (file->main.elf.machine != EM_X86_64)
		return error_create("%s: probes at RET instructions require x86_64", name);
	if (!function->is_sized)
		return error_create("cannot find the RET instructions of %s: its symbol has no "
				    "size",
				    name);
	*ret = (struct text){ 0 };
	if (elf_code_offset(&file->main.elf, function->start, &offset))
		*ret = image_bytes(file->main.elf.image, offset, size);
	return ret->bytes ? NULL : error_create("the code of %s is not in the file", name);
}

static struct error *find_returns(const struct probed_file *file, const struct function *function,
				  const char *name, struct returns *ret)
{
	struct text code;
	struct error *err = code_of(file, function, name, &code);
	enum returns_state state;

	if (err)
		return err;
	state = returns_find(code, ret);
	return state == RETURNS_FOUND && ret->places.count
		       ? NULL
		       : no_return(function, name, state, ret->stop);
}

/* `ret_goes_on` is false when the search is to end. */
static struct error *show_returns(struct probed_file *file, const struct function *function,
				  const char *name, bool *ret_goes_on)
{
	struct returns returns = { 0 };
	struct error *err = find_returns(file, function, name, &returns);

	for (size_t i = 0; !err && i < returns.places.count && *ret_goes_on; i++)
		*ret_goes_on =
			show_place(file, function->start + returns.places.items[i],
				   &(struct probe_place){ .function = name, .is_further = i != 0 });
	returns_deinit(&returns);
	return err;
}

/* Code that cannot be decoded has none that are known: such a call may begin twice. */
static bool show_restarts(struct probed_file *file, const struct function *function,
			  const char *name)
{
	struct returns returns = { 0 };
	struct text code;
	struct error *err = code_of(file, function, name, &code);
	const bool is_known = !err && returns_find(code, &returns) == RETURNS_FOUND;
	bool goes_on = true;

	error_destroy(err);
	for (size_t i = 0; is_known && i < returns.restarts.count && goes_on; i++)
		goes_on = show_place(file, function->start + returns.restarts.items[i],
				     &(struct probe_place){ .function = name,
							    .is_restart = true,
							    .is_further = true });
	returns_deinit(&returns);
	return goes_on;
}

/* Resolve the requested location in a function; false ends the search. If several functions match,
 * those without a result are left out, and `*ret_err` says why. */
static bool show_function(struct probed_file *file, const struct function *function,
			  const char *name, struct error **ret_err)
{
	const struct probe_spec *spec = file->search->spec;
	bool goes_on = true;

	if (spec->kind == PROBE_URET) {
		error_destroy(*ret_err);
		*ret_err = show_returns(file, function, name, &goes_on);
		return goes_on && (!*ret_err || probe_pattern_form(spec->name) != PATTERN_NAME);
	}
	if (!report_location(file, function->start + spec->offset, name, spec->offset))
		return false;
	return spec->offset || !file->search->host->measures_calls ||
	       code_at(file, function->start) != PROBE_CODE_GO ||
	       show_restarts(file, function, name);
}

static struct error *search_functions(struct probed_file *file)
{
	const uint64_t offset = file->search->spec->offset;
	char name[FUNCTION_NAME_MAX];
	bool has_shown = false, has_chooser = false;
	struct error *err = NULL;

	if (!add_functions(file))
		return &error_no_memory;
	if (!file->functions.count)
		return error_create("%s has no symbols", file->path);
	qsort(file->functions.items, file->functions.count, sizeof(*file->functions.items),
	      probe_by_address);
	elf_each_symbol(&file->main.elf, take_chooser, file);
	for (size_t i = 0; i < file->functions.count; i++) {
		const struct function *function = &file->functions.items[i];

		if (!is_probed_function(file, function) ||
		    !is_function_wanted(file, function, name))
			continue;
		if (is_chooser(file, function)) {
			has_chooser = true;
			continue;
		}
		if (offset >= function->end - function->start)
			return error_create("offset +%llu is outside of %s (%llu bytes)",
					    (unsigned long long)offset, name,
					    (unsigned long long)(function->end - function->start));
		if (!show_function(file, function, name, &err))
			return err;
		has_shown |= !err;
	}
	if (!has_shown && err)
		return err;
	error_destroy(err);
	if (has_chooser && !has_shown)
		return error_create("%s is an IFUNC, resolved at program start; probe its "
				    "implementations, e.g. *%.*s_*",
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

static bool add_line_address(void *context, uint64_t address, uint32_t line)
{
	struct probed_file *file = context;
	const struct probe_spec *spec = file->search->spec;
	char name[PROBE_SPEC_MAX + 16];

	if (line > spec->line && (!file->next_line || line < file->next_line))
		file->next_line = line;
	if (line != spec->line || !is_first(file, address))
		return !file->err;
	snprintf(name, sizeof(name), "%.*s:%u", (int)spec->source.length, spec->source.bytes, line);
	file->is_over = !report_location(file, address, name, 0);
	return !file->is_over;
}

static struct error *no_line(const struct probed_file *file)
{
	const struct probe_spec *spec = file->search->spec;
	const int length = (int)spec->source.length;

	if (file->next_line)
		return error_create("%s has no code for line %u of %.*s; the next line with code "
				    "is %u",
				    file->path, spec->line, length, spec->source.bytes,
				    file->next_line);
	return error_create("%s has no code for %.*s at or after line %u", file->path, length,
			    spec->source.bytes, spec->line);
}

static struct error *search_lines(struct probed_file *file)
{
	struct probed_part *const parts[] = { &file->main, &file->debug };
	bool has_any = false;

	for (size_t i = 0; i < array_length(parts) && !file->is_over; i++) {
		struct line_sections sections;
		struct dwarf_file dwarf;

		if (!parts[i]->elf.image)
			continue;
		switch (dwarf_file_open(&parts[i]->image, NULL, &dwarf)) {
		case DWARF_FILE_NONE:
			continue;
		case DWARF_FILE_REFUSED:
			return error_create("the debug information of %s is too large or malformed",
					    file->path);
		case DWARF_FILE_OPEN:
			break;
		}
		has_any = true;
		sections = (struct line_sections){
			.lines = dwarf.lines,
			.line_strings = dwarf_file_section(&dwarf, ".debug_line_str"),
			.strings = dwarf_file_section(&dwarf, ".debug_str"),
		};
		line_table_find(&sections, file->search->spec->source, add_line_address, file);
		dwarf_file_close(&dwarf);
	}
	if (file->err)
		return file->err;
	if (!has_any)
		return error_create("%s has no debug information: source lines are unknown",
				    file->path);
	return file->taken.count ? NULL : no_line(file);
}

/* --- USDT --- */

/* Each search for a variable reads all symbols. */
#define VARIABLES_MAX 16

static bool take_variable(void *context, const char *name, const Elf64_Sym *symbol)
{
	struct variable *variable = context;

	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) == STT_TLS ||
	    !text_equal(text_of(name), variable->name))
		return true;
	variable->is_ambiguous = variable->is_found && variable->address != symbol->st_value;
	variable->is_found = true;
	variable->address = symbol->st_value;
	return !variable->is_ambiguous;
}

static struct error *find_variable(struct probed_file *file, struct text name)
{
	struct variable *variable = &file->variable;
	const char *why = "no symbol of the file names";

	/* Most locations of a probe have the same one. */
	if (variable->is_found && text_equal(variable->name, name))
		return NULL;
	*variable = (struct variable){ .name = name };
	if (++file->variables > VARIABLES_MAX)
		return error_coded(EINVAL, "arg%u is more than %d variables",
				   file->search->host->usdt_argument, VARIABLES_MAX);
	elf_each_symbol(&file->main.elf, take_variable, variable);
	if (!variable->is_found && file->debug.elf.image)
		elf_each_symbol(&file->debug.elf, take_variable, variable);
	if (variable->is_found && !variable->is_ambiguous)
		return NULL;
	if (variable->is_ambiguous)
		why = "several symbols of the file name";
	return error_coded(EINVAL, "arg%u is a variable that %s: %.*s",
			   file->search->host->usdt_argument, why,
			   name.length < 100 ? (int)name.length : 100, name.bytes);
}

/* Replace the symbol by its distance from the probe. */
static struct error *resolve_symbol(struct probed_file *file, uint64_t address,
				    struct usdt_argument *argument)
{
	struct error *err = find_variable(file, argument->symbol);

	if (err)
		return err;
	argument->offset = (int64_t)((uint64_t)argument->offset + file->variable.address - address);
	argument->symbol = (struct text){ 0 };
	return NULL;
}

static struct error *find_usdt_argument(struct probed_file *file, const struct usdt_note *note,
					struct usdt_argument *ret)
{
	struct error *err = usdt_argument_parse(note->arguments, file->search->host->usdt_argument,
						file->main.elf.machine, ret);

	return err || !ret->symbol.length ? err : resolve_symbol(file, note->address, ret);
}

static bool take_note(void *context, const struct usdt_note *note)
{
	struct probed_file *file = context;
	_cleanup_free_ char *name = NULL;
	struct probe_place place = { 0 };
	struct usdt_argument argument;

	if (!probe_pattern_matches(file->search->group, note->provider) ||
	    !probe_wants(file->search, note->name))
		return true;
	name = text_print("%s:%s", note->provider, note->name);
	if (!name)
		file->err = &error_no_memory;
	else if (file->search->host->usdt_argument)
		file->err = find_usdt_argument(file, note, &argument);
	if (file->err)
		return false;
	place.function = name;
	place.argument = file->search->host->usdt_argument ? &argument : NULL;
	if (note->semaphore && !elf_offset(&file->main.elf, note->semaphore, &place.semaphore))
		return true;
	return show_place(file, note->address, &place);
}

/* --- all of it --- */

static struct error *search_file(const struct probe_search *search, const char *path,
				 bool *ret_has_shown)
{
	struct probed_file file = { .search = search,
				    .path = path,
				    .main = { .fd = -1 },
				    .debug = { .fd = -1 },
				    .unpacked = { .fd = -1 } };
	struct error *err = open_file_of(&file);

	if (!err)
		look_for_go(&file);
	if (!err && search->spec->kind == PROBE_URETPROBE && file.go.is_go &&
	    !search->host->forces_returns)
		err = refuse_return(search->spec);
	if (!err && search->spec->kind == PROBE_USDT) {
		usdt_each(&file.main.elf, take_note, &file);
		err = file.err;
	} else if (!err) {
		err = search->spec->line ? search_lines(&file) : search_functions(&file);
	}
	close_file(&file);
	*ret_has_shown = file.has_shown;
	return err;
}

/* Lines of source are those of the program, which there must be then. */
static struct error *find_paths(const struct probe_search *search, struct probe_paths *ret)
{
	const struct probe_spec *spec = search->spec;
	char *path = NULL;
	struct error *err;

	if (!spec->file.length && spec->line && !search->host->program && !search->host->pid)
		return error_create("a source line requires a program; name it: "
				    "uprobe:/PATH:SOURCE.c:LINE");
	if (!spec->file.length)
		return probe_find_targets(search->host, ret);
	err = probe_find_file(search->host, spec->file, &path);
	if (!err && !array_push(ret, path)) {
		free(path);
		err = &error_no_memory;
	}
	return err;
}

/* Search several files for the first that has the function; if none has, report the first error. */
static struct error *search_files(const struct probe_search *search)
{
	struct probe_paths paths = { 0 };
	struct error *err = find_paths(search, &paths), *first = NULL;
	bool has_shown = false;

	for (size_t i = 0; !err && i < paths.count && !has_shown; i++) {
		struct error *why = search_file(search, paths.items[i], &has_shown);

		if (has_shown)
			err = why;
		else if (i == 0)
			first = why;
		else
			error_destroy(why);
		if (search->spec->line)
			break;
	}
	probe_paths_deinit(&paths);
	if (!err && !has_shown)
		return first;
	error_destroy(first);
	return err;
}

struct searching {
	const struct probe_search *search;
	struct error *err;
};

static void search_guarded(void *context)
{
	struct searching *searching = context;

	searching->err = search_files(searching->search);
}

struct error *probe_search_file(const struct probe_search *search)
{
	struct searching searching = { .search = search };
	struct error *err;

	/* The file may be a stranger's, and the caller may load programs into the kernel. */
	err = thread_run_confined(THREAD_PARSER, search_guarded, &searching,
				  "look for functions in files");
	return err ? err : searching.err;
}
