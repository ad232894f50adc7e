/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"

static const char *space_before(FILE *out)
{
	return ftell(out) > 0 ? " " : "";
}

static void put_numbers(FILE *out, const char *option, const uint32_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s%" PRIu32, i ? "," : space_before(out), i ? "" : option,
			numbers[i]);
}

static bool put_word(FILE *out, const char *option, const char *word)
{
	_cleanup_free_ char *quoted = word ? text_shell_word(text_of(word)) : NULL;

	if (quoted)
		fprintf(out, "%s%s %s", space_before(out), option, quoted);
	return quoted || !word;
}

static void put_flag(FILE *out, const char *option, bool is_given)
{
	if (is_given)
		fprintf(out, "%s%s", space_before(out), option);
}

char *profile_words_of_threads(const struct profile_arguments *a)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool is_whole;

	if (!out)
		return NULL;
	put_numbers(out, "-p ", a->target.pids.items, a->target.pids.count);
	put_numbers(out, "-t ", a->tids.items, a->tids.count);
	put_flag(out, "--no-children", a->no_children);
	is_whole = put_word(out, "--comm", a->comm);
	is_whole &= put_word(out, "--cgroup", a->target.cgroup);
	put_flag(out, "-u", a->user_threads);
	put_flag(out, "-k", a->kernel_threads);
	return file_close_memory(out, &text) && is_whole ? take_ptr(text) : NULL;
}

char *profile_words_of_states(const struct profile_arguments *a)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool is_whole = true;

	if (!out)
		return NULL;
	for (size_t i = 0; i < a->state_words.count; i++)
		is_whole &= put_word(out, "--state", a->state_words.items[i]);
	return file_close_memory(out, &text) && is_whole ? take_ptr(text) : NULL;
}
