/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hex.h"

struct error *token_make(char ret[TOKEN_TEXT_MAX])
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_system(errno, "cannot make a token");
	hex_write(ret, bytes, sizeof(bytes));
	return NULL;
}

struct error *token_check(const char *token)
{
	const size_t length = strlen(token);

	if (!length || length > TOKEN_LENGTH_MAX)
		return error_create("a token has 1 to %d bytes", TOKEN_LENGTH_MAX);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)token[i] <= ' ' || token[i] == '\x7f')
			return error_create("a token has no spaces and no control characters");
	return NULL;
}

/* Read the first line without its newline, at most `room` bytes including the NUL. `room` is such
 * that a truncated line is still too long for a token. */
static struct error *read_line(int fd, char *line, size_t room)
{
	size_t length = 0, got = 1;
	struct error *err = NULL;

	while (!err && got && length < room - 1) {
		err = file_read_some(fd, line + length, room - 1 - length, &got);
		if (!err)
			length += got;
	}
	line[length] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return err;
}

struct error *token_read(const char *path, char **ret)
{
	_cleanup_close_ int fd = -1;
	char line[TOKEN_LENGTH_MAX + 3];
	struct error *err = file_open_input(path, &fd);
	struct stat st;

	if (err)
		return err;
	if (fstat(fd, &st))
		return error_system(errno, "%s", path);
	if (st.st_mode & (S_IROTH | S_IWOTH))
		return error_create("%s: all users may read or write this file (mode %04o); "
				    "use chmod o=",
				    path, st.st_mode & 07777);
	err = read_line(fd, line, sizeof(line));
	if (!err)
		err = token_check(line);
	if (err)
		return error_prefix(err, "%s", path);
	*ret = strdup(line);
	return *ret ? NULL : &error_no_memory;
}
