/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cgroup.h"

#include "base/array.h"

bool cgroup_path_parse(struct text bytes, struct text *ret)
{
	struct text line;

	while (text_cut(&bytes, '\n', &line)) {
		if (!text_starts(line, TEXT("0::")) || line.length == 3)
			continue;
		*ret = (struct text){ line.bytes + 3, line.length - 3 };
		return true;
	}
	return false;
}

/* Is it in "rw,cpu,cpuacct"? */
static bool is_listed(struct text list, const char *word)
{
	struct text part;

	while (text_cut(&list, ',', &part))
		if (text_equal(part, text_of(word)))
			return true;
	return false;
}

bool cgroup_path_parse_v1(struct text bytes, const char *controller, struct text *ret)
{
	struct text line, number, controllers;

	while (text_cut(&bytes, '\n', &line)) {
		if (!text_cut(&line, ':', &number) || !text_cut(&line, ':', &controllers) ||
		    !line.length || !is_listed(controllers, controller))
			continue;
		*ret = line;
		return true;
	}
	return false;
}

bool cgroup_path_parse_any(struct text bytes, struct text *ret)
{
	static const char *const controllers[] = { "name=systemd", "cpu", "cpuacct", "memory",
						   "pids" };
	const bool has_v2 = cgroup_path_parse(bytes, ret);
	struct text path;

	if (has_v2 && !text_equal(*ret, TEXT("/")))
		return true;
	for (size_t i = 0; i < array_length(controllers); i++)
		if (cgroup_path_parse_v1(bytes, controllers[i], &path) &&
		    !text_equal(path, TEXT("/"))) {
			*ret = path;
			return true;
		}
	return has_v2;
}

bool cgroup_path_has_v1(struct text bytes)
{
	struct text line;

	while (text_cut(&bytes, '\n', &line))
		if (line.length && !text_starts(line, TEXT("0::")))
			return true;
	return false;
}

/* proc_pid_mountinfo(5): ID parent major:minor root point options [fields] - type source options */
static bool parse_mount(struct text line, const char *controller, struct cgroup_mount *ret)
{
	struct text word, fields[5];

	for (unsigned i = 0; i < 5; i++)
		if (!text_word(&line, &fields[i]))
			return false;
	do {
		if (!text_word(&line, &word))
			return false;
	} while (!text_equal(word, TEXT("-")));
	if (!text_word(&line, &word) ||
	    !text_equal(word, controller ? TEXT("cgroup") : TEXT("cgroup2")))
		return false;
	if (controller &&
	    (!text_word(&line, &word) || !text_word(&line, &word) || !is_listed(word, controller)))
		return false;
	*ret = (struct cgroup_mount){ .root = fields[3], .point = fields[4] };
	return text_u64(fields[0], &ret->id);
}

bool cgroup_mount_parse(struct text bytes, const char *controller,
			bool (*is_usable)(void *context, const struct cgroup_mount *mount),
			void *context, struct cgroup_mount *ret)
{
	for (int parts = 0; parts < 2; parts++) {
		struct text rest = bytes, line;

		while (text_cut(&rest, '\n', &line)) {
			struct cgroup_mount mount;

			if (!parse_mount(line, controller, &mount) ||
			    text_equal(mount.root, TEXT("/")) == (bool)parts ||
			    (is_usable && !is_usable(context, &mount)))
				continue;
			*ret = mount;
			return true;
		}
	}
	return false;
}

size_t mountinfo_unescape(char *bytes, size_t length)
{
	size_t out = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned a, b, c;

		if (bytes[i] == '\\' && length - i >= 4 && (a = (unsigned)bytes[i + 1] - '0') < 4 &&
		    (b = (unsigned)bytes[i + 2] - '0') < 8 &&
		    (c = (unsigned)bytes[i + 3] - '0') < 8) {
			bytes[out++] = (char)(a * 64 + b * 8 + c);
			i += 3;
		} else {
			bytes[out++] = bytes[i];
		}
	}
	return out;
}

bool cgroup_is_within(struct text path, struct text top)
{
	while (top.length && top.bytes[top.length - 1] == '/')
		top.length--;
	return text_starts(path, top) &&
	       (path.length == top.length || path.bytes[top.length] == '/');
}

struct text cgroup_of_directory(struct text path, const char *point)
{
	const struct text top = text_of(point ? point : "/");

	if (top.length > 1 && cgroup_is_within(path, top)) {
		path.bytes += top.length;
		path.length -= top.length;
	}
	while (path.length > 1 && path.bytes[path.length - 1] == '/')
		path.length--;
	return path.length ? path : TEXT("/");
}

bool cgroup_below_mount(struct text root, struct text path, struct text *ret)
{
	static const char deleted[] = " (deleted)";
	const size_t suffix = sizeof(deleted) - 1;
	struct text rest = path, part;

	if (path.length >= suffix &&
	    memcmp(path.bytes + path.length - suffix, deleted, suffix) == 0)
		return false;
	while (text_cut(&rest, '/', &part))
		if (text_equal(part, TEXT("..")))
			return false;
	if (!cgroup_is_within(path, root))
		return false;
	if (!text_equal(root, TEXT("/"))) {
		path.bytes += root.length;
		path.length -= root.length;
	}
	while (path.length && path.bytes[0] == '/') {
		path.bytes++;
		path.length--;
	}
	*ret = path;
	return true;
}
