/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options that say how a host is read, the same in every command that captures.
 */
#ifndef CLI_READING_H
#define CLI_READING_H

#include "capture/capture.h"
#include "cli/options.h"
#include "security/privileges.h"

struct reading_arguments {
	enum capture_source source;
	unsigned without; /* a bit for each enum capture_part */
	uint64_t timeout_ns;
	bool allow_ptrace;
	const char *comm; /* a glob; NULL: any */
};

const char *source_name(size_t number);
const char *part_name(size_t number);

/* The rows, for the table of a command whose arguments have a `struct reading_arguments reading`.
 */
/* clang-format off */
#define READING_AT(arguments, member) offsetof(struct arguments, reading.member)
#define READING_OPTIONS(arguments)                                                                \
	{ "comm", 0, "GLOB", parse_process_name, READING_AT(arguments, comm),                       \
	  "Select only processes whose name matches the glob, with all their threads.", NULL, OPTION_COMMON }, \
	{ "source", 0, "SOURCE", parse_source, READING_AT(arguments, source),                      \
	  "The source of thread metrics: bpf walks the kernel's structures, proc reads "           \
	  "/proc; auto is bpf where available. With bpf, remaining metrics still come "            \
	  "from /proc.",                                                                           \
	  source_name, false },                                                                   \
	{ "without", 0, "PART[,PART...]", parse_without, READING_AT(arguments, without),           \
	  "Skip expensive or sensitive sources.",                                                  \
	  part_name, false },                                                                     \
	{ "allow-ptrace", 0, NULL, parse_allow_ptrace, READING_AT(arguments, allow_ptrace),        \
	  "Allow ptrace, which briefly stops each thread that uses jemalloc, to locate "           \
	  "its heap counters. Not needed with BPF.", NULL, false },                                \
	{ "timeout", 0, "TIME", parse_duration, READING_AT(arguments, timeout_ns),                  \
	  "Stop reading after TIME (500ms, 10s; a bare number is seconds) and write an "           \
	  "incomplete snapshot, marked as such; the exit status is then 1.", NULL, false }
/* clang-format on */

struct error *parse_source(const char *argument, void *at);
struct error *parse_process_name(const char *argument, void *at);
struct error *parse_without(const char *argument, void *at);
struct error *parse_allow_ptrace(const char *argument, void *at);

/* Into the options of a capture. */
void reading_apply(const struct reading_arguments *reading, struct capture_options *ret);

#endif
