/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/attach.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct probe_links {
	ARRAY(struct bpf_link *);
};

size_t probe_links_count(const struct probe_links *links)
{
	return links->count;
}

struct bpf_link *probe_links_take(struct probe_links *links)
{
	return links->count ? links->items[--links->count] : NULL;
}

void probe_links_destroy(struct probe_links *links)
{
	if (!links)
		return;
	for (size_t i = 0; i < links->count; i++)
		bpf_link__destroy(links->items[i]);
	array_deinit(links);
	free(links);
}

/* --- why not --- */

static bool is_here(const char *path)
{
	return access(path, F_OK) == 0;
}

/* A missing kernel feature explains more than the errno of a missing file. */
static const char *lack_of(enum probe_kind kind, int failed)
{
	const bool is_kernel = kind == PROBE_KPROBE || kind == PROBE_KRETPROBE;

	if (is_kernel && !is_here("/sys/bus/event_source/devices/kprobe/type"))
		return "this kernel has no kprobes (CONFIG_KPROBES)";
	if (!is_kernel && kind != PROBE_TRACEPOINT &&
	    !is_here("/sys/bus/event_source/devices/uprobe/type"))
		return "this kernel has no uprobes (CONFIG_UPROBES)";
	if (failed == EOPNOTSUPP)
		return "this kernel cannot tell probes apart (before Linux 5.15)";
	if (failed == EPERM || failed == EACCES)
		return probe_kind_is_in_file(kind)
			       ? "permission denied: needs CAP_BPF and CAP_PERFMON, and on Linux "
				 "6.18 CAP_SYS_ADMIN"
			       : "permission denied: needs CAP_BPF and CAP_PERFMON";
	return NULL;
}

static struct error *attach_error(const struct probe_point *point, int failed)
{
	const char *lack = lack_of(point->kind, failed);

	if (lack)
		return error_create("cannot attach to %s: %s", point->name->bytes, lack);
	return error_system(failed, "cannot attach to %s", point->name->bytes);
}

static struct error *no_program(const struct probe_point *point)
{
	return error_create("cannot attach to %s: there is no BPF program for it",
			    point->name->bytes);
}

/* --- one by one --- */

/* NULL, and errno: libbpf 1. */
static struct bpf_link *attach_kprobe(const struct probe_point *point, struct bpf_program *program,
				      uint32_t pid)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .bpf_cookie = point->event, .offset = point->offset,
		    .retprobe = point->kind == PROBE_KRETPROBE);

	(void)pid;
	return bpf_program__attach_kprobe_opts(program, point->where->bytes, &options);
}

static struct bpf_link *attach_uprobe(const struct probe_point *point, struct bpf_program *program,
				      uint32_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = point->event,
		    .ref_ctr_offset = point->semaphore, .retprobe = point->kind == PROBE_URETPROBE);

	return bpf_program__attach_uprobe_opts(program, pid ? (pid_t)pid : -1,
					       point->opened ? point->opened->bytes
							     : point->where->bytes,
					       point->offset, &options);
}

/* Attach by number, not by name, for which libbpf would need a mounted tracefs. An event on one CPU
 * is enough: the program runs on all (kernel/events/core.c: tracepoints of
 * perf_event_attach_bpf_prog()). */
static struct bpf_link *attach_tracepoint(const struct probe_point *point,
					  struct bpf_program *program, uint32_t pid)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = point->event);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = point->offset,
	};
	struct bpf_link *link;
	int fd, failed, cpu = 0;

	(void)pid;
	/* The event works for all CPUs, whichever online CPU it is opened on. */
	do
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && errno == ENODEV && ++cpu < CPU_SETSIZE);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event_opts(program, fd, &options);
	if (!link) {
		failed = errno;
		close(fd);
		errno = failed;
	}
	return link;
}

