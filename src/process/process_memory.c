/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process_memory.h"

#include <sys/uio.h>

#include "base/guard.h"

size_t process_memory_read(uint32_t pid, uint64_t address, void *into, size_t size)
{
	struct iovec here = { .iov_base = into, .iov_len = size };
	struct iovec there = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t got;

	if (!guard_enter())
		return 0;
	got = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
	guard_leave();
	return got > 0 ? (size_t)got : 0;
}
