/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/map_query.h"

#include <errno.h>
#include <sys/ioctl.h>

/* From include/uapi/linux/fs.h of Linux 6.11: Debian's headers are older. */
struct procmap_query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};
_Static_assert(sizeof(struct procmap_query) == MAP_QUERY_BYTES, "as the kernel has it");

#define WRITABLE    0x02 /* PROCMAP_QUERY_VMA_WRITABLE */
#define EXECUTABLE  0x04 /* PROCMAP_QUERY_VMA_EXECUTABLE */
#define OR_NEXT     0x10 /* PROCMAP_QUERY_COVERING_OR_NEXT_VMA */
#define FILE_BACKED 0x20 /* PROCMAP_QUERY_FILE_BACKED_VMA */

int map_query_next(struct map_query *query, struct mapping *ret)
{
	struct procmap_query asked = {
		.size = sizeof(asked),
		.flags = EXECUTABLE | OR_NEXT | (query->with_nameless ? 0 : FILE_BACKED),
		.address = query->from,
		.name = (uintptr_t)query->path,
		.name_size = sizeof(query->path),
		.build_id = query->with_build_ids ? (uintptr_t)query->build_id : 0,
		.build_id_size = query->with_build_ids ? sizeof(query->build_id) : 0,
	};

	/* ENOSYS: of an emulator. */
	if (ioctl(query->fd, MAP_QUERY_REQUEST, &asked))
		return errno == ENOSYS ? ENOTTY : errno;
	query->from = asked.end;
	query->build_id_length = (uint8_t)asked.build_id_size;
	*ret = (struct mapping){
		.start = asked.start,
		.end = asked.end,
		.offset = asked.offset,
		.major = asked.major,
		.minor = asked.minor,
		.inode = asked.inode,
		.executable = true,
		.writable = asked.vma_flags & WRITABLE,
		/* The length has the NUL in it. */
		.path = { query->path, asked.name_size ? asked.name_size - 1 : 0 },
	};
	return 0;
}
