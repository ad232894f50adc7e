/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture of trees that hold any bytes (--proc-root, --sys-root, --cgroup-root): each part of the
 * input is a file, its first line the path ("proc/100/task/100/stat"), or a link ("proc/100/exe").
 * What is captured is a snapshot that can be written, redacted or not.
 */
#include "capture/capture.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files_fuzz.h"

#define FILES_MAX 128

static char proc[64], sys[64], cgroup[64];

static void make_roots(void)
{
	static const struct {
		const char *name;
		char *path;
	} roots[] = { { "proc", proc }, { "sys", sys }, { "cgroup", cgroup } };

	fuzz_clear_dir();
	for (size_t i = 0; i < array_length(roots); i++) {
		snprintf(roots[i].path, sizeof(proc), "%s/%s", fuzz_dir(), roots[i].name);
		must(mkdir(roots[i].path, 0700) == 0);
	}
}

/* Below one of the roots, and none that leads out of it. */
static bool is_path(struct text path)
{
	struct text rest = path, part;
	bool is_below = false;

	while (text_cut(&rest, '/', &part)) {
		if (!part.length || text_starts(part, TEXT(".")))
			return false;
		is_below |= part.bytes != path.bytes;
	}
	return is_below && path.length < 128 && !memchr(path.bytes, 0, path.length) &&
	       (text_starts(path, TEXT("proc/")) || text_starts(path, TEXT("sys/")) ||
		text_starts(path, TEXT("cgroup/")));
}

static void put_link(const char *name, struct text target)
{
	_cleanup_free_ char *to = strndup(target.bytes, target.length);
	char path[256];

	must(to);
	snprintf(path, sizeof(path), "%s/%s", fuzz_dir(), name);
	/* For its directories. */
	if (*to && fuzz_put_file(name, TEXT("")) && unlink(path) == 0)
		(void)!symlink(to, path);
}

static void put_part(struct text part)
{
	char name[128];
	struct text path;

	if (!text_cut(&part, '\n', &path) || !is_path(path))
		return;
	memcpy(name, path.bytes, path.length);
	name[path.length] = '\0';
	if (text_ends(path, TEXT("/exe")))
		put_link(name, part);
	else
		fuzz_put_file(name, part);
}

static void capture(bool redact)
{
	const struct capture_options options = {
		.source = CAPTURE_PROC,
		.proc_root = proc,
		.sys_root = sys,
		.cgroup_root = cgroup,
		.redact = redact,
	};
	struct ctprof_snapshot *snapshot;
	struct error *err = capture_run(&options, &snapshot);

	if (err) {
		fuzz_check_error(err);
		return;
	}
	fuzz_check_round_trip(snapshot);
	snapshot_destroy(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, part;

	make_roots();
	for (size_t i = 0; i < FILES_MAX && fuzz_cut_part(&rest, &part); i++)
		put_part(part);
	capture(false);
	capture(true);
	fuzz_release(bytes);
	return 0;
}
