/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/settings_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"
#include "base/own_dir.h"

/* XDG Base Directory Specification 0.8: a path that is not absolute is as if it were not there.
 * Allocated; NULL: none is known. */
static char *base_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		return text_print("%s", config);
	return home && *home == '/' ? text_print("%s/.config", home) : NULL;
}

static enum own_links allowed_links(void)
{
	return geteuid() ? OWN_LINKS : OWN_NO_LINKS;
}

/* Open the directory, which is made if it is missing. */
static struct error *open_directory(const char *base, int *ret)
{
	_cleanup_close_ int in_base = -1;
	struct error *err = own_base_open(base, allowed_links(), &in_base);

	return err ? err : own_dir_open(in_base, "ctprof", base, ret);
}

struct text settings_file_read(const char *name, char bytes[SETTINGS_BYTES_MAX])
{
	_cleanup_free_ char *base = base_path(), *path = NULL;
	_cleanup_close_ int dir = -1, fd = -1;
	struct error *err = NULL;
	ssize_t got = 0;
	struct stat st;

	path = base ? text_print("%s/ctprof", base) : NULL;
	/* Reading makes no directory. */
	if (path && !access(path, F_OK))
		err = open_directory(base, &dir);
	error_destroy(err);
	if (dir >= 0)
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		got = read(fd, bytes, SETTINGS_BYTES_MAX);
	return (struct text){ bytes, got > 0 ? (size_t)got : 0 };
}

struct error *settings_file_write(const char *name, const char *text)
{
	_cleanup_free_ char *base = base_path(), *path = NULL;
	_cleanup_close_ int dir = -1;
	struct outfile file = { .fd = -1, .dir = -1 };
	struct error *err;

	if (!base)
		return error_create("neither HOME nor XDG_CONFIG_HOME is set");
	path = text_print("%s/ctprof/%s", base, name);
	if (!path || !text)
		return &error_no_memory;
	err = open_directory(base, &dir);
	if (err)
		return err;
	err = outfile_open_at(&file, dir, name, path);
	if (!err)
		err = outfile_write(&file, text, strlen(text));
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}
