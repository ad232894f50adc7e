/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/mapped_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/units.h"
#include "elf/rooted.h"
#include "elf/vdso.h"
#include "os/process_user.h"
#include "profile/kept.h"
#include "profile/origin.h"

/* Only the sections that a table is made of are read. The largest .eh_frame seen has 30 MiB. */
#define COPY_MAX ((size_t)256 << 20)

/* --- which one --- */

static const struct {
	struct text start;
	enum mapped_kind kind;
} names[] = {
	/* clang-format off */
	{ TEXT("[vdso]"),      MAPPED_VDSO },
	{ TEXT("[heap]"),      MAPPED_MEMORY },
	{ TEXT("[stack"),      MAPPED_MEMORY },
	{ TEXT("[anon"),       MAPPED_MEMORY }, /* PR_SET_VMA_ANON_NAME */
	{ TEXT("["),           MAPPED_OTHER },  /* of uprobes, and the like */
	{ TEXT("/dev/zero"),   MAPPED_MEMORY },
	{ TEXT("/SYSV"),       MAPPED_MEMORY },
	{ TEXT("/"),           MAPPED_FILE },
	{ TEXT(""),            MAPPED_MEMORY },
	/* clang-format on */
};

enum mapped_kind mapped_kind(const struct profile_mapping *mapping)
{
	size_t i = 0;

	while (!text_starts(name_text(mapping->path), names[i].start))
		i++;
	return names[i].kind;
}

/* The upper bytes of the last word; a build-id has 20, which leaves them free. */
enum identity {
	BY_BUILD_ID = 1, /* of a file that only root or we can have written */
	BY_CHANGE,
	BY_SIZE,
	BY_CLAIM, /* a build-id that only its process vouches for: the file could not be identified
		   */
};

static struct words by_build_id(const struct profile_mapping *mapping, enum identity kind)
{
	uint8_t bytes[sizeof(struct words)] = { 0 };
	struct words words;
	uint32_t length = mapping->build_id_length;

	memcpy(bytes, mapping->build_id, length < BUILD_ID_MAX ? length : BUILD_ID_MAX);
	memcpy(&words, bytes, sizeof(words));
	words.w[2] |= (uint64_t)(kind << 8 | length) << 32;
	return words;
}
_Static_assert(BUILD_ID_MAX == 20, "what is left of three words says how it is told");

#define CLAIMED_BYTES (BUILD_ID_MAX - sizeof(uint32_t))

/* The user takes the place of the last bytes of the build-id: only files of the same user can be
 * taken for each other. */
static struct words by_claim(const struct profile_mapping *mapping, uint32_t user)
{
	struct words words = by_build_id(mapping, BY_CLAIM);

	words.w[2] = (words.w[2] & ~(uint64_t)UINT32_MAX) | user;
	return words;
}

/* The link to the file requires a privilege, and disappears if the mapping was split after its
 * record, as the dynamic linker does with libraries that begin with their code. */
static bool identify_claimed(uint32_t pid, const struct profile_mapping *mapping, struct words *ret)
{
	const uint32_t user = mapping->build_id_length ? process_user(pid) : UINT32_MAX;

	if (user == UINT32_MAX)
		return false;
	*ret = by_claim(mapping, user);
	return true;
}

static struct words by_change(struct file_inode inode)
{
	return (struct words){ { inode.number, inode.changed_ns,
				 (uint64_t)BY_CHANGE << 40 | inode.device } };
}

static uint32_t device_of(uint32_t high, uint32_t low)
{
	return high << 20 | low;
}

