/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of threads and paths of cgroups, interned, which live as long as an engine does.
 *
 * A host has few of them at a time, and those that come again are the same. Threads may give
 * themselves any names, and containers come and go: of 64 MiB nothing is forgotten, and then what
 * is new is not known.
 */
#ifndef TOP_HOST_NAMES_H
#define TOP_HOST_NAMES_H

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/names.h"
#include "base/word_map.h"
#include "os/cgroup_tree.h"

struct host_names {
	struct arena arena;
	struct names names;
	const struct name *unknown; /* "?": there is no room for the name */
	struct word_map cgroups;    /* from the number to a place in `paths` */
	struct {
		ARRAY(const struct name *); /* NULL: it could not be found */
	} paths;
	int proc;
	struct cgroup_tree tree;
	/* Paths of processes whose cgroup of version 2 is the root, on a host with version 1. */
	bool has_v1;
	struct word_map processes; /* to a place in `paths_v1` */
	struct {
		ARRAY(struct process_path {
			const struct name *path;
			uint64_t leader_begun; /* 0: not known */
		});
	} paths_v1;
	unsigned readings;
	struct file_buffer buffer;
};

/* Without /proc, or without cgroup version 2, all cgroups are unknown. */
struct error *host_names_init(struct host_names *names) MUST_CHECK;

/* Never NULL. */
const struct name *host_names_of(struct host_names *names, const char *bytes, size_t room);

/* The same without a search, where it is `known` still. */
const struct name *host_names_again(struct host_names *names, const struct name *known,
				    const char *bytes, size_t room);

/* The path of a cgroup; NULL: it is gone, may not be looked at (CAP_DAC_READ_SEARCH), or there is
 * no room for it. */
const struct name *host_names_cgroup(struct host_names *names, uint64_t id);

/* The same of a thread of this process; where that is the root, the path of a controller of version
 * 1, if one says more (cgroup_path_parse_any() in os/cgroup.h): from /proc, once for each process,
 * and again after 32 calls of host_names_age(). `leader_begun` is when the thread began if it is
 * the leader, by any clock; else 0. */
const struct name *host_names_cgroup_of(struct host_names *names, uint64_t id, uint32_t tgid,
					uint64_t leader_begun);

/* Before each reading. */
void host_names_age(struct host_names *names);

void host_names_deinit(struct host_names *names);

#endif
