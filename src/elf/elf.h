/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder elf/: reads program files, and names addresses.
 *
 * image.h copies the bytes of a file on access, instead of mapping it: truncating a mapped file
 * would end ctprof by SIGBUS. elf.h reads ELF with bounds checks of its own, since hostile files
 * reach it first. libdw reads DWARF, which has too many forms to implement again; it is kept from
 * opening files that others name, and dwarf_bounds.h checks all data before. Names come from
 * functions.h, inlined.h, kallsyms.h, perf_map.h and go_functions.h, and are demangled by
 * libiberty. rooted.h opens files relative to the root of another process.
 *
 * capstone (4.7 MB in the static binary) finds the RET instructions of a function (returns.h): a
 * wrong length would set a breakpoint inside an instruction. Zydis is smaller and faster, but
 * Debian has no static archive of it. jemalloc.h never guesses an offset, since a wrong one reads a
 * plausible number: each step has one answer or a named refusal.
 */

/*
 * ELF files: programs, shared libraries and their debug files (elf(5); /usr/include/elf.h).
 *
 *	struct elf elf;
 *	if (elf_open(&image, &elf)) {
 *		const Elf64_Phdr *tls = elf_segment(&elf, PT_TLS);
 *		...
 *	}
 *	elf_close(&elf);
 *
 * Only the 64-bit little-endian form, which x86_64 and aarch64 have. The file may be hostile:
 * nothing in it is believed before it was found to be inside the file, and an answer that would
 * need something outside is "there is none".
 *
 * An *address* is one of the file, as its segments have it: where it is in a process differs from
 * it by the load bias.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include <elf.h>

#include "elf/image.h"

/* Files with more are refused. Of sections, e_shnum counts at most 65535. */
#define ELF_SEGMENTS_MAX 1024

struct elf {
	struct image *image; /* not owned */
	uint16_t machine;    /* EM_X86_64 and the like */
	uint16_t type;       /* ET_EXEC, ET_DYN */
	uint64_t entry;      /* address where it begins to run; 0: it does not */
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	size_t segment_count, section_count;
	uint64_t section_names; /* where their names are in the file */
	struct {
		uint64_t relocations, relocation_bytes,
			symbols; /* addresses, and a size; 0: none */
	} dynamic;               /* what the dynamic linker reads: DT_RELA, DT_RELASZ, DT_SYMTAB */
};

/* False when it is no ELF file of this form, or its headers are not all there; `ret` is then as
 * empty as after elf_close. */
bool elf_open(struct image *image, struct elf *ret);

/* Takes one that did not open. */
void elf_close(struct elf *elf);

/* The first of that type; NULL: there is none. */
const Elf64_Phdr *elf_segment(const struct elf *elf, uint32_t type);

/* Is there a section of that name? */
bool elf_has_section(const struct elf *elf, const char *name);

/* The contents of a section as they are in the file (possibly compressed); empty if there is no
 * such section. */
struct text elf_section(const struct elf *elf, const char *name);

/* The header of a section; NULL: there is none. */
const Elf64_Shdr *elf_section_header(const struct elf *elf, const char *name);

/* The file offset of code at `address`, in an executable segment. False: it is not in the file. */
bool elf_code_offset(const struct elf *elf, uint64_t address, uint64_t *ret);

/* The same of anything that is loaded. */
bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret);

/* The bytes that a process has at `address` when it starts, which must be in the file; NULL: they
 * are not. */
const char *elf_at(const struct elf *elf, uint64_t address, uint64_t size);

/* The file offset of so many bytes at `address`. False: they are not all in one loaded segment, and
 * in the file. */
bool elf_stretch(const struct elf *elf, uint64_t address, uint64_t size, uint64_t *ret);

/* The build-id, of any length up to 64 bytes; empty: there is none. */
struct text elf_build_id(const struct elf *elf);

/* The name and checksum of the debug file (.gnu_debuglink). False: there is none. */
bool elf_debuglink(const struct elf *elf, struct text *ret_name, uint32_t *ret_crc);

/* --- symbols and relocations, each shown to a function that may end it by false --- */

typedef bool elf_needed_visit(void *context, const char *name);

/* The libraries that it is linked with (DT_NEEDED), in their order. */
void elf_each_needed(const struct elf *elf, elf_needed_visit *visit, void *context);

typedef bool elf_symbol_visit(void *context, const char *name, const Elf64_Sym *symbol);

/* The symbols of .symtab and those of .dynsym; those without a name are left out. */
void elf_each_symbol(const struct elf *elf, elf_symbol_visit *visit, void *context);

/* All of them, without reading their names, which elf_symbol_name() gets by `names`. */
typedef bool elf_unnamed_visit(void *context, const Elf64_Sym *symbol, uint64_t names);
void elf_each_unnamed_symbol(const struct elf *elf, elf_unnamed_visit *visit, void *context);

/* NULL: it has none. */
const char *elf_symbol_name(const struct elf *elf, uint64_t names, uint32_t name);

typedef bool elf_relocation_visit(void *context, const Elf64_Rela *relocation);

/* Visit the relocations of the dynamic linker (DT_RELA). */
void elf_each_relocation(const struct elf *elf, elf_relocation_visit *visit, void *context);

/* Does the dynamic linker put into a word how far from the thread pointer a variable of this file
 * is (R_X86_64_TPOFF64, R_AARCH64_TLS_TPREL)? Then `ret` is where in thread-local storage the
 * variable is. */
bool elf_is_tls_slot(const struct elf *elf, const Elf64_Rela *relocation, uint64_t *ret);

/* The bounds of the function that `address` is in, or starts, by the sorted table of .eh_frame_hdr.
 * False when there is none that one can search. */
bool elf_function(const struct elf *elf, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

#endif
