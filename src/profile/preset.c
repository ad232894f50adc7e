/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/preset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* The directory of the user's presets; NULL: there is none. The caller frees it. */
static char *users_path(const char *name)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int length = -1;

	/* A relative one is to be ignored, says the specification of these directories. */
	if (config && *config == '/')
		length = asprintf(&path, "%s/ctprof/presets/%s.preset", config, name);
	else if (home && *home == '/')
		length = asprintf(&path, "%s/.config/ctprof/presets/%s.preset", home, name);
	return length < 0 ? NULL : path;
}

static struct error *append_copy(const char *bytes, size_t count, char **text, size_t *length)
{
	*text = malloc(count + 1);
	if (!*text)
		return &error_no_memory;
	memcpy(*text, bytes, count);
	*length = count;
	return NULL;
}

static struct error *unknown(const char *name)
{
	const char *nearest =
		text_nearest(name, &presets[0].name, preset_count, sizeof(presets[0]));
	char list[256];
	size_t used = 0;

	if (nearest)
		return error_create("no preset '%s'; did you mean '%s'?", name, nearest);
	for (size_t i = 0; i < preset_count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s, ", presets[i].name);
	return error_create("no preset '%s': expected %sor a file NAME.preset in "
			    "~/.config/ctprof/presets",
			    name, list);
}

static struct error *read_ours(const char *name, char **path, char **text, size_t *length)
{
	const struct preset *preset = presets;

	while (preset < presets + preset_count && strcmp(preset->name, name) != 0)
		preset++;
	if (preset == presets + preset_count)
		return unknown(name);
	*path = strdup(name);
	if (!*path)
		return &error_no_memory;
	return append_copy(preset->begin, (size_t)(preset->end - preset->begin), text, length);
}

struct error *preset_read(const char *name, char **path, char **text, size_t *length)
{
	_cleanup_free_ char *users = NULL;
	struct file_buffer buffer = { 0 };
	struct text bytes;
	struct error *err = NULL;
	int failed = ENOENT;

	if (!*name || *name == '.' || strchr(name, '/'))
		return error_create("invalid preset name '%s'", name);
	users = users_path(name);
	if (users)
		failed = file_read(AT_FDCWD, users, &buffer, &bytes);
	if (failed == ENOENT || failed == ENOTDIR) {
		err = read_ours(name, path, text, length);
	} else if (failed) {
		err = error_system(failed, "%s", users);
	} else {
		err = append_copy(bytes.bytes, bytes.length, text, length);
		if (!err)
			*path = take_ptr(users);
	}
	file_buffer_deinit(&buffer);
	return err;
}
