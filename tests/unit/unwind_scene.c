/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/unwind_scene.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* --- bytes --- */

void octets_put(struct octets *octets, const void *bytes, size_t length)
{
	assert_true(array_reserve(octets, length));
	if (length)
		memcpy(octets->items + octets->count, bytes, length);
	octets->count += length;
}

void octets_fixed(struct octets *octets, size_t size, uint64_t value)
{
	octets_put(octets, &value, size);
}

/* --- entries --- */

/* The length, which stands before what comes behind `at`, as a multiple of 8. */
static void end_entry(struct octets *frames, size_t at)
{
	uint32_t length;

	while ((frames->count - at) % 8)
		octets_fixed(frames, 1, DW_CFA_nop);
	length = (uint32_t)(frames->count - at - 4);
	memcpy(frames->items + at, &length, sizeof(length));
}

size_t scene_put_common(struct octets *frames, bool is_debug, uint8_t version, const char *letters,
			const void *data, size_t data_length, const void *code, size_t length)
{
	size_t at = frames->count;

	octets_fixed(frames, 4, 0);
	octets_fixed(frames, 4, is_debug ? UINT32_MAX : 0);
	octets_fixed(frames, 1, version);
	octets_put(frames, letters, strlen(letters) + 1);
	if (version == 4)
		octets_list(frames, 8, 0);
	octets_list(frames, 1, 0x78, 16); /* factors 1 and -8 */
	if (*letters == 'z')
		octets_fixed(frames, 1, data_length);
	octets_put(frames, data, data_length);
	octets_put(frames, code, length);
	end_entry(frames, at);
	return at;
}

size_t scene_put_usual(struct octets *frames)
{
	static const uint8_t code[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	static const uint8_t data[] = { DW_EH_PE_pcrel | DW_EH_PE_sdata4 };

	return scene_put_common(frames, false, 1, "zR", data, sizeof(data), code, sizeof(code));
}

void scene_put_function(struct octets *frames, size_t common, uint64_t start, uint32_t size,
			const void *code, size_t length)
{
	size_t at = frames->count;

	octets_fixed(frames, 4, 0);
	octets_fixed(frames, 4, at + 4 - common);
	octets_fixed(frames, 4, start - (SCENE_FRAMES + frames->count));
	octets_fixed(frames, 4, size);
	octets_fixed(frames, 1, 0);
	octets_put(frames, code, length);
	end_entry(frames, at);
}

/* --- files --- */

#define PLACE_OF_FRAMES 0x1000

struct maker {
	Elf64_Ehdr header;
	Elf64_Phdr segments[8];
	Elf64_Shdr sections[8];
	struct octets bytes, names;
};

static void add_section(struct maker *m, const char *name, const struct octets *bytes,
			uint64_t address, uint64_t flags)
{
	Elf64_Shdr *section = &m->sections[m->header.e_shnum++];

	section->sh_name = (uint32_t)m->names.count;
	section->sh_type = SHT_PROGBITS;
	section->sh_flags = flags;
	section->sh_addr = address;
	section->sh_offset = m->bytes.count;
	section->sh_size = bytes->count;
	octets_put(&m->names, name, strlen(name) + 1);
	octets_put(&m->bytes, bytes->items, bytes->count);
}

static void add_segment(struct maker *m, const struct scene_segment *segment, uint64_t offset)
{
	m->segments[m->header.e_phnum++] = (Elf64_Phdr){ .p_type = segment->type,
							 .p_flags = segment->flags,
							 .p_offset = offset,
							 .p_vaddr = segment->address,
							 .p_filesz = segment->size,
							 .p_memsz = segment->size };
}

static void add_segments(struct maker *m, const struct scene_file *file)
{
	struct scene_segment usual = { PT_LOAD, PF_R | PF_X, SCENE_CODE, 0x1000 };
	struct scene_segment frames = { PT_LOAD, PF_R, SCENE_FRAMES, file->frames.count };

	add_segment(m, &frames, PLACE_OF_FRAMES);
	if (!file->segments[0].size)
		add_segment(m, &usual, 0);
	for (size_t i = 0; i < array_length(file->segments) && file->segments[i].size; i++)
		add_segment(m, &file->segments[i],
			    file->segments[i].type == PT_GNU_EH_FRAME ? 0x800 : 0);
}

/* What the process looks into to find .eh_frame. */
static void put_search_header(struct maker *m)
{
	const struct scene_segment frames = { PT_LOAD, PF_R, 0x300000, 0x1000 };
	const struct scene_segment header = { PT_GNU_EH_FRAME, PF_R, 0x300800, 8 };
	const uint8_t start[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit,
				  DW_EH_PE_omit };
	int32_t distance = SCENE_FRAMES - 0x300804;

	add_segment(m, &frames, 0);
	add_segment(m, &header, 0x800);
	memcpy(m->bytes.items + 0x800, start, sizeof(start));
	memcpy(m->bytes.items + 0x804, &distance, sizeof(distance));
}

static void add_sections(struct maker *m, const struct scene_file *file)
{
	static const struct octets nothing;

	octets_put(&m->names, "", 1);
	m->header.e_shnum = 1;
	add_section(m, ".eh_frame", &file->frames, SCENE_FRAMES, SHF_ALLOC);
	if (file->debug.count)
		add_section(m, file->debug_name ? file->debug_name : ".debug_frame", &file->debug,
			    0, file->debug_flags);
	if (file->other_section)
		add_section(m, file->other_section, &nothing, 0, 0);
	octets_put(&m->names, ".shstrtab", 10);
	m->header.e_shstrndx = m->header.e_shnum;
	m->sections[m->header.e_shnum++] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
							 .sh_name = (uint32_t)m->names.count - 10,
							 .sh_offset = m->bytes.count,
							 .sh_size = m->names.count };
	octets_put(&m->bytes, m->names.items, m->names.count);
	while (m->bytes.count % 8)
		octets_fixed(&m->bytes, 1, 0);
	m->header.e_shoff = m->bytes.count;
	octets_put(&m->bytes, m->sections, m->header.e_shnum * sizeof(*m->sections));
}

