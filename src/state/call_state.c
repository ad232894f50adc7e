/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/call_state.h"

#include "state/wait.h"

static unsigned kind_of(int32_t number)
{
	return number >= 0 && number < WAIT_SYSCALLS ? wait_kinds[number] : WAIT_OTHER;
}

bool call_state_needs_file(int32_t number)
{
	return kind_of(number) == WAIT_FILE;
}

static enum state state_of_file(enum call_file file, bool is_deep)
{
	switch (file) {
	case CALL_FILE_UNKNOWN:
		return STATE_SLEEP;
	case CALL_FILE_SOCKET:
		return STATE_SLEEP_NETWORK;
	case CALL_FILE_PIPE:
		return STATE_SLEEP_PIPE;
	case CALL_FILE_TIMER:
		return STATE_SLEEP_TIMER;
	case CALL_FILE_STORED:
		return is_deep ? STATE_SLEEP_DISK : STATE_SLEEP_OTHER;
	case CALL_FILE_OTHER:
		return STATE_SLEEP_OTHER;
	}
	return STATE_SLEEP;
}

enum state call_state(int32_t number, const uint64_t *arguments, bool is_deep, enum call_file file)
{
	const unsigned kind = kind_of(number);

	if (kind == WAIT_FILE)
		return state_of_file(file, is_deep);
	/* A FIFO or something else: the stack is not known here. */
	if (kind == WAIT_OPEN)
		return STATE_SLEEP;
	return (enum state)wait_state_of_call(kind, arguments[0], arguments[1], arguments[2],
					      is_deep);
}
