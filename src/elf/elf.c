/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/elf.h"

#include <stdlib.h>

#include "base/array.h"
#include "elf/function_index.h"

/* Longer names of symbols and sections are not needed. */
#define NAME_MAX_BYTES 256

/* The largest number of relocations or symbols that is read: the size of a file limits it, and no
 * sane file has as many. */
#define ENTRIES_MAX ((uint64_t)16 << 20)

static bool is_supported(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

/* A copy of a table in the file, for what is read of it need not be aligned. */
static void *copy_table(struct image *image, uint64_t offset, size_t count, size_t item)
{
	struct text bytes = image_bytes(image, offset, count * item);
	void *copy = bytes.bytes ? malloc(bytes.length ? bytes.length : 1) : NULL;

	return copy ? memcpy(copy, bytes.bytes, bytes.length) : NULL;
}

/* Loaded segments are searched from end to end; without a bound, a file could make that endless by
 * loading the same bytes again and again. */
static bool is_bounded(const struct elf *elf)
{
	uint64_t total = 0;

	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_LOAD &&
		    __builtin_add_overflow(total, elf->segments[i].p_filesz, &total))
			return false;
	return total / 2 <= elf->image->size;
}

static bool read_segments(struct elf *elf, const Elf64_Ehdr *header)
{
	elf->segment_count = header->e_phnum;
	if (!elf->segment_count)
		return true;
	if (elf->segment_count > ELF_SEGMENTS_MAX)
		return false;
	elf->segments =
		copy_table(elf->image, header->e_phoff, elf->segment_count, sizeof(*elf->segments));
	return elf->segments && is_bounded(elf);
}

/* The sections of a stripped file may be truncated or wrong; the program runs nevertheless. */
static void read_sections(struct elf *elf, const Elf64_Ehdr *header)
{
	if (!header->e_shnum || header->e_shentsize != sizeof(*elf->sections))
		return;
	elf->sections =
		copy_table(elf->image, header->e_shoff, header->e_shnum, sizeof(*elf->sections));
	if (!elf->sections)
		return;
	elf->section_count = header->e_shnum;
	if (header->e_shstrndx < elf->section_count)
		elf->section_names = elf->sections[header->e_shstrndx].sh_offset;
}

/* More entries of PT_DYNAMIC than a file has. */
#define DYNAMIC_MAX 4096

/* The first of several entries of a kind counts. */
static void read_dynamic(struct elf *elf)
{
	const Elf64_Phdr *segment = elf_segment(elf, PT_DYNAMIC);
	uint64_t count = segment ? segment->p_filesz / sizeof(Elf64_Dyn) : 0;
	struct {
		int64_t tag;
		uint64_t *value;
	} wanted[] = { { DT_RELA, &elf->dynamic.relocations },
		       { DT_RELASZ, &elf->dynamic.relocation_bytes },
		       { DT_SYMTAB, &elf->dynamic.symbols } };
	struct text bytes = { 0 };

	if (count && count <= DYNAMIC_MAX)
		bytes = image_bytes(elf->image, segment->p_offset, count * sizeof(Elf64_Dyn));
	for (uint64_t i = 0; bytes.bytes && i < count; i++) {
		Elf64_Dyn entry;

		memcpy(&entry, bytes.bytes + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		for (size_t w = 0; w < array_length(wanted); w++)
			if (entry.d_tag == wanted[w].tag && !*wanted[w].value)
				*wanted[w].value = entry.d_un.d_val;
	}
}

bool elf_open(struct image *image, struct elf *ret)
{
	struct text bytes = image_bytes(image, 0, sizeof(Elf64_Ehdr));
	Elf64_Ehdr header;
	struct elf elf = { .image = image };

	*ret = (struct elf){ 0 };
	if (!bytes.bytes)
		return false;
	memcpy(&header, bytes.bytes, sizeof(header));
	if (!is_supported(&header))
		return false;
	elf.machine = header.e_machine;
	elf.entry = header.e_entry;
	elf.type = header.e_type;
	if (!read_segments(&elf, &header)) {
		elf_close(&elf);
		return false;
	}
	read_sections(&elf, &header);
	read_dynamic(&elf);
	*ret = elf;
	return true;
}

void elf_close(struct elf *elf)
{
	free(elf->segments);
	free(elf->sections);
	*elf = (struct elf){ 0 };
}

const Elf64_Phdr *elf_segment(const struct elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == type)
			return &elf->segments[i];
	return NULL;
}

/* The string at `offset` of a table that starts at `table` of the file; NULL: there is none. */
static const char *string_of(const struct elf *elf, uint64_t table, uint64_t offset)
{
	uint64_t at;

	if (__builtin_add_overflow(table, offset, &at))
		return NULL;
	return image_string(elf->image, at, NAME_MAX_BYTES);
}

static const Elf64_Shdr *find_section(const struct elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const char *here = string_of(elf, elf->section_names, elf->sections[i].sh_name);

		if (here && strcmp(here, name) == 0)
			return &elf->sections[i];
	}
	return NULL;
}

