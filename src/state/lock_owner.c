/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/lock_owner.h"

#include <string.h>

#include "state/wait.h"

/* include/uapi/linux/futex.h */
#define OPERATION_MASK 0x7fu
#define PRIVATE        0x80u
#define FUTEX_WAIT     0u
#define FUTEX_LOCK_PI  6u
#define FUTEX_BITSET   9u
#define FUTEX_LOCK_PI2 13u
#define FUTEX2_PRIVATE 0x80u

/* Values that are waited for, by convention: see state/wait.h. */
#define CONTENDED   2u
#define WRITING     3u

#define MUTEX_OWNER 8
#define MUTEX_KIND  16
/* Types, protocols and robustness (PTHREAD_MUTEX_*_NP and flags in nptl/pthreadP.h). */
#define MUTEX_KINDS 0x3ffu

/* From __wrphase_futex and from __writers_futex to __cur_writer: offsets 8, 12 and 24. A lock is
 * aligned to 8, so the address tells which. */
#define WRITER_FROM_PHASE   16
#define WRITER_FROM_WRITERS 12

static bool kind_of_value(uint32_t value, uint32_t operation, bool is_private, enum lock_kind *ret)
{
	if (WAIT_HAS_OWNER(value))
		*ret = LOCK_OWNER;
	else if (value == CONTENDED && operation == FUTEX_WAIT)
		*ret = LOCK_MUTEX;
	else if (value == WRITING)
		*ret = LOCK_RWLOCK;
	/* A join is never private, since the kernel wakes it (nptl/pthread_join_common.c). */
	else if (value > WRITING && value <= WAIT_OWNER_MAX && !is_private)
		*ret = LOCK_JOIN;
	else
		return false;
	return true;
}

bool lock_wait_of(int32_t number, const uint64_t *arguments, struct lock_wait *ret)
{
	uint32_t operation, value;

	if (number < 0 || number >= WAIT_SYSCALLS)
		return false;
	ret->address = arguments[0];
	switch (wait_kinds[number]) {
	case WAIT_FUTEX:
		operation = (uint32_t)arguments[1] & OPERATION_MASK;
		value = (uint32_t)arguments[2];
		ret->is_private = (uint32_t)arguments[1] & PRIVATE;
		break;
	case WAIT_FUTEX_WAIT:
		operation = FUTEX_WAIT;
		value = (uint32_t)arguments[1];
		ret->is_private = (uint32_t)arguments[3] & FUTEX2_PRIVATE;
		break;
	default:
		return false;
	}
	ret->value = value;
	if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2) {
		ret->kind = LOCK_OWNER;
		ret->value = 0;
		return true;
	}
	return (operation == FUTEX_WAIT || operation == FUTEX_BITSET) &&
	       kind_of_value(value, operation, ret->is_private, &ret->kind);
}

/* The number at an offset; false beyond the end. */
static bool number_at(const void *bytes, size_t size, size_t offset, uint32_t *ret)
{
	if (size > LOCK_WAIT_BYTES)
		size = LOCK_WAIT_BYTES;
	if (offset + sizeof(*ret) > size)
		return false;
	memcpy(ret, (const char *)bytes + offset, sizeof(*ret));
	return true;
}

uint32_t lock_wait_owner(const struct lock_wait *wait, const void *bytes, size_t size)
{
	uint32_t word = 0, owner = 0, kind = 0;

	if (!number_at(bytes, size, 0, &word))
		return 0;
	switch (wait->kind) {
	case LOCK_MUTEX:
		/* What has another kind is no mutex, and has no owner there. */
		if (!number_at(bytes, size, MUTEX_KIND, &kind) || kind & ~MUTEX_KINDS)
			return 0;
		number_at(bytes, size, MUTEX_OWNER, &owner);
		break;
	case LOCK_OWNER:
		owner = WAIT_OWNER(word);
		break;
	case LOCK_RWLOCK:
		number_at(bytes, size, wait->address % 8 ? WRITER_FROM_WRITERS : WRITER_FROM_PHASE,
			  &owner);
		break;
	case LOCK_JOIN:
		owner = word == wait->value ? word : 0;
		break;
	}
	return owner <= WAIT_OWNER_MAX ? owner : 0;
}
