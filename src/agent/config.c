/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

static struct error *malformed(const char *path, unsigned line, const char *what)
{
	return error_create("%s:%u: %s", path, line, what);
}

/* The text, which lies within writable bytes, as a string. */
static char *terminate(struct text text)
{
	char *string = (char *)(uintptr_t)text.bytes;

	string[text.length] = '\0';
	return string;
}

/* Other formats take comments behind values. So a value cannot have '#' at its start or after a
 * space. */
static bool has_comment(struct text value)
{
	for (size_t i = 0; i < value.length; i++)
		if (value.bytes[i] == '#' &&
		    (!i || value.bytes[i - 1] == ' ' || value.bytes[i - 1] == '\t'))
			return true;
	return false;
}

static struct error *take_line(struct config *config, struct text text, unsigned line)
{
	struct config_row row = { .line = line };
	struct text key;

	text = text_trim(text);
	if (!text.length || *text.bytes == '#')
		return NULL;
	if (!memchr(text.bytes, '=', text.length))
		return malformed(config->path, line, "expected 'key = value'");
	text_cut(&text, '=', &key);
	key = text_trim(key);
	text = text_trim(text);
	if (has_comment(text))
		return malformed(config->path, line, "write the comment on a line of its own");
	if (!key.length || !text.length)
		return malformed(config->path, line,
				 key.length ? "there is no value" : "there is no key");
	row.key = terminate(key);
	row.value = terminate(text);
	return array_push(config, row) ? NULL : &error_no_memory;
}

struct error *config_parse(const char *path, char *bytes, size_t length, struct config *ret)
{
	static const struct text byte_order_mark = TEXT("\xef\xbb\xbf");
	struct text rest = { bytes, length }, line;
	struct error *err = NULL;

	*ret = (struct config){ .path = path, .bytes = bytes };
	if (text_starts(rest, byte_order_mark))
		rest = (struct text){ bytes + byte_order_mark.length,
				      length - byte_order_mark.length };
	for (unsigned number = 1; !err && rest.length && text_cut(&rest, '\n', &line); number++)
		err = memchr(line.bytes, '\0', line.length)
			      ? malformed(path, number, "a NUL in the line")
			      : take_line(ret, line, number);
	if (err)
		config_deinit(ret);
	return err;
}

static struct error *read_all(int fd, char *bytes, size_t room, size_t *ret)
{
	size_t length = 0, got = 1;
	struct error *err = NULL;

	while (!err && got && length < room) {
		err = file_read_some(fd, bytes + length, room - length, &got);
		if (!err)
			length += got;
	}
	*ret = length;
	return err;
}

struct error *config_load(const char *path, struct config *ret)
{
	_cleanup_close_ int fd = -1;
	char *bytes;
	size_t length;
	struct error *err = file_open_input(path, &fd);

	if (err)
		return err;
	bytes = malloc(CONFIG_BYTES_MAX + 2);
	if (!bytes)
		return &error_no_memory;
	err = read_all(fd, bytes, CONFIG_BYTES_MAX + 1, &length);
	if (!err && length > CONFIG_BYTES_MAX)
		err = error_create("larger than %zu bytes", CONFIG_BYTES_MAX);
	if (err) {
		free(bytes);
		return error_prefix(err, "%s", path);
	}
	bytes[length] = '\0';
	return config_parse(path, bytes, length, ret);
}

struct error *config_error(const struct config *config, const struct config_row *row,
			   struct error *err)
{
	return err ? error_prefix(err, "%s:%u", config->path, row->line) : NULL;
}

void config_deinit(struct config *config)
{
	array_deinit(config);
	free(config->bytes);
	config->bytes = NULL;
}
