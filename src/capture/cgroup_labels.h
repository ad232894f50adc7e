/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a cgroup on this host, without asking a server: the systemd unit, and the
 * container with its name, image, pod and namespace.
 *
 * The path of the cgroup has the unit, the id of the container and the UID of the pod
 * (os/cgroup_place.h). For this id, container engines keep a file with the rest
 * (capture/container_file.h). Where it cannot be read, the mounts of a process of the cgroup and
 * the directories of logs name the container and the pod (os/pod_mounts.h).
 *
 * The files are those of the root directory of process 1, so that an agent in a container sees
 * those of the host when it shares the host's PID namespace; no directory of the host has to be
 * mounted. Needed are CAP_SYS_PTRACE for this root directory and for mounts of others, and
 * CAP_DAC_READ_SEARCH for files of engines.
 *
 *	err = cgroup_labels_open(proc, &reader);
 *	cgroup_labels_read(reader, cgroup, pid, &labels);       when a cgroup is seen first
 *	cgroup_labels_close(reader);
 */
#ifndef CAPTURE_CGROUP_LABELS_H
#define CAPTURE_CGROUP_LABELS_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "capture/container_file.h"

/* "" where unknown; without control characters. */
struct cgroup_labels {
	/* The name of the container; where unknown, what tables call it (place_container_shown). */
	char container[CONTAINER_TEXT_ROOM];
	char pod[CONTAINER_TEXT_ROOM], namespace[CONTAINER_TEXT_ROOM], image[CONTAINER_TEXT_ROOM];
	char unit[CONTAINER_TEXT_ROOM];
};

struct cgroup_labels_reader;

/* `proc` is a descriptor of /proc, which stays the caller's and open as long as the reader. */
struct error *cgroup_labels_open(int proc, struct cgroup_labels_reader **ret) MUST_CHECK;
void cgroup_labels_close(struct cgroup_labels_reader *reader);

/* The path of a cgroup, and a process in it (0: none is known). What cannot be read is unknown.
 * Opens up to about ten files of container engines; none for a cgroup that is not of a container or
 * pod. */
void cgroup_labels_read(struct cgroup_labels_reader *reader, struct text cgroup, uint32_t pid,
			struct cgroup_labels *ret);

#endif
