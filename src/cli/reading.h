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
};

const char *source_name(size_t number);
const char *part_name(size_t number);

/* The rows, for the table of a command whose arguments have a `struct reading_arguments reading`.
 */
/* clang-format off */
#define READING_AT(arguments, member) offsetof(struct arguments, reading.member)
#define READING_OPTIONS(arguments)                                                                \
	{ "source", 0, "SOURCE", parse_source, READING_AT(arguments, source),                     \
	  "Where threads are read: bpf walks the kernel's own structures, proc reads files; auto "\
	  "is bpf where that works. What bpf cannot give is read from files all the same.",       \
	  source_name, false },                                                                   \
	{ "without", 0, "PART[,PART...]", parse_without, READING_AT(arguments, without),          \
	  "Leave out what costs most beside the threads, or is nobody's business.",               \
	  part_name, false },                                                                     \
	{ "allow-ptrace", 0, NULL, parse_allow_ptrace, READING_AT(arguments, allow_ptrace),               \
	  "Stop each thread that uses jemalloc for a moment, by ptrace, to learn where its heap " \
	  "counters are, if nothing else tells (BPF does).", NULL, false },                       \
	{ "timeout", 0, "TIME", parse_timeout, READING_AT(arguments, timeout_ns),                 \
	  "Stop reading after this time (500ms, 10s; a bare number is seconds) and keep what there is: the snapshot then "  \
	  "says that it is not whole, and the exit status is 1.", NULL, false }
/* clang-format on */

struct error *parse_source(const char *argument, void *at);
struct error *parse_without(const char *argument, void *at);
struct error *parse_timeout(const char *argument, void *at);
struct error *parse_allow_ptrace(const char *argument, void *at);

/* Into the options of a capture. */
void reading_apply(const struct reading_arguments *reading, struct capture_options *ret);

#endif