struct text scene_make(const struct scene_file *file)
{
	struct maker m = { .header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
						    ELFDATA2LSB, EV_CURRENT },
				       .e_type = ET_DYN,
				       .e_machine = file->machine ? file->machine : EM_X86_64,
				       .e_version = EV_CURRENT,
				       .e_entry = file->entry,
				       .e_phoff = sizeof(Elf64_Ehdr),
				       .e_ehsize = sizeof(Elf64_Ehdr),
				       .e_phentsize = sizeof(Elf64_Phdr),
				       .e_shentsize = sizeof(Elf64_Shdr) } };
	struct text bytes;

	while (m.bytes.count < PLACE_OF_FRAMES)
		octets_fixed(&m.bytes, 8, 0);
	add_segments(&m, file);
	if (file->no_sections) {
		put_search_header(&m);
		octets_put(&m.bytes, file->frames.items, file->frames.count);
	} else {
		add_sections(&m, file);
	}
	while (m.bytes.count < file->size)
		octets_fixed(&m.bytes, 8, 0);
	memcpy(m.bytes.items, &m.header, sizeof(m.header));
	memcpy(m.bytes.items + sizeof(m.header), m.segments,
	       m.header.e_phnum * sizeof(*m.segments));
	bytes = guarded(m.bytes.items, m.bytes.count);
	array_deinit(&m.bytes);
	array_deinit(&m.names);
	return bytes;
}

void scene_deinit(struct scene_file *file)
{
	array_deinit(&file->frames);
	array_deinit(&file->debug);
}

/* --- tables --- */

struct unwind_table scene_table(struct text bytes)
{
	struct image image = image_of(bytes);
	struct unwind_table table;
	struct elf elf;

	assert_true(elf_open(&image, &elf));
	expect_ok(unwind_build(&elf, &table));
	elf_close(&elf);
	scene_check(&table);
	return table;
}

static uint32_t starts_at(const uint32_t *block, uint64_t page)
{
	return block[page / 2] >> (page % 2 * 16) & 0xffff;
}

struct unwind_rule scene_rule(const struct unwind_table *table, uint64_t address)
{
	uint64_t number = (address - table->base) >> UNWIND_BLOCK_BITS, page = address >> 8 & 0xff;
	const uint32_t *block, *row;
	uint32_t rule;

	if (address < table->base || number >= table->blocks.count ||
	    table->blocks.items[number] == UNWIND_NO_BLOCK)
		return (struct unwind_rule){ .kind = UNWIND_RULE_NONE };
	if (table->blocks.items[number] == UNWIND_POINTER_BLOCK)
		return (struct unwind_rule){ .kind = UNWIND_RULE_POINTER };
	block = table->words.items + table->blocks.items[number];
	row = block + UNWIND_BLOCK_HEAD + starts_at(block, page + 1) - 1;
	/* From the last of the page on, to one that begins before or at the address. */
	while (row >= block + UNWIND_BLOCK_HEAD + starts_at(block, page) &&
	       UNWIND_ROW_OFFSET(*row) > (address & 0xff))
		row--;
	assert_true(row >= block + UNWIND_BLOCK_HEAD);
	rule = UNWIND_ROW_RULE(*row);
	if (rule <= UNWIND_NUMBER_POINTER)
		return (struct unwind_rule){ .kind = (uint8_t)rule };
	assert_in_range(rule - 4, 0, table->rules.count - 1);
	return table->rules.items[rule - 4];
}

static size_t check_block(const struct unwind_table *table, const uint32_t *block)
{
	size_t words = unwind_block_words(block), at = 0;
	uint32_t last = UINT32_MAX;

	assert_true(words <= table->words.count - (size_t)(block - table->words.items));
	assert_int_equal(starts_at(block, 0), 0);
	for (uint64_t page = 0; page < UNWIND_PAGES; page++) {
		size_t end = starts_at(block, page + 1);
		int offset = -1;

		assert_true(end >= at && end - at <= UNWIND_PAGE_ROWS);
		for (; at < end; at++) {
			uint32_t row = block[UNWIND_BLOCK_HEAD + at];

			assert_true((int)UNWIND_ROW_OFFSET(row) > offset);
			assert_true(page || at || !UNWIND_ROW_OFFSET(row));
			assert_true(UNWIND_ROW_RULE(row) < table->rules.count + 4);
			assert_true(UNWIND_ROW_RULE(row) != last);
			offset = (int)UNWIND_ROW_OFFSET(row);
			last = UNWIND_ROW_RULE(row);
		}
	}
	assert_true(at > 0 && words == UNWIND_BLOCK_HEAD + at);
	return at;
}

void scene_check(const struct unwind_table *table)
{
	size_t rows = 0, words = 0;

	assert_int_equal(table->base % 0x10000, 0);
	for (size_t i = 0; i < table->blocks.count; i++) {
		if (!unwind_is_block(table->blocks.items[i]))
			continue;
		assert_int_equal(table->blocks.items[i], words);
		rows += check_block(table, table->words.items + words);
		words += unwind_block_words(table->words.items + words);
	}
	assert_int_equal(rows, table->rows);
	assert_int_equal(words, table->words.count);
	for (size_t i = 0; i < table->rules.count; i++)
		assert_int_equal(table->rules.items[i].kind, UNWIND_RULE_FRAME);
}
