/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict.h"

static size_t count_same(const struct own_walk *ours, const struct peer_walk *theirs)
{
	size_t i = 0;

	while (i < ours->count && i < theirs->count && ours->frames[i] == theirs->frames[i])
		i++;
	return i;
}

/* One of the first `count` frames, of which the callers are the same, is in code whose callers are
 * guessed: what is guessed may be right, and its registers need not be. */
static bool is_guess(struct peer *peer, const struct peer_walk *theirs, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (!peer_describes(peer, theirs->frames[i], theirs->exact[i]))
			return true;
	return false;
}

/* The same few addresses as far as it was let, and it was more than a recursion. */
static bool is_circle(const struct peer_walk *theirs, size_t from)
{
	const uint64_t *f = theirs->frames;

	if (!theirs->was_cut)
		return false;
	for (size_t length = 1; length <= 8; length++) {
		size_t i = from;

		while (i + length < theirs->count && f[i] == f[i + length])
			i++;
		if (i + length == theirs->count)
			return true;
	}
	return false;
}

static bool says_so(enum unwind_stop stop)
{
	return stop == UNWIND_OTHER_RULE || stop == UNWIND_NO_REGISTER || stop == UNWIND_NO_MEMORY;
}

enum verdict verdict_of(struct peer *peer, const struct space *space, const struct own_walk *ours,
			const struct peer_walk *theirs, size_t *ret_same)
{
	const size_t same = count_same(ours, theirs);

	*ret_same = same;
	if (same == ours->count && same == theirs->count)
		return VERDICT_EQUAL;
	if (is_guess(peer, theirs, same))
		return VERDICT_UNDESCRIBED;
	if (same == theirs->count && peer_loses_rbx(peer, theirs))
		return VERDICT_PEER_RBX;
	if (same == theirs->count)
		return theirs->error ? VERDICT_PEER_FAILED : VERDICT_DIFFERENT;
	/* Ours has ended. */
	if (same == ours->count && is_circle(theirs, same))
		return VERDICT_PEER_CIRCLE;
	if (same == ours->count && !space_find(space, theirs->frames[same]))
		return VERDICT_PEER_NOWHERE;
	return same == ours->count && says_so(ours->stop) ? VERDICT_SHORT : VERDICT_DIFFERENT;
}

const char *verdict_text(enum verdict verdict)
{
	static const char *const texts[] = {
#define VERDICT_TEXT(id, text) [VERDICT_##id] = text,
		VERDICTS(VERDICT_TEXT)
#undef VERDICT_TEXT
	};

	return texts[verdict];
}

const char *stop_text(enum unwind_stop stop)
{
	static const char *const texts[UNWIND_STOPS] = {
		[UNWIND_GOES_ON] = "goes on",          [UNWIND_COMPLETE] = "complete",
		[UNWIND_TRUNCATED] = "truncated",      [UNWIND_NO_PROCESS] = "no process",
		[UNWIND_CHANGED] = "changed",          [UNWIND_NO_MAPPING] = "no mapping",
		[UNWIND_NO_TABLE] = "no table",        [UNWIND_NO_RULE] = "no rule",
		[UNWIND_OTHER_RULE] = "other rule",    [UNWIND_NO_REGISTER] = "no register",
		[UNWIND_NO_MEMORY] = "no memory",      [UNWIND_NO_SENSE] = "no sense",
		[UNWIND_POINTER_END] = "pointers end",
	};

	return texts[stop];
}