struct text elf_section(const struct elf *elf, const char *name)
{
	const Elf64_Shdr *section = find_section(elf, name);

	if (!section || section->sh_type == SHT_NOBITS)
		return (struct text){ 0 };
	return image_bytes(elf->image, section->sh_offset, section->sh_size);
}

/* The file offset of `address` in a segment, if `size` bytes from there on are in it. */
static bool offset_in(const Elf64_Phdr *segment, uint64_t address, uint64_t size, uint64_t *ret)
{
	uint64_t within = address - segment->p_vaddr;

	return segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
	       within <= segment->p_filesz && size <= segment->p_filesz - within &&
	       !__builtin_add_overflow(segment->p_offset, within, ret);
}

static bool find_offset(const struct elf *elf, uint64_t address, uint32_t flags, uint64_t *ret)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if ((elf->segments[i].p_flags & flags) == flags &&
		    offset_in(&elf->segments[i], address, 1, ret) && *ret < elf->image->size)
			return true;
	return false;
}

bool elf_code_offset(const struct elf *elf, uint64_t address, uint64_t *ret)
{
	return find_offset(elf, address, PF_X, ret);
}

bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret)
{
	return find_offset(elf, address, 0, ret);
}

bool elf_stretch(const struct elf *elf, uint64_t address, uint64_t size, uint64_t *ret)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (offset_in(&elf->segments[i], address, size, ret))
			return *ret <= elf->image->size && size <= elf->image->size - *ret;
	return false;
}

const char *elf_at(const struct elf *elf, uint64_t address, uint64_t size)
{
	uint64_t offset;

	return elf_stretch(elf, address, size, &offset)
		       ? image_bytes(elf->image, offset, size).bytes
		       : NULL;
}

const Elf64_Shdr *elf_section_header(const struct elf *elf, const char *name)
{
	return find_section(elf, name);
}

bool elf_has_section(const struct elf *elf, const char *name)
{
	return find_section(elf, name);
}

/* --- build-id and debuglink --- */

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* The only note of type NT_GNU_BUILD_ID and name "GNU". Notes are aligned to 4 bytes here, whatever
 * the segment says (the gABI specifies 8, but no linker does that for this note). */
static struct text build_id_among(struct text notes)
{
	Elf64_Nhdr note;

	while (notes.length >= sizeof(note)) {
		size_t name, desc;

		memcpy(&note, notes.bytes, sizeof(note));
		name = padded(note.n_namesz);
		desc = padded(note.n_descsz);
		notes.bytes += sizeof(note);
		notes.length -= sizeof(note);
		if (name > notes.length || note.n_descsz > notes.length - name)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
		    note.n_descsz <= 64 && memcmp(notes.bytes, "GNU", 4) == 0)
			return (struct text){ notes.bytes + name, note.n_descsz };
		if (desc > notes.length - name)
			break;
		notes.bytes += name + desc;
		notes.length -= name + desc;
	}
	return (struct text){ 0 };
}

/* More notes than this are not searched. */
#define NOTES_MAX ((uint64_t)4096)

static struct text build_id_at(const struct elf *elf, uint64_t offset, uint64_t size)
{
	return build_id_among(image_bytes(elf->image, offset, size < NOTES_MAX ? size : NOTES_MAX));
}

struct text elf_build_id(const struct elf *elf)
{
	struct text id = { 0 };

	for (size_t i = 0; i < elf->segment_count && !id.length; i++)
		if (elf->segments[i].p_type == PT_NOTE)
			id = build_id_at(elf, elf->segments[i].p_offset, elf->segments[i].p_filesz);
	/* The segments of a debug file point to nothing. */
	for (size_t i = 0; i < elf->section_count && !id.length; i++)
		if (elf->sections[i].sh_type == SHT_NOTE)
			id = build_id_at(elf, elf->sections[i].sh_offset, elf->sections[i].sh_size);
	return id;
}

/* The name of a file, and a checksum. */
#define LINK_MAX 8192

bool elf_debuglink(const struct elf *elf, struct text *ret_name, uint32_t *ret_crc)
{
	const Elf64_Shdr *header = find_section(elf, ".gnu_debuglink");
	struct text link = header && header->sh_size <= LINK_MAX
				   ? elf_section(elf, ".gnu_debuglink")
				   : (struct text){ 0 };
	const char *end = link.length ? memchr(link.bytes, 0, link.length) : NULL;
	size_t crc;

	if (!end)
		return false;
	crc = padded((size_t)(end - link.bytes) + 1);
	if (crc > link.length || link.length - crc < sizeof(*ret_crc))
		return false;
	memcpy(ret_crc, link.bytes + crc, sizeof(*ret_crc));
	*ret_name = (struct text){ link.bytes, (size_t)(end - link.bytes) };
	return true;
}

/* --- symbols --- */

