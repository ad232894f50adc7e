/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/confined.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"

#define COPIED_MOST ((uint64_t)16 << 20)

struct error *confined_copy_file(const char *path, int *ret, char ret_path[CONFINED_PATH_SIZE])
{
	_cleanup_close_ int from = -1, to = -1;
	uint64_t copied = 0;
	char bytes[4096];
	size_t got = 1;
	struct error *err = file_open_input(path, &from);

	if (err)
		return err;
	to = memfd_create("ctprof", MFD_CLOEXEC);
	if (to < 0)
		return error_system(errno, "cannot make a file in memory");
	while (!err && got) {
		err = file_read_some(from, bytes, sizeof(bytes), &got);
		copied += err ? 0 : got;
		if (!err && copied > COPIED_MOST)
			err = error_create("%s: too long", path);
		if (!err && got && write(to, bytes, got) != (ssize_t)got)
			err = error_system(errno, "cannot write a file in memory");
	}
	if (err)
		return err;
	snprintf(ret_path, CONFINED_PATH_SIZE, "/proc/self/fd/%d", to);
	*ret = take_fd(to);
	return NULL;
}

/* Libraries that an older C library opens to look up names of hosts, which is too late then. What
 * is missing is in the C library itself. */
void confined_load_resolver(void)
{
	static const char *const names[] = { "libnss_files.so.2", "libnss_dns.so.2" };

	for (size_t i = 0; i < array_length(names); i++)
		dlopen(names[i], RTLD_NOW);
}
