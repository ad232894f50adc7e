/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classifies the path of a cgroup, of version 1 or 2: the systemd unit or container to which it
 * belongs.
 *
 * Results point into the path. The suffix " (deleted)", which the kernel prints for a removed
 * cgroup, is ignored.
 */
#ifndef COMPARE_PLACE_H
#define COMPARE_PLACE_H

#include "base/text.h"

/*
 * The systemd unit, as cg_path_get_unit() finds it (systemd, src/basic/cgroup-util.c): leading
 * slices are passed over, and the next segment is the unit if it has a unit's name. The '_' that
 * escapes a name is not part of it. The deepest slice when there are slices only. False when there
 * is none.
 *
 *	/system.slice/cron.service                                      cron.service
 *	/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope user@1000.service
 *	/system.slice                                                   system.slice
 *	/docker/0123...                                                 none
 */
bool place_unit(struct text path, struct text *ret);

/* IDs of Docker, containerd, CRI-O and Podman: 32 random bytes in hexadecimal. */
#define CONTAINER_ID_LENGTH 64
/* The length to which docker and podman abbreviate an id. */
#define CONTAINER_DIGITS 12

/*
 * The id of the innermost container: 64 of 0-9 a-f, in the last segment that has one of the forms
 *
 *	<id>                          Docker, containerd and Kubernetes without systemd
 *	<runtime>-<id>.scope          with systemd
 *	<runtime>-<id>                CRI-O and Podman without systemd
 *	<slice>:<runtime>:<id>        runc with the path for systemd, but without it
 *
 * where the runtime is docker, cri-containerd, nerdctl, crio, libpod or libpod-payload. The scopes
 * of conmon, which watches a container from outside, are none of them. False when there is none.
 */
bool place_container(struct text path, struct text *ret);

#endif
