/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/binary.h"

#include <errno.h>

#include "elf/dwarf_file.h"
#include "elf/go_functions.h"
#include "elf/packed_symbols.h"
#include "elf/stubs.h"

/* A file with symbols. */
struct binary_part {
	struct image image;
	struct elf elf;
	int fd;      /* its own, or -1 */
	char *bytes; /* its own, or NULL */
};

struct binary {
	struct binary_part own, debug, packed;
	struct functions functions;
	uint64_t *inlined_work; /* NULL: none are looked for, or `inlined` was opened */
	struct inlined *inlined;
	bool is_restarted;
	bool has_all; /* `inlined` is of all addresses */
};

static void close_part(struct binary_part *part)
{
	elf_close(&part->elf);
	image_close(&part->image);
	if (part->fd >= 0)
		close(part->fd);
	free(part->bytes);
	*part = (struct binary_part){ .fd = -1 };
}

void binary_destroy(struct binary *binary)
{
	if (!binary)
		return;
	inlined_destroy(binary->inlined);
	functions_deinit(&binary->functions);
	close_part(&binary->packed);
	close_part(&binary->debug);
	close_part(&binary->own);
	free(binary);
}

static bool has_information(const struct binary_part *part)
{
	return elf_has_section(&part->elf, ".debug_info") ||
	       elf_has_section(&part->elf, ".zdebug_info");
}

static void open_packed(struct binary *binary)
{
	struct binary_part *part = &binary->packed;
	struct text bytes;

	if (!packed_symbols(&binary->own.elf, &bytes))
		return;
	part->bytes = (char *)(uintptr_t)bytes.bytes;
	part->image = image_of(bytes);
	if (!elf_open(&part->image, &part->elf))
		close_part(part);
}

static void open_debug(struct binary *binary, const struct binary_options *options)
{
	struct binary_part *part = &binary->debug;

	if (!options->open)
		return;
	part->fd =
		debug_file_open(&binary->own.elf, options->path, options->open, options->context);
	if (part->fd < 0 || image_open(part->fd, &part->image) ||
	    !elf_open(&part->image, &part->elf))
		close_part(part);
}

/* Symbols that are packed have up to so many times that size. */
#define PACKED_TIMES 8

static bool has_room_to_unpack(const struct binary *binary, const struct binary_options *options)
{
	const Elf64_Shdr *packed = elf_section_header(&binary->own.elf, ".gnu_debugdata");

	return !options->memory || !packed || packed->sh_size <= options->memory / PACKED_TIMES;
}

static int add_all(struct binary *binary, const struct binary_options *options)
{
	bool has_symbols = elf_has_section(&binary->own.elf, ".symtab");
	bool wants_more = options->inlined_work && !has_information(&binary->own);

	if (!has_symbols || wants_more)
		open_debug(binary, options);
	if (!has_symbols && !binary->debug.elf.section_count) {
		if (!has_room_to_unpack(binary, options))
			return ENOMEM;
		open_packed(binary);
	}
	if (options->memory)
		binary->functions.most = FUNCTIONS_IN(options->memory) + 1;
	if (!functions_add(&binary->functions, &binary->own.elf) ||
	    !functions_add(&binary->functions, &binary->debug.elf) ||
	    !functions_add(&binary->functions, &binary->packed.elf) ||
	    (!binary->functions.has_static &&
	     !go_functions_add(&binary->functions, &binary->own.elf)) ||
	    !stubs_add(&binary->functions, &binary->own.elf))
		return ENOMEM;
	functions_sort(&binary->functions);
	/* Names are read again when they are found: these may be few of many. */
	image_release(&binary->own.image);
	image_release(&binary->debug.image);
	binary->inlined_work = options->inlined_work;
	return 0;
}

/* `binary` has its own image, and is consumed. */
static int open_files(struct binary *binary, const struct binary_options *options,
		      struct binary **ret)
{
	int failed = ENOEXEC;

	if (elf_open(&binary->own.image, &binary->own.elf))
		failed = add_all(binary, options);
	if (failed) {
		binary_destroy(binary);
		return failed;
	}
	*ret = binary;
	return 0;
}

static struct binary *create_binary(void)
{
	struct binary *binary = calloc(1, sizeof(*binary));

	if (binary)
		binary->own.fd = binary->debug.fd = binary->packed.fd = -1;
	return binary;
}

int binary_open(int fd, const struct binary_options *options, struct binary **ret)
{
	struct binary *binary = create_binary();
	int failed = binary ? image_open(fd, &binary->own.image) : ENOMEM;

	if (failed) {
		binary_destroy(binary);
		return failed;
	}
	return open_files(binary, options, ret);
}

int binary_open_bytes(struct text bytes, const struct binary_options *options, struct binary **ret)
{
	struct binary *binary = create_binary();

	if (!binary)
		return ENOMEM;
	binary->own.image = image_of(bytes);
	return open_files(binary, options, ret);
}