static const struct {
	struct bpf_link *(*attach)(const struct probe_point *point, struct bpf_program *program,
				   uint32_t pid);
	size_t program; /* where in struct probe_programs */
} ways[PROBE_KIND_COUNT] = {
	[PROBE_KPROBE] = { attach_kprobe, offsetof(struct probe_programs, kprobe) },
	[PROBE_KRETPROBE] = { attach_kprobe, offsetof(struct probe_programs, kprobe) },
	[PROBE_UPROBE] = { attach_uprobe, offsetof(struct probe_programs, uprobe) },
	[PROBE_URETPROBE] = { attach_uprobe, offsetof(struct probe_programs, uprobe) },
	[PROBE_URET] = { attach_uprobe, offsetof(struct probe_programs, uprobe) },
	[PROBE_TRACEPOINT] = { attach_tracepoint, offsetof(struct probe_programs, tracepoint) },
	[PROBE_USDT] = { attach_uprobe, offsetof(struct probe_programs, uprobe) },
};

static struct error *attach_one(const struct probe_point *point,
				const struct probe_programs *programs, struct probe_links *links)
{
	struct bpf_program *program =
		*(struct bpf_program *const *)((const char *)programs + ways[point->kind].program);
	struct bpf_link *link;

	if (!program)
		return no_program(point);
	if (!array_reserve(links, 1))
		return &error_no_memory;
	link = ways[point->kind].attach(point, program, programs->pid);
	if (!link)
		return attach_error(point, errno);
	links->items[links->count++] = link;
	return NULL;
}

/* --- many at once --- */

struct bundle {
	enum probe_kind kind;
	struct {
		ARRAY(const char *);
	} functions;
	struct {
		ARRAY(__u64);
	} cookies;
};

/* Such a link attaches to functions only, not to instructions in them. */
static bool is_bundled(const struct probe_point *point, enum probe_kind kind)
{
	return point->kind == kind && !point->offset;
}

static bool collect_points(const struct probe_points *points, struct bundle *bundle)
{
	for (size_t i = 0; i < points->count; i++) {
		const struct probe_point *point = &points->items[i];

		if (is_bundled(point, bundle->kind) &&
		    (!array_push(&bundle->functions, point->where->bytes) ||
		     !array_push(&bundle->cookies, point->event)))
			return false;
	}
	return true;
}

/* Returns whether all were attached. One invalid function fails the whole link; then each is
 * attached alone, which gives a better error. */
static bool attach_collected(const struct bundle *bundle, struct bpf_program *program,
			     struct probe_links *links)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = bundle->functions.items,
		    .cookies = bundle->cookies.items, .cnt = bundle->functions.count,
		    .retprobe = bundle->kind == PROBE_KRETPROBE);
	struct bpf_link *link;

	if (!bundle->functions.count || !array_reserve(links, 1))
		return false;
	link = bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
	if (link)
		links->items[links->count++] = link;
	return link;
}

/* All functions of the kernel of this kind. */
static bool attach_bundle(const struct probe_points *points, enum probe_kind kind,
			  struct bpf_program *program, struct probe_links *links)
{
	struct bundle bundle = { .kind = kind };
	bool done = program && collect_points(points, &bundle) &&
		    attach_collected(&bundle, program, links);

	array_deinit(&bundle.functions);
	array_deinit(&bundle.cookies);
	return done;
}

/* --- all --- */

static struct error *attach_points(const struct probe_points *points,
				   const struct probe_programs *programs, struct probe_links *links)
{
	const bool done[PROBE_KIND_COUNT] = {
		[PROBE_KPROBE] = attach_bundle(points, PROBE_KPROBE, programs->kprobe_multi, links),
		[PROBE_KRETPROBE] =
			attach_bundle(points, PROBE_KRETPROBE, programs->kprobe_multi, links),
	};
	struct error *err = NULL;

	for (size_t i = 0; i < points->count && !err; i++) {
		const struct probe_point *point = &points->items[i];

		if (!done[point->kind] || !is_bundled(point, point->kind))
			err = attach_one(point, programs, links);
	}
	return err;
}

struct error *probe_attach(const struct probe_points *points, const struct probe_programs *programs,
			   struct probe_links **ret)
{
	struct probe_links *links = calloc(1, sizeof(*links));
	libbpf_print_fn_t print;
	struct error *err;

	if (!links)
		return &error_no_memory;
	/* Keep libbpf from printing; the caller reports errors. */
	print = libbpf_set_print(NULL);
	err = attach_points(points, programs, links);
	libbpf_set_print(print);
	if (err) {
		probe_links_destroy(links);
		return err;
	}
	*ret = links;
	return NULL;
}
