/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/host_load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sum.h"
#include "os/pairs.h"

static void read_memory(struct file_buffer *buffer, struct host_load *ret)
{
	uint64_t total = 0, available = 0;
	struct text bytes, value;

	if (file_read(AT_FDCWD, "/proc/meminfo", buffer, &bytes) ||
	    !pairs_find(bytes, ':', TEXT("MemTotal"), &value) || !pairs_kib(value, &total) ||
	    !pairs_find(bytes, ':', TEXT("MemAvailable"), &value) ||
	    !pairs_kib(value, &available) || available > total || total > UINT64_MAX / 1024)
		return;
	ret->memory_bytes = total * 1024;
	ret->memory_available_bytes = available * 1024;
}

static void read_pressure(struct file_buffer *buffer, struct host_load *ret)
{
	static const char *const files[HOST_RESOURCES] = {
		[HOST_CPU] = "/proc/pressure/cpu",
		[HOST_MEMORY] = "/proc/pressure/memory",
		[HOST_IO] = "/proc/pressure/io",
		[HOST_IRQ] = "/proc/pressure/irq",
	};

	for (size_t i = 0; i < HOST_RESOURCES; i++) {
		struct text bytes;

		if (!file_read(AT_FDCWD, files[i], buffer, &bytes))
			psi_parse(bytes, &ret->pressure[i]);
	}
}

bool host_load_parse_cpu(struct text bytes, uint64_t *ret_ticks)
{
	/* Fields: user nice system idle iowait irq softirq steal. The guest fields after them are
	 * included in user and nice (proc_stat(5)). */
	enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 };
	struct text word;
	uint64_t busy = 0;

	if (!text_word(&bytes, &word) || !text_equal(word, TEXT("cpu")))
		return false;
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t ticks;

		if (!text_word(&bytes, &word) || !text_u64(word, &ticks))
			return false;
		if (i != IDLE && i != IOWAIT)
			sum_add(&busy, ticks);
	}
	*ret_ticks = busy;
	return true;
}

static void read_cpu(struct file_buffer *buffer, struct host_load *ret)
{
	const long hz = sysconf(_SC_CLK_TCK);
	struct text bytes;
	uint64_t ticks;

	if (hz > 0 && !file_read_head(AT_FDCWD, "/proc/stat", 256, buffer, &bytes) &&
	    host_load_parse_cpu(bytes, &ticks) && ticks < UINT64_MAX / 1000000000)
		ret->busy_ns = ticks * (1000000000 / (uint64_t)hz);
}

void host_load_read(struct host_load *ret)
{
	struct file_buffer buffer = { 0 };

	*ret = (struct host_load){ .load = { -1, -1, -1 } };
	(void)getloadavg(ret->load, 3);
	read_memory(&buffer, ret);
	read_cpu(&buffer, ret);
	read_pressure(&buffer, ret);
	file_buffer_deinit(&buffer);
}