uint64_t binary_copied(const struct binary *binary)
{
	return image_copied(&binary->own.image) + image_copied(&binary->debug.image) +
	       binary->packed.image.size;
}

bool binary_is_current(const struct binary *binary)
{
	return image_is_current(&binary->own.image) && image_is_current(&binary->debug.image);
}

size_t binary_bytes(const struct binary *binary)
{
	return sizeof(*binary) + (size_t)binary_copied(binary) +
	       binary->functions.room * sizeof(*binary->functions.items) +
	       (binary->inlined ? inlined_bytes(binary->inlined) : 0);
}

static void forget_inlined(struct binary *binary)
{
	inlined_destroy(binary->inlined);
	binary->inlined = NULL;
	binary->has_all = false;
}

void binary_release(struct binary *binary)
{
	if (binary->inlined &&
	    (!binary->has_all || inlined_bytes(binary->inlined) > BINARY_INLINED_BYTES_MAX))
		forget_inlined(binary);
	binary->inlined_work = NULL;
	image_forget(&binary->own.image);
	image_forget(&binary->debug.image);
}

void binary_restart(struct binary *binary, uint64_t *inlined_work)
{
	binary->is_restarted = true;
	binary->inlined_work = inlined_work;
	if (!inlined_work)
		forget_inlined(binary);
	if (!binary->inlined)
		return;
	inlined_resume(binary->inlined, inlined_work);
	binary->inlined_work = NULL;
}

struct text binary_build_id(const struct binary *binary)
{
	return elf_build_id(&binary->own.elf);
}

/* --- addresses --- */

#define PAGE ((uint64_t)4096)

static bool is_code_segment(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_X;
}

static bool has_offset(const Elf64_Phdr *segment, uint64_t offset)
{
	return segment->p_type == PT_LOAD && offset >= segment->p_offset &&
	       offset - segment->p_offset < segment->p_filesz;
}

/* The only segment with code; NULL: there is none, or several. */
static const Elf64_Phdr *only_code(const struct elf *elf)
{
	const Elf64_Phdr *found = NULL;

	for (size_t i = 0; i < elf->segment_count; i++) {
		if (!is_code_segment(&elf->segments[i]))
			continue;
		if (found)
			return NULL;
		found = &elf->segments[i];
	}
	return found;
}

bool binary_address(const struct binary *binary, uint64_t offset, uint64_t mapped, uint64_t *ret)
{
	const struct elf *elf = &binary->own.elf;
	const Elf64_Phdr *found = NULL, *only = only_code(elf);

	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (has_offset(segment, offset) &&
		    (!found || (is_code_segment(segment) && !is_code_segment(found))))
			found = segment;
	}
	if (found) {
		*ret = found->p_vaddr + (offset - found->p_offset);
		return true;
	}
	/* A debug file in the place of its program has addresses, but no code, and offsets of its
	 * own. A mapping starts with the page that has the segment's first byte. */
	if (!only || only->p_filesz >= only->p_memsz || offset < mapped)
		return false;
	*ret = (only->p_vaddr & ~(PAGE - 1)) + (offset - mapped);
	return *ret >= only->p_vaddr && *ret - only->p_vaddr < only->p_memsz;
}

/* --- search --- */

/* Debug information that is used a second time is indexed as a whole and stays in memory, unless it
 * is large. */
void binary_prepare(struct binary *binary, const struct dwarf_addresses *addresses)
{
	struct binary_part *part = has_information(&binary->own) ? &binary->own : &binary->debug;

	if (!binary->inlined_work || !has_information(part)) {
		binary->inlined_work = NULL;
		return;
	}
	binary->has_all =
		!addresses || (binary->is_restarted &&
			       dwarf_file_bytes_of_all(&part->elf) <= BINARY_INLINED_BYTES_MAX);
	if (!inlined_open(&part->image, binary->has_all ? NULL : addresses, binary->inlined_work,
			  &binary->inlined))
		binary->inlined = NULL;
	binary->inlined_work = NULL;
}

bool binary_find(struct binary *binary, uint64_t address, struct binary_found *ret)
{
	const struct function *function = functions_find(&binary->functions, address);

	binary_prepare(binary, NULL);
	ret->inlined.count = 0;
	if (binary->inlined)
		inlined_find(binary->inlined, address, &ret->inlined);
	ret->length = function ? function_name(&binary->functions, function, ret->name) : 0;
	if (ret->length) {
		ret->start = function->start;
		return true;
	}
	/* Debug information may know a function that no symbol names. */
	if (!ret->inlined.count || !ret->inlined.functions[0].name)
		return false;
	ret->start = address;
	ret->length = demangle(ret->inlined.functions[0].name, ret->name);
	return ret->length != 0;
}
