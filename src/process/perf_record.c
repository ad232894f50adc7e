/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/perf_record.h"

/* Linux 5.12; <linux/perf_event.h> of Debian 12 has it, others may not. */
#define MISC_BUILD_ID  (1 << 14)

#define BUILD_ID_BYTES 20

/* PERF_RECORD_MMAP2 before the path. With MISC_BUILD_ID, `file` is the other form. */
struct mapping_record {
	uint32_t pid, tid;
	uint64_t address, length, file_offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_length, reserved[3], build_id[BUILD_ID_BYTES];
		};
	} file;
	uint32_t protection, flags;
};
_Static_assert(sizeof(struct mapping_record) == 64, "as the kernel has it");

/* PERF_RECORD_FORK and PERF_RECORD_EXIT. */
struct fork_record {
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time;
};

struct comm_record {
	uint32_t pid, tid;
};

struct lost_record {
	uint64_t id, lost;
};

/* Copy the part of a record between its header and its time: it need not be aligned.
 */
static bool take_struct(struct text *body, void *ret, size_t size)
{
	if (body->length < size)
		return false;
	memcpy(ret, body->bytes, size);
	body->bytes += size;
	body->length -= size;
	return true;
}

/* Names are padded by zeroes. */
static struct text unpadded_name(struct text padded)
{
	return (struct text){ padded.bytes, strnlen(padded.bytes, padded.length) };
}

static bool parse_mapping(struct text body, unsigned misc, struct perf_record *ret)
{
	struct mapping_record raw;
	const char *from = body.bytes;

	if (!take_struct(&body, &raw, sizeof(raw)))
		return false;
	ret->kind = PERF_RECORD_OF_MAPPING;
	ret->pid = raw.pid;
	ret->start = raw.address;
	ret->file_offset = raw.file_offset;
	if (!raw.length || __builtin_add_overflow(raw.address, raw.length, &ret->end))
		return false;
	if (misc & MISC_BUILD_ID) {
		if (raw.file.build_id_length > BUILD_ID_BYTES)
			return false;
		ret->build_id =
			(struct text){ from + offsetof(struct mapping_record, file.build_id),
				       raw.file.build_id_length };
	} else {
		ret->major = raw.file.major;
		ret->minor = raw.file.minor;
		ret->inode = raw.file.inode;
	}
	ret->path = unpadded_name(body);
	/* perf_event_mmap_event() names what has no name; /proc does not. */
	if (text_equal(ret->path, TEXT("//anon")))
		ret->path = TEXT("");
	return true;
}

/* A thread that begins has the process of its parent, and one that ends need not be the last. */
static bool parse_task(struct text body, bool is_fork, struct perf_record *ret)
{
	struct fork_record raw;

	if (!take_struct(&body, &raw, sizeof(raw)))
		return false;
	ret->pid = raw.pid;
	if (raw.pid != raw.tid)
		ret->kind = PERF_RECORD_OF_OTHERS;
	else if (!is_fork)
		ret->kind = PERF_RECORD_OF_EXIT;
	else if (raw.pid != raw.parent_pid) {
		ret->kind = PERF_RECORD_OF_FORK;
		ret->parent = raw.parent_pid;
	}
	return true;
}

static bool parse_comm(struct text body, unsigned misc, struct perf_record *ret)
{
	struct comm_record raw;

	if (!take_struct(&body, &raw, sizeof(raw)))
		return false;
	ret->pid = raw.pid;
	if (misc & PERF_RECORD_MISC_COMM_EXEC)
		ret->kind = PERF_RECORD_OF_EXEC;
	return true;
}

static bool parse_lost(struct text body, struct perf_record *ret)
{
	struct lost_record raw;

	if (!take_struct(&body, &raw, sizeof(raw)))
		return false;
	ret->kind = PERF_RECORD_OF_LOSS;
	ret->lost = raw.lost;
	return true;
}

static bool parse_body(const struct perf_event_header *header, struct text body,
		       struct perf_record *ret)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return parse_mapping(body, header->misc, ret);
	case PERF_RECORD_COMM:
		return parse_comm(body, header->misc, ret);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return parse_task(body, header->type == PERF_RECORD_FORK, ret);
	case PERF_RECORD_LOST:
		return parse_lost(body, ret);
	default:
		return true;
	}
}

bool perf_record_parse(struct text bytes, struct perf_record *ret)
{
	struct perf_record record = { .kind = PERF_RECORD_OF_OTHERS };
	struct perf_event_header header;
	struct text body = bytes;

	if (!take_struct(&body, &header, sizeof(header)) || header.size != bytes.length ||
	    body.length < sizeof(record.time_ns))
		return false;
	body.length -= sizeof(record.time_ns);
	memcpy(&record.time_ns, body.bytes + body.length, sizeof(record.time_ns));
	if (!parse_body(&header, body, &record))
		return false;
	*ret = record;
	return true;
}

bool perf_record_cut(struct text *rest, struct text *ret)
{
	struct text body = *rest;
	struct perf_event_header header;

	if (!take_struct(&body, &header, sizeof(header)) || header.size < sizeof(header) ||
	    header.size > rest->length)
		return false;
	*ret = (struct text){ rest->bytes, header.size };
	rest->bytes += header.size;
	rest->length -= header.size;
	return true;
}