static void print_link(char *ret, size_t size, uint32_t pid, const struct profile_mapping *mapping)
{
	snprintf(ret, size, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
}

static bool look_at(const char *path, struct statx *ret)
{
	int failed;

	if (!guard_enter())
		return false;
	failed = statx(AT_FDCWD, path, AT_STATX_DONT_SYNC,
		       STATX_INO | STATX_CTIME | STATX_UID | STATX_MODE, ret);
	guard_leave();
	return !failed;
}

/* The link leads to the mapped file, wherever it is now. */
static bool look_at_link(uint32_t pid, const struct profile_mapping *mapping, struct statx *ret)
{
	char path[80];

	print_link(path, sizeof(path), pid, mapping);
	return look_at(path, ret);
}

static struct file_inode inode_of(const struct statx *file)
{
	return (struct file_inode){
		.number = file->stx_ino,
		.changed_ns = (uint64_t)file->stx_ctime.tv_sec * NS_PER_S + file->stx_ctime.tv_nsec,
		.device = device_of(file->stx_dev_major, file->stx_dev_minor),
	};
}

/* Files of other users are identified by their time of change even with a build-id, which may be
 * forged: otherwise the table of one would be used for all. */
static struct words identity_of(const struct profile_mapping *mapping, const struct statx *file)
{
	return mapping->build_id_length && file_is_trusted(file->stx_uid, file->stx_mode)
		       ? by_build_id(mapping, BY_BUILD_ID)
		       : by_change(inode_of(file));
}

static bool identify_mapped(uint32_t pid, const struct profile_mapping *mapping, struct words *ret)
{
	struct statx file;

	if (!look_at_link(pid, mapping, &file))
		return identify_claimed(pid, mapping, ret);
	*ret = identity_of(mapping, &file);
	return true;
}

enum file_likeness mapped_file_identify_inode(uint32_t pid, const struct profile_mapping *mapping,
					      const struct file_inode *inode, struct words *ret)
{
	struct statx file;
	const bool has_link = look_at_link(pid, mapping, &file);
	struct file_inode now;

	if (!has_link && !look_at(mapping->path->bytes, &file))
		return FILE_UNKNOWN;
	now = inode_of(&file);
	if (now.number != inode->number || now.changed_ns != inode->changed_ns)
		return FILE_UNKNOWN;
	if (now.device != inode->device)
		return has_link ? FILE_OTHER : FILE_UNKNOWN;
	*ret = identity_of(mapping, &file);
	return FILE_SAME;
}

bool mapped_file_identify(uint32_t pid, const struct profile_mapping *mapping, struct words *ret)
{
	if (mapped_kind(mapping) == MAPPED_VDSO) {
		*ret = (struct words){ { mapping->end - mapping->start, 0,
					 (uint64_t)BY_SIZE << 40 } };
		return true;
	}
	return identify_mapped(pid, mapping, ret);
}

bool mapped_file_by_build_id(const struct profile_mapping *mapping, struct words *ret)
{
	if (mapping->build_id_length)
		*ret = by_build_id(mapping, BY_BUILD_ID);
	return mapping->build_id_length;
}

/* --- opening it --- */

static bool is_by(const struct words *identity, enum identity kind)
{
	return identity->w[2] >> 40 == kind;
}

static bool is_by_change(const struct words *identity)
{
	return is_by(identity, BY_CHANGE);
}

/* Without a number: it cannot be asked. */
static struct file_inode inode_of_open(int fd)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return (struct file_inode){ 0 };
	return (struct file_inode){
		.number = stat.st_ino,
		.changed_ns =
			(uint64_t)stat.st_ctim.tv_sec * NS_PER_S + (uint64_t)stat.st_ctim.tv_nsec,
		.device = device_of(major(stat.st_dev), minor(stat.st_dev)),
	};
}

static bool is_same_inode(const struct file_inode *a, const struct file_inode *b)
{
	return a->number == b->number && a->device == b->device && a->changed_ns == b->changed_ns;
}

static bool is_file_unchanged(int fd, const struct words *identity)
{
	const struct file_inode inode = inode_of_open(fd);
	const struct words now = by_change(inode);

	return inode.number && memcmp(&now, identity, sizeof(now)) == 0;
}

