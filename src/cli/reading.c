/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/reading.h"

#include <string.h>

#include "base/glob.h"
#include "security/privileges.h"

const char *source_name(size_t number)
{
	static const char *const names[] = {
		[CAPTURE_AUTO] = "auto",
		[CAPTURE_BPF] = "bpf",
		[CAPTURE_PROC] = "proc",
	};

	return number < array_length(names) ? names[number] : NULL;
}

const char *part_name(size_t number)
{
	return number < CAPTURE_PART_COUNT ? capture_part_names[number] : NULL;
}

struct error *parse_source(const char *argument, void *at)
{
	for (size_t i = 0; source_name(i); i++)
		if (strcmp(argument, source_name(i)) == 0) {
			*(enum capture_source *)at = (enum capture_source)i;
			return NULL;
		}
	return unknown_value("source", argument, source_name);
}

struct error *parse_process_name(const char *argument, void *at)
{
	struct error *err = pattern_check(argument);

	return err ? err : parse_string(argument, at);
}

static struct error *take_part(void *context, const char *piece)
{
	for (size_t i = 0; part_name(i); i++)
		if (strcmp(piece, part_name(i)) == 0) {
			*(unsigned *)context |= 1u << i;
			return NULL;
		}
	return unknown_value("part", piece, part_name);
}

struct error *parse_without(const char *argument, void *at)
{
	return each_piece(argument, "part", take_part, at);
}

/* A user who stops ctprof during an attach would leave the thread of another user stopped. */
struct error *parse_allow_ptrace(const char *argument, void *at)
{
	return privileges_are_from_exec()
		       ? error_create("--allow-ptrace refused: with the capabilities of the "
				      "executable file, it would stop threads of other users")
		       : parse_flag(argument, at);
}

void reading_apply(const struct reading_arguments *reading, struct capture_options *ret)
{
	ret->source = reading->source;
	ret->comm = reading->comm;
	ret->without = reading->without;
	ret->timeout_ns = reading->timeout_ns;
	ret->allow_ptrace = reading->allow_ptrace;
}