static bool each_symbol_of(const struct elf *elf, const Elf64_Shdr *table, elf_unnamed_visit *visit,
			   void *context)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym), names;
	struct text bytes;

	if (table->sh_link >= elf->section_count || count > ENTRIES_MAX)
		return true;
	bytes = image_bytes(elf->image, table->sh_offset, count * sizeof(Elf64_Sym));
	names = elf->sections[table->sh_link].sh_offset;
	for (uint64_t i = 0; bytes.bytes && i < count; i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, bytes.bytes + i * sizeof(symbol), sizeof(symbol));
		if (!visit(context, &symbol, names))
			return false;
	}
	return true;
}

void elf_each_unnamed_symbol(const struct elf *elf, elf_unnamed_visit *visit, void *context)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };

	/* A file has one section of each type. Ignore further ones: thousands would only consume
	 * time. */
	for (size_t t = 0; t < array_length(types); t++)
		for (size_t i = 0; i < elf->section_count; i++) {
			if (elf->sections[i].sh_type != types[t])
				continue;
			if (!each_symbol_of(elf, &elf->sections[i], visit, context))
				return;
			break;
		}
}

const char *elf_symbol_name(const struct elf *elf, uint64_t names, uint32_t name)
{
	return name ? string_of(elf, names, name) : NULL;
}

struct naming {
	const struct elf *elf;
	elf_symbol_visit *visit;
	void *context;
};

static bool visit_by_name(void *context, const Elf64_Sym *symbol, uint64_t names)
{
	const struct naming *naming = context;
	const char *name = elf_symbol_name(naming->elf, names, symbol->st_name);

	return !name || naming->visit(naming->context, name, symbol);
}

void elf_each_symbol(const struct elf *elf, elf_symbol_visit *visit, void *context)
{
	struct naming naming = { elf, visit, context };

	elf_each_unnamed_symbol(elf, visit_by_name, &naming);
}

/* --- what the dynamic linker reads --- */

void elf_each_needed(const struct elf *elf, elf_needed_visit *visit, void *context)
{
	const struct text rows = elf_section(elf, ".dynamic"), names = elf_section(elf, ".dynstr");
	Elf64_Dyn row;

	for (size_t at = 0; rows.length - at >= sizeof(row); at += sizeof(row)) {
		memcpy(&row, rows.bytes + at, sizeof(row));
		if (row.d_tag == DT_NULL)
			return;
		if (row.d_tag != DT_NEEDED || row.d_un.d_val >= names.length ||
		    !memchr(names.bytes + row.d_un.d_val, 0, names.length - row.d_un.d_val))
			continue;
		if (!visit(context, names.bytes + row.d_un.d_val))
			return;
	}
}

void elf_each_relocation(const struct elf *elf, elf_relocation_visit *visit, void *context)
{
	uint64_t count = elf->dynamic.relocation_bytes / sizeof(Elf64_Rela);
	Elf64_Rela relocation;
	const char *bytes;

	if (!elf->dynamic.relocations || !count || count > ENTRIES_MAX)
		return;
	bytes = elf_at(elf, elf->dynamic.relocations, count * sizeof(relocation));
	for (uint64_t i = 0; bytes && i < count; i++) {
		memcpy(&relocation, bytes + i * sizeof(relocation), sizeof(relocation));
		if (!visit(context, &relocation))
			return;
	}
}

/* Symbol `number` of .dynsym. False: there is none. */
static bool dynamic_symbol(const struct elf *elf, uint64_t number, Elf64_Sym *ret)
{
	uint64_t address = elf->dynamic.symbols;
	const char *bytes;

	if (!address || number > ENTRIES_MAX ||
	    __builtin_add_overflow(address, number * sizeof(*ret), &address))
		return false;
	bytes = elf_at(elf, address, sizeof(*ret));
	if (bytes)
		memcpy(ret, bytes, sizeof(*ret));
	return bytes;
}

bool elf_is_tls_slot(const struct elf *elf, const Elf64_Rela *relocation, uint64_t *ret)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uint64_t number = ELF64_R_SYM(relocation->r_info);
	Elf64_Sym symbol = { 0 };

	if (elf->machine == EM_X86_64 ? type != R_X86_64_TPOFF64 : type != R_AARCH64_TLS_TPREL)
		return false;
	/* Skip variables that are defined in another file, such as errno. */
	if (number && (!dynamic_symbol(elf, number, &symbol) || symbol.st_shndx == SHN_UNDEF))
		return false;
	*ret = symbol.st_value + (uint64_t)relocation->r_addend;
	return true;
}

/* --- functions --- */

bool elf_function(const struct elf *elf, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	struct function_index index;
	uint64_t start, end, description;
	uint32_t next;

	/* From the last one that starts at or before the address to the first behind it. */
	if (!function_index_open(elf, &index) || !function_index_find(&index, address, &next) ||
	    !next || !function_index_at(&index, next - 1, &start, &description) ||
	    !function_index_at(&index, next, &end, &description))
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}
