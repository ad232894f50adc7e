/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What programs in the kernel record about the executable mappings of new programs, and what they
 * know about files: shared with process/recorded_mappings.h.
 *
 * A new program mostly maps files whose unwind tables are there. So the first walk over its stack
 * (sched/process_mappings.bpf.h) looks at its mappings and puts those that are executable into a
 * slot of the unwind memory: the stacks of programs that live for a few milliseconds can be walked,
 * and user space need not follow them. User space reads a program that has lived for a while from
 * /proc, publishes what it has found in place of the slot, and takes the slot back.
 */
#ifndef PROCESS_MAPPING_RECORD_H
#define PROCESS_MAPPING_RECORD_H

#ifdef __bpf__
#include "bpf/kernel.h"
#endif
#include "unwind/pool.h"

#define RECORDED_SLOTS    680 /* processes: of one chunk */
#define RECORDED_MAPPINGS 24  /* of each; a program with more is left to user space */
#define RECORDED_WORDS    (RECORDED_MAPPINGS * UNWIND_MAPPING_WORDS)
#define KNOWN_FILES_MAX   4096

/* A part of a file, as far as a mapping shows it. For the vDSO, which is no file, only its bytes
 * are set. */
struct file_part {
	__u64 inode, changed_ns; /* time of the last change of the inode */
	__u64 offset, bytes;     /* in the file */
	__u32 device;            /* as the kernel numbers it: major << 20 | minor */
	__u32 is_vdso;
};

/* How a walk finds the unwind rules of a file part. */
struct known_file {
	__u64 relative; /* address in the mapping - its start + this = address in the table */
	__u32 table;
	__u32 kind; /* enum unwind_mapping_kind; UNWIND_MAPPINGS: left to user space */
};

/* A message to user space: this process has mapped a part that is not known. */
struct mapping_request {
	struct file_part part;
	__u64 start;
	__u32 pid;
	__u32 unused;
};

#define MAPPING_REQUEST_BYTES (1u << 16) /* of the ring of messages */

/* Written by both. */
struct mapping_recording {
	__u64 generation; /* the last one given to a slot */
	__u64 files;      /* that were made known so far */
	__u32 epoch;      /* slots of an earlier one may refer to tables that are gone */
	__u32 unused;
};

/* User space counts generations from 1 on. */
#define RECORDED_GENERATION (1ull << 63)

#endif
