/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classifies the path of a cgroup, of version 1 or 2: the systemd unit, the container and the pod
 * to which it belongs. Whoever may create cgroups chooses their names: what a path says is a
 * label, and no proof.
 *
 * Results point into the path. The suffix " (deleted)", which the kernel prints for a removed
 * cgroup, is ignored.
 */
#ifndef OS_CGROUP_PLACE_H
#define OS_CGROUP_PLACE_H

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

/*
 * What tables call the innermost container or machine: the first CONTAINER_DIGITS of the id of a
 * container, or the name of
 *
 *	/lxc/NAME, /lxc.payload/NAME, /lxc.payload.NAME                 a container of LXC or Incus
 *	/machine.slice/systemd-nspawn@NAME.service, machine-NAME.scope  a machine of systemd
 *
 * Names of machines stay escaped, as in the names of their units. False when there is none.
 */
bool place_container_shown(struct text path, struct text *ret);

/* The UID of a pod has 32 hexadecimal digits, with '-' between them unless it is a static pod. */
#define POD_UID_ROOM 40

/*
 * The UID of the innermost pod of Kubernetes, with '-' where the path has '_': of the last segment
 * that has one of the forms
 *
 *	pod<UID>, after a segment "kubepods"            the driver cgroupfs
 *	[<prefix>-]kubepods[-<class>]-pod<UID>.slice    the driver systemd
 *	the same and ":<runtime>:<id>"                  runc with the path for systemd, alone
 *
 * False when there is none; `ret` is then "".
 */
bool place_pod(struct text path, char ret[POD_UID_ROOM]);

#endif
