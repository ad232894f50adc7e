/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/boot_id.h"

#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"

char *boot_id(void)
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char id[64];
	const ssize_t length = fd < 0 ? -1 : read(fd, id, sizeof(id) - 1);

	if (length <= 0)
		return NULL;
	id[length - (id[length - 1] == '\n')] = '\0';
	return strdup(id);
}
