/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "doctor/probe_run.h"

/* PROC_CGROUP_INIT_INO (include/linux/proc_ns.h). */
#define FIRST_CGROUP_NAMESPACE 0xEFFFFFFBul

/* The mount point does not matter: captures find it in mountinfo. */
static void mount_cgroup2(struct probe_result *ret)
{
	result_set_remedy(ret, "the cgroup of every thread, and what the kernel counts of each",
			  "mkdir -p /run/cgroup2 && mount -t cgroup2 cgroup2 /run/cgroup2");
}

static bool is_mounted(struct probe_run *run, struct probe_result *ret)
{
	if (run->cgroups.point)
		return true;
	result_set_lack(ret, PRESENCE_NO, "cgroup version 2 is not mounted");
	mount_cgroup2(ret);
	return false;
}

void look_cgroups(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	struct text bytes, path;

	if (!proc_text(run, "self/cgroup", &bytes) || !cgroup_path_parse(bytes, &path)) {
		result_set_not_built(run, ret, probe->config);
		return;
	}
	if (!is_mounted(run, ret))
		return;
	if (is_first_namespace("cgroup", FIRST_CGROUP_NAMESPACE)) {
		result_set_present(ret);
		return;
	}
	result_set_lack(ret, PRESENCE_PARTLY,
			"in a cgroup namespace: those outside of it are not seen");
}

/* --- controllers --- */

/* Does a file of this cgroup have the controller among its words? `path` is relative to the mount
 * point and begins with a slash, or is empty. */
static bool cgroup_file_has(struct probe_run *run, struct text path, const char *file,
			    const char *controller)
{
	_cleanup_free_ char *whole = NULL;
	struct text bytes;

	if (asprintf(&whole, "%s%.*s/%s", run->cgroups.point, (int)path.length, path.bytes, file) <
	    0)
		return false;
	return !file_read(AT_FDCWD, whole, &run->buffer, &bytes) &&
	       text_has_word(bytes, text_of(controller));
}

static bool has_reading(const struct cgroup_counters *cgroup, const struct probe *probe)
{
	return ((const struct reading *)(const void *)((const char *)cgroup + probe->reading))
		->measured;
}

/* The path of a cgroup relative to the mount point, with a slash before it. False for the root,
 * which is the host and has no such files, and for cgroups outside the mount. */
static bool path_below_mount(const struct probe_run *run, const struct cgroup_counters *cgroup,
			     struct text *ret)
{
	struct text root = run->cgroups.root ? text_of(run->cgroups.root) : TEXT("/");

	if (!cgroup_below_mount(root, name_text(cgroup->path), ret) || !ret->length)
		return false;
	ret->bytes--;
	ret->length++;
	return true;
}

/* Count the cgroups with threads, and those of them without the probed value. *ret_first is the
 * path of the first of these. */
static size_t count_lacking(const struct probe_run *run, const struct probe *probe, size_t *ret_all,
			    struct text *ret_first)
{
	size_t lacking = 0;

	*ret_all = 0;
	for (size_t i = 0; i < run->snapshot->cgroups.count; i++) {
		const struct cgroup_counters *cgroup = &run->snapshot->cgroups.items[i];
		struct text path;

		if (!path_below_mount(run, cgroup, &path))
			continue;
		++*ret_all;
		if (!has_reading(cgroup, probe) && !lacking++)
			*ret_first = path;
	}
	return lacking;
}

/* Find the topmost cgroup above `path` that does not enable the controller for its children.
 * Returns the length of its path; SIZE_MAX if all enable it. */
static size_t find_not_enabling(struct probe_run *run, struct text path, const char *controller)
{
	for (size_t at = 0; at < path.length; at++) {
		struct text above = { path.bytes, at };

		if (path.bytes[at] == '/' &&
		    !cgroup_file_has(run, above, "cgroup.subtree_control", controller))
			return at;
	}
	return SIZE_MAX;
}

/* Set the command that writes `word` to a file of a cgroup; `path` is as in cgroup_file_has. */
static void write_remedy(struct probe_run *run, struct text path, const char *file,
			 const char *word, const char *covers, struct probe_result *ret)
{
	_cleanup_free_ char *whole = NULL, *quoted = NULL;

	if (asprintf(&whole, "%s%.*s/%s", run->cgroups.point, (int)path.length, path.bytes, file) <
	    0)
		return;
	quoted = text_quoted(text_of(whole));
	if (quoted)
		result_set_remedy(ret, covers, "echo %s > %s", word, quoted);
}

