/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/birth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "os/stat.h"
#include "os/tasks.h"

/* "boottime 0 0", seconds and nanoseconds (time_namespaces(7)). */
int64_t boottime_offset(int proc, struct file_buffer *buffer)
{
	struct text bytes, line, word;
	int64_t seconds, ns;

	if (file_read(proc, "self/timens_offsets", buffer, &bytes))
		return 0;
	while (text_cut(&bytes, '\n', &line))
		if (text_word(&line, &word) && text_equal(word, TEXT("boottime")) &&
		    text_word(&line, &word) && text_i64(word, &seconds) &&
		    text_word(&line, &word) && text_i64(word, &ns))
			return seconds * (int64_t)NS_PER_S + ns;
	return 0;
}

static bool read_birth(int proc, uint32_t number, struct file_buffer *buffer, struct birth *ret)
{
	struct stat_line line;
	struct text bytes;
	char path[32];

	if (task_leader(proc, number, buffer, &ret->tgid))
		return false;
	snprintf(path, sizeof(path), "%" PRIu32 "/stat", number);
	return !file_read(proc, path, buffer, &bytes) && stat_parse(bytes, &line) &&
	       text_u64(line.columns[STAT_START_TIME], &ret->ticks);
}

bool birth_of(uint32_t number, struct birth *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file_buffer buffer = { 0 };
	bool is_there = proc >= 0 && read_birth(proc, number, &buffer, ret);

	file_buffer_deinit(&buffer);
	return is_there;
}
