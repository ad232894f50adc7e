/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where another process (here our own) has the counters of jemalloc: by lines of maps, files and a
 * word in its memory, all as a hostile process has them. Parts of the input: a byte of flags, and a
 * page at PAGE_AT; the maps, in which "@" and "#" are the inodes of /a and /b; what is in both of
 * these.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/user_space.h"
#include "capture/heap_process.h"
#include "files_fuzz.h"

#define PAGE 4096u
/* As it is written in maps; the sanitizers have nothing there. */
#define PAGE_AT 0x200000000000

/* The program is the file, too. */
#define IS_PROGRAM 1

static char *memory(void)
{
	static char *page;

	if (!page) {
		page = mmap((void *)PAGE_AT, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		must(page == (void *)PAGE_AT);
	}
	return page;
}

/* --- the process --- */

/* One that has libraries, and nothing else. */
static struct text plain_program(void)
{
	static const struct {
		Elf64_Ehdr header;
		Elf64_Phdr dynamic;
	} program = {
		{ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			       EV_CURRENT },
		  .e_type = ET_DYN,
		  .e_phoff = sizeof(Elf64_Ehdr),
		  .e_phentsize = sizeof(Elf64_Phdr),
		  .e_phnum = 1 },
		{ .p_type = PT_DYNAMIC },
	};

	return (struct text){ (const char *)&program, sizeof(program) };
}

static void put_link(const char *target, const char *name)
{
	must(!symlinkat(target, AT_FDCWD, name) || errno == EEXIST);
}

static void put_links(void)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/root", fuzz_dir());
	put_link(".", name);
	snprintf(name, sizeof(name), "%s/exe", fuzz_dir());
	put_link("program", name);
}

struct made {
	int dir;
	struct stat program, a, b;
	struct text maps;
};

static uint64_t inode_of(const struct made *made, char token)
{
	return token == '@' ? made->a.st_ino : made->b.st_ino;
}

/* To be released. */
static struct text fill_maps(const struct made *made, struct text maps)
{
	char *filled = NULL;
	size_t length;
	FILE *out = open_memstream(&filled, &length);

	must(out);
	for (size_t i = 0; i < maps.length; i++)
		if (maps.bytes[i] == '@' || maps.bytes[i] == '#')
			fprintf(out, "%" PRIu64, inode_of(made, maps.bytes[i]));
		else
			fputc(maps.bytes[i], out);
	fclose(out);
	return (struct text){ filled, length };
}

static void make(struct made *made, struct text maps, struct text file, bool is_program)
{
	must(fuzz_put_file("program", is_program ? file : plain_program()));
	must(fuzz_put_file("a", file) && fuzz_put_file("b", file));
	put_links();
	made->dir = open(fuzz_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(made->dir >= 0);
	must(!fstatat(made->dir, "exe", &made->program, 0));
	must(!fstatat(made->dir, "a", &made->a, 0) && !fstatat(made->dir, "b", &made->b, 0));
	made->maps = fill_maps(made, maps);
	must(fuzz_put_file("maps", made->maps));
}

/* --- what must hold of its location --- */

/* A word at `address` of a process is not known here, or is this one. */
static bool may_hold(__int128 address, int64_t word)
{
	const __int128 at = address - PAGE_AT;

	if (address < 0 || address > (__int128)USER_SPACE_LIMIT - 8)
		return false;
	return at <= -8 || at >= PAGE ||
	       (at >= 0 && at <= PAGE - 8 && memcmp(memory() + at, &word, sizeof(word)) == 0);
}

/* A mapping of one of the two files has the word. */
static bool is_in_library(const struct made *made, const struct heap_file *file, int64_t block)
{
	struct text rest = made->maps;
	struct mapping mapping;

	while (maps_next(&rest, &mapping))
		if (mapping.executable && mapping.offset == file->text_offset &&
		    (mapping.inode == made->a.st_ino || mapping.inode == made->b.st_ino) &&
		    may_hold((__int128)mapping.start - file->text_address + file->layout.slot,
			     block))
			return true;
	return false;
}

static void check_location(const struct made *made, struct heap_files *files,
			   const struct heap_location *location)
{
	const struct mapping mapping = { .inode = made->a.st_ino, .path = TEXT("/a") };
	struct heap_file file, program;

	must(!heap_files_program(files, made->dir, &made->program, &program));
	must(!heap_files_library(files, made->dir, &mapping, &file));
	if (program.failure == PROBE_NOT_FOUND) {
		must(file.failure == PROBE_DONE && file.layout.by_slot);
		must(is_in_library(made, &file, location->block));
	} else {
		must(program.failure == PROBE_DONE);
		file = program;
		must(file.layout.by_slot ? may_hold(file.layout.slot, location->block)
					 : file.layout.block == location->block);
	}
	must(location->block && location->block > INT32_MIN && location->block < INT32_MAX);
	must(location->allocated == file.layout.allocated);
	must(location->deallocated == file.layout.deallocated);
}

static void check(const struct made *made)
{
	const struct heap_process process = { getpid(), made->dir, &made->program };
	struct heap_location location = { .block = 0 };
	struct file_buffer buffer = { 0 };
	struct heap_files files = { .buffer = &buffer, .round = 1 };
	enum probe_failure failure = PROBE_FAILURE_COUNT;

	must(!heap_locate(&files, &process, &failure, &location));
	must(failure < PROBE_FAILURE_COUNT);
	if (failure)
		must(!location.block && !location.allocated && !location.deallocated);
	else
		check_location(made, &files, &location);
	heap_files_deinit(&files);
	file_buffer_deinit(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text rest = { (const char *)data, size }, words, maps = { 0 };
	struct made made;

	if (!fuzz_cut_part(&rest, &words) || !words.length)
		return 0;
	fuzz_cut_part(&rest, &maps);
	memset(memory(), 0, PAGE);
	memcpy(memory(), words.bytes + 1, words.length - 1 < PAGE ? words.length - 1 : PAGE);
	make(&made, maps, rest, words.bytes[0] & IS_PROGRAM);
	check(&made);
	close(made.dir);
	fuzz_release(made.maps);
	return 0;
}