static void enable_remedy(struct probe_run *run, struct text path, const char *controller,
			  struct probe_result *ret)
{
	char word[32];

	snprintf(word, sizeof(word), "+%s", controller);
	write_remedy(run, path, "cgroup.subtree_control", word,
		     path.length ? "its children; then the same below them"
				 : "the cgroups at the top; then the same below them",
		     ret);
}

/* Read a line of /proc/cgroups: name, hierarchy of version 1 (0: none), number of cgroups,
 * enabled. */
static bool read_controller(struct probe_run *run, const char *controller, uint64_t *ret_hierarchy,
			    uint64_t *ret_enabled)
{
	struct text bytes, line, words[4];

	if (!proc_text(run, "cgroups", &bytes))
		return false;
	while (text_cut(&bytes, '\n', &line)) {
		size_t n = 0;

		while (n < array_length(words) && text_word(&line, &words[n]))
			n++;
		if (n == array_length(words) && text_equal(words[0], text_of(controller)))
			return text_u64(words[1], ret_hierarchy) && text_u64(words[3], ret_enabled);
	}
	return false;
}

/* Explain why the topmost cgroup does not have the controller. */
static void explain_absence(struct probe_run *run, const struct probe *probe,
			    struct probe_result *ret)
{
	uint64_t hierarchy = 0, enabled = 1;
	char parameter[64];

	if (!read_controller(run, probe->source, &hierarchy, &enabled)) {
		result_set_not_built(run, ret, probe->config);
	} else if (!enabled) {
		result_set_lack(ret, PRESENCE_NO, "the kernel was booted with cgroup_disable=%s",
				probe->source);
	} else if (hierarchy) {
		snprintf(parameter, sizeof(parameter), "cgroup_no_v1=%s", probe->source);
		result_set_lack(ret, PRESENCE_NO, "cgroup version 1 has the %s controller",
				probe->source);
		result_set_boot_remedy(
			ret, "all cgroups of version 2; what uses it in version 1 loses it",
			parameter);
	} else {
		result_set_lack(
			ret, PRESENCE_NO,
			"the cgroup at %s is not given the %s controller by the one above it, "
			"outside of this namespace",
			run->cgroups.point, probe->source);
	}
}

void look_controller(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	/* Without cgroups, check whether one at the top would have the controller. */
	struct text path = TEXT("/x");
	size_t all, lacking, length;

	if (!is_mounted(run, ret))
		return;
	lacking = count_lacking(run, probe, &all, &path);
	if (all && !lacking) {
		result_set_present(ret);
		return;
	}
	length = find_not_enabling(run, path, probe->source);
	if (length == SIZE_MAX) {
		result_set_present(ret);
		if (lacking)
			result_set_lack(ret, PRESENCE_PARTLY,
					"%zu of %zu cgroups could not be read", lacking, all);
		return;
	}
	if (!cgroup_file_has(run, (struct text){ path.bytes, length }, "cgroup.controllers",
			     probe->source)) {
		explain_absence(run, probe, ret);
		return;
	}
	result_set_lack(ret, all > lacking ? PRESENCE_PARTLY : PRESENCE_NO,
			"%s%.*s does not give the %s controller to its children",
			run->cgroups.point, (int)length, path.bytes, probe->source);
	enable_remedy(run, (struct text){ path.bytes, length }, probe->source, ret);
}

void look_cgroup_pressure(struct probe_run *run, const struct probe *probe,
			  struct probe_result *ret)
{
	struct text path = TEXT("");
	size_t all, lacking;

	if (!is_mounted(run, ret))
		return;
	if (!run->snapshot->psi.cpu.some.total_usec.measured) {
		look_pressure(run, probe, ret);
		return;
	}
	lacking = count_lacking(run, probe, &all, &path);
	if (!lacking) {
		result_set_present(ret);
		return;
	}
	result_set_lack(ret, lacking < all ? PRESENCE_PARTLY : PRESENCE_NO,
			"%zu of %zu cgroups have none", lacking, all);
	if (cgroup_file_has(run, path, "cgroup.pressure", "0"))
		write_remedy(run, path, "cgroup.pressure", "1",
			     "this cgroup, from then on; doctor then names the next", ret);
}
