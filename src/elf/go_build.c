/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/go_build.h"

#include "base/array.h"

/* --- marks --- */

/* cmd/link/internal/ld/data.go and elf.go; with -buildmode=pie the table of functions has the
 * longer name. */
static const char *const sections[] = { ".go.buildinfo", ".gopclntab", ".data.rel.ro.gopclntab",
					".note.go.buildid" };

static bool has_section(const struct elf *elf)
{
	for (size_t i = 0; i < array_length(sections); i++)
		if (elf_has_section(elf, sections[i]))
			return true;
	return false;
}

#define NOTE_BUILD_ID 4 /* ELF_NOTE_GOBUILDID_TAG */
#define NOTE_OWNER    "Go\0"

/* Only the first note of a segment: Go's linker gives its own a segment. */
static bool has_note(const struct elf *elf)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const uint64_t size = sizeof(Elf64_Nhdr) + sizeof(NOTE_OWNER);
		struct text bytes = { 0 };
		Elf64_Nhdr note;

		if (elf->segments[i].p_type == PT_NOTE && elf->segments[i].p_filesz >= size)
			bytes = image_bytes(elf->image, elf->segments[i].p_offset, size);
		if (!bytes.bytes)
			continue;
		memcpy(&note, bytes.bytes, sizeof(note));
		if (note.n_type == NOTE_BUILD_ID && note.n_namesz == sizeof(NOTE_OWNER) &&
		    memcmp(bytes.bytes + sizeof(note), NOTE_OWNER, sizeof(NOTE_OWNER)) == 0)
			return true;
	}
	return false;
}

/* --- build information --- */

#define MAGIC       "\xff Go buildinf:"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)
#define ALIGNMENT   16
#define HEADER      32 /* the magic, the size of pointers, flags; pointers before Go 1.18 */
#define FLAGS_AT    15
#define FLAG_ENDIAN 1 /* most significant byte first */
#define FLAG_INLINE 2 /* strings follow the header (Go 1.18) */

static bool take_magic(void *context, struct text window, uint64_t offset)
{
	uint64_t *found = context;
	const char *at = window.bytes, *end = at + window.length;

	while ((at = memmem(at, (size_t)(end - at), MAGIC, MAGIC_BYTES))) {
		const uint64_t in_file = offset + (uint64_t)(at - window.bytes);

		/* A program that reads such files has the magic as text, wherever that falls. */
		if (in_file % ALIGNMENT == 0) {
			*found = in_file;
			return false;
		}
		at++;
	}
	return true;
}

/* The file offset of the magic bytes; UINT64_MAX: there are none. */
static uint64_t find_magic(const struct elf *elf)
{
	const Elf64_Shdr *section = elf_section_header(elf, sections[0]);
	uint64_t found = UINT64_MAX;

	if (section && section->sh_type != SHT_NOBITS)
		image_scan(elf->image, section->sh_offset,
			   section->sh_size < GO_BUILD_SCAN_MAX ? section->sh_size
								: GO_BUILD_SCAN_MAX,
			   MAGIC_BYTES, take_magic, &found);
	for (size_t i = 0; i < elf->segment_count && found == UINT64_MAX; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
			continue;
		image_scan(elf->image, segment->p_offset,
			   segment->p_filesz < GO_BUILD_SCAN_MAX ? segment->p_filesz
								 : GO_BUILD_SCAN_MAX,
			   MAGIC_BYTES, take_magic, &found);
	}
	return found;
}

/* --- the version --- */

#define VERSION_MAX 64

/* The version in Go 1.18 and later: a length of one byte (longer ones have more), and the text. */
static struct text inline_version(const struct elf *elf, uint64_t offset)
{
	struct text length = image_bytes(elf->image, offset + HEADER, 1);
	const uint8_t bytes = length.bytes ? (uint8_t)length.bytes[0] : 0;

	return bytes && bytes <= VERSION_MAX ? image_bytes(elf->image, offset + HEADER + 1, bytes)
					     : (struct text){ 0 };
}

/* Before that: the address of a string's header, which is an address and a length. */
static struct text pointed_version(const struct elf *elf, struct text header)
{
	uint64_t address, string[2];
	const char *bytes;

	memcpy(&address, header.bytes + ALIGNMENT, sizeof(address));
	bytes = elf_at(elf, address, sizeof(string));
	if (!bytes)
		return (struct text){ 0 };
	memcpy(string, bytes, sizeof(string));
	bytes = string[1] <= VERSION_MAX ? elf_at(elf, string[0], string[1]) : NULL;
	return (struct text){ bytes, bytes ? (size_t)string[1] : 0 };
}

static bool cut_uvarint(struct text *rest, uint32_t *ret)
{
	uint32_t value = 0;
	size_t digits = 0;

	for (; digits < rest->length && digits < 4 && rest->bytes[digits] >= '0' &&
	       rest->bytes[digits] <= '9';
	     digits++)
		value = value * 10 + (uint32_t)(rest->bytes[digits] - '0');
	rest->bytes += digits;
	rest->length -= digits;
	*ret = value;
	return digits;
}

/* "go1.19.8", "go1.21rc2", "devel go1.20-b3ffb1e Mon Jan 2". */
static void parse_version(struct text version, struct go_build *ret)
{
	const char *at = version.length ? memmem(version.bytes, version.length, "go", 2) : NULL;
	uint32_t major, minor;
	struct text rest;

	if (!at)
		return;
	rest = (struct text){ at + 2, version.length - (size_t)(at + 2 - version.bytes) };
	if (!cut_uvarint(&rest, &major) || !rest.length || rest.bytes[0] != '.')
		return;
	rest.bytes++;
	rest.length--;
	if (!cut_uvarint(&rest, &minor))
		return;
	ret->major = major;
	ret->minor = minor;
}

static void read_version(const struct elf *elf, uint64_t offset, struct go_build *ret)
{
	struct text header = image_bytes(elf->image, offset, HEADER);

	if (!header.bytes)
		return;
	if (header.bytes[FLAGS_AT] & FLAG_INLINE)
		parse_version(inline_version(elf, offset), ret);
	else if (!(header.bytes[FLAGS_AT] & FLAG_ENDIAN))
		parse_version(pointed_version(elf, header), ret);
}

void go_build_find(const struct elf *elf, struct go_build *ret)
{
	const uint64_t offset = find_magic(elf);

	*ret = (struct go_build){ .is_go = offset != UINT64_MAX || has_section(elf) ||
					   has_note(elf) };
	if (offset != UINT64_MAX)
		read_version(elf, offset, ret);
}

/* --- code --- */

struct bounds {
	uint64_t start, end;
	bool has_start, has_end;
};

static bool take_bound(void *context, const char *name, const Elf64_Sym *symbol)
{
	struct bounds *bounds = context;

	if (strcmp(name, "runtime.text") == 0) {
		bounds->start = symbol->st_value;
		bounds->has_start = true;
	} else if (strcmp(name, "runtime.etext") == 0) {
		bounds->end = symbol->st_value;
		bounds->has_end = true;
	}
	return !bounds->has_start || !bounds->has_end;
}

bool go_build_code(const struct elf *elf, uint64_t *ret_start, uint64_t *ret_end)
{
	struct bounds bounds = { 0 };

	elf_each_symbol(elf, take_bound, &bounds);
	if (!bounds.has_start || !bounds.has_end || bounds.end <= bounds.start)
		return false;
	*ret_start = bounds.start;
	*ret_end = bounds.end;
	return true;
}
