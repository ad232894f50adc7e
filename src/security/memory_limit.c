/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/memory_limit.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/file.h"
#include "os/pairs.h"

#define LEAST ((uint64_t)256 << 20)

/* In bytes; 0: unknown. */
static uint64_t available_memory(void)
{
	struct file_buffer buffer = { 0 };
	struct text bytes, value;
	uint64_t kib = 0;

	if (!file_read(AT_FDCWD, "/proc/meminfo", &buffer, &bytes) &&
	    pairs_find(bytes, ':', TEXT("MemAvailable"), &value) && !pairs_kib(value, &kib))
		kib = 0;
	file_buffer_deinit(&buffer);
	return kib * 1024;
}

void memory_limit_set(void)
{
	const uint64_t available = available_memory();
	struct rlimit limit;

	if (!available || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur != RLIM_INFINITY)
		return;
	limit.rlim_cur = available / 2 > LEAST ? available / 2 : LEAST;
	setrlimit(RLIMIT_DATA, &limit);
}