/* Has the file the build-id that identified it? The other bytes of a claimed one are the user. */
static bool has_identity(const struct elf *elf, const struct words *identity)
{
	const size_t compared = is_by(identity, BY_CLAIM) ? CLAIMED_BYTES : BUILD_ID_MAX;
	const struct text id = elf_build_id(elf);
	uint8_t bytes[BUILD_ID_MAX] = { 0 };

	if (!id.length)
		return false;
	memcpy(bytes, id.bytes, id.length < BUILD_ID_MAX ? id.length : BUILD_ID_MAX);
	return memcmp(bytes, identity, compared) == 0;
}

/* A file that no path leads to, as of memfd_create(2). */
static int open_link(uint32_t pid, const struct profile_mapping *mapping)
{
	char path[80];

	print_link(path, sizeof(path), pid, mapping);
	return rooted_open_link(AT_FDCWD, path);
}

static int open_file(uint32_t pid, const struct profile_mapping *mapping,
		     const struct words *identity)
{
	const struct symbolise_options options = { 0 };
	const struct profile_image image = { .pid = pid };
	struct origin origin;
	int fd;

	/* A file that is identified by its change time is found by its link, or not at all. */
	if (is_by_change(identity) || !origin_is_file(mapping)) {
		_cleanup_close_ int link = open_link(pid, mapping);

		if (link < 0 || (is_by_change(identity) && !is_file_unchanged(link, identity)))
			return -1;
		return take_fd(link);
	}
	if (!origin_open(&options, -1, 0, NULL, &image, mapping, &origin))
		return -1;
	fd = take_fd(origin.fd);
	origin_close(&origin);
	return fd;
}

/* --- reading it --- */

static bool open_image(int fd, struct image *ret)
{
	if (image_open(fd, ret))
		return false;
	if (ret->room > COPY_MAX)
		ret->room = COPY_MAX;
	return true;
}

/* Is this a debug file, without the contents of sections? */
static bool is_hollow(const struct elf *elf)
{
	static const char *const sections[] = { ".text", ".eh_frame" };

	for (size_t i = 0; i < array_length(sections); i++) {
		const Elf64_Shdr *header = elf_section_header(elf, sections[i]);

		if (header && header->sh_type == SHT_NOBITS)
			return true;
	}
	return false;
}

static bool keep_segments(const struct elf *elf, struct mapped_file *file)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *header = &elf->segments[i];
		const struct file_segment segment = {
			.offset = header->p_offset,
			.bytes = header->p_filesz,
			.address = header->p_vaddr,
			.is_code = header->p_flags & PF_X,
		};

		if (header->p_type == PT_LOAD && !array_push(&file->segments, segment))
			return false;
	}
	return true;
}

static enum table_outcome outcome_of(struct error *err, enum table_outcome outcome)
{
	if (!err)
		return outcome;
	error_destroy(err);
	return TABLE_FAILED;
}

static enum table_outcome make_table(const struct elf *elf, unsigned may,
				     struct unwind_cache *cache, struct unwind_table *table)
{
	struct text id = elf_build_id(elf);
	struct error *err = may & TABLE_MAY_BE_OUTLINED ? unwind_build_outline(elf, table) : NULL;

	if (err || table->blocks.count)
		return outcome_of(err, TABLE_OUTLINED);
	if (!(may & TABLE_MAY_BE_WHOLE))
		return TABLE_NO_ROOM;
	if (id.length && unwind_cache_read(cache, id, table))
		return TABLE_FROM_CACHE;
	err = unwind_build(elf, table);
	if (!err && id.length)
		unwind_cache_write(cache, id, table);
	return outcome_of(err, TABLE_MADE);
}

static enum table_outcome read_elf(const struct elf *elf, const struct profile_mapping *mapping,
				   const struct words *identity, unsigned may,
				   struct unwind_cache *cache, struct mapped_file *file)
{
	enum table_outcome outcome;

