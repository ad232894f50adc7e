/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/file_locks.h"

#define ARROW TEXT("->")

/* "1: -> FLOCK  ADVISORY  WRITE 4242 fd:01:813 0 EOF" */
struct lock_line {
	struct text number;
	bool waits;
	uint32_t pid; /* 0: not told */
};

static bool parse_line(struct text line, struct lock_line *ret)
{
	struct text word;

	*ret = (struct lock_line){ 0 };
	if (!text_word(&line, &ret->number) || !text_word(&line, &word))
		return false;
	ret->waits = text_equal(word, ARROW);
	if (ret->waits && !text_word(&line, &word))
		return false;
	/* The kind was read; then come how strict and for what. */
	for (int i = 0; i < 3; i++)
		if (!text_word(&line, &word))
			return false;
	/* -1 for locks of an open file description. */
	if (!text_u32(word, &ret->pid))
		ret->pid = 0;
	return true;
}

uint32_t file_locks_holder(struct text locks, uint32_t pid)
{
	struct lock_line line, head = { 0 };
	struct text bytes;

	while (text_cut(&locks, '\n', &bytes)) {
		if (!parse_line(bytes, &line))
			continue;
		if (!line.waits)
			head = line;
		else if (line.pid == pid && pid && text_equal(line.number, head.number))
			return head.pid;
	}
	return 0;
}
