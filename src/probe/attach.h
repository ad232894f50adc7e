/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches BPF programs to probes (points.h).
 *
 * bpf_get_attach_cookie() tells a program which probe was hit: the number of the point's event.
 * This needs Linux 5.15, CAP_BPF and CAP_PERFMON; kprobes and uprobes need a kernel with
 * CONFIG_KPROBES and CONFIG_UPROBES.
 *
 * A uprobe is in all processes that map the file; the program checks the process, so that later
 * children are included.
 */
#ifndef PROBE_ATTACH_H
#define PROBE_ATTACH_H

#include <bpf/libbpf.h>

#include "probe/points.h"

/* Loaded ones; NULL where there are no such points. */
struct probe_programs {
	/* SEC("kprobe.multi"): all functions at once (Linux 5.18). May be NULL, and where the
	 * kernel does not have it, `kprobe` serves. */
	struct bpf_program *kprobe_multi;
	struct bpf_program *kprobe;     /* SEC("kprobe") */
	struct bpf_program *uprobe;     /* SEC("uprobe"); of USDT too */
	struct bpf_program *tracepoint; /* SEC("tp") */
	/* Attach uprobes to this process only, so that they cost no other; 0: to all processes that
	 * have the file. The kernel removes them from the children of the process
	 * (uprobe_perf_filter() in kernel/trace/trace_uprobe.c checks the memory map), so a caller
	 * that wants children must attach to all. */
	uint32_t pid;
};

struct probe_links;

/* Attach to all points, or to none: the error says which it was and why not. */
struct error *probe_attach(const struct probe_points *points, const struct probe_programs *programs,
			   struct probe_links **ret) MUST_CHECK;

/* The number of attachments: fewer than points if one has several points. */
size_t probe_links_count(const struct probe_links *links);

/* Take a link out of `links`; the caller owns it. NULL: there are no more. */
struct bpf_link *probe_links_take(struct probe_links *links);

/* Detaches. Takes NULL. */
void probe_links_destroy(struct probe_links *links);
DEFINE_CLEANUP(probe_links_destroy, struct probe_links *)

#endif