	if (is_hollow(elf) || !keep_segments(elf, file))
		return TABLE_FAILED;
	if (mapped_kind(mapping) == MAPPED_FILE && !is_by_change(identity) &&
	    !origin_has_build_id(mapping, elf_build_id(elf)))
		return TABLE_FAILED;
	outcome = make_table(elf, may, cache, &file->table);
	return (outcome == TABLE_MADE || outcome == TABLE_FROM_CACHE) && !file->table.blocks.count
		       ? TABLE_NO_CFI
		       : outcome;
}

/* Some runtimes map code of their own forms, or what they made, as files. */
static enum table_outcome outcome_without_elf(struct image *image)
{
	struct text magic = image_bytes(image, 0, SELFMAG);

	return magic.bytes && memcmp(magic.bytes, ELFMAG, SELFMAG) ? TABLE_NO_CFI : TABLE_FAILED;
}

static enum table_outcome read_image(struct image *image, const struct profile_mapping *mapping,
				     const struct words *identity, unsigned may,
				     struct unwind_cache *cache, struct mapped_file *file)
{
	enum table_outcome outcome;
	struct elf elf;

	if (elf_open(image, &elf))
		outcome = read_elf(&elf, mapping, identity, may, cache, file);
	else
		outcome = outcome_without_elf(image);
	elf_close(&elf);
	return outcome;
}

static bool open_vdso(const struct profile_mapping *mapping, struct image *ret)
{
	struct text bytes = vdso_bytes();
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	/* Processes of 32 bits have another one. */
	if ((bytes.length + page - 1) / page * page != mapping->end - mapping->start)
		return false;
	*ret = image_of(bytes);
	return true;
}

void mapped_file_make(uint32_t pid, const struct profile_mapping *mapping,
		      const struct words *identity, unsigned may, struct unwind_cache *cache,
		      struct kept *kept, struct mapped_file *ret)
{
	const bool is_vdso = mapped_kind(mapping) == MAPPED_VDSO;
	_cleanup_close_ int fd = is_vdso ? -1 : open_file(pid, mapping, identity);
	const bool is_trusted = !is_vdso && fd >= 0 && origin_is_trusted_file(fd);
	const struct file_inode before = fd < 0 ? (struct file_inode){ 0 } : inode_of_open(fd);
	struct file_inode after;
	struct image image;

	*ret = (struct mapped_file){ .outcome = TABLE_FAILED, .fd = -1 };
	/* The process may have another file there since it was asked which one it is. */
	if (is_by(identity, BY_BUILD_ID) && !is_trusted)
		return;
	if (is_vdso ? !open_vdso(mapping, &image) : fd < 0 || !open_image(fd, &image))
		return;
	/* The cache, which later runs read, knows files by their build-ids alone. */
	ret->outcome = read_image(&image, mapping, identity, is_vdso ? TABLE_MAY_BE_WHOLE : may,
				  is_trusted ? cache : NULL, ret);
	image_close(&image);
	if (!is_vdso && is_by_change(identity) && !is_file_unchanged(fd, identity))
		ret->outcome = TABLE_FAILED;
	after = fd < 0 ? before : inode_of_open(fd);
	if (is_same_inode(&before, &after))
		ret->inode = after;
	/* Only an ELF file has segments. */
	if (!is_vdso && ret->outcome != TABLE_FAILED && ret->segments.count)
		kept_add_file(kept, pid, mapping, fd);
	if (ret->outcome == TABLE_OUTLINED)
		ret->fd = take_fd(fd);
}

static void make_parts(const struct elf *elf, uint64_t base, struct table_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct table_part *part = &parts[i];
		struct error *err =
			unwind_build_part(elf, base + ((uint64_t)part->first << UNWIND_BLOCK_BITS),
					  part->count, &part->table);

		part->is_made = !err;
		error_destroy(err);
	}
}

/* Estimate the memory for making parts: the search table of .eh_frame_hdr, the symbols and a sorted
 * copy of them, and the code of the parts with its descriptions. */
