/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/call_state.h"

#include "state/wait.h"

/* include/uapi/linux/futex.h, include/uapi/linux/fcntl.h */
#define FUTEX_CMD_MASK 0x7fu
#define FUTEX_LOCK_PI  6u
#define FUTEX_LOCK_PI2 13u
#define SETLKW         7u
#define OFD_SETLKW     38u

static unsigned kind_of(int32_t number)
{
	return number >= 0 && number < WAIT_SYSCALLS ? wait_kinds[number] : WAIT_OTHER;
}

bool call_state_needs_file(int32_t number)
{
	return kind_of(number) == WAIT_FILE;
}

static enum state state_of_value(uint32_t value)
{
	return WAIT_IS_LOCK(value) ? STATE_LOCK_FUTEX : STATE_IDLE_COND;
}

static enum state state_of_futex(const uint64_t *arguments)
{
	const uint32_t operation = (uint32_t)arguments[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2
		       ? STATE_LOCK_FUTEX
		       : state_of_value((uint32_t)arguments[2]);
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
	switch ((enum wait_kind)kind_of(number)) {
	case WAIT_NETWORK:
		return STATE_SLEEP_NETWORK;
	case WAIT_FILE:
		return state_of_file(file, is_deep);
	case WAIT_DISK:
		return is_deep ? STATE_SLEEP_DISK : STATE_SLEEP_OTHER;
	case WAIT_TIMER:
		return STATE_SLEEP_TIMER;
	case WAIT_CHILD:
		return STATE_SLEEP_CHILD;
	case WAIT_SIGNAL:
		return STATE_IDLE;
	case WAIT_EPOLL:
		return STATE_IDLE_POLL;
	case WAIT_ACCEPT:
		return STATE_IDLE_ACCEPT;
	case WAIT_POLL:
		return arguments[1] ? STATE_IDLE_POLL : STATE_SLEEP_TIMER;
	case WAIT_SELECT:
		return arguments[0] ? STATE_IDLE_POLL : STATE_SLEEP_TIMER;
	case WAIT_FUTEX:
		return state_of_futex(arguments);
	case WAIT_FUTEX_WAIT:
		return state_of_value((uint32_t)arguments[1]);
	case WAIT_FUTEX_WAITV:
		return STATE_LOCK_FUTEX;
	case WAIT_LOCK:
		return STATE_LOCK_KERNEL;
	case WAIT_FCNTL:
		return arguments[1] == SETLKW || arguments[1] == OFD_SETLKW ? STATE_LOCK_KERNEL
									    : STATE_SLEEP_OTHER;
	/* A FIFO or something else. */
	case WAIT_OPEN:
		return STATE_SLEEP;
	case WAIT_OTHER:
		return STATE_SLEEP_OTHER;
	}
	return STATE_SLEEP;
}
