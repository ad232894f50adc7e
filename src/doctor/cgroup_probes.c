/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "doctor/examination.h"

/* PROC_CGROUP_INIT_INO (include/linux/proc_ns.h). */
#define FIRST_CGROUP_NAMESPACE 0xEFFFFFFBul

/* Any place will do: captures look for it in mountinfo. */
static void mount_cgroup2(struct finding *ret)
{
	find_remedy(ret, "the cgroup of every thread, and what the kernel counts of each",
		    "mkdir -p /run/cgroup2 && mount -t cgroup2 cgroup2 /run/cgroup2");
}

static bool is_mounted(struct examination *e, struct finding *ret)
{
	if (e->cgroups.point)
		return true;
	find_lack(ret, PRESENCE_NO, "cgroup version 2 is not mounted");
	mount_cgroup2(ret);
	return false;
}

void look_cgroups(struct examination *e, const struct probe *probe, struct finding *ret)
{
	struct text bytes, path;

	if (!proc_text(e, "self/cgroup", &bytes) || !cgroup_path_parse(bytes, &path)) {
		find_not_built(e, ret, probe->config);
		return;
	}
	if (!is_mounted(e, ret))
		return;
	if (is_first_namespace("cgroup", FIRST_CGROUP_NAMESPACE)) {
		find_whole(ret);
		return;
	}
	find_lack(ret, PRESENCE_PARTLY, "in a cgroup namespace: those outside of it are not seen");
}

/* --- controllers --- */

/* Does a file of words of this cgroup name the controller? `path` is below the mount, with a slash
 * before it, or empty. */
static bool cgroup_file_has(struct examination *e, struct text path, const char *file,
			    const char *controller)
{
	_cleanup_free_ char *whole = NULL;
	struct text bytes;

	if (asprintf(&whole, "%s%.*s/%s", e->cgroups.point, (int)path.length, path.bytes, file) < 0)
		return false;
	return !file_read(AT_FDCWD, whole, &e->buffer, &bytes) &&
	       text_has_word(bytes, text_of(controller));
}

static bool has_reading(const struct cgroup *cgroup, const struct probe *probe)
{
	return ((const struct reading *)(const void *)((const char *)cgroup + probe->reading))
		->measured;
}

/* Where a cgroup is below the mount, with a slash before it. False for the root, which is the host
 * and has no such files, and for those that the mount does not show. */
static bool path_below_mount(const struct examination *e, const struct cgroup *cgroup,
			     struct text *ret)
{
	struct text root = e->cgroups.root ? text_of(e->cgroups.root) : TEXT("/");

	if (!cgroup_below_mount(root, name_text(cgroup->path), ret) || !ret->length)
		return false;
	ret->bytes--;
	ret->length++;
	return true;
}

/* Those that threads are in, and that lack what the probe is about; where the first of them is. */
static size_t count_lacking(const struct examination *e, const struct probe *probe, size_t *ret_all,
			    struct text *ret_first)
{
	size_t lacking = 0;

	*ret_all = 0;
	for (size_t i = 0; i < e->snapshot->cgroups.count; i++) {
		const struct cgroup *cgroup = &e->snapshot->cgroups.items[i];
		struct text path;

		if (!path_below_mount(e, cgroup, &path))
			continue;
		++*ret_all;
		if (!has_reading(cgroup, probe) && !lacking++)
			*ret_first = path;
	}
	return lacking;
}

/* The cgroup nearest to the root, above `path`, whose children are not given the controller; its
 * length. SIZE_MAX when all are. */
static size_t find_stingy(struct examination *e, struct text path, const char *controller)
{
	for (size_t at = 0; at < path.length; at++) {
		struct text above = { path.bytes, at };

		if (path.bytes[at] == '/' &&
		    !cgroup_file_has(e, above, "cgroup.subtree_control", controller))
			return at;
	}
	return SIZE_MAX;
}