static uint64_t bytes_of_parts(const struct elf *elf, const struct table_part *parts, size_t count)
{
	const Elf64_Shdr *starts = elf_section_header(elf, ".eh_frame_hdr");
	uint64_t bytes = 0;

	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *section = &elf->sections[i];
		const bool is_symbols =
			section->sh_type == SHT_SYMTAB || section->sh_type == SHT_DYNSYM;

		if (section->sh_size <= elf->image->size && (is_symbols || section == starts))
			bytes += is_symbols ? section->sh_size / 2 * 3 : section->sh_size;
	}
	for (size_t i = 0; i < count; i++)
		bytes += (uint64_t)parts[i].count << UNWIND_BLOCK_BITS;
	return bytes;
}

static enum table_outcome read_parts(const struct elf *elf, uint64_t base,
				     struct memory_limit *limit, unsigned at_once,
				     struct table_part *parts, size_t count)
{
	if (memory_limit_allow(limit, at_once, bytes_of_parts(elf, parts, count)) < at_once)
		return TABLE_NO_ROOM;
	make_parts(elf, base, parts, count);
	return TABLE_MADE;
}

enum table_outcome mapped_file_make_parts(int fd, const struct words *identity, uint64_t base,
					  struct memory_limit *limit, unsigned at_once,
					  struct table_part *parts, size_t count)
{
	enum table_outcome outcome = TABLE_FAILED;
	struct image image;
	struct elf elf;

	if (!open_image(fd, &image))
		return TABLE_FAILED;
	if (elf_open(&image, &elf) && (is_by_change(identity) || has_identity(&elf, identity)))
		outcome = read_parts(&elf, base, limit, at_once, parts, count);
	elf_close(&elf);
	image_close(&image);
	if (!is_by_change(identity) || is_file_unchanged(fd, identity))
		return outcome;
	for (size_t i = 0; i < count; i++)
		parts[i].is_made = false;
	return TABLE_FAILED;
}

void mapped_file_deinit(struct mapped_file *file)
{
	unwind_table_deinit(&file->table);
	array_deinit(&file->segments);
	if (file->fd >= 0)
		close(file->fd);
}

/* --- where it is loaded --- */

static uint64_t end_of(uint64_t start, uint64_t bytes)
{
	return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

/* Bytes of the file that both have. */
static uint64_t overlap(const struct file_segment *segment, const struct profile_mapping *mapping)
{
	uint64_t start = segment->offset, end = end_of(start, segment->bytes);
	uint64_t mapped = mapping->file_offset;
	uint64_t mapped_end = end_of(mapped, mapping->end - mapping->start);

	start = start > mapped ? start : mapped;
	end = end < mapped_end ? end : mapped_end;
	return start < end ? end - start : 0;
}

/* A segment is mapped from the page on that has its first byte; the page of a small one may be full
 * of another. */
struct fit {
	bool is_code, is_start;
	uint64_t bytes;
};

static struct fit fit_of(const struct file_segment *segment, uint64_t page,
			 const struct profile_mapping *mapping)
{
	return (struct fit){
		.is_code = segment->is_code,
		.is_start = (segment->offset & ~(page - 1)) == mapping->file_offset,
		.bytes = overlap(segment, mapping),
	};
}

static bool is_better(const struct fit *a, const struct fit *b)
{
	if (!a->bytes || !b->bytes)
		return a->bytes;
	if (a->is_code != b->is_code)
		return a->is_code;
	if (a->is_start != b->is_start)
		return a->is_start;
	return a->bytes > b->bytes;
}

bool file_bias(const struct file_segment *segments, size_t count, uint64_t page,
	       const struct profile_mapping *mapping, uint64_t *ret)
{
	const struct file_segment *best = NULL;
	struct fit best_fit = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct fit fit = fit_of(&segments[i], page, mapping);

		if (is_better(&fit, &best_fit)) {
			best = &segments[i];
			best_fit = fit;
		}
	}
	if (!best)
		return false;
	*ret = mapping->start - (best->address - (best->offset - mapping->file_offset));
	return true;
}