/* The command that writes `word` into a file of that cgroup; `path` is as in cgroup_file_has. */
static void write_remedy(struct examination *e, struct text path, const char *file,
			 const char *word, const char *covers, struct finding *ret)
{
	_cleanup_free_ char *whole = NULL, *quoted = NULL;

	if (asprintf(&whole, "%s%.*s/%s", e->cgroups.point, (int)path.length, path.bytes, file) < 0)
		return;
	quoted = shell_quoted(text_of(whole));
	if (quoted)
		find_remedy(ret, covers, "echo %s > %s", word, quoted);
}

static void let_children_have(struct examination *e, struct text path, const char *controller,
			      struct finding *ret)
{
	char word[32];

	snprintf(word, sizeof(word), "+%s", controller);
	write_remedy(e, path, "cgroup.subtree_control", word,
		     path.length ? "its children; then the same below them"
				 : "the cgroups at the top; then the same below them",
		     ret);
}

/* /proc/cgroups: name, the version 1 hierarchy that has it (0: none), cgroups, enabled. */
static bool line_of_controller(struct examination *e, const char *controller,
			       uint64_t *ret_hierarchy, uint64_t *ret_enabled)
{
	struct text bytes, line, words[4];

	if (!proc_text(e, "cgroups", &bytes))
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

/* The root has no such controller to give. */
static void explain_absence(struct examination *e, const struct probe *probe, struct finding *ret)
{
	uint64_t hierarchy = 0, enabled = 1;
	char parameter[64];

	if (!line_of_controller(e, probe->source, &hierarchy, &enabled)) {
		find_not_built(e, ret, probe->config);
	} else if (!enabled) {
		find_lack(ret, PRESENCE_NO, "the kernel was booted with cgroup_disable=%s",
			  probe->source);
	} else if (hierarchy) {
		snprintf(parameter, sizeof(parameter), "cgroup_no_v1=%s", probe->source);
		find_lack(ret, PRESENCE_NO, "cgroup version 1 has the %s controller",
			  probe->source);
		find_boot_remedy(ret,
				 "all cgroups of version 2; what uses it in version 1 loses it",
				 parameter);
	} else {
		find_lack(ret, PRESENCE_NO,
			  "the cgroup at %s is not given the %s controller by the one above it, "
			  "outside of this namespace",
			  e->cgroups.point, probe->source);
	}
}

void look_controller(struct examination *e, const struct probe *probe, struct finding *ret)
{
	/* Without any, what one at the top would get. */
	struct text path = TEXT("/x");
	size_t all, lacking, stingy;

	if (!is_mounted(e, ret))
		return;
	lacking = count_lacking(e, probe, &all, &path);
	if (all && !lacking) {
		find_whole(ret);
		return;
	}
	stingy = find_stingy(e, path, probe->source);
	if (stingy == SIZE_MAX) {
		find_whole(ret);
		if (lacking)
			find_lack(ret, PRESENCE_PARTLY, "%zu of %zu cgroups could not be read",
				  lacking, all);
		return;
	}
	if (!cgroup_file_has(e, (struct text){ path.bytes, stingy }, "cgroup.controllers",
			     probe->source)) {
		explain_absence(e, probe, ret);
		return;
	}
	find_lack(ret, all > lacking ? PRESENCE_PARTLY : PRESENCE_NO,
		  "%s%.*s does not give the %s controller to its children", e->cgroups.point,
		  (int)stingy, path.bytes, probe->source);
	let_children_have(e, (struct text){ path.bytes, stingy }, probe->source, ret);
}

void look_cgroup_pressure(struct examination *e, const struct probe *probe, struct finding *ret)
{
	struct text path = TEXT("");
	size_t all, lacking;

	if (!is_mounted(e, ret))
		return;
	if (!e->snapshot->psi.cpu.some.total_usec.measured) {
		look_pressure(e, probe, ret);
		return;
	}
	lacking = count_lacking(e, probe, &all, &path);
	if (!lacking) {
		find_whole(ret);
		return;
	}
	find_lack(ret, lacking < all ? PRESENCE_PARTLY : PRESENCE_NO,
		  "%zu of %zu cgroups have none", lacking, all);
	if (cgroup_file_has(e, path, "cgroup.pressure", "0"))
		write_remedy(e, path, "cgroup.pressure", "1",
			     "this cgroup, from then on; doctor then names the next", ret);
}
